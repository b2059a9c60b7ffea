# SPDX-License-Identifier: Apache-2.0
"""The base of the exceptions of this package: how they travel, and what the doctor says."""

from __future__ import annotations

from typing import Any

from aclnn_py import late

__all__ = ["AclnnPyError", "verdict_on"]


def _restore(
    cls: type[BaseException], args: tuple[Any, ...], state: dict[str, Any]
) -> BaseException:
    error = cls(*args)
    error.__dict__.update(state)
    return error


class AclnnPyError(Exception):
    """Base of every exception this package raises on its own account."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors travel between the ranks of one job. Every class takes one positional argument; the
        # rest of its state is keyword-only, which the default protocol would lose.
        return _restore, (type(self), self.args, self._kept())

    def _kept(self) -> dict[str, Any]:
        """The attributes that travel to another process."""
        return dict(self.__dict__)

    def diagnosis(self) -> list[Any]:
        """Return what the doctor finds wrong with the installation, where that is a likely cause.

        Only files are read. `aclnn-py doctor` prints the same, and more.

        Returns
        -------
        list of aclnn_py.tools.doctor.Finding
            Errors, then warnings; empty when the installation looks well, and for exceptions that
            it does not cause.
        """
        findings: list[Any] = late.doctor.findings_for(self)
        return findings


def verdict_on(fault: AclnnPyError) -> str:
    """Return the findings of ``diagnosis`` as text, one per line."""
    return "\n".join(
        f"installation: {' '.join(filter(None, (found.seen, found.why, found.action)))}"
        for found in fault.diagnosis()
    )
