# SPDX-License-Identifier: Apache-2.0
"""The operator table of the extension, by Python name."""

from __future__ import annotations

import difflib

from aclnn_py._ffi import ffi, lib
from aclnn_py.operators.op import Op

__all__ = ["operator_named", "operator_names"]


def operator_names() -> list[str]:
    """All operators, sorted."""
    return [ffi.string(lib.ap_op_at(i).name).decode() for i in range(lib.ap_op_count())]


def operator_named(name: str) -> Op:
    """Make the operator of that name; AttributeError names close ones."""
    row = ffi.NULL if name.startswith("_") else lib.ap_op_find(name.encode())
    if row == ffi.NULL:
        close = difflib.get_close_matches(name, operator_names(), 3)
        advice = f"; did you mean {', '.join(close)}?" if close else ""
        raise AttributeError(f"CANN has no operator {name!r}{advice}")
    return Op(row)
