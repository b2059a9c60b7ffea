# SPDX-License-Identifier: Apache-2.0
"""Operators read slices, transposes and broadcasts as views, without a copy.

Run:  python samples/05_strided_views.py

Last line: "ok".
"""

from __future__ import annotations

import sys

import numpy as np

import aclnn_py as ap


def main() -> int:
    a = np.arange(24, dtype=np.float32).reshape(4, 6)

    with ap.Device(0) as device:
        print(f"device {device.index}: {device.name}")
        x = ap.from_numpy(a)
        odd = x[:, 1::2]  # every second column
        turned = x.T
        row = x[0].broadcast_to((4, 6))
        for name, view in (("x[:, 1::2]", odd), ("x.T", turned), ("x[0] broadcast", row)):
            print(f"{name:<15} shape {view.shape} strides {view.strides} offset {view.offset}")

        out = ap.empty((3, 4), np.float32)
        ap.ops.add(odd.T, turned[:3], 1.0, out)  # both operands are views of x
        summed = out.numpy()
        shares_memory = odd.buffer is x.buffer

    expected = a[:, 1::2].T + a.T[:3]
    good = shares_memory and np.array_equal(summed, expected)
    print("ok" if good else "WRONG")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
