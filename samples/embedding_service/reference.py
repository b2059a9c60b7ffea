# SPDX-License-Identifier: Apache-2.0
"""The same model in NumPy, written from the formulas and the names of the checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from weights import Array, Config


def erf(x: Array) -> Array:
    """The error function, which NumPy lacks, to 1.5e-7 (Abramowitz and Stegun, 7.1.26)."""
    size = np.abs(x)
    t = 1 / (1 + np.float32(0.3275911) * size)
    sum_ = np.full_like(t, 1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        sum_ *= t
        sum_ += np.float32(factor)
    sum_ *= t
    np.multiply(size, size, out=size)
    np.negative(size, out=size)
    sum_ *= np.exp(size)
    result: Array = np.copysign(1 - sum_, x)
    return result


def gelu(x: Array) -> Array:
    """x times the probability that a normal number is below it."""
    half: Array = erf(x * np.float32(0.5**0.5))
    half += 1
    half *= np.float32(0.5)
    half *= x
    return half


def layer_norm(x: Array, weight: Array, bias: Array, epsilon: float) -> Array:
    """Normalise rows."""
    centred: Array = x - x.mean(axis=-1, keepdims=True)
    variance = np.mean(centred * centred, axis=-1, keepdims=True)
    centred /= np.sqrt(variance + np.float32(epsilon))
    centred *= weight
    centred += bias
    return centred


def softmax(x: Array) -> Array:
    """Softmax of rows."""
    x = x - x.max(axis=-1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=-1, keepdims=True)
    return x


def padded(texts: Sequence[Sequence[int]]) -> tuple[npt.NDArray[np.int64], Array]:
    """Token numbers in rows of one length, and a mask that is 1 where there is a token."""
    length = max(map(len, texts))
    tokens = np.zeros((len(texts), length), np.int64)
    mask = np.zeros((len(texts), length), np.float32)
    for row, text in enumerate(texts):
        tokens[row, : len(text)] = text
        mask[row, : len(text)] = 1
    return tokens, mask


class NumpyEncoder:
    """A float32 forward pass."""

    def __init__(self, checkpoint: dict[str, Array], config: Config) -> None:
        self._arrays = checkpoint
        self._config = config

    def _linear(self, name: str, x: Array) -> Array:
        result: Array = x @ self._arrays[f"{name}.weight"].T
        result += self._arrays[f"{name}.bias"]
        return result

    def _norm(self, name: str, x: Array) -> Array:
        weight, bias = self._arrays[f"{name}.weight"], self._arrays[f"{name}.bias"]
        return layer_norm(x, weight, bias, self._config.epsilon)

    def forward(self, tokens: np.ndarray, mask: Array) -> Array:
        """Unit vectors of rows of token numbers; ``mask`` is 1 where there is a token."""
        arrays, config = self._arrays, self._config
        rows, length = tokens.shape
        x = arrays["embeddings.word_embeddings.weight"][tokens]
        x = x + arrays["embeddings.position_embeddings.weight"][:length]
        x += arrays["embeddings.token_type_embeddings.weight"][0]
        x = self._norm("embeddings.LayerNorm", x).reshape(rows * length, config.hidden)
        hidden = np.where(mask[:, None, None, :] > 0, np.float32(0), np.float32(-1e9))
        for number in range(config.layers):
            base = f"encoder.layer.{number}"
            query, key, value = (
                self._linear(f"{base}.attention.self.{part}", x)
                .reshape(rows, length, config.heads, config.head_size)
                .transpose(0, 2, 1, 3)
                for part in ("query", "key", "value")
            )
            scores = query @ key.transpose(0, 1, 3, 2)
            scores *= np.float32(config.head_size**-0.5)
            scores += hidden
            attended = (softmax(scores) @ value).transpose(0, 2, 1, 3).reshape(x.shape)
            attended = self._linear(f"{base}.attention.output.dense", attended)
            x = self._norm(f"{base}.attention.output.LayerNorm", attended + x)
            inner = gelu(self._linear(f"{base}.intermediate.dense", x))
            x = self._norm(
                f"{base}.output.LayerNorm", self._linear(f"{base}.output.dense", inner) + x
            )
        summed = np.einsum("bs,bsh->bh", mask, x.reshape(rows, length, config.hidden))
        mean = summed / mask.sum(axis=1, keepdims=True)
        unit: Array = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return unit

    def embed(self, texts: Sequence[Sequence[int]]) -> Array:
        """Unit vectors of texts given as token numbers, computed together."""
        return self.forward(*padded(texts))

    def embed_each(self, texts: Sequence[Sequence[int]]) -> Array:
        """Unit vectors of texts in their order, without padding; a batch has one length."""
        unit = np.empty((len(texts), self._config.hidden), np.float32)
        for length in {len(text) for text in texts}:
            chosen = [index for index, text in enumerate(texts) if len(text) == length]
            unit[chosen] = self.embed([texts[index] for index in chosen])
        return unit
