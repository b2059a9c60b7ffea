# SPDX-License-Identifier: Apache-2.0
"""Gated delta rules: linear attention with a matrix per head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, op, place, refusal, wide

from ..problems import fault, message

pytestmark = pytest.mark.usefixtures("device")

BF16 = ml_dtypes.bfloat16


@dataclass
class Tokens:
    """What a call reads of each token."""

    query: Any
    key: Any
    value: Any
    beta: Any
    g: Any
    gk: Any


def tokens(count: int, key_heads: int, heads: int, key: int, value: int) -> Tokens:
    rng = np.random.default_rng(count + heads)

    def unit(shape: tuple[int, ...]) -> Any:
        vectors = rng.standard_normal(shape)
        return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(BF16)

    return Tokens(
        unit((count, key_heads, key)),
        unit((count, key_heads, key)),
        rng.standard_normal((count, heads, value)).astype(BF16),
        rng.uniform(0.1, 0.9, (count, heads)).astype(BF16),
        rng.uniform(-1, 0, (count, heads)).astype(np.float32),
        rng.uniform(-1, 0, (count, heads, key)).astype(np.float32),
    )


def answers(t: Tokens, state: Any, first: int, length: int, scale: float, gates: str) -> Any:
    """The formula, token by token in float64: (answer, state behind it) of each token."""
    heads, shared = t.value.shape[1], t.value.shape[1] // t.key.shape[1]
    state = wide(state).copy()
    found = []
    for i in range(first, first + length):
        out = np.empty((heads, t.value.shape[2]))
        for h in range(heads):
            q, k, v = (
                wide(t.query[i, h // shared]),
                wide(t.key[i, h // shared]),
                wide(t.value[i, h]),
            )
            fade = np.ones_like(k)
            if "g" in gates:
                fade = fade * np.exp(wide(t.g[i, h]))
            if "k" in gates:
                fade = fade * np.exp(wide(t.gk[i, h]))
            s = state[h] * fade
            s = s + wide(t.beta[i, h]) * np.outer(v - s @ k, k)
            state[h] = s
            out[h] = scale * (s @ q)
        found.append((out, state.copy()))
    return found


@pytest.mark.parametrize("layout", ["dense", "stepped"])
@pytest.mark.parametrize("gates", ["", "g", "k", "gk"])
@pytest.mark.parametrize(("key_heads", "heads"), [(2, 4), (1, 1)])
def test_tokens_one_by_one(gates: str, key_heads: int, heads: int, layout: str) -> None:
    lengths, accepted, key, value = [3, 1, 4], [2, 1, 4], 8, 6
    t = tokens(8, key_heads, heads, key, value)
    slots = np.array([9, 2, 7, 0, 4, 11, 5, 1], np.int32)
    before = np.random.default_rng(5).standard_normal((12, heads, value, key)).astype(BF16)
    state, out = place(before, layout), hollow((8, heads, value), BF16, layout)
    op("aclnnRecurrentGatedDeltaRule")(
        *(place(one, layout) for one in (t.query, t.key, t.value, t.beta)),
        *(state, place(np.array(lengths, np.int32)), place(slots)),
        place(t.g, layout) if "g" in gates.replace("gk", "g") and gates != "k" else None,
        place(t.gk, layout) if "k" in gates else None,
        *(place(np.array(accepted, np.int32)), 0.5, out),
    )
    exact, kept = np.empty((8, heads, value)), wide(before)
    first = 0
    for length, taken in zip(lengths, accepted, strict=True):
        begin = before[slots[first + taken - 1]]
        for i, (answer, behind) in enumerate(answers(t, begin, first, length, 0.5, gates)):
            exact[first + i] = answer
            kept[slots[first + i]] = behind
        first += length
    assert_close(out.numpy(), exact, scale=2)
    assert_close(state.numpy(), kept, scale=2)
    untouched = [i for i in range(12) if i not in slots]
    assert_same(state.numpy()[untouched], before[untouched])


def test_without_accepted_tokens_a_sequence_begins_with_its_first_slot() -> None:
    t = tokens(2, 1, 1, 4, 4)
    before = np.random.default_rng(6).standard_normal((3, 1, 4, 4)).astype(BF16)
    state, out = place(before), hollow((2, 1, 4), BF16)
    slots = place(np.array([2, 0], np.int32))
    op("aclnnRecurrentGatedDeltaRule")(
        *(place(one) for one in (t.query, t.key, t.value, t.beta)),
        *(state, place(np.array([2], np.int32)), slots, None, None, None, 1.0, out),
    )
    (one, first), (two, second) = answers(t, before[2], 0, 2, 1.0, "")
    assert_close(out.numpy(), np.stack([one, two]), scale=2)
    assert_close(state.numpy()[[2, 0]], np.stack([first, second]), scale=2)


@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize(("key_heads", "heads"), [(2, 4), (1, 1)])
def test_sequences(gated: bool, key_heads: int, heads: int) -> None:
    lengths, key, value = [70, 0, 5], 16, 8
    t = tokens(75, key_heads, heads, key, value)
    before = np.random.default_rng(7).standard_normal((3, heads, value, key)).astype(BF16)
    out, final = hollow((75, heads, value), BF16), hollow(before.shape, BF16)
    op("aclnnChunkGatedDeltaRule")(
        *(place(one, "stepped") for one in (t.query, t.key, t.value, t.beta)),
        *(place(before, "stepped"), place(np.array(lengths, np.int32))),
        *(place(t.g) if gated else None, 0.25, out, final),
    )
    first = 0
    for b, length in enumerate(lengths):
        found = answers(t, before[b], first, length, 0.25, "g" if gated else "")
        for i, (answer, _) in enumerate(found):
            assert_close(out.numpy()[first + i], answer, scale=2)
        assert_close(final.numpy()[b], found[-1][1] if found else wide(before[b]), scale=2)
        first += length


def test_both_rules_agree() -> None:
    t = tokens(6, 2, 2, 8, 8)
    before = np.random.default_rng(8).standard_normal((6, 2, 8, 8)).astype(BF16)
    lengths = place(np.array([6], np.int32))
    read = [place(one) for one in (t.query, t.key, t.value, t.beta)]
    outs = [hollow((6, 2, 8), BF16) for _ in range(2)]
    final, state = hollow((1, 2, 8, 8), BF16), place(before)
    op("aclnnChunkGatedDeltaRule")(
        *read, place(before[:1]), lengths, place(t.g), 0.5, outs[0], final
    )
    op("aclnnRecurrentGatedDeltaRule")(
        *(*read, state, lengths, place(np.arange(6, dtype=np.int32)), place(t.g), None, None),
        *(0.5, outs[1]),
    )
    assert_same(outs[0].numpy(), outs[1].numpy())
    assert_same(final.numpy()[0], state.numpy()[5])


def recurrent(**other: Any) -> list[Any]:
    t = tokens(4, 1, 2, 8, 6)
    given = {
        "query": place(t.query),
        "key": place(t.key),
        "value": place(t.value),
        "beta": place(t.beta),
        "state": hollow((5, 2, 6, 8), BF16),
        "lengths": place(np.array([3, 1], np.int32)),
        "slots": place(np.arange(4, dtype=np.int32)),
        "g": None,
        "gk": None,
        "accepted": place(np.ones(2, np.int32)),
        "scale": 1.0,
        "out": hollow((4, 2, 6), BF16),
        **other,
    }
    return list(given.values())


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"lengths": [3, 2]}, "actualSeqLengths[1] is 2; 1 tokens are left"),
        ({"lengths": [-1, 2]}, "actualSeqLengths[0] is -1"),
        ({"slots": [0, 5, 1, 2]}, "ssmStateIndices[1] is 5; allowed: 0 to 4"),
        ({"slots": [0, -1, 1, 2]}, "ssmStateIndices[1] is -1"),
        ({"accepted": [4, 1]}, "numAcceptedTokens[0] is 4; allowed: 1 to 3"),
        ({"accepted": [1, 0]}, "numAcceptedTokens[1] is 0"),
    ],
    ids=str,
)
def test_numbers_that_name_nothing_are_faults(changed: dict[str, list[int]], says: str) -> None:
    data = {name: place(np.array(values, np.int32)) for name, values in changed.items()}
    assert says in fault("aclnnRecurrentGatedDeltaRule", *recurrent(**data))


def test_rules_refuse() -> None:
    name = "aclnnRecurrentGatedDeltaRule"
    assert refusal(name, *recurrent(query=None)) == 161001
    assert refusal(name, *recurrent(slots=None)) == 161001
    for changed, says in [
        ({"state": hollow((3, 2, 6, 8), BF16)}, "stateRef has 3 matrices"),
        ({"state": hollow((5, 2, 8, 6), BF16)}, "stateRef has shape"),
        ({"beta": hollow((4, 1), BF16)}, "beta has shape"),
        ({"g": hollow((4, 3), np.float32)}, "gOptional has shape"),
        ({"gk": hollow((4, 2, 6), np.float32)}, "gkOptional has shape"),
        ({"key": hollow((4, 1, 7), BF16)}, "key has shape"),
        ({"value": hollow((4, 257, 6), BF16)}, "the second dimension of value is 257"),
        ({"query": hollow((4, 2, 513), BF16)}, "the last dimension of query is 513"),
        ({"out": hollow((4, 2, 6), np.float16)}, "out has dtype"),
        ({"slots": hollow((3,), np.int32)}, "ssmStateIndices has shape"),
    ]:
        assert says in message(name, 161002, recurrent(**changed))
    name = "aclnnChunkGatedDeltaRule"
    t = tokens(4, 1, 2, 8, 6)
    read = [place(one) for one in (t.query, t.key, t.value, t.beta)]
    lengths, state = place(np.array([4], np.int32)), hollow((1, 2, 6, 8), BF16)
    out = hollow((4, 2, 6), BF16)
    assert refusal(name, *read, state, lengths, None, 1.0, out, None) == 161001
    text = message(name, 561002, [*read, state, lengths, None, 1.0, out, state[:, :1]])
    assert "finalState has shape" in text
    full = hollow((1, 2, 6, 8), np.float32)
    assert "has dtype" in message(name, 161002, [*read, full, lengths, None, 1.0, out, full])


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
def test_matrices_of_float32_on_a_950() -> None:
    t = tokens(6, 1, 2, 8, 4)
    before = np.random.default_rng(3).standard_normal((1, 2, 4, 8)).astype(np.float32)
    with Chip950() as newer:
        out, final = newer.operator(
            "chunk_gated_delta_rule",
            *(Given(one, "bfloat16") for one in (t.query, t.key, t.value, t.beta)),
            *(Given(before, "float32"), Given(np.array([6], np.int32), "int32")),
            *(Given(t.g, "float32"), 0.5, Made((6, 2, 4), "bfloat16")),
            Made(before.shape, "float32"),
        )
    found = answers(t, before[0], 0, 6, 0.5, "g")
    assert_close(out, np.stack([answer for answer, _ in found]), scale=2)
    assert_close(final[0], found[-1][1], scale=8)
