# SPDX-License-Identifier: Apache-2.0
"""The extension ``fft`` of the array API standard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aclnn_py.array import fourier
from aclnn_py.runtime.device import Device
from aclnn_py.tensor.creation import from_numpy
from aclnn_py.tensor.tensor import Tensor
from aclnn_py.xp.dtypes import float32

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]


def _one(name: str) -> Callable[..., Tensor]:
    def transform(
        x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
    ) -> Tensor:
        result: Tensor = getattr(fourier, f"fft_{name}")(x, n, axis, norm)
        return result

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"``{name}`` along one dimension, of length ``n``."
    return transform


def _many(name: str) -> Callable[..., Tensor]:
    def transform(
        x: Tensor, /, *, s: Any = None, axes: Any = None, norm: str = "backward"
    ) -> Tensor:
        result: Tensor = getattr(fourier, f"fft_{name}")(x, s, axes, norm)
        return result

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"``{name}`` along several dimensions, of lengths ``s``."
    return transform


fft, ifft, rfft, irfft, hfft, ihfft = (
    _one(name) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
)
fftn, ifftn, rfftn, irfftn = (_many(name) for name in ("fftn", "ifftn", "rfftn", "irfftn"))


def fftfreq(
    n: int, /, *, d: float = 1.0, dtype: Any = None, device: Device | int | None = None
) -> Tensor:
    """The frequencies of a transform."""
    kind = float32 if dtype is None else np.dtype(dtype)
    return from_numpy(np.fft.fftfreq(n, d).astype(kind), device=device)


def rfftfreq(
    n: int, /, *, d: float = 1.0, dtype: Any = None, device: Device | int | None = None
) -> Tensor:
    """The frequencies of a transform of real numbers."""
    kind = float32 if dtype is None else np.dtype(dtype)
    return from_numpy(np.fft.rfftfreq(n, d).astype(kind), device=device)


def fftshift(x: Tensor, /, *, axes: Any = None) -> Tensor:
    """The frequency 0 in the middle."""
    return fourier.fft_fftshift(x, axes)


def ifftshift(x: Tensor, /, *, axes: Any = None) -> Tensor:
    """The frequency 0 at the beginning."""
    return fourier.fft_ifftshift(x, axes)
