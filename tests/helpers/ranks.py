# SPDX-License-Identifier: Apache-2.0
"""Several ranks of one job as spawned processes, with a timeout, and errors that name the rank."""

from __future__ import annotations

import multiprocessing
import os
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from helpers.processes import environment


class RankError(AssertionError):
    """A rank failed; the text has its number and its traceback, ``__cause__`` its exception."""


def _enter(
    rank: int,
    ranks: int,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    env: dict[str, str],
    reply: Connection,
) -> None:
    os.environ.update(env)
    try:
        value = function(rank, ranks, *arguments)
        reply.send((True, value, ""))
    except BaseException as error:
        text = traceback.format_exc()
        try:
            reply.send((False, error, text))
        except Exception:
            # The exception itself does not travel; its text does.
            reply.send((False, None, text))
    finally:
        reply.close()


def run_ranks(
    ranks: int,
    function: Callable[..., Any],
    *arguments: Any,
    timeout_s: float = 120.0,
    env: dict[str, str] | None = None,
) -> list[Any]:
    """Call ``function(rank, ranks, *arguments)`` in ``ranks`` spawned processes.

    ``function`` must be importable, that is a module-level function of a test file. The first
    failure is raised as ``RankError`` and ends the other ranks; so does the timeout, which names
    the ranks that had not answered.

    Returns
    -------
    list
        What the ranks returned, in rank order.
    """
    context = multiprocessing.get_context("spawn")
    processes, replies = [], {}
    for rank in range(ranks):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(
            target=_enter,
            args=(rank, ranks, function, arguments, env or {}, theirs),
            name=f"rank {rank}",
        )
        process.start()
        theirs.close()
        processes.append(process)
        replies[ours] = rank
    results: dict[int, Any] = {}
    try:
        _collect(replies, results, time.monotonic() + timeout_s, timeout_s)
        for process in processes:
            process.join(max(5.0, timeout_s / 4))
            assert process.exitcode == 0, f"{process.name} ended with status {process.exitcode}"
    finally:
        for process in processes:
            if process.is_alive():
                process.kill()
            process.join()
    return [results[rank] for rank in range(ranks)]


def _collect(
    replies: dict[Connection, int], results: dict[int, Any], deadline: float, timeout_s: float
) -> None:
    while replies:
        ready = wait(list(replies), timeout=max(0.0, deadline - time.monotonic()))
        if not ready:
            missing = ", ".join(str(rank) for rank in sorted(replies.values()))
            raise RankError(f"no answer after {timeout_s} s from rank {missing}")
        for connection in ready:
            assert isinstance(connection, Connection)
            rank = replies.pop(connection)
            try:
                good, value, text = connection.recv()
            except EOFError:
                raise RankError(f"[rank {rank}] ended without an answer") from None
            if not good:
                raise RankError(f"[rank {rank}] {text}") from value
            results[rank] = value


def start_ranks(tmp_path: Path, count: int, script: str) -> list[tuple[int, str]]:
    """Run a script in processes that do not end each other; (status, output) in rank order."""
    path = tmp_path / "script.py"
    path.write_text(script)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    processes = []
    for rank in range(count):
        env = environment(
            {
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": str(count),
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port),
                "HCCL_EXEC_TIMEOUT": "60",
            }
        )
        processes.append(
            subprocess.Popen(
                [sys.executable, str(path)], env=env, stdout=subprocess.PIPE, text=True
            )
        )
    results = []
    for process in processes:
        try:
            output, _ = process.communicate(timeout=90)
        finally:
            process.kill()
        results.append((process.returncode, output.strip()))
    return results
