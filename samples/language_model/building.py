# SPDX-License-Identifier: Apache-2.0
"""Make the layers of a model from the arrays of its checkpoint, one layer at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from config import Config, Experts, Latent
from dispatched import DispatchedExperts
from experts import Gate, GatedExperts, RoutedExperts
from latent import LatentAttention, key_rows, query_rows
from layers import (
    Attention,
    Gated,
    Layer,
    Network,
    Norm,
    PagedAttention,
    angle_table,
    causal_mask,
)
from linear import Linear, Plain, put
from products import Products
from ranks import FusedSum, Sum
from weights import Array, Source

import aclnn_py as ap
from aclnn_py.distributed import Communicator

GATED = ("gate_proj", "up_proj", "down_proj")
FLOAT = np.dtype(np.float32)


@dataclass(frozen=True)
class Cache:
    """How many pages the cache of each layer has, and of how many tokens."""

    pages: int
    page_size: int


class Builder:
    """Reads arrays by their published names and puts them on the device."""

    def __init__(
        self,
        config: Config,
        source: Source,
        dtype: np.dtype[Any],
        cache: Cache,
        products: Products,
        comm: Communicator | None = None,
        *,
        whole_experts: bool = True,
    ) -> None:
        self.config, self.dtype = config, dtype
        self._source, self._products = source, products
        self._comm, self._cache, self._whole_experts = comm, cache, whole_experts
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
        tied = self.config.tied or "lm_head.weight" not in self._source
        weight = self._words() if tied else self._array("lm_head.weight", *shape)
        return Plain(weight, None, self.dtype)

    def layer(self, number: int) -> Layer:
        """Read layer ``number``."""
        base, hidden = f"model.layers.{number}", self.config.hidden
        return Layer(
            first_norm=self._norm(f"{base}.input_layernorm", hidden),
            attention=self._attention(f"{base}.self_attn"),
            second_norm=self._norm(f"{base}.post_attention_layernorm", hidden),
            network=self._network(number, base),
        )

    def _attention(self, base: str) -> Attention:
        latent = self.config.latent
        return self._heads(base) if latent is None else self._latent(base, latent)

    def _network(self, number: int, base: str) -> Network:
        experts = self.config.experts
        if experts is None or number in experts.dense:
            return self._gated(f"{base}.mlp", self.config.inner)
        return self._experts(base, experts)

    def _heads(self, base: str) -> PagedAttention:
        config = self.config
        sizes = [config.heads * config.head_size, *[config.kv_heads * config.head_size] * 2]
        names = [f"{base}.{part}_proj" for part in "qkv"]
        norms = None
        if config.head_norms:
            norms = (
                self._norm(f"{base}.q_norm", config.head_size),
                self._norm(f"{base}.k_norm", config.head_size),
            )
        return PagedAttention(
            config,
            self._product(names, sizes, config.hidden, bias=config.qkv_bias),
            self._last_product(f"{base}.o_proj", sizes[0], bias=config.output_bias, summed=True),
            norms,
            self._angles,
            self._mask,
            tuple(self._pages(config.kv_heads, config.head_size) for _ in range(2)),
        )

    def _latent(self, base: str, latent: Latent) -> LatentAttention:
        heads, hidden = self.config.heads, self.config.hidden
        width = heads * (latent.plain + latent.rotated)
        name = f"{base}.kv_a_proj_with_mqa.weight"
        key = key_rows(self._array(name, latent.kept + latent.rotated, hidden), latent)
        products: dict[str, Linear] = {}
        norms = {"kept": self._norm(f"{base}.kv_a_layernorm", latent.kept)}
        opening = f"{base}.q_a_proj" if latent.query else f"{base}.q_proj"
        if latent.query:
            first = self._array(f"{opening}.weight", latent.query, hidden)
            second = self._array(f"{base}.q_b_proj.weight", width, latent.query)
            name = f"{base}.q_b_proj"
            products["query"] = self._linear(name, query_rows(second, heads, latent))
            norms["query"] = self._norm(f"{base}.q_a_layernorm", latent.query)
        else:
            first = self._array(f"{opening}.weight", width, hidden)
            first = query_rows(first, heads, latent)
        products["first"] = self._linear(opening, np.concatenate((first, key)))
        products["output"] = self._last_product(f"{base}.o_proj", heads * latent.value, summed=True)
        both = self._array(
            f"{base}.kv_b_proj.weight", heads * (latent.plain + latent.value), latent.kept
        ).reshape(heads, -1, latent.kept)
        by_head = (
            put(both[:, : latent.plain], self.dtype),
            put(both[:, latent.plain :].transpose(0, 2, 1), self.dtype),
        )
        return LatentAttention(
            self.config,
            latent,
            products,
            norms,
            by_head,
            self._angles,
            self._mask,
            (self._pages(1, latent.kept), self._pages(1, latent.rotated)),
        )

    def _experts(self, base: str, experts: Experts) -> Network:
        mixtral, hidden = self.config.architecture == "mixtral", self.config.hidden
        block = f"{base}.block_sparse_moe" if mixtral else f"{base}.mlp"
        weight = self._array(f"{block}.gate.weight", experts.count, hidden)
        correction = None
        if experts.sigmoid:
            name = f"{block}.gate.e_score_correction_bias"
            correction = put(self._array(name, experts.count), FLOAT)
        gate = Gate(experts, put(weight.T, FLOAT), correction)
        networks = self._networks(f"{block}.experts", experts)
        shared = None
        if experts.shared:
            shared = self._gated(f"{block}.shared_experts", experts.shared, summed=False)
        if self._comm is None:
            return RoutedExperts(gate, networks, shared)
        if self._whole_experts:
            return DispatchedExperts(gate, networks, shared, self._comm)
        return Sum(RoutedExperts(gate, networks, shared), self._comm)

    def _networks(self, base: str, experts: Experts) -> GatedExperts:
        """The experts of this rank."""
        names = ("w1", "w3", "w2") if self.config.architecture == "mixtral" else GATED
        numbers = range(experts.count)
        if self._comm is not None and self._whole_experts:
            each = experts.count // self._comm.world_size
            numbers = numbers[self._comm.rank * each : (self._comm.rank + 1) * each]
        wide = experts.inner, self.config.hidden
        opening, closing = {}, {}
        for number in numbers:
            first, second, third = (f"{base}.{number}.{name}" for name in names)
            pair = [self._array(f"{name}.weight", *wide) for name in (first, second)]
            opening[first] = np.concatenate(pair)
            closing[third] = self._array(f"{third}.weight", *reversed(wide))
        return GatedExperts(
            *(
                self._products.grouped(list(weights), list(weights.values()))
                for weights in (opening, closing)
            )
        )

    def _gated(self, base: str, inner: int, *, summed: bool = True) -> Gated:
        hidden, bias = self.config.hidden, self.config.mlp_bias
        names = [f"{base}.{name}" for name in GATED]
        return Gated(
            self._product(names[:2], [inner, inner], hidden, bias=bias),
            self._last_product(names[2], inner, bias=bias, summed=summed),
        )

    def _last_product(
        self, name: str, features: int, *, bias: bool = False, summed: bool
    ) -> Linear:
        """The product that ends attention or a network, ``summed`` over the ranks."""
        hidden = self.config.hidden
        if self._comm is None or not summed or not self._products.plain:
            product = self._product([name], [hidden], features, bias=bias)
            return Sum(product, self._comm) if self._comm and summed else product
        weight = self._array(f"{name}.weight", hidden, features)
        added = self._array(f"{name}.bias", hidden) if bias else None
        return FusedSum(weight, added, self.dtype, self._comm)

    def _product(
        self, names: list[str], sizes: list[int], features: int, *, bias: bool = False
    ) -> Linear:
        """One product of several matrices that read the same rows."""
        pairs = list(zip(names, sizes, strict=True))
        weights = [self._array(f"{name}.weight", size, features) for name, size in pairs]
        biases = [self._array(f"{name}.bias", size) for name, size in pairs] if bias else None
        weight = np.concatenate(weights) if len(weights) > 1 else weights[0]
        return self._linear(names[0], weight, np.concatenate(biases) if biases else None)

    def _linear(self, name: str, weight: Array, bias: Array | None = None) -> Linear:
        return self._products.linear(name, weight, bias)

    def _pages(self, heads: int, size: int) -> ap.Tensor:
        return ap.zeros((self._cache.pages, self._cache.page_size, heads, size), self.dtype)

    def _norm(self, name: str, size: int) -> Norm:
        return Norm(put(self._array(f"{name}.weight", size), self.dtype), self.config.epsilon)

    def _words(self) -> Array:
        return self._array("model.embed_tokens.weight", self.config.vocabulary, self.config.hidden)

    def _array(self, name: str, *shape: int) -> Array:
        return self._source.array(name, shape)
