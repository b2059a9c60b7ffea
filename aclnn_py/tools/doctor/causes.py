# SPDX-License-Identifier: Apache-2.0
"""Which exceptions a faulty installation causes."""

from __future__ import annotations

from aclnn_py.errors import LibraryNotFoundError, StatusError, SymbolNotFoundError

__all__ = ["comes_from_installation"]

# Stub library; driver absent; device start failed, link or driver fault; kernel not found; null
# inside and package versions that differ; operator and kernel package paths and files.
_STATUSES = frozenset(
    {100039, 107001, 500001, 507010, 507033, 507899, 507901, 561003, *range(561103, 561120)}
)
_HCCL_STATUSES = frozenset({16})  # the driver


def comes_from_installation(fault: BaseException) -> bool:
    """Return whether the installation is a likely cause of an exception."""
    if isinstance(fault, StatusError):
        return fault.status in (_HCCL_STATUSES if fault.library == "hccl" else _STATUSES)
    return isinstance(fault, (LibraryNotFoundError, SymbolNotFoundError))
