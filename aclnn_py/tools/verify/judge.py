# SPDX-License-Identifier: Apache-2.0
"""What the two ends of one call say about the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from aclnn_py.operators.record.call import RecordError
from aclnn_py.tools.records.replayer import first_difference
from aclnn_py.tools.verify.cases import Case
from aclnn_py.tools.verify.side import Ended

__all__ = ["Finding", "Kind", "judge"]

Kind = Literal["result", "status", "fault", "died", "hung"]


@dataclass(frozen=True)
class Finding:
    """A call that does not end on the device as it does on the emulator.

    Attributes
    ----------
    operator : str
        The C name.
    case : int
        The number of the call among those of the operator.
    what : str
        What is special about the call.
    kind : str
        "result": data differ; "status": a status differs; "fault": the device reports one and the
        emulator none; "died", "hung": the process on the device did.
    device, emulator : str
        How the call ended there.
    detail : str
        The argument and the values that differ, or the texts of the device and of the emulator.
    """

    operator: str
    case: int
    what: str
    kind: Kind
    device: str
    emulator: str
    detail: str


def judge(case: Case, device: Ended, emulator: Ended) -> Finding | None:
    """Return what differs, or None.

    A call that was left out on either side says nothing; `left` of it tells why.
    """
    if device.left or emulator.left:
        return None
    if device.stage == "died":
        return _finding(case, "died", device, emulator, device.message)
    if device.stage == "hung":
        return _finding(case, "hung", device, emulator, device.message)
    if device.status != emulator.status:
        kind: Kind = "fault" if device.stage == "device" else "status"
        return _finding(case, kind, device, emulator, _texts(device, emulator))
    if device.stage != emulator.stage:
        return _finding(case, "status", device, emulator, _texts(device, emulator))
    for rank, (one, other) in enumerate(zip(device.memory, emulator.memory, strict=True)):
        try:
            name, apart = first_difference(case.call, list(other), one)
        except RecordError:
            continue  # the elements of a result share memory: which of them is last is left open
        if name:
            where = f"rank {rank}, " if len(device.memory) > 1 else ""
            # The emulator's values come first, as those of a record do.
            return _finding(case, "result", device, emulator, f"{where}{name}: {apart}")
    return None


def _finding(case: Case, kind: Kind, device: Ended, emulator: Ended, detail: str) -> Finding:
    return Finding(
        case.call.operator, case.number, case.what, kind, _words(device), _words(emulator), detail
    )


def _texts(device: Ended, emulator: Ended) -> str:
    """What both say about a call that they do not end alike."""
    if device.message and emulator.message:
        return f"{device.message}\non the emulator: {emulator.message}"
    return device.message or emulator.message


def _words(ended: Ended) -> str:
    if ended.stage in ("died", "hung"):
        return ended.stage
    if not ended.status:
        return "success"
    return (
        f"{ended.status} in {ended.stage}" if ended.stage != "device" else f"fault {ended.status}"
    )
