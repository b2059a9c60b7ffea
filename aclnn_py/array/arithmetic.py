# SPDX-License-Identifier: Apache-2.0
"""Element-wise expressions on tensors, by the names of NumPy's ufuncs.

Each row names the operator for two tensors and, where CANN has one, that for a tensor and a number.
An operator is looked up when a row is used, so an expression makes no operator but its own.
Operands are cast to one dtype first (``promotion``), so the operator promotes nothing by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from aclnn_py import functional, ops
from aclnn_py.array.parts import part, real_type
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
from aclnn_py.functional.shapes import broadcast
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "BINARY",
    "NAMES",
    "UNARY",
    "apply",
    "binary",
    "check_out",
    "choose",
    "overlaps",
    "shares_memory",
    "unary",
]

Types = tuple[DType, DType]  # of the computation, of the result
# The name of an operator, or a function that queues one.
Queue = str | Callable[..., None]


class Row:
    """One function.

    Attributes
    ----------
    types : callable
        From the dtype of the operands to the dtypes of the computation and of the result.
    tensors : str or callable
        The operator for tensors of one dtype.
    number : str or callable, optional
        The operator for a tensor and a number.
    swapped : str
        Row for exchanged operands, so that a number on the left finds an operator too.
    wider : mapping
        Integer types the operator lacks, and wider ones that give the same values.
    """

    # Written out: the first expression of a process waits for the making of a dataclass.
    __slots__ = ("number", "swapped", "tensors", "types", "wider")

    def __init__(
        self,
        types: Callable[[str, DType], Types],
        tensors: Queue,
        number: Queue | None = None,
        swapped: str = "",
        wider: Mapping[str, str] | None = None,
    ) -> None:
        self.types = types
        self.tensors = tensors
        self.number = number
        self.swapped = swapped
        self.wider = wider or {}


_BOOL = dtype_of("bool")


def _same(name: str, kind: DType) -> Types:
    return kind, kind


def _truth(name: str, kind: DType) -> Types:
    return kind, _BOOL


def _no_bool(name: str, kind: DType) -> Types:
    if kind is _BOOL:
        words = {
            "subtract": "use ^ or logical_xor",
            "negative": "use ~ or logical_not",
            "sign": "use astype(np.int8)",
            "positive": "use copy()",
        }
        raise TypeError(f"{name}: not for booleans; {words[name]} instead")
    return kind, kind


def _number(name: str, kind: DType) -> Types:
    found = dtype_of("int8") if kind is _BOOL else kind
    return found, found


def _real_number(name: str, kind: DType) -> Types:
    if kind.numpy.kind == "c":
        raise TypeError(f"{name}: not for complex numbers, and an operand is {kind}")
    return _number(name, kind)


def _rounds(name: str, kind: DType) -> Types:
    return _same(name, kind) if kind is _BOOL else _real_number(name, kind)


def _magnitude(name: str, kind: DType) -> Types:
    return kind, real_type(kind)


def _inverse(name: str, kind: DType) -> Types:
    """As NumPy's: integers give integers, cut off towards zero."""
    return _real(name, kind)[0], _number(name, kind)[1]


def _quotient(name: str, kind: DType) -> Types:
    found = dtype_of("float64") if kind.numpy.kind in "biu" else kind
    return found, found


def _bits(name: str, kind: DType) -> Types:
    if kind.numpy.kind not in "biu":
        raise TypeError(f"{name}: only for integers and booleans, not {kind}")
    return kind, kind


def _real(name: str, kind: DType) -> Types:
    """Integers give the smallest float that holds them, as NumPy's ufuncs do."""
    if kind.numpy.kind in "biu":
        size = kind.numpy.itemsize
        kind = dtype_of("float16" if size == 1 else "float32" if size == 2 else "float64")
    return kind, kind


def _real_only(name: str, kind: DType) -> Types:
    return _real(name, _real_number(name, kind)[0] if kind.numpy.kind == "c" else kind)


def _float_truth(name: str, kind: DType) -> Types:
    return _real(name, kind)[0], _BOOL


_SMALL = {"int8": "int32", "int16": "int32", "uint8": "int32"}


def _conjugate(a: Tensor, out: Tensor) -> None:
    ops.inplace_copy(out, a)
    if a.dtype.kind == "c":
        ops.neg(part(a, 1), part(out, 1))


def _of_parts(test: str, joined: str) -> Callable[[Tensor, Tensor], None]:
    """A test of a float; of both parts of a complex number."""

    def queue(a: Tensor, out: Tensor) -> None:
        if a.dtype.kind != "c":
            getattr(ops, test)(a, out)
            return
        real, imaginary = (empty(a.shape, "bool", device=a.device) for _ in range(2))
        if a.count:
            getattr(ops, test)(functional.contiguous(part(a, 0)), real)
            getattr(ops, test)(functional.contiguous(part(a, 1)), imaginary)
        getattr(ops, joined)(real, imaginary, out)

    return queue


def _truncate(a: Tensor, out: Tensor) -> None:
    """aclnnTrunc takes no float64; rounding down and up do."""
    if a.dtype_name != "float64":
        ops.trunc(a, out)
        return
    up, down = (empty(a.shape, "float64", device=a.device) for _ in range(2))
    ops.ceil(a, up)
    ops.floor(a, down)
    ops.s_where(a < 0, up, down, out)


def _compare(name: str, swapped: str) -> Row:
    return Row(_truth, f"{name}_tensor", f"{name}_scalar", swapped)


def _bitwise(name: str) -> Row:
    return Row(_bits, f"bitwise_{name}_tensor", f"bitwise_{name}_scalar", f"bitwise_{name}")


BINARY: dict[str, Row] = {
    "add": Row(_same, lambda a, b, out: ops.add(a, b, 1, out),
               lambda a, n, out: ops.adds(a, n, 1, out), "add"),
    "subtract": Row(_no_bool, lambda a, b, out: ops.sub(a, b, 1, out),
                    lambda a, n, out: ops.subs(a, n, 1, out), "reverse_subtract"),
    "reverse_subtract": Row(lambda _, kind: _no_bool("subtract", kind),
                            lambda a, b, out: ops.rsub(a, b, 1, out),
                            lambda a, n, out: ops.rsubs(a, n, 1, out)),
    "multiply": Row(_same, "mul", "muls", "multiply"),
    "divide": Row(_quotient, "div", "divs"),
    "floor_divide": Row(_real_number, "floor_divide", "floor_divides"),
    "remainder": Row(_real_number, "remainder_tensor_tensor", "remainder_tensor_scalar",
                     wider=_SMALL),
    "fmod": Row(_real_number, "fmod_tensor", "fmod_scalar", wider={"int16": "int32"}),
    "power": Row(_number, "pow_tensor_tensor", "pow_tensor_scalar", "reverse_power"),
    "reverse_power": Row(_number, lambda a, b, out: ops.pow_tensor_tensor(b, a, out),
                         lambda a, n, out: ops.pow_scalar_tensor(n, a, out)),
    "maximum": Row(_same, "maximum", swapped="maximum"),
    "minimum": Row(_same, "minimum", swapped="minimum"),
    "arctan2": Row(_real_only, "atan2"),
    "logaddexp": Row(_real_only, "log_add_exp", swapped="logaddexp"),
    "equal": _compare("eq", "equal"),
    "not_equal": _compare("ne", "not_equal"),
    "less": _compare("lt", "greater"),
    "less_equal": _compare("le", "greater_equal"),
    "greater": _compare("gt", "less"),
    "greater_equal": _compare("ge", "less_equal"),
    "logical_and": Row(_truth, "logical_and"),
    "logical_or": Row(_truth, "logical_or"),
    "logical_xor": Row(_truth, "logical_xor"),
    "bitwise_and": _bitwise("and"),
    "bitwise_or": _bitwise("or"),
    "bitwise_xor": _bitwise("xor"),
}  # fmt: skip

_NARROW_FLOATS = {"float16": "float32", "bfloat16": "float32"}

UNARY: dict[str, Row] = {
    # aclnnNeg lacks some integers that the difference from 0 has.
    "negative": Row(_no_bool, lambda a, out: ops.rsubs(a, 0, 1, out)
                    if a.dtype_name in ("int16", "uint8") else ops.neg(a, out)),
    "positive": Row(_no_bool, lambda a, out: ops.inplace_copy(out, a)),
    "conjugate": Row(_number, _conjugate),
    "absolute": Row(_magnitude, "abs"),
    "sign": Row(_no_bool, "sign", wider=_SMALL),
    "square": Row(_number, lambda a, out: ops.mul(a, a, out)),
    "sqrt": Row(_real, "sqrt"),
    "reciprocal": Row(_inverse, "reciprocal"),
    "exp": Row(_real, "exp"),
    "exp2": Row(_real, "exp2"),
    "expm1": Row(_real, "expm1"),
    "log": Row(_real, "log"),
    "log2": Row(_real, "log2"),
    "log10": Row(_real, "log10"),
    "log1p": Row(_real, "log1p"),
    "sin": Row(_real, "sin"),
    "cos": Row(_real, "cos"),
    "tan": Row(_real, "tan"),
    "sinh": Row(_real, "sinh"),
    "cosh": Row(_real, "cosh"),
    "tanh": Row(_real, "tanh"),
    "arcsin": Row(_real, "asin"),
    "arccos": Row(_real, "acos"),
    "arctan": Row(_real, "atan"),
    "arcsinh": Row(_real, "asinh"),
    "arccosh": Row(_real, "acosh"),
    "arctanh": Row(_real, "atanh"),
    "floor": Row(_rounds, "floor", wider=_NARROW_FLOATS),
    "ceil": Row(_rounds, "ceil"),
    "trunc": Row(_rounds, _truncate),
    "rint": Row(_real, "round"),
    "isnan": Row(_truth, lambda a, out: ops.ne_tensor(a, a, out)),
    "isinf": Row(_float_truth, _of_parts("is_inf", "logical_or")),
    "isfinite": Row(_float_truth, _of_parts("is_finite", "logical_and")),
    "signbit": Row(_truth, "signbit"),
    "logical_not": Row(_truth, lambda a, out: ops.eq_scalar(a, 0, out)
                       if a.dtype.kind == "c" else ops.logical_not(a, out)),
    "invert": Row(_bits, "bitwise_not"),
}  # fmt: skip
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
    # An operator that reads elements which it has overwritten already would be wrong.
    if isinstance(out, Tensor) and any(
        isinstance(operand, Tensor) and overlaps(out, operand) for operand in operands
    ):
        result = _evaluate(known, operands, None)
        check_out(out, result.shape, result.layout.dtype, name)
        ops.inplace_copy(out, result)
        return out
    return _evaluate(known, operands, out)


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
        row = Row(_same, UNARY["positive"].tensors)
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
    if row.types is _truth:
        a, b = _bounded(a, b), _bounded(b, a)
    common = float_type(a, b) if row.types is _real_only else result_type(a, b)
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
