# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions that leave NaN out."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array import reduction, statistics
from aclnn_py.array.arithmetic import apply
from aclnn_py.array.operands import real_floating
from aclnn_py.array.promotion import cast, tensor_of
from aclnn_py.array.reduction import Axis, axes_of, reduce
from aclnn_py.array.searching import sort
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


def _filled(a: Tensor, value: float) -> Tensor:
    if a.dtype.kind in "biu":
        return a
    return functional.where(a != a, tensor_of(value, a.layout.dtype, a.device), a)


def _masked(a: Tensor, where: Any) -> Any:
    return where if a.dtype.kind in "biu" else (a == a) & where


def _total(name: str) -> Callable[..., Tensor]:
    def run(
        a: Tensor, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False,
        initial: Any = None, where: Any = True,
    ) -> Tensor:  # fmt: skip
        return reduce(name, a, axis, dtype, keepdims, initial, _masked(a, where))

    return run


nansum, nanprod = _total("sum"), _total("prod")


def nanmean(
    a: Tensor, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False, where: Any = True
) -> Tensor:
    return reduce("mean", a, axis, dtype, keepdims, None, _masked(a, where))


def _extreme(name: str, instead: float) -> Callable[..., Tensor]:
    def run(
        a: Tensor, axis: Axis = None, *, keepdims: bool = False, initial: Any = None,
        where: Any = True,
    ) -> Tensor:  # fmt: skip
        if a.dtype.kind in "biu":
            return reduce(name, a, axis, None, keepdims, initial, where)
        found = reduce(name, _filled(a, instead), axis, None, keepdims, initial, where)
        # Where there is nothing but NaN the result is NaN.
        nothing = reduce("all", a != a, axis, keepdims=keepdims)
        missing = tensor_of(float("nan"), a.layout.dtype, a.device)
        return functional.where(nothing, missing, found)

    return run


nanmax, nanmin = _extreme("max", float("-inf")), _extreme("min", float("inf"))


def _running(name: str, first: float) -> Callable[..., Tensor]:
    def run(a: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
        return reduction.accumulate(name, _filled(a, first), axis, dtype)

    return run


nancumsum, nancumprod = _running("cumsum", 0), _running("cumprod", 1)


def nanvar(
    a: Tensor, axis: Axis = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Tensor:  # fmt: skip
    return statistics.var(
        a, axis, dtype, ddof=ddof, keepdims=keepdims, where=_masked(a, where), mean=mean,
        correction=correction,
    )  # fmt: skip


def nanstd(
    a: Tensor, axis: Axis = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Tensor:  # fmt: skip
    found = nanvar(
        a, axis, dtype, ddof=ddof, keepdims=keepdims, where=where, mean=mean, correction=correction
    )
    return apply("sqrt", found)


def nanquantile(
    a: Tensor, q: Any, axis: Axis = None, *, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """NaN are sorted to the end; each row counts those before."""
    if method != "linear":
        raise TypeError(f"np.nanquantile: method={method!r} is not taken for tensors; use 'linear'")
    wanted = np.asarray(q.numpy() if isinstance(q, Tensor) else q, np.float64)
    if wanted.ndim > 1 or not ((wanted >= 0) & (wanted <= 1)).all():
        raise ValueError("Quantiles must be in the range [0, 1]")
    values = real_floating("nanquantile", a)
    if wanted.ndim and not isinstance(q, Tensor):
        values = cast(values, dtype_of("float64"))  # probabilities in a list are float64
    axes = axes_of(axis, a.ndim)
    kept = [i for i in range(a.ndim) if i not in axes]
    shape = tuple(a.shape[i] for i in kept)
    rows = values.permute(*kept, *axes).reshape((*shape, prod(a.shape[i] for i in axes)))
    if keepdims:
        shape = tuple(1 if i in axes else a.shape[i] for i in range(a.ndim))
    kind = rows.layout.dtype
    if not rows.shape[-1]:
        nothing = tensor_of(float("nan"), kind, a.device)
        return functional.contiguous(nothing.broadcast_to(wanted.shape + shape))
    ordered = sort(rows)
    present = reduce("sum", rows == rows, -1, keepdims=True)
    found = []
    for probability in wanted.reshape(-1).tolist():
        place = cast(present - 1, dtype_of("float64")) * probability
        place = apply("maximum", place, 0.0)
        low = apply("floor", place)
        lower, upper = (
            functional.gather(ordered, ordered.ndim - 1, cast(index, dtype_of("int64")))
            for index in (low, apply("ceil", place))
        )
        between = lower + (upper - lower) * cast(place - low, kind)
        found.append(between.reshape(shape))
    if not wanted.ndim:
        return found[0]
    return functional.stack(found, 0)


def nanpercentile(
    a: Tensor, q: Any, axis: Axis = None, *, method: str = "linear", keepdims: bool = False
) -> Tensor:
    wanted = np.asarray(q.numpy() if isinstance(q, Tensor) else q, np.float64) / 100
    if not wanted.ndim:
        return nanquantile(a, float(wanted), axis, method=method, keepdims=keepdims)
    return nanquantile(a, wanted, axis, method=method, keepdims=keepdims)


def nanmedian(a: Tensor, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    return nanquantile(a, 0.5, axis, keepdims=keepdims)


def nan_to_num(
    x: Tensor, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None
) -> Tensor:
    if x.dtype.kind in "biu":
        return functional.contiguous(x) if copy else x
    if x.dtype.kind == "c":
        parts = [nan_to_num(part, True, nan, posinf, neginf) for part in (x.real, x.imag)]
        result = functional.complex(*parts)
    else:
        limits = np.finfo(x.dtype)
        high = float(limits.max) if posinf is None else posinf
        low = float(limits.min) if neginf is None else neginf
        result = _filled(x, nan)
        for infinite, value in ((float("inf"), high), (float("-inf"), low)):
            number = tensor_of(value, x.layout.dtype, x.device)
            result = functional.where(x == infinite, number, result)
    if copy:
        return result
    x[...] = result
    return x
