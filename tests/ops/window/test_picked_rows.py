# SPDX-License-Identifier: Apache-2.0
"""Margins and nearest resizing copy rows and slices of any length, in any layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.operators import LAYOUTS, hollow, op, place

# Below, at and beyond the lengths at which copies change their way.
WIDTHS = (1, 2, 5, 16, 17, 63, 64, 65, 70, 300, 1100)


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("operator", ["ReplicationPad3d", "ReflectionPad3d"])
def test_margins_of_rows_of_any_length(operator: str, dtype: str) -> None:
    mode: Any = "edge" if operator.startswith("Replication") else "reflect"
    for width in WIDTHS:
        side = 1 if mode == "edge" else min(1, width - 1)
        x = (np.arange(2 * 3 * 2 * width).reshape(1, 2, 3, 2, width) % 125).astype(dtype)
        expected = np.pad(x, [(0, 0), (0, 0), (2, 1), (0, 1), (side, side)], mode)
        out = hollow(expected.shape, dtype)
        op("aclnn" + operator)(place(x), [side, side, 0, 1, 2, 1], out)
        np.testing.assert_array_equal(out.numpy(), expected, f"{width}")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("planes", [1, 40])
def test_margins_of_volumes_in_any_layout(layout: str, planes: int) -> None:
    x = np.random.default_rng(planes).standard_normal((2, planes, 5, 30, 31)).astype(np.float32)
    margins = [(0, 0), (0, 0), (3, 2), (1, 2), (2, 1)]
    expected = np.pad(x, margins, "edge")
    out = hollow(expected.shape, np.float32, layout)
    op("aclnnReplicationPad3d")(place(x, layout), [2, 1, 1, 2, 3, 2], out)
    np.testing.assert_array_equal(out.numpy(), expected)
    expected = np.pad(x[:, :, 0], [margins[i] for i in (0, 1, 3, 4)], "wrap")
    out = hollow(expected.shape, np.float32, layout)
    op("aclnnCircularPad2d")(place(x[:, :, 0], layout), [2, 1, 1, 2], out)
    np.testing.assert_array_equal(out.numpy(), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size", [(8, 12, 34), (4, 6, 17), (9, 7, 40), (3, 18, 17)])
def test_nearest_elements_of_volumes(layout: str, size: tuple[int, int, int]) -> None:
    x = np.random.default_rng(3).standard_normal((2, 30, 4, 6, 17)).astype(np.float32)
    expected = x
    for axis, count in enumerate(size, 2):
        places = np.arange(count) * x.shape[axis] // count
        expected = expected.take(places, axis)
    out = hollow(expected.shape, np.float32, layout)
    op("aclnnUpsampleNearest3d")(place(x, layout), list(size), 0.0, 0.0, 0.0, out)
    np.testing.assert_array_equal(out.numpy(), expected)
