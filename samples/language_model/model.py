# SPDX-License-Identifier: Apache-2.0
"""The whole model on the device: tokens in, logits out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from building import Builder
from layers import Layer, Step, last_rows

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
            attended = layer.attention(normed, step, last=following is None)
            if following is None:
                # Nothing reads what the last layer makes of the tokens before the last one.
                x = last_rows(x, step)
            normed, x = layer.second_norm.of_sum(x, attended)
            added = layer.network(normed)
            if following is not None:
                normed, x = following.of_sum(x, added)
        normed, _ = self._norm.of_sum(x, added)
        ops.cast(self._head(normed), np.float32, logits)
