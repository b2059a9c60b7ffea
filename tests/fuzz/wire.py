# SPDX-License-Identifier: Apache-2.0
"""What peers send while ranks meet: mutated handshakes over TCP, through files and in memory.

Each batch ends with a real rank that meets rank 0 on the same server, or in the same directory. A
defect is a server that does not answer it, an exception that is none of ours, memory or descriptors
that grow, or a proof that was accepted though nobody made it.
"""

from __future__ import annotations

import json
import os
import random
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from aclnn_py.distributed.rendezvous import messages
from aclnn_py.distributed.rendezvous.files import FileRendezvous
from aclnn_py.distributed.rendezvous.shared_files import SharedFiles
from aclnn_py.distributed.rendezvous.tcp import TcpRendezvous
from aclnn_py.distributed.rendezvous.wire import LENGTH_NBYTES, frame, take_message
from aclnn_py.errors.ranks import RankLostError, RendezvousError

from .budget import Budget

__all__ = ["fuzz"]

GIVE_UP_S = 60.0
BATCH = 200
TOKEN = "the job's own secret"
NONCE = "0123456789abcdef" * 2
PLACES = [
    messages.HELLO,
    messages.REQUESTS,
    messages.GREETINGS,
    messages.REPLIES,
    messages.FILE_ENVELOPE,
    messages.FILE_BODIES,
]
SAMPLES: list[dict[str, Any]] = [
    {"type": "hello", "rank": 1, "world_size": 2, "nonce": NONCE, "proof": NONCE * 2, "who": "p"},
    {"type": "gather", "label": "arrival", "payload": {"host": "h", "process": 7}, "timeout_s": 5},
    {"type": "leave"},
    {"type": "greeting", "version": messages.PROTOCOL_VERSION, "nonce": NONCE},
    {"type": "welcome", "proof": NONCE * 2},
    {"type": "wait"},
    {"type": "refused", "reason": "the job token differs."},
    {"type": "mismatch", "reason": "rank 1 came twice"},
    {"type": "closing"},
    {"type": "gathered", "label": "arrival", "payloads": [{"host": "h"}, {}]},
    {"type": "missing", "label": "arrival", "ranks": [1], "timeout_s": 5.0},
    {"type": "lost", "ranks": [0, 1]},
    {"type": "file", "version": messages.PROTOCOL_VERSION, "body": "{}", "proof": NONCE * 2},
    {"type": "session", "session": NONCE, "nonces": {"1": NONCE}},
    {"type": "ready"},
    {"type": "payload", "payload": {"host": "h"}},
]
# Texts, so that what JSON itself forbids is among them.
VALUES = [
    "null", "true", "0", "-0", "-1", "1", "1.0", "65535", "65536", "4294967296",
    "18446744073709551616", "1e300", "-1e300", "1e999", "-1e-999", "NaN", "Infinity", "-Infinity",
    "9" * 400, "0x10", "01", "1.",
    '""', '"\\u00e9"', '"\\ud800"', '"\\u0000"', '"\\u001b[2J"', '"é"', '"' + "a" * 64 + '"',
    '"' + "0" * 32 + '"', '"' + "0" * 64 + '"', '"../../x"', '"' + "x" * 5000 + '"',
    "[]", "{}", "[[]]", '{"type":"leave"}', "[" * 100 + "]" * 100, "[" * 3000, '{"a":' * 500,
    "[0,0,0]",
    '{"1":"' + NONCE + '"}', '{"\\u00e9":1}', '["0"]', "[-1]", "[1e300]",
]  # fmt: skip
OTHER_PROTOCOLS = [
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
    b"SSH-2.0-OpenSSH_9.2\r\n",
    b"*1\r\n$4\r\nPING\r\n",
    b"\x80\x04K\x01.",
    bytes(64),
    b"\xff" * 64,
    b"",
]


def fuzz(budget: Budget) -> int:
    """Go on while the budget lasts; return how many defects were found."""
    parts: list[Callable[[Budget, random.Random], None]] = [
        _decoder, _server, _hostile_root, _files,
    ]  # fmt: skip
    number = 0
    while budget.left() and not budget.defects:
        seed = budget.rng.getrandbits(64)
        part = parts[number % len(parts)]
        number += 1
        try:
            part(budget, random.Random(seed))
        except Exception as error:
            case = {"part": part.__name__, "batch_seed": seed}
            budget.found("defect", f"{part.__name__}: {type(error).__name__}: {error}", case)
    return len(budget.defects)


def mutated(rng: random.Random, body: bytes) -> bytes:
    """Return a message's text with a few changes: bytes, values, names, or its end."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        body = rng.choice((_flip, _cut, _insert, _repeat, _value, _value, _value, _field))(
            rng, body
        )
    return body[: 1 << 16]


def framed(rng: random.Random, body: bytes) -> bytes:
    """Return a frame whose length is mostly, but not always, that of its body."""
    length = len(body)
    if rng.random() < 0.15:
        length = rng.choice(
            (0, 1, length - 1, length + 1, 4096, 32768, 2**24 + 1, 2**31, 2**32 - 1)
        )
    return struct.pack("!I", max(0, length) & 0xFFFFFFFF) + body


def _flip(rng: random.Random, body: bytes) -> bytes:
    data = bytearray(body or b"x")
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def _cut(rng: random.Random, body: bytes) -> bytes:
    return body[: rng.randrange(len(body) + 1)]


def _insert(rng: random.Random, body: bytes) -> bytes:
    at = rng.randrange(len(body) + 1)
    return body[:at] + rng.randbytes(rng.randrange(1, 6)) + body[at:]


def _repeat(rng: random.Random, body: bytes) -> bytes:
    start = rng.randrange(len(body) + 1)
    end = rng.randrange(start, len(body) + 1)
    return body[:end] + body[start:end] * rng.choice((1, 2, 40)) + body[end:]


def _value(rng: random.Random, body: bytes) -> bytes:
    """Put another value, of any kind, in the place of one field's."""
    fields = _fields_of(body)
    if not fields:
        return body
    name = rng.choice(list(fields))
    return _written(fields, {name: rng.choice(VALUES)})


def _field(rng: random.Random, body: bytes) -> bytes:
    """Drop a field, add one, or say one twice."""
    fields = _fields_of(body)
    if not fields:
        return body
    name = rng.choice(list(fields))
    text = _written(fields, {})
    change = rng.randrange(3)
    if change == 0:
        del fields[name]
        return _written(fields, {})
    extra = name if change == 1 else rng.choice(("more", "type", "rank", "é"))
    return text[:-1] + f',"{extra}":{rng.choice(VALUES)}}}'.encode()


def _fields_of(body: bytes) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        fields = json.loads(body)
        return fields if isinstance(fields, dict) else {}
    return {}


def _written(fields: dict[str, Any], texts: dict[str, str]) -> bytes:
    parts = [f"{json.dumps(name)}:{texts.get(name) or json.dumps(fields[name])}" for name in fields]
    return ("{" + ",".join(parts) + "}").encode("utf-8", "surrogatepass")


# The reader in memory --------------------------------------------------------------------------


def _decoder(budget: Budget, rng: random.Random) -> None:
    for _ in range(BATCH * 10):
        if not budget.left():
            return
        place = rng.choice(PLACES)
        sample = rng.choice(SAMPLES)
        if rng.random() < 0.8:
            # Where it belongs, so that more than its type is judged.
            place = rng.choice([p for p in PLACES if sample["type"] in p.messages])
        body = json.dumps(sample).encode()
        if rng.random() < 0.9:
            body = mutated(rng, body)
        buffer = bytearray(framed(rng, body))
        try:
            message = take_message(buffer, place)
        except RendezvousError as error:
            budget.spend("reader: refused")
            assert len(str(error)) < 4000, body
            assert str(error).isprintable(), body
            continue
        except Exception as error:
            raise AssertionError(f"{error!r} of {body!r} {place.name}") from error
        if message is None:
            budget.spend("reader: waits for more")
            continue
        budget.spend("reader: accepted")
        # What was accepted can be said again, and is then the same.
        again = take_message(bytearray(frame(message, place)), place)
        assert again == message, body


# Rank 0's server -------------------------------------------------------------------------------


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _server(budget: Budget, rng: random.Random) -> None:
    token = rng.choice((TOKEN, ""))
    port = _free_port()
    before = _descriptors()
    root = TcpRendezvous("127.0.0.1", port, rank=0, world_size=2, token=token, timeout_s=GIVE_UP_S)
    held: list[socket.socket] = []
    try:
        for _ in range(BATCH * 5):
            if not budget.left():
                break
            _stranger(budget, rng, port, token, held)
        for connection in held:
            connection.close()
        _meet(root, port, token)
        _member(budget, rng, token)
    finally:
        for connection in held:
            connection.close()
        root.close()
    assert _descriptors() <= before, "descriptors stay open"


def _stranger(
    budget: Budget, rng: random.Random, port: int, token: str, held: list[socket.socket]
) -> None:
    connection = socket.create_connection(("127.0.0.1", port), timeout=GIVE_UP_S)
    try:
        nonce = _nonce_of(_receive(connection))
        hello = _hello(rng, nonce, token, proven=False)
        data = (
            rng.choice(OTHER_PROTOCOLS) if rng.random() < 0.1 else framed(rng, mutated(rng, hello))
        )
        if _proves(data, nonce, token):
            budget.spend("server: not sent, a real proof")
            return
        outcome = _send(rng, connection, data)
        if outcome == "sent" and rng.random() < 0.2:
            held.append(connection)  # and says nothing more
            budget.spend("server: left open")
            return
        budget.spend(f"server: {outcome}")
    except (ConnectionError, EOFError):
        budget.spend("server: evicted")
    finally:
        if connection not in held:
            connection.close()
        elif len(held) > 100:
            held.pop(0).close()


def _member(budget: Budget, rng: random.Random, token: str) -> None:
    """A rank of the job that says what no rank says: rank 0 gets a typed error or nothing."""
    for _ in range(5):
        if not budget.left():
            return
        port = _free_port()
        root = TcpRendezvous(
            "127.0.0.1", port, rank=0, world_size=2, token=token, timeout_s=GIVE_UP_S
        )
        with socket.create_connection(("127.0.0.1", port), timeout=GIVE_UP_S) as connection:
            hello = _hello(rng, _nonce_of(_receive(connection)), token, proven=True)
            connection.sendall(struct.pack("!I", len(hello)) + hello)
            assert _receive(connection)["type"] == "welcome"
            for _ in range(rng.randrange(1, 6)):
                sample = json.dumps(rng.choice(SAMPLES[:3])).encode()
                data = framed(rng, sample if rng.random() < 0.2 else mutated(rng, sample))
                budget.spend(f"member: {_send(rng, connection, data)}")
        try:
            root.gather("arrival", {}, timeout_s=GIVE_UP_S)
            budget.spend("member: an exchange")
        except (RendezvousError, RankLostError) as error:
            budget.spend(f"member: {type(error).__name__}")
        finally:
            root.close()


def _hello(rng: random.Random, nonce: str, token: str, *, proven: bool) -> bytes:
    own = rng.randbytes(16).hex()
    mac = messages.proof(token, "hello", nonce, own, 1, 2)
    if not proven:
        wrong = ("another token", NONCE, "")
        mac = messages.proof(rng.choice(wrong) + "x", "hello", nonce, own, 1, 2)
    hello = {"type": "hello", "rank": 1, "world_size": 2, "nonce": own, "proof": mac, "who": "fuzz"}
    return json.dumps(hello).encode()


def _proves(data: bytes, nonce: str, token: str) -> bool:
    try:
        hello = take_message(bytearray(data), messages.HELLO)
    except RendezvousError:
        return False
    if hello is None:
        return False
    place = (nonce, hello["nonce"], hello["rank"], hello["world_size"])
    return messages.proves(hello["proof"], token, "hello", *place)


def _send(rng: random.Random, connection: socket.socket, data: bytes) -> str:
    try:
        if rng.random() < 0.1:
            for start in range(0, min(len(data), 200), 7):  # in small pieces
                connection.sendall(data[start : start + 7])
            return "sent in pieces"
        if rng.random() < 0.1:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return "sent, half closed"
        if rng.random() < 0.1:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(data)
            return "sent and reset"
        connection.sendall(data)
        return "sent"
    except OSError:  # also "not connected", where the other end was faster
        return "closed while sending"


def _receive(connection: socket.socket) -> dict[str, Any]:
    data = b""
    while len(data) < LENGTH_NBYTES or len(data) < LENGTH_NBYTES + _length(data):
        part = connection.recv(
            LENGTH_NBYTES - len(data)
            if len(data) < LENGTH_NBYTES
            else LENGTH_NBYTES + _length(data) - len(data)
        )
        if not part:
            raise EOFError("the connection was closed")
        data += part
    return dict(json.loads(data[LENGTH_NBYTES:]))


def _length(data: bytes) -> int:
    return int(struct.unpack_from("!I", data)[0])


def _nonce_of(greeting: dict[str, Any]) -> str:
    return str(greeting["nonce"])


def _meet(root: Any, port: int, token: str) -> None:
    """Let a real rank 1 meet rank 0, and leave."""

    def other() -> Any:
        meeting = TcpRendezvous(
            "127.0.0.1", port, rank=1, world_size=2, token=token, timeout_s=GIVE_UP_S
        )
        payloads = meeting.gather("arrival", {"rank": 1}, timeout_s=GIVE_UP_S)
        meeting.close()
        return payloads

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(other)
        expected = [{"rank": 0}, {"rank": 1}]
        assert root.gather("arrival", {"rank": 0}, timeout_s=GIVE_UP_S) == expected
        assert future.result(GIVE_UP_S) == expected


# A hostile rank 0 ------------------------------------------------------------------------------


def _hostile_root(budget: Budget, rng: random.Random) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(GIVE_UP_S)
        port = listener.getsockname()[1]
        for _ in range(BATCH // 4):
            if not budget.left():
                return
            seed = rng.getrandbits(64)
            server = threading.Thread(target=_play_root, args=(listener, random.Random(seed)))
            server.start()
            outcome = _try_to_join(port)
            server.join(GIVE_UP_S)
            assert not server.is_alive(), f"seed {seed}"
            budget.spend(f"rank: {outcome}")


def _play_root(listener: socket.socket, rng: random.Random) -> None:
    connection, _ = listener.accept()
    with connection, suppress(OSError, EOFError, ValueError, KeyError):
        greeting = json.dumps(SAMPLES[3]).encode()
        stage = rng.randrange(3)
        if stage == 0:
            connection.sendall(framed(rng, mutated(rng, greeting)))
            return
        connection.sendall(struct.pack("!I", len(greeting)) + greeting)
        hello = _receive(connection)
        mac = messages.proof(TOKEN, "welcome", NONCE, hello["nonce"], 1, 2)
        welcome = json.dumps({"type": "welcome", "proof": mac}).encode()
        if stage == 1:
            sample = rng.choice([welcome, json.dumps(rng.choice(SAMPLES[3:9])).encode()])
            connection.sendall(framed(rng, mutated(rng, sample)))
            return
        connection.sendall(struct.pack("!I", len(welcome)) + welcome)
        _receive(connection)
        for _ in range(rng.randrange(1, 5)):
            connection.sendall(framed(rng, mutated(rng, json.dumps(rng.choice(SAMPLES)).encode())))


def _try_to_join(port: int) -> str:
    meeting = None
    try:
        # Where the server says nothing more, the rank's own deadline decides.
        meeting = TcpRendezvous(
            "127.0.0.1", port, rank=1, world_size=2, token=TOKEN, timeout_s=0.05
        )
        payloads = meeting.gather("arrival", {}, timeout_s=0.05)
        assert len(payloads) == 2
        return "met"
    except (RendezvousError, RankLostError) as error:
        assert str(error).isprintable(), error
        return type(error).__name__
    finally:
        if meeting is not None:
            meeting.close()


# Files -----------------------------------------------------------------------------------------


def _files(budget: Budget, rng: random.Random) -> None:
    with tempfile.TemporaryDirectory() as place:
        token = rng.choice((TOKEN, ""))
        files = SharedFiles(place, token)
        for path, kind in _squats(budget, rng, Path(place), token):
            try:
                message = files.read(path.name, kind)
                budget.spend("file: ignored" if message is None else "file: accepted")
            except RendezvousError as error:
                budget.spend("file: refused")
                assert str(error).isprintable(), error
            except Exception as error:
                raise AssertionError(f"{error!r} of {path.name}") from error
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            else:
                path.unlink()
        _meet_in(place, token)


def _squats(
    budget: Budget, rng: random.Random, place: Path, token: str
) -> Iterator[tuple[Path, str]]:
    bodies = [
        {"type": "session", "session": NONCE, "nonces": {"1": NONCE}},
        {"type": "hello", "nonce": NONCE, "world_size": 2},
        {"type": "missing", "nonces": {"1": NONCE}, "ranks": [1]},
        {"type": "payload", "payload": {"host": "h"}},
    ]
    for _ in range(BATCH * 3):
        if not budget.left():
            return
        name, kind = rng.choice(
            (("session", "session"), ("hello.1", "hello"), ("missing", "missing"))
        )
        path = place / name
        what = rng.random()
        if what < 0.05:
            os.mkfifo(path)
        elif what < 0.1:
            path.mkdir()
        elif what < 0.15:
            path.symlink_to(rng.choice(("/dev/zero", "/dev/null", name, "/proc/self/mem")))
        elif what < 0.2:
            with open(path, "wb") as stream:
                stream.truncate(rng.choice((0, 1, 1 << 20, 1 << 40)))
        else:
            fitting = [body for body in bodies if body["type"] == kind]
            body = json.dumps(rng.choice(fitting if what < 0.9 else bodies)).encode()
            text = (mutated(rng, body) if what < 0.6 else body).decode("latin-1")
            mac = messages.proof(token, messages.PROTOCOL_VERSION, name, text)
            envelope = {**SAMPLES[12], "body": text, "proof": mac}
            data = json.dumps(envelope).encode()
            path.write_bytes(data if what < 0.6 else mutated(rng, data))
        yield path, kind


def _meet_in(place: str, token: str) -> None:
    def rank(number: int) -> Any:
        meeting = FileRendezvous(place, rank=number, world_size=2, token=token, timeout_s=GIVE_UP_S)
        payloads = meeting.gather("arrival", {"rank": number}, timeout_s=GIVE_UP_S)
        meeting.close()
        return payloads

    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(rank, number) for number in (0, 1)]:
            assert future.result(GIVE_UP_S) == [{"rank": 0}, {"rank": 1}]


def _descriptors() -> int:
    # A connection that was just closed by the other end may take a moment.
    time.sleep(0)
    return len(os.listdir("/proc/self/fd"))
