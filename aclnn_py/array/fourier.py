# SPDX-License-Identifier: Apache-2.0
"""NumPy's Fourier transforms, as products with matrices of roots of unity.

A length is taken apart into factors, one product for each. A prime length above the longest matrix
is turned into a convolution of a length with small factors (Bluestein's algorithm).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array.mathematics import imag, real
from aclnn_py.array.operands import along
from aclnn_py.array.products import matmul
from aclnn_py.array.promotion import cast
from aclnn_py.array.reduction import axes_of
from aclnn_py.array.shaping import roll
from aclnn_py.tensor.creation import from_numpy, zeros
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []

_LONGEST = 128
Parts = tuple[Tensor, Tensor]  # real and imaginary, float32 or float64


def _parts(a: Tensor) -> Parts:
    wide = a.dtype_name in ("float64", "complex128") or a.dtype.kind in "biu"
    kind = dtype_of("float64" if wide else "float32")
    if a.dtype.kind == "c":
        return functional.contiguous(real(a)), functional.contiguous(imag(a))
    values = cast(functional.contiguous(a), kind)
    return values, zeros(values.shape, kind, device=a.device)


@cache
def _roots(n: int, sign: int, dtype: Any) -> tuple[Any, Any]:
    """cos and sin of the matrix exp(sign 2 pi i j k / n)."""
    turns = np.outer(np.arange(n), np.arange(n)) % n
    angles = sign * 2 * np.pi * turns / n
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


def _beside(x: Tensor, array: Any) -> Tensor:
    """An array on the device and in the dtype of a tensor."""
    return from_numpy(np.ascontiguousarray(array, x.dtype), device=x.device)


def _times(x: Parts, cosine: Tensor, sine: Tensor) -> Parts:
    """Elementwise product of complex numbers."""
    re, im = x
    return re * cosine - im * sine, re * sine + im * cosine


def _factor(n: int) -> int:
    """The largest factor that one matrix transforms, or 1."""
    return max((d for d in range(2, _LONGEST + 1) if n % d == 0), default=1)


def _transform(x: Parts, sign: int) -> Parts:
    """Transform rows along the last of two dimensions."""
    re, im = x
    rows, n = re.shape
    if n <= _LONGEST:
        cosine, sine = (_beside(re, item) for item in _roots(n, sign, re.dtype))
        return (
            matmul(re, cosine) - matmul(im, sine),
            matmul(re, sine) + matmul(im, cosine),
        )
    first = _factor(n)
    if first == 1:
        return _bluestein(x, sign)
    second = n // first
    # j = j1 second + j2, k = k1 + k2 first: transforms over j1, turns by j2 k1, transforms over j2.
    parts = tuple(
        functional.contiguous(item.reshape(rows, first, second).permute(0, 2, 1)).reshape(-1, first)
        for item in (re, im)
    )
    re, im = _transform((parts[0], parts[1]), sign)
    angles = sign * 2 * np.pi * (np.outer(np.arange(second), np.arange(first)) % n) / n
    shape = (rows, second, first)
    re, im = _times(
        (re.reshape(shape), im.reshape(shape)),
        _beside(re, np.cos(angles)),
        _beside(re, np.sin(angles)),
    )
    parts = tuple(
        functional.contiguous(item.permute(0, 2, 1)).reshape(-1, second) for item in (re, im)
    )
    found = _transform((parts[0], parts[1]), sign)
    re, im = (
        functional.contiguous(item.reshape(rows, first, second).permute(0, 2, 1)).reshape(rows, n)
        for item in found
    )
    return re, im


def _bluestein(x: Parts, sign: int) -> Parts:
    re, _ = x
    rows, n = re.shape
    length = 1 << (2 * n - 2).bit_length()
    places = np.arange(n)
    angles = sign * np.pi * ((places * places) % (2 * n)) / n
    cosine, sine = _beside(re, np.cos(angles)), _beside(re, np.sin(angles))
    padded = []
    for item in _times(x, cosine, sine):
        room = zeros((rows, length), re.dtype, device=re.device)
        room[:, :n] = item
        padded.append(room)
    chirp = np.zeros(length, np.complex128)
    chirp[:n] = np.exp(-1j * angles)
    chirp[length - n + 1 :] = chirp[1:n][::-1]
    spectrum = np.fft.fft(chirp)
    product = _times(
        _transform((padded[0], padded[1]), -1),
        _beside(re, spectrum.real),
        _beside(re, spectrum.imag),
    )
    whole = _transform(product, 1)
    return _times((whole[0][:, :n] * (1 / length), whole[1][:, :n] * (1 / length)), cosine, sine)


def _scale(n: int, norm: Any, inverse: bool) -> float:
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    if norm == "ortho":
        return float(1 / np.sqrt(n))
    divides = inverse if norm in (None, "backward") else not inverse
    return 1 / n if divides else 1.0


def _sized(x: Parts, n: int, axis: int) -> Parts:
    """Cut or filled with zeros along a dimension."""
    found = []
    for item in x:
        length = item.shape[axis]
        if length != n:
            lengths = (*item.shape[:axis], n, *item.shape[axis + 1 :])
            room = zeros(lengths, item.dtype, device=item.device)
            kept = min(n, length)
            room[along(axis, slice(0, kept))] = item[along(axis, slice(0, kept))]
            item = room
        found.append(item)
    return found[0], found[1]


def _along(x: Parts, n: int, axis: int, sign: int, scale: float) -> Parts:
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    re, im = (functional.contiguous(item.swapaxes(axis, -1)) for item in _sized(x, n, axis))
    shape = re.shape
    found = _transform((re.reshape(-1, n), im.reshape(-1, n)), sign)
    re, im = (
        functional.contiguous(
            (item * scale if scale != 1 else item).reshape(shape).swapaxes(axis, -1)
        )
        for item in found
    )
    return re, im


def _one(a: Tensor, n: Any, axis: int, norm: Any, inverse: bool) -> Tensor:
    (at,) = axes_of(axis, a.ndim)
    count = a.shape[at] if n is None else int(n)
    found = _along(_parts(a), count, at, 1 if inverse else -1, _scale(count, norm, inverse))
    return functional.complex(*found)


def fft_fft(a: Tensor, n: Any = None, axis: int = -1, norm: Any = None) -> Tensor:
    return _one(a, n, axis, norm, False)


def fft_ifft(a: Tensor, n: Any = None, axis: int = -1, norm: Any = None) -> Tensor:
    return _one(a, n, axis, norm, True)


def _expect_real(name: str, a: Tensor) -> None:
    if a.dtype.kind == "c":
        raise TypeError(f"np.fft.{name}: not for complex numbers; use np.fft.fft")


def _half(a: Tensor, axis: int) -> Tensor:
    (at,) = axes_of(axis, a.ndim)
    return functional.contiguous(a[along(at, slice(0, a.shape[at] // 2 + 1))])


def fft_rfft(a: Tensor, n: Any = None, axis: int = -1, norm: Any = None) -> Tensor:
    _expect_real("rfft", a)
    return _half(_one(a, n, axis, norm, False), axis)


def fft_ihfft(a: Tensor, n: Any = None, axis: int = -1, norm: Any = None) -> Tensor:
    _expect_real("ihfft", a)
    return _half(_one(a, n, axis, norm, True), axis)


def _whole(a: Tensor, n: Any, axis: int) -> tuple[Parts, int, int]:
    """The spectrum of a real signal from its first half."""
    (at,) = axes_of(axis, a.ndim)
    count = 2 * (a.shape[at] - 1) if n is None else int(n)
    if count < 1:
        raise ValueError(f"Invalid number of FFT data points ({count}) specified.")
    re, im = _sized(_parts(a), count // 2 + 1, at)
    # The first and, for an even number, the middle one are real.
    tail = along(at, slice(1, (count + 1) // 2))
    edge = zeros((*im.shape[:at], 1, *im.shape[at + 1 :]), im.dtype, device=a.device)
    inner = im[tail]
    middle = [edge] if count % 2 == 0 else []
    mirrored = [functional.flip(item[tail], (at,)) for item in (re, im)]
    im = functional.cat([edge, functional.contiguous(inner), *middle, -mirrored[1]], at)
    re = functional.cat([re, mirrored[0]], at)
    return (re, im), count, at


def fft_irfft(a: Tensor, n: Any = None, axis: int = -1, norm: Any = None) -> Tensor:
    x, count, at = _whole(a, n, axis)
    return _along(x, count, at, 1, _scale(count, norm, True))[0]


def fft_hfft(a: Tensor, n: Any = None, axis: int = -1, norm: Any = None) -> Tensor:
    x, count, at = _whole(a, n, axis)
    return _along(x, count, at, -1, _scale(count, norm, False))[0]


def _axes(a: Tensor, s: Any, axes: Any) -> list[tuple[Any, int]]:
    if axes is None:
        axes = range(a.ndim) if s is None else range(a.ndim - len(s), a.ndim)
    found = [axes_of(axis, a.ndim)[0] for axis in axes]
    lengths: Sequence[Any] = [None] * len(found) if s is None else list(s)
    if len(lengths) != len(found):
        raise ValueError("Shape and axes have different lengths.")
    return [(None if n == -1 else n, at) for n, at in zip(lengths, found, strict=True)]


def fft_fftn(a: Tensor, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    for n, axis in reversed(_axes(a, s, axes)):
        a = fft_fft(a, n, axis, norm)
    return a


def fft_ifftn(a: Tensor, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    for n, axis in reversed(_axes(a, s, axes)):
        a = fft_ifft(a, n, axis, norm)
    return a


def fft_rfftn(a: Tensor, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    pairs = _axes(a, s, axes)
    n, axis = pairs[-1]
    a = fft_rfft(a, n, axis, norm)
    for n, axis in pairs[:-1]:
        a = fft_fft(a, n, axis, norm)
    return a


def fft_irfftn(a: Tensor, s: Any = None, axes: Any = None, norm: Any = None) -> Tensor:
    pairs = _axes(a, s, axes)
    for n, axis in pairs[:-1]:
        a = fft_ifft(a, n, axis, norm)
    n, axis = pairs[-1]
    return fft_irfft(a, n, axis, norm)


def fft_fft2(a: Tensor, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Tensor:
    return fft_fftn(a, s, axes, norm)


def fft_ifft2(a: Tensor, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Tensor:
    return fft_ifftn(a, s, axes, norm)


def fft_rfft2(a: Tensor, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Tensor:
    return fft_rfftn(a, s, axes, norm)


def fft_irfft2(a: Tensor, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Tensor:
    return fft_irfftn(a, s, axes, norm)


def _shifted(x: Tensor, axes: Any, sign: int) -> Tensor:
    found = axes_of(axes, x.ndim)
    shifts = [sign * (x.shape[i] // 2) for i in found]
    return roll(x, shifts, found)


def fft_fftshift(x: Tensor, axes: Any = None) -> Tensor:
    return _shifted(x, axes, 1)


def fft_ifftshift(x: Tensor, axes: Any = None) -> Tensor:
    return _shifted(x, axes, -1)
