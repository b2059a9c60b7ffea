# SPDX-License-Identifier: Apache-2.0
"""The ufuncs that one operator evaluates: which, and in which dtype.

Each row names the operator for two tensors and, where CANN has one, that for a tensor and a number.
An operator is looked up when a row is used, so an expression makes no operator but its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aclnn_py import functional, ops
from aclnn_py.array import wide
from aclnn_py.array.parts import part, real_type
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = ["BINARY", "UNARY", "Queue", "Row", "Types", "real_only", "same", "truth"]

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


def same(name: str, kind: DType) -> Types:
    return kind, kind


def truth(name: str, kind: DType) -> Types:
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
    return same(name, kind) if kind is _BOOL else _real_number(name, kind)


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


def real_only(name: str, kind: DType) -> Types:
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
    return Row(truth, f"{name}_tensor", f"{name}_scalar", swapped)


def _bitwise(name: str) -> Row:
    return Row(_bits, f"bitwise_{name}_tensor", f"bitwise_{name}_scalar", f"bitwise_{name}")


BINARY: dict[str, Row] = {
    "add": Row(same, lambda a, b, out: ops.add(a, b, 1, out),
               lambda a, n, out: ops.adds(a, n, 1, out), "add"),
    "subtract": Row(_no_bool, lambda a, b, out: ops.sub(a, b, 1, out),
                    lambda a, n, out: ops.subs(a, n, 1, out), "reverse_subtract"),
    "reverse_subtract": Row(lambda _, kind: _no_bool("subtract", kind),
                            lambda a, b, out: ops.rsub(a, b, 1, out),
                            lambda a, n, out: ops.rsubs(a, n, 1, out)),
    "multiply": Row(same, "mul", "muls", "multiply"),
    "divide": Row(_quotient, "div", "divs"),
    "floor_divide": Row(_real_number, "floor_divide", "floor_divides"),
    "remainder": Row(_real_number, "remainder_tensor_tensor", "remainder_tensor_scalar",
                     wider=_SMALL),
    "fmod": Row(_real_number, "fmod_tensor", "fmod_scalar", wider={"int16": "int32"}),
    "power": Row(_number, "pow_tensor_tensor", "pow_tensor_scalar", "reverse_power"),
    "reverse_power": Row(_number, lambda a, b, out: ops.pow_tensor_tensor(b, a, out),
                         lambda a, n, out: ops.pow_scalar_tensor(n, a, out)),
    "maximum": Row(same, "maximum", swapped="maximum"),
    "minimum": Row(same, "minimum", swapped="minimum"),
    "arctan2": Row(real_only, "atan2"),
    "logaddexp": Row(real_only, wide.logaddexp, swapped="logaddexp"),
    "equal": _compare("eq", "equal"),
    "not_equal": _compare("ne", "not_equal"),
    "less": _compare("lt", "greater"),
    "less_equal": _compare("le", "greater_equal"),
    "greater": _compare("gt", "less"),
    "greater_equal": _compare("ge", "less_equal"),
    "logical_and": Row(truth, "logical_and"),
    "logical_or": Row(truth, "logical_or"),
    "logical_xor": Row(truth, "logical_xor"),
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
    "absolute": Row(_magnitude, wide.absolute),
    "sign": Row(_no_bool, "sign", wider=_SMALL),
    "square": Row(_number, lambda a, out: ops.mul(a, a, out)),
    "sqrt": Row(_real, "sqrt"),
    "reciprocal": Row(_inverse, "reciprocal"),
    "exp": Row(_real, "exp"),
    "exp2": Row(_real, "exp2"),
    "expm1": Row(_real, wide.expm1),
    "log": Row(_real, "log"),
    "log2": Row(_real, "log2"),
    "log10": Row(_real, "log10"),
    "log1p": Row(_real, "log1p"),
    "sin": Row(_real, "sin"),
    "cos": Row(_real, "cos"),
    "tan": Row(_real, "tan"),
    "sinh": Row(_real, "sinh"),
    "cosh": Row(_real, "cosh"),
    "tanh": Row(_real, wide.tanh),
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
    "isnan": Row(truth, lambda a, out: ops.ne_tensor(a, a, out)),
    "isinf": Row(_float_truth, _of_parts("is_inf", "logical_or")),
    "isfinite": Row(_float_truth, _of_parts("is_finite", "logical_and")),
    "signbit": Row(truth, "signbit"),
    "logical_not": Row(truth, lambda a, out: ops.eq_scalar(a, 0, out)
                       if a.dtype.kind == "c" else ops.logical_not(a, out)),
    "invert": Row(_bits, "bitwise_not"),
}  # fmt: skip
