# SPDX-License-Identifier: Apache-2.0
"""The variables of a shell that sees the tree, for ``set_env.sh`` and for ``--run``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from aclnn_py.tools.cann.versions import Release

__all__ = ["SETENV", "set_env", "variables"]

# Paths in the tree; "." is the tree itself.
_SET = {
    "ASCEND_HOME_PATH": ".",
    "ASCEND_TOOLKIT_HOME": ".",
    "ASCEND_AICPU_PATH": ".",
    "ASCEND_OPP_PATH": "opp",
    "TOOLCHAIN_HOME": "toolkit",
    # CANN's own samples ask for these two.
    "DDK_PATH": ".",
    "NPU_HOST_LIB": "devlib",
}
_PREPENDED = {
    "PATH": "bin",
    "LD_LIBRARY_PATH": "lib64",
    "PYTHONPATH": "python/site-packages",
    "CMAKE_PREFIX_PATH": ".",
    "PKG_CONFIG_PATH": "lib64/pkgconfig",
}
_REPORTED = "ACLNN_PY_EMULATOR_CANN"

SETENV = """\
# Under this name some releases keep the script, and builds source it. For bash.
source "$(dirname "${BASH_SOURCE[0]}")/../set_env.sh"
"""

_SCRIPT = """\
# Written by `aclnn-py cann`. Use: source set_env.sh
# bash and zsh know where this file lies. Other shells take the directory it was written to.
if [ -n "${BASH_VERSION:-}" ]; then
  _cann_root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
elif [ -n "${ZSH_VERSION:-}" ]; then
  _cann_root=$(eval 'cd "${${(%%):-%%x}:A:h}"' && pwd)
else
  _cann_root=%(root)s
fi
if [ ! -f "$_cann_root/set_env.sh" ]; then
  echo "set_env.sh: $_cann_root is not there; source this file from bash or zsh" >&2
  unset _cann_root
  return 1
fi
%(set)s
export %(reported)s=%(release)s
%(prepended)s
unset _cann_root
"""
_PREPEND = """\
case ":${{{name}:-}}:" in
  *:"$_cann_root{path}":*) ;;
  *) export {name}="$_cann_root{path}${{{name}:+:${name}}}" ;;
esac"""


def variables(root: Path, release: Release, environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which builds and programs find the tree.

    Parameters
    ----------
    root : Path
        Where the tree lies.
    release : Release
        What the emulator is to report.
    environ : Mapping[str, str]
        The environment so far.

    Returns
    -------
    dict[str, str]
        All of it, with the tree in front of the search paths.
    """
    result = dict(environ)
    for name, path in _SET.items():
        result[name] = str(root / path)
    result[_REPORTED] = release.name
    for name, path in _PREPENDED.items():
        before = result.get(name, "")
        place = str(root / path)
        if place not in before.split(os.pathsep):
            result[name] = f"{place}{os.pathsep}{before}" if before else place
    return result


def set_env(root: Path, release: Release) -> str:
    """Return the text of ``set_env.sh``, which does what ``variables`` says."""

    def tail(path: str) -> str:
        return "" if path == "." else f"/{path}"

    return _SCRIPT % {
        "root": shlex.quote(str(root)),
        "set": "\n".join(f'export {n}="$_cann_root{tail(p)}"' for n, p in _SET.items()),
        "reported": _REPORTED,
        "release": release.name,
        "prepended": "\n".join(
            _PREPEND.format(name=name, path=tail(path)) for name, path in _PREPENDED.items()
        ),
    }
