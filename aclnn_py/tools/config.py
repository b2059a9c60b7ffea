# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py config``: flags for C and C++ programs."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

__all__ = ["compiler_flags", "include_directory", "libraries_directory", "linker_flags", "run"]

# What programs written for CANN link: runtime, operator meta, operators, communication.
_LIBRARIES = ("ascendcl", "nnopbase", "opapi", "hccl")


def include_directory() -> Path:
    """Return the directory of the C headers, laid out as CANN's own.

    Returns
    -------
    pathlib.Path
        It holds ``acl/acl.h``, ``aclnn/aclnn_base.h``, ``aclnnop/``, ``hccl/hccl.h``.

    Raises
    ------
    FileNotFoundError
        The package has not been built.
    """
    return _built(_package() / "include", "acl/acl.h")


def libraries_directory() -> Path:
    """Return the directory of the emulator's libraries under CANN's names.

    Returns
    -------
    pathlib.Path
        It holds ``libascendcl.so``, ``libnnopbase.so``, ``libopapi.so``, ``libhccl.so``.

    Raises
    ------
    FileNotFoundError
        The package has not been built.
    """
    return _built(_package() / "lib", "libascendcl.so")


def compiler_flags() -> list[str]:
    """Return the compiler flags of a program that uses the headers.

    Returns
    -------
    list[str]
        Words of the command line.
    """
    return [f"-I{include_directory()}"]


def linker_flags() -> list[str]:
    """Return the linker flags of a program that runs on the emulator.

    The run path lets it start without LD_LIBRARY_PATH.

    Returns
    -------
    list[str]
        Words of the command line; they come after the sources.
    """
    directory = libraries_directory()
    return [f"-L{directory}", f"-Wl,-rpath,{directory}", *(f"-l{name}" for name in _LIBRARIES)]


def run(*, cflags: bool, libs: bool, include_dir: bool, lib_dir: bool) -> int:
    """Print what was asked for on one line.

    Parameters
    ----------
    cflags, libs, include_dir, lib_dir : bool
        What to print, in this order.

    Returns
    -------
    int
        0; 1 when the package has not been built; 2 when no flag was given.
    """
    words: list[str] = []
    if not (cflags or libs or include_dir or lib_dir):
        print(
            "aclnn-py config: ask for --cflags, --libs, --include-dir or --lib-dir", file=sys.stderr
        )
        return 2
    try:
        if cflags:
            words += compiler_flags()
        if libs:
            words += linker_flags()
        if include_dir:
            words.append(str(include_directory()))
        if lib_dir:
            words.append(str(libraries_directory()))
    except FileNotFoundError as error:
        print(f"aclnn-py config: {error}", file=sys.stderr)
        return 1
    print(shlex.join(words))
    return 0


def _package() -> Path:
    return Path(__file__).resolve().parent.parent


def _built(directory: Path, witness: str) -> Path:
    if not (directory / witness).exists():
        raise FileNotFoundError(
            f"{directory / witness} does not exist: install the package, or run"
            " `python build_ffi.py` in the source tree"
        )
    return directory
