# SPDX-License-Identifier: Apache-2.0
"""Headers of the compiler, compiled once for all units: half of a unit is reading them.

Only GCC's form is used: GCC ignores a file that another version or other options made, and reads
the text beside it. A source still includes what it uses, because other compilers, and compiler
caches, which look at preprocessed text, go without.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

CACHES = ("ccache", "sccache")
# What many sources include; a header costs every unit its part of the file's loading.
STANDARD = (
    "algorithm atomic chrono cinttypes cmath complex condition_variable cstdio cstdlib cstring "
    "functional limits map memory mutex new numeric optional string thread utility vector"
)
# What kernels include, which are compiled once per instruction set: intrinsics are long to read.
KERNELS = "algorithm cmath cstdint cstring limits type_traits utility" + (
    " immintrin.h" if platform.machine() == "x86_64" else ""
)

# Each unit would instantiate the templates behind C++17's Bessel functions and their relatives,
# which nobody calls: a tenth of a small unit's time. GCC's <cmath> reads them from a header that
# this guard keeps empty; in a release that names it otherwise the line does nothing.
WITHOUT_SPECIAL_FUNCTIONS = "#define _GLIBCXX_BITS_SPECFUN_H 1\n"


def is_plain_gcc(compiler: Sequence[str]) -> bool:
    """Whether the words run GCC itself, not another compiler and not a cache in front of it."""
    found = shutil.which(compiler[0])
    if found is None or Path(found).resolve().name in CACHES:
        return False
    done = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False)
    return "Free Software Foundation" in done.stdout


def compiled_headers(
    compiler: Sequence[str], flags: Sequence[str], headers: str, folder: Path
) -> list[str]:
    """Compile the headers for units with these flags; return what such a unit's command adds."""
    command = [*compiler, *flags]
    words = [*command, WITHOUT_SPECIAL_FUNCTIONS, headers]
    digest = hashlib.sha256(shlex.join(words).encode()).hexdigest()[:12]
    text = folder / f"headers.{digest}.h"
    compiled = text.with_name(f"{text.name}.gch")
    if not compiled.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f"#include <{name}>\n" for name in headers.split()]
        text.write_text(WITHOUT_SPECIAL_FUNCTIONS + "".join(lines), encoding="utf-8")
        fresh = compiled.with_name(f"{compiled.name}.{os.getpid()}")
        made = [*command, "-x", "c++-header", str(text), "-o", str(fresh)]
        if subprocess.run(made, capture_output=True, check=False).returncode:
            # The units say what is wrong with the compiler.
            fresh.unlink(missing_ok=True)
            return []
        os.replace(fresh, compiled)
    return ["-include", str(text)]
