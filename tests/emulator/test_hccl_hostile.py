# SPDX-License-Identifier: Apache-2.0
"""Strangers at the emulator's own rendezvous, and rank tables that mean harm."""

from __future__ import annotations

import ctypes as ct
import json
import os
import random
import resource
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hccl_ranks import PARA, Rank, join, root_info

OPEN_FILE_FAILURE = 10
ROOT = struct.Struct("<QIi96s32s")
HELLO_FIELDS = "<QIIIId32s QqQII QQQiI ii 128s"
MAGIC, VERSION = 0x31544545_4D4C4343, 2


@pytest.fixture
def rank() -> Iterator[Rank]:
    one = Rank(0, 1)
    yield one
    one.close()


def place(info: bytes) -> tuple[bytes, bytes]:
    """Return address and secret of a root info."""
    _, _, _, address, secret = ROOT.unpack_from(info)
    return b"\0" + address.rstrip(b"\0"), secret


def hello(secret: bytes, **other: Any) -> bytes:
    fields = {"magic": MAGIC, "version": VERSION, "ranks": 1, "rank": 0, "timeout": 5.0, **other}
    return struct.pack(
        HELLO_FIELDS.replace(" ", ""),
        fields["magic"], fields["version"], fields["ranks"], fields["rank"], 0, fields["timeout"],
        secret, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, b"x" * 128,
    )  # fmt: skip


def connect(address: bytes) -> socket.socket:
    stranger = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    stranger.connect(address)  # waits while the queue is full
    stranger.settimeout(30)
    return stranger


@pytest.mark.parametrize(
    "change",
    [
        {"timeout": float("inf")},
        {"timeout": float("nan")},
        {"timeout": 1e300},
        {"timeout": -1.0},
        {"timeout": 0.0},
        {"ranks": 0},
        {"ranks": 2**32 - 1},
        {"ranks": 1025},
        {"rank": 1},
        {"rank": 2**32 - 1},
        {"magic": 0},
        {"version": 1},
    ],
    ids=str,
)
def test_a_hello_that_cannot_be_used_is_not_answered(rank: Rank, change: dict[str, Any]) -> None:
    info = root_info()
    address, secret = place(info)
    with connect(address) as stranger:
        stranger.send(hello(secret, **change))
        assert stranger.recv(4096) == b""
    join(rank, info)


def test_a_wrong_secret_is_not_answered(rank: Rank) -> None:
    info = root_info()
    address, secret = place(info)
    for wrong in (bytes(32), secret[:-1] + bytes([secret[-1] ^ 1])):
        with connect(address) as stranger:
            stranger.send(hello(wrong))
            assert stranger.recv(4096) == b""
    join(rank, info)


@pytest.mark.parametrize("change", [-1, 1, 4000], ids=["shorter", "longer", "much longer"])
def test_a_hello_of_another_length_is_not_answered(rank: Rank, change: int) -> None:
    info = root_info()
    address, secret = place(info)
    data = hello(secret) + bytes(4000)
    with connect(address) as stranger:
        stranger.send(data[: len(hello(secret)) + change])
        assert stranger.recv(4096) == b""
    join(rank, info)


def test_idle_connections_do_not_keep_a_rank_away(rank: Rank) -> None:
    info = root_info()
    address, _ = place(info)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # both ends are in this process
    strangers = []
    try:
        strangers += [connect(address) for _ in range(2100)]  # more than there are places
        join(rank, info)
    finally:
        for stranger in strangers:
            stranger.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_random_hellos_leave_the_meeting_as_it_was(rank: Rank) -> None:
    info = root_info()
    address, secret = place(info)
    rng = random.Random(7)
    whole = hello(secret)
    for _ in range(300):
        data = bytearray(whole)
        # The first 64 bytes hold all that is judged; a hello of the right kind is not sent.
        for _ in range(rng.randrange(1, 5)):
            data[rng.randrange(64)] ^= 1 << rng.randrange(8)
        if data[:20] == whole[:20] and data[32:64] == whole[32:64]:
            data[0] ^= 1
        with connect(address) as stranger:
            stranger.send(bytes(data[: rng.choice([len(data), rng.randrange(1, len(data))])]))
            assert stranger.recv(4096) == b""
    join(rank, info)


def test_a_root_info_of_somebody_elses_making_is_refused(rank: Rank) -> None:
    info = root_info()
    rng = random.Random(11)
    # Magic and version, the address up to its end, the secret.
    judged = [*range(12), *range(16, 16 + len(place(info)[0]) - 1), *range(112, 144)]
    for _ in range(200):
        data = bytearray(info)
        data[rng.choice(judged)] ^= 1 << rng.randrange(8)
        raw = ct.create_string_buffer(bytes(data), len(data))
        status = rank.lib.status("HcclCommInitRootInfo", 1, raw, 0, ct.byref(rank.comm))
        assert status != 0
    join(rank, info)


def table_status(rank: Rank, path: Path) -> tuple[int, str]:
    status = rank.lib.status("HcclCommInitClusterInfo", str(path).encode(), 0, ct.byref(rank.comm))
    return status, rank.lib.message()


@pytest.mark.parametrize("kind", ["fifo", "directory", "device", "socket"])
def test_a_rank_table_that_is_no_file_does_not_hold_the_rank(
    rank: Rank, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "table"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    status, text = table_status(rank, path)
    assert status == OPEN_FILE_FAILURE
    assert str(path) in text and ("regular file" in text or "cannot be opened" in text)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param("[" + "0," * 300_000 + "0]", "more than 250000 values", id="many values"),
        pytest.param(
            "{" + ",".join(f'"{n}":0' for n in range(300_000)) + "}",
            "more than 250000 values",
            id="many members",
        ),
        pytest.param(
            '{"status": "' + "\\u0007x" * 1_000_000 + '"}', 'status is "?x', id="long text"
        ),
        pytest.param('{"status": ' + "9" * 1_000_000 + "}", "no string", id="long number"),
        pytest.param(" " * (17 << 20), "larger than 16 MiB", id="large"),
    ],
)
def test_a_rank_table_without_end_is_refused(
    rank: Rank, tmp_path: Path, content: str, words: str
) -> None:
    path = tmp_path / "table"
    path.write_text(content)
    status, text = table_status(rank, path)
    assert status == PARA
    assert words in text
    assert len(text) < 4000 and "\a" not in text


def test_many_members_are_not_compared_with_each_other(rank: Rank, tmp_path: Path) -> None:
    """A quarter of a million names: pairs of them would take minutes."""
    path = tmp_path / "table"
    names = ",".join(f'"{n:06}":0' for n in range(240_000))
    path.write_text(json.dumps({"status": "completed"})[:-1] + "," + names + "}")
    began = time.process_time()
    status, text = table_status(rank, path)
    assert status == PARA and "version is missing" in text
    assert time.process_time() - began < 20
