# SPDX-License-Identifier: Apache-2.0
"""Attention whose cache holds one short vector for each token instead of keys and values.

A key is the product of that vector with a matrix of the head. The query is multiplied by this
matrix instead, so that keys are never computed; values are treated in the same way.
"""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np
from config import Config, Latent
from layers import Norm, Step, last_rows
from linear import Array, Linear

import aclnn_py as ap
from aclnn_py import functional as F

MOST_TOKENS = 16
"""New tokens of a sequence beside latent keys.

The document of aclnnFusedInferAttentionScoreV3 says it under queryRope: heads of 512 elements take
1 to 16 tokens, several of them with sparse mode 3 and a mask, and keys in pages of 16 or 128.
"""


class LatentAttention:
    """Heads of queries over one latent key of each token, and its rotated part."""

    def __init__(
        self,
        config: Config,
        latent: Latent,
        products: dict[str, Linear],
        norms: dict[str, Norm],
        by_head: tuple[ap.Tensor, ap.Tensor],
        angles: ap.Tensor,
        mask: ap.Tensor,
        pages: tuple[ap.Tensor, ap.Tensor],
    ) -> None:
        self._config, self._latent = config, latent
        self._products, self._norms = products, norms
        self._to_latent, self._to_value = by_head
        self._angles, self._mask = angles, mask
        self._kept, self._rotated = pages

    def __call__(self, x: ap.Tensor, step: Step, *, last: bool = False) -> ap.Tensor:
        latent, heads, tokens = self._latent, self._config.heads, x.shape[0]
        first = self._products["first"](x)
        split = first.shape[1] - latent.kept - latent.rotated
        query, kept, shared = (
            first[:, :split],
            first[:, split : split + latent.kept],
            first[:, split + latent.kept :],
        )
        if latent.query:
            query = self._products["query"](self._norms["query"](query))
        plain, turning = query[:, : heads * latent.plain], query[:, heads * latent.plain :]
        turned, key = F.rope_with_sin_cos_cache(
            step.positions, turning, shared, self._angles, latent.rotated
        )
        F.scatter_pa_kv_cache(
            self._norms["kept"](kept).reshape(tokens, 1, latent.kept),
            key.reshape(tokens, 1, latent.rotated),
            self._kept,
            self._rotated,
            step.slots,
        )
        if last:
            plain, turned, tokens = last_rows(plain, step), last_rows(turned, step), step.rows
        by_head = plain.reshape(tokens, heads, latent.plain).permute(1, 0, 2)
        query = F.permute_copy(F.bmm(by_head, self._to_latent), (1, 0, 2))
        seen = self._attend(query, turned.reshape(tokens, heads, latent.rotated), step)
        values = F.bmm(seen.permute(1, 0, 2), self._to_value)
        return self._products["output"](F.permute_copy(values, (1, 0, 2)).reshape(tokens, -1))

    def _attend(self, query: ap.Tensor, turned: ap.Tensor, step: Step) -> ap.Tensor:
        """Attention of (tokens, heads, kept); a chunk is several sequences of a few tokens."""
        tokens, heads, width = query.shape
        each = tokens // step.rows
        few = gcd(each, MOST_TOKENS)
        table, lengths = step.table, step.lengths
        if each > few:
            # Each sequence sees the tokens of those before it too.
            table = F.repeat_interleave(table, each // few, dim=0)
            lengths = [length - n for length in step.lengths for n in range(each - few, -1, -few)]
        pages, page_size = self._kept.shape[:2]
        kept = self._kept.reshape(pages, page_size, width)
        out, _ = F.fused_infer_attention_score(
            query.reshape(tokens // few, few, heads, width),
            kept,
            kept,
            query_rope=turned.reshape(tokens // few, few, heads, -1),
            key_rope=self._rotated.reshape(pages, page_size, -1),
            atten_mask=self._mask if few > 1 else None,
            actual_seq_lengths_kv=lengths,
            block_table=table,
            num_heads=heads,
            num_key_value_heads=1,
            scale=self._config.scale,
            input_layout="BSND",
            sparse_mode=3 if few > 1 else 0,
            block_size=page_size,
        )
        return out.reshape(tokens, heads, width)


def halves(rows: int) -> Any:
    """The order of rows that puts the first of all neighbouring pairs in front."""
    return np.concatenate((np.arange(0, rows, 2), np.arange(1, rows, 2)))


def query_rows(weight: Array, heads: int, latent: Latent) -> Array:
    """Sort the rows of the query's matrix: parts without rotation of all heads, then the others."""
    parts = weight.reshape(heads, latent.plain + latent.rotated, -1)
    plain, turning = parts[:, : latent.plain], parts[:, latent.plain :]
    if latent.pairs:
        turning = turning[:, halves(latent.rotated)]
    return np.concatenate(
        (plain.reshape(-1, weight.shape[1]), turning.reshape(-1, weight.shape[1]))
    )


def key_rows(weight: Array, latent: Latent) -> Array:
    """Sort the rows of the key's matrix as those of the query: rotation turns halves."""
    if not latent.pairs:
        return weight
    return np.concatenate((weight[: latent.kept], weight[latent.kept :][halves(latent.rotated)]))
