# SPDX-License-Identifier: Apache-2.0
"""Quantised weights: the numbers, the products, and whole models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference
from test_decoder import made, tokens_of

pytestmark = pytest.mark.usefixtures("requirements", "device")

ERROR = {"w8a8": 0.05, "w8a16": 0.03, "w4a16": 0.35}
"""Root mean square error of logits, as a part of their own root mean square."""


ALLOWED = {"w8a8": 0.02, "w8a16": 0.02, "w4a16": 0.08}
"""How much higher the perplexity may be than that of the model as it is."""


def test_numbers_and_scales_give_the_weight() -> None:
    from rounding import EIGHT, four

    weight = np.random.default_rng(1).standard_normal((6, 200)).astype(np.float32)
    weight[2] = 0
    found = EIGHT.round(weight, None)
    assert found.scale.shape == (1, 6)
    errors = np.abs(found.weight() - weight.T)
    # A step of 254 over the largest elements; clipping makes it no larger.
    assert np.sqrt(np.square(errors).mean()) < np.abs(weight).max() / 127 * 0.3
    found = four(32).round(weight, None)
    assert found.scale.shape == found.offset.shape == (7, 6)
    assert found.numbers.min() >= -8 and found.numbers.max() <= 7
    assert not found.weight()[:, 2].any()
    # 15 steps over about four deviations round by a twelfth of a deviation.
    assert np.sqrt(np.square(found.weight() - weight.T).mean()) < 0.09


def test_clipping_rounds_a_group_with_an_outlier_better() -> None:
    from rounding import four

    weight = np.random.default_rng(2).standard_normal((1, 128)).astype(np.float32)
    weight[0, 0] = 4.5
    found = four(128).round(weight, None)
    assert found.scale[0, 0] < (weight.max() - weight.min()) / 15


def test_typical_rows_make_the_error_of_products_smaller() -> None:
    from rounding import four

    rng = np.random.default_rng(3)
    mixed = rng.standard_normal((64, 64)) * np.exp(-np.arange(64) / 8)[:, None]
    rows = (rng.standard_normal((600, 64)) @ mixed).astype(np.float32)
    weight = rng.standard_normal((48, 64)).astype(np.float32)
    others = rows[300:]
    exact = others @ weight.T
    errors = [
        np.square(others @ four(32).round(weight, given).weight() - exact).mean()
        for given in (None, rows[:300])
    ]
    assert errors[1] < errors[0] / 8


@pytest.mark.parametrize("architecture", ["qwen2", "mixtral", "deepseek_v3"])
def test_dividing_features_changes_nothing(architecture: str, tmp_path: Path) -> None:
    """The folded arrays make a model with the same logits."""
    from calibration import LayerArrays, foldings
    from config import parse
    from make_model import shapes
    from weights import Checkpoint

    values, arrays = made(tmp_path, architecture)
    config, tokens = parse(values), tokens_of(6)
    if "qwen2" in architecture:
        assert config.qkv_bias
    folded = dict(arrays)
    rng = np.random.default_rng(5)
    for number in range(config.layers):
        base = f"model.layers.{number}"
        layer = LayerArrays(Checkpoint(tmp_path))
        for name, shape in shapes(config):
            if name.startswith(f"{base}."):
                layer.array(name, shape)
        found = list(foldings(config, base, layer.kept))
        for folding in found:
            count = len(layer.kept[f"{folding.writer}.weight"])
            powers = np.exp2(rng.integers(-2, 3, count)).astype(np.float32)
            kept = np.zeros(count, np.bool_)
            kept[folding.places] = True
            layer.fold(folding.writer, folding.readers, np.where(kept, powers, 1), folding.places)
        folded |= {name: layer.scaled(name) for name in layer.kept}
        writers = {folding.writer.rpartition(".")[2] for folding in found}
        assert {"input_layernorm", "post_attention_layernorm"} < writers
    changed = [name for name in arrays if not np.array_equal(arrays[name], folded[name])]
    assert len(changed) > 10
    expected = reference.logits(values, arrays, tokens)
    np.testing.assert_allclose(reference.logits(values, folded, tokens), expected, atol=1e-9)


def test_trained_like_weights_have_tails_and_a_large_channel(tmp_path: Path) -> None:
    from make_model import config_values, write_model
    from safetensors.numpy import load_file

    def tails(weight: Any) -> float:
        values = weight.astype(np.float64)
        return float((values**4).mean() / (values**2).mean() ** 2)

    found = []
    for trained_like in (False, True):
        write_model(tmp_path, config_values("llama"), trained_like=trained_like)
        arrays = load_file(tmp_path / "model.safetensors")
        gains = arrays["model.layers.1.input_layernorm.weight"].astype(np.float64)
        writes = arrays["model.layers.0.mlp.down_proj.weight"].astype(np.float64)
        sizes = np.sqrt(np.square(writes).mean(1))
        found.append((tails(arrays["model.layers.0.mlp.up_proj.weight"]), gains, sizes))
    (plain, *_), (tailed, gains, sizes) = found
    assert plain == pytest.approx(3, rel=0.1)
    assert tailed > 5
    # The same channel in what one layer writes and what the norm of the next one enlarges.
    large = int((gains * sizes).argmax())
    others = np.arange(64) != large
    assert gains[large] * sizes[large] > 2 * (gains * sizes)[others].max()


def _chances(decoder: Any, tokens: list[int]) -> Any:
    """Logarithms of the chances of all tokens, at each place of a text."""
    logits = [decoder.prefill(tokens[:1], 0, [0, 1]).numpy()[0]]
    for place, token in enumerate(tokens[1:], 1):
        logits.append(decoder.decode([token], [place + 1], [[0, 1]]).numpy()[0].copy())
    rows = np.stack(logits).astype(np.float64)
    rows -= rows.max(1, keepdims=True)
    return rows - np.log(np.exp(rows).sum(1, keepdims=True))


def _own_text(decoder: Any, count: int) -> list[int]:
    """Tokens that a model draws."""
    rng, tokens = np.random.default_rng(6), [5]
    logits = decoder.prefill(tokens, 0, [0, 1]).numpy()[0]
    while len(tokens) < count:
        tokens.append(int((logits + rng.gumbel(size=logits.shape)).argmax()))
        logits = decoder.decode(tokens[-1:], [len(tokens)], [[0, 1]]).numpy()[0].copy()
    return tokens


@pytest.mark.parametrize("trained_like", [False, True], ids=["random", "trained-like"])
@pytest.mark.parametrize("architecture", ["llama", "mixtral", "deepseek_v2"])
def test_perplexity_of_quantised_forms(
    architecture: str, trained_like: bool, tmp_path: Path
) -> None:
    from decoder import Decoder
    from make_model import config_values, write_model

    write_model(tmp_path, config_values(architecture), seed=1, trained_like=trained_like)
    plain = Decoder.open(tmp_path, pages=2, most=1)
    tokens = _own_text(plain, 200)
    chances = _chances(plain, tokens)
    plain.close()
    for form, allowed in ALLOWED.items():
        decoder = Decoder.open(tmp_path, quantise=form, pages=2, most=1)
        try:
            others = _chances(decoder, tokens)
        finally:
            decoder.close()
        # The text is the model's own. Each next token counts by its chance, not only the drawn one.
        more = (np.exp(chances) * (chances - others)).sum(1).mean()
        assert 0 < np.exp(more) - 1 < allowed, form


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

    made(tmp_path, "llama", intermediate_size=32)
    with pytest.raises(ValueError, match="quantise: expected one of w8a8, w8a16, w4a16"):
        Decoder.open(tmp_path, quantise="w2", pages=1)
    with pytest.raises(ValueError, match="one has 32"):
        Decoder.open(tmp_path, quantise="w4a16", pages=1)
    with pytest.raises(ValueError, match="calibration: 512 is not one of 0 to 511"):
        Decoder.open(tmp_path, quantise="w8a16", pages=1, calibration=[3, 512])
    with pytest.raises(ValueError, match="calibration: a text has at least 1 token"):
        Decoder.open(tmp_path, quantise="w8a16", pages=1, calibration=[])
