# SPDX-License-Identifier: Apache-2.0
"""Communication groups as rules and errors know them; `aclnn_py.distributed` tells of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Member", "member", "tell"]


class Member(NamedTuple):
    """The part that one device of this process has in a group."""

    rank: int
    size: int


_Lookup = Callable[[int, str], "Member | None"]
_lookup: _Lookup | None = None


def tell(lookup: _Lookup) -> None:
    """Set what answers for a device index and the name of a group."""
    global _lookup
    _lookup = lookup


def member(device: int, name: str) -> Member | None:
    """The part of a device in a group; None when this package did not make the group."""
    return None if _lookup is None else _lookup(device, name)
