# SPDX-License-Identifier: Apache-2.0
"""Read the exception of a refused call, and catch it.

Run:  python samples/04_status_codes.py

The class of an exception says two things: which library refused (AclnnError), and what kind of
mistake it is (InvalidArgumentError, which is also a ValueError). It keeps the status as a number.
Last line: "ok".
"""

from __future__ import annotations

import sys

import numpy as np

import aclnn_py as ap
from aclnn_py.errors import AclnnError, InvalidArgumentError


def main() -> int:
    caught = []
    with ap.Device(0) as device:
        print(f"device {device.index}: {device.name}")
        x = ap.from_numpy(np.ones((4, 8), np.float16))
        w = ap.from_numpy(np.ones((9, 2), np.float16))  # 8 columns meet 9 rows
        y = ap.empty((4, 2), np.float16)
        try:
            ap.ops.matmul(x, w, y, 0)
        except AclnnError as error:
            print(error)
            caught.append((error.status, error.routine))
        try:
            ap.ops.matmul(x, w, y, 0)
        except InvalidArgumentError as error:
            caught.append(isinstance(error, ValueError))

    good = caught == [(161002, "aclnnMatmulGetWorkspaceSize"), True]
    print("ok" if good else f"WRONG: {caught}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
