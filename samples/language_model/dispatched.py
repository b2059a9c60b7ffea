# SPDX-License-Identifier: Apache-2.0
"""Whole experts on several ranks: tokens go to the ranks of their experts and come back.

Attention leaves all tokens on every rank. Each rank takes an equal share of them, chooses their
experts, sends them there, and gets the weighted sums back. Then all ranks gather the shares.
"""

from __future__ import annotations

import numpy as np
from experts import Gate, GatedExperts
from layers import Network

import aclnn_py as ap
from aclnn_py import distributed
from aclnn_py import functional as F
from aclnn_py.distributed import Communicator

MOST = 256
"""Tokens that the operators take from each rank at once."""


class DispatchedExperts:
    """A gate, the experts of this rank, and the network that every token passes.

    The experts that a gate chooses are numbers of the whole model. ``shared`` is whole on every
    rank, which computes it for its share of the tokens.
    """

    def __init__(
        self, gate: Gate, experts: GatedExperts, shared: Network | None, comm: Communicator
    ) -> None:
        self._gate, self._experts, self._shared, self._comm = gate, experts, shared, comm
        # Any number of true values in front of false ones is a part of it.
        self._active = ap.from_numpy(np.arange(2 * MOST) < MOST)

    def __call__(self, x: ap.Tensor) -> ap.Tensor:
        most = MOST * self._comm.world_size
        parts = [self._some(x[start : start + most]) for start in range(0, x.shape[0], most)]
        return parts[0] if len(parts) == 1 else F.cat(parts)

    def _some(self, x: ap.Tensor) -> ap.Tensor:
        tokens, width = x.shape
        ranks = self._comm.world_size
        each = -(-tokens // ranks)
        everything = ap.empty((ranks * each, width), x.dtype)
        distributed.all_gather_into_tensor(everything, self._share(x, each), self._comm)
        return everything[:tokens]

    def _share(self, x: ap.Tensor, each: int) -> ap.Tensor:
        """What the experts make of this rank's ``each`` tokens; zeros behind the last one."""
        start = self._comm.rank * each
        count = min(max(x.shape[0] - start, 0), each)
        mine = x[start : start + count] if count else x[:each]
        if 0 < count < each:
            mine = F.cat([mine, x[: each - count]])
        # The operators must get a token of every rank. The mask keeps these others here.
        active = self._active[MOST - count : MOST - count + each]
        number = self._gate.experts.count
        weights, chosen = self._gate(mine)
        sent = distributed.moe_distribute_dispatch(
            mine, chosen, self._comm, moe_expert_num=number, x_active_mask=active
        )
        out = distributed.moe_distribute_combine(
            self._experts(sent.expand_x, sent.expert_token_nums),
            chosen,
            sent,
            weights,
            self._comm,
            moe_expert_num=number,
            x_active_mask=active,
        )
        return out if self._shared is None else F.add(out, self._shared(mine))
