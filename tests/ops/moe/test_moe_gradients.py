# SPDX-License-Identifier: Apache-2.0
"""Gradients of routing: the derivatives of permuting, unpermuting and gating in NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import Array, hollow, op, place, refusal, wide
from helpers.slopes import slopes

import aclnn_py as ap
from aclnn_py.errors import DeviceError

pytestmark = pytest.mark.usefixtures("device")

FLOATS = [np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
TOKENS, COPIES, WIDTH, EXPERTS = 4, 3, 5, 3


def normal(seed: int, *shape: int, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def order(seed: int, count: int) -> Array:
    return np.random.default_rng(seed).permutation(count).astype(np.int32)


def permuted(places: Array, x: Array, rows: int) -> Array:
    """Put copy i of the tokens, as many of each, into row places[i], if there is one."""
    out = np.zeros((rows, *x.shape[1:]), x.dtype)
    for i, at in enumerate(places):
        if 0 <= at < rows:
            out[at] = x[i // (len(places) // len(x))]
    return out


def combined(places: Array, rows: Array, weights: Array, bias: Array | None = None) -> Array:
    """Sum weight * row over the copies of each token; rows that are not there count as 0."""
    out: Any = np.zeros((len(weights), rows.shape[1]), complex)
    for i, at in enumerate(places):
        token, copy = divmod(i, weights.shape[1])
        if 0 <= at < len(rows):
            out[token] += weights[token, copy] * (rows[at] + (0 if bias is None else bias[i]))
    return np.asarray(out)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_tokens_get_the_sum_of_their_copies(dtype: Any) -> None:
    count = TOKENS * COPIES
    places, grad = order(1, count), normal(2, count, WIDTH, dtype=dtype)
    (wanted,) = slopes(
        lambda x: permuted(places, x, count), [np.zeros((TOKENS, WIDTH))], wide(grad)
    )
    for name, more in (
        ("aclnnMoeTokenPermuteGrad", [False]),
        ("aclnnMoeInitRoutingV2Grad", [0, 0]),
    ):
        out = hollow((TOKENS, WIDTH), dtype, "stepped")
        op(name)(place(grad, "transposed"), place(places), COPIES, *more, out)
        assert_close(out.numpy(), wanted, scale=2, what=name)


def test_only_the_first_rows_and_those_of_the_experts() -> None:
    count, active = TOKENS * COPIES, 7
    places, grad = order(3, count), normal(4, active, WIDTH)
    (wanted,) = slopes(
        lambda x: permuted(places, x, active), [np.zeros((TOKENS, WIDTH))], wide(grad)
    )
    out = hollow((TOKENS, WIDTH), np.float32)
    op("aclnnMoeInitRoutingV2Grad")(place(grad), place(places), COPIES, 0, active, out)
    assert_close(out.numpy(), wanted)
    places[[1, 6]] = -1
    grad = normal(5, EXPERTS, 4, WIDTH)
    (wanted,) = slopes(
        lambda x: permuted(places, x, 12), [np.zeros((TOKENS, WIDTH))], wide(grad.reshape(12, -1))
    )
    op("aclnnMoeInitRoutingV2Grad")(place(grad), place(places), COPIES, 1, 0, out)
    assert_close(out.numpy(), wanted)


@pytest.mark.parametrize("ranged", [True, False])
def test_the_rows_of_a_range(ranged: bool) -> None:
    count, (first, last) = TOKENS * COPIES, (2, 9) if ranged else (0, TOKENS * COPIES)
    places, grad = order(6, count), normal(7, last - first, WIDTH)
    probs = normal(8, last - first)

    def forward(x: Array, weights: Array) -> tuple[Array, Array]:
        rows = permuted(places - first, x, last - first)
        return rows, permuted(places - first, weights.reshape(-1, 1), last - first)[:, 0]

    parts = [np.zeros((TOKENS, WIDTH)), np.zeros((TOKENS, COPIES))]
    wanted = slopes(forward, parts, wide(grad), wide(probs))
    out, dprobs = (hollow(part.shape, np.float32) for part in parts)
    kept = [first, last] if ranged else None
    op("aclnnMoeTokenPermuteWithEpGrad")(
        place(grad), place(places), place(probs), COPIES, kept, False, out, dprobs
    )
    assert_close(out.numpy(), wanted[0])
    if ranged:
        assert_close(dprobs.numpy(), wanted[1])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("weighted", [True, False])
def test_copies_get_the_gradient_of_their_token(dtype: Any, weighted: bool) -> None:
    copies = COPIES if weighted else 1
    count = TOKENS * copies
    places, grad = order(9, count), normal(10, TOKENS, WIDTH, dtype=dtype)
    rows, weights = normal(11, count, WIDTH, dtype=dtype), normal(12, TOKENS, copies, dtype=dtype)
    used = weights if weighted else np.ones_like(weights)
    wanted = slopes(lambda r, w: combined(places, r, w), [wide(rows), wide(used)], wide(grad))
    probs = place(weights) if weighted else None
    for name in ("aclnnMoeTokenUnpermuteGrad", "aclnnMoeTokenUnpermuteWithEpGrad",
                 "aclnnMoeFinalizeRoutingV2Grad"):  # fmt: skip
        out, dprobs = hollow(rows.shape, dtype, "stepped"), hollow(weights.shape, dtype)
        tokens, index, made = place(grad, "transposed"), place(places), place(rows, "stepped")
        if name.endswith("UnpermuteGrad"):
            op(name)(made, tokens, index, probs, False, None, out, dprobs)
        elif name.endswith("WithEpGrad"):
            op(name)(tokens, index, made, probs, False, None, None, copies, out, dprobs)
        else:
            op(name)(tokens, index, made, probs, None, None, 0, 0, 0, 0, out, dprobs)
        assert_close(out.numpy(), wanted[0], scale=2, what=name)
        if weighted:
            assert_close(dprobs.numpy(), wanted[1], scale=4, what=name)


def test_copies_of_a_range() -> None:
    count, (first, last) = TOKENS * COPIES, (3, 8)
    places, grad = order(13, count), normal(14, TOKENS, WIDTH)
    rows, weights = normal(15, last - first, WIDTH), normal(16, TOKENS, COPIES)
    wanted = slopes(
        lambda r, w: combined(places - first, r, w), [wide(rows), wide(weights)], wide(grad)
    )
    out, dprobs = hollow(rows.shape, np.float32), hollow(weights.shape, np.float32)
    op("aclnnMoeTokenUnpermuteWithEpGrad")(
        place(grad), place(places), place(rows), place(weights), False, None, [first, last],
        COPIES, out, dprobs,
    )  # fmt: skip
    assert_close(out.numpy(), wanted[0])
    assert_close(dprobs.numpy(), wanted[1], scale=4)


@pytest.mark.parametrize("mode", ["bias", "dropped", "active"])
def test_the_forms_of_finalizing(mode: str) -> None:
    count, capacity = TOKENS * COPIES, 4
    places, grad = order(17, count), normal(18, TOKENS, WIDTH)
    total = 7 if mode == "active" else count
    rows, weights = normal(19, total, WIDTH), normal(20, TOKENS, COPIES)
    experts = np.random.default_rng(21).integers(0, EXPERTS, (TOKENS, COPIES)).astype(np.int32)
    bias = normal(22, EXPERTS, WIDTH)
    if mode == "dropped":
        places[[0, 5]] = -1
    wanted = slopes(
        lambda r, w: combined(places, r, w, wide(bias)[experts.reshape(-1)]),
        [wide(rows), wide(weights)], wide(grad),
    )  # fmt: skip
    shape = (EXPERTS, capacity, WIDTH) if mode == "dropped" else rows.shape
    out, dscales = hollow(shape, np.float32), hollow(weights.shape, np.float32)
    numbers = [1, 0, EXPERTS, capacity] if mode == "dropped" else [0, total, 0, 0]
    op("aclnnMoeFinalizeRoutingV2Grad")(
        place(grad), place(places), place(rows.reshape(shape)), place(weights), place(experts),
        place(bias), *numbers, out, dscales,
    )  # fmt: skip
    assert_close(out.numpy().reshape(rows.shape), wanted[0])
    assert_close(dscales.numpy(), wanted[1], scale=4)


def routed(padded: bool) -> tuple[Array, Array, Array, list[tuple[int, int]]]:
    """Return a map, sorted indices as the forward form gives them, tokens, and what rows hold."""
    rng = np.random.default_rng(23)
    table = np.zeros((TOKENS, EXPERTS), np.int8)
    for token in range(TOKENS):
        table[token, rng.choice(EXPERTS, 2, replace=False)] = 1
    if padded:
        rows = [
            (int(t), e) for e in range(EXPERTS) for t in np.argsort(-table[:, e], kind="stable")[:2]
        ]
        return table, np.array([t for t, _ in rows], np.int32), table, rows
    rows = [(t, e) for e in range(EXPERTS) for t in range(TOKENS) if table[t, e]]
    sorted_ = [rows.index((t, e)) for t in range(TOKENS) for e in range(EXPERTS) if table[t, e]]
    return table, np.array(sorted_, np.int32), table, rows


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_gradients_by_a_map(padded: bool, dtype: Any) -> None:
    table, indices, _, rows = routed(padded)
    tokens, experts = (np.array(part) for part in zip(*rows, strict=True))
    kind = np.float32 if dtype == FLOATS[2] else dtype
    grad, dprobs = normal(24, len(rows), WIDTH, dtype=dtype), normal(25, len(rows), dtype=kind)
    parts = [np.zeros((TOKENS, WIDTH)), np.zeros((TOKENS, EXPERTS))]
    wanted = slopes(lambda x, p: (x[tokens], p[tokens, experts]), parts, wide(grad), wide(dprobs))
    out, probs = hollow(parts[0].shape, dtype, "stepped"), hollow(parts[1].shape, kind)
    op("aclnnMoeTokenPermuteWithRoutingMapGrad")(
        place(grad, "transposed"), place(dprobs), place(indices), place(table), EXPERTS, TOKENS,
        padded, out, probs,
    )  # fmt: skip
    assert_close(out.numpy(), wanted[0], scale=2)
    assert_close(probs.numpy(), wanted[1])
    # The way back: what the forward form says about its rows, in any order.
    mixed = order(26, len(rows))
    made, weights = normal(27, len(rows), WIDTH, dtype=dtype), normal(28, *table.shape, dtype=kind)
    dy = normal(29, TOKENS, WIDTH, dtype=dtype)

    def forward(r: Array, w: Array) -> Array:
        total = np.zeros((TOKENS, WIDTH), complex)
        np.add.at(total, tokens, r * w[tokens, experts][:, None])
        return total

    wanted = slopes(forward, [wide(made), wide(weights)], wide(dy))
    for weighted in (True, False):
        out, probs = hollow(made.shape, dtype, "stepped"), hollow(weights.shape, kind)
        op("aclnnMoeTokenUnpermuteWithRoutingMapGrad")(
            place(dy, "stepped"), place(mixed), place(tokens[mixed].astype(np.int32)),
            *([place(table), place(made), place(weights)] if weighted else [None] * 3), padded,
            None, out, probs if weighted else None,
        )  # fmt: skip
        expected = wanted[0] if weighted else wide(dy)[tokens]
        assert_close(out.numpy(), expected, scale=2)
        if weighted:
            assert_close(probs.numpy(), wanted[1], scale=8)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_gradient_of_a_gate(dtype: Any) -> None:
    rows, experts, k, factor, eps = 3, 6, 2, 2.5, 1e-3
    x, dy = normal(30, rows, experts), normal(31, rows, k, dtype=dtype)
    chosen = np.stack([order(32 + i, experts)[:k] for i in range(rows)])

    def forward(x: Array) -> Array:
        picked = np.take_along_axis(1 / (1 + np.exp(-x)), chosen, 1)
        return np.asarray(factor * picked / (picked.sum(1, keepdims=True) + eps))

    (wanted,) = slopes(forward, [wide(x)], wide(dy))
    norm = (1 / (1 + np.exp(-wide(x)))).astype(np.float32)
    out = hollow((rows, experts), dtype)
    op("aclnnMoeGatingTopKBackward")(
        place(norm, "stepped"), place(dy, "transposed"), place(chosen), 0, 1, factor, eps, out
    )
    assert_close(out.numpy(), wanted, scale=4)


def test_indices_outside_are_faults() -> None:
    x, out = place(normal(0, 4, 2)), hollow((2, 2), np.float32)
    for index in ([0, 1, 2, 4], [0, -1, 2, 3]):
        with pytest.raises(DeviceError, match="sortedIndices holds"):
            op("aclnnMoeTokenPermuteGrad")(x, place(np.array(index, np.int32)), 2, False, out)
            ap.synchronize()
    rows = hollow((4, 2), np.float32)
    with pytest.raises(DeviceError, match="sortedIndices has row 1 twice"):
        twice = place(np.array([0, 1, 1, 2], np.int32))
        op("aclnnMoeTokenUnpermuteGrad")(x, x, twice, None, False, None, rows, out)
        ap.synchronize()
    with pytest.raises(DeviceError, match="expertIdx holds 2"):
        chosen = place(np.array([[0], [1], [2], [0]], np.int32))
        op("aclnnMoeGatingTopKBackward")(
            x, hollow((4, 1), np.float32), chosen, 0, 1, 1.0, 0.0, hollow((4, 2), np.float32)
        )
        ap.synchronize()


def test_what_does_not_fit_is_refused() -> None:
    x, index, out = hollow((4, 2), np.float32), hollow((4,), np.int32), hollow((2, 2), np.float32)
    permute, routing = "aclnnMoeTokenPermuteGrad", "aclnnMoeInitRoutingV2Grad"
    assert refusal(permute, x, index, 3, False, out) == 561002
    assert refusal(permute, x, index, 2, True, out) == 561002
    assert refusal(permute, x, index, 0, False, out) == 561002
    assert refusal(permute, None, index, 2, False, out) == 161001
    assert refusal(routing, x, index, 2, 2, 0, out) == 561002
    assert refusal(routing, x, index, 2, 0, 3, out) == 561002
    back = "aclnnMoeFinalizeRoutingV2Grad"
    assert refusal(back, x, index, None, None, None, None, 2, 0, 0, 0, x, x) == 561103
    assert refusal(back, x, index, None, out, None, None, 0, 0, 0, 0, x, out) == 561103
    gate = "aclnnMoeGatingTopKBackward"
    assert refusal(gate, x, x, hollow((4, 2), np.int32), 0, 0, 1.0, 0.0, x) == 561002
