# SPDX-License-Identifier: Apache-2.0
"""The whole model on the device: tokens in, logits out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from building import Builder
from layers import Layer, Step

import aclnn_py as ap
from aclnn_py import functional as F
from aclnn_py import ops


class Model:
    """The weights, the cache of every layer, and the forward pass."""

    def __init__(self, builder: Builder, words: ap.Tensor, layers: Iterable[Layer]) -> None:
        self.config = builder.config
        self._words, self._layers = words, list(layers)
        self._norm = builder.last_norm()
        self._head = builder.head()

    def forward(self, tokens: ap.Tensor, step: Step, logits: ap.Tensor) -> None:
        """Queue a pass, which writes float32 logits (rows, vocabulary) of each last token."""
        x = F.embedding(tokens, self._words)
        first, *others = self._layers
        normed = first.first_norm(x)
        for layer, following in zip(
            self._layers, [*(other.first_norm for other in others), None], strict=True
        ):
            normed, x = layer.second_norm.of_sum(x, layer.attention(normed, step))
            added = layer.network(normed)
            if following is not None:
                normed, x = following.of_sum(x, added)
        each = tokens.shape[0] // step.rows
        if each > 1:
            x, added = x[each - 1 :: each], added[each - 1 :: each]
        normed, _ = self._norm.of_sum(x, added)
        ops.cast(self._head(normed), np.float32, logits)
