# SPDX-License-Identifier: Apache-2.0
"""Make a model directory: random weights, and a tokenizer that is trained on the spot.

    python samples/language_model/make_model.py DIRECTORY [--architecture qwen3] [--size 0.5b]

The files have the names and forms of published models. The texts that such a model writes have no
meaning.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from config import ARCHITECTURES, Config, parse
from safetensors.numpy import save_file
from trained_like import TrainedLike
from weights import dtype_of

Array = npt.NDArray[Any]
SIZES: dict[str, dict[str, Any]] = {
    "small": {
        "vocab_size": 512,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 1024,
    },
    "medium": {
        "vocab_size": 32000,
        "hidden_size": 1024,
        "intermediate_size": 2816,
        "num_hidden_layers": 8,
        "num_attention_heads": 16,
        "num_key_value_heads": 4,
        "max_position_embeddings": 4096,
    },
    # The sizes of Qwen2-0.5B.
    "0.5b": {
        "vocab_size": 151936,
        "hidden_size": 896,
        "intermediate_size": 4864,
        "num_hidden_layers": 24,
        "num_attention_heads": 14,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
        "tie_word_embeddings": True,
    },
}
CLASSES = {
    "llama": "LlamaForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "qwen3_moe": "Qwen3MoeForCausalLM",
    "mixtral": "MixtralForCausalLM",
    "deepseek_v2": "DeepseekV2ForCausalLM",
    "deepseek_v3": "DeepseekV3ForCausalLM",
}
SPECIAL = ("<|begin|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>")
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}"
    "{{ eos_token }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
TEXT = (
    "The quick brown fox jumps over the lazy dog.",
    "A model server answers requests: it reads a prompt, and writes one token after the other.",
    "Pages of a cache hold keys and values; a table says which page belongs to which sequence.",
    "Numbers 0 1 2 3 4 5 6 7 8 9, and signs: , . ; : ! ? ( ) [ ] { } < > / + - * = %",
    "Übermütige Grüße aus Zürich, naïve café, déjà vu, façade; 你好, 世界; こんにちは; привет",
)


def config_values(architecture: str, size: str = "small", dtype: str = "float16") -> dict[str, Any]:
    """The fields of a config.json."""
    values: dict[str, Any] = {
        "architectures": [CLASSES[architecture]],
        "model_type": architecture,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
        "torch_dtype": dtype,
        "bos_token_id": 0,
        "eos_token_id": 1,
        **SIZES[size],
    }
    inner = values["intermediate_size"]
    if architecture in ("qwen3", "qwen3_moe"):
        values["head_dim"] = 32 if size == "small" else 64
    if architecture == "qwen3_moe":
        values |= {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": inner // 2}
        values |= {"norm_topk_prob": True, "decoder_sparse_step": 1, "mlp_only_layers": []}
    if architecture == "mixtral":
        values |= {"num_local_experts": 8, "num_experts_per_tok": 2, "sliding_window": None}
    if architecture.startswith("deepseek"):
        values |= {"kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 32}
        values |= {"v_head_dim": 32, "first_k_dense_replace": 1, "moe_layer_freq": 1}
        values |= {"num_key_value_heads": values["num_attention_heads"]}
        values |= {"n_routed_experts": 8, "num_experts_per_tok": 2, "n_shared_experts": 1}
        values |= {"moe_intermediate_size": inner // 2, "n_group": 4, "topk_group": 2}
    if architecture == "deepseek_v2":
        values |= {"q_lora_rank": None, "topk_method": "group_limited_greedy"}
        values |= {"norm_topk_prob": False, "routed_scaling_factor": 1.0}
    if architecture == "deepseek_v3":
        values |= {"q_lora_rank": 64, "topk_method": "noaux_tc", "scoring_func": "sigmoid"}
        values |= {"norm_topk_prob": True, "routed_scaling_factor": 2.5}
    return values


def shapes(config: Config) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names and shapes of all arrays, as in published checkpoints."""
    hidden = config.hidden
    yield "model.embed_tokens.weight", (config.vocabulary, hidden)
    yield "model.norm.weight", (hidden,)
    if not config.tied:
        yield "lm_head.weight", (config.vocabulary, hidden)
    for number in range(config.layers):
        base = f"model.layers.{number}"
        yield f"{base}.input_layernorm.weight", (hidden,)
        yield f"{base}.post_attention_layernorm.weight", (hidden,)
        yield from (
            _latent(config, f"{base}.self_attn")
            if config.latent
            else _heads(config, f"{base}.self_attn")
        )
        if config.experts is None or number in config.experts.dense:
            yield from _gated(f"{base}.mlp", hidden, config.inner, bias=config.mlp_bias)
        else:
            yield from _experts(config, base)


def _heads(config: Config, base: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    size = config.head_size
    for part, heads in (("q", config.heads), ("k", config.kv_heads), ("v", config.kv_heads)):
        yield f"{base}.{part}_proj.weight", (heads * size, config.hidden)
        if config.qkv_bias:
            yield f"{base}.{part}_proj.bias", (heads * size,)
    yield f"{base}.o_proj.weight", (config.hidden, config.heads * size)
    if config.output_bias:
        yield f"{base}.o_proj.bias", (config.hidden,)
    if config.head_norms:
        yield f"{base}.q_norm.weight", (size,)
        yield f"{base}.k_norm.weight", (size,)


def _latent(config: Config, base: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    latent, hidden, heads = config.latent, config.hidden, config.heads
    assert latent is not None
    out = heads * (latent.plain + latent.rotated)
    if latent.query:
        yield f"{base}.q_a_proj.weight", (latent.query, hidden)
        yield f"{base}.q_a_layernorm.weight", (latent.query,)
        yield f"{base}.q_b_proj.weight", (out, latent.query)
    else:
        yield f"{base}.q_proj.weight", (out, hidden)
    yield f"{base}.kv_a_proj_with_mqa.weight", (latent.kept + latent.rotated, hidden)
    yield f"{base}.kv_a_layernorm.weight", (latent.kept,)
    yield f"{base}.kv_b_proj.weight", (heads * (latent.plain + latent.value), latent.kept)
    yield f"{base}.o_proj.weight", (hidden, heads * latent.value)


def _experts(config: Config, base: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    experts, hidden = config.experts, config.hidden
    assert experts is not None
    mixtral = config.architecture == "mixtral"
    block = f"{base}.block_sparse_moe" if mixtral else f"{base}.mlp"
    yield f"{block}.gate.weight", (experts.count, hidden)
    if experts.sigmoid:
        yield f"{block}.gate.e_score_correction_bias", (experts.count,)
    for number in range(experts.count):
        names = ("w1", "w3", "w2") if mixtral else ("gate_proj", "up_proj", "down_proj")
        yield from _gated(f"{block}.experts.{number}", hidden, experts.inner, names)
    if experts.shared:
        yield from _gated(f"{block}.shared_experts", hidden, experts.shared)


def _gated(
    base: str,
    hidden: int,
    inner: int,
    names: tuple[str, str, str] = ("gate_proj", "up_proj", "down_proj"),
    *,
    bias: bool = False,
) -> Iterator[tuple[str, tuple[int, ...]]]:
    wide = ((inner, hidden), (inner, hidden), (hidden, inner))
    for name, shape in zip(names, wide, strict=True):
        yield f"{base}.{name}.weight", shape
        if bias:
            yield f"{base}.{name}.bias", shape[:1]


def random_array(name: str, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Float32 values that keep the rows of a pass at the size of about 1."""
    values = rng.standard_normal(shape, np.float32)
    if name.endswith("norm.weight"):
        return 1 + values * np.float32(0.1)
    if len(shape) == 1:
        return values * np.float32(0.1)
    if name == "model.embed_tokens.weight":
        return values * np.float32(0.5)
    return values * np.float32(shape[1] ** -0.5)


def write_model(
    directory: Path, values: dict[str, Any], *, seed: int = 0, trained_like: bool = False
) -> None:
    """Write config.json and the weights."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_text(json.dumps(values, indent=2))
    config, rng = parse(values), np.random.default_rng(seed)
    kind = dtype_of(values.get("torch_dtype", "float16"))
    make = TrainedLike(config.hidden, rng) if trained_like else partial(random_array, rng=rng)
    arrays = {name: make(name, shape).astype(kind) for name, shape in shapes(config)}
    save_file(arrays, directory / "model.safetensors", metadata={"format": "pt"})


def write_tokenizer(directory: Path, vocabulary: int) -> None:
    """Write tokenizer.json and tokenizer_config.json: bytes and their merges, and a template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=min(vocabulary, 2048),
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    tokenizer.save(str(directory / "tokenizer.json"))
    fields = {
        "bos_token": SPECIAL[0],
        "eos_token": SPECIAL[1],
        "chat_template": TEMPLATE,
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
    (directory / "tokenizer_config.json").write_text(json.dumps(fields, indent=2))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--architecture", choices=ARCHITECTURES, default="llama")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--dtype", choices=("float16", "bfloat16", "float32"), default="float16")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--trained-like", action="store_true", help="weights with outliers, as training makes them"
    )
    given = parser.parse_args(arguments)
    values = config_values(given.architecture, given.size, given.dtype)
    write_model(given.directory, values, seed=given.seed, trained_like=given.trained_like)
    write_tokenizer(given.directory, values["vocab_size"])
    print(f"{given.directory}: a {given.size} {given.architecture} model in {given.dtype}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
