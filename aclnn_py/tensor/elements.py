# SPDX-License-Identifier: Apache-2.0
"""Elements, ``t[0]`` of a vector: views that NumPy has as numbers of their own.

What is written into the tensor afterwards does not change a number. So a view of an element is
noted by its memory; before an expression writes there, the view gets memory of its own
(``array/elements.py``). Reading elements costs no copy this way.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

from aclnn_py.memory.buffer import Buffer

__all__ = ["ELEMENTS", "Elements", "is_element", "note"]


class Elements:
    """The elements of one piece of memory that are in use, by their identity."""

    __slots__ = ("known", "memory")

    def __init__(self, memory: Buffer) -> None:
        here = id(memory)
        self.memory = ref(memory, lambda _: ELEMENTS.pop(here, None))
        self.known: dict[int, tuple[ref[Any], object]] = {}


ELEMENTS: dict[int, Elements] = {}  # by the memory


def note(tensor: Any, kept: object = None) -> None:
    """Note an element; ``kept`` lives as long as it does."""
    memory = tensor.buffer
    elements = ELEMENTS.get(id(memory))
    if elements is None:
        elements = ELEMENTS.setdefault(id(memory), Elements(memory))
    known, key = elements.known, id(tensor)
    known[key] = ref(tensor, lambda _: known.pop(key, None)), kept


def is_element(tensor: Any) -> bool:
    """Whether a tensor is an element, and so a number to NumPy."""
    elements = ELEMENTS.get(id(tensor.buffer))
    return elements is not None and id(tensor) in elements.known
