# SPDX-License-Identifier: Apache-2.0
"""Checks against the documents before a launch, for those who ask for them.

``ACLNN_PY_STRICT=1`` turns them on for a whole process.
"""

from __future__ import annotations

from aclnn_py.operators.describe.argument_text import echo
from aclnn_py.operators.launch.mode import ObserverMode
from aclnn_py.operators.launch.observers import Launch, Observer
from aclnn_py.operators.rules.parameters import advice, broken_rules
from aclnn_py.operators.rules.terms import Call
from aclnn_py.runtime.status import error_of

__all__ = ["strict"]


class _Documents(Observer):
    """Refuses a launch whose arguments break a documented rule."""

    def before(self, launch: Launch) -> None:
        op, values = launch.op, launch.values
        if op is None or launch.kind == "run":
            return  # a graph has no arguments, and those of a plan were looked at with it
        rules = broken_rules(op, values)
        if not rules:
            return
        part = Call(op, values).member()
        raise error_of(
            "aclnn",
            rules[0].status,
            f"{op.c_name}GetWorkspaceSize",
            detail="",
            hint="strict() refused the call before the library was asked; "
            + advice(op, rules, values),
            broken=rules,
            arguments=echo(op, values),
            rank=None if part is None else part.rank,
            device=launch.stream.device.index,
            stream=launch.stream.id,
        )


class strict(ObserverMode):
    """Check arguments against every documented rule before each launch and plan.

    Those are the dtypes, ranks, formats and strides of each parameter, which of them may be None,
    and the rule table: shapes that belong together, values of attributes, lengths of lists. The
    library is not asked when a rule is broken: documents are sometimes narrower than the library,
    so this is for finding mistakes, not for production. It holds for the whole process from the
    call on, or inside a ``with`` block; ``ACLNN_PY_STRICT=1`` turns it on from the start.

    Parameters
    ----------
    enabled : bool, default True
        False turns the checks off again.
    """

    _observer = _Documents()
