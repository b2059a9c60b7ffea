# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import weakref

import ml_dtypes
import numpy as np
import pytest
from helpers.memory import free_memory

import aclnn_py as ap
from aclnn_py.runtime.handle import live_handles

pytestmark = pytest.mark.emulator_only(reason="NumPy reads the memory of the emulator in place")

DTYPES = [
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "bool", "complex64", "complex128",
]  # fmt: skip


class Producer:
    """Hands out a capsule as another library would."""

    def __init__(self, array, device=(1, 0), versioned=True):
        self.array, self.device, self.versioned = array, device, versioned

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if not self.versioned:
            if "max_version" in options:
                raise TypeError("unexpected keyword argument")
            return self.array.__dlpack__()
        return self.array.__dlpack__(**options)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_reads_a_tensor_in_place(device, dtype):
    tensor = ap.from_numpy(np.arange(12).reshape(3, 4).astype(dtype))
    array = np.from_dlpack(tensor)
    assert array.dtype == dtype
    np.testing.assert_array_equal(array, tensor.numpy())
    tensor.buffer.fill(1)
    np.testing.assert_array_equal(array, tensor.numpy())
    view = np.from_dlpack(tensor[1:, ::2])
    np.testing.assert_array_equal(view, array[1:, ::2])
    assert view.strides == array[1:, ::2].strides


def test_the_consumer_keeps_the_memory_alive(device):
    free = free_memory(device)
    tensor = ap.from_numpy(np.arange(1000, dtype=np.int32))
    array = np.from_dlpack(tensor)
    del tensor
    gc.collect()
    assert array[999] == 999
    assert free_memory(device) < free
    del array
    gc.collect()
    assert free_memory(device) == free


def test_a_capsule_nobody_takes_releases_the_memory(device):
    free = free_memory(device)
    tensor = ap.zeros(1000, "float32")
    capsules = [tensor.__dlpack__(), tensor.__dlpack__(max_version=(1, 0))]
    assert "dltensor_versioned" in repr(capsules[1])
    assert "dltensor_versioned" not in repr(capsules[0])
    del tensor
    assert free_memory(device) < free
    capsules.clear()
    assert free_memory(device) == free


@pytest.mark.parametrize("versioned", [True, False])
def test_a_host_array_is_copied_to_the_device(device, versioned):
    array = np.arange(12, dtype=np.float32).reshape(3, 4)[:, ::2]
    tensor = ap.from_dlpack(Producer(array, versioned=versioned))
    np.testing.assert_array_equal(tensor.numpy(), array)
    array[:] = 0
    assert tensor.numpy().sum() > 0


def test_backward_strides_of_the_host_are_read(device):
    array = np.arange(6, dtype=np.int16)[::-1]
    np.testing.assert_array_equal(ap.from_dlpack(array).numpy(), array)


def test_memory_of_the_device_is_shared(device):
    tensor = ap.from_numpy(np.arange(12, dtype=np.float32).reshape(3, 4))
    shared = ap.from_dlpack(tensor.T)
    assert shared.address == tensor.address
    assert shared.shape == (4, 3)
    assert shared.device is device
    np.testing.assert_array_equal(shared.numpy(), tensor.numpy().T)
    copied = ap.from_dlpack(tensor, copy=True)
    assert copied.address != tensor.address
    np.testing.assert_array_equal(copied.numpy(), tensor.numpy())


def test_sharing_keeps_the_producer_alive(device):
    shared = ap.from_dlpack(ap.from_numpy(np.arange(5, dtype=np.int64)))
    gc.collect()
    np.testing.assert_array_equal(shared.numpy(), range(5))


def test_importing_calls_the_deleter_once(device):
    array = np.arange(4.0)
    seen = weakref.ref(array)
    tensor = ap.from_dlpack(array)
    del array
    gc.collect()
    assert seen() is None  # the copy was made, so the producer's memory is free
    del tensor
    assert live_handles().get("ForeignMemory", 0) == 0


def test_bfloat16_travels_between_tensors(device):
    array = np.arange(8).astype(ml_dtypes.bfloat16)
    shared = ap.from_dlpack(ap.from_numpy(array))
    assert shared.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(shared.numpy().astype(float), range(8))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: ap.from_dlpack([1, 2]), TypeError),
        (lambda: ap.from_dlpack(np.zeros(3), copy=False), BufferError),
        (lambda: ap.from_dlpack(Producer(np.zeros(3), device=(2, 0))), BufferError),
        (lambda: ap.zeros(4, "int4").__dlpack__(), BufferError),
        (lambda: ap.zeros((16, 16), "int8", format="FRACTAL_NZ").__dlpack__(), BufferError),
        (lambda: ap.zeros(4, "int8").__dlpack__(dl_device=(2, 0)), BufferError),
    ],
)
def test_what_cannot_be_is_refused(device, call, error):
    with pytest.raises(error):
        call()


def test_a_copy_is_marked_and_independent(device):
    tensor = ap.zeros(4, "int32")
    array = np.from_dlpack(tensor, copy=True)
    tensor.buffer.fill(1)
    assert array.tolist() == [0, 0, 0, 0]


def test_device_number(device):
    assert ap.zeros(1, "int8").__dlpack_device__() == (1, 0)
