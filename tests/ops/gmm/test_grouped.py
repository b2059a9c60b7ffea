# SPDX-License-Identifier: Apache-2.0
"""Grouped matrix products: the worked examples, refusals, and random problems."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close

import aclnn_py as ap
from aclnn_py import errors

NO_LISTS = (None, None, None, None, None)


def gen(shape: tuple[int, ...], mul: int, add: int, mod: int, off: int) -> np.ndarray[Any, Any]:
    """The integer patterns of the worked examples."""
    flat = np.arange(int(np.prod(shape)))
    return (((mul * flat + add) % mod) - off).reshape(shape)


def packed(scale: float) -> int:
    """A scale in the 64-bit form of quantised products."""
    return (int(np.float32(scale).view(np.uint32)) & 0xFFFFE000) | (1 << 46)


X = gen((6, 4), 3, 1, 7, 3)
W = gen((3, 4, 3), 5, 2, 9, 4)
GMM_1 = [[5, 3, -8], [11, -6, -5], [10, -21, 11], [-12, 6, 6], [8, 12, -20], [7, -3, -4]]
GMM_2 = [[5, 3, -8], [-4, -3, 7], [13, 9, -22], [6, -12, 6], [-22, 9, 13], [7, -3, -4]]
GMM_3 = [[-16, 9, 7], [11, -6, -5], [10, -21, 11], [-12, 6, 6], [11, -21, 10], [-5, -6, 11]]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32]
# The group list is a tensor from the third version on.
VERSIONS = ("", "_v2", "_v3", "_v4", "_v5")


def tensor(values: Any, dtype: Any = np.float32) -> ap.Tensor:
    return ap.from_numpy(np.array(values).astype(dtype))


def call(
    version: str,
    x: list[ap.Tensor] | None,
    weight: list[ap.Tensor] | None,
    out: list[ap.Tensor] | None,
    groups: Any,
    *,
    split_item: int = 3,
    group_type: int = 0,
    list_type: int = 0,
    act_type: int = 0,
    bias: Any = None,
    scale: Any = None,
    offset: Any = None,
    antiquant: tuple[Any, Any] = (None, None),
    per_token: Any = None,
    tail: tuple[Any, ...] = (None, None),
) -> None:
    """One call of the given version."""
    head = (x, weight, bias, scale, offset, *antiquant)
    op = getattr(ap.ops, "grouped_matmul" + version)
    if version == "":
        op(*head, groups, split_item, out)
    elif version in ("_v2", "_v3"):
        op(*head, groups, split_item, group_type, out)
    else:
        attributes = (split_item, group_type, list_type, act_type)
        hint = {"_v4": (), "_v5": (None,), "_weight_nz": (None, 0)}[version]
        op(*head, per_token, groups, None, None, None, *attributes, *hint, out, *tail)


def groups_for(version: str, ends: list[int]) -> Any:
    return ends if version in ("", "_v2") else tensor(ends, np.int64)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("ends", "expected"), [([1, 1, 6], GMM_1), ([2, 5, 6], GMM_2)])
def test_gmm_1_and_2_cumulative_ends(
    device: ap.Device, version: str, ends: list[int], expected: Any, dtype: Any
) -> None:
    if version == "" and dtype is np.float32:
        with pytest.raises(errors.AclnnError, match="x is FLOAT") as caught:
            call("", [tensor(X)], [tensor(W)], [ap.empty((6, 3), np.float32)], ends)
        assert caught.value.status == 161002
        return
    out = ap.empty((6, 3), dtype)
    call(version, [tensor(X, dtype)], [tensor(W, dtype)], [out], groups_for(version, ends))
    np.testing.assert_array_equal(out.numpy().astype(np.float64), expected)


def test_gmm_1_sizes(device: ap.Device) -> None:
    out = ap.empty((6, 3), np.float16)
    sizes = tensor([1, 0, 5], np.int64)
    call("_v4", [tensor(X, np.float16)], [tensor(W, np.float16)], [out], sizes, list_type=1)
    np.testing.assert_array_equal(out.numpy(), GMM_1)


def test_gmm_3_sparse_pairs(device: ap.Device) -> None:
    out = ap.empty((6, 3), np.float16)
    pairs = tensor([[2, 4], [0, 2], [1, 0]], np.int64)
    call("_v4", [tensor(X, np.float16)], [tensor(W, np.float16)], [out], pairs, list_type=2)
    np.testing.assert_array_equal(out.numpy(), GMM_3)


def test_gmm_4_no_grouping(device: ap.Device) -> None:
    x = [tensor(X[:2], np.float16), tensor(X[2:3, :2], np.float16)]
    weight = [tensor(W[0], np.float16), tensor(W[1][:2], np.float16)]
    out = [ap.empty((2, 3), np.float16), ap.empty((1, 3), np.float16)]
    call("_v4", x, weight, out, None, split_item=0, group_type=-1)
    np.testing.assert_array_equal(out[0].numpy(), [[5, 3, -8], [-4, -3, 7]])
    np.testing.assert_array_equal(out[1].numpy(), [[1, 9, -10]])


def test_gmm_5_split_k(device: ap.Device) -> None:
    a, b = gen((5, 2), 3, 1, 7, 3), gen((5, 3), 5, 2, 9, 4)
    out = ap.full((3, 2, 3), 7, np.float16)
    ends = tensor([2, 2, 5], np.int64)
    call("_v4", [tensor(a, np.float16).T], [tensor(b, np.float16)], [out], ends, group_type=2)
    expected = [[[-8, -6, 14], [-2, 3, -1]], np.zeros((2, 3)), [[3, -3, 0], [-9, -3, 12]]]
    np.testing.assert_array_equal(out.numpy(), expected)


INT8_X = [[1, -2], [3, 4], [-5, 6]]
INT8_W = [[[1, 2], [3, 4]], [[5, -6], [-7, 8]]]


@pytest.mark.parametrize(
    ("out_dtype", "scale", "scale_dtype", "per_token", "expected"),
    [
        (np.int32, None, None, None, [[5, 14], [17, 54], [-37, 118]]),
        (np.float16, [[0.5, 0.25], [1, 2]], np.float32, None, [[2.5, 3.5], [17, 108], [-37, 236]]),
        (ml_dtypes.bfloat16, [[0.5, 0.25], [1, 2]], ml_dtypes.bfloat16, None,
         [[2.5, 3.5], [17, 108], [-37, 236]]),
        (np.int8, [[packed(0.5), packed(0.25)], [packed(1), packed(2)]], np.uint64, None,
         [[2, 4], [17, 108], [-37, 127]]),
        (np.int8, [[packed(0.5), packed(0.25)], [packed(1), packed(2)]], np.int64, None,
         [[2, 4], [17, 108], [-37, 127]]),
        (np.float16, [[0.5, 0.25], [1, 2]], np.float32, [2, 0.5, 0.25],
         [[5, 7], [8.5, 54], [-9.25, 59]]),
    ],
    ids=["int32", "float16", "bfloat16", "uint64", "int64", "pertoken"],
)  # fmt: skip
def test_gmm_6_int8(
    device: ap.Device, out_dtype: Any, scale: Any, scale_dtype: Any, per_token: Any, expected: Any
) -> None:
    out = ap.empty((3, 2), out_dtype)
    call(
        "_v4",
        [tensor(INT8_X, np.int8)],
        [tensor(INT8_W, np.int8)],
        [out],
        tensor([1, 3], np.int64),
        bias=[tensor([[10, 20], [30, 40]], np.int32)],
        scale=None if scale is None else [tensor(scale, scale_dtype)],
        per_token=None if per_token is None else [tensor(per_token)],
    )
    np.testing.assert_array_equal(out.numpy().astype(np.float64), expected)


@pytest.mark.parametrize("weight_dtype", [np.int8, ml_dtypes.int4])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_gmm_7_antiquant(device: ap.Device, dtype: Any, weight_dtype: Any) -> None:
    weight = np.array(INT8_W) if weight_dtype is np.int8 else np.clip(INT8_W, -8, 7)
    out = ap.empty((2, 2), dtype)
    call(
        "_v4",
        [tensor([[1, 2], [3, -1]], dtype)],
        [ap.from_numpy(weight.astype(weight_dtype))],
        [out],
        tensor([1, 2], np.int64),
        antiquant=([tensor([[0.5, 1], [2, 0.25]], dtype)], [tensor([[1, 0], [-1, 2]], dtype)]),
    )
    expected = [[5, 10], [40, -5.5]] if weight_dtype is np.int8 else [[5, 10], [40, -5.25]]
    np.testing.assert_array_equal(out.numpy().astype(np.float64), expected)


def test_antiquant_per_group_of_rows(device: ap.Device) -> None:
    rng = np.random.default_rng(3)
    w = rng.integers(-8, 8, (2, 64, 6))
    scale = rng.choice([0.5, 1, 2], (2, 2, 6)).astype(np.float16)
    offset = rng.integers(-2, 3, (2, 2, 6)).astype(np.float16)
    x = rng.integers(-2, 3, (5, 64)).astype(np.float16)
    out = ap.empty((5, 6), np.float16)
    call("_v4", [tensor(x, np.float16)], [tensor(w, np.int8)], [out], tensor([3, 5], np.int64),
         antiquant=([ap.from_numpy(scale)], [ap.from_numpy(offset)]))  # fmt: skip
    real = (w + np.repeat(offset, 32, 1).astype(float)) * np.repeat(scale, 32, 1).astype(float)
    expected = np.concatenate([x[:3].astype(float) @ real[0], x[3:].astype(float) @ real[1]])
    np.testing.assert_array_equal(out.numpy(), expected.astype(np.float16))


F16 = np.float16


def valid(**changes: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "version": "_v4",
        "x": [tensor(X, F16)],
        "weight": [tensor(W, F16)],
        "out": [ap.empty((6, 3), F16)],
        "groups": tensor([1, 1, 6], np.int64),
    }
    return arguments | changes


REFUSALS: list[tuple[str, Any, int, str]] = [
    ("x null", lambda: {"x": None}, 161001, "x"),
    ("weight null", lambda: {"weight": None}, 161001, "weight"),
    ("out null", lambda: {"out": None}, 161001, "out"),
    ("groupType 1", lambda: {"group_type": 1}, 161002, "groupType"),
    ("groupType 3", lambda: {"group_type": 3}, 161002, "groupType"),
    ("splitItem 4", lambda: {"split_item": 4}, 161002, "splitItem"),
    ("groupListType 3", lambda: {"list_type": 3}, 161002, "groupListType"),
    ("actType 6", lambda: {"act_type": 6}, 161002, "actType"),
    ("actType 3", lambda: {"act_type": 3}, 161002, "actType"),
    ("activation of floats", lambda: {"act_type": 1}, 161002, "actType"),
    ("no group list", lambda: {"groups": None}, 161002, "groupList"),
    ("group list of int32", lambda: {"groups": tensor([1, 1, 6], np.int32)}, 161002, "groupList"),
    ("group list too short", lambda: {"groups": tensor([1, 6], np.int64)}, 161002, "groupList"),
    ("group list of rank 2", lambda: {"groups": tensor([[1, 6]], np.int64)}, 161002, "groupList"),
    ("no grouping with a list", lambda: {"group_type": -1, "split_item": 0}, 161002, "groupList"),
    ("grouped K, contiguous x", lambda: {
        "group_type": 2, "x": [tensor(X, F16)], "weight": [tensor(X, F16)],
        "out": [ap.empty((3, 6, 4), F16)]}, 161002, "x"),
    ("weight of another dtype", lambda: {"weight": [tensor(W)]}, 161002, "weight"),
    ("k differs", lambda: {"weight": [tensor(W[:, :3], F16)]}, 161002, "x"),
    ("out rows", lambda: {"out": [ap.empty((5, 3), F16)]}, 161002, "out"),
    ("out dtype", lambda: {"out": [ap.empty((6, 3), np.float32)]}, 161002, "out"),
    ("bias dtype", lambda: {"bias": [tensor(np.ones((3, 3)))]}, 161002, "bias"),
    ("bias shape", lambda: {"bias": [tensor(np.ones((3, 2)), F16)]}, 161002, "bias"),
    ("scale of floats", lambda: {"scale": [tensor(np.ones((3, 3)))]}, 161002, "scale"),
    ("offset given", lambda: {"offset": [tensor(np.ones((3, 3)), F16)]}, 161002, "offset"),
    ("transposed x", lambda: {"x": [tensor(X.T, F16).T]}, 161002, "x"),
    ("reserved output", lambda: {"tail": ([ap.empty((6, 3), F16)], None)}, 161002, "activation"),
    ("mixed transposition", lambda: {
        "weight": [tensor(W[0], F16), tensor(W[1].T, F16).T, tensor(W[2], F16)]}, 161002, "weight"),
    ("inner axis too long", lambda: {
        "x": [ap.zeros((1, 65536), F16)], "weight": [ap.zeros((1, 65536, 1), F16)],
        "out": [ap.empty((1, 1), F16)], "groups": tensor([1], np.int64)}, 161002, "x"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "changes", "status", "named"), REFUSALS, ids=[row[0] for row in REFUSALS]
)
def test_gmm_8_refusals(
    device: ap.Device, name: str, changes: Any, status: int, named: str
) -> None:
    arguments = valid(**changes())
    with pytest.raises(errors.AclnnError) as caught:
        call(**arguments)
    assert caught.value.status == status
    assert named.lower() in caught.value.detail.lower()


@pytest.mark.parametrize("ends", [[-1, 2, 6], [3, 2, 6], [1, 2, 7]])
def test_wrong_group_values_surface_when_the_device_reads_them(
    device: ap.Device, ends: list[int]
) -> None:
    with ap.Stream() as stream:
        ap.ops.grouped_matmul_v3(
            [tensor(X, F16)], [tensor(W, F16)], *NO_LISTS, tensor(ends, np.int64), 3, 0,
            [ap.empty((6, 3), F16)], stream=stream,
        )  # fmt: skip
        with pytest.raises(errors.StatusError, match="groupList"):
            stream.synchronize()


def test_rows_beyond_the_last_group_stay(device: ap.Device) -> None:
    out = ap.full((6, 3), 9, F16)
    call(**valid(groups=tensor([1, 2, 4], np.int64), out=[out]))
    result = out.numpy()
    np.testing.assert_array_equal(result[4:], 9)
    assert not (result[:4] == 9).all()


def test_empty_x_succeeds_without_work(device: ap.Device) -> None:
    call(**valid(x=[ap.empty((0, 4), F16)], out=[ap.empty((0, 3), F16)],
                 groups=tensor([0, 0, 0], np.int64)))  # fmt: skip


def _oracle(x: Any, w: Any, ends: list[int], bias: Any) -> Any:
    out = np.zeros((x.shape[0], w.shape[-1]))
    start = 0
    for e, end in enumerate(ends):
        out[start:end] = x[start:end].astype(np.float64) @ w[e].astype(np.float64)
        if bias is not None:
            out[start:end] += bias[e].astype(np.float64)
        start = end
    return out


@pytest.mark.parametrize("seed", range(12))
def test_random_problems_against_float64(device: ap.Device, seed: int) -> None:
    rng = np.random.default_rng(seed)
    dtype = FLOATS[seed % 3]
    groups, k, n = (int(v) for v in rng.integers(1, [9, 90, 70]))
    sizes = rng.integers(0, 20, groups) * rng.integers(0, 2, groups)
    rows = int(sizes.sum()) + int(rng.integers(0, 3))
    x, w = (
        rng.standard_normal((rows, k)).astype(dtype),
        rng.standard_normal((groups, k, n)).astype(dtype),
    )
    bias_dtype = F16 if dtype is F16 else np.float32
    bias = rng.standard_normal((groups, n)).astype(bias_dtype)
    weight = ap.from_numpy(w)
    if seed % 2:
        weight = ap.from_numpy(np.ascontiguousarray(w.transpose(0, 2, 1))).transpose(-1, -2)
    out = ap.zeros((rows, n), dtype)
    ends = np.cumsum(sizes)
    call("_v5", [ap.from_numpy(x)], [weight], [out], ap.from_numpy(ends.astype(np.int64)),
         bias=[ap.from_numpy(bias)])  # fmt: skip
    assert_close(out.numpy(), _oracle(x, w, list(ends), bias), scale=float(k))


ADD_X = gen((4, 2), 3, 1, 7, 3)
ADD_G = gen((4, 3), 2, 0, 5, 2)
ADD_1 = [[104, 100, 96], [98, 100, 102], [105, 99, 103], [98, 102, 101]]
ADD_2 = [[108, 100, 92], [96, 100, 104], [110, 98, 106], [96, 104, 102]]


@pytest.mark.parametrize("dtype", [F16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(4, 3), (2, 2, 3)])
def test_gmmadd_1_and_2_accumulate_in_place(device: ap.Device, shape: Any, dtype: Any) -> None:
    y = ap.full(shape, 100, np.float32)
    arguments = (tensor(ADD_X, dtype), tensor(ADD_G, dtype), tensor([1, 4], np.int64), y)
    for expected in (ADD_1, ADD_2):
        ap.ops.grouped_matmul_add(*arguments, True, False, 2)
        np.testing.assert_array_equal(y.numpy().reshape(4, 3), expected)


def test_gmmadd_3_accumulates_in_float32(device: ap.Device) -> None:
    y = ap.full((1, 1), 1, np.float32)
    one = tensor([[2.0**-9]], ml_dtypes.bfloat16)
    ap.ops.grouped_matmul_add(
        tensor([[1]], ml_dtypes.bfloat16), one, tensor([1], np.int64), y, True, False, 2
    )
    assert y.item() == 1.001953125


@pytest.mark.parametrize(
    ("position", "value", "status"),
    [
        (0, lambda: None, 161001),
        (3, lambda: None, 161001),
        (0, lambda: tensor(ADD_X), 161002),
        (2, lambda: tensor([1, 4], np.int32), 161002),
        (3, lambda: ap.zeros((4, 3), F16), 161002),
        (3, lambda: ap.zeros((4, 2), np.float32), 561002),
        (1, lambda: tensor(ADD_G[:3], F16), 561002),
        (4, lambda: False, 561002),
        (5, lambda: True, 561002),
        (6, lambda: 0, 561002),
    ],
)
def test_gmmadd_refusals(device: ap.Device, position: int, value: Any, status: int) -> None:
    arguments: list[Any] = [
        tensor(ADD_X, F16), tensor(ADD_G, F16), tensor([1, 4], np.int64),
        ap.zeros((4, 3), np.float32), True, False, 2,
    ]  # fmt: skip
    arguments[position] = value()
    with pytest.raises((errors.AclnnError, TypeError)) as caught:
        ap.ops.grouped_matmul_add(*arguments)
    if isinstance(caught.value, errors.AclnnError):
        assert caught.value.status == status


BWD_W = gen((2, 2, 3), 5, 2, 9, 4)
BWD_Y = [[8, -6, -2], [-3, 9, -6], [5, -12, 7], [6, -12, 6]]
BWD_DX = [[2, -16], [-8, 7], [-8, 7], [7, -8]]
BWD_DW = [[[4, 0, -4], [-2, 0, 2]], [[5, -1, 3], [-2, 2, 1]]]
BWD_4 = [[[4, -2], [0, 0], [-4, 2]], [[5, -2], [-1, 2], [3, 1]]]


def _lists() -> list[tuple[Any, Any, Any]]:
    f = ap.functional
    return [
        (f.gmm, f.gmm_backward, lambda: [1, 4]),
        (f.gmm, f.gmm_backward, lambda: tensor([1, 4], np.int64)),
        (f.gmm_v2, f.gmm_v2_backward, lambda: tensor([1, 3], np.int64)),
    ]


@pytest.mark.parametrize("form", range(3), ids=["list", "ends", "sizes"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_bwd_1_to_3(device: ap.Device, form: int, dtype: Any) -> None:
    forward, backward, groups = _lists()[form]
    x, w, g = tensor(ADD_X, dtype), tensor(BWD_W, dtype), tensor(ADD_G, dtype)
    y = forward(x, w, group_list=groups())
    np.testing.assert_array_equal(y.numpy().astype(float), BWD_Y)
    dx, dw, db = backward(g, x, w, group_list=groups())
    np.testing.assert_array_equal(dx.numpy().astype(float), BWD_DX)
    np.testing.assert_array_equal(dw.numpy().astype(float), BWD_DW)
    assert db is None


def test_bwd_4_gradient_keeps_the_storage_order(device: ap.Device) -> None:
    stored = tensor(BWD_W.transpose(0, 2, 1), F16)
    _, dw, _ = ap.functional.gmm_backward(
        tensor(ADD_G, F16), tensor(ADD_X, F16), stored.transpose(-1, -2),
        group_list=tensor([1, 4], np.int64),
    )  # fmt: skip
    assert dw is not None and dw.shape == (2, 2, 3)
    np.testing.assert_array_equal(dw.transpose(-1, -2).numpy(), BWD_4)
    assert dw.transpose(-1, -2).is_contiguous


@pytest.mark.parametrize("form", [1, 2], ids=["ends", "sizes"])
def test_bwd_5_fusion_accumulates_into_main_grad(device: ap.Device, form: int) -> None:
    _, backward, groups = _lists()[form]
    owner = SimpleNamespace(main_grad=ap.full((4, 3), 100, np.float32))
    x, w, g = tensor(ADD_X, F16), tensor(BWD_W, F16), tensor(ADD_G, F16)
    dx, dw, _ = backward(g, x, w, group_list=groups(), gemm_fusion=True, original_weight=owner)
    np.testing.assert_array_equal(dx.numpy(), BWD_DX)
    assert dw is None
    np.testing.assert_array_equal(owner.main_grad.numpy(), ADD_1)
    owner.grad_added_to_main_grad, owner.zero_out_wgrad = False, True
    _, dw, _ = backward(g, x, w, group_list=groups(), gemm_fusion=True, original_weight=owner)
    assert owner.grad_added_to_main_grad is True
    np.testing.assert_array_equal(dw.numpy(), np.zeros((2, 2, 3)))
    np.testing.assert_array_equal(owner.main_grad.numpy(), ADD_2)


def test_an_empty_expert_has_a_gradient_of_zeros(device: ap.Device) -> None:
    _, dw, _ = ap.functional.gmm_backward(
        tensor(ADD_G, F16), tensor(ADD_X, F16), tensor(BWD_W, F16), group_list=[0, 4]
    )
    assert dw is not None
    np.testing.assert_array_equal(dw.numpy()[0], np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("function", "changes", "error", "named"),
    [
        ("gmm", {"x": np.ones((4, 2))}, TypeError, "x"),
        ("gmm", {"x": lambda: tensor(ADD_X, np.int32)}, TypeError, "x"),
        ("gmm", {"group_list": None}, ValueError, "group_list"),
        ("gmm", {"group_list": "14"}, TypeError, "group_list"),
        ("gmm", {"group_list": [1, 3]}, ValueError, "group_list"),
        ("gmm", {"group_list": [4, 1, 4]}, ValueError, "group_list"),
        ("gmm", {"group_list": [1, 4], "group_type": -1}, ValueError, "group_list"),
        ("gmm", {"group_type": 1}, ValueError, "group_type"),
        ("gmm", {"gemm_fusion": True}, TypeError, "group_list"),
        ("gmm_v2", {"group_list": [1, 3]}, TypeError, "group_list"),
    ],
)
def test_functions_refuse(
    device: ap.Device, function: str, changes: dict[str, Any], error: Any, named: str
) -> None:
    arguments: dict[str, Any] = {
        "x": tensor(ADD_X, F16), "weight": tensor(BWD_W, F16), "group_list": [1, 4],
    }  # fmt: skip
    arguments |= {name: make() if callable(make) else make for name, make in changes.items()}
    x, weight = arguments.pop("x"), arguments.pop("weight")
    with pytest.raises(error, match=named):
        getattr(ap.functional, function)(x, weight, **arguments)
