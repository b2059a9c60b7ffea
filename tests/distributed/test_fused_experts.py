# SPDX-License-Identifier: Apache-2.0
"""Dispatch and combine against routing, exchange and sum in NumPy, bit for bit, in every mode."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.experts import Layer, combine, combined, dispatch, expanded, on_threads
from helpers.ranks import run_ranks, start_ranks

import aclnn_py as ap
from aclnn_py.distributed import Communicator
from aclnn_py.errors import AclnnError

BF16 = ml_dtypes.bfloat16
WIDTH = 64
A3 = {"ACLNN_PY_EMULATOR_SOC": "Ascend910_9391"}


def tokens(rank: int, count: int, dtype: Any = np.float16, width: int = WIDTH) -> np.ndarray:
    return np.random.default_rng(rank).standard_normal((count, width)).astype(dtype)


def choices(rank: int, count: int, each: int, experts: int) -> np.ndarray:
    """Experts of each token, none twice."""
    rng = np.random.default_rng(100 + rank)
    ids = [rng.permutation(experts)[:each] for _ in range(count)]
    return np.array(ids, np.int32).reshape(count, each)


def even(ranks: int, count: int = 5, each: int = 2, **more: Any) -> Layer:
    experts = more.pop("experts", ranks * 2)
    special = more.get("zero", 0) + more.get("copy", 0) + more.get("constant", 0)
    dtype, width = more.pop("dtype", np.float16), more.pop("width", WIDTH)
    return Layer(
        [tokens(r, count, dtype, width) for r in range(ranks)],
        [choices(r, count, each, experts + special) for r in range(ranks)],
        experts,
        **more,
    )


def uneven(ranks: int) -> Layer:
    """Other numbers of tokens on every rank; globalBs says the most."""
    counts = [1 + 3 * r % 5 for r in range(ranks)]
    return Layer(
        [tokens(r, n, BF16) for r, n in enumerate(counts)],
        [choices(r, n, 3, ranks * 2) for r, n in enumerate(counts)],
        ranks * 2,
    )


def one_expert(ranks: int) -> Layer:
    """All tokens go to one expert of the last rank: the other ranks get nothing."""
    ids = [np.full((3, 1), ranks * 2 - 1, np.int32)] * ranks
    return Layer([tokens(r, 3) for r in range(ranks)], ids, ranks * 2)


def masked(ranks: int) -> Layer:
    """Rank 0 sends nothing, the others fewer tokens each."""
    masks: list[np.ndarray | None] = [np.arange(5) < r for r in range(ranks)]
    return even(ranks, masks=masks)


def expert(rank: int, number: int, row: np.ndarray) -> np.ndarray:
    """What an expert makes of a row: exact in its dtype, and another thing for each."""
    return row * row.dtype.type(2.0 ** (rank % 3 - 1)) * row.dtype.type((-1) ** number)


def results_of(layer: Layer, comm: Communicator, rows: ap.Tensor, dtype: Any) -> ap.Tensor:
    """The experts of this rank applied to what dispatch gave it; nothing behind those rows."""
    host = rows.numpy()
    results = np.full(host.shape, np.nan, np.float32)
    at = 0
    for number, groups in enumerate(layer.received(comm.rank)):
        count = sum(map(len, groups))
        part = host[at : at + count].astype(dtype)
        results[at : at + count] = expert(comm.rank, number, part).astype(np.float32)
        at += count
    return ap.from_numpy(results.astype(dtype))


def check_round_trip(
    layer: Layer, comm: Communicator, version: int, *, special: bool = False
) -> None:
    """Dispatch, experts and combine of this rank against NumPy."""
    rank, dtype = comm.rank, layer.x[comm.rank].dtype
    sent = dispatch(layer, comm, version)
    rows, _, counts = expanded(layer, rank)
    got = sent["expand_x"].numpy()
    np.testing.assert_array_equal(got[: len(rows)].view(np.uint16), rows.view(np.uint16))
    np.testing.assert_array_equal(got[len(rows) :].astype(np.float32), 77)  # not written
    np.testing.assert_array_equal(sent["expert_token_nums"].numpy(), counts)
    results = results_of(layer, comm, sent["expand_x"], dtype)
    more = {"ori_x": ap.from_numpy(layer.x[rank])} if special else {}
    out = combine(layer, comm, sent, results, version, **more)
    expected = combined(layer, rank, expert, dtype=dtype)
    np.testing.assert_array_equal(out.numpy().view(np.uint16), expected.view(np.uint16))


def check_quantised(layer: Layer, comm: Communicator, version: int) -> None:
    table = layer.shared_slots + layer.experts
    width = layer.x[0].shape[1]
    factors = np.random.default_rng(3).random((table, width), np.float32) + np.float32(0.5)
    for given in (None, factors):
        sent = dispatch(layer, comm, version, quantise=True, factors=given, count_type=0)
        rows, scales, counts = expanded(layer, comm.rank, given, quantise=True)
        np.testing.assert_array_equal(sent["expand_x"].numpy()[: len(rows)], rows)
        np.testing.assert_array_equal(sent["dynamic_scales"].numpy()[: len(rows)], scales)
        np.testing.assert_array_equal(sent["expert_token_nums"].numpy(), np.cumsum(counts))


def check_norm(comm: Communicator) -> None:
    """The forms with a norm give what AddRmsNorm makes of the combined tokens."""
    layer = even(comm.world_size, dtype=BF16)
    shape = (5, 1, WIDTH)
    sent = dispatch(layer, comm, 2)
    results = results_of(layer, comm, sent["expand_x"], BF16)
    plain = combine(layer, comm, sent, results, 2)
    residual = ap.from_numpy(tokens(40 + comm.rank, 5, BF16).reshape(shape))
    gamma = ap.from_numpy(tokens(50, 1, BF16)[0])

    def outputs() -> dict[str, ap.Tensor]:
        return {
            "y_out": ap.full(shape, -7, BF16),
            "rstd_out": ap.full((5, 1, 1), -7, np.float32),
            "x_out": ap.full(shape, -7, BF16),
        }

    wanted = outputs()
    ap.ops.add_rms_norm(plain.reshape(shape), residual, gamma, 1e-6, *wanted.values())
    total = plain.numpy().reshape(shape).astype(np.float32)
    total += residual.numpy().astype(np.float32)
    np.testing.assert_array_equal(
        wanted["x_out"].numpy().astype(np.float32), total.astype(BF16).astype(np.float32)
    )
    for name, version in (("", 2), ("_v2", 3)):
        got = outputs()
        combine(
            layer, comm, sent, results, version,
            name="moe_distribute_combine_add_rms_norm" + name,
            residual_x=residual, gamma=gamma, norm_eps=1e-6, **got,
        )  # fmt: skip
        for key, tensor in got.items():
            np.testing.assert_array_equal(
                tensor.numpy().astype(np.float32), wanted[key].numpy().astype(np.float32)
            )


def check_function_with_norm(comm: Communicator) -> None:
    """`distributed` gives what its parts give."""
    layer, rank = even(comm.world_size, dtype=BF16), comm.rank
    x, ids = ap.from_numpy(layer.x[rank]), ap.from_numpy(layer.ids[rank])
    weights = ap.from_numpy(layer.weights[rank])
    sent = ap.distributed.moe_distribute_dispatch(x, ids, comm, moe_expert_num=layer.experts)
    way = {"moe_expert_num": layer.experts}
    plain = ap.distributed.moe_distribute_combine(sent.expand_x, ids, sent, weights, comm, **way)
    residual = ap.from_numpy(tokens(40 + rank, 5, BF16).reshape(5, 1, WIDTH))
    gamma = ap.from_numpy(tokens(50, 1, BF16)[0])
    got = ap.distributed.moe_distribute_combine_add_rms_norm(
        sent.expand_x, ids, sent, weights, residual, gamma, comm, norm_eps=1e-5, **way
    )
    wanted = [ap.empty((5, 1, WIDTH), "bfloat16"), ap.empty((5, 1, 1), "float32")]
    wanted.append(ap.empty((5, 1, WIDTH), "bfloat16"))
    ap.ops.add_rms_norm(plain.reshape(5, 1, WIDTH), residual, gamma, 1e-5, *wanted)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(
            one.numpy().astype(np.float32), other.numpy().astype(np.float32)
        )


def check_barriers(comm: Communicator) -> None:
    """They change nothing; that they wait is tested below."""
    ranks = comm.world_size
    x = ap.from_numpy(np.arange(6, dtype=np.int64))
    ap.ops.distribute_barrier(x, comm.name, ranks)
    limit = ap.from_numpy(np.array([100_000_000], np.int32))
    everyone = ap.from_numpy(np.array([0, ranks, 0, ranks, *[0, 1] * 2], np.int32))
    ap.ops.distribute_barrier_v2(x, limit, everyone if ranks == 2 else None, comm.name, ranks)
    np.testing.assert_array_equal(x.numpy(), np.arange(6))


def everything(comm: Communicator) -> None:
    """Every mode of a 910B, with one bring-up."""
    ranks = comm.world_size
    for version in (1, 2, 3, 4):
        check_round_trip(even(ranks), comm, version)
        check_round_trip(even(ranks, experts=ranks, dtype=BF16), comm, version)
        check_round_trip(uneven(ranks), comm, version)
        check_round_trip(one_expert(ranks), comm, version)
        check_quantised(even(ranks), comm, version)
        check_quantised(uneven(ranks), comm, version)
    for version in (2, 3, 4):
        check_round_trip(masked(ranks), comm, version)
    for version in (3, 4):
        check_round_trip(even(ranks, each=4, zero=2, copy=3), comm, version, special=True)
    check_norm(comm)
    check_function_with_norm(comm)
    check_barriers(comm)


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_every_mode_on_threads(run_threads: Any, ranks: int) -> None:
    run_threads(ranks, everything, timeout_s=300.0)


def _in_a_process(rank: int, ranks: int, port: int) -> None:
    os.environ.update(
        RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks),
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port),
    )  # fmt: skip
    with Communicator.from_env() as comm:
        everything(comm)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_every_mode_on_processes(ranks: int) -> None:
    run_ranks(ranks, _in_a_process, free_port(), timeout_s=300.0)


def test_quantised_rows_of_zeros_and_extremes(run_threads: Any) -> None:
    x = np.zeros((3, WIDTH), np.float16)
    x[1] = np.linspace(-65504, 65504, WIDTH)
    x[2, 5] = 6e-8
    layer = Layer([x, x], [np.array([[0], [1], [2]], np.int32)] * 2, 4)

    def work(comm: Communicator) -> None:
        check_quantised(layer, comm, 2)

    run_threads(2, work)


def test_strided_tokens_are_copied(run_threads: Any) -> None:
    layer = even(2)

    def work(comm: Communicator) -> None:
        spread = ap.from_numpy(np.repeat(layer.x[comm.rank], 2, axis=1))[:, ::2]
        ids = ap.from_numpy(np.repeat(layer.ids[comm.rank], 3, axis=0))[::3]
        sent = dispatch(layer, comm, 2, x=spread, expert_ids=ids)
        rows, _, _ = expanded(layer, comm.rank)
        np.testing.assert_array_equal(sent["expand_x"].numpy()[: len(rows)], rows)

    run_threads(2, work)


def test_weights_travel_with_the_tokens(run_threads: Any) -> None:
    layer = even(2)

    def work(comm: Communicator) -> None:
        weights = ap.from_numpy(layer.weights[comm.rank])
        sent = dispatch(layer, comm, 2, expert_scales=weights)
        sources = [s for e in layer.received(comm.rank) for group in e for s in group]
        expected = [layer.weights[rank][token, slot] for rank, token, slot in sources]
        got = sent["expand_scales"].numpy()[: len(expected)]
        np.testing.assert_array_equal(got, np.array(expected, np.float32))

    run_threads(2, work)


def test_times_are_added_for_every_rank(run_threads: Any) -> None:
    layer = even(2)

    def work(comm: Communicator) -> None:
        times = ap.from_numpy(np.array([1000, 2000], np.int64))
        if comm.rank == 1:
            time.sleep(0.5)
        sent = dispatch(layer, comm, 4, performance_info=times)
        first = times.numpy()
        results = results_of(layer, comm, sent["expand_x"], np.float16)
        combine(layer, comm, sent, results, 4, performance_info=times)
        assert first[comm.rank] == 1000 * (comm.rank + 1)  # nobody waits for itself
        assert (first >= [1000, 2000]).all()
        assert comm.rank == 1 or first[1] > 2000
        assert (times.numpy() >= first).all()

    run_threads(2, work)


# --- what a 910B has not: chips with tensor parallelism and shared experts


def wide(ranks: int, **more: Any) -> Layer:
    return even(ranks, count=3, width=1024, **more)


def _shared_experts(comm: Communicator) -> None:
    for layer in (
        wide(4, experts=4, shared=1, shared_ranks=2),
        wide(4, experts=4, shared=2, shared_ranks=2),
        wide(4, experts=6, shared=1, shared_ranks=1, masks=[np.arange(3) < 2] * 4),
    ):
        for version in (1, 2, 3, 4):
            if version == 1 and layer.masks[0] is not None:
                continue
            check_round_trip(layer, comm, version)
            check_quantised(layer, comm, version)


def _by_slot(comm: Communicator) -> None:
    masks: list[np.ndarray | None] = [
        np.random.default_rng(r).random((3, 2)) < 0.5 for r in range(4)
    ]
    check_round_trip(wide(4, masks=masks), comm, 2)
    check_round_trip(wide(4, experts=4, shared=1, shared_ranks=2, masks=masks), comm, 4)


def _constants(comm: Communicator) -> None:
    layer = wide(4, experts=4, zero=1, copy=1, constant=3)
    rank = comm.rank
    parts = tuple(tokens(60 + i, 3, width=1024) for i in range(3))
    sent = dispatch(layer, comm, 3)
    results = results_of(layer, comm, sent["expand_x"], np.float16)
    names = ("const_expert_alpha1", "const_expert_alpha2", "const_expert_v")
    given = {name: ap.from_numpy(part) for name, part in zip(names, parts, strict=True)}
    out = combine(
        layer, comm, sent, results, 3, ori_x=ap.from_numpy(layer.x[rank]), **given
    )  # fmt: skip
    constants = (parts[0], parts[1], parts[2])
    expected = combined(layer, rank, expert, dtype=np.float16, constants=constants)
    np.testing.assert_array_equal(out.numpy(), expected)


def _shared_tokens(comm: Communicator) -> None:
    layer = wide(4, dtype=BF16)
    sent = dispatch(layer, comm, 2)
    results = results_of(layer, comm, sent["expand_x"], BF16)
    shared = tokens(70 + comm.rank, 3, BF16, 1024)
    expected = combined(layer, comm.rank, expert, dtype=BF16, shared_x=shared)
    for shape in ((3, 1024), (3, 1, 1024)):
        given = ap.from_numpy(shared.reshape(shape))
        out = combine(layer, comm, sent, results, 2, shared_expert_x=given)
        np.testing.assert_array_equal(out.numpy().view(np.uint16), expected.view(np.uint16))


def _eight_bits(comm: Communicator) -> None:
    layer = wide(4)
    sent = dispatch(layer, comm, 2)
    results = results_of(layer, comm, sent["expand_x"], np.float16)
    out = combine(layer, comm, sent, results, 2, comm_quant_mode=2)
    expected = combined(layer, comm.rank, expert, dtype=np.float16, eight_bits=True)
    np.testing.assert_array_equal(out.numpy(), expected)


def _tensor_parallel(comm: Communicator, tp: Communicator) -> None:
    layers = [
        Layer(
            [tokens(10 * t + r, 3, width=1024) for r in range(2)],
            [choices(10 * t + r, 3, 1, 2) for r in range(2)],
            2,
        )
        for t in range(2)
    ]
    layer, rank = layers[tp.rank], comm.rank
    for quantise in (False, True):
        sent = dispatch(layer, comm, 2, tp=tp, quantise=quantise)
        parts = [expanded(each, rank, quantise=quantise) for each in layers]
        rows = np.concatenate([part[0] for part in parts])
        np.testing.assert_array_equal(sent["expand_x"].numpy()[: len(rows)], rows)
        if quantise:
            scales = np.concatenate([part[1] for part in parts])
            np.testing.assert_array_equal(sent["dynamic_scales"].numpy()[: len(rows)], scales)
        counts = [len(part[0]) for part in parts]
        np.testing.assert_array_equal(sent["tp_recv_counts"].numpy(), counts)
        np.testing.assert_array_equal(sent["expert_token_nums"].numpy(), [len(rows)])
    sent = dispatch(layer, comm, 2, tp=tp)
    rows = sent["expand_x"].numpy()
    share = rows * np.float16(0.5 if tp.rank else 0.25)  # each has a part of the expert
    out = combine(layer, comm, sent, ap.from_numpy(share), 2)

    def both(rank: int, number: int, row: np.ndarray) -> np.ndarray:
        halves = (row * np.float16(0.25)).astype(np.float32), row * np.float16(0.5)
        return (halves[0] + halves[1].astype(np.float32)).astype(np.float16)

    np.testing.assert_array_equal(out.numpy(), combined(layer, rank, both, dtype=np.float16))


CASES: list[Callable[..., None]] = [
    _shared_experts, _by_slot, _constants, _shared_tokens, _eight_bits
]  # fmt: skip


def _another_chip(rank: int, ranks: int) -> None:
    comms = Communicator.init_all(4)
    for case in CASES:
        on_threads([[comm] for comm in comms], case)
    for comm in comms:
        comm.close()
    first, second = Communicator.init_all([0, 1]), Communicator.init_all([2, 3])
    left, right = Communicator.init_all([0, 2]), Communicator.init_all([1, 3])
    pairs = [
        [first[0], left[0]], [first[1], right[0]], [second[0], left[1]], [second[1], right[1]]
    ]  # fmt: skip
    on_threads(pairs, _tensor_parallel)
    for comm in (*first, *second, *left, *right):
        comm.close()


@pytest.mark.emulator_only(reason="the emulator can be any chip")
def test_modes_of_an_a3() -> None:
    run_ranks(1, _another_chip, env=A3, timeout_s=300.0)


# --- the ranks wait for each other


def test_a_barrier_holds_until_all_ranks_have_come(run_threads: Any) -> None:
    def work(comm: Communicator) -> list[float]:
        times = []
        for _ in range(3):
            if comm.rank == 1:
                time.sleep(0.3)
            times.append(time.monotonic())
            ap.distributed.distribute_barrier(ap.zeros((2,), np.float32), comm)
            comm.device.synchronize()
            times.append(time.monotonic())
        return times

    first, second = run_threads(2, work)
    for one, other in ((first, second), (second, first)):
        for ended, others_began in zip(one[1::2], other[::2], strict=True):
            assert ended >= others_began


def test_a_barrier_leaves_its_tensor_alone_and_knows_a_limit(run_threads: Any) -> None:
    def work(comm: Communicator) -> None:
        x = ap.from_numpy(np.arange(6, dtype=np.int64))
        limit = ap.from_numpy(np.array([100_000_000], np.int32))
        everyone = ap.from_numpy(np.array([0, 2, 0, 2, 0, 1, 0, 1], np.int32))
        ap.ops.distribute_barrier_v2(x, limit, everyone, comm.name, 2)
        np.testing.assert_array_equal(x.numpy(), np.arange(6))

    run_threads(2, work)


def test_a_barrier_names_who_did_not_come_in_time(run_threads: Any) -> None:
    def work(comm: Communicator) -> str:
        if comm.rank == 1:
            time.sleep(1.5)
        x = ap.zeros((1,), np.float32)
        with pytest.raises(ap.errors.AclnnPyError) as caught:
            ap.distributed.distribute_barrier(x, comm, time_out=300_000)
            comm.device.synchronize()
        return str(caught.value)

    assert "0.3 s" in run_threads(2, work)[0]


@pytest.mark.parametrize(
    ("change", "status"),
    [({"world_size": 3}, 561002), ({"world_size": 1}, 561002), ({"group": "nobody"}, 361001)],
    ids=str,
)
def test_wrong_barriers_are_refused(change: dict[str, Any], status: int) -> None:
    comms = Communicator.init_all(2)
    try:
        with comms[0].device:
            values = {"group": comms[0].name, "world_size": 2, **change}
            with pytest.raises(AclnnError) as caught:
                ap.ops.distribute_barrier(ap.zeros((1,), np.float32), **values)
            assert caught.value.status == status
    finally:
        for comm in comms:
            comm.close()


# --- what goes wrong


def refused(layer: Layer, comm: Communicator, version: int, **change: Any) -> AclnnError:
    with pytest.raises(AclnnError) as caught:
        dispatch(layer, comm, version, **change)
    return caught.value


@pytest.mark.parametrize(
    ("change", "status", "word"),
    [
        ({"ep_world_size": 4, "global_bs": 0}, 561002, "epWorldSize"),
        ({"ep_world_size": 9}, 561002, "epWorldSize"),
        ({"ep_rank_id": 2}, 561002, "epRankId"),
        ({"moe_expert_num": 5}, 561002, "moeExpertNum"),
        ({"moe_expert_num": 0}, 561002, "moeExpertNum"),
        ({"tp_world_size": 2}, 561002, "tpWorldSize"),
        ({"shared_expert_rank_num": 1}, 561002, "sharedExpertRankNum"),
        ({"expert_shard_type": 1}, 561002, "expertShardType"),
        ({"quant_mode": 1, "expand_x_out": ("int8", 20, 64)}, 561002, "quantMode"),
        ({"global_bs": 11}, 561002, "globalBs"),
        ({"global_bs": 2}, 561002, "globalBs"),
        ({"expert_token_nums_type": 2}, 561002, "expertTokenNumsType"),
        ({"comm_alg": "ring"}, 561002, "commAlg"),
        ({"comm_alg": "hierarchy"}, 561002, "epWorldSize"),
        ({"zero_expert_num": -1}, 561002, "zeroExpertNum"),
        ({"const_expert_num": 1}, 561002, "constExpertNum"),
        ({"group_ep": "nobody"}, 361001, "nobody"),
        ({"elastic_info": ("int32", 8)}, 561002, "elasticInfo"),
        ({"x_active_mask": ("bool", 5, 2)}, 561002, "xActiveMask"),
        ({"x": ("float32", 5, 64)}, 161002, "x"),
        ({"x": ("float16", 5, 63)}, 561002, "values"),
        ({"expert_ids": ("int32", 4, 2)}, 561002, "expertIds"),
        ({"expert_ids": ("int64", 5, 2)}, 161002, "expertIds"),
        ({"expand_x_out": ("float16", 3, 64)}, 561002, "expandXOut"),
        ({"expand_x_out": ("int8", 20, 64)}, 161002, "expandXOut"),
        ({"assist_info_for_combine_out": ("int32", 20)}, 561002, "assistInfoForCombineOut"),
        ({"ep_recv_counts_out": ("int32", 3)}, 561002, "epRecvCountsOut"),
        ({"scales": ("float32", 4, 64)}, 561002, "scalesOptional"),
    ],
    ids=str,
)
def test_wrong_calls_are_refused(change: dict[str, Any], status: int, word: str) -> None:
    comms = Communicator.init_all(2)
    try:
        with comms[0].device:
            made = {
                key: ap.zeros(value[1:], value[0]) if isinstance(value, tuple) else value
                for key, value in change.items()
            }
            error = refused(even(2), comms[0], 3, **made)
            assert error.status == status
            assert word in str(error)
    finally:
        for comm in comms:
            comm.close()


def test_an_expert_that_does_not_exist_ends_the_call(run_threads: Any) -> None:
    layer = even(2)
    layer.ids[1][3, 1] = 4

    def work(comm: Communicator) -> str:
        with pytest.raises(ap.errors.AclError) as caught:
            dispatch(layer, comm, 2)["expand_x"].numpy()
        return str(caught.value)

    for text in run_threads(2, work):
        assert "expertIds names expert 4 for token 3; there are 4" in text


def test_counts_that_dispatch_did_not_give_end_the_call(run_threads: Any) -> None:
    layer = even(2)

    def work(comm: Communicator) -> str:
        sent = dispatch(layer, comm, 2)
        ends = ap.from_numpy(np.array([1, 9999, 9999, 9999], np.int32))
        with pytest.raises(ap.errors.AclError) as caught:
            combine(layer, comm, sent, sent["expand_x"], 2, ep_send_counts=ends).numpy()
        return str(caught.value)

    for text in run_threads(2, work):
        assert "epSendCounts" in text


KILLED = """
import os, signal
from helpers.experts import dispatch
from test_fused_experts import check_round_trip, even
from aclnn_py.distributed import Communicator

comm = Communicator.from_env(timeout_s=60)
check_round_trip(even(3), comm, 2)
if comm.rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
try:
    dispatch(even(3), comm, 2)["expand_x"].numpy()
except Exception as error:
    print("rank 1" in str(error))
"""


def test_a_killed_rank_is_named(tmp_path: Path) -> None:
    here = str(Path(__file__).parent)
    script = f"import sys; sys.path.insert(0, {here!r})" + KILLED
    first, killed, third = start_ranks(tmp_path, 3, script)
    assert killed[0] == -signal.SIGKILL
    assert first == third == (0, "True")
