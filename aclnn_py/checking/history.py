# SPDX-License-Identifier: Apache-2.0
"""Who made and who destroyed what, as Python stacks."""

from __future__ import annotations

import threading
import traceback
import weakref
from bisect import bisect_right, insort
from collections import OrderedDict

from aclnn_py._ffi.source_lines import calling_stack
from aclnn_py.runtime.handle import Handle

__all__ = ["History", "Life", "stack_text"]

# Destroyed objects and freed pieces of memory that are remembered.
_KEPT = 4096
_KEPT_MEMORY = 512


def stack_text(stack: traceback.StackSummary | None) -> str:
    """Return a stack as text, the innermost frame last."""
    if stack is None:
        return "before the checker was on, or in C"
    return "".join(stack.format()).rstrip() or "outside of Python"


class Life:
    """The history of one C object or piece of memory."""

    __slots__ = ("address", "destroyed", "kind", "made", "members", "nbytes", "reason")

    def __init__(self, kind: str, address: int, nbytes: int = 0) -> None:
        self.kind = kind
        self.address = address
        self.nbytes = nbytes
        self.made = calling_stack()
        self.destroyed: traceback.StackSummary | None = None
        self.reason = "destroyed"
        self.members: tuple[int, ...] = ()

    def meets(self, start: int, end: int) -> bool:
        """Whether it has a byte of [start, end)."""
        return self.address < end and start < self.address + self.nbytes

    def stacks(self) -> list[tuple[str, str]]:
        """What is known so far, in order of time."""
        known = [(f"{self.kind} made", stack_text(self.made))]
        if self.destroyed is not None:
            known.append((self.reason, stack_text(self.destroyed)))
        return known


class History:
    """All lives of this process, by address.

    The system reuses addresses, so an address is dead only until something new is made there.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._alive: dict[int, Life] = {}
        self._dead: OrderedDict[int, Life] = OrderedDict()
        self._freed: OrderedDict[int, Life] = OrderedDict()
        self._starts: list[int] = []
        self._handles: weakref.WeakKeyDictionary[Handle, list[traceback.StackSummary]] = (
            weakref.WeakKeyDictionary()
        )

    # C objects and memory.

    def born(self, life: Life) -> None:
        """Note that something was made."""
        with self._lock:
            self._dead.pop(life.address, None)
            end = life.address + life.nbytes
            for old in [o for o in self._freed.values() if o.meets(life.address, end)]:
                del self._freed[old.address]
            if life.address not in self._alive:
                insort(self._starts, life.address)
            self._alive[life.address] = life

    def ended(self, address: int, reason: str = "destroyed") -> Life | None:
        """Note that something was destroyed; None when nobody saw it made."""
        with self._lock:
            life = self._alive.pop(address, None)
            if life is None:
                return None
            self._starts.pop(bisect_right(self._starts, address) - 1)
            life.destroyed = calling_stack()
            life.reason = f"{life.kind} {reason}"
            dead = self._freed if life.nbytes else self._dead
            dead[address] = life
            while len(dead) > (_KEPT_MEMORY if life.nbytes else _KEPT):
                dead.popitem(last=False)
            for member in life.members:
                self.ended(member, f"{reason}, with the list it was in")
            return life

    def alive(self, address: int) -> Life | None:
        """Return what lives at an address."""
        return self._alive.get(address)

    def dead(self, address: int) -> Life | None:
        """Return what ended at an address, unless something lives there now."""
        with self._lock:
            if self._around(address):
                return None
            return self._dead.get(address) or self._freed.get(address)

    def block(self, address: int) -> Life | None:
        """Return the live piece of memory around an address."""
        with self._lock:
            life = self._around(address)
            return life if life is not None and life.nbytes else None

    def freed_block(self, address: int) -> Life | None:
        """Return the freed piece of memory an address lies in, unless a live one is there now."""
        with self._lock:
            if self._around(address):
                return None
            last_first = reversed(self._freed.values())
            return next((o for o in last_first if o.meets(address, address + 1)), None)

    def _around(self, address: int) -> Life | None:
        at = bisect_right(self._starts, address) - 1
        if at < 0:
            return None
        life = self._alive[self._starts[at]]
        return life if address < life.address + max(life.nbytes, 1) else None

    # Python's own objects.

    def handle_made(self, handle: Handle) -> None:
        """Note where a handle was made."""
        self._handles[handle] = [calling_stack()]

    def handle_closed(self, handle: Handle) -> None:
        """Note where a handle was closed."""
        self._handles.setdefault(handle, []).append(calling_stack())

    def handle_stacks(self, handle: Handle) -> list[tuple[str, str]]:
        """What is known of a handle, in order of time."""
        kind = type(handle).__name__
        names = (f"{kind} made", f"{kind} closed")
        return [
            (name, stack_text(stack))
            for name, stack in zip(names, self._handles.get(handle, ()), strict=False)
        ]
