# SPDX-License-Identifier: Apache-2.0
"""Pieces of memory: allocated, used by streams, and freed when none of them needs them any more.

One rule keeps memory alive long enough. Every piece of work that is queued on a stream leaves a
mark (stream, sequence number) on the buffers it touches. A buffer whose marks the device has not
passed yet is not freed when it is released, but handed to the stream, which frees it when it knows
better.
"""

from __future__ import annotations

import gc
import operator
import weakref

from aclnn_py import guard
from aclnn_py._ffi import C, ffi
from aclnn_py.device import Device
from aclnn_py.errors import OutOfMemoryError, StatusError
from aclnn_py.handle import Handle
from aclnn_py.pending import pending_streams
from aclnn_py.status import check_acl

__all__ = ["Block", "Memory", "allocate", "byte_count"]


class Block:
    """The part of a buffer that its finalizer needs."""

    __slots__ = ("address", "device", "owner", "routine", "use", "views")

    def __init__(
        self, address: int, device: Device, routine: str = "", owner: object = None
    ) -> None:
        self.address = address
        self.device = device
        self.routine = routine
        self.owner = owner
        self.views: list[weakref.ref[object]] = []
        self.use = ffi.new("ap_use *")
        self.use.device = device.index

    def release(self) -> None:
        """Free the memory, or leave that to the stream that still uses it."""
        pending = pending_streams(self.use)
        if pending:
            state, sequence = pending[0]
            # It is asked again then: another stream may be behind.
            state.defer(sequence, self.release)
            return
        views = [view for view in (ref() for ref in self.views) if view is not None]
        if views:
            # Arrays over pinned memory outlive the buffer that was closed. Those that live to the
            # end of the process keep it: an exit handler may still read them.
            weakref.finalize(views[0], self.release).atexit = False
            return
        if self.address and self.routine:
            with self.device.as_active():
                status = getattr(C, self.routine)(ffi.cast("void *", self.address))
                check_acl(status, self.routine, device=self.device.index)


def _destroy(block: Block) -> None:
    block.use.closed = 1
    block.release()


def byte_count(value: object, argument: str) -> int:
    if isinstance(value, bool):
        raise TypeError(f"{argument}: expected an int, got bool")
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{argument}: expected an int, got {type(value).__name__}") from None
    if number < 0:
        raise ValueError(f"{argument}: must not be negative, got {number}")
    return number


def _reclaim(device: Device) -> None:
    """Free what is only waiting for the collector or for a stream."""
    gc.collect()
    if guard.device_waits_are_safe(device):
        device.synchronize()


def _shortage(routine: str, nbytes: int, device: Device, hint: str) -> str:
    if routine == "aclrtMallocHost":
        # What is free on the device says nothing about this.
        return f"{nbytes} bytes of pinned host memory were asked for. Release other HostBuffers."
    info = device.memory_info()
    return f"{nbytes} bytes were asked for; {info.free} of {info.total} are free. {hint}"


def allocate(routine: str, nbytes: int, device: Device, *policy: int) -> int:
    if nbytes == 0:
        return 0  # the C functions refuse 0, and an empty tensor has no address
    out = ffi.new("void **")
    function = getattr(C, routine)
    with device.as_active():
        try:
            check_acl(function(out, nbytes, *policy), routine, device=device.index)
        except OutOfMemoryError:
            _reclaim(device)
            try:
                check_acl(function(out, nbytes, *policy), routine, device=device.index)
            except StatusError as error:
                error.hint = _shortage(routine, nbytes, device, error.hint)
                raise error from None
    return int(ffi.cast("uintptr_t", out[0]))


class Memory(Handle):
    """What device and host buffers have in common."""

    __slots__ = ("_block", "_nbytes")

    def _adopt(self, block: Block, nbytes: int, *owners: object) -> None:
        self._block = block
        self._nbytes = nbytes
        Handle.__init__(self, block, _destroy, *owners)

    @property
    def raw(self) -> int:
        """The address as a number; 0 when there are no bytes."""
        block: Block = super().raw
        return block.address

    @property
    def address(self) -> int:
        """The address as a number; 0 when there are no bytes."""
        return self.raw

    @property
    def nbytes(self) -> int:
        """The length in bytes."""
        return self._nbytes

    @property
    def device(self) -> Device:
        """The device the memory belongs to, or was pinned for."""
        return self._block.device

    def settle(self, timeout_s: float | None = None) -> None:
        """Wait for the streams that still have work on this memory.

        Parameters
        ----------
        timeout_s : float, optional
            For each stream, in seconds; forever by default.
        """
        _ = self.raw
        for state, _sequence in pending_streams(self._block.use):
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
        state = "closed" if self.closed else hex(self._block.address)
        return f"<{type(self).__name__} {state}, {self._nbytes} bytes, {self.device!r}>"
