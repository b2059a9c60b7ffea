# SPDX-License-Identifier: Apache-2.0
"""NumPy's linear algebra."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from string import ascii_letters
from typing import Any, NamedTuple

import numpy as np

from aclnn_py import functional, ops
from aclnn_py.array.arithmetic import apply
from aclnn_py.array.mathematics import real
from aclnn_py.array.operands import device_of, floating, promoted
from aclnn_py.array.products import matmul, vecdot
from aclnn_py.array.promotion import (
    cast,
    expect_dtype,
    expect_operands,
    result_type,
    tensor_of,
    without_lists,
)
from aclnn_py.array.reduction import axes_of, reduce
from aclnn_py.array.shaping import diagonal, matrix_transpose, moveaxis
from aclnn_py.functional.shapes import reduced_shape
from aclnn_py.tensor.creation import empty, eye
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__: list[str] = []


def dot(a: Any, b: Any) -> Tensor:
    a, b = without_lists(a, b)
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a.ndim and b.ndim:
        if b.ndim > 2:
            return tensordot(a, b, ((a.ndim - 1,), (b.ndim - 2,)))
        return matmul(a, b)
    # To np.dot a Python number is an array, with a dtype that is not weak.
    return apply("multiply", *(x if isinstance(x, Tensor) else np.asarray(x) for x in (a, b)))


def vdot(a: Tensor, b: Tensor, /) -> Tensor:
    a, b = without_lists(a, b)
    device_of("vdot", a, b)
    first, second = a.reshape(-1), b.reshape(-1)
    if result_type(first, second).numpy.kind == "c":
        return reduce("sum", apply("conjugate", first) * second)
    return matmul(first, second)


def inner(a: Any, b: Any, /) -> Tensor:
    a, b = without_lists(a, b)
    if not np.ndim(a) or not np.ndim(b):
        return dot(a, b)
    return tensordot(a, b, ((a.ndim - 1,), (b.ndim - 1,)))


def outer(a: Any, b: Any) -> Tensor:
    a, b = without_lists(a, b)
    expect_operands("outer", a, b)
    # As to np.dot, a Python number is an array to np.outer.
    column = a.reshape(-1, 1) if isinstance(a, Tensor) else np.asarray(a)
    row = b.reshape(1, -1) if isinstance(b, Tensor) else np.asarray(b)
    return apply("multiply", column, row).reshape(np.size(a), np.size(b))


def tensordot(a: Tensor, b: Tensor, axes: Any = 2) -> Tensor:
    device_of("tensordot", a, b)
    if isinstance(axes, int):
        first, second = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        first, second = ([item] if isinstance(item, int) else list(item) for item in axes)
    left, right = axes_of(tuple(first), a.ndim), axes_of(tuple(second), b.ndim)
    lengths = [a.shape[i] for i in left]
    if lengths != [b.shape[i] for i in right]:
        raise ValueError("shape-mismatch for sum")
    kept_a = [i for i in range(a.ndim) if i not in left]
    kept_b = [i for i in range(b.ndim) if i not in right]
    shape = tuple(a.shape[i] for i in kept_a) + tuple(b.shape[i] for i in kept_b)
    common = prod(lengths)
    rows = a.permute(*kept_a, *left).reshape((prod(a.shape[i] for i in kept_a), common))
    columns = b.permute(*right, *kept_b).reshape((common, prod(b.shape[i] for i in kept_b)))
    if not common or not prod(shape):
        result = empty(shape, result_type(a, b), device=a.device)
        ops.inplace_zero(result)
        return result
    return matmul(rows, columns).reshape(shape)


def linalg_matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    return matmul(x1, x2)


def linalg_outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    return outer(x1, x2)


def linalg_tensordot(x1: Tensor, x2: Tensor, /, *, axes: Any = 2) -> Tensor:
    return tensordot(x1, x2, axes)


def linalg_vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    return vecdot(x1.swapaxes(axis, -1), x2.swapaxes(axis, -1))


def einsum(*operands: Any) -> Tensor:
    subscripts, *tensors = operands
    if not isinstance(subscripts, str):
        raise TypeError("np.einsum: only the form with a string of subscripts is taken for tensors")
    given = promoted("einsum", *tensors)
    terms, wanted = _terms(subscripts, given)
    operand, labels = _summed(given[0], terms[0], {*wanted, *"".join(terms[1:])})
    for number in range(1, len(given)):
        later = {*wanted, *"".join(terms[number + 1 :])}
        other, names = _summed(given[number], terms[number], {*later, *labels})
        operand, labels = _contracted(operand, labels, other, names, later)
    operand, labels = _summed(operand, labels, set(wanted))
    return functional.contiguous(operand.permute(*(labels.index(label) for label in wanted)))


def _terms(subscripts: str, tensors: Sequence[Tensor]) -> tuple[list[str], str]:
    """The labels of each operand and of the result; an ellipsis becomes letters of its own."""
    text, arrow, result = subscripts.replace(" ", "").partition("->")
    terms = text.split(",")
    if len(terms) != len(tensors):
        raise ValueError(
            f"einsum: {len(tensors)} operands were given for {len(terms)} terms of {subscripts!r}"
        )
    unused = [letter for letter in ascii_letters if letter not in subscripts]
    hidden = 0
    found = []
    for term, tensor in zip(terms, tensors, strict=True):
        if "..." in term:
            extra = tensor.ndim - len(term) + 3
            hidden = max(hidden, extra)
            term = term.replace("...", "".join(reversed(unused[:extra])))
        if len(term) != tensor.ndim or not all(letter.isalpha() for letter in term):
            raise ValueError(
                f"einsum: the term {term!r} of {subscripts!r} does not fit an operand with "
                f"{tensor.ndim} dimensions"
            )
        found.append(term)
    rest = "".join(reversed(unused[:hidden]))
    if arrow:
        wanted = result.replace("...", rest)
    else:
        every = "".join(found)
        once = (label for label in set(every) - set(rest) if every.count(label) == 1)
        wanted = rest + "".join(sorted(once))
    if len(set(wanted)) != len(wanted) or not set(wanted) <= set("".join(found)):
        raise ValueError(f"einsum: the result {wanted!r} of {subscripts!r} has unknown labels")
    return found, wanted


def _summed(tensor: Tensor, labels: str, kept: set[str]) -> tuple[Tensor, str]:
    """Diagonals of labels that repeat; sums over those that nothing else names."""
    for label in sorted({item for item in labels if labels.count(item) > 1}):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if tensor.shape[first] != tensor.shape[second]:
                raise ValueError(f"einsum: the dimensions named {label!r} have different lengths")
            tensor = diagonal(tensor, 0, first, second)
            labels = labels[:first] + labels[first + 1 : second] + labels[second + 1 :] + label
    gone = tuple(i for i, label in enumerate(labels) if label not in kept)
    if gone:
        total = reduce("sum", tensor, gone)
        tensor = cast(total, tensor.layout.dtype)
        labels = "".join(label for label in labels if label in kept)
    return tensor, labels


def _contracted(a: Tensor, left: str, b: Tensor, right: str, kept: set[str]) -> tuple[Tensor, str]:
    """Two operands as one, by a matrix product where a label is summed over."""
    both = [label for label in left if label in right]
    for label in both:
        n, m = a.shape[left.index(label)], b.shape[right.index(label)]
        if n != m and 1 not in (n, m):
            raise ValueError(f"einsum: the dimensions named {label!r} have lengths {n} and {m}")
    batch = [label for label in both if label in kept]
    summed = [label for label in both if label not in kept]
    rows = [label for label in left if label not in both]
    columns = [label for label in right if label not in both]
    first = a.permute(*(left.index(label) for label in (*batch, *rows, *summed)))
    second = b.permute(*(right.index(label) for label in (*batch, *summed, *columns)))
    labels = "".join((*batch, *rows, *columns))
    if not summed:
        shape = (*first.shape, *(1,) * len(columns))
        other = (*second.shape[: len(batch)], *(1,) * len(rows), *second.shape[len(batch) :])
        return first.reshape(shape) * second.reshape(other), labels
    lead = first.shape[: len(batch)]
    middle = first.shape[len(batch) : len(batch) + len(rows)]
    last = second.shape[len(batch) + len(summed) :]
    common = prod(first.shape[len(batch) + len(rows) :])
    product = matmul(
        first.reshape((*lead, prod(middle), common)), second.reshape((*lead, common, prod(last)))
    )
    return product.reshape((*lead, *middle, *last)), labels


def kron(a: Any, b: Any) -> Tensor:
    # As to np.outer, a Python number is an array to np.kron.
    first, second = promoted(
        "kron", *(x if isinstance(x, Tensor) else np.asarray(x)[()] for x in (a, b))
    )
    rank = max(first.ndim, second.ndim)
    left, right = (item.reshape((1,) * (rank - item.ndim) + item.shape) for item in (first, second))
    wide = left.reshape(tuple(n for length in left.shape for n in (length, 1)))
    narrow = right.reshape(tuple(n for length in right.shape for n in (1, length)))
    shape = tuple(n * m for n, m in zip(left.shape, right.shape, strict=True))
    return (wide * narrow).reshape(shape)


def cross(
    a: Tensor, b: Tensor, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Tensor:
    if axis is not None:
        axisa = axisb = axisc = axis
    first, second = promoted("cross", moveaxis(a, axisa, -1), moveaxis(b, axisb, -1))
    if first.shape[-1] != 3 or second.shape[-1] != 3:
        raise ValueError("np.cross: vectors of 3 elements are taken for tensors")
    x, y = ([item[..., i] for i in range(3)] for item in (first, second))
    parts = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]
    return functional.contiguous(moveaxis(functional.stack(parts, -1), -1, axisc))


def linalg_cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    return cross(x1, x2, axis=axis)


def vander(x: Tensor, N: Any = None, increasing: bool = False) -> Tensor:
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    values = cast(x, result_type(x, np.int64(0)))
    columns = x.count if N is None else int(N)
    power = tensor_of(1, values.layout.dtype, x.device).broadcast_to(x.shape)
    power = functional.contiguous(power)
    powers = []
    for _ in range(columns):
        powers.append(power)
        power = power * values
    if not powers:
        return empty((x.count, 0), values.dtype_name, device=x.device)
    return functional.stack(powers if increasing else powers[::-1], 1)


# numpy.linalg.

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
    kind = matrix.layout.dtype
    expect_dtype("np.linalg.cholesky", "aclnnLinalgCholesky", kind, ("float32",))
    factor = functional.cholesky(matrix, upper)
    if bool((factor != factor).any()):
        raise np.linalg.LinAlgError("Matrix is not positive definite")
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
    u, s, v = functional.svd(_matrices("svd", a), full_matrices)
    s = functional.contiguous(real(s))
    return SVD(u, s, _adjoint(v)) if compute_uv else s


def linalg_svdvals(x: Tensor, /) -> Tensor:
    result: Tensor = linalg_svd(x, compute_uv=False)
    return result


def linalg_solve(a: Tensor, b: Tensor) -> Tensor:
    """By the inverse, and one step that makes the result more exact."""
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


def linalg_lstsq(a: Tensor, b: Tensor, rcond: Any = None) -> tuple[Tensor, Tensor, int, Tensor]:
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
    return result if result is not a else functional.contiguous(a)


def linalg_multi_dot(arrays: Sequence[Tensor]) -> Tensor:
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    result = arrays[0]
    for item in arrays[1:]:
        result = matmul(result, item)
    return result


def linalg_tensorinv(a: Tensor, ind: int = 2) -> Tensor:
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    rows = prod(a.shape[ind:])
    inverse = linalg_inv(a.reshape(rows, -1))
    return inverse.reshape(a.shape[ind:] + a.shape[:ind])


def linalg_tensorsolve(a: Tensor, b: Tensor, axes: Any = None) -> Tensor:
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
