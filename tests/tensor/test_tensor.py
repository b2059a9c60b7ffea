# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading

import ml_dtypes
import numpy as np
import pytest
from helpers.gates import held
from helpers.memory import free_memory
from helpers.numerics import assert_same, sample
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import aclnn_py as ap
from aclnn_py import errors

DTYPES = [
    "float16", "float32", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8",
    "uint16", "uint32", "uint64", "bool", "complex64", "complex128", "float8_e4m3fn",
    "float8_e5m2", "int4",
]  # fmt: skip
SHAPES = [(), (1,), (7,), (3, 5), (2, 3, 4), (1, 1, 1, 1, 1, 1, 1, 2), (0,), (3, 0, 2)]


def host(name):
    return np.dtype(getattr(ml_dtypes, name, name))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_round_trip_of_every_dtype_and_rank(device, dtype, shape):
    array = sample(np.random.default_rng(1), shape, host(dtype))
    tensor = ap.from_numpy(np.asarray(array))
    assert tensor.shape == shape
    assert tensor.dtype == host(dtype)
    assert tensor.dtype_name == dtype
    assert tensor.ndim == len(shape)
    assert tensor.count == array.size
    assert tensor.nbytes == (array.size * (4 if dtype == "int4" else array.itemsize * 8) + 7) // 8
    assert tensor.is_contiguous
    assert tensor.device is device
    assert_same(tensor.numpy(), array)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[::2],
        lambda a: a[:, 1:3],
        lambda a: a.T,
        lambda a: a[::-1, ::-2],
        lambda a: np.broadcast_to(a[:1], (4, 6)),
        lambda a: a.astype(">f4"),
        lambda a: np.asfortranarray(a),
        lambda a: a[1, 2],
    ],
)
def test_host_arrays_of_any_strides_arrive_whole(device, view):
    array = view(np.arange(24, dtype=np.float32).reshape(4, 6))
    np.testing.assert_array_equal(ap.from_numpy(array).numpy(), array)


def test_the_result_of_numpy_is_a_new_array(device):
    tensor = ap.zeros(4, "int32")
    tensor.numpy()[:] = 9
    assert tensor.numpy().tolist() == [0, 0, 0, 0]


VIEWS = {
    "row": (lambda t: t[1], lambda a: a[1]),
    "column": (lambda t: t[:, 2], lambda a: a[:, 2]),
    "slice": (lambda t: t[1:, ::2], lambda a: a[1:, ::2]),
    "negative": (lambda t: t[-1:, -3:], lambda a: a[-1:, -3:]),
    "new axis": (lambda t: t[None, :, None], lambda a: a[None, :, None]),
    "ellipsis": (lambda t: t[..., 0], lambda a: a[..., 0]),
    "empty": (lambda t: t[3:, :0], lambda a: a[3:, :0]),
    "transpose": (lambda t: t.transpose(), lambda a: a.swapaxes(-1, -2)),
    "T": (lambda t: t.T, lambda a: a.T),
    "permute": (lambda t: t.permute(1, 0), lambda a: a.transpose(1, 0)),
    "reshape": (lambda t: t.reshape(2, -1), lambda a: a.reshape(2, -1)),
    "flat": (lambda t: t.reshape(-1), lambda a: a.reshape(-1)),
    "reshape of a slice": (
        lambda t: t[:, :4].reshape(4, 2, 2),
        lambda a: a[:, :4].reshape(4, 2, 2),
    ),
    "broadcast": (lambda t: t.broadcast_to((3, 4, 6)), lambda a: np.broadcast_to(a, (3, 4, 6))),
    "squeeze": (lambda t: t[:, :1].squeeze(1), lambda a: a[:, :1].squeeze(1)),
    "unsqueeze": (lambda t: t.unsqueeze(0), lambda a: a[None]),
    "chain": (lambda t: t.T[1::2].transpose()[1:], lambda a: a.T[1::2].T[1:]),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("dtype", ["int32", "bfloat16", "int4", "complex128"])
def test_views_are_numpy_s_and_move_nothing(device, name, dtype):
    on_device, on_host = VIEWS[name]
    array = sample(np.random.default_rng(2), (4, 6), host(dtype))
    tensor = ap.from_numpy(array)
    free = free_memory(device)
    view = on_device(tensor)
    expected = np.asarray(on_host(array))
    assert free_memory(device) == free
    assert view.buffer is tensor.buffer
    assert view.shape == expected.shape
    assert_same(view.numpy(), expected)
    assert view.storage_shape == tensor.storage_shape


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(data=st.data())
def test_random_chains_of_views_are_numpy_s(device, data):
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    array = np.arange(np.prod(shape), dtype=np.int16).reshape(shape)
    tensor = ap.from_numpy(array)
    for _ in range(data.draw(st.integers(1, 3))):
        axes = data.draw(st.permutations(range(array.ndim)))
        tensor, array = tensor.permute(*axes), array.transpose(axes)
        if array.ndim:
            start, step = data.draw(st.integers(0, 1)), data.draw(st.integers(1, 2))
            tensor, array = tensor[start::step], array[start::step]
    assert_same(tensor.numpy(), array)


def test_a_view_keeps_the_memory_alive(device):
    view = ap.from_numpy(np.arange(10, dtype=np.int32))[4:6]
    np.testing.assert_array_equal(view.numpy(), [4, 5])
    assert view.offset == 4
    assert view.address == view.buffer.address + 16


def test_layouts_of_equal_tensors_are_one_object(device):
    a, b = ap.empty((4, 5), "float16"), ap.empty((4, 5), "float16")
    assert a.layout is b.layout
    assert a.T.layout is b.T.layout
    assert a.layout is not a.T.layout
    assert a._desc.layout == b._desc.layout


@pytest.mark.parametrize("dtype", ["float16", "int8", "float32", "int4", "bfloat16"])
@pytest.mark.parametrize("shape", [(20, 33), (16, 64), (3, 17, 40)])
def test_blocked_format_round_trips_and_transposes(device, dtype, shape):
    array = sample(np.random.default_rng(3), shape, host(dtype))
    tensor = ap.from_numpy(array, format="FRACTAL_NZ")
    assert tensor.format is ap.Format.FRACTAL_NZ
    assert tensor.shape == shape
    assert len(tensor.storage_shape) == len(shape) + 2
    assert_same(tensor.numpy(), array)
    assert_same(tensor.transpose().numpy(), array.swapaxes(-1, -2))


def test_blocked_tensors_have_no_other_views(device):
    tensor = ap.empty((2, 32, 32), "float16", format=ap.Format.FRACTAL_NZ)
    for view in (
        lambda: tensor[0],
        lambda: tensor.reshape(-1),
        lambda: tensor.transpose(0, 1),
        lambda: tensor.broadcast_to((2, 2, 32, 32)),
    ):
        with pytest.raises(ValueError, match="FRACTAL_NZ"):
            view()


def test_filters_in_blocks_have_no_views(device):
    filters = (np.arange(18 * 35 * 4) % 100).astype(np.int8).reshape(18, 35, 2, 1, 2)
    tensor = ap.from_numpy(filters, format="FRACTAL_Z_3D")
    assert tensor.storage_shape == (8, 2, 16, 32)
    assert_same(tensor.numpy(), filters)
    for view in (lambda: tensor[0], lambda: tensor.swapaxes(-1, -2), lambda: tensor.T):
        with pytest.raises(ValueError, match="FRACTAL_Z_3D"):
            view()
    with pytest.raises(ValueError, match="5 dimensions"):
        ap.empty((2, 32), "int8", format="FRACTAL_Z_3D")


def test_filled_tensors(device):
    np.testing.assert_array_equal(ap.zeros((2, 3), "bfloat16").numpy().astype(float), 0)
    np.testing.assert_array_equal(ap.full((2, 3), 1.5, "float16").numpy(), 1.5)
    np.testing.assert_array_equal(ap.full(5, -3, "int4").numpy().astype(int), -3)
    like = ap.empty_like(ap.zeros((4, 2), "int8").T, dtype="float32")
    assert (like.shape, like.dtype, like.strides) == ((2, 4), np.float32, (4, 1))
    np.testing.assert_array_equal(ap.zeros_like(like).numpy(), np.zeros((2, 4)))


def test_a_type_without_a_host_type_is_carried_by_its_bits(device):
    codes = np.arange(8, dtype=np.uint8)
    tensor = ap.from_numpy(codes, dtype="hifloat8")
    assert tensor.dtype_name == "hifloat8"
    assert tensor.dtype == np.uint8
    np.testing.assert_array_equal(tensor.numpy(), codes)
    np.testing.assert_array_equal(tensor.view("uint8").numpy(), codes)


def test_reinterpreting_keeps_the_bits(device):
    array = np.array([1.0, -2.5, np.inf], np.float32)
    np.testing.assert_array_equal(ap.from_numpy(array).view("int32").numpy(), array.view(np.int32))
    for kind in ("int16", "uint8"):
        np.testing.assert_array_equal(ap.from_numpy(array).view(kind).numpy(), array.view(kind))
    for tensor in (ap.from_numpy(array), ap.zeros((), "float32"), ap.zeros((4, 4), "float32").T):
        with pytest.raises(ValueError, match="dtype: "):
            tensor.view("int64")


def test_writing_into_a_tensor(device, stream):
    tensor = ap.zeros((3, 4), "float32")
    tensor.copy_from(np.arange(12, dtype=np.float32).reshape(3, 4).T.copy().T)
    np.testing.assert_array_equal(tensor.numpy(), np.arange(12).reshape(3, 4))
    tensor[1].copy_from(np.full(4, -1, np.float32))
    np.testing.assert_array_equal(tensor.numpy()[:, 0], [0, -1, 8])
    other = ap.zeros((3, 4), "float32")
    other.copy_from(tensor, stream=stream)
    other[0].copy_from(tensor[1])
    np.testing.assert_array_equal(other.numpy()[:, 1], [-1, -1, 9])


def test_writing_elements_narrower_than_a_byte_spares_their_neighbours(device):
    array = np.arange(7).astype(ml_dtypes.int4)
    tensor = ap.from_numpy(array)
    tensor[2:4].copy_from(np.full(2, -1).astype(ml_dtypes.int4))
    tensor[4:].copy_from(np.full(3, -2).astype(ml_dtypes.int4))  # ends with the memory
    assert tensor.numpy().astype(int).tolist() == [0, 1, -1, -1, -2, -2, -2]
    for part in (tensor[1:3], tensor[0:3]):
        with pytest.raises(ValueError, match="shares a byte"):
            part.copy_from(np.zeros(part.shape).astype(ml_dtypes.int4))


@pytest.mark.parametrize("view", [lambda t: t, lambda t: t.T, lambda t: t[1:, ::2]])
def test_conversion_on_the_device(device, view):
    tensor = view(ap.from_numpy(np.arange(-6, 6, dtype=np.float32).reshape(3, 4)))
    expected = tensor.numpy()
    for dtype in ("int32", "float16", "bfloat16"):
        result = tensor.astype(dtype)
        assert result.dtype_name == dtype
        assert result.is_contiguous
        np.testing.assert_array_equal(result.numpy().astype(np.float32), expected)
    assert tensor.contiguous().is_contiguous
    assert (tensor.contiguous() is tensor) == tensor.is_contiguous
    np.testing.assert_array_equal(tensor.contiguous().numpy(), expected)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda t: ap.from_numpy([1, 2]), TypeError, "array: "),
        (lambda t: ap.from_numpy(np.array(["a"])), TypeError, "array: "),
        (lambda t: ap.from_numpy(np.array([object()])), TypeError, "array: "),
        (lambda t: ap.from_numpy(np.zeros((1,) * 9)), ValueError, "array: "),
        (lambda t: ap.from_numpy(np.zeros(3), dtype="int8"), ValueError, "dtype: "),
        (lambda t: ap.from_numpy(np.zeros(3), format="NCHW"), ValueError, "format: "),
        (lambda t: ap.from_numpy(np.zeros(3), device="cpu"), TypeError, "device: "),
        (lambda t: ap.empty((2, -1), "int8"), ValueError, "shape: "),
        (lambda t: ap.empty((1 << 62, 1 << 10), "float32"), ValueError, "shape: .*smaller"),
        (lambda t: ap.empty((2, 1.5), "int8"), TypeError, "shape: "),
        (lambda t: ap.empty("2", "int8"), TypeError, "shape: "),
        (lambda t: ap.empty(2, "int7"), TypeError, "dtype: "),
        (lambda t: ap.empty(2, None), TypeError, "dtype: "),
        (lambda t: ap.zeros(2, "float8_e8m0fnu"), ValueError, "dtype: "),
        (lambda t: t[2], IndexError, "index: "),
        (lambda t: t[t], IndexError, "integer"),
        (lambda t: t.reshape(5), ValueError, "shape: "),
        (lambda t: t.permute(0, 0), ValueError, "axes: "),
        (lambda t: t.broadcast_to((2, 4)), ValueError, "shape: "),
        (lambda t: t.squeeze(0), ValueError, "axis: "),
        (lambda t: t.item(), ValueError, "item: "),
        (lambda t: t.copy_from(np.zeros((2, 2), np.float32)), ValueError, "source: "),
        (lambda t: t.copy_from(np.zeros((2, 3), np.float64)), ValueError, "source: "),
        (lambda t: t[:, ::2].copy_from(np.zeros((2, 2), np.float32)), ValueError, "gaps"),
        (lambda t: ap.Tensor.wrap(t.buffer, (7,), "float32"), ValueError, "memory: "),
        (lambda t: ap.Tensor.wrap(t, (6,), "float32"), TypeError, "memory: "),
        (lambda t: ap.Tensor.wrap(t.buffer, 2, "float32", strides=(9,)), ValueError, "memory: "),
        (lambda t: ap.Tensor.wrap(t.buffer, 2, "float32", strides=(1, 1)), ValueError, "strides: "),
        (lambda t: ap.Tensor.wrap(t.buffer, 2, "float32", strides=(-1,)), ValueError, "strides: "),
        (lambda t: ap.Tensor(), TypeError, "from_numpy"),
        (lambda t: np.asarray(t, copy=False), ValueError, "copy"),
        (lambda t: len(ap.zeros((), "int8")), TypeError, "len"),
    ],
)
def test_mistakes_are_typed_and_name_the_argument(device, call, error, text):
    tensor = ap.zeros((2, 3), "float32")
    with pytest.raises(error, match=text):
        call(tensor)


def test_wrapping_memory_with_strides_and_offset(device):
    buffer = ap.Buffer.allocate(48)
    buffer.write(np.arange(12, dtype=np.int32))
    tensor = ap.Tensor.wrap(buffer, (2, 3), "int32", strides=(5, 2), offset=1)
    np.testing.assert_array_equal(tensor.numpy(), [[1, 3, 5], [6, 8, 10]])
    assert tensor.storage_shape == (11,)


def test_a_closed_tensor_closes_its_views(device):
    tensor = ap.zeros((2, 3), "float32")
    view = tensor[0]
    tensor.close()
    assert view.closed
    for call in (tensor.numpy, view.numpy, view.item, lambda: view.address):
        with pytest.raises((errors.ClosedError, ValueError)):
            call()
    with pytest.raises(errors.ClosedError):
        view.numpy()
    assert "closed" in repr(view)


def test_numpy_functions_take_a_tensor_as_an_array(device):
    tensor = ap.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    np.testing.assert_array_equal(np.asarray(tensor), tensor.numpy())
    assert np.asarray(tensor, dtype=np.float64).dtype == np.float64
    assert np.array(tensor[1:]).shape == (1, 3)
    assert len(tensor) == 2
    assert [row.numpy().sum() for row in tensor] == [3, 12]


def test_item(device):
    assert ap.full((), 2.5, "float16").item() == 2.5
    assert ap.full((1, 1), 7, "int64").item() == 7
    assert ap.from_numpy(np.array(3 - 4j, np.complex64)).item() == 3 - 4j


def test_text_shows_values_and_kind_and_stays_short(device):
    text = repr(ap.from_numpy(np.array([[1, 2], [3, 4]], np.int32)))
    assert "[[1, 2]" in text
    assert "shape=(2, 2), dtype=int32, device=0" in text
    long = repr(ap.from_numpy(np.arange(10**6, dtype=np.int32).reshape(1000, 1000)))
    assert len(long) < 500
    assert "[     0,      1,      2, ...,    997,    998,    999]" in long
    assert "999999]]" in long
    assert repr(ap.zeros((64, 64), "int8", format="FRACTAL_NZ")).startswith(
        "<Tensor shape=(64, 64)"
    )
    assert "strides=(1, 2)" in repr(ap.zeros((2, 2), "int8").T)


def test_reading_waits_for_queued_work(stream):
    tensor = ap.zeros(4, "uint8")
    with held(stream) as gate:
        tensor.buffer.fill(3, stream=stream)
        threading.Timer(0.2, gate.open).start()
        assert tensor.numpy().tolist() == [3, 3, 3, 3]


def test_memory_goes_with_the_last_reference(device):
    free = free_memory(device)
    tensor = ap.empty((256, 256), "float32")
    view = tensor.T[3:]
    del tensor
    assert free_memory(device) < free
    del view
    assert free_memory(device) == free


def test_storage_beyond_four_gibibytes_is_counted_in_full():
    from aclnn_py.tensor.dtypes import dtype_of
    from aclnn_py.tensor.formats import Format
    from aclnn_py.tensor.layout import contiguous_layout

    layout = contiguous_layout((1 << 17, 1 << 17), dtype_of("float32"), Format.ND)
    assert layout.span == 1 << 34
    assert layout.dtype.nbytes(layout.span) == 1 << 36
    assert layout.cdata.strides[0] == 1 << 17


def test_a_plain_format_can_be_named_and_moves_nothing(device):
    tensor = ap.from_numpy(np.arange(24, dtype=np.float32).reshape(2, 3, 4))[:, ::2]
    named = tensor.with_format("NCL")
    assert (named.format, named.shape, named.strides) == (ap.Format.NCL, (2, 2, 4), (12, 8, 1))
    assert named.address == tensor.address and tensor.format is ap.Format.ND
    with pytest.raises(ValueError, match="NCHW needs 4 dimensions"):
        tensor.with_format("NCHW")
    with pytest.raises(ValueError, match="not both plain"):
        tensor.with_format("FRACTAL_NZ")
    with pytest.raises(ValueError, match="not both plain"):
        ap.zeros((32, 32), np.float16, format="FRACTAL_NZ").with_format("ND")


def test_numpy_does_not_take_strides_in_elements_for_strides_in_bytes(device):
    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    tensor = ap.from_numpy(host)
    as_strided = np.lib.stride_tricks.as_strided
    for call in (
        lambda: as_strided(tensor, (2, 2), tensor.strides),
        lambda: as_strided(x=tensor, shape=(2,), strides=(4,)),
        lambda: as_strided(tensor[1:]),
    ):
        with pytest.raises(TypeError, match=r"as_strided: the strides of a Tensor count elements"):
            call()
    # The two ways out that the text names.
    view = ap.Tensor.wrap(tensor.buffer, (2, 2), tensor.dtype, strides=tensor.strides, offset=1)
    assert_same(view.numpy(), host[:2, 1:3])
    assert_same(as_strided(tensor.numpy(), (2, 2), (16, 4)), host[:2, :2])
    # Nothing else hands our strides to NumPy: it has them from the copy, in bytes.
    for name in ("__array_interface__", "__array_struct__"):
        assert not hasattr(tensor, name)
    for call in (
        lambda: np.ndarray((2, 2), np.float32, tensor, strides=tensor.strides),
        lambda: memoryview(tensor),
    ):
        with pytest.raises(TypeError):
            call()
    assert np.asarray(tensor).strides == np.array(tensor, copy=True).strides == (16, 4)


def test_tensors_are_made_as_numpy_makes_arrays(device):
    for name, arguments in (
        ("asarray", ([[1, 2], [3, 4]],)),
        ("asarray", (1.5, np.float16)),
        ("asarray", (np.arange(6)[::2],)),
        ("arange", (5,)),
        ("arange", (1, 7, 2)),
        ("arange", (0.0, 1.0, 0.25, np.float32)),
        ("linspace", (0, 1, 5)),
        ("linspace", (0, 1, 4, False)),
        ("eye", (3,)),
        ("eye", (2, 4, 1, np.int8)),
    ):
        result, wanted = (getattr(side, name)(*arguments) for side in (ap, np))
        assert isinstance(result, ap.Tensor) and result.dtype == wanted.dtype
        np.testing.assert_array_equal(result.numpy(), wanted)
    tensor = ap.arange(3)
    assert ap.asarray(tensor) is tensor and ap.asarray(tensor, np.int64) is tensor
    converted = ap.asarray(tensor, "float32").numpy()
    assert converted.dtype == np.float32 and converted.tolist() == [0, 1, 2]
    with pytest.raises(ValueError):
        ap.asarray([[1], [1, 2]])
    with pytest.raises(ValueError):
        ap.linspace(0, 1, -1)


def test_nested_lists_that_hold_tensors_stay_on_the_device(device, monkeypatch):
    row = ap.from_numpy(np.array([1, 2], np.float16))
    wide = ap.from_numpy(np.array([3, 4], np.int32))
    other = ap.Device(1)
    monkeypatch.setattr(ap.Tensor, "__array__", None)  # a copy to the host would raise
    found = ap.asarray([row, [5, 6], (wide[0], 7.5)])
    assert found.shape == (3, 2) and found.dtype == np.float64 and found.device is device
    assert found.tolist() == [[1, 2], [5, 6], [3, 7.5]]
    assert ap.asarray([row, row], "bfloat16").dtype_name == "bfloat16"
    assert ap.asarray((row, row), np.int8).tolist() == [[1, 2], [1, 2]]
    with pytest.raises(ValueError, match="shapes differ"):
        ap.asarray([row, [1, 2, 3]])
    monkeypatch.undo()
    for make in (ap.asarray, ap.xp.asarray):
        moved = make([row, [5, 6]], device=other)
        assert moved.device is other and moved.tolist() == [[1, 2], [5, 6]]


def test_asarray_takes_types_that_numpy_lacks(device):
    tensor = ap.asarray([1, 2.5], "bfloat16")
    assert tensor.dtype_name == "bfloat16" and tensor.tolist() == [1, 2.5]
    assert ap.asarray(tensor, "bfloat16") is tensor
    bits = ap.from_numpy(np.ones(2, np.uint8), dtype="hifloat8")
    assert ap.asarray(bits, "hifloat8") is bits  # the host type of both is uint8
    with pytest.raises(ap.errors.InvalidArgumentError, match="aclnnCast"):
        ap.asarray(bits, np.uint8)
    with pytest.raises(TypeError, match="hifloat8"):
        ap.asarray([1], "hifloat8")
