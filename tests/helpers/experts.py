# SPDX-License-Identifier: Apache-2.0
"""Experts spread over ranks, in NumPy: what dispatch gives and what combine makes of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import aclnn_py as ap
from aclnn_py.distributed import Communicator

Source = tuple[int, int, int]  # rank, token, slot


@dataclass
class Layer:
    """One layer's experts and the tokens of every rank of the expert-parallel group."""

    x: list[np.ndarray]
    ids: list[np.ndarray]
    experts: int
    weights: list[np.ndarray] = field(default_factory=list)
    masks: list[np.ndarray | None] = field(default_factory=list)
    shared: int = 0
    shared_ranks: int = 0
    zero: int = 0
    copy: int = 0
    constant: int = 0

    def __post_init__(self) -> None:
        rng = np.random.default_rng(5)
        self.weights = self.weights or [
            rng.random(i.shape, np.float32) + np.float32(0.25) for i in self.ids
        ]
        self.masks = self.masks or [None] * self.ranks

    @property
    def ranks(self) -> int:
        return len(self.x)

    @property
    def most_tokens(self) -> int:
        return max(len(x) for x in self.x)

    @property
    def local(self) -> int:
        return self.experts // (self.ranks - self.shared_ranks)

    @property
    def shared_slots(self) -> int:
        return self.shared if self.shared_ranks else 0

    def here(self, rank: int) -> int:
        return 1 if rank < self.shared_ranks else self.local

    def rows(self, rank: int) -> int:
        """Rows of expandX (A)."""
        if rank >= self.shared_ranks:
            return self.most_tokens * self.ranks * min(self.local, self.ids[0].shape[1])
        copies = self.shared_ranks // self.shared
        return self.most_tokens * -(-self.ranks // copies)

    def active(self, rank: int) -> np.ndarray:
        """Which (token, k) take part."""
        mask = self.masks[rank]
        shape = self.ids[rank].shape
        if mask is None:
            return np.ones(shape, bool)
        return np.broadcast_to(mask[:, None] if mask.ndim == 1 else mask, shape)

    def received(self, rank: int) -> list[list[list[Source]]]:
        """The sources of the rows of a rank, by expert and by the rank they come from."""
        found: list[list[list[Source]]] = [
            [[] for _ in range(self.ranks)] for _ in range(self.here(rank))
        ]
        copies = self.shared_ranks // self.shared if self.shared_ranks else 1
        for source in range(self.ranks):
            active = self.active(source)
            for token, ids in enumerate(self.ids[source]):
                for s in range(self.shared_slots):
                    if active[token].any() and s * copies + source % copies == rank:
                        found[0][source].append((source, token, s))
                for k, expert in enumerate(ids):
                    if not active[token, k] or expert >= self.experts:
                        continue
                    home = self.shared_ranks + int(expert) // self.local
                    if home == rank:
                        row = (source, token, self.shared_slots + k)
                        found[int(expert) % self.local][source].append(row)
        return found

    def factor_row(self, source: Source) -> int:
        """The row of the table of quantisation factors that belongs to a source."""
        rank, token, slot = source
        if slot < self.shared_slots:
            return slot
        return self.shared_slots + int(self.ids[rank][token, slot - self.shared_slots])


def quantised(values: np.ndarray) -> tuple[np.ndarray, np.float32]:
    """One token as int8 with its scale, as the document of dispatch has it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.float32(127) / np.abs(values).max()
        scaled = np.nan_to_num(np.rint(values * factor))
        return scaled.clip(-128, 127).astype(np.int8), np.float32(1) / factor


def expanded(
    layer: Layer, rank: int, factors: np.ndarray | None = None, quantise: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, scales and counts by expert of a rank."""
    rows, scales = [], []
    received = layer.received(rank)
    for sources in (source for expert in received for group in expert for source in [*group]):
        row = layer.x[sources[0]][sources[1]]
        if quantise:
            values = row.astype(np.float32)
            if factors is not None:
                values = values * factors[layer.factor_row(sources)]
            row, scale = quantised(values)
            scales.append(scale)
        rows.append(row)
    counts = [sum(map(len, expert)) for expert in received]
    width = layer.x[0].shape[1]
    dtype = np.int8 if quantise else layer.x[0].dtype
    return (
        np.array(rows, dtype).reshape(-1, width),
        np.array(scales, np.float32),
        np.array(counts, np.int64),
    )


def combined(
    layer: Layer,
    rank: int,
    results: Callable[[int, int, np.ndarray], np.ndarray],
    *,
    dtype: Any,
    shared_x: np.ndarray | None = None,
    constants: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    eight_bits: bool = False,
) -> np.ndarray:
    """The tokens of a rank: float32 sums in the order shared experts, experts; rounded once.

    ``results(rank, expert, row)`` is what an expert makes of a row, in the dtype that travels.
    """
    copies = layer.shared_ranks // layer.shared if layer.shared_ranks else 1
    total = np.zeros(layer.x[rank].shape, np.float32)
    active = layer.active(rank)

    def back(home: int, expert: int, row: np.ndarray) -> np.ndarray:
        result = results(home, expert, row).astype(np.float32)
        if not eight_bits:
            return result
        values, scale = quantised(result)
        return values.astype(np.float32) * scale

    for token, row in enumerate(layer.x[rank]):
        if shared_x is not None:
            total[token] += shared_x.reshape(total.shape)[token].astype(np.float32)
        for s in range(layer.shared_slots):
            if active[token].any():
                total[token] += back(s * copies + rank % copies, 0, row)
        for k, chosen in enumerate(layer.ids[rank][token]):
            expert, weight = int(chosen), layer.weights[rank][token, k]
            if not active[token, k]:
                continue
            if expert < layer.experts:
                home = layer.shared_ranks + expert // layer.local
                total[token] += weight * back(home, expert % layer.local, row)
            elif expert >= layer.experts + layer.zero + layer.copy:
                assert constants is not None
                which = expert - layer.experts - layer.zero - layer.copy
                alpha, beta, value = (part[which].astype(np.float32) for part in constants)
                total[token] += weight * (row.astype(np.float32) * alpha + beta * value)
            elif expert >= layer.experts + layer.zero:
                total[token] += weight * row.astype(np.float32)
    return total.astype(dtype)


def call(name: str, values: dict[str, Any]) -> None:
    """Call an operator with the values that have the names of its parameters."""
    op = getattr(ap.ops, name)
    op(*[values[parameter.name] for parameter in op.parameters])


def dispatch(
    layer: Layer,
    comm: Communicator,
    version: int = 2,
    *,
    factors: np.ndarray | None = None,
    quantise: bool = False,
    count_type: int = 1,
    tp: Communicator | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Dispatch the tokens of this rank; tensors and attributes by name, also for `combine`."""
    rank, parts = comm.rank, tp.world_size if tp else 1
    rows = layer.rows(rank) * parts
    mask = layer.masks[rank]
    x = ap.from_numpy(layer.x[rank])
    tokens, each = layer.ids[rank].shape
    first = version == 1
    values: dict[str, Any] = {
        "x": x,
        "expert_ids": ap.from_numpy(layer.ids[rank]),
        "scales": None if factors is None else ap.from_numpy(factors),
        "x_active_mask": None if mask is None else ap.from_numpy(mask),
        "expert_scales": None if tp or not first else ap.from_numpy(layer.weights[rank]),
        "elastic_info": None,
        "performance_info": None,
        "group_ep": comm.name,
        "ep_world_size": layer.ranks,
        "ep_rank_id": rank,
        "moe_expert_num": layer.experts,
        "group_tp": tp.name if tp else "",
        "tp_world_size": parts if tp else 0,
        "tp_rank_id": tp.rank if tp else 0,
        "expert_shard_type": 0,
        "shared_expert_num": layer.shared,
        "shared_expert_rank_num": layer.shared_ranks,
        "quant_mode": 2 if quantise else 0,
        "global_bs": layer.most_tokens * layer.ranks,
        "expert_token_nums_type": count_type,
        "comm_alg": "",
        "zero_expert_num": layer.zero,
        "copy_expert_num": layer.copy,
        "const_expert_num": layer.constant,
    }
    outputs = {
        "expand_x": ap.full((rows, x.shape[1]), 77, np.int8 if quantise else x.dtype_name),
        "dynamic_scales": ap.full((rows,), -7, np.float32),
        "assist": ap.full((tokens * each if first else rows // parts * 128,), -1, np.int32),
        "expert_token_nums": ap.full((layer.here(rank),), -1, np.int64),
        "ep_recv_counts": ap.full((layer.ranks * parts * layer.here(rank),), -1, np.int32),
        "tp_recv_counts": ap.full((parts,), -1, np.int32),
        "expand_scales": ap.full((rows // parts,), -7, np.float32),
    }
    outputs["expand_idx"] = outputs["assist_info_for_combine"] = outputs["assist"]
    values |= outputs | {f"{name}_out": tensor for name, tensor in outputs.items()} | more
    call("moe_distribute_dispatch" + ("" if first else f"_v{version}"), values)
    return values


def combine(
    layer: Layer,
    comm: Communicator,
    sent: dict[str, Any],
    results: ap.Tensor,
    version: int = 2,
    *,
    name: str = "",
    **more: Any,
) -> ap.Tensor:
    """Bring the results of this rank's experts back; ``sent`` is what `dispatch` returned."""
    first = version == 1
    rank = comm.rank
    out = ap.full(layer.x[rank].shape, -7, results.dtype_name)
    empty = dict.fromkeys(
        ("activation_scale", "weight_scale", "group_list", "shared_expert_x", "elastic_info",
         "ori_x", "const_expert_alpha1", "const_expert_alpha2", "const_expert_v",
         "performance_info", "expand_scales")
    )  # fmt: skip
    has_tp = sent["tp_world_size"] == 2
    values = {**sent, **empty} | {
        "expand_x": results,
        "expert_scales": ap.from_numpy(layer.weights[rank]),
        "ep_send_counts": sent["ep_recv_counts"],
        "tp_send_counts": sent["tp_recv_counts"] if has_tp else None,
        "out_dtype": 0,
        "comm_quant_mode": 0,
        "group_list_type": 0,
        "x": out,
        "x_out": out,
        **more,
    }
    call(name or "moe_distribute_combine" + ("" if first else f"_v{version}"), values)
    return out


def on_threads(
    members: Sequence[Sequence[Communicator]],
    work: Callable[..., Any],
    timeout_s: float = 240.0,
) -> list[Any]:
    """Call ``work(*communicators)`` on a thread per device; the first has the device."""
    results: dict[int, Any] = {}
    failures: dict[int, BaseException] = {}

    def enter(index: int) -> None:
        comms = members[index]
        try:
            with comms[0].device, comms[0].device.create_stream():
                results[index] = work(*comms)
        except BaseException as error:
            failures[index] = error

    threads = [
        threading.Thread(target=enter, args=(i,), name=f"device {i}", daemon=True)
        for i in range(len(members))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout_s)
        assert not thread.is_alive(), f"{thread.name} did not end within {timeout_s} s"
    for index in sorted(failures):
        raise AssertionError(f"[device {index}] {failures[index]}") from failures[index]
    return [results[index] for index in range(len(members))]
