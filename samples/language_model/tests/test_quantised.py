# SPDX-License-Identifier: Apache-2.0
"""Quantised weights: the numbers, the products, and whole models."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import reference
from test_decoder import made, tokens_of

pytestmark = pytest.mark.usefixtures("requirements", "device")

ERROR = {"w8a8": 0.05, "w8a16": 0.03, "w4a16": 0.35}
"""Root mean square error of logits, as a part of their own root mean square."""


def test_numbers_and_scales_give_the_weight() -> None:
    from quantised import eight_bits, four_bits

    weight = np.random.default_rng(1).standard_normal((6, 200)).astype(np.float32)
    weight[2] = 0
    numbers, scale = eight_bits(weight)
    assert np.abs(numbers.astype(np.float32) * scale - weight.T).max() <= scale.max() * 0.501
    numbers, scale, offset = four_bits(weight, 128)
    assert scale.shape == offset.shape == (2, 6)
    group = np.arange(200) // 128
    found = (numbers.astype(np.float32) + offset[group]) * scale[group]
    assert not found[:, 2].any()
    # 16 steps over about five deviations round by a tenth of a deviation.
    assert np.sqrt(np.square(found - weight.T).mean()) < 0.12


def test_clipping_rounds_a_group_with_an_outlier_better() -> None:
    from quantised import four_bits

    weight = np.random.default_rng(2).standard_normal((1, 128)).astype(np.float32)
    weight[0, 0] = 4.5
    _, scale, _ = four_bits(weight, 128)
    assert scale[0, 0] < (weight.max() - weight.min()) / 15


@pytest.mark.parametrize("quantise", list(ERROR))
@pytest.mark.parametrize("architecture", ["qwen2", "mixtral", "deepseek_v3"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_quantised_model_is_close(
    quantise: str, architecture: str, dtype: str, tmp_path: Path
) -> None:
    from decoder import Decoder

    # All experts are chosen: a choice among more may turn out otherwise.
    few = {"num_local_experts": 2, "n_routed_experts": 2, "n_group": 1, "topk_group": 1}
    values, arrays = made(tmp_path, architecture, torch_dtype=dtype, **few)
    tokens = tokens_of(9)
    expected = reference.logits(values, arrays, tokens)
    decoder = Decoder.open(tmp_path, quantise=quantise, pages=2, most=1)
    try:
        found = [decoder.prefill(tokens[:8], 0, [1]).numpy()[0]]
        found.append(decoder.decode(tokens[8:], [9], [[1]]).numpy()[0])
    finally:
        decoder.close()
    errors = np.stack(found) - expected[7:9]
    error = np.sqrt(np.square(errors).mean() / np.square(expected[7:9]).mean())
    # Not the model as it is: rounding to 4 or 8 bits must show.
    assert ERROR[quantise] / 20 < error < ERROR[quantise], error


def test_unknown_forms_and_sizes_are_refused(tmp_path: Path) -> None:
    from decoder import Decoder

    made(tmp_path, "llama", hidden_size=96, num_attention_heads=4, num_key_value_heads=4)
    with pytest.raises(ValueError, match="quantise: expected one of w8a8, w8a16, w4a16"):
        Decoder.open(tmp_path, quantise="w2", pages=1)
    with pytest.raises(ValueError, match="one has 96"):
        Decoder.open(tmp_path, quantise="w4a16", pages=1)
