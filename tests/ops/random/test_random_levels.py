# SPDX-License-Identifier: Apache-2.0
"""Random numbers with the plainest instructions and with the best: the same to the last bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.chip_950 import NAME
from helpers.processes import run_script

from .philox_oracle import units, words

# Sequences that begin at both words of a pair, at the ends of 32, 33 and 64 bits of places, and
# lengths beside those of registers.
PLACES = [(0, 0), (7, 5), (2**63 + 11, 2**33 - 3), (2**64 - 1, 2**64 - 9), (1, 2**32 + 7)]
# Whole dtypes, and how many integers they are drawn from.
DTYPES = {"int8": 2**7, "int32": 2**31, "float32": 2**24 + 1, "int64": 2**63}
LENGTHS = [1, 2, 15, 16, 17, 33, 70]

DRAWN = """
import sys

import numpy as np
import aclnn_py as ap

arrays = {}
with ap.Device(0):
    for seed, offset in PLACES:
        for length in LENGTHS:
            key = f"{seed},{offset},{length}"
            x = ap.full((length,), 7, np.float32)
            ap.ops.inplace_uniform(x, 0, 1, seed, offset)
            arrays["uniform," + key] = x.numpy()
            signed = [number - 2**64 if number >= 2**63 else number for number in (seed, offset)]
            for dtype in DTYPES:
                x = ap.full((length,), 1, dtype)
                if offset % 4 == 0:
                    ap.ops.inplace_random_without_from_to(x, *signed)
                    arrays[f"{dtype},{key}"] = x.numpy()
np.savez(sys.argv[1], **arrays)
"""

# In float64 the formula is what the library of C makes of it, one number after the other.
NORMAL = """
import numpy as np
import aclnn_py as ap

COUNT = 300_001
with ap.Device(0):
    for mean, std, seed, offset in [(0, 1, 3, 0), (0.25, 3, 2**40, 7), (-5, 1e-3, 1, 2**33 - 1),
                                    (0, 1e-39, 5, 1), (0, 6e4, 6, 4), (100, 0, 7, 2)]:
        wide = ap.empty((COUNT,), np.float64)
        ap.ops.inplace_normal(wide, mean, std, seed, offset)
        with np.errstate(over="ignore"):
            expected = wide.numpy()
            assert len(np.unique(expected)) > (COUNT // 2 if std else 0)
            for dtype in (np.float32, np.float16):
                x = ap.empty((COUNT,), dtype)
                ap.ops.inplace_normal(x, mean, std, seed, offset)
                found, exact = x.numpy(), expected.astype(dtype)
                bits = np.uint32 if dtype == np.float32 else np.uint16
                np.testing.assert_array_equal(found.view(bits), exact.view(bits), f"{mean} {std}")
print("exact")
"""


@pytest.fixture(params=["base", "v3", "v4"])
def level(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_numbers_are_those_of_the_sequence(level: str, tmp_path: Path) -> None:
    file = tmp_path / "drawn.npz"
    source = f"PLACES, LENGTHS, DTYPES = {PLACES}, {LENGTHS}, {list(DTYPES)}\n{DRAWN}"
    chip = {"ACLNN_PY_EMULATOR_SOC": NAME}  # only a 950 draws whole dtypes
    run_script(source, str(file), env={"ACLNN_PY_ISA": level, **chip}).check()
    with np.load(file) as drawn:
        for seed, offset in PLACES:
            sequence = words(seed, offset, max(LENGTHS))
            numbers = np.minimum(
                units(seed, offset, max(LENGTHS)).astype(np.float32), np.float32(1 - 2.0**-24)
            )
            for length in LENGTHS:
                key = f"{seed},{offset},{length}"
                np.testing.assert_array_equal(drawn["uniform," + key], numbers[:length])
                for dtype, width in DTYPES.items():
                    if offset % 4 != 0:
                        continue
                    expected = [float(word * width >> 64) for word in sequence[:length]]
                    if dtype != "float32":
                        expected = [word * width >> 64 for word in sequence[:length]]
                    assert drawn[f"{dtype},{key}"].tolist() == expected, (key, dtype)


def test_normal_numbers_are_rounded_from_the_formula(level: str) -> None:
    assert run_script(NORMAL, env={"ACLNN_PY_ISA": level}).check().out == "exact\n"
