# SPDX-License-Identifier: Apache-2.0
"""The encoder on the device, in functions that allocate their results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from weights import Array, LayerWeights, Weights

import aclnn_py as ap
from aclnn_py import distributed
from aclnn_py import functional as F
from aclnn_py.distributed import Communicator

HIDDEN_SCORE = -30000.0
"""Added to the scores of places without a token: finite in float16, and nothing after exp."""


@dataclass(frozen=True)
class _Layer:
    """LayerWeights on the device; matrices have shape (out, in), as ``linear`` expects."""

    qkv: ap.Tensor
    qkv_bias: ap.Tensor
    attended: ap.Tensor
    attended_bias: ap.Tensor | None
    attended_norm: tuple[ap.Tensor, ap.Tensor]
    up: ap.Tensor
    up_bias: ap.Tensor
    down: ap.Tensor
    down_bias: ap.Tensor | None
    down_norm: tuple[ap.Tensor, ap.Tensor]


class Model:
    """The weights of one rank on its device, and the forward pass.

    With a communicator, the rows of the second matrices are divided among its ranks, and every rank
    calls ``forward`` with the same inputs.
    """

    def __init__(self, weights: Weights, dtype: Any, comm: Communicator | None = None) -> None:
        self.config = weights.config
        self.dtype = np.dtype(dtype)
        self._heads = weights.heads
        self._comm = comm
        self._words = self._put(weights.words)
        self._places = self._put(weights.places)
        self._norm = self._pair(weights.norm)
        self._layers = [self._layer(layer) for layer in weights.layers]

    def _put(self, array: Array) -> ap.Tensor:
        return ap.from_numpy(np.ascontiguousarray(array).astype(self.dtype, copy=False))

    def _matrix(self, array: Array) -> ap.Tensor:
        # The checkpoint's parts have shape (in, out), which a product reads fastest.
        return self._put(array).T

    def _pair(self, arrays: tuple[Array, Array]) -> tuple[ap.Tensor, ap.Tensor]:
        return self._put(arrays[0]), self._put(arrays[1])

    def _layer(self, layer: LayerWeights) -> _Layer:
        # The products of the ranks are summed, so only one rank adds the bias.
        first = self._comm is None or self._comm.rank == 0
        return _Layer(
            qkv=self._matrix(layer.qkv),
            qkv_bias=self._put(layer.qkv_bias),
            attended=self._matrix(layer.attended),
            attended_bias=self._put(layer.attended_bias) if first else None,
            attended_norm=self._pair(layer.attended_norm),
            up=self._matrix(layer.up),
            up_bias=self._put(layer.up_bias),
            down=self._matrix(layer.down),
            down_bias=self._put(layer.down_bias) if first else None,
            down_norm=self._pair(layer.down_norm),
        )

    def forward(self, tokens: ap.Tensor, mask: ap.Tensor) -> ap.Tensor:
        """Queue the whole model on the current stream.

        ``tokens`` int32 (rows, length); ``mask`` (rows, length) of the model's dtype, 1 where there
        is a token, which every row has. Returns unit vectors, float32 (rows, hidden).
        """
        rows, length = tokens.shape
        x = F.add(F.embedding(tokens, self._words), self._places[:length])
        x = self._normalise(x, self._norm).reshape(rows * length, self.config.hidden)
        hidden_scores = F.mul(F.sub(mask, 1.0), -HIDDEN_SCORE).reshape(rows, 1, 1, length)
        for layer in self._layers:
            attended = self._attend(layer, x, hidden_scores)
            product = self._product(attended, layer.attended, layer.attended_bias)
            x = self._normalise(F.add(product, x), layer.attended_norm)
            inner = F.gelu(F.linear(x, layer.up, layer.up_bias))
            product = self._product(inner, layer.down, layer.down_bias)
            x = self._normalise(F.add(product, x), layer.down_norm)
        return self._pool(x.reshape(rows, length, self.config.hidden), mask)

    def _normalise(self, x: ap.Tensor, norm: tuple[ap.Tensor, ap.Tensor]) -> ap.Tensor:
        return F.layer_norm(x, (self.config.hidden,), *norm, eps=self.config.epsilon)

    def _attend(self, layer: _Layer, x: ap.Tensor, hidden_scores: ap.Tensor) -> ap.Tensor:
        heads, size = self._heads, self.config.head_size
        rows, length = hidden_scores.shape[0], hidden_scores.shape[-1]
        # Heads are strided views: moving them to the front copies nothing.
        parts = F.linear(x, layer.qkv, layer.qkv_bias).reshape(rows, length, 3, heads, size)
        query, key, value = (parts[:, :, part].permute(0, 2, 1, 3) for part in range(3))
        scores = F.add(F.matmul(query, key.transpose(2, 3)), hidden_scores)
        attended = F.matmul(F.softmax(scores, dim=-1), value)
        return F.permute_copy(attended, (0, 2, 1, 3)).reshape(rows * length, heads * size)

    def _product(self, x: ap.Tensor, weight: ap.Tensor, bias: ap.Tensor | None) -> ap.Tensor:
        """x weight + bias, summed over the ranks."""
        if self._comm is None:
            return F.linear(x, weight, bias)
        if self.dtype != np.float32:
            return distributed.matmul_all_reduce(x, weight.T, self._comm, bias=bias)
        # Two steps: the fused operator takes only 16-bit numbers.
        product = F.linear(x, weight, bias)
        distributed.all_reduce(product, group=self._comm)
        return product

    def _pool(self, x: ap.Tensor, mask: ap.Tensor) -> ap.Tensor:
        """The mean over the tokens of a row, scaled to length 1 in float32."""
        rows, length, hidden = x.shape
        summed = F.bmm(mask.reshape(rows, 1, length), x).reshape(rows, hidden)
        mean = F.cast(F.div(summed, F.sum(mask, dim=1, keepdim=True)), np.float32)
        return F.div(mean, F.vector_norm(mean, dim=1, keepdim=True))
