# SPDX-License-Identifier: Apache-2.0
"""Read the tables of operators that CANN's profiler exports (``op_summary_*.csv``)."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from aclnn_py.errors import AclnnPyError
from aclnn_py.tools.foreign_text import printable

__all__ = ["DeviceTask", "ProfileError", "is_profile", "read_tasks"]

_NAME, _TYPE = "Op Name", "OP Type"
_START, _DURATION = "Task Start Time(us)", "Task Duration(us)"
_COMMUNICATION_WAIT = "Communication Wait Time(us)"
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
    shapes: str = ""
    dtypes: str = ""


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
        with open(file, newline="", encoding="utf-8", errors="replace") as text:
            yield from _tasks(file, text)


def _tasks(path: Path, text: TextIO) -> Iterator[DeviceTask]:
    rows = csv.DictReader(_lines(path, text))
    try:
        missing = {_NAME, _DURATION} - set(rows.fieldnames or ())
        if missing:
            raise ProfileError(f"{path}: no table of operators: it has no column {min(missing)!r}")
        for row in rows:
            yield _task(row)
    except (ValueError, csv.Error) as error:
        if isinstance(error, ProfileError):
            raise
        raise ProfileError(f"{path}: line {rows.line_num}: {error}") from None


def _lines(path: Path, text: TextIO) -> Iterator[str]:
    while line := text.readline(_MOST_CHARACTERS):
        if len(line) == _MOST_CHARACTERS:
            raise ProfileError(f"{path}: a line is longer than {_MOST_CHARACTERS} characters")
        yield line


def _task(row: dict[str, str | None]) -> DeviceTask:
    def words(key: str) -> str:
        return (row.get(key) or "").strip()

    def number(key: str) -> float:
        value = float(words(key) or 0)
        if not (math.isfinite(value) and 0 <= value <= _MOST_US):
            raise ValueError(f"{key}: {printable(words(key), 40)} is no time")
        return value

    def integer(key: str) -> int:
        return int(words(key) or 0)

    graph = integer("Model ID")
    name = printable(words(_NAME), 200)
    return DeviceTask(
        name=name,
        type=printable(words(_TYPE), 200) or name,
        device=integer("Device_id"),
        stream=integer("Stream ID"),
        graph=None if graph in (0, 2**32 - 1) else graph,
        begun_us=number(_START),
        lasted_us=number(_DURATION),
        waited_us=number(_COMMUNICATION_WAIT),
        shapes=printable(words("Input Shapes").strip('"'), 2000),
        dtypes=printable(words("Input Data Types"), 2000),
    )
