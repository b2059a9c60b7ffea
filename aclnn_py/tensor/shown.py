# SPDX-License-Identifier: Apache-2.0
"""Which memory shows the elements of other memory backwards; ``array/backwards`` keeps them equal.

A copy of a copy is noted as one of the first memory. Elements that only one copy shows are not kept
for it: nobody can see that they differ.
"""

from __future__ import annotations

from weakref import ref

from aclnn_py.memory.buffer import Buffer
from aclnn_py.tensor.layout import Layout
from aclnn_py.tensor.views import View, contiguous_strides

__all__ = ["COPIES", "SHOWN", "Shown", "numpys_view"]


class Shown:
    """The elements that a copy shows, forwards, and the dimensions in which it runs backwards.

    Parameters
    ----------
    copy : Buffer
        The memory of the copy, which is row-major.
    memory : Buffer
        The memory of the elements.
    layout : Layout
        How they lie there.
    offset : int
        Where, in elements.
    axes : frozenset of int
    """

    __slots__ = ("axes", "copy", "layout", "memory", "offset")

    def __init__(
        self, copy: Buffer, memory: Buffer, layout: Layout, offset: int, axes: frozenset[int]
    ) -> None:
        self.axes, self.layout, self.offset = axes, layout, offset
        here = id(copy)
        copies = COPIES.get(id(memory)) or COPIES.setdefault(id(memory), Copies(memory))

        def forget(_: object) -> None:
            SHOWN.pop(here, None)
            copies.known.pop(here, None)
            if len(copies.known) < 2:
                copies.kept = None

        self.copy, self.memory = ref(copy, forget), copies.memory
        SHOWN[here] = copies.known[here] = self
        if len(copies.known) > 1:
            copies.kept = memory


class Copies:
    """The copies of the elements in one piece of memory, by the memory of the copy."""

    __slots__ = ("kept", "known", "memory")

    def __init__(self, memory: Buffer) -> None:
        here = id(memory)
        self.memory = ref(memory, lambda _: COPIES.pop(here, None))
        self.known: dict[int, Shown] = {}
        self.kept: Buffer | None = None  # several copies show each other through it


SHOWN: dict[int, Shown] = {}  # by the memory of the copy
COPIES: dict[int, Copies] = {}  # by the memory of the elements


def numpys_view(shown: Shown, view: View) -> View:
    """What a view of a copy is to NumPy: a view of the elements, with strides below zero."""
    layout = shown.layout
    whole = contiguous_strides(layout.shape)
    signed = [-step if i in shown.axes else step for i, step in enumerate(layout.strides)]
    ends = (step * (length - 1) for step, length in zip(layout.strides, layout.shape, strict=True))
    first = shown.offset + sum(end for i, end in enumerate(ends) if i in shown.axes)

    def there(distance: int) -> int:
        total = 0
        for step, stride in zip(whole, signed, strict=True):
            total += distance // step * stride
            distance %= step
        return total

    return View(view.shape, tuple(there(step) for step in view.strides), first + there(view.offset))
