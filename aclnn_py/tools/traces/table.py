# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py trace``: how much time of a trace each operator took."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from aclnn_py.tools.traces.file import Call
from aclnn_py.tools.traces.reader import TraceError, calls_of

__all__ = ["Total", "bar", "run", "table", "totals"]

_MAX_NAMES = 100_000
_BAR = 24
_EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass
class Total:
    """All launches of one operator, or all calls of one function.

    Attributes
    ----------
    name : str
        The C name; for an operator the name of phase two.
    calls, failures : int
        Number of launches or calls, and of those that failed. A phase one that succeeds is not
        counted, because it is not a launch yet.
    total_us, max_us : float
        Host time of all of them with both phases, and of the longest single C call.
    share : float
        Part of the whole table, 0 to 1.
    """

    name: str
    calls: int = 0
    failures: int = 0
    total_us: float = 0.0
    max_us: float = 0.0
    share: float = 0.0


def totals(calls: Iterable[Call]) -> list[Total]:
    """Sum up calls by operator or function, the longest in total first.

    Raises
    ------
    TraceError
        There are more names than libraries have functions.
    """
    found: dict[str, Total] = {}
    for call in calls:
        row = found.setdefault(call.launched, Total(call.launched))
        if len(found) > _MAX_NAMES:
            raise TraceError(
                f"not a trace of aclnn_py: it has more than {_MAX_NAMES} different functions"
            )
        row.calls += call.failed or not call.phase_one
        row.failures += call.failed
        row.total_us += call.lasted_us
        row.max_us = max(row.max_us, call.lasted_us)
    whole = sum(row.total_us for row in found.values())
    for row in found.values():
        row.share = row.total_us / whole if whole else 0.0
    return sorted(found.values(), key=lambda row: (-row.total_us, row.name))


def table(rows: Sequence[Total]) -> list[str]:
    """Return the lines of a table with a bar per row."""
    width = max([len(row.name) for row in rows], default=4)
    lines = [
        f"{'name':{width}}  {'calls':>7}  {'total us':>12}  {'mean us':>10}  {'max us':>10}  "
        f"{'failed':>6}  share"
    ]
    longest = max([row.share for row in rows], default=0.0)
    for row in rows:
        lines.append(
            f"{row.name:{width}}  {row.calls:7}  {row.total_us:12.1f}  "
            f"{row.total_us / max(row.calls, 1):10.2f}  {row.max_us:10.1f}  {row.failures:6}  "
            f"{row.share:6.1%} {bar(row.share / longest if longest else 0.0)}".rstrip()
        )
    return lines


def bar(part: float) -> str:
    """Return a bar of blocks, for 0 to 1."""
    eighths = round(part * _BAR * 8)
    rest = _EIGHTHS[eighths % 8].strip()
    return "█" * (eighths // 8) + rest


def run(paths: Sequence[str], *, functions: bool = False, as_json: bool = False) -> int:
    """Print the table of one or more traces.

    Parameters
    ----------
    paths : Sequence[str]
        Traces of either form; several of them, as from several ranks, are added up.
    functions : bool, default False
        Show the functions of the runtime and of HCCL instead of operators.
    as_json : bool, default False
        Print one JSON array instead.

    Returns
    -------
    int
        0; 1 when a file cannot be read or is no trace.
    """
    others = 0

    def shown() -> Iterator[Call]:
        nonlocal others
        for call in (call for path in paths for call in calls_of(path)):
            if call.operator is functions:
                others += call.failed or not call.phase_one
            else:
                yield call

    try:
        rows = totals(shown())
    except (OSError, TraceError) as error:
        print(f"aclnn-py trace: {error}", file=sys.stderr)
        return 1
    if as_json:
        print(json.dumps([asdict(row) for row in rows]))
        return 0
    print("\n".join(table(rows)))
    kind = "operator launches" if functions else "other C calls"
    option = "without --functions" if functions else "with --functions"
    print(f"\nTimes are host times. {others} {kind} are not shown; show them {option}.")
    return 0
