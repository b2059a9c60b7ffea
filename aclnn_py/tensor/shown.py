# SPDX-License-Identifier: Apache-2.0
"""Which memory shows the elements of other memory backwards; ``array/backwards`` keeps them equal.

Nothing here keeps memory: what nobody else holds is forgotten.
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

    __slots__ = ("axes", "copy", "kept", "layout", "memory", "offset")

    def __init__(
        self, copy: Buffer, memory: Buffer, layout: Layout, offset: int, axes: frozenset[int]
    ) -> None:
        self.axes, self.layout, self.offset = axes, layout, offset
        here, there = id(copy), id(memory)
        # Other elements may lie behind a copy that is nobody's.
        self.kept = memory if there in SHOWN else None

        copies = COPIES.setdefault(there, Copies(memory))

        def forget(_: object) -> None:
            SHOWN.pop(here, None)
            copies.known.pop(here, None)

        self.copy, self.memory = ref(copy, forget), copies.memory
        SHOWN[here] = copies.known[here] = self


class Copies:
    """The copies of the elements in one piece of memory, by the memory of the copy."""

    __slots__ = ("known", "memory")

    def __init__(self, memory: Buffer) -> None:
        here = id(memory)
        self.memory = ref(memory, lambda _: COPIES.pop(here, None))
        self.known: dict[int, Shown] = {}


SHOWN: dict[int, Shown] = {}  # by the memory of the copy
COPIES: dict[int, Copies] = {}  # by the memory of the elements


def numpys_view(shown: Shown, view: View) -> View:
    """The strides that NumPy would have for a view of a copy: those of the elements it shows."""
    whole = contiguous_strides(shown.layout.shape)
    steps = []
    for step in view.strides:
        axis = next((i for i, stride in enumerate(whole) if step >= stride), None)
        if axis is None:  # a stride of 0
            steps.append(0)
            continue
        sign = -1 if axis in shown.axes else 1
        steps.append(sign * shown.layout.strides[axis] * (step // whole[axis]))
    return View(view.shape, tuple(steps), view.offset)
