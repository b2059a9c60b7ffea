# SPDX-License-Identifier: Apache-2.0
"""An exception saves the call that raised it, and keeps neither memory nor endless text."""

from __future__ import annotations

import pickle
import weakref

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import errors, ops


def test_an_exception_saves_its_call(device, tmp_path):
    x = ap.from_numpy(np.ones((2, 3), np.float32))
    with pytest.raises(errors.AclnnError) as caught:
        ops.add(x, ap.empty((4, 5), np.float32), 1.0, x)
    error = caught.value
    error.save(tmp_path / "call")
    (item,) = ap.tools.replay(tmp_path / "call")
    assert item.agrees and item.status == error.status
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    with pytest.raises(ValueError, match="no operator call to save"):
        again.save(tmp_path / "other")
    x.close()
    with pytest.raises(errors.ClosedError, match="gone"):
        error.save(tmp_path / "late")


def test_a_stored_exception_does_not_keep_device_memory(device):
    stored, seen = [], []

    def fails():
        big = ap.empty((1 << 12,), np.float32)
        seen.append(weakref.ref(big))
        try:
            ops.add(big, None, 1.0, big)
        except errors.AclnnError as error:
            error.__context__ = None  # its traceback has the frames of the call as well
            stored.append(error.with_traceback(None))

    fails()
    assert stored and seen[0]() is None


def test_a_long_list_does_not_bury_the_message(device):
    x = ap.from_numpy(np.ones((2, 3), np.float32))
    with pytest.raises(errors.AclnnError) as caught:
        ops.cat([x] * 3000, 5, x)
    lines = str(caught.value).splitlines()
    assert len(caught.value.arguments) > 3000 and len(lines) < 60
    assert any("more, see `arguments` of the exception" in line for line in lines)
