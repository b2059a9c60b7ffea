# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms of rows and of sliding windows, against NumPy in complex128."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import LAYOUTS, hollow, op, place, refusal

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("device")

NORMS = {1: "backward", 2: "forward", 3: "ortho"}


def pairs(spectrum: Any) -> Any:
    return np.stack([spectrum.real, spectrum.imag], -1)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 12, 97, 256, 4095])
def test_real_rows(n: int) -> None:
    x = np.random.default_rng(n).normal(size=(3, n)).astype(np.float32)
    out = hollow((3, n // 2 + 1, 2), np.float32)
    op("aclRfft1D")(place(x), n, -1, 1, out)
    expected = pairs(np.fft.rfft(x.astype(np.float64)))
    # The parts of one row are compared with the longest of its numbers.
    longest = np.abs(expected).max()
    assert np.abs(out.numpy() - expected).max() <= 2e-7 * longest


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("dim", "n", "norm"), [(0, 4, 1), (1, 9, 2), (-1, 3, 3), (-2, 8, 3)])
def test_a_dimension_cut_or_filled_with_zeros(layout: str, dim: int, n: int, norm: int) -> None:
    x = np.random.default_rng(7).normal(size=(4, 7, 5)).astype(np.float32)
    expected = pairs(np.fft.rfft(x.astype(np.float64), n, dim, NORMS[norm]))
    out = hollow(expected.shape, np.float32, layout)
    op("aclRfft1D")(place(x, layout), n, dim, norm, out)
    assert_close(out.numpy(), expected, scale=8)


def test_the_documented_row() -> None:
    out = hollow((3, 2), np.float32)
    op("aclRfft1D")(place(np.array([1, 2, 3, 4], np.float32)), 4, 0, 1, out)
    assert out.numpy().tolist() == [[10, 0], [-2, 2], [-2, 0]]


def test_a_long_power_of_two() -> None:
    n = 262144
    x = np.random.default_rng(1).normal(size=n).astype(np.float32)
    out = hollow((n // 2 + 1, 2), np.float32)
    op("aclRfft1D")(place(x), n, 0, 3, out)
    expected = pairs(np.fft.rfft(x.astype(np.float64), norm="ortho"))
    assert np.abs(out.numpy() - expected).max() <= 2e-7 * np.abs(expected).max()


def test_rows_of_nothing_are_zeros() -> None:
    out = place(np.ones((2, 3, 2), np.float32))
    op("aclRfft1D")(hollow((2, 0), np.float32), 4, 1, 1, out)
    assert not out.numpy().any()
    op("aclRfft1D")(hollow((0, 4), np.float32), 4, 1, 1, hollow((0, 3, 2), np.float32))
    ap.synchronize()


def windows(x: Any, window: Any, n_fft: int, hop: int, *, normalized: bool, onesided: bool) -> Any:
    """The document's sum, written out."""
    wide = x.astype(np.complex128)
    frequencies = n_fft // 2 + 1 if onesided else n_fft
    count = (x.shape[-1] - n_fft) // hop + 1
    k = np.arange(len(window))
    turns = np.exp(-2j * np.pi * np.outer(np.arange(frequencies), k) / n_fft)
    result = np.empty((*x.shape[:-1], frequencies, count), np.complex128)
    for m in range(count):
        part = wide[..., m * hop : m * hop + len(window)] * window
        result[..., m] = part @ turns.T
    return result / np.sqrt(n_fft) if normalized else result


STFT = [
    ("float32", (50,), 8, 3, 8, False, True),
    ("float32", (2, 40), 12, 5, 7, True, False),
    ("float64", (2, 33), 9, 4, 9, True, True),
    ("complex64", (30,), 10, 10, 6, False, False),
    ("complex128", (3, 16), 16, 1, 16, False, False),
]


@pytest.mark.parametrize("complex_out", [True, False])
@pytest.mark.parametrize(
    ("dtype", "shape", "n_fft", "hop", "length", "normalized", "onesided"), STFT
)
def test_windows_that_slide(
    dtype: str,
    shape: tuple[int, ...],
    n_fft: int,
    hop: int,
    length: int,
    normalized: bool,
    onesided: bool,
    complex_out: bool,
) -> None:
    rng = np.random.default_rng(n_fft)
    x, window = rng.normal(size=shape).astype(dtype), rng.normal(size=length).astype(dtype)
    if "complex" in dtype:
        x, window = x + 1j * x[..., ::-1], window - 2j * window
    expected = windows(
        x, window.astype(np.complex128), n_fft, hop, normalized=normalized, onesided=onesided
    )
    wide = dtype in ("float64", "complex128")
    kind = ("complex128" if wide else "complex64") if complex_out else f"float{64 if wide else 32}"
    expected = expected if complex_out else pairs(expected)
    out = hollow(expected.shape, kind)
    op("aclStft")(
        place(x.astype(dtype)), place(window.astype(dtype)), out, n_fft, hop, length,
        normalized, onesided, complex_out,
    )  # fmt: skip
    assert (
        np.abs(out.numpy() - expected).max() <= (1e-13 if wide else 4e-7) * np.abs(expected).max()
    )


def test_without_a_window_every_sample_counts_once() -> None:
    x = np.array([1, 6, 8, 5, 7], np.float32)
    out = hollow((3, 1), np.complex64)
    op("aclStft")(place(x), None, out, 4, 2, 4, False, True, True)
    assert out.numpy().ravel().tolist() == [20, -7 - 1j, -2]


def test_what_does_not_fit_is_refused() -> None:
    x, out = hollow((2, 8), np.float32), hollow((2, 5, 2), np.float32)
    assert refusal("aclRfft1D", None, 8, 1, 1, out) == 161001
    for n, dim, norm in ((0, 1, 1), (5000, 1, 1), (2**19, 1, 1), (8, 2, 1), (8, 1, 0), (8, 1, 4)):
        assert refusal("aclRfft1D", x, n, dim, norm, out) == 161002
    assert refusal("aclRfft1D", x, 6, 1, 1, out) == 161002
    window, result = hollow((8,), np.float32), hollow((2, 5, 1), np.complex64)
    assert refusal("aclStft", x, window, None, 8, 1, 8, False, True, True) == 161001
    wrong = [
        (x, window, result, 9, 1, 8, False, True, True),
        (x, window, result, 0, 1, 8, False, True, True),
        (x, window, result, 8, 0, 8, False, True, True),
        (x, window, result, 8, 1, 9, False, True, True),
        (x, window, result, 8, 1, 7, False, True, True),
        (x, window, result, 8, 1, 8, False, False, True),
        (x, window, result, 8, 1, 8, False, True, False),
        (x, hollow((8,), np.float64), result, 8, 1, 8, False, True, True),
        (hollow((2, 8), np.complex64), None, result, 8, 1, 8, False, True, True),
        (hollow((0, 8), np.float32), window, result, 8, 1, 8, False, True, True),
    ]  # fmt: skip
    assert [refusal("aclStft", *call) for call in wrong] == [161002] * len(wrong)
