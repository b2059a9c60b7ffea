# SPDX-License-Identifier: Apache-2.0
"""Rendezvous over TCP: rank 0 listens on one address, and every rank (0 too) connects to it."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import secrets
import socket
import time
from typing import Any, NoReturn

from aclnn_py.distributed.rendezvous.interface import Rendezvous
from aclnn_py.distributed.rendezvous.messages import (
    GREETINGS,
    HELLO,
    PROTOCOL_VERSION,
    REPLIES,
    REQUESTS,
    Message,
    checked_timeout,
    one_line,
    proof,
    proves,
)
from aclnn_py.distributed.rendezvous.server import RendezvousServer
from aclnn_py.distributed.rendezvous.sockets import (
    LauncherPort,
    Target,
    connect,
    listen,
    pauses,
    resolve,
)
from aclnn_py.distributed.rendezvous.wire import Channel
from aclnn_py.errors.ranks import (
    RankLostError,
    RendezvousError,
    RendezvousMismatchError,
    RendezvousTimeoutError,
)

__all__ = ["TcpRendezvous"]

GRACE_S = 2.0
"""Seconds after a timeout in which rank 0 can still tell which ranks are missing."""
_CLOSED = "rank 0 closed the job's previous communicator and has not opened the next one"


class _NotYetError(Exception):
    """Rank 0 cannot accept this rank yet; the message says why."""


class TcpRendezvous(Rendezvous):
    """A rendezvous at ``address:port``; a thread of rank 0's process serves it.

    The connections stay open, so that the other ranks learn when a process ends without leaving.

    Parameters
    ----------
    address : str
        Host name or IP address; rank 0 listens on this address only.
    port : int
        TCP port, 1..65535.
    rank : int
        Number of this process, ``0 <= rank < world_size``.
    world_size : int
        Number of processes.
    token : str
        Secret of the job. It may be empty only when ``address`` is a loopback address.
    timeout_s : float
        Seconds to wait for rank 0, including the time it needs to close an earlier communicator.
    launcher : LauncherPort, optional
        Port that the launcher bound; rank 0 listens on it when it is ``address:port``.

    Raises
    ------
    RendezvousError
        Rank 0 cannot listen on the address, the job token differs, or another program answers.
    RendezvousTimeoutError
        Rank 0 does not answer.
    """

    def __init__(
        self,
        address: str,
        port: int,
        *,
        rank: int,
        world_size: int,
        token: str = "",
        timeout_s: float,
        launcher: LauncherPort | None = None,
    ) -> None:
        self.rank = rank
        self.world_size = world_size
        self._place = f"{address}:{port}"
        self._token = token
        self._lost: set[int] = set()
        self._left = False
        self._server: RendezvousServer | None = None
        self._channel: Channel | None = None
        deadline = time.monotonic() + checked_timeout(timeout_s)
        family, target = resolve(address, port)
        if not token and not ipaddress.ip_address(target[0].split("%")[0]).is_loopback:
            raise RendezvousError(
                f"the ranks meet at {self._place}, which other hosts can reach: set"
                " ACLNN_PY_JOB_TOKEN to the same secret on every rank."
            )
        if rank == 0:
            own = launcher if launcher is not None and launcher.is_at(target) else None
            if own is not None:
                own.lend(self)
            self._server = RendezvousServer(listen(family, target, own), world_size, token)
            self._server.start()
        try:
            self._channel = self._join(family, target, deadline)
        except BaseException:
            self.close()
            raise

    @property
    def closed(self) -> bool:
        """Whether this rank has left."""
        return self._channel is None and self._server is None

    def gather(
        self, label: str, payload: dict[str, Any], *, timeout_s: float
    ) -> list[dict[str, Any]]:
        """Hand in a payload, wait for those of all ranks and return them in rank order."""
        if self._channel is None:
            raise RendezvousError("the rendezvous is closed.")
        deadline = time.monotonic() + checked_timeout(timeout_s) + GRACE_S
        self._absorb(self._channel.pending(REPLIES))
        if self._lost:
            self._raise_lost()
        request = {"type": "gather", "label": label, "payload": payload, "timeout_s": timeout_s}
        try:
            self._channel.send(request, REQUESTS, deadline)
            reply = self._channel.receive(REPLIES, deadline)
            while reply.get("label") != label and reply["type"] not in {"lost", "mismatch"}:
                self._absorb([reply])
                reply = self._channel.receive(REPLIES, deadline)
        except RendezvousError:
            raise
        except TimeoutError as error:
            raise RendezvousTimeoutError(
                f"rank 0 stopped answering at {self._place}: no word on {label!r} within"
                f" {timeout_s:g} s.",
                (0,),
            ) from error
        except (EOFError, OSError) as error:
            self._lost.add(0)
            raise RankLostError(
                f"rank 0 ended while rank {self.rank} waited for it in {label!r}.", (0,)
            ) from error
        self._absorb([reply])
        return self._payloads(reply)

    def lost_ranks(self) -> tuple[int, ...]:
        """Return the ranks that are known to have ended without leaving; never wait."""
        if self._channel is not None:
            self._absorb(self._channel.pending(REPLIES))
            if self._channel.ended and not self._left:
                self._lost.add(0)
        return tuple(sorted(self._lost))

    def close(self) -> None:
        """Leave the job properly; a second call does nothing."""
        channel, self._channel = self._channel, None
        if channel is not None:
            deadline = time.monotonic() + GRACE_S
            # When rank 0 has ended already, there is nobody to tell.
            with contextlib.suppress(OSError, EOFError, RendezvousError):
                channel.send({"type": "leave"}, REQUESTS, deadline)
                # Rank 0 closes the connection when it has noted this. So it knows that this rank
                # has left before the rank comes again.
                while True:
                    channel.receive(REPLIES, deadline)
            channel.close()
        server, self._server = self._server, None
        if server is not None:
            server.stop()

    def _join(self, family: socket.AddressFamily, target: Target, deadline: float) -> Channel:
        """Try until rank 0 accepts this rank or the deadline passes."""
        reason = "rank 0 did not come"  # replaced by what rank 0 answers
        for pause in pauses():
            connection, unreachable = connect(family, target, deadline)
            reason = unreachable or reason
            if connection is not None:
                channel = Channel(connection)
                try:
                    self._introduce(channel, deadline)
                    return channel
                except _NotYetError as not_yet:
                    reason = str(not_yet)
                    channel.close()
                except BaseException:
                    channel.close()
                    raise
            remaining = deadline - time.monotonic()
            if remaining <= 0 or (self._server is not None and not self._server.running):
                break
            time.sleep(min(pause, remaining))
        raise RendezvousTimeoutError(
            f"rank {self.rank} found nobody at {self._place}: {reason}.", (0,)
        )

    def _introduce(self, channel: Channel, deadline: float) -> None:
        greeting = self._ask(channel, None, deadline)
        self._check_protocol(greeting)
        nonce = secrets.token_hex(16)
        place = (greeting["nonce"], nonce, self.rank, self.world_size)
        hello = {
            "type": "hello",
            "rank": self.rank,
            "world_size": self.world_size,
            "nonce": nonce,
            "proof": proof(self._token, "hello", *place),
            "who": one_line(f"process {os.getpid()} on {socket.gethostname()}"),
        }
        reply = self._ask(channel, hello, deadline)
        if reply["type"] == "wait":
            reply = self._ask(channel, None, deadline)
        if reply["type"] == "closing":
            raise _NotYetError(_CLOSED)
        if reply["type"] == "mismatch":
            raise RendezvousMismatchError(reply["reason"])
        if reply["type"] == "refused":
            raise RendezvousError(f"{self._place} refused rank {self.rank}: {reply['reason']}")
        if reply["type"] != "welcome" or not proves(reply["proof"], self._token, "welcome", *place):
            raise RendezvousError(
                f"what listens on {self._place} does not know this job's token: another job uses"
                " the port."
            )

    def _ask(self, channel: Channel, message: Message | None, deadline: float) -> Message:
        try:
            if message is not None:
                channel.send(message, HELLO, deadline)
            return channel.receive(GREETINGS, deadline)
        except RendezvousError as error:
            raise RendezvousError(
                f"{self._place} is not a rendezvous of aclnn_py: {error}"
            ) from error
        except TimeoutError as error:
            raise RendezvousTimeoutError(
                f"rank {self.rank} connected to {self._place} but rank 0 did not answer in time.",
                (0,),
            ) from error
        except (EOFError, OSError) as error:
            raise _NotYetError("the connection was closed before rank 0 had answered") from error

    def _check_protocol(self, greeting: Message) -> None:
        # A greeting has the same fields in every version, so that this message is possible.
        if greeting["type"] == "closing":
            raise _NotYetError(_CLOSED)
        if greeting["type"] != "greeting":
            raise RendezvousError(f"{self._place} is not a rendezvous of aclnn_py.")
        if greeting["version"] != PROTOCOL_VERSION:
            raise RendezvousMismatchError(
                f"rank 0 speaks rendezvous version {greeting['version']}, rank {self.rank}"
                f" version {PROTOCOL_VERSION}: install the same aclnn_py on every rank."
            )

    def _absorb(self, messages: list[Message]) -> None:
        for message in messages:
            if message["type"] == "lost":
                self._lost.update(message["ranks"])
            elif message["type"] == "closing":
                self._left = True

    def _payloads(self, reply: Message) -> list[dict[str, Any]]:
        if reply["type"] == "gathered":
            payloads: list[dict[str, Any]] = reply["payloads"]
            if len(payloads) != self.world_size:
                raise RendezvousError(f"rank 0 sent {len(payloads)} payloads, not one per rank.")
            return payloads
        if reply["type"] == "missing":
            missing = tuple(reply["ranks"])
            raise RendezvousTimeoutError(
                f"{_ranks_text(missing)} of {self.world_size} did not come to {self._place} within"
                f" {reply['timeout_s']:g} s ({reply['label']}).",
                missing,
            )
        if reply["type"] == "mismatch":
            raise RendezvousMismatchError(reply["reason"])
        self._raise_lost()

    def _raise_lost(self) -> NoReturn:
        lost = tuple(sorted(self._lost))
        raise RankLostError(f"{_ranks_text(lost)} ended during bring-up.", lost)


def _ranks_text(ranks: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, ranks[:16])) + (", ..." if len(ranks) > 16 else "")
    return f"rank {shown}" if len(ranks) == 1 else f"ranks {shown}"
