# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py config``: flags for C and C++ programs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

__all__ = [
    "CHOICES",
    "cmake_directory",
    "compiler_flags",
    "include_directory",
    "libraries_directory",
    "linker_flags",
    "pkg_config_directory",
    "run",
]

# What programs written for CANN link: runtime, operator meta, operators, communication.
_LIBRARIES = ("ascendcl", "nnopbase", "opapi", "hccl", "hcomm")
# A shell splits what $(...) printed without looking at quotes; eval looks at them.
_EXAMPLE = 'eval "c++ $(aclnn-py config --cflags) program.cpp $(aclnn-py config --libs)"'


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
        Words of the command line: the include path of every spelling that CANN's own directories
        allow, such as ``aclnnop/aclnn_add.h``, ``aclnn_add.h``, ``opdev/fp16_t.h``.
    """
    include = include_directory()
    # Not aclnnop itself: a header of ours there has the name of the C library's math.h.
    folders = (include, include / "aclnn", include / "aclnnop" / "level2", include / "mstx")
    return [f"-I{folder}" for folder in folders]


def cmake_directory() -> Path:
    """Return the directory of the CMake package ``CANN``, for ``CANN_DIR``.

    Raises
    ------
    FileNotFoundError
        The package has not been built.
    """
    return _built(_package() / "lib" / "cmake" / "CANN", "CANNConfig.cmake")


def pkg_config_directory() -> Path:
    """Return the directory of the pkg-config files, for ``PKG_CONFIG_PATH``.

    Raises
    ------
    FileNotFoundError
        The package has not been built.
    """
    return _built(_package() / "lib" / "pkgconfig", "cann.pc")


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


CHOICES: dict[str, tuple[str, Callable[[], list[str]]]] = {
    "cflags": ("include directories", compiler_flags),
    "libs": ("library directory, run path, libraries", linker_flags),
    "include-dir": ("only the include directory", lambda: [str(include_directory())]),
    "lib-dir": ("only the library directory", lambda: [str(libraries_directory())]),
    "cmake-dir": ("the directory for CMake's CANN_DIR", lambda: [str(cmake_directory())]),
    "pkg-config-dir": (
        "the directory for PKG_CONFIG_PATH",
        lambda: [str(pkg_config_directory())],
    ),
}
"""What `aclnn-py config` prints: option -> its help, and the words."""


def run(*wanted: str) -> int:
    """Print what was asked for on one line.

    One directory is printed as it is. Several words are quoted for a shell where they need it, and
    a second line on standard error says how a shell reads them then.

    Parameters
    ----------
    *wanted : str
        Names of ``CHOICES``; they are printed in its order.

    Returns
    -------
    int
        0; 1 when the package has not been built; 2 when no flag was given.
    """
    words: list[str] = []
    if not wanted:
        print(f"aclnn-py config: ask for {' or '.join(f'--{n}' for n in CHOICES)}", file=sys.stderr)
        return 2
    try:
        for name, (_, answer) in CHOICES.items():
            if name in wanted:
                words += answer()
    except FileNotFoundError as error:
        print(f"aclnn-py config: {error}", file=sys.stderr)
        return 1
    if len(words) == 1:
        print(words[0])
        return 0
    print(shlex.join(words))
    if any(shlex.quote(word) != word for word in words):
        print(
            f"aclnn-py config: {_package()} has blanks or other characters of the shell, so the"
            f" words are quoted; let the shell read them: {_EXAMPLE}",
            file=sys.stderr,
        )
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
