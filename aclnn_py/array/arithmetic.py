# SPDX-License-Identifier: Apache-2.0
"""Element-wise expressions on tensors, by the names of NumPy's ufuncs.

``rows`` says which operator evaluates each of them. Operands are cast to one dtype first
(``promotion``), so the operator promotes nothing by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aclnn_py import functional, ops
from aclnn_py.array.backwards import written
from aclnn_py.array.elements import expect_target
from aclnn_py.array.promotion import (
    LISTS,
    cast,
    expect_operands,
    float_type,
    number_of,
    result_type,
    same_kind,
    scalar,
    tensor_of,
    without_lists,
)
from aclnn_py.array.rows import BINARY, UNARY, Queue, Row, real_only, same, truth
from aclnn_py.functional.shapes import broadcast
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "NAMES",
    "apply",
    "binary",
    "check_out",
    "choose",
    "overlaps",
    "shares_memory",
    "unary",
]

_BOOL = dtype_of("bool")
# Rounding leaves integers as they are; CANN's operators take floats.
_EXACT_INTEGERS = {"floor", "ceil", "trunc"}
# NumPy's own second names, which are the names of its ufuncs in some releases.
_ALIASES = {
    "true_divide": "divide",
    "mod": "remainder",
    "pow": "power",
    "abs": "absolute",
    "bitwise_not": "invert",
    "bitwise_invert": "invert",
    "conj": "conjugate",
    "atan2": "arctan2",
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}


def apply(name: str, *operands: Any, out: Tensor | None = None) -> Tensor:
    """Evaluate the function of that name, into ``out`` if one is given."""
    known = _ALIASES.get(name, name)
    if isinstance(out, Tensor):
        expect_target(out)
    # An operator that reads elements which it has overwritten already would be wrong.
    if isinstance(out, Tensor) and any(
        isinstance(operand, Tensor) and overlaps(out, operand) for operand in operands
    ):
        result = _evaluate(known, operands, None)
        check_out(out, result.shape, result.layout.dtype, name)
        ops.inplace_copy(out, result)
    else:
        result = _evaluate(known, operands, out)
    if out is None:
        return result
    written(out)
    return out


def _evaluate(name: str, operands: tuple[Any, ...], out: Tensor | None) -> Tensor:
    if len(operands) == 1:
        return unary(name, operands[0], out)
    first, second = operands
    return binary(name, first, second, out)


def unary(name: str, operand: Tensor, out: Tensor | None = None) -> Tensor:
    """Evaluate a function of one tensor."""
    device = expect_operands(name, operand)
    row = UNARY[name]
    given = operand.layout.dtype
    if name in _EXACT_INTEGERS and given.numpy.kind in "biu":
        row = Row(same, UNARY["positive"].tensors)
    compute, kind = row.types(name, given)
    compute = dtype_of(row.wider.get(compute.name, compute))
    place = _place(out, operand.shape, kind, name, device, compute)
    _queue(row.tensors, cast(operand, compute), place)
    return _stored(place, kind, out)


def binary(name: str, a: Any, b: Any, out: Tensor | None = None) -> Tensor:
    """Evaluate a function of two operands, one of them a tensor."""
    a, b = scalar(a), scalar(b)
    if a.__class__ in LISTS or b.__class__ in LISTS:
        a, b = without_lists(a, b)
    device = expect_operands(name, a, b)
    row = BINARY[name]
    if row.types is truth:
        a, b = _bounded(a, b), _bounded(b, a)
    common = float_type(a, b) if row.types is real_only else result_type(a, b)
    compute, kind = row.types(name, common)
    if compute.name in row.wider:
        for number in (a, b):
            if type(number) is int:
                number_of(number, compute)  # refuses what does not fit, however it is computed
        compute = dtype_of(row.wider[compute.name])
    if name == "power":
        _check_exponent(compute, b)
    if not isinstance(a, Tensor) and row.swapped:
        row, a, b = BINARY[row.swapped], b, a
    if out is not None:
        _check_kind(out, kind, name)
    shape = broadcast(a, b)
    place = _place(out, shape, kind, name, device, compute)
    if isinstance(b, Tensor) or row.number is None or not isinstance(a, Tensor):
        operands = tensor_of(a, compute, device), tensor_of(b, compute, device)
        _queue(row.tensors, *operands, place)
    else:
        _queue(row.number, cast(a, compute), number_of(b, compute), place)
    return _stored(place, kind, out)


def _queue(operator: Queue, *arguments: Any) -> None:
    call = getattr(ops, operator) if isinstance(operator, str) else operator
    call(*arguments)


def _bounded(value: Any, other: Any) -> Any:
    """A Python int to compare integers with: comparisons are right for every int, so one that the
    dtype of the tensor cannot hold brings int64, and one beyond that is as good as infinite."""
    if type(value) is not int or not isinstance(other, Tensor) or other.dtype.kind not in "iu":
        return value
    limits = np.iinfo(other.dtype)
    if limits.min <= value <= limits.max:
        return value
    if -(2**63) <= value < 2**63:
        return np.int64(value)
    return float("inf") if value > 0 else float("-inf")


def _check_exponent(kind: DType, exponent: Any) -> None:
    """Raise for integers to negative powers; for a tensor this waits for the device."""
    if kind.numpy.kind != "i":
        return
    if isinstance(exponent, Tensor):
        if exponent.dtype.kind != "i" or not exponent.count:
            return
        low = empty((), exponent.layout.dtype, device=exponent.device)
        ops.amin(exponent, tuple(range(exponent.ndim)), False, low)
        exponent = low.item()
    if exponent < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")


def _place(
    out: Tensor | None, shape: tuple[int, ...], kind: DType, name: str, device: Any, compute: DType
) -> Tensor:
    """Where the operator writes: ``out`` itself when it has the dtype, else a new tensor."""
    if out is not None:
        check_out(out, shape, kind, name)
    written = kind if kind is _BOOL or compute.numpy.kind == "c" else compute
    if out is not None and out.layout.dtype is written and out.shape == shape:
        return out
    return empty(shape, written, device=device)


def check_out(out: object, shape: tuple[int, ...], kind: DType, name: str) -> None:
    target = _check_kind(out, kind, name)
    if np.broadcast_shapes(shape, target.shape) != target.shape:
        raise ValueError(f"{name}: the result has shape {shape}, which does not fit {target.shape}")


def _check_kind(out: object, kind: DType, name: str) -> Tensor:
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}: out must be a Tensor, got {type(out).__name__}")
    if not same_kind(kind, out.layout.dtype):
        raise TypeError(
            f"{name}: cannot store {kind} in {out.dtype_name} with the rule 'same_kind'; "
            "write the result to a tensor of its own"
        )
    return out


def _stored(place: Tensor, kind: DType, out: Tensor | None) -> Tensor:
    if out is None:
        return cast(place, kind)
    if place is not out:
        ops.inplace_copy(out, place)
    return out


def choose(condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Elements of one tensor where the condition holds, else of the other of the same dtype."""
    return functional.where(condition, a, b)


def shares_memory(a: Tensor, b: Tensor) -> bool:
    """Whether the memory between the first and the last element of both meets."""
    if a.device is not b.device or not a.count or not b.count:
        return False
    first, second = _extent(a), _extent(b)
    return first[0] < second[1] and second[0] < first[1]


def _extent(tensor: Tensor) -> tuple[int, int]:
    layout = tensor.layout
    return tensor.address, tensor.address + layout.dtype.nbytes(layout.span)


def overlaps(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors are different views of the same memory."""
    same = a.address == b.address and a.layout.strides == b.layout.strides
    return not (same and a.shape == b.shape) and shares_memory(a, b)


NAMES = frozenset(
    (BINARY.keys() | UNARY.keys() | _ALIASES.keys()) - {"reverse_subtract", "reverse_power"}
)
