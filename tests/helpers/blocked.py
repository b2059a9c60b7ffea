# SPDX-License-Identifier: Apache-2.0
"""Formats that cut a tensor into blocks, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

NCHW, NHWC, ND, NC1HWC0, FRACTAL_Z, HWCN, NDHWC, NZ = 0, 1, 2, 3, 4, 16, 27, 29
NCDHW, DHWCN, NDC1HWC0, FRACTAL_Z_3D = 30, 31, 32, 33


def blocks(matrix: Any) -> Any:
    """(.., rows, cols) as (.., column blocks, row blocks, 16, 32 bytes)."""
    width = 32 // matrix.dtype.itemsize
    *lead, rows, cols = matrix.shape
    tall, broad = -(-rows // 16), -(-cols // width)
    padded = np.zeros((*lead, tall * 16, broad * width), matrix.dtype)
    padded[..., :rows, :cols] = matrix
    split = padded.reshape(*lead, tall, 16, broad, width)
    return np.moveaxis(split, -2, -4)


def image(axes: Any, order: str, name: int) -> Any:
    """A tensor with axes in this order in the form of a format of images or volumes."""
    full = axes if "d" in order else np.expand_dims(axes, 0)
    full = full.transpose(
        [("d" + order.replace("d", "")).index(a) for a in "ncdhw"]
        if "d" not in order
        else [order.index(a) for a in "ncdhw"]
    )
    width = 32 // axes.dtype.itemsize
    n, c, d, h, w = full.shape
    slices, sets = -(-c // width), -(-n // 16)
    padded = np.zeros((sets * 16, slices * width, d, h, w), axes.dtype)
    padded[:n, :c] = full
    split = padded.reshape(sets, 16, slices, width, d, h, w)
    if name in (FRACTAL_Z, FRACTAL_Z_3D):
        return split.transpose(4, 2, 5, 6, 0, 1, 3).reshape(-1, sets, 16, width)
    made = split.reshape(-1, slices, width, d, h, w)[:n].transpose(0, 3, 1, 4, 5, 2)
    return made if name == NDC1HWC0 else made[:, 0]
