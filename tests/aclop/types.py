# SPDX-License-Identifier: Apache-2.0
"""A problem for every operator type of the table: inputs, attributes and NumPy's answer."""

from __future__ import annotations

from . import (
    elementwise_types,
    gradient_types,
    learning_types,
    matrix_types,
    reduction_types,
    shape_types,
)
from .problem import PROBLEMS, Problem

__all__ = ["PROBLEMS", "Problem"]
_FILLED_BY = (
    elementwise_types,
    gradient_types,
    learning_types,
    matrix_types,
    reduction_types,
    shape_types,
)
