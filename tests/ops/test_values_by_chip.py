# SPDX-License-Identifier: Apache-2.0
"""A value that a document lists for another chip never runs that chip's formula on this one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.accepted_calls import Call, calls, calls_950
from helpers.chip_950 import Chip950
from helpers.numerics import assert_close
from helpers.operators import hollow, op, place, wide
from helpers.phase_one import PhaseOne
from helpers.places import places

from .rotary.test_rotary import turned
from .rotary.test_rotary_gradients import normal, rotated
from .values_by_chip import ROWS, ByChip

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="the chip of the emulator can be chosen"),
]


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def statuses(row: ByChip, newest: bool) -> dict[Any, set[int]]:
    """What phase one says of each value, in each accepted call of the operator."""
    operator = f"aclnn{row.operator}"
    made = [*(calls_950(operator) if newest else ()), *calls(operator)]
    position = [p.c_name for p in made[0].op.parameters].index(row.attribute)
    found: dict[Any, set[int]] = {}
    keys = sorted({key for call in made for key in call.group_keys})
    with places(keys) as ranks:
        place_, groups = ranks[0]
        with place_:
            for value in dict.fromkeys([*row.on_910b, *row.on_950]):
                found[value] = {status(call, position, value, groups) for call in made}
    return found


def status(call: Call, position: int, value: Any, groups: dict[int, str]) -> int:
    given = call.changed(position, value)
    with PhaseOne(given, groups) as question:
        return question.ask({})


def judge(row: ByChip, own: Any, other: Any, found: dict[Any, set[int]]) -> None:
    for value in own:
        assert 0 in found[value] or value in row.coupled, f"{row} {value!r}: {found[value]}"
    for value in set(other) - set(own):
        refused = 0 not in found[value]
        assert refused != (row.ignored and own is row.on_910b), f"{row} {value!r}: {found[value]}"


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_values_of_another_chip(row: ByChip) -> None:
    judge(row, row.on_910b, row.on_950, statuses(row, False))


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_values_of_a_950(row: ByChip, newer: Chip950) -> None:
    found = newer.call("ops.test_values_by_chip", "statuses", row, True)
    judge(row, row.on_950, row.on_910b, found)


@pytest.mark.parametrize("mode", [0, 1, 2, 3, 7])
def test_a_910b_turns_halves_for_every_mode_but_1(mode: int) -> None:
    x, cos, sin = (normal(seed, 2, 3, 4, 8) for seed in (1, 2, 3))
    out = hollow(x.shape, np.float32)
    op("aclnnRotaryPositionEmbedding")(place(x), place(cos), place(sin), mode, out)
    name = "interleave" if mode == 1 else "half"
    assert_close(out.numpy(), turned(wide(x), wide(cos), wide(sin), name), scale=2)


@pytest.mark.parametrize("mode", [2, 3])
def test_a_910b_gives_the_gradient_of_halves(mode: int) -> None:
    dy, cos, sin = normal(1, 2, 3, 4, 8), normal(2, 1, 1, 4, 8), normal(3, 1, 1, 4, 8)
    table = hollow(cos.shape, np.float32)
    dx = hollow(dy.shape, np.float32)
    op("aclnnRotaryPositionEmbeddingGrad")(
        place(dy), place(cos), place(sin), None, mode, dx, table, table
    )
    # The rotation is linear: its gradient is the product with the transposed matrix.
    unit = np.eye(8)[:, None, None, None]
    matrix = rotated(0, unit, wide(cos)[0, 0], wide(sin)[0, 0])[:, 0, 0]
    assert_close(dx.numpy(), np.einsum("bnsj,isj->bnsi", wide(dy), matrix), scale=8)


@pytest.mark.parametrize("mode", ["half", "interleave", "quarter"])
def test_a_910b_does_not_read_the_mode_of_a_pair(mode: str) -> None:
    arrays = [normal(seed, 3, heads, 8) for seed, heads in enumerate((4, 2, 1, 1))]
    query, key, cos, sin = (place(array) for array in arrays)
    op("aclnnApplyRotaryPosEmbV2")(query, key, cos, sin, 4, mode)
    for found, x in ((query, arrays[0]), (key, arrays[1])):
        oracle = turned(wide(x), wide(arrays[2]), wide(arrays[3]), "half")
        assert_close(found.numpy(), oracle, scale=2)
