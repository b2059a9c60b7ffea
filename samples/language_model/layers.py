# SPDX-License-Identifier: Apache-2.0
"""The parts of a layer: norms, attention over pages of a cache, the gated network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from config import Config
from linear import Linear

import aclnn_py as ap
from aclnn_py import functional as F

TRIANGLE = 2048
"""Side of the mask that hides later tokens; the operator takes this size for any length."""


@dataclass(frozen=True)
class Step:
    """What all layers need to know about the tokens of one pass.

    A pass has ``rows`` sequences with equally many new tokens each.
    """

    rows: int
    positions: ap.Tensor
    """int64 (tokens,): where each token stands in its sequence."""
    slots: ap.Tensor
    """int64 (tokens,): its place in the cache, counted over all pages; -1 writes nothing."""
    table: ap.Tensor
    """int32 (rows, pages): the pages of each sequence."""
    lengths: Sequence[int]
    """Tokens of each sequence, the new ones included."""


def last_rows(x: ap.Tensor, step: Step) -> ap.Tensor:
    """The row of the last token of each sequence."""
    each = x.shape[0] // step.rows
    return x[each - 1 :: each] if each > 1 else x


class Attention(Protocol):
    """Attention with its cache: normalised rows in, rows to add out."""

    def __call__(self, x: ap.Tensor, step: Step, *, last: bool = False) -> ap.Tensor:
        """Cache all tokens; with ``last``, give only the row of each sequence's last token."""


class Network(Protocol):
    """The part of a layer behind attention."""

    def __call__(self, x: ap.Tensor) -> ap.Tensor: ...


class Norm:
    """Division by the root mean square, also of a sum."""

    def __init__(self, weight: ap.Tensor, epsilon: float) -> None:
        self._weight = weight
        self._epsilon = epsilon

    def __call__(self, x: ap.Tensor) -> ap.Tensor:
        return F.rms_norm(x, self._weight.shape, self._weight, self._epsilon)

    def of_sum(self, x: ap.Tensor, added: ap.Tensor) -> tuple[ap.Tensor, ap.Tensor]:
        """The norm of x + added, and x + added."""
        out, _, summed = F.add_rms_norm(x, added, self._weight, self._epsilon)
        return out, summed


class PagedAttention:
    """Heads of queries, fewer heads of keys and values, and their pages."""

    def __init__(
        self,
        config: Config,
        qkv: Linear,
        output: Linear,
        norms: tuple[Norm, Norm] | None,
        angles: ap.Tensor,
        mask: ap.Tensor,
        pages: tuple[ap.Tensor, ap.Tensor],
    ) -> None:
        self._config = config
        self._qkv, self._output, self._norms = qkv, output, norms
        self._angles, self._mask = angles, mask
        self._keys, self._values = pages

    def __call__(self, x: ap.Tensor, step: Step, *, last: bool = False) -> ap.Tensor:
        config = self._config
        size, tokens = config.head_size, x.shape[0]
        ends = [config.heads * size, (config.heads + config.kv_heads) * size]
        qkv = self._qkv(x)
        query, key, value = qkv[:, : ends[0]], qkv[:, ends[0] : ends[1]], qkv[:, ends[1] :]
        if self._norms:
            query, key = (
                norm(part.reshape(tokens, -1, size)).reshape(tokens, -1)
                for norm, part in zip(self._norms, (query, key), strict=True)
            )
        query, key = F.rope_with_sin_cos_cache(step.positions, query, key, self._angles, size)
        F.scatter_pa_kv_cache(
            key.reshape(tokens, config.kv_heads, size),
            value.reshape(tokens, config.kv_heads, size),
            self._keys,
            self._values,
            step.slots,
        )
        return self._output(self._attend(last_rows(query, step) if last else query, step))

    def _attend(self, query: ap.Tensor, step: Step) -> ap.Tensor:
        config, tokens = self._config, query.shape[0]
        each = tokens // step.rows
        pages, page_size = self._keys.shape[:2]
        attended, _ = F.fused_infer_attention_score(
            query.reshape(step.rows, each, query.shape[1]),
            self._keys.reshape(pages, page_size, -1),
            self._values.reshape(pages, page_size, -1),
            atten_mask=self._mask if each > 1 else None,
            actual_seq_lengths_kv=step.lengths,
            block_table=step.table,
            num_heads=config.heads,
            num_key_value_heads=config.kv_heads,
            scale=config.scale,
            sparse_mode=3 if each > 1 else 0,
            block_size=page_size,
        )
        return attended.reshape(tokens, -1)


class Gated:
    """Two products of the rows, one of them through silu, and a product of theirs."""

    def __init__(self, gate_and_up: Linear, down: Linear) -> None:
        self._gate_and_up, self._down = gate_and_up, down

    def __call__(self, x: ap.Tensor) -> ap.Tensor:
        return self._down(F.swiglu(self._gate_and_up(x), dim=-1))


@dataclass(frozen=True)
class Layer:
    """One layer: attention and a network, each behind a norm, each added to what came in."""

    first_norm: Norm
    attention: Attention
    second_norm: Norm
    network: Network


def causal_mask() -> ap.Tensor:
    """True for the keys that a token does not see."""
    return ap.from_numpy(np.triu(np.ones((TRIANGLE, TRIANGLE), np.bool_), 1))


def angle_table(config: Config, dtype: Any) -> ap.Tensor:
    """Cosines and sines of all positions, on the device."""
    return ap.from_numpy(config.rope.table(config.context).astype(dtype))
