# SPDX-License-Identifier: Apache-2.0
"""An operator as those see it who describe, check, record and observe its calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from aclnn_py.operators.describe.parameter import Parameter

__all__ = ["Operator"]


class Operator(Protocol):
    """What ``Op`` offers the modules below it."""

    name: str
    c_name: str
    family: str
    summary: str
    library: str
    parameters: tuple[Parameter, ...]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Queue the operator."""

    def arguments(self, *args: object, **kwargs: object) -> tuple[object, ...]:
        """Return the arguments in C order."""

    def call_block(self, values: Sequence[object]) -> tuple[Any, list[Any], list[object]]:
        """Check arguments in C order; return their call block, tensor structures and tensors."""

    def own_block(self, values: Sequence[object]) -> tuple[Any, list[Any], list[object]]:
        """As `call_block`, with a block that belongs to the caller alone."""

    def keep_no_executor(self) -> None:
        """Let every launch from now on go through both phases."""
