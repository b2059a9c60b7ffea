# SPDX-License-Identifier: Apache-2.0
"""Views are compared with NumPy's own over the same memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclnn_py.tensor import views
from aclnn_py.tensor.views import View, contiguous_strides

shapes = st.lists(st.integers(1, 5), min_size=0, max_size=4).map(tuple)


def start(shape):
    return View(shape, contiguous_strides(shape), 0)


def look(base, view):
    flat = base.reshape(-1)[view.offset :]
    steps = [stride * base.itemsize for stride in view.strides]
    return np.lib.stride_tricks.as_strided(flat, view.shape, steps)


@st.composite
def shape_and_key(draw):
    shape = draw(shapes)
    item = st.one_of(
        st.integers(-2, 2),
        st.builds(
            slice,
            st.none() | st.integers(-4, 4),
            st.none() | st.integers(-4, 4),
            st.none() | st.integers(1, 3),
        ),
        st.none(),
    )
    key = draw(st.lists(item, max_size=len(shape) + 1))
    if draw(st.booleans()):
        key.insert(draw(st.integers(0, len(key))), Ellipsis)
    return shape, tuple(key)


@given(shape_and_key())
def test_basic_indexing_is_numpy_s(case):
    shape, key = case
    base = np.arange(int(np.prod(shape))).reshape(shape)
    try:
        expected = np.asarray(base[key])
    except IndexError:
        with pytest.raises(IndexError, match="index: "):
            views.index(start(shape), key)
        return
    view = views.index(start(shape), key)
    assert view.shape == expected.shape
    if expected.size:
        np.testing.assert_array_equal(look(base, view), expected)


@given(st.data())
def test_reshape_of_a_permuted_view_is_exact_or_none(data):
    shape = data.draw(shapes)
    base = np.arange(int(np.prod(shape))).reshape(shape)
    axes = data.draw(st.permutations(range(len(shape))))
    expected = base.transpose(axes)
    view = views.permute(start(shape), axes)
    target = data.draw(st.permutations(shape)) if data.draw(st.booleans()) else [-1]
    result = views.reshape(view, target)
    if result is None:
        # NumPy had to copy as well.
        assert not np.shares_memory(expected.reshape(target), base)
        return
    np.testing.assert_array_equal(look(base, result), expected.reshape(target))


@given(shapes)
def test_broadcast_squeeze_unsqueeze_are_numpy_s(shape):
    base = np.arange(int(np.prod(shape))).reshape(shape)
    wide = (2, *shape)
    np.testing.assert_array_equal(
        look(base, views.broadcast(start(shape), wide)), np.broadcast_to(base, wide)
    )
    np.testing.assert_array_equal(look(base, views.squeeze(start(shape))), base.squeeze())
    for axis in range(-len(shape) - 1, len(shape) + 1):
        np.testing.assert_array_equal(
            look(base, views.unsqueeze(start(shape), axis)), np.expand_dims(base, axis)
        )


@given(shapes)
def test_contiguity_is_numpy_s(shape):
    base = np.arange(int(np.prod(shape))).reshape(shape)
    for axes in ([*range(len(shape))], [*reversed(range(len(shape)))]):
        view = views.permute(start(shape), axes)
        expected = base.transpose(axes).flags.c_contiguous
        assert views.is_contiguous(view.shape, view.strides) == expected


@pytest.mark.parametrize("key", [[0, 1], np.array([0, 1]), True, 1.5, "a", np.bool_(True)])
def test_gathers_are_refused_as_views(key):
    with pytest.raises(TypeError, match="index: "):
        views.index(start((3, 4)), key)


def test_backward_steps_are_refused():
    with pytest.raises(ValueError, match="backwards"):
        views.index(start((3,)), slice(None, None, -1))


@pytest.mark.parametrize(
    ("value", "error"), [((2, -1), ValueError), ((1,) * 9, ValueError), ((2.0,), TypeError)]
)
def test_bad_shapes_name_the_argument(value, error):
    with pytest.raises(error, match=r"^shape: "):
        views.shape_of(value)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda v: views.permute(v, (0, 0)), "axes"),
        (lambda v: views.permute(v, (0,)), "axes"),
        (lambda v: views.swap(v, 0, 2), "dim1"),
        (lambda v: views.broadcast(v, (5, 4)), "shape"),
        (lambda v: views.broadcast(v, (4,)), "shape"),
        (lambda v: views.squeeze(v, 0), "axis"),
        (lambda v: views.unsqueeze(v, 4), "axis"),
        (lambda v: views.reshape(v, (-1, -1)), "shape"),
        (lambda v: views.reshape(v, (5, -1)), "shape"),
        (lambda v: views.reshape(v, (3, 5)), "shape"),
    ],
)
def test_impossible_views_name_the_argument(call, error):
    with pytest.raises(ValueError, match=f"^{error}: "):
        call(start((3, 4)))
