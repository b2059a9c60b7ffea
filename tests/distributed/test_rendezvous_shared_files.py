# SPDX-License-Identifier: Apache-2.0
"""Pipes, links, devices and forged files under the names of a file rendezvous."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from aclnn_py.distributed.rendezvous import messages, shared_files
from aclnn_py.distributed.rendezvous.files import FileRendezvous
from aclnn_py.distributed.rendezvous.shared_files import SharedFiles
from aclnn_py.errors.ranks import RendezvousError, RendezvousTimeoutError

GIVE_UP_S = 60.0
TOKEN = "secret"
NONCE = "ab" * 16


def join(place: Path, rank: int, world_size: int = 2, **other: Any) -> FileRendezvous:
    options = {"token": TOKEN, "timeout_s": GIVE_UP_S, **other}
    return FileRendezvous(str(place), rank=rank, world_size=world_size, **options)


def meets(place: Path) -> bool:
    def work(rank: int) -> Any:
        meeting = join(place, rank)
        payloads = meeting.gather("a", {"rank": rank}, timeout_s=GIVE_UP_S)
        meeting.close()
        return payloads

    with ThreadPoolExecutor(2) as pool:
        found = [future.result() for future in [pool.submit(work, rank) for rank in (0, 1)]]
    return found == [[{"rank": 0}, {"rank": 1}]] * 2


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _directory(path: Path) -> None:
    path.mkdir()


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


def _link(path: Path) -> None:
    target = path.parent / "elsewhere"
    target.write_text("{}")
    path.symlink_to(target)


def _link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _huge(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(1 << 40)  # takes no room


def _garbage(path: Path) -> None:
    path.write_bytes(b"\x80\x04K\x01.")


def _non_ascii_proof(path: Path) -> None:
    path.write_text('{"type":"file","version":2,"body":"{}","proof":"\\u00e9"}')


def _deep(path: Path) -> None:
    path.write_text("[" * 1_000_000)


def _numbers(path: Path) -> None:
    path.write_text('{"type":"file","version":' + "9" * 1_000_000 + "}")


SQUATTERS = [
    _fifo, _directory, _socket, _link, _link_to_a_device, _loop, _huge, _garbage,
    _non_ascii_proof, _deep, _numbers,
]  # fmt: skip


@pytest.mark.parametrize("squat", SQUATTERS, ids=lambda squat: squat.__name__.strip("_"))
@pytest.mark.parametrize(("name", "rank"), [("session", 1), ("missing", 1), ("hello.1", 0)])
def test_what_has_a_name_of_ours_is_explained(
    tmp_path: Path, squat: Callable[[Path], None], name: str, rank: int
) -> None:
    squat(tmp_path / name)
    with pytest.raises(RendezvousError, match="directory of its own") as caught:
        join(tmp_path, rank)
    assert name in str(caught.value)
    assert not isinstance(caught.value, RendezvousTimeoutError)


@pytest.mark.parametrize("squat", [_fifo, _link, _loop, _huge, _garbage], ids=lambda s: s.__name__)
def test_what_can_be_replaced_is(tmp_path: Path, squat: Callable[[Path], None]) -> None:
    """Rank 0 writes its session over whatever was there, and nothing through a link."""
    squat(tmp_path / "session")
    SharedFiles(str(tmp_path), TOKEN).write("session", "session", session=NONCE, nonces={})
    assert not (tmp_path / "session").is_symlink()
    if squat is _link:
        assert (tmp_path / "elsewhere").read_text() == "{}"
    assert meets(tmp_path)


def test_a_directory_in_the_place_of_a_file_is_explained(tmp_path: Path) -> None:
    (tmp_path / "hello.1" / "x").mkdir(parents=True)
    with pytest.raises(RendezvousError, match=r"hello\.1"):
        join(tmp_path, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["hello.1"]  # no temporary file stays


@pytest.mark.parametrize("place", ["/dev/null", "/dev/null/x", "/proc/nothing", "a\0b"])
def test_a_place_that_is_no_directory_is_explained(place: str) -> None:
    with pytest.raises(RendezvousError):
        FileRendezvous(place, rank=0, world_size=1, timeout_s=1.0)


def _signed(place: Path, name: str, body: Any, token: str = TOKEN) -> None:
    """Write a file as a member could who means harm."""
    text = json.dumps(body)
    mac = messages.proof(token, messages.PROTOCOL_VERSION, name, text)
    envelope = {"type": "file", "version": 2, "body": text, "proof": mac}
    (place / name).write_text(json.dumps(envelope))


@pytest.mark.parametrize(
    "body",
    [
        {"type": "session", "session": "../../outside", "nonces": {}},
        {"type": "session", "session": NONCE, "nonces": {"1": 5}},
        {"type": "session", "session": NONCE, "nonces": {"x/../y": NONCE}},
        {"type": "session", "session": NONCE},
        {"type": "hello", "nonce": NONCE, "world_size": 2},
        [],
        "text",
    ],
)
def test_a_member_that_writes_what_no_rank_writes_is_explained(tmp_path: Path, body: Any) -> None:
    _signed(tmp_path, "session", body)
    with pytest.raises(RendezvousError, match="session is not a rendezvous file"):
        join(tmp_path, 1)


def test_a_file_of_another_job_is_ignored(tmp_path: Path) -> None:
    for name, body in (
        ("session", {"type": "session", "session": NONCE, "nonces": {"1": NONCE}}),
        ("missing", {"type": "missing", "nonces": {"1": NONCE}, "ranks": [0]}),
        ("hello.1", {"type": "hello", "nonce": NONCE, "world_size": 7}),
        ("refused.1", {"type": "refused", "nonce": NONCE, "world_size": 7}),
    ):
        _signed(tmp_path, name, body, token="another")
    assert meets(tmp_path)


def test_a_file_copied_to_another_name_is_ignored(tmp_path: Path) -> None:
    files = SharedFiles(str(tmp_path), TOKEN)
    files.write("hello.1", "hello", nonce=NONCE, world_size=2)
    os.link(tmp_path / "hello.1", tmp_path / "hello.2")
    assert files.read("hello.1", "hello") is not None
    assert files.read("hello.2", "hello") is None


def test_without_a_token_a_file_of_another_user_is_not_of_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SharedFiles(str(tmp_path), "").write("hello.1", "hello", nonce=NONCE, world_size=2)
    owner = os.geteuid()
    assert SharedFiles(str(tmp_path), "").read("hello.1", "hello") is not None
    monkeypatch.setattr(shared_files.os, "geteuid", lambda: owner + 1)
    with pytest.raises(RendezvousError, match=f"belongs to user {owner}"):
        SharedFiles(str(tmp_path), "").read("hello.1", "hello")
    SharedFiles(str(tmp_path), TOKEN).write("hello.1", "hello", nonce=NONCE, world_size=2)
    # The proof says whose it is, whatever number the user has on another host.
    assert SharedFiles(str(tmp_path), TOKEN).read("hello.1", "hello") is not None


def test_a_file_that_grows_while_it_is_read_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "session").write_bytes(b" " * 1000)
    found = os.stat(tmp_path / "session")
    with open(tmp_path / "session", "wb") as file:
        file.truncate(1 << 40)
    monkeypatch.setattr(shared_files.os, "fstat", lambda _: found)
    with pytest.raises(RendezvousError, match="are allowed"):
        SharedFiles(str(tmp_path), TOKEN).read("session", "session")
