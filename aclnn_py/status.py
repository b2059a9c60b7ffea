# SPDX-License-Identifier: Apache-2.0
"""Statuses of the three C libraries turned into exceptions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib import resources

from aclnn_py._ffi import C, ffi
from aclnn_py.errors import StatusError, status_error

__all__ = ["check_acl", "check_aclnn", "check_hccl", "error_of", "recent_message", "status_name"]

# What a user can do next, for the statuses that have one answer in practice.
_HINTS: dict[int, str] = {
    100001: "Another library finalised the runtime, or it was never initialised.",
    100039: "A link-time stub was loaded: take CANN's devlib directory out of LD_LIBRARY_PATH.",
    107001: "device_count() says how many devices this process may see.",
    107002: "No device is current on this thread: enter `with Device(...)` in it first.",
    107003: "Pass a stream of the device that is current on this thread.",
    107030: "Allocate and synchronize before or after the capture.",
    161001: "Parameters that may be None are marked `| None` in the operator's signature.",
    207001: "Release tensors and synchronize; Device.memory_info() says what is free.",
    207018: "Release tensors and synchronize; Device.memory_info() says what is free.",
    507033: "Look at driver, firmware and CANN versions with `aclnn-py doctor`.",
    507899: "Look at driver, firmware and CANN versions with `aclnn-py doctor`.",
    561003: "The kernel package of this device is missing; see `aclnn-py doctor`.",
    561107: "Source CANN's set_env.sh before the process starts.",
    561112: "The kernel package of this device is missing; see `aclnn-py doctor`.",
}
_HCCL_HINTS: dict[int, str] = {
    4: "Look at the messages of the other ranks: the first failure is usually elsewhere.",
    9: "A rank did not come in time, or called another collective.",
    15: "Set the device of this rank before the communicator is made.",
    21: "Another rank failed or is gone.",
}


@cache
def _names() -> dict[tuple[bool, int], str]:
    # The first spelling of a number is the current one; later rows are aliases.
    names: dict[tuple[bool, int], str] = {}
    rows = json.loads(resources.files("aclnn_py").joinpath("facts/status.json").read_bytes())
    for row in rows:
        if isinstance(row["code"], int):
            names.setdefault((row["domain"] == "hccl", row["code"]), row["name"])
    return names


def status_name(library: str, status: int) -> str:
    """Return the name of a status in CANN's headers, or ``"UNKNOWN_STATUS"``.

    Parameters
    ----------
    library : str
        ``"acl"``, ``"aclnn"`` or ``"hccl"``; the first two share their numbers.
    status : int
    """
    return _names().get((library == "hccl", status), "UNKNOWN_STATUS")


def recent_message() -> str:
    """Take the message that the libraries left on this thread; reading it clears it."""
    if not C.has("aclGetRecentErrMsg"):
        return ""
    text = C.aclGetRecentErrMsg()
    if text == ffi.NULL:
        return ""
    return ffi.string(text).decode("utf-8", "replace").strip()  # type: ignore[no-any-return]


def error_of(
    library: str,
    status: int,
    routine: str,
    *,
    detail: str | None = None,
    hint: str | None = None,
    arguments: Iterable[str] = (),
    rank: int | None = None,
    device: int | None = None,
    stream: int | None = None,
) -> StatusError:
    """Build the exception of a failed call; the pending message is read when none is given.

    It has to be called on the thread of the failed call, before anything else is called there.
    """
    if detail is None:
        detail = recent_message()
    if hint is None:
        hint = (_HCCL_HINTS if library == "hccl" else _HINTS).get(status, "")
    return status_error(
        library,
        status,
        status_name=status_name(library, status),
        routine=routine,
        detail=detail,
        hint=hint,
        arguments=arguments,
        rank=rank,
        device=device,
        stream=stream,
    )


def check_acl(
    status: int, routine: str, *, device: int | None = None, stream: int | None = None
) -> None:
    """Raise the ``AclError`` of a status other than zero."""
    if status:
        raise error_of("acl", status, routine, device=device, stream=stream)


def check_aclnn(
    status: int,
    routine: str,
    *,
    arguments: Iterable[str] = (),
    device: int | None = None,
    stream: int | None = None,
) -> None:
    """Raise the ``AclnnError`` of a status other than zero."""
    if status:
        raise error_of("aclnn", status, routine, arguments=arguments, device=device, stream=stream)


def check_hccl(
    status: int, routine: str, *, rank: int | None = None, device: int | None = None
) -> None:
    """Raise the ``HcclError`` of a status other than zero."""
    if status:
        raise error_of("hccl", status, routine, rank=rank, device=device)
