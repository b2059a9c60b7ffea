# SPDX-License-Identifier: Apache-2.0
"""Settings that come from the environment."""

from __future__ import annotations

import os

__all__ = ["chosen", "enabled", "for_this_process"]


def enabled(variable: str) -> bool:
    """Return whether a variable is ``1``; unset, empty and ``0`` are no.

    Raises
    ------
    ValueError
        It has any other value.
    """
    value = os.environ.get(variable, "")
    if value not in ("", "0", "1"):
        raise ValueError(f"{variable} is {value!r}; it must be 1, 0 or unset")
    return value == "1"


def chosen(variable: str, *words: str) -> str:
    """Return the word a variable holds; the first one is meant when it is unset or empty.

    Raises
    ------
    ValueError
        It holds something else.
    """
    value = os.environ.get(variable, "") or words[0]
    if value not in words:
        raise ValueError(f"{variable} is {value!r}; it must be one of {', '.join(words)}, or unset")
    return value


def for_this_process(path: str | os.PathLike[str]) -> str:
    """Return the name of a file, with ``%p`` for the process and ``%r`` for the rank filled in."""
    rank = os.environ.get("RANK") or "0"
    return os.fspath(path).replace("%p", str(os.getpid())).replace("%r", rank)
