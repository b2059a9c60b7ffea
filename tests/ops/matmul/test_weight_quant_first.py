# SPDX-License-Identifier: Apache-2.0
"""WeightQuantBatchMatmul, the first version, against NumPy and against the third."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, op, place, refusal, wide

from ..problems import message

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
NAME, HALF = "aclnnWeightQuantBatchMatmul", np.float16
DIAGONAL = np.eye(32, dtype=np.int8)


def packed(scale: Array) -> Array:
    """Scales of 19 bits as the parameter of 64 bits."""
    return (scale.view(np.uint32) & np.uint32(0xFFFFE000)).astype(np.uint64)


class Problem:
    def __init__(self, rows: int, depth: int = 24, cols: int = 20, one: bool = False) -> None:
        rng = np.random.default_rng(rows)
        self.x = rng.standard_normal((rows, depth)).astype(HALF)
        self.q = rng.integers(-128, 128, (depth, cols)).astype(np.int8)
        count = 1 if one else cols
        self.scale, self.bias = 0.25, rng.standard_normal(cols).astype(np.float32)
        # Both sets of parameters say the same, without rounding.
        self.mul = 2.0 ** rng.integers(-6, -2, count).astype(HALF)
        self.deq_offset = rng.integers(-20, 21, count).astype(np.int32)
        self.add = (self.deq_offset * self.scale).astype(HALF)
        self.deq_scale = (self.mul * self.scale).astype(np.float32)

    def weight(self) -> Array:
        exact = (self.q + self.deq_offset.astype(float)) * self.deq_scale
        return exact.astype(HALF)

    def arguments(self, turn: tuple[bool, bool] = (False, False), **other: Any) -> list[Any]:
        given = {
            "x1": place(np.ascontiguousarray(self.x.T) if turn[0] else self.x),
            "x2": place(np.ascontiguousarray(self.q.T) if turn[1] else self.q),
            "diagonal": place(DIAGONAL),
            "deq_offset": place(self.deq_offset),
            "deq_scale": place(packed(self.deq_scale)),
            "add": place(self.add),
            "mul": place(self.mul),
            "bias": place(self.bias),
            "turn1": turn[0],
            "turn2": turn[1],
            "scale": self.scale,
            "offset": 0.0,
            "out": hollow((len(self.x), self.q.shape[1]), HALF),
            **other,
        }
        return list(given.values())


@pytest.mark.parametrize("turn", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("one", [False, True])
@pytest.mark.parametrize("rows", [3, 64, 65])
def test_either_set_of_parameters(rows: int, one: bool, turn: Any) -> None:
    p = Problem(rows, one=one)
    exact = wide(p.x) @ wide(p.weight()) + p.bias
    absent = {"add": None, "mul": None} if rows <= 64 else {}
    if rows > 64:
        absent = {"diagonal": None, "deq_offset": None, "deq_scale": None}
    for other in ({}, absent):
        given = p.arguments(turn, **other)
        op(NAME)(*given)
        assert_close(given[-1].numpy(), exact, scale=4)


def test_absent_parameters() -> None:
    """Many rows without an offset and a factor; no bias."""
    p = Problem(70)
    given = p.arguments(
        diagonal=None, deq_offset=None, deq_scale=None, add=None, mul=None, bias=None
    )
    op(NAME)(*given)
    assert_close(given[-1].numpy(), wide(p.x) @ (p.q * p.scale), scale=4)


def test_it_is_the_third_version() -> None:
    p = Problem(70)
    given = p.arguments()
    op(NAME)(*given)
    out = hollow(given[-1].shape, HALF)
    op("aclnnWeightQuantBatchMatmulV3")(
        *(given[0], given[1], place(p.deq_scale.astype(HALF)), place(p.deq_offset.astype(HALF))),
        *(None, None, given[7], 0, 0, out),
    )
    assert_same(given[-1].numpy(), out.numpy())
    assert_close(out.numpy(), wide(p.x) @ wide(p.weight()) + p.bias, scale=4)


def test_refusals() -> None:
    p = Problem(5)
    for name in ("x1", "x2", "diagonal", "deq_offset", "deq_scale", "out"):
        assert refusal(NAME, *p.arguments(**{name: None})) == 161001
    for other, says in [
        ({"offset": 1.0}, "antiquantOffset is 1; allowed: 0"),
        ({"x1": hollow((5, 24), np.float32)}, "x1 has dtype"),
        ({"x2": hollow((23, 20), np.int8)}, "cannot be multiplied"),
        ({"turn2": True}, "cannot be multiplied"),
        ({"diagonal": hollow((16, 16), np.int8)}, "diagonalMatrixOptional has shape"),
        ({"deq_offset": hollow((3,), np.int32)}, "deqOffsetOptional has shape"),
        ({"add": hollow((4, 5), HALF)}, "addOffsetOptional has shape"),
        ({"bias": hollow((5,), np.float32)}, "biasOptional has shape"),
        ({"out": hollow((5, 21), HALF)}, "out has shape"),
        ({"out": hollow((5, 20), np.int8)}, "out has dtype"),
    ]:
        assert says in message(NAME, 161002, p.arguments(**other))
    assert "antiquantScale is 0" in message(NAME, 161002, Problem(70).arguments(scale=0.0))
