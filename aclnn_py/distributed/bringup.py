# SPDX-License-Identifier: Apache-2.0
"""What the ranks tell each other and compare before they call HCCL.

HCCL reports a rank that never comes, or that runs something else, as a timeout after minutes, and
does not say which rank it is. So the ranks meet first, and an error names every difference.
"""

from __future__ import annotations

import base64
import os
import socket
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

from aclnn_py.distributed.rendezvous.interface import Rendezvous
from aclnn_py.distributed.rendezvous.messages import (
    lines,
    one_line,
    printable_lines,
    require,
    text,
    whole,
)
from aclnn_py.errors import AclnnPyError
from aclnn_py.errors.ranks import RendezvousError, RendezvousMismatchError

__all__ = ["agree", "own_facts", "share_root_info"]

ROOT_INFO_NBYTES = 4108
_FACTS = {
    "version": text(64),
    "host": text(256),
    "boot": text(64),
    "process": whole(1, 2**31),
    "device": text(64),
    "kind": text(16),
}
_FAILURE = {"failure": lines(2000)}
_ROOT_INFO = {"root_info": text(2 * ROOT_INFO_NBYTES)}


def own_facts(device: int, device_kind: str) -> dict[str, Any]:
    """Return the facts that this rank sends to the others.

    Parameters
    ----------
    device : int
        Index of this rank's device among those that the process sees.
    device_kind : str
        ``"npu"`` or ``"emulator"``.

    Returns
    -------
    dict
        JSON values.
    """
    return {
        "version": one_line(package_version(), 64),
        "host": one_line(socket.gethostname(), 256),
        "boot": one_line(_boot_id(), 64),
        "process": os.getpid(),
        "device": one_line(_physical_device(device), 64),
        "kind": device_kind,
    }


def agree(meeting: Rendezvous, facts: dict[str, Any], *, timeout_s: float) -> None:
    """Wait for all ranks; compare package versions, kinds of device and device numbers.

    Parameters
    ----------
    meeting : Rendezvous
        All ranks have joined it.
    facts : dict
        Result of ``own_facts``.
    timeout_s : float
        Seconds until the missing ranks are reported.

    Raises
    ------
    RendezvousTimeoutError
        Some ranks did not come; the message names them.
    RendezvousMismatchError
        The message says what differs on which ranks; every rank raises it.
    RendezvousError
        A rank sent something that is not a set of facts.
    """
    everyone = meeting.gather("arrival", facts, timeout_s=timeout_s)
    for rank, told in enumerate(everyone):
        require(told, _FACTS, f"what rank {rank} tells about itself")
    problems = [
        *_differences(everyone, "version", "aclnn_py"),
        *_differences(everyone, "kind", "device"),
        *_shared_devices(everyone),
    ]
    if problems:
        raise RendezvousMismatchError("; ".join(problems) + ".")


def share_root_info(meeting: Rendezvous, create: Callable[[], bytes], *, timeout_s: float) -> bytes:
    """Create HCCL's root info on rank 0 and return it on every rank.

    Parameters
    ----------
    meeting : Rendezvous
        All ranks have joined it.
    create : callable
        Returns the root info, 4,108 bytes; called on rank 0 only.
    timeout_s : float
        Seconds until the missing ranks are reported.

    Returns
    -------
    bytes
        4,108 bytes.

    Raises
    ------
    RendezvousError
        Rank 0 could not create it; every rank gets the message of rank 0.
    """
    payload: dict[str, Any] = {}
    failure: AclnnPyError | None = None
    if meeting.rank == 0:
        try:
            payload["root_info"] = base64.b64encode(create()).decode()
        except AclnnPyError as error:
            failure = error
            payload["failure"] = printable_lines(str(error), 2000)
    root = meeting.gather("root info", payload, timeout_s=timeout_s)[0]
    if failure is not None:
        raise failure
    if isinstance(root, dict) and "failure" in root:
        require(root, _FAILURE, "what rank 0 tells of its failure")
        raise RendezvousError(f"rank 0 could not open the communicator: {root['failure']}")
    require(root, _ROOT_INFO, "what rank 0 tells for the communicator")
    try:
        data = base64.b64decode(root["root_info"], validate=True)
    except ValueError as error:
        raise RendezvousError("the root info that rank 0 sent is not base64.") from error
    if len(data) != ROOT_INFO_NBYTES:
        raise RendezvousError(
            f"rank 0 sent {len(data)} bytes of root info, not {ROOT_INFO_NBYTES}."
        )
    return data


def package_version() -> str:
    """Return the version of the installed package, or "unknown" in a source tree."""
    try:
        return metadata.version("aclnn_py")
    except metadata.PackageNotFoundError:
        return "unknown"


def _differences(everyone: list[dict[str, Any]], fact: str, what: str) -> list[str]:
    ranks_by_value: dict[str, list[int]] = {}
    for rank, facts in enumerate(everyone):
        ranks_by_value.setdefault(str(facts.get(fact)), []).append(rank)
    if len(ranks_by_value) == 1:
        return []
    parts = [f"{value} on {_ranks(ranks)}" for value, ranks in ranks_by_value.items()]
    return [f"{what} differs: {', '.join(parts)}"]


def _shared_devices(everyone: list[dict[str, Any]]) -> list[str]:
    ranks_by_device: dict[tuple[str, str, str], list[int]] = {}
    for rank, facts in enumerate(everyone):
        # Containers on one machine have the same boot id and different host names.
        place = (str(facts.get("host")), str(facts.get("boot")), str(facts.get("device")))
        ranks_by_device.setdefault(place, []).append(rank)
    return [
        f"{_ranks(ranks)} share device {device} of {host}: give every rank its own device"
        for (host, _, device), ranks in ranks_by_device.items()
        if len(ranks) > 1
    ]


def _ranks(ranks: list[int]) -> str:
    shown = ", ".join(map(str, ranks[:8])) + (", ..." if len(ranks) > 8 else "")
    return f"rank {shown}" if len(ranks) == 1 else f"ranks {shown}"


def _physical_device(index: int) -> str:
    visible = os.environ.get("ASCEND_RT_VISIBLE_DEVICES", "")
    names = [name.strip() for name in visible.split(",") if name.strip()]
    return names[index] if index < len(names) else str(index)


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
