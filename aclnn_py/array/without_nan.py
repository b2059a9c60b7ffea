# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions that leave NaN out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array import quantiles, reduction, statistics
from aclnn_py.array.arithmetic import apply
from aclnn_py.array.operands import real_floating
from aclnn_py.array.promotion import cast, tensor_of
from aclnn_py.array.reduction import Axis, reduce
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
    if not a.ndim and axis in (0, -1) and a.dtype.kind not in "biu":
        axis = None  # to NumPy's nanvar of floats an element is a row of one, to var it is not
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
    if a.dtype.kind in "biu":
        return quantiles.quantile(a, q, axis, keepdims=keepdims)
    given = np.asarray(q.numpy() if isinstance(q, Tensor) else q)
    if given.ndim > 1 or not ((given >= 0) & (given <= 1)).all():
        raise ValueError("Quantiles must be in the range [0, 1]")
    of_one = given.dtype.kind in "biu"
    values = a if of_one else quantiles.between_type(a, q, given.dtype, method)
    rows, shape = quantiles.rows_of(real_floating("nanquantile", values), axis, keepdims)
    kind = rows.layout.dtype
    if not rows.shape[-1]:
        nothing = tensor_of(float("nan"), kind, a.device)
        return functional.contiguous(nothing.broadcast_to(given.shape + shape))
    ordered = sort(rows)
    present = cast(reduce("sum", rows == rows, -1, keepdims=True), dtype_of("float64"))
    last = apply("maximum", present - 1, 0.0)
    found = []
    for probability in given.reshape(-1).tolist():
        place = last * probability
        low = apply("floor", place)
        result = _at(ordered, low)
        if not of_one:
            above = _at(ordered, apply("minimum", low + 1, last))
            result = quantiles.between(result, above, cast(place - low, kind))
        found.append(result.reshape(shape))
    return functional.stack(found, 0) if given.ndim else found[0]


def _at(ordered: Tensor, places: Tensor) -> Tensor:
    return functional.gather(ordered, ordered.ndim - 1, cast(places, dtype_of("int64")))


def nanpercentile(
    a: Tensor, q: Any, axis: Axis = None, *, method: str = "linear", keepdims: bool = False
) -> Tensor:
    wanted = quantiles.parts_of_one(a, q)
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
