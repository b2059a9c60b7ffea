# SPDX-License-Identifier: Apache-2.0
"""Open the rendezvous that the environment names: over TCP or in a shared directory."""

from __future__ import annotations

import os

from aclnn_py.distributed.environment import RankEnvironment
from aclnn_py.distributed.rendezvous.files import FileRendezvous
from aclnn_py.distributed.rendezvous.interface import Rendezvous
from aclnn_py.distributed.rendezvous.sockets import LauncherPort
from aclnn_py.distributed.rendezvous.tcp import TcpRendezvous

__all__ = ["open_rendezvous"]

_launcher: LauncherPort | None = None


def open_rendezvous(environment: RankEnvironment, *, timeout_s: float) -> Rendezvous:
    """Join the rendezvous that the environment names.

    Parameters
    ----------
    environment : RankEnvironment
        What ``detect_environment`` returned.
    timeout_s : float
        Seconds to wait for rank 0.

    Returns
    -------
    Rendezvous
        This rank has joined it; the caller closes it.

    Raises
    ------
    RendezvousError
        The address or directory cannot be used, or belongs to another job.
    RendezvousTimeoutError
        Rank 0 did not come.
    """
    if environment.directory is not None:
        return FileRendezvous(
            environment.directory,
            rank=environment.rank,
            world_size=environment.world_size,
            token=environment.token,
            timeout_s=timeout_s,
        )
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
    # Removed from the environment, because it is not meant for programs that this one starts.
    descriptor = os.environ.pop("ACLNN_PY_RENDEZVOUS_FD", None)
    return None if descriptor is None else LauncherPort(descriptor)
