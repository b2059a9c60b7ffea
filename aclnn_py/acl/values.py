# SPDX-License-Identifier: Apache-2.0
"""Conversion of Python values to C arguments and back, by C type.

pyACL knows integers, floats, texts, lists and dictionaries. An address, a handle and a pointer to a
structure are integers; 0 is null.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from aclnn_py._ffi import ffi
from aclnn_py._ffi.contract.naming import snake_case
from aclnn_py.errors import InvalidArgumentError

__all__ = ["array_of", "number", "plain", "structure_of", "text_of", "value_of"]

Convert = Callable[[str, Any], Any]

_FLOATS = ("float", "double")


def value_of(ctype: Any) -> Convert:
    """Return the converter of a C type: a function of the argument's name and its value."""
    if ctype.kind == "pointer":
        if ctype.item.cname == "char":
            return text_of
        return lambda name, value: ffi.cast(ctype, number(name, value, 0, 2**64 - 1, "address"))
    if ctype.kind == "function":
        return lambda name, value: ffi.cast(ctype, number(name, value, 0, 2**64 - 1, "address"))
    if ctype.cname in _FLOATS:
        return _real
    low, high = _range(ctype)
    return lambda name, value: number(name, value, low, high, "integer")


def number(name: str, value: Any, low: int, high: int, what: str) -> int:
    """Return an integer within limits.

    Raises
    ------
    TypeError
        It is no integer.
    InvalidArgumentError
        It is outside the limits.
    """
    try:
        result = operator.index(value)
    except TypeError:
        hint = "; 0 stands for null and for the default stream" if value is None else ""
        raise TypeError(
            f"{name}: expected an integer ({what}), got {type(value).__name__}{hint}"
        ) from None
    if not low <= result <= high:
        raise InvalidArgumentError(f"{name}: {result} is not within {low} to {high}")
    return result


def text_of(name: str, value: Any) -> bytes:
    """Return a text as the bytes that C reads."""
    if isinstance(value, str):
        value = value.encode()
    if not isinstance(value, bytes):
        raise TypeError(f"{name}: expected a str, got {type(value).__name__}")
    if b"\0" in value:
        raise InvalidArgumentError(f"{name}: a text for C cannot hold a null character")
    return value


def array_of(name: str, value: Any, ctype: Any, inner: int = 0) -> tuple[Any, Any]:
    """Return a C array of a list, and what has to live as long as it.

    Parameters
    ----------
    name : str
        The argument's name.
    value : sequence
        A list, a tuple or a one-dimensional array.
    ctype : cffi type
        The parameter's type, a pointer to the element's.
    inner : int
        The length of each element where elements are lists, else 0.
    """
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
        raise TypeError(f"{name}: expected a list, got {type(value).__name__}")
    items = list(value)
    if inner:
        return _rows(name, items, ctype, inner), None
    convert = value_of(ctype.item)
    parts = [convert(f"{name}[{i}]", item) for i, item in enumerate(items)]
    if ctype.item.kind == "pointer" and ctype.item.item.cname == "char":
        parts = [ffi.new("char[]", part) for part in parts]
    return ffi.new(f"{ctype.item.cname}[]", parts), parts


def structure_of(name: str, value: Any, ctype: Any, kept: list[Any]) -> Any:
    """Return a C structure of a dictionary; keys are the members' names, in C's or Python's style.

    Members that are left out are zero. A list is passed as an array, and a member that counts it
    is filled in.

    Parameters
    ----------
    name : str
        The argument's name.
    value : dict
        The members.
    ctype : cffi type
        A pointer to the structure.
    kept : list
        Gets what has to live as long as the structure.
    """
    if not isinstance(value, dict):
        raise TypeError(f"{name}: expected a dict, got {type(value).__name__}")
    result = ffi.new(ctype)
    _fill(name, value, result, ctype.item, kept)
    return result


def plain(value: Any) -> Any:
    """Return what C gave as an int, a float, a str, a dict or a list."""
    if not isinstance(value, ffi.CData):
        return int(value) if isinstance(value, bool) else value
    ctype = ffi.typeof(value)
    if ctype.kind == "pointer":
        if ctype.item.cname == "char":
            return ffi.string(value).decode("utf-8", "replace") if value else ""
        return int(ffi.cast("uintptr_t", value))
    if ctype.kind in ("struct", "union"):
        return {
            snake_case(member): plain(getattr(value, member)) for member, _field in ctype.fields
        }
    if ctype.kind == "array":
        if ctype.item.cname == "char":
            return ffi.string(value).decode("utf-8", "replace")
        return [plain(item) for item in value]
    return int(ffi.cast("uintptr_t", value))


def _real(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a float, got {type(value).__name__}") from None


def _range(ctype: Any) -> tuple[int, int]:
    bits = 8 * ffi.sizeof(ctype)
    if ctype.kind == "enum":  # C takes any int for one, and the library judges it
        return -(2**31), 2**32 - 1
    if ctype.cname == "_Bool":
        return 0, 1
    if int(ffi.cast(ctype, -1)) < 0:
        return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return 0, 2**bits - 1


def _rows(name: str, items: list[Any], ctype: Any, length: int) -> Any:
    result = ffi.new(f"{ctype.item.item.cname}[][{length}]", max(len(items), 1))
    convert = value_of(ctype.item.item)
    for i, item in enumerate(items):
        if not hasattr(item, "__len__") or len(item) != length:
            raise InvalidArgumentError(f"{name}[{i}]: expected {length} numbers, got {item!r}")
        for j, part in enumerate(item):
            result[i][j] = convert(f"{name}[{i}][{j}]", part)
    return result


def _fill(name: str, value: dict[str, Any], target: Any, ctype: Any, kept: list[Any]) -> None:
    members: dict[str, tuple[str, Any]] = {}
    for member, field in ctype.fields:
        members[member] = members[snake_case(member)] = (member, field.type)
    for key, part in value.items():
        if key not in members:
            known = ", ".join(snake_case(member) for member, _field in ctype.fields)
            raise InvalidArgumentError(f"{name}: no member {key!r}; there are {known}")
        member, kind = members[key]
        if kind.kind in ("struct", "union"):
            if not isinstance(part, dict):
                raise TypeError(f"{name}.{key}: expected a dict, got {type(part).__name__}")
            _fill(f"{name}.{key}", part, getattr(target, member), kind, kept)
        elif kind.kind == "pointer" and kind.item.kind == "struct":
            array = _structures(f"{name}.{key}", part, kind, kept)
            setattr(target, member, array)
            _count(name, value, target, f"num{member[0].upper()}{member[1:]}", len(part), members)
        elif kind.kind == "array":
            items, _kept = array_of(f"{name}.{key}", part, ffi.typeof(f"{kind.item.cname} *"))
            if len(items) > kind.length:
                raise InvalidArgumentError(f"{name}.{key}: at most {kind.length} elements fit")
            ffi.memmove(getattr(target, member), items, ffi.sizeof(items))
        else:
            setattr(target, member, value_of(kind)(f"{name}.{key}", part))


def _structures(name: str, items: Any, ctype: Any, kept: list[Any]) -> Any:
    if not isinstance(items, (list, tuple)) or not all(isinstance(item, dict) for item in items):
        raise TypeError(f"{name}: expected a list of dicts, got {items!r}")
    array = ffi.new(f"{ctype.item.cname}[]", max(len(items), 1))
    for i, item in enumerate(items):
        _fill(f"{name}[{i}]", item, array[i], ctype.item, kept)
    kept.append(array)
    return array


def _count(
    name: str, value: dict[str, Any], target: Any, member: str, length: int, members: Any
) -> None:
    """Fill in how long a list is; a caller who says so too must not say more."""
    if member not in members:
        return
    given = value.get(member, value.get(snake_case(member), length))
    if number(f"{name}.{snake_case(member)}", given, 0, 2**32, "integer") > length:
        raise InvalidArgumentError(
            f"{name}.{snake_case(member)}: {given} says more than the list of {length} has"
        )
    setattr(target, member, given)
