# SPDX-License-Identifier: Apache-2.0
"""Attention over pages and packed sequences, its parts joined, its lengths exchanged in a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import place, wide

import aclnn_py as ap
from aclnn_py import functional

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
HEADS, WIDTH, PAGE = 4, 32, 16


def normal(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float16)


def attended(q: Array, k: Array, v: Array, extra: Array | float = 0.0) -> Array:
    """(heads, tokens, width) over (heads, keys, width)."""
    scores = (wide(q) @ wide(k).swapaxes(-1, -2) + extra) * WIDTH**-0.5
    power = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(power / power.sum(axis=-1, keepdims=True) @ wide(v))


def paged(rows: Array, table: Array, pages: int) -> Array:
    """Rows (batch, keys, heads * width) in the pages that a table names."""
    cache = np.full((pages, PAGE, rows.shape[-1]), 9, np.float16)
    for sequence, own in zip(rows, table, strict=True):
        for n, page in enumerate(own):
            part = sequence[n * PAGE : (n + 1) * PAGE]
            cache[page, : len(part)] = part
    return cache


def heads_of(rows: Array) -> Array:
    return rows.reshape(len(rows), -1, WIDTH).swapaxes(0, 1)


@pytest.mark.parametrize("name", ["fused", "incre"])
def test_decoding_from_pages_in_a_graph(name: str) -> None:
    q, keys, values = normal(1, 2, 1, HEADS * WIDTH), normal(2, 2, 32, 64), normal(3, 2, 32, 64)
    table = np.array([[3, 1], [0, 4]], np.int32)
    k, v = (place(paged(x, table, 5)) for x in (keys, values))
    query, pages, lengths = place(q), place(table), [20, 7]
    common: dict[str, Any] = {
        "block_table": pages, "num_heads": HEADS, "scale": WIDTH**-0.5,
        "num_key_value_heads": 2, "block_size": PAGE,
    }  # fmt: skip
    graph = ap.Graph()
    with graph.capture(inputs={"lengths": lengths}):
        if name == "fused":
            out, _ = functional.fused_infer_attention_score(
                query, k, v, actual_seq_lengths_kv=lengths, **common
            )
        else:
            out = functional.incre_flash_attention(
                query, k, v, actual_seq_lengths=lengths, inner_precise=0, **common
            )
    for now in ([20, 7], [21, 32]):
        graph.rebind(lengths=now)
        graph.replay()
        for b, n in enumerate(now):
            own = [np.repeat(heads_of(x[b, :n]), 2, axis=0) for x in (keys, values)]
            expected = attended(heads_of(q[b]), *own)
            assert_close(heads_of(out.numpy()[b]), expected, scale=4)


def test_packed_sequences_with_rotary_parts() -> None:
    ends, width = [3, 8], 64
    q, k, v = (normal(seed, 8, HEADS, WIDTH * 4) for seed in (1, 2, 3))
    q_rope, k_rope = normal(4, 8, HEADS, width), normal(5, 8, HEADS, width)
    out, lse = functional.fused_infer_attention_score(
        *map(place, (q, k, v)), actual_seq_lengths=ends, actual_seq_lengths_kv=ends,
        query_rope=place(q_rope), key_rope=place(k_rope), num_heads=HEADS,
        scale=WIDTH**-0.5, input_layout="TND_NTD", softmax_lse_flag=True,
    )  # fmt: skip
    assert out.shape == (HEADS, 8, WIDTH * 4)
    assert lse.shape == (8, HEADS, 1)
    for start, end in ((0, 3), (3, 8)):
        own = [wide(x[start:end]).swapaxes(0, 1) for x in (q, k, v)]
        extra = wide(q_rope[start:end]).swapaxes(0, 1) @ wide(k_rope[start:end]).transpose(1, 2, 0)
        assert_close(out.numpy()[:, start:end], attended(*own, extra), scale=4)


@pytest.mark.parametrize(
    ("layout", "given", "wanted"),
    [
        ("BSH", (2, 5, 128), (2, 5, 128)),
        ("BSND_NBSD", (2, 5, HEADS, WIDTH), (HEADS, 2, 5, WIDTH)),
        ("BSH_BNSD", (2, 5, 128), (2, HEADS, 5, WIDTH)),
        ("BNSD_BSND", (2, HEADS, 5, WIDTH), (2, 5, HEADS, WIDTH)),
    ],
)
def test_the_layout_of_the_result(
    layout: str, given: tuple[int, ...], wanted: tuple[int, ...]
) -> None:
    x = normal(1, *given)
    out, lse = functional.fused_infer_attention_score(
        *(place(x) for _ in range(3)), num_heads=HEADS, input_layout=layout, softmax_lse_flag=True,
        scale=WIDTH**-0.5,
    )  # fmt: skip
    assert (out.shape, lse.shape) == (wanted, (2, HEADS, 5, 1))
    letters = layout.partition("_")[0].replace("H", "ND")
    order = [letters.index(letter) for letter in "BNSD"]
    form = dict(zip("BSND", (2, 5, HEADS, WIDTH), strict=True))
    heads = x.reshape([form[letter] for letter in letters]).transpose(order)
    expected = attended(heads, heads, heads)
    result = layout.rpartition("_")[2].replace("H", "ND")
    found = out.numpy().reshape([form[letter] for letter in result])
    assert_close(found.transpose([result.index(letter) for letter in "BNSD"]), expected, scale=4)


def test_prompt_flash_attention() -> None:
    q, k, v = (normal(seed, 2, HEADS, 5, WIDTH) for seed in (1, 2, 3))
    hidden = np.triu(np.ones((5, 5), np.bool_), 1)
    out = functional.prompt_flash_attention(
        *map(place, (q, k, v)), atten_mask=place(hidden), num_heads=HEADS, scale=WIDTH**-0.5,
        input_layout="BNSD", inner_precise=0,
    )  # fmt: skip
    assert_close(out.numpy(), attended(q, k, v, np.where(hidden, -1e9, 0)), scale=4)


def test_parts_of_attention_joined() -> None:
    q, k, v = (wide(normal(seed, 3, 1, WIDTH)) for seed in (1, 2, 3))
    k, v = (np.random.default_rng(n).standard_normal((3, 10, WIDTH)) for n in (2, 3))
    sums, parts = [], []
    for part in (slice(0, 4), slice(4, 10)):
        scores = (q @ k[:, part].swapaxes(1, 2))[:, 0] * WIDTH**-0.5
        sums.append(np.log(np.exp(scores).sum(axis=1)).astype(np.float32))
        parts.append(attended(q, k[:, part], v[:, part])[:, 0].astype(np.float32))
    out, lse = functional.attention_update(list(map(place, sums)), list(map(place, parts)))
    assert_close(out.numpy(), attended(q, k, v)[:, 0])
    assert_close(lse.numpy(), np.logaddexp(*map(wide, sums)))


@pytest.mark.parametrize("packed", [False, True])
def test_the_gradient_of_flash_attention(packed: bool) -> None:
    lengths, keys = ([3, 6], [5, 4]) if packed else ([4, 4], [5, 5])
    q, dy = ([normal(i + b, HEADS, n, WIDTH) for b, n in enumerate(lengths)] for i in (1, 3))
    k, v = ([normal(i + b, HEADS, n, WIDTH) for b, n in enumerate(keys)] for i in (5, 7))

    def tensor(parts: list[Array]) -> Array:
        rows = [part.swapaxes(0, 1) for part in parts]
        return np.concatenate(rows) if packed else np.stack(rows).reshape(2, -1, HEADS * WIDTH)

    options: dict[str, Any] = {"num_heads": HEADS, "scale": WIDTH**-0.5}
    if packed:
        ends = [[int(e) for e in np.cumsum(n)] for n in (lengths, keys)]
        options |= {
            "input_layout": "TND", "actual_seq_q_len": ends[0], "actual_seq_kv_len": ends[1],
        }  # fmt: skip
    operands = [place(tensor(parts)) for parts in (q, k, v)]
    out, highest, total = functional.flash_attention(*operands, **options)
    found = functional.flash_attention_backward(
        place(tensor(dy)), *operands, out, highest, total, **options
    )
    results, slopes = [], []
    for parts in zip(q, k, v, dy, strict=True):
        results.append(attended(*parts[:3]))
        wide_q, wide_k, wide_v, g = (wide(x) for x in parts)
        powers = np.exp(wide_q @ wide_k.swapaxes(1, 2) * WIDTH**-0.5)
        chances = powers / powers.sum(-1, keepdims=True)
        along = (g * results[-1]).sum(-1, keepdims=True)
        slope = chances * (g @ wide_v.swapaxes(1, 2) - along) * WIDTH**-0.5
        slopes.append((slope @ wide_k, slope.swapaxes(1, 2) @ wide_q, chances.swapaxes(1, 2) @ g))
    assert_close(out.numpy(), tensor(results), scale=2.0)
    for result, wanted in zip(found, zip(*slopes, strict=True), strict=True):
        expected = tensor(list(wanted))
        limit = 2e-3 * (abs(expected) + abs(expected).mean())
        np.testing.assert_array_less(abs(wide(result.numpy()) - expected), limit)
