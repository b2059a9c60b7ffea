# SPDX-License-Identifier: Apache-2.0
"""Attention of inference and what stands around it: `python -m benchmarks.inference_attention`.

As `benchmarks.inference`: one row per family beside NumPy's composition in float32, both on one
thread, the least CPU time of the process, and results that were compared before.
"""

from __future__ import annotations

import sys
from typing import Any

from benchmarks.inference import (
    F32,
    Case,
    Families,
    device,
    main,
    measured,
    runs,
    silu,
)  # limits threads

# ruff: isort: split
import numpy as np

import aclnn_py as ap

FAR = (1 << 63) - 1
ops: Any = ap.ops  # whose arguments are too many to be written out
LATENT, ROTARY = 512, 64


def turned(x: Any, cos: Any, sin: Any) -> Any:
    """Pairs of neighbours become halves, which turn."""
    first, second = x[..., 0::2], x[..., 1::2]
    whole = np.concatenate([first, second], -1)
    return whole * cos + np.concatenate([-second, first], -1) * sin


def powers_of(scores: Any) -> Any:
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    return scores / scores.sum(-1, keepdims=True)


def gate_of_groups(rng: np.random.Generator) -> Case:
    rows, experts, k, groups, kept = 2048, 256, 8, 8, 4
    x = rng.standard_normal((rows, experts)).astype(F32)
    b = rng.uniform(0, 0.1, experts).astype(F32)
    logits, bias = device(x, b)
    y, index = ap.empty((rows, k), "float32"), ap.empty((rows, k), "int32")
    norm = ap.empty((rows, experts), "float32")

    def theirs() -> Any:
        chance = 1 / (1 + np.exp(-x))
        shifted = (chance + b).reshape(rows, groups, -1)
        best = np.sort(shifted, -1)[..., -2:].sum(-1)
        out = np.argsort(-best, -1, kind="stable")[:, kept:]
        np.put_along_axis(shifted, out[..., None], -np.inf, 1)
        chosen = np.argsort(-shifted.reshape(rows, -1), -1, kind="stable")[:, :k]
        weight = np.take_along_axis(chance, chosen, -1)
        return (weight / (weight.sum(-1, keepdims=True) + F32(1e-20)) * F32(2.5),)

    call = runs(
        lambda: ops.moe_gating_top_k(
            logits, bias, k, kept, groups, 1, 0, 1, False, 2.5, 1e-20, y, index, norm
        ),
        y,
    )
    case = f"{rows} x {experts} in {groups} groups, {k} of them, float32"
    return Case("gate of groups", case, call, theirs, 1e-4)


def combining(rng: np.random.Generator) -> Case:
    rows, width, k = 2048, 1024, 4
    x = rng.standard_normal((rows * k, width)).astype(np.float16)
    weight = rng.uniform(0, 1, (rows, k)).astype(np.float16)
    place = rng.permutation(rows * k).astype(np.int32)
    tokens, scales, where = device(x, weight, place)
    out = ap.empty((rows, width), "float16")

    def theirs() -> Any:
        parts = x[place].reshape(rows, k, width).astype(F32)
        return ((parts * weight.astype(F32)[..., None]).sum(1).astype(np.float16),)

    call = runs(
        lambda: ops.moe_finalize_routing_v2(tokens, where, None, None, None, scales, None, 2, out),
        out,
    )
    case = f"{rows} x {width} from {k} experts, float16"
    return Case("combining", case, call, theirs, 1e-2)


def gated_bytes(rng: np.random.Generator) -> Case:
    rows, width = 512, 4096
    x = rng.integers(-20000, 20000, (rows, width)).astype(np.int32)
    columns = rng.uniform(1e-4, 2e-4, width).astype(F32)
    lines = rng.uniform(0.5, 1, (rows, 1)).astype(F32)
    sums, weight_scale, token_scale = device(x, columns, lines)
    y, scale = ap.empty((rows, width // 2), "int8"), ap.empty((rows,), "float32")

    def theirs() -> Any:
        wide = x.astype(F32) * columns * lines
        made = wide[:, : width // 2] * silu(wide[:, width // 2 :])
        scale = np.abs(made).max(-1, keepdims=True) / F32(127)
        np.rint(made / scale).astype(np.int8)
        return (scale[:, 0],)

    call = runs(
        lambda: ops.dequant_swiglu_quant(
            sums, weight_scale, token_scale, None, None, None, None, False, "dynamic", y, scale
        ),
        scale,
    )
    case = f"{rows} x {width}, int32 to int8"
    return Case("dequantise, swiglu, quantise", case, call, theirs, 1e-3)


def rotary_cache(rng: np.random.Generator) -> Case:
    tokens, places = 2048, 4096
    kv = rng.standard_normal((1, 1, tokens, LATENT + ROTARY)).astype(np.float16)
    gamma = rng.standard_normal(LATENT).astype(np.float16)
    cos, sin = (rng.standard_normal((1, 1, tokens, ROTARY)).astype(np.float16) for _ in range(2))
    index = rng.permutation(places)[:tokens].astype(np.int64)[None]
    caches = [np.zeros((1, 1, places, n), np.float16) for n in (ROTARY, LATENT)]
    given = device(kv, gamma, cos, sin, index, *caches)
    outs = [ap.empty((1, 1, tokens, n), "float16") for n in (ROTARY, LATENT)]

    def theirs() -> Any:
        wide = kv[0, 0].astype(F32)
        own = wide[:, :LATENT]
        normed = own / np.sqrt((own * own).mean(-1, keepdims=True) + F32(1e-5)) * gamma
        caches[0][0, 0, index[0]] = turned(
            wide[:, LATENT:], cos[0, 0].astype(F32), sin[0, 0].astype(F32)
        )
        caches[1][0, 0, index[0]] = normed
        return caches

    call = runs(
        lambda: ops.kv_rms_norm_rope_cache(
            *given, None, None, None, None, 1e-5, "Norm", False, *outs
        ),
        *given[5:],
    )
    case = f"{tokens} tokens of {LATENT} + {ROTARY}, float16"
    return Case("norm and rotary into a cache", case, call, theirs, 1e-2)


def rotary_table(rng: np.random.Generator) -> Case:
    tokens, heads, kv_heads, width = 512, 32, 8, 128
    q = rng.standard_normal((tokens, heads * width)).astype(np.float16)
    k = rng.standard_normal((tokens, kv_heads * width)).astype(np.float16)
    table = rng.standard_normal((4096, width)).astype(np.float16)
    at = rng.permutation(4096)[:tokens].astype(np.int64)
    positions, query, key, cache = device(at, q, k, table)
    outs = ap.empty(q.shape, "float16"), ap.empty(k.shape, "float16")

    def turn(x: Any) -> Any:
        wide = x.astype(F32).reshape(tokens, -1, 2, width // 2)
        cos, sin = (table[at].astype(F32).reshape(tokens, 1, 2, -1)[:, :, i] for i in range(2))
        first, second = wide[:, :, 0], wide[:, :, 1]
        made = np.stack([first * cos - second * sin, second * cos + first * sin], 2)
        return made.reshape(x.shape).astype(np.float16)

    call = runs(
        lambda: ops.rope_with_sin_cos_cache(positions, query, key, cache, None, width, True, *outs),
        *outs,
    )
    case = f"{tokens} tokens, {heads} and {kv_heads} heads of {width}, float16"
    return Case("rotary from a table", case, call, lambda: (turn(q), turn(k)), 1e-2)


def indexer(rng: np.random.Generator) -> Case:
    tokens, heads, width, keys, count = 32, 64, 128, 4096, 512
    q, k = (
        rng.standard_normal(shape).astype(np.float16)
        for shape in ((1, tokens, heads, width), (1, keys, 1, width))
    )
    w = rng.uniform(0, 1, (1, tokens, heads)).astype(np.float16)
    query, key, weights = device(q, k, w)
    indices = ap.empty((1, tokens, 1, count), "int32")
    values = ap.empty((1, tokens, 1, count), "float16")

    def theirs() -> Any:
        scores = np.maximum(q[0].astype(F32) @ k[0, :, 0].astype(F32).T, 0)
        total = (w[0].astype(F32)[:, None] @ scores)[:, 0]
        chosen = np.argsort(-total, -1, kind="stable")[:, :count]
        return (np.take_along_axis(total, chosen, -1)[None, :, None],)

    call = runs(
        lambda: ops.lightning_indexer(
            query, key, weights, None, None, None, "BSND", "BSND", count, 0, FAR, FAR, True,
            indices, values,
        ),
        values,
    )  # fmt: skip
    case = f"{tokens} tokens of {heads} heads, {count} of {keys} keys, float16"
    return Case("lightning indexer", case, call, theirs, 1e-2)


def sparse(rng: np.random.Generator) -> Case:
    tokens, heads, keys, count = 16, 32, 4096, 512
    q, k = (
        rng.standard_normal((1, n, h, LATENT)).astype(np.float16)
        for n, h in ((tokens, heads), (keys, 1))
    )
    q_rope, k_rope = (
        rng.standard_normal((1, n, h, ROTARY)).astype(np.float16)
        for n, h in ((tokens, heads), (keys, 1))
    )
    chosen = np.stack([rng.permutation(keys)[:count] for _ in range(tokens)]).astype(np.int32)
    query, key, turned_query, turned_key, index = device(
        q, k, q_rope, k_rope, chosen[None, :, None]
    )
    out = ap.empty(q.shape, "float16")
    scale = (128 + ROTARY) ** -0.5

    def theirs() -> Any:
        wide_q = np.concatenate([q, q_rope], -1)[0].astype(F32)
        wide_k = np.concatenate([k, k_rope], -1)[0, :, 0].astype(F32)
        met = wide_k[chosen]
        powers = powers_of(wide_q @ met.swapaxes(-1, -2) * F32(scale))
        return ((powers @ met[..., :LATENT]).astype(np.float16)[None],)

    call = runs(
        lambda: ops.sparse_flash_attention(
            query, key, key, index, None, None, None, turned_query, turned_key, scale, 1, "BSND",
            "BSND", 0, FAR, FAR, 2, False, out, None, None,
        ),
        out,
    )  # fmt: skip
    case = f"{tokens} tokens of {heads} heads, {count} of {keys} keys, float16"
    return Case("sparse attention", case, call, theirs, 1e-2)


def latent(rng: np.random.Generator) -> Case:
    heads, keys, page = 32, 4096, 128
    q = rng.standard_normal((1, heads, 1, LATENT)).astype(np.float16)
    q_rope = rng.standard_normal((1, heads, 1, ROTARY)).astype(np.float16)
    pages = rng.standard_normal((keys // page, 1, page, LATENT)).astype(np.float16)
    rope_pages = rng.standard_normal((keys // page, 1, page, ROTARY)).astype(np.float16)
    order = rng.permutation(keys // page).astype(np.int32)
    query, rope, key, key_rope, table = device(q, q_rope, pages, rope_pages, order[None])
    out = ap.empty(q.shape, "float16")
    scale = (128 + ROTARY) ** -0.5
    none = [None] * 7

    def theirs() -> Any:
        own = pages[order].reshape(keys, LATENT).astype(F32)
        wide_k = np.concatenate([own, rope_pages[order].reshape(keys, ROTARY).astype(F32)], -1)
        wide_q = np.concatenate([q, q_rope], -1)[0, :, 0].astype(F32)
        powers = powers_of(wide_q @ wide_k.T * F32(scale))
        return ((powers @ own).astype(np.float16)[None, :, None],)

    call = runs(
        lambda: ops.fused_infer_attention_score_v3(
            query, [key], [key], None, None, None, [keys], *none, table, None, None, *none, rope,
            key_rope, None, heads, scale, 2147483647, 2147483647, "BNSD", 1, 0, 0, page, 0, False,
            0, 0, out, None,
        ),
        out,
    )  # fmt: skip
    case = f"{heads} heads on one, 1x{keys}x{LATENT}+{ROTARY}, pages of {page}, float16"
    return Case("latent attention", case, call, theirs, 1e-2)


def chosen_blocks(rng: np.random.Generator) -> Case:
    batch, heads, keys, page, size, count = 8, 16, 4096, 128, 64, 16
    q = rng.standard_normal((batch, heads, 192)).astype(np.float16)
    places = batch * keys // page
    k, v = (rng.standard_normal((places, page, w)).astype(np.float16) for w in (192, 128))
    order = rng.permutation(places).astype(np.int32).reshape(batch, -1)
    chosen = np.stack([rng.permutation(keys // size)[:count] for _ in range(batch)])[:, None]
    query, key, value, blocks, table = device(q, k, v, chosen.astype(np.int32), order)
    out = ap.empty((batch, heads, 128), "float16")
    scale = 192**-0.5

    def theirs() -> Any:
        made = np.empty((batch, heads, 128), np.float16)
        for b in range(batch):
            own_k, own_v = (x[order[b]].reshape(-1, size, x.shape[-1]) for x in (k, v))
            met_k, met_v = (
                x[chosen[b, 0]].reshape(count * size, -1).astype(F32) for x in (own_k, own_v)
            )
            made[b] = powers_of(q[b].astype(F32) @ met_k.T * F32(scale)) @ met_v
        return (made,)

    call = runs(
        lambda: ops.nsa_selected_attention_infer(
            query, key, value, blocks, None, table, None, [keys] * batch, "TND", heads, 1, size,
            count, page, scale, 0, out,
        ),
        out,
    )  # fmt: skip
    case = f"{batch} x {heads} heads on one, {count} blocks of {keys} keys, float16"
    return Case("NSA, chosen blocks", case, call, theirs, 1e-2)


FAMILIES: Families = (
    gate_of_groups,
    combining,
    gated_bytes,
    rotary_cache,
    rotary_table,
    indexer,
    sparse,
    latent,
    chosen_blocks,
)


def rows(quick: bool) -> list[dict[str, object]]:
    """Rows for the table of all benchmarks; here less is faster."""
    return measured(FAMILIES, quick)


if __name__ == "__main__":
    sys.exit(main(rows))
