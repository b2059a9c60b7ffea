# SPDX-License-Identifier: Apache-2.0
"""Rank 0's side of the TCP rendezvous: a thread that collects payloads and answers."""

from __future__ import annotations

import secrets
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from aclnn_py.distributed.rendezvous.connections import Connections, Peer
from aclnn_py.distributed.rendezvous.messages import (
    GREETINGS,
    PROTOCOL_VERSION,
    REPLIES,
    Message,
    one_line,
    proof,
    proves,
)
from aclnn_py.distributed.rendezvous.wire import frame
from aclnn_py.errors.ranks import RendezvousError

__all__ = ["RendezvousServer"]


@dataclass
class _Exchange:
    label: str
    deadline: float
    timeout_s: float
    payloads: dict[int, Any] = field(default_factory=dict)


class RendezvousServer:
    """Collects the payloads of all ranks and tells all of them who is missing, lost or different.

    It serves one session: the ranks join, exchange payloads and leave. A rank that has left and
    comes again belongs to the next session of the job. It has to wait until this one is over.

    Parameters
    ----------
    listener : socket.socket
        Listening socket; this object closes it.
    world_size : int
        Number of ranks of the job.
    token : str
        Secret of the job.
    """

    def __init__(self, listener: socket.socket, world_size: int, token: str) -> None:
        self._world_size = world_size
        self._token = token
        self._connections = Connections(
            listener, greet=self._greet, hear=self._handle, refuse=self._refuse, lose=self._lose
        )
        self._joined: dict[int, Peer] = {}
        self._left: set[int] = set()
        self._lost: list[int] = []
        self._early: dict[int, Peer] = {}
        """Ranks that wait for the next session."""
        self._complete = False
        self._exchange: _Exchange | None = None
        self._verdict: Message | None = None
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._serve, name="aclnn_py-rendezvous", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Tell the ranks that rank 0 leaves properly, then end the thread."""
        if self._thread.is_alive():
            self._connections.wake()
        self._thread.join(timeout=5.0)
        self._connections.close()
        if self._failure is not None:
            raise RendezvousError(
                f"rank 0's rendezvous ended early: {self._failure!r}."
            ) from self._failure

    def _serve(self) -> None:
        try:
            while self._connections.turn(self._deadline()):
                self._expire()
            self._connections.send_last_to_all(frame({"type": "closing"}, GREETINGS))
        except Exception as error:
            self._failure = error
        finally:
            # Without connections no rank waits for a thread that has ended.
            self._connections.close_sockets()

    def _deadline(self) -> float | None:
        return None if self._exchange is None else self._exchange.deadline

    def _greet(self, peer: Peer) -> None:
        peer.nonce = secrets.token_hex(16)
        greeting = {"type": "greeting", "version": PROTOCOL_VERSION, "nonce": peer.nonce}
        self._connections.send(peer, greeting, GREETINGS)

    def _handle(self, peer: Peer, message: Message) -> None:
        if message["type"] == "hello":
            self._meet(peer, message)
        elif message["type"] == "gather" and peer.rank is not None:
            self._collect(peer.rank, peer, message)
        elif message["type"] == "leave" and peer.rank is not None:
            rank, peer.rank = peer.rank, None
            del self._joined[rank]
            self._left.add(rank)
            self._connections.drop(peer)
            if self._exchange is not None:
                self._announce_lost(rank)
        else:
            self._connections.drop(peer)

    def _meet(self, peer: Peer, hello: Message) -> None:
        rank, world_size, who = hello["rank"], hello["world_size"], hello["who"]
        place = (peer.nonce, hello["nonce"], rank, world_size)
        if not proves(hello["proof"], self._token, "hello", *place):
            refusal = {"type": "refused", "reason": "the job token differs."}
            self._connections.send(peer, refusal, GREETINGS, last=True)
        elif world_size != self._world_size:
            self._turn_away(
                peer,
                f"rank {rank} ({who}) was started with world size {world_size}, rank 0 with"
                f" {self._world_size}.",
            )
        elif rank >= self._world_size:
            self._turn_away(peer, f"{who} claims rank {rank} of {self._world_size}.")
        elif rank in self._joined:
            self._turn_away(peer, f"rank {rank} came twice: {self._joined[rank].who} and {who}.")
        elif rank in self._left or rank in self._lost:
            self._let_wait(peer, rank)
        else:
            self._join(peer, rank, who, place)

    def _join(self, peer: Peer, rank: int, who: str, place: tuple[object, ...]) -> None:
        self._connections.admit(peer)
        peer.rank, peer.who = rank, who
        self._joined[rank] = peer
        self._complete = self._complete or len(self._joined) == self._world_size
        welcome = {"type": "welcome", "proof": proof(self._token, "welcome", *place)}
        self._connections.send(peer, welcome, GREETINGS)
        if self._verdict is not None:
            self._connections.send(peer, self._verdict, REPLIES)

    def _let_wait(self, peer: Peer, rank: int) -> None:
        earlier = self._early.pop(rank, None)
        if earlier is not None:
            self._connections.drop(earlier)
        self._early[rank] = peer
        self._connections.admit(peer)
        self._connections.send(peer, {"type": "wait"}, GREETINGS)

    def _turn_away(self, peer: Peer, reason: str) -> None:
        if not self._complete:
            self._fail(reason)
        # When all ranks of a job have met, a rank too many does not stop it.
        self._connections.send(peer, {"type": "mismatch", "reason": reason}, GREETINGS, last=True)

    def _refuse(self, peer: Peer, error: RendezvousError) -> None:
        if peer.rank is not None:
            self._fail(f"rank {peer.rank} ({peer.who}) sent what no rank sends: {error}")

    def _collect(self, rank: int, peer: Peer, message: Message) -> None:
        if self._verdict is not None:
            self._connections.send(peer, self._verdict, REPLIES)
            return
        if self._left:
            self._announce_lost(*sorted(self._left))
            return
        label, timeout_s = message["label"], message["timeout_s"]
        deadline = time.monotonic() + timeout_s
        if self._exchange is None:
            self._exchange = _Exchange(label, deadline, timeout_s)
        exchange = self._exchange
        if exchange.label != label or rank in exchange.payloads:
            others = ", ".join(map(str, sorted(exchange.payloads)[:16]))
            self._fail(
                f"rank {rank} ({peer.who}) asks for {label!r} while rank {others} waits in"
                f" {exchange.label!r}: all ranks make the same calls in the same order."
            )
            return
        if deadline < exchange.deadline:
            exchange.deadline, exchange.timeout_s = deadline, timeout_s
        exchange.payloads[rank] = message["payload"]
        if len(exchange.payloads) == self._world_size:
            self._exchange = None
            self._answer(exchange)

    def _answer(self, exchange: _Exchange) -> None:
        payloads = [exchange.payloads[number] for number in range(self._world_size)]
        try:
            self._tell_all({"type": "gathered", "label": exchange.label, "payloads": payloads})
        except RendezvousError as error:
            self._fail(f"the payloads of all ranks cannot be sent: {error}")

    def _expire(self) -> None:
        exchange = self._exchange
        if exchange is not None and exchange.deadline <= time.monotonic():
            self._exchange = None
            missing = [r for r in range(self._world_size) if r not in exchange.payloads]
            self._tell_all(
                {
                    "type": "missing",
                    "label": exchange.label,
                    "ranks": missing,
                    "timeout_s": exchange.timeout_s,
                }
            )

    def _fail(self, reason: str) -> None:
        """End the session with an error: tell every rank why, also those that come later."""
        self._exchange = None
        self._verdict = {"type": "mismatch", "reason": one_line(reason, 2000)}
        self._tell_all(self._verdict)

    def _announce_lost(self, *ranks: int) -> None:
        self._exchange = None
        if self._verdict is not None and self._verdict["type"] == "mismatch":
            return  # the job has failed already; that is why ranks end now
        self._lost += ranks
        self._verdict = {"type": "lost", "ranks": self._lost}
        self._tell_all(self._verdict)

    def _tell_all(self, message: Message) -> None:
        data = frame(message, REPLIES)
        for peer in list(self._joined.values()):
            self._connections.send_frame(peer, data)

    def _lose(self, peers: list[Peer]) -> None:
        self._early = {rank: peer for rank, peer in self._early.items() if peer not in peers}
        lost = []
        for peer in peers:
            if peer.rank is not None and self._joined.get(peer.rank) is peer:
                del self._joined[peer.rank]
                lost.append(peer.rank)
        if lost:
            self._announce_lost(*lost)
