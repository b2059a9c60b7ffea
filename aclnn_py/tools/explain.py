# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py explain``: what a code or a log means."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from aclnn_py.errors.code_lookup import Explanation, find
from aclnn_py.errors.explanation import render

__all__ = ["explain", "run"]

MAX_NBYTES = 64 << 20


def explain(text: str | int) -> list[Explanation]:
    """Find all status and message codes in a text and explain them.

    Parameters
    ----------
    text : str or int
        A number, a name such as ``ACLNN_ERR_PARAM_INVALID``, a message code such as ``EZ1001``, or
        any number of lines of a log.

    Returns
    -------
    list of Explanation
        Each code once, in the order of first appearance; empty when the text has none.
    """
    return find(str(text))


def run(words: Sequence[str], *, as_json: bool) -> int:
    """Print explanations; ``-`` reads the text from standard input.

    Parameters
    ----------
    words : Sequence of str
        A code, or a text.
    as_json : bool
        Print one JSON array.

    Returns
    -------
    int
        0 when the text has at least one code that the tables know, else 1.
    """
    text = " ".join(words)
    if list(words) == ["-"]:
        # A log may contain anything and have any length.
        raw = sys.stdin.buffer.read(MAX_NBYTES + 1)
        if len(raw) > MAX_NBYTES:
            print(
                f"aclnn-py explain: more than {MAX_NBYTES >> 20} MiB; give the part around the"
                " failure, such as: tail -c 1M LOG | aclnn-py explain -",
                file=sys.stderr,
            )
            return 1
        text = raw.decode("utf-8", "replace")
    found = explain(text)
    if as_json:
        print(json.dumps([asdict(one) for one in found], indent=1))
    elif found:
        print("\n\n".join(render(one) for one in found))
    else:
        print("no status code, name or message code in this text", file=sys.stderr)
    return 0 if any(one.known for one in found) else 1
