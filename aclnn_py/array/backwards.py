# SPDX-License-Identifier: Apache-2.0
"""Slices that run backwards: copies that stay the same as the elements they show.

To NumPy ``t[::-1]`` and ``np.flip(t)`` are views. No view of the device runs backwards, so they are
copies here. What an expression, an assignment or ``out=`` writes into one of the two tensors is
written into the other one too. Of what ``ops`` and ``functional`` write in place nobody hears.

A copy of a copy shows the same elements as the first one does.
"""

from __future__ import annotations

from aclnn_py import functional, ops
from aclnn_py._ffi import lib
from aclnn_py.array.elements import settle
from aclnn_py.array.parts import WIDE_UNSIGNED, as_bits
from aclnn_py.memory.buffer import Buffer
from aclnn_py.tensor.shown import COPIES, SHOWN, Shown, numpys_view
from aclnn_py.tensor.tensor import Tensor
from aclnn_py.tensor.views import View

__all__ = ["flipped", "written"]


def flipped(view: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The elements of a view, backwards in some dimensions."""
    forwards, backwards = _forwards(view)
    backwards = backwards ^ frozenset(axes)
    if not backwards:
        return forwards[...]
    copy = _turned(forwards, backwards)
    lib.ap_learn_other()  # a recipe would know nothing of this
    Shown(copy.buffer, forwards.buffer, forwards.layout, forwards.offset, backwards)
    return copy


def _forwards(view: Tensor) -> tuple[Tensor, frozenset[int]]:
    """The view of elements that a view of a copy shows, and where it runs backwards."""
    shown = SHOWN.get(id(view.buffer))
    memory = None if shown is None else shown.memory()
    if shown is None or memory is None or memory.closed or not view.count:
        return view, frozenset()
    shape, steps, first = numpys_view(shown, View(view.shape, view.strides, view.offset))
    backwards = frozenset(i for i, step in enumerate(steps) if step < 0)
    first += sum(steps[i] * (shape[i] - 1) for i in backwards)
    strides = tuple(abs(step) for step in steps)
    kind = view.layout.dtype
    return Tensor.wrap(memory, shape, kind, strides=strides, offset=first), backwards


def written(tensor: Tensor) -> None:
    """Write what was written into a tensor into what shows the same elements too."""
    if SHOWN:
        _spread(tensor.buffer)


def _spread(memory: Buffer) -> None:
    shown = SHOWN.get(id(memory))
    view = None if shown is None else _view(shown)
    if shown is not None and view is not None:
        settle(view.buffer)
        ops.inplace_copy(view, _turned(_whole(memory, shown), shown.axes))
        first = view.buffer
    else:
        first = memory
    copies = COPIES.get(id(first))
    for known in () if copies is None else tuple(copies.known.values()):
        copy, view = known.copy(), _view(known)
        if copy is None or copy is memory or copy.closed or view is None:
            continue
        settle(copy)
        ops.inplace_copy(_whole(copy, known), _turned(view, known.axes))


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
