# SPDX-License-Identifier: Apache-2.0
"""Grouped products with a gated unit and quantisation, in all versions."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, hollow, op, place, refusal

import aclnn_py as ap

from ..quantised import assert_quantised, put_packed
from .grouped_oracle import (
    bounds,
    coarse,
    group_of_rows,
    grouped,
    packed_scale,
    put_weight,
)

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]

FIRST = ("aclnnGroupedMatmulSwigluQuant", "aclnnGroupedMatmulSwigluQuantWeightNZ")
SECOND = ("aclnnGroupedMatmulSwigluQuantV2", "aclnnGroupedMatmulSwigluQuantWeightNzV2")
E, K, N = 3, 64, 128
SIZES, ENDS, ROWS = [2, 0, 5], [2, 2, 7], 9  # two rows belong to no group


def gated(values: Array) -> Array:
    """SiLU of the first half times the second half."""
    gate, linear = np.split(values, 2, axis=-1)
    return gate / (1 + np.exp(-gate)) * linear


def results(layout: str = "dense") -> tuple[ap.Tensor, ap.Tensor]:
    return hollow((ROWS, N // 2), np.int8, layout), hollow((ROWS,), np.float32, layout)


def check(y: ap.Tensor, scale: ap.Tensor, values: Array, owner: Array) -> None:
    """Rows of groups are quantised by their largest value; the others are not touched."""
    taken = owner >= 0
    scales = np.abs(values).max(axis=-1) / 127
    assert_close(scale.numpy()[taken], scales[taken].astype(np.float32), scale=8)
    assert_quantised(y.numpy()[taken], values[taken] / scales[taken, None], "int8", slack=2e-3)
    assert (y.numpy()[~taken] == hollow((1,), np.int8).numpy()[0]).all()
    assert (scale.numpy()[~taken] == hollow((1,), np.float32).numpy()[0]).all()


def operands(rng: np.random.Generator, x_bound: int, w_bound: int) -> tuple[Array, Array, Array]:
    x = rng.integers(-x_bound, x_bound + 1, (ROWS, K))
    weight = rng.integers(-w_bound, w_bound + 1, (E, K, N))
    return x, weight, rng.uniform(0.01, 0.03, ROWS).astype(np.float32)


def helping(weight: Array, scale: Array) -> Array:
    """What makes up for the halves of x: 8 times the sum of the scaled weight over K."""
    pieces = 1 if scale.ndim == 2 else scale.shape[1]
    spread = np.repeat(scale.reshape(len(weight), pieces, -1), K // pieces, axis=1)
    return (8 * (weight * spread).sum(axis=1)).astype(np.float32)


@pytest.mark.parametrize("name", FIRST)
@pytest.mark.parametrize("form", ["int8-nz", "int8-blocks"])
@pytest.mark.parametrize("kind", [np.float32, np.float16, ml_dtypes.bfloat16], ids=str)
def test_int8(name: str, form: str, kind: Any) -> None:
    if form == "int8-blocks" and name == FIRST[0]:
        pytest.skip("only the other version takes blocks in the format ND")
    rng = np.random.default_rng(1)
    x, weight, token = operands(rng, 127, 127)
    scale = rng.uniform(0.0005, 0.002, (E, N)).astype(kind)
    owner = group_of_rows(ENDS, 0, ROWS)
    values = gated(grouped(x, weight, scale, token, owner))
    for layout in LAYOUTS:
        y, y_scale = results(layout)
        op(name)(
            place(x.astype(np.int8), layout),
            put_weight(weight, form),
            None,
            None,
            place(scale, layout),
            place(token, layout),
            place(np.array(ENDS), layout),
            *(y, y_scale, None),
        )
        check(y, y_scale, values, owner)


@pytest.mark.parametrize("name", FIRST)
@pytest.mark.parametrize("form", ["int4", "int4-nz", "int32", "int32-blocks"])
@pytest.mark.parametrize("pieces", [None, 2])
def test_int8_rows_with_a_weight_of_4_bits(name: str, form: str, pieces: int | None) -> None:
    forced = name == FIRST[1]
    if forced == (form in ("int4", "int32")):
        pytest.skip("one version takes plain weights, the other blocks in the format ND")
    rng = np.random.default_rng(2)
    x, weight, token = operands(rng, 127, 7)
    scale = coarse((E, N) if pieces is None else (E, pieces, N), rng)
    owner = group_of_rows(ENDS, 0, ROWS)
    y, y_scale = results()
    op(name)(
        place(x.astype(np.int8)),
        put_weight(weight, form),
        place(helping(weight, scale)),
        None,
        place(packed_scale(scale)),
        *(place(token), place(np.array(ENDS)), y, y_scale, None),
    )
    check(y, y_scale, gated(grouped(x, weight, scale, token, owner)), owner)


def test_the_help_is_added_as_it_is() -> None:
    """Rows are multiplied as halves, so a help of zeros leaves 8 times the weight missing."""
    rng = np.random.default_rng(3)
    x, weight, token = operands(rng, 127, 7)
    scale, owner = coarse((E, N), rng), group_of_rows(ENDS, 0, ROWS)
    y, y_scale = results()
    ap.ops.grouped_matmul_swiglu_quant(
        place(x.astype(np.int8)),
        put_weight(weight, "int4"),
        place(np.zeros((E, N), np.float32)),
        None,
        place(packed_scale(scale)),
        *(place(token), place(np.array(ENDS)), y, y_scale, None),
    )
    check(y, y_scale, gated(grouped(x - 8, weight, scale, token, owner)), owner)


@pytest.mark.parametrize("name", SECOND)
@pytest.mark.parametrize("listed", [0, 1])
@pytest.mark.parametrize("many", [False, True], ids=["one", "list"])
@pytest.mark.parametrize("case", ["int8", "helped", "int4", "pieces", "smooth", "smooth-group"])
def test_second_version(name: str, listed: int, many: bool, case: str) -> None:
    rng = np.random.default_rng(4)
    low = case not in ("int8", "helped")
    x, weight, token = operands(rng, 7 if low else 127, 127 if case == "int8" else 7)
    shape = (E, 4, N) if case == "pieces" else (E, N)
    scale = coarse(shape, rng) * (0.03 if case == "int8" else 1)
    groups = SIZES if listed else ENDS
    owner = group_of_rows(groups, listed, ROWS)
    values = gated(grouped(x, weight, scale, token, owner))
    smooth = None
    if case.startswith("smooth"):
        smooth = rng.uniform(0.5, 2, (E,) if case == "smooth-group" else (E, N // 2))
        smooth = smooth.astype(np.float32)
        values *= smooth[owner].reshape(ROWS, -1)
    form = "int8-nz" if case == "int8" else "int4-nz"
    bits = scale.astype(np.float16) if case == "int8" else packed_scale(scale)
    if case == "int8":
        values = gated(grouped(x, weight, bits, token, owner))
    helps = helping(weight, scale)

    def each(array: Array) -> list[Array]:
        return list(array) if many else [array]

    y, y_scale = results()
    op(name)(
        put_packed(x, "int4") if low else place(x.astype(np.int8)),
        [put_weight(w, form) for w in each(weight)],
        [place(s) for s in each(bits)],
        [place(h) for h in each(helps)] if case == "helped" else None,
        None,
        place(token),
        None if smooth is None else place(smooth),
        place(np.array(groups)),
        *(int(case == "pieces"), 0, 0, listed, None, y, y_scale),
    )
    check(y, y_scale, values, owner)


@pytest.mark.parametrize("x_kind", ["int4", "int32"])
@pytest.mark.parametrize("form", ["int4-transposed", "int4", "int32", "int32-blocks"])
def test_forms_of_4_bits(x_kind: str, form: str) -> None:
    rng = np.random.default_rng(5)
    x, weight, token = operands(rng, 7, 7)
    scale, owner = coarse((E, N), rng), group_of_rows(ENDS, 0, ROWS)
    y, y_scale = results()
    op(SECOND[form in ("int4-transposed", "int32-blocks")])(
        put_packed(x, x_kind),
        [put_weight(weight, form)],
        [place(packed_scale(scale))],
        *(None, None, place(token), None, place(np.array(ENDS)), 0, 0, 0, 0, [16], y, y_scale),
    )
    check(y, y_scale, gated(grouped(x, weight, scale, token, owner)), owner)


def test_it_is_the_product_the_gate_and_the_quantisation() -> None:
    rng = np.random.default_rng(6)
    x, weight, token = operands(rng, 127, 127)
    scale = rng.uniform(0.0005, 0.002, (E, N)).astype(ml_dtypes.bfloat16)
    y, y_scale = results()
    common = place(x.astype(np.int8)), put_weight(weight, "int8-nz")
    ap.ops.grouped_matmul_swiglu_quant(
        *(*common, None, None, place(scale), place(token), place(np.array(ENDS)), y, y_scale, None)
    )
    product = hollow((ROWS, N), ml_dtypes.bfloat16)
    ap.ops.grouped_matmul_v4(
        *([common[0]], [common[1]], None, [place(scale)], None, None, None, [place(token)]),
        *(place(np.array(ENDS)), None, None, None, 3, 0, 0, 0, [product], None, None),
    )
    parts, scales = hollow((ROWS, N // 2), np.int8), hollow((ROWS,), np.float32)
    ap.ops.swi_glu_quant_v2(*(product, None, None, None, True, "dynamic", 0, 2, parts, scales))
    rows = ENDS[-1]
    # The parts round to bfloat16 in between.
    assert_close(y_scale.numpy()[:rows], scales.numpy()[:rows], dtype=ml_dtypes.bfloat16, scale=2)
    assert np.abs(y.numpy()[:rows].astype(int) - parts.numpy()[:rows]).max() <= 2
    assert (np.abs(y.numpy()[:rows].astype(int)).max(axis=1) == 127).all()


def test_a_packed_scale_has_19_bits() -> None:
    scale = np.full((1, 64), 0.1, np.float32)
    kept = (scale.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    x, weight = np.zeros((1, 64), int), np.zeros((1, 64, 64), int)
    x[0, 0], weight[0, 0] = 7, 7
    token = np.ones(1, np.float32)
    y, y_scale = hollow((1, 32), np.int8), hollow((1,), np.float32)
    ap.ops.grouped_matmul_swiglu_quant_v2(
        put_packed(x, "int4"),
        [put_weight(weight, "int4")],
        [place(packed_scale(scale))],
        *(None, None, place(token), None, place(np.array([1])), 0, 0, 0, 0, None, y, y_scale),
    )
    value = 49 * np.float64(kept[0, 0])
    assert_close(y_scale.numpy(), [value / (1 + np.exp(-value)) * value / 127], scale=4)
    assert_same(y.numpy(), np.full((1, 32), 127, np.int8))


def test_rows_of_zeros_and_many_rows() -> None:
    rng = np.random.default_rng(7)
    rows = 1100  # more than are computed at a time
    x = rng.integers(-127, 128, (rows, 16))
    x[[0, 700]] = 0
    weight = rng.integers(-127, 128, (2, 16, 32))
    scale, token = np.full((2, 32), 0.001, np.float32), np.ones(rows, np.float32)
    y, y_scale = hollow((rows, 16), np.int8), hollow((rows,), np.float32)
    ap.ops.grouped_matmul_swiglu_quant(
        place(x.astype(np.int8)),
        put_weight(weight, "int8-nz"),
        *(None, None, place(scale), place(token), place(np.array([600, rows])), y, y_scale, None),
    )
    owner = group_of_rows([600, rows], 0, rows)
    values = gated(grouped(x, weight, scale, token, owner))
    scales = np.abs(values).max(axis=-1) / 127
    assert_close(y_scale.numpy(), scales.astype(np.float32), scale=8)
    full = scales > 0
    assert list(np.flatnonzero(~full)) == [0, 700]
    assert_quantised(y.numpy()[full], values[full] / scales[full, None], "int8", slack=2e-3)
    assert not y.numpy()[~full].any()


def test_the_result_may_lie_in_the_memory_of_x() -> None:
    rng = np.random.default_rng(8)
    x, weight, token = operands(rng, 127, 127)
    scale, owner = np.full((E, N), 0.001, np.float32), group_of_rows(ENDS, 0, ROWS)
    shared = place(x.astype(np.int8))
    y_scale = hollow((ROWS,), np.float32)
    ap.ops.grouped_matmul_swiglu_quant(
        shared,
        put_weight(weight, "int8-nz"),
        *(None, None, place(scale), place(token), place(np.array(ENDS)), shared, y_scale, None),
    )
    values = gated(grouped(x, weight, scale, token, owner))[:7]
    scales = np.abs(values).max(axis=-1) / 127
    assert_quantised(shared.numpy()[:7], values / scales[:, None], "int8", slack=2e-3)


def arguments() -> list[Any]:
    """An accepted call of the first version."""
    return [
        place(np.ones((ROWS, K), np.int8)),
        put_weight(np.ones((E, K, N)), "int8-nz"),
        *(None, None),
        place(np.ones((E, N), np.float32)),
        place(np.ones(ROWS, np.float32)),
        place(np.array(ENDS)),
        *results(),
        None,
    ]


@pytest.mark.parametrize("position", [0, 1, 4, 5, 6, 7, 8])
def test_null_is_refused(position: int) -> None:
    call = arguments()
    op(FIRST[0])(*call)
    call[position] = None
    assert refusal(FIRST[0], *call) == 161001


@pytest.mark.parametrize(
    ("position", "given"),
    [
        (0, lambda: place(np.ones((ROWS, K + 1), np.int8))),
        (0, lambda: place(np.ones((0, K), np.int8))),
        (0, lambda: place(np.ones((ROWS, K), np.uint8))),
        (1, lambda: place(np.ones((E, K, N), np.int8))),
        (1, lambda: put_weight(np.ones((E, K, N)), "int4-nz")),
        (1, lambda: put_weight(np.ones((E, K, N)), "int8-transposed")),
        (1, lambda: put_weight(np.ones((K, N)), "int8-nz")),
        (2, lambda: place(np.ones((E, N), np.float32))),
        (3, lambda: place(np.ones((E, N), np.float32))),
        (4, lambda: place(np.ones((E, N + 1), np.float32))),
        (4, lambda: place(np.ones((E, 2, N), np.float32))),
        (4, lambda: place(np.ones((E, N), np.uint64))),
        (5, lambda: place(np.ones(ROWS + 1, np.float32))),
        (5, lambda: place(np.ones(ROWS, np.float16))),
        (6, lambda: place(np.ones(E + 1, np.int64))),
        (6, lambda: place(np.ones(E, np.int32))),
        (7, lambda: hollow((ROWS, N), np.int8)),
        (8, lambda: hollow((ROWS, 1), np.float32)),
        (9, lambda: hollow((ROWS,), np.float32)),
    ],
)
def test_a_wrong_argument_is_refused(position: int, given: Any) -> None:
    call = arguments()
    call[position] = given()
    assert refusal(FIRST[0], *call) == 161002


def test_attributes_are_refused() -> None:
    x, weight, *_ = arguments()
    scale, token = place(np.ones((E, N), np.float32)), place(np.ones(ROWS, np.float32))

    def call(*modes: int, scales: Any = scale, smooth: Any = None) -> list[Any]:
        lists = [x, [weight], [scales], None, None, token, smooth]
        return [*lists, place(np.array(ENDS)), *modes, None, *results()]

    def ask(*modes: int, scales: Any = scale, smooth: Any = None) -> int:
        return refusal(SECOND[0], *call(*modes, scales=scales, smooth=smooth))

    op(SECOND[0])(*call(0, 0, 0, 0))
    assert ask(1, 0, 0, 0) == ask(2, 0, 0, 0) == ask(0, 1, 0, 0) == 161002
    assert ask(0, 0, 2, 0) == ask(0, 0, 0, 2) == ask(0, 0, 0, -1) == 161002
    assert ask(0, 0, 0, 0, smooth=place(np.ones(E, np.float32))) == 161002
    assert ask(0, 0, 0, 0, scales=place(np.ones((E, N), np.float64))) == 161002


@pytest.mark.parametrize(
    ("groups", "words"),
    [([2, 1, 7], "groupList[1] is 1"), ([2, 2, 10], "groupList[2] ends at 10"), ([-1, 0, 1], "-1")],
)
def test_groups_outside_the_rows_are_faults(groups: list[int], words: str) -> None:
    call = arguments()
    call[6] = place(np.array(groups))
    with pytest.raises(ap.errors.AclError, match=re.escape(words)) as caught:
        op(FIRST[0])(*call)
        ap.synchronize()
    assert caught.value.status == 507015


def test_fewer_groups_than_weights() -> None:
    call = arguments()
    call[6] = place(np.array([4]))
    op(FIRST[0])(*call)
    assert bounds([4], 0) == [(0, 4)]
    untouched = hollow((1,), np.float32).numpy()[0]
    assert (call[8].numpy()[:4] != untouched).all()
    assert (call[8].numpy()[4:] == untouched).all()
