# SPDX-License-Identifier: Apache-2.0
"""Slices that run backwards: copies that stay the same as the elements they show.

To NumPy ``t[::-1]`` and ``np.flip(t)`` are views. No view of the device runs backwards, so they are
copies here. What an expression, an assignment or ``out=`` writes into one of the two tensors is
written into the other one too. Of what ``ops`` and ``functional`` write in place nobody hears.

A copy does not keep the memory that it shows: when no other tensor is left there, nobody can see
that they differ.
"""

from __future__ import annotations

from aclnn_py import functional, ops
from aclnn_py._ffi import lib
from aclnn_py.array.elements import settle
from aclnn_py.array.parts import WIDE_UNSIGNED, as_bits
from aclnn_py.memory.buffer import Buffer
from aclnn_py.tensor.shown import COPIES, SHOWN, Shown
from aclnn_py.tensor.tensor import Tensor

__all__ = ["flipped", "written"]


def flipped(view: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The elements of a view, backwards in some dimensions."""
    backwards = frozenset(axes)
    known = SHOWN.get(id(view.buffer))
    if known is not None and view.layout.contiguous and view.shape == known.layout.shape:
        forwards = _view(known)
        if forwards is not None:  # backwards of backwards
            view, backwards = forwards, backwards ^ known.axes
    if not backwards:
        return view[...]
    copy = _turned(view, backwards)
    lib.ap_learn_other()  # a recipe would know nothing of this
    Shown(copy.buffer, view.buffer, view.layout, view.offset, backwards)
    return copy


def written(tensor: Tensor) -> None:
    """Write what was written into a tensor into what shows the same elements too."""
    if SHOWN:
        _spread(tensor.buffer, None)


def _spread(memory: Buffer, source: Buffer | None) -> None:
    shown = SHOWN.get(id(memory))
    view = None if shown is None else _view(shown)
    if shown is not None and view is not None and view.buffer is not source:
        settle(view.buffer)
        ops.inplace_copy(view, _turned(_whole(memory, shown), shown.axes))
        _spread(view.buffer, memory)
    copies = COPIES.get(id(memory))
    for known in () if copies is None else tuple(copies.known.values()):
        copy, view = known.copy(), _view(known)
        if copy is None or copy is source or copy.closed or view is None:
            continue
        settle(copy)
        ops.inplace_copy(_whole(copy, known), _turned(view, known.axes))
        _spread(copy, memory)


def _view(shown: Shown) -> Tensor | None:
    """The elements forwards, as long as others see them."""
    memory, layout = shown.memory(), shown.layout
    if memory is None or memory.closed:
        return None
    return Tensor.wrap(
        memory, layout.shape, layout.dtype, strides=layout.strides, offset=shown.offset
    )


def _whole(memory: Buffer, shown: Shown) -> Tensor:
    return Tensor.wrap(memory, shown.layout.shape, shown.layout.dtype)


def _turned(view: Tensor, axes: frozenset[int]) -> Tensor:
    if view.dtype_name in WIDE_UNSIGNED:
        return as_bits(view, lambda bits: functional.flip(bits, tuple(axes)))
    return functional.flip(view, tuple(axes))
