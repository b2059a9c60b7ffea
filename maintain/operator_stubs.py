# SPDX-License-Identifier: Apache-2.0
"""Write `ops.pyi`, one typed line per operator: `python -m maintain.operator_stubs`."""

from __future__ import annotations

import sys
from pathlib import Path

from aclnn_py._ffi import ffi, lib
from aclnn_py.operators.describe.parameter import read_parameters
from maintain.written_file import write_or_check

__all__ = ["STUB_PATH", "stub_text"]

STUB_PATH = Path(__file__).resolve().parent.parent / "aclnn_py" / "ops.pyi"
_HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.operator_stubs` from include/aclnnop.
# ruff: noqa
from collections.abc import Sequence
from typing import Any

from aclnn_py.operators.launch.declare import declare as declare
from aclnn_py.operators.launch.op import Op as Op
from aclnn_py.operators.describe.scalar import Number as Number
from aclnn_py.operators.describe.scalar import Scalar as Scalar
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.tensor import Tensor

DTypeLike = Any

"""


def stub_text() -> str:
    """The stub file for the operator table of the compiled extension."""
    lines = []
    for index in range(lib.ap_op_count()):
        row = lib.ap_op_at(index)
        arguments = [f"{p.name}: {p.annotation}" for p in read_parameters(row)]
        arguments += ["*", "stream: Stream | None = None"]
        name = ffi.string(row.name).decode()
        lines.append(f"def {name}({', '.join(arguments)}) -> None: ...\n")
    return _HEAD + "".join(lines)


if __name__ == "__main__":
    sys.exit(write_or_check(STUB_PATH, stub_text(), "python -m maintain.operator_stubs"))
