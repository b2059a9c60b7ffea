# SPDX-License-Identifier: Apache-2.0
"""Sparse latent attention over quantised keys on a 950, in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="chooses the chip of the emulator"),
]

Array = npt.NDArray[Any]
F32, BF16 = np.dtype(np.float32), np.dtype(ml_dtypes.bfloat16)
E4M3 = np.dtype(ml_dtypes.float8_e4m3fn)
LENGTHS, KEYS, HEADS, SCALE, PAGE = (3, 1), (40, 21), 3, 0.05, 8


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def quantised(g: np.random.Generator, count: int, mode: int) -> tuple[Array, Array]:
    """The bytes of some tokens, and the 512 elements that they stand for."""
    rest = g.standard_normal((count, 448)).astype(E4M3)
    rotary = g.standard_normal((count, 64)).astype(BF16)
    if mode == 1:
        scales = g.uniform(0.5, 2, (count, 7)).astype(BF16)
        factors, pad = scales.astype(np.float64), 18
        parts = [rotary, rest, scales]
    else:
        codes = g.integers(125, 130, (count, 7)).astype(np.uint8)
        factors, pad = 2.0 ** (codes.astype(np.float64) - 127), 1
        parts = [rest, rotary, codes]
    stored = np.concatenate([x.view(np.uint8) for x in parts] + [np.full((count, pad), 77)], 1)
    values = rest.astype(np.float64) * np.repeat(factors, 64, 1)
    return stored.astype(np.uint8), np.concatenate([values, rotary.astype(np.float64)], 1)


class Problem:
    """Two sequences with their tokens and compressed tokens."""

    def __init__(self, kind: str, paged: bool, mode: int) -> None:
        g = np.random.default_rng(5)
        self.kind, self.paged, self.mode = kind, paged, mode
        self.ratio = 1 if kind in ("band", "causal", "own chosen") else 4
        self.q = [g.standard_normal((n, HEADS, 512)).astype(BF16) for n in LENGTHS]
        self.counts = [n // self.ratio for n in KEYS]
        self.residuals = [n % self.ratio for n in KEYS]
        self.own = [quantised(g, n, mode) for n in KEYS]
        self.compressed = [quantised(g, n, mode) for n in self.counts]
        self.sinks = g.standard_normal(HEADS).astype(F32)
        self.tables = [g.permutation(10).astype(np.int32).reshape(2, 5) for _ in range(2)]
        self.own_used = [g.integers(0, 7, (n, 1)).astype(np.int32) for n in LENGTHS]
        self.picked_used = [g.integers(0, 5, (n, 1)).astype(np.int32) for n in LENGTHS]
        self.own_chosen = [
            np.array([g.permutation(KEYS[b])[:6] for _ in range(n)], np.int32)[:, None]
            for b, n in enumerate(LENGTHS)
        ]
        self.picked = [
            np.array([g.permutation(self.counts[b])[:4] for _ in range(n)], np.int32)[:, None]
            for b, n in enumerate(LENGTHS)
        ]

    def cache(self, parts: list[tuple[Array, Array]], table: Array) -> Given:
        if not self.paged:
            return Given(np.concatenate([x for x, _ in parts])[:, None].view(E4M3), "float8_e4m3fn")
        cache = np.full((10, PAGE, 1, parts[0][0].shape[1]), 77, np.uint8)
        for b, (x, _) in enumerate(parts):
            for t in range(len(x)):
                cache[table[b, t // PAGE], t % PAGE, 0] = x[t]
        return Given(cache.view(E4M3), "float8_e4m3fn")

    def arguments(self) -> list[Any]:
        kind, paged = self.kind, self.paged
        both = kind in ("dense", "picked", "all chosen")
        chosen = kind in ("own chosen", "all chosen")
        lists = lambda parts: Given(np.concatenate(parts), "int32")  # noqa: E731
        ends = lambda counts: Given(np.array([0, *np.cumsum(counts)], np.int32), "int32")  # noqa: E731
        plain = lambda values: Given(np.array(values, np.int32), "int32")  # noqa: E731
        return [
            Given(np.concatenate(self.q), "bfloat16"), self.cache(self.own, self.tables[0]),
            self.cache(self.compressed, self.tables[1]) if both else None,
            lists(self.own_chosen) if chosen else None,
            lists(self.picked) if kind in ("picked", "all chosen") else None,
            Given(self.tables[0], "int32") if paged else None,
            Given(self.tables[1], "int32") if paged and both else None,
            ends(LENGTHS), None if paged else ends(KEYS),
            ends(self.counts) if both and not paged else None,
            None, plain(KEYS) if paged else None, plain(self.counts) if paged and both else None,
            plain(self.residuals) if both else None, lists(self.own_used) if chosen else None,
            lists(self.picked_used) if kind == "all chosen" else None,
            Given(self.sinks, "float32"), Given(np.zeros(1024, np.int32), "int32"),
            self.mode, 64, SCALE, self.ratio, 0 if chosen else 3 if kind == "causal" else 4,
            0 if chosen or not both else 3, -1 if chosen or kind == "causal" else 11,
            -1 if chosen or kind == "causal" else 0, "TND", "PA_BBND" if paged else "TND", 1, True,
            Made((4, HEADS, 512), "bfloat16"), Made((1, 4, HEADS), "float32"),
        ]  # fmt: skip

    def met(self, b: int, t: int) -> Array:
        own, compressed = self.own[b][1], self.compressed[b][1]
        if self.kind in ("own chosen", "all chosen"):
            first = own[self.own_chosen[b][t, 0, : self.own_used[b][t, 0]]]
            if self.kind == "own chosen":
                return first
            picked = self.picked[b][t, 0, : self.picked_used[b][t, 0]]
            return np.concatenate([first, compressed[picked]])
        threshold = KEYS[b] - LENGTHS[b] + t + 1
        if self.kind == "causal":
            return own[:threshold]
        first = own[max(threshold - 12, 0) : threshold]
        if self.kind == "band":
            return first
        seen = threshold // self.ratio
        if self.kind == "dense":
            return np.concatenate([first, compressed[:seen]])
        return np.concatenate([first, compressed[[i for i in self.picked[b][t, 0] if i < seen]]])


@pytest.mark.parametrize("kind", ["band", "causal", "own chosen", "dense", "picked", "all chosen"])
@pytest.mark.parametrize(("paged", "mode"), [(False, 1), (True, 1), (True, 2)])
def test_quantised_keys(newer: Chip950, paged: bool, mode: int, kind: str) -> None:
    problem = Problem(kind, paged, mode)
    found = newer.operator("mixed_quant_sparse_flash_mla", *problem.arguments())
    assert not isinstance(found, Refused), found
    out, lse = found
    row = 0
    for b, n in enumerate(LENGTHS):
        for t in range(n):
            keys = problem.met(b, t)
            score = SCALE * problem.q[b][t].astype(np.float64) @ keys.T
            sink = problem.sinks.astype(np.float64)[:, None]
            most = np.maximum(sink, score.max(-1, keepdims=True, initial=-np.inf))
            powers = np.exp(score - most)
            total = powers.sum(-1, keepdims=True) + np.exp(sink - most)
            assert_close(out[row], powers @ keys / total, scale=2.0)
            assert_close(lse[0, row], (most + np.log(total))[:, 0], scale=9.0)
            row += 1


@pytest.mark.parametrize(("epilog", "mode", "width"), [(0, 1, 608), (1, 2, 584)])
def test_a_cache_is_read_as_it_was_written(
    newer: Chip950, epilog: int, mode: int, width: int
) -> None:
    g = np.random.default_rng(8)
    x, q = g.standard_normal((30, 512)).astype(BF16), g.standard_normal((1, 2, 512)).astype(BF16)
    slots = g.permutation(32)[:30].astype(np.int32)
    # Slots are in pages of one token, so that a table can follow them.
    (cache,) = newer.operator(
        "kv_compress_epilog", Made((32, 1, 1, width), "uint8"), Given(x, "bfloat16"),
        Given(slots, "int32"), 64, epilog, True, 1.0,
    )  # fmt: skip
    numbers = [np.array(v, np.int32) for v in ([0, 1], [30])]
    ends, used, table = (Given(v, "int32") for v in (*numbers, slots[None]))
    found = newer.operator(
        "mixed_quant_sparse_flash_mla", Given(q, "bfloat16"),
        Given(cache.view(E4M3), "float8_e4m3fn"), None, None, None, table, None, ends, None, None,
        None, used, None, None, None, None, Given(np.full(2, -1e30, F32), "float32"),
        Given(np.zeros(1024, np.int32), "int32"), mode, 64, SCALE, 1, 3, 0, -1, -1, "TND",
        "PA_BBND", 1, False, Made((1, 2, 512), "bfloat16"), Made((1,), "float32"),
    )  # fmt: skip
    assert not isinstance(found, Refused), found
    keys = x.astype(np.float64)
    powers = np.exp(SCALE * q[0].astype(np.float64) @ keys.T)
    expected = powers @ keys / powers.sum(-1, keepdims=True)
    # Eight bits keep three places behind the first.
    np.testing.assert_allclose(found[0][0].astype(np.float64), expected, atol=0.08)


@pytest.mark.parametrize(
    ("kind", "at", "value", "words"),
    [
        ("band", 18, 3, "quantMode is 3; allowed: 1, 2"),
        ("band", 18, 2, "it must have 1 of 584"),
        ("band", 19, 32, "ropeHeadDim is 32; allowed: 64"),
        ("band", 22, 0, "oriMaskMode is 0; allowed: 3, 4"),
        ("band", 21, 4, "cmpRatio is 4; allowed: 1"),
        ("band", 17, None, "metadataOptional is null"),
        ("causal", 24, 5, "oriWinLeft is 5"),
        ("own chosen", 14, None, "oriTopkLengthOptional go together"),
        ("dense", 23, 0, "cmpMaskMode is 0; allowed: 3"),
        ("dense", 13, None, "cmpResidualKvOptional is null"),
        ("all chosen", 15, None, "go together where both sides are chosen"),
    ],
)
def test_refusals(newer: Chip950, kind: str, at: int, value: Any, words: str) -> None:
    arguments = Problem(kind, False, 1).arguments()
    arguments[at] = value
    found = newer.operator("mixed_quant_sparse_flash_mla", *arguments)
    assert isinstance(found, Refused)
    assert words in found.text, found
