# SPDX-License-Identifier: Apache-2.0
"""Devices, and which of them is current on a thread."""

from __future__ import annotations

import operator
import os
import threading
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from aclnn_py import late
from aclnn_py._ffi import C, ffi, lib
from aclnn_py.errors import StatusError
from aclnn_py.runtime import capture_rules, initialization
from aclnn_py.runtime.current import thread
from aclnn_py.runtime.status import check_acl, error_of, recent_message
from aclnn_py.runtime.stream_state import note_done, queued_on, raise_of_wait
from aclnn_py.runtime.waiting import wait

if TYPE_CHECKING:
    from aclnn_py.runtime.stream import Stream

__all__ = ["Device", "MemoryInfo", "device_count"]

_STREAM_SYNC_TIMEOUT = 507046
_HBM = 1


class MemoryInfo(NamedTuple):
    """Device memory in bytes."""

    free: int
    total: int


_devices: dict[int, Device] = {}
_devices_lock = threading.RLock()
_default_index = 0


def _renew_lock() -> None:
    global _devices_lock
    _devices_lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)


def device_count() -> int:
    """Return how many devices this process can see.

    Source
    ------
    aclrtGetDeviceCount (``include/acl/acl_rt.h``).
    """
    initialization.ensure()
    out = ffi.new("uint32_t *")
    check_acl(C.aclrtGetDeviceCount(out), "aclrtGetDeviceCount")
    return int(out[0])


class Device:
    """One device, by its index among the devices this process can see.

    Naming a device costs nothing; it is opened at its first use. There is one object per index. In
    a ``with`` block the device is current on this thread; after it the previous one is again.

    Parameters
    ----------
    index : int
        0 for the first device.

    Raises
    ------
    TypeError
        The index is not an int.
    ValueError
        The index is negative.
    """

    __slots__ = ("_context", "_default_stream", "_index")

    _index: int
    _context: Any
    _default_stream: Stream | None

    def __new__(cls, index: int = 0) -> Device:
        if isinstance(index, bool):
            raise TypeError("index: expected an int, got bool")
        try:
            number = operator.index(index)
        except TypeError:
            raise TypeError(f"index: expected an int, got {type(index).__name__}") from None
        if number < 0:
            raise ValueError(f"index: must not be negative, got {number}")
        with _devices_lock:
            found = _devices.get(number)
            if found is None:
                found = _devices[number] = super().__new__(cls)
                found._index = number
                found._context = None
                found._default_stream = None
            return found

    @property
    def index(self) -> int:
        """The index among the devices this process can see."""
        return self._index

    @property
    def name(self) -> str:
        """The name of the chip, for example ``"Ascend910B1"``."""
        return soc_name()

    @property
    def is_current(self) -> bool:
        """Whether the device is current on this thread."""
        return Device.current() is self

    @classmethod
    def current(cls) -> Device:
        """Return the device that is current on this thread.

        That is the one of the innermost ``with`` block or of ``use()`` in this thread; else the one
        another library made current here; else the one the main thread chose with ``use()``; else
        device 0.
        """
        chosen: Any = thread.device
        return chosen or _first_choice()

    def use(self) -> Device:
        """Make the device current on this thread until another one is.

        Called on the main thread it also becomes the choice of threads that have not chosen
        themselves.

        Returns
        -------
        Device
            This one.
        """
        global _default_index
        self.activate()
        thread.set(self, None)
        if threading.current_thread() is threading.main_thread():
            _default_index = self._index
        return self

    def activate(self) -> None:
        """Point the C library at this device on this thread, opening the device at its first use.

        Every C call that depends on the current device comes after one of these. It does not change
        what ``Device.current()`` returns.

        Source
        ------
        aclrtSetDevice, aclrtSetCurrentContext (``include/acl/acl_rt.h``).
        """
        if thread.active is not self or self._context is None:
            self._bind()
        else:
            initialization.ensure()

    def _bind(self) -> None:
        current = initialization.ensure()
        Device.current()  # notes what another library chose here, before it is replaced
        with _devices_lock:
            if self._context is None:
                check_acl(C.aclrtSetDevice(self._index), "aclrtSetDevice", device=self._index)
                current.adopt_device(self._index)
                out = ffi.new("aclrtContext *")
                check_acl(C.aclrtGetCurrentContext(out), "aclrtGetCurrentContext")
                self._context = out[0]
            else:
                # aclrtSetDevice is counted; the context is shared by all threads of the device.
                check_acl(
                    C.aclrtSetCurrentContext(self._context),
                    "aclrtSetCurrentContext",
                    device=self._index,
                )
        thread.active = self
        lib.ap_set_active_device(self._index)

    @property
    def default_stream(self) -> Stream:
        """The stream of calls that name none. It is never closed before exit."""
        found = self._default_stream
        if found is None:
            self.activate()
            with _devices_lock:
                if self._default_stream is None:
                    self._default_stream = late.stream.DefaultStream(self)
                found = self._default_stream
        return found

    def create_stream(self) -> Stream:
        """Return a new stream of this device."""
        made: Stream = late.stream.Stream(self)
        return made

    def synchronize(self, timeout_s: float | None = None) -> None:
        """Wait until all work of all streams of this device is done.

        Parameters
        ----------
        timeout_s : float, optional
            In seconds; forever by default.

        Raises
        ------
        DeviceTimeoutError
            The work was not done in time.
        DeviceError
            Work failed on the device.

        Source
        ------
        aclrtSynchronizeDeviceWithTimeout, aclrtSynchronizeDevice (``include/acl/acl_rt.h``).
        """
        capture_rules.before_device_wait("Device.synchronize", self)
        work = queued_on(self)
        try:
            with self.as_active():
                if C.has("aclrtSynchronizeDeviceWithTimeout"):
                    wait(
                        C.aclrtSynchronizeDeviceWithTimeout,
                        _STREAM_SYNC_TIMEOUT,
                        "aclrtSynchronizeDeviceWithTimeout",
                        timeout_s=timeout_s,
                        device=self._index,
                    )
                else:
                    status = C.aclrtSynchronizeDevice()
                    check_acl(status, "aclrtSynchronizeDevice", device=self._index)
        except StatusError as error:
            raise_of_wait(error, work)
        note_done(work)

    def memory_info(self) -> MemoryInfo:
        """Return the free and the whole memory of the device, in bytes.

        Source
        ------
        aclrtGetMemInfo (``include/acl/acl_rt.h``).
        """
        free, total = ffi.new("size_t *"), ffi.new("size_t *")
        with self.as_active():
            check_acl(C.aclrtGetMemInfo(_HBM, free, total), "aclrtGetMemInfo", device=self._index)
        return MemoryInfo(int(free[0]), int(total[0]))

    def can_access_peer(self, peer: Device) -> bool:
        """Whether this device can reach the memory of another one.

        Source
        ------
        aclrtDeviceCanAccessPeer (``include/acl/acl_rt.h``).
        """
        out = ffi.new("int32_t *")
        initialization.ensure()
        status = C.aclrtDeviceCanAccessPeer(out, self._index, peer._index)
        check_acl(status, "aclrtDeviceCanAccessPeer", device=self._index)
        return bool(out[0])

    def enable_peer_access(self, peer: Device) -> None:
        """Let this device reach the memory of another one; one direction only.

        Source
        ------
        aclrtDeviceEnablePeerAccess (``include/acl/acl_rt.h``).
        """
        with self.as_active():
            status = C.aclrtDeviceEnablePeerAccess(peer._index, 0)
            check_acl(status, "aclrtDeviceEnablePeerAccess", device=self._index)

    def as_active(self) -> AbstractContextManager[None]:
        """Return a ``with`` block for a few C calls; the thread is as before after it.

        A release may run inside the garbage collector, between any two steps of this thread, so it
        must not leave another device active.
        """
        if thread.active is self:
            return _UNCHANGED  # in a forked child the C functions refuse themselves
        return _Active(self)

    def __enter__(self) -> Device:
        Device.current()  # settles what the block goes back to
        self.activate()
        thread.push(self, None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # The C library is pointed back by the next call that needs it: opening a device nobody uses
        # is slow.
        thread.pop()

    def __repr__(self) -> str:
        return f"Device({self._index})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Device, (self._index,)


class _Active:
    """The block of ``Device.as_active``. A generator would cost more than the C call inside."""

    __slots__ = ("_before", "_device")

    def __init__(self, device: Device) -> None:
        self._device = device

    def __enter__(self) -> None:
        self._before = thread.active
        self._device.activate()

    def __exit__(self, *_: object) -> None:
        before = self._before
        if before is not None and before is not self._device:
            before.activate()


class _Unchanged:
    """The block of a device that is active already: there is nothing to bring back."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


_UNCHANGED = _Unchanged()


def _first_choice() -> Device:
    initialization.ensure()
    out = ffi.new("int32_t *")
    if C.aclrtGetDevice(out) == 0:
        index = int(out[0])
    else:
        recent_message()  # no device here yet: that is no error
        index = _default_index
    thread.device = found = Device(index)
    return found


def resolve(device: object, argument: str = "device") -> Device:
    """Return the device an argument names: ``None`` is the current one.

    Raises
    ------
    TypeError
        The value is neither a Device, an int nor None.
    """
    if device is None:
        return cast("Device | None", thread.device) or _first_choice()
    if isinstance(device, Device):
        return device
    if isinstance(device, int) and not isinstance(device, bool):
        return Device(device)
    raise TypeError(f"{argument}: expected a Device, an int or None, got {type(device).__name__}")


def soc_name() -> str:
    """Return the name of the chip, for example ``"Ascend910B1"``.

    Source
    ------
    aclrtGetSocName (``include/acl/acl_rt.h``).
    """
    initialization.ensure()
    text = C.aclrtGetSocName()
    if text == ffi.NULL:
        raise error_of("acl", 507008, "aclrtGetSocName")
    return ffi.string(text).decode()  # type: ignore[no-any-return]
