# SPDX-License-Identifier: Apache-2.0
"""Start a module of this package in another Python process, and no file that lies around it.

``python -c`` and ``python -m`` look for modules in the current directory first, so that a file
``typing.py`` there would run in place of Python's own. A child started from here does not look
there, and takes this package from where this process has it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Child", "python_child"]

_PACKAGE = Path(__file__).resolve().parents[1]
# The first line is for Python 3.10, which has no -P. The package is made from its files instead of
# from a search path: the directory above them may be the current one.
_PROGRAM = """\
import sys; sys.path[:] = filter(None, sys.path)
import importlib.util, os, runpy
package, module = sys.argv[1:3]
del sys.argv[1:3]
spec = importlib.util.spec_from_file_location("aclnn_py", os.path.join(package, "__init__.py"))
sys.modules["aclnn_py"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["aclnn_py"])
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


@dataclass(frozen=True)
class Child:
    """What starts a Python process.

    Attributes
    ----------
    words : tuple of str
        The command; arguments may follow.
    environment : dict
        Variables of the process.
    """

    words: tuple[str, ...]
    environment: dict[str, str]


def python_child(
    module: str,
    *arguments: str,
    environ: Mapping[str, str] | None = None,
    options: tuple[str, ...] = (),
) -> Child:
    """Return what runs a module of this package as ``python -m`` does, in a process of its own.

    Neither the current directory nor that of a script is searched for modules, and an entry of
    ``PYTHONPATH`` that is the current directory is left out; other entries keep their meaning.

    Parameters
    ----------
    module : str
        Its full name, as ``"aclnn_py.tools.cli"``.
    *arguments : str
        The words of ``sys.argv`` after the first.
    environ : mapping, optional
        Variables of the process; default is ``os.environ``.
    options : tuple of str
        Options of the interpreter, as ``("-X", "faulthandler")``.

    Raises
    ------
    RuntimeError
        This process does not know its interpreter, as in a program that embeds Python.
    """
    if not sys.executable:
        raise RuntimeError(
            "no other Python process can be started: sys.executable is empty, because a program"
            " embeds this Python; set sys.executable to a python program"
        )
    environment = dict(os.environ if environ is None else environ)
    places = list(_elsewhere(environment.pop("PYTHONPATH", "")))
    if places:
        environment["PYTHONPATH"] = os.pathsep.join(places)
    words = (sys.executable, *_as_here(), *options, "-c", _PROGRAM, str(_PACKAGE), module)
    return Child((*words, *arguments), environment)


def _as_here() -> Iterator[str]:
    """Yield the options that keep this process, and so its child, from places of the user."""
    if sys.version_info >= (3, 11):
        yield "-P"
    if sys.flags.isolated:
        yield "-I"
    elif sys.flags.ignore_environment:
        yield "-E"
    if sys.flags.no_user_site and not sys.flags.isolated:
        yield "-s"


def _elsewhere(search_path: str) -> Iterator[str]:
    """Yield the entries of a search path that are not the current directory."""
    for place in search_path.split(os.pathsep) if search_path else ():
        try:
            here = os.path.samefile(place or os.curdir, os.curdir)
        except OSError:
            here = False  # there is no such directory
        if not here:
            yield place
