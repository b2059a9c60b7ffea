# SPDX-License-Identifier: Apache-2.0
"""Run every benchmark and print one table.

    python -m benchmarks [--quick] [--only NAME] [--json FILE] [--plot FILE]

The ratio is ours / baseline, both from this run: less than 1 is faster than the baseline where the
unit is a time, and slower where it is a rate. Compare ratios, not times, and within one run only.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from benchmarks import report
from benchmarks.rows import Row, measured, modules


def arguments(offered: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="fewer cases and repetitions")
    parser.add_argument(
        "--only",
        action="append",
        choices=offered,
        metavar="NAME",
        help=f"only this module; may be given again ({', '.join(offered)})",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write machine and rows there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write a picture (PNG) there")
    return parser.parse_args()


def draw(rows: list[Row], about: str, path: Path) -> int:
    """Write the picture; without matplotlib, say what is missing."""
    try:
        from benchmarks.plot import plot
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        report.progress(f"{path} was not written: --plot needs matplotlib (pip install '.[bench]')")
        return 1
    plot(rows, about, path)
    return 0


def main() -> int:
    options = arguments(modules())
    names = options.only or modules()
    rows: list[Row] = []
    failures: dict[str, str] = {}
    began = start = time.monotonic()
    report.progress(f"{len(names)} modules: {', '.join(names)}")
    for number, (name, found, failure) in enumerate(measured(names, options.quick), 1):
        took, start = time.monotonic() - start, time.monotonic()
        outcome = f"{len(found)} rows" if failure is None else f"failed\n{failure}"
        report.progress(f"[{number}/{len(names)}] {name}: {outcome}, {took:.0f} s")
        rows += found
        if failure is not None:
            failures[name] = failure
    whole = report.document(rows, failures, options.quick)
    print(report.table(rows))
    about = whole["machine"]
    described = f"{about['processors']} x {about['processor']}, load {about['load'][0]}"
    print(f"\n{described}; {time.monotonic() - began:.0f} s")
    missed = sum(row.met is False for row in rows)
    if missed:
        print(f"{missed} of {sum(bool(row.aim) for row in rows)} aims missed")
    for name in failures:
        print(f"{name} failed, see above")
    if options.json:
        options.json.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    status = draw(rows, described, options.plot) if options.plot else 0
    return 1 if failures else status


if __name__ == "__main__":
    sys.exit(main())
