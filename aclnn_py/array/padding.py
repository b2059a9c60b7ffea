# SPDX-License-Identifier: Apache-2.0
"""NumPy's ``pad``: its modes, each of several operators."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array.creating import linspace
from aclnn_py.array.operands import along, cat, with_dtype
from aclnn_py.array.promotion import tensor_of
from aclnn_py.array.quantiles import median
from aclnn_py.array.reduction import axes_of, reduce
from aclnn_py.array.shaping import flip
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


def pad(array: Tensor, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Tensor:
    if not isinstance(mode, str):
        raise TypeError("np.pad: a function as mode is called on the host; use a mode by name")
    if isinstance(pad_width, dict):
        pairs = [(0, 0)] * array.ndim
        for axis, width in pad_width.items():
            pairs[axes_of(axis, array.ndim)[0]] = tuple(np.broadcast_to(width, 2).tolist())
    else:
        pairs = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2)).tolist()
    if any(n < 0 for pair in pairs for n in pair):
        raise ValueError("index can't contain negative values")
    if mode in ("constant", "empty"):
        known = {"constant_values"} if mode == "constant" else set()
        values = _only(mode, kwargs, known).get("constant_values", 0)
        return _constant(array, pairs, np.broadcast_to(np.asarray(values), (array.ndim, 2)))
    if mode in _EDGES:
        length = _only(mode, kwargs, {"stat_length"}).get("stat_length")
        return _from_edges(array, pairs, mode, length)
    if mode == "linear_ramp":
        ends = _only(mode, kwargs, {"end_values"}).get("end_values", 0)
        return _ramps(array, pairs, np.broadcast_to(np.asarray(ends), (array.ndim, 2)))
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise TypeError(
            f"np.pad: mode={mode!r} is not taken for tensors; pad with 'constant' and assign"
        )
    known = {"reflect_type"} if mode in ("reflect", "symmetric") else set()
    if _only(mode, kwargs, known).get("reflect_type", "even") != "even":
        raise TypeError("np.pad: reflect_type='odd' is not taken for tensors; use 'even'")
    for axis, (before, after) in enumerate(pairs):
        if before or after:
            # The places come from NumPy itself, so that each mode repeats as it does there.
            how: Any = mode
            places = np.pad(np.arange(array.shape[axis]), (before, after), mode=how)
            array = array[along(axis, places)]
    return functional.contiguous(array)


# Modes that repeat a number computed from the elements near the edge.
_EDGES: dict[str, Callable[..., Tensor]] = {
    "maximum": partial(reduce, "max"),
    "minimum": partial(reduce, "min"),
    "mean": partial(reduce, "mean"),
    "median": median,
}


def _from_edges(array: Tensor, pairs: Any, mode: str, length: Any) -> Tensor:
    lengths = None if length is None else np.broadcast_to(length, (array.ndim, 2)).tolist()
    for axis, (before, after) in enumerate(pairs):
        whole = array.shape[axis]
        parts = [array]
        for width, end in ((before, 0), (after, 1)):
            count = whole if lengths is None else min(lengths[axis][end], whole)
            near = slice(0, count) if end == 0 else slice(whole - count, whole)
            value = _EDGES[mode](array[along(axis, near)], axis=axis, keepdims=True)
            if array.dtype.kind in "iu" and mode in ("mean", "median"):
                value = functional.round(value)
            value = with_dtype(value, array.dtype)
            room = (*array.shape[:axis], width, *array.shape[axis + 1 :])
            if width:
                edge = functional.contiguous(value.broadcast_to(room))
                parts.insert(0 if end == 0 else len(parts), edge)
        if len(parts) > 1:
            array = cat(parts, axis)
    return functional.contiguous(array)


def _ramps(array: Tensor, pairs: Any, ends: Any) -> Tensor:
    """From a number at the end to the elements at the edge, in equal steps."""
    for axis, (before, after) in enumerate(pairs):
        parts = [array]
        for width, at, end in ((before, 0, ends[axis][0]), (after, -1, ends[axis][1])):
            if not width:
                continue
            edge = array[along(axis, at)]
            ramp = linspace(
                edge * 0 + end.item(), edge, width, endpoint=False, dtype=array.dtype, axis=axis
            )
            parts.insert(0 if at == 0 else len(parts), ramp if at == 0 else flip(ramp, axis))
        if len(parts) > 1:
            array = cat(parts, axis)
    return functional.contiguous(array)


def _constant(array: Tensor, pairs: Any, values: Any) -> Tensor:
    if array.ndim and (values == values.flat[0]).all():
        filling = tensor_of(values.flat[0].item(), array.layout.dtype, array.device)
        amounts = [width for pair in reversed(pairs) for width in pair]
        return functional.pad(array, amounts, value=filling.item())
    for axis, (before, after) in enumerate(pairs):
        parts = []
        for width, value in ((before, values[axis][0]), (after, values[axis][1])):
            lengths = (*array.shape[:axis], width, *array.shape[axis + 1 :])
            edge = tensor_of(value.item(), array.layout.dtype, array.device)
            parts.append(functional.contiguous(edge.broadcast_to(lengths)))
        used = [part for part in (parts[0], array, parts[1]) if part.shape[axis]]
        if len(used) > 1 or (used and used[0] is not array):
            array = cat(used, axis)
    return functional.contiguous(array)


def _only(mode: str, given: dict[str, Any], known: set[str]) -> dict[str, Any]:
    for name in given:
        if name not in known:
            raise ValueError(f"unsupported keyword arguments for mode '{mode}': {{{name!r}}}")
    return given
