# SPDX-License-Identifier: Apache-2.0
"""Checks against the documents before a launch, for those who ask for them."""

from __future__ import annotations

from types import TracebackType

from aclnn_py.operators.interception import (
    Launch,
    Observer,
    add_observer,
    observers,
    remove_observer,
)
from aclnn_py.operators.report import broken_rules, describe
from aclnn_py.status import error_of

__all__ = ["strict"]

_PARAM_NULLPTR = 161001
_PARAM_INVALID = 161002


class strict:
    """Check arguments against the documented dtypes, ranks, formats and strides before each launch.

    The library is not asked when a rule is broken: documents are sometimes narrower than the
    library, so this is for finding mistakes, not for production. It holds for the whole process
    from the call on, or inside a ``with`` block.

    Parameters
    ----------
    enabled : bool, default True
        False turns the checks off again.
    """

    def __init__(self, enabled: bool = True) -> None:
        self._before = _documents in observers()
        _set(enabled)

    def __enter__(self) -> strict:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _set(self._before)


class _Documents(Observer):
    """Refuses a launch whose arguments break a documented rule."""

    def before(self, launch: Launch) -> None:
        op, values = launch.op, launch.values
        if op is None or launch.kind == "run":
            return  # a graph has no arguments, and those of a plan were looked at with it
        rules = list(broken_rules(op, values))
        if not rules:
            return
        missing = any(rule.endswith("must not be None") for rule in rules)
        raise error_of(
            "aclnn",
            _PARAM_NULLPTR if missing else _PARAM_INVALID,
            f"{op.c_name}GetWorkspaceSize",
            detail="refused by aclnn_py.strict() before the call",
            hint="; ".join(rules) + ".",
            arguments=describe(op, values),
            device=launch.stream.device.index,
            stream=launch.stream.id,
        )


_documents = _Documents()


def _set(enabled: bool) -> None:
    remove_observer(_documents)
    if enabled:
        add_observer(_documents)
