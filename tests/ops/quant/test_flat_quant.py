# SPDX-License-Identifier: Apache-2.0
"""Values rounded to what quantisation keeps of them, and matrices quantised after two products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, NUMPY, hollow, place, refusal, wide

import aclnn_py as ap

from ..problems import fault
from ..quantised import HALVES, assert_quantised, result, unpacked

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
KINDS = ["FLOAT", "FLOAT16"]


def kept(x: Array, scale: Array, zero: Array, low: int, high: int) -> tuple[Array, Array]:
    """The documents' formulas; the quotient is rounded to float32 before it is rounded."""
    quotient = (x.astype(np.float32) / scale.astype(np.float32)).astype(np.float64)
    whole = zero.dtype.kind == "i"
    shift = zero.astype(np.float64)
    number = np.rint(quotient) + shift if whole else np.rint(quotient + shift)
    inside = (number >= low) & (number <= high)
    return (np.clip(number, low, high) - shift) * scale.astype(np.float64), inside


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("zeros", ["INT32", "own"])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", KINDS)
def test_fake_quant_per_channel(name: str, axis: int, zeros: str, layout: str) -> None:
    kind, rng = NUMPY[name], np.random.default_rng(1)
    x = (rng.standard_normal((3, 4, 50)) * 3).astype(kind)
    count = x.shape[axis]
    scale = rng.uniform(0.05, 0.5, count).astype(kind)
    zero = rng.integers(-3, 4, count).astype(np.int32 if zeros == "INT32" else kind)
    if zeros == "own":
        zero = zero + kind.type(0.25)
    out, mask = hollow(x.shape, kind, layout), hollow(x.shape, np.bool_, layout)
    ap.ops.fake_quant_per_channel_affine_cachemask(
        place(x, layout), place(scale, layout), place(zero, layout), axis, -8, 7, out, mask
    )
    shape = [1, 1, 1]
    shape[axis] = count
    exact, inside = kept(x, scale.reshape(shape), zero.reshape(shape), -8, 7)
    assert_same(mask.numpy(), inside)
    assert 0.1 < inside.mean() < 0.95
    assert_close(out.numpy(), exact)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("enabled", [1.0, 2.5, 0.5, 0.0])
@pytest.mark.parametrize("name", KINDS)
def test_fake_quant_per_tensor(name: str, enabled: float, layout: str) -> None:
    kind, rng = NUMPY[name], np.random.default_rng(2)
    x = (rng.standard_normal((3, 4, 50)) * 3).astype(kind)
    scale, zero = np.array([0.2], kind), np.array([2], np.int32)
    out, mask = hollow(x.shape, kind, layout), hollow(x.shape, np.bool_, layout)
    ap.ops.fake_quant_per_tensor_affine_cachemask(
        place(x, layout), place(scale), place(zero), enabled, 0, 15, out, mask
    )
    if enabled < 1:
        assert_same(out.numpy(), x)
        assert mask.numpy().all()
    else:
        exact, inside = kept(x, scale, zero, 0, 15)
        assert_same(mask.numpy(), inside)
        assert_close(out.numpy(), exact)


def test_fake_quant_of_strange_values_and_sizes() -> None:
    x = np.array([np.inf, -np.inf, np.nan, 0.5, 1.5, 2.5, -0.5], np.float32)
    out, mask = hollow(x.shape, np.float32), hollow(x.shape, np.bool_)
    one, zero = place(np.ones((), np.float32)), place(np.zeros((), np.int32))
    ap.ops.fake_quant_per_tensor_affine_cachemask(place(x), one, zero, 1.0, -4, 3, out, mask)
    assert_same(out.numpy(), np.array([3, -4, -4, 0, 2, 2, 0], np.float32))
    assert mask.numpy().tolist() == [False] * 3 + [True] * 4
    scalar, kept_ = hollow((), np.float32), hollow((), np.bool_)
    ap.ops.fake_quant_per_tensor_affine_cachemask(
        place(np.array(2.4, np.float32)), one, zero, 1.0, -4, 3, scalar, kept_
    )
    assert scalar.numpy() == 2
    nothing, none = ap.empty((0, 3), "float32"), ap.empty((0, 3), "bool")
    ap.ops.fake_quant_per_tensor_affine_cachemask(nothing, one, zero, 1.0, 0, 3, nothing, none)
    # Rounding in place gives what is left of the values.
    same = place(x)
    ap.ops.fake_quant_per_tensor_affine_cachemask(same, one, zero, 1.0, -4, 3, same, mask)
    assert_same(same.numpy(), out.numpy())


def test_fake_quant_refuses() -> None:
    x, mask = place(np.ones((3, 4), np.float32)), hollow((3, 4), np.bool_)
    scale, zero = place(np.ones(4, np.float32)), place(np.ones(4, np.int32))
    one, naught = place(np.ones(1, np.float32)), place(np.ones(1, np.int32))
    channel = [x, scale, zero, 1, 0, 7, x, mask]
    whole = [x, one, naught, 1.0, 0, 7, x, mask]
    for operator, good in [("PerChannel", channel), ("PerTensor", whole)]:

        def changed(*changes: tuple[int, Any], name: str = operator, call: list[Any] = good) -> int:
            arguments = list(call)
            for position, value in changes:
                arguments[position] = value
            return refusal(f"aclnnFakeQuant{name}AffineCachemask", *arguments)

        for position in (0, 1, 2, 6, 7):
            assert changed((position, None)) == 161001
        assert changed((0, place(np.ones((3, 4), np.float16)))) == 161002
        assert changed((1, place(np.ones(4, np.float16)))) == 161002
        assert changed((2, place(np.ones(4, np.int64)))) == 161002
        assert changed((1, place(np.ones(3, np.float32)))) == 161002
        assert changed((2, place(np.ones(3, np.int32)))) == 161002
        assert changed((5, -1)) == 161002
        assert changed((6, hollow((3, 5), np.float32))) == 161002
        assert changed((6, hollow((3, 4), np.float16))) == 161002
        assert changed((7, hollow((3, 3), np.bool_))) == 161002
        assert changed((7, hollow((3, 4), np.uint8))) == 161002
    for axis in (2, -3, 2**62):
        name = "aclnnFakeQuantPerChannelAffineCachemask"
        assert refusal(name, *channel[:3], axis, *channel[4:]) == 161002
    half = place(np.ones(1, np.float32))
    assert refusal("aclnnFakeQuantPerTensorAffineCachemask", x, one, half, *whole[3:]) == 161002


def flat(shape: tuple[int, ...], dtype: Any, seed: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    left, right = rng.standard_normal((shape[1],) * 2), rng.standard_normal((shape[2],) * 2)
    x = rng.standard_normal(shape)
    return x.astype(dtype), left.astype(dtype), right.astype(dtype)


def call_flat(version: str, inputs: list[Any], clip: float, out: Any, scale: Any) -> None:
    middle: dict[str, list[Any]] = {"": [clip], "V2": [clip, 0.0], "V3": [clip, 0.0, 0]}
    groups = [None] if version == "V3" else []
    operator = {"": ap.ops.flat_quant, "V2": ap.ops.flat_quant_v2, "V3": ap.ops.flat_quant_v3}
    operator[version](*inputs, *groups, *middle[version], out, scale)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("version", ["", "V2", "V3"])
@pytest.mark.parametrize("kind", ["int4", "int32"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_flat_quant(dtype: np.dtype[Any], kind: str, version: str, layout: str) -> None:
    shape, clip = (5, 6, 16), 0.8
    x, left, right = flat(shape, dtype, 3)
    x[2] = 0
    out, scale = result(shape, kind, layout), hollow((5,), np.float32, layout)
    call_flat(version, [place(part, layout) for part in (x, left, right)], clip, out, scale)
    exact = wide(left) @ (wide(x) @ wide(right))
    largest = np.abs(exact).max(axis=(1, 2)) / (7 / clip)
    assert_close(scale.numpy(), largest, scale=20)
    divisor = np.where(largest == 0, 1, largest)[:, None, None]
    assert_quantised(unpacked(out, kind), exact / divisor, "int4", 1e-4)


def test_flat_quant_of_the_widest_matrices_agrees_with_its_parts() -> None:
    x, left, right = flat((2, 256, 256), np.float16, 4)
    out, scale = result(x.shape, "int32"), hollow((2,), np.float32)
    ap.ops.flat_quant(place(x), place(left), place(right), 1.0, out, scale)
    # Both products as operators, the second of its transpose, then a row for each matrix.
    wide_x, tall = x.astype(np.float32), ap.empty(x.shape, "float32")
    ap.ops.matmul(place(wide_x), place(right.astype(np.float32)), tall, 0)
    made = ap.empty(x.shape, "float32")
    ap.ops.matmul(place(np.broadcast_to(left, x.shape).astype(np.float32)), tall, made, 0)
    largest = np.abs(made.numpy()).max(axis=(1, 2))
    assert_close(scale.numpy(), largest / 7, scale=10)
    assert_quantised(
        unpacked(out, "int32"), made.numpy() / (largest / 7)[:, None, None], "int4", 2e-3
    )


@pytest.mark.parametrize(
    ("kind", "groups", "count"),
    [(0, [2, 2, 3], 3), (1, [1, 0, 2], 3), (2, [[7, 1], [0, 3]], 4), (0, [5], 5), (1, [0], 0)],
)
def test_flat_quant_of_groups(kind: int, groups: list[Any], count: int) -> None:
    x, left, right = flat((5, 4, 8), np.float16, 5)
    inputs = [place(part) for part in (x, left, right)]
    whole, scales = result(x.shape, "int4"), hollow((5,), np.float32)
    ap.ops.flat_quant(*inputs, 1.0, whole, scales)
    assert (scales.numpy() != 77).all()
    out, scale = result(x.shape, "int4"), hollow((5,), np.float32)
    ap.ops.flat_quant_v3(*inputs, place(np.array(groups)), 1.0, 0.0, kind, out, scale)
    numbers = unpacked(out, "int4")
    assert_same(numbers[:count], unpacked(whole, "int4")[:count])
    assert (numbers[count:] == 5).all()  # behind the last group nothing is written
    assert_same(scale.numpy()[:count], scales.numpy()[:count])
    assert (scale.numpy()[count:] == 77).all()


@pytest.mark.parametrize(
    ("kind", "groups"), [(0, [3, 2]), (0, [6]), (0, [-1]), (1, [3, 3]), (1, [2, -1]), (2, [[0, 6]])]
)
def test_groups_outside_the_matrices_are_a_fault(kind: int, groups: list[Any]) -> None:
    x, left, right = (place(part) for part in flat((5, 4, 8), np.float16, 5))
    out, scale = result((5, 4, 8), "int4"), hollow((5,), np.float32)
    numbers = place(np.array(groups))
    text = fault("aclnnFlatQuantV3", x, left, right, numbers, 1.0, 0.0, kind, out, scale)
    assert "groupListOptional" in text


def test_flat_quant_refuses() -> None:
    x, left = place(np.ones((5, 4, 16), np.float16)), place(np.ones((4, 4), np.float16))
    right, scale = place(np.ones((16, 16), np.float16)), hollow((5,), np.float32)
    out, groups = hollow((5, 4, 2), np.int32), place(np.array([5]))
    first = [x, left, right, 1.0, out, scale]
    second = [x, left, right, 1.0, 0.0, out, scale]
    third = [x, left, right, groups, 1.0, 0.0, 0, out, scale]

    def changed(operator: str, good: list[Any], position: int, value: Any) -> int:
        return refusal(operator, *good[:position], value, *good[position + 1 :])

    for operator, good in [
        ("aclnnFlatQuant", first), ("aclnnFlatQuantV2", second), ("aclnnFlatQuantV3", third),
    ]:  # fmt: skip
        last = len(good) - 1
        for position in (0, 1, 2, last - 1, last):
            assert changed(operator, good, position, None) == 161001
        for position in (1, 2):
            assert changed(operator, good, position, place(np.ones((3, 4), np.float16))) == 161002
            other = place(np.ones(good[position].shape, np.float32))
            assert changed(operator, good, position, other) == 161002
        assert changed(operator, good, 2, ap.empty((0, 0), "float16")) == 161002
        clip = 4 if len(good) == 9 else 3
        for ratio in (0.0, -0.5, 1.5, float("nan")):
            assert changed(operator, good, clip, ratio) == 161002
        assert changed(operator, good, last - 1, hollow((5, 4, 16), np.int32)) == 161002
        assert changed(operator, good, last - 1, hollow((5, 4, 16), np.int8)) == 161002
        assert changed(operator, good, last, hollow((4,), np.float32)) == 161002
    for limit in (6.0, 5.0, 13.0, float("nan")):
        assert changed("aclnnFlatQuantV2", second, 4, limit) == 161002
    for value in (place(np.ones((1, 2), np.int64)), place(np.ones(1025, np.int64))):
        assert changed("aclnnFlatQuantV3", third, 3, value) == 161002
    assert changed("aclnnFlatQuantV3", third, 6, 3) == 161002
    assert changed("aclnnFlatQuantV3", third, 6, 2) == 161002
    narrow = [ap.empty((1, 1, 257), "float16"), ap.empty((1, 1), "float16")]
    rest = [ap.empty((257, 257), "float16"), 1.0, result((1, 1, 257), "int8"), scale[:1]]
    assert refusal("aclnnFlatQuant", *narrow, *rest) == 161002
