# SPDX-License-Identifier: Apache-2.0
"""``strict()`` takes what the library takes: scalars of losses, and what functions leave out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import functional as f

_X = np.array([[0.5, -1, 2], [1, 0.25, -0.5]], np.float32)
_Y = np.array([[1, -1, 1], [-1, 1, 1]], np.float32)


def _smooth(x: np.ndarray) -> np.ndarray:
    far = np.abs(x)
    return np.where(far < 1, 0.5 * far * far, far - 0.5)


def _bag(x: ap.Tensor) -> ap.Tensor:
    indices, offsets = (ap.from_numpy(np.array(v)) for v in ([0, 1, 1], [0, 1]))
    return f.embedding_bag(indices, x, offsets)


CALLS: dict[str, tuple[Callable[[ap.Tensor, ap.Tensor], ap.Tensor], object]] = {
    "mse_loss": (f.mse_loss, ((_X - _Y) ** 2).mean()),
    "l1_loss": (f.l1_loss, np.abs(_X - _Y).mean()),
    "smooth_l1_loss": (f.smooth_l1_loss, _smooth(_X - _Y).mean()),
    "soft_margin_loss": (f.soft_margin_loss, np.log1p(np.exp(-_X * _Y)).mean()),
    "mse_loss_backward": (
        lambda x, y: f.mse_loss_backward(ap.full((), 3, "float32"), x, y), (_X - _Y),
    ),
    "l1_loss_backward": (
        lambda x, y: f.l1_loss_backward(ap.full((), 6, "float32"), x, y), np.sign(_X - _Y),
    ),
    "embedding_bag": (lambda x, y: _bag(x), _X),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_strict_takes_what_the_library_takes(device, name: str) -> None:
    call, wanted = CALLS[name]
    with ap.strict():
        result = call(ap.from_numpy(_X), ap.from_numpy(_Y)).numpy()
    np.testing.assert_allclose(result, wanted, rtol=2e-6)
