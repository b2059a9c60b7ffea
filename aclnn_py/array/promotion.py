# SPDX-License-Identifier: Apache-2.0
"""The dtype of a mixed expression, and operands brought to it.

The rule is NumPy 2's: ``numpy.result_type`` over the dtypes, in which Python numbers are weak (they
only raise the kind) and NumPy scalars are as strong as tensors. The types of ml_dtypes follow the
same pattern where NumPy itself refuses or widens: a Python float leaves bfloat16 and float8 as they
are; bfloat16 with float16 gives float32, and with an integer that NumPy has no answer for it gives
what float16 would (float32 for int16 and uint16, float64 for wider ones). Nothing else is promoted:
two types of ml_dtypes without a common type are a TypeError.
"""

from __future__ import annotations

from collections.abc import Collection
from math import isfinite
from typing import Any

import numpy as np

from aclnn_py import functional, ops
from aclnn_py.errors import DeviceMismatchError
from aclnn_py.runtime.current import thread
from aclnn_py.runtime.device import Device
from aclnn_py.tensor.creation import asarray, empty
from aclnn_py.tensor.dtypes import NARROWER, DType, dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "LISTS",
    "cast",
    "expect_dtype",
    "expect_operands",
    "float_type",
    "is_operand",
    "number_of",
    "result_type",
    "same_kind",
    "tensor_of",
    "without_lists",
]

LISTS = (list, tuple)
_PYTHON_NUMBERS = (bool, int, float, complex)
_KINDS = {"b": 0, "u": 1, "i": 2, "f": 3, "c": 4}


def is_operand(value: object) -> bool:
    """Whether an expression takes the value: a tensor, a Python number or a NumPy scalar."""
    return isinstance(value, (Tensor, *_PYTHON_NUMBERS, np.generic))


def scalar(value: Any) -> Any:
    """The NumPy scalar of a 0-d array, which NumPy's rules treat as one; other values unchanged."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return value[()]
    return value


def without_lists(*values: Any) -> tuple[Any, ...]:
    """Lists and tuples beside a tensor as tensors on its device, as NumPy takes them."""
    device = next((value.device for value in values if isinstance(value, Tensor)), None)
    return tuple(
        asarray(value, device=device) if value.__class__ in LISTS else value for value in values
    )


def expect_operands(name: str, *values: object) -> Device:
    """Return the device of the operands; raise if they are on several, or one is no operand."""
    device: Device | None = None
    for value in values:
        if isinstance(value, Tensor):
            if device is not None and value.device is not device:
                raise DeviceMismatchError(
                    f"{name}: tensors on device {device.index} and on device {value.device.index}; "
                    "copy one of them first"
                )
            device = value.device
        elif not is_operand(value):
            advice = "; copy it to the device with from_numpy()" * isinstance(value, np.ndarray)
            raise TypeError(
                f"{name}: expected tensors and numbers, got {type(value).__name__}{advice}"
            )
    if device is None:
        raise TypeError(f"{name}: one operand must be a Tensor")
    return device


def expect_dtype(name: str, operator: str, kind: DType, allowed: Collection[str]) -> None:
    """Raise for a dtype that an operator lacks, unless this thread has it computed otherwise."""
    choice, narrower = thread.unsupported, NARROWER.get(kind.name)
    if kind.name in allowed or choice == "host" or (choice == "float32" and narrower in allowed):
        return
    if narrower in allowed:
        advice = "compute in float32 or on the host with ap.unsupported_dtypes()"
    else:
        advice = "compute on the host with ap.unsupported_dtypes('host')"
    raise TypeError(f"{name}: {operator} takes no {kind}; use astype(np.float32), or {advice}")


def kind_order(dtype: np.dtype[Any]) -> int:
    """Rank of the kind: bool, unsigned, signed, float, complex."""
    if dtype.kind == "V":  # a float of ml_dtypes, or its int4
        return _KINDS["i" if "int" in dtype.name else "f"]
    return _KINDS[dtype.kind]


def result_type(*operands: Any) -> DType:
    """dtype of an expression over tensors, Python numbers and NumPy scalars."""
    strong = [item.dtype for item in operands if isinstance(item, (Tensor, np.generic))]
    weak = [item for item in operands if not isinstance(item, (Tensor, np.generic))]
    if not strong:
        return dtype_of(np.result_type(*weak), "result")
    result = strong[0]
    for dtype in strong[1:]:
        result = _promote(result, dtype)
    for number in weak:
        result = _with_number(result, number)
    return dtype_of(result, "result")


def float_type(*operands: Any) -> DType:
    """The float of an expression: each integer counts as the smallest float that holds it."""
    strong = [item.dtype for item in operands if isinstance(item, (Tensor, np.generic))]
    common = result_type(*operands)
    if strong and common.numpy != result_type(*(dtype.type(0) for dtype in strong)).numpy:
        # A Python number raised the kind; it counts as int64 or float64.
        return dtype_of("float64") if common.numpy.kind in "biu" else common
    exact = {1: np.float16, 2: np.float32}
    floats = (
        np.dtype(exact.get(dtype.itemsize, np.float64)) if dtype.kind in "biu" else dtype
        for dtype in strong
    )
    return result_type(*(dtype.type(0) for dtype in floats)) if strong else common


def _with_number(dtype: np.dtype[Any], number: Any) -> np.dtype[Any]:
    """The dtype after a Python number took part: only its kind may rise.

    Written out, because ``numpy.result_type`` looks at the value of the number before NumPy 2.
    """
    order = kind_order(dtype)
    if isinstance(number, complex) and order < _KINDS["c"]:
        whole = order < _KINDS["f"]
        return np.dtype(np.complex128) if whole else np.promote_types(dtype, np.complex64)
    if isinstance(number, float) and order < _KINDS["f"]:
        return np.dtype(np.float64)
    if isinstance(number, int) and not isinstance(number, bool) and order == _KINDS["b"]:
        return np.dtype(np.int64)
    return dtype


def _promote(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    if a == b:
        return a
    try:
        return np.promote_types(a, b)
    except TypeError:
        if "bfloat16" not in (a.name, b.name):
            raise
    other = b if a.name == "bfloat16" else a
    if other == np.float16:
        return np.dtype(np.float32)
    return np.promote_types(np.float16, other)


def same_kind(source: DType, target: DType) -> bool:
    """Whether an in-place operation may store one dtype in another, as NumPy's same_kind says."""
    return kind_order(source.numpy) <= kind_order(target.numpy)


def cast(tensor: Tensor, kind: DType) -> Tensor:
    """The tensor itself, or a copy in another dtype."""
    if tensor.layout.dtype is kind:
        return tensor
    return functional.cast(tensor, kind)


def number_of(value: Any, kind: DType) -> bool | int | float | complex:
    """A number rounded to a dtype, as a Python number, which the operators recognise fastest.

    Raises
    ------
    OverflowError
        A Python int, or an infinite float, does not fit into it.
    ValueError
        NaN as an integer.
    TypeError
        A Python complex number as a real one.
    """
    if kind.name == "float64" and type(value) in (int, float):
        return float(value)
    if type(value) is complex and kind.numpy.kind != "c":
        raise TypeError(f"a complex number does not fit into {kind}; give its real part")
    if type(value) is float and kind.numpy.kind in "iu" and not isfinite(value):
        return int(value)  # raises
    if type(value) is int and kind.numpy.kind in "iu":
        limits = np.iinfo(kind.numpy)
        if not limits.min <= value <= limits.max:
            raise OverflowError(f"Python integer {value} out of bounds for {kind}")
        return value
    with np.errstate(over="ignore", invalid="ignore"):
        number: bool | int | float | complex = np.asarray(value).astype(kind.numpy).item()
    return number


def tensor_of(value: Any, kind: DType, device: Device) -> Tensor:
    """An operand as a tensor of a dtype; a number becomes a 0-d tensor."""
    if isinstance(value, Tensor):
        return cast(value, kind)
    result = empty((), kind, device=device)
    ops.inplace_fill_scalar(result, number_of(value, kind))
    return result
