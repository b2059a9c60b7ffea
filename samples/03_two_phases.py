# SPDX-License-Identifier: Apache-2.0
"""Run the two phases of an operator separately.

Run:  python samples/03_two_phases.py

Phase one checks the arguments and says how much workspace is needed; phase two queues the work.
A plan separates them, so a program can run phase one early and look at its answer.
Last line: "ok".
"""

from __future__ import annotations

import sys

import numpy as np

import aclnn_py as ap


def main() -> int:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((16, 32)).astype(np.float32)
    b = rng.standard_normal((32, 8)).astype(np.float32)

    with ap.Device(0) as device:
        print(f"device {device.index}: {device.name}")
        x, w = ap.from_numpy(a), ap.from_numpy(b)
        y = ap.empty((16, 8), np.float32)

        step = ap.plan(ap.ops.matmul, x, w, y, 0)  # phase one
        print(f"aclnnMatmul needs {step.workspace_nbytes} bytes of workspace")
        step.run()  # phase two, on the current stream
        result = y.numpy()

    good = np.allclose(result, a.astype(np.float64) @ b, rtol=1e-5, atol=1e-5)
    print("ok" if good else "WRONG")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
