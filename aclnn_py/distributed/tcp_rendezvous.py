# SPDX-License-Identifier: Apache-2.0
"""Rendezvous over TCP: rank 0 listens on one address, every rank (0 too) connects to it."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import secrets
import socket
import time
from hmac import compare_digest
from typing import Any, NoReturn

from aclnn_py.distributed.errors import (
    RankLostError,
    RendezvousError,
    RendezvousMismatchError,
    RendezvousTimeoutError,
)
from aclnn_py.distributed.rendezvous import Rendezvous
from aclnn_py.distributed.rendezvous_server import RendezvousServer
from aclnn_py.distributed.wire import PROTOCOL_VERSION, Channel, Message, proof

__all__ = ["TcpRendezvous"]

GRACE_S = 2.0
"""Seconds past a timeout in which rank 0 still tells which ranks are missing."""


class TcpRendezvous(Rendezvous):
    """A meeting at ``address:port``; rank 0's process serves it from one thread.

    The connections stay open: when a process ends without leaving, the others learn its rank.

    Parameters
    ----------
    address : str
        Host name or IP address; rank 0 listens on it and on no other.
    port : int
        TCP port, 1..65535.
    rank : int
        Number of this process, ``0 <= rank < world_size``.
    world_size : int
        Number of processes.
    token : str
        Secret of the job. May be empty only when ``address`` is a loopback address.
    timeout_s : float
        Seconds to wait for rank 0.
    listener_fd : int, optional
        Descriptor of a bound TCP socket for rank 0 to listen on; taken over.

    Raises
    ------
    RendezvousError
        The address cannot be listened on, the job token differs, or another program answers.
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
        listener_fd: int | None = None,
    ) -> None:
        self.rank = rank
        self.world_size = world_size
        self._place = f"{address}:{port}"
        self._lost: set[int] = set()
        self._server: RendezvousServer | None = None
        self._channel: Channel | None = None
        family, target = _resolve(address, port)
        if not token and not ipaddress.ip_address(target[0].split("%")[0]).is_loopback:
            raise RendezvousError(
                f"the ranks meet at {self._place}, which other hosts can reach: set"
                " ACLNN_PY_JOB_TOKEN to the same secret on every rank."
            )
        deadline = time.monotonic() + timeout_s
        if rank == 0:
            listener = _listen(family, target, listener_fd)
            self._server = RendezvousServer(listener, world_size, token)
            self._server.start()
        try:
            self._join(family, target, token, deadline)
        except BaseException:
            self.close()
            raise

    def gather(
        self, label: str, payload: dict[str, Any], *, timeout_s: float
    ) -> list[dict[str, Any]]:
        """Give a payload, wait for those of all ranks and return them in rank order."""
        if self._channel is None:
            raise RendezvousError("the rendezvous is closed.")
        self._absorb(self._channel.pending())
        if self._lost:
            self._raise_lost()
        deadline = time.monotonic() + timeout_s + GRACE_S
        request = {"type": "gather", "label": label, "payload": payload, "timeout_s": timeout_s}
        try:
            self._channel.send(request, deadline)
            reply = self._channel.receive(deadline)
            while reply.get("label") != label and reply["type"] not in {"lost", "mismatch"}:
                self._absorb([reply])
                reply = self._channel.receive(deadline)
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
        """Return the ranks known to have ended without leaving; never waits."""
        if self._channel is not None:
            self._absorb(self._channel.pending())
            if self._channel.ended and not self._left:
                self._lost.add(0)
        return tuple(sorted(self._lost))

    def close(self) -> None:
        """Leave the job in good order; a second call does nothing."""
        channel, self._channel = self._channel, None
        if channel is not None:
            # A rank 0 that is gone already needs no word of ours.
            with contextlib.suppress(OSError):
                channel.send({"type": "leave"}, time.monotonic() + GRACE_S)
            channel.close()
        server, self._server = self._server, None
        if server is not None:
            server.stop()

    _left = False

    def _join(
        self, family: socket.AddressFamily, target: tuple[Any, ...], token: str, deadline: float
    ) -> None:
        nonce = secrets.token_hex(16)
        channel = Channel(_connect(family, target, deadline, self._place, self.rank))
        self._channel = channel
        greeting = self._ask(channel, None, deadline)
        self._check_protocol(greeting)
        place = (greeting.get("nonce"), nonce, self.rank, self.world_size)
        hello = {
            "type": "hello",
            "rank": self.rank,
            "world_size": self.world_size,
            "nonce": nonce,
            "proof": proof(token, "hello", *place),
            "who": f"process {os.getpid()} on {socket.gethostname()}",
        }
        reply = self._ask(channel, hello, deadline)
        if reply["type"] == "mismatch":
            raise RendezvousMismatchError(str(reply.get("reason")))
        if reply["type"] == "refused":
            raise RendezvousError(f"{self._place} refused rank {self.rank}: {reply.get('reason')}")
        expected = proof(token, "welcome", *place)
        if reply["type"] != "welcome" or not compare_digest(expected, str(reply.get("proof"))):
            raise RendezvousError(
                f"what listens on {self._place} does not know this job's token: another job uses"
                " the port."
            )

    def _ask(self, channel: Channel, message: Message | None, deadline: float) -> Message:
        try:
            if message is not None:
                channel.send(message, deadline)
            return channel.receive(deadline)
        except RendezvousError:
            raise
        except TimeoutError as error:
            raise RendezvousTimeoutError(
                f"rank {self.rank} connected to {self._place} but rank 0 did not answer in time.",
                (0,),
            ) from error
        except (EOFError, OSError) as error:
            raise RendezvousError(
                f"{self._place} closed the connection of rank {self.rank} during the greeting."
            ) from error

    def _check_protocol(self, greeting: Message) -> None:
        if greeting["type"] != "greeting":
            raise RendezvousError(f"{self._place} is not a rendezvous of aclnn_py.")
        if greeting.get("version") != PROTOCOL_VERSION:
            raise RendezvousMismatchError(
                f"rank 0 speaks rendezvous version {greeting.get('version')}, rank {self.rank}"
                f" version {PROTOCOL_VERSION}: install the same aclnn_py on every rank."
            )

    def _absorb(self, messages: list[Message]) -> None:
        for message in messages:
            if message["type"] == "lost":
                self._lost.update(int(rank) for rank in message["ranks"])
            elif message["type"] == "closing":
                self._left = True

    def _payloads(self, reply: Message) -> list[dict[str, Any]]:
        if reply["type"] == "gathered":
            payloads = reply["payloads"]
            if not isinstance(payloads, list) or len(payloads) != self.world_size:
                raise RendezvousError(f"rank 0 sent {len(payloads)} payloads, not one per rank.")
            return payloads
        if reply["type"] == "missing":
            missing = tuple(int(rank) for rank in reply["ranks"])
            raise RendezvousTimeoutError(
                f"{_ranks_text(missing)} of {self.world_size} did not come to {self._place} within"
                f" {float(reply['timeout_s']):g} s ({reply['label']}).",
                missing,
            )
        if reply["type"] == "mismatch":
            raise RendezvousMismatchError(str(reply["reason"]))
        if reply["type"] == "lost":
            self._raise_lost()
        raise RendezvousError(f"rank 0 sent an unexpected {reply['type']!r} message.")

    def _raise_lost(self) -> NoReturn:
        lost = tuple(sorted(self._lost))
        raise RankLostError(f"{_ranks_text(lost)} ended during bring-up.", lost)


def _ranks_text(ranks: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, ranks[:16])) + (", ..." if len(ranks) > 16 else "")
    return f"rank {shown}" if len(ranks) == 1 else f"ranks {shown}"


def _resolve(address: str, port: int) -> tuple[socket.AddressFamily, tuple[Any, ...]]:
    try:
        found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise RendezvousError(f"the address {address!r} of rank 0 cannot be resolved.") from error
    # Every rank must take the same answer whatever the order its resolver gives.
    family, _, _, _, target = min(found, key=lambda item: (item[0] != socket.AF_INET, item[4]))
    return family, target


def _listen(
    family: socket.AddressFamily, target: tuple[Any, ...], descriptor: int | None
) -> socket.socket:
    if descriptor is not None:
        listener = socket.socket(fileno=descriptor)
        listener.set_inheritable(False)
    else:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        if descriptor is None:
            listener.bind(target)
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise RendezvousError(
            f"rank 0 cannot listen on {target[0]} port {target[1]}: {error.strerror}. MASTER_ADDR"
            " must be an address of rank 0's host, and MASTER_PORT free there."
        ) from error
    return listener


def _connect(
    family: socket.AddressFamily, target: tuple[Any, ...], deadline: float, place: str, rank: int
) -> socket.socket:
    while True:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise RendezvousTimeoutError(
                f"rank {rank} found nobody at {place}: rank 0 did not come.", (0,)
            )
        connection = socket.socket(family, socket.SOCK_STREAM)
        connection.settimeout(min(remaining, 5.0))
        try:
            connection.connect(target)
        except OSError:
            # Refused or unreachable: rank 0 is not up yet. The deadline decides.
            connection.close()
            time.sleep(min(0.05, remaining))
            continue
        if connection.getsockname() == connection.getpeername():
            # A port of the ephemeral range with no listener can connect to itself.
            connection.close()
            time.sleep(min(0.05, remaining))
            continue
        keep_alive(connection)
        return connection


def keep_alive(connection: socket.socket) -> None:
    """Let a host that vanished be noticed within half a minute."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 10)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
