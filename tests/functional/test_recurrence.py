# SPDX-License-Identifier: Apache-2.0
"""Functions of the gated delta rules."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import place, wide

from aclnn_py import functional

pytestmark = pytest.mark.usefixtures("device")

BF16 = ml_dtypes.bfloat16


def operands(count: int, heads: int, width: int) -> list[Any]:
    """Query, key, value, beta and the logarithms of what is kept."""
    rng = np.random.default_rng(count)
    units = rng.standard_normal((2, count, heads, width))
    units /= np.linalg.norm(units, axis=-1, keepdims=True)
    value = rng.standard_normal((count, heads, 4)).astype(BF16)
    beta = rng.uniform(0.1, 0.9, (count, heads)).astype(BF16)
    kept = rng.uniform(-1, 0, (count, heads)).astype(np.float32)
    return [*units.astype(BF16), value, beta, kept]


def test_a_prompt_is_read_and_decoding_goes_on() -> None:
    """The last token answers alike as a part of the prompt and behind it."""
    heads, width = 2, 16
    query, key, value, beta, g = operands(5, heads, width)
    start = np.random.default_rng(1).standard_normal((1, heads, 4, width)).astype(BF16)
    exact, state = np.empty((5, heads, 4)), wide(start[0])
    for t in range(5):
        for h in range(heads):
            q, k = wide(query[t, h]), wide(key[t, h])
            state[h] *= np.exp(wide(g[t, h]))
            learned = wide(beta[t, h]) * (wide(value[t, h]) - state[h] @ k)
            state[h] += np.outer(learned, k)
            exact[t, h] = state[h] @ q * width**-0.5
    whole, final = functional.chunk_gated_delta_rule(
        *map(place, (query, key, value, beta, start, np.array([5], np.int32))), g=place(g)
    )
    assert_close(whole.numpy(), exact, scale=2)
    assert_close(final.numpy()[0], state, scale=2)
    prompt = [place(one[:4]) for one in (query, key, value, beta)]
    four = place(np.array([4], np.int32))
    first, kept = functional.chunk_gated_delta_rule(*prompt, place(start), four, g=place(g[:4]))
    assert_same(first.numpy(), whole.numpy()[:4])
    one, slot = place(np.array([1], np.int32)), place(np.array([0], np.int32))
    last = [place(part[4:]) for part in (query, key, value, beta)]
    answer = functional.recurrent_gated_delta_rule(*last, kept, one, slot, g=place(g[4:]))
    assert_close(answer.numpy(), exact[4:], scale=4)
    assert_close(kept.numpy()[0], state, scale=4)


def test_the_scale_may_be_given() -> None:
    query, key, value, beta, _ = operands(3, 1, 16)
    given = [*map(place, (query, key, value, beta)), place(np.zeros((1, 1, 4, 16), BF16))]
    lengths = place(np.array([3], np.int32))
    default, _ = functional.chunk_gated_delta_rule(*given, lengths)
    twice, _ = functional.chunk_gated_delta_rule(*given, lengths, scale=0.5)
    assert default.numpy().any()
    assert_same(twice.numpy(), (2 * wide(default.numpy())).astype(BF16))
