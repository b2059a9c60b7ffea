# SPDX-License-Identifier: Apache-2.0
"""Data types, constants and questions about them, as the array API standard names them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from aclnn_py.array import asking
from aclnn_py.array.operands import with_dtype
from aclnn_py.runtime.device import Device, resolve
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "KINDS",
    "astype",
    "boolean",
    "can_cast",
    "complex64",
    "complex128",
    "default_dtype",
    "e",
    "finfo",
    "float32",
    "float64",
    "iinfo",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "isdtype",
    "nan",
    "newaxis",
    "pi",
    "result_type",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi

boolean = np.dtype("bool")
int8, int16, int32, int64 = (np.dtype(name) for name in ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = (np.dtype(name) for name in ("uint8", "uint16", "uint32", "uint64"))
float32, float64 = np.dtype("float32"), np.dtype("float64")
complex64, complex128 = np.dtype("complex64"), np.dtype("complex128")

KINDS: dict[str, tuple[np.dtype[Any], ...]] = {
    "bool": (boolean,),
    "signed integer": (int8, int16, int32, int64),
    "unsigned integer": (uint8, uint16, uint32, uint64),
    "integral": (int8, int16, int32, int64, uint8, uint16, uint32, uint64),
    "real floating": (float32, float64),
    "complex floating": (complex64, complex128),
}
KINDS["numeric"] = KINDS["integral"] + KINDS["real floating"] + KINDS["complex floating"]


def default_dtype(value: Any) -> np.dtype[Any]:
    """The dtype of a Python number: float32 for a float, because CANN has little float64."""
    kind = np.asarray(value).dtype
    return {"f": float32, "c": complex64, "i": int64}.get(kind.kind, kind)


def astype(
    x: Tensor, dtype: Any, /, *, copy: bool = True, device: Device | int | None = None
) -> Tensor:
    """The elements in another dtype; with ``copy=False`` the tensor itself where it has it."""
    if device is not None and resolve(device) is not x.device:
        x = x.to_device(device)
    if x.dtype.kind == "c" and np.dtype(dtype).kind in "iufb" and np.dtype(dtype) != np.bool_:
        raise TypeError(f"astype: {x.dtype_name} does not become {np.dtype(dtype)}; use real(x)")
    return x.astype(dtype) if copy else with_dtype(x, dtype)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether promotion leads from one dtype to the other."""
    return asking.can_cast(from_, to, "safe")


class FloatInfo:
    """Limits of a floating dtype, as Python floats."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        found = np.finfo(dtype)
        self.bits = found.bits
        self.eps = float(found.eps)
        self.max = float(found.max)
        self.min = float(found.min)
        self.smallest_normal = float(found.smallest_normal)
        self.dtype = np.dtype(found.dtype)


def finfo(type: Any, /) -> FloatInfo:
    """Limits of a floating dtype, or of that of a tensor."""
    return FloatInfo(np.dtype(type.dtype if isinstance(type, Tensor) else type))


def iinfo(type: Any, /) -> np.iinfo[Any]:
    """Limits of an integer dtype, or of that of a tensor."""
    return np.iinfo(type.dtype if isinstance(type, Tensor) else type)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is one, is of a kind, or is among several of both."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, item) for item in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"isdtype: kind must be one of {sorted(KINDS)}, not {kind!r}")
        return np.dtype(dtype) in KINDS[kind]
    return bool(np.dtype(dtype) == np.dtype(kind))


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """The dtype of an expression; Python numbers only raise the kind."""
    given = [
        item if isinstance(item, (Tensor, int, float, complex)) else np.dtype(item)
        for item in arrays_and_dtypes
    ]
    strong = [item for item in given if isinstance(item, (Tensor, np.dtype))]
    if not strong:
        raise ValueError("result_type: at least one tensor or dtype is needed")
    found = asking.result_type(*given)
    # A Python float beside integers is the default float, not NumPy's float64.
    exact = all(
        (item if isinstance(item, np.dtype) else item.dtype).kind in "iub" for item in strong
    )
    if exact and found.kind in "fc":
        return float32 if found.kind == "f" else complex64
    return found
