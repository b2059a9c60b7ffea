# SPDX-License-Identifier: Apache-2.0
"""The command line: ``python -m maintain.refusals dump LIBRARY FILE``, ``compare OLD NEW``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from maintain.refusals.compare import compare
from maintain.refusals.dump import dump


def main(arguments: list[str]) -> int:
    """Run a command; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m maintain.refusals", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("dump", help="ask an emulator library and write what it answers")
    one.add_argument("library", type=Path, help="path of an emulator library")
    one.add_argument("file", type=Path, help="where the answers go, JSON lines in gzip")
    one.add_argument("--operators", default="", help="a regular expression in C names")
    one.add_argument("--every", type=int, default=1, help="take only every so manieth call")
    one.add_argument("--workers", type=int, default=2, help="processes at a time")
    two = commands.add_parser(
        "compare", help="print what differs; the exit status is 1 if anything does"
    )
    two.add_argument("old", type=Path)
    two.add_argument("new", type=Path)
    two.add_argument("--operators", default="", help="a regular expression in C names")
    two.add_argument("--examples", type=int, default=2, help="calls shown of each kind")
    given = parser.parse_args(arguments)
    if given.command == "compare":
        return compare(given.old, given.new, pattern=given.operators, examples=given.examples)
    dump(
        given.library,
        given.file,
        pattern=given.operators,
        every=given.every,
        workers=given.workers,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
