# SPDX-License-Identifier: Apache-2.0
"""Operators declared at run time, for custom operator packages and newer releases of CANN."""

from __future__ import annotations

import os
from typing import Any

from aclnn_py._ffi import ffi, lib, open_library
from aclnn_py._ffi.naming import is_in_place, is_optional, operator_name
from aclnn_py._ffi.prototypes import KINDS, kinds_of, parse_operator, shape_of
from aclnn_py.operators.launch.op import Op

__all__ = ["declare"]

# The structures and texts of declared operators live as long as the process, as table rows do.
_declared: list[Any] = []


def declare(prototype: str, *, library: str | os.PathLike[str] | None = None) -> Op:
    """Make an operator callable by its phase-one prototype.

    Parameters
    ----------
    prototype : str
        For example ``aclnnStatus aclnnMyAddGetWorkspaceSize(const aclTensor *x, double eps,
        aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor)``. `const` marks what is
        read; a name that ends in ``Ref`` is read and written, one that ends in ``Optional`` may be
        None.
    library : path, optional
        The shared library that has both functions. By default those of custom packages and CANN are
        searched.

    Returns
    -------
    Op
        It does not enter `ops`, and does not replace an operator of the same name there.

    Raises
    ------
    ValueError
        The prototype cannot be read, or its arguments cannot be passed.
    LibraryNotFoundError
        `library` is not there.
    SymbolNotFoundError
        `library` does not have both functions.
    """
    operator = parse_operator(prototype)
    shape = shape_of(operator.arguments)
    invoke = lib.ap_invoker_for(shape.encode()) or lib.ap_trampoline_for(shape.encode())
    if not invoke or len(operator.arguments) > lib.AP_MAX_PARAMETERS:
        raise ValueError(
            f"{operator.name}: these {len(operator.arguments)} arguments cannot be passed: "
            "the limits are 56 integers and pointers, and 8 floating-point ones"
        )
    provider = None if library is None else open_library(os.fspath(library))
    row = ffi.new("ap_op *")
    row.invoke = invoke
    texts = {
        "name": operator_name(operator.name),
        "c_name": operator.name,
        "kinds": kinds_of(operator.arguments),
        "modes": "".join(_mode(argument) for argument in operator.arguments),
        "parameters": ",".join(argument.name for argument in operator.arguments),
        "family": "",
        "shape": shape,
        "summary": f"Call {operator.name}, declared at run time.",
        "scalars": "",
    }
    held = [row]
    for field, text in texts.items():
        cell = ffi.new("char[]", text.encode())
        setattr(row, field, cell)
        held.append(cell)
    op = Op(row, provider)
    if provider is not None:
        op._bind()
    _declared.append(held)
    return op


def _mode(argument: Any) -> str:
    mode = "i"
    if is_in_place(argument.name):
        mode = "r"
    elif KINDS[argument.bare][0] in "TL" and not argument.is_const:
        mode = "o"
    return mode.upper() if is_optional(argument.name) else mode
