# SPDX-License-Identifier: Apache-2.0
"""A model over several ranks: the part of each, the sums over all, and calls that all repeat.

Attention is divided by heads and every network by its inner features. The first products of each
have the rows of a rank, the last ones the columns, and their results add up to the whole. Each rank
has the cache of its heads. Embeddings, norms, gates and the head are whole. A rank has either some
experts whole, and tokens go to them, or a part of every expert, divided like other networks.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.connection import Client, Listener

import numpy as np
from config import Config
from layers import Network
from linear import Array, Linear, put
from weights import Source

import aclnn_py as ap
from aclnn_py import distributed
from aclnn_py.distributed import Communicator

ROWS = ("q_proj", "k_proj", "v_proj", "q_b_proj", "kv_b_proj", "gate_proj", "up_proj", "w1", "w3")
COLUMNS = ("o_proj", "down_proj", "w2")
EXPERTS = ("whole", "divided")
"""What a rank may have of the experts."""
END, PREFILL, DECODE = range(3)
KEY_NBYTES = 32


def local_config(config: Config, ranks: int, *, whole_experts: bool) -> Config:
    """The sizes of one rank's part. The number of experts is that of all ranks."""
    sizes = {
        "num_attention_heads": config.heads,
        "num_key_value_heads": ranks if config.latent else config.kv_heads,
        "intermediate_size": config.inner,
    }
    experts = config.experts
    if experts and whole_experts:
        if experts.count % ranks:
            raise ValueError(
                f"experts: {experts.count} do not divide into {ranks} ranks; the option "
                '"divided" gives each rank a part of every expert'
            )
    elif experts:
        sizes["moe_intermediate_size"] = experts.inner
        inner, shared = experts.inner // ranks, experts.shared // ranks
        experts = replace(experts, inner=inner, shared=shared)
    for name, size in sizes.items():
        if size % ranks:
            raise ValueError(f"ranks: {name} is {size}, which does not divide into {ranks}")
    return replace(
        config,
        heads=config.heads // ranks,
        kv_heads=config.kv_heads if config.latent else config.kv_heads // ranks,
        inner=config.inner // ranks,
        experts=experts,
    )


class Part:
    """A checkpoint as one rank sees it: arrays have the shapes of ``local_config``."""

    def __init__(self, checkpoint: Source, rank: int, ranks: int, *, whole_experts: bool) -> None:
        self._checkpoint, self._rank, self._ranks = checkpoint, rank, ranks
        self._whole_experts = whole_experts

    def __contains__(self, name: str) -> bool:
        return name in self._checkpoint

    def array(self, name: str, shape: Sequence[int]) -> Array:
        """This rank's part of an array; ``shape`` is that of the part."""
        product, kind = name.split(".")[-2:]
        if self._whole_experts and "experts." in name:
            return self._checkpoint.array(name, shape)
        if product in ROWS:
            whole = self._checkpoint.array(name, (shape[0] * self._ranks, *shape[1:]))
            return whole[self._rank * shape[0] : (self._rank + 1) * shape[0]]
        if product not in COLUMNS:
            return self._checkpoint.array(name, shape)
        if kind == "bias":  # counted once in the sum
            whole = self._checkpoint.array(name, shape)
            return whole if self._rank == 0 else np.zeros_like(whole)
        whole = self._checkpoint.array(name, (shape[0], shape[1] * self._ranks))
        return whole[:, self._rank * shape[1] : (self._rank + 1) * shape[1]]


class FusedSum:
    """A product in the dtype of the model, summed over the ranks by the same operator."""

    def __init__(
        self, weight: Array, bias: Array | None, dtype: np.dtype, comm: Communicator
    ) -> None:
        self._weight = put(weight.T, dtype)
        self._bias = None if bias is None else put(bias, dtype)
        self._comm = comm

    def __call__(self, x: ap.Tensor) -> ap.Tensor:
        return distributed.matmul_all_reduce(x, self._weight, self._comm, bias=self._bias)


class Sum:
    """A quantised product, or a layer of experts, summed over the ranks."""

    def __init__(self, part: Linear | Network, comm: Communicator) -> None:
        self._part, self._comm = part, comm

    def __call__(self, x: ap.Tensor) -> ap.Tensor:
        result = self._part(x)
        distributed.all_reduce(result, group=self._comm)
        return result


class Calls:
    """What rank 0 was asked to do, told to the others before it is done.

    They hear it from sockets: a collective would give up while the service has nothing to do.
    """

    def __init__(self, comm: Communicator) -> None:
        self.leads = comm.rank == 0
        where = os.environ.get("MASTER_ADDR", "127.0.0.1")
        # The port, and a key that only the ranks know.
        shared = ap.zeros((1 + KEY_NBYTES,), np.int64)
        if not self.leads:
            distributed.broadcast(shared, 0, comm)
            port, *key = shared.numpy().tolist()
            self._others = [Client((where, port), authkey=bytes(key))]
            return
        key = secrets.token_bytes(KEY_NBYTES)
        with Listener((where, 0), backlog=comm.world_size, authkey=key) as listener:
            shared.copy_from(np.array([listener.address[1], *key]))
            distributed.broadcast(shared, 0, comm)
            self._others = [listener.accept() for _ in range(comm.world_size - 1)]

    def tell(self, kind: int, *lists: Sequence[int]) -> None:
        """Tell the others a call: its kind and lists of numbers."""
        words = [kind, len(lists)]
        for numbers in lists:
            words += [len(numbers), *numbers]
        data = np.array(words, np.int64).tobytes()
        for other in self._others:
            try:
                other.send_bytes(data)
            except OSError as error:
                raise ConnectionError(f"a rank of the model has ended: {error}") from error

    def hear(self) -> tuple[int, list[list[int]]]:
        """Wait for the next call of rank 0."""
        try:
            data = self._others[0].recv_bytes()
        except (EOFError, OSError) as error:
            raise ConnectionError(f"rank 0 has ended: {error}") from error
        kind, count, *words = np.frombuffer(data, np.int64).tolist()
        lists, at = [], 0
        for _ in range(count):
            end = at + 1 + words[at]
            lists.append(words[at + 1 : end])
            at = end
        return kind, lists

    def close(self) -> None:
        for other in self._others:
            other.close()
        self._others.clear()
