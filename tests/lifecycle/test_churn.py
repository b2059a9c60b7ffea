# SPDX-License-Identifier: Apache-2.0
"""Long loops of making and releasing: neither host nor device memory may grow."""

from __future__ import annotations

import gc
import os
import resource
import threading

import numpy as np
import pytest
from helpers.memory import free_memory

import aclnn_py as ap
from aclnn_py.runtime.handle import live_handles

ROUNDS = 20_000
# Under ACLNN_PY_CHECK=1 the emulator holds back so much freed memory.
HELD_BACK = (64 << 20) if os.environ.get("ACLNN_PY_CHECK") == "1" else 0


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def make_tensor():
    ap.empty((4, 8), "float16")


def make_views():
    tensor = ap.empty((4, 8), "float16")
    tensor[1:, ::2].transpose()[None].broadcast_to((2, 4, 3))


def make_queued_work():
    ap.Buffer.allocate(256).fill(0, stream=ap.current_stream())


def make_varied_shapes(counter=[0]):  # noqa: B006
    counter[0] += 1
    ap.empty((1 + counter[0] % 5000, 3), "int8")


def make_event():
    ap.current_stream().record()


def make_error():
    with pytest.raises(ValueError):
        ap.empty((2, -1), "int8")


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    "work", [make_tensor, make_views, make_queued_work, make_varied_shapes, make_event, make_error]
)
def test_making_and_releasing_is_flat(device, work):
    rounds = ROUNDS if work is not make_error else ROUNDS // 10
    for _ in range(rounds // 4):
        work()
    ap.synchronize()
    gc.collect()
    memory, handles, free = resident(), live_handles(), free_memory(device)
    for _ in range(rounds):
        work()
    ap.synchronize()
    gc.collect()
    assert live_handles() == handles
    assert free_memory(device) == free
    assert resident() - memory < (3 << 20) + HELD_BACK


def test_streams_come_and_go(device):
    def once():
        with device.create_stream() as stream:
            ap.Buffer.allocate(64).fill(0, stream=stream)

    for _ in range(50):
        once()
    memory, threads = resident(), threading.active_count()
    for _ in range(500):
        once()
    gc.collect()
    assert resident() - memory < 4 << 20
    assert threading.active_count() == threads


def test_round_trips_are_flat(device):
    array = np.arange(1000, dtype=np.float32)
    for _ in range(500):
        ap.from_numpy(array).numpy()
    memory = resident()
    for _ in range(5000):
        ap.from_numpy(array).numpy()
    assert resident() - memory < 3 << 20
