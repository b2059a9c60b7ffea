# SPDX-License-Identifier: Apache-2.0
"""Groups of tokens compressed by learned weights, with their states in a cache, in float64."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Changed, Chip950, Given, Made
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, hollow, op, place, wide

import aclnn_py as ap
from aclnn_py.errors import AclnnError, DeviceError

pytestmark = pytest.mark.usefixtures("device")

HIDDEN, HEAD, JUNK = 1024, 128, 77.0
F16, BF16, F32 = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)


@dataclass
class Problem:
    """Sequences of which the first tokens are known from earlier calls."""

    ratio: int
    halves: int
    dtype: Any = BF16
    starts: tuple[int, ...] = (0,)
    lengths: tuple[int, ...] = (8,)
    places: int = 4
    ring: bool = False
    skipped: tuple[int, ...] = ()  # sequences whose blocks are block 0
    weights: dict[str, Array] = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.ratio * 10 + self.halves)
        width = self.halves * HEAD
        small = HIDDEN**-0.5
        self.weights = {
            "wkv": (rng.standard_normal((width, HIDDEN)) * small).astype(self.dtype),
            "wgate": (rng.standard_normal((width, HIDDEN)) * small * 2).astype(self.dtype),
            "ape": rng.standard_normal((self.ratio, width)).astype(F32),
        }
        self.tokens = [
            rng.standard_normal((start + length, HIDDEN)).astype(self.dtype)
            for start, length in zip(self.starts, self.lengths, strict=True)
        ]
        longest = max(len(x) for x in self.tokens)
        columns = 1 if self.ring else -(-longest // self.places)
        count = len(self.starts) * columns
        self.table = (rng.permutation(count) + 1).reshape(-1, columns).astype(np.int32)
        for skipped in self.skipped:
            self.table[skipped] = 0
        self.blocks = count + 2

    def states(self, sequence: int) -> Array:
        """Values and scores of every token of a sequence, the first ones included."""
        x = wide(self.tokens[sequence])
        place_in_group = np.arange(len(x)) % self.ratio
        scores = x @ wide(self.weights["wgate"]).T + wide(self.weights["ape"])[place_in_group]
        return np.concatenate([x @ wide(self.weights["wkv"]).T, scores], 1)

    def group(self, states: Array, number: int) -> Array:
        """One compressed token."""
        width = self.halves * HEAD
        own = states[number * self.ratio : (number + 1) * self.ratio]
        last = slice(width - HEAD, width)
        values, scores = own[:, :width][:, last], own[:, width:][:, last]
        if self.halves == 2 and number > 0:
            before = states[(number - 1) * self.ratio : number * self.ratio]
            values = np.concatenate([before[:, :HEAD], values])
            scores = np.concatenate([before[:, width : width + HEAD], scores])
        shares = np.exp(scores - scores.max(0))
        return np.asarray((shares * values).sum(0) / shares.sum(0))

    def groups(self, sequence: int, used: int) -> list[Array]:
        """The groups that the tokens of the call complete."""
        start, states = self.starts[sequence], self.states(sequence)
        numbers = range(start // self.ratio, (start + used) // self.ratio)
        return [self.group(states, number) for number in numbers]

    def cache(self, sequences: dict[int, tuple[int, int]]) -> Array:
        """A cache that holds the named positions of sequences."""
        cache = np.full((self.blocks, self.places, 2 * self.halves * HEAD), JUNK)
        for sequence, (first, end) in sequences.items():
            states = self.states(sequence)
            for position in range(first, end):
                column = 0 if self.ring else position // self.places
                block = self.table[sequence, column]
                if block:
                    cache[block, position % self.places] = states[position]
        return cache


def packed_call(p: Problem, layout: str, used: list[int] | None) -> tuple[Array, Array]:
    """The results of a call with all tokens in one dimension."""
    x = np.concatenate([t[s:] for t, s in zip(p.tokens, p.starts, strict=True)])
    ends = np.cumsum([0, *p.lengths]).astype(np.int32)
    cache = place(p.cache({b: (0, s) for b, s in enumerate(p.starts)}).astype(F32))
    rows = min(len(x), len(x) // p.ratio + len(p.starts))
    out = hollow((rows, HEAD), p.dtype)
    op("Compressor")(
        place(x, layout), *(place(p.weights[n], layout) for n in ("wkv", "wgate")), cache,
        place(p.weights["ape"]), place(p.table), place(ends),
        None if used is None else place(np.array(used, np.int32)),
        place(np.array(p.starts, np.int32)), p.ratio, p.halves, 1, 0, out, None,
    )  # fmt: skip
    return out.numpy(), cache.numpy()


@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
@pytest.mark.parametrize(("ratio", "halves"), [(4, 2), (4, 1), (16, 1), (2, 2)])
def test_groups_and_states_of_packed_sequences(ratio: int, halves: int, dtype: Any) -> None:
    # From the beginning; within a group; behind one; of no token; too short for a group.
    p = Problem(ratio, halves, dtype, (0, 5, 2 * ratio, 3, 0), (2 * ratio + 3, 2 * ratio, 4, 0, 1))
    out, cache = packed_call(p, "stepped" if dtype == F16 else "dense", None)
    rows = [row for b, n in enumerate(p.lengths) for row in p.groups(b, n)]
    assert_close(out[: len(rows)], np.array(rows), scale=4.0)
    assert_same(wide(out[len(rows) :]), np.full((len(out) - len(rows), HEAD), JUNK))
    kept = {b: (0, len(tokens)) for b, tokens in enumerate(p.tokens)}
    assert_close(cache, p.cache(kept), scale=20.0)


def test_tokens_that_do_not_count_and_blocks_that_are_not_kept() -> None:
    p = Problem(4, 2, starts=(0, 8, 0), lengths=(9, 6, 8), skipped=(2,))
    used = [5, 4, 8]
    out, cache = packed_call(p, "dense", used)
    rows = [row for b, n in enumerate(used) for row in p.groups(b, n)]
    assert_close(out[: len(rows)], np.array(rows), scale=4.0)
    assert_close(cache, p.cache({0: (0, 5), 1: (0, 12)}), scale=20.0)


def test_sequences_side_by_side_without_lists() -> None:
    p = Problem(4, 1, starts=(0, 0), lengths=(6, 6))
    out, cache = hollow((2, 2, HEAD), BF16), hollow((p.blocks, 4, 2 * HEAD), F32)
    arguments = (
        place(np.array(p.tokens)), place(p.weights["wkv"]), place(p.weights["wgate"]), cache,
        place(p.weights["ape"]),
    )  # fmt: skip
    op("Compressor")(*arguments, None, None, None, None, 4, 1, 1, 0, out, cache)
    assert_close(out.numpy()[:, 0], np.array([p.groups(b, 6)[0] for b in (0, 1)]), scale=4.0)
    # The second row of each has no group, and nothing keeps states.
    assert_same(wide(out.numpy()[:, 1]), np.full((2, HEAD), JUNK))
    assert_same(cache.numpy(), np.full(cache.shape, JUNK, F32))


def test_no_token_changes_nothing() -> None:
    p = Problem(4, 1)
    cache = hollow((p.blocks, 4, 2 * HEAD), F32)
    op("Compressor")(
        place(np.zeros((2, 0, HIDDEN), BF16)), place(p.weights["wkv"]), place(p.weights["wgate"]),
        cache, place(p.weights["ape"]), None, None, None, None, 4, 1, 1, 0,
        hollow((2, 0, HEAD), BF16), None,
    )  # fmt: skip
    assert_same(cache.numpy(), np.full(cache.shape, JUNK, F32))


def test_a_ring_keeps_the_last_tokens_on_a_950() -> None:
    p = Problem(3, 2, F16, starts=(10, 0), lengths=(5, 5), places=10, ring=True)
    before = p.cache({0: (3, 10)}).astype(F32)  # what a ring still has of ten tokens
    with Chip950() as chip:
        cache, out = chip.operator(
            "compressor",
            Given(np.array([t[s:] for t, s in zip(p.tokens, p.starts, strict=True)]), "float16"),
            *(Given(p.weights[n], "float16") for n in ("wkv", "wgate")),
            Changed(before, "float32"), Given(p.weights["ape"], "float32"),
            Given(p.table[:, 0], "int32"), None, None,
            Given(np.array(p.starts, np.int32), "int32"), 3, 2, 2, 0,
            Made((2, 2, HEAD), "float16"), None,
        )  # fmt: skip
    assert_close(out[0], np.array(p.groups(0, 5)), scale=4.0)
    assert_close(out[1, :1], np.array(p.groups(1, 5)), scale=4.0)
    assert_close(cache, p.cache({0: (5, 15), 1: (0, 5)}), scale=20.0)


def some_call(**changed: Any) -> list[Any]:
    """The arguments of a call that is taken, but for what is changed."""
    g: dict[str, Any] = {
        "x": np.zeros((6, HIDDEN), BF16), "wkv": np.zeros((256, HIDDEN), BF16),
        "wgate": np.zeros((256, HIDDEN), BF16), "cache": np.zeros((3, 4, 512), F32),
        "ape": np.zeros((4, 256), F32), "table": np.array([[1, 2]], np.int32),
        "ends": np.array([0, 6], np.int32), "used": None, "start": None, "ratio": 4, "coff": 2,
        "mode": 1, "stride": 0, "out": np.zeros((2, HEAD), BF16), "state": None, **changed,
    }  # fmt: skip
    return [place(v) if isinstance(v, np.ndarray) else v for v in g.values()]


REFUSALS: list[tuple[dict[str, Any], int, str]] = [
    ({"x": None}, 161001, "x is null"),
    ({"ape": None}, 161001, "ape is null"),
    ({"wkv": np.zeros((256, HIDDEN), F16)}, 161002, "wkv has dtype FLOAT16"),
    ({"cache": np.zeros((3, 4, 512), F16)}, 161002, "stateCacheRef has dtype FLOAT16"),
    ({"ape": np.zeros(4, F32)}, 161002, "ape has"),
    ({"ratio": 3}, 161002, "cmpRatio is 3; allowed: 2, 4, 8, 16, 32, 64, 128"),
    ({"ratio": 256}, 161002, "cmpRatio is 256"),
    ({"coff": 3}, 161002, "coff is 3; allowed: 1, 2"),
    ({"mode": 2}, 161002, "cacheMode is 2; allowed: 1"),
    ({"ends": None}, 161002, "cuSeqlens is null; x has 2 dimensions"),
    ({"used": np.zeros(2, np.int32)}, 161002, "seqused has shape (2,); it must have 1 elements"),
    ({"x": np.zeros((6, 1000), BF16)}, 561002, "x has rows of 1000 elements"),
    ({"coff": 1}, 561002, "wkv has 256 rows; allowed: 128 or 512 times coff"),
    ({"wgate": np.zeros((128, HIDDEN), BF16)}, 561002, "wgate has shape (128, 1024)"),
    ({"cache": np.zeros((3, 4, 256), F32)}, 561002, "stateCacheRef has shape (3, 4, 256)"),
    ({"table": np.zeros((2, 2), np.int32)}, 561002, "stateBlockTable has shape (2, 2)"),
    ({"out": np.zeros((1, HEAD), BF16)}, 561002, "cmpKv has shape (1, 128)"),
]


@pytest.mark.parametrize(("changed", "status", "words"), REFUSALS, ids=[r[2] for r in REFUSALS])
def test_refusals(changed: dict[str, Any], status: int, words: str) -> None:
    with pytest.raises(AclnnError) as caught:
        op("Compressor")(*some_call(**changed))
    assert caught.value.status == status, caught.value
    assert words in str(caught.value), caught.value


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"table": np.array([[1, 3]], np.int32)}, "stateBlockTable has block 3 for sequence 0"),
    ({"table": np.array([[1]], np.int32)}, "sequence 0 reaches position 4"),
    ({"table": None, "start": np.array([4], np.int32)}, "has 0 blocks of 4 tokens"),
    ({"ends": np.array([0, 7], np.int32)}, "cuSeqlens has 7 behind 0"),
    ({"used": np.array([7], np.int32)}, "sequence 0 has 6 tokens; seqused is 7 and startPos 0"),
]


@pytest.mark.parametrize(("changed", "words"), FAULTS, ids=[f[1] for f in FAULTS])
def test_lists_that_lead_outside_are_faults(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(DeviceError, match=words):
        op("Compressor")(*some_call(**changed))
        ap.synchronize()
