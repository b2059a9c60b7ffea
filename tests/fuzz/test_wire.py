# SPDX-License-Identifier: Apache-2.0
"""The fuzzer of the rendezvous, for a number of frames that takes seconds."""

from __future__ import annotations

import pytest

from aclnn_py.distributed.rendezvous.connections import Connections
from fuzz import wire
from fuzz.budget import Budget


def test_no_frame_is_a_defect() -> None:
    budget = Budget(calls=6000, seed=1, progress=None)
    assert wire.fuzz(budget) == 0, budget.defects
    # Every part had its turn.
    kinds = {name.split(":")[0] for name in budget.tally}
    assert kinds >= {"reader", "server", "member", "rank", "file"}


def test_a_server_that_forgets_its_ranks_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fuzzer fails where there is a defect."""

    def careless(self: Connections, *_: object) -> None:
        raise KeyError("nobody catches this")

    monkeypatch.setattr(Connections, "_expire", careless)
    budget = Budget(calls=6000, seed=1, progress=None)
    assert wire.fuzz(budget) == 1
