# SPDX-License-Identifier: Apache-2.0
"""Where ranks meet before a communicator exists, and how they exchange a few facts there."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any

from aclnn_py.distributed.environment import RankEnvironment
from aclnn_py.distributed.rendezvous.sockets import LauncherPort

__all__ = ["Rendezvous", "open_rendezvous"]

_launcher: LauncherPort | None = None


class Rendezvous(ABC):
    """A meeting of all ranks of a job.

    Obtained from ``open_rendezvous``. Every rank makes the same calls in the same order.
    """

    rank: int
    """Number of this process in the job."""
    world_size: int
    """Number of processes in the job."""

    @abstractmethod
    def gather(
        self, label: str, payload: dict[str, Any], *, timeout_s: float
    ) -> list[dict[str, Any]]:
        """Give a payload, wait for those of all ranks and return them in rank order.

        Parameters
        ----------
        label : str
            Name of this exchange; equal on all ranks, used once.
        payload : dict
            JSON values; at most 32 KiB when encoded.
        timeout_s : float
            Seconds until the ranks that have not come are reported.

        Returns
        -------
        list[dict]
            ``world_size`` payloads; item ``r`` is that of rank ``r``.

        Raises
        ------
        RendezvousTimeoutError
            Names the ranks that did not come.
        RankLostError
            Names a rank that came and ended.
        RendezvousMismatchError
            The ranks do not belong together.
        """

    @abstractmethod
    def lost_ranks(self) -> tuple[int, ...]:
        """Return the ranks known to have ended without leaving; never waits.

        Returns
        -------
        tuple[int, ...]
            Empty when none is known. A file rendezvous knows of none.
        """

    @abstractmethod
    def close(self) -> None:
        """Leave the job in good order; a second call does nothing."""


def open_rendezvous(environment: RankEnvironment, *, timeout_s: float) -> Rendezvous:
    """Join the meeting place that the environment names.

    Parameters
    ----------
    environment : RankEnvironment
        Result of ``detect_environment``.
    timeout_s : float
        Seconds to wait for rank 0.

    Returns
    -------
    Rendezvous
        Joined; closed by the caller.

    Raises
    ------
    RendezvousError
        The place cannot be used, or belongs to another job.
    RendezvousTimeoutError
        Rank 0 did not come.
    """
    if environment.directory is not None:
        from aclnn_py.distributed.rendezvous.files import FileRendezvous

        return FileRendezvous(
            environment.directory,
            rank=environment.rank,
            world_size=environment.world_size,
            token=environment.token,
            timeout_s=timeout_s,
        )
    from aclnn_py.distributed.rendezvous.tcp import TcpRendezvous

    if environment.address is None or environment.port is None:
        raise ValueError("the environment names neither an address with a port nor a directory")
    global _launcher
    if environment.rank == 0:
        _launcher = _launcher or _port_of_launcher()
    return TcpRendezvous(
        environment.address,
        environment.port,
        rank=environment.rank,
        world_size=environment.world_size,
        token=environment.token,
        timeout_s=timeout_s,
        launcher=_launcher,
    )


def _port_of_launcher() -> LauncherPort | None:
    # Taken out, so that a program which this one starts does not take it for its own.
    descriptor = os.environ.pop("ACLNN_PY_RENDEZVOUS_FD", None)
    return None if descriptor is None else LauncherPort(descriptor)
