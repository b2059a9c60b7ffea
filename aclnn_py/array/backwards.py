# SPDX-License-Identifier: Apache-2.0
"""Slices that run backwards: copies that stay the same as the elements they show.

To NumPy ``t[::-1]`` and ``np.flip(t)`` are views. No view of the device runs backwards, so they are
copies here. What an expression, an assignment or ``out=`` writes into one of the two tensors is
written into the other one too. Of what ``ops`` and ``functional`` write in place nobody hears.

A copy does not keep the memory that it shows: when no other tensor is left there, nobody can see
that they differ.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from weakref import WeakKeyDictionary, WeakSet, ref

from aclnn_py import functional, ops
from aclnn_py._ffi import lib
from aclnn_py.array.parts import WIDE_UNSIGNED, as_bits
from aclnn_py.memory.buffer import Buffer
from aclnn_py.tensor.tensor import Tensor

__all__ = ["flipped", "written"]


class _Shown:
    """The elements that a copy shows, forwards, and the dimensions in which it runs backwards."""

    __slots__ = ("axes", "kept", "layout", "memory", "offset")

    def __init__(self, view: Tensor, axes: frozenset[int]) -> None:
        self.axes = axes
        self.layout, self.offset = view.layout, view.offset
        self.memory = ref(view.buffer)
        # Between this copy and other elements lies a copy that may be nobody's.
        self.kept = view.buffer if view.buffer in _shown else None

    def view(self) -> Tensor | None:
        """The elements forwards, as long as others see them."""
        memory, layout = self.memory(), self.layout
        if memory is None or memory.closed:
            return None
        return Tensor.wrap(
            memory, layout.shape, layout.dtype, strides=layout.strides, offset=self.offset
        )


_shown: WeakKeyDictionary[Buffer, _Shown] = WeakKeyDictionary()  # by the memory of the copy
_copies: WeakKeyDictionary[Buffer, WeakSet[Buffer]] = WeakKeyDictionary()
_changing = threading.RLock()


def flipped(view: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The elements of a view, backwards in some dimensions."""
    backwards = frozenset(axes)
    known = _shown.get(view.buffer)
    if known is not None and view.layout.contiguous and view.shape == known.layout.shape:
        whole = known.view()
        if whole is not None:  # backwards of backwards
            view, backwards = whole, backwards ^ known.axes
    if not backwards:
        return view[...]
    copy = _turned(view, backwards)
    lib.ap_learn_other()  # a recipe would know nothing of this
    with _changing:
        _shown[copy.buffer] = _Shown(view, backwards)
        _copies.setdefault(view.buffer, WeakSet()).add(copy.buffer)
    return copy


def written(tensor: Tensor) -> None:
    """Write what was written into a tensor into what shows the same elements too."""
    if _copies:
        _spread(tensor.buffer, None)


def _spread(memory: Buffer, source: Buffer | None) -> None:
    shown = _shown.get(memory)
    view = None if shown is None else shown.view()
    if shown is not None and view is not None and view.buffer is not source:
        ops.inplace_copy(view, _turned(_whole(memory, shown), shown.axes))
        _spread(view.buffer, memory)
    for copy, seen in _copies_of(memory):
        view = seen.view()
        if copy is not source and view is not None:
            ops.inplace_copy(_whole(copy, seen), _turned(view, seen.axes))
            _spread(copy, memory)


def _copies_of(memory: Buffer) -> Iterator[tuple[Buffer, _Shown]]:
    with _changing:
        found = tuple(_copies.get(memory, ()))
    return ((copy, _shown[copy]) for copy in found if not copy.closed)


def _turned(view: Tensor, axes: frozenset[int]) -> Tensor:
    if view.dtype_name in WIDE_UNSIGNED:
        return as_bits(view, lambda bits: functional.flip(bits, tuple(axes)))
    return functional.flip(view, tuple(axes))


def _whole(memory: Buffer, shown: _Shown) -> Tensor:
    return Tensor.wrap(memory, shown.layout.shape, shown.layout.dtype)
