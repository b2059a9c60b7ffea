# SPDX-License-Identifier: Apache-2.0
"""Errors of ranks: at bring-up, and when a rank ends."""

from __future__ import annotations

from collections.abc import Iterable

from aclnn_py.errors.base import AclnnPyError
from aclnn_py.errors.kinds import CommunicationError

__all__ = [
    "RankEnvironmentError",
    "RankLostError",
    "RendezvousError",
    "RendezvousMismatchError",
    "RendezvousTimeoutError",
]


class RankEnvironmentError(AclnnPyError, ValueError):
    """The environment does not say which rank this process is, or is contradictory."""


class RendezvousError(AclnnPyError, ConnectionError):
    """The ranks could not meet before they created the communicator."""


class RendezvousTimeoutError(RendezvousError, TimeoutError):
    """Some ranks did not arrive in time; ``missing`` holds their numbers."""

    def __init__(self, message: str, missing: Iterable[int] = ()) -> None:
        super().__init__(message)
        self.missing = tuple(missing)


class RendezvousMismatchError(RendezvousError, ValueError):
    """The ranks met but do not fit together: world size, version, device or a duplicate rank."""


class RankLostError(CommunicationError):
    """A rank of the job ended while other ranks needed it; ``ranks`` holds its number."""

    def __init__(self, message: str, ranks: Iterable[int] = ()) -> None:
        super().__init__(message)
        self.ranks = tuple(ranks)
