# SPDX-License-Identifier: Apache-2.0
"""Grouped products whose rows are weighted and added to the rows of their tokens."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, hollow, op, place, refusal

import aclnn_py as ap

from ..problems import fault
from .grouped_oracle import coarse, group_of_rows, grouped, packed_scale, put_weight

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]

PLAIN = (
    "aclnnGroupedMatmulFinalizeRouting",
    "aclnnGroupedMatmulFinalizeRoutingV2",
    "aclnnGroupedMatmulFinalizeRoutingV3",
)
NZ = ("aclnnGroupedMatmulFinalizeRoutingWeightNz", "aclnnGroupedMatmulFinalizeRoutingWeightNzV2")
E, K, N = 3, 48, 64
SIZES, ENDS, ROWS, TOKENS = [2, 0, 5], [2, 2, 7], 9, 4  # two rows belong to no group
TARGETS = np.array([3, 0, 1, 3, 3, 0, 1, 77, -1])


class Problem:
    """Operands of one product, and what has to come out."""

    def __init__(self, seed: int, w_bound: int, listed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.x = self.rng.integers(-127, 128, (ROWS, K))
        self.weight = self.rng.integers(-w_bound, w_bound + 1, (E, K, N))
        self.token = self.rng.uniform(0.01, 0.03, ROWS).astype(np.float32)
        self.logit = self.rng.uniform(0.1, 1, ROWS).astype(np.float32)
        self.shared = self.rng.standard_normal((2, N)).astype(ml_dtypes.bfloat16)
        self.groups = SIZES if listed else ENDS
        self.listed = listed
        self.owner = group_of_rows(self.groups, listed, ROWS)

    def combined(self, values: Array, logit: Array, shared: float, offset: int) -> Array:
        """Rows of groups times their logits, added to their tokens beside the shared rows."""
        out = np.zeros((TOKENS, N))
        out[offset : offset + 2] += shared * self.shared.astype(np.float64)
        for row in np.flatnonzero(self.owner >= 0):
            out[TARGETS[row]] += float(logit[row]) * values[row]
        return out

    def helping(self, scale: Array) -> Array:
        return (8 * (self.weight * scale[:, None]).sum(axis=1)).astype(np.float32)


def call(
    name: str,
    p: Problem,
    weight: ap.Tensor,
    scale: Array,
    bias: Array | None,
    offset: Array | None = None,
    *,
    layout: str = "dense",
    index: Any = np.int64,
    sharing: tuple[float, int] = (0.0, 0),
    with_logit: bool = True,
) -> ap.Tensor:
    """Call a version with the arguments it has."""
    out = hollow((TOKENS, N), np.float32, layout)
    late = [None if offset is None else place(offset), None, None] if "V" in name[-2:] else []
    hints = [[16]] if name in (PLAIN[2], NZ[1]) else []
    op(name)(
        place(p.x.astype(np.int8), layout),
        weight,
        place(scale),
        None if bias is None else place(bias),
        *late,
        place(p.token, layout),
        place(np.array(p.groups), layout),
        place(p.shared, layout) if sharing[0] else None,
        place(p.logit, layout) if with_logit else None,
        place(TARGETS.astype(index), layout),
        *(0, *sharing, False, False, p.listed, *hints, out),
    )
    return out


@pytest.mark.parametrize("name", NZ)
@pytest.mark.parametrize("kind", [np.float32, ml_dtypes.bfloat16], ids=str)
@pytest.mark.parametrize("listed", [0, 1])
def test_int8(name: str, kind: Any, listed: int) -> None:
    p = Problem(1, 127, listed)
    scale = p.rng.uniform(0.0005, 0.002, (E, N)).astype(kind)
    weight = put_weight(p.weight, "int8-nz")
    values = grouped(p.x, p.weight, scale, p.token, p.owner)
    for layout in LAYOUTS:
        out = call(name, p, weight, scale, None, layout=layout, sharing=(0.5, 1))
        assert_close(out.numpy(), p.combined(values, p.logit, 0.5, 1), scale=8)
    narrow = np.int32 if kind is np.float32 else np.int64
    out = call(name, p, weight, scale, None, index=narrow, with_logit=False)
    assert_close(out.numpy(), p.combined(values, np.ones(ROWS), 0, 0), scale=8)


@pytest.mark.parametrize("kind", [np.float32, ml_dtypes.bfloat16], ids=str)
def test_a_bias_of_floats_comes_after_the_scales(kind: Any) -> None:
    p = Problem(2, 127)
    scale = p.rng.uniform(0.0005, 0.002, (E, N)).astype(kind)
    bias = p.rng.standard_normal((E, N)).astype(ml_dtypes.bfloat16)
    values = grouped(p.x, p.weight, scale, p.token, p.owner) + bias.astype(np.float64)[p.owner]
    out = call(NZ[1], p, put_weight(p.weight, "int8-nz"), scale, bias)
    assert_close(out.numpy(), p.combined(values, p.logit, 0, 0), scale=8)


@pytest.mark.parametrize("name", [*PLAIN, NZ[1]])
@pytest.mark.parametrize("form", ["int4", "int32", "int4-nz"])
def test_a_weight_of_4_bits(name: str, form: str) -> None:
    p = Problem(3, 7)
    scale = coarse((E, N), p.rng)
    values = grouped(p.x, p.weight, scale, p.token, p.owner)
    bits = packed_scale(scale).astype(np.int64)[:, None]
    out = call(name, p, put_weight(p.weight, form), bits, p.helping(scale), sharing=(2.0, 2))
    assert_close(out.numpy(), p.combined(values, p.logit, 2.0, 2), scale=16)


@pytest.mark.parametrize("name", [*PLAIN[1:], NZ[1]])
def test_an_offset_of_the_weight(name: str) -> None:
    p = Problem(4, 7)
    scale, shift = coarse((E, N), p.rng), p.rng.integers(-4, 5, (E, N))
    moved = p.weight + shift[:, None]
    values = grouped(p.x, moved, scale, p.token, p.owner)
    bits, offset = packed_scale(scale).astype(np.int64)[:, None], (shift * scale)[:, None]
    out = call(
        *(name, p, put_weight(p.weight, "int4"), bits, p.helping(scale)),
        offset.astype(np.float32),
    )
    assert_close(out.numpy(), p.combined(values, p.logit, 0, 0), scale=32)


def test_exact_numbers() -> None:
    """Whole numbers and powers of two leave nothing to round."""
    x = np.array([[1, -2], [3, 4], [-5, 6]])
    x = np.pad(x, ((0, 0), (0, 14)))
    weight = np.zeros((2, 16, 32), int)
    weight[0, :2, :2], weight[1, :2, :2] = [[1, 2], [3, 4]], [[5, -6], [-7, 8]]
    out = hollow((2, 32), np.float32)
    ap.ops.grouped_matmul_finalize_routing_weight_nz(
        place(x.astype(np.int8)),
        put_weight(weight, "int8-nz"),
        place(np.full((2, 32), 0.5, np.float32)),
        None,
        place(np.array([1, 2, 4], np.float32)),
        place(np.array([1, 3])),
        place(np.ones((1, 32), ml_dtypes.bfloat16)),
        place(np.array([1, 0.5, 0.25], np.float32)),
        place(np.array([1, 1, 0])),
        *(0, 3.0, 1, False, False, 0, out),
    )
    oracle = np.zeros((2, 32))
    oracle[1] = 3
    oracle[1, :2] += [-2.5, -3]  # [1, -2] @ w0 * 0.5
    oracle[1, :2] += [-6.5, 7]  # [3, 4] @ w1 * 0.5 * 2 * 0.5
    oracle[0, :2] = [-33.5, 39]  # [-5, 6] @ w1 * 0.5 * 4 * 0.25
    assert_same(out.numpy(), oracle.astype(np.float32))


def test_it_is_the_product_and_the_combination() -> None:
    p = Problem(5, 127)
    scale = p.rng.uniform(0.0005, 0.002, (E, N)).astype(np.float32)
    weight = put_weight(p.weight, "int8-nz")
    fused = call(NZ[0], p, weight, scale, None)
    product = hollow((ROWS, N), np.float16)
    ap.ops.grouped_matmul_v4(
        *([place(p.x.astype(np.int8))], [weight], None, [place(scale)], None, None, None),
        *([place(p.token)], place(np.array(ENDS)), None, None, None, 3, 0, 0, 0),
        *([product], None, None),
    )
    parts = np.zeros((TOKENS, N), np.float32)
    for row, values in enumerate(product.numpy()[: ENDS[-1]]):
        parts[TARGETS[row]] += p.logit[row] * values
    assert_close(fused.numpy(), parts, dtype=np.float16, scale=4)


def arguments() -> list[Any]:
    """An accepted call of the last version."""
    return [
        place(np.ones((ROWS, K), np.int8)),
        put_weight(np.ones((E, K, N)), "int8-nz"),
        place(np.ones((E, N), np.float32)),
        *(None, None, None, None),
        place(np.ones(ROWS, np.float32)),
        place(np.array(ENDS)),
        place(np.ones((2, N), ml_dtypes.bfloat16)),
        place(np.ones(ROWS, np.float32)),
        place(np.zeros(ROWS, np.int64)),
        *(0, 1.0, 0, False, False, 0, None),
        hollow((TOKENS, N), np.float32),
    ]


@pytest.mark.parametrize("position", [0, 1, 2, 8, 11, 19])
def test_null_is_refused(position: int) -> None:
    given = arguments()
    op(NZ[1])(*given)
    given[position] = None
    assert refusal(NZ[1], *given) == 161001


@pytest.mark.parametrize(
    ("position", "given"),
    [
        (0, lambda: place(np.ones((ROWS, K + 1), np.int8))),
        (0, lambda: place(np.ones((0, K), np.int8))),
        (1, lambda: place(np.ones((E, K, N), np.int8))),
        (1, lambda: put_weight(np.ones((K, N)), "int8-nz")),
        (1, lambda: put_weight(np.ones((E, K, N)), "int8-transposed")),
        (2, lambda: place(np.ones((E, 1, N), np.float32))),
        (2, lambda: place(np.ones((E, N), np.int64))),
        (3, lambda: place(np.ones((E, N), np.float32))),
        (4, lambda: place(np.ones((E, 1, N), np.float32))),
        (5, lambda: place(np.ones((E, 1, N), np.float32))),
        (6, lambda: place(np.ones((E, 1, N), np.float32))),
        (7, lambda: place(np.ones(ROWS + 1, np.float32))),
        (8, lambda: place(np.ones(E + 1, np.int64))),
        (9, lambda: place(np.ones((TOKENS + 1, N), ml_dtypes.bfloat16))),
        (9, lambda: place(np.ones((2, N), np.float16))),
        (10, lambda: place(np.ones((ROWS, 1), np.float32))),
        (11, lambda: place(np.ones(ROWS, np.int16))),
        (12, lambda: 1),
        (14, lambda: 3),
        (14, lambda: -1),
        (15, lambda: True),
        (16, lambda: True),
        (17, lambda: 2),
        (19, lambda: hollow((TOKENS, N + 1), np.float32)),
        (19, lambda: hollow((TOKENS, N), np.float16)),
    ],
)
def test_a_wrong_argument_is_refused(position: int, given: Any) -> None:
    right = arguments()
    right[position] = given()
    assert refusal(NZ[1], *right) == 161002


def test_a_weight_of_4_bits_needs_its_help() -> None:
    given = arguments()
    given[1] = put_weight(np.ones((E, K, N)), "int4")
    given[2] = place(np.ones((E, 1, N), np.int64))
    assert refusal(NZ[1], *given) == 161001
    given[3] = place(np.ones((E, N), np.float32))
    given[11] = place(np.ones(ROWS, np.int32))
    assert refusal(NZ[1], *given) == 161002


@pytest.mark.parametrize("wrong", [TOKENS, -1])
def test_a_target_outside_the_tokens_is_a_fault(wrong: int) -> None:
    given = arguments()
    targets = np.zeros(ROWS, np.int64)
    targets[3] = wrong
    given[11] = place(targets)
    assert f"rowIndex[3] is {wrong}" in fault(NZ[1], *given)
