# SPDX-License-Identifier: Apache-2.0
"""One test of many small cases.

A test of its own costs three milliseconds around its question, and again as much in the process
that gives the tests out. Where the question takes microseconds and nothing is opened that another
case could find, a thousand cases are one test, which names each case that fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest


def each(names: Iterable[str], judge: Callable[[str], None]) -> None:
    """Ask about every name, then fail with all that was found.

    Parameters
    ----------
    names : iterable of str
        At least one.
    judge : callable
        Raises for a name with a fault.
    """
    names = list(names)
    assert names, "there is no case"
    faults = []
    for name in names:
        try:
            judge(name)
        except (Exception, pytest.fail.Exception) as error:
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            faults.append(f"{name}: {kind}{error}")
    assert not faults, f"{len(faults)} of {len(names)} fail\n" + "\n".join(faults)
