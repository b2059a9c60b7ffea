# SPDX-License-Identifier: Apache-2.0
"""What ranks tell about themselves, when one of them tells something impossible."""

from __future__ import annotations

from typing import Any

import pytest

from aclnn_py.distributed import bringup
from aclnn_py.distributed.rendezvous.interface import Rendezvous
from aclnn_py.errors.ranks import RendezvousError, RendezvousMismatchError


class Told(Rendezvous):
    """A meeting whose answers the test writes."""

    def __init__(self, rank: int, others: dict[int, Any]) -> None:
        self.rank, self.world_size, self._others = rank, 2, others

    def gather(self, label: str, payload: dict[str, Any], *, timeout_s: float) -> list[Any]:
        return [self._others.get(rank, payload) for rank in range(2)]

    def lost_ranks(self) -> tuple[int, ...]:
        return ()

    def close(self) -> None:
        return


def facts(**other: Any) -> dict[str, Any]:
    return {**bringup.own_facts(0, "emulator"), **other}


@pytest.mark.parametrize(
    ("field", "value"),
    [("version", 5), ("host", "\x1b[2J"), ("boot", "x" * 65), ("process", 1e300), ("device", None)],
)
def test_an_impossible_fact_names_its_rank(field: str, value: Any) -> None:
    meeting = Told(0, {1: facts(**{field: value})})
    with pytest.raises(RendezvousError, match=f"rank 1 .* {field}"):
        bringup.agree(meeting, facts(), timeout_s=1)


@pytest.mark.parametrize("told", [{}, [], 5, None, {**facts(), "more": 1}])
def test_facts_that_are_none_name_their_rank(told: Any) -> None:
    with pytest.raises(RendezvousError, match="rank 1"):
        bringup.agree(Told(0, {1: told}), facts(), timeout_s=1)


def test_facts_that_differ_are_still_a_mismatch() -> None:
    with pytest.raises(RendezvousMismatchError, match=r"aclnn_py differs"):
        bringup.agree(Told(0, {1: facts(version="0", device="9")}), facts(), timeout_s=1)


@pytest.mark.parametrize(
    "told",
    [
        {},
        5,
        {"root_info": 5},
        {"root_info": "é"},
        {"root_info": "!!!!"},
        {"root_info": "AAAA"},
        {"root_info": "A" * 100_000},
        {"failure": 5},
        {"failure": "\x1b"},
        {"failure": "no\nmemory"},
    ],
)
def test_an_impossible_root_info_is_a_typed_error(told: Any) -> None:
    with pytest.raises(RendezvousError):
        bringup.share_root_info(Told(1, {0: told}), lambda: b"", timeout_s=1)
