# SPDX-License-Identifier: Apache-2.0
"""Matrices scaled to equal sums, against the iteration of the document in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import Array, hollow, op, place, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, message, suite

pytestmark = pytest.mark.usefixtures("device")


def scaled(cost: Array, tolerance: float) -> Array:
    powers = np.exp(cost)
    rows, columns = cost.shape
    of_columns = np.ones(columns)
    for _ in range(1000):
        of_rows = 1 / (rows * ((of_columns * powers).sum(1) + 1e-8))
        new = 1 / (columns * ((of_rows[:, None] * powers).sum(0) + 1e-8))
        error = np.abs(of_columns - new).mean()
        of_columns = new
        if error <= tolerance:
            break
    return of_columns * powers * of_rows[:, None]


def case(shape: tuple[int, int], tolerance: float | None) -> Case:
    def build(rng: np.random.Generator, dtype: Any) -> Problem:
        cost = rng.random(shape).astype(dtype)
        given = None if tolerance is None else ap.Scalar(tolerance, "float32")
        oracle = scaled(wide(cost), 1e-4 if tolerance is None else float(np.float32(tolerance)))
        return [In(cost), given, Out(oracle, dtype, 4)]

    return Case("Sinkhorn", build, f"{shape[0]}x{shape[1]}-{tolerance}")


TestScaling = suite([case((5, 3), None), case((7, 70), 1e-6), case((3, 4), 0.5)])


def test_rows_and_columns_have_equal_sums() -> None:
    cost = np.random.default_rng(1).random((40, 130)).astype(np.float32)
    out = hollow(cost.shape, np.float32)
    op("aclnnSinkhorn")(place(cost), ap.Scalar(1e-9, "float32"), out)
    np.testing.assert_allclose(wide(out.numpy()).sum(0), np.full(130, 1 / 130), rtol=2e-6)
    np.testing.assert_allclose(wide(out.numpy()).sum(1), np.full(40, 1 / 40), rtol=2e-6)


def test_a_tolerance_that_is_never_reached_ends_all_the_same() -> None:
    """The small number in the divisions lets the scales drift."""
    cost = np.full((2, 2), np.nan, np.float32)
    out = hollow(cost.shape, np.float32)
    op("aclnnSinkhorn")(place(cost), ap.Scalar(0.0, "float32"), out)
    assert np.isnan(out.numpy()).all()
    cost = np.random.default_rng(1).random((30, 20)).astype(np.float32)
    out = hollow(cost.shape, np.float32)
    op("aclnnSinkhorn")(place(cost), ap.Scalar(0.0, "float32"), out)
    assert_close(out.numpy(), scaled(wide(cost), 0.0), scale=4)


def test_no_elements() -> None:
    out = hollow((0, 3), np.float32)
    op("aclnnSinkhorn")(place(np.zeros((0, 3), np.float32)), None, out)
    assert out.numpy().shape == (0, 3)


def test_refusals() -> None:
    name, x = "aclnnSinkhorn", hollow((4, 3), np.float32)
    assert "tol is -1" in message(name, 161002, [x, ap.Scalar(-1.0, "float32"), x])
    assert "tol is nan" in message(name, 161002, [x, ap.Scalar(float("nan"), "float32"), x])
    assert "cost has 1 dim" in message(name, 161002, [x[0], None, x[0]])
    assert "p has dtype" in message(name, 161002, [x, None, hollow((4, 3), np.float16)])
    wide_one = hollow((1, 1025), np.float32)
    assert "1024 columns" in message(name, 561002, [wide_one, None, wide_one])
