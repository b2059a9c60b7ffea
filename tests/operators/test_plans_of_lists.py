# SPDX-License-Identifier: Apache-2.0
"""Launches through lists of tensors, which find the call of the last launch again in C."""

from __future__ import annotations

import gc
import sys
import threading

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import errors, ops


def rows(count, start=0):
    return [ap.full((1, 3), start + i, np.float32) for i in range(count)]


def joined(parts, **options):
    out = ap.full((sum(p.shape[0] for p in parts), 3), -1, np.float32)
    ops.cat(parts, 0, out, **options)
    return out.numpy()


def expected(parts):
    return np.concatenate([part.numpy() for part in parts])


@pytest.fixture
def slow(device, unchecked, monkeypatch):
    """One entry for each launch that Python had to look at."""
    seen = []
    usual = ops.cat.func.__globals__["_slow"]

    def noting(values, stream):
        seen.append(len(values))  # not the tensors, which the check for leaks would find
        return usual(values, stream)

    monkeypatch.setitem(ops.cat.func.__globals__, "_slow", noting)
    return seen


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 200])
def test_a_launch_that_repeats_is_made_in_one_call(slow, count):
    parts = rows(count)
    joined(parts)
    slow.clear()
    np.testing.assert_array_equal(joined(parts), expected(parts))
    others = tuple(rows(count, 50))
    np.testing.assert_array_equal(joined(others), expected(others))
    assert not slow


def test_lists_of_other_lengths_and_other_numbers_find_their_own_call(slow):
    for count in (2, 3, 2, 2, 4):
        parts = rows(count)
        np.testing.assert_array_equal(joined(parts), expected(parts))
    assert len(slow) == 4
    x = ap.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    for axis in (0, 1, 0, 1, 1):
        out = ap.empty((4, 3) if axis == 0 else (2, 6), np.float32)
        ops.cat([x, x], axis, out)
        np.testing.assert_array_equal(out.numpy(), np.concatenate([x.numpy()] * 2, axis))


def test_views_and_streams_are_taken(slow, device):
    x = ap.from_numpy(np.arange(24, dtype=np.float32).reshape(8, 3))
    joined([x[0:1], x[1:2]])
    slow.clear()
    views = [x[6:7], x[2:3]]  # nobody has asked for their structure yet
    np.testing.assert_array_equal(joined(views), expected(views))
    with device.create_stream() as stream:
        out = ap.empty((2, 3), np.float32)
        ops.cat(views, 0, out, stream=stream)
        stream.synchronize()
        np.testing.assert_array_equal(out.numpy(), expected(views))
    assert not slow
    with pytest.raises(errors.ClosedError):
        ops.cat(views, 0, out, stream=stream)
    with pytest.raises(TypeError, match="stream: expected a Stream or None, got int"):
        ops.cat(views, 0, out, stream=3)


def test_mistakes_are_named_after_launches_that_repeat(device):
    parts, out = rows(2), ap.empty((2, 3), np.float32)
    for _ in range(3):
        ops.cat(parts, 0, out)
    with pytest.raises(TypeError, match=r"expected a sequence of tensors, got .*Tensor"):
        ops.cat(parts[0], 0, out)
    with pytest.raises(TypeError, match=r"\[1\]: expected a Tensor, got str"):
        ops.cat([parts[0], "a"], 0, out)
    with pytest.raises(TypeError, match="out: expected a Tensor, got int"):
        ops.cat(parts, 0, 1)
    with pytest.raises(errors.AclnnError):
        ops.cat([parts[0], None], 0, out)
    with pytest.raises(errors.AclnnError):
        ops.cat(None, 0, out)
    parts[1].close()
    with pytest.raises(errors.ClosedError):
        ops.cat(parts, 0, out)


def test_a_launch_keeps_no_reference(device):
    parts, out = rows(3), ap.empty((3, 3), np.float32)
    for _ in range(3):
        ops.cat(parts, 0, out)
    ap.synchronize()
    gc.collect()
    before = [sys.getrefcount(item) for item in (*parts, out, parts)]
    for _ in range(100):
        ops.cat(parts, 0, out)
        with pytest.raises(TypeError):
            ops.cat([parts[0], parts[1], 1], 0, out)
    ap.synchronize()
    assert [sys.getrefcount(item) for item in (*parts, out, parts)] == before


def test_a_list_may_be_exchanged_while_another_thread_launches(device):
    parts = rows(40)
    values = np.arange(40)
    over = threading.Event()

    def exchange():
        while not over.is_set():
            parts[:] = rows(40)  # the tensors that were there go, unless the launch keeps them

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        for _ in range(300):
            np.testing.assert_array_equal(joined(parts)[:, 0], values)
    finally:
        over.set()
        thread.join()
