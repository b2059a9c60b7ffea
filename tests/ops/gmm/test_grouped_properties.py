# SPDX-License-Identifier: Apache-2.0
"""Grouped products of random shapes, layouts and modes, exactly as rounded stage by stage in NumPy.

Operands are small integers and powers of two, so that sums are exact in every order and each
result is known to the last bit.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.operators import hollow, place, wide

import aclnn_py as ap
from aclnn_py import errors
from aclnn_py.functional import pack_scale, trans_matmul_weight

pytestmark = pytest.mark.usefixtures("device")

F16, BF16, F32, INT4 = np.float16, ml_dtypes.bfloat16, np.float32, ml_dtypes.int4
FLOATS = [F16, BF16, F32]
NZ = ap.Format.FRACTAL_NZ
Array = np.ndarray[Any, Any]


def integers(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, bound: int = 4) -> Array:
    return rng.integers(-bound, bound, shape).astype(np.int8).astype(dtype)


def sizes_of(rng: np.random.Generator, groups: int) -> Array:
    """Rows of each group, about half of them none."""
    return rng.integers(0, 9, groups) * rng.integers(0, 2, groups)


def call(
    x: list[ap.Tensor],
    weight: list[ap.Tensor],
    out: list[ap.Tensor],
    groups: Array | None,
    version: int = 5,
    *,
    bias: Any = None,
    scale: Any = None,
    antiquant: Any = (None, None),
    per_token: Any = None,
    split_item: int = 3,
    group_type: int = 0,
    list_type: int = 0,
    act_type: int = 0,
) -> None:
    """One call of version 4, 5 or 6 (WeightNz); optional lists have one array each."""

    def listed(value: Any) -> list[ap.Tensor] | None:
        return None if value is None else [ap.from_numpy(value)]

    tensor = None if groups is None else ap.from_numpy(np.asarray(groups, np.int64))
    head = (x, weight, listed(bias), listed(scale), None, *map(listed, antiquant))
    middle = (listed(per_token), tensor, None, None, None, split_item, group_type, list_type)
    tail = (out, None, None)
    if version == 4:
        ap.ops.grouped_matmul_v4(*head, *middle, act_type, *tail)
    elif version == 5:
        ap.ops.grouped_matmul_v5(*head, *middle, act_type, [0], *tail)
    else:
        ap.ops.grouped_matmul_weight_nz(*head, *middle, act_type, None, 0, *tail)


def by_group(x: Array, w: Any, sizes: Array) -> Array:
    """The products of all groups in float64, one below the other."""
    ends = np.cumsum(sizes)
    parts = [wide(x[end - size : end]) @ wide(w[e]) for e, (end, size) in
             enumerate(zip(ends, sizes, strict=True))]  # fmt: skip
    return np.concatenate(parts).astype(np.float64)


def by_depth(x: Array, y: Array, sizes: Array) -> Array:
    """The products of the groups of an inner axis, stacked."""
    cuts = np.cumsum(sizes)[:-1]
    pairs = zip(np.split(x[: sum(sizes)], cuts), np.split(y[: sum(sizes)], cuts), strict=True)
    return np.stack([wide(left).T @ wide(right) for left, right in pairs])


def same(result: ap.Tensor, expected: Array) -> None:
    """Equal after one rounding of the expected values to the dtype."""
    found = result.numpy()
    np.testing.assert_array_equal(wide(found), wide(expected.astype(F32).astype(found.dtype)))


def placed(w: Array, how: str) -> ap.Tensor:
    """A weight as it lies, as a transposed view, or in blocks."""
    if how == "blocks":
        return ap.from_numpy(w, format=NZ)
    if how == "turned blocks":
        return ap.from_numpy(np.ascontiguousarray(w.swapaxes(-1, -2)), format=NZ).transpose(-1, -2)
    if how == "turned":
        return ap.from_numpy(np.ascontiguousarray(w.swapaxes(-1, -2))).transpose(-1, -2)
    return ap.from_numpy(w)


@pytest.mark.parametrize("how", ["plain", "turned", "blocks", "turned blocks"])
@pytest.mark.parametrize("dtype", [F16, BF16], ids=["float16", "bfloat16"])
@pytest.mark.parametrize("seed", range(4))
def test_halves(seed: int, dtype: Any, how: str) -> None:
    rng = np.random.default_rng(seed)
    groups = int(rng.integers(1, 7))
    k, n = (16 * int(v) for v in rng.integers(1, 5, 2))
    sizes = sizes_of(rng, groups)
    rows = int(sizes.sum()) + 2  # those beyond the last group stay
    x, w = integers(rng, (rows, k), dtype), integers(rng, (groups, k, n), dtype)
    bias = integers(rng, (groups, n), F16 if dtype is F16 else F32)
    out = ap.full((rows, n), 9, dtype)
    list_type = seed % 2
    version = 4 + seed % 2 if "blocks" not in how else 4 + seed % 3
    given = sizes if list_type else np.cumsum(sizes)
    layout = ["dense", "stepped"][seed // 2]
    call([place(x, layout)], [placed(w, how)], [out], given, version,
         bias=bias, list_type=list_type)  # fmt: skip
    expected = by_group(x, w, sizes) + np.repeat(wide(bias), sizes, axis=0)
    same(out, np.concatenate([expected, np.full((2, n), 9)]))


@pytest.mark.parametrize("how", ["plain", "turned"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 7, 1), (3, 1, 5), (2, 33, 1), (5, 40, 3)])
def test_float32_and_thin_matrices(shape: tuple[int, int, int], how: str) -> None:
    rng = np.random.default_rng(sum(shape))
    groups, k, n = shape
    sizes = rng.integers(0, 4, groups) + (np.arange(groups) == 0)
    x, w = integers(rng, (int(sizes.sum()), k), F32), integers(rng, shape, F32)
    out = hollow((len(x), n), F32)
    call([ap.from_numpy(x)], [placed(w, how)], [out], np.cumsum(sizes))
    same(out, by_group(x, w, sizes))


@pytest.mark.parametrize("dtype", FLOATS, ids=["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", [(1, 1, 1), (4, 1, 3), (1, 5, 3), (4, 5, 1), (9, 6, 7)])
def test_gradients_of_every_shape(shape: tuple[int, int, int], turned: bool, dtype: Any) -> None:
    m, k, n = shape
    rng = np.random.default_rng(m + k)
    sizes = np.array([0, m // 2, 0, m - m // 2])
    x, g, w = (integers(rng, size, dtype) for size in ((m, k), (m, n), (4, k, n)))
    weight = placed(w, "turned" if turned else "plain")
    grad_x, grad_w, _ = ap.functional.gmm_v2_backward(
        place(g), place(x, "stepped"), weight, group_list=ap.from_numpy(sizes)
    )
    same(grad_x, by_group(g, w.swapaxes(1, 2), sizes))
    assert grad_w is not None
    same(grad_w, by_depth(x, g, sizes))


def test_largest_inner_axis() -> None:
    rng = np.random.default_rng(0)
    x, w = integers(rng, (3, 65535), F16), integers(rng, (2, 65535, 2), F16, 2)
    out = hollow((3, 2), F16)
    call([ap.from_numpy(x)], [ap.from_numpy(w)], [out], np.array([1, 3]))
    same(out, by_group(x, w, np.array([1, 2])))
    w = integers(rng, (1, 2, 65535), F16)
    out = hollow((3, 65535), F16)
    call([ap.from_numpy(x[:, :2].copy())], [ap.from_numpy(w)], [out], np.array([3]))
    same(out, by_group(x[:, :2], w, np.array([3])))
    wider = ap.zeros((1, 2, 65536), F16)
    with pytest.raises(errors.AclnnError, match="65535") as caught:
        call([ap.from_numpy(x[:, :2].copy())], [wider], [hollow((3, 65536), F16)], np.array([3]))
    assert caught.value.status == 161002


@pytest.mark.parametrize("dtype", [F16, F32])
def test_128_members_without_grouping(dtype: Any) -> None:
    rng = np.random.default_rng(1)
    shapes = rng.integers((0, 0, 1), 8, (128, 3))
    x = [integers(rng, (m, k), dtype) for m, k, _ in shapes]
    w = [integers(rng, (k, n), dtype) for _, k, n in shapes]
    out = [hollow((m, n), dtype) for m, _, n in shapes]
    lists = [ap.from_numpy(v) for v in x], [ap.from_numpy(v) for v in w], out
    call(*lists, None, split_item=0, group_type=-1)
    for i in range(128):  # an inner axis of length 0 sums nothing
        same(out[i], wide(x[i]) @ wide(w[i]))
    with pytest.raises(errors.AclnnError, match="at most 128") as caught:
        call(*([*members, members[0]] for members in lists), None, split_item=0, group_type=-1)
    assert caught.value.status == 161002


def test_no_grouping_of_many_dimensions() -> None:
    rng = np.random.default_rng(2)
    x, w = integers(rng, (2, 3, 1, 2, 2, 5), F16), integers(rng, (5, 4), F16)
    out = hollow((2, 3, 1, 2, 2, 4), F16, "stepped")
    call([place(x, "stepped")], [place(w)], [out], None, split_item=1, group_type=-1)
    same(out, wide(x) @ wide(w))


@pytest.mark.parametrize("version", ["", "_v2"])
@pytest.mark.parametrize("split_item", [0, 1])
def test_host_list_with_a_result_per_group(version: str, split_item: int) -> None:
    rng = np.random.default_rng(split_item)
    sizes = np.array([3, 0, 5, 1])
    x, w = integers(rng, (9, 6), F16), integers(rng, (4, 6, 7), F16)
    bias = integers(rng, (4, 7), F16)
    out = [hollow((int(m), 7), F16) for m in sizes]
    op = getattr(ap.ops, "grouped_matmul" + version)
    ends = np.cumsum(sizes).tolist()
    attributes = (split_item,) if version == "" else (split_item, 0)
    weights, biases = ([ap.from_numpy(v) for v in values] for values in (w, bias))
    op([ap.from_numpy(x)], weights, biases, *[None] * 4, ends, *attributes, out)
    for e, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        same(out[e], wide(x[end - size : end]) @ wide(w[e]) + wide(bias[e]))


def test_several_x_in_one_result() -> None:
    rng = np.random.default_rng(3)
    sizes = np.array([2, 0, 4])
    x = [integers(rng, (int(m), 8), BF16) for m in sizes]
    w = integers(rng, (3, 8, 5), BF16)
    out = hollow((6, 5), BF16)
    weights = [placed(v, "turned") for v in w]
    call([place(v) for v in x], weights, [out], np.cumsum(sizes), split_item=2)
    same(out, by_group(np.concatenate(x), w, sizes))


@pytest.mark.parametrize("dtype", FLOATS, ids=["float16", "bfloat16", "float32"])
def test_cut_inner_axis(dtype: Any) -> None:
    rng = np.random.default_rng(4)
    sizes = np.array([0, 5, 0, 2])
    x, w = integers(rng, (9, 6), dtype), integers(rng, (9, 11), dtype)
    out = hollow((4, 6, 11), dtype)
    call([place(x).T], [place(w)], [out], sizes, list_type=1, group_type=2)
    same(out, by_depth(x, w, sizes))


@pytest.mark.parametrize("dtype", FLOATS, ids=["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("version", ["v3", "v4", "v5"])
def test_parts_of_the_inner_axis_with_results_of_their_own(version: str, dtype: Any) -> None:
    rng = np.random.default_rng(6)
    sizes, columns = [5, 0, 2], [3, 4, 7]
    x = integers(rng, (9, 6), dtype)
    w = [integers(rng, (k, n), dtype) for k, n in zip(sizes, columns, strict=True)]
    out = [hollow((6, n), dtype) for n in columns]
    weights = [place(part) for part in w]
    tail: dict[str, tuple[Any, ...]] = {
        "v3": (None, 0, 2, out),
        "v4": (None, None, None, None, None, 0, 2, 0, 0, out, None, None),
        "v5": (None, None, None, None, None, 1, 2, 0, 0, None, out, None, None),
    }
    op = getattr(ap.ops, f"grouped_matmul_{version}")
    op([place(x).T], weights, None, None, None, None, None, *tail[version])
    first = 0
    for part, result in zip(w, out, strict=True):
        same(result, wide(x[first : first + len(part)]).T @ wide(part))
        first += len(part)
    with pytest.raises(errors.AclnnError, match="groupListOptional is given") as caught:
        ends = place(np.array([5, 5, 7]))
        op([place(x).T], weights, None, None, None, None, None,
           *((ends, *tail["v3"][1:]) if version == "v3" else
             (None, ends, *tail[version][2:])))  # fmt: skip
    assert caught.value.status == 161002


def test_no_inner_axis_at_all_is_success_without_work() -> None:
    out = ap.full((3, 2), 7, F16)
    call([ap.empty((3, 0), F16)], [ap.empty((1, 0, 2), F16)], [out], np.array([3]))
    np.testing.assert_array_equal(out.numpy(), 7)


def test_blocks_need_whole_blocks() -> None:
    with pytest.raises(errors.AclnnError, match="FRACTAL_NZ") as caught:
        weight = placed(np.ones((1, 20, 16), F16), "blocks")
        call([place(np.ones((3, 20), F16))], [weight], [hollow((3, 16), F16)], np.array([3]))
    assert caught.value.status == 161002


def test_functions_take_blocks() -> None:
    rng = np.random.default_rng(5)
    x, w = integers(rng, (7, 32), F16), integers(rng, (3, 32, 48), F16)
    blocked = trans_matmul_weight(ap.from_numpy(w))
    y = ap.functional.gmm_v2(
        ap.from_numpy(x), blocked, group_list=ap.from_numpy(np.array([4, 0, 3]))
    )
    same(y, by_group(x, w, np.array([4, 0, 3])))


def activated(v: Array, kind: int) -> Array:
    return {
        0: lambda: v,
        1: lambda: np.maximum(v, 0),
        2: lambda: v * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v**3))),
        4: lambda: v / (1 + np.exp(-1.702 * v)),
        5: lambda: v / (1 + np.exp(-v)),
    }[kind]()


@pytest.mark.parametrize("per_token", [False, True], ids=["static", "pertoken"])
@pytest.mark.parametrize("act_type", [0, 1, 2, 4, 5])
@pytest.mark.parametrize("how", ["plain", "turned", "blocks"])
def test_int8(how: str, act_type: int, per_token: bool) -> None:
    rng = np.random.default_rng(act_type)
    sizes = np.array([4, 0, 3])
    x, w = integers(rng, (7, 48), np.int8, 128), integers(rng, (3, 48, 32), np.int8, 128)
    bias = rng.integers(-1000, 1000, (3, 32)).astype(np.int32)
    kind = BF16 if act_type % 2 else F32
    scale = (2.0 ** rng.integers(-16, -10, (3, 32))).astype(kind)
    token = (2.0 ** rng.integers(-2, 3, 7)).astype(F32) if per_token else None
    out = hollow((7, 32), BF16 if act_type % 2 else F16)
    call([place(x, "stepped")], [placed(w, how)], [out], np.cumsum(sizes),
         bias=bias, scale=scale, per_token=token, act_type=act_type)  # fmt: skip
    sums = (by_group(x, w, sizes) + np.repeat(bias, sizes, 0)) * np.repeat(wide(scale), sizes, 0)
    expected = activated(sums * (1 if token is None else wide(token)[:, None]), act_type)
    if act_type < 2:
        return same(out, expected)
    # Two programs round a transcendental function apart by a unit in the last place.
    unit = 2.0**-7 if act_type % 2 else 2.0**-10
    np.testing.assert_allclose(wide(out.numpy()), expected, rtol=unit, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.uint64, np.int64])
def test_int8_to_int8_rounds_to_even_and_clips(dtype: Any) -> None:
    x = np.array([[1, 0], [2, 0], [3, 0], [-1, 0], [-3, 0], [127, 127], [-128, -128]], np.int8)
    w = np.array([[[1], [127]]], np.int8)
    out = hollow((7, 1), np.int8)
    scale = pack_scale(np.array([[0.5]])).astype(dtype)
    call([place(x)], [place(w)], [out], np.array([7]), scale=scale)
    assert out.numpy().ravel().tolist() == [0, 1, 2, 0, -2, 127, -128]


def test_int8_sums_are_rounded_to_float32_before_they_are_scaled() -> None:
    x = np.full((1, 1040), 127, np.int8)
    w = np.full((1, 1040, 1), 127, np.int8)
    bias = np.array([[2**24 - 1040 * 127 * 127 + 1]], np.int32)  # the sum is 2**24 + 1
    out = hollow((1, 1), F16)
    call([place(x)], [place(w)], [out], np.array([1]),
         bias=bias, scale=np.full((1, 1), 2.0**-13, F32))  # fmt: skip
    assert out.item() == 2048


def packed(w: Array) -> ap.Tensor:
    """Eight values of four bits in each INT32, the first in the lowest bits."""
    nibbles = (w.astype(np.int8).astype(np.int64) & 15).reshape(*w.shape[:-1], -1, 8)
    words = (nibbles << (4 * np.arange(8))).sum(-1)
    return ap.from_numpy(words.astype(np.uint32).view(np.int32))


@pytest.mark.parametrize("pieces", [0, 1, 4])
@pytest.mark.parametrize("dtype", [F16, BF16], ids=["float16", "bfloat16"])
@pytest.mark.parametrize(
    ("kind", "how"),
    [("int8", "plain"), ("int8", "turned"), ("int8", "blocks"),
     ("int4", "plain"), ("int4", "turned"), ("int4", "blocks"), ("int32", "packed")],
)  # fmt: skip
def test_antiquant(kind: str, how: str, dtype: Any, pieces: int) -> None:
    rng = np.random.default_rng(pieces)
    sizes = np.array([2, 0, 5])
    k, n = 64, 64
    x = integers(rng, (7, k), dtype)
    w = integers(rng, (3, k, n), np.int8 if kind == "int8" else INT4, 100 if kind == "int8" else 8)
    shape = (3, pieces, n) if pieces else (3, n)
    # Not powers of two: the dequantised weight is rounded to the dtype before the product.
    scale = (rng.integers(1, 8, shape) * 0.125).astype(dtype)
    offset = integers(rng, shape, dtype)
    out = hollow((7, n), dtype)
    weight = packed(w) if how == "packed" else placed(w, how)
    call([place(x)], [weight], [out], np.cumsum(sizes), antiquant=(scale, offset))
    parts = max(pieces, 1)
    spread = [np.repeat(wide(v).reshape(3, parts, n), k // parts, axis=1) for v in (scale, offset)]
    real = ((w.astype(np.float64) + spread[1]) * spread[0]).astype(F32).astype(dtype)
    same(out, by_group(x, real, sizes))


@pytest.mark.parametrize("kind", [np.int8, INT4])
def test_cut_inner_axis_takes_floats_only(kind: Any) -> None:
    x, w = np.ones((4, 2), np.int8 if kind is np.int8 else F16), np.ones((4, 8), kind)
    with pytest.raises(errors.AclnnError, match="groupType 2") as caught:
        call([place(x).T], [ap.from_numpy(w)], [hollow((1, 2, 8), np.int32)], np.array([4]),
             group_type=2)  # fmt: skip
    assert caught.value.status == 161002


def test_fused_gradient_of_strided_rows() -> None:
    rng = np.random.default_rng(6)
    x, g, w = (integers(rng, size, F16) for size in ((6, 4), (6, 3), (2, 4, 3)))
    sizes = np.array([2, 4])

    class Owner:
        main_grad = ap.zeros((2, 4, 3), F32)

    ap.functional.gmm_v2_backward(
        place(g, "stepped"), place(x, "transposed"), ap.from_numpy(w),
        group_list=ap.from_numpy(sizes), gemm_fusion=True, original_weight=Owner,
    )  # fmt: skip
    same(Owner.main_grad, by_depth(x, g, sizes))


def test_a_library_without_the_fifth_version(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []

    def fourth(*arguments: Any, **options: Any) -> None:
        called.append("V4")
        ap.ops.grouped_matmul_v4(*arguments, **options)

    module = ap.functional.grouped
    monkeypatch.setattr(module, "has_operator", lambda name: False)
    monkeypatch.setattr(module, "ops", SimpleNamespace(grouped_matmul_v4=fourth))
    x, w, sizes = np.ones((2, 3), F16), np.ones((1, 3, 2), F16), np.array([2])
    y = ap.functional.gmm_v2(place(x), place(w), group_list=ap.from_numpy(sizes))
    same(y, np.full((2, 2), 3.0))
    assert called == ["V4"]
