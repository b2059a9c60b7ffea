# SPDX-License-Identifier: Apache-2.0
"""Layers of inference, drawing tokens and layouts: `python -m benchmarks.inference_layers`.

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
import ml_dtypes
import numpy as np

import aclnn_py as ap

BF16 = ml_dtypes.bfloat16
ops: Any = ap.ops  # whose arguments are too many to be written out


def brain(rng: np.random.Generator, *shape: int, size: float = 1) -> Any:
    return (rng.standard_normal(shape) * size).astype(BF16)


def normed(x: Any, gamma: Any) -> Any:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + F32(1e-5)) * gamma.astype(F32)


def turned(x: Any, cos: Any, sin: Any) -> Any:
    """Pairs of neighbours become halves, which turn."""
    first, second = x[..., 0::2], x[..., 1::2]
    return np.concatenate([first, second], -1) * cos + np.concatenate([-second, first], -1) * sin


def prologue(rng: np.random.Generator) -> Case:
    tokens, heads, hidden, rank, head, latent, rotary = 32, 16, 2048, 1536, 128, 512, 64
    x, w_dq = brain(rng, tokens, hidden), brain(rng, hidden, rank, size=0.03)
    w_uq = brain(rng, rank, heads * (head + rotary), size=0.03)
    w_uk = brain(rng, heads, head, latent, size=0.1)
    w_dkv = brain(rng, hidden, latent + rotary, size=0.03)
    gammas = brain(rng, rank), brain(rng, latent)
    sin, cos = brain(rng, tokens, rotary), brain(rng, tokens, rotary)
    index = rng.permutation(1024)[:tokens].astype(np.int64)
    given = device(x, w_uk, *gammas, sin, cos, index)
    blocks = [ap.from_numpy(w, format="FRACTAL_NZ") for w in (w_dq, w_uq, w_dkv)]
    kv, kr = (ap.zeros((8, 128, 1, n), "bfloat16") for n in (latent, rotary))
    query = ap.empty((tokens, heads, latent), "bfloat16")
    rope = ap.empty((tokens, heads, rotary), "bfloat16")

    def theirs() -> Any:
        wide, (c, s) = x.astype(F32), (t.astype(F32) for t in (cos, sin))
        low = normed(wide @ w_dq.astype(F32), gammas[0]).astype(BF16).astype(F32)
        both = (low @ w_uq.astype(F32)).reshape(tokens, heads, head + rotary)
        own = both[..., :head].astype(BF16).astype(F32)
        joined = wide @ w_dkv.astype(F32)
        made = np.zeros((1024, latent), BF16)
        made[index] = normed(joined[:, :latent], gammas[1])
        turned(joined[:, latent:], c, s).astype(BF16)
        turned_query = turned(both[..., head:], c[:, None], s[:, None]).astype(BF16)
        up = (own.swapaxes(0, 1) @ w_uk.astype(F32)).swapaxes(0, 1).astype(BF16)
        return up, turned_query, made.reshape(8, 128, 1, latent)

    def call() -> None:
        ops.mla_prolog(
            given[0], blocks[0], blocks[1], given[1], blocks[2], *given[2:], kv, kr,
            *[None] * 7, 1e-5, 1e-5, "PA_BSND", query, rope,
        )  # fmt: skip

    case = f"{tokens} tokens of {hidden}, {heads} heads, bfloat16"
    return Case("latent prologue", case, runs(call, query, rope, kv), theirs, 6e-2)


def feed_forward(rng: np.random.Generator) -> Case:
    rows, width, inner = 64, 1024, 2048
    x = rng.standard_normal((rows, width)).astype(np.float16)
    w1 = (rng.standard_normal((width, inner)) * 0.03).astype(np.float16)
    w2 = (rng.standard_normal((inner, width)) * 0.03).astype(np.float16)
    tokens, first, second = device(x, w1, w2)
    y = ap.empty((rows, width), "float16")

    def theirs() -> Any:
        hidden = silu(x.astype(F32) @ w1.astype(F32)).astype(np.float16)
        return ((hidden.astype(F32) @ w2.astype(F32)).astype(np.float16),)

    call = runs(
        lambda: ops.ffn_v3(tokens, first, second, *[None] * 11, "silu", 0, False, y),
        y,
    )
    return Case("feed-forward", f"{rows} x {width} x {inner}, silu, float16", call, theirs, 2e-2)


def delta_rule(rng: np.random.Generator) -> Case:
    batch, heads, shared, width = 16, 16, 8, 128
    q, k = (brain(rng, batch, shared, width, size=width**-0.5) for _ in range(2))
    v = brain(rng, batch, heads, width)
    beta = rng.uniform(0.1, 0.9, (batch, heads)).astype(BF16)
    g = rng.uniform(-1, 0, (batch, heads)).astype(F32)
    before = brain(rng, batch, heads, width, width)
    ones, slots = np.ones(batch, np.int32), np.arange(batch, dtype=np.int32)
    given = device(q, k, v, beta, before, ones, slots, g, ones)
    out, state = ap.empty(v.shape, "bfloat16"), given[4]
    start = ap.from_numpy(before)

    def theirs() -> Any:
        wide_q, wide_k = (np.repeat(x, heads // shared, 1).astype(F32) for x in (q, k))
        s = before.astype(F32) * np.exp(g)[..., None, None]
        missed = v.astype(F32) - (s @ wide_k[..., None])[..., 0]
        s += (beta.astype(F32)[..., None] * missed)[..., None] * wide_k[..., None, :]
        return ((s @ wide_q[..., None])[..., 0].astype(BF16),), s.astype(BF16)

    def call() -> None:
        ops.inplace_copy(state, start)
        ops.recurrent_gated_delta_rule(*given[:8], None, given[8], 1.0, out)

    case = f"{batch} x {heads} heads, {width} x {width}, bfloat16"
    return Case("gated delta rule", case, runs(call, out), lambda: theirs()[0], 3e-2)


def residual_streams(rng: np.random.Generator) -> Case:
    tokens, streams, width = 512, 4, 2048
    x = rng.standard_normal((1, tokens, streams, width)).astype(np.float16)
    mixing = rng.uniform(0, 1, (1, tokens, streams, streams)).astype(F32)
    added = rng.standard_normal((1, tokens, width)).astype(np.float16)
    weights = rng.uniform(0, 1, (1, tokens, streams)).astype(F32)
    given, out = device(x, mixing, added, weights), ap.empty(x.shape, "float16")

    def theirs() -> Any:
        mixed = mixing.swapaxes(-1, -2) @ x.astype(F32)
        return ((mixed + added.astype(F32)[:, :, None] * weights[..., None]).astype(np.float16),)

    call = runs(lambda: ops.mhc_post(*given, out), out)
    case = f"{tokens} x {streams} x {width}, float16"
    return Case("residual streams", case, call, theirs, 1e-2)


def into_blocks(rng: np.random.Generator) -> Case:
    rows, columns = 2048, 4096
    w = rng.standard_normal((rows, columns)).astype(np.float16)
    (plain,) = device(w)
    blocks = ap.empty((rows, columns), "float16", format="FRACTAL_NZ")

    def theirs() -> Any:
        np.ascontiguousarray(w.reshape(rows // 16, 16, columns // 16, 16).transpose(2, 0, 1, 3))
        return (w,)

    call = runs(lambda: ops.npu_format_cast(plain, blocks), blocks)
    return Case("cast to blocks", f"{rows} x {columns}, float16", call, theirs, 0)


def choosing(rng: np.random.Generator) -> Case:
    rows, words, k = 16, 32000, 50
    x = rng.standard_normal((rows, words)).astype(np.float16)
    most, share = np.full(rows, k, np.int32), np.full(rows, 0.9, np.float16)
    noise = rng.exponential(size=(rows, words)).astype(F32)
    logits, top_k, top_p, q = device(x, most, share, noise)
    chosen, left = ap.empty((rows,), "int64"), ap.empty((rows, words), "float32")

    def theirs() -> Any:
        best = np.argsort(-x, axis=-1, kind="stable")[:, :k]
        ranked = np.take_along_axis(x, best, -1).astype(F32)
        chance = np.exp(ranked - ranked[:, :1])
        chance /= chance.sum(-1, keepdims=True)
        before = np.cumsum(chance, -1) - chance
        chance[before > share[:, None].astype(F32)] = 0
        chance /= noise[:, :k] + F32(1e-8)  # the likeliest token has the first number
        return (np.take_along_axis(best, chance.argmax(-1)[:, None], -1)[:, 0],)

    call = runs(
        lambda: ops.top_k_top_p_sample(logits, top_k, top_p, q, 1e-8, False, k, chosen, left),
        chosen,
    )
    case = f"{rows} of {words}, {k} and 0.9, float16"
    return Case("choosing tokens", case, call, theirs, 0)


def drawing(rng: np.random.Generator) -> Case:
    rows, words, draws = 16, 32000, 32
    w = rng.uniform(0, 1, (rows, words)).astype(F32)
    w[:, 100:] = 0
    (weights,) = device(w)
    out = ap.empty((rows, draws), "int64")

    def theirs() -> Any:
        sums = np.cumsum(w, -1, np.float64)
        found = [np.searchsorted(s, rng.uniform(0, s[-1], draws)) for s in sums]
        return (np.array(found) < 100,)

    def ours() -> Any:
        ops.multinomial(weights, draws, True, 1, 0, out)
        ap.synchronize()
        return (ap.from_numpy(out.numpy() < 100),)

    case = f"{draws} of {words} words in {rows} rows, float32"
    return Case("drawing", case, ours, theirs, 0)


FAMILIES: Families = (
    prologue,
    feed_forward,
    delta_rule,
    residual_streams,
    into_blocks,
    choosing,
    drawing,
)


def rows(quick: bool) -> list[dict[str, object]]:
    """Rows for the table of all benchmarks; here less is faster."""
    return measured(FAMILIES, quick)


if __name__ == "__main__":
    sys.exit(main(rows))
