# SPDX-License-Identifier: Apache-2.0
"""Read traces from files that anybody may have written.

A file is read line by line, so that its size does not matter. Each line has a limit, and the types
and ranges of each call are checked. The last line may be incomplete, for example on a full disk.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn

from aclnn_py.errors import AclnnPyError
from aclnn_py.tools.foreign_text import printable
from aclnn_py.tools.traces.file import PHASE_ONE, Call

__all__ = ["TraceError", "calls_of", "read_calls"]

MAX_LINE_NBYTES = 4 << 20
_TITLE = "aclnn_py trace "
_OPENING = f"# {_TITLE}"
# A thousand years; the sum over any file stays finite.
_MAX_US = 3.2e16
_MAX_INTEGER = 2**63 - 1
_NAME = re.compile(r"\w{1,200}", re.ASCII)
# A line up to its arguments. The rest is searched from the end, because a pattern for the whole
# line would scan a long line again and again.
_HEAD = re.compile(
    r" {0,32}(?P<begun>\d{1,18}(?:\.\d{1,9})?) us \+(?P<lasted>\d{1,18}(?:\.\d{1,9})?) us  "
    r"thread (?P<thread>\d{1,18})  (?:stream (?P<stream>\d{1,18})|-)  (?P<name>\w{1,200})\(",
    re.ASCII,
)


class TraceError(AclnnPyError, ValueError):
    """The file is no trace of this package, or it is damaged."""


def read_calls(path: str | os.PathLike[str]) -> list[Call]:
    """Read a trace of either form.

    Raises
    ------
    TraceError
        The file is no trace, or it is damaged before its last line.
    """
    return list(calls_of(path))


def calls_of(path: str | os.PathLike[str]) -> Iterator[Call]:
    """Read a trace of either form call by call.

    Raises
    ------
    TraceError
        The file is no trace, or it is damaged before its last line.
    """
    with open(path, "rb") as file:
        opening = file.read(1)
        if opening == b"[":
            # The bracket has its own line.
            title = file.readline(MAX_LINE_NBYTES).strip() or file.readline(MAX_LINE_NBYTES)
            _check_title(path, title)
            yield from _calls(path, file, 3, _event)
            return
        first = (opening + file.readline(MAX_LINE_NBYTES)).decode("utf-8", "replace")
        if not first.startswith(_OPENING):
            raise TraceError(f"{path}: not a trace of aclnn_py: it starts with {first[:40]!a}")
        yield from _calls(path, file, 2, _call)


def _check_title(path: Any, line: bytes) -> None:
    """Check the first event, which names the process and what wrote the file."""
    try:
        event = json.loads(line.decode("utf-8", "replace").strip().rstrip(","))
        title = event["args"]["name"]
    except (ValueError, RecursionError, TypeError, KeyError):
        title = None
    if not isinstance(title, str) or not title.startswith(_TITLE):
        start = ascii(line[:40].decode("utf-8", "replace"))
        raise TraceError(f"{path}: not a trace of aclnn_py: it has no title, but {start}")


def _calls(path: Any, file: BinaryIO, number: int, read: Any) -> Iterator[Call]:
    cut: TraceError | None = None
    while line := file.readline(MAX_LINE_NBYTES):
        if len(line) == MAX_LINE_NBYTES:
            raise TraceError(f"{path}: line {number} is longer than {MAX_LINE_NBYTES} bytes")
        text = line.decode("utf-8", "replace").strip()
        if text not in ("", "]"):
            if cut is not None:
                raise cut
            try:
                call = read(text)
            except TraceError as error:
                raise TraceError(f"{path}: line {number}: {error}") from None
            except (ValueError, RecursionError):
                # Only the last line may be incomplete, after a crash.
                cut = TraceError(f"{path}: line {number} is no call: {printable(text, 40)}")
                call = None
            if call is not None:
                yield call
        number += 1


def _call(line: str) -> Call:
    head = _HEAD.match(line)
    arguments, mark, tail = line[head.end() :].rpartition(") -> ") if head else ("", "", "")
    if head is None or not mark:
        raise ValueError("cut off")
    at = tail.find("  [")
    status = tail[:at] if at >= 0 and tail.endswith("]") else tail
    stream = head["stream"]
    return Call(
        name=head["name"],
        # A C program's phase one is not on a stream yet.
        operator=stream is not None or head["name"].endswith(PHASE_ONE),
        begun_us=float(head["begun"]),
        lasted_us=float(head["lasted"]),
        thread=int(head["thread"]),
        stream=None if stream is None else int(stream),
        arguments=arguments,
        status=status,
    )


def _event(line: str) -> Call | None:
    """Return the call of an event, or None for the name of a row or an event of a stream's row."""
    event = json.loads(line.rstrip(","))
    if not isinstance(event, dict):
        raise ValueError("no event")
    if event.get("ph") != "X" or event.get("cat") == "stream":
        return None
    details = dict(_of(event, "args", dict))
    stream = details.pop("stream", None)
    name = _of(event, "name", str)
    if not _NAME.fullmatch(name):
        _refuse("name", name, "the C name of a function")
    call = Call(
        name=name,
        operator=_of(event, "cat", str) == "launch",
        begun_us=_time(event, "ts"),
        lasted_us=_time(event, "dur"),
        thread=_natural("tid", _of(event, "tid", int)),
        stream=None if stream is None else _natural("stream", stream),
        arguments=_of(details, "arguments", str),
        status=_of(details, "status", str),
        notes=details,
    )
    del details["arguments"], details["status"]
    for key, value in details.items():
        if type(value) not in (int, str):
            _refuse(key, value, "text or an integer")
    return call


def _of(row: dict[str, Any], key: str, kind: type) -> Any:
    if key not in row:
        raise TraceError(f"not a trace of aclnn_py: an event has no {key!r}")
    if type(row[key]) is not kind:
        _refuse(key, row[key], {str: "text", int: "an integer", dict: "an object"}[kind])
    return row[key]


def _time(row: dict[str, Any], key: str) -> float:
    value: Any = row.get(key)
    if type(value) not in (int, float) or not 0 <= value <= _MAX_US:
        _refuse(key, value, f"microseconds in 0..{_MAX_US:g}")
    return float(value)


def _natural(key: str, value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _MAX_INTEGER:
        _refuse(key, value, f"an integer in 0..{_MAX_INTEGER}")
    return int(value)


def _refuse(key: str, value: Any, allowed: str) -> NoReturn:
    found = f"{printable(key, 40)}: found {_short(value)}; allowed is {allowed}"
    raise TraceError(f"not a trace of aclnn_py: {found}")


def _short(value: Any) -> str:
    if isinstance(value, str):
        return ascii(value[:40])
    if isinstance(value, (int, float)) and abs(value) < 1e40:
        return repr(value)
    return type(value).__name__
