# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py cann``: write a tree in which CANN seems to be installed, and run commands in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from aclnn_py.tools.cann.environment import variables
from aclnn_py.tools.cann.layout import entries
from aclnn_py.tools.cann.versions import Release, release_named
from aclnn_py.tools.cann.writer import OccupiedError, write_tree

__all__ = ["make_tree", "run"]


def make_tree(root: Path, release: Release, *, copy: bool = False) -> Path:
    """Write a tree as an installed toolkit has it.

    Parameters
    ----------
    root : Path
        Where: a directory that does not exist, is empty, or was written by an earlier call.
    release : Release
        The release that its version files name.
    copy : bool, default False
        Copy the package's files, so that the tree works without it.

    Returns
    -------
    Path
        The directory, absolute.

    Raises
    ------
    OccupiedError
        The directory has other content.
    OSError
        A file cannot be written, or the package has not been built.
    """
    root = Path(os.path.abspath(root.expanduser()))
    write_tree(root, entries(root, release), copy=copy)
    return root


def run(directory: str | None, *, release: str, copy: bool, command: Sequence[str] | None) -> int:
    """Write the tree, and run a command that sees it.

    Parameters
    ----------
    directory : str or None
        Where; None is a directory of the user's cache, for a command.
    release : str
        The release, such as "8.5".
    copy : bool
        Copy instead of link.
    command : Sequence[str] or None
        A program and its arguments; it takes the place of this process.

    Returns
    -------
    int
        0; 1 when the tree cannot be written; 2 for wrong usage; 126 or 127 when the program cannot
        be started.
    """
    if command is not None and not command:
        return _wrong("--run needs a command")
    if directory is None and command is None:
        return _wrong("name a directory for the tree, or a command with --run")
    named = release_named(release)
    place = _cached(named) if directory is None else Path(directory)
    try:
        root = make_tree(place, named, copy=copy)
    except (OccupiedError, OSError) as error:
        print(f"aclnn-py cann: {error}", file=sys.stderr)
        return 1
    if command is None:
        print(f"CANN {named.name} on the emulator: source {root / 'set_env.sh'}")
        return 0
    sys.stdout.flush()
    environment = variables(root, named, os.environ)
    try:
        os.execvpe(command[0], list(command), environment)
    except OSError as error:
        print(f"aclnn-py cann: {command[0]}: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126


def _wrong(text: str) -> int:
    print(f"aclnn-py cann: {text}", file=sys.stderr)
    return 2


def _cached(release: Release) -> Path:
    """Return a place that stays, because build directories keep the paths they were made with."""
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "aclnn_py" / f"cann-{release.name}"
