# SPDX-License-Identifier: Apache-2.0
"""From a code to its meaning, usual causes and what to check. Data and text only; no C library."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aclnn_py.errors import StatusError

__all__ = ["explain_error"]


def explain_error(error: StatusError) -> str:
    """Return the long text of an exception: message, codes, documents."""
    # Loaded when somebody asks: every program imports the exceptions, few read explanations.
    from aclnn_py.explanation.text import explain_error as written

    return written(error)
