# SPDX-License-Identifier: Apache-2.0
"""What allocators tell about themselves, and what they can be told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aclnn_py._ffi import lib
from aclnn_py.memory.allocator import Allocator, External, device_allocator, pinned_allocator
from aclnn_py.memory.block import byte_count
from aclnn_py.runtime.device import Device, resolve

__all__ = [
    "MemoryStats",
    "SizeClass",
    "memory_stats",
    "reset_peak_memory_stats",
    "set_allocator",
    "set_memory_limit",
    "trim_memory",
]


@dataclass(frozen=True, kw_only=True)
class SizeClass:
    """Blocks whose sizes, as they were asked for, are within one power of two.

    Attributes
    ----------
    live, live_nbytes : int
        Blocks in use now, and the bytes that were asked for them.
    total : int
        Blocks handed out so far.
    """

    live: int
    live_nbytes: int
    total: int


@dataclass(frozen=True, kw_only=True)
class MemoryStats:
    """What this process holds of one kind of memory of one device; sizes in bytes.

    Attributes
    ----------
    requested_nbytes : int
        What the blocks in use were asked for.
    allocated_nbytes, allocated_peak_nbytes : int
        What the blocks in use take, with CANN's rounding; now, and at most since the last
        ``reset_peak_memory_stats``.
    reserved_nbytes, reserved_peak_nbytes : int
        What the device gave and has not got back.
    largest_free_nbytes : int
        The largest block that is reserved and free.
    limit_nbytes : int or None
        What ``set_memory_limit`` allows.
    blocks, segments : int
        Blocks in use, and pieces the caching allocator has from the device.
    hits, misses : int
        Allocations served from what was reserved, and those for which the device was asked.
    raw_allocations, raw_frees : int
        How often the device, or a function given to ``set_allocator``, was asked for memory and got
        it back.
    by_size : dict
        Upper end of a size class in bytes, a power of two, to its ``SizeClass``; only classes that
        were used.
    """

    requested_nbytes: int
    allocated_nbytes: int
    allocated_peak_nbytes: int
    reserved_nbytes: int
    reserved_peak_nbytes: int
    largest_free_nbytes: int
    limit_nbytes: int | None
    blocks: int
    segments: int
    hits: int
    misses: int
    raw_allocations: int
    raw_frees: int
    by_size: dict[int, SizeClass]

    @property
    def free_nbytes(self) -> int:
        """Bytes that are reserved and not in use."""
        return self.reserved_nbytes - self.allocated_nbytes

    @property
    def fragmentation(self) -> float:
        """How much of the free memory is outside its largest block: 0 none, towards 1 all."""
        free = self.free_nbytes
        return 1.0 - self.largest_free_nbytes / free if free else 0.0


def memory_stats(device: Device | int | None = None, *, pinned: bool = False) -> MemoryStats:
    """Return what this process holds of a device's memory.

    Parameters
    ----------
    device : Device or int, optional
        Default: the current device of this thread.
    pinned : bool, default False
        Ask for the pinned host memory instead.

    Returns
    -------
    MemoryStats
        A snapshot. Memory that other code of the process got from CANN is not in it: see
        ``memory_info`` for the whole device.
    """
    stats = _allocator(device, pinned).statistics()
    by_size = {
        1 << power: SizeClass(
            live=int(size.live), live_nbytes=int(size.live_nbytes), total=int(size.total)
        )
        for power, size in enumerate(stats.classes)
        if size.total
    }
    names = [name for name in MemoryStats.__dataclass_fields__ if hasattr(stats, name)]
    numbers = {name: int(getattr(stats, name)) for name in names}
    limit = numbers.pop("limit_nbytes") or None
    return MemoryStats(**numbers, limit_nbytes=limit, by_size=by_size)


def reset_peak_memory_stats(device: Device | int | None = None, *, pinned: bool = False) -> None:
    """Let the peaks of ``memory_stats`` start again from what is held now.

    Parameters
    ----------
    device : Device or int, optional
        Default: the current device of this thread.
    pinned : bool, default False
        Those of the pinned host memory instead.
    """
    lib.ap_pool_reset_peaks(_allocator(device, pinned).pool)


def trim_memory(device: Device | int | None = None, *, pinned: bool = False) -> int:
    """Give the device back what is reserved, not in use, and not worked on by any stream.

    It does not wait: ``synchronize()`` before it lets more be given back.

    Parameters
    ----------
    device : Device or int, optional
        Default: the current device of this thread.
    pinned : bool, default False
        Give back pinned host memory instead.

    Returns
    -------
    int
        How many bytes.

    Source
    ------
    aclrtFree, aclrtFreeHost (``include/acl/acl_rt.h``).
    """
    return _allocator(device, pinned).trim()


def set_memory_limit(
    nbytes: int | None, device: Device | int | None = None, *, pinned: bool = False
) -> None:
    """Bound what this process reserves of a device's memory.

    An allocation that would need more first releases what nobody uses, waiting for streams if it
    has to, and then raises ``OutOfMemoryError``. What is reserved already stays.

    Parameters
    ----------
    nbytes : int or None
        In bytes, more than 0; ``None`` for no bound.
    device : Device or int, optional
        Default: the current device of this thread.
    pinned : bool, default False
        Bound the pinned host memory instead.
    """
    limit = 0 if nbytes is None else byte_count(nbytes, "nbytes")
    if nbytes is not None and limit == 0:
        raise ValueError("nbytes: must be more than 0; None takes the limit away")
    lib.ap_pool_limit(_allocator(device, pinned).pool, limit)


def set_allocator(
    allocate: Callable[[int, int], int] | None,
    free: Callable[[int, int, int], object] | None = None,
    *,
    device: Device | int | None = None,
) -> None:
    """Take device memory from functions of the caller from now on, for example another library's
    pool.

    Every block remembers which functions made it and goes back to those, once no stream works on it
    any more. That may happen on any thread and inside the garbage collector.

    Parameters
    ----------
    allocate : callable or None
        ``allocate(nbytes, device_index)`` returns an address: an int, not 0, a multiple of 64.
        ``nbytes`` has CANN's rounding in it already. ``None`` goes back to the allocator of this
        package.
    free : callable, optional
        ``free(address, nbytes, device_index)``, with the values of ``allocate``. An exception in it
        becomes a ``ReleaseWarning``.
    device : Device or int, optional
        Default: the current device of this thread.

    Raises
    ------
    TypeError
        One of the two is missing or cannot be called.

    Notes
    -----
    An exception in ``allocate``, or a result that is no address, makes the allocation raise
    ``AllocatorError``.
    """
    where = device_allocator(resolve(device))
    if allocate is None:
        if free is not None:
            raise TypeError("free: given without allocate")
        where.external = None
        where.lend()
        return
    if not callable(allocate):
        raise TypeError(f"allocate: expected a function, got {type(allocate).__name__}")
    if free is None or not callable(free):
        raise TypeError(f"free: expected a function, got {type(free).__name__}")
    where.external = External(allocate, free)
    where.lend()


def _allocator(device: Device | int | None, pinned: bool) -> Allocator:
    where = resolve(device)
    return pinned_allocator(where) if pinned else device_allocator(where)
