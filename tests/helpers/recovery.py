# SPDX-License-Identifier: Apache-2.0
"""Proof that a process can go on after a mistake."""

from __future__ import annotations

import numpy as np

import aclnn_py as ap


def assert_usable() -> None:
    """Launch an add on the current stream and compare its result."""
    x = ap.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    out = ap.full((2, 3), -1.0, np.float32)
    ap.ops.add(x, x, 2.0, out)
    np.testing.assert_array_equal(out.numpy(), 3 * x.numpy())
