# SPDX-License-Identifier: Apache-2.0
"""NumPy's decompositions of matrices, what is solved with them, and norms."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from aclnn_py import functional, ops
from aclnn_py.array.arithmetic import apply
from aclnn_py.array.mathematics import real
from aclnn_py.array.operands import floating, promoted
from aclnn_py.array.products import matmul
from aclnn_py.array.promotion import cast, without_lists
from aclnn_py.array.reduction import axes_of, reduce
from aclnn_py.array.shaping import diagonal, flip, matrix_transpose, moveaxis, tril, triu
from aclnn_py.functional.shapes import reduced_shape
from aclnn_py.runtime.current import thread
from aclnn_py.tensor.creation import empty, eye
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []

_NOT_GIVEN: Any = object()


def _matrices(name: str, a: Tensor) -> Tensor:
    """A stack of matrices in the dtype in which NumPy decomposes them."""
    if a.ndim < 2:
        raise np.linalg.LinAlgError(
            f"{a.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    if a.dtype.itemsize == 2 and a.dtype.kind not in "iu":
        raise TypeError(f"np.linalg.{name}: not for {a.dtype_name}, as in NumPy; use float32")
    return floating(a)


def _square(name: str, a: Tensor) -> Tensor:
    matrix = _matrices(name, a)
    if a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return matrix


def linalg_inv(a: Tensor) -> Tensor:
    return functional.inverse(_square("inv", a))


class SlogDet(NamedTuple):
    """What ``np.linalg.slogdet`` returns."""

    sign: Tensor
    logabsdet: Tensor


def linalg_slogdet(a: Tensor) -> SlogDet:
    sign, logarithm = functional.slogdet(_square("slogdet", a))
    return SlogDet(sign, real(logarithm))


def linalg_det(a: Tensor) -> Tensor:
    sign, logarithm = linalg_slogdet(a)
    return sign * apply("exp", logarithm)


def linalg_cholesky(a: Tensor, /, *, upper: bool = False) -> Tensor:
    """Waits for the device, which gives NaN for what is not positive definite."""
    matrix = _square("cholesky", a)
    kind, choice = matrix.dtype_name, thread.unsupported
    if kind == "float32" or choice == "host" or (kind == "float64" and choice == "float32"):
        factor = functional.cholesky(matrix, upper)
    else:
        factor = _factor_by_columns(_adjoint(matrix) if upper else matrix)
        factor = _adjoint(factor) if upper else factor
    if bool((factor != factor).any()):
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    return factor


def _factor_by_columns(matrix: Tensor) -> Tensor:
    """The lower factor of dtypes that aclnnLinalgCholesky lacks; of the matrix only that half is
    read."""
    rest = tril(matrix)
    factor = functional.zeros_like(rest)
    for k in range(matrix.shape[-1]):
        pivot = apply("sqrt", real(rest[..., k, k]))
        column = rest[..., k:, k] / pivot[..., None]
        factor[..., k:, k] = column
        below = column[..., 1:]
        products = below[..., :, None] * apply("conjugate", below)[..., None, :]
        rest[..., k + 1 :, k + 1 :] -= products
    return factor


class QR(NamedTuple):
    """What ``np.linalg.qr`` returns."""

    Q: Tensor
    R: Tensor


def linalg_qr(a: Tensor, mode: str = "reduced") -> Any:
    matrix = _matrices("qr", a)
    if mode not in ("reduced", "complete", "r"):
        raise TypeError(f"np.linalg.qr: mode={mode!r} is not taken for tensors; use 'reduced'")
    q, r = functional.qr(matrix, "complete" if mode == "complete" else "reduced")
    return r if mode == "r" else QR(q, r)


class SVD(NamedTuple):
    """What ``np.linalg.svd`` returns."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def linalg_svd(
    a: Tensor, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    matrix = _square("svd", a) if hermitian else _matrices("svd", a)
    u, s, v = functional.svd(matrix, full_matrices)
    s = functional.contiguous(real(s))
    return SVD(u, s, _adjoint(v)) if compute_uv else s


def linalg_svdvals(x: Tensor, /) -> Tensor:
    result: Tensor = linalg_svd(x, compute_uv=False)
    return result


class Eigh(NamedTuple):
    """What ``np.linalg.eigh`` returns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


def linalg_eigh(a: Tensor, UPLO: str = "L") -> Eigh:
    """By the singular values of a matrix with the same eigenvectors and positive eigenvalues.

    Those are exact to the last place of the largest one. Waits for the device, which gives NaN
    where the matrix has elements that are not finite.
    """
    matrix = _hermitian("eigh", a, UPLO)
    if not matrix.count:
        return Eigh(functional.contiguous(real(diagonal(matrix, 0, -2, -1))), matrix)
    lengths = apply("absolute", matrix)
    scale = reduce("max", reduce("sum", lengths, -1), -1)[..., None]
    scale = functional.where(scale == 0, scale + 1, scale)
    # No eigenvalue is larger than the sum of a row: divided by it they are between -1 and 1.
    identity = eye(a.shape[-1], dtype=matrix.dtype, device=a.device)
    shifted = matrix / scale[..., None] + identity
    vectors, values, _ = functional.svd(shifted, True)
    values = (real(values) - 1) * scale
    if bool((values != values).any()):
        raise np.linalg.LinAlgError("Eigenvalues did not converge")
    # Singular values come largest first.
    return Eigh(flip(values, -1), flip(vectors, -1))


def linalg_eigvalsh(a: Tensor, UPLO: str = "L") -> Tensor:
    return linalg_eigh(a, UPLO).eigenvalues


def _hermitian(name: str, a: Tensor, triangle: str) -> Tensor:
    """The Hermitian matrices of which one triangle is read, as LAPACK reads them."""
    matrix = _square(name, a)
    if triangle.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    half = tril(matrix, -1) if triangle.upper() == "L" else triu(matrix, 1)
    identity = eye(a.shape[-1], dtype=matrix.dtype, device=a.device)
    return half + _adjoint(half) + identity * real(diagonal(matrix, 0, -2, -1))[..., None]


def linalg_solve(a: Any, b: Any) -> Tensor:
    """By the inverse, and one step that makes the result more exact."""
    a, b = without_lists(a, b)
    matrix = _square("solve", a)
    vector = b.ndim == 1
    matrix, right = promoted("solve", matrix, floating(b.unsqueeze(-1) if vector else b))
    if right.shape[-2] != matrix.shape[-1]:
        raise ValueError(
            f"solve: the right side has {right.shape[-2]} rows, the matrix {matrix.shape[-1]}"
        )
    inverse = linalg_inv(matrix)
    found = matmul(inverse, right)
    found = found + matmul(inverse, right - matmul(matrix, found))
    return found.squeeze(-1) if vector else found


def linalg_pinv(
    a: Tensor, rcond: Any = None, hermitian: bool = False, *, rtol: Any = _NOT_GIVEN
) -> Tensor:
    """Without a limit NumPy's is 1e-15, whatever the dtype; ``rtol=None`` fits it to the dtype."""
    if rcond is not None and rtol is not _NOT_GIVEN:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    u, s, vh = linalg_svd(a, False)
    limit = rcond if rcond is not None else 1e-15 if rtol is _NOT_GIVEN else rtol
    if limit is None:
        limit = max(a.shape[-2:]) * float(np.finfo(s.dtype).eps)
    kept = s > reduce("max", s, -1, keepdims=True) * _of_each(limit)
    inverse = functional.where(kept, 1 / functional.where(kept, s, s * 0 + 1), s * 0)
    return matmul(_adjoint(vh) * inverse.unsqueeze(-2), _adjoint(u))


def _adjoint(a: Tensor) -> Tensor:
    turned = functional.contiguous(matrix_transpose(a))
    return apply("conjugate", turned) if a.dtype.kind == "c" else turned


def linalg_lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Tensor, Tensor, int, Tensor]:
    a, b = without_lists(a, b)
    matrix = _matrices("lstsq", a)
    if matrix.ndim != 2:
        raise np.linalg.LinAlgError(
            f"{matrix.ndim}-dimensional array given. Array must be two-dimensional"
        )
    m, n = matrix.shape
    vector = b.ndim == 1
    matrix, right = promoted("lstsq", matrix, floating(b.unsqueeze(-1) if vector else b))
    if rcond is None:
        rcond = max(m, n) * float(np.finfo(matrix.dtype).eps)
    s = linalg_svdvals(matrix)
    rank = int((s > reduce("max", s) * float(rcond)).sum())
    inverse = linalg_pinv(matrix, rcond)
    found = matmul(inverse, right)
    found = found + matmul(inverse, right - matmul(matrix, found))
    rest = right - matmul(matrix, found)
    residuals = reduce("sum", apply("square", apply("absolute", rest)), 0)
    if rank != n or m <= n:
        residuals = empty((0,), residuals.dtype_name, device=a.device)
    return (found.squeeze(-1) if vector else found), residuals, rank, s


def linalg_matrix_rank(
    A: Tensor, tol: Any = None, hermitian: bool = False, *, rtol: Any = None
) -> Any:
    if A.ndim < 2:
        return int(bool((A != 0).any()))
    s = linalg_svdvals(A)
    if tol is None:
        factor = max(A.shape[-2:]) * float(np.finfo(s.dtype).eps) if rtol is None else rtol
        tol = reduce("max", s, -1, keepdims=True) * _of_each(factor)
    else:
        tol = _of_each(tol)
    return reduce("sum", s > tol, -1)


def _of_each(limit: Any) -> Any:
    """A number for all matrices of a stack, or a tensor with one for each."""
    return limit.unsqueeze(-1) if isinstance(limit, Tensor) else float(limit)


def linalg_cond(x: Tensor, p: Any = None) -> Tensor:
    if p in (None, 2, -2):
        s = linalg_svdvals(x)
        return s[..., 0] / s[..., -1] if p != -2 else s[..., -1] / s[..., 0]
    axes = (-2, -1)
    return linalg_norm(x, p, axes) * linalg_norm(linalg_inv(x), p, axes)


def linalg_matrix_power(a: Tensor, n: int) -> Tensor:
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    base = linalg_inv(a) if n < 0 else a
    if n == 0:
        identity = eye(a.shape[-1], dtype=a.dtype, device=a.device)
        return functional.contiguous(identity.broadcast_to(a.shape))
    result = None
    power = abs(n)
    while power:
        if power & 1:
            result = base if result is None else matmul(result, base)
        power >>= 1
        if power:
            base = matmul(base, base)
    assert result is not None
    return result


def linalg_multi_dot(arrays: Sequence[Any]) -> Tensor:
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    result, *others = without_lists(*arrays)
    for item in others:
        result = matmul(result, item)
    return result  # type: ignore[no-any-return]


def linalg_tensorinv(a: Tensor, ind: int = 2) -> Tensor:
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    rows = prod(a.shape[ind:])
    inverse = linalg_inv(a.reshape(rows, -1))
    return inverse.reshape(a.shape[ind:] + a.shape[:ind])


def linalg_tensorsolve(a: Any, b: Any, axes: Any = None) -> Tensor:
    a, b = without_lists(a, b)
    if axes is not None:
        for axis in axes:
            a = moveaxis(a, axis, -1)
    shape = a.shape[-(a.ndim - b.ndim) :]
    count = prod(shape)
    if b.count != count:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy prod(a.shape[b.ndim:]) == prod(b.shape)"
        )
    return linalg_solve(a.reshape(count, count), b.reshape(-1)).reshape(shape)


# Norms.


_NORM_TYPES = ("float32", "float16", "bfloat16")


def linalg_norm(x: Tensor, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Norm of vectors or matrices; without an axis and an order, of all elements as one vector."""
    if axis is None and ord is not None and x.ndim not in (1, 2):
        raise ValueError("Improper number of dimensions to norm.")
    axes = axes_of(axis, x.ndim)
    if ord is None or len(axes) == 1:
        return linalg_vector_norm(x, axis=axes, keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    return _matrix_norm(x, ord, axes, keepdims)


def linalg_vector_norm(
    x: Tensor, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2
) -> Tensor:
    if not isinstance(ord, (int, float)):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if x.dtype.kind in "biu":
        x = cast(x, dtype_of("float64"))
    axes = axes_of(axis, x.ndim)
    if axes and x.count and ord != 0 and np.isfinite(ord) and x.dtype_name in _NORM_TYPES:
        out = empty(reduced_shape(x.shape, axes, keepdims), x.layout.dtype, device=x.device)
        ops.linalg_vector_norm(x, float(ord), axes, keepdims, x.dtype_name, out)
        return out
    lengths = apply("absolute", x)
    if ord in (np.inf, -np.inf):
        return reduce("max" if ord > 0 else "min", lengths, axes, keepdims=keepdims)
    if ord == 0:
        return reduce("sum", cast(x != 0, lengths.layout.dtype), axes, keepdims=keepdims)
    if ord == 1:
        return reduce("sum", lengths, axes, keepdims=keepdims)
    if ord == 2:
        squares = apply("square", lengths)
        return apply("sqrt", reduce("sum", squares, axes, keepdims=keepdims))
    powers = apply("power", lengths, float(ord))
    return apply("power", reduce("sum", powers, axes, keepdims=keepdims), 1.0 / ord)


def linalg_matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    return _matrix_norm(x, ord, axes_of((-2, -1), x.ndim), keepdims)


def _matrix_norm(x: Tensor, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    rows, columns = axes
    if ord in ("fro", "f", None):
        return linalg_vector_norm(x, axis=axes, keepdims=keepdims)
    if ord in (1, -1, np.inf, -np.inf):
        first, second = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = reduce("sum", apply("absolute", x), first, keepdims=True)
        name = "max" if ord > 0 else "min"
        result = reduce(name, sums, second, keepdims=True)
    elif ord in (2, -2, "nuc"):
        s = linalg_svdvals(moveaxis(x, axes, (-2, -1)))
        name = {2: "max", -2: "min", "nuc": "sum"}[ord]
        result = reduce(name, s, -1)
        for axis in sorted(axes):
            result = result.unsqueeze(axis)
    else:
        raise ValueError(f"Invalid norm order {ord!r} for matrices")
    return result if keepdims else result.squeeze(axes)
