# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py gdb``: start gdb with the printers, or say where they are."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["printers_path", "run"]


def printers_path() -> Path:
    """Return the file that gdb reads with ``-x`` or ``source``."""
    return Path(__file__).resolve().with_name("printers.py")


def run(words: Sequence[str], *, path_only: bool = False) -> int:
    """Replace this process by gdb with the printers.

    Parameters
    ----------
    words : Sequence[str]
        The words for gdb after the printers, ``--args ./program 1`` for example.
    path_only : bool, default False
        Print the path of the printers instead.

    Returns
    -------
    int
        0; 1 when there is no gdb.
    """
    if path_only:
        print(printers_path())
        return 0
    gdb = shutil.which("gdb")
    if gdb is None:
        print("aclnn-py gdb: gdb is not on the path", file=sys.stderr)
        return 1
    sys.stdout.flush()
    os.execv(gdb, [gdb, "-x", str(printers_path()), *words])
