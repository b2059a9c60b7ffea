# SPDX-License-Identifier: Apache-2.0
"""The time that a program has used of the processors."""

from __future__ import annotations

import os
import time


def cpu_seconds() -> float:
    """CPU time of all threads, each by its own clock.

    The clock of the process leaves out what a thread on another processor has used since it began
    to run there: work of the stream's worker would seem to cost nothing.
    """
    threads = map(int, os.listdir("/proc/self/task"))
    return sum(time.clock_gettime(~thread << 3 | 6) for thread in threads)
