# SPDX-License-Identifier: Apache-2.0
"""Reductions, positions and running results of elements as they lie in memory, for rows around the
borders of registers and parts, along rows, along columns and over everything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("device")

INTEGERS = ("int8", "uint8", "int16", "int32", "int64")
FLOATS = ("float32", "float64")
# A register of one-byte elements with AVX-512 holds 64; a part of a row 8192 bytes.
SHAPES = [(1, 1), (3, 15), (5, 64), (7, 65), (2, 257), (33, 128), (3, 8193), (70, 33), (2, 20_001)]
AXES = [None, 0, 1]


def numbers(dtype: str, shape: tuple[int, ...]) -> Any:
    rng = np.random.default_rng(shape[0] * 1000 + shape[1])
    wanted = np.dtype(dtype)
    if wanted.kind == "b":
        return rng.random(shape) < 0.02
    if wanted.kind in "iu":
        limits = np.iinfo(wanted)
        return rng.integers(limits.min, limits.max, shape, wanted, endpoint=True)
    return rng.standard_normal(shape).astype(wanted)


def layouts(x: Any) -> list[ap.Tensor]:
    """The same elements dense, with gaps, and with rows and columns exchanged in memory."""
    return [
        ap.from_numpy(x),
        ap.from_numpy(np.repeat(x, 2, axis=1))[:, ::2],
        ap.from_numpy(np.ascontiguousarray(x.T)).T,
    ]


def dims(axis: int | None) -> list[int]:
    return [0, 1] if axis is None else [axis]


def results(shape: tuple[int, ...], axis: int | None, dtype: Any) -> ap.Tensor:
    return ap.empty(np.empty(shape, bool).any(axis=axis).shape, dtype)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, "bool"])
def test_extremes_and_truth(dtype: str, shape: tuple[int, int], axis: int | None) -> None:
    x = numbers(dtype, shape)
    rare = np.where(x > np.quantile(x.astype(float), 0.99), x, np.zeros_like(x))
    for tensor in layouts(x):
        for call, expected in ((ap.ops.amax, np.max), (ap.ops.amin, np.min)):
            out = results(shape, axis, dtype)
            call(tensor, dims(axis), False, out)
            np.testing.assert_array_equal(out.numpy(), expected(x, axis=axis))
    for values in (rare, x, np.ones_like(x), np.zeros_like(x)):
        for tensor in layouts(values):
            for call, expected in ((ap.ops.any, np.any), (ap.ops.all, np.all)):
                out = results(shape, axis, "bool")
                call(tensor, dims(axis), False, out)
                np.testing.assert_array_equal(out.numpy(), expected(values, axis=axis))


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, "complex64", "complex128"])
def test_sums(dtype: str, shape: tuple[int, int], axis: int | None) -> None:
    x = numbers("float64", shape) + 1j * numbers("float64", shape)
    x = numbers(dtype, shape) if np.dtype(dtype).kind != "c" else x.astype(dtype)
    out_dtype = "int64" if np.dtype(dtype).kind in "iu" else dtype
    for tensor in layouts(x):
        out = results(shape, axis, out_dtype)
        ap.ops.reduce_sum(tensor, dims(axis), False, out_dtype, out)
        if out_dtype == "int64":
            np.testing.assert_array_equal(out.numpy(), x.sum(axis=axis, dtype="int64"))
        else:
            exact = x.sum(axis=axis, dtype=np.promote_types(dtype, "float64"))
            close = 1e-12 if dtype in ("float64", "complex128") else 2e-5
            size = max(1.0, float(np.sqrt(x.size)))
            np.testing.assert_allclose(out.numpy(), exact, rtol=0, atol=close * size)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_products_of_integers(dtype: str, shape: tuple[int, int], axis: int | None) -> None:
    x = numbers(dtype, shape) | np.dtype(dtype).type(1)  # odd ones, whose product is never 0
    for tensor in layouts(x):
        out = results(shape, axis, "int64")
        if axis is None:
            ap.ops.prod(tensor, "int64", out)
        else:
            ap.ops.prod_dim(tensor, axis, False, "int64", out)
        np.testing.assert_array_equal(out.numpy(), x.prod(axis=axis, dtype="int64"))


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_spreads(dtype: str, shape: tuple[int, int], axis: int | None) -> None:
    x = numbers("float32", shape).astype(dtype) + np.dtype(dtype).type(3)
    wide = x.astype("float64")
    close = {"float32": 1e-6, "float16": 1e-3}[dtype]
    for tensor in layouts(x):
        means, found = results(shape, axis, dtype), results(shape, axis, dtype)
        for correction in (0, 2):  # the latter leaves nothing of two elements
            with np.errstate(all="ignore"):
                squares = wide.var(axis=axis) * (wide.size / wide.mean(axis=axis).size)
                left = max(wide.size // wide.mean(axis=axis).size - correction, 0)
                exact = squares / left if left else np.where(squares > 0, np.inf, np.nan)
            ap.ops.var_mean(tensor, dims(axis), correction, False, found, means)
            np.testing.assert_allclose(means.numpy(), wide.mean(axis=axis), rtol=close, atol=close)
            np.testing.assert_allclose(found.numpy(), exact, rtol=close, atol=close)
            ap.ops.std(tensor, dims(axis), correction, False, found)
            np.testing.assert_allclose(found.numpy(), np.sqrt(exact), rtol=close, atol=close)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_positions_are_those_of_the_first(dtype: str, shape: tuple[int, int], axis: int) -> None:
    x = numbers(dtype, shape)
    if np.dtype(dtype).kind == "f":
        x = np.round(x)  # so that extremes occur more than once
        with_nan = x.copy()
        with_nan[shape[0] // 2, shape[1] // 2 :] = np.nan
        cases = [x, with_nan]
    else:
        cases = [x, x % 3, np.zeros_like(x)]
    for values in cases:
        for tensor in layouts(values):
            for call, expected in ((ap.ops.arg_max, np.argmax), (ap.ops.arg_min, np.argmin)):
                out = results(shape, axis, "int64")
                call(tensor, axis, False, out)
                np.testing.assert_array_equal(out.numpy(), expected(values, axis=axis))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_running_sums(dtype: str, shape: tuple[int, int], axis: int) -> None:
    x = numbers(dtype, shape)
    exact = np.dtype(dtype).kind in "iu"
    expected = np.cumsum(x, axis=axis, dtype=dtype if exact else "float64")
    close = {"float32": 1e-5, "float64": 1e-11}.get(dtype, 0)
    for tensor in layouts(x):
        out = ap.empty(shape, dtype)
        ap.ops.cumsum(tensor, axis, dtype, out)
        np.testing.assert_allclose(out.numpy(), expected, rtol=0, atol=close)
    for exclusive in (False, True):
        for reverse in (False, True):
            given = np.flip(x, axis) if reverse else x
            wide = np.cumsum(given, axis=axis, dtype=expected.dtype)
            if exclusive:
                wide = np.roll(wide, 1, axis)
                wide[(0,) if axis == 0 else (slice(None), 0)] = 0
            wanted = np.flip(wide, axis) if reverse else wide
            out = ap.empty(shape, dtype)
            ap.ops.cumsum_v2(ap.from_numpy(x), axis, exclusive, reverse, out)
            np.testing.assert_allclose(out.numpy(), wanted, rtol=0, atol=close)
