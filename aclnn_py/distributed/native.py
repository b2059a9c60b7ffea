# SPDX-License-Identifier: Apache-2.0
"""The C calls that open, describe and destroy an HcclComm."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from aclnn_py._ffi import C, ffi
from aclnn_py.distributed.bringup import ROOT_INFO_NBYTES
from aclnn_py.distributed.communicator_config import CommunicatorConfig, fill
from aclnn_py.distributed.rendezvous.interface import Rendezvous
from aclnn_py.errors import AclnnPyError
from aclnn_py.runtime.device import Device
from aclnn_py.runtime.status import check_hccl
from aclnn_py.runtime.stream import Stream

__all__ = [
    "OpenComm",
    "create_sub",
    "destroy",
    "identity",
    "init_all",
    "init_rank_table",
    "init_root_info",
    "root_info",
]

_NAME_NBYTES = 128
_NOT_A_MEMBER = 0xFFFFFFFF
_CLOSE_TIMEOUT_S = 10.0


class OpenComm:
    """What has to live until HCCL has destroyed the communicator, longer than the Python object."""

    def __init__(self, raw: Any, device: Device, meeting: Rendezvous | None) -> None:
        self.raw = raw
        self.device = device
        self.meeting = meeting
        self.streams: weakref.WeakSet[Stream] = weakref.WeakSet()


def destroy(opened: OpenComm) -> None:
    """Wait for queued collectives, destroy the communicator, leave; raise the first failure."""
    failure: AclnnPyError | None = None
    for stream in list(opened.streams):
        if not stream.closed:
            try:
                stream.synchronize(_CLOSE_TIMEOUT_S)
            except AclnnPyError as error:
                failure = failure or error
    try:
        with opened.device.as_active():
            status = C.HcclCommDestroy(opened.raw)
            check_hccl(status, "HcclCommDestroy", device=opened.device.index)
    except AclnnPyError as error:
        failure = failure or error
    finally:
        if opened.meeting is not None:
            opened.meeting.close()
    if failure is not None:
        raise failure


def identity(raw: Any, device: Device) -> tuple[int, int, str]:
    """Return rank, world size and name of a communicator."""
    rank, size = ffi.new("uint32_t *"), ffi.new("uint32_t *")
    name = ffi.new("char[]", _NAME_NBYTES)
    check_hccl(C.HcclGetRankId(raw, rank), "HcclGetRankId", device=device.index)
    check_hccl(C.HcclGetRankSize(raw, size), "HcclGetRankSize", device=device.index)
    check_hccl(C.HcclGetCommName(raw, name), "HcclGetCommName", device=device.index)
    return int(rank[0]), int(size[0]), ffi.string(name, _NAME_NBYTES).decode()


def root_info(device: Device) -> bytes:
    """Create a root info on a device and return its 4,108 bytes."""
    out = ffi.new("HcclRootInfo *")
    with device.as_active():
        check_hccl(C.HcclGetRootInfo(out), "HcclGetRootInfo", device=device.index)
    return bytes(ffi.buffer(out))


def init_root_info(
    data: bytes, world_size: int, rank: int, device: Device, config: CommunicatorConfig | None
) -> Any:
    """Wait for all ranks and return the HcclComm of this one."""
    if len(data) != ROOT_INFO_NBYTES:
        raise ValueError(f"root_info: expected {ROOT_INFO_NBYTES} bytes, got {len(data)}")
    root = ffi.new("HcclRootInfo *")
    ffi.buffer(root)[:] = data
    out = ffi.new("HcclComm *")
    with device.as_active():
        if config is None:
            status = C.HcclCommInitRootInfo(world_size, root, rank, out)
            routine = "HcclCommInitRootInfo"
        else:
            status = C.HcclCommInitRootInfoConfig(world_size, root, rank, fill(config), out)
            routine = "HcclCommInitRootInfoConfig"
        check_hccl(status, routine, rank=rank, device=device.index)
    return out[0]


def init_rank_table(
    path: bytes, rank: int, device: Device, config: CommunicatorConfig | None
) -> Any:
    """Wait for all ranks of a rank table and return the HcclComm of this one."""
    out = ffi.new("HcclComm *")
    with device.as_active():
        if config is None:
            status = C.HcclCommInitClusterInfo(path, rank, out)
            routine = "HcclCommInitClusterInfo"
        else:
            status = C.HcclCommInitClusterInfoConfig(path, rank, fill(config), out)
            routine = "HcclCommInitClusterInfoConfig"
        check_hccl(status, routine, rank=rank, device=device.index)
    return out[0]


def init_all(devices: Sequence[Device]) -> list[Any]:
    """Return one HcclComm per device, in order."""
    numbers = ffi.new("int32_t[]", [device.index for device in devices])
    out = ffi.new("HcclComm[]", len(devices))
    for device in devices:
        device.activate()  # opens it; HCCL itself takes numbers only
    with devices[0].as_active():
        check_hccl(C.HcclCommInitAll(len(devices), numbers, out), "HcclCommInitAll")
    return list(out)


def create_sub(
    raw: Any,
    device: Device,
    rank: int,
    members: list[int],
    number: int,
    config: CommunicatorConfig | None,
) -> Any:
    """Return the HcclComm of some ranks of ``raw``, or None when this rank is not among them."""
    parent, out = ffi.new("HcclComm *", raw), ffi.new("HcclComm *")
    options = fill(config or CommunicatorConfig())
    member = rank in members
    with device.as_active():
        status = C.HcclCreateSubCommConfig(
            parent,
            len(members) if member else 0,
            ffi.new("uint32_t[]", members) if member else ffi.NULL,
            number if member else _NOT_A_MEMBER,
            members.index(rank) if member else 0,
            options,
            out,
        )
        check_hccl(status, "HcclCreateSubCommConfig", rank=rank, device=device.index)
    return out[0] if member else None
