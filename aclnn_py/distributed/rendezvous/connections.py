# SPDX-License-Identifier: Apache-2.0
"""The connections of rank 0's rendezvous, with limits for slots, times and buffers.

Anybody who connects is a stranger until ``admit``. All strangers share ``STRANGERS`` slots, each
has little time, and a newcomer takes the slot of the oldest. So a crowd of strangers can only force
a real rank to try again.
"""

from __future__ import annotations

import errno
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from aclnn_py.distributed.rendezvous.messages import HELLO, REQUESTS, Message, Place
from aclnn_py.distributed.rendezvous.sockets import keep_alive
from aclnn_py.distributed.rendezvous.wire import LENGTH_NBYTES, frame, take_message
from aclnn_py.errors.ranks import RendezvousError

__all__ = ["Connections", "Peer"]

STRANGERS = 64
"""Connections that may be open without having shown that they belong to the job."""
GREETING_TIMEOUT_S = 5.0
"""Seconds a connection has to show that, or to read its last message."""
MAX_UNSENT = 64
"""Messages that may wait for a rank that does not read."""
_REST_S = 0.1
_NO_ROOM = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


@dataclass(eq=False)
class Peer:
    """A connection, and what the server knows about it."""

    connection: socket.socket
    give_up_at: float | None
    """When it is closed in any case; None for a rank of the job."""
    reads: Place = HELLO
    nonce: str = ""
    rank: int | None = None
    who: str = ""
    received: bytearray = field(default_factory=bytearray)
    unsent: deque[memoryview] = field(default_factory=deque)
    closing: bool = False
    """It is closed as soon as the last message is sent, and no longer read."""


class Connections:
    """Accepts, reads and writes connections; reports messages and ends to its owner.

    Parameters
    ----------
    listener : socket.socket
        Listening socket; this object closes it.
    greet : callable
        Called with each new peer.
    hear : callable
        Called with a peer and its message.
    refuse : callable
        Called with a peer and the error when it sent something that is no message.
    lose : callable
        Called with the peers that ended or were dropped; never from inside another callback.
    """

    def __init__(
        self,
        listener: socket.socket,
        *,
        greet: Callable[[Peer], None],
        hear: Callable[[Peer, Message], None],
        refuse: Callable[[Peer, RendezvousError], None],
        lose: Callable[[list[Peer]], None],
    ) -> None:
        self._listener = listener
        self._greet, self._hear, self._refuse, self._lose = greet, hear, refuse, lose
        self._selector = selectors.DefaultSelector()
        self._peers: dict[Peer, None] = {}  # oldest first
        self._ended: list[Peer] = []
        self._rest_until: float | None = None
        self._wake_in, self._wake_out = socket.socketpair()
        self._listener.setblocking(False)
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._wake_out, selectors.EVENT_READ)

    def wake(self) -> None:
        """Make ``turn`` return False; other threads may call it."""
        self._wake_in.send(b"x")

    def turn(self, deadline: float | None) -> bool:
        """Wait for the next event or ``deadline`` and handle it; return False after ``wake``."""
        for key, mask in self._selector.select(self._wait_s(deadline)):
            if key.fileobj is self._wake_out:
                return False
            if key.fileobj is self._listener:
                self._accept()
            else:
                self._attend(key.data, mask)
        self._expire()
        while self._ended:
            ended, self._ended = self._ended, []
            self._lose(ended)
        return True

    def admit(self, peer: Peer) -> None:
        """Make a stranger a rank of the job, which needs no slot and has no time limit."""
        peer.give_up_at, peer.reads = None, REQUESTS

    def send(self, peer: Peer, message: Message, place: Place, *, last: bool = False) -> None:
        """Send a message as the peer reads it; close the connection after the ``last`` one."""
        self.send_frame(peer, frame(message, place), last=last)

    def send_frame(self, peer: Peer, data: bytes, *, last: bool = False) -> None:
        """Send a frame; many peers may share its bytes."""
        if peer not in self._peers or peer.closing:
            return
        if len(peer.unsent) >= MAX_UNSENT:
            self.drop(peer)
            return
        peer.unsent.append(memoryview(data))
        if last:
            peer.closing, peer.give_up_at = True, time.monotonic() + GREETING_TIMEOUT_S
        self._flush(peer)

    def drop(self, peer: Peer) -> None:
        """Close the connection of a peer; ``lose`` is called soon after."""
        if peer not in self._peers:
            return
        del self._peers[peer]
        self._selector.unregister(peer.connection)
        peer.connection.close()
        peer.unsent.clear()
        peer.received.clear()
        self._ended.append(peer)

    def send_last_to_all(self, data: bytes) -> None:
        """Send a last frame to every peer that can take it now, also to strangers."""
        for peer in list(self._peers):
            self.send_frame(peer, data, last=True)

    def close_sockets(self) -> None:
        """Close the listener and all connections; the serving thread calls it."""
        for peer in self._peers:
            peer.connection.close()
        self._peers.clear()
        self._listener.close()

    def close(self) -> None:
        """Close everything after the serving thread has ended."""
        self.close_sockets()
        self._wake_out.close()
        self._wake_in.close()
        self._selector.close()

    def _wait_s(self, deadline: float | None) -> float | None:
        times = [peer.give_up_at for peer in self._peers if peer.give_up_at is not None]
        times += [moment for moment in (deadline, self._rest_until) if moment is not None]
        return max(0.0, min(times) - time.monotonic()) if times else None

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except BlockingIOError:
            return  # the client disconnected between the event and this call
        except OSError as error:
            if error.errno not in _NO_ROOM or not self._evict():
                # The event remains, so without a rest this thread would spin.
                self._selector.unregister(self._listener)
                self._rest_until = time.monotonic() + _REST_S
            return
        peer = Peer(connection, time.monotonic() + GREETING_TIMEOUT_S)
        try:
            connection.setblocking(False)
            keep_alive(connection)
            self._selector.register(connection, selectors.EVENT_READ, peer)
        except OSError:
            connection.close()  # the client has disconnected already
            return
        if sum(1 for other in self._peers if other.give_up_at is not None) >= STRANGERS:
            self._evict()
        self._peers[peer] = None
        self._greet(peer)

    def _evict(self) -> bool:
        """Drop the stranger that has been connected longest."""
        for peer in self._peers:
            if peer.give_up_at is not None:
                self.drop(peer)
                return True
        return False

    def _attend(self, peer: Peer, mask: int) -> None:
        if mask & selectors.EVENT_WRITE:
            self._flush(peer)
        if not mask & selectors.EVENT_READ or peer not in self._peers:
            return
        try:
            data = peer.connection.recv(peer.reads.max_nbytes + LENGTH_NBYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.drop(peer)
            return
        if not peer.closing:
            peer.received += data
            self._read(peer)

    def _read(self, peer: Peer) -> None:
        while peer in self._peers and not peer.closing:
            try:
                message = take_message(peer.received, peer.reads)
            except RendezvousError as error:
                self._refuse(peer, error)
                self.drop(peer)
                return
            if message is None:
                return
            self._hear(peer, message)

    def _flush(self, peer: Peer) -> None:
        if peer not in self._peers:
            return
        try:
            while peer.unsent:
                sent = peer.connection.send(peer.unsent[0])
                peer.unsent[0] = peer.unsent[0][sent:]
                if not peer.unsent[0]:
                    peer.unsent.popleft()
        except BlockingIOError:
            pass
        except OSError:
            self.drop(peer)
            return
        if peer.closing and not peer.unsent:
            self.drop(peer)
            return
        waits = selectors.EVENT_WRITE if peer.unsent else 0
        if self._selector.get_key(peer.connection).events != selectors.EVENT_READ | waits:
            self._selector.modify(peer.connection, selectors.EVENT_READ | waits, peer)

    def _expire(self) -> None:
        now = time.monotonic()
        for peer in [p for p in self._peers if p.give_up_at is not None and p.give_up_at <= now]:
            self.drop(peer)
        if self._rest_until is not None and self._rest_until <= now:
            self._rest_until = None
            self._selector.register(self._listener, selectors.EVENT_READ)
