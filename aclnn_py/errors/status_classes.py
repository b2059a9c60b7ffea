# SPDX-License-Identifier: Apache-2.0
"""The class of each status: the library that returned it and the kind of failure, in one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aclnn_py.errors.base import AclnnPyError
from aclnn_py.errors.kinds import (
    CommunicationError,
    DeviceError,
    DeviceTimeoutError,
    InvalidArgumentError,
    NotSupportedError,
    OutOfMemoryError,
)
from aclnn_py.errors.status import AclError, AclnnError, HcclError, StatusError

__all__ = ["COMBINED", "status_class", "status_error"]

_LIBRARIES: Mapping[str, type[StatusError]] = {
    "acl": AclError,
    "aclnn": AclnnError,
    "hccl": HcclError,
}
_KINDS: Mapping[str, type[AclnnPyError]] = {
    "InvalidArgument": InvalidArgumentError,
    "OutOfMemory": OutOfMemoryError,
    "Timeout": DeviceTimeoutError,
    "NotSupported": NotSupportedError,
    "Device": DeviceError,
    "Communication": CommunicationError,
}


def _combine(
    prefix: str, kind_name: str, library: type[StatusError], kind: type[AclnnPyError]
) -> type[StatusError]:
    name = f"{prefix.capitalize()}{kind_name}Error"
    doc = f"{library.__name__} and {kind.__name__} in one."
    return type(name, (library, kind), {"__qualname__": name, "__doc__": doc})


COMBINED: dict[tuple[str, str], type[StatusError]] = {
    (prefix, kind_name): _combine(prefix, kind_name, library, kind)
    for prefix, library in _LIBRARIES.items()
    for kind_name, kind in _KINDS.items()
}

_TIMEOUTS = frozenset({
    100036, 107019, 107020, 207020, 507012, 507014, 507017, 507034,
    507046, 507047, 507048, 507905, 507915,
})  # fmt: skip
_MEMORY = frozenset({200000, 207001, 207018})
_UNSUPPORTED = frozenset({
    148050, 148052, 200001, 200006, 200007, 207000, 207019, 207021, 507009,
})  # fmt: skip
_ARGUMENTS = frozenset({100000, 100011, 100026, 100027, 200003, 200004, 200005})
_HCCL_KINDS: Mapping[int, str] = {
    1: "InvalidArgument",
    2: "InvalidArgument",
    3: "OutOfMemory",
    5: "NotSupported",
    9: "Timeout",
    11: "Communication",
    12: "Communication",
    13: "Communication",
    14: "Communication",
    19: "Communication",
    21: "Communication",
    24: "OutOfMemory",
}


def _kind_of(library: str, status: int) -> str | None:
    # aclError and aclnnStatus share one number space; HcclResult has its own.
    if library == "hccl":
        return _HCCL_KINDS.get(status)
    if status in _TIMEOUTS:
        return "Timeout"
    if status in _MEMORY:
        return "OutOfMemory"
    if status in _UNSUPPORTED:
        return "NotSupported"
    if status in _ARGUMENTS or status // 1000 in (107, 161):
        return "InvalidArgument"
    if status // 1000 == 507:
        return "Device"
    return None


def status_class(library: str, status: int) -> type[StatusError]:
    """Return the class that both axes give for one status of one library."""
    kind = _kind_of(library, status)
    return _LIBRARIES[library] if kind is None else COMBINED[library, kind]


def status_error(library: str, status: int, **fields: Any) -> StatusError:
    """Build the exception for one status.

    Parameters
    ----------
    library : str
        ``"acl"``, ``"aclnn"`` or ``"hccl"``.
    status : int
        The status, not zero.
    **fields
        The other attributes of ``StatusError``, all optional.

    Returns
    -------
    StatusError
        An instance of the class that both axes give; it is not raised.
    """
    return status_class(library, status)(status, **fields)
