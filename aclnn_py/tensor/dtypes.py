# SPDX-License-Identifier: Apache-2.0
"""Element types: aclDataType and HcclDataType on one side, NumPy and ml_dtypes on the other.

Types narrower than a byte are packed on the device, element ``i`` in bits ``i*b`` to ``i*b + b -
1`` of a little-endian bit string: for int4 that is two to a byte, the low nibble first. NumPy holds
them one to a byte.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

__all__ = ["NARROWER", "DType", "dtype_of", "from_acl", "pack", "unpack"]

# The wide dtypes that many operators of CANN lack, and those that take their place.
NARROWER = {"float64": "float32", "complex128": "complex64"}


@dataclass(frozen=True, eq=False)
class DType:
    """One element type. There is one object per type, so they are compared by identity.

    Attributes
    ----------
    name : str
        NumPy's or ml_dtypes' name, or CANN's where neither has the type.
    acl : int
        The aclDataType value.
    hccl : int or None
        The HcclDataType value, None where collectives do not take the type.
    bits : int
        Bits per element on the device.
    numpy : numpy.dtype
        The host type. Where ``exact`` is false it is the unsigned integer that carries the bits.
    exact : bool
        Whether ``numpy`` has the meaning of the type and not only its bits.
    """

    name: str
    acl: int
    bits: int
    numpy: np.dtype[Any]
    hccl: int | None = None
    exact: bool = True

    @property
    def packed(self) -> bool:
        """Whether several elements share a byte on the device."""
        return self.bits < 8

    def nbytes(self, count: int) -> int:
        """Return the bytes that ``count`` consecutive elements take on the device."""
        return (count * self.bits + 7) // 8

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return from_acl, (self.acl,)


# name, aclDataType, bits, HcclDataType
_ROWS: tuple[tuple[str, int, int, int | None], ...] = (
    ("float32", 0, 32, 4),
    ("float16", 1, 16, 3),
    ("int8", 2, 8, 0),
    ("int32", 3, 32, 2),
    ("uint8", 4, 8, 7),
    ("int16", 6, 16, 1),
    ("uint16", 7, 16, 8),
    ("uint32", 8, 32, 9),
    ("int64", 9, 64, 5),
    ("uint64", 10, 64, 6),
    ("float64", 11, 64, 10),
    ("bool", 12, 8, None),
    ("complex64", 16, 64, None),
    ("complex128", 17, 128, None),
    ("bfloat16", 27, 16, 11),
    ("int4", 29, 4, None),
    ("complex32", 33, 32, None),
    ("hifloat8", 34, 8, 14),
    ("float8_e5m2", 35, 8, 16),
    ("float8_e4m3fn", 36, 8, 15),
    ("float8_e8m0fnu", 37, 8, 17),
    ("float6_e3m2fn", 38, 6, None),
    ("float6_e2m3fn", 39, 6, None),
    ("float4_e2m1fn", 40, 4, None),
    ("float4_e1m2", 41, 4, None),
)
_NUMPY_NAMES = frozenset({
    "float16", "float32", "float64", "int8", "int16", "int32", "int64",
    "uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128",
})  # fmt: skip


def _host_type(name: str, bits: int) -> tuple[np.dtype[Any], bool]:
    if name in _NUMPY_NAMES:
        return np.dtype(name), True
    scalar = getattr(ml_dtypes, name, None)
    if scalar is not None:
        return np.dtype(scalar), True
    return np.dtype(f"u{max(bits // 8, 1)}"), False


def _rows() -> Iterable[DType]:
    for name, acl, bits, hccl in _ROWS:
        host, exact = _host_type(name, bits)
        yield DType(name, acl, bits, host, hccl, exact)


_BY_ACL: dict[int, DType] = {row.acl: row for row in _rows()}
_BY_NAME: dict[str, DType] = {row.name: row for row in _BY_ACL.values()}
_BY_NUMPY: dict[np.dtype[Any], DType] = {row.numpy: row for row in _BY_ACL.values() if row.exact}
# Spellings users bring from torch, MindSpore and NumPy.
_BY_NAME.update({
    "half": _BY_NAME["float16"],
    "float": _BY_NAME["float32"],
    "double": _BY_NAME["float64"],
    "float8_e4m3": _BY_NAME["float8_e4m3fn"],
    "float8_e8m0": _BY_NAME["float8_e8m0fnu"],
    "float4_e2m1": _BY_NAME["float4_e2m1fn"],
    "float6_e3m2": _BY_NAME["float6_e3m2fn"],
    "float6_e2m3": _BY_NAME["float6_e2m3fn"],
})  # fmt: skip


# What nearly all calls say, without the way through numpy.dtype().
_KNOWN_SPELLINGS: dict[Any, DType] = {
    **_BY_NUMPY,
    **{kind.numpy.type: kind for kind in _BY_NUMPY.values()},
    **_BY_NAME,
}


def dtype_of(value: object, argument: str = "dtype") -> DType:
    """Return the element type that a dtype-like value names.

    Parameters
    ----------
    value : DType, numpy.dtype, scalar type or str
        What names the type; strings are the names of this module's table and NumPy's.
    argument : str, default "dtype"
        How the error calls the value.

    Returns
    -------
    DType

    Raises
    ------
    TypeError
        The value names no type that CANN has.
    """
    if isinstance(value, DType):
        return value
    known = _KNOWN_SPELLINGS.get(value) if isinstance(value, (str, type, np.dtype)) else None
    if known is not None:
        return known
    if value is None:
        raise TypeError(f"{argument}: a dtype is needed, not None")
    try:
        host = np.dtype(value)  # type: ignore[call-overload]
    except TypeError:
        raise TypeError(f"{argument}: {value!r} is not a dtype") from None
    found = _BY_NUMPY.get(host.newbyteorder("=") if host.byteorder == ">" else host)
    if found is None:
        raise TypeError(
            f"{argument}: CANN has no element type for {host}; it has {', '.join(sorted(_KNOWN))}"
        )
    return found


_KNOWN = frozenset(row.name for row in _BY_ACL.values())


def from_acl(code: int) -> DType:
    """Return the element type of an aclDataType value.

    Raises
    ------
    TypeError
        The value is not an element type tensors of this package can have.
    """
    try:
        return _BY_ACL[code]
    except KeyError:
        raise TypeError(f"aclDataType {code} is not a tensor element type") from None


def all_types() -> tuple[DType, ...]:
    """Return every element type a tensor can have."""
    return tuple(_BY_ACL.values())


def pack(values: npt.NDArray[Any], dtype: DType) -> npt.NDArray[np.uint8]:
    """Pack a flat array of a narrow type as the device stores it.

    Parameters
    ----------
    values : ndarray
        One element to a byte, any shape; taken in C order.
    dtype : DType
        A packed type.

    Returns
    -------
    ndarray
        uint8, ``dtype.nbytes(values.size)`` long; unused bits of the last byte are zero.
    """
    codes = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    if dtype.bits == 4:
        # The common case without the eightfold expansion into single bits.
        if codes.size % 2:
            codes = np.append(codes, np.uint8(0))
        low, high = codes[0::2] & np.uint8(0x0F), codes[1::2] << np.uint8(4)
        return np.asarray(low | high, np.uint8)
    bits = np.unpackbits(codes.reshape(-1, 1), axis=1, count=dtype.bits, bitorder="little")
    return np.packbits(bits.reshape(-1), bitorder="little")


def unpack(packed: npt.NDArray[np.uint8], dtype: DType, count: int) -> npt.NDArray[Any]:
    """Undo ``pack``: return ``count`` elements, one to a byte, in the host type."""
    packed = np.ascontiguousarray(packed).reshape(-1)
    codes: npt.NDArray[np.uint8]
    if dtype.bits == 4:
        codes = np.empty(packed.size * 2, np.uint8)
        codes[0::2] = packed & 0x0F
        codes[1::2] = packed >> 4
    else:
        whole = packed.size * 8 // dtype.bits
        bits = np.unpackbits(packed, bitorder="little")[: whole * dtype.bits]
        codes = np.packbits(bits.reshape(-1, dtype.bits), axis=1, bitorder="little").reshape(-1)
    codes = codes[:count]
    return codes.view(dtype.numpy)
