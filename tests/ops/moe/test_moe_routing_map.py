# SPDX-License-Identifier: Apache-2.0
"""Tokens permuted by a map of their experts."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_same
from helpers.operators import LAYOUTS, hollow, op, place, refusal

import aclnn_py as ap

from ..problems import fault

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]

NAME = "aclnnMoeTokenPermuteWithRoutingMap"
FLOATS = [np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]


def random_map(rng: np.random.Generator, tokens: int, experts: int, chosen: int) -> Array:
    """Each token is routed to so many experts."""
    return np.argsort(rng.random((tokens, experts)), axis=1) < chosen


def call(
    tokens: Array, routes: Array, probs: Array | None, wanted: int, pads: bool, layout: str
) -> tuple[Array, Array | None, Array]:
    parts = routes.shape[1] if pads else routes.shape[0]
    rows = wanted // parts * parts
    out = hollow((rows, tokens.shape[1]), tokens.dtype, layout)
    weights = None if probs is None else hollow((rows,), probs.dtype, layout)
    indices = hollow((rows,), np.int32, layout)
    ap.ops.moe_token_permute_with_routing_map(
        place(tokens, layout),
        place(routes, layout),
        None if probs is None else place(probs, layout),
        *(wanted, pads, out, weights, indices),
    )
    return out.numpy(), None if weights is None else weights.numpy(), indices.numpy()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("kind", [np.bool_, np.int8], ids=["bool", "int8"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_in_order(dtype: np.dtype[Any], kind: Any, layout: str) -> None:
    rng = np.random.default_rng(1)
    routes = random_map(rng, 7, 5, 3)
    tokens = rng.standard_normal((7, 6)).astype(dtype)
    wide = np.float32 if dtype == FLOATS[2] else dtype
    probs = rng.random((7, 5)).astype(wide)
    out, weights, indices = call(tokens, routes.astype(kind), probs, 7 * 3 + 2, False, layout)
    owners = np.broadcast_to(np.arange(7), (5, 7))[routes.T]
    assert_same(indices, np.argsort(owners, kind="stable").astype(np.int32))
    assert_same(out, tokens[owners])
    assert weights is not None
    assert_same(weights, probs.T[routes.T])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_drops_and_padding(dtype: np.dtype[Any], layout: str) -> None:
    rng = np.random.default_rng(2)
    routes = rng.random((7, 4)) < 0.5
    routes[:, 0], routes[:, 1] = True, False
    tokens = rng.standard_normal((7, 6)).astype(dtype)
    probs = rng.random((7, 4)).astype(dtype)
    out, weights, indices = call(tokens, routes, probs, 14, True, layout)
    chosen = np.argsort(~routes.T, axis=1, kind="stable")[:, :3]
    assert_same(indices, chosen.reshape(-1).astype(np.int32))
    assert_same(out, tokens[chosen.reshape(-1)])
    assert weights is not None
    assert_same(weights, np.take_along_axis(probs.T, chosen, axis=1).reshape(-1))


def test_tokens_with_fewer_experts_leave_places_empty() -> None:
    routes = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]], np.int8)
    tokens = np.arange(6, dtype=np.float32).reshape(3, 2)
    out, weights, indices = call(tokens, routes, None, 6, False, "dense")
    assert weights is None
    assert_same(indices, np.array([0, 2, -1, -1, 1, -1], np.int32))
    assert_same(out[:3], tokens[[0, 2, 0]])
    assert_same(out[3:], hollow((6, 2), np.float32).numpy()[3:])


def test_the_sum_over_the_places_is_the_way_back() -> None:
    rng = np.random.default_rng(3)
    routes = random_map(rng, 9, 6, 2)
    tokens = rng.integers(-8, 9, (9, 4)).astype(np.float32)
    out, _, indices = call(tokens, routes, None, 18, False, "dense")
    back = hollow((9, 4), np.float32)
    probs = np.full((9, 2), 0.5, np.float32)
    ap.ops.moe_token_unpermute(place(out), place(indices), place(probs), False, None, back)
    assert_same(back.numpy(), tokens)


def test_empty() -> None:
    for shape, wanted in [((0, 4), 0), ((3, 0), 0), ((3, 4), 0)]:
        routes = np.zeros(shape, np.bool_)
        for pads in (False, True):
            rows = 0
            out = hollow((rows, 5), np.float32)
            ap.ops.moe_token_permute_with_routing_map(
                *(ap.empty((shape[0], 5), np.float32), place(routes), None, wanted, pads),
                *(out, None, hollow((rows,), np.int32)),
            )
            ap.synchronize()


def arguments() -> list[Any]:
    """An accepted call."""
    return [
        place(np.ones((4, 6), np.float32)),
        place(np.eye(4, 3, dtype=np.bool_)),
        place(np.ones((4, 3), np.float32)),
        *(4, False),
        hollow((4, 6), np.float32),
        hollow((4,), np.float32),
        hollow((4,), np.int32),
    ]


@pytest.mark.parametrize(
    ("position", "given", "status"),
    [
        (0, lambda: None, 161001),
        (1, lambda: None, 161001),
        (5, lambda: None, 161001),
        (6, lambda: None, 161001),
        (7, lambda: None, 161001),
        (0, lambda: place(np.ones((3, 6), np.float32)), 161002),
        (0, lambda: place(np.ones((4, 6), np.float16)), 161002),
        (1, lambda: place(np.ones((4, 3), np.uint8)), 161002),
        (1, lambda: place(np.ones(4, np.bool_)), 161002),
        (2, lambda: place(np.ones((4, 4), np.float32)), 161002),
        (2, lambda: place(np.ones((4, 3), np.float16)), 161002),
        (3, lambda: 13, 161002),
        (3, lambda: -1, 161002),
        (3, lambda: 8, 161002),
        (5, lambda: hollow((4, 5), np.float32), 161002),
        (6, lambda: hollow((4,), np.float16), 161002),
        (7, lambda: hollow((4,), np.int64), 161002),
        (7, lambda: hollow((5,), np.int32), 161002),
    ],
)
def test_refusals(position: int, given: Any, status: int) -> None:
    call = arguments()
    op(NAME)(*call)
    call[position] = given()
    assert refusal(NAME, *call) == status


def test_limits() -> None:
    tokens, routes = ap.empty((1, 2), np.float32), ap.empty((1, 600), np.bool_)
    call = [tokens, routes, None, 513, False]
    results = [hollow((513, 2), np.float32), None, hollow((513,), np.int32)]
    assert refusal(NAME, *call, *results) == 561103
    given = arguments()
    given[3], given[4] = 12, True
    for i, shape in ((5, (12, 6)), (6, (12,))):
        given[i] = hollow(shape, np.float32)
    given[7] = hollow((12,), np.int32)
    op(NAME)(*given)
    three = [place(np.ones((2, 6), np.float32)), place(np.ones((2, 1), np.bool_)), None, 2, True]
    op(NAME)(*three, hollow((2, 6), np.float32), None, hollow((2,), np.int32))


def test_more_experts_than_places_are_a_fault() -> None:
    given = arguments()
    given[1] = place(np.array([[1, 1, 0], [0, 0, 0], [0, 0, 1], [0, 0, 0]], np.bool_))
    assert "routes token 0 to more than 1 experts" in fault(NAME, *given)
