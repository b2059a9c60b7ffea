# SPDX-License-Identifier: Apache-2.0
"""Attention of int8 within windows, which the 310P has, against its steps in NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close
from helpers.operators import hollow, op, place

from aclnn_py.errors import AclnnError

Array = np.ndarray[Any, Any]
NAME = "swin_attention_score_quant"


@pytest.fixture(scope="module")
def smaller() -> Iterator[Chip950]:
    with Chip950("310P") as process:
        yield process


def packed(rng: np.random.Generator, low: float, count: int) -> tuple[Array, Array]:
    """Scales of 19 bits, as the parameter of 64 bits and as numbers."""
    bits = rng.uniform(low, 2 * low, (1, count)).astype(np.float32).view(np.uint32)
    bits &= np.uint32(0xFFFFE000)
    return bits.astype(np.uint64), bits.view(np.float32).astype(float)


def call(
    tokens: int, width: int, *, shifted: bool = True, stepped: bool = False
) -> tuple[list[Any], Array]:
    """Arguments, and the result of the steps in float64."""
    rng = np.random.default_rng(tokens)
    shape = (2, 3, tokens, width)
    q, k, v = (rng.integers(-20, 21, shape).astype(np.int8) for _ in range(3))
    score_packed, score_scale = packed(rng, 1e-4, tokens)
    out_packed, out_scale = packed(rng, 1e-3, width)
    scale = np.full((1, tokens), 100, np.float16)
    bias = np.full((1, tokens), -3, np.float16)
    score_bias = rng.integers(-500, 500, (1, tokens)).astype(np.int32)
    out_bias = rng.integers(-500, 500, (1, width)).astype(np.int32)
    mask = rng.standard_normal((1, 3, tokens, tokens)).astype(np.float16)
    scores = q.astype(float) @ k.astype(float).swapaxes(2, 3)
    if shifted:
        scores += score_bias
    scores = scores * score_scale + (mask.astype(float) if shifted else 0)
    power = np.exp(scores - scores.max(axis=-1, keepdims=True))
    steps = power / power.sum(axis=-1, keepdims=True) * 100 - (3 if shifted else 0)
    exact = np.clip(np.rint(steps), -128, 127) @ v.astype(float)
    if shifted:
        exact += out_bias
    given = lambda values, dtype: Given(values, dtype, stepped=stepped)  # noqa: E731
    arguments = [
        *(given(x, "int8") for x in (q, k, v)), given(scale, "float16"),
        Given(score_packed, "uint64"), Given(out_packed, "uint64"),
        given(bias, "float16") if shifted else None,
        given(score_bias, "int32") if shifted else None,
        given(out_bias, "int32") if shifted else None,
        given(mask, "float16") if shifted else None, None, False, False, False, -1,
        Made(shape, "float16", stepped=stepped),
    ]  # fmt: skip
    # A probability beside the middle of two steps may go to either.
    beside = np.abs(steps - np.floor(steps) - 0.5).min(axis=-1, keepdims=True) < 1e-3
    return arguments, np.where(beside, np.nan, exact * out_scale)


@pytest.mark.parametrize(
    ("tokens", "width", "more"),
    [(49, 32, {}), (7, 64, {"stepped": True}), (1, 32, {}), (20, 64, {"shifted": False})],
)
def test_windows_attend_in_int8(
    smaller: Chip950, tokens: int, width: int, more: dict[str, Any]
) -> None:
    arguments, exact = call(tokens, width, **more)
    (out,) = smaller.operator(NAME, *arguments)
    known = ~np.isnan(exact)
    assert known.mean() > 0.7
    assert_close(out[known], exact[known])


def test_refusals_name_the_parameter(smaller: Chip950) -> None:
    def refused(status: int, index: int, value: Any) -> str:
        arguments, _ = call(5, 32)
        arguments[index] = value
        answer = smaller.operator(NAME, *arguments)
        assert isinstance(answer, Refused)
        assert answer.status == status, answer.text
        return answer.text

    wide = Given(np.ones((2, 3, 5, 48), np.int8), "int8")
    other = Given(np.ones((2, 3, 6, 32), np.int8), "int8")
    half = Given(np.ones((1, 5), np.float16), "float16")
    assert "value is null" in refused(161001, 2, None)
    assert "scaleDequant1 is null" in refused(161001, 4, None)
    assert "scaleDequant1 has dtype" in refused(161002, 4, half)
    assert "paddingMask2Optional is given" in refused(161002, 10, half)
    assert "heads of 48 elements" in refused(561002, 0, wide)
    assert "key has shape" in refused(561002, 1, other)
    assert "scaleQuant has shape" in refused(561002, 3, Given(np.ones((1, 4), np.half), "float16"))
    assert "paddingMask1Optional has shape" in refused(
        561002, 9, Given(np.ones((1, 3, 5, 4), np.half), "float16")
    )
    assert "keyTranspose is true" in refused(561002, 12, True)
    assert "softmaxAxes is 3" in refused(561002, 14, 3)
    assert "out has shape" in refused(561002, 15, Made((2, 3, 5, 64), "float16"))
    long = Given(np.ones((1, 1, 1025, 32), np.int8), "int8")
    assert "1025 tokens" in refused(561002, 0, long)


@pytest.mark.usefixtures("device")
def test_a_910b_does_not_have_it() -> None:
    x, scale = place(np.ones((1, 1, 3, 32), np.int8)), place(np.ones((1, 3), np.float16))
    first, second = place(np.ones((1, 3), np.uint64)), place(np.ones((1, 32), np.uint64))
    with pytest.raises(AclnnError, match="only the 310P has this operator") as caught:
        op("aclnnSwinAttentionScoreQuant")(
            x, x, x, scale, first, second, *[None] * 5, False, False, False, -1,
            hollow((1, 1, 3, 32), np.half),
        )  # fmt: skip
    assert caught.value.status == 161002
