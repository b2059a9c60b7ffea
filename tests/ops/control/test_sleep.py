# SPDX-License-Identifier: Apache-2.0
"""A kernel that sleeps, on a chip of the 950 series."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from helpers.chip_950 import Chip950, Refused
from helpers.operators import refusal

pytestmark = pytest.mark.emulator_only(reason="chooses the chip of the emulator")

CALLS, SECOND = "ops.control.sleep_calls", 1_650_000_000
A_CENTURY = 100 * 365 * 86400 * SECOND


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def test_it_takes_its_cycles(newer: Chip950) -> None:
    assert newer.call(CALLS, "sleep", [1]) > 0
    assert newer.call(CALLS, "sleep", [SECOND // 5]) >= 0.2


def test_the_limit_of_kernels_ends_it(newer: Chip950) -> None:
    for cycles in (A_CENTURY, 2**63 - 1):
        found = newer.call(CALLS, "sleep", [cycles], 20)
        assert isinstance(found, Refused)
        assert found.status == 507014
        assert "aclrtSetOpExecuteTimeOut" in found.text


def test_an_abort_ends_it(newer: Chip950) -> None:
    assert newer.call(CALLS, "sleep_until_aborted", [A_CENTURY // 400_000])


@pytest.mark.parametrize("cycles", [[], [0], [-5], [1, 2]], ids=str)
def test_refusals(newer: Chip950, cycles: list[int]) -> None:
    found = newer.call(CALLS, "sleep", cycles)
    assert isinstance(found, Refused)
    assert found.status == 561002
    assert "cycles" in found.text


def test_null_and_a_910b(newer: Chip950, device: Any) -> None:
    assert refusal("aclnnSleep", None) == 161001
    assert refusal("aclnnSleep", [5]) == 561003
