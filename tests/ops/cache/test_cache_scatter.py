# SPDX-License-Identifier: Apache-2.0
"""Rows written behind a start: quantised into a cache, or to the members of a list."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_same
from helpers.operators import LAYOUTS, op, place, wide

from ..problems import fault
from ..quantised import assert_quantised
from .test_cache_pages import message, rows, run_on_950

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
BF16 = np.dtype(ml_dtypes.bfloat16)
QUANT, LIST = "aclnnInplaceQuantScatter", "aclnnScatterList"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shifted", [True, False], ids=["zero", "symmetric"])
@pytest.mark.parametrize("kind", [np.dtype(np.float16), BF16], ids=str)
def test_rows_are_quantised_into_a_cache(kind: Any, shifted: bool, layout: str) -> None:
    rng = np.random.default_rng(1)
    brain = kind == BF16
    x = rng.uniform(-30, 30, (3, 2, 64)).astype(kind)
    x[0, 0, :3] = 1000, -1000, 0
    scale = rng.uniform(0.1, 0.4, (1, 1, 64)).astype(BF16 if brain else np.float32)
    zero = rng.integers(-9, 9, (1, 1, 64)).astype(BF16 if brain else np.int32)
    starts = np.array([3, 0, 5])
    cache = np.full((4, 7, 64), 77, np.int8)
    target = place(cache, layout)
    op(QUANT)(
        target,
        place(starts.astype(np.int64 if brain else np.int32)),
        place(x, layout),
        place(scale),
        place(zero) if shifted else None,
        *(-2, -1, 1),
    )
    result, exact = target.numpy(), wide(x) / wide(scale) + (wide(zero) if shifted else 0)
    for i, start in enumerate(starts):
        assert_quantised(result[i, start : start + 2], exact[i], "int8", slack=1e-3)
        result[i, start : start + 2] = 77
    assert_same(result, cache)


def test_quantised_rows_are_those_of_quantize() -> None:
    rng = np.random.default_rng(2)
    x, scale = rng.uniform(-9, 9, (2, 3, 32)).astype(BF16), rng.uniform(0.1, 1, 32).astype(BF16)
    target, parts = (place(np.full((2, 3, 32), junk, np.int8)) for junk in (77, 78))
    starts = place(np.zeros(2, np.int32))
    op(QUANT)(target, starts, place(x), place(scale.reshape(1, 1, 32)), None, -2, 2, 1)
    op("aclnnQuantize")(place(x), place(scale), None, np.int8, 2, parts)
    assert_same(target.numpy(), parts.numpy())


@pytest.mark.parametrize("start", [-1, 4, 2**31 - 1])
def test_a_start_outside_the_cache_is_a_fault(start: int) -> None:
    cache, x = place(np.zeros((1, 5, 32), np.int8)), place(np.ones((1, 2, 32), np.float16))
    scale = place(np.ones((1, 1, 32), np.float32))
    starts = place(np.array([start], np.int32))
    assert f"indices holds {start}" in fault(QUANT, cache, starts, x, scale, None, -2, -1, 1)


def test_quant_scatter_refuses() -> None:
    half, single = np.float16, np.float32
    good: list[Any] = [
        *(place(np.zeros((2, 5, 32), np.int8)), place(np.zeros(2, np.int32))),
        *(place(np.ones((2, 2, 32), half)), place(np.ones((1, 1, 32), single)), None, -2, -1, 1),
    ]

    def bad(status: int, position: int, given: Any) -> str:
        arguments = list(good)
        arguments[position] = given
        return message(status, QUANT, *arguments)

    for position in range(4):
        bad(161001, position, None)
    assert "selfRef has dtype" in bad(161002, 0, place(np.zeros((2, 5, 32), np.uint8)))
    assert "updates has dtype" in bad(161002, 2, place(np.ones((2, 2, 32), single)))
    assert "quantScales has dtype" in bad(161002, 3, place(np.ones((1, 1, 32), BF16)))
    assert "quantZeroPoints has dtype" in bad(161002, 4, place(np.ones((1, 1, 32), BF16)))
    assert "selfRef has 4 dim" in bad(161002, 0, place(np.zeros((2, 1, 5, 32), np.int8)))
    assert "updates has 2 dim" in bad(161002, 2, place(np.ones((2, 32), half)))
    assert "axis is 1" in bad(161002, 5, 1)
    assert "quantAxis is 0" in bad(161002, 6, 0)
    assert "reduction is 0" in bad(161002, 7, 0)
    assert "indices has shape" in bad(561002, 1, place(np.zeros(3, np.int32)))
    assert "in dimension 1" in bad(561002, 2, place(np.ones((2, 6, 32), half)))
    assert "quantScales has 1 elements" in bad(561002, 3, place(np.ones((1, 1, 1), single)))
    narrow = [place(np.zeros((2, 5, 8), np.int8)), good[1], place(np.ones((2, 2, 8), half))]
    narrow.append(place(np.ones((1, 1, 8), single)))
    assert "32 bytes" in message(561002, QUANT, *narrow, None, -2, -1, 1)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["int8", "uint16", "int32", "float16", BF16, "float32"], ids=str)
def test_each_member_takes_its_part(kind: Any, layout: str) -> None:
    rng = np.random.default_rng(3)
    members = [rng.integers(0, 50, (2, 6, 3)).astype(kind) for _ in range(3)]
    updates = rows(rng, (3, 2, 4, 3), kind)
    for starts, mask in (
        (np.array([2, 0, 1]), None),
        (np.array([[2, 4], [5, 0], [3, 3]]), np.array([1, 1, 0], np.uint8)),
    ):
        targets = [place(member, layout) for member in members]
        op(LIST)(
            targets,
            place(starts, layout),
            place(updates, layout),
            None if mask is None else place(mask),
            *("update", 2),
        )
        for i, (target, member) in enumerate(zip(targets, members, strict=True)):
            wanted = member.copy()
            start, length = starts[i] if starts.ndim == 2 else (starts[i], 4)
            if mask is None or mask[i]:
                wanted[:, start : start + length] = updates[i, :, :length]
            assert_same(target.numpy(), wanted)


@pytest.mark.parametrize("axis", [-1, 1, -3])
def test_any_dimension_but_the_first_is_an_axis(axis: int) -> None:
    member, updates = np.zeros((4, 5, 6), np.int8), np.ones((1, 4, 5, 6), np.int8)
    part = updates[..., :2] if axis == -1 else updates[:, :2]
    target = place(member)
    op(LIST)([target], place(np.array([2])), place(np.ascontiguousarray(part)), None, None, axis)
    wanted = member.copy()
    wanted[(..., slice(2, 4)) if axis == -1 else slice(2, 4)] = 1
    assert_same(target.numpy(), wanted)


@pytest.mark.parametrize(("start", "length"), [(3, 4), (-1, 2), (0, 5), (0, -1), (2**62, 2**62)])
def test_a_part_outside_its_member_is_a_fault(start: int, length: int) -> None:
    target, updates = place(np.zeros((6, 3), np.int8)), place(np.ones((1, 4, 3), np.int8))
    listed = place(np.array([[start, length]]))
    assert "of member 0" in fault(LIST, [target], listed, updates, None, None, -2)
    skipped = place(np.zeros(1, np.uint8))
    op(LIST)([target], listed, updates, skipped, None, -2)
    assert not target.numpy().any()


def test_scatter_list_refuses() -> None:
    target, updates = place(np.zeros((6, 3), np.int8)), place(np.ones((2, 4, 3), np.int8))
    good: list[Any] = [[target, target], place(np.array([0, 0])), updates, None, "update", -2]

    def bad(status: int, position: int, given: Any) -> str:
        arguments = list(good)
        arguments[position] = given
        return message(status, LIST, *arguments)

    for position in range(3):
        bad(161001, position, None)
    bad(161001, 0, [target, None])
    assert "0 members" in bad(161002, 0, [])
    assert "varRef has dtype" in bad(161002, 0, [place(np.zeros((6, 3), np.int64))] * 2)
    assert "that of updates" in bad(161002, 0, [place(np.zeros((6, 3), np.uint8))] * 2)
    assert "indice has dtype" in bad(161002, 1, place(np.zeros(2, np.float32)))
    assert "maskOptional has dtype" in bad(161002, 3, place(np.zeros(2, np.int8)))
    assert "reduceOptional" in bad(161002, 4, "add")
    assert "axis is 0" in bad(561002, 5, 0)
    assert "axis is 3" in bad(561002, 5, 3)
    assert "has 3 members" in bad(561002, 0, [target] * 3)
    assert "varRef has shape" in bad(561002, 0, [target, place(np.zeros((5, 3), np.int8))])
    assert "in dimension 1" in bad(561002, 2, place(np.ones((2, 7, 3), np.int8)))
    assert "indice has shape" in bad(561002, 1, place(np.zeros((2, 3), np.int64)))
    assert "maskOptional has shape" in bad(561002, 3, place(np.zeros(3, np.uint8)))


_ON_950 = """
import ml_dtypes
import numpy as np
import aclnn_py as ap
with ap.Device(0):
    put, rng = ap.from_numpy, np.random.default_rng(9)
    x = rng.uniform(-5, 5, (2, 3, 2, 8)).astype(np.float16)
    scale = rng.uniform(0.1, 1, 8).astype(np.float32)
    exact = x.astype(np.float64) / scale
    indices = np.array([[3, 1], [0, 4]])
    for kind in (np.int8, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        target = put(np.zeros((4, 3, 6, 8), kind))
        ap.ops.inplace_quant_scatter_v2(
            target, put(indices), put(x), put(scale), None, 2, -1, 1, "rint")
        wanted = np.zeros((4, 3, 6, 8))
        for i, (b, start) in enumerate(indices):
            wanted[b, :, start:start + 2] = np.round(exact[i]) if kind is np.int8 else exact[i]
        result = target.numpy().astype(np.float64)
        near = 0 if kind is np.int8 else 0.07 if kind is ml_dtypes.float8_e4m3fn else 0.13
        np.testing.assert_allclose(result, wanted, rtol=near, atol=0.01)
    print("right")
"""


def test_the_version_of_a_950() -> None:
    run_on_950(_ON_950)
    cache, x = place(np.zeros((1, 5, 32), np.int8)), place(np.ones((1, 2, 32), np.float16))
    scale, starts = place(np.ones((1, 1, 32), np.float32)), place(np.zeros(1, np.int32))
    arguments = [cache, starts, x, scale, None, -2, -1, 1, "rint"]
    assert "950" in message(161002, "aclnnInplaceQuantScatterV2", *arguments)
