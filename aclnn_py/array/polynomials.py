# SPDX-License-Identifier: Apache-2.0
"""NumPy's polynomials: vectors of coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array.decompositions import linalg_inv, linalg_lstsq
from aclnn_py.array.linear import vander
from aclnn_py.array.mathematics import convolve
from aclnn_py.array.operands import (
    placed,
    promoted,
)
from aclnn_py.array.promotion import cast
from aclnn_py.tensor.creation import from_numpy, zeros
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


def _vectors(name: str, *values: Any) -> list[Tensor]:
    device = next(value.device for value in values if isinstance(value, Tensor))
    made = (
        value
        if isinstance(value, Tensor)
        else from_numpy(np.atleast_1d(np.asarray(value)), device=device)
        for value in values
    )
    return promoted(name, *made)


def polyval(p: Any, x: Any) -> Any:
    """Horner's scheme."""
    coefficients = p if isinstance(p, Tensor) else np.atleast_1d(np.asarray(p))
    total = x * 0
    for i in range(len(coefficients)):
        total = total * x + coefficients[i]
    return total


def _aligned(a1: Any, a2: Any) -> tuple[Tensor, Tensor]:
    first, second = _vectors("polyadd", a1, a2)
    length = max(first.count, second.count)
    found = []
    for item in (first, second):
        room = zeros((length,), item.dtype_name, device=item.device)
        room[length - item.count :] = item
        found.append(room)
    return found[0], found[1]


def polyadd(a1: Any, a2: Any) -> Tensor:
    first, second = _aligned(a1, a2)
    return first + second


def polysub(a1: Any, a2: Any) -> Tensor:
    first, second = _aligned(a1, a2)
    return first - second


def polymul(a1: Any, a2: Any) -> Tensor:
    first, second = _vectors("polymul", a1, a2)
    return convolve(first, second)


def polydiv(u: Any, v: Any) -> tuple[Tensor, Tensor]:
    """Quotient and remainder, one coefficient at a time."""
    dividend, divisor = _vectors("polydiv", u, v)
    if dividend.dtype.kind in "biu":
        dividend, divisor = (cast(item, dtype_of("float64")) for item in (dividend, divisor))
    steps = dividend.count - divisor.count + 1
    rest = functional.contiguous(dividend)
    quotient = zeros((max(steps, 1),), rest.dtype_name, device=rest.device)
    for i in range(max(steps, 0)):
        factor = rest[i] / divisor[0]
        quotient[i] = factor
        rest[i : i + divisor.count] = rest[i : i + divisor.count] - divisor * factor
    values = rest.numpy()
    first = 0
    while first < len(values) - 1 and np.allclose(values[first], 0, rtol=1e-14):
        first += 1
    return quotient, rest[first:]


def polyder(p: Tensor, m: int = 1) -> Tensor:
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    for _ in range(m):
        powers = from_numpy(np.arange(p.count - 1, 0, -1), device=p.device)
        p = p[:-1] * powers
    return p


def polyint(p: Tensor, m: int = 1, k: Any = None) -> Tensor:
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = np.zeros(m) if k is None else np.atleast_1d(np.asarray(k, float))
    if len(constants) == 1 and m > 1:
        constants = np.repeat(constants, m)
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for i in range(m):
        powers = from_numpy(np.arange(p.count, 0, -1), device=p.device)
        whole = p / powers
        last = from_numpy(np.asarray([constants[i]]).astype(whole.dtype), device=p.device)
        p = functional.cat([whole, last], 0)
    return p


def polyfit(
    x: Tensor, y: Tensor, deg: int, rcond: Any = None, full: bool = False, w: Any = None,
    cov: Any = False,
) -> Any:  # fmt: skip
    """In float64, by orthogonal columns; what ``full`` and ``rcond`` ask for by singular values."""
    if int(deg) < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1 or not x.count:
        raise TypeError("expected 1D vector for x")
    if y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
        raise TypeError("expected x and y to have same length")
    double = dtype_of("float64")
    rows, wanted = vander(cast(x, double), deg + 1), cast(y, double)
    if w is not None:
        weights = cast(placed(w, x.device), double)
        rows = rows * weights[:, None]
        wanted = wanted * (weights[:, None] if wanted.ndim == 2 else weights)
    scale = functional.sqrt((rows * rows).sum(0))
    scaled = rows / scale
    many = wanted if wanted.ndim == 2 else wanted[:, None]
    if full or rcond is not None:
        limit = x.count * float(np.finfo(x.dtype if x.dtype.kind == "f" else float).eps)
        rcond = limit if rcond is None else rcond
        result, residuals, rank, s = linalg_lstsq(scaled, wanted, rcond)
        result = (result.T / scale).T
        if full:
            return result, residuals, rank, s, rcond
    else:
        result = _fitted(scaled, many) / scale[:, None]
        result = result if wanted.ndim == 2 else functional.contiguous(result[:, 0])
    if not cov:
        return result
    return result, _covariance(rows, many, result, cov, wanted.ndim)


def _covariance(rows: Tensor, many: Tensor, found: Tensor, cov: Any, rank: int) -> Tensor:
    """How certain the coefficients are: one matrix, or one for each column."""
    scale = functional.sqrt((rows * rows).sum(0))
    scaled = rows / scale
    spread = linalg_inv((scaled[:, :, None] * scaled[:, None, :]).sum(0)) / scale / scale[:, None]
    if cov == "unscaled":
        return spread
    length, count = rows.shape
    if length <= count:
        raise ValueError(
            "the number of data points must exceed order to scale the covariance matrix"
        )
    rest = many - (rows[:, :, None] * found.reshape(count, -1)).sum(1)
    whole = spread[:, :, None] * ((rest * rest).sum(0) / (length - count))
    return whole if rank == 2 else whole[:, :, 0]


def _fitted(matrix: Tensor, many: Tensor) -> Tensor:
    """The least squares of the columns of ``many``."""
    count = matrix.shape[1]
    columns = [matrix[:, i] for i in range(count)]
    factors: list[list[Tensor]] = []
    basis: list[Tensor] = []
    for column in columns:
        row: list[Tensor] = []
        # Twice, because one pass leaves what cancelled.
        for turn in range(2):
            for i, one in enumerate(basis):
                part = (one * column).sum()
                column = column - one * part
                row[i : i + 1] = [part if turn == 0 else row[i] + part]
        length = functional.sqrt((column * column).sum())
        factors.append([*row, length])
        basis.append(column / length)
    found: list[Tensor] = []
    for i in reversed(range(count)):
        value = (basis[i][:, None] * many).sum(0)
        for j, known in zip(range(count - 1, i, -1), found, strict=True):
            value = value - factors[j][i] * known
        found.append(value / factors[i][i])
    return functional.stack(found[::-1], 0)


def poly(seq_of_zeros: Tensor) -> Tensor:
    if seq_of_zeros.ndim != 1:
        raise TypeError("np.poly: no operator finds eigenvalues; give a vector of zeros")
    zeros_of = seq_of_zeros
    if zeros_of.dtype.kind in "biu":
        zeros_of = cast(zeros_of, dtype_of("float64"))
    result = from_numpy(np.ones(1, zeros_of.dtype), device=zeros_of.device)
    one = result
    for i in range(zeros_of.count):
        factor = functional.cat([one, -zeros_of[i : i + 1]], 0)
        result = convolve(result, factor)
    return result
