# SPDX-License-Identifier: Apache-2.0
"""Device time by operator, as a picture; needs matplotlib."""

from __future__ import annotations

import os
from collections.abc import Sequence

from matplotlib.figure import Figure

from aclnn_py.tools.profiles.table import OperatorTime

__all__ = ["draw"]


def draw(rows: Sequence[OperatorTime], path: str | os.PathLike[str], most: int) -> None:
    """Draw a bar for each of the first ``most`` rows, and one for the others."""
    shown = [(row.name, row.device_us, row.waited_us) for row in rows[:most]]
    if len(rows) > most:
        rest = rows[most:]
        total = sum(row.device_us for row in rest)
        shown.append((f"{len(rest)} others", total, sum(row.waited_us for row in rest)))
    names = [name for name, _, _ in shown]
    figure = Figure(figsize=(8, 0.3 * len(shown) + 1.2), layout="constrained")
    axes = figure.subplots()
    axes.barh(names, [device / 1000 for _, device, _ in shown], label="device")
    if any(waited for _, _, waited in shown):
        axes.barh(names, [waited / 1000 for _, _, waited in shown], label="of that waiting")
        axes.legend()
    axes.invert_yaxis()
    axes.set_xlabel("device time, ms")
    figure.savefig(path)
