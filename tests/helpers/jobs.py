# SPDX-License-Identifier: Apache-2.0
"""The same work on ranks that are processes, for numbers of ranks that an option widens."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from aclnn_py.distributed import Communicator
from helpers.ranks import run_ranks

Work = Callable[[Communicator], object]


def _rank(rank: int, ranks: int, meeting: str, work: Work) -> None:
    os.environ.update(
        RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks), ACLNN_PY_RENDEZVOUS=meeting
    )
    with Communicator.from_env() as comm:
        work(comm)


def on_processes(
    work: Work, counts: Iterable[int], folder: Path, env: dict[str, str] | None = None
) -> None:
    """Call ``work(communicator)``, a function of a module, on jobs of each number of ranks."""
    for ranks in counts:
        meeting = f"file://{folder / str(ranks)}"
        run_ranks(ranks, _rank, meeting, work, env=env, timeout_s=300.0)
