# SPDX-License-Identifier: Apache-2.0
"""The end of a process, with whatever is alive then. Failing releases are errors here."""

from __future__ import annotations

import pytest
from helpers.processes import run_script

# Proof that all was given back: the memory is as free as before when the last finalizer runs.
WATCH = """
import sys
import numpy as np
import aclnn_py as ap
from aclnn_py.runtime import handle, initialization

device = ap.Device(0)
device.activate()
info = device.memory_info()

def report(_):
    left = {k: n for k, n in handle.live_handles().items() if k != "Runtime"}
    ap.trim_memory(device)
    print("left", left, "bytes", info.free - device.memory_info().free)

# Handles are released in reverse order of creation: this one after all that follow, before the
# runtime.
sentinel = handle.Handle(0, report)
"""


def at_exit(body: str) -> str:
    outcome = run_script(WATCH + body).check()
    assert outcome.err == ""
    return outcome.out.strip().splitlines()[-1]


@pytest.mark.parametrize(
    "body",
    [
        "keep = [ap.zeros(100, 'float32') for _ in range(10)]",
        "stream = ap.Stream()\nkeep = ap.zeros(100, 'float32')\nkeep.buffer.fill(1, stream=stream)",
        "keep = ap.zeros(1 << 16, 'uint8')\nstream = ap.Stream()\n"
        "for _ in range(50): keep.buffer.fill(1, stream=stream)",
        "stream = ap.Stream()\nevent = stream.record()\nother = ap.Stream()\nother.wait(event)",
        "pinned = ap.HostBuffer(4096)\narray = pinned.numpy()\ntensor = ap.zeros(4096, 'uint8')\n"
        "tensor.buffer.read(pinned, stream=ap.current_stream())",
        "ap.current_stream().retain(ap.zeros(10, 'int8'))",
        "cycle = [ap.zeros(10, 'int8')]\ncycle.append(cycle)\ndel cycle",
        "block = ap.Stream()\nblock.__enter__()",
        "array = np.from_dlpack(ap.zeros(10, 'float32'))",
        "sys.exit(0)",
    ],
)
def test_exit_with_live_objects_is_clean(body):
    assert at_exit(body) == "left {} bytes 0"


def test_an_unhandled_exception_does_not_hide_behind_the_exit():
    outcome = run_script(WATCH + "keep = ap.zeros(10, 'int8')\nraise KeyError('mine')")
    assert outcome.status == 1
    assert "KeyError: 'mine'" in outcome.err
    assert "left {} bytes 0" in outcome.out


def test_exit_with_work_in_flight_waits_for_it():
    outcome = run_script(
        WATCH
        + """
sys.path.insert(0, "tests")
import threading
from helpers.gates import Gate
gate = Gate()
stream = ap.Stream()
keep = ap.zeros(1 << 20, "uint8")
gate.put(stream)
keep.buffer.fill(1, stream=stream)
threading.Timer(0.5, gate.open).start()
del keep
"""
    ).check()
    assert "left {} bytes 0" in outcome.out


def test_exit_while_a_daemon_thread_waits_is_an_exit():
    run_script(
        WATCH
        + """
import threading
from helpers.gates import Gate
gate = Gate(limit_s=2)
stream = ap.Stream()
gate.put(stream)
threading.Thread(target=stream.synchronize, daemon=True).start()
gate.reached.wait(10)
"""
    ).check()


def test_importing_and_leaving_touches_no_device():
    outcome = run_script("import aclnn_py, aclnn_py.tensor.tensor, aclnn_py.tensor.dlpack").check()
    assert outcome.err == ""


def test_module_globals_torn_down_early_do_not_matter():
    outcome = run_script(
        """
        import builtins
        import aclnn_py as ap
        # Outlives the modules: nothing but the interpreter's end releases it.
        builtins.kept = ap.zeros(100, "float32")
        """
    ).check()
    assert outcome.err == ""
