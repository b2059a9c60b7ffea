# SPDX-License-Identifier: Apache-2.0
"""Pieces of memory: allocated, used by streams, and freed when none of them needs them any more.

One rule keeps memory alive long enough. Every piece of work that is queued on a stream leaves a
mark (stream, sequence number) on the buffers it touches. A buffer whose marks the device has not
passed yet is not freed when it is released, but handed to the stream, which frees it when it knows
better.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Sequence
from typing import ClassVar

from aclnn_py._ffi import ffi, lib
from aclnn_py.runtime.device import Device
from aclnn_py.runtime.handle import Handle
from aclnn_py.runtime.stream_state import pending_streams, unchecked_streams

__all__ = ["Block", "Memory", "byte_count", "release_when_idle"]


class Block:
    """The part of a buffer that its finalizer needs; this class is for memory of somebody else."""

    __slots__ = ("address", "device", "owner", "use", "views")

    # Whether the memory is ours to free.
    owned: ClassVar[bool] = False

    def __init__(self, address: int, device: Device, owner: object = None) -> None:
        self.address = address
        self.device = device
        self.owner = owner
        self.views: Sequence[weakref.ref[object]] = ()
        self.use = ffi.new("ap_use *")
        self.use.device = device.index

    def release(self) -> None:
        """Free the memory, or leave that to those that still use it."""
        self.use.closed = 1
        if self.views:
            views = [view for view in (ref() for ref in self.views) if view is not None]
            if views:
                # Arrays over pinned memory outlive the buffer that was closed. Those that live to
                # the end of the process keep it: an exit handler may still read them.
                weakref.finalize(views[0], self.release).atexit = False
                return
        self.free()

    def free(self) -> None:
        """Let go of the owner once no stream works on the memory."""
        release_when_idle(self)


def release_when_idle(block: Block) -> bool:
    """Whether no stream works on a block; else its ``free`` is called again when one is done."""
    pending = pending_streams(block.use)
    if pending:
        state, sequence = pending[0]
        state.defer(sequence, block.free)
    return not pending


def byte_count(value: object, argument: str) -> int:
    if type(value) is int and value >= 0:
        return value
    if isinstance(value, bool):
        raise TypeError(f"{argument}: expected an int, got bool")
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{argument}: expected an int, got {type(value).__name__}") from None
    if number < 0:
        raise ValueError(f"{argument}: must not be negative, got {number}")
    return number


class Memory(Handle):
    """What device and host buffers have in common."""

    __slots__ = {
        "_nbytes": None,
        "block": "The piece of memory that the finalizer frees; for modules of this package.",
        "device": "The device the memory belongs to, or was pinned for.",
    }

    block: Block
    device: Device
    _nbytes: int

    def _adopt(self, block: Block, nbytes: int, *owners: object) -> None:
        self.block = block
        self.device = block.device
        self._nbytes = nbytes
        Handle.__init__(self, block, type(block).release, *owners)

    @property
    def raw(self) -> int:
        """The address as a number; 0 when there are no bytes."""
        _ = super().raw
        return self.block.address

    @property
    def address(self) -> int:
        """The address as a number; 0 when there are no bytes."""
        return self.raw

    @property
    def nbytes(self) -> int:
        """The length in bytes."""
        return self._nbytes

    def settle(self, timeout_s: float | None = None) -> None:
        """Wait for the streams with work on this memory, unless that is known to have gone well.

        Parameters
        ----------
        timeout_s : float, optional
            For each stream, in seconds; forever by default.
        """
        _ = self.raw
        lib.ap_learn_other()
        for state in unchecked_streams(self.block.use):
            state.synchronize(timeout_s)

    def _slice(self, offset: object, nbytes: object, argument: str) -> tuple[int, int]:
        start = byte_count(offset, "offset")
        length = self._nbytes - start if nbytes is None else byte_count(nbytes, argument)
        if start + length > self._nbytes or length < 0:
            raise ValueError(
                f"{argument}: {length} bytes at offset {start} do not fit in {self._nbytes} bytes"
            )
        return self.raw + start, length

    def __repr__(self) -> str:
        state = "closed" if self.closed else hex(self.block.address)
        return f"<{type(self).__name__} {state}, {self._nbytes} bytes, {self.device!r}>"
