# SPDX-License-Identifier: Apache-2.0
"""Modes of launches that the environment asks for, turned on once, with the first operator."""

from __future__ import annotations

from aclnn_py.operators.blocking import blocking
from aclnn_py.operators.interception import Observer, add_observer
from aclnn_py.operators.reuse import apply_reuse
from aclnn_py.operators.strictness import strict
from aclnn_py.settings import enabled

__all__ = ["apply_environment"]


def apply_environment() -> None:
    """Turn on what ACLNN_PY_STRICT, ACLNN_PY_BLOCKING, ACLNN_PY_LINES and ACLNN_PY_REUSE say."""
    apply_reuse()
    if enabled("ACLNN_PY_STRICT"):
        strict()
    if enabled("ACLNN_PY_BLOCKING"):
        blocking()
    if enabled("ACLNN_PY_LINES"):
        # Streams remember the lines of launches while anybody observes them.
        add_observer(Observer())
