# SPDX-License-Identifier: Apache-2.0
"""Compare random calls of all attention of inference with float64.

`python -m tests.random_attention --calls 2000` draws forms, layouts, masks, lengths, quantisation,
prefixes and pages from a seed, and prints how often each operator was called. A call that differs
is printed with its seed; ``--seed`` and ``--calls 1`` repeat it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

if str(Path(__file__).resolve().parent) not in sys.path:
    sys.path.insert(0, str(Path(__file__).resolve().parent))  # `helpers` and `ops`

from ops.attention.attention_compare import compare
from ops.attention.attention_forms import Problem
from ops.attention.attention_older import older_operators, retarget


def problem_of(seed: int) -> Problem:
    """Make the problem of a seed, for one of the operators that can express it."""
    problem = Problem(seed)
    others = older_operators(problem)
    # Often another one, and often the oldest: few problems have others, the oldest the fewest.
    if others and problem.rng.random() < 0.75:
        oldest = problem.rng.random() < 0.5
        retarget(problem, others[0 if oldest else problem.rng.integers(len(others))])
    return problem


def run(seed: int, calls: int, tell: Callable[[str], object] = print) -> tuple[Counter[str], int]:
    """Make the calls; return how many there were of each kind, and the failures."""
    counts: Counter[str] = Counter()
    failures = 0
    for n in range(seed, seed + calls):
        problem = problem_of(n)
        counts[problem.operator] += 1
        counts[f"form {problem.form}"] += 1
        counts[f"layout {problem.layout}"] += 1
        counts[f"sparse mode {problem.given['sparse_mode']}"] += 1
        if problem.paged:
            counts[f"pages {problem.arrangement}"] += 1
        try:
            compare(problem)
        except Exception as error:  # whatever it is, the other calls are made too
            failures += 1
            tell(f"seed {n}: {problem}: {type(error).__name__}: {error}")
    return counts, failures


def main(argv: list[str] | None = None) -> int:
    """Run from the command line; return 1 when a call differed."""
    import aclnn_py as ap

    parser = argparse.ArgumentParser(prog="python -m tests.random_attention", description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    with ap.Device(0):
        counts, failures = run(options.seed, options.calls)
    for name, count in sorted(counts.items()):
        print(f"{name:32}{count:7,}")
    print(f"{options.calls:,} calls, {failures} differ")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
