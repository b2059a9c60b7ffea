# SPDX-License-Identifier: Apache-2.0
"""A small model with random weights, under the names of the real one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from weights import Array, Config


def random_model(positions: int = 40) -> tuple[Config, dict[str, Array]]:
    """Sizes and arrays; two ranks and four divide the heads."""
    config = Config(layers=2, hidden=32, heads=4, inner=64, positions=positions, epsilon=1e-12)
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


def write_model(directory: Path) -> None:
    """The small model as files, with a token per letter."""
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    config, arrays = random_model(positions=256)
    save_file(arrays, directory / "model.safetensors")
    sizes = {
        "num_hidden_layers": config.layers,
        "hidden_size": config.hidden,
        "num_attention_heads": config.heads,
        "intermediate_size": config.inner,
        "max_position_embeddings": config.positions,
        "layer_norm_eps": config.epsilon,
    }
    (directory / "config.json").write_text(json.dumps(sizes))
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefghijklmnopqrstuvwxyz"]
    numbers = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    marks = [(mark, numbers[mark]) for mark in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, marks)
    tokenizer.save(str(directory / "tokenizer.json"))
