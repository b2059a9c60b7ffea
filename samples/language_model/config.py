# SPDX-License-Identifier: Apache-2.0
"""The sizes and options of a model, from its config.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from rope import Rope

ARCHITECTURES = (
    *("llama", "qwen2", "qwen3", "qwen3_moe", "mixtral"),
    *("deepseek_v2", "deepseek_v3"),
)
"""What ``model_type`` may say."""
DTYPES = ("float16", "bfloat16")
T = TypeVar("T", int, float, bool, str)


class ConfigError(ValueError):
    """A field of config.json is absent, or has a value that this sample cannot compute.

    ``field`` is its name.
    """

    def __init__(self, field: str, text: str) -> None:
        super().__init__(f"config.json: {field}: {text}")
        self.field = field


@dataclass(frozen=True)
class Experts:
    """The layers that send each token to a few of many small networks."""

    count: int
    chosen: int
    inner: int
    normalise: bool
    """Divide the weights of the chosen experts by their sum."""
    scale: float = 1.0
    sigmoid: bool = False
    """Scores are sigmoids with a correction for the choice, not a softmax."""
    groups: int = 1
    groups_chosen: int = 1
    shared: int = 0
    """Inner features of the network that every token passes; 0 if there is none."""
    dense: frozenset[int] = frozenset()
    """Layers with one ordinary network."""


@dataclass(frozen=True)
class Latent:
    """Attention whose keys and values are products of one short vector per token."""

    query: int
    """Length of the query's short vector; 0 if the query is one product."""
    kept: int
    """Length of the vector that the cache holds, without the rotated part."""
    rotated: int
    plain: int
    value: int
    pairs: bool
    """Rotation turns neighbours, not an element and the one half a head away."""


@dataclass(frozen=True)
class Config:
    """A decoder of one of ARCHITECTURES."""

    architecture: str
    vocabulary: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    inner: int
    epsilon: float
    context: int
    dtype: str
    tied: bool
    """The embedding is also the last matrix."""
    qkv_bias: bool
    output_bias: bool
    mlp_bias: bool
    head_norms: bool
    """Queries and keys are normalised by heads."""
    scale: float
    """Factor of the products of queries and keys."""
    rope: Rope
    stop_tokens: tuple[int, ...]
    experts: Experts | None = None
    latent: Latent | None = None


def read_config(directory: str | Path) -> Config:
    """Read config.json of a model directory.

    Raises
    ------
    FileNotFoundError
        The directory has no config.json.
    ConfigError
        A field is absent or not supported; it has the field's name.
    """
    path = Path(directory) / "config.json"
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is absent: give the directory of a model as it is published, with "
            "config.json, *.safetensors and tokenizer.json"
        )
    try:
        values = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ConfigError("the file", f"{path} is not JSON ({error})") from None
    if not isinstance(values, dict):
        raise ConfigError("the file", f"expected an object, got {type(values).__name__}")
    return parse(values)


def parse(values: Mapping[str, Any]) -> Config:
    """Make a Config of the fields of a config.json."""
    fields = Fields(values)
    kind = fields.one_of("model_type", ARCHITECTURES)
    fields.one_of("hidden_act", ("silu",), "silu")
    # Qwen models have a window in their files that they do not use.
    window = kind == "mixtral" and fields.values.get("sliding_window")
    if window or fields.flag("use_sliding_window", False):
        raise ConfigError("sliding_window", "attention over a window is not supported")
    if fields.values.get("quantization_config"):
        raise ConfigError(
            "quantization_config",
            "the weights are quantised already; give the float16 or bfloat16 model and let the "
            "option `quantise` do it",
        )
    heads, hidden = fields.size("num_attention_heads"), fields.size("hidden_size")
    latent = _latent(fields, kind) if kind.startswith("deepseek") else None
    if latent:
        head_size = latent.rotated
    elif fields.values.get("head_dim") is not None:
        head_size = fields.size("head_dim")
    else:
        if hidden % heads:
            raise ConfigError("num_attention_heads", f"{heads} does not divide {hidden} features")
        head_size = hidden // heads
    kv_heads = fields.size("num_key_value_heads", heads)
    if heads % kv_heads:
        raise ConfigError("num_key_value_heads", f"{kv_heads} does not divide {heads} heads")
    context = fields.size("max_position_embeddings")
    rope = Rope.parse(fields.values, head_size, context, ConfigError)
    scale = (head_size if latent is None else latent.plain + latent.rotated) ** -0.5
    return Config(
        architecture=kind,
        vocabulary=fields.size("vocab_size"),
        hidden=hidden,
        layers=fields.size("num_hidden_layers"),
        heads=heads,
        kv_heads=kv_heads,
        head_size=head_size,
        inner=fields.size("intermediate_size"),
        epsilon=fields.get("rms_norm_eps", 1e-6, float),
        context=context,
        dtype=_dtype(fields),
        tied=fields.flag("tie_word_embeddings", False),
        qkv_bias=kind == "qwen2" or fields.flag("attention_bias", False),
        output_bias=kind != "qwen2" and fields.flag("attention_bias", False),
        mlp_bias=fields.flag("mlp_bias", False),
        head_norms=kind in ("qwen3", "qwen3_moe"),
        scale=scale * (rope.score_factor if latent else 1.0),
        rope=rope,
        stop_tokens=_stop_tokens(fields),
        experts=_experts(fields, kind),
        latent=latent,
    )


class Fields:
    """Typed access to the fields of a config.json."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def get(self, name: str, default: T | None, kind: type[T]) -> T:
        """The value of a field; ``default`` where it is absent or null."""
        value = self.values.get(name)
        if value is None:
            if default is None and kind is not int:
                raise ConfigError(name, "the field is absent")
            return default if default is not None else kind()
        allowed = (int, float) if kind is float else kind
        if not isinstance(value, allowed) or (isinstance(value, bool) and kind is not bool):
            raise ConfigError(name, f"expected {kind.__name__}, got {value!r}")
        return kind(value)

    def size(self, name: str, default: int | None = None) -> int:
        """A positive number."""
        if self.values.get(name) is None and default is None:
            raise ConfigError(name, "the field is absent")
        value = self.get(name, default, int)
        if not 0 < value < 2**31:
            raise ConfigError(name, f"expected a number from 1 to 2147483647, got {value}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        return self.get(name, default, bool)

    def one_of(self, name: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        value = self.values.get(name, default)
        if value not in allowed:
            raise ConfigError(name, f"expected one of {', '.join(allowed)}, got {value!r}")
        return str(value)


def _dtype(fields: Fields) -> str:
    """The dtype to compute with; float32 checkpoints become float16."""
    name = "dtype" if "dtype" in fields.values else "torch_dtype"
    given = fields.one_of(name, (*DTYPES, "float32"), "float16")
    return given if given in DTYPES else "float16"


def _stop_tokens(fields: Fields) -> tuple[int, ...]:
    given = fields.values.get("eos_token_id")
    if given is None:
        return ()
    tokens = given if isinstance(given, list) else [given]
    if not all(isinstance(token, int) for token in tokens):
        raise ConfigError("eos_token_id", f"expected a number or a list of numbers, got {given!r}")
    return tuple(tokens)


def _latent(fields: Fields, kind: str) -> Latent:
    query = fields.get("q_lora_rank", None, int)
    latent = Latent(
        query=query,
        kept=fields.size("kv_lora_rank"),
        rotated=fields.size("qk_rope_head_dim"),
        plain=fields.size("qk_nope_head_dim"),
        value=fields.size("v_head_dim"),
        pairs=kind == "deepseek_v2" or fields.flag("rope_interleave", True),
    )
    # What the attention operator takes, and what every published model has.
    for name, value, only in (
        ("kv_lora_rank", latent.kept, 512),
        ("qk_rope_head_dim", latent.rotated, 64),
    ):
        if value != only:
            raise ConfigError(name, f"latent attention takes {only}, got {value}")
    return latent


def _experts(fields: Fields, kind: str) -> Experts | None:
    if kind not in ("qwen3_moe", "mixtral", "deepseek_v2", "deepseek_v3"):
        return None
    layers = fields.size("num_hidden_layers")
    deepseek = kind.startswith("deepseek")
    counts = ("n_routed_experts", "num_experts", "num_local_experts")
    count_name = next((name for name in counts if fields.values.get(name) is not None), counts[1])
    inner = fields.size("intermediate_size" if kind == "mixtral" else "moe_intermediate_size")
    dense: set[int] = set()
    if deepseek:
        dense.update(range(min(layers, fields.get("first_k_dense_replace", 0, int))))
        fields_every = fields.size("moe_layer_freq", 1)
        dense.update(n for n in range(layers) if n % fields_every)
    elif kind == "qwen3_moe":
        step = fields.size("decoder_sparse_step", 1)
        dense.update(n for n in range(layers) if (n + 1) % step)
        dense.update(fields.values.get("mlp_only_layers") or ())
    grouped = kind == "deepseek_v3" or fields.values.get("topk_method") == "group_limited_greedy"
    experts = Experts(
        count=fields.size(count_name),
        chosen=fields.size("num_experts_per_tok"),
        inner=inner,
        # The second version of DeepSeek has the field, and its code does not read it.
        normalise=kind == "mixtral"
        or (kind != "deepseek_v2" and fields.flag("norm_topk_prob", kind == "deepseek_v3")),
        scale=fields.get("routed_scaling_factor", 1.0, float),
        sigmoid=kind == "deepseek_v3",
        groups=fields.size("n_group") if grouped else 1,
        groups_chosen=fields.size("topk_group") if grouped else 1,
        shared=inner * fields.get("n_shared_experts", 0, int) if deepseek else 0,
        dense=frozenset(dense),
    )
    if experts.sigmoid and not experts.normalise:
        raise ConfigError("norm_topk_prob", "the gate divides sigmoids by their sum")
    if experts.chosen > experts.count:
        raise ConfigError("num_experts_per_tok", f"there are {experts.count} experts")
    if experts.count % experts.groups or experts.groups_chosen > experts.groups:
        raise ConfigError("n_group", f"{experts.count} experts do not divide into such groups")
    return experts
