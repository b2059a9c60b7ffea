# SPDX-License-Identifier: Apache-2.0
"""Python functions made from rows of the table.

A function converts its arguments, makes one C call and converts the results. A C function that
returns a status gives its results and then the status; any other gives what it returns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aclnn_py._ffi import C, device_kind, ffi, lib
from aclnn_py.acl.host_memory import is_mapped, note, take_note
from aclnn_py.acl.table import Parameter, Row
from aclnn_py.acl.values import array_of, plain, structure_of, value_of
from aclnn_py.errors import InvalidArgumentError

__all__ = ["PARAM_INVALID", "function_of", "returns_status", "signature_of"]

PARAM_INVALID = 107000
"""ACL_ERROR_RT_PARAM_INVALID, which the runtime returns for an address that it does not know."""

Function = Callable[..., Any]
_Step = Callable[["_Frame", Any], Any]


class _Frame:
    """One call: the arguments by name, what C writes, and what has to live until C returns."""

    __slots__ = ("kept", "named", "results")

    def __init__(self, named: dict[str, Any]) -> None:
        self.named = named
        self.results: dict[str, Any] = {}
        self.kept: list[Any] = []

    def measure(self, length: str) -> int:
        """A number of the table, or the value of the parameter of that name."""
        return int(length) if length.isdigit() else int(self.named[length])


def returns_status(ctype: Any) -> bool:
    """Whether a C function returns a status: aclError or aclnnStatus."""
    return ctype.result.cname in ("int", "int32_t")


def signature_of(row: Row) -> str:
    """Return a function's signature as pyACL's reference writes it."""
    names = [f"{p.name}=None" if p.role == "optional" else p.name for p in row.inputs]
    results = list(row.results)
    ctype = _ctype_of(row)
    if returns_status(ctype):
        results.append("ret")
    elif ctype.result.kind != "void":
        results.append("value")
    call = f"acl.{row.name}({', '.join(names)})"
    return f"{', '.join(results)} = {call}" if results else call


def function_of(row: Row) -> Function:
    """Return the Python function of a row."""
    ctype = _ctype_of(row)
    if len(ctype.args) != len(row.parameters):
        raise ValueError(
            f"facts/pyacl.json: {row.c_name} has {len(ctype.args)} parameters, the row of "
            f"{row.name} {len(row.parameters)}"
        )
    inputs = row.inputs
    names = [parameter.name for parameter in inputs]
    needed = sum(parameter.role != "optional" for parameter in inputs)
    steps = [_step(p, kind) for p, kind in zip(row.parameters, ctype.args, strict=True)]
    guarded = [parameter for parameter in inputs if parameter.span]
    has_status = returns_status(ctype)

    def call(*arguments: Any) -> Any:
        if not needed <= len(arguments) <= len(names):
            raise TypeError(f"acl.{row.name}() takes {_listed(names)}, got {len(arguments)}")
        named = dict(zip(names, arguments, strict=False))
        frame = _Frame(named)
        converted = [step(frame, named) for step in steps]
        if guarded and not _addresses_are_mapped(row, frame, guarded):
            if not has_status:
                raise InvalidArgumentError(take_note())
            value = PARAM_INVALID
        else:
            value = getattr(C, row.c_name)(*converted)
        if not has_status:
            return plain(value)
        results = [plain(_value_at(frame.results[name])) for name in row.results]
        return (*results, int(value)) if results else int(value)

    call.__name__ = call.__qualname__ = row.name.rpartition(".")[2]
    call.__module__ = f"aclnn_py.acl.{row.name}".rpartition(".")[0]
    call.__doc__ = f"{signature_of(row)}\n\nCalls {row.c_name}."
    return call


def _ctype_of(row: Row) -> Any:
    return ffi.typeof(getattr(lib, row.c_name))


def _listed(names: list[str]) -> str:
    count = f"{len(names)} argument{'' if len(names) == 1 else 's'}"
    return f"{count} ({', '.join(names)})" if names else "no argument"


def _step(parameter: Parameter, ctype: Any) -> _Step:
    name = parameter.name
    if parameter.role == "result":
        return _result_step(parameter, ctype)
    if parameter.role == "count":
        return lambda _frame, named: _length_of(name, named[name])
    if parameter.role == "list":
        return lambda frame, named: _list_for(frame, parameter, named, ctype)
    if parameter.role == "dictionary":
        return lambda frame, named: structure_of(name, named[name], ctype, frame.kept)
    convert = value_of(ctype)
    if parameter.role == "optional":
        return lambda _frame, named: (
            ffi.NULL if named.get(name) is None else convert(name, named[name])
        )
    return lambda _frame, named: convert(name, named[name])


def _result_step(parameter: Parameter, ctype: Any) -> _Step:
    def make(frame: _Frame, _named: Any) -> Any:
        if parameter.length:
            place = ffi.new(f"{ctype.item.cname}[]", max(frame.measure(parameter.length), 1))
        else:
            place = ffi.new(ctype)
        frame.results[parameter.name] = place
        return place

    return make


def _list_for(frame: _Frame, parameter: Parameter, named: dict[str, Any], ctype: Any) -> Any:
    name, length = parameter.name, parameter.length
    if named[name] is None and parameter.nullable:
        return ffi.NULL
    inner = int(length) if length.isdigit() else 0
    array, kept = array_of(name, named[name], ctype, inner)
    if length and not inner:
        needed = named[length] if isinstance(named[length], int) else len(named[length])
        if len(named[name]) < needed:
            raise InvalidArgumentError(
                f"{name}: {length} says that there are {needed}, but the list has "
                f"{len(named[name])} elements"
            )
    frame.kept.append(kept)
    return array


def _length_of(name: str, value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode())
    if not hasattr(value, "__len__"):
        raise TypeError(f"{name}: expected a list, got {type(value).__name__}")
    return len(value)


def _value_at(place: Any) -> Any:
    return place if ffi.typeof(place).kind == "array" else place[0]


def _addresses_are_mapped(row: Row, frame: _Frame, guarded: list[Parameter]) -> bool:
    for parameter in guarded:
        # Memory of an NPU is not mapped on the host, so only the emulator's can be asked about.
        if not parameter.on_host and device_kind() != "emulator":
            continue
        address, nbytes = int(frame.named[parameter.name]), frame.measure(parameter.span)
        # Null and lengths of zero are the library's to judge.
        if address and nbytes and not is_mapped(address, nbytes):
            note(
                f"acl.{row.name}: {parameter.name} is {address:#x}, where no {nbytes} bytes of "
                "memory are; is it freed, or the address of an object that is gone?"
            )
            return False
    return True
