# SPDX-License-Identifier: Apache-2.0
"""The models in NumPy and float64, from the fields of config.json and the arrays by name.

There is no cache: every logit is computed from all tokens at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Arrays = dict[str, Array]


def logits(
    values: dict[str, Any], arrays: Arrays, tokens: list[int], margins: list[float] | None = None
) -> Array:
    """Logits after every token, (tokens, vocabulary).

    ``margins`` gets how far the choice of experts was from another one, in each layer.
    """
    wide = {name: array.astype(np.float64) for name, array in arrays.items()}
    x = wide["model.embed_tokens.weight"][tokens]
    for number in range(values["num_hidden_layers"]):
        base = f"model.layers.{number}"
        inside = norm(x, wide[f"{base}.input_layernorm.weight"], values)
        attend = latent_attention if "kv_lora_rank" in values else attention
        x = x + attend(values, wide, f"{base}.self_attn", inside)
        inside = norm(x, wide[f"{base}.post_attention_layernorm.weight"], values)
        x = x + network(values, wide, base, inside, [] if margins is None else margins)
    last = norm(x, wide["model.norm.weight"], values)
    tied = values["tie_word_embeddings"]
    return last @ wide["model.embed_tokens.weight" if tied else "lm_head.weight"].T


def norm(x: Array, gain: Array, values: dict[str, Any]) -> Array:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + values["rms_norm_eps"]) * gain


def linear(wide: Arrays, name: str, x: Array) -> Array:
    return x @ wide[f"{name}.weight"].T + wide.get(f"{name}.bias", 0.0)


def turn(x: Array, base: float, *, pairs: bool = False) -> Array:
    """Rotate (tokens, heads, size) by position: element i with i + size / 2, or neighbours."""
    size = x.shape[-1]
    angles = np.arange(len(x))[:, None] * base ** (-np.arange(0, size, 2) / size)
    spin = np.exp(1j * angles)[:, None, :]
    if pairs:
        turned = (x[..., ::2] + 1j * x[..., 1::2]) * spin
        return np.stack((turned.real, turned.imag), -1).reshape(x.shape)
    turned = (x[..., : size // 2] + 1j * x[..., size // 2 :]) * spin
    return np.concatenate((turned.real, turned.imag), -1)


def attended(query: Array, key: Array, value: Array, scale: float) -> Array:
    """Causal attention of (tokens, heads, size)."""
    scores = np.einsum("qhd,khd->hqk", query, key) * scale
    count = len(query)
    scores = np.where(np.tril(np.ones((count, count), bool)), scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    powers /= powers.sum(-1, keepdims=True)
    return np.einsum("hqk,khd->qhd", powers, value).reshape(count, -1)


def attention(values: dict[str, Any], wide: Arrays, base: str, x: Array) -> Array:
    heads, kv_heads = values["num_attention_heads"], values["num_key_value_heads"]
    size = values.get("head_dim") or values["hidden_size"] // heads
    query = linear(wide, f"{base}.q_proj", x).reshape(-1, heads, size)
    key, value = (
        linear(wide, f"{base}.{part}_proj", x).reshape(-1, kv_heads, size) for part in "kv"
    )
    if f"{base}.q_norm.weight" in wide:
        query = norm(query, wide[f"{base}.q_norm.weight"], values)
        key = norm(key, wide[f"{base}.k_norm.weight"], values)
    query, key = (turn(part, values["rope_theta"]) for part in (query, key))
    key, value = (np.repeat(part, heads // kv_heads, axis=1) for part in (key, value))
    return linear(wide, f"{base}.o_proj", attended(query, key, value, size**-0.5))


def latent_attention(values: dict[str, Any], wide: Arrays, base: str, x: Array) -> Array:
    heads, count = values["num_attention_heads"], len(x)
    plain, rotated = values["qk_nope_head_dim"], values["qk_rope_head_dim"]
    if values["q_lora_rank"]:
        short = linear(wide, f"{base}.q_a_proj", x)
        short = norm(short, wide[f"{base}.q_a_layernorm.weight"], values)
        query = linear(wide, f"{base}.q_b_proj", short)
    else:
        query = linear(wide, f"{base}.q_proj", x)
    query = query.reshape(count, heads, plain + rotated)
    both = linear(wide, f"{base}.kv_a_proj_with_mqa", x)
    kept, shared = np.split(both, [values["kv_lora_rank"]], axis=-1)
    kept = norm(kept, wide[f"{base}.kv_a_layernorm.weight"], values)
    parts = linear(wide, f"{base}.kv_b_proj", kept).reshape(count, heads, -1)
    theta = values["rope_theta"]
    spun = np.repeat(turn(shared[:, None], theta, pairs=True), heads, axis=1)
    key = np.concatenate((parts[..., :plain], spun), -1)
    query = np.concatenate((query[..., :plain], turn(query[..., plain:], theta, pairs=True)), -1)
    seen = attended(query, key, parts[..., plain:], (plain + rotated) ** -0.5)
    return linear(wide, f"{base}.o_proj", seen)


def network(
    values: dict[str, Any], wide: Arrays, base: str, x: Array, margins: list[float]
) -> Array:
    if f"{base}.mlp.gate_proj.weight" in wide:
        return gated(wide, f"{base}.mlp", x)
    mixtral = values["model_type"] == "mixtral"
    block = f"{base}.block_sparse_moe" if mixtral else f"{base}.mlp"
    names = ("w1", "w3", "w2") if mixtral else GATED
    chosen, weights = gate(values, wide, block, x, margins)
    out = np.zeros_like(x)
    for row, (experts, factors) in enumerate(zip(chosen, weights, strict=True)):
        for expert, factor in zip(experts, factors, strict=True):
            out[row] += factor * gated(wide, f"{block}.experts.{expert}", x[row], names)
    if f"{block}.shared_experts.gate_proj.weight" in wide:
        out = out + gated(wide, f"{block}.shared_experts", x)
    return out


GATED = ("gate_proj", "up_proj", "down_proj")


def gated(wide: Arrays, base: str, x: Array, names: tuple[str, str, str] = GATED) -> Array:
    opened = linear(wide, f"{base}.{names[0]}", x)
    opened = opened / (1 + np.exp(-opened))
    return linear(wide, f"{base}.{names[2]}", opened * linear(wide, f"{base}.{names[1]}", x))


def margin(ranked: Array, chosen: int) -> float:
    """How much higher the last chosen one is than the first that is not, in the closest row."""
    if chosen == ranked.shape[1]:
        return np.inf
    ordered = -np.sort(-ranked, -1)
    return float((ordered[:, chosen - 1] - ordered[:, chosen]).min())


def gate(
    values: dict[str, Any], wide: Arrays, block: str, x: Array, margins: list[float]
) -> tuple[Array, Array]:
    """Chosen experts and their weights, (tokens, chosen)."""
    raw = linear(wide, f"{block}.gate", x)
    third, second = (values["model_type"] == f"deepseek_v{n}" for n in (3, 2))
    if third:
        scores = 1 / (1 + np.exp(-raw))
    else:
        scores = np.exp(raw - raw.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
    ranked = scores + wide.get(f"{block}.gate.e_score_correction_bias", 0.0)
    if third or second:
        by_group = np.sort(ranked.reshape(len(x), values["n_group"], -1), -1)
        best = by_group[..., -2:].sum(-1) if third else by_group[..., -1]
        margins.append(margin(best, values["topk_group"]))
        order = np.argsort(-best, -1)[:, : values["topk_group"]]
        member = np.arange(ranked.shape[1]) // by_group.shape[-1]
        ranked = np.where((member[None, :, None] == order[:, None, :]).any(-1), ranked, -np.inf)
    margins.append(margin(ranked, values["num_experts_per_tok"]))
    chosen = np.argsort(-ranked, -1, kind="stable")[:, : values["num_experts_per_tok"]]
    weights = np.take_along_axis(scores, chosen, -1)
    if values["model_type"] == "mixtral" or (not second and values["norm_topk_prob"]):
        weights = weights / weights.sum(-1, keepdims=True)
    return chosen, weights * values.get("routed_scaling_factor", 1.0)
