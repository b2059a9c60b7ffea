# SPDX-License-Identifier: Apache-2.0
"""Make quantised layers, each from the rows that the layers before it make of a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from building import Builder, Cache
from calibration import LayerArrays, Seen, Text, foldings, smooth
from layers import Layer
from products import PlainProducts, Products, QuantisedProducts
from quantised import Forms
from weights import Source

import aclnn_py as ap
from aclnn_py.distributed import Communicator

MakeBuilder = Callable[[Source, Cache, Products], Builder]


def quantised_layers(
    make: MakeBuilder,
    source: Source,
    cache: Cache,
    forms: Forms,
    dtype: np.dtype[Any],
    tokens: Sequence[int],
    words: ap.Tensor,
    comm: Communicator | None,
) -> Iterator[Layer]:
    """Yield the layers of a model, whose products have these forms."""
    arrays = LayerArrays(source)
    seen = Seen()
    plain = make(arrays, Cache(1, cache.page_size), PlainProducts(dtype, seen))
    builder = make(arrays, cache, QuantisedProducts(forms, dtype, arrays, seen))
    text = Text(tokens, words, plain.config.context)
    for number in range(builder.config.layers):
        base = f"model.layers.{number}"
        text.show(plain.layer(number), seen, f"{base}.post_attention_layernorm")
        for folding in foldings(builder.config, base, arrays.kept):
            rows = seen.rows(folding.seen)
            if rows is not None:
                experts = [name for name in folding.readers if ".experts." in name]
                form = forms.of((experts or folding.readers)[0])
                smooth(folding, arrays, rows, form.product, comm)
        layer = builder.layer(number)
        text.move(layer)
        arrays.clear()
        seen.parts.clear()
        yield layer
