# SPDX-License-Identifier: Apache-2.0
"""C and C++ programs of the tests, compiled against `include/` and the emulator's library."""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
NATIVE = ROOT / "tests" / "emulator" / "native"
LIB = ROOT / "aclnn_py" / "lib"
LIBRARIES = (
    "ascendcl",
    "nnopbase",
    "opapi",
    "hccl",
    "hcomm",
    "acl_op_compiler",
    "acl_tdt_channel",
    "acl_tdt_queue",
    "msprofiler",
    "ms_tools_ext",
    "ascend_dump",
    "ascend_hal",
    "runtime",
    "profapi",
    "c_sec",
)
LANGUAGE = {".c": ("CC", "cc", "-std=c11"), ".cpp": ("CXX", "c++", "-std=c++17")}
SANITIZERS = [kind for kind in os.environ.get("ACLNN_PY_BUILD_SANITIZE", "").split(",") if kind]


def made_once(target: Path, make: Callable[[Path], object]) -> Path:
    """The file or folder `target`, which the first process to ask makes under another name."""
    with target.with_name(f"{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            # What a maker left that did not come to its end is not taken for the whole.
            fresh = target.with_name(f"{target.name}.{os.getpid()}")
            make(fresh)
            fresh.rename(target)
    return target


def compiled(source: Path, target: Path, *options: str) -> Path:
    """Compile a program against the emulator's library; skip where there is no compiler."""
    variable, default, standard = LANGUAGE[source.suffix]
    compiler = shlex.split(os.environ.get(variable, default))
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"no {compiler[0]}")
    command = [*compiler, standard, "-D_GNU_SOURCE", "-g", "-Wall", "-Wextra", "-Werror", *options]
    command += [f"-fsanitize={','.join(SANITIZERS)}"] if SANITIZERS else []
    command += [f"-I{ROOT / 'include'}", f"-I{NATIVE}", str(source), "-o", str(target)]
    # Programs look functions up by name, too, in libraries of which they call nothing.
    command += [f"-L{LIB}", f"-Wl,-rpath,{LIB}", "-Wl,--no-as-needed"]
    command += [f"-l{library}" for library in LIBRARIES]
    done = subprocess.run([*command, "-lpthread"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stderr}"
    return target
