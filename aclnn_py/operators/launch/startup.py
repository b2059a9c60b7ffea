# SPDX-License-Identifier: Apache-2.0
"""Modes of launches that the environment asks for, turned on once, with the first operator."""

from __future__ import annotations

from aclnn_py._ffi.settings import enabled
from aclnn_py.operators.launch.blocking import blocking
from aclnn_py.operators.launch.observers import Observer, add_observer
from aclnn_py.operators.launch.strictness import strict

__all__ = ["turn_on_modes"]


def turn_on_modes() -> None:
    """Turn on what ACLNN_PY_STRICT, ACLNN_PY_BLOCKING and ACLNN_PY_LINES ask for."""
    if enabled("ACLNN_PY_STRICT"):
        strict()
    if enabled("ACLNN_PY_BLOCKING"):
        blocking()
    if enabled("ACLNN_PY_LINES"):
        # Streams remember the lines of launches while anybody observes them.
        add_observer(Observer())
