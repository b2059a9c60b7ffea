# SPDX-License-Identifier: Apache-2.0
"""Waiting for the results of a micro batch where attention and experts run apart."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.operators import place, refusal
from helpers.processes import run_script

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="chooses the chip of the emulator"),
]

_PREPARED = """
import struct
import numpy as np
import aclnn_py as ap

def context(flags, batches, size, experts, ready, run=1, room=None):
    data = bytearray(1024)
    struct.pack_into("<4I", data, 0, 1, batches, size, experts)
    struct.pack_into("<i", data, 128, run)
    room = flags.nbytes if room is None else room
    struct.pack_into("<2Q", data, 256, flags.address, room)
    struct.pack_into("<I", data, 288, ready)
    return ap.from_numpy(np.frombuffer(bytes(data), np.int8))

def ready_batch(tensor):
    return struct.unpack_from("<I", tensor.numpy().tobytes(), 288)[0]

class Nowhere:
    address, nbytes = 4096, 1024

wait = ap.ops.inplace_attention_worker_scheduler
ap.Device(0).activate()
"""
_CHIPS = ["Ascend910_9392", "Ascend950PR_9599"]


def run(source: str, chip: str) -> str:
    made = run_script(_PREPARED + source, env={"ACLNN_PY_EMULATOR_SOC": chip})
    return made.check().out


@pytest.mark.parametrize("chip", _CHIPS)
def test_the_flags_of_the_next_batch_are_taken_back(chip: str) -> None:
    source = """
host = np.ones((3, 2 * 5), np.int32)
flags = ap.from_numpy(host)
state = context(flags, 3, 2, 5, 1)
for expected in (2, 0, 1):
    wait(state)
    ap.Device(0).synchronize()  # the flags are no argument of the call
    host[expected] = 0
    np.testing.assert_array_equal(flags.numpy(), host)
    print(ready_batch(state))
"""
    assert run(source, chip).split() == ["2", "0", "1"]


def test_it_waits_for_the_last_flag() -> None:
    source = """
import time
host = np.ones((1, 6), np.int32)
host[0, 4] = 0
flags = ap.from_numpy(host)
state = context(flags, 1, 2, 3, 0)
worker, other = ap.Stream(), ap.Stream()
wait(state, stream=worker)
time.sleep(0.2)
print(worker.query())
flags.copy_from(np.ones((1, 6), np.int32), stream=other)
other.synchronize()
worker.synchronize()
print(flags.numpy().any(), ready_batch(state))
"""
    assert run(source, _CHIPS[0]).split() == ["False", "False", "0"]


def test_it_leaves_when_the_run_flag_is_0() -> None:
    source = """
flags = ap.from_numpy(np.zeros((2, 4), np.int32))
state = context(flags, 2, 2, 2, 0, run=0)
wait(state)
print(ready_batch(state))
"""
    assert run(source, _CHIPS[0]).split() == ["0"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("batches=0", "micro_batch_num of the context is 0"),
        ("size=1 << 31", "token_info_buf_size of the context is"),
        ("room=12", "token_info_buf_size of the context is 12"),
        ("flags=Nowhere", "token_info_buf of the context gives"),
    ],
)
def test_a_context_that_leads_nowhere_is_a_fault(change: str, text: str) -> None:
    source = f"""
flags = ap.from_numpy(np.ones((2, 4), np.int32))
known = dict(flags=flags, batches=2, size=2, experts=2, ready=0)
known.update({change})
try:
    wait(context(**known))
    ap.Device(0).synchronize()
except ap.errors.StatusError as error:
    print(error)
"""
    assert text in run(source, _CHIPS[0])


def test_refusals_name_the_argument() -> None:
    source = """
for wrong in (np.zeros(1000, np.int8), np.zeros((2, 512), np.int8), np.zeros(1024, np.int32)):
    try:
        wait(ap.from_numpy(wrong))
    except ap.errors.AclnnError as error:
        print(error.status, "scheduleContextRef" in str(error))
"""
    assert run(source, _CHIPS[0]).split() == ["161002", "True"] * 3


def test_a_910b_does_not_have_it() -> None:
    state = place(np.zeros(1024, np.int8))
    assert refusal("aclnnInplaceAttentionWorkerScheduler", state) == 561003
