# SPDX-License-Identifier: Apache-2.0
"""TCP sockets of the rendezvous: where rank 0 listens, and how the others reach it."""

from __future__ import annotations

import errno
import ipaddress
import os
import random
import socket
import time
import weakref
from collections.abc import Iterator
from typing import Any, Protocol

from aclnn_py.errors.ranks import RankEnvironmentError, RendezvousError

__all__ = ["LauncherPort", "connect", "keep_alive", "listen", "pauses", "resolve"]

Target = tuple[Any, ...]

_BIND_RETRY_S = 1.0
"""Seconds for which another connection attempt may hold a port before we call it in use."""
_NO_ROUTE = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN}
_FIRST_PAUSE_S = 0.002
_LONGEST_PAUSE_S = 0.1


class _User(Protocol):
    @property
    def closed(self) -> bool: ...


class LauncherPort:
    """The port that ``aclnn-py run`` bound for rank 0 and passed on as a descriptor.

    It stays bound until the process ends. So no other program can take it between two
    communicators, and ranks that are faster than rank 0 wait in its queue.

    Parameters
    ----------
    descriptor : str
        Value of ``ACLNN_PY_RENDEZVOUS_FD``.

    Raises
    ------
    RankEnvironmentError
        It is not the descriptor of a bound TCP socket.
    """

    def __init__(self, descriptor: str) -> None:
        try:
            self._descriptor = int(descriptor)
            with self.open() as listener:
                self._name = listener.getsockname()
                stream = listener.type == socket.SOCK_STREAM
        except (ValueError, OverflowError, OSError) as error:
            raise RankEnvironmentError(
                f"ACLNN_PY_RENDEZVOUS_FD={descriptor!r} is not the descriptor of a bound TCP"
                " socket: only aclnn-py run sets it, so remove it."
            ) from error
        if not stream or not isinstance(self._name, tuple):
            raise RankEnvironmentError(
                f"ACLNN_PY_RENDEZVOUS_FD={descriptor!r} is another kind of socket than TCP: only"
                " aclnn-py run sets it, so remove it."
            )
        os.set_inheritable(self._descriptor, False)
        self._user: weakref.ref[_User] | None = None

    def is_at(self, target: Target) -> bool:
        """Return whether this is the port of ``target``."""
        return bool(self._name[:2] == target[:2])

    def lend(self, user: _User) -> None:
        """Give the port to one rendezvous until that is closed.

        Raises
        ------
        RendezvousError
            An earlier rendezvous is still open; both would take ranks from one queue.
        """
        earlier = None if self._user is None else self._user()
        if earlier is not None and not earlier.closed:
            raise RendezvousError(
                "this process has a communicator of the job open: close it before the next"
                " from_env, or use split for a part of its ranks."
            )
        self._user = weakref.ref(user)

    def open(self) -> socket.socket:
        """Return another descriptor of the socket; closing it leaves the port bound."""
        descriptor = os.dup(self._descriptor)
        try:
            return socket.socket(fileno=descriptor)
        except BaseException:
            os.close(descriptor)
            raise


def resolve(address: str, port: int) -> tuple[socket.AddressFamily, Target]:
    """Return the address family and socket address of rank 0, the same on every rank."""
    try:
        found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise RendezvousError(f"the address {address!r} of rank 0 cannot be resolved.") from error
    # Every rank must choose the same answer, in whatever order its resolver lists them.
    family, _, _, _, target = min(found, key=lambda item: (item[0] != socket.AF_INET, item[4]))
    return family, target


def listen(
    family: socket.AddressFamily, target: Target, launcher: LauncherPort | None
) -> socket.socket:
    """Return the socket on which rank 0 listens."""
    give_up_at = time.monotonic() + _BIND_RETRY_S
    for pause in pauses():
        listener = None
        try:
            listener = _bound(family, target) if launcher is None else launcher.open()
            listener.listen(1024)
            return listener
        except OSError as error:
            if listener is not None:
                listener.close()
            if error.errno != errno.EADDRINUSE or time.monotonic() >= give_up_at:
                raise RendezvousError(
                    f"rank 0 cannot listen on {target[0]} port {target[1]}: {error.strerror}."
                    " MASTER_ADDR must be an address of rank 0's host, and MASTER_PORT free there;"
                    " a communicator that this process still has open there must be closed first."
                ) from error
        time.sleep(pause)
    raise AssertionError("pauses has no end")


def connect(
    family: socket.AddressFamily, target: Target, deadline: float
) -> tuple[socket.socket | None, str]:
    """Try once to connect to rank 0; return None, and why, when nobody answers.

    Raises
    ------
    RendezvousError
        Waiting is of no use: no socket can be opened, or this host has no loopback interface.
    """
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        return None, ""
    try:
        connection = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise RendezvousError(f"no socket can be opened: {error.strerror}.") from error
    reason = ""
    try:
        connection.settimeout(min(remaining, 5.0))
        connection.connect(target)
        # A port of the ephemeral range with no listener can connect to itself.
        if connection.getsockname() != connection.getpeername():
            keep_alive(connection)
            return connection, ""
    except OSError as error:
        # Refused or unreachable: rank 0 is not up yet, and the deadline decides.
        if error.errno in _NO_ROUTE:
            reason = f"{target[0]} cannot be reached from this host ({error.strerror})"
    connection.close()
    if reason and ipaddress.ip_address(target[0].split("%")[0]).is_loopback:
        raise RendezvousError(
            f"{reason}: its loopback interface is down. Bring it up (`ip link set lo up`), or start"
            " the container with a network."
        )
    return None, reason


def pauses() -> Iterator[float]:
    """Yield the seconds between attempts: short at first, then longer, with random variation."""
    pause = _FIRST_PAUSE_S
    while True:
        yield pause * random.uniform(0.5, 1.0)
        pause = min(2 * pause, _LONGEST_PAUSE_S)


def keep_alive(connection: socket.socket) -> None:
    """Make the system notice within half a minute that the other host has vanished."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 10)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 5)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _bound(family: socket.AddressFamily, target: Target) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(target)
    except BaseException:
        listener.close()
        raise
    return listener
