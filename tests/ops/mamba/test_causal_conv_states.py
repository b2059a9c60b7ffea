# SPDX-License-Identifier: Apache-2.0
"""Causal convolutions of prompts and of single steps, on a chip of the 950 series."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Changed, Chip950, Given, Made, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, refusal, wide

pytestmark = pytest.mark.emulator_only(reason="chooses the chip of the emulator")

FN, UPDATE, DIM = "causal_conv1d_fn", "causal_conv1d_update", 576
HALVES = [np.float16, ml_dtypes.bfloat16]
Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def normal(seed: int, shape: tuple[int, ...], dtype: Any) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def convolved(history: Array, tokens: Array, weight: Array, bias: Any, silu: bool) -> Array:
    """The last row of the weight belongs to the token itself."""
    seen, width = np.concatenate([history, tokens]), len(weight)
    y = sum(seen[k : k + len(tokens)] * weight[k] for k in range(width))
    y = y + (0 if bias is None else wide(bias))
    return y / (1 + np.exp(-y)) if silu else y


class Call:
    """A call of either operator; ``lists`` are its index tensors by name."""

    def __init__(self, update: bool, x: Array, width: int, line: int, **lists: Any) -> None:
        self.update, self.x, self.lists = update, x, lists
        self.lengths = np.diff(lists["starts"]) if x.ndim == 2 else [x.shape[1]] * len(x)
        self.weight = normal(2, (width, x.shape[-1]), x.dtype)
        self.states = normal(3, (len(self.lengths) + 2, line, x.shape[-1]), x.dtype)
        self.bias = normal(4, (x.shape[-1],), x.dtype) if lists.pop("biased", True) else None
        self.silu, self.null = lists.pop("silu", True), lists.pop("null", -1)

    def run(self, newer: Chip950, stepped: bool = False) -> Any:
        kind = self.x.dtype.name
        given = lambda array: None if array is None else Given(array, kind)  # noqa: E731
        names = ["starts", "cache", "accepted" if self.update else "mode"]
        numbers = [self.lists.get(name) for name in names]
        return newer.operator(
            UPDATE if self.update else FN,
            *(Given(self.x, kind, stepped), given(self.weight)),
            *(Changed(self.states, kind, stepped), given(self.bias)),
            *(None if n is None else Given(np.array(n, np.int32), "int32") for n in numbers),
            *[None] * (2 if self.update else 4),
            *("silu" if self.silu else "none", self.null, 0 if not self.update else -1),
            Made(self.x.shape, kind, stepped),
        )

    def oracle(self) -> tuple[Array, Array]:
        flat, states = wide(self.x).reshape(-1, self.x.shape[-1]), wide(self.states).copy()
        y, start, kept = np.zeros_like(flat), 0, len(self.weight) - 1
        chosen = self.lists.get("accepted" if self.update else "mode")
        for b, length in enumerate(self.lengths):
            tokens, start = flat[start : start + length], start + length
            line = b if self.lists.get("cache") is None else self.lists["cache"][b]
            if length == 0 or (self.lists.get("cache") is not None and line == self.null):
                continue
            begins = not self.update and (chosen is None or chosen[b] == 0)
            offset = max(chosen[b] - 1, 0) if self.update and chosen is not None else 0
            history = states[line, offset : offset + kept] * (not begins)
            y[start - length : start] = convolved(
                history, tokens, wide(self.weight), self.bias, self.silu
            )
            seen = np.concatenate([history, tokens])
            new = seen[1:] if self.update else seen[len(seen) - kept :]
            new = new[: states.shape[1]]
            states[line, : len(new)] = new
        return y.reshape(self.x.shape), states

    def check(self, newer: Chip950, stepped: bool = False) -> None:
        found = self.run(newer, stepped)
        assert not isinstance(found, Refused), found
        y, states = self.oracle()
        assert_close(found[1], y, scale=4)
        assert_same(wide(found[0]), states)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize(("width", "line"), [(2, 1), (3, 4), (4, 3)])
def test_prompts(newer: Chip950, width: int, line: int, dtype: Any) -> None:
    x = normal(1, (11, DIM), dtype)
    starts = [0, 1, 1, 6, 11]
    Call(False, x, width, line, starts=starts).check(newer)
    Call(False, x, width, line, starts=starts, mode=[1, 1, 0, 1], biased=False).check(newer)
    more = {"cache": [5, 0, 2, 4], "mode": [1, 0, 1, 1], "null": 2, "silu": False}
    Call(False, x, width, line, starts=starts, **more).check(newer, stepped=True)
    Call(False, normal(1, (3, 2, 64), dtype), width, line, mode=[0, 1, 1]).check(newer)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize(("width", "line"), [(2, 4), (3, 2), (4, 6)])
def test_single_steps(newer: Chip950, width: int, line: int, dtype: Any) -> None:
    x = normal(1, (4, 1, DIM), dtype)
    Call(True, x, width, line).check(newer)
    Call(True, x, width, line, cache=[3, 5, 7, 1], null=7, biased=False).check(newer, stepped=True)


def test_speculated_tokens(newer: Chip950) -> None:
    x = normal(1, (10, DIM), np.float16)
    starts = [0, 4, 4, 5, 10]
    Call(True, x, 4, 7, starts=starts, accepted=[0, 2, 4, 3]).check(newer)
    # More tokens than a line has room for: those in front are kept.
    Call(True, x, 4, 4, starts=starts, accepted=[1, 0, 1, 1], silu=False).check(newer)


def test_a_prompt_and_steps_are_one_sequence(newer: Chip950) -> None:
    """The line that each call leaves is what the next one reads."""
    x, width, line = normal(1, (8, DIM), np.float16), 4, 6
    whole = Call(False, x[None], width, line, biased=False).oracle()[0][0]
    first = Call(False, x[None, :4], width, line, biased=False)
    found, states = [], first.states
    for call in (first, *(Call(True, x[None, i : i + 1], width, line) for i in (4, 5))):
        call.states, call.bias = states, None
        states, y = call.run(newer)
        found.append(y[0])
    # Two more as a speculation of which the first call accepts one.
    guess = np.concatenate([x[6:7], x[:1]])
    for tokens, accepted in ((guess, 1), (x[7:8], 1)):
        call = Call(True, tokens, width, line, starts=[0, len(tokens)], accepted=[accepted])
        call.states, call.bias = states, None
        states, y = call.run(newer)
        found.append(y[:1])
    assert_close(np.concatenate(found), whole, scale=4)


def test_numbers_that_name_nothing_are_faults(newer: Chip950) -> None:
    x = normal(1, (11, 64), np.float16)
    for changed, says in [
        ({"starts": [0, 5, 12]}, "queryStartLocOptional[2] is 12; allowed: 11 to 11"),
        ({"starts": [0, 12, 11]}, "queryStartLocOptional[1] is 12"),
        ({"starts": [1, 5, 11]}, "queryStartLocOptional[0] is 1"),
        ({"cache": [0, 4]}, "cacheIndicesOptional[1] is 4; allowed: 0 to 3"),
        ({"mode": [0, 2]}, "initialStateModeOptional[1] is 2"),
    ]:
        found = Call(False, x, 3, 2, **{"starts": [0, 5, 11], **changed}).run(newer)
        assert isinstance(found, Refused)
        assert found.status == 507015
        assert says in found.text
    found = Call(True, x, 4, 5, starts=[0, 5, 11], accepted=[1, 3]).run(newer)
    assert isinstance(found, Refused)
    assert "numAcceptedTokensOptional[1] is 3; allowed: 0 to 2" in found.text


def test_refusals(newer: Chip950) -> None:
    x, step = normal(1, (11, 64), np.float16), normal(1, (2, 1, 64), np.float16)
    two = {"starts": [0, 5, 11]}
    for call, says in [
        (Call(False, x, 5, 4, **two), "the first dimension of weight is 5"),
        (Call(False, x, 3, 1, **two), "convStatesRef keeps 1 tokens"),
        (Call(False, step, 3, 2), "the second dimension of x is 1"),
        (Call(True, step, 3, 4, accepted=[1, 1]), "numAcceptedTokensOptional is given"),
        (Call(True, x, 4, 4, **two), "numAcceptedTokensOptional is null"),
        (Call(False, x, 3, 2, **two, cache=[0]), "cacheIndicesOptional has shape"),
        (Call(False, normal(1, (4, 65), np.float16), 3, 2, starts=[0, 4]), "multiple of 16"),
    ]:
        found = call.run(newer)
        assert isinstance(found, Refused), says
        assert found.status == 561002, found
        assert says in found.text
    call = Call(False, x, 3, 2, **two)
    call.lists.pop("starts")
    assert "queryStartLocOptional is null" in call.run(newer).text
    call = Call(False, x, 3, 2, **two)
    call.weight = call.weight.astype(ml_dtypes.bfloat16).astype(np.float16)[:, :48]
    assert "weight has shape" in call.run(newer).text


@pytest.mark.usefixtures("device")
def test_an_older_chip_does_not_have_them() -> None:
    half = np.float16
    x, weight, states = hollow((1, 2, 64), half), hollow((3, 64), half), hollow((1, 2, 64), half)
    given = [x, weight, states, *[None] * 8, "silu", -1, 0, hollow((1, 2, 64), half)]
    assert refusal("aclnnCausalConv1dFn", *given) == 361001
