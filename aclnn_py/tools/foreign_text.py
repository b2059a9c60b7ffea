# SPDX-License-Identifier: Apache-2.0
"""Make text from a file that anybody may have written safe for a terminal."""

from __future__ import annotations

from typing import Any, TextIO

__all__ = ["Escaping", "printable"]


def printable(text: str, most: int = 500) -> str:
    """Return text on one line without characters that control a terminal.

    Control characters, marks of writing direction and lone surrogates become Python escapes. Text
    longer than ``most`` characters is cut.
    """
    if len(text) > most:
        text = f"{text[:most]}... ({len(text)} characters)"
    return _escaped(text)


class Escaping:
    """A text stream on which whatever controls a terminal becomes visible.

    Names of files, of operators in a record, lines of a log: what commands print may be written by
    anybody. Ends of lines and tabs stay.

    Parameters
    ----------
    stream : TextIO
        Where the text goes.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text; return how many characters of it."""
        self._stream.write(_escaped(text, kept="\n\t"))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _escaped(text: str, kept: str = "") -> str:
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in kept else ascii(char)[1:-1] for char in text
    )
