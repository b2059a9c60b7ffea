# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions of elements, of two sequences, of bits and of the caller's functions."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array.arithmetic import apply
from aclnn_py.array.operands import (
    host_integers,
    promoted,
    real_floating,
)
from aclnn_py.array.parts import part
from aclnn_py.array.promotion import cast, scalar, tensor_of
from aclnn_py.array.reduction import axes_of, reduce
from aclnn_py.tensor.creation import from_numpy, zeros, zeros_like
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


def clip(
    a: Tensor, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> Tensor:
    low = a_min if a_min is not None else min
    high = a_max if a_max is not None else max
    result = a
    if a.dtype.kind in "iu":  # a limit beyond those of the dtype changes nothing
        limits = np.iinfo(a.dtype)
        if type(low) is int:
            low = _larger(low, limits.min)
        if type(high) is int:
            high = _smaller(high, limits.max)
    if a.dtype_name == "float32" and type(low) in (int, float) and type(high) in (int, float):
        return functional.clamp(a, low, high)
    if low is not None:
        result = apply("maximum", result, low)
    if high is not None:
        result = apply("minimum", result, high)
    return functional.contiguous(a) if result is a else result


def _larger(a: int, b: int) -> int:
    return a if a > b else b


def _smaller(a: int, b: int) -> int:
    return a if a < b else b


def round_(a: Tensor, decimals: int = 0) -> Tensor:
    if a.dtype_name == "bool":
        if decimals:
            raise TypeError("np.round: booleans have no decimals; use astype(np.int8)")
        return apply("rint", a)
    if a.dtype.kind in "iu":
        if decimals >= 0:
            return functional.contiguous(a)
        return cast(round_(cast(a, dtype_of("float64")), decimals), a.layout.dtype)
    if a.dtype.kind == "c":
        return functional.complex(round_(a.real, decimals), round_(a.imag, decimals))
    if decimals == 0:
        return functional.round(a)
    factor = 10.0 ** abs(decimals)
    first, last = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    return apply(last, functional.round(apply(first, a, factor)), factor)


around = round_


def fix(x: Tensor) -> Tensor:
    return apply("trunc", x)


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    left, right = promoted("isclose", a, b)
    if left.dtype.kind == "c":
        near = apply("absolute", left - right) <= apply("absolute", right) * rtol + atol
        near = near | (left == right)
        return near | ((left != left) & (right != right)) if equal_nan else near
    return functional.isclose(left, right, rtol, atol, equal_nan)


def allclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    return bool(reduce("all", isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    if np.shape(a1) != np.shape(a2):
        return False
    same = a1 == a2
    if equal_nan:
        same = same | ((a1 != a1) & (a2 != a2))
    return bool(reduce("all", same))


def array_equiv(a1: Any, a2: Any) -> bool:
    try:
        np.broadcast_shapes(np.shape(a1), np.shape(a2))
    except ValueError:
        return False
    return bool(reduce("all", apply("equal", a1, a2)))


# Complex numbers.


def real(val: Tensor) -> Tensor:
    return part(val, 0) if val.dtype.kind == "c" else val


def imag(val: Tensor) -> Tensor:
    return part(val, 1) if val.dtype.kind == "c" else zeros_like(val)


def real_if_close(a: Tensor, tol: float = 100) -> Tensor:
    if a.dtype.kind != "c":
        return a
    limit = tol * float(np.finfo(a.dtype).eps) if tol > 1 else tol
    return a.real if bool((apply("absolute", a.imag) < limit).all()) else a


def angle(z: Tensor, deg: bool = False) -> Tensor:
    result = apply("arctan2", z.imag, z.real) if z.dtype.kind == "c" else apply("arctan2", 0, z)
    return result * (180 / pi) if deg else result


def iscomplex(x: Tensor) -> Tensor:
    return x.imag != 0 if x.dtype.kind == "c" else zeros(x.shape, "bool", device=x.device)


def isreal(x: Tensor) -> Tensor:
    return apply("logical_not", iscomplex(x))


def iscomplexobj(x: Tensor) -> bool:
    return x.dtype.kind == "c"


def isrealobj(x: Tensor) -> bool:
    return x.dtype.kind != "c"


def _infinite(sign: float) -> Callable[[Tensor], Tensor]:
    def test(x: Tensor) -> Tensor:
        if x.dtype.kind == "c":
            raise TypeError(
                "not for complex numbers, of which it would be ambiguous; use the parts"
            )
        return zeros(x.shape, "bool", device=x.device) if x.dtype.kind in "biu" else x == sign

    return test


isposinf, isneginf = _infinite(float("inf")), _infinite(float("-inf"))


def sinc(x: Tensor) -> Tensor:
    values = real_floating("sinc", x)
    scaled = values * pi
    nothing = scaled == 0
    one = tensor_of(1.0, values.layout.dtype, x.device)
    safe = functional.where(nothing, one, scaled)
    return functional.where(nothing, one, apply("sin", safe) / safe)


# Sequences.


def convolve(a: Any, v: Any, mode: str = "full") -> Tensor:
    return _correlated(a, v, mode, flipped=True)


def correlate(a: Any, v: Any, mode: str = "valid") -> Tensor:
    return _correlated(a, v, mode, flipped=False)


def _correlated(a: Any, v: Any, mode: str, flipped: bool) -> Tensor:
    """A sum over the shorter operand; with ``flipped`` a convolution."""
    name = "convolve" if flipped else "correlate"
    if flipped:
        a, v = (
            item.reshape(1) if isinstance(item, Tensor) and not item.ndim else item
            for item in (a, v)
        )
    first, second = promoted(name, _vector(a, v), _vector(v, a))
    if first.ndim != 1 or second.ndim != 1 or not first.count or not second.count:
        raise ValueError(f"np.{name}: both operands must be vectors with an element at least")
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    if not flipped:
        second = functional.flip(second, (0,))
        second = apply("conjugate", second) if second.dtype.kind == "c" else second
    swapped = second.count > first.count
    longer, shorter = (second, first) if swapped else (first, second)
    n, m = longer.count, shorter.count
    kind = longer.layout.dtype
    result = zeros((n + m - 1,), kind, device=longer.device)
    for i in range(m):
        window = result[i : i + n]
        window += longer * shorter[i]
    if mode == "valid":
        return result[m - 1 : n]
    if mode == "same":
        start = (m - 1) // 2
        if swapped and not flipped:
            start = m // 2
        return result[start : start + n]
    return result


def _vector(value: Any, other: Any) -> Any:
    if isinstance(value, Tensor):
        return value
    return from_numpy(np.atleast_1d(np.asarray(value)), device=other.device)


# Bits.


def packbits(a: Tensor, axis: int | None = None, bitorder: str = "big") -> Tensor:
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    values, axis = (a.reshape(-1), 0) if axis is None else (a, axis)
    (at,) = axes_of(axis, values.ndim)
    bits = cast(values != 0, dtype_of("int32")).swapaxes(at, -1)
    length = bits.shape[-1]
    whole = -(-length // 8) * 8
    room = zeros((*bits.shape[:-1], whole), "int32", device=a.device)
    room[..., :length] = bits
    weights = 1 << np.arange(8, dtype=np.int32)
    weights = weights[::-1] if bitorder == "big" else weights
    groups = room.reshape((*bits.shape[:-1], whole // 8, 8))
    packed = reduce("sum", groups * from_numpy(weights.copy(), device=a.device), -1)
    return functional.contiguous(cast(packed, dtype_of("uint8")).swapaxes(at, -1))


def unpackbits(
    a: Tensor, axis: int | None = None, count: Any = None, bitorder: str = "big"
) -> Tensor:
    if a.dtype_name != "uint8":
        raise TypeError("Expected an input array of unsigned byte data type")
    values, axis = (a.reshape(-1), 0) if axis is None else (a, axis)
    (at,) = axes_of(axis, values.ndim)
    wide = cast(values, dtype_of("int32")).swapaxes(at, -1)
    shifts = np.arange(8, dtype=np.int32)
    shifts = shifts[::-1] if bitorder == "big" else shifts
    bits = (wide.unsqueeze(-1) >> from_numpy(shifts.copy(), device=a.device)) & 1
    row = bits.reshape((*wide.shape[:-1], wide.shape[-1] * 8))
    if count is not None:
        length = row.shape[-1]
        if count < 0:
            row = row[..., : max(length + count, 0)]
        elif count <= length:
            row = row[..., :count]
        else:
            room = zeros((*row.shape[:-1], count), "int32", device=a.device)
            room[..., :length] = row
            row = room
    return functional.contiguous(cast(row, dtype_of("uint8")).swapaxes(at, -1))


# Functions of the caller.


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Tensor, *args: Any, **kwargs: Any
) -> Tensor:
    """The function is called with each row, on the device."""
    (at,) = axes_of(axis, arr.ndim)
    rows = arr.permute(*(i for i in range(arr.ndim) if i != at), at)
    lead = rows.shape[:-1]
    flat_rows = rows.reshape((-1, arr.shape[at]))
    if not flat_rows.shape[0]:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    found = [func1d(flat_rows[i], *args, **kwargs) for i in range(flat_rows.shape[0])]
    parts = promoted("apply_along_axis", *(_vector_or_number(item, arr) for item in found))
    joined = functional.stack(parts, 0)
    inner = joined.shape[1:]
    whole = joined.reshape(lead + inner)
    order = [*range(at), *range(len(lead), len(lead) + len(inner)), *range(at, len(lead))]
    return functional.contiguous(whole.permute(*order))


def _vector_or_number(value: Any, like: Tensor) -> Any:
    if isinstance(value, Tensor) or not np.ndim(value):
        return scalar(value)
    return from_numpy(np.asarray(value), device=like.device)


def apply_over_axes(func: Callable[..., Any], a: Tensor, axes: Any) -> Tensor:
    result = a
    for axis in host_integers(axes):
        reduced = func(result, axis)
        if reduced.ndim != result.ndim:
            reduced = reduced.unsqueeze(axis % result.ndim)
        if reduced.ndim != result.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        result = reduced
    return result
