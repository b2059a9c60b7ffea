# SPDX-License-Identifier: Apache-2.0
"""The joint projection of a Swin transformer in int8, which the 310P has, against NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close
from helpers.operators import hollow, place, refusal

from ..attention.test_swin_quant import packed

pytestmark = pytest.mark.emulator_only(reason="chooses the chip of the emulator")

Array = np.ndarray[Any, Any]
NAME, EPSILON = "swin_transformer_ln_qkv_quant", 1e-5


@pytest.fixture(scope="module")
def smaller() -> Iterator[Chip950]:
    with Chip950("310P") as process:
        yield process


def call(
    batch: int, heads: int, head: int, height: int, width: int, window: tuple[int, int]
) -> tuple[list[Any], list[Array]]:
    """Arguments, and queries, keys and values in float64; NaN where a code may go either way."""
    rng = np.random.default_rng(heads + height)
    columns, (tall, broad) = heads * head, window
    x = rng.standard_normal((batch, height * width, columns)).astype(np.float16)
    gamma, beta, scale, offset = (
        rng.uniform(low, high, columns).astype(np.float16)
        for low, high in ((0.5, 2), (-1, 1), (20, 60), (-5, 5))
    )
    weight = rng.integers(-128, 128, (3 * columns, columns)).astype(np.int8)
    bias = rng.integers(-500, 500, 3 * columns).astype(np.int32)
    scales, numbers = packed(rng, 1e-4, 3 * columns)
    rows = x.astype(float)
    centred = rows - rows.mean(-1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON)
    steps = (normal * gamma + beta.astype(float)) * scale + offset.astype(float)
    # Windows of an image, row by row, each with its pixels row by row.
    cut = steps.reshape(batch, height // tall, tall, width // broad, broad, columns)
    cut = cut.transpose(0, 1, 3, 2, 4, 5).reshape(-1, tall * broad, columns)
    codes = np.clip(np.rint(cut), -128, 127)
    made = (codes @ weight.T.astype(float) + bias) * numbers
    beside = (np.abs(cut - np.floor(cut) - 0.5) < 1e-3).any(-1, keepdims=True)
    made = np.where(beside, np.nan, made).reshape(-1, tall * broad, 3, heads, head)
    results = list(made.transpose(2, 0, 3, 1, 4))
    arguments = [
        *(Given(array, "float16") for array in (x, gamma, beta)),
        *(Given(weight, "int8"), Given(bias, "int32")),
        *(Given(scale, "float16"), Given(offset, "float16"), Given(scales[0], "uint64")),
        *(heads, head, EPSILON, height, width, tall, broad, True),
        *(Made(results[0].shape, "float16") for _ in range(3)),
    ]
    return arguments, results


@pytest.mark.parametrize(
    "sizes", [(1, 1, 32, 7, 7, (7, 7)), (2, 3, 32, 14, 8, (7, 8)), (1, 2, 64, 8, 21, (8, 7))]
)
def test_windows_are_projected_in_int8(smaller: Chip950, sizes: Any) -> None:
    arguments, exact = call(*sizes)
    found = smaller.operator(NAME, *arguments)
    assert not isinstance(found, Refused), found
    for mine, right in zip(found, exact, strict=True):
        known = ~np.isnan(right)
        assert known.mean() > 0.5
        assert_close(mine[known], right[known])


def test_refusals_name_the_parameter(smaller: Chip950) -> None:
    def refused(status: int, index: int, value: Any) -> str:
        arguments, _ = call(1, 1, 32, 7, 7, (7, 7))
        arguments[index] = value
        answer = smaller.operator(NAME, *arguments)
        assert isinstance(answer, Refused)
        assert answer.status == status, answer.text
        return answer.text

    assert "quantOffset is null" in refused(161001, 6, None)
    assert "x has dtype" in refused(161002, 0, Given(np.ones((1, 49, 32), np.float32), "float32"))
    assert "headNum is 0" in refused(561002, 8, 0)
    assert "headNum * seqLength is 64" in refused(561002, 8, 2)
    assert "seqLength is 48" in refused(561002, 9, 48)
    assert "oriHeight is 8" in refused(561002, 11, 8)
    assert "oriHeight * oriWeight" in refused(561002, 12, 14)
    assert "hWinSize is 6" in refused(561002, 13, 6)
    assert "wWinSize is 33" in refused(561002, 14, 33)
    assert "weightTranspose is false" in refused(561002, 15, False)
    assert "weight has shape" in refused(561002, 3, Given(np.ones((32, 96), np.int8), "int8"))
    assert "keyOutputOut has shape" in refused(561002, 17, Made((1, 49, 32), "float16"))


@pytest.mark.usefixtures("device")
def test_a_910b_does_not_have_it() -> None:
    x, row = place(np.ones((1, 49, 32), np.half)), place(np.ones(32, np.half))
    weight, bias = place(np.ones((96, 32), np.int8)), place(np.ones(96, np.int32))
    scale, out = place(np.ones(96, np.uint64)), hollow((1, 1, 49, 32), np.half)
    given = [x, row, row, weight, bias, row, row, scale, 1, 32, 1e-5, 7, 7, 7, 7, True]
    assert refusal("aclnnSwinTransformerLnQkvQuant", *given, out, out, out) == 161002
