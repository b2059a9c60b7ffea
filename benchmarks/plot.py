# SPDX-License-Identifier: Apache-2.0
"""The rows as one picture: how many times the baseline, on a logarithmic scale."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from benchmarks.report import figure
from benchmarks.rows import Row

GOOD, BAD, PLAIN, FAINT = "#2a7f62", "#c0392b", "#34618f", "#dfe3e8"
LINE_INCHES = 0.21


def cost(row: Row) -> float:
    """How many times the baseline's cost ours is: rates are turned round."""
    assert row.ratio is not None
    return 1 / row.ratio if "/s" in row.unit else row.ratio


def aimed_cost(row: Row) -> float | None:
    if not row.aim:
        return None
    bound = float(row.aim.split()[1])
    return 1 / bound if "/s" in row.unit else bound


def colour(row: Row) -> str:
    return {True: GOOD, False: BAD, None: PLAIN}[row.met]


def panel(axes: Any, module: str, rows: list[Row], left: float, right: float) -> None:
    """One module: a dot per row, a line from the baseline to it, a tick where the aim is."""
    for at, row in enumerate(rows):
        value = cost(row)
        axes.plot([1, value], [at, at], color=colour(row), linewidth=1.4, alpha=0.55)
        axes.plot(value, at, "o", color=colour(row), markersize=5)
        aim = aimed_cost(row)
        if aim is not None:
            axes.plot(aim, at, "|", color="#222222", markersize=10, markeredgewidth=1.6)
        note = f"{figure(row.ours, row.unit)} / {figure(row.baseline, row.unit)}"
        axes.text(1.01, at, note, transform=axes.get_yaxis_transform(), va="center", fontsize=7)
    axes.axvline(1, color="#666666", linewidth=0.9)
    axes.set_yticks(range(len(rows)))
    axes.set_yticklabels(
        [f"{row.name}  {row.case}  vs {row.baseline_name}" for row in rows], fontsize=7.5
    )
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xscale("log")
    axes.set_xlim(left, right)
    axes.set_title(module, loc="left", fontsize=10, fontweight="bold", pad=3)
    axes.grid(axis="x", color=FAINT, linewidth=0.8)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", labelsize=7)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def plot(rows: list[Row], about: str, path: Path) -> None:
    """Draw every row that has a baseline."""
    compared = [row for row in rows if row.ratio]
    if not compared:
        raise SystemExit(f"{path} was not written: no row has a baseline")
    groups = [(name, list(found)) for name, found in groupby(compared, lambda row: row.module)]
    values = [cost(row) for row in compared] + [a for r in compared if (a := aimed_cost(r))]
    left, right = min(*values, 0.5) / 1.4, max(*values, 2.0) * 1.4
    heights = [len(found) + 1.2 for _, found in groups]
    # a margin of fixed size for the title, a line per row, and two lines per panel around them
    inches = LINE_INCHES * (sum(heights) + 2.2 * len(groups)) + 1.1
    picture, panels = plt.subplots(
        len(groups), 1, figsize=(13, inches), squeeze=False, gridspec_kw={"height_ratios": heights}
    )
    for axes, (name, found) in zip(panels[:, 0], groups, strict=True):
        panel(axes, name, found, left, right)
    panels[-1, 0].set_xlabel("times the baseline's cost (left of 1: cheaper)", fontsize=8)
    picture.suptitle(
        "aclnn_py beside its baselines", x=0.01, ha="left", fontsize=13, y=1 - 0.15 / inches
    )
    legend = "green: aim met   red: aim missed   blue: no aim   |: the aim   right: ours / baseline"
    picture.text(
        0.01, 1 - 0.5 / inches, f"{about}\n{legend}", fontsize=8, va="top", color="#444444"
    )
    picture.subplots_adjust(
        left=0.36,
        right=0.87,
        top=1 - 1.05 / inches,
        bottom=0.5 / inches,
        hspace=2.2 * len(groups) / sum(heights),
    )
    picture.savefig(path, dpi=130)
    plt.close(picture)
