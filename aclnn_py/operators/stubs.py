# SPDX-License-Identifier: Apache-2.0
"""Write `ops.pyi`, one typed line per operator: `python -m aclnn_py.operators.stubs`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from aclnn_py._ffi import ffi, lib
from aclnn_py.operators.parameter import read_parameters

__all__ = ["STUB_PATH", "stub_text"]

STUB_PATH = Path(__file__).resolve().parent.parent / "ops.pyi"
_HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Written by `python -m aclnn_py.operators.stubs` from include/aclnnop.
# ruff: noqa
from collections.abc import Sequence
from typing import Any

from aclnn_py.operators.declare import declare as declare
from aclnn_py.operators.op import Op as Op
from aclnn_py.operators.scalar import Number as Number
from aclnn_py.operators.scalar import Scalar as Scalar
from aclnn_py.stream import Stream
from aclnn_py.tensor import Tensor

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
            print("ops.pyi differs from the operator table: run python -m aclnn_py.operators.stubs")
            return 1
        return 0
    STUB_PATH.write_text(text, encoding="utf-8")
    print(f"wrote {STUB_PATH} ({lib.ap_op_count()} operators)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
