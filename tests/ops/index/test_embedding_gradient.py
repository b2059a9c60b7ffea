# SPDX-License-Identifier: Apache-2.0
"""The gradient of an embedding, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_same
from helpers.operators import hollow, place, refusal, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, fault, message, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
NO_PADDING = 2**64 - 1


def case(labels: str, padding: int, averaged: bool) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        rows = rng.integers(0, 2 if labels == "bool" else 7, (3, 4))
        g = rng.normal(size=(3, 4, 6)).astype(dtype)
        oracle = np.zeros((7, 6))
        for at in np.ndindex(rows.shape):
            if rows[at] != padding:
                share = (rows == rows[at]).sum() if averaged else 1
                oracle[rows[at]] += wide(g)[at] / share
        return [In(g), In(rows.astype(labels)), 7, padding, averaged, Out(oracle, dtype, 2)]

    return Case("EmbeddingDenseBackward", build, f"{labels}-{padding}-{averaged}")


TestGradient = suite(
    [
        case("int64", NO_PADDING, False),
        case("int32", 1, True),
        case("uint8", 9, False),
        case("float32", 0, True),
        case("bool", NO_PADDING, True),
    ]
)


def test_one_place_is_one_row() -> None:
    out = hollow((3, 2), np.float32)
    g, row = place(np.array([1, 2], np.float32)), place(np.array(2, np.int64))
    ap.ops.embedding_dense_backward(g, row, 3, NO_PADDING, False, out)
    assert_same(out.numpy(), np.array([[0, 0], [0, 0], [1, 2]], np.float32))


def test_many_places_of_one_row_are_added_in_float64() -> None:
    g = np.random.default_rng(3).normal(size=(20000, 3)).astype(np.float32)
    out = hollow((2, 3), np.float32)
    rows = place(np.zeros(20000, np.int32))
    ap.ops.embedding_dense_backward(place(g), rows, 2, NO_PADDING, False, out)
    oracle = np.stack([wide(g).sum(0), np.zeros(3)])
    assert_same(out.numpy(), oracle.astype(np.float32))


def test_the_result_may_lie_on_the_gradient() -> None:
    g = np.arange(6, dtype=np.float32).reshape(2, 3)
    memory = place(g)
    rows = place(np.array([1, 0]))
    ap.ops.embedding_dense_backward(memory, rows, 2, NO_PADDING, False, memory)
    assert_same(memory.numpy(), g[::-1])


def test_nothing_to_add() -> None:
    out = hollow((2, 3), np.float32)
    none, rows = ap.empty((0, 3), np.float32), ap.empty((0,), np.int64)
    ap.ops.embedding_dense_backward(none, rows, 2, 0, True, out)
    assert_same(out.numpy(), np.zeros((2, 3), np.float32))
    thin, two = ap.empty((2, 0), np.float32), place(np.array([0, 1]))
    ap.ops.embedding_dense_backward(thin, two, 2, 0, True, ap.empty((2, 0), np.float32))
    ap.synchronize()


@pytest.mark.parametrize("row", [-1, 2, 2**40])
def test_a_row_that_does_not_exist_is_a_fault(row: int) -> None:
    g, rows = place(np.ones((2, 3), np.float32)), place(np.array([0, row]))
    out = hollow((2, 3), np.float32)
    name = "aclnnEmbeddingDenseBackward"
    assert f"{row}" in fault(name, g, rows, 2, NO_PADDING, False, out)
    assert_same(out.numpy(), np.full((2, 3), 77, np.float32))


def test_what_does_not_fit_is_refused() -> None:
    name = "aclnnEmbeddingDenseBackward"
    g, rows, out = hollow((2, 3), np.float32), hollow((2,), np.int64), hollow((4, 3), np.float32)
    three = hollow((3,), np.int64)
    assert "each needs a row" in message(name, 161002, [g, three, 4, 0, False, out])
    assert "expected (5, 3)" in message(name, 161002, [g, rows, 5, 0, False, out])
    assert refusal(name, g, rows, 4, 0, False, hollow((4, 3), np.float16)) == 161002
    assert refusal(name, g, rows, 4, 0, False, hollow((4, 3, 1), np.float32)) == 161002
    assert refusal(name, g, rows, 2**64 - 4, 0, False, out) == 161002
    scalar = hollow((), np.float32)
    assert refusal(name, scalar, hollow((1,), np.int64), 4, 0, False, out) == 161002
