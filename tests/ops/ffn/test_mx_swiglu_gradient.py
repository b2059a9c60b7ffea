# SPDX-License-Identifier: Apache-2.0
"""The gradient of a gated unit, quantised in blocks along two dimensions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.operators import Array, hollow, refusal, wide

from ..low_bits import NUMBER, SCALE, grouped, mx
from ..mx_calls import assert_codes, given, results

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="chooses the chip of the emulator"),
]

KIND = "float8_e4m3fn"
NAME = "swiglu_backward_mx_quant_with_dual_axis"


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def operands(shape: tuple[int, ...], left: bool) -> tuple[Array, Array, Array]:
    """A unit, a gradient, and the gradient of the unit, all of them exact.

    The sigmoid of 0 is a half, that of 64 is 1.
    """
    rng = np.random.default_rng(3)
    gate = rng.choice([0.0, 64.0], shape)
    linear, g = (rng.integers(-6, 7, shape).astype(np.float64) for _ in range(2))
    s = np.where(gate == 0, 0.5, 1.0)
    slopes = g * linear * s * (1 + gate - gate * s), g * gate * s
    order = 1 if left else -1
    whole = [np.concatenate(pair[::order], -1) for pair in ((gate, linear), slopes)]
    return whole[0].astype(np.float16), g.astype(np.float16), whole[1].astype(np.float16)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("shape", [(70, 96), (2, 33, 64)])
def test_both_dimensions(newer: Chip950, shape: tuple[int, ...], left: bool) -> None:
    x, g, slope = operands(shape, left)
    found = newer.operator(
        *(NAME, given(x), given(g), None, left, "rint", 1, NUMBER[KIND], 0.0),
        *(*results(x.shape, KIND, -1), *results(x.shape, KIND, -2)),
    )
    assert_codes(found, (*mx(slope, KIND, -1, algorithm=1), *mx(slope, KIND, -2, algorithm=1)))


def test_groups_of_rows(newer: Chip950) -> None:
    x, g, slope = operands((200, 64), True)
    ends = [70, 70, 200]
    index = Given(np.array(ends), "int64")
    made = (
        *(Made(x.shape, KIND), Made((200, 2, 2), SCALE)),
        *(Made(x.shape, KIND), Made((6, 128, 2), SCALE)),
    )
    found = newer.operator(
        *(NAME, given(x, True), given(g, True), index, True, None, 1, NUMBER[KIND], 0.0, *made)
    )
    assert_codes(found, (*mx(slope, KIND, algorithm=1), *grouped(slope, ends, KIND, algorithm=1)))


def test_what_it_refuses(newer: Chip950) -> None:
    x, g, _ = operands((40, 32), True)
    made = [*results(x.shape, KIND, -1), *results(x.shape, KIND, -2)]

    def status(*arguments: Any, into: Any = made) -> int:
        found = newer.operator(NAME, *arguments, *into)
        assert isinstance(found, Refused), arguments
        return int(found.status)

    good = [given(x), given(g), None, True, "rint", 1, NUMBER[KIND], 0.0]
    changes: list[tuple[int, Any]] = [
        *((4, "floor"), (5, 0), (6, 35), (7, 1.0), (1, given(x))),
        *((0, given(wide(x).astype(np.float32))), (2, Given(np.zeros(0, np.int64), "int64"))),
    ]
    for position, wrong in changes:
        arguments = [wrong if i == position else a for i, a in enumerate(good)]
        assert status(*arguments) == 161002, (position, wrong)
    narrow = given(x[:, :32]), given(g[:, :16])
    into = [*results((40, 32), KIND, -1), *results((40, 32), KIND, -2)]
    assert status(*narrow, *good[2:], into=into) == 161002
    assert status(None, *good[1:]) == 161001
    wrong = [made[0], made[3], made[2], made[1]]
    assert status(*good, into=wrong) == 161002
    beyond = Given(np.array([41]), "int64")
    grouped = [*made[:3], Made((1, 64, 2), SCALE)]
    found = newer.operator(NAME, *good[:2], beyond, *good[3:], *grouped)
    assert isinstance(found, Refused) and "groupIndexOptional" in found.text


def test_a_910b_lacks_it() -> None:
    x, g = hollow((40, 64), np.float16), hollow((40, 32), np.float16)
    rest = (None, True, None, 1, 36, 0.0, x, x, x, x)
    assert refusal("aclnnSwigluBackwardMxQuantWithDualAxis", x, g, *rest) == 361001
