# SPDX-License-Identifier: Apache-2.0
"""Objects ended twice or as something else, and used after their end or their device's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from handles import MAKERS, SCENARIOS, enders, maker_of, pairs, refused
from helpers.native import LIB
from objects import OBJECTS

PROGRAM = Path(__file__).with_name("handles.py")
TIMEOUT_S = 300.0

pytestmark = pytest.mark.emulator_only(reason="calls the emulator's library")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_pair_answers_a_documented_status(scenario: str) -> None:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(LIB / "libaclnn_py_emulator.so"), scenario],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    lines = done.stdout.splitlines()
    wrong = [line for line in lines if line.startswith("!")]
    assert not wrong, "\n".join(wrong)
    assert done.returncode == 0, (
        f"ended with {done.returncode} in {lines[-1] if lines else 'its first call'}\n"
        f"{done.stderr[-2000:]}"
    )
    assert lines[-1] == "done"


def test_the_pairs_are_those_of_the_headers() -> None:
    names = {pair.ender.name for pair in pairs()}
    assert names >= {"aclDestroyTensor", "aclrtDestroyStream", "aclrtFree", "HcclCommDestroy"}
    assert names | (refused() & set(enders())) == set(enders())
    # No line is left of what the headers no longer have.
    assert set(MAKERS) <= names
    assert set(OBJECTS) <= {maker_of(name) for name in names}
