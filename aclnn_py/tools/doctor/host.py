# SPDX-License-Identifier: Apache-2.0
"""The machine as the rules see it: files below a root, and environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Host"]

_MAX_ENVIRONMENT_NBYTES = 4 * 1024 * 1024


def _environment_at_start() -> dict[str, str]:
    """Return the variables at the start of this process; empty when the system does not tell."""
    try:
        with open("/proc/self/environ", "rb") as file:
            data = file.read(_MAX_ENVIRONMENT_NBYTES)
    except OSError:
        return {}
    entries = (os.fsdecode(entry).partition("=") for entry in data.split(b"\0") if b"=" in entry)
    return {name: value for name, _, value in entries}


@dataclass(frozen=True)
class Host:
    """Where to look.

    Parameters
    ----------
    root : Path
        Well-known places (``/usr/local/Ascend``, ``/etc``, ``/dev``, ``/sys``) are looked up below
        it. Paths that variables and files name are taken as they are.
    environ : Mapping[str, str]
        Environment variables.
    started_with : Mapping[str, str]
        The variables at the start of the process; empty when they are unknown.
    """

    root: Path = Path("/")
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    started_with: Mapping[str, str] = field(default_factory=_environment_at_start)

    def path(self, place: str) -> Path:
        """Return the place below the root; ``~`` is the user's own directory, below it too."""
        return self.root / str(Path(place).expanduser()).lstrip("/")

    def variable(self, name: str) -> str:
        """Return the value of a variable, or ""."""
        return self.environ.get(name, "")

    def directories(self, name: str) -> list[str]:
        """Return the entries of a variable that holds a search path."""
        return [item for item in self.variable(name).split(os.pathsep) if item]
