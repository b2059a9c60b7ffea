# SPDX-License-Identifier: Apache-2.0
"""Elementwise loops over elements as they lie in memory: every layout, parts of them, scalars that
narrow integers do not hold, and the loops of quotients, powers and sums of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("device")

INTEGERS = ("int8", "uint8", "int16", "int32", "int64")
DTYPES = (*INTEGERS, "bool", "float32", "float64", "complex64", "complex128")
# More than a gathered part of one-byte elements, and no multiple of a vector.
ROWS, WIDTH = 37, 1009


def numbers(dtype: str, seed: int, shape: tuple[int, ...] = (ROWS, WIDTH)) -> Any:
    rng = np.random.default_rng(seed)
    wanted = np.dtype(dtype)
    if wanted.kind == "b":
        return rng.random(shape) < 0.5
    if wanted.kind in "iu":
        limits = np.iinfo(wanted)
        return rng.integers(limits.min, limits.max, shape, wanted, endpoint=True)
    found = rng.standard_normal(shape)
    return (found + 1j * rng.standard_normal(shape) if wanted.kind == "c" else found).astype(wanted)


def strided(array: Any) -> tuple[Any, ap.Tensor]:
    """Every other column of a wider tensor."""
    wide = np.repeat(array, 2, axis=1)
    return array, ap.from_numpy(wide)[:, ::2]


def turned(array: Any) -> tuple[Any, ap.Tensor]:
    return array, ap.from_numpy(np.ascontiguousarray(array.T)).T


def one_row(array: Any) -> tuple[Any, ap.Tensor]:
    return array[:1], ap.from_numpy(array[:1].copy())


def one_column(array: Any) -> tuple[Any, ap.Tensor]:
    return array[:, :1], ap.from_numpy(array[:, :1].copy())


def one_element(array: Any) -> tuple[Any, ap.Tensor]:
    return array[0, 0], ap.from_numpy(array[0, 0].copy())


def dense(array: Any) -> tuple[Any, ap.Tensor]:
    return array, ap.from_numpy(array)


LAYOUTS: list[Callable[[Any], tuple[Any, ap.Tensor]]] = [
    dense, strided, turned, one_row, one_column, one_element,
]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_any_operand_layout(dtype: str, layout: Callable[[Any], tuple[Any, ap.Tensor]]) -> None:
    x, (y, other) = numbers(dtype, 1), layout(numbers(dtype, 2))
    tensor, out = ap.from_numpy(x), ap.empty(x.shape, dtype)
    truth = ap.empty(x.shape, "bool")
    ap.ops.mul(tensor, other, out)
    close = {"complex64": 1e-6, "complex128": 1e-14}.get(dtype, 0)
    np.testing.assert_allclose(out.numpy(), x * y, rtol=close, atol=close)
    ap.ops.eq_tensor(tensor, other, truth)
    np.testing.assert_array_equal(truth.numpy(), x == y)
    if np.dtype(dtype).kind != "c":
        ap.ops.maximum(tensor, other, out)
        np.testing.assert_array_equal(out.numpy(), np.maximum(x, y))
        ap.ops.lt_tensor(other, tensor, truth)
        np.testing.assert_array_equal(truth.numpy(), y < x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_of_any_layout(dtype: str) -> None:
    x, y = numbers(dtype, 3), numbers(dtype, 4)
    left, right = ap.from_numpy(x), ap.from_numpy(y)
    for frame, inner in (
        (np.zeros((ROWS, 2 * WIDTH), dtype), (slice(None), slice(None, None, 2))),
        (np.zeros((2 * ROWS, WIDTH), dtype), (slice(None, None, 2), slice(None))),
    ):
        whole = ap.from_numpy(frame)
        ap.ops.add(left, right, 1, whole[inner])
        expected = frame.copy()
        expected[inner] = x + y
        np.testing.assert_array_equal(whole.numpy(), expected)


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 16383, 16385, 140_003])
@pytest.mark.parametrize("dtype", ["int8", "int16", "bool", "float32", "complex64"])
def test_lengths(dtype: str, count: int) -> None:
    x, y = numbers(dtype, 5, (count,)), numbers(dtype, 6, (count,))
    left, right = ap.from_numpy(x), ap.from_numpy(y)
    ap.ops.inplace_add(left, right, 1)
    np.testing.assert_array_equal(left.numpy(), x + y)
    truth = ap.empty((count,), "bool")
    ap.ops.ne_tensor(left, right, truth)
    np.testing.assert_array_equal(truth.numpy(), x + y != y)


def test_an_operand_that_the_result_overwrites_one_element_later() -> None:
    x = numbers("int8", 7, (40_000,))
    memory = ap.from_numpy(x)
    ap.ops.add(memory[:-1], memory[:-1], 1, memory[1:])
    np.testing.assert_array_equal(memory.numpy()[1:], x[:-1] + x[:-1])


@pytest.mark.parametrize(
    ("dtype", "alpha"), [("int8", 300), ("uint8", -1), ("int16", 40_000), ("bool", 1)]
)
def test_a_factor_beyond_the_dtype(dtype: str, alpha: int) -> None:
    x, y = numbers(dtype, 8), numbers(dtype, 9)
    out = ap.empty(x.shape, dtype)
    ap.ops.add(ap.from_numpy(x), ap.from_numpy(y), alpha, out)
    wide = x.astype(np.int64) + alpha * y.astype(np.int64)
    expected = wide != 0 if dtype == "bool" else wide.astype(dtype)
    np.testing.assert_array_equal(out.numpy(), expected)


def test_bounds_beyond_the_dtype_do_not_wrap() -> None:
    x = numbers("int8", 10)
    out = ap.empty(x.shape, "int8")
    ap.ops.hardtanh(ap.from_numpy(x), -1000, 200, out)
    np.testing.assert_array_equal(out.numpy(), x)


def test_any_byte_but_zero_is_true() -> None:
    bytes_ = np.arange(256, dtype=np.uint8)
    x = ap.from_numpy(bytes_.view(bool))
    out = ap.empty((256,), "bool")
    ap.ops.logical_not(x, out)
    np.testing.assert_array_equal(out.numpy(), bytes_ == 0)
    ap.ops.add(x, x, 1, out)
    np.testing.assert_array_equal(out.numpy().view(np.uint8), bytes_ != 0)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_quotients_downwards_by_one_number(dtype: str) -> None:
    limits = np.iinfo(dtype)
    if limits.bits == 8:
        x = np.arange(limits.min, limits.max + 1).astype(dtype)
        divisors = [int(d) for d in x]
    else:
        edges = [limits.min, limits.min + 1, limits.max, limits.max - 1, -1, 0, 1]
        x = np.concatenate([np.array(edges, dtype), numbers(dtype, 11, (5000,))])
        powers = [1 << n for n in range(1, limits.bits - 1)]
        divisors = [0, 1, -1, *(p + d for p in powers for d in (-1, 0, 1)), *(-p for p in powers)]
        divisors += [limits.min, limits.max, *(int(d) for d in numbers(dtype, 12, (50,)))]
    tensor, out = ap.from_numpy(x), ap.empty(x.shape, dtype)
    for divisor in divisors:
        ap.ops.floor_divides(tensor, divisor, out)
        with np.errstate(all="ignore"):
            expected = np.floor_divide(x, np.dtype(dtype).type(divisor))
        np.testing.assert_array_equal(out.numpy(), expected, err_msg=f"by {divisor}")


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_quotients_downwards_of_narrow_integers(dtype: str) -> None:
    x, y = numbers(dtype, 13, (65_536,)), numbers(dtype, 14, (65_536,))
    if np.dtype(dtype).itemsize == 1:
        every = np.arange(256, dtype=np.uint8).view(dtype)
        x, y = (part.reshape(-1) for part in np.meshgrid(every, every))
    out = ap.empty(x.shape, dtype)
    ap.ops.floor_divide(ap.from_numpy(x), ap.from_numpy(y), out)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out.numpy(), np.floor_divide(x, y))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_powers_of_integers(dtype: str) -> None:
    x = numbers(dtype, 15, (3000,))
    exponents = np.random.default_rng(16).integers(0, 60, 3000).astype(dtype)
    out = ap.empty(x.shape, dtype)
    ap.ops.pow_tensor_tensor(ap.from_numpy(x), ap.from_numpy(exponents), out)
    np.testing.assert_array_equal(out.numpy(), x**exponents)
    for exponent in (0, 1, 2, 3, 7):
        ap.ops.pow_tensor_scalar(ap.from_numpy(x), exponent, out)
        np.testing.assert_array_equal(out.numpy(), x ** np.dtype(dtype).type(exponent))


def test_negative_powers_among_others() -> None:
    x = np.tile(np.array([1, -1, 2, -3, 0], np.int32), 300)
    exponents = np.where(np.arange(1500) % 7 == 0, -3, 2).astype(np.int32)
    out = ap.empty(x.shape, "int32")
    ap.ops.pow_tensor_tensor(ap.from_numpy(x), ap.from_numpy(exponents), out)
    expected = np.where(exponents < 0, np.where(abs(x) == 1, x, 0), x * x)
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_quotients(dtype: str) -> None:
    x, y = numbers(dtype, 17, (5001,)), numbers(dtype, 18, (5001,))
    large = 1e30 if dtype == "complex64" else 1e300
    x[::7] *= large
    y[::5] *= large
    close = 1e-6 if dtype == "complex64" else 1e-14
    left, right, out = ap.from_numpy(x), ap.from_numpy(y), ap.empty(x.shape, dtype)
    ap.ops.div(left, right, out)
    np.testing.assert_allclose(out.numpy(), x / y, rtol=close)
    ap.ops.divs(left, 3.0, out)
    np.testing.assert_allclose(out.numpy(), x / 3, rtol=close)
    ap.ops.inplace_div(left, right)
    np.testing.assert_allclose(left.numpy(), x / y, rtol=close)


def test_complex_quotients_by_zero_and_infinity_follow_c() -> None:
    x = np.array([1 + 1j, 1 + 1j, 0j, complex(np.inf, 1), 2 + 4j] * 100, "complex64")
    y = np.array([0j, complex(np.inf, 0), 0j, 1 + 0j, 2 + 0j] * 100, "complex64")
    out = ap.empty(x.shape, "complex64")
    ap.ops.div(ap.from_numpy(x), ap.from_numpy(y), out)
    found = out.numpy()[:5]
    assert np.isinf(found[0]) and found[1] == 0 and np.isnan(found[2]) and np.isinf(found[3])
    assert found[4] == 1 + 2j


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("alpha", [1, 2.5, 1j])
def test_complex_sums(dtype: str, alpha: complex) -> None:
    x, y = numbers(dtype, 19), numbers(dtype, 20)
    left, right, out = ap.from_numpy(x), ap.from_numpy(y), ap.empty(x.shape, dtype)
    close, factor, number = (
        1e-5 if dtype == "complex64" else 1e-13,
        np.dtype(dtype).type(alpha),
        3 - 1j,
    )
    ops = ap.ops
    for call, expected in (
        (lambda: ops.add(left, right, alpha, out), x + y * factor),
        (lambda: ops.sub(left, right, alpha, out), x - y * factor),
        (lambda: ops.adds(left, number, alpha, out), x + number * alpha),
        (lambda: ops.subs(left, number, alpha, out), x - number * alpha),
        (lambda: ops.rsubs(left, number, alpha, out), number - x * factor),
    ):
        call()
        np.testing.assert_allclose(out.numpy(), expected, rtol=close, atol=close)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int64", "int8"])
def test_magnitudes(dtype: str) -> None:
    x = numbers(dtype, 21)
    if np.dtype(dtype).kind in "fc":
        flat = x.reshape(-1)
        flat[:4] = [np.nan, np.inf, -np.inf, -0.0]
    if dtype == "complex64":
        flat[4:6] = [complex(np.inf, np.nan), 3e30 + 4e30j]
    out = ap.empty(x.shape, np.abs(x).dtype)
    ap.ops.abs(ap.from_numpy(x), out)
    np.testing.assert_allclose(out.numpy(), np.abs(x), rtol=3e-7 if dtype == "complex64" else 0)


@pytest.mark.parametrize("count", [1, 1023, 1024, 1025, 5003])
@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("floor", np.floor),
        ("ceil", np.ceil),
        ("trunc", np.trunc),
        ("round", np.rint),
        ("frac", lambda x: x - np.trunc(x)),
    ],
)
def test_roundings_of_any_length(name: str, wanted: Callable[[Any], Any], count: int) -> None:
    x = numbers("float32", count, (count,)) * np.float32(3)
    out = ap.empty((count,), "float32")
    getattr(ap.ops, name)(ap.from_numpy(x), out)
    np.testing.assert_array_equal(out.numpy(), wanted(x))
    place = ap.from_numpy(x)
    getattr(ap.ops, f"inplace_{name}")(place)
    np.testing.assert_array_equal(place.numpy(), wanted(x))


@pytest.mark.parametrize("count", [1, 255, 256, 257, 1025, 3001])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize(
    ("name", "wanted"), [("reciprocal", lambda x: 1 / x), ("rsqrt", lambda x: 1 / np.sqrt(x))]
)
def test_complex_inverses(name: str, wanted: Callable[[Any], Any], dtype: str, count: int) -> None:
    x = numbers(dtype, count, (count,))
    close = {"complex64": 1e-6, "complex128": 1e-14}[dtype]
    function = getattr(ap.ops, name)
    exact = wanted(x.astype("complex128"))
    out = ap.empty((count,), dtype)
    function(ap.from_numpy(x), out)
    np.testing.assert_allclose(out.numpy(), exact, rtol=close)
    spaced = ap.from_numpy(np.repeat(x, 2))[::2]
    function(spaced, out)
    np.testing.assert_allclose(out.numpy(), exact, rtol=close)
    # An infinite or zero element changes nothing for those beside it.
    x[count // 2] = complex(np.inf, 1)
    x[count // 3] = 0
    function(ap.from_numpy(x), out)
    found, rest = out.numpy(), np.isfinite(x) & (x != 0)
    np.testing.assert_allclose(found[rest], exact[rest], rtol=close)
    if count > 1:
        assert found[count // 2] == 0
        assert np.isinf(found[count // 3])
