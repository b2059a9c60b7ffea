# SPDX-License-Identifier: Apache-2.0
"""The meeting over TCP: who is missing, who is gone, who does not belong."""

from __future__ import annotations

import json
import pickle
import socket
import struct
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from aclnn_py.distributed.rendezvous.tcp import TcpRendezvous
from aclnn_py.errors.ranks import (
    RankLostError,
    RendezvousError,
    RendezvousMismatchError,
    RendezvousTimeoutError,
)

TOKEN = "a shared secret"


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def join(port: int, rank: int, world_size: int, **other: Any) -> TcpRendezvous:
    options = {"token": TOKEN, "timeout_s": 10.0, **other}
    return TcpRendezvous("127.0.0.1", port, rank=rank, world_size=world_size, **options)


def on_ranks(count: int, work: Callable[[int], Any]) -> list[Future[Any]]:
    """Run ``work(rank)`` on one thread per rank and wait for all."""
    with ThreadPoolExecutor(count) as pool:
        return [pool.submit(work, rank) for rank in range(count)]


def test_gather_returns_the_payloads_in_rank_order(port: int) -> None:
    def work(rank: int) -> Any:
        time.sleep(0.05 * (3 - rank))  # arrive in reverse order
        meeting = join(port, rank, 4)
        first = meeting.gather("a", {"rank": rank}, timeout_s=10)
        second = meeting.gather("b", {"square": rank * rank}, timeout_s=10)
        third = meeting.gather("leave", {}, timeout_s=10)
        meeting.close()
        return first, second, third

    for future in on_ranks(4, work):
        first, second, _ = future.result()
        assert [item["rank"] for item in first] == [0, 1, 2, 3]
        assert [item["square"] for item in second] == [0, 1, 4, 9]


def test_missing_ranks_are_named_on_every_rank_that_came(port: int) -> None:
    def work(index: int) -> Any:
        rank = (0, 2)[index]
        meeting = join(port, rank, 5)
        began = time.monotonic()
        with pytest.raises(RendezvousTimeoutError) as caught:
            meeting.gather("arrival", {}, timeout_s=0.5)
        assert time.monotonic() - began < 5
        meeting.close()
        return caught.value

    for future in on_ranks(2, work):
        error = future.result()
        assert error.missing == (1, 3, 4)
        assert "1, 3, 4" in str(error)
        assert isinstance(error, TimeoutError)
        copy = pickle.loads(pickle.dumps(error))
        assert (copy.missing, str(copy)) == (error.missing, str(error))  # type: ignore[attr-defined]


def test_rank_zero_that_never_comes_is_named(port: int) -> None:
    began = time.monotonic()
    with pytest.raises(RendezvousTimeoutError) as caught:
        join(port, 1, 2, timeout_s=0.4)
    assert caught.value.missing == (0,)
    assert time.monotonic() - began < 3


def test_a_listener_that_never_answers_does_not_hang_the_rank(port: int) -> None:
    with (
        socket.create_server(("127.0.0.1", port)),
        pytest.raises(RendezvousTimeoutError) as caught,
    ):
        join(port, 1, 2, timeout_s=0.5)
    assert caught.value.missing == (0,)


def test_a_rank_that_ends_during_bring_up_is_named(port: int) -> None:
    def work(rank: int) -> Any:
        meeting = join(port, rank, 3)
        meeting.gather("all here", {}, timeout_s=10)
        if rank == 2:
            # As the kernel does for a killed process: the connection ends without a word.
            meeting._channel.close()  # type: ignore[union-attr]
            return None
        with pytest.raises(RankLostError) as caught:
            meeting.gather("next", {}, timeout_s=10)
        meeting.close()
        return caught.value.ranks

    results = [future.result() for future in on_ranks(3, work)]
    assert results[:2] == [(2,), (2,)]


def test_a_lost_rank_is_known_after_bring_up(port: int) -> None:
    lost = threading.Event()

    def work(rank: int) -> Any:
        meeting = join(port, rank, 3)
        meeting.gather("all here", {}, timeout_s=10)
        assert meeting.lost_ranks() == ()
        if rank == 1:
            time.sleep(0.2)
            meeting._channel.close()  # type: ignore[union-attr]
            return (1,)
        deadline = time.monotonic() + 5
        while not meeting.lost_ranks() and time.monotonic() < deadline:
            time.sleep(0.02)
        found = meeting.lost_ranks()
        if rank == 2:
            lost.set()
        else:
            lost.wait(5)
        meeting.close()
        return found

    assert [future.result() for future in on_ranks(3, work)] == [(1,), (1,), (1,)]


def test_leaving_in_good_order_is_not_a_loss(port: int) -> None:
    left = threading.Event()

    def work(rank: int) -> Any:
        meeting = join(port, rank, 2)
        meeting.gather("all here", {}, timeout_s=10)
        if rank == 0:
            meeting.close()
            left.set()
            return ()
        left.wait(5)
        time.sleep(0.1)
        return meeting.lost_ranks()

    assert [future.result() for future in on_ranks(2, work)] == [(), ()]


def test_world_sizes_that_differ_fail_on_both_sides(port: int) -> None:
    def work(rank: int) -> Any:
        with pytest.raises(RendezvousMismatchError, match="world size 3") as caught:
            meeting = join(port, rank, 2 if rank == 0 else 3)
            meeting.gather("arrival", {}, timeout_s=5)
        return str(caught.value)

    texts = [future.result() for future in on_ranks(2, work)]
    assert all("rank 1" in text for text in texts)


def test_a_rank_that_comes_twice_fails_the_job(port: int) -> None:
    def work(index: int) -> Any:
        with pytest.raises(RendezvousMismatchError, match="came twice"):
            meeting = join(port, (0, 1, 1)[index], 3)
            meeting.gather("arrival", {}, timeout_s=5)

    for future in on_ranks(3, work):
        future.result()


def test_a_wrong_token_is_refused_and_does_not_disturb_the_job(port: int) -> None:
    def work(rank: int) -> Any:
        if rank == 2:
            time.sleep(0.1)
            with pytest.raises(RendezvousError, match="token"):
                join(port, 1, 2, token="guess")
            return None
        time.sleep(0.4 * rank)  # rank 1 comes after the stranger
        meeting = join(port, rank, 2)
        payloads = meeting.gather("arrival", {"rank": rank}, timeout_s=10)
        meeting.close()
        return payloads

    results = [future.result() for future in on_ranks(3, work)]
    assert results[0] == [{"rank": 0}, {"rank": 1}]


def test_a_server_without_the_token_is_not_trusted(port: int) -> None:
    def impostor() -> None:
        with socket.create_server(("127.0.0.1", port)) as listener:
            connection, _ = listener.accept()
            with connection:
                for message in (
                    {"type": "greeting", "version": 2, "nonce": "00" * 16},
                    {"type": "welcome", "proof": "00" * 32},
                ):
                    body = json.dumps(message).encode()
                    connection.sendall(struct.pack("!I", len(body)) + body)
                connection.recv(4096)

    thread = threading.Thread(target=impostor)
    thread.start()
    with pytest.raises(RendezvousError, match="token"):
        join(port, 1, 2)
    thread.join()


@pytest.mark.parametrize(
    "bytes_sent",
    [
        pytest.param(struct.pack("!I", 2**31) + b"x" * 64, id="length beyond the limit"),
        pytest.param(struct.pack("!I", 5) + b"\x80\x04K\x01.", id="a pickle"),
        pytest.param(struct.pack("!I", 4000) + b"[" * 4000, id="deep nesting"),
        pytest.param(struct.pack("!I", 2) + b"{}", id="no type"),
        pytest.param(b"GET / HTTP/1.0\r\n\r\n", id="another protocol"),
    ],
)
def test_garbage_closes_its_connection_and_nothing_else(port: int, bytes_sent: bytes) -> None:
    def work(rank: int) -> Any:
        if rank == 1:
            time.sleep(0.1)
            with socket.create_connection(("127.0.0.1", port), timeout=5) as stranger:
                stranger.recv(4096)  # the greeting
                stranger.sendall(bytes_sent)
                ended = stranger.recv(4096) == b""
            meeting = join(port, 1, 2)
            meeting.gather("arrival", {}, timeout_s=10)
            meeting.close()
            return ended
        meeting = join(port, 0, 2)
        meeting.gather("arrival", {}, timeout_s=10)
        meeting.close()
        return True

    assert [future.result() for future in on_ranks(2, work)] == [True, True]


def test_an_address_that_others_reach_needs_a_token(port: int) -> None:
    with pytest.raises(RendezvousError, match="ACLNN_PY_JOB_TOKEN"):
        TcpRendezvous("192.0.2.1", port, rank=1, world_size=2, timeout_s=0.1)


def test_rank_zero_listens_on_the_given_address_only(port: int) -> None:
    meeting = join(port, 0, 1)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port), timeout=1)
    meeting.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=1)


def test_a_port_in_use_is_explained(port: int) -> None:
    with (
        socket.create_server(("127.0.0.1", port)),
        pytest.raises(RendezvousError, match="MASTER_PORT"),
    ):
        join(port, 0, 2)


def test_closing_leaves_no_thread_and_no_descriptor(port: int) -> None:
    import os

    before = (threading.active_count(), len(os.listdir("/proc/self/fd")))
    for _ in range(3):
        meeting = join(port, 0, 1)
        meeting.gather("alone", {}, timeout_s=5)
        meeting.close()
        meeting.close()
    assert (threading.active_count(), len(os.listdir("/proc/self/fd"))) == before
