# SPDX-License-Identifier: Apache-2.0
"""What every rendezvous offers: the ranks meet and exchange a few facts before HCCL is entered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

__all__ = ["Rendezvous"]


class Rendezvous(ABC):
    """A meeting of all ranks of a job.

    ``open_rendezvous`` returns one. Every rank makes the same calls in the same order.
    """

    rank: int
    """Number of this process in the job."""
    world_size: int
    """Number of processes in the job."""

    @abstractmethod
    def gather(
        self, label: str, payload: dict[str, Any], *, timeout_s: float
    ) -> list[dict[str, Any]]:
        """Hand in a payload, wait for those of all ranks and return them in rank order.

        Parameters
        ----------
        label : str
            Name of this exchange; the same on all ranks, and used once.
        payload : dict
            JSON values; at most 32 KiB when encoded.
        timeout_s : float
            Seconds after which the missing ranks are reported.

        Returns
        -------
        list[dict]
            ``world_size`` payloads; item ``r`` is from rank ``r``.

        Raises
        ------
        RendezvousTimeoutError
            Some ranks did not come; the message names them.
        RankLostError
            A rank came and then ended; the message names it.
        RendezvousMismatchError
            The ranks do not belong to one job.
        """

    @abstractmethod
    def lost_ranks(self) -> tuple[int, ...]:
        """Return the ranks that are known to have ended without leaving; never wait.

        Returns
        -------
        tuple[int, ...]
            Empty when none is known; a file rendezvous never knows one.
        """

    @abstractmethod
    def close(self) -> None:
        """Leave the job properly; a second call does nothing."""
