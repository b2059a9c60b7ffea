# SPDX-License-Identifier: Apache-2.0
"""Statuses of the three C libraries turned into exceptions."""

from __future__ import annotations

from collections.abc import Iterable

from aclnn_py import facts
from aclnn_py._ffi import C, ffi, library_info
from aclnn_py.errors import Argument, BrokenRule, StatusError, status_error
from aclnn_py.errors.base import verdict_on

__all__ = ["check_acl", "check_hccl", "error_of", "recent_message", "status_name"]


def status_name(library: str, status: int) -> str:
    """Return the name of a status in CANN's headers, or ``"UNKNOWN_STATUS"``.

    Parameters
    ----------
    library : str
        ``"acl"``, ``"aclnn"`` or ``"hccl"``; the first two share their numbers.
    status : int
    """
    fact = facts.status(status, hccl=library == "hccl")
    return "UNKNOWN_STATUS" if fact is None else fact["name"]


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
    broken: Iterable[BrokenRule] = (),
    arguments: Iterable[Argument] = (),
    rank: int | None = None,
    device: int | None = None,
    stream: int | None = None,
) -> StatusError:
    """Build the exception of a failed call, by default with the text that the library left.

    Call it on the thread of the failed call, before any other C call.
    """
    if detail is None:
        detail = recent_message()
    fact = facts.status(status, hccl=library == "hccl")
    if hint is None:
        hint = "" if fact is None else fact.get("next", "")
    error = status_error(
        library,
        status,
        status_name="" if fact is None else fact["name"],
        routine=routine,
        meaning="" if fact is None else fact["meaning"],
        detail=detail,
        broken=broken,
        hint=hint,
        arguments=arguments,
        rank=rank,
        device=device,
        stream=stream,
    )
    if library_info().kind == "npu":  # the emulator comes with the package
        error.verdict = verdict_on(error)
    return error


def check_acl(
    status: int, routine: str, *, device: int | None = None, stream: int | None = None
) -> None:
    """Raise the ``AclError`` of a status other than zero."""
    if status:
        raise error_of("acl", status, routine, device=device, stream=stream)


def check_hccl(
    status: int, routine: str, *, rank: int | None = None, device: int | None = None
) -> None:
    """Raise the ``HcclError`` of a status other than zero."""
    if status:
        raise error_of("hccl", status, routine, rank=rank, device=device)
