# SPDX-License-Identifier: Apache-2.0
"""Accepted calls of every operator with each of their scalars of every dtype.

Nothing but refusal or the value of the scalar may come of a dtype that an operator does not expect:
half a byte, one that has no number, one whose numbers the emulator cannot read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from helpers.accepted_calls import ScalarListSpec, ScalarSpec, calls

from aclnn_py.tensor.dtypes import all_types, dtype_of

from . import operators
from .budget import Budget
from .cases import Case

if TYPE_CHECKING:
    from .native import Machine, Result

# Of any dtype: a small number, and all bits.
VALUES = (b"\x01" * 16, b"\xff" * 16)


def fuzz(budget: Budget) -> int:
    """Make the calls while the budget lasts; return the number of defects."""
    return operators.walk(budget, "scalars")


def cases(names: list[str]) -> list[Case]:
    """Return the accepted calls of the operators with every dtype in place of each scalar's."""
    found = []
    for name in names:
        for call in calls(name):
            for position, argument in enumerate(call.arguments):
                if not isinstance(argument, (ScalarSpec, ScalarListSpec)):
                    continue
                for dtype in all_types():
                    for value in VALUES:
                        scalar = ScalarSpec(dtype.name, value)
                        new = (
                            scalar
                            if isinstance(argument, ScalarSpec)
                            else ScalarListSpec((scalar,) * len(argument.members))
                        )
                        mutation = f"{call.op.parameters[position].name}: {dtype.name} scalar"
                        found.append(Case(call.changed(position, new), mutations=(mutation,)))
    return found


class Judge:
    """Makes the cases; a scalar that cannot be read is refused, not taken for nothing."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def make(self, case: Case, note: Callable[[int], None]) -> Result:
        """Make a case."""
        result = self._machine.make(case, note)
        if not result.defect and result.outcome in ("ran", "phase one alone"):
            for scalar in _scalars(case):
                if not _readable(scalar.dtype):
                    result.defect, result.what = "accepted", f"a scalar of {scalar.dtype}"
        return result


def maker(machine: Machine) -> Judge:
    """Return what makes the cases."""
    return Judge(machine)


def _scalars(case: Case) -> Iterator[ScalarSpec]:
    for argument in case.call.arguments:
        if isinstance(argument, ScalarSpec):
            yield argument
        elif isinstance(argument, ScalarListSpec):
            yield from argument.members


def _readable(dtype: str) -> bool:
    kind = dtype_of(dtype)
    return kind.exact and kind.bits >= 8
