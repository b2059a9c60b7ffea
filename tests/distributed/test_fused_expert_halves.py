# SPDX-License-Identifier: Apache-2.0
"""Dispatch and combine in halves, bit for bit against the whole operators and against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import NAME
from helpers.experts import Layer, call, combine, combined, dispatch, expanded, on_threads
from helpers.jobs import on_processes
from helpers.ranks import run_ranks, start_ranks

import aclnn_py as ap
from aclnn_py.distributed import Communicator
from aclnn_py.errors import AclError, AclnnError

pytestmark = pytest.mark.emulator_only(reason="the emulator can be any chip")

BF16 = np.dtype(ml_dtypes.bfloat16)
EXPERTS, WIDTH, EACH = 32, 4096, 6
MESSAGE_BYTES = 6144  # of a row of combine, as the document counts it
ON_A_950 = {"ACLNN_PY_EMULATOR_SOC": NAME}


def layer_of(counts: list[int], ids: str = "any", dtype: Any = np.float16, **more: Any) -> Layer:
    """Tokens of every rank; ``ids`` "few" chooses the first experts alone."""
    x, chosen = [], []
    for rank, count in enumerate(counts):
        rng = np.random.default_rng(rank)
        x.append(rng.integers(-8, 9, (count, WIDTH)).astype(np.float32).astype(dtype))
        most = EACH if ids == "few" else EXPERTS
        rows = [rng.permutation(most)[:EACH] for _ in range(count)]
        chosen.append(np.array(rows, np.int32).reshape(count, EACH))
    return Layer(x, chosen, EXPERTS, **more)


def layers(ranks: int) -> list[Layer]:
    """Even splits, other numbers of tokens on the ranks, ranks without a row, masked tokens."""
    masks: list[np.ndarray | None] = [np.arange(8) < 3 * rank for rank in range(ranks)]
    return [
        layer_of([8] * ranks),
        layer_of([8 if rank % 2 else 16 for rank in range(ranks)], dtype=BF16),
        layer_of([8] * ranks, "few"),
        layer_of([8] * ranks, masks=masks),
    ]


def result(rank: int, expert: int, row: np.ndarray) -> np.ndarray:
    return row * row.dtype.type(2.0 ** (rank % 3 - 1)) * row.dtype.type((-1) ** expert)


def attributes(layer: Layer, comm: Communicator) -> dict[str, Any]:
    return {
        "group_ep": comm.name, "ep_world_size": layer.ranks, "ep_rank_id": comm.rank,
        "moe_expert_num": EXPERTS, "expert_shard_type": 0, "expert_shared_type": 0,
        "shared_expert_num": 0, "shared_expert_rank_num": 0, "quant_mode": 0,
        "comm_quant_mode": 0, "global_bs": layer.most_tokens * layer.ranks, "comm_type": 2,
        "comm_alg": "", "expert_token_nums_type": 1, "scales": None,
    }  # fmt: skip


def arguments(layer: Layer, comm: Communicator) -> dict[str, Any]:
    """Everything that the four operators take, by the names of their parameters."""
    rank, dtype = comm.rank, layer.x[comm.rank].dtype
    count, rows, mask = len(layer.x[rank]), layer.rows(rank), layer.masks[rank]
    commands = ap.full(((count * EACH + layer.ranks * layer.local) * 16,), 5, np.int32)
    assist = ap.full((rows * 128,), 5, np.int32)
    y, places = ap.full((count * EACH, WIDTH), 77, dtype), ap.full((count * EACH,), 5, np.int32)
    return attributes(layer, comm) | {
        "x": ap.from_numpy(layer.x[rank]),
        "expert_ids": ap.from_numpy(layer.ids[rank]),
        "x_active_mask": None if mask is None else ap.from_numpy(mask),
        "y": y, "y_out": y, "expand_idx": places, "expand_idx_out": places,
        "comm_cmd_info": commands, "comm_cmd_info_out": commands,
        "expand_x_out": ap.full((rows, WIDTH), 77, dtype),
        "dynamic_scales_out": ap.full((rows,), -7, np.float32),
        "assist_info_for_combine": assist, "assist_info_for_combine_out": assist,
        "expert_token_nums_out": ap.full((layer.local,), -1, np.int64),
    }  # fmt: skip


def send(layer: Layer, comm: Communicator, **more: Any) -> dict[str, Any]:
    values = arguments(layer, comm) | more
    call("moe_distribute_dispatch_setup", values)
    call("moe_distribute_dispatch_teardown", values)
    return values


def bring_back(
    layer: Layer, comm: Communicator, values: dict[str, Any], rows: ap.Tensor, **more: Any
) -> ap.Tensor:
    rank, quantised = comm.rank, ap.full((rows.shape[0], MESSAGE_BYTES), 3, np.int8)
    commands = ap.full(((rows.shape[0] + layer.ranks) * 16,), 5, np.int32)
    out = ap.full(layer.x[rank].shape, -7, rows.dtype_name)
    values = values | {
        "expand_x": rows, "quant_expand_x": quantised, "quant_expand_x_out": quantised,
        "comm_cmd_info": commands, "comm_cmd_info_out": commands, "x_out": out,
        "expert_scales": ap.from_numpy(layer.weights[rank]), "shared_expert_x": None,
    } | more  # fmt: skip
    call("moe_distribute_combine_setup", values)
    call("moe_distribute_combine_teardown", values)
    return out


def same(got: ap.Tensor, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(got.numpy().view(np.uint16), expected.view(np.uint16))


def check(layer: Layer, comm: Communicator) -> None:
    rank, dtype = comm.rank, layer.x[comm.rank].dtype
    values = send(layer, comm)
    whole = dispatch(layer, comm, 2)
    rows, _, counts = expanded(layer, rank)
    same(values["expand_x_out"][: len(rows)], rows)
    same(values["expand_x_out"], whole["expand_x"].numpy())
    np.testing.assert_array_equal(values["expert_token_nums_out"].numpy(), counts)
    words = (values["assist_info_for_combine"], whole["assist"])
    got, wanted = (tensor.numpy().reshape(-1, 128)[: len(rows), :3] for tensor in words)
    np.testing.assert_array_equal(got, wanted)
    results, at = np.full((layer.rows(rank), WIDTH), np.nan, np.float32), 0
    for expert, groups in enumerate(layer.received(rank)):
        end = at + sum(map(len, groups))
        results[at:end] = result(rank, expert, rows[at:end]).astype(np.float32)
        at = end
    made = ap.from_numpy(results.astype(dtype))
    out = bring_back(layer, comm, values, made)
    same(out, combine(layer, comm, whole, made, 2).numpy())
    same(out, combined(layer, rank, result, dtype=dtype))
    shared = layer.x[rank][::-1].copy()
    out = bring_back(layer, comm, values, made, shared_expert_x=ap.from_numpy(shared))
    same(out, combined(layer, rank, result, dtype=dtype, shared_x=shared))


def check_functions(comm: Communicator) -> None:
    """`distributed` gives what the whole operators give."""
    layer, rank = layer_of([8] * comm.world_size), comm.rank
    x, ids = ap.from_numpy(layer.x[rank]), ap.from_numpy(layer.ids[rank])
    weights = ap.from_numpy(layer.weights[rank])
    way = {"group_ep": comm, "moe_expert_num": EXPERTS}
    d = ap.distributed
    sent = d.moe_distribute_dispatch_setup(x, ids, **way)
    got = d.moe_distribute_dispatch_teardown(x, ids, sent, **way)
    whole = dispatch(layer, comm, 2)
    rows, _, counts = expanded(layer, rank)
    same(got.expand_x[: len(rows)], rows)
    np.testing.assert_array_equal(got.expert_token_nums.numpy(), counts)
    setup = d.moe_distribute_combine_setup(got.expand_x, ids, got, **way)
    out = d.moe_distribute_combine_teardown(got.expand_x, ids, sent, setup, weights, **way)
    same(out, combine(layer, comm, whole, got.expand_x, 2).numpy())
    with pytest.raises(TypeError, match="setup: expected the result of"):
        d.moe_distribute_dispatch_teardown(x, ids, got, **way)


def check_rows_on_their_way(comm: Communicator) -> None:
    """What setup gives: rows sorted by expert, and the place of each among those of its expert."""
    layer = layer_of([8, 8])
    values = arguments(layer, comm)
    call("moe_distribute_dispatch_setup", values)
    chosen = layer.ids[comm.rank].reshape(-1)
    order = np.argsort(chosen, kind="stable")
    same(values["y"], layer.x[comm.rank][order // EACH])
    places = [int((chosen[:i] == expert).sum()) for i, expert in enumerate(chosen)]
    np.testing.assert_array_equal(values["expand_idx"].numpy(), places)
    call("moe_distribute_dispatch_teardown", values)


def check_strided(comm: Communicator) -> None:
    layer = layer_of([8, 8])
    x, ids = layer.x[comm.rank], layer.ids[comm.rank]
    spread = ap.from_numpy(np.repeat(x, 2, axis=1))[:, ::2]
    values = send(layer, comm, x=spread, expert_ids=ap.from_numpy(np.repeat(ids, 3, 0))[::3])
    rows = expanded(layer, comm.rank)[0]
    same(values["expand_x_out"][: len(rows)], rows)


def refusals(comm: Communicator) -> None:
    layer = layer_of([8, 8])
    base = arguments(layer, comm) | {
        "expand_x": ap.zeros((96, WIDTH), np.float16), "x_out": ap.zeros((8, WIDTH), np.float16),
        "quant_expand_x": ap.zeros((96, MESSAGE_BYTES), np.int8), "shared_expert_x": None,
        "expert_scales": ap.from_numpy(layer.weights[comm.rank]),
    }  # fmt: skip
    back = {"comm_cmd_info": ap.zeros((1568,), np.int32)}
    base["quant_expand_x_out"] = base["quant_expand_x"]
    setup, teardown = "moe_distribute_dispatch_setup", "moe_distribute_dispatch_teardown"
    first, last = "moe_distribute_combine_setup", "moe_distribute_combine_teardown"
    half = np.float16
    for name, change, status, word in (
        (setup, {"ep_world_size": 4}, 561002, "epWorldSize"),
        (setup, {"ep_rank_id": 2}, 561002, "epRankId"),
        (setup, {"moe_expert_num": 16}, 561002, "moeExpertNum"),
        (setup, {"shared_expert_num": 1}, 561002, "sharedExpertNum"),
        (setup, {"quant_mode": 4}, 561002, "quantMode"),
        (setup, {"comm_type": 0}, 561002, "commType"),
        (setup, {"comm_alg": "ring"}, 561002, "commAlg"),
        (setup, {"group_ep": "nobody"}, 361001, "nobody"),
        (setup, {"group_ep": ""}, 561002, "groupEp"),
        (setup, {"x": ap.zeros((8, 1024), half)}, 561002, "x has rows"),
        (setup, {"expert_ids": ap.zeros((9, 6), np.int32)}, 561002, "expertIds"),
        (setup, {"y_out": ap.zeros((48, WIDTH), np.int8)}, 161002, "yOut"),
        (setup, {"y_out": ap.zeros((47, WIDTH), half)}, 561002, "yOut"),
        (setup, {"comm_cmd_info_out": ap.zeros((16,), np.int32)}, 561002, "commCmdInfoOut"),
        (teardown, {"expert_token_nums_type": 0}, 561002, "expertTokenNumsType"),
        (teardown, {"expand_x_out": ap.zeros((95, WIDTH), half)}, 561002, "expandXOut"),
        (teardown, {"comm_cmd_info": None}, 161001, "commCmdInfo"),
        (first, {"expert_shared_type": 1}, 561002, "expertSharedType"),
        (first, {"quant_expand_x_out": ap.zeros((96, 64), np.int8)}, 561002, "quantExpandXOut"),
        (first, {"comm_quant_mode": 2}, 561002, "commQuantMode"),
        (last, {"expand_idx": ap.zeros((47,), np.int32)}, 561002, "expandIdx"),
        (last, {"comm_cmd_info": ap.zeros((1280,), np.int32)}, 561002, "commCmdInfo"),
        (last, back | {"shared_expert_x": ap.zeros((7, WIDTH), half)}, 561002, "sharedExpertX"),
    ):
        with pytest.raises(AclnnError, match=word) as caught:
            call(name, base | change)
        assert caught.value.status == status, (name, change)


def check_foreign_commands(comm: Communicator) -> None:
    values = arguments(layer_of([8, 8]), comm)
    with pytest.raises(AclError, match=r"commCmdInfo is not what \w+DispatchSetup wrote"):
        call("moe_distribute_dispatch_teardown", values)
        comm.device.synchronize()


def check_foreign_rows(comm: Communicator) -> None:
    layer = layer_of([8, 8])
    values = arguments(layer, comm)  # rows that no dispatch gave: all of them of rank 5
    with pytest.raises(AclError, match="assistInfoForCombine gives row 0 to rank 5"):
        bring_back(layer, comm, values, ap.zeros((96, WIDTH), np.float16))
        comm.device.synchronize()


def every_layer(comm: Communicator) -> None:
    for layer in layers(comm.world_size):
        check(layer, comm)


def other_layers(comm: Communicator) -> None:
    """Other numbers of tokens on the ranks, and masked tokens."""
    for layer in layers(comm.world_size)[1::2]:
        check(layer, comm)


def _threads(rank: int, ranks: int) -> None:
    for count, cases in (
        (2, [every_layer, check_functions, check_rows_on_their_way, check_strided, refusals]),
        (2, [check_foreign_commands]),
        (2, [check_foreign_rows]),
        (8, [other_layers]),
    ):
        comms = Communicator.init_all(count)
        for case in cases:
            on_threads([[comm] for comm in comms], case)
        for comm in comms:
            comm.close()


def test_halves_are_the_whole_on_threads() -> None:
    run_ranks(1, _threads, env=ON_A_950, timeout_s=300.0)


def sampled_layers(comm: Communicator) -> None:
    for layer in layers(comm.world_size)[1 if comm.world_size == 2 else 2 : 3]:
        check(layer, comm)


def test_halves_are_the_whole_on_processes(tmp_path: Path) -> None:
    on_processes(sampled_layers, (2, 8), tmp_path, ON_A_950)  # the numbers that a 950 takes


KILLED = """
import os, signal
from test_fused_expert_halves import arguments, call, check, layer_of
from aclnn_py.distributed import Communicator

comm = Communicator.from_env(timeout_s=60)
layer = layer_of([8, 8])
check(layer, comm)
values = arguments(layer, comm)
call("moe_distribute_dispatch_setup", values)
comm.device.synchronize()  # a setup waits for nobody
if comm.rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
try:
    call("moe_distribute_dispatch_teardown", values)
    comm.device.synchronize()
except Exception as error:
    print("rank 1" in str(error))
"""


def test_a_killed_rank_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACLNN_PY_EMULATOR_SOC", NAME)
    here = str(Path(__file__).parent)
    script = f"import sys; sys.path.insert(0, {here!r})" + KILLED
    first, killed = start_ranks(tmp_path, 2, script)
    assert killed[0] < 0
    assert first == (0, "True")


def test_another_chip_has_no_halves(device: ap.Device) -> None:
    (comm,) = Communicator.init_all(1)
    with comm, comm.device, pytest.raises(AclnnError, match="950") as caught:
        call("moe_distribute_dispatch_setup", arguments(layer_of([8]), comm))
    assert caught.value.status == 561003
