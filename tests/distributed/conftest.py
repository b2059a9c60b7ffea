# SPDX-License-Identifier: Apache-2.0
"""Ranks as threads of the test's process, each with its own device."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import aclnn_py as ap
from aclnn_py.distributed import Communicator

RunThreads = Callable[..., list[Any]]


def _run(
    comms: list[Communicator], work: Callable[[Communicator], Any], timeout_s: float
) -> list[Any]:
    results: dict[int, Any] = {}
    failures: dict[int, BaseException] = {}

    def enter(comm: Communicator) -> None:
        try:
            # A stream of its own, so that its workspace goes when the test is over.
            with comm.device, comm.device.create_stream():
                results[comm.rank] = work(comm)
        except BaseException as error:
            failures[comm.rank] = error

    threads = [
        threading.Thread(target=enter, args=(comm,), name=f"rank {comm.rank}", daemon=True)
        for comm in comms
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout_s)
        assert not thread.is_alive(), f"{thread.name} did not end within {timeout_s} s"
    for rank in sorted(failures):
        error = failures[rank]
        raise AssertionError(f"[rank {rank}] {type(error).__name__}: {error}") from error
    return [results[comm.rank] for comm in comms]


@pytest.fixture
def run_threads() -> RunThreads:
    """Call ``work(communicator)`` on one thread per rank; results in rank order."""

    def run(count: int, work: Callable[[Communicator], Any], *, timeout_s: float = 60.0) -> Any:
        comms = Communicator.init_all(count)
        try:
            return _run(comms, work, timeout_s)
        finally:
            for comm in comms:
                comm.close()

    return run


@pytest.fixture
def process_counts(request: pytest.FixtureRequest) -> tuple[int, ...]:
    """How many ranks that are processes a job has: 2, and 4 and 8 with ``--every-rank-count``."""
    return (2, 4, 8) if request.config.getoption("--every-rank-count") else (2,)


@pytest.fixture(autouse=True)
def _devices_stay_open() -> None:
    # A device keeps a little for itself once it is open; open all before leaks are measured.
    for index in range(ap.device_count()):
        ap.Device(index).default_stream.synchronize()
