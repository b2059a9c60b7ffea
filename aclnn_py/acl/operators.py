# SPDX-License-Identifier: Apache-2.0
"""Both phases of aclnn operators in the manner of pyACL: ``acl.op.aclnnAddGetWorkspaceSize``.

CANN's own pyACL has no such functions; its scripts reach aclnn through ctypes. Handles of tensors,
scalars and lists are the integers that ``acl.create_tensor`` and its kin return.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aclnn_py._ffi import bind_operator, ffi, lib
from aclnn_py._ffi.contract.kinds import C_TYPES
from aclnn_py._ffi.contract.operators import PHASE_ONE_SUFFIX
from aclnn_py.acl.values import value_of
from aclnn_py.operators.describe.parameter import Parameter, read_parameters

__all__ = ["operator_function", "operator_functions"]

Function = Callable[..., Any]

_TAIL = ("uint64_t *", "aclOpExecutor * *")
_PHASE_TWO = "int32_t (*)(void *, uint64_t, aclOpExecutor *, void *)"
_PHASE_TWO_NAMES = ("workspace", "workspace_size", "executor", "stream")


def operator_functions() -> list[str]:
    """Names of both phases of every operator."""
    rows = (lib.ap_op_at(i) for i in range(lib.ap_op_count()))
    names = sorted(ffi.string(row.c_name).decode() for row in rows)
    return [phase for name in names for phase in (name, f"{name}{PHASE_ONE_SUFFIX}")]


def operator_function(name: str) -> Function | None:
    """Return a phase of an operator by its C name, or None if there is no such operator."""
    row = lib.ap_op_find_c(name.removesuffix(PHASE_ONE_SUFFIX).encode())
    if row == ffi.NULL:
        return None
    return _phase_one(name, row) if name.endswith(PHASE_ONE_SUFFIX) else _phase_two(name, row)


def _phase_one(name: str, row: Any) -> Function:
    parameters = read_parameters(row)
    types = [C_TYPES[parameter.kind] for parameter in parameters]
    steps = [_converter(p, t) for p, t in zip(parameters, types, strict=True)]
    ctype = ffi.typeof(f"int32_t (*)({', '.join([*types, *_TAIL])})")
    names = [parameter.name for parameter in parameters]

    def call(*arguments: Any) -> tuple[int, int, int]:
        _check_count(name, names, arguments)
        converted = [step(value) for step, value in zip(steps, arguments, strict=True)]
        nbytes, executor = ffi.new("uint64_t *"), ffi.new("aclOpExecutor * *")
        _bind(row)
        status = ffi.cast(ctype, row.phase_one)(*converted, nbytes, executor)
        return int(nbytes[0]), int(ffi.cast("uintptr_t", executor[0])), int(status)

    return _described(call, name, f"workspace_size, executor, ret = acl.op.{name}", names)


def _phase_two(name: str, row: Any) -> Function:
    ctype = ffi.typeof(_PHASE_TWO)
    steps = [value_of(kind) for kind in ctype.args]

    def call(*arguments: Any) -> int:
        _check_count(name, _PHASE_TWO_NAMES, arguments)
        converted = [
            step(argument, value)
            for step, argument, value in zip(steps, _PHASE_TWO_NAMES, arguments, strict=True)
        ]
        _bind(row)
        return int(ffi.cast(ctype, row.phase_two)(*converted))

    return _described(call, name, f"ret = acl.op.{name}", _PHASE_TWO_NAMES)


def _converter(parameter: Parameter, ctype: str) -> Callable[[Any], Any]:
    name, convert = parameter.name, value_of(ffi.typeof(ctype))
    if parameter.kind == "s" and parameter.nullable:
        return lambda value: ffi.NULL if value is None else convert(name, value)
    return lambda value: convert(name, value)


def _bind(row: Any) -> None:
    if row.phase_one == ffi.NULL:
        bind_operator(row)


def _check_count(name: str, names: Any, arguments: tuple[Any, ...]) -> None:
    if len(arguments) != len(names):
        raise TypeError(
            f"acl.op.{name}() takes {len(names)} arguments ({', '.join(names)}), "
            f"got {len(arguments)}"
        )


def _described(call: Function, name: str, head: str, names: Any) -> Function:
    call.__name__ = call.__qualname__ = name
    call.__module__ = "aclnn_py.acl.op"
    call.__doc__ = f"{head}({', '.join(names)})\n\nCalls {name}."
    return call
