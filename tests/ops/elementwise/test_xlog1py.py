# SPDX-License-Identifier: Apache-2.0
"""x * log(1 + y) on a chip of the 950 series."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close
from helpers.operators import NUMPY, hollow, wide

from ..problems import message

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="the chip of the emulator is chosen"),
]


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def formula(x: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        product = np.where(x == 0, 0, x * np.log1p(y))
    return np.where(np.isnan(y), y, product)


@pytest.mark.parametrize("stepped", [False, True])
@pytest.mark.parametrize("name", ["FLOAT", "FLOAT16", "BFLOAT16"])
def test_it_is_the_formula(newer: Chip950, name: str, stepped: bool) -> None:
    rng, kind = np.random.default_rng(1), NUMPY[name]
    x = rng.standard_normal((2, 1, 40)).astype(kind)
    y = rng.uniform(-0.9, 9, (3, 40)).astype(kind)
    x[0, 0, :3] = 0
    y[0, :6] = [np.nan, -1, np.inf, -2, -1, 1e-7]
    (z,) = newer.operator(
        "xlog1py",
        *(Given(x, kind.name, stepped), Given(y, kind.name), Made((2, 3, 40), kind.name, stepped)),
    )
    assert_close(z, formula(wide(x), wide(y)), dtype=kind, scale=2)


def test_refusals(newer: Chip950) -> None:
    x, half = (
        Given(np.ones((2, 3), np.float32), "float32"),
        Given(np.ones((2, 3), np.float16), "float16"),
    )
    out = Made((2, 3), "float32")
    for arguments, status, says in [
        ((None, x, out), 161001, "x"),
        ((x, None, out), 161001, "y"),
        ((x, x, None), 161001, "z"),
        ((x, half, out), 161002, "y"),
        ((x, x, Made((2, 3), "float16")), 161002, "z"),
        ((x, Given(np.ones((2, 4), np.float32), "float32"), out), 161002, "broadcast"),
        ((x, x, Made((2, 4), "float32")), 161002, "z has shape"),
    ]:
        found = newer.operator("xlog1py", *arguments)
        assert isinstance(found, Refused)
        assert found.status == status, found
        assert says in found.text
    one = hollow((2,), np.float32)
    assert "950 series" in message("aclnnXlog1py", 161002, [one, one, one])
