# SPDX-License-Identifier: Apache-2.0
"""Which line of the user's program made a call."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from types import FrameType

__all__ = ["calling_frame", "calling_line", "calling_stack"]

_PACKAGE = str(Path(__file__).parents[1]) + "/"
# Operators are functions compiled from text: that is what their code objects carry as file.
_COMPILED = "<aclnn_py."


def calling_frame() -> FrameType | None:
    """Return the innermost frame outside the package, or None when there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_PACKAGE, _COMPILED)):
            return frame
        frame = frame.f_back
    return None


def calling_line() -> str:
    """Return ``file:line`` of the innermost frame outside the package, or ``""``."""
    frame = calling_frame()
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def calling_stack(limit: int = 16) -> traceback.StackSummary:
    """Return the frames outside the package, outermost first.

    Parameters
    ----------
    limit : int, default 16
        The innermost frames to keep.
    """
    frames = traceback.walk_stack(calling_frame())
    stack = traceback.StackSummary.extract(frames, limit=limit, lookup_lines=False)
    stack.reverse()
    return stack
