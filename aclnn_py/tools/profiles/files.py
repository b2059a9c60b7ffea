# SPDX-License-Identifier: Apache-2.0
"""Read the tables that CANN's profiler exports: operators, calls of the host, marks."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO, TypeVar

from aclnn_py.errors import AclnnPyError
from aclnn_py.tools.foreign_text import printable

__all__ = [
    "DeviceTask",
    "HostCalls",
    "Mark",
    "ProfileError",
    "is_profile",
    "read_calls",
    "read_marks",
    "read_tasks",
]

_Entry = TypeVar("_Entry")

_NAME, _TYPE = "Op Name", "OP Type"
_START, _DURATION = "Task Start Time(us)", "Task Duration(us)"
_COMMUNICATION_WAIT, _HOST = "Communication Wait Time(us)", "Host Time(us)"
_MOST_US = 3.2e16
_MOST_CHARACTERS = 1 << 20


class ProfileError(AclnnPyError, ValueError):
    """There is no table of operators, or it is damaged."""


@dataclass(frozen=True)
class DeviceTask:
    """One operator or collective as a device ran it.

    Attributes
    ----------
    name, type : str
        "aclnnAdd" and "Add", "HcclAllReduce"; an NPU has names of kernels.
    device, stream : int
    graph : int or None
        The graph it is a node of.
    begun_us, lasted_us : float
        Start since 1970, and duration, in microseconds.
    waited_us : float
        Of a collective on the emulator: how long it waited for other ranks; the rest moved data.
    host_us : float
        On the emulator: how long the host was in the C calls of both phases. 0 for a node of a
        graph.
    shapes, dtypes : str
        Of the inputs, as "4,8;8,2" and "FLOAT;FLOAT".
    """

    name: str
    type: str
    device: int
    stream: int
    graph: int | None
    begun_us: float
    lasted_us: float
    waited_us: float = 0.0
    host_us: float = 0.0
    shapes: str = ""
    dtypes: str = ""


@dataclass(frozen=True)
class HostCalls:
    """All calls of one C function.

    Attributes
    ----------
    name, level : str
        "aclrtMemcpyAsync" and "acl", "HcclAllReduce" and "communication"; an NPU has more levels.
    calls : int
    total_us, max_us : float
        Time of all of them, and of the longest, in microseconds.
    """

    name: str
    level: str
    calls: int
    total_us: float
    max_us: float


@dataclass(frozen=True)
class Mark:
    """A mark or a range that the program has set (``mstx...``, ``aclprofMark...``).

    Attributes
    ----------
    message, domain : str
    kind : str
        "marker", "marker_ex" (on a stream), "push/pop" or "start/end".
    thread : int
    begun_us, lasted_us : float
        On the host, in microseconds; a mark lasts 0.
    device_us : float or None
        How long a range lasted on its stream; None for others.
    """

    message: str
    domain: str
    kind: str
    thread: int
    begun_us: float
    lasted_us: float
    device_us: float | None = None


def is_profile(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder, or a table that belongs to a profile."""
    place = Path(path)
    return place.is_dir() or place.suffix == ".csv"


def read_tasks(path: str | os.PathLike[str]) -> Iterator[DeviceTask]:
    """Read the tasks of a profile.

    Parameters
    ----------
    path : str or os.PathLike
        An ``op_summary_*.csv``, or a folder with such files at any depth, as ``PROF_...``.

    Raises
    ------
    ProfileError
        There is none, or a line is damaged.
    OSError
        A file cannot be read.
    """
    place = Path(path)
    files = sorted(place.rglob("op_summary_*.csv")) if place.is_dir() else [place]
    if not files:
        raise ProfileError(
            f"{path}: no op_summary_*.csv below it; export the profile with"
            " `msprof --export=on --output=FOLDER` first"
        )
    for file in files:
        yield from _entries(file, {_NAME, _DURATION}, _task)


def read_calls(path: str | os.PathLike[str]) -> Iterator[HostCalls]:
    """Read what calls took on the host (``api_statistic_*.csv``); nothing for a single table.

    Raises
    ------
    ProfileError
        A line is damaged.
    OSError
        A file cannot be read.
    """
    for file in sorted(Path(path).rglob("api_statistic_*.csv")):
        yield from _entries(file, {"API Name", "Time(us)", "Count"}, _calls)


def read_marks(path: str | os.PathLike[str]) -> Iterator[Mark]:
    """Read the marks and ranges of the program (``msprof_tx_*.csv``); nothing for a single table.

    Raises
    ------
    ProfileError
        A line is damaged.
    OSError
        A file cannot be read.
    """
    for file in sorted(Path(path).rglob("msprof_tx_*.csv")):
        yield from _entries(file, {"message", "event_type", "Start_time(us)"}, _mark)


def _entries(
    path: Path, needed: set[str], make: Callable[[dict[str, str | None]], _Entry]
) -> Iterator[_Entry]:
    with open(path, newline="", encoding="utf-8", errors="replace") as text:
        rows = csv.DictReader(_lines(path, text))
        try:
            missing = needed - set(rows.fieldnames or ())
            if missing:
                raise ProfileError(
                    f"{path}: not the table it should be: it has no column {min(missing)!r}"
                )
            for row in rows:
                yield make(row)
        except (ValueError, csv.Error) as error:
            if isinstance(error, ProfileError):
                raise
            raise ProfileError(f"{path}: line {rows.line_num}: {error}") from None


def _lines(path: Path, text: TextIO) -> Iterator[str]:
    while line := text.readline(_MOST_CHARACTERS):
        if len(line) == _MOST_CHARACTERS:
            raise ProfileError(f"{path}: a line is longer than {_MOST_CHARACTERS} characters")
        yield line


def _words(row: dict[str, str | None], key: str, most: int = 200) -> str:
    return printable((row.get(key) or "").strip(), most)


def _number(row: dict[str, str | None], key: str) -> float:
    words = (row.get(key) or "").strip()
    value = float(words or 0)
    if not (math.isfinite(value) and 0 <= value <= _MOST_US):
        raise ValueError(f"{key}: {printable(words, 40)} is no time")
    return value


def _integer(row: dict[str, str | None], key: str) -> int:
    return int((row.get(key) or "").strip() or 0)


def _task(row: dict[str, str | None]) -> DeviceTask:
    graph = _integer(row, "Model ID")
    name = _words(row, _NAME)
    return DeviceTask(
        name=name,
        type=_words(row, _TYPE) or name,
        device=_integer(row, "Device_id"),
        stream=_integer(row, "Stream ID"),
        graph=None if graph in (0, 2**32 - 1) else graph,
        begun_us=_number(row, _START),
        lasted_us=_number(row, _DURATION),
        waited_us=_number(row, _COMMUNICATION_WAIT),
        host_us=_number(row, _HOST),
        shapes=_words(row, "Input Shapes", 2000).strip('"'),
        dtypes=_words(row, "Input Data Types", 2000),
    )


def _calls(row: dict[str, str | None]) -> HostCalls:
    return HostCalls(
        name=_words(row, "API Name"),
        level=_words(row, "Level"),
        calls=_integer(row, "Count"),
        total_us=_number(row, "Time(us)"),
        max_us=_number(row, "Max(us)"),
    )


def _mark(row: dict[str, str | None]) -> Mark:
    begun, ended = _number(row, "Start_time(us)"), _number(row, "End_time(us)")
    on_stream = (_number(row, "Device Start_time(us)"), _number(row, "Device End_time(us)"))
    return Mark(
        message=_words(row, "message"),
        domain=_words(row, "domain"),
        kind=_words(row, "event_type"),
        thread=_integer(row, "tid"),
        begun_us=begun,
        lasted_us=max(0.0, ended - begun),
        device_us=on_stream[1] - on_stream[0] if all(on_stream) else None,
    )
