# SPDX-License-Identifier: Apache-2.0
"""Tokens from logits and indices from weights, by functions that allocate their results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_same
from helpers.operators import hollow, op, place

import aclnn_py as ap
from aclnn_py import functional

pytestmark = pytest.mark.usefixtures("device")

LOGITS = np.array([[1, 4, 2, 3], [0, -1, 5, 4.5]], np.float32)


def test_apply_top_k_top_p() -> None:
    k, p = np.array([3, 0], np.int32), np.array([1, 0.5], np.float32)
    expected = np.array([[-np.inf, 4, 2, 3], [-np.inf, -np.inf, 5, -np.inf]], np.float32)
    out = functional.apply_top_k_top_p(place(LOGITS), place(k), place(p))
    assert_same(out.numpy(), expected)
    out = functional.apply_top_k_top_p(place(LOGITS), k=place(k))
    assert_same(out.numpy()[1], LOGITS[1])
    with pytest.raises(ap.errors.AclnnError) as caught:
        functional.apply_top_k_top_p(place(LOGITS))
    assert caught.value.status == 161001


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_top_k_top_p_sample(dtype: str) -> None:
    logits, p = place(LOGITS.astype(dtype)), place(np.ones(2, dtype))
    k = place(np.array([3, 0], np.int32))
    assert functional.top_k_top_p_sample(logits, k, p).numpy().tolist() == [1, 2]
    # A small number makes its token likely: here the second of the kept ones, in both rows.
    q = np.ones(LOGITS.shape, np.float32)
    q[0, 1], q[1, 3] = 1e-3, 1e-3
    assert functional.top_k_top_p_sample(logits, k, p, q=place(q)).numpy().tolist() == [3, 3]
    # Only the best of the first row has a tenth of its own probability, so `q` cannot change it.
    least = place(np.array([0.5, 0.0], dtype))
    tokens = functional.top_k_top_p_sample(logits, k, p, q=place(q), min_p=least)
    assert tokens.numpy().tolist() == [1, 3]


@pytest.mark.parametrize("replacement", [True, False])
def test_multinomial_takes_the_numbers_of_its_generator(replacement: bool) -> None:
    weights = place(np.random.default_rng(1).uniform(0.1, 1, (3, 50)).astype(np.float32))
    generator = ap.Generator().manual_seed(7)
    drawn = [
        functional.multinomial(weights, 20, replacement, generator=generator).numpy()
        for _ in range(2)
    ]
    assert (drawn[0] != drawn[1]).any()
    # One number for each result, or for each weight, rounded up to a multiple of four.
    step = 60 if replacement else 152
    assert generator.get_offset() == 2 * step
    for n, found in enumerate(drawn):
        out = hollow((3, 20), np.int64)
        op("aclnnMultinomial")(weights, 20, replacement, 7, n * step, out)
        assert_same(found, out.numpy())
        again = functional.multinomial(weights, 20, replacement, seed=7, offset=n * step)
        assert_same(again.numpy(), found)


def test_each_replay_of_a_graph_draws_anew() -> None:
    weights = place(np.ones(1000, np.float32))
    generator = ap.Generator().manual_seed(3)
    graph, stream = ap.Graph(), ap.Stream()
    with graph.capture(stream):
        out = functional.multinomial(weights, 40, True, generator=generator, stream=stream)
    found = []
    for _ in range(3):
        graph.replay(stream=stream)
        stream.synchronize()
        found.append(out.numpy())
    for n, numbers in enumerate(found):
        wanted = functional.multinomial(weights, 40, True, seed=3, offset=n * 40)
        assert_same(numbers, wanted.numpy())


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: functional.multinomial(x, 2, generator=ap.Generator(), seed=1),
         ap.errors.InvalidArgumentError),
        (lambda x: functional.multinomial(x, 2, generator=3), TypeError),
        (lambda x: functional.multinomial(x, -1), ap.errors.AclnnError),
        (lambda x: functional.multinomial(x, 9), ap.errors.AclnnError),
        (lambda x: functional.multinomial(np.ones(3), 2), TypeError),
        (lambda x: functional.apply_top_k_top_p(np.ones((3, 2)), x), TypeError),
        (lambda x: functional.top_k_top_p_sample(np.ones((3, 2)), x, x), TypeError),
    ],
)  # fmt: skip
def test_wrong_arguments(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call(place(np.ones(8, np.float32)))
