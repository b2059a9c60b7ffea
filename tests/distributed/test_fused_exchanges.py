# SPDX-License-Identifier: Apache-2.0
"""Products fused with gathering, scattering and exchanging, bit for bit with their parts."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.experts import call, on_threads
from helpers.jobs import on_processes
from helpers.ranks import run_ranks

import aclnn_py as ap
from aclnn_py import distributed as dist
from aclnn_py.distributed import Communicator
from aclnn_py.errors import AclnnError

F16, BF16, INT4 = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(ml_dtypes.int4)
NAMES = {F16: "float16", BF16: "bfloat16", INT4: "int4", np.dtype(np.int8): "int8"}


def whole(seed: int, *shape: int, dtype: Any = F16, most: int = 4) -> np.ndarray:
    """Whole numbers: products and sums of few of them are exact in float32."""
    values = np.random.default_rng(seed).integers(-most, most + 1, shape)
    return values.astype(np.float32).astype(dtype)


def scales(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).random(shape, np.float32) / 64 + np.float32(0.001)


def device(array: np.ndarray | None) -> ap.Tensor | None:
    return None if array is None else ap.from_numpy(array)


def untouched(shape: tuple[int, ...], dtype: Any) -> ap.Tensor:
    if np.dtype(dtype) == INT4:
        return ap.from_numpy(np.full(shape, 7, np.int8).astype(INT4))
    return ap.full(shape, -7, dtype)


def same(got: ap.Tensor, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(got.numpy().astype(np.float64), expected.astype(np.float64))


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Exact, so float32 whatever the order of the sum."""
    return (left.astype(np.float64) @ right.astype(np.float64)).astype(np.float32)


def finished(
    sums: np.ndarray,
    dtype: Any,
    columns: np.ndarray | None = None,
    rows: np.ndarray | None = None,
    bias: np.ndarray | None = None,
) -> np.ndarray:
    """The steps behind a product, each in float32, rounded once."""
    if columns is not None:
        sums = sums * columns.reshape(1, -1)
    if rows is not None:
        sums = sums * rows.reshape(-1, 1)
    if bias is not None:
        sums = sums + bias.astype(np.float32)
    return sums.astype(dtype)


# --- AllGatherMatmulV2 and MatmulReduceScatterV2


def gathered(comm: Communicator, dtype: Any, m: int, turned: bool, tokens: bool) -> None:
    ranks, rank, k, n = comm.world_size, comm.rank, 256, 6
    integers = np.dtype(dtype) not in (F16, BF16)
    most = 7 if integers else 4
    x1 = [whole(r, m, k, dtype=dtype, most=most) for r in range(ranks)]
    x2 = whole(50 + rank, k, n, dtype=dtype, most=most)
    row = [scales(r, m, 1) for r in range(ranks)] if integers and tokens else None
    column = scales(90 + rank, 1, n) if integers else None
    out_dtype = BF16 if integers and turned else F16 if integers else dtype
    right = device(np.ascontiguousarray(x2.T)).T if turned else device(x2)  # type: ignore[union-attr]
    values = {
        "x1": device(x1[rank]), "x2": right, "bias": None,
        "x1_scale": device(row[rank]) if row else None, "x2_scale": device(column),
        "quant_scale": None, "block_size": 0, "group": comm.name, "gather_index": 0,
        "comm_turn": 0, "stream_mode": 1, "group_size": 0, "comm_mode": "aiv",
        "output": untouched((m * ranks, n), out_dtype),
        "gather_out": untouched((m * ranks, k), dtype), "amax_out": None,
    }  # fmt: skip
    call("all_gather_matmul_v2", values)
    everyone = np.concatenate(x1)
    same(values["gather_out"], everyone)  # type: ignore[arg-type]
    rows = np.concatenate(row) if row else None
    expected = finished(product(everyone, x2), out_dtype, column, rows)
    same(values["output"], expected)  # type: ignore[arg-type]


def scattered(comm: Communicator, dtype: Any, bias_dtype: Any, blocked: bool = False) -> None:
    ranks, rank, k, n = comm.world_size, comm.rank, 256, 32
    m = 2 * ranks
    integers = np.dtype(dtype) == np.int8
    x1 = [whole(r, m, k, dtype=dtype, most=2) for r in range(ranks)]
    x2 = [whole(40 + r, k, n, dtype=dtype, most=2) for r in range(ranks)]
    bias = None if bias_dtype is None else whole(60, n, dtype=bias_dtype)
    out_dtype = F16 if integers else dtype
    row = [scales(r, m, 1) for r in range(ranks)] if integers else None
    column = [scales(70 + r, 1, n) for r in range(ranks)] if integers else None
    weight = ap.from_numpy(x2[rank], format="FRACTAL_NZ") if blocked else device(x2[rank])
    values = {
        "x1": device(x1[rank]), "x2": weight, "bias": device(bias),
        "x1_scale": device(row[rank]) if row else None,
        "x2_scale": device(column[rank]) if column else None,
        "quant_scale": None, "block_size": 0, "group": comm.name, "reduce_op": "sum",
        "comm_turn": 0, "stream_mode": 1, "group_size": 0, "comm_mode": "aiv",
        "output": untouched((m // ranks, n), out_dtype), "amax_out": None,
    }  # fmt: skip
    call("matmul_reduce_scatter_v2", values)
    total = None
    for r in range(ranks):
        part = finished(
            product(x1[r], x2[r]), out_dtype, column[r] if column else None,
            row[r] if row else None, bias,
        )  # fmt: skip
        if total is None:
            total = part
        else:  # the sum of two ranks is rounded before the third comes
            total = (total.astype(np.float32) + part.astype(np.float32)).astype(out_dtype)
    assert total is not None
    share = total[rank * 2 : rank * 2 + 2]
    same(values["output"], share)  # type: ignore[arg-type]


# --- AlltoAllMatmul and MatmulAlltoAll


def quantised_rows(x: np.ndarray, smooth: np.ndarray | None, most: int) -> tuple[Any, Any]:
    values = x.astype(np.float32)
    if smooth is not None:
        values = values * smooth.astype(np.float32)
    scale = np.abs(values).max(axis=1, keepdims=True) / np.float32(most)
    return np.rint(values / scale).clip(-most - 1, most), scale


def rows_of_rank(parts: list[np.ndarray], rank: int) -> np.ndarray:
    """This rank's rows of the matrix whose columns lie on all ranks."""
    share = len(parts[0]) // len(parts)
    return np.concatenate([part[rank * share : (rank + 1) * share] for part in parts], axis=1)


def exchanged_first(
    comm: Communicator, dtype: Any, *, turned: bool = False, version: int = 1, keeps: bool = True
) -> None:
    ranks, rank = comm.world_size, comm.rank
    m, h, n = 3 * ranks, 5, 7
    x1 = [whole(r, m, h, dtype=dtype) for r in range(ranks)]
    x2 = whole(30 + rank, h * ranks, n, dtype=dtype)
    bias = whole(31, n, dtype=F16 if dtype == F16 else np.float32)
    values = {
        "x1": device(x1[rank]), "x2": device(np.ascontiguousarray(x2.T) if turned else x2),
        "bias": device(bias), "allto_all_axes": [-2, -1] if turned else None,
        "group": comm.name, "comm_mode": "aiv", "transpose_x1": False, "transpose_x2": turned,
        "output": untouched((3, n), dtype),
        "allto_all_out": untouched((3, h * ranks), dtype) if keeps else None,
    }  # fmt: skip
    call("allto_all_matmul" + ("_v2" if version == 2 else ""), values)
    mine = rows_of_rank(x1, rank)
    if keeps:
        same(values["allto_all_out"], mine)  # type: ignore[arg-type]
    same(values["output"], finished(product(mine, x2), dtype, bias=bias))  # type: ignore[arg-type]


def exchanged_last(
    comm: Communicator, dtype: Any, *, turned: bool = False, version: int = 1
) -> None:
    ranks, rank = comm.world_size, comm.rank
    m, k, n = 3, 9, 2 * ranks
    x1 = [whole(r, m, k, dtype=dtype) for r in range(ranks)]
    x2 = [whole(30 + r, k, n, dtype=dtype) for r in range(ranks)]
    bias = whole(31, n, dtype=F16 if dtype == F16 else np.float32)
    values = {
        "x1": device(x1[rank]),
        "x2": device(np.ascontiguousarray(x2[rank].T) if turned else x2[rank]),
        "bias": device(bias), "allto_all_axes": [-1, -2] if turned else None,
        "group": comm.name, "comm_mode": "aiv", "transpose_x1": False, "transpose_x2": turned,
        "output": untouched((m * ranks, 2), dtype),
    }  # fmt: skip
    call("matmul_allto_all" + ("_v2" if version == 2 else ""), values)
    parts = [finished(product(a, b), dtype, bias=bias) for a, b in zip(x1, x2, strict=True)]
    expected = np.concatenate([part[:, 2 * rank : 2 * rank + 2] for part in parts])
    same(values["output"], expected)  # type: ignore[arg-type]


def quantised_first(
    comm: Communicator, dtype: Any, weight: Any, *, smooth: bool = False, version: int = 1
) -> None:
    ranks, rank = comm.world_size, comm.rank
    m, h, n = 2 * ranks, 16, 6
    floating = np.dtype(dtype) in (F16, BF16)
    x1 = [whole(r, m, h, dtype=dtype, most=7) for r in range(ranks)]
    x2 = whole(30 + rank, h * ranks, n, dtype=weight, most=7)
    out_dtype = dtype if floating else F16
    bias = whole(31, n, dtype=np.float32 if smooth else out_dtype)
    column = scales(32, n)
    factors = whole(33, h * ranks, dtype=dtype) if floating and smooth else None
    token = None if floating else scales(34, m)
    first = factors if floating else token
    values = {
        "x1": device(x1[rank]), "x2": device(x2), "bias": device(bias),
        "x1_scale": device(first), "x2_scale": device(column), "comm_scale": None,
        "x1_offset": None, "x2_offset": None, "group": comm.name, "comm_mode": "aiv",
        "allto_all_axes": None, "x1_quant_mode": 7 if floating else 3, "x2_quant_mode": 2,
        "comm_quant_mode": 0, "comm_quant_dtype": -1, "x1_quant_dtype": -1, "group_size": 0,
        "transpose_x1": False, "transpose_x2": False, "output": untouched((2, n), out_dtype),
        "allto_all_out": untouched((2, h * ranks), dtype),
    }  # fmt: skip
    call("allto_all_quant_matmul" + ("_v2" if version == 2 else ""), values)
    mine = rows_of_rank(x1, rank)
    same(values["allto_all_out"], mine)  # type: ignore[arg-type]
    if floating:
        left, rows = quantised_rows(mine, factors, 7 if np.dtype(weight) == INT4 else 127)
    else:
        assert token is not None
        left, rows = mine, token[rank * 2 : rank * 2 + 2]
    expected = finished(product(left, x2), out_dtype, column, rows, bias)
    same(values["output"], expected)  # type: ignore[arg-type]


def quantised_last(comm: Communicator, out_dtype: Any, version: int = 1) -> None:
    ranks, rank = comm.world_size, comm.rank
    m, k, n = 3, 9, 2 * ranks
    x1 = [whole(r, m, k, dtype=np.int8, most=100) for r in range(ranks)]
    x2 = [whole(30 + r, k, n, dtype=np.int8, most=100) for r in range(ranks)]
    bias = whole(31, n, dtype=np.float32 if version == 2 else out_dtype)
    row = [scales(40 + r, m) for r in range(ranks)]
    column = [scales(50 + r, n) for r in range(ranks)]
    values = {
        "x1": device(x1[rank]), "x2": device(x2[rank]), "bias": device(bias),
        "x1_scale": device(row[rank]), "x2_scale": device(column[rank]), "comm_scale": None,
        "x1_offset": None, "x2_offset": None, "allto_all_axes": None, "group": comm.name,
        "comm_mode": "aiv", "x1_quant_mode": 3, "x2_quant_mode": 2, "comm_quant_mode": 0,
        "comm_quant_dtype": -1, "group_size": 0, "transpose_x1": False, "transpose_x2": False,
        "output": untouched((m * ranks, 2), out_dtype),
    }  # fmt: skip
    call("quant_matmul_allto_all" + ("_v2" if version == 2 else ""), values)
    parts = [
        finished(product(x1[r], x2[r]), out_dtype, column[r], row[r], bias) for r in range(ranks)
    ]
    expected = np.concatenate([part[:, 2 * rank : 2 * rank + 2] for part in parts])
    same(values["output"], expected)  # type: ignore[arg-type]


# --- AlltoAllvGroupedMatMul and GroupedMatMulAlltoAllv


def splits(ranks: int, experts: int, kind: str) -> np.ndarray:
    """counts[source][rank][expert]: even, uneven with zeros, or all for the last expert."""
    shape = (ranks, ranks, experts)
    if kind == "even":
        return np.full(shape, 2)
    if kind == "uneven":
        return np.random.default_rng(8).integers(0, 4, shape)
    counts = np.zeros(shape, np.int64)
    counts[:, -1, -1] = 3
    return counts


def grouped_first(
    comm: Communicator, dtype: Any, kind: str, *, turned: bool = False, version: int = 1
) -> None:
    ranks, rank, experts, k, n = comm.world_size, comm.rank, 2, 6, 5
    counts = splits(ranks, experts, kind)
    x = [whole(r, int(counts[r].sum()), k, dtype=dtype) for r in range(ranks)]
    weight = whole(30 + rank, experts, k, n, dtype=dtype)
    shared, shared_weight = whole(40, 3, 4, dtype=dtype), whole(41, 4, 3, dtype=dtype)
    received = counts[:, rank]
    total = int(received.sum())
    values = {
        "gmm_x": device(x[rank]),
        "gmm_weight": device(np.ascontiguousarray(weight.swapaxes(1, 2)) if turned else weight),
        "send_counts_tensor": None, "recv_counts_tensor": None, "mm_x": device(shared),
        "mm_weight": device(np.ascontiguousarray(shared_weight.T) if turned else shared_weight),
        "group": comm.name, "comm_mode": "ai_cpu", "ep_world_size": ranks,
        "send_counts": counts[rank].reshape(-1).tolist(),
        "recv_counts": received.reshape(-1).tolist(), "trans_gmm_weight": turned,
        "trans_mm_weight": turned, "permute_out_flag": not turned,
        "gmm_y": untouched((total, n), dtype), "mm_y": untouched((3, 3), dtype),
        "permute_out": None if turned else untouched((total, k), dtype),
    }  # fmt: skip
    call("allto_allv_grouped_mat_mul" + ("_v2" if version == 2 else ""), values)
    rows, results = [], []
    for expert in range(experts):
        for r in range(ranks):
            before = int(counts[r].reshape(-1)[: rank * experts + expert].sum())
            rows.append(x[r][before : before + int(counts[r, rank, expert])])
            results.append(product(rows[-1], weight[expert]).astype(dtype))
    if not turned:
        same(values["permute_out"], np.concatenate(rows))  # type: ignore[arg-type]
    same(values["gmm_y"], np.concatenate(results))  # type: ignore[arg-type]
    same(values["mm_y"], product(shared, shared_weight).astype(dtype))  # type: ignore[arg-type]


def grouped_last(
    comm: Communicator, dtype: Any, kind: str, *, turned: bool = False, version: int = 1
) -> None:
    ranks, rank, experts, k, n = comm.world_size, comm.rank, 2, 6, 5
    counts = splits(ranks, experts, kind)  # of the way there: back they go the other way
    weights = [whole(30 + r, experts, k, n, dtype=dtype) for r in range(ranks)]
    everyone = [whole(r, int(counts[:, r].sum()), k, dtype=dtype) for r in range(ranks)]
    weight = weights[rank]
    total = int(counts[rank].sum())
    values = {
        "gmm_x": device(everyone[rank]),
        "gmm_weight": device(np.ascontiguousarray(weight.swapaxes(1, 2)) if turned else weight),
        "send_counts_tensor": None, "recv_counts_tensor": None, "mm_x": None, "mm_weight": None,
        "group": comm.name, "comm_mode": "ai_cpu", "ep_world_size": ranks,
        "send_counts": counts[:, rank].reshape(-1).tolist(),
        "recv_counts": counts[rank].reshape(-1).tolist(), "trans_gmm_weight": turned,
        "trans_mm_weight": False, "y": untouched((total, n), dtype), "mm_y": None,
    }  # fmt: skip
    call("grouped_mat_mul_allto_allv" + ("_v2" if version == 2 else ""), values)
    expected = []
    for r in range(ranks):
        for expert in range(experts):
            # at rank r the rows lie by expert, then by the rank they belong to
            by_expert = counts[:, r].T.reshape(-1)
            before = int(by_expert[: expert * ranks + rank].sum())
            rows = everyone[r][before : before + int(counts[rank, r, expert])]
            expected.append(product(rows, weights[r][expert]).astype(dtype))
    same(values["y"], np.concatenate(expected))  # type: ignore[arg-type]


# --- later versions of the family that sums up


def later_versions(comm: Communicator) -> None:
    """What a later version adds is for another chip: it gives what the earlier one gives."""
    x1, x2 = whole(comm.rank, 4, 8, dtype=np.int8), whole(9, 8, 6, dtype=np.int8)
    shared = {
        "x1": device(x1), "x2": device(x2), "bias": device(whole(3, 6, dtype=np.int32)),
        "x3": device(whole(4, 4, 6)), "comm_quant_scale1": None, "comm_quant_scale2": None,
        "group": comm.name, "reduce_op": "sum", "comm_turn": 0, "stream_mode": 1,
        "group_size": 0, "comm_quant_mode": 0, "comm_mode": "ai_cpu",
    }  # fmt: skip
    row, column = device(scales(5, 4)), device(scales(6, 6))
    outputs = []
    for name in ("v3", "v4", "v5"):
        output = untouched((4, 6), F16)
        call(
            f"quant_matmul_all_reduce_{name}",
            shared | {"dequant_scale": column, "pertoken_scale": row, "x1_scale": row,
                      "x2_scale": column, "output": output},
        )  # fmt: skip
        outputs.append(output.numpy())
    total = None
    for r in range(comm.world_size):
        left = product(whole(r, 4, 8, dtype=np.int8), x2) + whole(3, 6, dtype=np.int32)
        part = finished(left.astype(np.float32), F16, scales(6, 6), scales(5, 4))
        part = (part.astype(np.float32) + whole(4, 4, 6).astype(np.float32)).astype(F16)
        total = part if total is None else (
            total.astype(np.float32) + part.astype(np.float32)).astype(F16)  # fmt: skip
    for output in outputs:
        np.testing.assert_array_equal(output, total)
    floating = shared | {"x1": device(whole(comm.rank, 4, 8)), "x2": device(whole(9, 8, 6)),
                         "bias": device(whole(3, 6))}  # fmt: skip
    weights = floating | {
        "x2": device(x2), "antiquant_scale": device(whole(7, 6)), "antiquant_offset": None,
        "antiquant_group_size": 0,
    }  # fmt: skip
    for before, after, values in (
        ("matmul_all_reduce_v2", "matmul_all_reduce_v3", floating),
        ("weight_quant_matmul_all_reduce", "weight_quant_matmul_all_reduce_v2", weights),
    ):
        results = []
        for name in (before, after):
            output = untouched((4, 6), F16)
            call(name, values | {"output": output})
            results.append(output.numpy())
        np.testing.assert_array_equal(*results)


def quantised_sums(comm: Communicator, dtype: Any, dims: tuple[int, ...]) -> None:
    """QuantAllReduce and QuantReduceScatter: a scale for each 128 values, one rounding."""
    ranks, rank = comm.world_size, comm.rank
    rows = int(np.prod(dims)) * ranks
    shape = (*dims[:-1], dims[-1] * ranks, 1024)
    x = [whole(r, *shape, dtype=np.int8, most=127) for r in range(ranks)]
    factors = [scales(20 + r, *shape[:-1], 8) for r in range(ranks)]
    total = np.zeros((rows, 1024), np.float32)
    for values, factor in zip(x, factors, strict=True):
        wide = np.repeat(factor.reshape(rows, 8), 128, axis=1)
        total += values.reshape(rows, 1024).astype(np.float32) * wide
    shared = {
        "x": device(x[rank]), "scales": device(factors[rank]), "group": comm.name,
        "reduce_op": "sum",
    }  # fmt: skip
    output = untouched(shape, dtype)
    call("quant_all_reduce", shared | {"output": output})
    same(output, total.astype(dtype).reshape(shape))
    share = rows // ranks
    output = untouched((share, 1024), dtype)
    call("quant_reduce_scatter", shared | {"output": output})
    same(output, total.astype(dtype)[rank * share : (rank + 1) * share])


def everything(comm: Communicator) -> None:
    for dtype in (F16, BF16, np.dtype(np.int8), INT4):
        for m, turned in ((3, False), (1, True)):
            gathered(comm, dtype, m, turned, tokens=not turned)
    for dtype, bias in ((F16, F16), (F16, np.float32), (BF16, BF16), (BF16, None)):
        scattered(comm, dtype, bias)
    scattered(comm, np.int8, np.float32)
    scattered(comm, np.int8, None, blocked=True)
    scattered(comm, F16, None, blocked=True)
    for version, turned in ((1, False), (2, True)):
        for dtype in (F16, BF16):
            exchanged_first(comm, dtype, turned=turned, version=version, keeps=not turned)
            exchanged_last(comm, dtype, turned=turned, version=version)
            for weight in (np.int8, INT4):
                quantised_first(comm, dtype, weight, smooth=turned, version=version)
            quantised_last(comm, dtype, version)
        quantised_first(comm, INT4, INT4, version=version)
        for kind in ("even", "uneven", "empty"):
            grouped_first(comm, F16, kind, turned=turned, version=version)
            grouped_last(comm, BF16, kind, turned=turned, version=version)
    later_versions(comm)
    for dtype, dims in ((F16, (3,)), (BF16, (2, 1)), (np.float32, (1,))):
        quantised_sums(comm, dtype, dims)


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_every_product_on_threads(run_threads: Any, ranks: int) -> None:
    run_threads(ranks, everything, timeout_s=300.0)


def _in_a_process(rank: int, ranks: int, port: int) -> None:
    os.environ.update(
        RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks),
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port),
    )  # fmt: skip
    with Communicator.from_env() as comm:
        everything(comm)


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_every_product_on_processes(ranks: int) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    run_ranks(ranks, _in_a_process, port, timeout_s=300.0)


def functions(comm: Communicator) -> None:
    """The functions of `distributed` give what their operators give."""
    ranks, rank, experts, k, n = comm.world_size, comm.rank, 2, 6, 5
    counts = splits(ranks, experts, "uneven")
    x = [whole(r, int(counts[r].sum()), k) for r in range(ranks)]
    weights = [whole(30 + r, experts, k, n) for r in range(ranks)]
    own, shared = whole(40, 3, 4), whole(41, 4, 3)
    there, here = counts[rank].reshape(-1).tolist(), counts[:, rank].reshape(-1).tolist()
    products, mine, rows = dist.all_to_allv_grouped_matmul(
        ap.from_numpy(x[rank]), ap.from_numpy(weights[rank]), there, here, comm,
        mm_x=device(own), mm_weight=device(shared), permute_out_flag=True,
    )  # fmt: skip
    assert mine is not None
    assert rows is not None
    same(mine, product(own, shared).astype(F16))
    starts = [np.concatenate([[0], np.cumsum(c.reshape(-1))]) for c in counts]
    expected = [
        x[r][starts[r][at := rank * experts + e] : starts[r][at + 1]]
        for e in range(experts)
        for r in range(ranks)
    ]
    same(rows, np.concatenate(expected))
    made = [product(p, weights[rank][i // ranks]) for i, p in enumerate(expected)]
    same(products, np.concatenate(made).astype(F16))
    back, nothing = dist.grouped_matmul_all_to_allv(
        rows, ap.from_numpy(weights[rank]), here, there, comm
    )
    assert nothing is None
    order = [weights[i // experts][i % experts] for i in range(ranks * experts)]
    parts = [x[rank][starts[rank][i] : starts[rank][i + 1]] for i in range(ranks * experts)]
    same(back, np.concatenate([product(p, w) for p, w in zip(parts, order, strict=True)]))
    numbers = [whole(r, 2 * ranks, 1024, dtype=np.int8, most=127) for r in range(ranks)]
    factors = [scales(20 + r, 2 * ranks, 8) for r in range(ranks)]
    total = np.zeros((2 * ranks, 1024), np.float32)
    for values, factor in zip(numbers, factors, strict=True):
        total += values.astype(np.float32) * np.repeat(factor, 128, axis=1)
    given = ap.from_numpy(numbers[rank]), ap.from_numpy(factors[rank])
    same(dist.quant_all_reduce(*given, comm, output_dtype="float32"), total)
    share = total[2 * rank : 2 * rank + 2].astype(F16)
    same(dist.quant_reduce_scatter(*given, comm), share)

    quantised_functions(comm)


def quantised_functions(comm: Communicator) -> None:
    ranks, rank = comm.world_size, comm.rank
    x1 = [whole(r, 2 * ranks, 16, most=7) for r in range(ranks)]
    x2 = whole(30 + rank, 16 * ranks, 6, dtype=np.int8, most=100)
    column, bias = scales(32, 6), whole(31, 6, dtype=F16)
    mine = rows_of_rank(x1, rank)
    left, token = quantised_rows(mine, None, 127)
    expected = finished(product(left, x2), F16, column, token, bias)
    for turned in (False, True):
        held = ap.from_numpy(np.ascontiguousarray(x2.T) if turned else x2)
        out, rows = dist.all_to_all_quant_matmul(
            ap.from_numpy(x1[rank]), held, ap.from_numpy(column), comm, bias=ap.from_numpy(bias),
            trans_x2=turned, all_to_all_output=turned,
        )  # fmt: skip
        same(out, expected)
        assert (rows is not None) == turned
        if rows is not None:
            same(rows, mine)
    codes = [whole(r, 3, 9, dtype=np.int8, most=100) for r in range(ranks)]
    weights = [whole(30 + r, 9, 2 * ranks, dtype=np.int8, most=100) for r in range(ranks)]
    row = [scales(40 + r, 3) for r in range(ranks)]
    columns = [scales(50 + r, 2 * ranks) for r in range(ranks)]
    sums = whole(31, 2 * ranks, dtype=BF16)
    parts = [
        finished(product(a, b), BF16, c, r, sums)
        for a, b, c, r in zip(codes, weights, columns, row, strict=True)
    ]
    held = ap.from_numpy(np.ascontiguousarray(weights[rank].T))
    out = dist.quant_matmul_all_to_all(
        ap.from_numpy(codes[rank]), held, ap.from_numpy(row[rank]),
        ap.from_numpy(columns[rank]), comm, bias=ap.from_numpy(sums), trans_x2=True,
        output_dtype="bfloat16",
    )  # fmt: skip
    same(out, np.concatenate([part[:, 2 * rank : 2 * rank + 2] for part in parts]))


@pytest.mark.parametrize("ranks", [2, 4])
def test_functions_on_threads(run_threads: Any, ranks: int) -> None:
    run_threads(ranks, functions, timeout_s=300.0)


# --- two groups: experts are spread over one, their weights over the other


def activated(x: np.ndarray, kind: int) -> np.ndarray:
    """What the operator of the activation makes of it."""
    if kind == 0:
        return x
    name = ("", "gelu", "silu", "relu", "fast_gelu")[kind]
    out = untouched(x.shape, x.dtype)
    getattr(ap.ops, name)(device(x), out)
    return out.numpy()


def batches(ep: Communicator, tp: Communicator, dtype: Any, shard: int, kind: int) -> None:
    """Rank (e, t) of both groups; everyone's data are made by their numbers."""
    eps, tps, local, c, h, m = ep.world_size, tp.world_size, 2, 3, 4, 5
    e, t = ep.rank, tp.rank
    width = h if shard == 1 else h * tps
    bias_dtype = F16 if dtype == F16 else np.float32

    def part(r: int, s: int) -> np.ndarray:
        return whole(100 * r + s, eps * local, c, h, dtype=dtype)

    weight = [[whole(7 + 10 * r + s, local, width, m, dtype=dtype, most=2) for s in range(tps)]
              for r in range(eps)]  # fmt: skip
    bias = whole(5, local, m, dtype=bias_dtype)
    mine = slice(e * local, (e + 1) * local)
    if shard == 0:  # columns lie on the other group
        blocks = [np.concatenate([part(r, s)[mine] for s in range(tps)], 2) for r in range(eps)]
    else:
        blocks = [part(r, s)[mine] for r in range(eps) for s in range(tps)]
    gathered = np.concatenate(blocks, axis=1)
    y1, y2 = untouched((local, gathered.shape[1], m), dtype), untouched(gathered.shape, dtype)
    y3 = untouched((local, gathered.shape[1], m), dtype) if kind else None
    ap.ops.allto_all_all_gather_batch_mat_mul(
        device(part(e, t)), device(weight[e][t]), device(bias), ep.name, tp.name, eps, tps, shard,
        kind, y1, y2, y3,
    )  # fmt: skip
    same(y2, gathered)
    plain = finished(product(gathered, weight[e][t]), dtype, bias=bias[:, None])
    if y3 is not None:
        same(y3, plain)
    same(y1, activated(plain, kind))

    # and back: rank (r, s) has rows of its experts and a part of the sum
    rows = eps * c * (tps if shard == 1 else 1)

    def left(r: int, s: int) -> np.ndarray:
        return whole(300 + 10 * r + s, local, rows, m, dtype=dtype, most=2)

    def right(r: int, s: int) -> np.ndarray:
        return whole(500 + 10 * r + s, local, m, width, dtype=dtype, most=2)

    added = whole(6, local, h, dtype=bias_dtype)
    out = untouched((eps * local, c, h), dtype)
    ap.ops.batch_mat_mul_reduce_scatter_allto_all(
        device(left(e, t)), device(right(e, t)), device(added[:, None]), ep.name, tp.name, eps,
        tps, shard, out,
    )  # fmt: skip
    parts = []
    for r in range(eps):
        total = None
        for s in range(tps):
            one = product(left(r, s), right(r, s)).astype(dtype)
            total = one if total is None else (
                total.astype(np.float32) + one.astype(np.float32)).astype(dtype)  # fmt: skip
        assert total is not None
        if shard == 0:
            share = total[:, e * c : (e + 1) * c, t * h : (t + 1) * h]
        else:
            first = (e * tps + t) * c
            share = total[:, first : first + c]
        parts.append((share.astype(np.float32) + added[:, None].astype(np.float32)).astype(dtype))
    same(out, np.concatenate(parts))


def _both_groups(ep: Communicator, tp: Communicator) -> None:
    for dtype in (F16, BF16):
        for shard in (0, 1):
            for kind in range(5):
                batches(ep, tp, dtype, shard, kind)


@pytest.mark.parametrize(("eps", "tps"), [(2, 2), (4, 2), (2, 4)])
def test_batches_over_two_groups(eps: int, tps: int) -> None:
    by_ep = [Communicator.init_all([r * tps + s for r in range(eps)]) for s in range(tps)]
    by_tp = [Communicator.init_all([r * tps + s for s in range(tps)]) for r in range(eps)]
    members = [[by_ep[s][r], by_tp[r][s]] for r in range(eps) for s in range(tps)]
    try:
        on_threads(members, _both_groups)
    finally:
        for comm in (comm for group in (*by_ep, *by_tp) for comm in group):
            comm.close()


def _of_two(comm: Communicator, tps: int) -> None:
    """The rank's own two groups of a job: those of the same place, and its neighbours."""
    eps = comm.world_size // tps
    by_ep = [comm.split([r * tps + s for r in range(eps)]) for s in range(tps)]
    by_tp = [comm.split([r * tps + s for s in range(tps)]) for r in range(eps)]
    (ep,), (tp,) = (filter(None, groups) for groups in (by_ep, by_tp))
    with ep, tp:
        _both_groups(ep, tp)


def two_on_each_side(comm: Communicator) -> None:
    _of_two(comm, 2)


def four_weights(comm: Communicator) -> None:
    _of_two(comm, 4)


def test_batches_over_two_groups_of_processes(
    process_counts: tuple[int, ...], tmp_path: Path
) -> None:
    wider = [count for count in process_counts if count > 4]
    on_processes(two_on_each_side, (4, *wider), tmp_path / "two")
    on_processes(four_weights, wider, tmp_path / "four")


# --- what goes wrong


def gathering(**change: Any) -> dict[str, Any]:
    new = ap.zeros
    return {
        "x1": new((2, 256), "float16"), "x2": new((256, 4), "float16"), "bias": None,
        "x1_scale": None, "x2_scale": None, "quant_scale": None, "block_size": 0,
        "gather_index": 0, "comm_turn": 0, "stream_mode": 1, "group_size": 0, "comm_mode": "aiv",
        "reduce_op": "sum", "output": new((4, 4), "float16"),
        "gather_out": new((4, 256), "float16"), "amax_out": None, **change,
    }  # fmt: skip


def exchanging(**change: Any) -> dict[str, Any]:
    new = ap.zeros
    return {
        "x1": new((2, 8), "float16"), "x2": new((16, 4), "float16"), "bias": None,
        "allto_all_axes": None, "comm_mode": "aiv", "transpose_x1": False, "transpose_x2": False,
        "output": new((1, 4), "float16"), "allto_all_out": None, **change,
    }  # fmt: skip


def grouping(**change: Any) -> dict[str, Any]:
    new = ap.zeros
    return {
        "gmm_x": new((2, 4), "float16"), "gmm_weight": new((1, 4, 3), "float16"),
        "send_counts_tensor": None, "recv_counts_tensor": None, "mm_x": None, "mm_weight": None,
        "comm_mode": "ai_cpu", "ep_world_size": 2, "send_counts": [1, 1], "recv_counts": [1, 1],
        "trans_gmm_weight": False, "trans_mm_weight": False, "permute_out_flag": False,
        "gmm_y": new((2, 3), "float16"), "mm_y": None, "permute_out": None, **change,
    }  # fmt: skip


WRONG: list[tuple[str, dict[str, Any], int, str]] = [
    ("all_gather_matmul_v2", {"comm_mode": "ccu"}, 161002, "commMode"),
    ("all_gather_matmul_v2", {"bias": ("float16", 4)}, 161002, "biasOptional"),
    ("all_gather_matmul_v2", {"x1": ("float16", 2, 255)}, 161002, "columns"),
    ("all_gather_matmul_v2", {"x1": ("float32", 2, 256)}, 161002, "x1"),
    ("all_gather_matmul_v2", {"x2_scale": ("float32", 1, 4)}, 161002, "x2ScaleOptional"),
    ("all_gather_matmul_v2", {"x1": ("int8", 2, 256), "x2": ("int8", 256, 4),
                              "gather_out": ("int8", 4, 256)}, 161002, "x2ScaleOptional"),
    ("all_gather_matmul_v2", {"gather_index": 1}, 561002, "gatherIndex"),
    ("all_gather_matmul_v2", {"gather_out": ("float16", 2, 256)}, 161002, "gatherOut"),
    ("all_gather_matmul_v2", {"block_size": 1}, 161002, "blockSize"),
    ("all_gather_matmul_v2", {"group_size": 5}, 161002, "groupSize"),
    ("matmul_reduce_scatter_v2", {"reduce_op": "max"}, 561002, "reduceOp"),
    ("matmul_reduce_scatter_v2", {"x1": ("float16", 3, 256)}, 561002, "share"),
    ("matmul_reduce_scatter_v2", {"bias": ("bfloat16", 4)}, 161002, "biasOptional"),
    ("allto_all_matmul", {"transpose_x1": True}, 161002, "transposeX1"),
    ("allto_all_matmul", {"allto_all_axes": [-1, -2]}, 161002, "alltoAllAxes"),
    ("allto_all_matmul", {"x1": ("float16", 3, 8)}, 161002, "share"),
    ("allto_all_matmul", {"x2": ("float16", 15, 4)}, 161002, "x2"),
    ("allto_all_matmul", {"x1": ("float16", 0, 8)}, 161002, "no elements"),
    ("allto_all_matmul", {"bias": ("float32", 4)}, 161002, "biasOptional"),
    ("allto_allv_grouped_mat_mul", {"send_counts": [2, 1]}, 161002, "gmmX"),
    ("allto_allv_grouped_mat_mul", {"send_counts": [3, -1]}, 161002, "sendCounts"),
    ("allto_allv_grouped_mat_mul", {"recv_counts": [1]}, 161002, "recvCounts"),
    ("allto_allv_grouped_mat_mul", {"ep_world_size": 4, "send_counts": [1, 1, 0, 0],
                                    "recv_counts": [1, 1, 0, 0]}, 561002, "epWorldSize"),
    ("allto_allv_grouped_mat_mul", {"mm_x": ("float16", 2, 4)}, 161002, "mmXOptional"),
    ("allto_allv_grouped_mat_mul", {"permute_out_flag": True}, 161001, "permuteOut"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "status", "word"), WRONG, ids=str)
def test_wrong_calls_are_refused(name: str, change: dict[str, Any], status: int, word: str) -> None:
    comms = Communicator.init_all(2)
    base = gathering if "v2" in name else grouping if "grouped" in name else exchanging
    try:
        with comms[0].device:
            made = {
                key: ap.zeros(value[1:], value[0]) if isinstance(value, tuple) else value
                for key, value in change.items()
            }
            with pytest.raises(AclnnError) as caught:
                call(name, base(**made) | {"group": comms[0].name})
            assert caught.value.status == status
            assert word in str(caught.value)
    finally:
        for comm in comms:
            comm.close()


def test_counts_that_do_not_match_are_named(run_threads: Any) -> None:
    def work(comm: Communicator) -> str:
        counts = [1, 1] if comm.rank == 0 else [2, 0]
        values = grouping(send_counts=counts) | {"group": comm.name}
        with pytest.raises(ap.errors.AclError) as caught:
            call("allto_allv_grouped_mat_mul", values)
            comm.device.synchronize()
        return str(caught.value)

    assert "rank 1" in run_threads(2, work)[0]
