# SPDX-License-Identifier: Apache-2.0
"""Compare random calls of the attention of training, and of its gradients, with float64.

`python -m tests.random_training --calls 2000` draws sequences, layouts, masks, biases and dropout
from a seed, and prints how often each operator was called. A call that differs is printed with its
seed; ``--seed`` and ``--calls 1`` repeat it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

if str(Path(__file__).resolve().parent) not in sys.path:
    sys.path.insert(0, str(Path(__file__).resolve().parent))  # `helpers` and `ops`

from ops.training_attention.training_attention import TrainingProblem
from ops.training_attention.training_compare import compare


def main(argv: list[str] | None = None) -> int:
    """Run from the command line; return 1 when a call differed."""
    import aclnn_py as ap

    parser = argparse.ArgumentParser(prog="python -m tests.random_training", description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    counts: Counter[str] = Counter()
    failures = 0
    with ap.Device(0):
        for seed in range(options.seed, options.seed + options.calls):
            problem = TrainingProblem(seed)
            counts[f"layout {problem.layout}"] += 1
            counts[f"sparse mode {problem.mode}, {'' if problem.masked else 'un'}masked"] += 1
            counts[f"pse type {problem.pse_type} of {problem.bias or 'nothing'}"] += 1
            try:
                counts.update(compare(problem))
            except Exception as error:  # whatever it is, the other calls are made too
                failures += 1
                print(f"seed {seed}: {problem}: {type(error).__name__}: {error}")
    for name, count in sorted(counts.items()):
        print(f"{name:40}{count:7,}")
    print(f"{options.calls:,} calls, {failures} differ")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
