# SPDX-License-Identifier: Apache-2.0
"""What a step of decoding costs the host: `python benchmarks/decode_step.py`.

The step of `samples/language_model`: check the batch, copy tokens, positions and tables, give the
graph the lengths of the sequences, and replay it. It runs on a device that does nothing. The
captured graph has one launch of attention for each layer, because only these are made again when
the lengths change; the other launches of a layer cost a replay nothing. Time is CPU time of the
thread: the median step of the quietest hundred.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

HERE = Path(__file__).resolve().parent
LAYERS, HEADS, KV_HEADS, SIZE, PAGES, PAGE = 28, 14, 2, 64, 8, 128
ROWS = (1, 16)
AIM_US = 30.0


class Layers:
    """Stands for a model: a launch of attention for each layer, and nothing else."""

    def __init__(self) -> None:
        import numpy as np

        import aclnn_py as ap

        self.config = SimpleNamespace(vocabulary=8, context=PAGES * PAGE)
        shape = (PAGES, PAGE, KV_HEADS * SIZE)
        self._caches = [ap.empty(shape, np.float16) for _ in range(LAYERS)]
        self._sums = ap.empty((0,), np.float32)

    def forward(self, _tokens: Any, step: Any, _logits: Any) -> None:
        import numpy as np

        import aclnn_py as ap

        query, out = (ap.empty((step.rows, 1, HEADS * SIZE), np.float16) for _ in range(2))
        for cache in self._caches:
            ap.ops.fused_infer_attention_score_v3(
                *(query, [cache], [cache], None, None, None, step.lengths, *[None] * 7, step.table),
                *(*[None] * 12, HEADS, SIZE**-0.5, 2147483647, 2147483647, "BSH", KV_HEADS, 0, 0),
                *(PAGE, 0, False, 0, 0, out, self._sums),
            )


def microseconds(rows: int, steps: int) -> tuple[float, float]:
    """CPU time of a step, and of the replay alone."""
    from decoder import Decoder

    decoder = Decoder(Layers(), SimpleNamespace(pages=PAGES, page_size=PAGE), rows)
    graph = decoder.graph_of(rows)
    tokens, pages = [1] * rows, [list(range(PAGES))] * rows
    whole, replay = [], []
    for number in range(steps):
        lengths = [1 + number % (PAGES * PAGE - 1)] * rows
        begun = time.thread_time_ns()
        decoder.decode(tokens, lengths, pages)
        whole.append((time.thread_time_ns() - begun) / 1e3)
        begun = time.thread_time_ns()
        graph.replay()
        replay.append((time.thread_time_ns() - begun) / 1e3)
    decoder.close()
    return quietest(whole), quietest(replay)


def quietest(times: list[float]) -> float:
    """The least median of a hundred in a row."""
    return min(statistics.median(times[at : at + 100]) for at in range(0, len(times), 100))


def measure(steps: int) -> dict[int, tuple[float, float]]:
    """By rows of the batch, on a null device of its own."""
    from launch import build

    sys.path.insert(0, str(HERE.parent / "samples" / "language_model"))
    with tempfile.TemporaryDirectory() as name:
        build(Path(name))
        os.environ["ACLNN_PY_DEVICE"] = "npu"
        os.environ["ACLNN_PY_LIBRARY_PATH"] = name
        return {rows: microseconds(rows, steps) for rows in ROWS}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=2000)
    given = parser.parse_args()
    for rows, (step, replay) in measure(given.steps).items():
        print(
            f"{rows:3} rows, {LAYERS} layers: {step:6.1f} us per step (aim {AIM_US:.0f}), "
            f"of it the replay {replay:.1f} us"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
