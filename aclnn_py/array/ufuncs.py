# SPDX-License-Identifier: Apache-2.0
"""Every ufunc by its name: rows of one operator, compositions, and matrix products."""

from __future__ import annotations

from typing import Any

from aclnn_py.array import arithmetic, composed, products
from aclnn_py.array.names import refusal

__all__ = ["NAMES", "evaluate"]

NAMES = frozenset({*arithmetic.NAMES, *composed.FUNCTIONS, *products.FUNCTIONS})


def evaluate(name: str, *inputs: Any) -> Any:
    """Evaluate a ufunc on operands."""
    if name in arithmetic.NAMES:
        return arithmetic.apply(name, *inputs)
    found = composed.FUNCTIONS.get(name) or products.FUNCTIONS.get(name)
    if found is None:
        raise TypeError(refusal(name))
    return found(*inputs)
