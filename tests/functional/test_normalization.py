# SPDX-License-Identifier: Apache-2.0
"""Norms with an addition before them or a quantisation behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import place, wide

from aclnn_py import functional

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
ROWS, WIDTH, EPS = 3, 32, 1e-6


@pytest.fixture
def given() -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(1)
    x1, x2 = (rng.standard_normal((ROWS, WIDTH)).astype(np.float16) for _ in range(2))
    return x1, x2, rng.uniform(0.5, 2, WIDTH).astype(np.float16)


def divisors(x: Array) -> Array:
    return np.asarray(1 / np.sqrt((wide(x) ** 2).mean(axis=-1, keepdims=True) + EPS))


def check_codes(codes: Array, scale: Array, exact: Array) -> None:
    # The values may be rounded to float16 before they are quantised.
    np.testing.assert_allclose(scale, np.abs(exact).max(axis=-1) / 127, rtol=1e-3)
    assert np.abs(codes - exact / wide(scale)[:, None]).max() <= 0.5 + 0.1


def test_gemma_rms_norm(given: tuple[Array, Array, Array]) -> None:
    x, _, gamma = given
    out = functional.gemma_rms_norm(place(x), place(gamma))
    assert_close(out.numpy(), wide(x) * divisors(x) * (1 + wide(gamma)), scale=2)


def test_rms_norm_dynamic_quant(given: tuple[Array, Array, Array]) -> None:
    x, smooth, gamma = given[0], np.abs(given[1][0]), given[2]
    out, scale = functional.rms_norm_dynamic_quant(
        place(x), place(gamma), smooth_scales=place(smooth)
    )
    check_codes(out.numpy(), scale.numpy(), wide(x) * divisors(x) * wide(gamma) * wide(smooth))


def test_add_rms_norm(given: tuple[Array, Array, Array]) -> None:
    x1, x2, gamma = given
    total = wide(x1) + wide(x2)
    exact = total * divisors(total) * wide(gamma)
    out, rstd, added = functional.add_rms_norm(*map(place, given))
    assert_close(out.numpy(), exact, scale=4)
    assert_close(rstd.numpy(), divisors(total), scale=4)
    assert_close(added.numpy(), total)
    first, second = place(x1), place(x2)
    assert functional.add_rms_norm_(first, second, place(gamma)) is first
    assert_close(first.numpy(), exact, scale=4)
    assert_close(second.numpy(), total)
    broad, narrow, _, _ = functional.add_rms_norm_cast(*map(place, given))
    assert broad.dtype_name == "float32"
    assert_close(narrow.numpy(), exact, scale=4)
    assert_same(broad.numpy().astype(np.float16), narrow.numpy())


def test_add_rms_norm_and_quantise(given: tuple[Array, Array, Array]) -> None:
    x1, x2, gamma = given
    total = (wide(x1) + wide(x2)).astype(np.float16)
    exact = wide(total) * divisors(total) * wide(gamma)
    codes, added = functional.add_rms_norm_quant(
        *map(place, given), place(np.full(WIDTH, 1 / 32, np.float32))
    )
    assert np.abs(codes.numpy() - np.clip(exact * 32, -128, 127)).max() <= 0.5 + 0.1
    assert_same(added.numpy(), total)
    codes, added, scale = functional.add_rms_norm_dynamic_quant(*map(place, given))
    check_codes(codes.numpy(), scale.numpy(), exact)
    assert_same(added.numpy(), total)


def test_add_layer_norm(given: tuple[Array, Array, Array]) -> None:
    x1, x2, gamma = given
    beta = gamma[::-1].copy()
    out, mean, rstd, added = functional.add_layer_norm(*map(place, (*given, beta)))
    total = wide(x1) + wide(x2)
    middle = total.mean(axis=1, keepdims=True)
    factor = 1 / np.sqrt(total.var(axis=1, keepdims=True) + 1e-5)
    assert_close(out.numpy(), (total - middle) * factor * wide(gamma) + wide(beta), scale=4)
    assert_close(mean.numpy(), middle, scale=4)
    assert_close(rstd.numpy(), factor, scale=4)
    assert_close(added.numpy(), total)
