# SPDX-License-Identifier: Apache-2.0
"""Which communicator a ``group`` argument means."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Union

from aclnn_py.operators.describe import groups as known
from aclnn_py.runtime.device import Device

if TYPE_CHECKING:
    from aclnn_py.distributed.communicator import Communicator

__all__ = ["Group", "register", "resolve"]

Group = Union["Communicator", str, None]

_lock = threading.Lock()
# Ranks that are threads of one process share a name and differ in the device.
_by_name: weakref.WeakValueDictionary[tuple[int, str], Communicator] = weakref.WeakValueDictionary()
_default: weakref.WeakValueDictionary[int, Communicator] = weakref.WeakValueDictionary()


def register(communicator: Communicator, *, may_be_default: bool) -> None:
    """Note a new communicator; the first one of its device becomes that device's default."""
    index = communicator.device.index
    with _lock:
        _by_name[index, communicator.name] = communicator
        current = _default.get(index)
        if may_be_default and (current is None or current.closed):
            _default[index] = communicator


def _member(device: int, name: str) -> known.Member | None:
    with _lock:
        found = _by_name.get((device, name))
    return None if found is None or found.closed else known.Member(found.rank, found.world_size)


known.tell(_member)


def resolve(group: Group) -> Communicator:
    """Return the communicator that a ``group`` argument means on this thread's current device.

    Parameters
    ----------
    group : Communicator or str, optional
        A communicator, the name of one, or None for the first one made on the current device.

    Returns
    -------
    Communicator
        Open.

    Raises
    ------
    TypeError
        ``group`` is of another type.
    ValueError
        No open communicator is meant.
    """
    from aclnn_py.distributed.communicator import Communicator

    if isinstance(group, Communicator):
        _ = group.raw  # raises for a closed one
        return group
    if group is not None and not isinstance(group, str):
        raise TypeError(
            f"group: expected a Communicator, its name or None, got {type(group).__name__}"
        )
    index = Device.current().index
    with _lock:
        found = _default.get(index) if group is None else _by_name.get((index, group))
        names = sorted(name for at, name in _by_name if at == index)
    if found is None or found.closed:
        if group is None:
            raise ValueError(
                f"group: device {index} has no communicator yet; make one with"
                " Communicator.from_env() or pass one"
            )
        known = ", ".join(names) or "none"
        raise ValueError(f"group: device {index} has no communicator {group!r}; it has: {known}")
    return found
