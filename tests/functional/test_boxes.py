# SPDX-License-Identifier: Apache-2.0
"""Functions of boxes: what they allocate and pass on; `tests/ops` has the numbers."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, place
from helpers.processes import run_script

from aclnn_py import functional as f

pytestmark = pytest.mark.usefixtures("device")

RNG = np.random.default_rng(11)
BOX = np.array([[0, -2, -2, 22, 22]], np.float32)


def drawn(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def test_regions_and_their_gradient() -> None:
    x = np.arange(1, 37, dtype=np.float32).reshape(1, 1, 6, 6)
    means = x[0, 0].reshape(3, 2, 3, 2).mean((1, 3))
    y = f.roi_align(place(x), place(BOX), 3, 0.25, 2)
    assert_same(y.numpy()[0, 0], means)
    slope = f.roi_align_backward(y, place(BOX), (1, 1, 6, 6), 0.25, 2)
    assert_same(slope.numpy()[0, 0], means.repeat(2, 0).repeat(2, 1) / 4)
    assert f.roi_align(place(x), place(BOX), (3, 2), 0.25).shape == (1, 1, 3, 2)


def test_overlaps() -> None:
    a = np.array([[0, 0, 2, 2], [0, 0, 1, 1]], np.float32)
    b = np.array([[1, 0, 3, 2], [0, 0, 1, 1]], np.float32)
    assert_close(f.box_iou(place(a), place(b)).numpy(), [[1 / 3, 1 / 4], [0, 1]])
    assert_close(f.box_iou(place(a), place(b), aligned=True).numpy(), [[1 / 3], [1]])
    assert_close(f.box_iou(place(a), place(b), mode="iof").numpy(), [[1 / 2, 1], [0, 1]])


def test_attention_over_points() -> None:
    value = drawn(2, 6, 2, 8)
    sizes, starts = np.array([[2, 3]], np.int32), np.array([0], np.int32)
    corner = np.full((2, 32, 2, 1, 1, 2), 0.25, np.float32)
    corner[..., 0] = 1 / 6  # the middle of the first element
    weights = drawn(2, 32, 2, 1, 1)
    given = [place(x) for x in (value, sizes, starts, corner, weights)]
    y = f.multi_scale_deformable_attention(*given)
    expected = weights[..., 0, 0, None] * value[:, :1]
    assert_close(y.numpy(), expected.reshape(2, 32, 16), scale=4)
    dy = drawn(2, 32, 16)
    slopes = f.multi_scale_deformable_attention_backward(place(dy), *given)
    assert [x.shape for x in slopes] == [value.shape, corner.shape, weights.shape]
    split = dy.reshape(2, 32, 2, 8).astype(float)
    of_weights = (split * value[:, :1]).sum(-1)
    assert_close(slopes[2].numpy()[..., 0, 0], of_weights, scale=8)
    of_first = (split * weights[..., 0, 0, None]).sum(1)
    assert_close(slopes[0].numpy()[:, 0], of_first, scale=16)


_BEST = """
import numpy as np
import aclnn_py as ap
from aclnn_py import functional

ap.Device(0).activate()
boxes = np.array([[[0, 0, 2, 2], [0, 0, 2, 1.9], [5, 5, 6, 6]]], np.float32)
scores = np.array([[[0.5, 0.9, 0.7]]], np.float32)
found = functional.non_max_suppression(ap.from_numpy(boxes), ap.from_numpy(scores), 3, 0.5)
print(found.numpy().tolist())
"""
_COMPLETE = """
import numpy as np
import aclnn_py as ap
from aclnn_py import functional

ap.Device(0).activate()
a = np.tile(np.array([[0], [0], [2], [2]], np.float32), 1024)
b = np.tile(np.array([[1], [0], [3], [2]], np.float32), 1024)
overlap, angle = functional.complete_box_iou(ap.from_numpy(a), ap.from_numpy(b))
print(round(float(overlap.numpy()[0, 5]), 5), float(angle.numpy()[0, 5]))
"""


def test_the_best_boxes_and_complete_overlaps() -> None:
    made = run_script(_BEST, env={"ACLNN_PY_EMULATOR_SOC": "Ascend310P3"})
    assert made.check().out == "[[0, 0, 1], [0, 0, 2], [-1, -1, -1]]\n"
    made = run_script(_COMPLETE, env={"ACLNN_PY_EMULATOR_SOC": "Ascend950PR_9599"})
    assert made.check().out == f"{round(1 / 3 - 1 / 13, 5)} 0.0\n"
