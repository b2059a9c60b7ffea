# SPDX-License-Identifier: Apache-2.0
"""Settings that come from the environment."""

from __future__ import annotations

import os

__all__ = ["chosen", "enabled", "for_this_process", "nbytes_of"]

_POWERS = {"K": 10, "M": 20, "G": 30, "T": 40}


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


def nbytes_of(variable: str, usual: int) -> int:
    """Return the bytes that a variable holds, with a suffix K, M, G or T (powers of 1024) or none.

    Raises
    ------
    ValueError
        It holds something else.
    """
    value = os.environ.get(variable, "")
    if not value:
        return usual
    digits, suffix = (value[:-1], value[-1]) if value[-1] in _POWERS else (value, "")
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"{variable} is {value!r}; it must be bytes, as in 65536, 64M or 1G")
    return int(digits) << (_POWERS[suffix] if suffix else 0)
