# SPDX-License-Identifier: Apache-2.0
"""NumPy's sums, extremes, averages and covariances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aclnn_py import functional
from aclnn_py.array import reduction
from aclnn_py.array.arithmetic import apply
from aclnn_py.array.operands import (
    as_row,
    cat,
    floating,
    placed,
    promoted,
)
from aclnn_py.array.promotion import cast, tensor_of
from aclnn_py.array.reduction import Axis, axes_of, reduce
from aclnn_py.array.shaping import diagonal
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


def sum_(
    a: Tensor, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Tensor:  # fmt: skip
    return reduce("sum", a, axis, dtype, keepdims, initial, where)


def prod_(
    a: Tensor, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Tensor:  # fmt: skip
    return reduce("prod", a, axis, dtype, keepdims, initial, where)


def mean(
    a: Tensor, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False, where: Any = True
) -> Tensor:
    return reduce("mean", a, axis, dtype, keepdims, None, where)


def _extreme(name: str) -> Callable[..., Tensor]:
    def find(
        a: Tensor, axis: Axis = None, *, keepdims: bool = False, initial: Any = None,
        where: Any = True,
    ) -> Tensor:  # fmt: skip
        return reduce(name, a, axis, None, keepdims, initial, where)

    return find


max_ = amax = _extreme("max")
min_ = amin = _extreme("min")


def _truth(name: str) -> Callable[..., Tensor]:
    def find(a: Tensor, axis: Axis = None, *, keepdims: bool = False, where: Any = True) -> Tensor:
        return reduce(name, a, axis, None, keepdims, None, where)

    return find


any_, all_ = _truth("any"), _truth("all")


def ptp(a: Tensor, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    largest, smallest = (reduce(name, a, axis, keepdims=keepdims) for name in ("max", "min"))
    return apply("subtract", largest, smallest)


def var(
    a: Tensor, axis: Axis = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Tensor:  # fmt: skip
    x, ddof = _spread_of(a, dtype, ddof, correction)
    return reduction.variance(x, axis, ddof, keepdims, where, mean)


def std(
    a: Tensor, axis: Axis = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Tensor:  # fmt: skip
    x, ddof = _spread_of(a, dtype, ddof, correction)
    return reduction.standard_deviation(x, axis, ddof, keepdims, where, mean)


def _spread_of(a: Tensor, dtype: Any, ddof: float, correction: Any) -> tuple[Tensor, float]:
    if correction is not None:
        if ddof:
            raise ValueError("ddof and correction can't be provided simultaneously.")
        ddof = correction
    return (a if dtype is None else cast(a, dtype_of(dtype))), ddof


def cumsum(a: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    return reduction.accumulate("cumsum", a, axis, dtype)


def cumprod(a: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    return reduction.accumulate("cumprod", a, axis, dtype)


def _cumulative(name: str, first: int) -> Callable[..., Tensor]:
    def run(
        x: Tensor, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
    ) -> Tensor:
        if axis is None:
            if x.ndim > 1:
                raise ValueError(
                    "For arrays which have more than one dimension ``axis`` argument is required."
                )
            axis = 0
        x = as_row(x, axis)
        result = reduction.accumulate(name, x, axis, dtype)
        if not include_initial:
            return result
        (at,) = axes_of(axis, x.ndim)
        lengths = (*x.shape[:at], 1, *x.shape[at + 1 :])
        start = tensor_of(first, result.layout.dtype, x.device).broadcast_to(lengths)
        return functional.cat([functional.contiguous(start), result], at)

    return run


cumulative_sum, cumulative_prod = _cumulative("cumsum", 0), _cumulative("cumprod", 1)


def average(
    a: Tensor, axis: Axis = None, weights: Any = None, returned: bool = False, *,
    keepdims: bool = False,
) -> Any:  # fmt: skip
    if weights is None:
        result = reduce("mean", a, axis, keepdims=keepdims)
        if not result.count:
            raise ZeroDivisionError("np.average: there are no elements to average")
        count = a.count / result.count
        total = tensor_of(count, result.layout.dtype, a.device).broadcast_to(result.shape)
        return (result, functional.contiguous(total)) if returned else result
    weights = placed(weights, a.device)
    values, weights = promoted("average", floating(a), floating(weights))
    if weights.shape != a.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        axes = axes_of(axis, a.ndim)
        if weights.shape != tuple(a.shape[i] for i in axes):
            raise ValueError(
                f"Shape of weights {weights.shape} must be consistent with shape of a along axis."
            )
        lengths = [1] * a.ndim
        for length, at in zip(weights.shape, axes, strict=True):
            lengths[at] = length
        order = sorted(range(len(axes)), key=lambda i: axes[i])
        weights = weights.permute(*order).reshape(tuple(lengths)).broadcast_to(a.shape)
    total = reduce("sum", weights, axis, keepdims=keepdims)
    if bool((total == 0).any()):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    result = reduce("sum", values * weights, axis, keepdims=keepdims) / total
    return (result, total) if returned else result


# Covariance.


def cov(
    m: Tensor, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None,
    fweights: Any = None, aweights: Any = None, *, dtype: Any = None,
) -> Tensor:  # fmt: skip
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    kind = dtype_of("float64" if dtype is None else dtype)
    given = [m] if y is None else [m, placed(y, m.device)]
    if dtype is None and any(item.dtype.kind == "c" for item in given):
        kind = dtype_of("complex128")
    rows = cat([_variables(item, rowvar, kind) for item in given], 0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    both = (item for item in (fweights, aweights) if item is not None)
    factors = [cast(placed(item, m.device), dtype_of("float64")) for item in both]
    if not factors:
        total = float(rows.shape[1])
        return _covariance(rows, None, total, total - ddof)
    weights = factors[0] * factors[1] if len(factors) == 2 else factors[0]
    total = float(weights.sum())
    factor = total - ddof
    if ddof and aweights is not None:
        factor = total - ddof * float((weights * factors[-1]).sum()) / total
    return _covariance(rows, weights, total, factor)


def _covariance(rows: Tensor, weights: Tensor | None, total: float, factor: float) -> Tensor:
    """Row by row: CANN has no matrix product of float64."""
    weighted = rows if weights is None else rows * weights
    rows = rows - reduce("sum", weighted, 1, keepdims=True) / total
    weighted = rows if weights is None else rows * weights
    if rows.dtype.kind == "c":
        weighted = apply("conjugate", weighted)
    products = [reduce("sum", rows[i] * weighted, 1) for i in range(rows.shape[0])]
    scale = 1 / factor if factor > 0 else float("inf")
    return (functional.stack(products, 0) * scale).squeeze()


def _variables(m: Tensor, rowvar: bool, kind: DType) -> Tensor:
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    rows = m.reshape(1, -1) if m.ndim < 2 else m
    return cast(rows.T if not rowvar and m.ndim == 2 else rows, kind)


def corrcoef(x: Tensor, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Tensor:
    covariance = cov(x, y, rowvar, dtype=dtype)
    if not covariance.ndim:
        return covariance / covariance
    deviation = apply("sqrt", diagonal(covariance))
    result = covariance / deviation[:, None] / deviation[None, :]
    if result.dtype.kind == "c":
        return functional.complex(result.real.clip(-1, 1), result.imag.clip(-1, 1))
    return result.clip(-1, 1)
