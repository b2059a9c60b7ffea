# SPDX-License-Identifier: Apache-2.0
"""Find the smallest shapes with which a recorded call still fails in the same way."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from aclnn_py.errors import AclnnPyError
from aclnn_py.operators.record.file import Memory, RecordedCall, RecordReader, RecordWriter, View
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.formats import format_of, is_blocked
from aclnn_py.tensor.layout import contiguous_layout
from aclnn_py.tools.records.replayer import operator_of, run_call

__all__ = ["Minimized", "minimized", "write_minimized"]

Data = Callable[[str, int], bytes]


@dataclass(frozen=True)
class Minimized:
    """A smaller call, and the function that returns its bytes."""

    call: RecordedCall
    data: Data


def minimized(call: RecordedCall, data: Data) -> Minimized:
    """Shrink the dimensions of a call while it fails with the same status at the same stage.

    Equal lengths in shapes and in arrays of integers are shrunk together, because they usually mean
    the same thing. A smaller tensor gets the first bytes of the larger one.

    Parameters
    ----------
    call : RecordedCall
    data : callable
        Returns stored bytes by name and length.

    Returns
    -------
    Minimized
        The call itself when nothing can be left out.

    Raises
    ------
    ValueError
        The call does not fail with the recorded status on this device.
    """
    whole = {memory.before: memory.nbytes for memory in call.memories if memory.before is not None}

    def part(name: str, nbytes: int) -> bytes:
        return data(name, whole[name])[:nbytes]

    first = run_call(call, part)
    if first.status == 0 or first.status != call.status:
        raise ValueError(
            f"{call.operator}: ends with {first.status} here and was recorded with {call.status}; "
            "only a failure that comes again can be minimized"
        )

    def fails(candidate: RecordedCall) -> bool:
        try:
            outcome = run_call(candidate, part)
        except (AclnnPyError, ValueError, OverflowError):
            return False  # it is no valid call any more
        return (outcome.status, outcome.stage) == (first.status, first.stage)

    best, shrunk = call, True
    while shrunk:
        shrunk = False
        for candidate in _smaller(best):
            if fails(candidate):
                best, shrunk = candidate, True
                break
    message = run_call(best, part).message
    cut = tuple(replace(memory, after=None) for memory in best.memories)
    return Minimized(replace(best, memories=cut, stage=first.stage, message=message), part)


def write_minimized(path: str | os.PathLike[str], source: RecordReader, found: Minimized) -> None:
    """Write a record with this one call."""
    with RecordWriter(path, dict(source.about)) as writer:
        memories = tuple(
            Memory(memory.nbytes, writer.keep(found.data(memory.before, memory.nbytes)))
            if memory.before is not None
            else Memory(memory.nbytes)
            for memory in found.call.memories
        )
        writer.add(replace(found.call, memories=memories))


def _smaller(call: RecordedCall) -> Iterator[RecordedCall]:
    """Yield calls with one smaller length, large steps first, then without gaps and offsets."""
    lengths = sorted({dim for view in call.views for dim in view.shape if dim > 1}, reverse=True)
    for length in lengths:
        for target in dict.fromkeys([1, 2, length // 2, length - 1]):
            if 0 < target < length:
                yield _with_views(
                    call,
                    tuple(_resized(view, length, target) for view in call.views),
                    _renamed(call, length, target),
                )
    for index, view in enumerate(call.views):
        plain = _plain(view)
        if plain is not None:
            views = (*call.views[:index], plain, *call.views[index + 1 :])
            yield _with_views(call, views, call.arguments)


def _resized(view: View, length: int, target: int) -> View:
    if length not in view.shape:
        return view
    shape = tuple(target if dim == length else dim for dim in view.shape)
    dtype, format = dtype_of(view.dtype), format_of(view.format)
    before = contiguous_layout(view.shape, dtype, format)
    if view.strides == before.strides and view.offset == 0:
        fresh = contiguous_layout(shape, dtype, format)
        return replace(view, shape=shape, strides=fresh.strides, storage_shape=fresh.storage_shape)
    if is_blocked(format):
        return view  # the storage of a blocked matrix cannot be cut
    return _with_storage(replace(view, shape=shape))


def _plain(view: View) -> View | None:
    format = format_of(view.format)
    fresh = contiguous_layout(view.shape, dtype_of(view.dtype), format)
    if view.strides == fresh.strides and view.offset == 0:
        return None
    return replace(view, offset=0, strides=fresh.strides, storage_shape=fresh.storage_shape)


def _with_storage(view: View) -> View:
    last = sum((dim - 1) * step for dim, step in zip(view.shape, view.strides, strict=True))
    return replace(view, storage_shape=(view.offset + last + 1,))


def _renamed(call: RecordedCall, length: int, target: int) -> tuple[Any, ...]:
    """Return the arguments with a length replaced in arrays of integers, which may be shapes."""
    kinds = [parameter.kind for parameter in operator_of(call).parameters]
    return tuple(
        [target if item == length else item for item in argument]
        if kind == "I" and argument is not None
        else argument
        for kind, argument in zip(kinds, call.arguments, strict=True)
    )


def _with_views(
    call: RecordedCall, views: tuple[View, ...], arguments: tuple[Any, ...]
) -> RecordedCall:
    memories = tuple(
        replace(memory, nbytes=min(memory.nbytes, needed)) if memory.nbytes >= needed else memory
        for index, memory in enumerate(call.memories)
        for needed in [max((v.nbytes for v in views if v.memory == index), default=0)]
    )
    return replace(call, views=views, memories=memories, arguments=arguments)
