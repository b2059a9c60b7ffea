# SPDX-License-Identifier: Apache-2.0
"""Prefill and decode of each architecture against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference

pytestmark = pytest.mark.usefixtures("requirements", "device")

ARCHITECTURES = (
    *("llama", "qwen2", "qwen3", "qwen3_moe", "mixtral"),
    *("deepseek_v2", "deepseek_v3"),
)
TOLERANCE = {"float16": 0.012, "bfloat16": 0.1}
"""For logits of about 1."""
MARGIN = {"float16": 0.001, "bfloat16": 0.008}
"""For the scores of experts."""


def made(directory: Path, architecture: str, **changed: Any) -> tuple[dict[str, Any], Any]:
    """Write a small model; return the fields of its config.json and its arrays."""
    from make_model import config_values, write_model
    from safetensors.numpy import load_file

    values = config_values(architecture) | changed
    write_model(directory, values)
    return values, load_file(directory / "model.safetensors")


def tokens_of(count: int, seed: int = 4) -> list[int]:
    return [int(token) for token in np.random.default_rng(seed).integers(0, 512, count)]


def clear_tokens(values: dict[str, Any], arrays: Any, dtype: str) -> tuple[Any, ...]:
    """Two sequences and their logits. Rounding must not choose other experts than NumPy does."""
    long, short = (16, 5) if "num_experts_per_tok" in values else (145, 7)
    for seed in range(200):
        margins: list[float] = [1.0]
        found = []
        for tokens in (tokens_of(long, seed), tokens_of(short, seed + 1000)):
            found += [tokens, reference.logits(values, arrays, tokens, margins)]
        if min(margins) > MARGIN[dtype]:
            return tuple(found)
    raise AssertionError("no tokens are clear about their experts")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_logits_are_those_of_numpy(architecture: str, dtype: str, tmp_path: Path) -> None:
    from decoder import Decoder

    values, arrays = made(tmp_path, architecture, torch_dtype=dtype)
    one, expected, other, others = clear_tokens(values, arrays, dtype)
    half, whole = len(one) // 2, len(one) - 5
    decoder = Decoder.open(tmp_path, pages=6, most=2)
    try:
        found = [(decoder.prefill(one[:half], 0, [4]).numpy()[0], expected[half - 1])]
        # Without experts, the second chunk ends on another page.
        rows = decoder.prefill(one[half:whole], half, [4, 1]).numpy()
        found.append((rows[0], expected[whole - 1]))
        begun = len(other) - 4
        found.append((decoder.prefill(other[:begun], 0, [3]).numpy()[0], others[begun - 1]))
        for n in range(4):
            both = [one[whole + n], other[begun + n]], [whole + n + 1, begun + n + 1]
            rows = decoder.decode(*both, [[4, 1], [3]]).numpy()
            found += [(rows[0], expected[whole + n]), (rows[1], others[begun + n])]
        rows = decoder.decode([one[-1]], [len(one)], [[4, 1]]).numpy()
        found.append((rows[0], expected[-1]))
    finally:
        decoder.close()
    errors = [np.abs(got - wanted).max() for got, wanted in found]
    assert max(errors) < TOLERANCE[dtype], errors


def test_a_smaller_batch_than_its_graph_writes_nothing_elsewhere(tmp_path: Path) -> None:
    from decoder import Decoder

    values, arrays = made(tmp_path, "llama")
    tokens = tokens_of(8)
    expected = reference.logits(values, arrays, tokens)
    decoder = Decoder.open(tmp_path, pages=4, most=4)
    try:
        # The first place of page 0 is where a careless row behind the batch would write.
        pages = [[0], [1], [2]]
        for own in pages:
            decoder.prefill(tokens[:4], 0, own)
        for place in range(4, 8):
            rows = decoder.decode([tokens[place]] * 3, [place + 1] * 3, pages).numpy()
            assert rows.shape == (3, 512)
            assert np.abs(rows - expected[place]).max() < TOLERANCE["float16"]
    finally:
        decoder.close()


def test_wrong_calls_name_what_is_wrong(tmp_path: Path) -> None:
    from decoder import Decoder

    made(tmp_path, "llama")
    for wrong in ({"page_size": 100}, {"pages": 0}, {"dtype": "int8"}, {"most": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Decoder.open(tmp_path, **{"pages": 2, "most": 1, **wrong})
    decoder = Decoder.open(tmp_path, pages=2, most=1)
    try:
        assert (decoder.vocabulary, decoder.context, decoder.pages) == (512, 256, 2)
        with pytest.raises(ValueError, match="tokens: 512 is not one of 0 to 511"):
            decoder.prefill([512], 0, [0])
        with pytest.raises(ValueError, match="page 2 is not one of 0 to 1"):
            decoder.prefill([1], 0, [2])
        with pytest.raises(ValueError, match=r"pages\[0\]: 1 pages of 128 tokens do not hold 129"):
            decoder.decode([1], [129], [[0]])
        with pytest.raises(ValueError, match="1 to 1 rows, got 2"):
            decoder.decode([1, 1], [1, 1], [[0], [1]])
    finally:
        decoder.close()
