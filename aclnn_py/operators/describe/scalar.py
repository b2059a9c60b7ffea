# SPDX-License-Identifier: Apache-2.0
"""Python numbers as aclScalar values: which dtype a number gets, and its bytes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from aclnn_py.operators.describe.argument_errors import type_name
from aclnn_py.tensor.dtypes import DType, dtype_of

__all__ = ["Number", "Scalar", "scalar_bytes"]

# A Python number gets the first of these that the operator is documented to take. bool stands
# before int because it is one in Python; a number is never narrowed in kind (a float does not
# become an integer).
_INTEGERS = ("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8")
_FLOATS = ("float64", "float32", "float16", "bfloat16")
_COMPLEX = ("complex128", "complex64", "complex32")
_CANDIDATES: tuple[tuple[type, tuple[str, ...]], ...] = (
    (bool, ("bool", *_INTEGERS, *_FLOATS, *_COMPLEX)),
    (int, (*_INTEGERS, *_FLOATS, *_COMPLEX)),
    (float, (*_FLOATS, *_COMPLEX)),
    (complex, _COMPLEX),
)


class Scalar:
    """A number with a dtype of the caller's choice, for parameters that are scalars.

    Parameters
    ----------
    value : number
        The value; it must be representable in `dtype` as far as range goes.
    dtype : dtype-like
        Element type of the aclScalar.
    """

    # Written out: the first launch of a process waits for the making of a dataclass.
    __slots__ = ("_dtype", "_value")

    def __init__(self, value: bool | int | float | complex, dtype: Any) -> None:
        self._value = value
        self._dtype = dtype_of(dtype)

    @property
    def value(self) -> bool | int | float | complex:
        """The number."""
        return self._value

    @property
    def dtype(self) -> DType:
        """Element type of the aclScalar."""
        return self._dtype

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scalar):
            return NotImplemented
        return self._value == other._value and self._dtype is other._dtype

    def __hash__(self) -> int:
        return hash((self._value, self._dtype))

    def __repr__(self) -> str:
        return f"Scalar(value={self._value!r}, dtype={self._dtype})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Scalar, (self._value, self._dtype)


Number = bool | int | float | complex | np.generic | Scalar


def scalar_bytes(value: object, documented: int, argument: str) -> tuple[int, bytes]:
    """Return (aclDataType, bytes) of a number.

    Parameters
    ----------
    value : bool, int, float, complex, NumPy scalar or Scalar
        NumPy scalars and `Scalar` keep their dtype; other numbers get the first of bool, int64,
        float64, complex128 that is wide enough in kind and that the operator is documented to take.
    documented : int
        Bit N: the operator takes aclDataType N. 0: unknown.
    argument : str
        Name in the error.

    Raises
    ------
    TypeError
        It is no number.
    ValueError
        It does not fit into its dtype.
    """
    if isinstance(value, Scalar):
        return _pack(value.value, value.dtype, argument)
    if isinstance(value, np.generic):
        return _pack(value, dtype_of(value.dtype, argument), argument)
    for kind, candidates in _CANDIDATES:
        if isinstance(value, kind):
            return _pack(value, _choose(candidates, documented), argument)
    raise TypeError(f"{argument}: expected a number, got {type_name(value)}")


@functools.cache  # as many entries as operators have different lists of types
def _choose(candidates: tuple[str, ...], documented: int) -> DType:
    dtypes = [dtype_of(name) for name in candidates]
    for dtype in dtypes:
        if documented >> dtype.acl & 1:
            return dtype
    return dtypes[0]  # the library judges


def _pack(value: Any, dtype: DType, argument: str) -> tuple[int, bytes]:
    if not dtype.exact or dtype.bits < 8:
        raise TypeError(f"{argument}: a scalar cannot be {dtype}")
    try:
        if dtype.numpy.kind in "iu" and isinstance(value, float):
            raise ValueError("a fraction is no integer")
        packed = np.array(value, dtype=dtype.numpy)
    except (OverflowError, ValueError, TypeError) as error:
        raise ValueError(f"{argument}: {value!r} does not fit into {dtype}: {error}") from None
    return dtype.acl, packed.tobytes()
