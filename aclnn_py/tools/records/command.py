# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py replay``: replay a record, minimize one of its calls, or print it as C++."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from aclnn_py._ffi import device_kind, use
from aclnn_py.errors import AclnnPyError
from aclnn_py.operators.record.file import RecordError, RecordReader
from aclnn_py.tools.records.minimizer import minimized, write_minimized
from aclnn_py.tools.records.replayer import replay_call
from aclnn_py.tools.records.reproducer import program

__all__ = ["run"]


def run(
    path: str,
    *,
    device: str | None = None,
    as_json: bool = False,
    cpp: bool = False,
    call: int | None = None,
    minimize: str | None = None,
    max_mib: int | None = None,
) -> int:
    """Replay a record for the command line.

    Parameters
    ----------
    path : str
    device : str, optional
        "auto", "npu" or "emulator", as for ``aclnn_py.use``.
    as_json : bool, default False
        Print one JSON object.
    cpp : bool, default False
        Print a C++ program instead: of call number `call`, or of the first that failed, or else of
        the first.
    call : int, optional
        Look at this call only.
    minimize : str, optional
        Write a record with the smallest shapes that still fail with the same status there.
    max_mib : int, optional
        What the file may unpack to, in MiB, in place of the default of ``replay``.

    Returns
    -------
    int
        0 when everything is as recorded, 1 when not, 2 for a file that cannot be read or a device
        that cannot be used.
    """
    try:
        if device is not None:
            use(device)
        reader = RecordReader(path, limit_nbytes=None if max_mib is None else max_mib << 20)
        if call is not None and not 0 <= call < len(reader.calls):
            raise RecordError(f"{path}: has calls 0 to {len(reader.calls) - 1}, not {call}")
        if cpp or minimize is not None:
            return _one_call(reader, call, cpp, minimize)
        found = [
            replay_call(reader, index, item)
            for index, item in enumerate(reader.calls)
            if call is None or call == index
        ]
    except (OSError, ValueError, AclnnPyError) as error:
        print(f"aclnn-py replay: {error}", file=sys.stderr)
        return 2
    except MemoryError:
        print(f"aclnn-py replay: {path}: not enough memory of the host", file=sys.stderr)
        return 2
    bad = [item for item in found if not item.agrees]
    if as_json:
        rows = [{**asdict(item), "agrees": item.agrees} for item in found]
        left_out = [asdict(row) for row in reader.left_out]
        whole = {"device": device_kind(), "about": reader.about, "calls": rows}
        print(json.dumps({**whole, "left_out": left_out, "complete": reader.complete}))
    else:
        for item in found:
            print(item)
        print(f"{len(found) - len(bad)} of {len(found)} calls as recorded, on the {device_kind()}")
        for row in reader.left_out:
            print(row)
        if not reader.complete:
            print("the process ended before the record was complete")
        if bad:
            print(f"first to part: {bad[0]}")
    return 1 if bad else 0


def _one_call(reader: RecordReader, index: int | None, cpp: bool, minimize: str | None) -> int:
    if not reader.calls:
        raise RecordError(f"{reader.path}: has no calls")
    if index is None:
        failed = [n for n, item in enumerate(reader.calls) if item.status]
        index = failed[0] if failed else 0
    call = reader.calls[index]
    if minimize is None:
        print(program(call, reader.data))
        return 0
    smaller = minimized(call, reader.data)
    write_minimized(minimize, reader, smaller)
    before = sum(memory.nbytes for memory in call.memories)
    after = sum(memory.nbytes for memory in smaller.call.memories)
    print(f"{call.operator}: {before} bytes of tensors became {after}", file=sys.stderr)
    if cpp:
        print(program(smaller.call, smaller.data))
    return 0
