# SPDX-License-Identifier: Apache-2.0
"""Graphs across fork, reset of the device and exit."""

from __future__ import annotations

import pytest
from helpers.processes import run_script

GRAPH = """
import os, sys, warnings
import numpy as np
import aclnn_py as ap
from aclnn_py import errors

x = ap.zeros((4,), "float32")
graph = ap.Graph()
with graph.capture(inputs={"x": x}):
    out = ap.functional.add(x, x)
graph.replay()
assert out.numpy().tolist() == [0, 0, 0, 0]
"""


def test_a_graph_is_of_no_use_in_a_forked_child() -> None:
    run_script(
        GRAPH
        + """
pid = os.fork()
if pid == 0:
    for call in (graph.replay, lambda: graph.rebind(x=x), ap.Graph, lambda: graph.captured):
        try:
            call()
        except errors.ForkError as error:
            assert "spawn" in str(error)
        else:
            os._exit(3)
    graph.close()  # releases nothing of the parent's
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
graph.replay()
assert out.numpy().tolist() == [0, 0, 0, 0]
"""
    ).check()


@pytest.mark.emulator_only(reason="resets the device under the package's feet")
def test_after_a_reset_of_the_device_a_replay_is_an_error_of_the_library() -> None:
    run_script(
        GRAPH
        + """
from aclnn_py._ffi import C
assert C.aclrtResetDeviceForce(0) == 0
try:
    graph.replay()
except errors.AclError as error:
    print(type(error).__name__, error)
else:
    raise AssertionError("not refused")
os._exit(0)
""",
        env={"ACLNN_PY_CHECK": "0"},  # the checker refuses it before the library is asked
    ).check()


@pytest.mark.parametrize("end", ["", "graph.replay()", "del x, out", "raise SystemExit(0)"])
def test_a_live_graph_is_silent_at_exit(end: str) -> None:
    outcome = run_script(GRAPH + 'warnings.simplefilter("always")\n' + end + "\n").check()
    assert "Warning" not in outcome.err, outcome.err


def test_exit_inside_a_capture_is_silent() -> None:
    outcome = run_script(
        GRAPH + "other = ap.Graph()\nwith other.capture():\n    out = ap.functional.add(x, x)\n"
        "    sys.exit(0)\n"
    ).check()
    assert "Warning" not in outcome.err, outcome.err
