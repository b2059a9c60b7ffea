# SPDX-License-Identifier: Apache-2.0
"""The meeting through a shared directory, and what earlier jobs leave there."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from aclnn_py.distributed.rendezvous.files import FileRendezvous
from aclnn_py.errors.ranks import RendezvousError, RendezvousMismatchError, RendezvousTimeoutError


def join(place: Path, rank: int, world_size: int, **other: Any) -> FileRendezvous:
    options = {"token": "secret", "timeout_s": 10.0, **other}
    return FileRendezvous(str(place), rank=rank, world_size=world_size, **options)


def on_ranks(count: int, work: Any) -> list[Future[Any]]:
    with ThreadPoolExecutor(count) as pool:
        return [pool.submit(work, rank) for rank in range(count)]


def whole_job(place: Path, count: int, mark: str) -> list[Any]:
    def work(rank: int) -> Any:
        meeting = join(place, rank, count)
        meeting.gather("a", {"rank": rank}, timeout_s=10)
        payloads = meeting.gather("b", {"mark": f"{mark}{rank}"}, timeout_s=10)
        meeting.close()
        return [item["mark"] for item in payloads]

    return [future.result() for future in on_ranks(count, work)]


def test_gather_returns_the_payloads_in_rank_order(tmp_path: Path) -> None:
    assert whole_job(tmp_path / "new" / "job", 3, "x") == [["x0", "x1", "x2"]] * 3


def test_files_of_an_earlier_job_are_not_taken_for_this_one(tmp_path: Path) -> None:
    whole_job(tmp_path, 3, "old")
    assert list(tmp_path.iterdir())  # something stale is there
    assert whole_job(tmp_path, 3, "new") == [["new0", "new1", "new2"]] * 3


def test_a_stale_arrival_does_not_count_as_present(tmp_path: Path) -> None:
    """Rank 1 of a dead job left its file; rank 1 of this job never comes."""
    with pytest.raises(RendezvousTimeoutError):
        join(tmp_path, 1, 2, timeout_s=0.1)
    with pytest.raises(RendezvousTimeoutError) as caught:
        join(tmp_path, 0, 2, timeout_s=0.4)
    assert caught.value.missing == (1,)


def test_a_stale_arrival_is_replaced_by_the_real_one(tmp_path: Path) -> None:
    with pytest.raises(RendezvousTimeoutError):
        join(tmp_path, 1, 2, timeout_s=0.1)

    def work(rank: int) -> Any:
        time.sleep(0.3 * rank)  # rank 0 has seen the stale file before rank 1 comes
        meeting = join(tmp_path, rank, 2)
        return meeting.gather("a", {"rank": rank}, timeout_s=10)

    for future in on_ranks(2, work):
        assert future.result() == [{"rank": 0}, {"rank": 1}]


def test_missing_ranks_are_named_on_every_rank_that_came(tmp_path: Path) -> None:
    def work(index: int) -> Any:
        with pytest.raises(RendezvousTimeoutError) as caught:
            join(tmp_path, (0, 2)[index], 4, timeout_s=0.5)
        return caught.value.missing

    assert [future.result() for future in on_ranks(2, work)] == [(1, 3), (1, 3)]


def test_a_rank_that_stops_after_arrival_is_named(tmp_path: Path) -> None:
    def work(rank: int) -> Any:
        meeting = join(tmp_path, rank, 3)
        if rank == 1:
            return (1,)
        with pytest.raises(RendezvousTimeoutError) as caught:
            meeting.gather("a", {}, timeout_s=0.5)
        return caught.value.missing

    assert [future.result() for future in on_ranks(3, work)] == [(1,), (1,), (1,)]


def test_world_sizes_that_differ_are_refused(tmp_path: Path) -> None:
    def work(rank: int) -> Any:
        if rank == 0:
            with pytest.raises(RendezvousTimeoutError) as late:
                join(tmp_path, 0, 2, timeout_s=1.0)
            return late.value.missing
        with pytest.raises(RendezvousMismatchError, match="world size 3"):
            join(tmp_path, 1, 3)
        return (1,)

    assert [future.result() for future in on_ranks(2, work)] == [(1,), (1,)]


def test_a_wrong_token_is_not_of_the_job(tmp_path: Path) -> None:
    def work(rank: int) -> Any:
        with pytest.raises(RendezvousTimeoutError) as caught:
            join(tmp_path, rank, 2, token=f"token {rank}", timeout_s=0.5)
        return caught.value.missing

    assert [future.result() for future in on_ranks(2, work)] == [(1,), (0,)]


def test_foreign_content_is_explained(tmp_path: Path) -> None:
    (tmp_path / "hello.1").write_bytes(b"\x80\x04K\x01.")
    with pytest.raises(RendezvousError, match="directory of its own"):
        join(tmp_path, 0, 2, timeout_s=1.0)


def test_files_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    place = tmp_path / "job"
    whole_job(place, 2, "x")
    assert place.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in place.iterdir())
