# SPDX-License-Identifier: Apache-2.0
"""What the emulator found although no call failed, as warnings with both stacks."""

from __future__ import annotations

import warnings
from typing import Any

from aclnn_py._ffi import ffi, own_function
from aclnn_py._ffi.source_lines import calling_stack
from aclnn_py.checking.history import stack_text
from aclnn_py.checking.queued import Queued
from aclnn_py.errors import CheckError, CheckWarning

__all__ = ["Reports"]

_ROOM = 1024
_TYPE = "int32_t (*)(char *, uint64_t, int32_t *, uint32_t *)"


class Reports:
    """Asks the emulator for its reports; other devices make none.

    Parameters
    ----------
    queued : Queued
        Launches by their task.
    """

    def __init__(self, queued: Queued) -> None:
        self._queued = queued
        self._function: Any = None
        self._asked = False
        self._text = ffi.new("char[]", _ROOM)

    def take(self, routine: str) -> None:
        """Warn of everything that was reported up to the end of a wait."""
        if not self._asked:
            self._function = own_function("aclnn_py_emulator_take_report", _TYPE)
            self._asked = True
        if self._function is None:
            return
        stream, task = ffi.new("int32_t *"), ffi.new("uint32_t *")
        while self._function(self._text, _ROOM, stream, task):
            text = ffi.string(self._text).decode("utf-8", "replace")
            work = self._queued.of_task(int(stream[0]), int(task[0]))
            launched = stack_text(None if work is None else work.stack)
            stacks = [("launched", launched), (f"found by {routine}", stack_text(calling_stack()))]
            report = CheckError(text, fault="uninitialised read", stacks=stacks)
            # The work is done: nothing is left to refuse.
            warnings.warn(CheckWarning(str(report)), stacklevel=2)
