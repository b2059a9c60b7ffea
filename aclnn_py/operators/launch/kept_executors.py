# SPDX-License-Identifier: Apache-2.0
"""Executors that launches keep for the next launch with equal arguments.

Phase one of an operator is most of what a launch costs the host. Where the library agrees to make
an executor repeatable, the launcher keeps it, and a later launch with the same attributes, layouts,
offsets and device goes straight to phase two; other addresses are set on the executor. An operator
for which the library refuses is never asked again. ``ACLNN_PY_REUSE`` chooses:

``auto`` (the default)
    From the second launch with equal arguments on.
``always``
    From the first one on.
``never``
    Every launch goes through both phases.

``verify``
    As ``always``, and the first launch with a kept executor also runs a fresh one and compares the
    workspace and the results: the mode for finding out whether a library keeps its promise.

While launches are observed (strict mode, traces, ``ACLNN_PY_CHECK=1``) all go through both phases,
so that observers see both. Nothing is replayed then, and ``verify`` has nothing to compare.
"""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py._ffi import lib
from aclnn_py._ffi.settings import chosen
from aclnn_py.operators.describe.parameter import Parameter

__all__ = ["apply_reuse", "may_be_kept"]

_MODES = {
    "auto": lib.AP_REUSE_AUTO,
    "always": lib.AP_REUSE_ALWAYS,
    "never": lib.AP_REUSE_OFF,
    "verify": lib.AP_REUSE_ALWAYS,
}


def apply_reuse() -> None:
    """Do what ACLNN_PY_REUSE says."""
    mode = chosen("ACLNN_PY_REUSE", *_MODES)
    lib.ap_set_reuse(_MODES[mode], mode == "verify")


def may_be_kept(parameters: Sequence[Parameter]) -> bool:
    """Whether executors of an operator depend on nothing but its arguments, and serve again.

    One that names a communication group also depends on the state of the group, which the other
    ranks share: it may be gone and made again under the same name. One with a seed in its arguments
    comes with other numbers each time, and would push out those of other operators.
    """
    return not any(
        (p.kind == "s" and p.name.startswith(("group", "comm")))
        or (p.kind in "lq" and p.name == "seed")
        for p in parameters
    )
