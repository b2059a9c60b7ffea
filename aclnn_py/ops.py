# SPDX-License-Identifier: Apache-2.0
"""Every operator of CANN: `ops.add(x, y, 1.0, out)` calls `aclnnAdd`, arguments in C order.

Names are those of C in snake case without `aclnn`. Nothing is inferred and nothing allocated:
outputs are passed in. Operators come into being when they are first named; `dir(ops)` lists them
all.
"""

from __future__ import annotations

import difflib
from typing import Any

from aclnn_py._ffi import ffi, lib
from aclnn_py.operators.declare import declare
from aclnn_py.operators.op import Op
from aclnn_py.operators.scalar import Scalar

_OWN_NAMES = ["Op", "Scalar", "declare"]


def __getattr__(name: str) -> Any:
    row = ffi.NULL if name.startswith("_") else lib.ap_op_find(name.encode())
    if row == ffi.NULL:
        close = difflib.get_close_matches(name, _names(), 3)
        advice = f"; did you mean {', '.join(close)}?" if close else ""
        raise AttributeError(f"CANN has no operator {name!r}{advice}")
    op = Op(row)
    globals()[name] = op
    return op


def __dir__() -> list[str]:
    return sorted([*_OWN_NAMES, *_names()])


def _names() -> list[str]:
    return [ffi.string(lib.ap_op_at(i).name).decode() for i in range(lib.ap_op_count())]


__all__ = ["Op", "Scalar", "declare"]
