# SPDX-License-Identifier: Apache-2.0
"""Communication groups as rules and errors know them; `aclnn_py.distributed` tells of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from aclnn_py.operators.describe.operator import Operator
from aclnn_py.tensor.tensor import Tensor

__all__ = ["Member", "member", "member_of", "names_of", "tell"]


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


def names_of(op: Operator, values: Sequence[object]) -> list[str]:
    """Return the names of the groups that a call of a fused operator gives."""
    return [
        value
        for parameter, value in zip(op.parameters, values, strict=True)
        if parameter.c_name.startswith("group") and isinstance(value, str)
    ]


def member_of(values: Sequence[object], name: str) -> Member | None:
    """Return the part in a group of the device whose tensors a call gives."""
    for value in values:
        for item in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(item, Tensor):
                return member(item.device.index, name)
    return None
