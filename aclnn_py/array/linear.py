# SPDX-License-Identifier: Apache-2.0
"""NumPy's products of vectors, matrices and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from string import ascii_letters
from typing import Any

import numpy as np

from aclnn_py import functional, ops
from aclnn_py.array.arithmetic import apply
from aclnn_py.array.operands import device_of, expect_cast, placed, promoted
from aclnn_py.array.products import matmul, vecdot
from aclnn_py.array.promotion import (
    cast,
    expect_operands,
    result_type,
    scalar,
    tensor_of,
    without_lists,
)
from aclnn_py.array.reduction import axes_of, reduce
from aclnn_py.array.shaping import diagonal, moveaxis
from aclnn_py.tensor.creation import empty
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


def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    device = device_of("tensordot", *without_lists(a, b))
    a, b = placed(a, device), placed(b, device)
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
    if rows.shape[0] == columns.shape[1] == 1:  # a product of two vectors has a kernel of its own
        rows, columns = rows.reshape(-1), columns.reshape(-1)
    return matmul(rows, columns).reshape(shape)


def linalg_matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    return matmul(x1, x2)


def linalg_outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    return outer(x1, x2)


def linalg_tensordot(x1: Tensor, x2: Tensor, /, *, axes: Any = 2) -> Tensor:
    return tensordot(x1, x2, axes)


def linalg_vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    return vecdot(x1.swapaxes(axis, -1), x2.swapaxes(axis, -1))


def einsum(*operands: Any, dtype: Any = None, casting: str = "safe") -> Tensor:
    if not isinstance(operands[0], str):
        operands = _with_subscripts(operands)
    subscripts, *tensors = operands
    given = promoted("einsum", *without_lists(*tensors))
    if dtype is not None:
        expect_cast("np.einsum", given[0].layout.dtype, dtype_of(dtype), casting)
        given = [cast(item, dtype_of(dtype)) for item in given]
    terms, wanted = _terms(subscripts, given)
    operand, labels = _summed(given[0], terms[0], {*wanted, *"".join(terms[1:])})
    for number in range(1, len(given)):
        later = {*wanted, *"".join(terms[number + 1 :])}
        other, names = _summed(given[number], terms[number], {*later, *labels})
        operand, labels = _contracted(operand, labels, other, names, later)
    operand, labels = _summed(operand, labels, set(wanted))
    result = operand.permute(*(labels.index(label) for label in wanted))
    return result if len(given) == 1 else functional.contiguous(result)


def _with_subscripts(operands: Sequence[Any]) -> tuple[Any, ...]:
    """Operands that are each followed by a list of labels, as a string and the operands."""

    def text(labels: Sequence[Any]) -> str:
        return "".join("..." if item is Ellipsis else ascii_letters[item] for item in labels)

    pairs = len(operands) // 2
    terms = ",".join(text(operands[2 * i + 1]) for i in range(pairs))
    arrow = f"->{text(operands[-1])}" if len(operands) % 2 else ""
    return (terms + arrow, *operands[: 2 * pairs : 2])


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
    if not rows and not columns and common:
        return _added_products(
            first.reshape((*lead, common)), second.reshape((*lead, common))
        ), labels
    product = matmul(
        first.reshape((*lead, prod(middle), common)), second.reshape((*lead, common, prod(last)))
    )
    return product.reshape((*lead, *middle, *last)), labels


def kron(a: Any, b: Any) -> Tensor:
    # As to np.outer, a Python number is an array to np.kron.
    first, second = promoted(
        "kron",
        *(x if isinstance(x, Tensor) else scalar(np.asarray(x)) for x in without_lists(a, b)),
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
    a, b = without_lists(a, b)
    first, second = promoted("cross", moveaxis(a, axisa, -1), moveaxis(b, axisb, -1))
    lengths = {first.shape[-1], second.shape[-1]}
    if not lengths <= {2, 3}:
        raise ValueError("np.cross: the vectors have 2 or 3 elements")
    x, y = (_in_space(item) for item in (first, second))
    if lengths == {2}:
        return x[0] * y[1] - x[1] * y[0]
    parts = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]
    return functional.contiguous(moveaxis(functional.stack(parts, -1), -1, axisc))


def _in_space(vectors: Tensor) -> list[Tensor]:
    """The parts of vectors; to those in a plane a third one, which is 0."""
    parts = [vectors[..., i] for i in range(vectors.shape[-1])]
    return parts if len(parts) == 3 else [*parts, parts[0] * 0]


def linalg_cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors")
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


def _added_products(a: Tensor, b: Tensor) -> Tensor:
    """The sums of the products of two vectors each, along the last dimension."""
    if a.ndim == 1:
        return matmul(a, b)
    kind = result_type(a, b)
    if kind.numpy.itemsize == 2:  # a product in float16 may be out of range
        return matmul(a.unsqueeze(-2), b.unsqueeze(-1)).squeeze((-2, -1))
    return cast(reduce("sum", apply("multiply", a, b), -1), kind)
