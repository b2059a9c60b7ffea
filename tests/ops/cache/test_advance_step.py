# SPDX-License-Identifier: Apache-2.0
"""The next step of sequences with guessed tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.operators import op, place, refusal

from ..problems import fault

pytestmark = pytest.mark.usefixtures("device")

NAME = "aclnnAdvanceStepV2"
POSITIONS = [[2, 3, 4], [0, 1, 2], [7, 8, 9]]
TABLE = np.arange(12, dtype=np.int64).reshape(3, 4) + 5


def arguments(accepted: list[int], shape: tuple[int, ...] = (3, 3)) -> list[Any]:
    """Three sequences with two guessed tokens each, in blocks of four."""
    sampled = np.array([[21, 22, 23], [31, 32, 33], [41, 42, 43]])
    guessed = np.array([[1, 2], [3, 4], [5, 6]])
    nines = np.full(shape, 9)
    return [
        place(nines), place(sampled), place(np.array(POSITIONS).reshape(shape)), place(nines),
        place(nines), place(TABLE), place(guessed), place(np.array(accepted)), 3, 3, 4,
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [(3, 3), (9,)])
def test_sequences_advance_by_the_accepted_tokens(shape: tuple[int, ...]) -> None:
    given = arguments([0, 2, 1], shape)
    op(NAME)(*given)
    tokens, positions, lengths, slots = (
        given[i].numpy().reshape(3, 3).tolist() for i in (0, 2, 3, 4)
    )
    assert tokens == [[21, 1, 2], [33, 3, 4], [42, 5, 6]]
    assert positions == [[3, 4, 5], [3, 4, 5], [9, 10, 11]]
    assert lengths == [[4, 5, 6], [4, 5, 6], [10, 11, 12]]
    # entry * 4 + the position in its block
    assert slots == [[23, 24, 25], [39, 40, 41], [61, 62, 63]]


@pytest.mark.parametrize(
    ("accepted", "position", "text"),
    [
        ([0, 3, 1], 2, "acceptedNum holds 3; a sequence has 2 guessed tokens"),
        ([0, -1, 1], 2, "acceptedNum holds -1"),
        ([0, 0, 0], 15, "inputPositionsRef, advanced, holds 16; blockTables has 4 blocks"),
        ([0, 0, 0], -5, "inputPositionsRef, advanced, holds -4"),
        ([0, 0, 0], 2**63 - 1, "inputPositionsRef holds 9223372036854775807"),
    ],
)
def test_values_out_of_range_are_a_fault(accepted: list[int], position: int, text: str) -> None:
    given = arguments(accepted)
    given[2] = place(np.array([*POSITIONS[:2], [7, 8, position]], np.int64))
    assert text in fault(NAME, *given)
    assert given[0].numpy().tolist() == [[9] * 3] * 3


def test_refusals() -> None:
    def bad(position: int, given: Any) -> int:
        arguments_ = arguments([0, 0, 0])
        arguments_[position] = given
        return refusal(NAME, *arguments_)

    for position in range(8):
        assert bad(position, None) == 161001
        assert bad(position, place(np.zeros((3, 3), np.int32))) == 161002
    for position, given in (
        (0, place(np.zeros((3, 2), np.int64))),
        (1, place(np.zeros((3, 1), np.int64))),
        (2, place(np.zeros(3, np.int64))),
        (5, place(np.zeros((2, 4), np.int64))),
        (6, place(np.zeros((3, 0), np.int64))),
        (7, place(np.zeros(2, np.int64))),
        (8, 0),
        (8, 4),
        (9, 2),
        (10, 0),
    ):
        assert bad(position, given) == 561002, position
