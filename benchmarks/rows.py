# SPDX-License-Identifier: Apache-2.0
"""One figure of a benchmark, which modules have some, and how they are run."""

from __future__ import annotations

import ast
import importlib
import math
import multiprocessing
import os
import traceback
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
KEYS = ("name", "case", "ours", "baseline", "baseline_name", "ratio", "unit", "aim")
LARGEST_SHARE = 0.05  # by which a ratio may differ from the quotient of the two figures shown


class Row(NamedTuple):
    """One line of the table.

    Parameters
    ----------
    module : str
        Where it was measured; the runner fills it in.
    name, case : str
        What was measured, and with which operand ("ops.add", "fp16, 1 Mi elements").
    ours, baseline : float or None
        The two figures in `unit`. A row without a baseline has None there and in `ratio`.
    baseline_name : str
        What it is compared with ("C loop"); empty without one.
    ratio : float or None
        ours / baseline, from one run.
    unit : str
        "ns", "us", "ms", "s", "B", "KiB", "MiB": less is better; one with "/s" ("GB/s"): more is.
    aim : str
        What the ratio (or `ours`, in a row without a baseline) has to be: "<= 9", ">= 4", or empty.
    """

    module: str
    name: str
    case: str
    ours: float
    baseline: float | None
    baseline_name: str
    ratio: float | None
    unit: str
    aim: str

    @property
    def met(self) -> bool | None:
        """Is the aim reached? None without an aim."""
        if not self.aim:
            return None
        sign, bound = self.aim.split()
        value = self.ours if self.ratio is None else self.ratio
        return value <= float(bound) if sign == "<=" else value >= float(bound)


def checked(module: str, given: dict[str, Any]) -> Row:
    """Return a module's dict as a row, or say what is wrong with it."""
    where = f"benchmarks/{module}.py: rows() returned {given!r}"
    if set(given) != set(KEYS):
        raise ValueError(f"{where}; a row has exactly the keys {', '.join(KEYS)}")
    numbers = [given[key] for key in ("ours", "baseline", "ratio") if given[key] is not None]
    if given["ours"] is None or not all(math.isfinite(n) and n >= 0 for n in numbers):
        raise ValueError(f"{where}; its figures must be finite and not negative")
    aim = str(given["aim"] or "")
    words = aim.split()
    if words and not (len(words) == 2 and words[0] in ("<=", ">=") and float(words[1]) > 0):
        raise ValueError(f'{where}; an aim is "<= number", ">= number" or empty')
    if (given["baseline"] is None) != (given["ratio"] is None):
        raise ValueError(f"{where}; a ratio needs a baseline, and a baseline is there for a ratio")
    if given["baseline"]:
        quotient = given["ours"] / given["baseline"]
        if abs(given["ratio"] - quotient) > LARGEST_SHARE * max(quotient, given["ratio"]):
            raise ValueError(f"{where}; ours / baseline is {quotient:.4g}")
    texts = {key: str(given[key] or "") for key in ("name", "case", "baseline_name", "unit")}
    figures = {key: given[key] and float(given[key]) for key in ("baseline", "ratio")}
    return Row(module=module, ours=float(given["ours"]), aim=aim, **texts, **figures)


def modules(folder: Path = HERE) -> list[str]:
    """Names of the modules that offer rows, found without importing them."""
    found = []
    for path in sorted(folder.glob("*.py")):
        top = ast.parse(path.read_text(encoding="utf-8")).body
        if any(isinstance(node, ast.FunctionDef) and node.name == "rows" for node in top):
            found.append(path.stem)
    return found


def _measure(module: str, quick: bool, reply: Connection) -> None:
    # what a module prints is not part of the table
    os.dup2(2, 1)
    try:
        found = importlib.import_module(f"{__package__}.{module}").rows(quick)
        reply.send(([checked(module, row) for row in found], None))
    except BaseException:
        reply.send(([], traceback.format_exc()))


def measured(names: list[str], quick: bool) -> Iterator[tuple[str, list[Row], str | None]]:
    """Run each module in a fresh process; yield its name, its rows and why it failed, if it did."""
    context = multiprocessing.get_context("spawn")
    for name in names:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_measure, args=(name, quick, theirs), name=name)
        process.start()
        theirs.close()
        try:
            rows, failure = ours.recv()
        except EOFError:
            rows, failure = [], None
        process.join()
        if failure is None and process.exitcode != 0:
            failure = f"the process of benchmarks/{name}.py ended with status {process.exitcode}"
        yield name, rows, failure
