# SPDX-License-Identifier: Apache-2.0
"""Messages of the rendezvous: length-prefixed JSON objects, bounded in size and in time."""

from __future__ import annotations

import hashlib
import hmac
import json
import select
import socket
import struct
import time
from typing import Any

from aclnn_py.distributed.errors import RendezvousError

__all__ = ["PROTOCOL_VERSION", "Channel", "Message", "decode", "encode", "proof", "take_frames"]

PROTOCOL_VERSION = 1
MAX_REQUEST_NBYTES = 32 * 1024
"""Longest message a rank may send: facts or one root info (4,108 bytes before encoding)."""
MAX_REPLY_NBYTES = 16 * 1024 * 1024
"""Longest message rank 0 may send: the payloads of all ranks."""

_LENGTH = struct.Struct("!I")

Message = dict[str, Any]


def encode(message: Message, limit: int) -> bytes:
    """Return the frame of a message; refuse one longer than ``limit`` bytes."""
    body = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
    if len(body) > limit:
        raise RendezvousError(f"a rendezvous message of {len(body)} bytes exceeds {limit}.")
    return _LENGTH.pack(len(body)) + body


def decode(body: bytes) -> Message:
    """Return the message of one frame body; anything but a JSON object is refused."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RendezvousError("a rendezvous message is not JSON.") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise RendezvousError("a rendezvous message is not an object with a type.")
    return message


def take_frames(buffer: bytearray, limit: int) -> list[Message]:
    """Remove the whole frames from ``buffer`` and return their messages."""
    messages = []
    while len(buffer) >= _LENGTH.size:
        (length,) = _LENGTH.unpack_from(buffer)
        if length > limit:
            raise RendezvousError(f"a rendezvous message of {length} bytes exceeds {limit}.")
        end = _LENGTH.size + length
        if len(buffer) < end:
            break
        messages.append(decode(bytes(buffer[_LENGTH.size : end])))
        del buffer[:end]
    return messages


def proof(token: str, *parts: object) -> str:
    """Return the keyed digest that shows knowledge of the job token without sending it."""
    text = json.dumps([str(part) for part in parts])
    return hmac.new(token.encode(), text.encode(), hashlib.sha256).hexdigest()


class Channel:
    """The connection of one rank to rank 0: blocking calls, each with a deadline."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._socket.setblocking(False)
        self._buffer = bytearray()
        self._waiting: list[Message] = []
        self.ended = False

    def send(self, message: Message, deadline: float) -> None:
        """Send one message before ``deadline`` (``time.monotonic`` seconds)."""
        frame = memoryview(encode(message, MAX_REQUEST_NBYTES))
        while frame:
            self._wait(write=True, deadline=deadline)
            try:
                frame = frame[self._socket.send(frame) :]
            except BlockingIOError:
                continue

    def receive(self, deadline: float) -> Message:
        """Return the next message; TimeoutError after ``deadline``, EOFError when closed."""
        while not self._waiting:
            if self.ended:
                raise EOFError("the connection was closed")
            self._wait(write=False, deadline=deadline)
            self._fill()
        return self._waiting.pop(0)

    def pending(self) -> list[Message]:
        """Return the messages that have arrived, without waiting."""
        if not self.ended:
            self._fill()
        messages, self._waiting = self._waiting, []
        return messages

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        self._socket.close()

    def _fill(self) -> None:
        try:
            while data := self._socket.recv(65536):
                self._buffer += data
                self._waiting += take_frames(self._buffer, MAX_REPLY_NBYTES)
        except BlockingIOError:
            return
        except OSError:
            self.ended = True
            return
        self.ended = True

    def _wait(self, *, write: bool, deadline: float) -> None:
        # poll, not select: a program may have more than 1,024 descriptors open.
        poller = select.poll()
        poller.register(self._socket, select.POLLOUT if write else select.POLLIN)
        remaining = deadline - time.monotonic()
        if remaining <= 0 or not poller.poll(remaining * 1000):
            raise TimeoutError("the deadline of the rendezvous passed")
