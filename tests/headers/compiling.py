# SPDX-License-Identifier: Apache-2.0
"""Where the contract lies and how its headers are compiled."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path

from aclnn_py._ffi.contract.headers import fragments

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")
LANGUAGES = {
    "c11": ("CC", "gcc", ("-x", "c", "-std=c11", *WARNINGS)),
    "c++17": ("CXX", "g++", ("-x", "c++", "-std=c++17", *WARNINGS)),
}

Compile = Callable[..., str]


@functools.cache
def known_fragments() -> tuple[Path, ...]:
    """The fragments of the contract, each after those it includes; to find them reads them all."""
    return tuple(fragments(INCLUDE))


def compiler_for(language: str) -> list[str]:
    variable, default, _ = LANGUAGES[language]
    return os.environ.get(variable, default).split()
