# SPDX-License-Identifier: Apache-2.0
"""How far two results are apart, measured in their own dtype."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from aclnn_py.operators.record.file import View
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.formats import format_of
from aclnn_py.tensor.host_arrays import to_host

__all__ = ["Difference", "difference", "tolerance"]

# (relative, absolute). Two implementations may sum in different orders and round once or twice
# more. Values of dtypes that are not floats have to be equal.
_TOLERANCES: dict[str, tuple[float, float]] = {
    "float64": (1e-12, 1e-13),
    "float32": (1e-5, 1e-6),
    "float16": (4e-3, 4e-4),
    "bfloat16": (3.2e-2, 4e-3),
    "complex64": (1e-5, 1e-6),
    "complex128": (1e-12, 1e-13),
    "float8_e4m3fn": (0.13, 0.008),
    "float8_e5m2": (0.26, 0.002),
}
_PIECE = 1 << 18
_ULPS = (0, 1, 2, 4, 16, 256)


@dataclass(frozen=True)
class Difference:
    """How two arrays of the same dtype differ.

    Attributes
    ----------
    count, beyond : int
        Number of elements, and of those that differ by more than the tolerance.
    max_error, mean_error : float
        Of the absolute difference, over the elements that are finite in both arrays.
    at : tuple of int or None
        Where the largest difference is.
    first, second : str
        The two values there.
    ulps : dict
        How many elements differ by 0, by up to 1, 2, 4, 16, 256 units in the last place, and by
        more; empty unless the dtype is a real float.
    """

    count: int
    beyond: int
    max_error: float
    mean_error: float
    at: tuple[int, ...] | None = None
    first: str = ""
    second: str = ""
    ulps: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        text = (
            f"{self.beyond} of {self.count} elements differ beyond tolerance; largest error "
            f"{self.max_error:.6g}, mean {self.mean_error:.6g}"
        )
        if self.at is not None:
            text += f", at {list(self.at)}: {self.first} and {self.second}"
        if self.ulps:
            text += "; ULPs " + ", ".join(f"{key}: {n}" for key, n in self.ulps.items() if n)
        return text


def tolerance(dtype: str) -> tuple[float, float]:
    """Return the relative and absolute tolerance of a dtype; (0, 0) means equal."""
    return _TOLERANCES.get(dtype, (0.0, 0.0))


def difference(view: View, first: bytes, second: bytes) -> Difference:
    """Compare the elements of a tensor in two copies of its memory."""
    one, two = _elements(view, first), _elements(view, second)
    found = _Comparison(view.dtype)
    flat, other = one.reshape(-1), two.reshape(-1)
    # In pieces, because exact values of all elements would take many times the tensor's memory.
    for start in range(0, flat.size, _PIECE):
        found.add(start, flat[start : start + _PIECE], other[start : start + _PIECE])
    place = None
    if found.worst is not None:
        place = tuple(int(i) for i in np.unravel_index(found.worst, one.shape))
    return Difference(
        count=int(one.size),
        beyond=found.beyond,
        max_error=found.max_error,
        mean_error=found.sum_error / one.size if one.size else 0.0,
        at=place,
        first="" if place is None else str(one[place]),
        second="" if place is None else str(two[place]),
        ulps=found.ulps,
    )


class _Comparison:
    """The difference of two arrays, added up piece by piece."""

    def __init__(self, dtype: str) -> None:
        self._dtype = dtype
        self.ulps: dict[str, int] = {}
        self._worst_error = -1.0
        self.worst: int | None = None
        self.beyond = 0
        self.max_error = self.sum_error = 0.0

    def add(self, start: int, one: npt.NDArray[Any], two: npt.NDArray[Any]) -> None:
        """Compare a piece that starts at element ``start``."""
        relative, absolute = tolerance(self._dtype)
        with np.errstate(all="ignore"):
            exact = one.astype(_wide(one.dtype)), two.astype(_wide(two.dtype))
            apart = np.abs(_minus(*exact))
            allowed = absolute + relative * np.abs(exact[1]).astype(np.float64)
            same = (exact[0] == exact[1]) | (_nan(exact[0]) & _nan(exact[1]))
            # The tolerance of an infinity is infinite, but infinities of different sign differ.
            close = np.isfinite(apart) & (apart <= allowed) if relative or absolute else same
            beyond = ~same & ~close
            finite = np.isfinite(apart) & ~same
            errors = np.where(finite, apart, 0.0)
            self.max_error = max(self.max_error, float(errors.max(initial=0.0)))
            self.sum_error += float(errors.sum())
        self.beyond += int(beyond.sum())
        if beyond.any():
            # An element that is finite in only one array is worse than any distance.
            rank = np.where(beyond & ~np.isfinite(apart), np.inf, np.where(beyond, apart, -1.0))
            at = int(np.argmax(rank))
            if float(rank[at]) > self._worst_error:
                self.worst, self._worst_error = start + at, float(rank[at])
        for key, count in _ulp_histogram(one, two, self._dtype).items():
            self.ulps[key] = self.ulps.get(key, 0) + count


def _elements(view: View, raw: bytes) -> npt.NDArray[Any]:
    dtype = dtype_of(view.dtype)
    memory = np.frombuffer(raw, np.uint8)
    format = format_of(view.format)
    if format.name != "ND" and view.storage_shape != view.shape:
        return to_host(memory, dtype, format, view.shape, view.strides)
    return to_host(memory, dtype, format, view.shape, view.strides, view.offset)


def _wide(dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "c" or "complex" in dtype.name:
        return np.complex128
    if dtype.kind in "iub":
        # Differences of 64-bit integers must not wrap around; float64 shows how far apart they are.
        return dtype if dtype.kind != "b" else np.uint8
    return np.int64 if "int" in dtype.name else np.float64


def _minus(one: npt.NDArray[Any], two: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if one.dtype.kind in "iu":
        return one.astype(np.float64) - two.astype(np.float64)
    return np.asarray(one - two)


def _nan(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.dtype.kind in "fc":
        return np.asarray(np.isnan(values))
    return np.zeros(values.shape, bool)


def _ulp_histogram(one: npt.NDArray[Any], two: npt.NDArray[Any], name: str) -> dict[str, int]:
    if name not in _TOLERANCES or one.dtype.kind == "c":
        return {}
    first, second = _ordered(one), _ordered(two)
    with np.errstate(all="ignore"):
        numbers = np.isfinite(one.astype(np.float64)) & np.isfinite(two.astype(np.float64))
    # Modulo 2**64 the distance is right even when the signed difference would overflow.
    up = first.astype(np.uint64) - second.astype(np.uint64)
    down = second.astype(np.uint64) - first.astype(np.uint64)
    apart = np.where(first >= second, up, down)[numbers]
    histogram: dict[str, int] = {}
    counted = 0
    for limit in _ULPS:
        within = int((apart <= limit).sum())
        histogram[str(limit) if limit < 2 else f"<= {limit}"] = within - counted
        counted = within
    histogram[f"> {_ULPS[-1]}"] = int(apart.size) - counted
    return histogram


def _ordered(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return floats as integers in the same order, such that neighbours differ by 1."""
    bits = values.view(f"i{values.dtype.itemsize}").astype(np.int64)
    lowest = np.int64(-(1 << (8 * values.dtype.itemsize - 1)))
    return np.where(bits < 0, lowest - bits, bits)
