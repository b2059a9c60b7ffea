# SPDX-License-Identifier: Apache-2.0
"""Elements between NumPy and the device, in any strides, in one pass."""

from __future__ import annotations

import gc

import ml_dtypes
import numpy as np
import pytest
from helpers.gates import held

import aclnn_py as ap
from aclnn_py.tensor import staging


@pytest.fixture(params=["one stage", "many stages"])
def stage(request, monkeypatch):
    """The stage, and one so small that every array needs it several times."""
    if request.param == "many stages":
        monkeypatch.setattr(staging, "STAGE_NBYTES", 64)


def numbers(*shape: int, dtype: object = np.float32) -> np.ndarray:
    return (np.arange(np.prod(shape)) % 120).reshape(shape).astype(dtype)


VIEWS = [
    (lambda a: a[:, ::2], "columns"),
    (lambda a: a[1::3], "rows"),
    (lambda a: a.T, "transposed"),
    (lambda a: a[3:4, 2:3], "one"),
    (lambda a: a[:, 0], "column"),
    (lambda a: a[2:9, 3:7], "window"),
    (lambda a: a[:0], "nothing"),
]


@pytest.mark.parametrize("dtype", [np.int8, np.float32, ml_dtypes.bfloat16, np.complex128])
@pytest.mark.parametrize("view", [view for view, _ in VIEWS], ids=[name for _, name in VIEWS])
def test_strided_both_ways(device, stage, view, dtype):
    array = numbers(12, 10, dtype=dtype)
    sent = ap.from_numpy(view(array))
    np.testing.assert_array_equal(sent.numpy(), view(array))
    whole = ap.from_numpy(array)
    got = view(whole).numpy()
    np.testing.assert_array_equal(got, view(array))
    assert got.flags.c_contiguous and got.dtype == array.dtype


def test_more_dimensions_negative_steps_and_foreign_byte_order(device, stage):
    array = numbers(3, 4, 5, 6)
    for view in (array[::-1, :, ::-2], array.transpose(2, 0, 3, 1), array.astype(">f4")[..., ::3]):
        np.testing.assert_array_equal(ap.from_numpy(view).numpy(), view)
    tensor = ap.from_numpy(array)
    turned = tensor.permute(2, 0, 3, 1)[1:, ::2]
    np.testing.assert_array_equal(turned.numpy(), array.transpose(2, 0, 3, 1)[1:, ::2])
    repeated = tensor[:1].broadcast_to((3, 4, 5, 6))
    np.testing.assert_array_equal(repeated.numpy(), np.broadcast_to(array[:1], array.shape))


def test_gaps_longer_than_a_page_are_not_read(device):
    array = np.arange(40 * 3000, dtype=np.float32).reshape(40, 3000)
    tensor = ap.from_numpy(array)
    for key in ((slice(None), slice(0, 5)), (slice(0, None, 7), slice(1, 30, 3))):
        np.testing.assert_array_equal(tensor[key].numpy(), array[key])


def test_elements_go_into_an_array_of_the_caller(device, stage):
    array = numbers(12, 10)
    tensor = ap.from_numpy(array)
    out = np.zeros_like(array)
    assert tensor.numpy(out=out) is out
    np.testing.assert_array_equal(out, array)
    wide = np.full((12, 20), -1, np.float32)
    assert tensor.numpy(out=wide[:, ::2]).base is wide
    np.testing.assert_array_equal(wide[:, ::2], array)
    assert (wide[:, 1::2] == -1).all()
    fortran = np.zeros((12, 10), np.float32, order="F")
    np.testing.assert_array_equal(tensor.numpy(out=fortran), array)
    backwards = np.zeros((12, 10), np.float32)[::-1]
    np.testing.assert_array_equal(tensor.numpy(out=backwards), array)
    np.testing.assert_array_equal(tensor.T.numpy(out=np.zeros((10, 12), np.float32)), array.T)
    pinned = ap.HostBuffer(480)
    np.testing.assert_array_equal(
        tensor.numpy(out=pinned.numpy().view("f4").reshape(12, 10)), array
    )
    empty = np.zeros((0, 3), np.float32)
    assert ap.empty((0, 3), np.float32).numpy(out=empty) is empty


def test_packed_and_blocked_elements_go_into_an_array_of_the_caller(device):
    packed = np.arange(-8, 7).astype(ml_dtypes.int4)
    out = np.zeros(15, ml_dtypes.int4)
    assert ap.from_numpy(packed).numpy(out=out) is out
    np.testing.assert_array_equal(out, packed)
    matrix = numbers(20, 30, dtype=np.float16)
    into = np.zeros((20, 60), np.float16)
    ap.from_numpy(matrix, format="FRACTAL_NZ").numpy(out=into[:, ::2])
    np.testing.assert_array_equal(into[:, ::2], matrix)


def test_mistakes_about_out_are_named_and_nothing_is_written(device):
    tensor = ap.from_numpy(numbers(2, 3))
    frozen = np.zeros((2, 3), np.float32)
    frozen.flags.writeable = False
    for wrong, error, words in (
        ([1, 2], TypeError, "numpy.ndarray"),
        (np.zeros((3, 2), np.float32), ValueError, r"\(2, 3\)"),
        (np.zeros((2, 3), np.float64), ValueError, "float32"),
        (np.zeros((2, 3), ">f4"), ValueError, "float32"),
        (frozen, ValueError, "writable"),
    ):
        with pytest.raises(error, match=f"^out: .*{words}"):
            tensor.numpy(out=wrong)
    assert not frozen.any()


def test_a_queued_copy_takes_a_picture_of_the_array(device, stream):
    array = numbers(64, 64)
    tensor = ap.zeros((64, 64), np.float32)
    expected = array.T.copy()
    with held(stream) as gate:
        tensor.copy_from(array.T, stream=stream)  # returns though the gate is shut
        array[:] = -1
        gc.collect()
        gate.open()
    np.testing.assert_array_equal(tensor.numpy(), expected)


def test_the_stage_is_all_the_host_memory_a_strided_copy_takes(device):
    ap.trim_memory(pinned=True)
    ap.reset_peak_memory_stats(pinned=True)
    array = np.zeros((1024, 2048), np.float32)[:, ::2]  # four stages long
    before = ap.memory_stats(pinned=True).allocated_nbytes
    tensor = ap.from_numpy(array)
    tensor.T.numpy()
    peak = ap.memory_stats(pinned=True).allocated_peak_nbytes
    assert peak - before <= staging.STAGE_NBYTES + 1024
