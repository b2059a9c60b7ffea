# SPDX-License-Identifier: Apache-2.0
"""A C program that uses every function of the operators' headers, linked against the library."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from helpers.native import LIB, ROOT, SANITIZERS

from aclnn_py._ffi.contract.headers import fragments
from aclnn_py._ffi.contract.reader import read_file

pytestmark = pytest.mark.emulator_only(reason="links against the emulator's library")

HEADERS = [path for path in fragments(ROOT / "include") if path.parent.name == "aclnnop"]
COVERAGE = ROOT / "aclnn_py" / "emulator" / "COVERAGE.md"
# A loop over addresses that the compiler cannot leave out.
PROGRAM = """\
{includes}
#include <stdio.h>

typedef void (*Function)(void);
static Function volatile functions[] = {{
{functions}
}};

int main(void) {{
  const unsigned long count = sizeof(functions) / sizeof(functions[0]);
  unsigned long found = 0;
  for (unsigned long i = 0; i < count; ++i) found += functions[i] != 0;
  printf("%lu of %lu\\n", found, count);
  return found != count;
}}
"""


def declared() -> list[str]:
    """The names that the headers of operators declare, both phases and the other functions."""
    return sorted({name for path in HEADERS for name in read_file(path).functions})


def absent() -> set[str]:
    """Both phases of the operators that the page of the emulator's operators calls absent."""
    section = COVERAGE.read_text(encoding="utf-8").partition("\n## Absent\n")[2]
    operators = re.findall(r"^\| (acl\w+) \|", section, re.MULTILINE)
    return {name + phase for name in operators for phase in ("", "GetWorkspaceSize")}


def link(folder: Path, names: Sequence[str]) -> tuple[subprocess.CompletedProcess[str], Path]:
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"no {compiler[0]}")
    source, program = folder / "program.c", folder / "program"
    source.write_text(
        PROGRAM.format(
            includes="\n".join(f'#include "aclnnop/{path.name}"' for path in HEADERS),
            functions="\n".join(f"    (Function){name}," for name in names),
        )
    )
    # Every symbol is bound when the program starts.
    command = [*compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wl,-z,now"]
    command += [f"-fsanitize={','.join(SANITIZERS)}"] if SANITIZERS else []
    command += [f"-I{ROOT / 'include'}", str(source), "-o", str(program), f"-L{LIB}"]
    command += [f"-Wl,-rpath,{LIB}", "-lopapi", "-lnnopbase", "-lascendcl"]
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done, program


def test_the_linker_names_what_is_absent_and_nothing_else(tmp_path: Path) -> None:
    done, _ = link(tmp_path, declared())
    unresolved = set(re.findall(r"undefined (?:reference to|symbol:) [`']?(\w+)", done.stderr))
    assert unresolved == absent(), done.stderr[-2000:]
    assert (done.returncode != 0) == bool(unresolved)


def test_every_other_program_links_and_starts(tmp_path: Path) -> None:
    names = sorted(set(declared()) - absent())
    done, program = link(tmp_path, names)
    assert done.returncode == 0, done.stderr[-2000:]
    ran = subprocess.run([str(program)], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout == f"{len(names)} of {len(names)}\n"
    assert len(names) > 2000
