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
