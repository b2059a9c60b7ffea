# SPDX-License-Identifier: Apache-2.0
"""The one schema of a record: every field by type and range, before anything else looks at it.

A record is a file that anybody may have written. What comes out of here are the values that
docs/record_format.md promises, or a ``RecordError`` that names the field, what it holds and what it
may hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from aclnn_py._ffi.contract.kinds import C_TYPES
from aclnn_py.operators.describe.call_arguments import INTEGER_RANGES
from aclnn_py.operators.describe.parameter import Parameter
from aclnn_py.operators.record.call import LeftOut, Memory, RecordedCall, RecordError, View
from aclnn_py.tensor.dtypes import all_types, dtype_of
from aclnn_py.tensor.formats import Format, format_of, has_matrix_blocks, is_blocked, storage_shape
from aclnn_py.tensor.views import contiguous_strides

__all__ = ["JOURNAL_VERSION", "VERSION", "check_arguments", "read_index", "read_left_out"]

# What `RecordWriter` writes for a file that is complete at once; what is written call by call is of
# the other version.
VERSION, JOURNAL_VERSION = 1, 2
KIND = "aclnn_py record"
STAGES = ("", "phase one", "phase two", "device")
# What one call may have. The arrays of the launcher are of these lengths.
_MAX_RANK = 10
_MAX_STORAGE_RANK = 12
_VOLUME_RANK = 5
_MAX_ARGUMENTS = 64
_MAX_TENSORS = 100_000
_MAX_RANKS = 1024
_MAX_TEXT = 1 << 20
_MAX_SHORT_TEXT = 1 << 14
_INT64 = 2**63 - 1
_INT32 = 2**31
_C_NAME = re.compile(r"[A-Za-z_]\w{0,127}", re.ASCII)
_DATA_NAME = re.compile(r"data/[0-9a-f]{64}\.bin", re.ASCII)
_HEX_FLOAT = re.compile(r"-?(?:inf|nan|0x[01](?:\.[0-9a-f]{1,16})?p[+-]?\d{1,4})", re.ASCII)
_DTYPES = {dtype.name: dtype for dtype in all_types()}
_SHOWN = 60


def read_index(index: Any, most: int) -> tuple[dict[str, str], tuple[RecordedCall, ...]]:
    """Return what a decoded ``index.json`` says about its origin, and its calls.

    Parameters
    ----------
    index : object
        What the JSON holds, whatever that is.
    most : int
        Bytes that the tensors of one call may take.

    Raises
    ------
    RecordError
        A field is not what docs/record_format.md allows.
    """
    if not isinstance(index, dict) or index.get("kind") != KIND:
        raise RecordError("not a record of calls: index.json is of another kind")
    version = _field(index, "", "version")
    if type(version) is not int or version not in (VERSION, JOURNAL_VERSION):
        raise RecordError(
            f"a record of version {_short(version)}; this package reads versions {VERSION} and "
            f"{JOURNAL_VERSION}"
        )
    about = _about(_field(index, "", "about"))
    calls = _list(_field(index, "", "calls"), "calls")
    return about, tuple(_call(row, f"calls[{n}]", most) for n, row in enumerate(calls))


def read_left_out(rows: Any) -> tuple[LeftOut, ...]:
    """Return what a record says about calls that it does not hold.

    Raises
    ------
    RecordError
        A field is not what docs/record_format.md allows.
    """
    found = []
    for number, row in enumerate(_list(rows, "left_out", 1024)):
        where = f"left_out[{number}]"
        operator = _text(_field(row, where, "operator"), f"{where}.operator", 128)
        if not _C_NAME.fullmatch(operator):
            _refuse(f"{where}.operator", operator, "the C name of an operator")
        why = _text(_field(row, where, "why"), f"{where}.why", 1024)
        calls = _integer(_field(row, where, "calls"), f"{where}.calls", 1, _INT64)
        found.append(LeftOut(operator, why, calls))
    return tuple(found)


def _about(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or len(value) > 32:
        _refuse("about", value, "an object of at most 32 texts")
    return {key: _text(item, f"about[{key[:_SHOWN]!r}]", 1024) for key, item in value.items()}


def _call(row: Any, where: str, most: int) -> RecordedCall:
    def items(key: str, limit: int) -> Iterable[tuple[Any, str]]:
        values = _list(_field(row, where, key), f"{where}.{key}", limit)
        return ((value, f"{where}.{key}[{n}]") for n, value in enumerate(values))

    def text(key: str, limit: int = _MAX_SHORT_TEXT) -> str:
        return _text(_field(row, where, key), f"{where}.{key}", limit)

    operator = text("operator")
    if not _C_NAME.fullmatch(operator):
        _refuse(f"{where}.operator", operator, "the C name of an operator")
    stage = text("stage")
    if stage not in STAGES:
        _refuse(f"{where}.stage", stage, f"one of {', '.join(map(repr, STAGES))}")
    status = _integer(_field(row, where, "status"), f"{where}.status", -_INT32, 2 * _INT32 - 1)
    group = _field(row, where, "group")
    memories = tuple(_memory(*item, most) for item in items("memories", _MAX_TENSORS))
    whole = sum(memory.nbytes for memory in memories)
    if whole > most:
        _refuse(f"{where}.memories", f"{whole} bytes in all", _at_most(most))
    views = tuple(_view(*item, memories, most) for item in items("views", _MAX_TENSORS))
    return RecordedCall(
        operator=operator,
        arguments=tuple(value for value, _ in items("arguments", _MAX_ARGUMENTS)),
        views=views,
        memories=memories,
        status=status,
        stage=stage,
        message=text("message", _MAX_TEXT),
        line=text("line"),
        group=None if group is None else _integer(group, f"{where}.group", 1, _MAX_RANKS),
    )


def _memory(row: Any, where: str, most: int) -> Memory:
    nbytes = _integer(_field(row, where, "nbytes"), f"{where}.nbytes", 0, _INT64)
    if nbytes > most:
        _refuse(f"{where}.nbytes", nbytes, _at_most(most))
    names = []
    for key in ("before", "after"):
        name = _field(row, where, key)
        if name is not None and not (isinstance(name, str) and _DATA_NAME.fullmatch(name)):
            _refuse(f"{where}.{key}", name, "data/SHA256.bin or null")
        names.append(name)
    return Memory(nbytes, *names)


def _view(row: Any, where: str, memories: tuple[Memory, ...], most: int) -> View:
    def lengths(key: str, rank: int) -> tuple[int, ...]:
        values = _list(_field(row, where, key), f"{where}.{key}", rank)
        return tuple(
            _integer(value, f"{where}.{key}[{n}]", 0, _INT64) for n, value in enumerate(values)
        )

    def name(key: str, known: Iterable[str]) -> str:
        value = _field(row, where, key)
        if not isinstance(value, str) or value not in known:
            _refuse(f"{where}.{key}", value, f"one of {', '.join(known)}")
        return value

    memory = _integer(_field(row, where, "memory"), f"{where}.memory", 0, len(memories) - 1)
    view = View(
        memory=memory,
        offset=_integer(_field(row, where, "offset"), f"{where}.offset", 0, _INT64),
        shape=lengths("shape", _MAX_RANK),
        strides=lengths("strides", _MAX_RANK),
        dtype=name("dtype", _DTYPES),
        format=name("format", Format.__members__),
        storage_shape=lengths("storage_shape", _MAX_STORAGE_RANK),
    )
    if len(view.strides) != len(view.shape):
        _refuse(f"{where}.strides", list(view.strides), f"{len(view.shape)} of them, as of lengths")
    _count(view.storage_shape, f"{where}.storage_shape", view.dtype, _INT64)
    _count(view.shape, f"{where}.shape", view.dtype, most)
    if is_blocked(format_of(view.format)):
        _check_blocks(view, where)
    if view.offset * _DTYPES[view.dtype].bits // 8 > memories[memory].nbytes:
        allowed = f"an offset in {memories[memory].nbytes} bytes; it is outside its memory"
        _refuse(f"{where}.offset", view.offset, allowed)
    if view.nbytes > memories[memory].nbytes:
        _refuse(
            where,
            f"a tensor that ends at byte {view.nbytes}",
            f"{memories[memory].nbytes}; it is outside its memory",
        )
    return view


def _count(shape: tuple[int, ...], where: str, dtype: str, most: int) -> None:
    """Refuse a shape whose elements would take more bytes than ``most``, strides left aside."""
    count = 1
    for dim in shape:
        # Lengths of 0 do not excuse the others: programs multiply from the left.
        count *= max(dim, 1)
        if count * _DTYPES[dtype].bits // 8 > most:
            _refuse(where, list(shape), f"elements of {_at_most(most)}")


def _check_blocks(view: View, where: str) -> None:
    """A blocked tensor is a whole one, or a matrix with its two dimensions exchanged."""
    shape, dtype, format = view.shape, dtype_of(view.dtype), format_of(view.format)
    if view.offset:
        _refuse(f"{where}.offset", view.offset, f"0 for {view.format}")
    if len(shape) < 2 or len(shape) > _MAX_RANK:
        _refuse(f"{where}.shape", list(shape), f"at least 2 dimensions for {view.format}")
    if not has_matrix_blocks(format):
        if len(shape) != _VOLUME_RANK:
            _refuse(f"{where}.shape", list(shape), f"{_VOLUME_RANK} dimensions for {view.format}")
        if view.strides != contiguous_strides(shape):
            allowed = f"those of a whole {view.format} tensor"
            _refuse(f"{where}.strides", list(view.strides), allowed)
    logical = shape
    if view.strides != contiguous_strides(shape):
        logical = (*shape[:-2], shape[-1], shape[-2])
        straight = contiguous_strides(logical)
        if view.strides != (*straight[:-2], straight[-1], straight[-2]):
            allowed = f"those of a whole {view.format} tensor, or its last two exchanged"
            _refuse(f"{where}.strides", list(view.strides), allowed)
    stored = storage_shape(logical, format, dtype)
    if view.storage_shape != stored:
        _refuse(f"{where}.storage_shape", list(view.storage_shape), str(list(stored)))


def check_arguments(parameters: tuple[Parameter, ...], call: RecordedCall) -> None:
    """See that the arguments of a call are what its operator takes, in type and range.

    Raises
    ------
    RecordError
        One is not; the text names it.
    """
    if len(call.arguments) != len(parameters):
        raise RecordError(
            f"{call.operator} has {len(parameters)} parameters, "
            f"the record has {len(call.arguments)}"
        )
    for parameter, value in zip(parameters, call.arguments, strict=True):
        where = f"{call.operator}: argument {parameter.name}"
        if value is None:
            if parameter.kind not in "TLSRIFBy" and not (
                parameter.kind == "s" and parameter.nullable
            ):
                _refuse(where, None, f"a value of type {_c_type(parameter)}")
        elif parameter.is_tensor:
            _check_tensors(parameter, value, where, len(call.views))
        else:
            _CHECKS[parameter.kind](value, where, parameter.kind)


def _c_type(parameter: Parameter) -> str:
    """The C type of a parameter, const included."""
    bare = C_TYPES[parameter.kind]
    written = parameter.direction != "in"
    return bare if written or not bare.endswith("*") else f"const {bare}"


def _check_tensors(parameter: Parameter, value: Any, where: str, count: int) -> None:
    if parameter.kind == "T":
        _integer(value, where, 0, count - 1)
        return
    for number, item in enumerate(_list(value, where, _MAX_TENSORS)):
        if item is not None:
            _integer(item, f"{where}[{number}]", 0, count - 1)


def _check_scalar(value: Any, where: str, kind: str) -> None:
    pair = _list(value, where, 2)
    dtype = _DTYPES.get(pair[0]) if len(pair) == 2 and isinstance(pair[0], str) else None
    if dtype is None or not dtype.exact or dtype.bits < 8:
        _refuse(where, value, "[dtype of a scalar, its bytes in hexadecimal]")
    digits = dtype.bits // 4
    if not isinstance(pair[1], str) or not re.fullmatch(f"[0-9a-f]{{{digits}}}", pair[1]):
        _refuse(f"{where}[1]", pair[1], f"{digits} hexadecimal digits for {dtype.name}")


def _check_real(value: Any, where: str, kind: str) -> None:
    if isinstance(value, str) and _HEX_FLOAT.fullmatch(value):
        try:
            float.fromhex(value)
            return
        except OverflowError:
            pass
    _refuse(where, value, 'a C99 hexadecimal float, such as "0x1.8p+0", "inf" or "nan"')


def _check_integer(value: Any, where: str, kind: str) -> None:
    low, high, _ = INTEGER_RANGES["l" if kind == "I" else kind]
    _integer(value, where, low, high)


def _check_flag(value: Any, where: str, kind: str) -> None:
    if type(value) not in (bool, int) or value not in (0, 1):
        _refuse(where, value, "0 or 1")


def _check_truth(value: Any, where: str, kind: str) -> None:
    if type(value) is not bool:
        _refuse(where, value, "true or false")


def _check_dtype(value: Any, where: str, kind: str) -> None:
    if not isinstance(value, str) or value not in _DTYPES:
        _refuse(where, value, f"one of {', '.join(_DTYPES)}, or null")


def _check_text(value: Any, where: str, kind: str) -> None:
    text = _text(value, where, _MAX_SHORT_TEXT)
    try:
        if "\0" not in text:
            text.encode("utf-8", "surrogateescape")
            return
    except UnicodeEncodeError:
        pass
    _refuse(where, value, "text that C can hold")


def _each(check: Callable[[Any, str, str], None]) -> Callable[[Any, str, str], None]:
    def check_all(value: Any, where: str, kind: str) -> None:
        for number, item in enumerate(_list(value, where)):
            check(item, f"{where}[{number}]", kind)

    return check_all


_CHECKS: dict[str, Callable[[Any, str, str], None]] = {
    "S": _check_scalar,
    "R": _each(_check_scalar),
    "I": _each(_check_integer),
    "F": _each(_check_real),
    "B": _each(_check_truth),
    "s": _check_text,
    "y": _check_dtype,
    "?": _check_flag,
    "f": _check_real,
    "d": _check_real,
    **dict.fromkeys("biulq", _check_integer),
}


# ---- what every field goes through


def _field(row: Any, where: str, key: str) -> Any:
    if not isinstance(row, dict):
        _refuse(where or "index.json", row, "an object")
    if key not in row:
        raise RecordError(f"damaged: {f'{where}.' if where else ''}{key} is missing")
    return row[key]


def _list(value: Any, where: str, most: int | None = None) -> list[Any]:
    if not isinstance(value, list):
        _refuse(where, value, "a list")
    if most is not None and len(value) > most:
        _refuse(where, f"a list of {len(value)}", f"at most {most}")
    return value


def _integer(value: Any, where: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        _refuse(
            where, value, f"an integer in {low}..{high}" if low <= high else "none: it is empty"
        )
    return value


def _text(value: Any, where: str, most: int) -> str:
    if not isinstance(value, str):
        _refuse(where, value, "text")
    if len(value) > most:
        _refuse(where, f"a text of {len(value)} characters", f"at most {most}")
    return value


def _at_most(nbytes: int) -> str:
    return f"at most {nbytes} bytes (--max-mib, limit_nbytes=)"


def _refuse(where: str, found: Any, allowed: str) -> NoReturn:
    raise RecordError(f"damaged: {where}: found {_short(found)}; allowed is {allowed}")


def _short(value: Any) -> str:
    """A value from the file in a message: short, printable, never more work than its length."""
    if isinstance(value, (list, dict)) and len(value) > 16:
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    if type(value) is int and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, str):
        value = value[: _SHOWN + 1]
    elif isinstance(value, list):
        return f"[{', '.join(map(_short_item, value))}]"
    elif isinstance(value, dict):
        return f"an object of {len(value)}"
    text = ascii(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _short_item(value: Any) -> str:
    return "..." if isinstance(value, (list, dict)) else _short(value)
