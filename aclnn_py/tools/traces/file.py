# SPDX-License-Identifier: Apache-2.0
"""The two forms of a trace on disk, which ``reader.py`` reads.

Text has one call per line, Chrome's JSON one event per line.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

__all__ = ["ENDINGS", "FORMS", "PHASE_ONE", "Call", "Writer", "form_of"]

FORMS = ("text", "json")
# What ends a file of each form; it is written again after each call.
ENDINGS = {"text": "", "json": "\n]\n"}
_VERSION = 1
PHASE_ONE = "GetWorkspaceSize"
# The kernel gives threads lower numbers, so rows of streams cannot collide with those of threads.
_STREAM_ROWS = 1 << 24


@dataclass(slots=True)
class Call:
    """One C call of a trace.

    Attributes
    ----------
    name : str
        The C name.
    operator : bool
        Whether it is a phase of an operator or the launch of a graph; False for other functions.
    begun_us, lasted_us : float
        Microseconds since the start of the trace, and microseconds the host spent in the call.
    thread : int
        Thread number of the kernel.
    stream, device : int or None
        Of a launch.
    arguments, status : str
        In C syntax.
    notes : dict
        For a launch: its kind, its number on the stream, and the Python line.
    """

    name: str
    operator: bool
    begun_us: float
    lasted_us: float
    thread: int
    stream: int | None
    arguments: str
    status: str
    device: int | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether the status is a failure."""
        return self.status.endswith(")") or self.status.endswith("Error")

    @property
    def phase_one(self) -> bool:
        """Whether it is phase one of an operator."""
        return self.operator and self.name.endswith(PHASE_ONE)

    @property
    def launched(self) -> str:
        """The operator of a phase, or the name of any other call."""
        return self.name.removesuffix(PHASE_ONE) if self.operator else self.name


def form_of(path: str, form: str | None) -> str:
    """Return ``form``, or the form that the suffix of the file stands for."""
    if form is None:
        return "json" if path.endswith(".json") else "text"
    if form not in FORMS:
        raise ValueError(f"form: expected one of {', '.join(FORMS)}, got {form!r}")
    return form


class Writer:
    """Formats calls in one form.

    Parameters
    ----------
    form : str
    started : str
        Date and time for the opening.
    """

    def __init__(self, form: str, started: str) -> None:
        self._process = os.getpid()
        self._rows: set[int] = set()
        title = f"aclnn_py trace {_VERSION}"
        if form == "text":
            self.opening = f"# {title}, process {self._process}, {started}\n"
            self.text_of = self._text
        else:
            self.opening = "[" + self._name("process_name", 0, f"{title}, {started}")[1:]
            self.text_of = self._json

    def _text(self, calls: Sequence[Call]) -> str:
        return "".join(map(_line, calls))

    def _json(self, calls: Sequence[Call]) -> str:
        """Put each call on the row of its thread, and the whole launch on the row of its stream."""
        text = ""
        for call in calls:
            if call.thread not in self._rows:
                self._rows.add(call.thread)
                text += self._name("thread_name", call.thread, f"thread {call.thread}")
            text += self._event(call, call.name, "launch" if call.operator else "function")
        last = calls[-1]
        if last.operator and last.stream is not None:
            row = _STREAM_ROWS + last.stream
            if row not in self._rows:
                self._rows.add(row)
                on = "" if last.device is None else f", device {last.device}"
                text += self._name("thread_name", row, f"stream {last.stream}{on}")
            text += self._event(last, last.launched, "stream", row, calls[0].begun_us)
        return text

    def _event(
        self, call: Call, name: str, kind: str, row: int | None = None, begun: float | None = None
    ) -> str:
        first = call.begun_us if begun is None else begun
        details = "".join(
            f', "{key}": {value if isinstance(value, int) else quoted(value)}'
            for key, value in call.notes.items()
        )
        if call.stream is not None:
            details += f', "stream": {call.stream}'
        return (
            f',\n{{"name": "{name}", "cat": "{kind}", "ph": "X", "ts": {first:.3f}, '
            f'"dur": {call.begun_us + call.lasted_us - first:.3f}, "pid": {self._process}, '
            f'"tid": {call.thread if row is None else row}, "args": {{"arguments": '
            f'{quoted(call.arguments)}, "status": {quoted(call.status)}{details}}}}}'
        )

    def _name(self, kind: str, row: int, name: str) -> str:
        return (
            f',\n{{"name": "{kind}", "ph": "M", "pid": {self._process}, "tid": {row}, '
            f'"args": {{"name": "{name}"}}}}'
        )


def _line(call: Call) -> str:
    where = "-" if call.stream is None else f"stream {call.stream}"
    notes = ", ".join([f"{key} {value}" for key, value in call.notes.items()])
    tail = f"  [{notes}]" if notes else ""
    return (
        f"{call.begun_us:14.3f} us +{call.lasted_us:.3f} us  thread {call.thread}  {where}  "
        f"{call.name}({call.arguments}) -> {call.status}{tail}\n"
    )
