# SPDX-License-Identifier: Apache-2.0
"""Launches that are refused and work that fails on the device: typed, and nothing is left."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from helpers.gates import held
from helpers.memory import free_memory

import aclnn_py as ap
from aclnn_py import errors
from aclnn_py.runtime.handle import live_handles


def host(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def bad_gather():
    table = ap.from_numpy(host(4, 3))
    rows = ap.from_numpy(np.array([0, 99], np.int64))
    ap.ops.index_select(table, 0, rows, ap.empty((2, 3), "float32"))


def test_a_refused_launch_leaves_nothing_behind(device):
    x, out = ap.from_numpy(host(4, 3)), ap.empty((2, 3), "float32")

    def refused():
        with pytest.raises(errors.AclnnError) as caught:
            ap.ops.add(x, x, 1.0, out)
        assert caught.value.status == 161002

    refused()
    ap.synchronize()
    handles, free = live_handles(), free_memory(device)
    for _ in range(500):
        refused()
    gc.collect()
    assert live_handles() == handles
    assert free_memory(device) == free
    result = ap.empty((4, 3), "float32")
    ap.ops.add(x, x, 1.0, result)
    np.testing.assert_array_equal(result.numpy(), 2 * host(4, 3))


def test_an_exception_after_a_launch_does_not_free_what_it_uses(device, stream):
    free = free_memory(device)
    with held(stream) as gate:

        def fails():
            x = ap.from_numpy(host(256, 256))
            out = ap.empty((256, 256), "float32")
            ap.ops.add(x, x, 1.0, out)
            raise KeyError

        with pytest.raises(KeyError):
            fails()
        gc.collect()
        assert free_memory(device) < free
        gate.open()
        stream.synchronize()
    assert free_memory(device) == free


@pytest.mark.emulator_only(reason="an NPU may need a reset after a fault")
def test_a_fault_on_the_device_is_raised_by_the_next_wait_and_the_stream_goes_on(stream):
    bad_gather()
    with pytest.raises(errors.DeviceError) as caught:
        stream.synchronize()
    assert caught.value.status == 507015
    assert "aclnnIndexSelect" in caught.value.detail
    assert caught.value.stream == stream.id
    x = ap.from_numpy(host(2, 2))
    ap.ops.add(x, x, 1.0, x)
    np.testing.assert_array_equal(x.numpy(), 2 * host(2, 2))


@pytest.mark.emulator_only(reason="an NPU may need a reset after a fault")
def test_a_fault_reaches_the_reader_of_the_tensor(stream):
    table = ap.from_numpy(host(4, 3))
    rows = ap.from_numpy(np.array([-77], np.int64))
    out = ap.empty((1, 3), "float32")
    ap.ops.index_select(table, 0, rows, out)
    with pytest.raises(errors.DeviceError):
        out.numpy()


@pytest.mark.emulator_only(reason="an NPU may need a reset after a fault")
def test_memory_of_failed_work_is_given_back(device):
    free = free_memory(device)
    stream = device.create_stream()
    with stream.use():
        bad_gather()
    with pytest.warns(errors.ReleaseWarning, match="507015"):
        stream.close()
    gc.collect()
    assert free_memory(device) == free


def test_launches_with_a_workspace_keep_it_until_they_are_done(device, stream):
    free = free_memory(device)
    a, b = ap.from_numpy(host(64, 64)), ap.from_numpy(host(64, 64))
    out = ap.empty((64, 64), "float32")
    with held(stream) as gate:
        for _ in range(5):
            ap.ops.matmul(a, b, out, 0)
        gate.open()
    np.testing.assert_allclose(out.numpy(), host(64, 64) @ host(64, 64), rtol=1e-5)
    del a, b, out
    stream.synchronize()
    stream.close()
    assert free_memory(device) >= free


def test_temporaries_of_a_chain_live_as_long_as_the_device_needs_them(stream):
    x = ap.from_numpy(np.ones((128, 128), np.float32))
    with held(stream) as gate:
        for _ in range(200):
            y = ap.empty((128, 128), "float32")
            ap.ops.add(x, x, 0.0, y)
            x = y  # the old one is dropped while its reader is still queued
        gate.open()
    np.testing.assert_array_equal(x.numpy(), 1)
