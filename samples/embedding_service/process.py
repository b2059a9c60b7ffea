# SPDX-License-Identifier: Apache-2.0
"""Run a server in its own process, and measure that process."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

SERVER = Path(__file__).parent / "server.py"
DEVICE_MEMORY = ("allocated_bytes", "reserved_bytes", "allocations_total")


class ServerError(Exception):
    """The server did not start or did not end as it should; the message has its last output."""


@contextmanager
def server(*arguments: str) -> Iterator[tuple[str, int]]:
    """A server on a free port: its address and process number."""
    words = [sys.executable, str(SERVER), "--port", "0", *arguments]
    with tempfile.NamedTemporaryFile("r+", suffix=".log", errors="replace") as log:
        process = subprocess.Popen(words, stderr=log, stdout=log)
        try:
            yield _wait_until_ready(process, Path(log.name)), process.pid
            process.send_signal(signal.SIGTERM)
            status = process.wait(120)
            # uvicorn raises the signal again after it has closed everything.
            if status not in (0, -signal.SIGTERM):
                raise ServerError(_ended(process, Path(log.name)))
        except httpx.TransportError:
            with suppress(subprocess.TimeoutExpired):
                process.wait(2)
            if process.poll() is None:
                raise
            raise ServerError(_ended(process, Path(log.name))) from None
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


def _ended(process: subprocess.Popen[bytes], log: Path) -> str:
    last = log.read_text(errors="replace")[-2000:]
    return f"the server ended with status {process.poll()}; its last words:\n{last}"


def _wait_until_ready(process: subprocess.Popen[bytes], log: Path, timeout_s: float = 180.0) -> str:
    """Wait for the model to be loaded; return the address."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise ServerError(_ended(process, log))
        found = re.search(r"running on (http://\S+)", log.read_text(errors="replace"))
        if found and httpx.get(f"{found[1]}/ready").status_code == 200:
            return found[1]
        time.sleep(0.1)
    raise TimeoutError(f"the server was not ready after {timeout_s} s")


def memory(url: str, pid: int) -> dict[str, int]:
    """The server's memory, on the device and on the host."""
    found = httpx.get(f"{url}/metrics", timeout=60.0).text
    values = {
        name: int(re.findall(rf"^embedding_device_{name} (\d+)$", found, re.MULTILINE)[0])
        for name in DEVICE_MEMORY
    }
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        values["resident_bytes"] = 1024 * int(re.findall(r"VmRSS:\s+(\d+)", status.read_text())[0])
    return values
