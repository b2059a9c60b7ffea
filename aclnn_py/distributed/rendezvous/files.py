# SPDX-License-Identifier: Apache-2.0
"""Rendezvous through a directory that all ranks share, for hosts without a route to rank 0.

Nonces distinguish this job from what an earlier one left behind: rank 0 publishes a session with
the nonce of every rank, and a rank joins only a session that lists the nonce it has just drawn.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Any, TypeVar

from aclnn_py.distributed.rendezvous.interface import Rendezvous
from aclnn_py.distributed.rendezvous.messages import checked_timeout
from aclnn_py.distributed.rendezvous.shared_files import SharedFiles
from aclnn_py.errors.ranks import RendezvousMismatchError, RendezvousTimeoutError

__all__ = ["FileRendezvous"]

POLL_S = 0.02
GRACE_S = 2.0
"""Seconds after a timeout in which rank 0 can still tell which ranks are missing."""

_T = TypeVar("_T")


class FileRendezvous(Rendezvous):
    """A rendezvous in a shared directory.

    It does not notice when a rank ends after bring-up.

    Parameters
    ----------
    directory : str
        Absolute path that every rank can reach. It is created if absent, for its owner only.
    rank : int
        Number of this process.
    world_size : int
        Number of processes.
    token : str
        Secret of the job; files without proof of it are ignored. When it is empty, all ranks have
        to run as the same user.
    timeout_s : float
        Seconds after which the missing ranks are reported.

    Raises
    ------
    RendezvousError
        The directory cannot be used, or has files that are not of a rendezvous.
    RendezvousTimeoutError
        Some ranks did not come; the message names them.
    RendezvousMismatchError
        The ranks have different world sizes.
    """

    def __init__(
        self, directory: str, *, rank: int, world_size: int, token: str = "", timeout_s: float
    ) -> None:
        self.rank = rank
        self.world_size = world_size
        deadline = time.monotonic() + checked_timeout(timeout_s)
        self._files = SharedFiles(directory, token)
        self._session = self._lead(deadline) if rank == 0 else self._follow(deadline)

    def gather(
        self, label: str, payload: dict[str, Any], *, timeout_s: float
    ) -> list[dict[str, Any]]:
        """Hand in a payload, wait for those of all ranks and return them in rank order."""
        deadline = time.monotonic() + checked_timeout(timeout_s)
        stem = f"{self._session}.{label}"
        self._files.write(f"{stem}.{self.rank}", "payload", payload=payload)
        found: dict[int, dict[str, Any]] = {}

        def collect() -> list[dict[str, Any]] | None:
            for number in range(self.world_size):
                if number not in found:
                    other = self._files.read(f"{stem}.{number}", "payload")
                    if other is not None:
                        found[number] = other["payload"]
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
        # The newest file stays, because another rank may not have read it yet. The next job sees
        # that it is stale and removes or ignores it.
        self._files.remove_all_but_newest()

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
                hello = self._files.read(f"hello.{number}", "hello")
                if hello is None:
                    continue
                arrived.add(number)
                if hello["world_size"] != self.world_size:
                    # It may be a file of an earlier job, so the refusal is for this nonce only.
                    self._files.write(
                        f"refused.{number}",
                        "refused",
                        nonce=hello["nonce"],
                        world_size=self.world_size,
                    )
                    arrived.discard(number)
                    continue
                nonces[str(number)] = seen[str(number)] = hello["nonce"]
            if len(nonces) < self.world_size - 1:
                return None
            if nonces != listed or not session:
                session, listed = secrets.token_hex(16), nonces
                self._files.write("session", "session", session=session, nonces=nonces)
            for number in range(1, self.world_size):
                if not self._is_ready(session, number):
                    return None
            return session

        result = _poll(confirmed, deadline)
        if result is None:
            ready = {0} | {n for n in arrived if session and self._is_ready(session, n)}
            # Without a session, the ranks that wrote a file have come. With one, a rank that did
            # not confirm it left only a stale file.
            failure = self._timeout("arrival", ready if session else arrived)
            self._files.write("missing", "missing", nonces=seen, ranks=list(failure.missing))
            raise failure
        self._files.write(f"{result}.go", "go")
        self._files.remove_other_sessions(result)
        return result

    def _is_ready(self, session: str, number: int) -> bool:
        return self._files.read(f"{session}.ready.{number}", "ready") is not None

    def _follow(self, deadline: float) -> str:
        """Any other rank: offer a nonce, confirm the session that lists it, wait for the start."""
        nonce = secrets.token_hex(16)
        self._files.write(f"hello.{self.rank}", "hello", nonce=nonce, world_size=self.world_size)
        confirmed: set[str] = set()

        def started() -> str | None:
            refusal = self._files.read(f"refused.{self.rank}", "refused")
            if refusal is not None and refusal["nonce"] == nonce:
                raise RendezvousMismatchError(
                    f"rank {self.rank} was started with world size {self.world_size}, rank 0 with"
                    f" {refusal['world_size']}."
                )
            verdict = self._files.read("missing", "missing")
            if verdict is not None and verdict["nonces"].get(str(self.rank)) == nonce:
                raise self._timeout("arrival", set(range(self.world_size)) - set(verdict["ranks"]))
            offer = self._files.read("session", "session")
            if offer is None or offer["nonces"].get(str(self.rank)) != nonce:
                return None
            session: str = offer["session"]
            if session not in confirmed:
                confirmed.add(session)
                self._files.write(f"{session}.ready.{self.rank}", "ready")
            return session if self._files.read(f"{session}.go", "go") is not None else None

        session = _poll(started, deadline + GRACE_S)
        if session is None:
            raise self._timeout("arrival", set(range(1, self.world_size)))
        return session

    def _timeout(self, label: str, arrived: set[int]) -> RendezvousTimeoutError:
        missing = tuple(number for number in range(self.world_size) if number not in arrived)
        names = ", ".join(map(str, missing))
        return RendezvousTimeoutError(
            f"{'rank' if len(missing) == 1 else 'ranks'} {names} of {self.world_size} did not come"
            f" to {self._files.directory} in time ({label}).",
            missing,
        )


def _poll(attempt: Callable[[], _T | None], deadline: float) -> _T | None:
    while (result := attempt()) is None:
        if time.monotonic() >= deadline:
            return None
        time.sleep(POLL_S)
    return result
