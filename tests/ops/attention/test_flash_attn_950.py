# SPDX-License-Identifier: Apache-2.0
"""FlashAttn, which a 950 has: layouts, pages, lengths and masks against float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import op, place

from aclnn_py.errors import AclnnError

pytestmark = pytest.mark.emulator_only(reason="chooses the chip of the emulator")

Array = np.ndarray[Any, Any]
BF16 = np.dtype(ml_dtypes.bfloat16)
KINDS = {"float16": np.dtype(np.float16), "bfloat16": BF16}
SIDE = 2048
TRIANGLE = np.triu(np.ones((SIDE, SIDE), np.int8), 1)
LEAST = 16 * (1 + 36 + 72)


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def average(q: Array, k: Array, v: Array, mask: Array, scale: float) -> tuple[Array, Array]:
    """One sequence: q (tokens, heads, width) to the result and the log of the sums."""
    group = q.shape[1] // k.shape[1]
    k, v = (x.astype(np.float64).repeat(group, 1) for x in (k, v))
    scores = np.einsum("snd,tnd->nst", q.astype(np.float64), k) * scale
    scores = np.where(mask, scores, -np.inf)
    highest = scores.max(-1, keepdims=True, initial=-np.inf)
    powers = np.exp(scores - np.where(np.isfinite(highest), highest, 0.0))
    sums = powers.sum(-1, keepdims=True)
    seen = sums > 0
    shares = np.divide(powers, sums, out=np.zeros_like(powers), where=seen)
    lse = np.log(sums, out=np.full_like(sums, np.inf), where=seen) + np.where(seen, highest, 0.0)
    return np.einsum("nst,tnd->snd", shares, v), lse[..., 0].T


@dataclass
class Case:
    """Sequences of which ``used`` tokens count."""

    layout: str = "BSND"
    keys: str = "BSND"
    out: str = "BSND"
    heads: tuple[int, int] = (4, 2)
    width: int = 64
    queries: tuple[int, ...] = (5, 5)
    lengths: tuple[int, ...] = (7, 7)
    used: tuple[tuple[int, ...] | None, tuple[int, ...] | None] = (None, None)
    mask: tuple[int, int, int] = (0, -1, -1)
    places: int = 16
    dtype: str = "float16"
    with_lse: bool = True
    turned: bool = True  # packed statistics have the heads in front

    def __post_init__(self) -> None:
        rng = np.random.default_rng(len(self.queries) + self.width)

        def tokens(count: int, heads: int) -> Array:
            return rng.standard_normal((count, heads, self.width)).astype(KINDS[self.dtype])

        n, kv = self.heads
        self.q = [tokens(count, n) for count in self.queries]
        self.k = [tokens(count, kv) for count in self.lengths]
        self.v = [tokens(count, kv) for count in self.lengths]
        self.table: Array | None = None

    def expected(self) -> tuple[list[Array], list[Array]]:
        results, statistics = [], []
        mode, left, right = self.mask
        for b, q in enumerate(self.q):
            s = len(q) if self.used[0] is None else min(self.used[0][b], len(q))
            t = len(self.k[b]) if self.used[1] is None else min(self.used[1][b], len(self.k[b]))
            ahead = np.arange(t)[None] - np.arange(s)[:, None] - (t - s)
            seen = np.ones((s, t), bool)
            if mode == 3:
                seen = ahead <= 0
            if mode == 4:
                seen = (left < 0) | (ahead >= -left)
                seen &= (right < 0) | (ahead <= right)
            out, lse = np.zeros(q.shape), np.full(q.shape[:2], np.inf)
            out[:s], lse[:s] = average(q[:s], self.k[b][:t], self.v[b][:t], seen, 0.125)
            results.append(out)
            statistics.append(lse)
        return results, statistics

    def pages(self, sequences: list[Array]) -> Array:
        """The tokens in pages of a cache, by a table that is made at the first call."""
        width = max(-(-len(x) // self.places) for x in sequences)
        count = len(sequences) * width
        if self.table is None:
            order = np.random.default_rng(5).permutation(count + 1)[:count]
            self.table = order.reshape(-1, width).astype(np.int32)
        cache = np.zeros((count + 1, self.places, *sequences[0].shape[1:]), sequences[0].dtype)
        for b, x in enumerate(sequences):
            for i, token in enumerate(x):
                cache[self.table[b, i // self.places], i % self.places] = token
        if self.keys == "PA_BBND":
            return cache
        cache = cache.swapaxes(1, 2)
        if self.keys == "PA_BNBD":
            return cache
        blocks = cache.reshape(*cache.shape[:3], -1, 16)
        return blocks.transpose(0, 1, 3, 2, 4)

    def stored(self, sequences: list[Array], layout: str) -> Array:
        if layout == "TND":
            return np.concatenate(sequences)
        if layout.startswith("PA"):
            return np.ascontiguousarray(self.pages(sequences))
        x = np.array(sequences)
        return x.swapaxes(1, 2).copy() if layout == "BNSD" else x

    def arguments(self, **changed: Any) -> list[Any]:
        def ints(values: Any) -> Given | None:
            return None if values is None else Given(np.array(values, np.int32), "int32")

        def ends(counts: tuple[int, ...], layout: str) -> Given | None:
            return ints(np.cumsum([0, *counts])) if layout == "TND" else None

        q, k, v = (
            Given(self.stored(x, layout), self.dtype)
            for x, layout in ((self.q, self.layout), (self.k, self.keys), (self.v, self.keys))
        )
        out = self.stored([np.zeros(x.shape) for x in self.q], self.out).shape
        packed, n = self.layout == "TND", self.heads[0]
        rows = sum(self.queries)
        lse = (len(self.q), n, self.queries[0])
        if packed:
            lse = (n, rows) if self.turned else (rows, n)
        mode, left, right = self.mask
        g = {
            "q": q, "k": k, "v": v, "table": ints(self.table),
            "ends": ends(self.queries, self.layout), "key_ends": ends(self.lengths, self.keys),
            "used": ints(self.used[0]), "key_used": ints(self.used[1]), "sinks": None,
            "mask": Given(TRIANGLE, "int8") if mode else None,
            "metadata": Given(np.zeros(LEAST, np.int32), "int32"), "scale": 0.125, "mode": mode,
            "left": left, "right": right, "longest": -1, "longest_key": -1,
            "layout": self.layout, "keys": self.keys, "out_layout": self.out,
            "lse": int(self.with_lse), "out": Made(out, self.dtype),
            "statistics": Made(lse, "float32") if self.with_lse else None,
        }  # fmt: skip
        return list((g | changed).values())


CASES = [
    Case(),
    Case("BNSD", "BNSD", "BSND", width=128, dtype="bfloat16"),
    Case("BNSD", "BNSD", "BNSD", heads=(3, 3), mask=(3, -1, -1), used=((5, 2), (7, 0))),
    Case("BSND", "PA_BBND", lengths=(37, 3), used=(None, (37, 3)), mask=(3, -1, -1)),
    Case("BNSD", "PA_NZ", "BNSD", width=256, lengths=(33, 20), used=(None, (30, 20))),
    Case("TND", "TND", "TND", queries=(6, 0, 3), lengths=(4, 2, 9), mask=(3, -1, -1)),
    Case("TND", "TND", "TND", queries=(6, 3), lengths=(4, 9), mask=(4, 2, 1), turned=False,
         used=((4, 3), (4, 5))),
    Case("TND", "PA_BNBD", "TND", queries=(1, 3), lengths=(50, 9), used=(None, (50, 9)),
         mask=(4, 20, -1), dtype="bfloat16", with_lse=False),
]  # fmt: skip


@pytest.mark.parametrize("name", ["flash_attn", "inner_flash_attn"])
def test_layouts_lengths_and_masks(newer: Chip950, name: str) -> None:
    for case in CASES if name == "flash_attn" else CASES[5:6]:
        results = newer.operator(name, *case.arguments())
        assert not isinstance(results, Refused), results
        expected, statistics = case.expected()
        assert_close(results[0], case.stored(expected, case.out), scale=4.0, what=str(case))
        if not case.with_lse:
            continue
        packed = case.layout == "TND"
        lse = np.concatenate(statistics) if packed else np.array(statistics).swapaxes(1, 2)
        assert_close(results[1], lse.T if packed and case.turned else lse, scale=8.0)


REFUSALS: list[tuple[Case, dict[str, Any], int, str]] = [
    (Case(), {"q": None}, 161001, "q is null"),
    (Case(), {"k": Given(np.zeros((2, 7, 2, 64), BF16), "bfloat16")}, 161002, "k has dtype"),
    (Case(), {"sinks": Given(np.zeros(4, np.float32), "float32")}, 561002, "sinksOptional"),
    (Case(), {"metadata": None}, 561002, "metadataOptional is null"),
    (Case(), {"layout": "BSH"}, 561002, 'layoutQ is "BSH"; allowed: BSND, BNSD, TND'),
    (Case(), {"keys": "TND"}, 561002, "it must be layoutQ or of pages"),
    (Case(), {"out_layout": "BNSD"}, 561002, 'layoutOut is "BNSD"'),
    (Case(width=96), {}, 561002, "heads of 96 elements"),
    (Case(heads=(3, 2)), {}, 561002, "the first must be a multiple"),
    (Case(), {"v": Given(np.zeros((2, 8, 2, 64), np.float16), "float16")}, 561002, "v has shape"),
    (Case(), {"mode": 2}, 561002, "maskMode is 2; allowed: 0, 3, 4"),
    (Case(), {"left": 3}, 561002, "winLeft is 3 and winRight -1; with maskMode 0 allowed: -1"),
    (Case(), {"mode": 3}, 561002, "attnMaskOptional is null; maskMode is 3"),
    (Case(), {"table": Given(np.zeros((2, 1), np.int32), "int32")}, 561002, "has no pages"),
    (Case(), {"ends": Given(np.zeros(3, np.int32), "int32")}, 561002, "layoutQ is not TND"),
    (Case("TND", "TND", "TND"), {"key_ends": None}, 561002, "cuSeqlensKvOptional is null"),
    (Case("BSND", "PA_BBND"), {}, 561002, "sequsedKvOptional is null; pages need it"),
    (Case("BSND", "PA_BBND", places=24, used=(None, (7, 7))), {}, 561002, "pages of 24 tokens"),
    (Case(), {"statistics": None}, 561002, "softmaxLseOptional is null"),
    (Case(), {"longest": -2}, 561002, "maxSeqlenQ is -2"),
]


def test_refusals(newer: Chip950) -> None:
    for case, changed, status, words in REFUSALS:
        result = newer.operator("flash_attn", *case.arguments(**changed))
        assert isinstance(result, Refused), (changed, words)
        assert (result.status, words in result.text) == (status, True), result


def test_lists_that_lead_outside_are_faults(newer: Chip950) -> None:
    def ints(*values: int) -> Given:
        return Given(np.array(values, np.int32), "int32")

    paged = Case("BSND", "PA_BBND", used=(None, (17, 7)))
    packed = Case("TND", "TND", "TND")
    upside = Given(TRIANGLE[::-1].copy(), "int8")
    for case, changed, words in (
        (paged, {}, "sequsedKvOptional is 17 for sequence 0; allowed: 0 to 16"),
        (packed, {"ends": ints(1, 5, 10)}, "cuSeqlensQOptional has 5 behind 1"),
        (packed, {"key_ends": ints(0, 7, 15)}, "cuSeqlensKvOptional has 15 behind 7"),
        (Case(mask=(3, -1, -1)), {"mask": upside}, "as causal masks and bands need it"),
    ):
        result = newer.operator("flash_attn", *case.arguments(**changed))
        assert isinstance(result, Refused), words
        assert words in result.text, result


def test_metadata_shares_out_sequences_and_heads(newer: Chip950) -> None:
    sizes = (3, 1, 9, 8, 2, 64, 0, -1, -1, "BSND", "BSND", "BSND")
    arguments = (None, None, None, None, *sizes)
    (numbers,) = newer.operator("flash_attn_metadata", *arguments, Made((LEAST + 8,), "int32"))
    assert_same(numbers[:4], np.array([1, 0, 64, 256], np.int32))
    tasks = numbers[16 : 16 * 37].reshape(36, 16)
    firsts = np.arange(6)
    assert_same(tasks[:6, 0], firsts.astype(np.int32))
    assert_same(tasks[:6, 3], (firsts + 1).astype(np.int32))
    assert not tasks[6:].any()
    assert not tasks[:, [1, 2, *range(4, 16)]].any()
    assert not numbers[16 * 37 :].any()
    ends = Given(np.array([0, 1, 90], np.int32), "int32")
    long = (0, 80, -1, 4, 4, 128, 4, 8, 0, "TND", "PA_NZ", "TND")
    (numbers,) = newer.operator(
        "flash_attn_metadata", ends, None, None, None, *long, Made((LEAST,), "int32")
    )
    assert_same(numbers[:4], np.array([1, 0, 128, 128], np.int32))
    assert numbers[16 : 16 * 37].reshape(36, 16)[:, 3].max() == 8
    for at, wrong, words in (
        (4, 0, "there are 0 sequences"),
        (7, 7, "numHeadsQ is 7 and numHeadsKv 2"),
        (9, 80, "headDim is 80"),
        (10, 1, "maskMode is 1"),
        (13, "BSH", 'layoutQ is "BSH"'),
    ):
        given = [*arguments[:at], wrong, *arguments[at + 1 :], Made((LEAST,), "int32")]
        result = newer.operator("flash_attn_metadata", *given)
        assert isinstance(result, Refused), words
        assert (result.status, words in result.text) == (561002, True), result


def test_a_910b_lacks_them(device: Any) -> None:
    x = np.zeros((1, 2, 2, 64), np.float16)
    metadata = np.zeros(LEAST, np.int32)
    attention = [
        *map(place, (x, x, x)), *[None] * 7, place(metadata), 1.0, 0, -1, -1, -1, -1, "BSND",
        "BSND", "BSND", 0, place(x), None,
    ]  # fmt: skip
    list_of_tasks = [
        *[None] * 4, 1, 2, 2, 2, 2, 64, 0, -1, -1, "BSND", "BSND", "BSND", place(metadata),
    ]  # fmt: skip
    for name, arguments in (
        ("FlashAttn", attention),
        ("InnerFlashAttn", attention),
        ("FlashAttnMetadata", list_of_tasks),
    ):
        with pytest.raises(AclnnError, match="only chips of the 950 series") as caught:
            op(name)(*arguments)
        assert caught.value.status == 561003, name
