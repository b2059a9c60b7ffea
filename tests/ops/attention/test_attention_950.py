# SPDX-License-Identifier: Apache-2.0
"""Attention with queries, keys, values and results of 8 and 4 bits, on a chip of the 950 series."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close

from ..gmm.test_grouped_950 import codes, floats, powers
from ..low_bits import FLOAT8, SCALE, codes_of, encoded, factors, values

pytestmark = pytest.mark.emulator_only(reason="chooses the chip of the emulator")

Array = np.ndarray[Any, Any]
EIGHT, FOUR, HIFLOAT = FLOAT8[1], "float4_e2m1fn", "hifloat8"
BRAIN = np.dtype(ml_dtypes.bfloat16)


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def call(
    query: Given, key: Given, value: Given, out: Made, layout: str, **more: Any
) -> tuple[Any, ...]:
    """The arguments of FusedInferAttentionScoreV5; heads have 2 queries for each key."""
    get = more.get
    return (
        *(query, [key], [value], get("pse"), get("mask"), get("lengths"), get("key_lengths")),
        *(None, get("p_scale"), None, get("quant"), None, None, None, get("table"), None, None),
        *(get("key_scale"), None, get("value_scale"), None, None, None, None),
        *(get("rope"), get("key_rope"), None, get("query_scale"), None, None, None),
        *(get("heads", 4), get("scale", 0.125), 2147483647, 2147483647, layout),
        *(get("kv_heads", 2), get("sparse", 0), 0, get("block", 0), 0, False),
        *(get("mode", 0), get("value_mode", get("mode", 0)), get("query_mode", 0), 0),
        *(out, None),
    )


def run(newer: Chip950, *arguments: Any) -> Array:
    results = newer.operator("fused_infer_attention_score_v5", *arguments)
    assert not isinstance(results, Refused), results
    return results[0]


def attention(query: Array, key: Array, value: Array, scale: float = 0.125) -> Array:
    """(batch, heads, tokens, width), two heads of the query for each of the keys'."""
    group = query.shape[1] // key.shape[1]
    key, value = key.repeat(group, axis=1), value.repeat(group, axis=1)
    scores = np.einsum("bnsd,bntd->bnst", query.astype(np.float64), key.astype(np.float64)) * scale
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("bnst,bntd->bnsd", weights, value.astype(np.float64))


def bits(array: Array) -> Given:
    return Given(array.astype(BRAIN), "bfloat16")


@pytest.mark.parametrize(("dtype", "mode"), [(EIGHT, 0), (HIFLOAT, 0), (EIGHT, 1), (FOUR, 6)])
@pytest.mark.parametrize("tokens", [1, 5])
def test_keys_and_values_of_few_bits(newer: Chip950, dtype: str, mode: int, tokens: int) -> None:
    rng = np.random.default_rng(21)
    batch, kept, width = 2, 40, 64
    query = floats(rng, batch, 4, tokens, width).astype(BRAIN)
    key, value = (codes(rng, dtype, (batch, 2, kept, width)) for _ in range(2))
    if mode == 0:
        given = [floats(rng, 2, width).astype(BRAIN) / 8 for _ in range(2)]
        scales = [scale[:, None].astype(np.float64) for scale in given]
        kind = "bfloat16"
    elif mode == 1:
        given = [floats(rng, batch, kept + 3) / 8 for _ in range(2)]
        scales = [scale[:, None, :kept, None].astype(np.float64) for scale in given]
        kind = "float32"
    else:
        given = [powers(rng, 1, batch, 2, kept, 2) - 3 for _ in range(2)]
        scales = [factors(scale[0]).repeat(32, axis=-1) for scale in given]
        kind = SCALE
    out = run(
        newer,
        *call(
            *(Given(query, "bfloat16"), Given(key, dtype), Given(value, dtype)),
            *(Made(query.shape, "bfloat16"), "BNSD"),
            key_scale=Given(given[0], kind),
            value_scale=Given(given[1], kind),
            mode=mode,
        ),
    )
    exact = attention(query, values(dtype)[key] * scales[0], values(dtype)[value] * scales[1])
    assert_close(out, exact, scale=4)


def test_packed_sequences_with_scales_of_tokens(newer: Chip950) -> None:
    rng = np.random.default_rng(22)
    ends, kept, width = [3, 7], [20, 50], 64
    query = floats(rng, 7, 4, width).astype(BRAIN)
    key, value = (codes(rng, EIGHT, (50, 2, width)) for _ in range(2))
    scales = [floats(rng, 2, 30) / 8 for _ in range(2)]
    out = run(
        newer,
        *call(
            *(Given(query, "bfloat16"), Given(key, EIGHT), Given(value, EIGHT)),
            *(Made(query.shape, "bfloat16"), "TND"),
            lengths=ends,
            key_lengths=kept,
            key_scale=Given(scales[0], "float32"),
            value_scale=Given(scales[1], "float32"),
            mode=1,
        ),
    )
    first = [0, 3], [0, 20]
    for b in range(2):
        rows, cols = slice(first[0][b], ends[b]), slice(first[1][b], kept[b])
        count = kept[b] - first[1][b]
        sides = [
            (values(EIGHT)[side[cols]] * scale[b, :count, None, None]).swapaxes(0, 1)[None]
            for side, scale in ((key, scales[0]), (value, scales[1]))
        ]
        exact = attention(query[rows].swapaxes(0, 1)[None], *sides)
        assert_close(out[rows], exact[0].swapaxes(0, 1), scale=4)


@pytest.mark.parametrize("dtype", [EIGHT, FOUR])
def test_pages(newer: Chip950, dtype: str) -> None:
    rng = np.random.default_rng(23)
    kept, width, block = [70, 100], 64, 64
    query = floats(rng, 2, 4, 1, width).astype(BRAIN)
    key, value = (codes(rng, dtype, (5, 2, block, width)) for _ in range(2))
    table = np.array([[3, 1], [4, 0]], np.int32)
    mode = 4 if dtype == EIGHT else 6
    if mode == 4:
        given = [floats(rng, 5, block) / 8 for _ in range(2)]
    else:
        given = [powers(rng, 1, 2, 2, 2 * block, 2) - 3 for _ in range(2)]
    out = run(
        newer,
        *call(
            *(Given(query, "bfloat16"), Given(key, dtype), Given(value, dtype)),
            *(Made(query.shape, "bfloat16"), "BNSD"),
            key_lengths=kept,
            table=Given(table, "int32"),
            block=block,
            key_scale=Given(given[0], "float32" if mode == 4 else SCALE),
            value_scale=Given(given[1], "float32" if mode == 4 else SCALE),
            mode=mode,
        ),
    )
    for b in range(2):
        sides = []
        for side, scale in zip((key, value), given, strict=True):
            whole = np.concatenate([values(dtype)[side[page]] for page in table[b]], axis=1)
            if mode == 4:
                whole = whole * np.concatenate([scale[page] for page in table[b]])[None, :, None]
            else:
                whole = whole * factors(scale[0, b]).repeat(32, axis=-1)
            sides.append(whole[None, :, : kept[b]])
        assert_close(out[b], attention(query[b : b + 1], *sides)[0], scale=4)


@pytest.mark.parametrize("dtype", [EIGHT, HIFLOAT])
@pytest.mark.parametrize("paged", [False, True])
def test_latent_queries_of_8_bits(newer: Chip950, dtype: str, paged: bool) -> None:
    rng = np.random.default_rng(24)
    heads, tokens, kept, width = 32, 2, 128, 512
    query = codes(rng, dtype, (1, heads, tokens, width))
    key = codes(rng, dtype, (1, 1, kept, width))
    scale = floats(rng, 1, heads, tokens) / 64
    rope = floats(rng, 1, heads, tokens, 64).astype(BRAIN)
    key_rope = floats(rng, 1, 1, kept, 64).astype(BRAIN)
    one = Given(np.array([0.25], np.float32), "float32")
    pages = (
        {"table": Given(np.zeros((1, 1), np.int32), "int32"), "block": 128, "key_lengths": [100]}
        if paged
        else {}
    )
    out = run(
        newer,
        *call(
            *(Given(query, dtype), Given(key, dtype), Given(key, dtype)),
            *(Made(query.shape, "bfloat16"), "BNSD"),
            heads=heads,
            kv_heads=1,
            query_scale=Given(scale, "float32"),
            key_scale=one,
            value_scale=one,
            rope=bits(rope),
            key_rope=bits(key_rope),
            query_mode=3,
            **pages,
        ),
    )
    used = 100 if paged else kept
    left = np.concatenate([values(dtype)[query] * scale[..., None], rope.astype(np.float64)], -1)
    numbers = values(dtype)[key] * 0.25
    right = np.concatenate([numbers, key_rope.astype(np.float64)], -1)
    assert_close(out, attention(left, right[:, :, :used], numbers[:, :, :used]), scale=4)


def test_heads_of_8_bits_in_pages(newer: Chip950) -> None:
    rng = np.random.default_rng(25)
    width, block, ends, kept = 128, 128, [2, 5], [100, 130]
    query = codes(rng, EIGHT, (4, 5, width))
    key, value = (codes(rng, EIGHT, (4, 2, block, width)) for _ in range(2))
    table = np.array([[2, 0], [3, 1]], np.int32)
    query_scale, key_scale = floats(rng, 4, 5) / 16, floats(rng, 4, 2, block) / 16
    value_scale = floats(rng, 2)
    mask = Given(np.triu(np.ones((2048, 2048), np.int8), 1), "int8")
    out = run(
        newer,
        *call(
            *(Given(query, EIGHT), Given(key, EIGHT), Given(value, EIGHT)),
            *(Made((5, 4, width), "bfloat16"), "NTD_TND"),
            lengths=ends,
            key_lengths=kept,
            table=Given(table, "int32"),
            block=block,
            p_scale=Given(np.array([16], np.float32), "float32"),
            query_scale=Given(query_scale, "float32"),
            key_scale=Given(key_scale, "float32"),
            value_scale=Given(value_scale, "float32"),
            query_mode=3,
            mode=3,
            value_mode=2,
            sparse=3,
            mask=mask,
        ),
    )
    numbers = values(EIGHT)[query] * query_scale[..., None]
    for b, first in enumerate([0, 2]):
        right = np.concatenate(
            [values(EIGHT)[key[p]] * key_scale[p][..., None] for p in table[b]], axis=1
        )
        last = np.concatenate([values(EIGHT)[value[p]] for p in table[b]], axis=1)
        last = last * value_scale[:, None, None]
        for row in range(first, ends[b]):
            seen = kept[b] - (ends[b] - 1 - row)
            exact = attention(
                numbers[None, :, row : row + 1], right[None, :, :seen], last[None, :, :seen]
            )
            assert_close(out[row], exact[0, :, 0], scale=4)


@pytest.mark.parametrize("dtype", [EIGHT, HIFLOAT])
def test_results_of_8_bits(newer: Chip950, dtype: str) -> None:
    rng = np.random.default_rng(26)
    query, key, value = (
        floats(rng, 1, n, s, 64).astype(np.float16) for n, s in ((4, 3), (2, 20), (2, 20))
    )
    quant = Given(np.array([8], np.float32), "float32")
    out = run(
        newer,
        *call(
            *(Given(query, "float16"), Given(key, "float16"), Given(value, "float16")),
            *(Made(query.shape, dtype), "BNSD"),
            quant=quant,
        ),
    )
    exact = attention(query, key, value) * 8
    wanted = encoded(exact, dtype, "round" if dtype == HIFLOAT else "rint")
    assert (codes_of(out) == wanted).mean() > 0.99


def test_refusals(newer: Chip950) -> None:
    query = bits(np.ones((1, 4, 1, 64)))
    key, four = np.zeros((1, 2, 8, 64), np.uint8), Given(np.zeros((1, 2, 8, 64), np.uint8), FOUR)
    low, out = Given(key, EIGHT), Made((1, 4, 1, 64), "bfloat16")
    narrow = Given(np.zeros((1, 4, 1, 64), np.uint8), EIGHT)
    scale = Given(np.ones((2, 64)).astype(BRAIN), "bfloat16")
    both = {"key_scale": scale, "value_scale": scale}
    latent, kept = np.zeros((1, 4, 1, 512), np.uint8), np.zeros((1, 1, 8, 512), np.uint8)
    ones, one = np.ones((1, 4, 1), np.float32), Given(np.ones(1, np.float32), "float32")
    rotary: dict[str, Any] = {
        "rope": bits(np.zeros((1, 4, 1, 64)).astype(BRAIN)),
        "key_rope": bits(np.zeros((1, 1, 8, 64)).astype(BRAIN)),
        "query_scale": Given(ones, "float32"),
        "query_mode": 3, "kv_heads": 1, "key_scale": one, "value_scale": one,
    }  # fmt: skip
    operands = Given(latent, EIGHT), Given(kept, EIGHT), Given(kept, EIGHT)
    for arguments, says in (
        (
            call(*operands, Made((1, 4, 1, 512), "bfloat16"), "BNSD", **rotary),
            "numHeads is 4; with heads of 512 elements of FLOAT8_E4M3FN it is 32, 64 or 128",
        ),
        (call(query, low, low, out, "BNSD"), "key has dtype FLOAT8_E4M3FN; it must have"),
        (call(query, low, low, out, "BNSD", mode=2, **both), "keyAntiquantMode is 2"),
        (call(query, four, four, out, "BNSD", mode=0, **both), "keyAntiquantMode is 0"),
        (call(query, low, four, out, "BNSD", **both), "value has dtype FLOAT4_E2M1"),
        (call(narrow, low, low, out, "BNSD", **both), "dequantScaleQueryOptional is null"),
        (call(query, low, low, out, "BNSD", mode=1, **both), "keyAntiquantScaleOptional has shape"),
    ):
        found = newer.operator("fused_infer_attention_score_v5", *arguments)
        assert isinstance(found, Refused), says
        assert says in found.text
        assert found.status in (161002, 561002)


@pytest.mark.parametrize("rotary", [True, False])
def test_sinks_of_attention_over_chosen_keys(newer: Chip950, rotary: bool) -> None:
    rng = np.random.default_rng(21)
    q, k, v = (floats(rng, 1, n, heads, 512) for n, heads in ((3, 5), (9, 1), (9, 1)))
    parts = [floats(rng, 1, n, heads, 64) for n, heads in ((3, 5), (9, 1))]
    chosen = np.array([[4, 0, 2, -1], [8, 3, -1, -1], [1, 5, 6, 7]], np.int32)
    sinks = floats(rng, 5).astype(np.float32)
    made = [Made((1, 3, 5, 512), "float16"), *[Made((1, 1, 3, 5), "float32")] * 2]
    found = newer.operator(
        "sparse_flash_attention_v2",
        *(Given(x.astype(np.float16), "float16") for x in (q, k, v)),
        *(Given(chosen[None, :, None], "int32"), None, None, None),
        *(Given(x.astype(np.float16), "float16") if rotary else None for x in parts),
        Given(sinks, "float32"),
        *(0.05, 1, "BSND", "BSND", 0, 2**63 - 1, 2**63 - 1, 2, True, *made),
    )
    assert not isinstance(found, Refused), found
    wide = [x.astype(np.float16).astype(np.float64) for x in (q, k, v, *parts)]
    left = np.concatenate([wide[0], wide[3]], -1) if rotary else wide[0]
    right = np.concatenate([wide[1], wide[4]], -1) if rotary else wide[1]
    for t in range(3):
        met = chosen[t][chosen[t] >= 0]
        score = 0.05 * left[0, t] @ right[0, met, 0].T
        powers, drain = np.exp(score), np.exp(sinks.astype(np.float64))
        exact = powers @ wide[2][0, met, 0] / (powers.sum(-1) + drain)[:, None]
        np.testing.assert_allclose(found[0][0, t].astype(float), exact, rtol=4e-3, atol=2e-3)
