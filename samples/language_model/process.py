# SPDX-License-Identifier: Apache-2.0
"""A server as a process of its own, and what it says about itself."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import httpx

SAMPLE = Path(__file__).parent


class ServerError(Exception):
    """The server did not start, or did not end as it should; the message has its last output."""


class Server:
    """A running server, of one process or of several ranks: its address, and its numbers."""

    def __init__(self, process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
        self.process = process
        self.log = Path(log.name)
        self.url = ""

    def wait_until_ready(self, timeout_s: float = 300.0) -> None:
        """Wait for the model to be loaded."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise ServerError(self.last_words())
            found = re.search(r"running on (http://\S+)", self.log.read_text(errors="replace"))
            if found:
                self.url = found[1]
                with_model = httpx.get(f"{self.url}/ready", timeout=60)
                if with_model.status_code == 200:
                    return
            time.sleep(0.1)
        raise ServerError(f"not ready after {timeout_s} s: {self.last_words()}")

    def last_words(self) -> str:
        """How it ended, and the end of its output."""
        text = self.log.read_text(errors="replace")[-2000:]
        return f"the server's status is {self.process.poll()}; its last words:\n{text}"

    def metrics(self) -> dict[str, float]:
        """All numbers of /metrics, without the name's first part; and the process's memory."""
        found = {}
        for line in httpx.get(f"{self.url}/metrics", timeout=60).text.splitlines():
            name, _, value = line.removeprefix("language_model_").rpartition(" ")
            if not line.startswith("#"):
                found[name] = float(value)
        found["resident_bytes"] = sum(map(_resident, self.processes()))
        return found

    def processes(self) -> list[int]:
        """The number of the process, and those of the ranks that it has started."""
        first = self.process.pid
        children = Path(f"/proc/{first}/task/{first}/children")
        return [first, *map(int, children.read_text().split() if children.exists() else ())]


def _resident(process: int) -> float:
    """Bytes of memory that a process has; 0 where the system does not tell."""
    status = Path(f"/proc/{process}/status")
    kibibytes = re.findall(r"VmRSS:\s+(\d+)", status.read_text() if status.exists() else "")
    return 1024.0 * float(kibibytes[0]) if kibibytes else 0.0


@contextmanager
def serving(directory: Path, *words: str, ranks: int = 1) -> Iterator[Server]:
    """Serve a model on a free port; end the server like a supervisor does."""
    command = [str(SAMPLE / "__main__.py"), str(directory), "--port", "0", *words]
    if ranks > 1:
        several = ["aclnn_py.tools.cli", "run", "-n", str(ranks), "--grace", "60"]
        command = ["-m", *several, *command]
    command = [sys.executable, *command]
    with tempfile.NamedTemporaryFile("rb", suffix=".log") as log, open(log.name, "wb") as written:
        process = subprocess.Popen(command, stdout=written, stderr=written)
        server = Server(process, log)
        try:
            server.wait_until_ready()
            yield server
            process.send_signal(signal.SIGTERM)
            if process.wait(120):
                raise ServerError(server.last_words())
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
