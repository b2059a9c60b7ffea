# SPDX-License-Identifier: Apache-2.0
"""The open communicators of this process, by device and name."""

from __future__ import annotations

import threading
import weakref
from typing import Any, Protocol

from aclnn_py.operators.describe.groups import Member, tell
from aclnn_py.runtime.device import Device

__all__ = ["first_of", "named", "names_on", "register"]


class _Communicator(Protocol):
    __weakref__: Any

    @property
    def closed(self) -> bool: ...
    @property
    def device(self) -> Device: ...
    @property
    def name(self) -> str: ...
    @property
    def rank(self) -> int: ...
    @property
    def world_size(self) -> int: ...


_lock = threading.Lock()
# Ranks that are threads of one process share the name and differ in the device.
_by_name: weakref.WeakValueDictionary[tuple[int, str], _Communicator]
_by_name = weakref.WeakValueDictionary()
_default: weakref.WeakValueDictionary[int, _Communicator] = weakref.WeakValueDictionary()


def register(communicator: _Communicator, *, may_be_default: bool) -> None:
    """Note a new communicator; the first one on a device becomes that device's default."""
    index = communicator.device.index
    with _lock:
        _by_name[index, communicator.name] = communicator
        current = _default.get(index)
        if may_be_default and (current is None or current.closed):
            _default[index] = communicator


def first_of(device: int) -> _Communicator | None:
    """Return the default communicator of a device, or None; it may be closed."""
    with _lock:
        return _default.get(device)


def named(device: int, name: str) -> _Communicator | None:
    """Return the communicator with this name on a device, or None; it may be closed."""
    with _lock:
        return _by_name.get((device, name))


def names_on(device: int) -> list[str]:
    """Return the sorted names of the communicators on a device."""
    with _lock:
        return sorted(name for at, name in _by_name if at == device)


def _member(device: int, name: str) -> Member | None:
    found = named(device, name)
    return None if found is None or found.closed else Member(found.rank, found.world_size)


tell(_member)
