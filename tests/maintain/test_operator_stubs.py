# SPDX-License-Identifier: Apache-2.0
"""`ops.pyi` says what the operator table says; type checkers read it and `functional`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from maintain.operator_stubs import STUB_PATH, stub_text

ROOT = Path(__file__).resolve().parents[2]


def test_stub_file_is_up_to_date():
    assert STUB_PATH.read_text() == stub_text(), "run: python -m maintain.operator_stubs"


def test_type_checker_takes_right_calls_and_refuses_wrong_ones(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import aclnn_py as ap\n"
        "def f(x: ap.Tensor, out: ap.Tensor) -> None:\n"
        "    ap.ops.add(x, x, 1.0, out)\n"
        "    ap.plan(ap.ops.add, x, x, 1.0, out).run()\n"
        "    ap.ops.add(x, x, 1.0)  # line 5\n"
        "    ap.ops.add(x, 'no', 1.0, out)  # line 6\n"
        "    ap.ops.no_such_operator(x)  # line 7\n"
        "    ap.functional.gmm(ap.functional.add(x, 2, alpha=3), out).numpy()\n"
        "    ap.functional.add(x, 'no')  # line 9\n"
        "    ap.functional.add(x, x, 2)  # line 10\n"
        "    ap.functional.no_such_function(x)  # line 11\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error" in line}
    assert lines == {5, 6, 7, 9, 10, 11}, done.stdout + done.stderr
