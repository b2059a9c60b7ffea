# SPDX-License-Identifier: Apache-2.0
"""Constants of CANN's headers: ``acl.ACL_MEM_MALLOC_HUGE_FIRST`` and the others."""

from __future__ import annotations

import functools
from typing import Any

from aclnn_py._ffi import lib

__all__ = ["PREFIXES", "constant", "names"]

PREFIXES = ("ACL_", "ACLNN_", "HCCL_")


@functools.lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """Names of all constants that begin with one of the prefixes."""
    return tuple(name for name in dir(lib) if name.startswith(PREFIXES))


def constant(name: str) -> int:
    """Return a constant by its C name; AttributeError if no header has it."""
    if not name.startswith(PREFIXES):
        raise AttributeError(f"no constant of CANN is called {name!r}")
    value: Any = getattr(lib, name)
    if not isinstance(value, int):
        raise AttributeError(f"{name} is no integer constant")
    return value


def __getattr__(name: str) -> int:
    return constant(name)


def __dir__() -> list[str]:
    return list(names())
