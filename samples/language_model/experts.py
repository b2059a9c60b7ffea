# SPDX-License-Identifier: Apache-2.0
"""Layers of experts: each token passes a few of many gated networks."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from config import Experts
from layers import Network
from linear import Array

import aclnn_py as ap
from aclnn_py import functional as F
from aclnn_py import ops


class Grouped(Protocol):
    """Products of the rows of each expert with its matrix; ``counts`` says how many rows."""

    def __call__(self, x: ap.Tensor, counts: ap.Tensor) -> ap.Tensor: ...


class PlainGrouped:
    """Matrices in the dtype of the model, one (out, in) for each expert."""

    def __init__(self, weights: list[Array], dtype: np.dtype) -> None:
        count, (out, features) = len(weights), weights[0].shape
        # Turned to (in, out), as a product of few rows reads it fastest.
        self._weights = ap.empty((count, features, out), dtype)
        for number, weight in enumerate(weights):
            turned = np.ascontiguousarray(weight.T.astype(dtype, copy=False))
            self._weights[number].copy_from(turned)

    def __call__(self, x: ap.Tensor, counts: ap.Tensor) -> ap.Tensor:
        return F.gmm_v2(x, self._weights, group_list=counts)


class RoutedExperts:
    """A gate, the networks it chooses, and the network that every token passes."""

    def __init__(
        self,
        experts: Experts,
        gate: tuple[ap.Tensor, ap.Tensor | None],
        gate_and_up: Grouped,
        down: Grouped,
        shared: Network | None,
    ) -> None:
        self._experts = experts
        self._gate, self._correction = gate
        self._gate_and_up, self._down, self._shared = gate_and_up, down, shared

    def __call__(self, x: ap.Tensor) -> ap.Tensor:
        experts, rows = self._experts, x.shape[0] * self._experts.chosen
        weights, chosen = self._choose(x)
        routed, origin = ap.empty((rows, x.shape[1]), x.dtype), ap.empty((rows,), np.int32)
        counts = ap.empty((experts.count,), np.int64)
        ops.moe_init_routing_v3(
            *(x, chosen, None, None, rows, 0, experts.count, 0, 1, True, -1, [0, experts.count], 0),
            *(routed, origin, counts, ap.empty((rows,), np.float32)),
        )
        results = self._down(F.swiglu(self._gate_and_up(routed, counts), dim=-1), counts)
        out = ap.empty(x.shape, x.dtype)
        added = self._shared(x) if self._shared else None
        ops.moe_finalize_routing_v2(
            *(results, origin, added, None, None, F.cast(weights, x.dtype), chosen, 2, out)
        )
        return out

    def _choose(self, x: ap.Tensor) -> tuple[ap.Tensor, ap.Tensor]:
        """Weights, float32, and numbers of the experts of each token."""
        experts = self._experts
        # float32, so that rounding chooses no other expert.
        scores = F.matmul(F.cast(x, np.float32), self._gate)
        shape = (x.shape[0], experts.chosen)
        weights, chosen = ap.empty(shape, np.float32), ap.empty(shape, np.int32)
        kinds = int(experts.sigmoid), int(experts.normalise), int(experts.sigmoid)
        ops.moe_gating_top_k(
            *(scores, self._correction, experts.chosen, experts.groups_chosen, experts.groups),
            *(*kinds, False, experts.scale, 1e-20),
            *(weights, chosen, ap.empty(scores.shape, np.float32)),
        )
        return weights, chosen
