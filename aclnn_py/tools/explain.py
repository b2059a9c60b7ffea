# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py explain``: what a code, a text or a log means."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import BinaryIO

from aclnn_py.errors.code_finder import the_code
from aclnn_py.errors.code_lookup import Explanation
from aclnn_py.errors.explanation import render_all
from aclnn_py.errors.log_reader import LogReader, read_text

__all__ = ["explain", "run"]

_LONGEST_NBYTES = 1 << 20  # of one line; what is longer is read in parts
_REPORT_S = 5.0
_NOTHING = (
    "no status code, name, message code or known text; the library's log of a failed process is"
    " ~/ascend/log/debug/plog/plog-PID_*.log: aclnn-py explain FILE reads it"
)


def explain(text: str | int) -> list[Explanation]:
    """Say what a code, a message or a log means.

    Texts that name a cause count more than codes. Numbers are codes only where the text says so,
    so that a process number, a port, a size or a shape is none.

    Parameters
    ----------
    text : str or int
        A number, a name such as ``ACLNN_ERR_PARAM_INVALID``, a message code such as ``EZ1001``, or
        any number of lines of a log.

    Returns
    -------
    list of Explanation
        The most telling first; each code and each cause once. Where a log names no cause, ``cause``
        of the first is ``"unknown"``, and its ``checks`` say where to read on. Empty when there is
        nothing to explain.
    """
    return read_text(str(text))


def run(words: Sequence[str], *, as_json: bool) -> int:
    """Print explanations of words, files or standard input.

    Parameters
    ----------
    words : Sequence of str
        A code, a text, or names of files. None at all, or ``-``, read standard input.
    as_json : bool
        Print one JSON array.

    Returns
    -------
    int
        0 when there is at least one code or text that the tables know, 1 when there is none, 2 when
        there is nothing to read.
    """
    if not words and sys.stdin.isatty():
        print("aclnn-py explain: give a code, a text or a log file, or pipe a log", file=sys.stderr)
        return 2
    try:
        found = _found(words)
    except OSError as error:
        reason = "give the files in it" if isinstance(error, IsADirectoryError) else error.strerror
        print(f"aclnn-py explain: {error.filename}: {reason}", file=sys.stderr)
        return 1
    if as_json:
        print(json.dumps([{**asdict(one), "named": dict(one.named)} for one in found], indent=1))
    elif found:
        print(render_all(found))
    else:
        print(_NOTHING, file=sys.stderr)
    return 0 if any(one.known for one in found) else 1


def _found(words: Sequence[str]) -> list[Explanation]:
    if not words or list(words) == ["-"]:
        return _of_files([""])
    text = " ".join(words)
    if the_code(text.strip()) is None and all(map(_is_file_name, words)):
        return _of_files(words)
    return read_text(text)


def _is_file_name(word: str) -> bool:
    """Whether a word names a file that is there, or one that somebody meant."""
    meant = os.sep in word or word.endswith((".log", ".txt", ".out"))
    return os.path.exists(word) or (meant and len(word.split()) == 1 and "\0" not in word)


def _of_files(names: Sequence[str]) -> list[Explanation]:
    """Read logs of any size in constant memory; say on standard error how far it is."""
    reader = LogReader()
    for name in names:
        shown = name if len(names) > 1 else ""
        with open(name, "rb") if name else nullcontext(sys.stdin.buffer) as file:
            for number, line in enumerate(_lines(file, name or "standard input", reader), 1):
                reader.feed(line, file=shown, number=number)
    return read_text(reader.first) if reader.n_lines == 1 else reader.explanations()


def _lines(file: BinaryIO, name: str, reader: LogReader) -> Iterator[str]:
    started = reported = time.monotonic()
    nbytes = 0
    while raw := file.readline(_LONGEST_NBYTES):
        nbytes += len(raw)
        yield raw.decode("utf-8", "replace").rstrip("\r\n")
        if nbytes % 4096 < len(raw) and time.monotonic() - reported > _REPORT_S:
            reported = time.monotonic()
            print(
                f"aclnn-py explain: {name}: {nbytes >> 20} MiB read in {reported - started:.0f} s,"
                f" {reader.n_found} codes and causes so far",
                file=sys.stderr,
            )
