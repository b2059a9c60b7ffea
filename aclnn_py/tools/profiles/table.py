# SPDX-License-Identifier: Apache-2.0
"""Device time by operator, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aclnn_py.tools.profiles.files import DeviceTask
from aclnn_py.tools.traces.table import bar

__all__ = ["OperatorTime", "lines", "sum_up"]


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
    waited_us: float = 0.0
    share: float = 0.0


def sum_up(tasks: Iterable[DeviceTask], *, by_shape: bool = False) -> list[OperatorTime]:
    """Sum up tasks by operator, the longest in total first."""
    found: dict[tuple[str, str], OperatorTime] = {}
    for task in tasks:
        key = (task.name, task.shapes if by_shape else "")
        row = found.setdefault(key, OperatorTime(*key))
        row.calls += 1
        row.device_us += task.lasted_us
        row.max_us = max(row.max_us, task.lasted_us)
        row.waited_us += task.waited_us
    whole = sum(row.device_us for row in found.values())
    for row in found.values():
        row.share = row.device_us / whole if whole else 0.0
    return sorted(found.values(), key=lambda row: (-row.device_us, row.name, row.shapes))


def lines(rows: Sequence[OperatorTime]) -> list[str]:
    """Return the lines of a table with a bar per row."""
    width = max([len(row.name) for row in rows], default=8)
    waits = any(row.waited_us for row in rows)
    shapes = any(row.shapes for row in rows)
    shaped = max([len(row.shapes) for row in rows], default=0)
    head = f"{'operator':{width}}  {'calls':>7}  {'device us':>12}  {'mean us':>10}  {'max us':>10}"
    head += f"  {'waited us':>12}" if waits else ""
    head += f"  {'shapes':{shaped}}" if shapes else ""
    found = [f"{head}  share"]
    longest = max([row.share for row in rows], default=0.0)
    for row in rows:
        line = (
            f"{row.name:{width}}  {row.calls:7}  {row.device_us:12.1f}  "
            f"{row.device_us / max(row.calls, 1):10.2f}  {row.max_us:10.1f}"
        )
        line += f"  {row.waited_us:12.1f}" if waits else ""
        line += f"  {row.shapes:{shaped}}" if shapes else ""
        part = row.share / longest if longest else 0.0
        found.append(f"{line}  {row.share:6.1%} {bar(part)}".rstrip())
    return found
