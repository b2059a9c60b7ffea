# SPDX-License-Identifier: Apache-2.0
"""Calls that a ``__del__`` makes while Python exits raise the package's own error."""

from __future__ import annotations

from helpers.processes import run_script

SOURCE = """
    import numpy as np
    import aclnn_py as ap

    CALLS = {
        "add": lambda x: x + x,
        "method": lambda x: x.sum(),
        "ufunc": lambda x: np.sin(x),
        "repr": repr,
        "operator": lambda x: ap.ops.abs(x, x),
        "function": lambda x: ap.functional.relu(x),
        "creation": lambda x: ap.zeros((3,), np.float32),
        "device": lambda x: ap.Device(0).synchronize(),
        "event": lambda x: ap.Event(),
        "collective": lambda x: ap.distributed.all_reduce(x),
        "array api": lambda x: x.__array_namespace__(),
        "tool": lambda x: ap.tools.record("nowhere"),
    }

    class Holder:
        def __init__(self):
            self.tensor = ap.from_numpy(np.ones(4, np.float32))

        def __del__(self):
            for name, call in CALLS.items():
                try:
                    call(self.tensor)
                    print(name, "fine")
                except ap.errors.ClosedError:
                    print(name, "closed")
                except BaseException as error:
                    print(name, type(error).__name__, error)

    ap.errors, ap.distributed, ap.tools, ap.ops, ap.functional
    holder = Holder()
"""


def test_late_calls_say_that_the_device_is_closed() -> None:
    lines = run_script(SOURCE).check().out.splitlines()
    assert len(lines) == 12
    assert [line for line in lines if not line.endswith(" closed")] == []
