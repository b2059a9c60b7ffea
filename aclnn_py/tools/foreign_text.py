# SPDX-License-Identifier: Apache-2.0
"""Make text from a file that anybody may have written safe for a terminal."""

from __future__ import annotations

__all__ = ["printable"]


def printable(text: str, most: int = 500) -> str:
    """Return text on one line without characters that control a terminal.

    Control characters, marks of writing direction and lone surrogates become Python escapes. Text
    longer than ``most`` characters is cut.
    """
    if len(text) > most:
        text = f"{text[:most]}... ({len(text)} characters)"
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
