# SPDX-License-Identifier: Apache-2.0
"""The process that makes calls on one device; its parent (`side`) sees to it when it dies or hangs.

It says which call it makes before it makes it, so that the end of the process is known to be the
doing of that call.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Sequence
from typing import Any, BinaryIO, TextIO

from aclnn_py._ffi import library_info
from aclnn_py.distributed.communicator import Communicator
from aclnn_py.errors import AclnnPyError, StatusError, SymbolNotFoundError
from aclnn_py.operators.launch.plans import plan
from aclnn_py.operators.record.call import RecordedCall
from aclnn_py.operators.record.sketch import arguments_of, memory_bytes
from aclnn_py.runtime.device import Device, device_count, soc_name
from aclnn_py.runtime.stream import Stream
from aclnn_py.tools.records.replayer import Outcome, operator_of
from aclnn_py.tools.verify.cases import Case, cases_of

__all__ = ["AGAIN", "main"]

# Exit status after a fault, which the device may repeat for every call: a new process goes on.
AGAIN = 3


def main(asked: dict[str, Any]) -> int:
    """Make the calls that are asked for.

    Parameters
    ----------
    asked : dict
        ``operators``, ``chip`` and ``seed`` say which cases there are; ``first`` is the position of
        the first to make among all of them, ``leave`` are positions to leave out. ``results`` is
        the file of the outcomes, ``contents`` that of the bytes. Without operators the process only
        says what the device is.
    """
    with open(asked["results"], "a", encoding="utf-8") as results:
        if not asked["operators"]:
            _say(results, about=_about())
            return 0
        leave = frozenset(asked["leave"])
        with open(asked["contents"], "ab") as contents, _Groups() as groups:
            position = -1
            for operator in asked["operators"]:
                for case in cases_of(operator, asked["chip"], asked["seed"]):
                    position += 1
                    if position < asked["first"] or position in leave:
                        continue
                    _say(results, begin=position)
                    row = _made(case, groups, contents)
                    _say(results, end=position, **row)
                    if row.get("stage") == "device":
                        return AGAIN
    return 0


def _about() -> dict[str, Any]:
    info = library_info()
    with Device(0):
        return {
            "kind": info.kind,
            "soc": soc_name(),
            "devices": device_count(),
            "cann": info.version,
            "libraries": library_info().libraries,
        }


def _say(results: TextIO, **row: Any) -> None:
    results.write(json.dumps(row) + "\n")
    results.flush()


class _Groups:
    """Communicators by number of ranks and a stream of each device, made at the first use."""

    def __init__(self) -> None:
        self._made: dict[int, list[Communicator]] = {}
        self._streams: dict[int, Stream] = {}

    def stream(self, device: Device) -> Stream:
        if device.index not in self._streams:
            self._streams[device.index] = Stream(device)
        return self._streams[device.index]

    def of(self, ranks: int) -> list[Communicator]:
        if ranks not in self._made:
            self._made[ranks] = Communicator.init_all(ranks)
        return self._made[ranks]

    def __enter__(self) -> _Groups:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in self._streams.values():
            stream.close()
        for communicators in self._made.values():
            for communicator in communicators:
                communicator.close()


def _made(case: Case, groups: _Groups, contents: BinaryIO) -> dict[str, Any]:
    """Make one call and return what is said of it."""
    try:
        if case.ranks > device_count():
            return {"left": f"needs {case.ranks} devices"}
        outcomes = _outcomes(case, groups)
    except SymbolNotFoundError:
        return {"left": "no such operator"}
    except AclnnPyError as error:
        # Refused before the library was asked: both devices would have it the same.
        return {"left": f"{type(error).__name__}: {error}"}
    # The rank that failed first speaks for all.
    chosen = next((outcome for outcome in outcomes if outcome.status), outcomes[0])
    row: dict[str, Any] = {
        "status": chosen.status,
        "stage": chosen.stage,
        "message": chosen.message,
    }
    if not chosen.status and case.runs:
        row["memory"] = [_stored(contents, o.memory) for o in outcomes]
    return row


def _stored(contents: BinaryIO, memory: Sequence[bytes]) -> list[int]:
    """Append the bytes to the file; return where they begin."""
    places = []
    for part in memory:
        places.append(contents.tell())
        contents.write(part)
    contents.flush()
    return places


def _outcomes(case: Case, groups: _Groups) -> list[Outcome]:
    """Return the outcome of each rank."""
    if not case.groups:
        return [_outcome(case, case.call, groups.stream(Device(0)))]
    communicators = groups.of(case.ranks)
    found: list[Outcome | BaseException] = [RuntimeError("the rank did not end")] * case.ranks

    def run(rank: int) -> None:
        communicator = communicators[rank]
        names = {
            position: groups.of(count)[min(rank, count - 1)].name
            for position, count in case.groups.items()
        }
        try:
            with communicator.device:
                stream = groups.stream(communicator.device)
                found[rank] = _outcome(case, case.of(rank, names), stream)
        except BaseException as error:
            found[rank] = error

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(case.ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    outcomes = []
    for item in found:
        if isinstance(item, BaseException):
            raise item
        outcomes.append(item)
    return outcomes


def _outcome(case: Case, call: RecordedCall, stream: Stream) -> Outcome:
    op = operator_of(call)
    device = stream.device
    with device, stream.use():
        values, buffers, _tensors = arguments_of(
            op, call, lambda name, nbytes: case.data[name][:nbytes], device
        )
        try:
            planned = plan(op, *values)
        except StatusError as error:
            return Outcome(error.status, "phase one", str(error))
        with planned:
            if not case.runs:
                return Outcome(0)
            try:
                planned.run(stream)
            except StatusError as error:
                return Outcome(error.status, "phase two", str(error))
            try:
                stream.synchronize()
            except StatusError as error:
                return Outcome(error.status, "device", str(error))
        return Outcome(0, memory=[memory_bytes(buffer) for buffer in buffers])


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
