# SPDX-License-Identifier: Apache-2.0
"""Write `functional/__init__.pyi`: `python -m aclnn_py.functional.stubs`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from aclnn_py.functional.documentation import stub_line
from aclnn_py.functional.tables import ROWS, WRITTEN

__all__ = ["STUB_PATH", "stub_text"]

STUB_PATH = Path(__file__).resolve().parent / "__init__.pyi"
_HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Written by `python -m aclnn_py.functional.stubs` from the function table.
# ruff: noqa
from collections.abc import Sequence
from typing import Any

from aclnn_py.device import Device
"""
_IMPORTS = """\
from aclnn_py.operators.scalar import Number as Number
from aclnn_py.stream import Stream
from aclnn_py.tensor import Tensor

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


def main() -> int:
    """Write the file, or with --check say whether it is up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 on a difference"
    )
    text = stub_text()
    if parser.parse_args().check:
        current = STUB_PATH.read_text(encoding="utf-8") if STUB_PATH.is_file() else ""
        if current != text:
            print("functional/__init__.pyi differs: run python -m aclnn_py.functional.stubs")
            return 1
        return 0
    STUB_PATH.write_text(text, encoding="utf-8")
    print(f"wrote {STUB_PATH} ({len(ROWS)} functions of the table)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
