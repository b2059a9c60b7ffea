# SPDX-License-Identifier: Apache-2.0
"""Rank 0's side of the TCP rendezvous: one thread that collects and answers."""

from __future__ import annotations

import secrets
import selectors
import socket
import threading
import time
from dataclasses import dataclass, field
from hmac import compare_digest
from typing import Any

from aclnn_py.distributed.errors import RendezvousError
from aclnn_py.distributed.wire import (
    MAX_REPLY_NBYTES,
    MAX_REQUEST_NBYTES,
    PROTOCOL_VERSION,
    Message,
    encode,
    proof,
    take_frames,
)

__all__ = ["RendezvousServer"]

GREETING_TIMEOUT_S = 10.0
"""Seconds a connection may take to show that it belongs to the job."""
SPARE_CONNECTIONS = 64
"""Connections beyond one per rank that may be open at once."""


@dataclass(eq=False)
class _Peer:
    connection: socket.socket
    nonce: str
    give_up_at: float
    rank: int | None = None
    who: str = ""
    received: bytearray = field(default_factory=bytearray)
    unsent: bytearray = field(default_factory=bytearray)
    closing: bool = False


@dataclass
class _Exchange:
    deadline: float
    timeout_s: float
    payloads: dict[int, Any] = field(default_factory=dict)


class RendezvousServer:
    """Collects the payloads of all ranks and tells everyone who is missing, lost or different.

    Parameters
    ----------
    listener : socket.socket
        Listening socket; taken over.
    world_size : int
        Number of ranks expected.
    token : str
        Secret of the job.
    """

    def __init__(self, listener: socket.socket, world_size: int, token: str) -> None:
        self._listener = listener
        self._world_size = world_size
        self._token = token
        self._selector = selectors.DefaultSelector()
        self._peers: set[_Peer] = set()
        self._joined: dict[int, _Peer] = {}
        self._exchanges: dict[str, _Exchange] = {}
        self._lost: list[int] = []
        self._verdict: Message | None = None
        self._wake_in, self._wake_out = socket.socketpair()
        self._thread = threading.Thread(target=self._serve, name="aclnn_py-rendezvous", daemon=True)

    def start(self) -> None:
        """Begin to serve."""
        self._listener.setblocking(False)
        self._wake_out.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._wake_out, selectors.EVENT_READ)
        self._thread.start()

    def stop(self) -> None:
        """Tell the ranks that rank 0 leaves in good order, then end the thread."""
        self._wake_in.send(b"x")
        self._thread.join(timeout=5.0)
        self._wake_in.close()

    def _serve(self) -> None:
        while True:
            events = self._selector.select(self._next_deadline())
            for key, mask in events:
                if key.fileobj is self._wake_out:
                    self._end()
                    return
                if key.fileobj is self._listener:
                    self._accept()
                else:
                    self._attend(key.data, mask)
            self._expire()

    def _next_deadline(self) -> float | None:
        times = [exchange.deadline for exchange in self._exchanges.values()]
        times += [peer.give_up_at for peer in self._peers if peer.rank is None]
        return max(0.0, min(times) - time.monotonic()) if times else None

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # the caller went away between the event and this call
        if len(self._peers) >= self._world_size + SPARE_CONNECTIONS:
            connection.close()
            return
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 10)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
        peer = _Peer(connection, secrets.token_hex(16), time.monotonic() + GREETING_TIMEOUT_S)
        self._peers.add(peer)
        self._selector.register(connection, selectors.EVENT_READ, peer)
        self._send(peer, {"type": "greeting", "version": PROTOCOL_VERSION, "nonce": peer.nonce})

    def _attend(self, peer: _Peer, mask: int) -> None:
        if peer not in self._peers:
            return
        if mask & selectors.EVENT_WRITE:
            self._flush(peer)
        if not mask & selectors.EVENT_READ or peer not in self._peers:
            return
        try:
            data = peer.connection.recv(65536)
            peer.received += data
            messages = take_frames(peer.received, MAX_REQUEST_NBYTES)
        except BlockingIOError:
            return
        except (OSError, RendezvousError):
            self._drop(peer)
            return
        for message in messages:
            if peer in self._peers and not peer.closing:
                self._handle(peer, message)
        if not data:
            self._drop(peer)

    def _handle(self, peer: _Peer, message: Message) -> None:
        kind = message["type"]
        if peer.rank is None:
            if kind == "hello":
                self._admit(peer, message)
            else:
                self._drop(peer)
        elif kind == "gather":
            self._collect(peer.rank, peer, message)
        elif kind == "leave":
            rank, peer.rank = peer.rank, None
            del self._joined[rank]
            self._drop(peer)
            if self._exchanges:
                self._announce_lost(rank)
        else:
            self._drop(peer)

    def _admit(self, peer: _Peer, hello: Message) -> None:
        rank, world_size, nonce = hello.get("rank"), hello.get("world_size"), hello.get("nonce")
        place = (peer.nonce, nonce, rank, world_size)
        expected = proof(self._token, "hello", *place)
        if not compare_digest(expected, str(hello.get("proof"))):
            self._send(peer, {"type": "refused", "reason": "the job token differs."}, last=True)
            return
        who = str(hello.get("who"))[:200]
        if world_size != self._world_size:
            self._fail(
                f"rank {rank} ({who}) was started with world size {world_size}, rank 0 with"
                f" {self._world_size}.",
                peer,
            )
        elif type(rank) is not int or not 0 <= rank < self._world_size:
            self._fail(f"{who} claims rank {rank} of {self._world_size}.", peer)
        elif rank in self._joined:
            self._fail(f"rank {rank} came twice: {self._joined[rank].who} and {who}.", peer)
        else:
            peer.rank, peer.who = rank, who
            self._joined[rank] = peer
            self._send(peer, {"type": "welcome", "proof": proof(self._token, "welcome", *place)})
            if self._verdict is not None:
                self._send(peer, self._verdict)

    def _collect(self, rank: int, peer: _Peer, message: Message) -> None:
        label, timeout_s = message.get("label"), message.get("timeout_s")
        if not isinstance(label, str) or not isinstance(timeout_s, (int, float)):
            self._drop(peer)
            return
        if self._verdict is not None:
            self._send(peer, self._verdict)
            return
        deadline = time.monotonic() + timeout_s
        exchange = self._exchanges.setdefault(label, _Exchange(deadline, timeout_s))
        if deadline < exchange.deadline:
            exchange.deadline, exchange.timeout_s = deadline, timeout_s
        exchange.payloads[rank] = message.get("payload")
        if len(exchange.payloads) == self._world_size:
            del self._exchanges[label]
            payloads = [exchange.payloads[number] for number in range(self._world_size)]
            self._tell_all({"type": "gathered", "label": label, "payloads": payloads})

    def _expire(self) -> None:
        now = time.monotonic()
        for peer in [p for p in self._peers if p.rank is None and p.give_up_at <= now]:
            self._drop(peer)
        for label, exchange in list(self._exchanges.items()):
            if exchange.deadline <= now:
                del self._exchanges[label]
                missing = [r for r in range(self._world_size) if r not in exchange.payloads]
                self._tell_all(
                    {
                        "type": "missing",
                        "label": label,
                        "ranks": missing,
                        "timeout_s": exchange.timeout_s,
                    }
                )

    def _fail(self, reason: str, peer: _Peer) -> None:
        """Nobody can go on: tell everyone why, and whoever comes later too."""
        self._verdict = {"type": "mismatch", "reason": reason}
        self._exchanges.clear()
        self._tell_all(self._verdict)
        self._send(peer, self._verdict, last=True)

    def _announce_lost(self, rank: int) -> None:
        self._exchanges.clear()
        if self._verdict is not None and self._verdict["type"] == "mismatch":
            return  # the job has failed already; ranks that end now are a consequence
        self._lost.append(rank)
        self._verdict = {"type": "lost", "ranks": self._lost}
        self._tell_all(self._verdict)

    def _tell_all(self, message: Message) -> None:
        for peer in list(self._joined.values()):
            self._send(peer, message)

    def _send(self, peer: _Peer, message: Message, *, last: bool = False) -> None:
        peer.unsent += encode(message, MAX_REPLY_NBYTES)
        peer.closing = peer.closing or last
        self._flush(peer)

    def _flush(self, peer: _Peer) -> None:
        try:
            while peer.unsent:
                del peer.unsent[: peer.connection.send(peer.unsent)]
        except BlockingIOError:
            self._selector.modify(
                peer.connection, selectors.EVENT_READ | selectors.EVENT_WRITE, peer
            )
            return
        except OSError:
            self._drop(peer)
            return
        if peer.closing:
            self._drop(peer)
        else:
            self._selector.modify(peer.connection, selectors.EVENT_READ, peer)

    def _drop(self, peer: _Peer) -> None:
        if peer not in self._peers:
            return
        self._peers.discard(peer)
        self._selector.unregister(peer.connection)
        peer.connection.close()
        if peer.rank is not None and self._joined.get(peer.rank) is peer:
            del self._joined[peer.rank]
            self._announce_lost(peer.rank)

    def _end(self) -> None:
        for peer in list(self._peers):
            peer.rank = None
            self._send(peer, {"type": "closing"}, last=True)
        for peer in list(self._peers):
            self._selector.unregister(peer.connection)
            peer.connection.close()
        self._selector.unregister(self._listener)
        self._listener.close()
        self._wake_out.close()
        self._selector.close()
