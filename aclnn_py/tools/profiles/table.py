# SPDX-License-Identifier: Apache-2.0
"""Times of a profile as tables: operators, calls of the host, marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aclnn_py.tools.profiles.files import DeviceTask, HostCalls, Mark
from aclnn_py.tools.traces.table import bar

__all__ = ["OperatorTime", "call_lines", "lines", "mark_lines", "sum_up"]

_SECOND = "GetWorkspaceSize"


@dataclass
class OperatorTime:
    """All calls of one operator, or those with the same shapes.

    Attributes
    ----------
    name : str
    shapes : str
        Of the inputs; "" when calls of all shapes are added up.
    calls : int
    device_us, max_us : float
        Device time of all calls, and of the longest.
    host_us : float
        Time of the host in the C calls that launched them, both phases.
    waited_us : float
        The part of ``device_us`` in which a collective waited for other ranks.
    share : float
        Part of all device time, 0 to 1.
    """

    name: str
    shapes: str = ""
    calls: int = 0
    device_us: float = 0.0
    max_us: float = 0.0
    host_us: float = 0.0
    waited_us: float = 0.0
    share: float = 0.0


def sum_up(
    tasks: Iterable[DeviceTask], *, by_shape: bool = False, calls: Iterable[HostCalls] = ()
) -> list[OperatorTime]:
    """Sum up tasks by operator, the longest in total first.

    ``calls`` are for tasks that do not say what their launch took, as those of an NPU.
    """
    found: dict[tuple[str, str], OperatorTime] = {}
    for task in tasks:
        key = (task.name, task.shapes if by_shape else "")
        row = found.setdefault(key, OperatorTime(*key))
        row.calls += 1
        row.device_us += task.lasted_us
        row.max_us = max(row.max_us, task.lasted_us)
        row.host_us += task.host_us
        row.waited_us += task.waited_us
    whole = sum(row.device_us for row in found.values())
    for row in found.values():
        row.share = row.device_us / whole if whole else 0.0
    rows = sorted(found.values(), key=lambda row: (-row.device_us, row.name, row.shapes))
    if not by_shape and not any(row.host_us for row in rows):
        _add_calls(rows, calls)
    return rows


def _add_calls(rows: Sequence[OperatorTime], calls: Iterable[HostCalls]) -> None:
    """Give each operator what its calls took; of several kernels the longest one gets it."""
    spent: dict[str, float] = {}
    for call in calls:
        name = call.name.removesuffix(_SECOND)
        spent[name] = spent.get(name, 0.0) + call.total_us
    for row in rows:
        row.host_us = spent.pop(row.name.split("_", 1)[0], 0.0)


def lines(rows: Sequence[OperatorTime]) -> list[str]:
    """Return the lines of a table with a bar per row."""
    width = max([len(row.name) for row in rows], default=8)
    waits, hosts = any(row.waited_us for row in rows), any(row.host_us for row in rows)
    shaped = max([len(row.shapes) for row in rows], default=0)
    head = f"{'operator':{width}}  {'calls':>7}"
    head += f"  {'host us':>12}" if hosts else ""
    head += f"  {'device us':>12}  {'mean us':>10}  {'max us':>10}"
    head += f"  {'waited us':>12}" if waits else ""
    head += f"  {'shapes':{shaped}}" if shaped else ""
    found = [f"{head}  share"]
    longest = max([row.share for row in rows], default=0.0)
    for row in rows:
        line = f"{row.name:{width}}  {row.calls:7}"
        line += f"  {row.host_us:12.1f}" if hosts else ""
        mean = row.device_us / max(row.calls, 1)
        line += f"  {row.device_us:12.1f}  {mean:10.2f}  {row.max_us:10.1f}"
        line += f"  {row.waited_us:12.1f}" if waits else ""
        line += f"  {row.shapes:{shaped}}" if shaped else ""
        part = row.share / longest if longest else 0.0
        found.append(f"{line}  {row.share:6.1%} {bar(part)}".rstrip())
    return found


def call_lines(calls: Iterable[HostCalls]) -> list[str]:
    """Return the lines of a table of the host's calls, the longest in total first."""
    rows = sorted(calls, key=lambda call: (-call.total_us, call.name))
    width = max([len(row.name) for row in rows], default=4)
    found = [f"{'call':{width}}  {'calls':>7}  {'host us':>12}  {'mean us':>10}  {'max us':>10}"]
    for row in rows:
        mean = row.total_us / max(row.calls, 1)
        found.append(
            f"{row.name:{width}}  {row.calls:7}  {row.total_us:12.1f}  {mean:10.2f}"
            f"  {row.max_us:10.1f}"
        )
    return found


def mark_lines(marks: Iterable[Mark]) -> list[str]:
    """Return the lines of a table of marks and ranges by message and domain, in their order."""
    sums: dict[tuple[str, str], list[float]] = {}
    for mark in marks:
        row = sums.setdefault((mark.message, mark.domain), [0, 0.0, 0.0])
        row[0] += 1
        row[1] += mark.lasted_us
        row[2] += mark.device_us or 0.0
    width = max([len(message) for message, _ in sums], default=0)
    width = max(width, len("mark or range"))
    found = [f"{'mark or range':{width}}  {'count':>7}  {'host us':>12}  {'device us':>12}  domain"]
    for (message, domain), (count, host, device) in sums.items():
        found.append(
            f"{message:{width}}  {count:7}  {host:12.1f}  {device:12.1f}  {domain}".rstrip()
        )
    return found
