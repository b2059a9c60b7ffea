# SPDX-License-Identifier: Apache-2.0
"""The Python function of an operator, written from its parameters.

A launch costs a few hundred nanoseconds, so nothing may loop over parameters when it is called. The
function takes the parameters by their names, finds the call block of the last launch again by the
identity of its arguments, and makes one C call. Where there are lists of tensors, that call also
sees whether they are as long as they were then. Tensors that no launch has seen are described, and
the function begins again. Everything else - new values, other lengths, mistakes - goes to `slow`.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from typing import Any

from aclnn_py._ffi import ffi, held, lib
from aclnn_py.operators.describe.call_arguments import CallBlock, is_immutable
from aclnn_py.operators.describe.parameter import Parameter
from aclnn_py.tensor.tensor import describe

__all__ = ["call_function", "order_function", "remember"]

_NOTHING = object()  # is no argument of anybody, and equal to none

# Up to so many tensors the C functions take them one by one.
_FIXED = 16


def call_function(
    name: str,
    parameters: tuple[Parameter, ...],
    lookup: Callable[[tuple[object, ...]], Any],
    slow: Callable[[tuple[object, ...], Any], None],
    settle: Callable[[int, tuple[object, ...], Any], None],
) -> Callable[..., None]:
    """Write and compile the function behind `ops.<name>`.

    Parameters
    ----------
    lookup : callable
        Takes the attributes as a tuple, and returns what `remember` makes of their call block.
    slow : callable
        Launches with all arguments as a tuple, and says what is wrong with them.
    settle : callable
        Deals with a launch that did not return AP_OK.
    """
    tensors = [p for p in parameters if p.is_tensor]
    attributes = [p for p in parameters if not p.is_tensor]
    one_by_one = 0 < len(tensors) <= _FIXED and all(p.kind == "T" for p in tensors)
    names = [p.name for p in parameters]
    everything = f"({''.join(f'{n}, ' for n in names)})"
    head = f"def {name}({', '.join([*names, '*', 'stream=None'])}):"
    # Constants of one call site are one object; those of two sites are equal.
    same = " and ".join(
        f"({p.name} is _known[{i}] or {p.name}.__class__ is _known[{i + 1}] "
        f"and {p.name} == _known[{i}])"
        for p, i in zip(attributes, range(1, 1 + 2 * len(attributes), 2), strict=True)
    )
    same = same or "_known[0] is not None"
    # `_known` also keeps the memory of the call block alive until the C call returns.
    if one_by_one:
        values = f"({''.join(f'{p.name}, ' for p in attributes)})"
        arguments = ", ".join(map(_address, tensors))
        given = f"({''.join(f'{p.name}, ' for p in tensors)})"
        source = f"""{head}
    try:
        _known = _last
        if not ({same}):
            _known = _lookup({values})
        if stream is None:
            _status = _run(_known[0], {arguments})
        else:
            _status = _launch(stream.context, _known[0], {arguments})
    except AttributeError:
        if _describe({given}):
            return _again({"".join(f"{n}, " for n in names)}stream=stream)
        return _slow({everything}, stream)
    except TypeError:
        return _slow({everything}, stream)
    if _status:
        _settle(_status, {everything}, stream)
"""
    else:
        arguments = "".join(f", {p.name}" for p in tensors)
        source = f"""{head}
    try:
        _known, _status = _last, None
        if {same}:
            _queue = 0.0 if stream is None else _place(stream.context)
            _status = _run(_known[0], _queue{arguments})
    except (AttributeError, TypeError):
        pass
    if _status is None:
        return _slow({everything}, stream)
    if _status:
        _settle(_status, {everything}, stream)
"""
    scope = {
        "_last": (None, *[_NOTHING] * (2 * len(attributes))),
        "_lookup": lookup,
        "_slow": slow,
        "_settle": settle,
        "_describe": describe,
        **(_fixed_functions(len(tensors)) if one_by_one else _LIST_FUNCTIONS),
    }
    function = _compile(name, source, scope)
    scope["_again"] = function
    return function


def _fixed_functions(tensors: int) -> dict[str, Any]:
    """The C functions for so many tensors. cffi makes each when it is first named."""
    return {
        "_launch": getattr(lib, f"ap_launch{tensors}"),
        "_run": getattr(lib, f"ap_run{tensors}"),
    }


def _place(context: Any) -> float:
    return float(int(ffi.cast("intptr_t", context)))


_LIST_FUNCTIONS = {"_run": held.launch, "_place": _place}


def remember(
    function: Callable[..., Any], block: CallBlock, attributes: Sequence[object]
) -> tuple[object, ...]:
    """Let a function of `call_function` recognise these attributes without a lookup.

    A mutable value may mean something else next time, so it is never recognised. Equality stands in
    for identity only where equal values of one type are the same to C: not for zeros, which have a
    sign, nor for tuples of mixed numbers.
    """
    known: list[object] = [block.at]
    for value in attributes:
        comparable = type(value) in (bool, int, str) or (type(value) is float and value != 0.0)
        known.append(value if is_immutable(value) else _NOTHING)
        known.append(type(value) if comparable else _NOTHING)
    # One store: a thread that launches at the same time sees the old tuple or the new one.
    known.append(block)
    function.__globals__["_last"] = result = tuple(known)
    return result


def order_function(name: str, parameters: tuple[Parameter, ...]) -> Callable[..., Any]:
    """A function that puts its arguments in C order, with Python's own errors for a wrong list."""
    names = [p.name for p in parameters]
    result = f"({''.join(f'{n}, ' for n in names)})"
    source = f"def {name}({', '.join(names)}):\n    return {result}\n"
    return _compile(name, source, {}, " in C order")


def _address(tensor: Parameter) -> str:
    at = f"{tensor.name}._made_at"
    return f"(0.0 if {tensor.name} is None else {at})" if tensor.nullable else at


def _compile(name: str, source: str, scope: dict[str, Any], part: str = "") -> Callable[..., Any]:
    file = _shown(f"<aclnn_py.ops.{name}{part}>", source)
    exec(compile(source, file, "exec"), scope)
    function: Callable[..., Any] = scope[name]
    function.__module__ = "aclnn_py.ops"
    return function


def _shown(file: str, source: str) -> str:
    """Let tracebacks and `inspect.getsource` show a text; return the file name it has there.

    An operator that was declared at run time may have the name of another one.
    """
    lines = source.splitlines(keepends=True)
    wanted, count = file, 1
    while (known := linecache.cache.get(file)) is not None and known[2:3] != (lines,):
        count += 1
        file = f"{wanted[:-1]} {count}>"
    # Without a time the entry is never compared with a file on the disk.
    linecache.cache[file] = (len(source), None, lines, file)
    return file
