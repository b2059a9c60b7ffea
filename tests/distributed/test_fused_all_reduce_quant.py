# SPDX-License-Identifier: Apache-2.0
"""quant_matmul_all_reduce: the worked examples exactly, random shapes against the staged oracle."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.staging import all_reduced, dequantised

import aclnn_py as ap
from aclnn_py import ops
from aclnn_py._ffi import C, ffi
from aclnn_py.distributed import Communicator, quant_matmul_all_reduce
from aclnn_py.functional import pack_scale, trans_matmul_weight, trans_quant_param, unpack_scale

F16, BF16 = np.float16, ml_dtypes.bfloat16
X1 = [[[1, -2, 3], [4, 5, -6]], [[-1, 2, -3], [7, -8, 9]]]
X2 = [[[1, 2], [3, 4], [5, 6]], [[2, -1], [0, 3], [1, 1]]]
BIAS = np.array([100, -50], np.int32)
HALF = np.array([0x40003F000000], np.uint64)
CHANNELS = [0.5, 0.25]
TOKENS = np.array([2, 0.125], np.float32)
X3 = np.array([[1, 2], [3, 4]], F16)


@pytest.mark.parametrize(
    ("scale", "pertoken", "x3", "expected"),
    [
        pytest.param(HALF, None, None, [[102.5, -42], [106, -65]], id="QMAR-1"),
        pytest.param(
            HALF.astype(np.int64), None, None, [[102.5, -42], [106, -65]], id="QMAR-1 INT64"
        ),
        pytest.param(
            np.array(CHANNELS, BF16), None, None, [[102.5, -21], [106, -32.5]], id="QMAR-2"
        ),
        pytest.param(
            np.array(CHANNELS, np.float32),
            TOKENS,
            None,
            [[205, -42], [13.25, -4.0625]],
            id="QMAR-3",
        ),
        pytest.param(
            np.array(CHANNELS, np.float32),
            TOKENS,
            X3,
            [[207, -38], [19.25, 3.9375]],
            id="QMAR-4",
        ),
    ],
)
def test_examples(run_threads: Any, scale: Any, pertoken: Any, x3: Any, expected: Any) -> None:
    def work(comm: Communicator) -> Any:
        terms = {
            name: ap.from_numpy(value)
            for name, value in (("pertoken_scale", pertoken), ("x3", x3))
            if value is not None
        }
        return quant_matmul_all_reduce(
            ap.from_numpy(np.array(X1[comm.rank], np.int8)),
            ap.from_numpy(np.array(X2[comm.rank], np.int8)),
            ap.from_numpy(scale),
            comm.name,
            2,
            bias=ap.from_numpy(BIAS),
            **terms,
        ).numpy()

    for output in run_threads(2, work):
        assert output.dtype == (BF16 if scale.dtype == BF16 else F16)
        np.testing.assert_array_equal(output.astype(np.float32), expected)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_version_of_the_operator(run_threads: Any, version: int) -> None:
    def work(comm: Communicator) -> Any:
        y = ap.empty((2, 2), F16)
        op = getattr(ops, "quant_matmul_all_reduce" + ("" if version == 1 else f"_v{version}"))
        op(
            ap.from_numpy(np.array(X1[comm.rank], np.int8)),
            ap.from_numpy(np.array(X2[comm.rank], np.int8)),
            ap.from_numpy(BIAS),
            None,
            ap.from_numpy(HALF),
            *[None] * (0, 0, 1, 3)[version],
            comm.name,
            "sum",
            0,
            1,
            y,
        )
        return y.numpy()

    for output in run_threads(2, work):
        np.testing.assert_array_equal(output, [[102.5, -42], [106, -65]])


def test_example_qmar_5_the_scale_has_19_bits(run_threads: Any) -> None:
    def work(comm: Communicator) -> Any:
        return quant_matmul_all_reduce(
            ap.from_numpy(np.array([[100, 3]], np.int8)),
            ap.from_numpy(np.array([[100], [1]], np.int8)),
            trans_quant_param(ap.from_numpy(np.array([0.1], np.float32))),
            comm,
        ).numpy()

    for output in run_threads(1, work):
        np.testing.assert_array_equal(output, [[1000.0]])


@pytest.mark.parametrize("dtype", [F16, BF16], ids=["float16", "bfloat16"])
@pytest.mark.parametrize(
    ("c1", "c2", "expected"),
    [([0.5, 0.25], [1, 0.5], [[16, 2], [2, 8]]), ([0.5, 0.5], [4, 4], [[16, 0], [0, 8]])],
)
def test_example_qmar_6_eight_bits_travel(
    run_threads: Any, dtype: Any, c1: Any, c2: Any, expected: Any
) -> None:
    y = [[[10, -3], [4, 7]], [[6, 5], [-2, 1]]]

    def work(comm: Communicator) -> Any:
        one = np.ones(1, BF16) if dtype == BF16 else pack_scale([1.0])
        return quant_matmul_all_reduce(
            ap.from_numpy(np.array(y[comm.rank], np.int8)),
            ap.from_numpy(np.eye(2, dtype=np.int8)),
            ap.from_numpy(one),
            comm,
            comm_quant_scale_1=ap.from_numpy(np.array(c1, dtype)),
            comm_quant_scale_2=ap.from_numpy(np.array([c2], dtype)),
        ).numpy()

    for output in run_threads(2, work):
        np.testing.assert_array_equal(output.astype(np.float32), expected)


def test_phase_one_turns_an_int64_scale_into_uint64() -> None:
    (comm,) = Communicator.init_all(1)
    int8, int64, float16, nd = 2, 9, 1, 2
    with comm, comm.device:
        memory = ap.zeros((64,), np.int8)
        keep = []

        def tensor(shape: tuple[int, ...], dtype: int) -> Any:
            dims = ffi.new("int64_t[]", shape)
            keep.append(dims)
            rank, data = len(shape), ffi.cast("void *", memory.address)
            return C.aclCreateTensor(dims, rank, dtype, ffi.NULL, 0, nd, dims, rank, data)

        x1, x2, y = tensor((2, 3), int8), tensor((3, 2), int8), tensor((2, 2), float16)
        scale = tensor((1,), int64)
        size, executor, dtype = (
            ffi.new("uint64_t *"),
            ffi.new("aclOpExecutor **"),
            ffi.new("aclDataType *"),
        )
        library = ffi.cast(
            "aclnnStatus (*)(void *, void *, void *, void *, void *, char *, char *, int64_t,"
            " int64_t, void *, uint64_t *, aclOpExecutor **)",
            _address_of("aclnnQuantMatmulAllReduceGetWorkspaceSize"),
        )
        group, total = ffi.new("char[]", comm.name.encode()), ffi.new("char[]", b"sum")
        null = ffi.NULL
        status = library(x1, x2, null, null, scale, group, total, 0, 1, y, size, executor)
        assert status == 0
        assert C.aclGetDataType(scale, dtype) == 0
        assert dtype[0] == 10
        C.aclDestroyAclOpExecutor(executor[0])
        for value in (x1, x2, y, scale):
            C.aclDestroyTensor(value)


def _address_of(name: str) -> Any:
    import ctypes

    from aclnn_py.emulator import library_path

    function = getattr(ctypes.CDLL(str(library_path())), name)
    return ffi.cast("void *", ctypes.cast(function, ctypes.c_void_p).value)


def values(seed: int, m: int, k: int, n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "x1": rng.integers(-128, 128, (m, k)).astype(np.int8),
        "x2": rng.integers(-128, 128, (k, n)).astype(np.int8),
        "bias": rng.integers(-1000, 1000, n).astype(np.int32),
        "channel": (rng.random(n) * 1e-3 + 1e-4).astype(np.float32),
        "token": (rng.random(m) + 0.5).astype(np.float32),
        "x3": rng.standard_normal((m, n)).astype(np.float32),
    }


@pytest.mark.parametrize("kind", ["packed", "bfloat16", "per token", "bfloat16 per token"])
@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_random_shapes(run_threads: Any, ranks: int, kind: str) -> None:
    rng = np.random.default_rng(30 + ranks)
    dtype = BF16 if kind.startswith("bfloat16") else F16
    per_token = kind.endswith("per token")
    for trial in range(2):
        m, k, n = int(rng.integers(1, 9)), int(rng.integers(1, 600)), int(rng.integers(1, 70))
        base = 1000 * ranks + 100 * trial

        def scale_of(v: dict[str, np.ndarray]) -> np.ndarray:
            if kind == "packed":
                return pack_scale(v["channel"])
            return v["channel"].astype(BF16 if dtype == BF16 else np.float32)

        def work(comm: Communicator, base: int = base, m: int = m, k: int = k, n: int = n) -> Any:
            v = values(base + comm.rank, m, k, n)
            return quant_matmul_all_reduce(
                ap.from_numpy(v["x1"]),
                ap.from_numpy(v["x2"]),
                ap.from_numpy(scale_of(v)),
                comm,
                bias=ap.from_numpy(v["bias"]),
                x3=ap.from_numpy(v["x3"].astype(dtype)),
                pertoken_scale=ap.from_numpy(v["token"]) if per_token else None,
            ).numpy()

        parts = []
        for r in range(ranks):
            v = values(base + r, m, k, n)
            scale = unpack_scale(scale_of(v))[0] if kind == "packed" else scale_of(v)
            token = v["token"] if per_token else None
            parts.append(
                dequantised(v["x1"], v["x2"], scale, dtype, v["bias"], token, v["x3"].astype(dtype))
            )
        expected = all_reduced(parts, dtype)
        for output in run_threads(ranks, work):
            np.testing.assert_array_equal(output.view(np.uint16), expected.view(np.uint16))


@pytest.mark.parametrize("how", ["FRACTAL_NZ", "from the operator", "transposed", "strided"])
def test_layouts_of_the_right_matrix(run_threads: Any, how: str) -> None:
    v = values(3, 6, 40, 35)

    def work(comm: Communicator) -> Any:
        if how == "FRACTAL_NZ":
            right = ap.from_numpy(v["x2"], format="FRACTAL_NZ")
        elif how == "from the operator":
            right = trans_matmul_weight(ap.from_numpy(v["x2"].T.copy()).T)
            assert right.format.name == "FRACTAL_NZ" and right.shape == (40, 35)
        elif how == "transposed":
            right = ap.from_numpy(v["x2"].T.copy()).T
        else:
            right = ap.from_numpy(np.repeat(v["x2"], 2, axis=1))[:, ::2]
        left = ap.from_numpy(v["x1"].reshape(2, 3, 40))
        scale = ap.from_numpy(v["channel"])
        tokens = ap.from_numpy(v["token"])
        return quant_matmul_all_reduce(left, right, scale, comm, pertoken_scale=tokens).numpy()

    part = dequantised(v["x1"], v["x2"], v["channel"], F16, None, v["token"]).reshape(2, 3, 35)
    for output in run_threads(2, work):
        np.testing.assert_array_equal(output, all_reduced([part, part], F16))


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_eight_bits_of_random_values(run_threads: Any, ranks: int) -> None:
    m, k, n = 5, 64, 7
    rng = np.random.default_rng(1)
    c1 = (rng.random(n) * 0.2 + 0.05).astype(F16)
    c2 = (c1.astype(np.float32) * ranks).astype(F16)

    def work(comm: Communicator) -> Any:
        v = values(comm.rank, m, k, n)
        return quant_matmul_all_reduce(
            ap.from_numpy(v["x1"]),
            ap.from_numpy(v["x2"]),
            ap.from_numpy(pack_scale(v["channel"])),
            comm,
            comm_quant_scale_1=ap.from_numpy(c1),
            comm_quant_scale_2=ap.from_numpy(c2),
        ).numpy()

    total = np.zeros((m, n), np.int32)
    for r in range(ranks):
        v = values(r, m, k, n)
        y = dequantised(v["x1"], v["x2"], unpack_scale(pack_scale(v["channel"]))[0], F16)
        q = (y.astype(np.float32) / c1.astype(np.float32)).astype(F16)
        total += np.clip(np.rint(q.astype(np.float32)), -128, 127).astype(np.int32)
    ratio = c1.astype(np.float32) / c2.astype(np.float32)
    sums = np.clip(np.rint(total.astype(np.float32) * ratio), -128, 127)
    expected = (sums * c2.astype(np.float32)).astype(F16)
    for output in run_threads(ranks, work):
        np.testing.assert_array_equal(output, expected)
