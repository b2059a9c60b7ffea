# SPDX-License-Identifier: Apache-2.0
"""A status has one name in the emulator's sources, and no source writes its number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "aclnn_py" / "emulator" / "src"
STATUSES = SOURCES / "core" / "statuses.h"
NAMED = {
    macro: name
    for name, macro in re.findall(
        r"constexpr Status (k\w+) = (\w+);", STATUSES.read_text(encoding="utf-8")
    )
}
# core/status.cpp picks the code of a message by the number of a status.
NUMBERS_ALLOWED = {STATUSES, SOURCES / "core" / "status.cpp"}
NUMBER = re.compile(r"\b(?:107|161|207|361|507|561)\d{3}\b")


def problems(text: str) -> list[str]:
    """Macros that have a name of their own, local names of statuses, and numbers of statuses."""
    code = re.sub(r"//[^\n]*", "", text)
    found = [f"{m} is {NAMED[m]}" for m in NAMED if re.search(rf"\b{m}\b", code)]
    found += re.findall(r"constexpr (?:emu::)?Status k\w+", code)
    return found + [f"the number {number}" for number in NUMBER.findall(code)]


@pytest.mark.parametrize(
    "text",
    [
        'return fail(ACLNN_ERR_PARAM_INVALID, "no");',
        "constexpr Status kOwn = ACL_ERROR_INVALID_PARAM;",
        'return fail(561002, "no");',
        'return fail(507015, "no");',
        'return fail(107002, "no");',
    ],
)
def test_a_second_name_is_found(text: str) -> None:
    assert problems(text)


def test_every_status_has_one_name() -> None:
    assert len(set(NAMED.values())) == len(NAMED) >= 12
    files = [p for p in SOURCES.rglob("*") if p.suffix in (".h", ".cpp", ".inc")]
    assert len(files) > 200
    found = {
        path.relative_to(SOURCES).as_posix(): listed
        for path in files
        if path not in NUMBERS_ALLOWED and (listed := problems(path.read_text(encoding="utf-8")))
    }
    assert found == {}
