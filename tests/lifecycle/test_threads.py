# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import threading

import numpy as np

import aclnn_py as ap


def run_all(count, work):
    failures = []

    def guarded(index):
        try:
            work(index)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


def test_many_threads_on_many_devices(device):
    devices = ap.device_count()

    def work(index):
        with ap.Device(index % devices) as mine, mine.create_stream() as stream:
            for i in range(100):
                tensor = ap.zeros((16, 16), "int32")
                tensor.copy_from(np.full((16, 16), i, np.int32), stream=stream)
                assert (tensor.T.numpy() == i).all()
                assert tensor.device is mine

    run_all(8, work)


def test_objects_made_in_one_thread_are_released_in_another(device, second_device):
    made = []

    def make(index):
        with (device, second_device)[index % 2]:
            made.extend(ap.zeros(1024, "float32") for _ in range(50))

    run_all(4, make)
    before = ap.Device.current()
    while made:
        made.pop()
    gc.collect()
    assert ap.Device.current() is before
    assert ap.empty(1, "int8").device is before


def test_collector_runs_in_the_middle_of_other_calls(device, second_device):
    """Cycles over buffers of another device are collected wherever the collector strikes."""
    threshold = gc.get_threshold()
    gc.set_threshold(7)
    try:
        for i in range(300):
            cycle = [ap.empty(64, "int8", device=second_device)]
            cycle.append(cycle)
            del cycle
            tensor = ap.full(8, i, "int32")
            assert tensor.device is device
            assert (tensor.numpy() == i).all()
    finally:
        gc.set_threshold(*threshold)


def test_ranks_as_threads_each_with_a_current_stream(device):
    barrier = threading.Barrier(4)

    def work(index):
        with ap.Device(index % ap.device_count()) as mine, mine.create_stream() as stream:
            barrier.wait(30)
            assert ap.current_stream() is stream
            assert ap.Device.current() is mine

    run_all(4, work)
