# SPDX-License-Identifier: Apache-2.0
"""Strangers, liars and floods at the TCP rendezvous: real ranks meet all the same."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from aclnn_py.distributed.rendezvous import connections, messages, server
from aclnn_py.distributed.rendezvous.tcp import TcpRendezvous
from aclnn_py.errors.ranks import (
    RankLostError,
    RendezvousError,
    RendezvousMismatchError,
    RendezvousTimeoutError,
)

TOKEN = "a shared secret"
GIVE_UP_S = 60.0


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(params=[TOKEN, ""], ids=["token", "no token"])
def token(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def join(port: int, rank: int, world_size: int = 2, **other: Any) -> TcpRendezvous:
    options = {"token": TOKEN, "timeout_s": GIVE_UP_S, **other}
    return TcpRendezvous("127.0.0.1", port, rank=rank, world_size=world_size, **options)


@pytest.fixture
def root(port: int, token: str) -> Iterator[TcpRendezvous]:
    """Rank 0 of two, in its place before anyone else comes."""
    meeting = join(port, 0, token=token)
    yield meeting
    meeting.close()


def meet(root: TcpRendezvous, port: int, token: str = TOKEN) -> None:
    """Show that rank 1 still gets through."""
    other = join(port, 1, token=token)
    in_thread = threading.Thread(target=lambda: other.gather("a", {}, timeout_s=GIVE_UP_S))
    in_thread.start()
    assert root.gather("a", {"rank": 0}, timeout_s=GIVE_UP_S) == [{"rank": 0}, {}]
    in_thread.join(GIVE_UP_S)
    other.close()


def frame(message: Any) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return struct.pack("!I", len(body)) + body


class Stranger:
    """A connection by hand."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=GIVE_UP_S)
        self.nonce = self.receive()["nonce"]

    def receive(self) -> dict[str, Any]:
        (length,) = struct.unpack("!I", self._exactly(4))
        return dict(json.loads(self._exactly(length)))

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def send(self, message: Any) -> None:
        self.socket.sendall(frame(message))

    def hello(self, token: str, rank: int = 1, world_size: int = 2) -> dict[str, Any]:
        nonce = "ab" * 16
        return {
            "type": "hello",
            "rank": rank,
            "world_size": world_size,
            "nonce": nonce,
            "proof": messages.proof(token, "hello", self.nonce, nonce, rank, world_size),
            "who": "a stranger",
        }

    def ended(self) -> bool:
        try:
            while self.socket.recv(65536):
                pass
        except ConnectionError:
            pass
        self.socket.close()
        return True


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("proof", "é"),
        ("proof", "é" * 64),
        ("proof", None),
        ("nonce", {"deep": [[[]]]}),
        ("rank", float("nan")),
        ("rank", -(10**18)),
        ("world_size", float("inf")),
        ("who", "x" * 3000),
    ],
)
def test_a_hello_of_the_wrong_kind_ends_its_own_connection(
    root: TcpRendezvous, port: int, token: str, field: str, value: Any
) -> None:
    stranger = Stranger(port)
    stranger.send({**stranger.hello(token), field: value})
    assert stranger.ended()
    meet(root, port, token)


@pytest.mark.parametrize("seconds", ["Infinity", "NaN", "1e300", "-1"])
def test_a_member_with_an_impossible_timeout_is_named(port: int, token: str, seconds: str) -> None:
    root = join(port, 0, 3, token=token)
    liar = Stranger(port)
    liar.send(liar.hello(token, 1, 3))
    assert liar.receive()["type"] == "welcome"
    request = b'{"type":"gather","label":"a","payload":{},"timeout_s":%s}' % seconds.encode()
    liar.send(request)
    verdict = liar.receive()
    assert verdict["type"] == "mismatch" and "rank 1 (a stranger)" in verdict["reason"]
    with pytest.raises(RendezvousMismatchError, match="rank 1"):
        root.gather("a", {}, timeout_s=GIVE_UP_S)
    # Whoever comes later learns the same.
    late = join(port, 2, 3, token=token)
    with pytest.raises(RendezvousMismatchError, match="rank 1"):
        late.gather("a", {}, timeout_s=GIVE_UP_S)
    late.close()
    root.close()


def _gather(label: str = "a", payload: Any = None) -> dict[str, Any]:
    return {"type": "gather", "label": label, "payload": payload or {}, "timeout_s": 50}


@pytest.mark.parametrize(
    "said",
    [
        pytest.param([_gather(), _gather()], id="twice"),
        pytest.param([_gather("a"), _gather("b")], id="two exchanges"),
        pytest.param([{"type": "hello"}], id="hello again"),
        pytest.param([{"type": "surprise"}], id="unknown"),
        pytest.param([{**_gather(), "payload": 5}], id="payload is no object"),
    ],
)
def test_a_member_that_breaks_the_rules_fails_the_job_by_name(
    root: TcpRendezvous, port: int, token: str, said: list[dict[str, Any]]
) -> None:
    liar = Stranger(port)
    liar.send(liar.hello(token))
    assert liar.receive()["type"] == "welcome"
    for message in said:
        liar.send(message)
    assert liar.receive()["type"] == "mismatch"
    with pytest.raises(RendezvousMismatchError, match=r"rank 1 \(a stranger\)"):
        root.gather("a", {}, timeout_s=GIVE_UP_S)


def test_a_proof_is_good_for_one_connection(root: TcpRendezvous, port: int, token: str) -> None:
    first, second = Stranger(port), Stranger(port)
    hello = first.hello(token)
    second.send(hello)  # as somebody who listened would
    assert second.receive()["type"] == "refused"
    assert second.ended()
    first.socket.close()
    meet(root, port, token)


def test_idle_connections_cost_a_bounded_slot_each(
    root: TcpRendezvous, port: int, token: str
) -> None:
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
    meet(root, port, token)
    assert len(root._server._connections._peers) <= connections.STRANGERS + 2  # type: ignore[union-attr]
    for connection in idle:
        connection.close()


def test_strangers_that_never_stop_coming_do_not_keep_a_rank_away(
    root: TcpRendezvous, port: int, token: str
) -> None:
    over = threading.Event()

    def flood() -> None:
        held: list[socket.socket] = []
        while not over.is_set():
            try:
                held.append(socket.create_connection(("127.0.0.1", port), timeout=1))
            except OSError:
                continue
            if len(held) > 100:
                held.pop(0).close()
        for connection in held:
            connection.close()

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        time.sleep(0.2)
        meet(root, port, token)
    finally:
        over.set()
        thread.join()


def test_a_slow_sender_has_one_short_time(
    root: TcpRendezvous, port: int, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "GREETING_TIMEOUT_S", 0.3)
    stranger = Stranger(port)
    data = frame(stranger.hello(token))
    with pytest.raises(OSError):
        for byte in data * 100:  # each byte is progress, and none prolongs the time
            stranger.socket.sendall(bytes([byte]))
            time.sleep(0.02)
    stranger.socket.close()
    meet(root, port, token)


def test_a_frame_that_never_ends_is_bounded(root: TcpRendezvous, port: int, token: str) -> None:
    stranger = Stranger(port)
    stranger.socket.sendall(struct.pack("!I", messages.HELLO.max_nbytes) + b'{"type":"')
    server = root._server._connections  # type: ignore[union-attr]
    meet(root, port, token)
    assert all(len(peer.received) < 65536 for peer in server._peers)
    stranger.socket.close()


@pytest.mark.parametrize("protocol", ["http", "tls", "zeros", "half open"])
def test_another_protocol_is_turned_away(
    root: TcpRendezvous, port: int, token: str, protocol: str
) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=GIVE_UP_S) as stranger:
        if protocol == "http":
            stranger.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        elif protocol == "tls":
            context = ssl.create_default_context()
            with pytest.raises((ssl.SSLError, OSError)):
                context.wrap_socket(stranger, server_hostname="localhost")
        elif protocol == "zeros":
            stranger.sendall(bytes(4096))
        else:
            stranger.shutdown(socket.SHUT_WR)
        meet(root, port, token)


def test_running_out_of_descriptors_is_survived(port: int) -> None:
    root = join(port, 0)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    strangers = [socket.socket() for _ in range(8)]
    try:
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 1, hard)
        )
        for stranger in strangers:
            stranger.connect(("127.0.0.1", port))
        began = time.process_time()
        time.sleep(0.5)
        # A thread that spins on the same event would use the half second.
        assert time.process_time() - began < 0.4
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    for stranger in strangers:
        stranger.close()
    meet(root, port)
    root.close()


def test_a_thread_that_ends_all_the_same_is_told_to_everyone(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not known to happen; if it does, nobody waits for it."""
    root = join(port, 0)
    other = join(port, 1)

    def broken(*_: object) -> None:
        raise KeyError("a defect")

    monkeypatch.setattr(root._server, "_collect", broken)
    with pytest.raises(RankLostError, match="rank 0"):
        other.gather("a", {}, timeout_s=GIVE_UP_S)
    with pytest.raises(RankLostError, match="rank 0"):
        root.gather("a", {}, timeout_s=GIVE_UP_S)
    other.close()
    with pytest.raises(RendezvousError, match="a defect"):
        root.close()


def test_a_member_that_never_reads_is_bounded(port: int) -> None:
    """A member that asks and asks after a verdict, and reads no answer."""
    root = join(port, 0, 3)
    liar = Stranger(port)
    liar.send(liar.hello(TOKEN, 1, 3))
    assert liar.receive()["type"] == "welcome"
    liar.send(_gather("x"))
    liar.send(_gather("x"))  # a verdict from here on
    server = root._server._connections  # type: ignore[union-attr]
    request = frame(_gather("x"))
    try:
        liar.socket.settimeout(5)
        for _ in range(200_000):
            liar.socket.sendall(request)
    except OSError:
        pass
    assert all(len(peer.unsent) <= connections.MAX_UNSENT for peer in list(server._peers))
    liar.socket.close()
    with pytest.raises((RendezvousMismatchError, RankLostError)):
        root.gather("x", {}, timeout_s=GIVE_UP_S)
    root.close()


def test_all_ranks_ending_at_once_is_one_announcement(port: int) -> None:
    count = 400  # deeper than Python's calls may go, if each told the others in turn
    root = join(port, 0, count)
    strangers = []
    for rank in range(1, count):
        stranger = Stranger(port)
        stranger.send(stranger.hello(TOKEN, rank, count))
        assert stranger.receive()["type"] == "welcome"
        strangers.append(stranger)
    for stranger in strangers:
        stranger.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stranger.socket.close()
    deadline = time.monotonic() + GIVE_UP_S
    while len(root.lost_ranks()) < count - 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    assert root.lost_ranks() == tuple(range(1, count))
    root.close()


def test_payloads_that_are_too_much_together_are_said_to_be(
    root: TcpRendezvous, port: int, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dataclasses

    small = dataclasses.replace(messages.REPLIES, max_nbytes=2000)
    monkeypatch.setattr(server, "REPLIES", small)
    other = join(port, 1, token=token)
    seen: list[BaseException] = []

    def work(meeting: TcpRendezvous) -> None:
        with pytest.raises(RendezvousMismatchError, match="2000 are allowed") as caught:
            meeting.gather("a", {"x": "y" * 1500}, timeout_s=GIVE_UP_S)
        seen.append(caught.value)

    thread = threading.Thread(target=work, args=(other,))
    thread.start()
    work(root)
    thread.join(GIVE_UP_S)
    other.close()
    assert len(seen) == 2


# A hostile rank 0 ----------------------------------------------------------------------------


@pytest.fixture
def impostor(port: int) -> Iterator[Callable[[Callable[[socket.socket], None]], None]]:
    """Listen on the port and treat the first connection as the given function says."""
    listener = socket.create_server(("127.0.0.1", port))
    threads = []

    def start(work: Callable[[socket.socket], None]) -> None:
        def serve() -> None:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):  # the rank has gone
                work(connection)

        threads.append(threading.Thread(target=serve))
        threads[-1].start()

    yield start
    for thread in threads:
        thread.join(GIVE_UP_S)
    listener.close()


def _greeting(**other: Any) -> bytes:
    return frame({"type": "greeting", "version": 2, "nonce": "00" * 16, **other})


@pytest.mark.parametrize(
    ("said", "error"),
    [
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", RendezvousError, id="http"),
        pytest.param(b"\x15\x03\x01\x00\x02\x02\x0a" + bytes(64), RendezvousError, id="tls"),
        pytest.param(frame({"type": "lost", "ranks": ["x"]}), RendezvousError, id="lost"),
        pytest.param(frame({"type": "welcome", "proof": "00" * 32}), RendezvousError, id="welcome"),
        pytest.param(_greeting(nonce="é" * 32), RendezvousError, id="nonce"),
        pytest.param(_greeting(version=float("nan")), RendezvousError, id="version"),
        pytest.param(_greeting(version=3), RendezvousMismatchError, id="newer"),
        pytest.param(
            _greeting() + frame({"type": "welcome", "proof": "é" * 64}),
            RendezvousError,
            id="proof",
        ),
        pytest.param(
            _greeting() + frame({"type": "mismatch", "reason": 5}), RendezvousError, id="reason"
        ),
    ],
)
def test_a_hostile_rank_zero_is_a_typed_error(
    port: int, impostor: Any, said: bytes, error: type[Exception]
) -> None:
    def work(connection: socket.socket) -> None:
        connection.sendall(said)
        connection.recv(65536)

    impostor(work)
    with pytest.raises(error) as caught:
        join(port, 1)
    assert isinstance(caught.value, RendezvousError)
    assert not isinstance(caught.value, TimeoutError)


def test_a_flood_from_rank_zero_ends_at_the_deadline(port: int, impostor: Any) -> None:
    def work(connection: socket.socket) -> None:
        connection.sendall(_greeting())
        hello = json.loads(connection.recv(65536)[4:])
        place = ("00" * 16, hello["nonce"], 1, 2)
        welcome = messages.proof(TOKEN, "welcome", *place)
        connection.sendall(frame({"type": "welcome", "proof": welcome}))
        news = frame({"type": "missing", "label": "other", "ranks": [], "timeout_s": 1})
        connection.recv(65536)
        while True:
            connection.sendall(news * 1000)

    impostor(work)
    meeting = join(port, 1)
    with pytest.raises(RendezvousTimeoutError):
        meeting.gather("a", {}, timeout_s=0.2)
    meeting._channel.close()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "reply",
    [
        {"type": "gathered", "label": "a", "payloads": [{}]},
        {"type": "gathered", "label": "a", "payloads": [{}, 5]},
        {"type": "gathered", "label": "a", "payloads": {"0": {}}},
        {"type": "missing", "label": "a", "ranks": ["x"], "timeout_s": 1},
        {"type": "missing", "label": "a", "ranks": [-1], "timeout_s": 1},
        {"type": "missing", "label": "a", "ranks": [0], "timeout_s": float("nan")},
        {"type": "mismatch"},
        {"type": "lost", "ranks": [2**70]},
        {"type": "surprise", "label": "a"},
    ],
)
def test_an_impossible_answer_of_rank_zero_is_a_typed_error(
    port: int, impostor: Any, reply: dict[str, Any]
) -> None:
    def work(connection: socket.socket) -> None:
        connection.sendall(_greeting())
        hello = json.loads(connection.recv(65536)[4:])
        place = ("00" * 16, hello["nonce"], 1, 2)
        welcome = messages.proof(TOKEN, "welcome", *place)
        connection.sendall(frame({"type": "welcome", "proof": welcome}))
        connection.recv(65536)
        connection.sendall(frame(reply))
        connection.recv(65536)

    impostor(work)
    meeting = join(port, 1)
    with pytest.raises(RendezvousError):
        meeting.gather("a", {}, timeout_s=GIVE_UP_S)
    meeting.close()
