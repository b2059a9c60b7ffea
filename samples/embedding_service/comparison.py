# SPDX-License-Identifier: Apache-2.0
"""The encoder beside the same model elsewhere: `python samples/embedding_service/comparison.py`.

All compute the same batches in turns, with the same number of threads, so that a busy machine slows
all alike: read the ratios, not the times. A ratio below 1 means that this package was faster.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "ACLNN_PY_THREADS")
BATCHES = ((1, 16), (32, 16), (32, 64), (8, 256))


def compare(threads: int) -> dict[str, Any]:
    """The comparison, in a process of its own: libraries read their threads when they load."""
    environment = {**os.environ, **{name: str(threads) for name in THREADS}}
    done = subprocess.run(
        [sys.executable, __file__], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def cpu_ms(work: Callable[[Any], Any], batch: Any) -> float:
    """CPU time of the whole process: another program's share of the processor is not counted."""
    start = time.process_time()
    work(batch)
    return (time.process_time() - start) * 1000


def measure(rounds: int) -> dict[str, Any]:
    """Least CPU time of both per batch, and their ratio."""
    import numpy as np
    from encoder import Encoder, Shape
    from model import Model
    from reference import NumpyEncoder
    from weights import model_directory, read_checkpoint, read_config, shard

    import aclnn_py as ap

    directory = model_directory()
    config, checkpoint = read_config(directory), read_checkpoint(directory)
    rng, reference = np.random.default_rng(0), NumpyEncoder(checkpoint, config)
    rows = []
    with ap.Device(0):
        shapes = [Shape(*batch) for batch in BATCHES]
        encoder = Encoder(Model(shard(checkpoint, config), np.float32), shapes)
        for count, length in BATCHES:
            batch = [rng.integers(1000, 20000, length).tolist() for _ in range(count)]
            pairs = [
                (cpu_ms(encoder.embed, batch), cpu_ms(reference.embed, batch))
                for _ in range(rounds)
            ]
            ours, theirs = (min(times) for times in zip(*pairs, strict=True))
            rows.append(
                {
                    "texts": count,
                    "tokens": length,
                    "cpu_ms": round(ours, 1),
                    "numpy_cpu_ms": round(theirs, 1),
                    "ratio_to_numpy": round(ours / theirs, 2),
                }
            )
        encoder.close()
    return {"threads": os.environ.get("ACLNN_PY_THREADS", "all"), "batches": rows}


def main() -> None:
    options = argparse.ArgumentParser(description="The encoder beside NumPy.")
    options.add_argument("--threads", type=int, default=0, help="set for all; 0: as they are")
    options.add_argument("--rounds", type=int, default=4)
    given = options.parse_args()
    found = compare(given.threads) if given.threads else measure(given.rounds)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
