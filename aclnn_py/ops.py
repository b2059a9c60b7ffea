# SPDX-License-Identifier: Apache-2.0
"""Every operator of CANN: `ops.add(x, y, 1.0, out)` calls `aclnnAdd`, arguments in C order.

Names are those of C in snake case without `aclnn`. Nothing is inferred and nothing allocated:
outputs are passed in. Operators come into being when they are first named; `dir(ops)` lists them
all.
"""

from __future__ import annotations

from typing import Any

from aclnn_py import late
from aclnn_py.operators.describe.scalar import Scalar
from aclnn_py.operators.launch.op import Op
from aclnn_py.operators.launch.table import operator_named, operator_names

__all__ = ["Op", "Scalar", "declare"]  # noqa: F822 (`__getattr__` has the last)


# Operators become globals of this module and some are called like builtins (abs, range, sum), so
# nothing here may use a builtin that an operator can be named after.
def __getattr__(name: str) -> Any:
    op = late.declaring.declare if name == "declare" else operator_named(name)
    globals()[name] = op
    return op


def __dir__() -> list[str]:
    return [*__all__, *operator_names()]
