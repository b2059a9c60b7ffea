# SPDX-License-Identifier: Apache-2.0
"""Kernels that sleep, launched in the process with the newer chip."""

from __future__ import annotations

import time
from typing import Any

from helpers.chip_950 import Refused

import aclnn_py as ap
from aclnn_py._ffi import C
from aclnn_py.runtime.status import check_acl


def sleep(cycles: list[int], limit_ms: int = 0) -> Any:
    """Seconds from the launch to the end of the kernel, or how it was refused."""
    check_acl(C.aclrtSetOpExecuteTimeOutWithMs(limit_ms), "aclrtSetOpExecuteTimeOutWithMs")
    start = time.monotonic()
    try:
        with ap.Stream() as stream:
            ap.ops.sleep(cycles)
            stream.synchronize()
    except ap.errors.StatusError as error:
        return Refused(int(error.status), str(error))
    finally:
        check_acl(C.aclrtSetOpExecuteTimeOutWithMs(0), "aclrtSetOpExecuteTimeOutWithMs")
    return time.monotonic() - start


def sleep_until_aborted(cycles: list[int]) -> bool:
    """Whether an abort ends the sleep; work behind it is not done."""
    with ap.Stream() as stream:
        ap.ops.sleep(cycles)
        busy = not stream.query()
        check_acl(C.aclrtStreamAbort(stream.raw), "aclrtStreamAbort")
    return busy
