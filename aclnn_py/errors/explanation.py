# SPDX-License-Identifier: Apache-2.0
"""From a code to its meaning, usual causes and what to check. Data and text only; no C library."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aclnn_py.errors import AclnnPyError, StatusError

__all__ = ["explain_error", "explain_missing"]


def explain_error(error: StatusError) -> str:
    """Return the long text of an exception: message, codes, documents."""
    # Loaded when somebody asks: every program imports the exceptions, few read explanations.
    from aclnn_py.errors.explanation_text import explain_error as written

    return written(error)


def explain_missing(error: AclnnPyError) -> str:
    """Return the long text of an exception about a library or function that is not there."""
    from aclnn_py.errors.explanation_text import explain_missing as written

    return written(error)
