# SPDX-License-Identifier: Apache-2.0
"""C and C++ programs written for CANN, built with the installed headers and library names."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).resolve().parent / "native"
PACKAGE = ROOT / "aclnn_py"


@pytest.mark.parametrize("source", ["hccl_threads.cpp", "hccl_processes.c"])
def test_native_program(source: str, tmp_path: Path) -> None:
    cxx = source.endswith(".cpp")
    compiler = shlex.split(os.environ.get("CXX" if cxx else "CC", "c++" if cxx else "cc"))
    if shutil.which(compiler[0]) is None:
        pytest.fail(f"no compiler {compiler[0]}")
    program = tmp_path / "program"
    lib = PACKAGE / "lib"
    command = [
        *compiler,
        "-std=c++17" if cxx else "-std=c11",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-D_GNU_SOURCE",
        f"-I{PACKAGE / 'include'}",
        str(SOURCES / source),
        "-o",
        str(program),
        f"-L{lib}",
        f"-Wl,-rpath,{lib}",
        "-lascendcl",
        "-lnnopbase",
        "-lopapi",
        "-lhccl",
        "-lhcomm",
        "-lpthread",
    ]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([program], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "ok\n"
