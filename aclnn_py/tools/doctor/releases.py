# SPDX-License-Identifier: Apache-2.0
"""Read version files of CANN, driver and firmware, and compare their versions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "KNOWN_RELEASES",
    "Release",
    "c_number",
    "c_numbers",
    "in_numeric_range",
    "in_prefix_range",
    "known_release",
    "numbers",
    "pairs",
    "read_fields",
    "release_order",
]


@dataclass(frozen=True)
class Release:
    """A release of CANN, its inner number, and the drivers it was published with."""

    name: str
    inner: int
    compatible: frozenset[int]
    drivers: tuple[str, ...]


_OLD = frozenset({15, 18, 19, 20, 21})
# The inner numbers of 8.0.x are from the driver packages of that time. A release that is not listed
# here is judged only by its own files.
KNOWN_RELEASES: tuple[Release, ...] = (
    Release("8.0.RC2", 18, frozenset(), ("24.1.RC2",)),
    Release("8.0.RC3", 19, frozenset(), ("24.1.RC3",)),
    Release("8.0.0", 20, frozenset(), ("24.1.0",)),
    Release("8.1.RC1", 21, _OLD, ("25.0.RC1",)),
    Release("8.2.RC1", 22, _OLD | {23}, ("25.2.0", "25.0.RC1", "24.1")),
    Release("8.5.0", 25, _OLD | {23}, ("25.5", "25.3", "25.2", "25.0")),
)


def release_order(release: str) -> tuple[int, ...]:
    """Return a sortable form of a release, such as 8.0.RC2 < 8.0.0 < 8.5.0-beta.1 < 8.5.0."""
    found = re.match(r"(\d+)\.(\d+)", release)
    if found is None:
        return (0,)
    rest = release[found.end() :]
    patch = re.match(r"\.(\d+)", rest)
    before = re.search(r"(alpha|beta|rc)\D*(\d+)", rest, re.IGNORECASE)
    stage = {"alpha": -3, "beta": -2, "rc": -1}[before[1].lower()] if before else 0
    return (
        int(found[1]),
        int(found[2]),
        int(patch[1]) if patch else 0,
        stage,
        int(before[2]) if before else 0,
    )


def known_release(release: str) -> Release | None:
    """Return what is known about a release; a patch release counts as the first of its kind."""
    order = release_order(release)
    exact = [known for known in KNOWN_RELEASES if release_order(known.name) == order]
    same = [known for known in KNOWN_RELEASES if release_order(known.name)[:2] == order[:2]]
    # 8.0 had three releases with different numbers, so the choice would be a guess.
    near = same[-1:] if len(same) == 1 else []
    return next(iter(exact or near), None)


def read_fields(path: Path) -> dict[str, str]:
    """Return ``key=value`` lines of a version file; empty when there is no such file."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    pairs_of_lines = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {key.strip(): value.strip() for key, value in pairs_of_lines}


def c_number(inner: str) -> int | None:
    """Return 21 for ``V100R001C21SPC001B238``; None when there is no such part."""
    found = re.search(r"R\d+C(\d+)", inner)
    return int(found[1]) if found else None


def c_numbers(listed: str) -> frozenset[int]:
    """Return the numbers of ``[V100R001C15],[V100R001C18]``."""
    return frozenset(int(number) for number in re.findall(r"R\d+C(\d+)", listed))


def numbers(version: str) -> tuple[int, ...]:
    """Return the dotted numbers a version begins with: ``7.7.0.1.231`` gives (7, 7, 0, 1, 231)."""
    found = re.match(r"\d+(?:\.\d+)*", version.strip())
    return tuple(map(int, found[0].split("."))) if found else ()


def pairs(listed: str) -> list[tuple[str, str]]:
    """Return the ranges of ``[7.0.0,7.7.99],[8.0,8.1]``."""
    return re.findall(r"\[\s*([^,\]]+?)\s*,\s*([^,\]]+?)\s*\]", listed)


def in_numeric_range(version: str, low: str, high: str) -> bool:
    """Return whether low <= version <= high, comparing only the numbers that a bound has."""
    have = numbers(version)
    lower, upper = numbers(low), numbers(high)
    return bool(have) and lower <= have and have[: len(upper)] <= upper


def in_prefix_range(version: str, low: str, high: str) -> bool:
    """Return whether a pair like ``[24.1,24.1.]`` covers a version: 24.1 itself or 24.1.x."""
    have = version.lower()
    return have == low.lower() or have.startswith(high.lower())


def at_least(version: str, wanted: str) -> bool:
    """Return whether a dotted version is at least another one."""
    return numbers(version) >= numbers(wanted)


def driver_listed(driver: str, release: Release) -> bool:
    """Return whether a release of CANN was published with a driver."""
    return any(in_prefix_range(driver, listed, f"{listed}.") for listed in release.drivers)


def first_field(files: Mapping[str, Mapping[str, str]], *keys: str) -> str:
    """Return the first of the fields ``keys`` that a file has, or ""."""
    for key in keys:
        for fields in files.values():
            if fields.get(key):
                return fields[key]
    return ""
