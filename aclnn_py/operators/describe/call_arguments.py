# SPDX-License-Identifier: Apache-2.0
"""Arguments that are no tensors, as the launcher takes them.

Each value becomes a token first: hashable, equal exactly when the C values are equal. A call block
(`ap_call`) is built once per set of tokens and used again and again.
"""

from __future__ import annotations

import itertools
import operator
import struct
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from aclnn_py._ffi import ffi
from aclnn_py.operators.describe.argument_errors import type_name
from aclnn_py.operators.describe.parameter import Parameter
from aclnn_py.operators.describe.scalar import scalar_bytes
from aclnn_py.tensor.dtypes import dtype_of

__all__ = ["INTEGER_RANGES", "CallBlock", "Token", "block_at", "is_immutable", "token_of"]

Token = tuple[Any, ...] | int | bytes | None

INTEGER_RANGES = {
    "b": (-(2**7), 2**7 - 1, "int8"),
    "i": (-(2**31), 2**31 - 1, "int32"),
    "u": (0, 2**32 - 1, "uint32"),
    "l": (-(2**63), 2**63 - 1, "int64"),
    "q": (0, 2**64 - 1, "uint64"),
}
_WORD_FIELDS = {
    "b": "int8",
    "i": "int32",
    "u": "uint32",
    "l": "int64",
    "q": "uint64",
    "f": "float32",
    "d": "float64",
    "?": "boolean",
    "y": "int32",
}
_UNDEFINED_DTYPE = -1
_ONLY_INT = {int}
_IMMUTABLE = (bool, int, float, complex, str, bytes, type(None))


_ids = itertools.count(1)
_blocks: weakref.WeakValueDictionary[int, CallBlock] = weakref.WeakValueDictionary()


def is_immutable(value: object) -> bool:
    """Whether the same object always stands for the same argument."""
    if type(value) is tuple:
        return all(type(item) in _IMMUTABLE for item in value)
    return type(value) in _IMMUTABLE


def token_of(parameter: Parameter, value: object) -> Token:
    """Convert one argument; raises TypeError or ValueError with the parameter's name."""
    if value is None:
        return _null(parameter)
    return _CONVERSIONS[parameter.kind](parameter, value)


def _null(parameter: Parameter) -> Token:
    if parameter.kind == "y":
        return _UNDEFINED_DTYPE
    if parameter.kind in "TLSRIFB" or (parameter.kind == "s" and parameter.nullable):
        return None  # a null pointer: phase one says whether it takes one
    raise TypeError(f"{parameter.name}: expected {parameter.annotation}, got None")


def _scalar(parameter: Parameter, value: object) -> Token:
    return scalar_bytes(value, parameter.scalar_dtypes, parameter.name)


def _scalar_list(parameter: Parameter, value: object) -> Token:
    return tuple(
        scalar_bytes(item, parameter.scalar_dtypes, f"{parameter.name}[{i}]")
        for i, item in enumerate(_items(parameter, value))
    )


def _string(parameter: Parameter, value: object) -> Token:
    if isinstance(value, str):
        value = value.encode()
    if not isinstance(value, bytes):
        raise _wrong(parameter, value)
    if b"\0" in value:
        raise ValueError(f"{parameter.name}: a C string cannot hold a zero byte")
    return value


def _dtype(parameter: Parameter, value: object) -> Token:
    return dtype_of(value, parameter.name).acl


def _boolean(parameter: Parameter, value: object) -> Token:
    return _one_bool(parameter, parameter.name, value)


def _integer(parameter: Parameter, value: object) -> Token:
    return _one_int(parameter, parameter.name, value, parameter.kind)


def _real(parameter: Parameter, value: object) -> Token:
    return _one_float(parameter, parameter.name, value)


def _int_array(parameter: Parameter, value: object) -> Token:
    items: tuple[Any, ...] = tuple(_items(parameter, value))
    low, high, _ = INTEGER_RANGES["l"]
    # Nearly always plain numbers: a look at all of them together is quicker than one at each.
    if items and set(map(type, items)) == _ONLY_INT and min(items) >= low and max(items) <= high:
        return items
    return _each(parameter, items, lambda name, item: _one_int(parameter, name, item, "l"))


def _float_array(parameter: Parameter, value: object) -> Token:
    return _each(parameter, value, lambda name, item: _one_float(parameter, name, item))


def _bool_array(parameter: Parameter, value: object) -> Token:
    return _each(parameter, value, lambda name, item: _one_bool(parameter, name, item))


def _each(parameter: Parameter, value: object, convert: Callable[[str, object], Any]) -> Token:
    return tuple(
        convert(f"{parameter.name}[{i}]", item) for i, item in enumerate(_items(parameter, value))
    )


def _items(parameter: Parameter, value: object) -> Iterable[object]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise _wrong(parameter, value)
    return value


def _one_int(parameter: Parameter, name: str, value: object, kind: str) -> int:
    if isinstance(value, bool) or type(value).__name__ == "bool":  # NumPy's is called so too
        raise TypeError(f"{name}: expected an int, got bool")
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name}: expected an int, got {type_name(value)}") from None
    low, high, c_name = INTEGER_RANGES[kind]
    if not low <= number <= high:
        raise ValueError(f"{name}: {number} does not fit into {c_name}")
    return number


def _one_float(parameter: Parameter, name: str, value: object) -> bytes:
    if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__"):
        raise TypeError(f"{name}: expected a float, got {type_name(value)}")
    try:
        # The bytes tell 0.0 from -0.0 and one NaN from another, which equality does not.
        return struct.pack("=d", float(value))
    except TypeError:
        raise TypeError(f"{name}: expected a float, got {type_name(value)}") from None


def _one_bool(parameter: Parameter, name: str, value: object) -> int:
    if isinstance(value, bool):
        return int(value)
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return int(bool(value))
    raise TypeError(f"{name}: expected a bool, got {type_name(value)}")


def _wrong(parameter: Parameter, value: object) -> TypeError:
    return TypeError(f"{parameter.name}: expected {parameter.annotation}, got {type_name(value)}")


_CONVERSIONS: dict[str, Callable[[Parameter, object], Token]] = {
    "S": _scalar,
    "R": _scalar_list,
    "I": _int_array,
    "F": _float_array,
    "B": _bool_array,
    "s": _string,
    "y": _dtype,
    "?": _boolean,
    "f": _real,
    "d": _real,
    **dict.fromkeys("biulq", _integer),
}


def block_at(call: Any) -> CallBlock | None:
    """The call block of an ap_call, None for one that is gone."""
    return _blocks.get(int(ffi.cast("intptr_t", call)))


class CallBlock:
    """An `ap_call` and the memory it points to; ``at`` is its address, as `ap_run3` takes it.

    ``attributes`` are the values that it was made from.
    """

    __slots__ = ("__weakref__", "_arguments", "_held", "at", "attributes", "cdata")

    def __init__(
        self,
        op: Any,
        parameters: tuple[Parameter, ...],
        tokens: tuple[Token, ...],
        list_lengths: tuple[int | None, ...],
    ) -> None:
        self._held: list[object] = [op]
        self.attributes: tuple[object, ...] = ()
        arguments = ffi.new("ap_argument[]", max(len(parameters), 1))
        values = iter(tokens)
        lengths = iter(list_lengths)
        tensors = 0
        for argument, parameter in zip(arguments, parameters):  # noqa: B905 (one spare when empty)
            argument.kind = ord(parameter.kind)
            if parameter.kind == "T":
                argument.present = argument.count = 1
                tensors += 1
            elif parameter.kind == "L":
                length = next(lengths)
                argument.present = length is not None
                argument.count = length or 0
                tensors += length or 0
            else:
                self._fill(argument, parameter, next(values))
        self.cdata = ffi.new("ap_call *")
        self.cdata.id = next(_ids)
        self.at = float(int(ffi.cast("intptr_t", self.cdata)))
        self.cdata.op = op
        self.cdata.argument_count = len(parameters)
        self.cdata.tensor_count = tensors
        self.cdata.arguments = self._arguments = arguments
        _blocks[int(self.at)] = self

    def read_from(self, position: int, numbers: Any) -> None:
        """Let a list of integers lie in memory of the caller's, who may change them there.

        The memory holds as many as the list had.
        """
        self._arguments[position].data = self._hold(numbers)

    def _fill(self, argument: Any, parameter: Parameter, token: Any) -> None:
        kind = parameter.kind
        if kind in _WORD_FIELDS:
            value = struct.unpack("=d", token)[0] if kind in "fd" else token
            setattr(argument.word, _WORD_FIELDS[kind], value)
        elif token is None:
            argument.word.pointer = ffi.NULL
        elif kind == "s":
            argument.word.text = self._hold(ffi.new("char[]", token))
        else:
            self._fill_object(argument, kind, token)

    def _fill_object(self, argument: Any, kind: str, token: Any) -> None:
        argument.present = 1
        if kind == "S":
            argument.count = 1
            argument.data = self._hold(_scalars([token]))
            return
        argument.count = len(token)
        if not token:
            return
        if kind == "R":
            argument.data = self._hold(_scalars(token))
        elif kind == "I":
            argument.data = self._hold(ffi.new("int64_t[]", token))
        elif kind == "B":
            argument.data = self._hold(ffi.new("bool[]", [bool(item) for item in token]))
        else:
            values = [struct.unpack("=d", item)[0] for item in token]
            argument.data = self._hold(ffi.new("float[]", values))

    def _hold(self, cdata: Any) -> Any:
        self._held.append(cdata)
        return cdata


def _scalars(tokens: Iterable[tuple[int, bytes]]) -> Any:
    rows = list(tokens)
    cells = ffi.new("ap_scalar[]", len(rows))
    for cell, (acl, data) in zip(cells, rows, strict=True):
        cell.dtype = acl
        ffi.memmove(cell.bytes, data, len(data))
    return cells
