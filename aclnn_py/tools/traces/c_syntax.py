# SPDX-License-Identifier: Apache-2.0
"""Format arguments and results as C code: names, enumerators, tensors with shape and address."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from aclnn_py._ffi import ffi, lib
from aclnn_py._ffi.contract.headers import fragments
from aclnn_py._ffi.contract.reader import read_file
from aclnn_py.operators.launch.observers import Launch
from aclnn_py.runtime.status import status_name
from aclnn_py.tensor.layout import Layout
from aclnn_py.tensor.tensor import Tensor
from aclnn_py.tools.config import include_directory

__all__ = ["function_arguments", "function_result", "phase_one", "phase_two", "status"]

_TEXT_LIMIT = 80
_LIST_LIMIT = 16
_HEADERS = ("acl", "aclnn", "hccl")


def phase_one(launch: Launch) -> tuple[str, str]:
    """Return the arguments of phase one, ``self=Tensor(float16[2,3] @0x1000), alpha=1.0, ...``, and
    its status.
    """
    if launch.op is None:
        raise ValueError(f"{launch.name} has no phase one")
    values = zip(launch.op.parameters, launch.values, strict=True)
    parts = [f"{parameter.name}={_value(value)}" for parameter, value in values]
    if launch.phase_one_status == 0:
        parts.append(f"*workspaceSize={launch.workspace_nbytes}")
        parts.append(f"*executor={_address(launch.executor)}")
        return ", ".join(parts), "ACLNN_SUCCESS"
    return ", ".join(parts), _failure(launch.phase_one_status, launch.error)


def phase_two(launch: Launch) -> tuple[str, str]:
    """Return the arguments of phase two, or of the execution of a graph, and its status."""
    stream = f"stream={_address(_number(launch.stream.state.raw))}"
    if launch.op is None:
        text, library = f"modelRI={_address(launch.executor)}, {stream}", "acl"
    else:
        text = (
            f"workspace={_address(launch.workspace)}, workspaceSize={launch.workspace_nbytes}, "
            f"executor={_address(launch.executor)}, {stream}"
        )
        library = "aclnn"
    if launch.phase_two_status == 0:
        return text, status(library, 0)
    return text, _failure(launch.phase_two_status, launch.error, library)


def _failure(code: int | None, error: BaseException | None, library: str = "aclnn") -> str:
    """A status, or the class of what was raised before the library was asked."""
    return status(library, code) if code else type(error).__name__


def _number(pointer: Any) -> int:
    return int(ffi.cast("uintptr_t", pointer))


def _address(number: int | None) -> str:
    return f"0x{number:x}" if number else "NULL"


def status(library: str, code: int) -> str:
    """Return a status as its name, with the number where it is not success."""
    if code == 0:
        return {"acl": "ACL_SUCCESS", "aclnn": "ACLNN_SUCCESS", "hccl": "HCCL_SUCCESS"}[library]
    return f"{status_name(library, code)}({code})"


def function_arguments(name: str, values: Sequence[Any]) -> str:
    """Return the arguments of a C function, by name where the header says it."""
    types = _types(name)[0]
    names = _names().get(name, ())
    texts = []
    for index, value in enumerate(values):
        text = _raw(value, types[index] if index < len(types) else None)
        texts.append(f"{names[index]}={text}" if index < len(names) else text)
    return ", ".join(texts)


def function_result(name: str, result: Any) -> str:
    """Return what a C function returned: a status by its name, else the value."""
    ctype = _types(name)[1]
    if ctype is None or ctype.kind == "void":
        return "void"
    if ctype.cname == "int" and name.startswith("acl"):
        return status("acl", int(result))
    if name.startswith("Hccl") and ctype.cname == "enum HcclResult":
        return status("hccl", int(result))
    return _raw(result, ctype)


@cache
def _types(name: str) -> tuple[tuple[Any, ...], Any]:
    try:
        ctype = ffi.typeof(getattr(lib, name))
    except (AttributeError, TypeError):
        return (), None
    return tuple(ctype.args), ctype.result


@cache
def _names() -> dict[str, tuple[str, ...]]:
    """The parameter names of every function the headers declare."""
    found: dict[str, tuple[str, ...]] = {}
    try:
        root = include_directory()
    except FileNotFoundError:
        return found  # values then stand without names
    for path in fragments(root, *_HEADERS):
        for name, function in read_file(path).functions.items():
            found[name] = tuple(parameter.name for parameter in function.parameters)
    return found


def _raw(value: Any, ctype: Any) -> str:
    """One argument or result of a C function."""
    if isinstance(value, bytes):
        return _quoted(value.decode("utf-8", "replace"))
    if ctype is not None and ctype.kind == "enum":
        number = int(value)
        return str(ctype.elements.get(number, number))
    if isinstance(value, ffi.CData):
        kind = ffi.typeof(value)
        if kind.kind in ("pointer", "array"):
            if value == ffi.NULL:
                return "NULL"
            if kind.cname in ("char *", "const char *"):
                return _quoted(ffi.string(value).decode("utf-8", "replace"))
            return _address(_number(value))
        if kind.kind == "function":
            return _address(_number(value))
        return f"{kind.cname}{{...}}"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _value(value: object) -> str:
    """One argument of an operator."""
    if isinstance(value, Tensor):
        return _tensor(value)
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, (list, tuple)):
        items = [_value(item) for item in value[:_LIST_LIMIT]]
        more = [f"... {len(value)} in all"] if len(value) > _LIST_LIMIT else []
        return "{" + ", ".join([*items, *more]) + "}"
    text = str(value)
    return text if len(text) <= _TEXT_LIMIT else f"{text[:_TEXT_LIMIT]}..."


def _tensor(tensor: Tensor) -> str:
    before, after = _layout(tensor.layout)
    if tensor.closed:
        return f"{before}closed{after}"
    return f"{before}@0x{tensor.address:x}{after}"


@lru_cache(maxsize=1024)
def _layout(layout: Layout) -> tuple[str, str]:
    """What stands before and after the address of a tensor with this layout."""
    after = "" if layout.contiguous else " strides {" + ",".join(map(str, layout.strides)) + "}"
    if layout.format.name != "ND":
        after += f" {layout.format.name}"
    return f"Tensor({layout.dtype.name}[{','.join(map(str, layout.shape))}] ", f"{after})"


def _quoted(text: str) -> str:
    cut = text if len(text) <= _TEXT_LIMIT else f"{text[:_TEXT_LIMIT]}..."
    escaped = cut.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
