# SPDX-License-Identifier: Apache-2.0
"""The two forms of a trace on disk: text with one call per line, and Chrome's JSON.

Both may be cut off at any line, as by a crash, and can still be read.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["FORMS", "Call", "form_lines", "form_of", "opening", "read_calls"]

FORMS = ("text", "json")
_VERSION = 1
# Rows of streams must not collide with those of threads, whose numbers the kernel keeps lower.
_STREAM_ROWS = 1 << 24
_LINE = re.compile(
    r"^ *(?P<begun>[\d.]+) us +\+(?P<lasted>[\d.]+) us +thread (?P<thread>\d+) +"
    r"(?:stream (?P<stream>\d+)|-) +(?P<name>\w+)\((?P<arguments>.*)\) -> (?P<status>.*?)"
    r"(?:  \[(?P<notes>.*)\])?$"
)


@dataclass(frozen=True)
class Call:
    """One C call of a trace.

    Attributes
    ----------
    name : str
        The C name.
    operator : bool
        Whether it is a launch of an operator or a graph, and not a plain function.
    begun_us, lasted_us : float
        Since the start of the trace, and how long the host spent in it, in microseconds.
    thread : int
        The kernel's number of the thread.
    stream, device : int or None
        Of a launch.
    arguments, status : str
        In C syntax.
    notes : dict
        Phases, workspace and Python line of a launch.
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


def form_of(path: str, form: str | None) -> str:
    """Return the form that is asked for, or that the suffix of the file means."""
    if form is None:
        return "json" if path.endswith(".json") else "text"
    if form not in FORMS:
        raise ValueError(f"form: expected one of {', '.join(FORMS)}, got {form!r}")
    return form


def opening(form: str, started: str) -> str:
    """Return what a file of this form starts with."""
    process = os.getpid()
    if form == "text":
        return f"# aclnn_py trace {_VERSION}, process {process}, {started}\n"
    about = {"name": "process_name", "ph": "M", "pid": process, "tid": 0,
             "args": {"name": f"aclnn_py trace {_VERSION}, {started}"}}  # fmt: skip
    return f"[\n{json.dumps(about)}"


def form_lines(form: str, call: Call, known_rows: set[tuple[str, int]]) -> str:
    """Return the text of one call; rows that appear for the first time are named."""
    return _as_text(call) if form == "text" else _as_json(call, known_rows)


def _as_text(call: Call) -> str:
    where = "-" if call.stream is None else f"stream {call.stream}"
    notes = ", ".join(f"{key} {value}" for key, value in call.notes.items())
    tail = f"  [{notes}]" if notes else ""
    return (
        f"{call.begun_us:14.3f} us +{call.lasted_us:.3f} us  thread {call.thread}  {where}  "
        f"{call.name}({call.arguments}) -> {call.status}{tail}\n"
    )


def _as_json(call: Call, known_rows: set[tuple[str, int]]) -> str:
    process = os.getpid()
    details = {"arguments": call.arguments, "status": call.status, **call.notes}
    if call.stream is not None:
        details["stream"] = call.stream
    event = {"name": call.name, "cat": "launch" if call.operator else "function", "ph": "X",
             "ts": round(call.begun_us, 3), "dur": round(call.lasted_us, 3), "pid": process,
             "tid": call.thread, "args": details}  # fmt: skip
    events: list[dict[str, Any]] = []
    if ("thread", call.thread) not in known_rows:
        known_rows.add(("thread", call.thread))
        events.append(_row_name(process, call.thread, f"thread {call.thread}"))
    events.append(event)
    if call.stream is not None and call.operator:
        row = _STREAM_ROWS + call.stream
        if ("stream", row) not in known_rows:
            known_rows.add(("stream", row))
            on = "" if call.device is None else f", device {call.device}"
            events.append(_row_name(process, row, f"stream {call.stream}{on}"))
        events.append({**event, "cat": "stream", "tid": row})
    return "".join(f",\n{json.dumps(item)}" for item in events)


def _row_name(process: int, row: int, name: str) -> dict[str, Any]:
    return {"name": "thread_name", "ph": "M", "pid": process, "tid": row, "args": {"name": name}}


def read_calls(path: str | os.PathLike[str]) -> list[Call]:
    """Read a trace of either form.

    Raises
    ------
    ValueError
        The file is no trace.
    """
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    if text.startswith("["):
        return _from_json(text, str(path))
    if not text.startswith("# aclnn_py trace "):
        raise ValueError(f"{path}: not a trace of aclnn_py: it starts with {text[:40]!r}")
    calls = []
    for line in text.splitlines()[1:]:
        found = _LINE.match(line)
        if found is None:
            continue  # the line that a crash cut off
        stream = found["stream"]
        calls.append(
            Call(
                name=found["name"],
                operator=stream is not None,
                begun_us=float(found["begun"]),
                lasted_us=float(found["lasted"]),
                thread=int(found["thread"]),
                stream=None if stream is None else int(stream),
                arguments=found["arguments"],
                status=found["status"],
            )
        )
    return calls


def _from_json(text: str, path: str) -> list[Call]:
    calls = []
    for line in text.splitlines():
        try:
            event = json.loads(line.strip().rstrip(",").removeprefix("[") or "null")
        except ValueError:
            continue  # "[", "]", or the line that a crash cut off
        if not isinstance(event, dict) or event.get("ph") != "X" or event.get("cat") == "stream":
            continue
        try:
            details = dict(event["args"])
            calls.append(
                Call(
                    name=event["name"],
                    operator=event["cat"] == "launch",
                    begun_us=event["ts"],
                    lasted_us=event["dur"],
                    thread=event["tid"],
                    stream=details.pop("stream", None),
                    arguments=details.pop("arguments"),
                    status=details.pop("status"),
                    notes=details,
                )
            )
        except KeyError as error:
            raise ValueError(f"{path}: not a trace of aclnn_py: an event has no {error}") from None
    return calls
