# SPDX-License-Identifier: Apache-2.0
"""The same model in torch; needs torch."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from reference import padded
from torch.nn import functional
from weights import Array, Config


class TorchEncoder:
    """A float32 forward pass on the CPU with the given number of threads."""

    def __init__(self, checkpoint: dict[str, Array], config: Config, threads: int) -> None:
        torch.set_num_threads(threads)
        self._config = config
        self._arrays = {name: torch.from_numpy(array) for name, array in checkpoint.items()}
        # One product instead of three, as in the encoder on the device.
        for number in range(config.layers):
            base = f"encoder.layer.{number}.attention.self"
            for kind in ("weight", "bias"):
                parts = [self._arrays.pop(f"{base}.{x}.{kind}") for x in ("query", "key", "value")]
                self._arrays[f"{base}.{kind}"] = torch.cat(parts)

    def _linear(self, name: str, x: torch.Tensor) -> torch.Tensor:
        return functional.linear(x, self._arrays[f"{name}.weight"], self._arrays[f"{name}.bias"])

    def _norm(self, name: str, x: torch.Tensor) -> torch.Tensor:
        weight, bias = self._arrays[f"{name}.weight"], self._arrays[f"{name}.bias"]
        return functional.layer_norm(x, weight.shape, weight, bias, self._config.epsilon)

    @torch.inference_mode()
    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Unit vectors of rows of token numbers; ``mask`` is 1 where there is a token."""
        arrays, config = self._arrays, self._config
        rows, length = tokens.shape
        x = functional.embedding(tokens, arrays["embeddings.word_embeddings.weight"])
        x = x + arrays["embeddings.position_embeddings.weight"][:length]
        x += arrays["embeddings.token_type_embeddings.weight"][0]
        x = self._norm("embeddings.LayerNorm", x)
        seen = mask[:, None, None, :] > 0
        for number in range(config.layers):
            base = f"encoder.layer.{number}"
            parts = self._linear(f"{base}.attention.self", x)
            parts = parts.view(rows, length, 3, config.heads, config.head_size)
            query, key, value = (part.transpose(1, 2) for part in parts.unbind(2))
            attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
            attended = attended.transpose(1, 2).reshape(rows, length, config.hidden)
            attended = self._linear(f"{base}.attention.output.dense", attended)
            x = self._norm(f"{base}.attention.output.LayerNorm", attended + x)
            inner = functional.gelu(self._linear(f"{base}.intermediate.dense", x))
            x = self._norm(
                f"{base}.output.LayerNorm", self._linear(f"{base}.output.dense", inner) + x
            )
        mean = torch.bmm(mask[:, None, :], x)[:, 0] / mask.sum(dim=1, keepdim=True)
        return functional.normalize(mean, dim=1)

    def embed(self, texts: Sequence[Sequence[int]]) -> Array:
        """Unit vectors of texts given as token numbers, computed together."""
        tokens, mask = padded(texts)
        unit: Array = self.forward(torch.from_numpy(tokens), torch.from_numpy(mask)).numpy()
        return unit
