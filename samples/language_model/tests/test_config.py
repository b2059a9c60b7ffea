# SPDX-License-Identifier: Apache-2.0
"""config.json and checkpoints: what is read, what is refused, and rotary angles."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

YARN = {
    "rope_type": "yarn",
    "factor": 4.0,
    "original_max_position_embeddings": 256,
    "beta_fast": 32,
    "beta_slow": 1,
}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 128,
}
MSCALE = {"mscale": 0.7, "mscale_all_dim": 0.5}


def parsed(architecture: str = "llama", **changed: Any) -> Any:
    from config import parse
    from make_model import config_values

    return parse(config_values(architecture) | changed)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"model_type": "gpt2"}, "model_type"),
        ({"hidden_act": "gelu"}, "hidden_act"),
        ({"vocab_size": None}, "vocab_size"),
        ({"vocab_size": "many"}, "vocab_size"),
        ({"num_hidden_layers": 0}, "num_hidden_layers"),
        ({"num_hidden_layers": True}, "num_hidden_layers"),
        ({"num_attention_heads": 3, "num_key_value_heads": 3}, "num_attention_heads"),
        ({"num_key_value_heads": 3}, "num_key_value_heads"),
        ({"rms_norm_eps": "small"}, "rms_norm_eps"),
        ({"use_sliding_window": True}, "sliding_window"),
        ({"quantization_config": {"bits": 4}}, "quantization_config"),
        ({"torch_dtype": "int8"}, "torch_dtype"),
        ({"eos_token_id": ["end"]}, "eos_token_id"),
        ({"rope_scaling": {"rope_type": "dynamic"}}, "rope_scaling"),
        ({"rope_scaling": {"type": "linear"}}, "rope_scaling"),
        ({"rope_scaling": 2}, "rope_scaling"),
        ({"partial_rotary_factor": 0.5}, "partial_rotary_factor"),
    ],
)
def test_the_field_that_is_wrong_is_named(changed: dict[str, Any], field: str) -> None:
    from config import ConfigError

    with pytest.raises(ConfigError) as caught:
        parsed(**changed)
    assert caught.value.field == field
    assert f"config.json: {field}: " in str(caught.value)


@pytest.mark.parametrize(
    ("architecture", "changed", "field"),
    [
        ("mixtral", {"sliding_window": 4096}, "sliding_window"),
        ("qwen3_moe", {"num_experts_per_tok": 9}, "num_experts_per_tok"),
        ("deepseek_v3", {"n_group": 3}, "n_group"),
        ("deepseek_v3", {"norm_topk_prob": False}, "norm_topk_prob"),
        ("deepseek_v2", {"kv_lora_rank": 256}, "kv_lora_rank"),
        ("deepseek_v2", {"qk_rope_head_dim": 32}, "qk_rope_head_dim"),
    ],
)
def test_fields_of_experts_and_latent_attention(
    architecture: str, changed: dict[str, Any], field: str
) -> None:
    from config import ConfigError

    with pytest.raises(ConfigError) as caught:
        parsed(architecture, **changed)
    assert caught.value.field == field


def test_which_layers_have_experts() -> None:
    assert parsed("deepseek_v3", num_hidden_layers=4).experts.dense == {0}
    qwen = parsed("qwen3_moe", num_hidden_layers=4, decoder_sparse_step=2, mlp_only_layers=[3])
    assert qwen.experts.dense == {0, 2, 3}


def test_linear_and_llama3_angles() -> None:
    # size 16, base 10,000: element n turns by 10000 ** (-n / 8) of a radian per position.
    plain = 10000.0 ** (-np.arange(8) / 8)
    found = parsed(rope_scaling={"type": "linear", "factor": 2.0}).rope.frequencies()
    np.testing.assert_allclose(found, plain / 2, rtol=1e-6)
    found = parsed(rope_scaling=LLAMA3).rope.frequencies()
    for frequency, angle in zip(plain, found, strict=True):
        wave = 2 * math.pi / frequency
        if wave < 128 / 4:
            expected = frequency
        elif wave > 128:
            expected = frequency / 8
        else:
            part = (128 / wave - 1) / 3
            expected = (1 - part) * frequency / 8 + part * frequency
        assert angle == pytest.approx(expected, rel=1e-6)


def test_yarn_stretches_slow_angles_and_scales_scores() -> None:
    rope = parsed(rope_scaling=YARN).rope
    plain = 10000.0 ** (-np.arange(8) / 8)
    assert rope.frequencies()[0] == pytest.approx(plain[0])
    assert rope.frequencies()[-1] == pytest.approx(plain[-1] / 4)
    assert rope.amplitude == pytest.approx(0.1 * math.log(4) + 1)
    latent = parsed("deepseek_v2", rope_scaling=YARN | MSCALE)
    one, all_dim = (0.1 * scale * math.log(4) + 1 for scale in (0.7, 0.5))
    assert latent.rope.amplitude == pytest.approx(one / all_dim)
    assert latent.scale == pytest.approx(96**-0.5 * all_dim**2)


@pytest.mark.parametrize("scaling", [None, {"type": "linear", "factor": 3.0}, LLAMA3, YARN])
def test_angles_are_those_of_transformers(scaling: Any, transformers: Any) -> None:
    import torch
    from make_model import config_values

    values = config_values("llama") | {"rope_scaling": scaling}
    theirs = transformers.LlamaConfig(**values)
    module = transformers.models.llama.modeling_llama.LlamaRotaryEmbedding(theirs)
    cosines, sines = module(torch.zeros(1), torch.arange(1024)[None])
    table = parsed(rope_scaling=scaling).rope.table(1024)
    np.testing.assert_allclose(table[:, :8], cosines[0, :, :8].numpy(), atol=2e-4)
    np.testing.assert_allclose(table[:, 8:], sines[0, :, :8].numpy(), atol=2e-4)


def test_checkpoints_that_do_not_fit_are_refused(requirements: None, tmp_path: Path) -> None:
    from make_model import config_values, write_model
    from safetensors.numpy import load_file, save_file
    from weights import Checkpoint, WeightError

    with pytest.raises(WeightError, match=r"no \*\.safetensors"):
        Checkpoint(tmp_path)
    write_model(tmp_path, config_values("llama"))
    checkpoint = Checkpoint(tmp_path)
    with pytest.raises(WeightError, match=r"no array is named model\.nothing"):
        checkpoint.array("model.nothing", (1,))
    with pytest.raises(WeightError, match=r"shape \(64,\), config.json says \(65,\)"):
        checkpoint.array("model.norm.weight", (65,))
    checkpoint.close()
    # Several files, and an index that names one which lies elsewhere.
    arrays = load_file(tmp_path / "model.safetensors")
    (tmp_path / "model.safetensors").unlink()
    names = sorted(arrays)
    places = {}
    for part in range(2):
        file = f"part-{part}.safetensors"
        save_file({name: arrays[name] for name in names[part::2]}, tmp_path / file)
        places |= dict.fromkeys(names[part::2], file)
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": places}))
    checkpoint = Checkpoint(tmp_path)
    for name in names:
        assert np.array_equal(checkpoint.array(name, arrays[name].shape), arrays[name])
    checkpoint.close()
    index.write_text(json.dumps({"weight_map": places | {names[0]: "../x.safetensors"}}))
    with pytest.raises(WeightError, match="not a file of"):
        Checkpoint(tmp_path)
    (tmp_path / "part-0.safetensors").write_bytes(b"\xff" * 64)
    index.unlink()
    with pytest.raises(WeightError, match="part-0"):
        Checkpoint(tmp_path)
