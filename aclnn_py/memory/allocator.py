# SPDX-License-Identifier: Apache-2.0
"""Where device memory and pinned memory come from.

Blocks are cut from segments that the device gave, and go back to a pool instead of the device when
they are released. A block that a stream still works on may be taken again by the same stream at
once, since the stream executes in order; for everybody else it waits until the device has passed
that work. Nobody waits for that but an allocation that would fail otherwise.

``ACLNN_PY_ALLOCATOR`` chooses: ``caching`` is the above, ``direct`` asks the device for every block
and gives it back when it is done with. The default is ``caching``; with ``ACLNN_PY_CHECK`` on it is
``direct``, because the emulator guards the ends of what the device gave, not of blocks within.
"""

from __future__ import annotations

import gc
import os
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from aclnn_py._ffi import C, ffi, lib
from aclnn_py._ffi.settings import chosen, enabled
from aclnn_py.errors import (
    AclnnPyError,
    AllocatorError,
    OutOfMemoryError,
    ReleaseWarning,
    StatusError,
)
from aclnn_py.memory.block import Block, release_when_idle
from aclnn_py.runtime import capture_rules, initialization
from aclnn_py.runtime.current import thread
from aclnn_py.runtime.device import Device
from aclnn_py.runtime.roles import Capture
from aclnn_py.runtime.status import check_acl, error_of
from aclnn_py.runtime.stream import Stream, current_stream
from aclnn_py.runtime.stream_state import open_streams, pending_streams

__all__ = [
    "Allocator",
    "External",
    "PooledBlock",
    "device_allocator",
    "give_back",
    "give_back_now",
    "give_to",
    "opened",
    "pinned_allocator",
]

_HUGE_FIRST = 0
_NO_MEMORY = 207001
_MIB = 1 << 20
# Up to this size blocks share segments of 2 MiB; the C side separates the two kinds alike.
_SMALL_MOST = 1 * _MIB
_SMALL_SEGMENT = 2 * _MIB
# Blocks between the two sizes are taken from segments of the second one.
_MEDIUM_MOST = 10 * _MIB
_MEDIUM_SEGMENT = 20 * _MIB
_SHRINK_AT_ONCE = 64

# Allocations are frequent, and so much of their cost is finding these names.
_give = lib.ap_pool_give
_take_current = lib.ap_pool_take_current
_new = ffi.new
_USE = ffi.typeof("ap_use *")

AllocateFunction = Callable[[int, int], int]
FreeFunction = Callable[[int, int, int], object]


@dataclass(frozen=True)
class Raw:
    """The C functions behind a kind of memory."""

    allocate: str
    arguments: tuple[int, ...]
    free: str
    what: str

    def free_at(self, address: int, device: Device) -> None:
        """Give memory back to the device."""
        with device.as_active():
            status = getattr(C, self.free)(ffi.cast("void *", address))
            check_acl(status, self.free, device=device.index)


DEVICE_MEMORY = Raw("aclrtMalloc", (_HUGE_FIRST,), "aclrtFree", "device memory")
PINNED_MEMORY = Raw("aclrtMallocHost", (), "aclrtFreeHost", "pinned host memory")


class External:
    """Memory of functions that the user gave."""

    __slots__ = ("allocate", "free")

    def __init__(self, allocate: AllocateFunction, free: FreeFunction) -> None:
        self.allocate = allocate
        self.free = free


class PooledBlock(Block):
    """A block that goes back to its pool."""

    __slots__ = ()

    owned = True

    def __init__(self, device: Device, use: Any = None) -> None:
        # Allocations are frequent: nothing is set here that the pool fills in.
        self.address = 0
        self.device = device
        self.owner = None
        self.views = ()
        self.use = _new(_USE) if use is None else use

    def release(self) -> None:
        """Free the memory, or leave that to those that still use it."""
        if self.views:
            super().release()
        else:
            self.free()  # which also says that it is closed

    def free(self) -> None:
        """Give the block back, with the one stream that may still work on it."""
        give_back(self.use)


class CapturedBlock(PooledBlock):
    """A block that was allocated for captured work, and belongs to its graph."""

    __slots__ = ("capture",)

    capture: Capture

    def free(self) -> None:
        """Give the block to the rest of the capture; afterwards, when the graph has gone."""
        self.use.closed = 1
        if not self.capture.take_over(self.use):
            super().free()


def give_back(use: Any) -> None:
    """Give a block of a pool back, with the one stream that may still work on it."""
    code = _give(use)
    if code == lib.AP_BUSY:
        pending = pending_streams(use)
        if not pending:
            give_to(use, ffi.NULL, 0)
        elif len(pending) > 1 or pending[0][0].recorder is not None:
            # What a graph only refers to must not be used again for its temporaries.
            state, sequence = pending[0]
            state.defer(sequence, partial(give_back, use))
        else:
            state, sequence = pending[0]
            give_to(use, state.context, sequence)
    elif code:
        _require_books(code)


def give_back_now(use: Any) -> None:
    """Give a block back where an exception has nobody to catch it, as in a finalizer."""
    try:
        give_back(use)
    except Exception as error:
        warnings.warn(ReleaseWarning(f"Buffer was not released: {error}"), stacklevel=2)


def give_to(use: Any, context: Any, sequence: int) -> None:
    """Give back a block on which one stream works up to ``sequence``; null: none."""
    _require_books(lib.ap_pool_give_to(use, context, sequence))


def _require_books(code: int) -> None:
    if code == lib.AP_NO_HOST_MEMORY:
        raise OutOfMemoryError("no host memory for the books of the allocator")


class DirectBlock(Block):
    """A block that goes back to the device."""

    __slots__ = ("allocator", "nbytes")

    owned = True
    allocator: Allocator
    nbytes: int

    def free(self) -> None:
        """Give the memory back once no stream works on it."""
        if release_when_idle(self):
            self.allocator.raw.free_at(self.address, self.device)
            lib.ap_pool_uncount(self.allocator.pool, self.nbytes)


class ExternalBlock(Block):
    """A block that goes back to the functions of the user that made it."""

    __slots__ = ("allocator", "nbytes", "source")

    owned = True
    allocator: Allocator
    nbytes: int
    source: External

    def free(self) -> None:
        """Give the memory back once no stream works on it."""
        if release_when_idle(self):
            lib.ap_pool_uncount(self.allocator.pool, self.nbytes)
            self.source.free(self.address, self.nbytes, self.device.index)


class Allocator:
    """The memory of one kind on one device."""

    __slots__ = ("caching", "device", "external", "pool", "raw")

    def __init__(self, device: Device, raw: Raw) -> None:
        device.activate()
        self.device = device
        self.raw = raw
        self.caching = caching_wanted()
        self.external: External | None = None
        self.pool = lib.ap_pool_create(device.index)
        if self.pool == ffi.NULL:
            raise OutOfMemoryError("no host memory for the books of the allocator")
        self.lend()
        # The runtime is released last, when no stream works and no buffer is left.
        initialization.ensure().before_reset(self.trim)

    def lend(self) -> None:
        """Let new tensors take from the pool in C, unless functions of the user make the memory."""
        if self.raw is DEVICE_MEMORY:
            own = self.caching and self.external is None
            lib.ap_lend_pool(self.device.index, self.pool if own else ffi.NULL)

    def block(self, nbytes: int, stream: Stream | None = None, *, for_host: bool = False) -> Block:
        """Return a block of at least ``nbytes``.

        Parameters
        ----------
        nbytes : int
            0 gives a block without an address.
        stream : Stream, optional
            Who uses it first. Default: the current stream of this thread.
        for_host : bool, default False
            The host writes it first: no stream may still work on it.

        Raises
        ------
        OutOfMemoryError
            There is not enough, also after everything unreachable was released.
        AllocatorError
            The function the user gave failed.
        """
        if nbytes == 0:
            return Block(0, self.device)  # the C functions refuse 0
        if self.external is not None:
            return self._external_block(self.external, nbytes)
        if self.caching:
            return self._pooled_block(nbytes, stream, for_host)
        return self._direct_block(nbytes)

    def _pooled_block(self, nbytes: int, stream: Stream | None, for_host: bool) -> PooledBlock:
        if thread.capture is not None:
            return self._captured_block(thread.capture, nbytes, stream, for_host)
        pool, block = self.pool, PooledBlock(self.device)
        if stream is None and not for_host:
            address = _take_current(pool, nbytes, block.use)
        else:
            context = ffi.NULL if for_host or stream is None else stream.context
            address = lib.ap_pool_take(pool, nbytes, context, block.use)
        block.address = address or self._grow(nbytes, stream, for_host, block.use)
        return block

    def _captured_block(
        self, capture: Capture, nbytes: int, stream: Stream | None, for_host: bool
    ) -> PooledBlock:
        queue = current_stream() if stream is None else stream
        if for_host or queue.device is not self.device or not capture.lends(queue):
            # Whatever this is for, a replay must not write what somebody else still works on.
            block = PooledBlock(self.device)
            address = lib.ap_pool_take(self.pool, nbytes, ffi.NULL, block.use)
            block.address = address or self._grow(nbytes, None, True, block.use)
            return block
        kept = CapturedBlock(self.device)
        kept.capture = capture
        keeper = capture.keeper
        address = lib.ap_pool_take_captured(self.pool, nbytes, queue.context, keeper, kept.use)
        if not address:
            address = self._grow(nbytes, None, True, kept.use)
            lib.ap_pool_keep(kept.use, queue.context, keeper)
        kept.address = address
        return kept

    def _grow(self, nbytes: int, stream: Stream | None, for_host: bool, use: Any) -> int:
        """Take a block where the pool has none at hand."""
        if stream is None and not for_host:
            context = lib.ap_current_stream()
        else:
            context = ffi.NULL if for_host or stream is None else stream.context
        wanted, refusal = int(lib.ap_block_nbytes(nbytes)), ""
        for attempt in (self._look_at_streams, self._drain):
            attempt()
            address = int(lib.ap_pool_take(self.pool, nbytes, context, use))
            if address:
                return address
            for segment in _segments(wanted):
                address, refusal = self._ask(segment)
                if not address:
                    continue
                taken = int(lib.ap_pool_grow(self.pool, address, segment, nbytes, use))
                if taken:
                    return taken
                lib.ap_pool_unreserve(self.pool, segment)
                self.raw.free_at(address, self.device)
                raise OutOfMemoryError("no host memory for the books of the allocator")
        raise self._shortage(nbytes, wanted, refusal)

    def _direct_block(self, nbytes: int) -> DirectBlock:
        address, refusal = self._ask(nbytes)
        if not address:
            self._drain()
            address, refusal = self._ask(nbytes)
        if not address:
            raise self._shortage(nbytes, nbytes, refusal)
        block = DirectBlock(address, self.device)
        block.allocator = self
        block.nbytes = nbytes
        lib.ap_pool_count(self.pool, nbytes)
        return block

    def _external_block(self, source: External, nbytes: int) -> ExternalBlock:
        length = int(lib.ap_block_nbytes(nbytes))
        if not lib.ap_pool_reserve(self.pool, length):
            self._drain()
            if not lib.ap_pool_reserve(self.pool, length):
                raise self._shortage(nbytes, length, "")
        block = ExternalBlock(0, self.device)
        try:
            block.address = _checked(source.allocate(length, self.device.index))
        except BaseException as error:
            lib.ap_pool_unreserve(self.pool, length)
            if isinstance(error, AllocatorError) or not isinstance(error, Exception):
                raise
            kind = f"{type(error).__name__}: {error}"
            raise AllocatorError(
                f"allocate: the function given to set_allocator failed for {length} bytes on "
                f"{self.device!r}: {kind}"
            ) from error
        block.allocator = self
        block.nbytes = length
        block.source = source
        lib.ap_pool_count(self.pool, length)
        return block

    def _ask(self, nbytes: int) -> tuple[int, str]:
        """Ask the device for memory; 0 and the device's words when it or the limit has no more."""
        if not lib.ap_pool_reserve(self.pool, nbytes):
            return 0, ""
        out = ffi.new("void **")
        try:
            with self.device.as_active():
                status = getattr(C, self.raw.allocate)(out, nbytes, *self.raw.arguments)
                check_acl(status, self.raw.allocate, device=self.device.index)
        except OutOfMemoryError as error:
            lib.ap_pool_unreserve(self.pool, nbytes)
            return 0, error.detail if isinstance(error, StatusError) else ""
        except BaseException:
            lib.ap_pool_unreserve(self.pool, nbytes)
            raise
        return int(ffi.cast("uintptr_t", out[0])), ""

    def _look_at_streams(self) -> None:
        """Learn how far the streams are, without waiting."""
        for state in open_streams():
            if state.device is self.device:
                state.poll()

    def _drain(self) -> None:
        """Free what is only waiting for the collector or for a stream."""
        gc.collect()
        if capture_rules.device_waits_are_safe(self.device):
            self.device.synchronize()
        self.trim()

    def trim(self) -> int:
        """Give segments without blocks in use back to the device; return how many bytes."""
        before = self.statistics().reserved_nbytes
        cells = ffi.new("uint64_t[]", _SHRINK_AT_ONCE)
        while count := lib.ap_pool_shrink(self.pool, cells, _SHRINK_AT_ONCE):
            for index in range(count):
                self.raw.free_at(int(cells[index]), self.device)
        return int(before - self.statistics().reserved_nbytes)

    def statistics(self) -> Any:
        """Return the ap_pool_stats of now."""
        out = ffi.new("ap_pool_stats *")
        lib.ap_pool_read(self.pool, out)
        return out

    def _shortage(self, nbytes: int, wanted: int, refusal: str) -> AclnnPyError:
        stats = self.statistics()
        text = f"{nbytes} bytes of {self.raw.what} were asked for. "
        if self.raw is DEVICE_MEMORY:
            info = self.device.memory_info()
            text += f"{info.free} of {info.total} are free on the device. "
        text += (
            f"This process has {stats.allocated_nbytes} in {stats.blocks} blocks and reserved "
            f"{stats.reserved_nbytes}; its largest free block is {stats.largest_free_nbytes}. "
        )
        limit = int(stats.limit_nbytes)
        if limit and stats.reserved_nbytes + wanted > limit:
            return OutOfMemoryError(
                f"{text}The limit of {limit} forbids more: see set_memory_limit, or release buffers"
            )
        error = error_of(
            "acl", _NO_MEMORY, self.raw.allocate, detail=refusal, device=self.device.index
        )
        # Where nothing is held there is nothing to release; the library's words say what to do.
        error.hint = text + error.hint if stats.reserved_nbytes else text
        return error


def _segments(wanted: int) -> list[int]:
    """Return the sizes of segment to ask for, the best one first."""
    if wanted <= _SMALL_MOST:
        return [_SMALL_SEGMENT, wanted]
    if wanted <= _MEDIUM_MOST:
        return [_MEDIUM_SEGMENT, wanted]
    return [-(-wanted // _SMALL_SEGMENT) * _SMALL_SEGMENT, wanted]


def _checked(address: object) -> int:
    if isinstance(address, bool) or not isinstance(address, int):
        raise AllocatorError(
            f"allocate: the function given to set_allocator has to return an address as an int, "
            f"got {type(address).__name__}"
        )
    if address <= 0 or address % 64:
        raise AllocatorError(
            f"allocate: the function given to set_allocator returned {address:#x}; an address is "
            "not 0 and a multiple of 64"
        )
    return address


def caching_wanted() -> bool:
    """Whether ``ACLNN_PY_ALLOCATOR`` asks for the caching allocator."""
    usual, other = ("direct", "caching") if enabled("ACLNN_PY_CHECK") else ("caching", "direct")
    return chosen("ACLNN_PY_ALLOCATOR", usual, other) == "caching"


_device: dict[Device, Allocator] = {}
_pinned: dict[Device, Allocator] = {}
# Reentrant: the collector may run code of the user that allocates while one of the two is made.
_lock = threading.RLock()


def _note_fork() -> None:
    global _lock
    _lock = threading.RLock()
    # The next allocation opens the device, which says that it belongs to the parent.
    _device.clear()
    _pinned.clear()


os.register_at_fork(after_in_child=_note_fork)


def device_allocator(device: Device) -> Allocator:
    """Return the allocator of a device's memory."""
    return _device.get(device) or _make(_device, device, DEVICE_MEMORY)


def pinned_allocator(device: Device) -> Allocator:
    """Return the allocator of host memory pinned for a device."""
    return _pinned.get(device) or _make(_pinned, device, PINNED_MEMORY)


def _make(allocators: dict[Device, Allocator], device: Device, raw: Raw) -> Allocator:
    with _lock:
        found = allocators.get(device)
        if found is None:
            found = allocators[device] = Allocator(device, raw)
        return found


def opened() -> list[Allocator]:
    """Return the allocators that this process has used."""
    return [*_device.values(), *_pinned.values()]
