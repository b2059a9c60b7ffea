# SPDX-License-Identifier: Apache-2.0
"""Run the fuzzers: `python -m tests.fuzz --seconds 60`."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # `helpers`

from .budget import Budget

FUZZERS = ("operators", "scalars", "scarce", "edges", "wire", "records", "traces")


def main(argv: list[str] | None = None) -> int:
    """Run the fuzzers that are asked for; return 1 when one found a defect."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, help="for how long, each fuzzer")
    parser.add_argument("--calls", type=int, help="how many attempts, each fuzzer")
    parser.add_argument("--only", choices=FUZZERS, action="append", help="may be repeated")
    parser.add_argument(
        "--operator", default="", help="regular expression in the C name of operators"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=Path, help="directory for the files of found cases")
    parser.add_argument("--case", type=Path, help="repeat one found case of an operator")
    options = parser.parse_args(argv)
    if options.case is not None:
        return int(_fuzzer("operators").repeat(options.case))
    if options.seconds is None and options.calls is None:
        parser.error("give --seconds, --calls, or both")
    defects = 0
    for name in options.only or FUZZERS:
        if options.only is None and not _there(name):
            continue
        budget = Budget(
            options.seconds, options.calls, options.seed, options.operator, options.cases
        )
        defects += _fuzzer(name).fuzz(budget)
        print(f"\n{name}, {budget.elapsed:.0f} s\n{budget.table()}")
    return 1 if defects else 0


def _there(name: str) -> bool:
    return importlib.util.find_spec(f"{__package__}.{name}") is not None


def _fuzzer(name: str) -> ModuleType:
    return importlib.import_module(f"{__package__}.{name}")


if __name__ == "__main__":
    raise SystemExit(main())
