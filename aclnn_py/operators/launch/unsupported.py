# SPDX-License-Identifier: Apache-2.0
"""What a thread does where an operator takes no float64 or no complex numbers."""

from __future__ import annotations

from aclnn_py.operators.launch.mode import Setting
from aclnn_py.runtime.current import thread

__all__ = ["unsupported_dtypes"]

_CHOICES = ("refuse", "float32", "host")


class unsupported_dtypes(Setting[str]):
    """Choose what this thread does where an operator takes no float64 or no complex numbers.

    The choice holds for the calling thread from the call on, or inside a ``with`` block, whose end
    brings back what held before it. Only operators that refuse their arguments are computed in
    another way; all others run as they are. Results
    keep the dtype that NumPy would give them, so a float64 that was computed in float32 has 24
    significant bits, and a number beyond 3.4e38 became infinite on the way.

    Parameters
    ----------
    choice : {"refuse", "float32", "host"}
        ``"refuse"``, the default of each thread, raises. ``"float32"`` converts float64 to float32
        and complex128 to complex64 on the device, runs the operator and converts its results back.
        ``"host"`` waits for the operands, computes with NumPy on the host and copies the results
        to the device; uint16, uint32, uint64 and integer matrix products are computed too.

    Raises
    ------
    ValueError
        ``choice`` is none of the three.

    Notes
    -----
    Where neither way is known for an operator, its refusal is raised as before. Plans, sequences
    and graphs are made of the operators that were launched.
    """

    def __init__(self, choice: str) -> None:
        if choice not in _CHOICES:
            raise ValueError(f"choice: expected one of {', '.join(_CHOICES)}, got {choice!r}")
        super().__init__(choice)

    @staticmethod
    def current() -> str:
        """Return the choice of this thread."""
        return thread.unsupported

    def _current(self) -> str:
        return thread.unsupported

    def _change(self, value: str) -> None:
        thread.unsupported = value
