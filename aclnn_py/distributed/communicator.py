# SPDX-License-Identifier: Apache-2.0
"""The communicator: one rank's end of a group that exchanges data through HCCL."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from aclnn_py._ffi import C, device_kind, ffi
from aclnn_py.distributed import bringup, native
from aclnn_py.distributed.communicator_config import CommunicatorConfig
from aclnn_py.distributed.environment import RankEnvironment, detect_environment
from aclnn_py.distributed.registry import register
from aclnn_py.distributed.rendezvous.interface import Rendezvous
from aclnn_py.distributed.rendezvous.opening import open_rendezvous
from aclnn_py.errors import DeviceMismatchError, HcclError, StatusError
from aclnn_py.errors.ranks import RankEnvironmentError, RankLostError
from aclnn_py.runtime.device import Device, device_count
from aclnn_py.runtime.handle import Handle
from aclnn_py.runtime.status import check_hccl
from aclnn_py.runtime.stream import Stream, resolve_stream
from aclnn_py.runtime.waiting import milliseconds

__all__ = ["Communicator"]

_WATCH_S = 0.25
# The stream may fail before rank 0 has told the others which rank ended.
_NEWS_S = 2.0
_NEWS_PAUSE_S = 0.01
_STREAM_SYNC_TIMEOUT = 507046


class Communicator(Handle):
    """One rank's end of a group of ranks that exchange data.

    ``from_env``, ``from_root_info``, ``from_rank_table``, ``init_all`` and ``split`` create one. A
    rank is a process, or a thread of one process with its own device. All ranks call the same
    collectives in the same order. Closing it waits for the collectives it has queued.

    Source
    ------
    HcclComm (``include/hccl/hccl_types.h``), HcclCommDestroy (``include/hccl/hccl_comm.h``).
    """

    __slots__ = ("_device", "_name", "_rank", "_splits", "_world_size")

    _device: Device
    _name: str
    _rank: int
    _splits: int
    _world_size: int

    def __init__(self) -> None:
        raise TypeError(
            "use Communicator.from_env, from_root_info, from_rank_table, init_all or split"
        )

    @classmethod
    def _adopt(
        cls, raw: Any, device: Device, meeting: Rendezvous | None = None, *, is_global: bool = True
    ) -> Communicator:
        self = cls.__new__(cls)
        self._device = device
        self._splits = 0
        Handle.__init__(self, native.OpenComm(raw, device, meeting), native.destroy)
        self._rank, self._world_size, self._name = native.identity(raw, device)
        register(self, may_be_default=is_global)
        return self

    @classmethod
    def from_env(
        cls,
        *,
        device: Device | int | None = None,
        config: CommunicatorConfig | None = None,
        timeout_s: float = 120.0,
        environ: Mapping[str, str] | None = None,
    ) -> Communicator:
        """Join the job that the launcher describes; all ranks have to call it.

        Before they call HCCL the ranks meet and compare package versions, kinds of device and
        device numbers, so that an error can name a rank that is missing or different. The device
        becomes the current device of this thread.

        Parameters
        ----------
        device : Device or int, optional
            Device of this rank; default is the device whose index is the local rank.
        config : CommunicatorConfig, optional
            Options; the same on every rank.
        timeout_s : float, default 120
            Seconds to wait for the other ranks, in each of three steps.
        environ : Mapping[str, str], optional
            Variables to read; default is ``os.environ``. See ``detect_environment``.

        Returns
        -------
        Communicator
            It has all ranks. When a rank's process ends, ``check`` and ``synchronize`` name it.

        Raises
        ------
        RankEnvironmentError
            The environment does not describe a job.
        RendezvousTimeoutError
            Some ranks did not come; ``missing`` holds their numbers.
        RendezvousMismatchError
            The ranks differ; the message says where.
        HcclError
            HCCL refused the call.

        Source
        ------
        HcclGetRootInfo, HcclCommInitRootInfoConfig (``include/hccl/hccl_comm.h``).
        """
        place = detect_environment(os.environ if environ is None else environ)
        here = _device_of(place) if device is None else _as_device(device)
        meeting = open_rendezvous(place, timeout_s=timeout_s)
        try:
            here.use()
            facts = bringup.own_facts(here.index, device_kind())
            bringup.agree(meeting, facts, timeout_s=timeout_s)
            root = bringup.share_root_info(meeting, cls.root_info, timeout_s=timeout_s)
            raw = native.init_root_info(root, place.world_size, place.rank, here, config)
            return cls._adopt(raw, here, meeting)
        except BaseException:
            meeting.close()
            raise

    @staticmethod
    def root_info() -> bytes:
        """Create a root info on the current device; one rank does so and sends it to all others.

        Returns
        -------
        bytes
            4,108 bytes. All ranks have to call ``from_root_info`` within HCCL_CONNECT_TIMEOUT.

        Raises
        ------
        HcclError
            The device cannot be reached.

        Source
        ------
        HcclGetRootInfo (``include/hccl/hccl_comm.h``).
        """
        return native.root_info(Device.current())

    @classmethod
    def from_root_info(
        cls,
        root_info: bytes,
        world_size: int,
        rank: int,
        *,
        device: Device | int | None = None,
        config: CommunicatorConfig | None = None,
    ) -> Communicator:
        """Join a communicator whose root info one rank has created; all ranks have to call it.

        Parameters
        ----------
        root_info : bytes
            What ``root_info`` returned on one rank, 4,108 bytes.
        world_size : int
            Number of ranks.
        rank : int
            Number of this rank, ``0 <= rank < world_size``.
        device : Device or int, optional
            Device of this rank; default is the current one.
        config : CommunicatorConfig, optional
            Options; the same on every rank.

        Returns
        -------
        Communicator
            The call returns when all ranks have come.

        Raises
        ------
        HcclError
            HCCL refused an argument, or a rank did not come within HCCL_CONNECT_TIMEOUT.

        Source
        ------
        HcclCommInitRootInfoConfig, HcclCommInitRootInfo (``include/hccl/hccl_comm.h``).
        """
        here = Device.current() if device is None else _as_device(device)
        return cls._adopt(native.init_root_info(root_info, world_size, rank, here, config), here)

    @classmethod
    def from_rank_table(
        cls,
        path: str | os.PathLike[str],
        rank: int,
        *,
        device: Device | int | None = None,
        config: CommunicatorConfig | None = None,
    ) -> Communicator:
        """Join the communicator of a rank table file; all its ranks have to call it.

        Parameters
        ----------
        path : str or os.PathLike
            JSON file, the same on every rank.
        rank : int
            Number of this rank in the table.
        device : Device or int, optional
            Device of this rank; default is the current one.
        config : CommunicatorConfig, optional
            Options; the same on every rank.

        Returns
        -------
        Communicator
            The call returns when all ranks have come.

        Raises
        ------
        HcclError
            HCCL refused the table, or a rank did not come within HCCL_CONNECT_TIMEOUT.

        Source
        ------
        HcclCommInitClusterInfoConfig, HcclCommInitClusterInfo (``include/hccl/hccl_comm.h``).
        """
        here = Device.current() if device is None else _as_device(device)
        return cls._adopt(native.init_rank_table(os.fsencode(path), rank, here, config), here)

    @classmethod
    def init_all(cls, devices: int | Sequence[Device | int]) -> list[Communicator]:
        """Create communicators for several devices of this process, one for each thread.

        Parameters
        ----------
        devices : int or Sequence[Device | int]
            Number of devices, counted from device 0, or the devices: item ``r`` for rank ``r``.

        Returns
        -------
        list[Communicator]
            One per device. Use each in its own thread, with its device as current device.

        Raises
        ------
        HcclError
            A device appears twice or cannot be reached.

        Source
        ------
        HcclCommInitAll (``include/hccl/hccl_comm.h``).
        """
        wanted = range(devices) if isinstance(devices, int) else devices
        places = [_as_device(item) for item in wanted]
        if not places:
            raise ValueError("devices: expected at least one, got none")
        raws = native.init_all(places)
        return [cls._adopt(raw, place) for raw, place in zip(raws, places, strict=True)]

    def split(
        self, ranks: Sequence[int], *, config: CommunicatorConfig | None = None
    ) -> Communicator | None:
        """Create a communicator of some of the ranks; all ranks of this one have to call it.

        Parameters
        ----------
        ranks : Sequence[int]
            Members in ascending order; the same on every rank.
        config : CommunicatorConfig, optional
            Options of the new communicator.

        Returns
        -------
        Communicator or None
            None on ranks that are not members. The rank ``ranks[i]`` has rank ``i`` in it.

        Raises
        ------
        ValueError
            ``ranks`` is empty, not ascending or out of range.
        HcclError
            HCCL refused the call, for example because this one is itself the result of ``split``.

        Source
        ------
        HcclCreateSubCommConfig (``include/hccl/hccl_comm.h``).
        """
        members = [int(rank) for rank in ranks]
        if not members or members != sorted(set(members)):
            raise ValueError(f"ranks: expected ascending numbers without repeats, got {members}")
        if members[0] < 0 or members[-1] >= self._world_size:
            raise ValueError(f"ranks: {members} is not within 0..{self._world_size - 1}")
        raw = self.raw
        # All ranks make the same calls in the same order, so they count the same number.
        self._splits += 1
        child = native.create_sub(raw, self._device, self._rank, members, self._splits, config)
        if child is None:
            return None
        return type(self)._adopt(child, self._device, is_global=False)

    @property
    def raw(self) -> Any:
        """The HcclComm; raises ``ClosedError`` once closed."""
        state: native.OpenComm = super().raw
        return state.raw

    @property
    def rank(self) -> int:
        """Number of this rank, from 0."""
        return self._rank

    @property
    def world_size(self) -> int:
        """Number of ranks."""
        return self._world_size

    @property
    def name(self) -> str:
        """Name of the communicator, from HcclGetCommName; fused operators take it as ``group``."""
        return self._name

    @property
    def device(self) -> Device:
        """Device of this rank."""
        return self._device

    def stream(self, stream: Stream | None = None) -> Stream:
        """Return the stream on which a collective of this communicator is queued.

        Parameters
        ----------
        stream : Stream, optional
            A stream of this rank's device; default is the current one.

        Returns
        -------
        Stream
            Open. Closing the communicator waits for it.

        Raises
        ------
        DeviceMismatchError
            The stream belongs to another device.
        """
        state: native.OpenComm = super().raw
        if stream is None and Device.current() is not self._device:
            found = self._device.default_stream
        else:
            found = resolve_stream(stream)
        if found.device is not self._device:
            raise DeviceMismatchError(
                f"stream: belongs to device {found.device.index}, but rank {self._rank} of the"
                f" communicator is on device {self._device.index}"
            )
        state.streams.add(found)
        return found

    def barrier(self, *, stream: Stream | None = None, timeout_s: float | None = None) -> None:
        """Wait until every rank has reached the barrier and earlier work of this rank is done.

        Parameters
        ----------
        stream : Stream, optional
            Stream whose work is waited for; default is the current stream.
        timeout_s : float, optional
            Seconds to wait; default is HCCL's own limit, HCCL_EXEC_TIMEOUT.

        Raises
        ------
        RankLostError
            A rank of the job has ended.
        DeviceTimeoutError
            Some rank did not come in time.

        Source
        ------
        HcclBarrier (``include/hccl/hccl_comm.h``).
        """
        queue = self.stream(stream)
        with self._device.as_active():
            self._check(C.HcclBarrier(self.raw, queue.raw), "HcclBarrier")
        self.synchronize(queue, timeout_s=timeout_s)

    def synchronize(self, stream: Stream | None = None, *, timeout_s: float | None = None) -> None:
        """Wait for the work of a stream and watch the other ranks meanwhile.

        Unlike ``Stream.synchronize`` it notices when a rank has ended, and names it.

        Parameters
        ----------
        stream : Stream, optional
            Stream to wait for; default is the current stream.
        timeout_s : float, optional
            Seconds to wait; by default there is no limit.

        Raises
        ------
        RankLostError
            A rank of the job has ended; ``ranks`` holds its number.
        DeviceTimeoutError
            The work was not done in time.
        StatusError
            The work failed.

        Source
        ------
        aclrtSynchronizeStreamWithTimeout (``include/acl/acl_rt.h``), HcclGetCommAsyncError
        (``include/hccl/hccl_comm.h``).
        """
        queue = self.stream(stream)
        milliseconds(timeout_s)
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            left = _WATCH_S if deadline is None else deadline - time.monotonic()
            try:
                queue.synchronize(max(0.0, min(_WATCH_S, left)))
                return
            except StatusError as error:
                if error.status != _STREAM_SYNC_TIMEOUT:
                    self._raise_if_lost(error, patience_s=_NEWS_S)
                    raise
                self._watch(queue)
                if deadline is not None and left <= _WATCH_S:
                    raise

    def check(self) -> None:
        """Raise an error when HCCL reports a fault or a rank of the job has ended.

        It never waits.

        Raises
        ------
        RankLostError
            A rank of the job has ended. Only communicators that ``from_env`` made over TCP know it.
        HcclError
            HCCL reports a fault.

        Source
        ------
        HcclGetCommAsyncError (``include/hccl/hccl_comm.h``).
        """
        self._raise_if_lost(None, patience_s=0.0)
        out = ffi.new("HcclResult *")
        self._check(C.HcclGetCommAsyncError(self.raw, out), "HcclGetCommAsyncError")
        self._check(int(out[0]), "HcclGetCommAsyncError")

    def _watch(self, queue: Stream) -> None:
        try:
            self.check()
        except HcclError as fault:
            # HCCL's report has no details; the stream may still have them.
            try:
                queue.synchronize(_WATCH_S)
            except StatusError as error:
                if error.status != _STREAM_SYNC_TIMEOUT:
                    self._raise_if_lost(error, patience_s=_NEWS_S)
                    raise error from fault
            raise

    def _raise_if_lost(self, cause: BaseException | None, *, patience_s: float) -> None:
        state: native.OpenComm = super().raw
        if state.meeting is None:
            return
        give_up_at = time.monotonic() + patience_s
        while not (lost := state.meeting.lost_ranks()) and time.monotonic() < give_up_at:
            time.sleep(_NEWS_PAUSE_S)
        if lost:
            names = ", ".join(map(str, lost))
            raise RankLostError(
                f"rank {names} of communicator {self._name} ended while rank {self._rank} needed it"
                if len(lost) == 1
                else f"ranks {names} of communicator {self._name} ended while rank {self._rank}"
                " needed them",
                lost,
            ) from cause

    def _check(self, status: int, routine: str) -> None:
        check_hccl(status, routine, rank=self._rank, device=self._device.index)

    def __repr__(self) -> str:
        if self.closed:
            return f"<Communicator {self._name} closed>"
        return (
            f"<Communicator {self._name} rank {self._rank} of {self._world_size}"
            f" device {self._device.index}>"
        )


def _as_device(device: Device | int) -> Device:
    return device if isinstance(device, Device) else Device(device)


def _device_of(place: RankEnvironment) -> Device:
    count = device_count()
    number = place.rank % count if place.local_rank is None else place.local_rank
    if number < count:
        return Device(number)
    if count == 1:
        return Device(0)  # the launcher shows each process only its own device
    raise RankEnvironmentError(
        f"local rank {number} has no device: this process sees {count}. Start fewer ranks per host"
        " or pass device=."
    )
