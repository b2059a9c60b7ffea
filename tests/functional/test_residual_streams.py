# SPDX-License-Identifier: Apache-2.0
"""Functions of layers between several residual streams."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import place, wide

from aclnn_py import functional

pytestmark = pytest.mark.usefixtures("device")

STREAMS, WIDTH = 4, 128


def normal(shape: tuple[int, ...], dtype: Any = np.float32, seed: int = 1) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("mixes", [True, False])
def test_a_layer_between_streams(mixes: bool) -> None:
    x = normal((3, STREAMS, WIDTH), np.float16)
    rows = 2 * STREAMS + (STREAMS**2 if mixes else 0)
    phi, bias = normal((rows, STREAMS * WIDTH), seed=2) / 16, normal((rows,), seed=3)
    alpha = normal((3 if mixes else 2,), seed=4)
    joined, post, mixing = functional.mhc_pre(*map(place, (x, phi, alpha, bias)), hc_eps=0.25)
    flat = wide(x).reshape(3, -1)
    w = flat @ wide(phi).T * (np.square(flat).mean(-1, keepdims=True) + 1e-6) ** -0.5
    gates = w * np.repeat(wide(alpha), [4, 4, *([16] if mixes else [])]) + wide(bias)
    weights = 1 / (1 + np.exp(-gates[:, :8]))
    exact = np.einsum("tn,tnd->td", weights[:, :4] + 0.25, wide(x))
    assert_close(joined.numpy(), exact, scale=4)
    assert_close(post.numpy(), 2 * weights[:, 4:] + (0 if mixes else 0.25), scale=40)
    rest = gates[:, 8:].reshape(3, 4, 4) if mixes else np.zeros((3, 4, 4))
    assert_close(mixing.numpy(), rest, scale=40)
    behind = functional.mhc_post(place(x), mixing, joined, post)
    wanted = np.swapaxes(wide(mixing.numpy()), 1, 2) @ wide(x)
    wanted = wanted + wide(joined.numpy())[:, None] * wide(post.numpy())[..., None]
    assert_close(behind.numpy(), wanted, scale=6)


def test_a_vector_has_no_streams() -> None:
    x = place(normal((4,), np.float16))
    with pytest.raises(ValueError, match="x: shape"):
        functional.mhc_pre(x, x, x, x)
