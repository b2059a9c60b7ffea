# SPDX-License-Identifier: Apache-2.0
"""The encoder on the device: a list of operator calls, whether captured or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from weights import Array, LayerWeights, Weights

import aclnn_py as ap
from aclnn_py import distributed, ops
from aclnn_py.distributed import Communicator

HIDDEN_SCORE = -30000.0
"""Added to the scores of places without a token: finite in float16, and nothing after exp."""
KEEP = 0
"""cube_math_type: products in the precision of their inputs."""


class Scratch:
    """Memory for results that the next layer, the next request and the next graph overwrite.

    The memory of a captured graph belongs to it as long as it lives. All graphs work in this one,
    one after the other on one stream, so it has to hold the largest of them and not their sum.
    """

    def __init__(self, dtype: Any) -> None:
        self._dtype = dtype
        self._areas: dict[str, ap.Tensor] = {}

    def reserve(self, sizes: dict[str, int], wide: dict[str, int]) -> None:
        """Make room, in elements, by the names of the results; ``wide`` ones are float32."""
        self._areas = {name: ap.empty((size,), self._dtype) for name, size in sizes.items()}
        self._areas |= {name: ap.empty((size,), np.float32) for name, size in wide.items()}

    def take(self, name: str, *shape: int) -> ap.Tensor:
        """The memory of that name, in a shape; what it held before may be gone."""
        count = 1
        for size in shape:
            count *= size
        return self._areas[name][:count].reshape(shape)


@dataclass(frozen=True)
class _Layer:
    """LayerWeights on the device."""

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

    With a communicator the rows of the second matrices are spread over its ranks, and every rank
    calls ``forward`` with the same inputs.
    """

    def __init__(self, weights: Weights, dtype: Any, comm: Communicator | None = None) -> None:
        self.config = weights.config
        self.dtype = np.dtype(dtype)
        self._heads = weights.heads
        self._inner = weights.layers[0].up.shape[1]
        self._comm = comm
        self._words = self._put(weights.words)
        self._places = self._put(weights.places)
        self._norm = self._pair(weights.norm)
        self._layers = [self._layer(layer) for layer in weights.layers]
        self._scratch = Scratch(self.dtype)

    def _put(self, array: Array) -> ap.Tensor:
        return ap.from_numpy(np.ascontiguousarray(array).astype(self.dtype, copy=False))

    def _pair(self, arrays: tuple[Array, Array]) -> tuple[ap.Tensor, ap.Tensor]:
        return self._put(arrays[0]), self._put(arrays[1])

    def _layer(self, layer: LayerWeights) -> _Layer:
        # The products of the ranks are summed, so the bias behind them comes from one rank.
        first = self._comm is None or self._comm.rank == 0
        return _Layer(
            qkv=self._put(layer.qkv),
            qkv_bias=self._put(layer.qkv_bias),
            attended=self._put(layer.attended),
            attended_bias=self._put(layer.attended_bias) if first else None,
            attended_norm=self._pair(layer.attended_norm),
            up=self._put(layer.up),
            up_bias=self._put(layer.up_bias),
            down=self._put(layer.down),
            down_bias=self._put(layer.down_bias) if first else None,
            down_norm=self._pair(layer.down_norm),
        )

    def reserve(self, shapes: Sequence[tuple[int, int]]) -> None:
        """Make room for batches of these (rows, length); larger ones need another call."""
        tokens = max(rows * length for rows, length in shapes)
        pairs = max(rows * length * length for rows, length in shapes) * self._heads
        rows = max(rows for rows, _ in shapes)
        hidden, width = self.config.hidden, self._heads * self.config.head_size
        self._scratch.reserve(
            {
                "x": tokens * hidden,
                "product": tokens * hidden,
                "qkv": tokens * 3 * width,
                "scores": pairs,
                "weights": pairs,
                "attended": tokens * width,
                "up": tokens * self._inner,
                "activated": tokens * self._inner,
                "hidden_scores": tokens,
                "counts": rows,
                "summed": rows * hidden,
            },
            wide={"mean": rows * hidden, "norms": rows},
        )

    def forward(self, tokens: ap.Tensor, mask: ap.Tensor, out: ap.Tensor) -> None:
        """Queue the whole model on the current stream.

        ``tokens`` int32 (rows, length); ``mask`` (rows, length) of the model's dtype, 1 where there
        is a token, which every row has; ``out`` float32 (rows, hidden), unit vectors.
        """
        rows, length = tokens.shape
        take, hidden = self._scratch.take, self.config.hidden
        x = take("x", rows, length, hidden)
        embedded = take("product", rows, length, hidden)
        ops.embedding(self._words, tokens, embedded)
        ops.inplace_add(embedded, self._places[:length], 1)
        self._normalise(embedded, self._norm, x)

        hidden_scores = take("hidden_scores", rows, 1, 1, length)
        ops.muls(mask.reshape(rows, 1, 1, length), -HIDDEN_SCORE, hidden_scores)
        ops.inplace_adds(hidden_scores, HIDDEN_SCORE, 1)
        flat = x.reshape(rows * length, hidden)
        for layer in self._layers:
            attended = self._attend(layer, flat, hidden_scores)
            self._add_product(attended, layer.attended, layer.attended_bias, flat)
            self._normalise(take("product", *flat.shape), layer.attended_norm, flat)
            up = take("up", rows * length, self._inner)
            activated = take("activated", rows * length, self._inner)
            ops.addmm(layer.up_bias, flat, layer.up, 1, 1, up, KEEP)
            ops.gelu(up, activated)
            self._add_product(activated, layer.down, layer.down_bias, flat)
            self._normalise(take("product", *flat.shape), layer.down_norm, flat)
        self._pool(x, mask, out)

    def _normalise(self, x: ap.Tensor, norm: tuple[ap.Tensor, ap.Tensor], out: ap.Tensor) -> None:
        ops.layer_norm(x, (self.config.hidden,), *norm, self.config.epsilon, out, None, None)

    def _attend(self, layer: _Layer, x: ap.Tensor, hidden_scores: ap.Tensor) -> ap.Tensor:
        take, heads, size = self._scratch.take, self._heads, self.config.head_size
        rows, length = hidden_scores.shape[0], hidden_scores.shape[-1]
        qkv = take("qkv", rows * length, 3 * heads * size)
        ops.addmm(layer.qkv_bias, x, layer.qkv, 1, 1, qkv, KEEP)
        # Heads are strided views: nothing is copied to bring them to the front, or back.
        parts = qkv.reshape(rows, length, 3, heads, size)
        query, key, value = (parts[:, :, part].permute(0, 2, 1, 3) for part in range(3))
        scores = take("scores", rows, heads, length, length)
        ops.matmul(query, key.transpose(2, 3), scores, KEEP)
        ops.inplace_add(scores, hidden_scores, 1)
        weights = take("weights", rows, heads, length, length)
        ops.softmax(scores, -1, weights)
        attended = take("attended", rows, length, heads, size)
        ops.matmul(weights, value, attended.permute(0, 2, 1, 3), KEEP)
        return attended.reshape(rows * length, heads * size)

    def _add_product(
        self, x: ap.Tensor, weight: ap.Tensor, bias: ap.Tensor | None, residual: ap.Tensor
    ) -> None:
        """product = residual + bias + x weight, summed over the ranks."""
        product = self._scratch.take("product", *residual.shape)
        if self._comm is not None and self.dtype != np.float32:
            summed = distributed.matmul_all_reduce(x, weight, self._comm, bias=bias)
            ops.add(summed, residual, 1, product)
            return
        if bias is None:
            ops.matmul(x, weight, product, KEEP)
        else:
            ops.addmm(bias, x, weight, 1, 1, product, KEEP)
        if self._comm is not None:
            # In two steps, as the fused operator takes 16-bit numbers only.
            distributed.all_reduce(product, group=self._comm)
        ops.inplace_add(product, residual, 1)

    def _pool(self, x: ap.Tensor, mask: ap.Tensor, out: ap.Tensor) -> None:
        """The mean over the tokens of a row, scaled to length 1 in float32."""
        rows, length, hidden = x.shape
        summed = self._scratch.take("summed", rows, 1, hidden)
        counts = self._scratch.take("counts", rows, 1)
        ops.matmul(mask.reshape(rows, 1, length), x, summed, KEEP)
        ops.reduce_sum(mask, (1,), True, self.dtype, counts)
        ops.inplace_div(summed.reshape(rows, hidden), counts)
        mean, norms = self._scratch.take("mean", rows, hidden), self._scratch.take("norms", rows, 1)
        ops.cast(summed.reshape(rows, hidden), np.float32, mean)
        ops.linalg_vector_norm(mean, 2.0, (1,), True, np.float32, norms)
        ops.div(mean, norms, out)
