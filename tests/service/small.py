# SPDX-License-Identifier: Apache-2.0
"""A small model with random weights, under the names of the real one."""

from __future__ import annotations

import numpy as np
from weights import Array, Config


def random_model() -> tuple[Config, dict[str, Array]]:
    """Sizes and arrays; two ranks and four divide the heads."""
    config = Config(layers=2, hidden=32, heads=4, inner=64, positions=40, epsilon=1e-12)
    rng = np.random.default_rng(11)
    arrays: dict[str, Array] = {}

    def put(name: str, *shape: int, centre: float = 0.0, spread: float = 0.3) -> None:
        arrays[name] = (centre + spread * rng.standard_normal(shape)).astype(np.float32)

    def linear(name: str, out: int, inner: int) -> None:
        put(f"{name}.weight", out, inner)
        put(f"{name}.bias", out)

    def norm(name: str) -> None:
        put(f"{name}.weight", config.hidden, centre=1.0, spread=0.1)
        put(f"{name}.bias", config.hidden)

    put("embeddings.word_embeddings.weight", 50, config.hidden, spread=1.0)
    put("embeddings.position_embeddings.weight", config.positions, config.hidden)
    put("embeddings.token_type_embeddings.weight", 2, config.hidden)
    norm("embeddings.LayerNorm")
    for number in range(config.layers):
        base = f"encoder.layer.{number}"
        for part in ("query", "key", "value"):
            linear(f"{base}.attention.self.{part}", config.hidden, config.hidden)
        linear(f"{base}.attention.output.dense", config.hidden, config.hidden)
        norm(f"{base}.attention.output.LayerNorm")
        linear(f"{base}.intermediate.dense", config.inner, config.hidden)
        linear(f"{base}.output.dense", config.hidden, config.inner)
        norm(f"{base}.output.LayerNorm")
    return config, arrays
