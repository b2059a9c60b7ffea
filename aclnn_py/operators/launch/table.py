# SPDX-License-Identifier: Apache-2.0
"""The operator table of the extension, by Python name."""

from __future__ import annotations

import functools

from aclnn_py._ffi import ffi, lib
from aclnn_py.operators.launch.op import Op

__all__ = ["operator_named", "operator_names", "python_name"]


def operator_names() -> list[str]:
    """All operators, sorted."""
    return [ffi.string(lib.ap_op_at(i).name).decode() for i in range(lib.ap_op_count())]


@functools.cache  # an operator is one object, whoever names it: it is pickled by its name
def operator_named(name: str) -> Op:
    """Return the operator of that name; AttributeError names close ones."""
    row = ffi.NULL if name.startswith("_") else lib.ap_op_find(name.encode())
    if row == ffi.NULL:
        import difflib

        # Python and its tools ask modules for names like `__wrapped__`: nobody misspelled those.
        close = [] if name[0] == "_" else difflib.get_close_matches(name, operator_names(), 3)
        advice = f"; did you mean {', '.join(close)}?" if close else ""
        raise AttributeError(f"CANN has no operator {name!r}{advice}")
    return Op(row)


def python_name(c_name: str) -> str:
    """Return the Python name of an operator; KeyError when the table has none of that C name."""
    row = lib.ap_op_find_c(c_name.encode())
    if row == ffi.NULL:
        raise KeyError(c_name)
    return str(ffi.string(row.name).decode())
