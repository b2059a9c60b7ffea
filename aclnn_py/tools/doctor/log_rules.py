# SPDX-License-Identifier: Apache-2.0
"""Rules about the variables of CANN's own log: those that print nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from aclnn_py.tools.doctor.facts import Facts
from aclnn_py.tools.doctor.finding import Finding, note, ok, warning

__all__ = ["RULES"]

# The older name, which CANN replaced in 9.2, comes last.
_TO_STDOUT = ("ASCEND_LOG_PRINT_TO_STDOUT", "ASCEND_SLOG_PRINT_TO_STDOUT")
_PATHS = ("ASCEND_PROCESS_LOG_PATH", "ASCEND_WORK_PATH")
_LEVELS = ("ASCEND_GLOBAL_LOG_LEVEL", "ASCEND_MODULE_LOG_LEVEL")
_NONE = "4"  # the level that writes nothing
_MODULES = re.compile(r"[A-Z0-9]+=[0-4](:[A-Z0-9]+=[0-4])*")
_FORMS = {
    **dict.fromkeys(_TO_STDOUT, (re.compile("[01]"), "0 or 1")),
    "ASCEND_GLOBAL_EVENT_ENABLE": (re.compile("[01]"), "0 or 1"),
    "ASCEND_GLOBAL_LOG_LEVEL": (re.compile("[0-4]"), "0 (debug) to 4 (nothing)"),
    "ASCEND_MODULE_LOG_LEVEL": (_MODULES, "MODULE=0 to MODULE=4 with colons and no blanks"),
    "ASCEND_HOST_LOG_FILE_NUM": (re.compile("0*([1-9][0-9]{0,2}|1000)"), "1 to 1000"),
}


def log_variables(facts: Facts) -> Iterator[Finding]:
    """The variables of CANN's log have values that CANN accepts."""
    for name, (form, allowed) in _FORMS.items():
        value = facts.host.variable(name)
        if value and not form.fullmatch(value):
            yield warning(
                f"{name}={value!r} is not {allowed}",
                "CANN and the emulator ignore all of it and use the default",
                f"write {allowed}, or leave it unset",
            )


def log_destination(facts: Facts) -> Iterator[Finding]:
    """What the variables ask for is written somewhere."""
    host = facts.host
    printed = next((host.variable(name) for name in _TO_STDOUT if host.variable(name)), "") == "1"
    path = next((host.variable(name) for name in _PATHS if host.variable(name)), "")
    levels = [f"{name}={host.variable(name)}" for name in _LEVELS if host.variable(name)]
    if host.variable("ASCEND_GLOBAL_LOG_LEVEL") == _NONE and (printed or path):
        if not host.variable("ASCEND_MODULE_LOG_LEVEL"):
            yield warning(
                "ASCEND_GLOBAL_LOG_LEVEL=4 turns CANN's log off",
                "no line says why a call failed",
                "set it to 3 for errors, or leave it unset",
            )
    elif printed:
        yield ok("CANN's log goes to stdout")
    elif path:
        yield from _writable(path)
    elif levels and not facts.has_cann:
        yield note(
            f"{', '.join(levels)} prints nothing on the emulator",
            "CANN would write to $HOME/ascend/log, the emulator only where a variable asks for it:"
            " set ASCEND_SLOG_PRINT_TO_STDOUT=1, or ASCEND_PROCESS_LOG_PATH to a directory",
        )


def _writable(path: str) -> Iterator[Finding]:
    place = Path(path)
    there = next((p for p in (place, *place.absolute().parents) if p.exists()), Path("/"))
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        yield ok(f"CANN's log goes to files below {path}")
        return
    yield warning(
        f"CANN's log cannot be written below {path}",
        f"{there} is no directory in which this user may write",
        "name a directory of your own",
    )


RULES = (log_variables, log_destination)
