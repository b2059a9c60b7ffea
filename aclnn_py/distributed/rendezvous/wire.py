# SPDX-License-Identifier: Apache-2.0
"""Frames of the TCP rendezvous: a length, then one message, with limits of size and time."""

from __future__ import annotations

import select
import socket
import struct
import time

from aclnn_py.distributed.rendezvous.messages import Message, Place, decode, encode
from aclnn_py.errors.ranks import RendezvousError

__all__ = ["LENGTH_NBYTES", "Channel", "frame", "take_message"]

_LENGTH = struct.Struct("!I")
LENGTH_NBYTES = _LENGTH.size
_MAX_READS = 64
"""Limit of reads of 64 KiB in a row, so that a flood of data cannot delay a rank's deadline."""


def frame(message: Message, place: Place) -> bytes:
    """Return the bytes to send a message to ``place``."""
    body = encode(message, place)
    return _LENGTH.pack(len(body)) + body


def take_message(buffer: bytearray, place: Place) -> Message | None:
    """Remove the first complete frame from ``buffer`` and return its message, or None.

    Raises
    ------
    RendezvousError
        The buffer does not begin with a frame for ``place``.
    """
    if len(buffer) < LENGTH_NBYTES:
        return None
    (length,) = _LENGTH.unpack_from(buffer)
    if length > place.max_nbytes:
        raise RendezvousError(
            f"a rendezvous message has {length} bytes; {place.max_nbytes} are allowed {place.name}."
        )
    end = LENGTH_NBYTES + length
    if len(buffer) < end:
        return None
    message = decode(bytes(buffer[LENGTH_NBYTES:end]), place)
    del buffer[:end]
    return message


class Channel:
    """The connection of one rank to rank 0: blocking calls, each with a deadline."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._socket.setblocking(False)
        self._buffer = bytearray()
        self.ended = False

    def send(self, message: Message, place: Place, deadline: float) -> None:
        """Send one message before ``deadline`` (``time.monotonic`` seconds)."""
        rest = memoryview(frame(message, place))
        while rest:
            self._wait(write=True, deadline=deadline)
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                continue

    def receive(self, place: Place, deadline: float) -> Message:
        """Return the next message; TimeoutError after ``deadline``, EOFError when closed."""
        while (message := self._take(place)) is None:
            if self.ended:
                raise EOFError("the connection was closed")
            self._wait(write=False, deadline=deadline)
            self._fill()
        if time.monotonic() >= deadline:
            raise TimeoutError("the deadline of the rendezvous passed")
        return message

    def pending(self, place: Place) -> list[Message]:
        """Return the messages that have arrived, without waiting."""
        if not self.ended:
            self._fill()
        messages = []
        while (message := self._take(place)) is not None:
            messages.append(message)
        return messages

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        self._socket.close()

    def _take(self, place: Place) -> Message | None:
        try:
            return take_message(self._buffer, place)
        except RendezvousError:
            # From here on nobody knows where the next frame begins.
            self._buffer.clear()
            self.ended = True
            raise

    def _fill(self) -> None:
        try:
            for _ in range(_MAX_READS):
                data = self._socket.recv(65536)
                if not data:
                    self.ended = True
                    return
                self._buffer += data
        except BlockingIOError:
            return
        except OSError:
            self.ended = True

    def _wait(self, *, write: bool, deadline: float) -> None:
        # poll, not select: a program may have more than 1,024 descriptors open.
        poller = select.poll()
        poller.register(self._socket, select.POLLOUT if write else select.POLLIN)
        remaining = deadline - time.monotonic()
        if remaining <= 0 or not poller.poll(remaining * 1000):
            raise TimeoutError("the deadline of the rendezvous passed")
