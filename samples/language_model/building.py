# SPDX-License-Identifier: Apache-2.0
"""Make the layers of a model from the arrays of its checkpoint, one layer at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from config import Config
from layers import Gated, Layer, Norm, PagedAttention, angle_table, causal_mask
from linear import Linear, Plain, put
from weights import Array, Checkpoint

import aclnn_py as ap


@dataclass(frozen=True)
class Cache:
    """How many pages the cache of each layer has, and of how many tokens."""

    pages: int
    page_size: int


class Builder:
    """Reads arrays by their published names and puts them on the device."""

    def __init__(
        self, config: Config, checkpoint: Checkpoint, dtype: np.dtype[Any], cache: Cache
    ) -> None:
        self.config, self.dtype = config, dtype
        self._checkpoint, self._cache = checkpoint, cache
        self._angles = angle_table(config, dtype)
        self._mask = causal_mask()

    def words(self) -> ap.Tensor:
        """The vectors of the vocabulary, (vocabulary, hidden)."""
        return put(self._words(), self.dtype)

    def last_norm(self) -> Norm:
        return self._norm("model.norm", self.config.hidden)

    def head(self) -> Linear:
        """The product that makes logits."""
        shape = (self.config.vocabulary, self.config.hidden)
        tied = self.config.tied or "lm_head.weight" not in self._checkpoint
        weight = self._words() if tied else self._array("lm_head.weight", *shape)
        return Plain(weight, None, self.dtype)

    def layer(self, number: int) -> Layer:
        """Read layer ``number``."""
        base, hidden = f"model.layers.{number}", self.config.hidden
        return Layer(
            first_norm=self._norm(f"{base}.input_layernorm", hidden),
            attention=self._attention(f"{base}.self_attn"),
            second_norm=self._norm(f"{base}.post_attention_layernorm", hidden),
            network=self._gated(f"{base}.mlp", self.config.inner),
        )

    def _attention(self, base: str) -> PagedAttention:
        config = self.config
        sizes = [config.heads * config.head_size, *[config.kv_heads * config.head_size] * 2]
        names = [f"{base}.{part}_proj" for part in "qkv"]
        norms = None
        if config.head_norms:
            norms = (
                self._norm(f"{base}.q_norm", config.head_size),
                self._norm(f"{base}.k_norm", config.head_size),
            )
        shape = (self._cache.pages, self._cache.page_size, config.kv_heads, config.head_size)
        return PagedAttention(
            config,
            self._product(names, sizes, config.hidden, bias=config.qkv_bias),
            self._product([f"{base}.o_proj"], [config.hidden], sizes[0], bias=config.output_bias),
            norms,
            self._angles,
            self._mask,
            (ap.zeros(shape, self.dtype), ap.zeros(shape, self.dtype)),
        )

    def _gated(self, base: str, inner: int) -> Gated:
        hidden, bias = self.config.hidden, self.config.mlp_bias
        names = [f"{base}.gate_proj", f"{base}.up_proj"]
        return Gated(
            self._product(names, [inner, inner], hidden, bias=bias),
            self._product([f"{base}.down_proj"], [hidden], inner, bias=bias),
        )

    def _product(
        self, names: list[str], sizes: list[int], features: int, *, bias: bool = False
    ) -> Linear:
        """One product of several matrices that read the same rows."""
        pairs = list(zip(names, sizes, strict=True))
        weights = [self._array(f"{name}.weight", size, features) for name, size in pairs]
        biases = [self._array(f"{name}.bias", size) for name, size in pairs] if bias else None
        weight = np.concatenate(weights) if len(weights) > 1 else weights[0]
        return Plain(weight, np.concatenate(biases) if biases else None, self.dtype)

    def _norm(self, name: str, size: int) -> Norm:
        return Norm(put(self._array(f"{name}.weight", size), self.dtype), self.config.epsilon)

    def _words(self) -> Array:
        return self._array("model.embed_tokens.weight", self.config.vocabulary, self.config.hidden)

    def _array(self, name: str, *shape: int) -> Array:
        return self._checkpoint.array(name, shape)
