# SPDX-License-Identifier: Apache-2.0
"""Checks against the documents before a launch, for those who ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from aclnn_py._ffi import lib
from aclnn_py.operators.report import broken_rules, describe
from aclnn_py.status import error_of

if TYPE_CHECKING:
    from aclnn_py.operators.op import Op
    from aclnn_py.stream import Stream

__all__ = ["admit", "strict"]

_PARAM_NULLPTR = 161001
_PARAM_INVALID = 161002

_enabled = False


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
        self._before = _enabled
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


def _set(enabled: bool) -> None:
    global _enabled
    _enabled = enabled
    lib.ap_set_intercept(enabled)


def admit(op: Op, values: Sequence[object], stream: Stream) -> None:
    """Let the next launch of this thread through if its arguments keep to the documents."""
    rules = list(broken_rules(op, values)) if _enabled else []
    if not rules:
        lib.ap_admit()
        return
    missing = any(rule.endswith("must not be None") for rule in rules)
    raise error_of(
        "aclnn",
        _PARAM_NULLPTR if missing else _PARAM_INVALID,
        f"{op.c_name}GetWorkspaceSize",
        detail="refused by aclnn_py.strict() before the call",
        hint="; ".join(rules) + ".",
        arguments=describe(op, values),
        device=stream.device.index,
        stream=stream.id,
    )
