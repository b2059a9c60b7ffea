# SPDX-License-Identifier: Apache-2.0
"""Mistakes that the checker (``ACLNN_PY_CHECK=1``) finds."""

from __future__ import annotations

from collections.abc import Iterable

from aclnn_py.errors.base import AclnnPyError
from aclnn_py.errors.kinds import ClosedError, InvalidArgumentError

__all__ = ["CheckArgumentError", "CheckClosedError", "CheckError", "CheckWarning"]


class CheckError(AclnnPyError, RuntimeError):
    """The checker (``ACLNN_PY_CHECK=1``) found a mistake.

    Attributes
    ----------
    fault : str
        Which one, for example ``"double destroy"``.
    stacks : tuple of tuple of str
        What happened and the Python lines that did it, in order of time: where the object was made,
        where it was destroyed or launched, where the fault showed.
    """

    def __init__(
        self, message: str, *, fault: str = "", stacks: Iterable[tuple[str, str]] = ()
    ) -> None:
        super().__init__(message)
        self.fault = fault
        self.stacks = tuple(stacks)

    def __str__(self) -> str:
        parts = [str(self.args[0])]
        for what, lines in self.stacks:
            parts.append(f"  {what}:")
            parts += [f"    {line}" for line in lines.rstrip().splitlines()]
        return "\n".join(parts)


class CheckClosedError(CheckError, ClosedError):
    """The checker found that something destroyed, consumed or freed was used."""


class CheckWarning(RuntimeWarning):
    """The checker found a mistake that has happened already; the text holds both stacks."""


class CheckArgumentError(CheckError, InvalidArgumentError):
    """The checker found an argument that the device would read or write where it must not."""
