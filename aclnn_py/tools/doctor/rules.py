# SPDX-License-Identifier: Apache-2.0
"""All rules by group. A rule is a function that takes facts and yields findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from aclnn_py.tools.doctor import (
    device_rules,
    environment_rules,
    hccl_rules,
    library_rules,
    log_rules,
    version_rules,
)
from aclnn_py.tools.doctor.facts import Facts
from aclnn_py.tools.doctor.finding import Finding

__all__ = ["RULES"]

RULES: dict[str, tuple[Callable[[Facts], Iterator[Finding]], ...]] = {
    "environment": environment_rules.RULES,
    "versions": version_rules.RULES,
    "libraries": library_rules.RULES,
    "hardware": device_rules.RULES,
    "communication": hccl_rules.RULES,
    "log": log_rules.RULES,
}
