# SPDX-License-Identifier: Apache-2.0
"""The numbers of 16 bits in CANN's headers for C++ programs, against NumPy."""

from __future__ import annotations

import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
from helpers.native import NATIVE, compiled

ROW = np.dtype("f4, f4, i1, u1, i2, i4, u8")
ROW.names = ("half", "bfloat", "i1", "u1", "i2", "i4", "u8")
GIVEN = np.dtype([("half", "u2"), ("half_of_float", "u2"), ("bfloat", "u2")])


def doubles() -> np.ndarray:
    """Every half, what lies between two of them, a hair beside that, and numbers of all sizes."""
    halves = np.arange(0x8000, dtype=np.uint16).view(np.float16).astype(np.float64)
    halves = halves[np.isfinite(halves)]
    between = (halves[1:] + halves[:-1]) / 2
    beside = np.concatenate([np.nextafter(between, 0), np.nextafter(between, np.inf)])
    random = np.random.default_rng(7)
    spread = random.standard_normal(20_000) * 2.0 ** random.integers(-140, 128, 20_000)
    special = [65519.999, 65520.0, 1e300, np.inf, np.nan, 2.0**-25, 2.0**-150]
    values = np.concatenate([halves, between, beside, spread, special])
    return np.concatenate([values, -values])


def saturated(values: np.ndarray, dtype: str) -> np.ndarray:
    limits = np.iinfo(dtype)
    rounded = np.rint(np.nan_to_num(values, nan=0.0, posinf=1e30, neginf=-1e30))
    result = np.empty(values.shape, dtype)
    for index, value in enumerate(rounded.tolist()):
        result[index] = min(max(int(value), limits.min), limits.max)
    return result


def test_conversions_are_numpys(tmp_path: Path) -> None:
    program = compiled(NATIVE / "opdev.cpp", tmp_path / "opdev", f"-I{NATIVE.parents[2]}/include")
    given = doubles()
    done = subprocess.run(
        [str(program)], input=given.tobytes(), capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    table = np.frombuffer(done.stdout[: 0x10000 * ROW.itemsize], ROW)
    bits = np.arange(0x10000, dtype=np.uint16)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        halves = bits.view(np.float16).astype(np.float64)
    np.testing.assert_array_equal(table["half"].astype(np.float64), halves)
    np.testing.assert_array_equal(np.signbit(table["half"]), np.signbit(halves))
    np.testing.assert_array_equal(table["bfloat"], bits.view(ml_dtypes.bfloat16).astype(np.float32))
    for name in ("i1", "u1", "i2", "i4", "u8"):
        np.testing.assert_array_equal(table[name], saturated(halves, name))

    made = np.frombuffer(done.stdout[table.nbytes :], GIVEN)
    assert len(made) == len(given)
    numbers = ~np.isnan(given)
    with np.errstate(over="ignore"):
        floats = given.astype(np.float32)
        expected = given.astype(np.float16).view(np.uint16)
        of_floats = floats.astype(np.float16).view(np.uint16)
    np.testing.assert_array_equal(made["half"][numbers], expected[numbers])
    np.testing.assert_array_equal(made["half_of_float"][numbers], of_floats[numbers])
    np.testing.assert_array_equal(
        made["bfloat"][numbers], floats.astype(ml_dtypes.bfloat16).view(np.uint16)[numbers]
    )
    assert set(made["half"][~numbers]) == {0x7FFF}
    assert set(made["bfloat"][~numbers]) == {0x7FC0}
