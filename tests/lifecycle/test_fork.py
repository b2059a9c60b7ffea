# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from helpers.processes import run_script

FORK = """
import os, sys, warnings
import numpy as np
import aclnn_py as ap
from aclnn_py import errors

def in_child(work):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            work()
            status = 0
        except BaseException as error:
            print("child:", type(error).__name__, error, flush=True)
            status = 1
        finally:
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)

def refused(call):
    def work():
        try:
            call()
        except errors.ForkError as error:
            assert "spawn" in str(error), error
            return
        raise AssertionError("not refused")
    return work
"""


def test_every_door_is_shut_in_a_child_forked_after_init():
    run_script(
        FORK
        + """
tensor = ap.zeros(16, "float32")
stream = ap.Stream()
event = stream.record()
for call in (
    lambda: ap.zeros(4, "int8"),
    lambda: tensor.numpy(),
    lambda: ap.Stream(),
    lambda: stream.synchronize(),
    lambda: stream.query(),
    lambda: stream.record(),
    lambda: event.synchronize(),
    lambda: event.record(),
    lambda: ap.synchronize(),
    lambda: ap.device_count(),
    lambda: ap.memory_info(),
    lambda: ap.Device(0).activate(),
    lambda: ap.Device(0).__enter__(),
    lambda: ap.current_stream(),
    lambda: ap.HostBuffer(8),
    lambda: tensor.buffer.fill(0),
):
    assert in_child(refused(call)) == 0
assert tensor.numpy().sum() == 0
"""
    ).check()


def test_a_child_releases_nothing_of_its_parent():
    outcome = run_script(
        FORK
        + """
keep = [ap.full(16, 2.0, "float32") for _ in range(8)]
stream = ap.Stream()
free = ap.memory_info().free

def work():
    global keep, stream
    for tensor in keep:
        tensor.close()
    keep.clear()
    stream.close()
    del stream

assert in_child(work) == 0
assert ap.memory_info().free == free
assert all((tensor.numpy() == 2.0).all() for tensor in keep)
stream.synchronize()
"""
    ).check()
    assert outcome.err == ""


def test_a_child_that_exits_normally_is_silent():
    outcome = run_script(
        """
        import os, sys
        import aclnn_py as ap
        keep = ap.zeros(100, "float32")
        stream = ap.Stream()
        pid = os.fork()
        if pid == 0:
            sys.exit(0)  # runs atexit and the finalizers
        assert os.waitpid(pid, 0)[1] == 0
        assert keep.numpy().sum() == 0
        """
    ).check()
    assert outcome.err == ""


def test_a_child_forked_before_init_works():
    run_script(
        FORK
        + """
def work():
    assert ap.full(4, 3, "int32").numpy().tolist() == [3, 3, 3, 3]

assert in_child(work) == 0
work()
"""
    ).check()


def test_multiprocessing_with_spawn_works_after_init(tmp_path):
    script = tmp_path / "spawning.py"
    script.write_text(
        """
import multiprocessing
import aclnn_py as ap

def work(value):
    return ap.full(4, value, "int32").numpy().tolist()

if __name__ == "__main__":
    ap.zeros(1, "int8")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(work, [1, 2]))
"""
    )
    outcome = run_script(
        f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
    ).check()
    assert outcome.out.strip() == "[[1, 1, 1, 1], [2, 2, 2, 2]]"
