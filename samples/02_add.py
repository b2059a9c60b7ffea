# SPDX-License-Identifier: Apache-2.0
"""From NumPy arrays to an operator and back.

Run:  python samples/02_add.py

`ops.add` is aclnnAdd in C's order, with the output passed in; `functional.add` allocates it.
Last line: "ok".
"""

from __future__ import annotations

import sys

import numpy as np

import aclnn_py as ap


def main() -> int:
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    b = np.linspace(-1, 1, 4, dtype=np.float32)  # broadcasts over the rows

    with ap.Device(0) as device:
        print(f"device {device.index}: {device.name}")
        x, y = ap.from_numpy(a), ap.from_numpy(b)

        out = ap.empty(a.shape, a.dtype)
        ap.ops.add(x, y, 2.0, out)  # out = x + 2.0 * y
        mirrored = out.numpy()  # waits for the device

        allocated = ap.functional.add(x, y, alpha=2.0).numpy()

    expected = a + 2.0 * b
    good = np.array_equal(mirrored, allocated) and np.allclose(mirrored, expected, rtol=1e-6)
    print(mirrored)
    print("ok" if good else "WRONG")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
