# SPDX-License-Identifier: Apache-2.0
"""Faults for the fuzzer to find: each makes one call path of this process wrong.

`test_operators` names these functions to the fuzzer, whose workers call them before they begin.
"""

from __future__ import annotations

import os
import signal
from typing import Any

import numpy as np

from . import native

OPERATOR = "aclnnRelu"


def crash() -> None:
    """The operator ends the process."""
    _instead(lambda machine: os.kill(os.getpid(), signal.SIGSEGV))


def hang() -> None:
    """The operator computes without end."""

    def work(machine: Any) -> None:
        while True:
            pass

    _instead(work)


def write_behind() -> None:
    """The operator writes the byte behind the last one of every call's memory."""

    def work(machine: Any) -> None:
        at = machine._used - native.MARGIN - native.GUARD
        machine._memory[at] ^= np.uint8(0xFF)

    _instead(work)


def write_input() -> None:
    """The operator writes its input, which lies first."""

    def work(machine: Any) -> None:
        start = min(machine._addresses.values())
        machine._memory[start] ^= np.uint8(0xFF)

    _instead(work)


def no_words() -> None:
    """Refusals have no message."""
    native._message = lambda: b""


def odd_status() -> None:
    """Refusals have a status that no document knows."""
    native.known_codes = lambda: frozenset()  # type: ignore[assignment]


def _instead(work: Any) -> None:
    """Do something after phase one of the operator, before its block is compared."""
    known = native.Machine._call

    def call(machine: Any, case: Any, *rest: Any) -> Any:
        compared = machine._unchanged

        def compare(*arguments: Any) -> Any:
            if case.call.operator == OPERATOR:
                work(machine)
            return compared(*arguments)

        machine._unchanged = compare
        try:
            return known(machine, case, *rest)
        finally:
            del machine._unchanged

    native.Machine._call = call  # type: ignore[method-assign]
