# SPDX-License-Identifier: Apache-2.0
"""Shared libraries and library trees made up for a test."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "include"


def compiler() -> list[str]:
    """The C compiler the package itself was built with, or the first one found."""
    named = shlex.split(os.environ.get("CC", ""))
    return named or [next(filter(None, map(shutil.which, ("gcc", "cc", "clang"))))]


def build(path: Path, source: str, *flags: str) -> Path:
    """Compile C source into a shared library that carries its own name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [*compiler(), "-shared", "-fPIC", "-w", "-x", "c", "-", f"-I{INCLUDE}"]
    command += [f"-Wl,-soname,{path.name}", "-o", str(path), "-x", "none", *flags]
    subprocess.run(command, input=source, text=True, check=True)
    return path


RUNTIME = """
int aclInit(const char *path) { return 0; }
int aclFinalize(void) { return 0; }
const char *aclGetRecentErrMsg(void) { return 0; }
"""


def cann_tree(root: Path, *, runtime: str = "libascendcl.so") -> Path:
    """A CANN root with a runtime library and nothing else."""
    build(root / "lib64" / runtime, RUNTIME)
    return root
