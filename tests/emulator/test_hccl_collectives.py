# SPDX-License-Identifier: Apache-2.0
"""Every collective against NumPy: dtypes, reductions, 2 to 8 ranks, processes and threads."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hccl_ranks import CODES, DTYPES, OPS, Array, Item, Rank, close_jobs, job, offset, u64

MOVES = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "fp16",
    "fp32",
    "fp64",
    "bfp16",
]
REDUCES = ["int8", "int16", "int32", "int64", "fp16", "fp32", "bfp16"]
SHAPES = [
    (2, "process"),
    (3, "process"),
    (4, "process"),
    (8, "process"),
    (2, "thread"),
    (3, "thread"),
    (4, "thread"),
    (8, "thread"),
]


@pytest.fixture(scope="module", autouse=True)
def _end_jobs() -> Iterator[None]:
    yield
    close_jobs()


@pytest.fixture(params=SHAPES, ids=[f"{n}-{mode}" for n, mode in SHAPES])
def ranks(request: pytest.FixtureRequest) -> Any:
    return job(*request.param)


# Every rank asks for the data of all ranks; where they are threads, one of them makes the arrays.
_making = threading.RLock()


def data(dtype: str, count: int, seed: int) -> Array:
    """Return values that survive eight-fold sums and products, fractions among the floats."""
    with _making:
        return _data(dtype, count, seed)


@functools.lru_cache(maxsize=64)
def _data(dtype: str, count: int, seed: int) -> Array:
    made = _made_data(dtype, count, seed)
    made.flags.writeable = False
    return made


def _made_data(dtype: str, count: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    kind = DTYPES[dtype][1]
    if dtype.startswith("uint"):
        return rng.integers(0, 100, count).astype(kind)
    if dtype.startswith("int"):
        return rng.integers(-100, 100, count).astype(kind)
    return (rng.standard_normal(count) * 3).astype(np.float64).astype(kind)


def in_order(op: str, arrays: list[Array]) -> Array:
    """Return the reduction in rank order with every partial result rounded to the dtype."""
    total = arrays[0]
    for array in arrays[1:]:
        if total.dtype.kind in "iu":
            with np.errstate(over="ignore"):
                total = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[
                    op
                ](total, array)
            continue
        # the exact result of two halves (or floats) fits in double, so one rounding is made
        a, b = total.astype(np.float64), array.astype(np.float64)
        wide = {"sum": a + b, "prod": a * b, "max": np.maximum(a, b), "min": np.minimum(a, b)}[op]
        total = (
            wide.astype(np.float32).astype(array.dtype)
            if array.dtype.itemsize == 2
            else wide.astype(array.dtype)
        )
    return total


def reduced(op: str, dtype: str, count: int, seed: int, ranks: int) -> Array:
    """Return the reduction of the data of all ranks, whose seeds follow each other."""
    with _making:
        return _reduced(op, dtype, count, seed, ranks)


@functools.lru_cache(maxsize=64)
def _reduced(op: str, dtype: str, count: int, seed: int, ranks: int) -> Array:
    total = in_order(op, [data(dtype, count, seed + r) for r in range(ranks)]).copy()
    total.flags.writeable = False
    return total


def allowed(op: str, dtype: str) -> bool:
    return not (op == "prod" and dtype in ("int16", "bfp16"))


def bits(array: Array) -> bytes:
    return np.ascontiguousarray(array).tobytes()


def check(rank: Rank, result: Array, expected: Array, what: str) -> None:
    assert result.dtype == expected.dtype
    if bits(result) == bits(expected):
        return
    where = np.flatnonzero(result != expected)
    first = int(where[0]) if where.size else -1
    raise AssertionError(
        f"{what} on rank {rank.rank}: {where.size} of {result.size} differ, first at {first}: "
        f"{result[first]} instead of {expected[first]}"
    )


# Element counts: one, not a multiple of the ranks or of a cache line, longer than a step of the
# shared memory (512 KiB).
COUNTS = [1, 37, 1000, 300_001]


def all_reduce_work(rank: Rank, op: str, dtype: str, count: int, in_place: bool) -> bytes:
    code, kind = DTYPES[dtype]
    mine = data(dtype, count, 10 + rank.rank)
    send = rank.put(mine)
    recv = send if in_place else rank.put(np.zeros(count, kind))
    rank.call("HcclAllReduce", send, recv, count, code, OPS[op])
    rank.sync()
    result = rank.get(recv, count, kind)
    expected = reduced(op, dtype, count, 10, rank.ranks)
    check(rank, result, expected, f"AllReduce {op} {dtype} x {count}")
    if not in_place:
        check(rank, rank.get(send, count, kind), mine, "the send buffer of AllReduce")
    rank.free()
    return bits(result)


def all_reduces_work(rank: Rank) -> list[bytes]:
    results = []
    for dtype in REDUCES:
        for op in OPS:
            if not allowed(op, dtype):
                continue
            for count in (1, 1000):
                results.append(all_reduce_work(rank, op, dtype, count, in_place=count == 1000))
    for dtype in ("fp32", "bfp16", "int8"):
        results.append(all_reduce_work(rank, "sum", dtype, 300_001, in_place=False))
        results.append(all_reduce_work(rank, "sum", dtype, 300_001, in_place=True))
    return results


def test_all_reduce(ranks: Any) -> None:
    results = ranks.run(all_reduces_work)
    assert all(r == results[0] for r in results), "the ranks do not have the same bits"


def test_processes_and_threads_give_the_same_bits() -> None:
    assert job(4, "process").run(all_reduces_work)[0] == job(4, "thread").run(all_reduces_work)[0]


def reduce_scatter_work(rank: Rank) -> None:
    for dtype in REDUCES:
        code, kind = DTYPES[dtype]
        for op in OPS:
            if not allowed(op, dtype):
                continue
            for count in [37, 40_001] if op == "sum" else [37]:
                arrays = [data(dtype, count * rank.ranks, 20 + r) for r in range(rank.ranks)]
                mine = slice(rank.rank * count, (rank.rank + 1) * count)
                expected = in_order(op, [array[mine] for array in arrays])
                send, recv = rank.put(arrays[rank.rank]), rank.put(np.zeros(count, kind))
                rank.call("HcclReduceScatter", send, recv, count, code, OPS[op])
                rank.sync()
                check(rank, rank.get(recv, count, kind), expected, f"ReduceScatter {op} {dtype}")
                if (
                    op == "sum"
                ):  # in place: into the rank's own block, and to the start of the buffer
                    for at in (offset(send, rank.rank * count * arrays[0].itemsize), send):
                        again = rank.put(arrays[rank.rank])
                        target = offset(again, at.value - send.value)
                        rank.call("HcclReduceScatter", again, target, count, code, OPS[op])
                        rank.sync()
                        check(
                            rank,
                            rank.get(target, count, kind),
                            expected,
                            f"ReduceScatter {dtype} in place",
                        )
                rank.free()


def test_reduce_scatter(ranks: Any) -> None:
    ranks.run(reduce_scatter_work)


def reduce_work(rank: Rank) -> None:
    for dtype in REDUCES:
        code, kind = DTYPES[dtype]
        for root, op, count in [
            (0, "sum", 1000),
            (rank.ranks - 1, "max", 37),
            (rank.ranks - 1, "min", 200_003),
        ]:
            mine = data(dtype, count, 30 + rank.rank)
            expected = reduced(op, dtype, count, 30, rank.ranks)
            send = rank.put(mine)
            recv = rank.put(np.zeros(count, kind)) if rank.rank == root else None
            rank.call("HcclReduce", send, recv, count, code, OPS[op], root)
            rank.sync()
            if recv is not None:
                check(rank, rank.get(recv, count, kind), expected, f"Reduce {op} {dtype}")
                rank.call(
                    "HcclReduce", send, send, count, code, OPS[op], root
                )  # in place on the root
            else:
                check(
                    rank,
                    rank.get(send, count, kind),
                    mine,
                    "the send buffer of Reduce",
                )
                rank.call("HcclReduce", send, None, count, code, OPS[op], root)
            rank.sync()
            if rank.rank == root:
                check(
                    rank,
                    rank.get(send, count, kind),
                    expected,
                    f"Reduce {op} {dtype} in place",
                )
            rank.free()


def test_reduce(ranks: Any) -> None:
    ranks.run(reduce_work)


def all_gather_work(rank: Rank) -> None:
    for dtype in MOVES:
        code, kind = DTYPES[dtype]
        for count in COUNTS if dtype in ("int8", "fp64") else COUNTS[:2]:
            arrays = [data(dtype, count, 40 + r) for r in range(rank.ranks)]
            expected = np.concatenate(arrays)
            send = rank.put(arrays[rank.rank])
            recv = rank.put(np.zeros(count * rank.ranks, kind))
            rank.call("HcclAllGather", send, recv, count, code)
            rank.sync()
            check(
                rank, rank.get(recv, expected.size, kind), expected, f"AllGather {dtype} x {count}"
            )
            # in place: the rank's own block, and the start of the receive buffer
            for block in (rank.rank, 0):
                start = np.zeros(count * rank.ranks, kind)
                start[block * count : (block + 1) * count] = arrays[rank.rank]
                recv = rank.put(start)
                rank.call(
                    "HcclAllGather", offset(recv, block * count * start.itemsize), recv, count, code
                )
                rank.sync()
                check(
                    rank,
                    rank.get(recv, expected.size, kind),
                    expected,
                    f"AllGather {dtype} in place",
                )
            rank.free()


def test_all_gather(ranks: Any) -> None:
    ranks.run(all_gather_work)


def broadcast_work(rank: Rank) -> None:
    for dtype in MOVES:
        code, kind = DTYPES[dtype]
        for root, count in [(0, 37), (rank.ranks - 1, 300_001)]:
            expected = data(dtype, count, 50 + root)
            buf = rank.put(expected if rank.rank == root else np.zeros(count, kind))
            rank.call("HcclBroadcast", buf, count, code, root)
            rank.sync()
            check(rank, rank.get(buf, count, kind), expected, f"Broadcast {dtype} from {root}")
            rank.free()


def test_broadcast(ranks: Any) -> None:
    ranks.run(broadcast_work)


def scatter_work(rank: Rank) -> None:
    for dtype in MOVES:
        code, kind = DTYPES[dtype]
        for root, count in [(0, 37), (rank.ranks - 1, 100_001)]:
            everything = data(dtype, count * rank.ranks, 60 + root)
            expected = everything[rank.rank * count : (rank.rank + 1) * count]
            send = rank.put(everything) if rank.rank == root else None
            recv = rank.put(np.zeros(count, kind))
            rank.call("HcclScatter", send, recv, count, code, root)
            rank.sync()
            check(rank, rank.get(recv, count, kind), expected, f"Scatter {dtype} from {root}")
            rank.free()


def test_scatter(ranks: Any) -> None:
    ranks.run(scatter_work)


def all_to_all_work(rank: Rank) -> None:
    n, me = rank.ranks, rank.rank
    for dtype in MOVES:
        code, kind = DTYPES[dtype]
        for count in [5, 40_001] if dtype == "fp32" else [5]:
            arrays = [data(dtype, count * n, 70 + r) for r in range(n)]
            expected = np.concatenate([a[me * count : (me + 1) * count] for a in arrays])
            send, recv = rank.put(arrays[me]), rank.put(np.zeros(count * n, kind))
            rank.call("HcclAlltoAll", send, count, code, recv, count, code)
            rank.sync()
            check(rank, rank.get(recv, count * n, kind), expected, f"AlltoAll {dtype}")
            rank.free()


def test_all_to_all(ranks: Any) -> None:
    ranks.run(all_to_all_work)


def uneven(n: int, scale: int) -> Array:
    """Return the element counts from each rank (row) to each rank (column); zeros among them."""
    return np.random.default_rng(n).integers(0, 4, (n, n)) * scale


def all_to_all_v_work(rank: Rank, scale: int) -> None:
    n, me = rank.ranks, rank.rank
    counts = uneven(n, scale)
    for dtype in ("int8", "fp16", "fp32", "int64"):
        code, kind = DTYPES[dtype]
        blocks = [[data(dtype, int(counts[s, d]), 100 * s + d) for d in range(n)] for s in range(n)]
        # gaps between the blocks, another order on the receiving side
        send_at = np.concatenate([[0], np.cumsum(counts[me] + 3)[:-1]])
        order = list(reversed(range(n)))
        recv_at, at = np.zeros(n, int), 1
        for s in order:
            recv_at[s] = at
            at += int(counts[s, me]) + 2
        send_host = np.zeros(int(send_at[-1] + counts[me, -1]) + 1, kind)
        for d in range(n):
            send_host[send_at[d] : send_at[d] + counts[me, d]] = blocks[me][d]
        recv_host = data(dtype, at + 5, 7)
        expected = recv_host.copy()
        for s in range(n):
            expected[recv_at[s] : recv_at[s] + counts[s, me]] = blocks[s][me]
        send, recv = rank.put(send_host), rank.put(recv_host)
        rank.call(
            "HcclAlltoAllV",
            send,
            u64(*map(int, counts[me])),
            u64(*map(int, send_at)),
            code,
            recv,
            u64(*map(int, counts[:, me])),
            u64(*map(int, recv_at)),
            code,
        )
        rank.sync()
        check(rank, rank.get(recv, expected.size, kind), expected, f"AlltoAllV {dtype}")
        dense = rank.put(np.concatenate(blocks[me]))
        total = int(counts[:, me].sum())
        recv = rank.put(np.zeros(total + 1, kind))
        rank.call("HcclAlltoAllVC", dense, u64(*map(int, counts.ravel())), code, recv, code)
        rank.sync()
        expected = np.concatenate([blocks[s][me] for s in range(n)] + [np.zeros(1, kind)])
        check(rank, rank.get(recv, total + 1, kind), expected, f"AlltoAllVC {dtype}")
        rank.free()


@pytest.mark.parametrize("scale", [7, 30_001])
def test_all_to_all_v_and_vc(ranks: Any, scale: int) -> None:
    ranks.run(all_to_all_v_work, scale)


def v_forms_work(rank: Rank, scale: int) -> None:
    n, me = rank.ranks, rank.rank
    counts = [((r * 2 + 1) % (n + 1)) * scale for r in range(n)]
    counts[n // 2] = 0
    places = list(np.concatenate([[2], 2 + np.cumsum(np.array(counts) + 1)[:-1]]).astype(int))
    extent = places[-1] + counts[-1] + 3
    for dtype in ("int8", "int16", "int32", "fp16", "fp32", "bfp16"):
        code, kind = DTYPES[dtype]
        # gather
        pieces = [data(dtype, counts[r], 200 + r) for r in range(n)]
        start = data(dtype, extent, 9)
        expected = start.copy()
        for r in range(n):
            expected[places[r] : places[r] + counts[r]] = pieces[r]
        send = rank.put(pieces[me]) if counts[me] else None
        recv = rank.put(start)
        rank.call(
            "HcclAllGatherV", send, counts[me], recv, u64(*counts), u64(*map(int, places)), code
        )
        rank.sync()
        check(rank, rank.get(recv, extent, kind), expected, f"AllGatherV {dtype}")
        # reduce and scatter
        arrays = [data(dtype, extent, 300 + r) for r in range(n)]
        parts = [array[places[me] : places[me] + counts[me]] for array in arrays]
        for op in ("sum", "max", "min"):
            total = in_order(op, parts)
            send, recv = rank.put(arrays[me]), rank.put(np.zeros(max(counts[me], 1), kind))
            rank.call(
                "HcclReduceScatterV",
                send,
                u64(*counts),
                u64(*map(int, places)),
                recv,
                counts[me],
                code,
                OPS[op],
            )
            rank.sync()
            check(rank, rank.get(recv, counts[me], kind), total, f"ReduceScatterV {op} {dtype}")
        rank.free()


@pytest.mark.parametrize("scale", [5, 9_001])
def test_all_gather_v_and_reduce_scatter_v(ranks: Any, scale: int) -> None:
    ranks.run(v_forms_work, scale)


def ring_work(rank: Rank) -> None:
    n, me = rank.ranks, rank.rank
    for dtype in MOVES:
        code, kind = DTYPES[dtype]
        for count in [1, 9, 200_001] if dtype == "fp32" else [9]:
            mine, left = data(dtype, count, 400 + me), data(dtype, count, 400 + (me - 1) % n)
            send, recv = rank.put(mine), rank.put(np.zeros(count, kind))
            # even ranks send first: no order of this kind can block
            steps = [("HcclSend", send, (me + 1) % n), ("HcclRecv", recv, (me - 1) % n)]
            for routine, buffer, peer in steps if me % 2 == 0 else reversed(steps):
                rank.call(routine, buffer, count, code, peer)
            rank.sync()
            check(rank, rank.get(recv, count, kind), left, f"Send/Recv {dtype} x {count}")
            rank.free()


def test_send_and_recv_around_a_ring(ranks: Any) -> None:
    if ranks.ranks == 3 or ranks.ranks % 2 == 0:
        ranks.run(ring_work)


def batch_work(rank: Rank) -> None:
    """Everyone to everyone, itself included, two messages per pair, sends before receives."""
    n, me = rank.ranks, rank.rank
    sizes = lambda s, d, i: 1 + 10 * s + 3 * d + (70_000 if i else 0)  # noqa: E731
    items, expected = [], []
    for d in range(n):
        for i in range(2):
            array = data("fp32", sizes(me, d, i), 1000 * me + 10 * d + i)
            items.append((0, rank.put(array), array.size, d))
    for s in range(n):
        for i in range(2):
            array = data("fp32", sizes(s, me, i), 1000 * s + 10 * me + i)
            buffer = rank.put(np.zeros(array.size, np.float32))
            items.append((1, buffer, array.size, s))
            expected.append((buffer, array))
    raw = (Item * len(items))(
        *[Item(kind, buf.value, count, 4, peer) for kind, buf, count, peer in items]
    )
    for _ in range(2):
        rank.call("HcclBatchSendRecv", raw, len(items))
    rank.sync()
    for buffer, array in expected:
        check(rank, rank.get(buffer, array.size, np.float32), array, "BatchSendRecv")


def test_batch_send_recv(ranks: Any) -> None:
    ranks.run(batch_work)


def many_calls_work(rank: Rank) -> None:
    """Hundreds of calls without a synchronize between: their steps follow each other directly."""
    total, count = 0, 16
    buf = rank.put(np.full(count, 1, np.int64))
    scratch = rank.put(np.zeros(count * rank.ranks, np.int64))
    for i in range(300):
        rank.call("HcclBroadcast", buf, count, CODES["int64"], i % rank.ranks)
        rank.call("HcclAllGather", buf, scratch, count, CODES["int64"])
        if i % 50 == 0:
            rank.call("HcclAllReduce", buf, buf, count, CODES["int64"], 0)
            total += 1
        rank.call("HcclBarrier")
    rank.sync()
    assert (rank.get(buf, count, np.int64) == rank.ranks**total).all()
    assert (rank.get(scratch, count * rank.ranks, np.int64) == rank.ranks**total).all()


def test_many_calls_in_a_row(ranks: Any) -> None:
    ranks.run(many_calls_work)


def staged_rounding_work(rank: Rank) -> None:
    """2048 + 1 + 1 in fp16: rounding after each rank gives 2048; one rounding at the end 2050."""
    values = [2048, 1, 1, 1]
    for kind in (np.float16, ml_dtypes.bfloat16):
        big = values[rank.rank] if kind is np.float16 else [256, 1, 1, 1][rank.rank]
        buf = rank.put(np.full(3, big, kind))
        rank.call("HcclAllReduce", buf, buf, 3, CODES[np.dtype(kind).name], 0)
        rank.sync()
        assert (rank.get(buf, 3, kind).astype(float) == (2048 if kind is np.float16 else 256)).all()


@pytest.mark.parametrize("mode", ["process", "thread"])
def test_every_partial_sum_is_rounded(mode: str) -> None:
    job(4, mode).run(staged_rounding_work)


def special_values_work(rank: Rank) -> None:
    for kind in (np.float16, np.float32, ml_dtypes.bfloat16):
        tables = [
            np.array([np.inf, -np.inf, np.nan, 1, -0.0, 60000], np.float64).astype(kind),
            np.array([1, np.inf, 2, np.nan, 0.0, 60000], np.float64).astype(kind),
        ]
        for op in OPS:
            if op == "prod" and kind is ml_dtypes.bfloat16:
                continue
            buf = rank.put(tables[rank.rank])
            rank.call("HcclAllReduce", buf, buf, 6, CODES[np.dtype(kind).name], OPS[op])
            rank.sync()
            result = rank.get(buf, 6, kind).astype(np.float64)
            a, b = (t.astype(np.float64) for t in tables)
            with np.errstate(all="ignore"):
                wide = {
                    "sum": a + b,
                    "prod": a * b,
                    "max": np.maximum(a, b),
                    "min": np.minimum(a, b),
                }[op]
                np.testing.assert_array_equal(result, wide.astype(kind).astype(np.float64))
            rank.free()


@pytest.mark.parametrize("mode", ["process", "thread"])
def test_infinities_and_nans(mode: str) -> None:
    job(2, mode).run(special_values_work)
