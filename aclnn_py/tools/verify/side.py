# SPDX-License-Identifier: Apache-2.0
"""One device of a comparison: the processes that make calls on it, and how each call ended."""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aclnn_py.tools.children import python_child
from aclnn_py.tools.verify.worker import AGAIN

__all__ = ["Ended", "Side", "VerifyError"]

_POLL_S = 0.02
# For a process to load the libraries and open the device, before its first call.
_START_S = 120.0
_WORDS_OF_AN_ERROR = 2000


class VerifyError(RuntimeError):
    """A device cannot be asked at all."""


@dataclass(frozen=True)
class Ended:
    """How a call ended.

    Attributes
    ----------
    status : int
    stage : str
        "phase one", "phase two", "device", "" for success; "died" when the process did, "hung" when
        it did not end in time.
    message : str
        The message of the failure.
    memory : list of list of bytes
        Of each rank, the memory of the tensors after the call.
    left : str
        Why the call was not made, or "".
    """

    status: int = 0
    stage: str = ""
    message: str = ""
    memory: list[list[bytes]] = field(default_factory=list, repr=False)
    left: str = ""


class Side:
    """Makes calls in processes of one environment.

    Parameters
    ----------
    environment : mapping
        Variables of the processes; they choose the device.
    timeout_s : float
        Seconds after which a call counts as hung.

    Attributes
    ----------
    notes : list of str
        Processes that ended badly when they made no call, as at their exit.
    """

    def __init__(self, environment: Mapping[str, str], timeout_s: float) -> None:
        self._environment = environment
        self._timeout_s = timeout_s
        self.notes: list[str] = []

    def about(self) -> dict[str, Any]:
        """Return what the device is.

        Raises
        ------
        VerifyError
            It cannot be used.
        """
        with tempfile.TemporaryDirectory(prefix="aclnn_py-verify-") as folder:
            rows, how, errors = self._process(Path(folder), {"operators": []}, lambda: None)
            found = next((row["about"] for row in rows if "about" in row), None)
            if found is None:
                raise VerifyError(f"the device cannot be used: {how}\n{errors}")
            return dict(found)

    def run(
        self,
        operators: Sequence[str],
        sizes: Sequence[Sequence[int]],
        asked: Mapping[str, Any],
        *,
        leave: Collection[int] = (),
        progress: Callable[[], None] = lambda: None,
    ) -> dict[int, Ended]:
        """Make the cases of some operators; return how each ended, by position.

        Parameters
        ----------
        operators : sequence of str
        sizes : sequence
            Bytes of the memories of each case, in order.
        asked : mapping
            ``chip`` and ``seed`` of the cases.
        leave : collection of int
            Positions of cases that are not made.
        progress : callable
            Called again and again while the calls are made.
        """
        ended: dict[int, Ended] = {}
        first = 0
        with tempfile.TemporaryDirectory(prefix="aclnn_py-verify-") as folder:
            place = Path(folder)
            while first < len(sizes):
                order = {"operators": list(operators), "first": first, "leave": sorted(leave)}
                rows, how, errors = self._process(place, {**order, **asked}, progress)
                begun = None
                contents = place / "contents"
                for row in rows:
                    if "begin" in row:
                        begun = row["begin"]
                    elif "end" in row:
                        position = row.pop("end")
                        ended[position] = _ended(row, contents, sizes[position])
                        begun, first = None, position + 1
                if begun is not None:
                    stage = "hung" if how.startswith("no end") else "died"
                    ended[begun] = Ended(-1, stage, f"{how}\n{errors}".strip())
                    first = begun + 1
                elif how == "":
                    break
                elif not rows:
                    raise VerifyError(f"a process ended before its first call: {how}\n{errors}")
                elif how != f"exit status {AGAIN}":
                    self.notes.append(f"{operators[0]} and following: {how} between calls")
        return ended

    def _process(
        self, folder: Path, asked: dict[str, Any], progress: Callable[[], None]
    ) -> tuple[list[dict[str, Any]], str, str]:
        """Run one process to its end; return what it said, how it ended, and its errors."""
        results, contents = folder / "results", folder / "contents"
        for path in (results, contents):
            path.write_bytes(b"")
        order = {**asked, "results": str(results), "contents": str(contents)}
        worker = python_child(
            "aclnn_py.tools.verify.worker", json.dumps(order),
            environ=self._environment, options=("-X", "faulthandler"),
        )  # fmt: skip
        with (folder / "errors").open("w+", encoding="utf-8", errors="replace") as errors:
            child = subprocess.Popen(
                worker.words,
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                env=worker.environment,
            )
            try:
                how = self._watch(child, results, progress)
            finally:
                child.kill()
                child.wait()
            errors.seek(0)
            said = errors.read()[-_WORDS_OF_AN_ERROR:]
        lines = results.read_text(encoding="utf-8").splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")], how, said

    def _watch(
        self, child: subprocess.Popen[bytes], results: Path, progress: Callable[[], None]
    ) -> str:
        """Wait for the end of a process; return how it ended, "" for a good end."""
        size, since = -1, time.monotonic()
        while child.poll() is None:
            now, grown = time.monotonic(), results.stat().st_size
            if grown != size:
                size, since = grown, now
            limit = self._timeout_s if size else max(self._timeout_s, _START_S)
            if now - since > limit:
                return f"no end after {limit:g} s"
            progress()
            time.sleep(_POLL_S)
        if child.returncode < 0:
            return signal.Signals(-child.returncode).name
        return f"exit status {child.returncode}" if child.returncode else ""


def _ended(row: dict[str, Any], contents: Path, sizes: Sequence[int]) -> Ended:
    memory = []
    if row.get("memory"):
        with contents.open("rb") as file:
            for places in row["memory"]:
                parts = []
                for place, nbytes in zip(places, sizes, strict=True):
                    file.seek(place)
                    parts.append(file.read(nbytes))
                memory.append(parts)
    return Ended(
        row.get("status", 0), row.get("stage", ""), row.get("message", ""), memory,
        row.get("left", ""),
    )  # fmt: skip
