# SPDX-License-Identifier: Apache-2.0
"""Operators that allocate their result: `functional.matmul(x, w)` returns a new tensor.

Each function queues one operator of `ops`, rarely two, on the current stream, or on `stream`, and
returns before the device finishes. Names and the order of arguments are torch's where torch has the
function; names that end in an underscore write their first argument and return it. Functions come
into being when they are first named; `dir(functional)` lists them all.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from aclnn_py.functional.row import build
from aclnn_py.functional.tables import ROWS, WRITTEN

_HOMES = {name: module for module, names in WRITTEN.items() for name in names}
__all__ = [*_HOMES, *ROWS]


# Functions become globals of this module and some are called like builtins (abs, any, sum), so
# nothing here may use a builtin that a function can be named after.
def __getattr__(name: str) -> Any:
    if name in ROWS:
        function: Any = build(ROWS[name])
    elif name in _HOMES:
        function = getattr(import_module(f"aclnn_py.functional.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'aclnn_py.functional' has no function {name!r}")
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    return __all__
