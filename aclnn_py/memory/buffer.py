# SPDX-License-Identifier: Apache-2.0
"""Device memory and pinned host memory, and copies between them and the host."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NoReturn

from aclnn_py._ffi import C, ffi, held, lib
from aclnn_py.errors import ClosedError, DeviceMismatchError, StatusError
from aclnn_py.memory.allocator import (
    PooledBlock,
    device_allocator,
    give_back_now,
    pinned_allocator,
)
from aclnn_py.memory.block import Block, Memory, byte_count
from aclnn_py.runtime import capture_rules
from aclnn_py.runtime.device import Device, MemoryInfo, resolve
from aclnn_py.runtime.handle import Handle
from aclnn_py.runtime.status import check_acl, error_of
from aclnn_py.runtime.stream import Stream, mark, order, resolve_stream
from aclnn_py.runtime.stream_state import queued_on, raise_of_wait

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "Buffer",
    "HostBuffer",
    "buffer_for_host",
    "give_back_held",
    "memory_info",
    "raise_of_read",
]

_new = object.__new__
_own = Handle.__init__
_HOST_TO_DEVICE = 1
_DEVICE_TO_HOST = 2
_DEVICE_TO_DEVICE = 3
_CALLS = {_HOST_TO_DEVICE: "write", _DEVICE_TO_HOST: "read", _DEVICE_TO_DEVICE: "copy_from"}


class Buffer(Memory):
    """A piece of device memory.

    Made by ``allocate`` (owns the memory), ``wrap`` (keeps the owner alive) or ``from_address``
    (neither).
    """

    __slots__ = ()

    # The memory of a new tensor, which held.c wraps, gets these when somebody asks.
    def _made_block(self) -> Block:
        self.block = block = PooledBlock(self.device, _use_in(self._raw))
        block.address = int(ffi.cast("uintptr_t", block.use.whole.address))
        return block

    def _made_nbytes(self) -> int:
        self._nbytes = nbytes = int(self.block.use.nbytes)
        return nbytes

    block: Block = held.lazy_slot(vars(Memory)["block"], _made_block)
    _nbytes: int = held.lazy_slot(vars(Memory)["_nbytes"], _made_nbytes)

    def __init__(self) -> None:
        raise TypeError("use Buffer.allocate, Buffer.wrap or Buffer.from_address")

    @classmethod
    def allocate(
        cls,
        nbytes: int,
        *,
        device: Device | int | None = None,
        stream: Stream | None = None,
    ) -> Buffer:
        """Allocate device memory; its content is undefined.

        It may be memory that was released while ``stream`` still had work on it. That stream needs
        no wait, because it executes in order. Work of other streams and copies by the host wait for
        it by themselves; if you pass the address on, order that code after ``stream`` yourself.

        Parameters
        ----------
        nbytes : int
            Length in bytes; 0 gives a buffer without an address.
        device : Device or int, optional
            Default: the current device of this thread, or the device of ``stream``.
        stream : Stream, optional
            Who uses the memory first. Default: the current stream of this thread.

        Raises
        ------
        OutOfMemoryError
            There is not enough, also after everything unreachable was released and every stream of
            the device was waited for.
        DeviceMismatchError
            ``stream`` is of another device.

        Source
        ------
        aclrtMalloc, aclrtFree (``include/acl/acl_rt.h``).
        """
        length = byte_count(nbytes, "nbytes")
        if stream is None:
            return cls._of(device_allocator(resolve(device)).block(length), length)
        queue = resolve_stream(stream)
        where = queue.device if device is None else resolve(device)
        if where is not queue.device:
            raise DeviceMismatchError(f"stream: {queue!r} is not of {where!r}")
        return cls._of(device_allocator(where).block(length, queue), length)

    @classmethod
    def wrap(
        cls, address: int, nbytes: int, *, owner: object, device: Device | int | None = None
    ) -> Buffer:
        """Use device memory that another object owns, for example a pyACL pointer.

        Parameters
        ----------
        address : int
            Where the memory starts.
        nbytes : int
            Length in bytes.
        owner : object
            Kept alive until this buffer is released and the device is done with it.
        device : Device or int, optional
            Default: the current device of this thread.
        """
        if owner is None:
            raise ValueError("owner: must not be None; use from_address for memory without one")
        block = Block(byte_count(address, "address"), resolve(device), owner=owner)
        return cls._of(block, byte_count(nbytes, "nbytes"))

    @classmethod
    def from_address(
        cls, address: int, nbytes: int, *, device: Device | int | None = None
    ) -> Buffer:
        """Use device memory at an address; the caller keeps it valid as long as it is used.

        Parameters
        ----------
        address : int
            Where the memory starts.
        nbytes : int
            Length in bytes.
        device : Device or int, optional
            Default: the current device of this thread.
        """
        block = Block(byte_count(address, "address"), resolve(device))
        return cls._of(block, byte_count(nbytes, "nbytes"))

    @classmethod
    def _of(cls, block: Block, nbytes: int) -> Buffer:
        buffer = _new(cls)
        buffer.block = block
        buffer.device = block.device
        buffer._nbytes = nbytes
        _own(buffer, block, type(block).release)
        return buffer

    def write(self, data: Any, *, offset: int = 0, stream: Stream | None = None) -> None:
        """Copy host bytes into the buffer.

        Parameters
        ----------
        data : bytes-like or HostBuffer
            Contiguous; the copy is as long as this.
        offset : int, default 0
            Where in the buffer, in bytes.
        stream : Stream, optional
            Queue the copy there and return; ``data`` is kept alive and must not change until it is
            done. Without it the call waits for work on this buffer, copies and returns.

        Source
        ------
        aclrtMemcpy, aclrtMemcpyAsync (``include/acl/acl_rt.h``).
        """
        pointer, available, keep, memory = _host_bytes(data, "data", writable=False)
        target, length = self._slice(offset, available, "data")
        _copy(target, pointer, length, _HOST_TO_DEVICE, (self, memory), stream, keep)

    def read(
        self,
        target: Any = None,
        *,
        offset: int = 0,
        nbytes: int | None = None,
        stream: Stream | None = None,
    ) -> Any:
        """Copy bytes of the buffer to the host.

        Parameters
        ----------
        target : writable bytes-like or HostBuffer, optional
            Where they go; by default a new ``bytearray``.
        offset : int, default 0
            Where in the buffer, in bytes.
        nbytes : int, optional
            How many; by default the length of ``target``, or the rest of the buffer.
        stream : Stream, optional
            Queue the copy there and return; ``target`` is kept alive and valid only after the
            stream was synchronized. Without it the call waits.

        Returns
        -------
        bytearray or the target

        Source
        ------
        aclrtMemcpy, aclrtMemcpyAsync (``include/acl/acl_rt.h``).
        """
        if target is None:
            target = bytearray(self._slice(offset, nbytes, "nbytes")[1])
        pointer, room, keep, memory = _host_bytes(target, "target", writable=True)
        source, length = self._slice(offset, room if nbytes is None else nbytes, "nbytes")
        if length > room:
            raise ValueError(f"target: {room} bytes cannot take {length}")
        _copy(pointer, source, length, _DEVICE_TO_HOST, (self, memory), stream, keep)
        return target

    def copy_from(
        self,
        source: Buffer,
        *,
        offset: int = 0,
        source_offset: int = 0,
        nbytes: int | None = None,
        stream: Stream | None = None,
    ) -> None:
        """Copy from device memory, of this or another device.

        Parameters
        ----------
        source : Buffer
        offset, source_offset : int, default 0
            Where in this buffer and in the source, in bytes.
        nbytes : int, optional
            How many; by default the rest of the source.
        stream : Stream, optional
            Queue the copy there and return. Without it the call waits.

        Source
        ------
        aclrtMemcpy, aclrtMemcpyAsync (``include/acl/acl_rt.h``).
        """
        if not isinstance(source, Buffer):
            raise TypeError(f"source: expected a Buffer, got {type(source).__name__}")
        origin, length = source._slice(source_offset, nbytes, "nbytes")
        target, length = self._slice(offset, length, "nbytes")
        _copy(target, origin, length, _DEVICE_TO_DEVICE, (self, source), stream, None)

    def fill(self, value: int, *, stream: Stream | None = None) -> None:
        """Set every byte.

        Parameters
        ----------
        value : int
            0 to 255.
        stream : Stream, optional
            Queue it there and return. Without it the call waits.

        Source
        ------
        aclrtMemset, aclrtMemsetAsync (``include/acl/acl_rt.h``).
        """
        byte = byte_count(value, "value")
        if byte > 255:
            raise ValueError(f"value: must be a byte, got {byte}")
        if self._nbytes == 0:
            return
        pointer = ffi.cast("void *", self.raw)
        if stream is None:
            capture_rules.before_copy(
                "Buffer.fill", "Pass stream=, or fill before or after the capture."
            )
            self.settle()
            with self.device.as_active():
                status = C.aclrtMemset(pointer, self._nbytes, byte, self._nbytes)
                check_acl(status, "aclrtMemset", device=self.device.index)
            return
        where = _stream_for(stream, self)
        capture_rules.before_queue("Buffer.fill", where)
        order(where, [self.block.use])
        with where.device.as_active():
            status = C.aclrtMemsetAsync(pointer, self._nbytes, byte, self._nbytes, where.raw)
            check_acl(status, "aclrtMemsetAsync", device=self.device.index, stream=where.id)
        mark(where, [self.block.use])


def _use_in(memory: bytearray) -> Any:
    """The ap_use that held.c keeps in a bytearray; it keeps that alive."""
    return ffi.from_buffer("ap_use *", memory)


def give_back_held(memory: bytearray) -> None:
    """Give memory back on which streams may still work, by the bytearray of its ap_use."""
    give_back_now(_use_in(memory))


def buffer_for_host(nbytes: int, device: Device) -> Buffer:
    """Allocate device memory that the host writes first: no stream still works on it."""
    return Buffer._of(device_allocator(device).block(nbytes, for_host=True), nbytes)


class HostBuffer(Memory):
    """Pinned host memory, which the device reads and writes without a detour.

    ``numpy()`` gives an array over it.

    Parameters
    ----------
    nbytes : int
        Length in bytes.
    device : Device or int, optional
        Default: the current device of this thread.

    Source
    ------
    aclrtMallocHost, aclrtFreeHost (``include/acl/acl_rt.h``).
    """

    __slots__ = ()

    def __init__(self, nbytes: int, *, device: Device | int | None = None) -> None:
        length = byte_count(nbytes, "nbytes")
        self._adopt(pinned_allocator(resolve(device)).block(length, for_host=True), length)

    def numpy(self) -> npt.NDArray[np.uint8]:
        """Return the memory as an array of bytes; the memory lives as long as the array."""
        import numpy as np

        view = _View(self.raw, self._nbytes)
        alive = [ref for ref in self.block.views if ref() is not None]
        self.block.views = [*alive, weakref.ref(view)]
        return np.asarray(view)


class _View:
    """The base of an array over pinned memory."""

    __slots__ = ("__array_interface__", "__weakref__")

    def __init__(self, address: int, nbytes: int) -> None:
        self.__array_interface__ = {
            "version": 3,
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (address, False),
        }


_Host = tuple[int, int, object, HostBuffer | None]
"""Host memory for the length of a call: address, bytes, what holds the export of it open, and the
buffer if it is one."""


def _host_bytes(value: Any, argument: str, *, writable: bool) -> _Host:
    if isinstance(value, HostBuffer):
        return value.raw, value.nbytes, value, value
    try:
        view = memoryview(value)
    except TypeError:
        raise TypeError(
            f"{argument}: expected bytes, an array of bytes or a HostBuffer, "
            f"got {type(value).__name__}"
        ) from None
    if not view.c_contiguous:
        raise ValueError(f"{argument}: must be contiguous")
    if writable and view.readonly:
        raise ValueError(f"{argument}: must be writable")
    cell = ffi.from_buffer(view)
    return int(ffi.cast("uintptr_t", cell)), view.nbytes, cell, None


def _stream_for(stream: Stream, buffer: Memory) -> Stream:
    where = resolve_stream(stream)
    if isinstance(buffer, Buffer) and where.device is not buffer.device:
        raise DeviceMismatchError(
            f"stream: {where!r} is not of {buffer.device!r}, where the buffer is"
        )
    return where


def _copy_now(target: int, source: int, nbytes: int, kind: int, where: Device) -> None:
    with where.as_active():
        to, origin = ffi.cast("void *", target), ffi.cast("void *", source)
        status = C.aclrtMemcpy(to, nbytes, origin, nbytes, kind)
        if status:
            raise_of_wait(
                error_of("acl", status, "aclrtMemcpy", device=where.index), queued_on(where)
            )


def _copy(
    target: int,
    source: int,
    nbytes: int,
    kind: int,
    buffers: tuple[Memory | None, ...],
    stream: Stream | None,
    keep: object,
) -> None:
    if nbytes == 0:
        return
    used = [buffer for buffer in buffers if buffer is not None]
    call = f"Buffer.{_CALLS[kind]}"
    queued = False
    try:
        if stream is None:
            capture_rules.before_copy(call, "Pass stream=, or copy before or after the capture.")
            # aclrtMemcpy is not ordered after queued work.
            for buffer in used:
                buffer.settle()
            _copy_now(target, source, nbytes, kind, used[0].device)
            return
        queue = _stream_for(stream, used[0])
        capture_rules.before_queue(call, queue)
        if len(used) == 1:
            capture_rules.before_pageable_copy(call, queue)
        sequence = _queue_copy(queue, target, source, nbytes, kind, [b.block.use for b in used])
        queued = True
    finally:
        # An exception keeps the frames of this call, and the collector may end the process when it
        # takes an export and its memory apart.
        if not queued and isinstance(keep, ffi.CData):
            ffi.release(keep)
    if keep is not None:
        queue.state.defer(sequence, None, keep)


def _queue_copy(
    queue: Stream, target: int, source: int, nbytes: int, kind: int, uses: list[Any]
) -> int:
    """Queue a copy that leaves its mark on one or two pieces of memory; return its number."""
    state = queue.state
    one, other = uses if len(uses) == 2 else (uses[0], ffi.NULL)
    arguments = state.context, target, source, nbytes, kind, one, other
    sequence = int(lib.ap_copy(*arguments))
    while sequence < 0:
        if sequence == -lib.AP_GUARDED:
            order(queue, uses)
        elif sequence == -lib.AP_FAILED:
            _raise_of_copy(queue)
        with queue.device.as_active():
            sequence = int(lib.ap_copy(*arguments))
    if state.recorder is not None:
        state.recorder.note(uses)
    return sequence


def _raise_of_copy(queue: Stream) -> None:
    """Raise what refused a copy; return if the function only had to be found first."""
    failure = lib.ap_last_failure()
    if failure.phase == lib.AP_PHASE_ARGUMENT:  # since it was looked at, on another thread
        raise ClosedError(f"{queue!r} takes no work now: it was closed, or a capture records it")
    if failure.status == lib.AP_UNBOUND:
        _ = C.aclrtMemcpyAsync
        return
    raise _refused_copy(queue.device, queue.id)


def raise_of_read(where: Device) -> NoReturn:
    """Raise what refused a read of ``ap_read``."""
    raise_of_wait(_refused_copy(where, None), queued_on(where))


def _refused_copy(where: Device, stream: int | None) -> StatusError:
    """The failure that C kept of a copy."""
    failure = lib.ap_last_failure()
    return error_of(
        "acl",
        int(failure.status),
        ffi.string(failure.routine).decode(),
        detail=ffi.string(failure.message).decode("utf-8", "replace"),
        device=where.index,
        stream=stream,
    )


def memory_info(device: Device | int | None = None) -> MemoryInfo:
    """Return the free and the whole memory of a device, in bytes.

    Parameters
    ----------
    device : Device or int, optional
        Default: the current device of this thread.
    """
    return resolve(device).memory_info()
