# SPDX-License-Identifier: Apache-2.0
"""Put a model on the device: whole or one rank's part, as it is or quantised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from building import Builder, Cache
from calibration import TOKENS
from config import Config
from model import Model
from products import PlainProducts, Products
from quantised import forms_of
from quantising import quantised_layers
from ranks import Part, local_config
from weights import Source

from aclnn_py.distributed import Communicator


@dataclass(frozen=True)
class Quantising:
    """A form of the weights, and the tokens of a text like those that the model will read."""

    form: str
    tokens: Sequence[int]


def load(
    config: Config,
    source: Source,
    dtype: np.dtype[Any],
    cache: Cache,
    quantising: Quantising | None = None,
    comm: Communicator | None = None,
    *,
    whole_experts: bool = True,
) -> Model:
    """Read the arrays of a model, one layer at a time."""
    if comm is not None:
        config = local_config(config, comm.world_size, whole_experts=whole_experts)
        source = Part(source, comm.rank, comm.world_size, whole_experts=whole_experts)

    def make(source: Source, cache: Cache, products: Products) -> Builder:
        return Builder(config, source, dtype, cache, products, comm, whole_experts=whole_experts)

    builder = make(source, cache, PlainProducts(dtype))
    words = builder.words()
    if quantising is None:
        return Model(builder, words, map(builder.layer, range(config.layers)))
    forms = forms_of(quantising.form, experts=config.experts is not None)
    tokens = quantising.tokens
    layers = quantised_layers(make, source, cache, forms, dtype, tokens, words, comm)
    return Model(builder, words, layers)


def random_tokens(vocabulary: int) -> list[int]:
    """A text for models without one."""
    return np.random.default_rng(0).integers(0, vocabulary, TOKENS).tolist()
