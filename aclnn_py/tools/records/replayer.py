# SPDX-License-Identifier: Apache-2.0
"""Run recorded calls again, and compare statuses and data."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from aclnn_py import ops
from aclnn_py.distributed.communicator import Communicator
from aclnn_py.errors import StatusError, SymbolNotFoundError
from aclnn_py.operators.launch.op import Op
from aclnn_py.operators.launch.table import python_name
from aclnn_py.operators.record.file import RecordedCall, RecordError, RecordReader
from aclnn_py.operators.record.schema import check_arguments
from aclnn_py.operators.record.sketch import arguments_of, memory_bytes
from aclnn_py.runtime.device import Device
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tools.foreign_text import printable
from aclnn_py.tools.records.difference import Difference, difference

__all__ = [
    "Outcome",
    "Replay",
    "first_difference",
    "operator_of",
    "replay",
    "replay_call",
    "run_call",
]


@dataclass(frozen=True)
class Outcome:
    """How a call ended on this device.

    Attributes
    ----------
    status : int
    stage : str
        "phase one", "phase two", "device", or "" for success.
    message : str
        The message of the failure.
    memory : list of bytes
        The memory of the tensors after the call; empty after a failure.
    """

    status: int
    stage: str = ""
    message: str = ""
    memory: list[bytes] = field(default_factory=list)


@dataclass(frozen=True)
class Replay:
    """A recorded call compared with the same call on this device.

    Attributes
    ----------
    index : int
        Which call of the record.
    operator, line : str
        The C name, and the Python line that made the call.
    expected, status : int
        The status in the record, and on this device.
    stage, message : str
        Where it failed on this device, and the message.
    parted : str
        The first argument whose data differ; "" when none does.
    difference : Difference or None
        How far the values of that argument are apart; those of the record come first.
    missing : str
        Why the call could not be made: no library has the operator.
    """

    index: int
    operator: str
    line: str
    expected: int
    status: int
    stage: str = ""
    message: str = ""
    parted: str = ""
    difference: Difference | None = None
    missing: str = ""

    @property
    def agrees(self) -> bool:
        """Whether status and data are the same as in the record."""
        return self.expected == self.status and not self.parted and not self.missing

    def __str__(self) -> str:
        text = f"call {self.index}: {self.operator}"
        if self.line:
            text += f" ({printable(self.line)})"
        if self.missing:
            return f"{text}: {self.missing}"
        if self.expected != self.status:
            detail = f"\n  {self.message}" if self.message else ""
            return f"{text}: status {self.status}, recorded {self.expected}{detail}"
        if self.parted:
            return f"{text}: {self.parted}: {self.difference}"
        return f"{text}: as recorded" + (f", status {self.status}" if self.status else "")


def replay(path: str | os.PathLike[str], *, limit_nbytes: int | None = None) -> list[Replay]:
    """Run the calls of a record on the device in use, and compare.

    Every call starts from the recorded data, so an error of one call does not change the next ones.

    Parameters
    ----------
    path : str or os.PathLike
        A file that ``record`` or ``save`` of an exception wrote.
    limit_nbytes : int, optional
        Limit of the bytes that the file may unpack to and that the tensors of a call may take;
        raise it for a large file that you trust. Default: 4 GiB, and above 256 MiB at most 300
        times the size of the file.

    Returns
    -------
    list of Replay
        One for each call, in order.

    Raises
    ------
    RecordError
        The file is no record or exceeds the limit, or a call does not fit its operator.
    """
    reader = RecordReader(path, limit_nbytes=limit_nbytes)
    return [replay_call(reader, index, call) for index, call in enumerate(reader.calls)]


def operator_of(call: RecordedCall) -> Op:
    """Check the arguments of a call and return its operator.

    Raises
    ------
    RecordError
        The operator is not in the table, as one that was declared at run time. Or an argument has
        the wrong type or is out of range.
    """
    try:
        found: Op = getattr(ops, python_name(call.operator))
    except KeyError:
        raise RecordError(f"{call.operator}: no operator of CANN; it cannot be replayed") from None
    check_arguments(found.parameters, call)
    return found


def run_call(call: RecordedCall, data: Callable[[str, int], bytes]) -> Outcome:
    """Run one recorded call on the device in use.

    Parameters
    ----------
    data : callable
        Returns stored bytes by name and length.

    Raises
    ------
    SymbolNotFoundError
        The loaded libraries do not have the operator.
    """
    op: Op = operator_of(call)
    device = Device.current()
    with _group(call) as group, Stream(device) as stream:
        values, buffers, _tensors = arguments_of(op, call, data, device, group)
        try:
            op(*values, stream=stream)
        except StatusError as error:
            late = not error.routine.endswith("GetWorkspaceSize")
            return Outcome(error.status, "phase two" if late else "phase one", str(error))
        try:
            stream.synchronize()
        except StatusError as error:
            return Outcome(error.status, "device", str(error))
        return Outcome(0, memory=[memory_bytes(buffer) for buffer in buffers])


@contextlib.contextmanager
def _group(call: RecordedCall) -> Iterator[str]:
    """Yield the name of a communicator with as many ranks as the recorded one."""
    if call.group is None:
        yield ""
        return
    communicators = Communicator.init_all(call.group)
    try:
        yield communicators[0].name
    finally:
        for communicator in communicators:
            communicator.close()


def replay_call(reader: RecordReader, index: int, call: RecordedCall) -> Replay:
    """Run one call of a record on the device in use, and compare status and data."""
    try:
        outcome = run_call(call, reader.data)
    except SymbolNotFoundError as error:
        return Replay(index, call.operator, call.line, call.status, call.status, missing=str(error))
    parted, apart = "", None
    if call.status == outcome.status == 0:
        try:
            parted, apart = first_difference(call, _recorded_memory(reader, call), outcome.memory)
        except RecordError as error:
            raise RecordError(f"{reader.path}: {error}") from None
    return Replay(
        index,
        call.operator,
        call.line,
        call.status,
        outcome.status,
        outcome.stage,
        outcome.message,
        parted,
        apart,
    )


def _recorded_memory(reader: RecordReader, call: RecordedCall) -> list[bytes | None]:
    return [
        None if memory.after is None else reader.data(memory.after, memory.nbytes)
        for memory in call.memories
    ]


def first_difference(
    call: RecordedCall, expected: Sequence[bytes | None], found: Sequence[bytes]
) -> tuple[str, Difference | None]:
    """Compare what two runs of a call wrote.

    Parameters
    ----------
    expected, found : sequence
        Contents of ``call.memories`` after the call; None where they are not known.

    Returns
    -------
    tuple
        The first argument whose data differ beyond tolerance, and how far; ``("", None)`` when none
        does.

    Raises
    ------
    RecordError
        Elements of a result share memory.
    """
    op: Op = operator_of(call)
    for parameter, written in zip(op.parameters, call.arguments, strict=True):
        if not parameter.is_tensor or parameter.direction == "in" or written is None:
            continue
        places = [written] if parameter.kind == "T" else written
        for number, place in enumerate(places):
            if place is None:
                continue
            view = call.views[place]
            known = expected[view.memory]
            if known is None:
                continue
            name = parameter.name if parameter.kind == "T" else f"{parameter.name}[{number}]"
            if dtype_of(view.dtype).nbytes(prod(view.shape)) > len(known):
                raise RecordError(
                    f"{op.c_name}: argument {name}: found a result whose elements "
                    "share memory; allowed is one place for each"
                )
            apart = difference(view, known, found[view.memory])
            if apart.beyond:
                return name, apart
    return "", None
