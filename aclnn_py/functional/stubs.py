# SPDX-License-Identifier: Apache-2.0
"""Write the stub file and the page of functions: `python -m aclnn_py.functional.stubs`."""

from __future__ import annotations

import sys
from pathlib import Path

from aclnn_py.functional.documentation import stub_line
from aclnn_py.functional.page import PAGE_PATH, page_text
from aclnn_py.functional.tables import ROWS, WRITTEN
from aclnn_py.operators.stub_file import write_or_check

__all__ = ["STUB_PATH", "stub_text"]

STUB_PATH = Path(__file__).resolve().parent / "__init__.pyi"
_HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Written by `python -m aclnn_py.functional.stubs` from the function table.
# ruff: noqa
from collections.abc import Sequence
from typing import Any

from aclnn_py.runtime.device import Device
"""
_IMPORTS = """\
from aclnn_py.random.generator import Generator
from aclnn_py.operators.describe.scalar import Number as Number
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.tensor import Tensor

DTypeLike = Any

"""


def stub_text() -> str:
    """The stub file for the function table."""
    written = "".join(
        f"from aclnn_py.functional.{module} import {name} as {name}\n"
        for module, names in WRITTEN.items()
        for name in names
    )
    return _HEAD + written + _IMPORTS + "".join(stub_line(row) for row in ROWS.values())


if __name__ == "__main__":
    written = ((STUB_PATH, stub_text()), (PAGE_PATH, page_text()))
    command = "python -m aclnn_py.functional.stubs"
    sys.exit(max([write_or_check(path, text, command) for path, text in written]))
