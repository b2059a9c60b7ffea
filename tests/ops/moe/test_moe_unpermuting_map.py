# SPDX-License-Identifier: Apache-2.0
"""Tokens that a map of experts permuted are put back."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, hollow, op, place, refusal

import aclnn_py as ap

from ..problems import fault

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]

NAME = "aclnnMoeTokenUnpermuteWithRoutingMap"
F32, F16, BF16 = (np.dtype(kind) for kind in (np.float32, np.float16, ml_dtypes.bfloat16))


def call(
    tokens: Array, indices: Array, routes: Array | None, probs: Array | None, padded: bool,
    count: int, layout: str = "dense",
) -> list[Array]:  # fmt: skip
    """The four results; the last one only with probabilities."""
    rows, width = tokens.shape
    results = [
        hollow((count, width), tokens.dtype, layout), hollow((rows,), np.int32, layout),
        hollow((rows,), np.int32, layout),
    ]  # fmt: skip
    weights = None if probs is None else hollow((rows,), probs.dtype, layout)
    op(NAME)(
        *(None if x is None else place(x, layout) for x in (tokens, indices, routes, probs)),
        *(padded, [count, width] if padded else None, *results, weights),
    )
    return [x.numpy() for x in [*results, weights] if x is not None]


def slots_of(routes: Array, each: int) -> Array:
    """The row of each copy of a token, -1 for none. Rows lie by expert, then by token."""
    row = np.cumsum(routes.T.reshape(-1)).reshape(routes.T.shape).T - 1
    slots = np.full((len(routes), each), -1, np.int32)
    for token, experts in enumerate(routes):
        found = row[token][experts]
        slots[token, : len(found)] = found
    return slots.reshape(-1)


@pytest.mark.parametrize(("dtype", "wide"), [(F32, F32), (F16, F16), (BF16, BF16), (BF16, F32)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies_are_added(dtype: np.dtype[Any], wide: np.dtype[Any], layout: str) -> None:
    rng = np.random.default_rng(1)
    routes = np.argsort(rng.random((7, 5)), axis=1) < 3
    routes[2, :], routes[4, 1:] = False, False  # a token without an expert, one with fewer
    indices = slots_of(routes, 3)
    tokens = rng.standard_normal((21, 6)).astype(dtype)
    probs = rng.random((7, 5)).astype(wide)
    weights = probs.T[routes.T]
    owners = np.broadcast_to(np.arange(7), (5, 7))[routes.T]
    for given in (probs, None):
        factors = weights.astype(np.float64) if given is not None else np.ones(len(weights))
        expected = np.zeros((7, 6))
        np.add.at(expected, owners, tokens[: len(owners)].astype(np.float64) * factors[:, None])
        map_ = routes.astype(np.int8) if given is not None else None
        out, rows, ids, *rest = call(tokens, indices, map_, given, False, 7, layout)
        assert_close(out, expected.astype(dtype), scale=2)
        assert_same(rows, indices)
        assert_same(ids, np.repeat(np.arange(7, dtype=np.int32), 3))
        if given is not None:
            assert_same(rest[0][: len(weights)], weights)


@pytest.mark.parametrize(("dtype", "wide"), [(F32, F32), (F16, F16), (BF16, F32)])
def test_places_of_experts_are_added(dtype: np.dtype[Any], wide: np.dtype[Any]) -> None:
    rng = np.random.default_rng(2)
    indices = np.concatenate([rng.permutation(6)[:4] for _ in range(3)]).astype(np.int32)
    tokens = rng.standard_normal((12, 5)).astype(dtype)
    probs = rng.random((6, 3)).astype(wide)
    weights = probs[indices, np.repeat(np.arange(3), 4)]
    for given in (probs, None):
        factors = weights.astype(np.float64) if given is not None else np.ones(12)
        expected = np.zeros((6, 5))
        np.add.at(expected, indices, tokens.astype(np.float64) * factors[:, None])
        map_ = np.ones((6, 3), np.bool_) if given is not None else None
        out, rows, ids, *rest = call(tokens, indices, map_, given, True, 6)
        assert_close(out, expected.astype(dtype), scale=2)
        assert_same(rows, np.argsort(indices, kind="stable").astype(np.int32))
        assert_same(ids, np.sort(indices))
        if given is not None:
            assert_same(rest[0], weights)


@pytest.mark.parametrize("pads", [False, True])
def test_it_undoes_permuting(pads: bool) -> None:
    """Every token comes back as often as it was copied."""
    rng = np.random.default_rng(3)
    routes = np.argsort(rng.random((8, 4)), axis=1) < 2
    if pads:
        routes = np.tile(np.eye(4, dtype=np.bool_), (2, 1))
    tokens = rng.integers(-8, 9, (8, 4)).astype(np.float32)
    rows = 8 if pads else 16
    out, indices = hollow((rows, 4), np.float32), hollow((rows,), np.int32)
    ap.ops.moe_token_permute_with_routing_map(
        place(tokens), place(routes), None, rows, pads, out, None, indices
    )
    back = call(out.numpy(), indices.numpy(), None, None, pads, 8)[0]
    assert_same(back, tokens * np.float32(1 if pads else 2))


def test_empty() -> None:
    none = np.zeros((0, 5), np.float32)
    assert call(none, np.zeros(0, np.int32), None, None, False, 0)[0].shape == (0, 5)
    out = call(none, np.zeros(0, np.int32), None, None, False, 3)[0]
    assert_same(out, np.zeros((3, 5), np.float32))


def arguments() -> list[Any]:
    """An accepted call."""
    return [
        place(np.ones((4, 6), np.float32)), place(np.array([0, 1, 2, -1], np.int32)),
        place(np.array([[1, 1], [1, 0]], np.bool_)), place(np.ones((2, 2), np.float32)),
        False, None, hollow((2, 6), np.float32),
        hollow((4,), np.int32), hollow((4,), np.int32), hollow((4,), np.float32),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("position", "given", "status"),
    [
        *[(position, lambda: None, 161001) for position in (0, 1, 2, 6, 7, 8, 9)],
        (0, lambda: place(np.ones((4, 6), np.float64)), 161002),
        (0, lambda: place(np.ones((4, 6), np.float16)), 161002),
        (0, lambda: place(np.ones((3, 6), np.float32)), 161002),
        (1, lambda: place(np.zeros(5, np.int32)), 161002),
        (2, lambda: place(np.ones((2, 3), np.bool_)), 161002),
        (3, lambda: place(np.ones((3, 2), np.float32)), 161002),
        (5, lambda: [2, 5], 161002),
        (6, lambda: hollow((2, 5), np.float32), 161002),
        (7, lambda: hollow((3,), np.int32), 161002),
        (8, lambda: hollow((4,), np.int64), 161002),
        (9, lambda: hollow((4,), np.float16), 161002),
    ],
)
def test_refusals(position: int, given: Any, status: int) -> None:
    call = arguments()
    op(NAME)(*call)
    call[position] = given()
    assert refusal(NAME, *call) == status


def test_limits() -> None:
    given = [ap.empty((513, 2), np.float32), ap.zeros((513,), np.int32), None, None, False, None]
    results = [hollow((1, 2), np.float32), hollow((513,), np.int32), hollow((513,), np.int32)]
    assert refusal(NAME, *given, *results, None) == 561103
    given = arguments()
    given[2], given[3] = place(np.ones((3, 2), np.bool_)), place(np.ones((3, 2), np.float32))
    assert refusal(NAME, *given) == 561103


@pytest.mark.parametrize(
    ("indices", "text"),
    [
        ([0, 1, 2, 4], "sortedIndices holds 4; allowed: -1 to 3"),
        ([0, 1, 2, -2], "sortedIndices holds -2"),
        ([0, 1, 2, 3], "routingMapOptional routes tokens to experts 3 times"),
    ],
)
def test_indices_that_lead_nowhere_are_a_fault(indices: list[int], text: str) -> None:
    given = arguments()
    given[1] = place(np.array(indices, np.int32))
    assert text in fault(NAME, *given)


def test_more_copies_than_rows_are_a_fault() -> None:
    given = arguments()
    given[2], given[3] = place(np.ones((2, 5), np.bool_)), place(np.ones((2, 5), np.float32))
    assert "routes tokens to experts 10 times; permutedTokens has 4 rows" in fault(NAME, *given)
