# SPDX-License-Identifier: Apache-2.0
"""Layers of experts: each token passes a few of many gated networks."""

from __future__ import annotations

from collections.abc import Sequence
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

    def __init__(self, weights: Sequence[Array], dtype: np.dtype) -> None:
        count, (out, features) = len(weights), weights[0].shape
        # Turned to (in, out), as a product of few rows reads it fastest.
        self._weights = ap.empty((count, features, out), dtype)
        for number, weight in enumerate(weights):
            turned = np.ascontiguousarray(weight.T.astype(dtype, copy=False))
            self._weights[number].copy_from(turned)

    def __call__(self, x: ap.Tensor, counts: ap.Tensor) -> ap.Tensor:
        return F.gmm_v2(x, self._weights, group_list=counts)


class Gate:
    """Chooses the experts of each token, and their weights."""

    def __init__(self, experts: Experts, weight: ap.Tensor, correction: ap.Tensor | None) -> None:
        self.experts = experts
        self._weight, self._correction = weight, correction

    def __call__(self, x: ap.Tensor) -> tuple[ap.Tensor, ap.Tensor]:
        """Weights, float32, and numbers of the experts of each token, both (tokens, chosen)."""
        experts = self.experts
        # float32, so that rounding chooses no other expert.
        scores = F.matmul(F.cast(x, np.float32), self._weight)
        if experts.normalise and not experts.sigmoid:
            # The softmax of the chosen scores is that of all, divided by the sum of the chosen.
            shape = (x.shape[0], experts.chosen)
            weights, chosen = ap.empty(shape, np.float32), ap.empty(shape, np.int32)
            ops.moe_gating_top_k_softmax_v2(
                scores, None, experts.chosen, 1, False, weights, chosen, None
            )
            return weights, chosen
        weights, chosen, _ = F.moe_gating_top_k(
            scores,
            experts.chosen,
            bias=self._correction,
            k_group=experts.groups_chosen,
            group_count=experts.groups,
            group_select_mode=int(experts.sigmoid),
            norm_type=int(experts.sigmoid),
            routed_scaling_factor=experts.scale,
        )
        return weights, chosen


class GatedExperts:
    """The networks of several experts; the rows of an expert lie together."""

    def __init__(self, gate_and_up: Grouped, down: Grouped) -> None:
        self._gate_and_up, self._down = gate_and_up, down

    def __call__(self, x: ap.Tensor, counts: ap.Tensor) -> ap.Tensor:
        return self._down(F.swiglu(self._gate_and_up(x, counts), dim=-1), counts)


class RoutedExperts:
    """A gate, the experts it chooses, and the network that every token passes."""

    def __init__(self, gate: Gate, experts: GatedExperts, shared: Network | None) -> None:
        self._gate, self._experts, self._shared = gate, experts, shared

    def __call__(self, x: ap.Tensor) -> ap.Tensor:
        weights, chosen = self._gate(x)
        routed, origin, counts, _ = F.moe_init_routing(x, chosen, self._gate.experts.count)
        return F.moe_finalize_routing(
            self._experts(routed, counts),
            origin,
            x1=self._shared(x) if self._shared else None,
            scales=F.cast(weights, x.dtype),
            drop_pad_mode=2,
        )
