# SPDX-License-Identifier: Apache-2.0
"""The encoder split over ranks."""

from __future__ import annotations

import multiprocessing
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoder import Encoder, Shape, embed_all
from model import Model
from reference import NumpyEncoder
from small import random_model
from weights import shard

from aclnn_py.distributed import Communicator

SCRIPT = Path(__file__).resolve().parents[1] / "tensor_parallel.py"
ROWS = [[1, 2], [3, 4, 5, 6], [7] * 8]


def _embedded(rank: int, ranks: int, port: str, dtype: str, capture: bool) -> Any:
    numbers = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks)}
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    config, arrays = random_model()
    with Communicator.from_env(environ={**os.environ, **numbers, **place}) as comm:
        model = Model(shard(arrays, config, rank, ranks), dtype, comm)
        encoder = Encoder(model, [Shape(1, 8), Shape(2, 8)], capture=capture)
        vectors = embed_all(encoder, ROWS)
        encoder.close()
    return vectors


@pytest.mark.parametrize(
    ("ranks", "dtype", "capture"),
    [(2, "float16", True), (2, "float32", False), (4, "float16", False)],
)
def test_ranks_agree_with_one_another_and_with_numpy(ranks: int, dtype: str, capture: bool) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    calls = [(rank, ranks, port, dtype, capture) for rank in range(ranks)]
    # One process per rank: none ends before it has met the others.
    with multiprocessing.get_context("spawn").Pool(ranks) as processes:
        found = processes.starmap_async(_embedded, calls, chunksize=1).get(timeout=120)
    config, arrays = random_model()
    reference = NumpyEncoder(arrays, config)
    expected = reference.embed_each(ROWS)
    for vectors in found:
        np.testing.assert_array_equal(vectors, found[0])
    # A bias that counted on every rank would be far off.
    assert (found[0] * expected).sum(axis=1).min() > 0.999


def test_the_program_with_the_real_weights(real: Any, tmp_path: Path) -> None:
    run = [sys.executable, "-m", "aclnn_py.tools.cli", "run", "-n", "2", str(SCRIPT)]
    done = subprocess.run(
        [*run, "--texts", "4"], cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(re.findall(r"^\[(\d)\] ok$", done.stdout, re.MULTILINE)) == ["0", "1"]
