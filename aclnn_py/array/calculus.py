# SPDX-License-Identifier: Apache-2.0
"""NumPy's differences, slopes, integrals and interpolation."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array.arithmetic import apply
from aclnn_py.array.operands import (
    along,
    floating,
    placed,
    promoted,
    real_floating,
)
from aclnn_py.array.promotion import cast, expect_operands, tensor_of
from aclnn_py.array.reduction import axes_of, reduce
from aclnn_py.array.searching import argsort, searchsorted
from aclnn_py.tensor.creation import from_numpy
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


def diff(a: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    if n == 0:
        return a
    if not a.ndim:
        raise ValueError("diff requires input that is at least one dimensional")
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    (at,) = axes_of(axis, a.ndim)
    parts = [_edge(a, prepend, at), a, _edge(a, append, at)]
    given = [part for part in parts if part is not None]
    tensor = functional.cat(promoted("diff", *given), at) if len(given) > 1 else a
    name = "not_equal" if tensor.dtype == np.bool_ else "subtract"
    later, earlier = along(at, slice(1, None)), along(at, slice(None, -1))
    for _ in range(n):
        tensor = apply(name, tensor[later], tensor[earlier])
    return tensor


def _edge(a: Tensor, value: Any, axis: int) -> Tensor | None:
    if value is None:
        return None
    edge = placed(value, a.device)
    if not edge.ndim:
        lengths = (*a.shape[:axis], 1, *a.shape[axis + 1 :])
        return functional.contiguous(edge.broadcast_to(lengths))
    return edge


def ediff1d(ary: Tensor, to_end: Any = None, to_begin: Any = None) -> Tensor:
    row = ary.reshape(-1)
    parts = [apply("subtract", row[1:], row[:-1])]
    for value, at in ((to_begin, 0), (to_end, len(parts))):
        if value is not None:
            edge = placed(value, ary.device)
            if not np.can_cast(edge.dtype, ary.dtype, "same_kind"):
                raise TypeError(
                    "dtype of `to_end` or `to_begin` must be compatible with input `ary`"
                )
            parts.insert(at if at == 0 else len(parts), cast(edge.reshape(-1), ary.layout.dtype))
    return functional.cat(parts, 0) if len(parts) > 1 else parts[0]


def gradient(f: Tensor, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    axes = axes_of(axis, f.ndim)
    if f.dtype_name == "bool":
        raise TypeError("np.gradient: not for booleans; use astype(np.int8)")
    values = floating(f)
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError("invalid number of arguments")
    steps = list(varargs) * (len(axes) if len(varargs) == 1 else 1) or [1.0] * len(axes)
    found = [
        _slope(values, at, _spacing(step, values, at), edge_order)
        for at, step in zip(axes, steps, strict=True)
    ]
    if len(found) == 1:
        return found[0]
    return tuple(found)


def _spacing(step: Any, f: Tensor, axis: int) -> Any:
    """One distance, or on the host the distances of all neighbours."""
    if isinstance(step, Tensor):
        step = step.numpy()
    if not np.ndim(step):
        return float(step)
    places = np.asarray(step, np.float64)
    if places.ndim != 1 or len(places) != f.shape[axis]:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    distances = np.diff(places)
    return float(distances[0]) if (distances == distances[0]).all() else distances


def _slope(f: Tensor, axis: int, step: Any, edge_order: int) -> Tensor:
    length = f.shape[axis]
    if length < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least "
            "(edge_order + 1) elements are required."
        )
    lengths = tuple(-1 if i == axis else 1 for i in range(f.ndim))

    def part(start: int, stop: int | None) -> Tensor:
        return f[along(axis, slice(start, stop))]

    def factors(values: Any) -> Any:
        return from_numpy(np.asarray(values).astype(f.dtype), device=f.device).reshape(lengths)

    even = isinstance(step, float)
    pieces: list[Tensor] = []
    if even:
        inner = (part(2, None) - part(0, -2)) / (2 * step)
        first, last = step, step
    else:
        before, after = step[:-1], step[1:]
        a = -after / (before * (before + after))
        b = (after - before) / (before * after)
        c = before / (after * (before + after))
        inner = (
            part(0, -2) * factors(a) + part(1, -1) * factors(b) + part(2, None) * factors(c)
            if length > 2
            else part(0, 0)
        )
        first, last = float(step[0]), float(step[-1])
    if edge_order == 1:
        head = (part(1, 2) - part(0, 1)) / first
        tail = (part(length - 1, None) - part(length - 2, length - 1)) / last
    else:
        one = float(step if even else step[0])
        two = float(step if even else step[1])
        head = (
            part(0, 1) * (-(2 * one + two) / (one * (one + two)))
            + part(1, 2) * ((one + two) / (one * two))
            - part(2, 3) * (one / (two * (one + two)))
        )
        two = float(step if even else step[-1])
        one = float(step if even else step[-2])
        tail = (
            part(length - 3, length - 2) * (two / (one * (one + two)))
            - part(length - 2, length - 1) * ((two + one) / (one * two))
            + part(length - 1, None) * ((2 * two + one) / (two * (one + two)))
        )
    pieces = [head, inner, tail] if length > 2 else [head, tail]
    return functional.cat(pieces, axis)


def trapezoid(y: Tensor, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Tensor:
    (at,) = axes_of(axis, y.ndim)
    pairs = floating(y[along(at, slice(1, None))] + y[along(at, slice(None, -1))])
    if x is None:
        width: Any = dx
    else:
        points = placed(x, y.device)
        if points.ndim == 1:
            width = diff(points).reshape(tuple(-1 if i == at else 1 for i in range(y.ndim)))
        else:
            width = diff(points, axis=at)
    return reduce("sum", pairs * width / 2.0, at)


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Tensor:
    device = expect_operands("interp", *(item for item in (x, xp, fp) if isinstance(item, Tensor)))
    wide = dtype_of("float64")
    for item in (x, xp):
        if isinstance(item, Tensor) and item.dtype.kind == "c":
            raise TypeError("np.interp: the places are no complex numbers")
    fp = placed(fp, device)
    if fp.dtype.kind == "c":
        return functional.complex(
            interp(x, xp, fp.real, _part(left, "real"), _part(right, "real"), period),
            interp(x, xp, fp.imag, _part(left, "imag"), _part(right, "imag"), period),
        )
    points, places, values = (cast(placed(item, device), wide) for item in (x, xp, fp))
    if places.shape != values.shape or places.ndim != 1:
        raise ValueError("fp and xp are not of the same length.")
    if not places.count:
        raise ValueError("array of sample points is empty")
    if period is not None:
        if not period:
            raise ValueError("period must be a non-zero value")
        period, left, right = abs(float(period)), None, None
        points, places = apply("remainder", points, period), apply("remainder", places, period)
        order = argsort(places)
        places, values = places[order], values[order]
        places = functional.cat([places[-1:] - period, places, places[:1] + period], 0)
        values = functional.cat([values[-1:], values, values[:1]], 0)
    count = places.count
    index = (searchsorted(places, points, "right") - 1).clip(0, count - 2 if count > 1 else 0)
    if count == 1:
        result = functional.contiguous(values.broadcast_to(points.shape)) + points * 0
    else:
        x0, x1, y0, y1 = (t[i] for t in (places, values) for i in (index, index + 1))
        result = (y1 - y0) / (x1 - x0) * (points - x0) + y0
        result = functional.where(points == x0, y0, result)
        result = functional.where(points == x1, y1, result)
    first = values[0] if left is None else tensor_of(float(left), wide, device)
    last = values[-1] if right is None else tensor_of(float(right), wide, device)
    result = functional.where(points < places[0], first, result)
    result = functional.where(points > places[-1], last, result)
    return functional.where(points != points, points, result)


def _part(edge: Any, name: str) -> Any:
    return None if edge is None else getattr(complex(edge), name)


def unwrap(p: Tensor, discont: Any = None, axis: int = -1, *, period: float = 2 * pi) -> Tensor:
    whole = p.dtype.kind in "iu" and isinstance(period, int)
    values = p if whole else real_floating("unwrap", p)
    (at,) = axes_of(axis, p.ndim)
    half = period // 2 if whole else period / 2
    kind = values.layout.dtype
    steps = cast(diff(p, axis=at), kind)
    turned = apply("remainder", steps + half, period) - half
    if 2 * half == period:
        turned = functional.where(
            (turned == -half) & (steps > 0), tensor_of(half, kind, p.device), turned
        )
    change = turned - steps
    limit = period / 2 if discont is None else discont
    quiet = apply("absolute", steps) < limit
    change = functional.where(quiet, tensor_of(0, kind, p.device), change)
    rest = cast(values[along(at, slice(1, None))] + functional.cumsum(change, at), kind)
    return functional.cat([functional.contiguous(values[along(at, slice(0, 1))]), rest], at)
