# SPDX-License-Identifier: Apache-2.0
"""Use the device in a child process, because a broken installation may end the process."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

__all__ = ["TRIALS", "main"]


def device() -> dict[str, Any]:
    """Open the libraries and device 0, and copy some bytes to it and back."""
    import numpy as np

    from aclnn_py import _ffi, facts
    from aclnn_py.memory.buffer import memory_info
    from aclnn_py.runtime.device import device_count, soc_name
    from aclnn_py.tensor.creation import from_numpy

    result: dict[str, Any] = {"kind": _ffi.device_kind()}
    count = device_count()
    result["devices"] = []
    if count:
        memory = memory_info(0)
        result["devices"] = [{"index": index, "name": soc_name()} for index in range(count)]
        result["devices"][0].update(free=memory.free, total=memory.total)
        origin = _ffi.own_function("aclnn_py_emulator_memory_origin", "const char *(*)(void)")
        if origin is not None:
            result["devices"][0]["sized_by"] = _ffi.ffi.string(origin()).decode()
        sent = np.arange(256, dtype=np.uint8)
        _compare("a copy to device 0 and back", sent, from_numpy(sent, device=0).numpy())
    names = list(facts.operators())
    available = sum(1 for name in names if _ffi.C.has(name))
    result["operators"] = {"declared": len(names), "available": available}
    info = _ffi.library_info()
    result["libraries"] = info.libraries
    result["searched"] = [list(entry) for entry in info.searched]
    return result


def smoke() -> dict[str, Any]:
    """Run one operator on device 0 and compare its result."""
    import numpy as np

    from aclnn_py import ops
    from aclnn_py.runtime.device import Device
    from aclnn_py.tensor.creation import empty, from_numpy

    with Device(0):
        left = np.arange(32, dtype=np.float32)
        out = empty((32,), np.float32)
        ops.add(from_numpy(left), from_numpy(left), 2.0, out)
        _compare("aclnnAdd", left * 3, out.numpy())
    return {"seen": "aclnnAdd of 32 numbers on device 0 is right"}


def all_reduce() -> dict[str, Any]:
    """Take part in a sum over the ranks of this job."""
    import numpy as np

    from aclnn_py.distributed import Communicator
    from aclnn_py.distributed import all_reduce as reduce
    from aclnn_py.tensor.creation import from_numpy

    with Communicator.from_env() as comm:
        values = from_numpy(np.full(8, comm.rank + 1, np.float32))
        reduce(values, group=comm)
        ranks = comm.world_size
        _compare("HcclAllReduce", np.full(8, ranks * (ranks + 1) / 2), values.numpy())
    return {"seen": f"HcclAllReduce over {ranks} ranks is right"}


TRIALS: dict[str, Callable[[], dict[str, Any]]] = {
    "device": device,
    "smoke": smoke,
    "all-reduce": all_reduce,
}


def main(name: str, answer: str) -> int:
    """Run one trial; its answer goes to a file, as CANN writes to both standard streams."""
    from aclnn_py.errors import AclnnPyError

    # The answer itself says when ``auto`` falls back to the emulator.
    warnings.simplefilter("ignore", RuntimeWarning)
    result: dict[str, Any]
    try:
        result = TRIALS[name]()
        status = 0
    except (AclnnPyError, ValueError, OSError, ImportError) as fault:
        result = {"fault": f"{type(fault).__name__}: {fault}"}
        result["searched"] = [list(entry) for entry in getattr(fault, "searched", ())]
        status = 1
    rank = os.environ.get("RANK", "0") if name == "all-reduce" else "0"
    with open(f"{answer}.{rank}", "w", encoding="utf-8") as file:
        json.dump(result, file)
    return status


def _compare(what: str, expected: Any, got: Any) -> None:
    import numpy as np

    if not np.array_equal(expected, got):
        raise ValueError(f"{what} gave {got[:4]}..., expected {expected[:4]}...")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
