# SPDX-License-Identifier: Apache-2.0
"""Rendezvous through a directory that all ranks share, for hosts without a route to rank 0.

Every file is written whole and renamed into place, so a reader never sees half of one. What an
earlier job left behind is told apart by nonces: rank 0 publishes a session that lists the nonce of
every rank, and a rank takes part only in a session that lists the nonce it has just drawn.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from collections.abc import Callable
from hmac import compare_digest
from pathlib import Path
from typing import Any, TypeVar

from aclnn_py.distributed.errors import (
    RendezvousError,
    RendezvousMismatchError,
    RendezvousTimeoutError,
)
from aclnn_py.distributed.rendezvous import Rendezvous
from aclnn_py.distributed.messages import PROTOCOL_VERSION, proof

__all__ = ["FileRendezvous"]

POLL_S = 0.02
GRACE_S = 2.0
"""Seconds past a timeout in which rank 0 still tells which ranks are missing."""
MAX_FILE_NBYTES = 4 * 1024 * 1024

_T = TypeVar("_T")


class FileRendezvous(Rendezvous):
    """A meeting in a shared directory.

    It does not notice a rank that ends after bring-up.

    Parameters
    ----------
    directory : str
        Absolute path that every rank reaches; made if absent, readable by its owner only.
    rank : int
        Number of this process.
    world_size : int
        Number of processes.
    token : str
        Secret of the job; files without its proof are refused. May be empty.
    timeout_s : float
        Seconds until the ranks that have not come are reported.

    Raises
    ------
    RendezvousTimeoutError
        Names the ranks that did not come.
    RendezvousMismatchError
        World sizes differ.
    """

    def __init__(
        self, directory: str, *, rank: int, world_size: int, token: str = "", timeout_s: float
    ) -> None:
        self.rank = rank
        self.world_size = world_size
        self._directory = Path(directory)
        self._token = token
        self._written: list[Path] = []
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise RendezvousError(
                f"the rendezvous directory {directory} cannot be made: {error.strerror}."
            ) from error
        deadline = time.monotonic() + timeout_s
        self._session = self._lead(deadline) if rank == 0 else self._follow(deadline)

    def gather(
        self, label: str, payload: dict[str, Any], *, timeout_s: float
    ) -> list[dict[str, Any]]:
        """Give a payload, wait for those of all ranks and return them in rank order."""
        stem = f"{self._session}.{label}"
        self._write(f"{stem}.{self.rank}", payload)
        deadline = time.monotonic() + timeout_s
        found: dict[int, dict[str, Any]] = {}

        def collect() -> list[dict[str, Any]] | None:
            for number in range(self.world_size):
                if number not in found:
                    other = self._read(f"{stem}.{number}")
                    if other is not None:
                        found[number] = other
            if len(found) < self.world_size:
                return None
            return [found[number] for number in range(self.world_size)]

        result = _poll(collect, deadline)
        if result is None:
            raise self._timeout(label, set(found))
        return result

    def lost_ranks(self) -> tuple[int, ...]:
        """Return no rank: files do not show that a process ended."""
        return ()

    def close(self) -> None:
        """Remove what this rank wrote; a second call does nothing."""
        # Another rank may still be about to read the newest file, so it stays; it is found stale by
        # the next job and overwritten or ignored.
        while len(self._written) > 1:
            with contextlib.suppress(FileNotFoundError):
                self._written.pop(0).unlink()

    def _lead(self, deadline: float) -> str:
        """Rank 0: publish sessions until every rank has confirmed the newest one."""
        session = ""
        listed: dict[str, str] = {}
        arrived: set[int] = {0}
        seen: dict[str, str] = {}

        def confirmed() -> str | None:
            nonlocal session, listed
            nonces = {}
            for number in range(1, self.world_size):
                hello = self._read(f"hello.{number}")
                if hello is None:
                    continue
                arrived.add(number)
                if hello.get("world_size") != self.world_size:
                    # May be a file of an earlier job: publish the refusal for that nonce only.
                    self._write(
                        f"refused.{number}",
                        {"nonce": hello.get("nonce"), "world_size": self.world_size},
                    )
                    arrived.discard(number)
                    continue
                nonces[str(number)] = seen[str(number)] = str(hello.get("nonce"))
            if len(nonces) < self.world_size - 1:
                return None
            if nonces != listed or not session:
                session, listed = secrets.token_hex(16), nonces
                self._write("session", {"session": session, "nonces": nonces})
            for number in range(1, self.world_size):
                if self._read(f"{session}.ready.{number}") is None:
                    return None
            return session

        result = _poll(confirmed, deadline)
        if result is None:
            ready = {0} | {
                n for n in arrived if session and self._read(f"{session}.ready.{n}") is not None
            }
            # Without a session the ranks that have written are those that came; with one, a rank
            # that never confirmed left only a stale file.
            failure = self._timeout("arrival", ready if session else arrived)
            self._write("missing", {"nonces": seen, "ranks": list(failure.missing)})
            raise failure
        self._write(f"{result}.go", {})
        return result

    def _follow(self, deadline: float) -> str:
        """Any other rank: offer a nonce, confirm the session that lists it, wait for the start."""
        nonce = secrets.token_hex(16)
        self._write(f"hello.{self.rank}", {"nonce": nonce, "world_size": self.world_size})
        confirmed: set[str] = set()

        def started() -> str | None:
            refusal = self._read(f"refused.{self.rank}")
            if refusal is not None and refusal.get("nonce") == nonce:
                raise RendezvousMismatchError(
                    f"rank {self.rank} was started with world size {self.world_size}, rank 0 with"
                    f" {refusal.get('world_size')}."
                )
            verdict = self._read("missing")
            if verdict is not None and verdict["nonces"].get(str(self.rank)) == nonce:
                raise self._timeout("arrival", set(range(self.world_size)) - set(verdict["ranks"]))
            offer = self._read("session")
            if offer is None or offer["nonces"].get(str(self.rank)) != nonce:
                return None
            session = str(offer["session"])
            if session not in confirmed:
                confirmed.add(session)
                self._write(f"{session}.ready.{self.rank}", {})
            return session if self._read(f"{session}.go") is not None else None

        session = _poll(started, deadline + GRACE_S)
        if session is None:
            raise self._timeout("arrival", set(range(1, self.world_size)))
        return session

    def _timeout(self, label: str, arrived: set[int]) -> RendezvousTimeoutError:
        missing = tuple(number for number in range(self.world_size) if number not in arrived)
        names = ", ".join(map(str, missing))
        return RendezvousTimeoutError(
            f"{'rank' if len(missing) == 1 else 'ranks'} {names} of {self.world_size} did not come"
            f" to {self._directory} in time ({label}).",
            missing,
        )

    def _write(self, name: str, body: dict[str, Any]) -> None:
        text = json.dumps(body, sort_keys=True)
        mac = proof(self._token, PROTOCOL_VERSION, name, text)
        path = self._directory / name
        temporary = self._directory / f".{name}.{secrets.token_hex(8)}"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as stream:
            json.dump({"version": PROTOCOL_VERSION, "body": text, "proof": mac}, stream)
        os.replace(temporary, path)
        if path not in self._written:
            self._written.append(path)

    def _read(self, name: str) -> dict[str, Any] | None:
        """Return the body of a file, or None when it is absent or not of this job."""
        try:
            with open(self._directory / name, "rb") as stream:
                data = stream.read(MAX_FILE_NBYTES + 1)
        except FileNotFoundError:
            return None
        if len(data) > MAX_FILE_NBYTES:
            raise RendezvousError(f"{self._directory / name} exceeds {MAX_FILE_NBYTES} bytes.")
        try:
            outer = json.loads(data)
            text, mac, version = str(outer["body"]), str(outer["proof"]), outer["version"]
            body = json.loads(text)
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise RendezvousError(
                f"{self._directory / name} is not a rendezvous file: give the job a directory of"
                " its own."
            ) from error
        if version != PROTOCOL_VERSION or not isinstance(body, dict):
            return None
        if not compare_digest(mac, proof(self._token, PROTOCOL_VERSION, name, text)):
            return None
        return body


def _poll(attempt: Callable[[], _T | None], deadline: float) -> _T | None:
    while (result := attempt()) is None:
        if time.monotonic() >= deadline:
            return None
        time.sleep(POLL_S)
    return result
