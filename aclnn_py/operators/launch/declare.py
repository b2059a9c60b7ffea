# SPDX-License-Identifier: Apache-2.0
"""Operators declared at run time, for custom operator packages and newer releases of CANN."""

from __future__ import annotations

import os
from typing import Any

from aclnn_py._ffi import ffi, lib, open_library
from aclnn_py._ffi.contract.naming import operator_name
from aclnn_py._ffi.contract.operators import parse_operator
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
    shape = operator.shape
    invoke = lib.ap_invoker_for(shape.encode()) or lib.ap_trampoline_for(shape.encode())
    if not invoke or len(operator.parameters) > lib.AP_MAX_PARAMETERS:
        raise ValueError(
            f"{operator.name}: these {len(operator.parameters)} arguments cannot be passed: "
            "the limits are 56 integers and pointers, and 8 floating-point ones"
        )
    provider = None if library is None else open_library(os.fspath(library))
    row = ffi.new("ap_op *")
    row.invoke = invoke
    texts = {
        "name": operator_name(operator.name),
        "c_name": operator.name,
        "kinds": operator.kinds,
        "modes": operator.modes,
        "parameters": ",".join(parameter.name for parameter in operator.parameters),
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
        op.bind()
    _declared.append(held)
    return op
