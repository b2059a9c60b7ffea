# SPDX-License-Identifier: Apache-2.0
"""The embedding service's model on all-MiniLM-L6-v2 itself."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from corpus import texts
from encoder import Encoder, all_shapes, embed_all
from model import Model
from reference import NumpyEncoder
from weights import shard

import aclnn_py as ap

SHAPES = all_shapes(rows=(1, 8), lengths=(16, 32, 256))
TEXTS = 200


@pytest.fixture(scope="module")
def expected(real: Any) -> np.ndarray:
    """Vectors of NumPy in float32, unpadded."""
    config, checkpoint, tokenizer = real
    reference = NumpyEncoder(checkpoint, config)
    return reference.embed_each(tokenizer(texts(TEXTS)))


def embedded(real: Any, given: list[str], dtype: Any) -> np.ndarray:
    config, checkpoint, tokenizer = real
    encoder = Encoder(Model(shard(checkpoint, config), dtype), SHAPES)
    try:
        return embed_all(encoder, tokenizer(given))
    finally:
        encoder.close()


@pytest.mark.parametrize(
    ("dtype", "least"),
    [(np.float32, 0.9999), (np.float16, 0.999), (ml_dtypes.bfloat16, 0.999)],
    ids=["float32", "float16", "bfloat16"],
)
def test_vectors_are_those_of_numpy(
    device: ap.Device, real: Any, expected: np.ndarray, dtype: Any, least: float
) -> None:
    vectors = embedded(real, texts(TEXTS), dtype)
    cosines = (vectors * expected).sum(axis=1)
    assert cosines.min() >= least, f"text {cosines.argmin()}: {cosines.min()}"


def test_texts_are_varied(real: Any) -> None:
    _config, _checkpoint, tokenizer = real
    sizes = [len(row) for row in tokenizer(texts(TEXTS))]
    assert min(sizes) == 2 and max(sizes) == 256 and len(set(sizes)) > 20


def test_similar_sentences_are_nearer(device: ap.Device, real: Any) -> None:
    sentences = [
        "A man is eating food.",
        "A man is eating a piece of bread.",
        "A man is riding a white horse on an enclosed ground.",
        "A cheetah is running behind its prey.",
    ]
    vectors = embedded(real, sentences, np.float32)
    near, *far = (vectors[0] @ vectors[1:].T).tolist()
    assert near > 0.6
    assert near > max(far) + 0.3
