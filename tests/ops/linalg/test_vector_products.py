# SPDX-License-Identifier: Apache-2.0
"""Outer and cross products, and the trace, against NumPy."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import (
    LAYOUTS,
    NUMPY,
    Array,
    accepted_dtypes,
    hollow,
    op,
    place,
    refusal,
    values,
    wide,
)

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("device")

INVALID = 161002


def random(name: str, *shapes: tuple[int, ...]) -> list[Array]:
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return [values(rng, shape, NUMPY[name], -4.0, 4.0) for shape in shapes]


def number(array: Array) -> Any:
    """In the widest type of its kind, where BOOL counts as 0 and 1."""
    return array.astype(np.int64) if array.dtype == np.bool_ else wide(array)


def compare(result: Array, expected: Any, what: str) -> None:
    if result.dtype == np.bool_:
        assert_same(result, np.asarray(expected) != 0, what)
    elif result.dtype.kind in "iu":
        assert_same(result, np.asarray(expected).astype(result.dtype), what)
    else:
        assert_close(result, expected, scale=4, what=what)


@pytest.mark.parametrize("name", sorted(accepted_dtypes("aclnnGer", 0)))
def test_outer_product(name: str) -> None:
    for layout in LAYOUTS:
        x, y = random(name, (5,), (37,))
        out = hollow((5, 37), NUMPY[name], layout)
        op("aclnnGer")(place(x, layout), place(y, layout), out)
        compare(out.numpy(), np.outer(number(x), number(y)), f"{name} {layout}")


def test_outer_product_of_two_dtypes_and_of_nothing() -> None:
    x, y = np.array([3, -2], np.int32), np.array([0.5, 1.5, -2.5], np.float32)
    out = hollow((2, 3), np.float16)
    op("aclnnGer")(place(x), place(y), out)
    assert_same(out.numpy(), np.outer(x, y).astype(np.float16))
    op("aclnnGer")(hollow((0,), np.float32), place(y), hollow((0, 3), np.float32))
    assert refusal("aclnnGer", place(x), place(y), hollow((3, 2), np.float32)) == INVALID
    assert refusal("aclnnGer", place(x), place(y), hollow((2, 3), np.int32)) == INVALID
    assert refusal("aclnnGer", out, place(y), hollow((2, 3), np.float32)) == INVALID
    assert refusal("aclnnGer", None, place(y), out) == 161001


@pytest.mark.parametrize("name", sorted(accepted_dtypes("aclnnAddr", 0)))
def test_outer_product_added_to_a_matrix(name: str) -> None:
    dtype = NUMPY[name]
    for layout, shape in zip(LAYOUTS, [(5, 37), (5, 1), (37,)], strict=True):
        z, x, y = random(name, shape, (5,), (37,))
        beta, alpha = (ap.ops.Scalar(factor, np.int32) for factor in (3, 2))
        expected = 3 * number(z) + 2 * np.outer(number(x), number(y))
        out = hollow((5, 37), dtype, layout)
        matrix = place(z, layout)
        op("aclnnAddr")(matrix, place(x, layout), place(y, layout), beta, alpha, out)
        compare(out.numpy(), expected, f"{name} {layout}")
        if shape == out.shape:
            op("aclnnInplaceAddr")(matrix, place(x, layout), place(y, layout), beta, alpha)
            compare(matrix.numpy(), expected, f"{name} {layout} in place")


def test_a_factor_of_0_leaves_the_matrix_out() -> None:
    vectors = place(np.array([2.0], np.float32)), place(np.array([3.0, np.inf], np.float32))
    matrix, out = place(np.array([[np.nan, np.inf]], np.float32)), hollow((1, 2), np.float32)
    op("aclnnAddr")(matrix, *vectors, 0.0, 1.0, out)
    op("aclnnInplaceAddr")(matrix, *vectors, 0.0, 1.0)
    for found in (out, matrix):
        assert_same(found.numpy(), np.array([[6, np.inf]], np.float32))


def test_factors_of_the_outer_product() -> None:
    z, x, y = random("FLOAT", (2, 3), (2,), (3,))
    out = hollow((2, 3), np.float32)
    op("aclnnAddr")(place(z), place(x), place(y), None, None, out)
    assert_close(out.numpy(), wide(z) + np.outer(wide(x), wide(y)))
    vectors = place(x), place(y)
    truth = ap.ops.Scalar(True, np.bool_)
    with pytest.raises(ap.errors.AclnnError, match="betaOptional has dtype BOOL"):
        op("aclnnAddr")(place(z), *vectors, truth, None, out)
    whole = [place(array.astype(np.int32)) for array in (z, x, y)]
    half = ap.ops.Scalar(0.5, np.float32)
    with pytest.raises(ap.errors.AclnnError, match="alphaOptional has dtype FLOAT"):
        op("aclnnInplaceAddr")(*whole, None, half)
    assert refusal("aclnnAddr", hollow((3, 2), np.float32), *vectors, None, None, out) == INVALID
    assert refusal("aclnnInplaceAddr", place(y), *vectors, None, None) == INVALID
    assert refusal("aclnnAddr", None, *vectors, None, None, out) == 161001


@pytest.mark.parametrize("name", sorted(accepted_dtypes("aclnnTrace", 0)))
def test_trace(name: str) -> None:
    result = np.dtype(np.int64) if NUMPY[name].kind in "iub" else NUMPY[name]
    for layout in LAYOUTS:
        for shape in [(7, 5), (3, 1100), (0, 4)]:
            (x,) = random(name, shape)
            out = hollow((), result)
            op("aclnnTrace")(place(x, layout), out)
            compare(out.numpy(), np.trace(number(x)), f"{name} {layout} {shape}")


def test_trace_refuses_other_results() -> None:
    x, out = place(np.eye(3, dtype=np.int32)), hollow((), np.int64)
    assert refusal("aclnnTrace", x, hollow((), np.float32)) == INVALID
    assert refusal("aclnnTrace", x, hollow((1,), np.int64)) == INVALID
    assert refusal("aclnnTrace", hollow((3,), np.int32), out) == INVALID
    assert refusal("aclnnTrace", x, None) == 161001


@pytest.mark.parametrize("name", sorted(accepted_dtypes("aclnnLinalgCross", 0)))
def test_cross_product(name: str) -> None:
    for layout, axis in zip(LAYOUTS, [-1, 0, 1], strict=True):
        shape = [4, 5, 6]
        shape[axis] = 3
        x, y = random(name, tuple(shape), tuple(shape))
        out = hollow(tuple(shape), NUMPY[name], layout)
        op("aclnnLinalgCross")(place(x, layout), place(y, layout), axis, out)
        compare(out.numpy(), np.cross(number(x), number(y), axis=axis), f"{name} {layout}")


def test_cross_product_broadcasts_and_overwrites_an_operand() -> None:
    x, y = random("DOUBLE", (4, 1, 3), (5, 3))
    out = hollow((4, 5, 3), np.float64)
    op("aclnnLinalgCross")(place(x), place(y), 2, out)
    assert_close(out.numpy(), np.cross(np.broadcast_to(x, (4, 5, 3)), y))
    itself = place(y)
    op("aclnnLinalgCross")(itself, place(x[0]), 1, itself)
    assert_close(itself.numpy(), np.cross(y, np.broadcast_to(x[0], (5, 3))))
    with pytest.raises(ap.errors.AclnnError, match="along dim 0; expected 3"):
        op("aclnnLinalgCross")(itself, itself, 0, itself)
    assert refusal("aclnnLinalgCross", itself, itself, 2, itself) == INVALID
    assert refusal("aclnnLinalgCross", itself, itself, -(2**63), itself) == INVALID
    assert refusal("aclnnLinalgCross", itself, itself, 1, hollow((5, 3), np.float32)) == INVALID
    assert refusal("aclnnLinalgCross", itself, None, 1, itself) == 161001
