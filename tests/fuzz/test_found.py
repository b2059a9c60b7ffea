# SPDX-License-Identifier: Apache-2.0
"""Calls that were defects once, as the fuzzer found them: they are refused, or run, and no more.

A file of `found/` is the ``case`` of a defect; `python -m tests.fuzz --case FILE` repeats it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .operators import outcome_of

FOUND = sorted((Path(__file__).parent / "found").glob("*.json"))
pytestmark = pytest.mark.emulator_only(reason="the calls were defects of the emulator")


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_a_found_call_is_no_defect_any_more(path: Path) -> None:
    end = outcome_of(path)
    assert not end.kind, f"{end.kind}: {end.what}\n{end.errors}"
    assert not end.defects
    assert sum(end.counts.values()) == 1
