# SPDX-License-Identifier: Apache-2.0
"""Checks by the emulator before a launch, for those who ask for them.

``ACLNN_PY_STRICT=1`` turns them on for a whole process.
"""

from __future__ import annotations

from aclnn_py.errors import LibraryNotFoundError
from aclnn_py.operators.describe.argument_text import echo
from aclnn_py.operators.launch.mode import ObserverMode
from aclnn_py.operators.launch.observers import Launch, Observer
from aclnn_py.operators.launch.report import part_of
from aclnn_py.operators.rulebook.advice import advice
from aclnn_py.operators.rulebook.book import judge
from aclnn_py.runtime.status import error_of

__all__ = ["strict"]


class _Rules(Observer):
    """Refuses a launch whose arguments the emulator refuses."""

    def before(self, launch: Launch) -> None:
        op, values = launch.op, launch.values
        if op is None or launch.kind == "run":
            return  # a graph has no arguments, and those of a plan were looked at with it
        verdict = judge(op, values)
        if verdict.missing:
            raise LibraryNotFoundError(
                f"strict() asks the emulator, which cannot answer: {verdict.unasked}",
                library="libaclnn_py_emulator.so",
            )
        rule = verdict.rule
        if rule is None:
            return
        part = part_of(op, values)
        raise error_of(
            "aclnn",
            rule.status,
            f"{op.c_name}GetWorkspaceSize",
            detail="",
            hint="strict() refused the call before the library was asked; "
            + advice(op, rule, values),
            broken=(rule,),
            arguments=echo(op, values),
            rank=None if part is None else part.rank,
            device=launch.stream.device.index,
            stream=launch.stream.id,
        )


class strict(ObserverMode):
    """Ask the emulator about the arguments of each launch and plan before the library is asked.

    What the emulator's phase one refuses, with the rules of the chip in use, is refused with the
    same status and text, and the library is not asked. On an NPU this finds calls that work there
    and would fail on the emulator, on another chip or with another release. What the emulator
    lacks is not checked: operators that it does not have or that were declared at run time, and
    groups that this package did not make. It holds for the whole process from the call on, or
    inside a ``with`` block; ``ACLNN_PY_STRICT=1`` turns it on from the start.

    Parameters
    ----------
    enabled : bool, default True
        False turns the checks off again.

    Raises
    ------
    LibraryNotFoundError
        By a launch, where the emulator is not installed.
    """

    _observer = _Rules()
