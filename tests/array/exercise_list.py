# SPDX-License-Identifier: Apache-2.0
"""Exercises of ordinary NumPy courses, each written for NumPy: only the arrays are switched.

A function is one exercise. It takes ``np``, which is NumPy, or NumPy with functions that make
arrays making tensors, and returns what has to be equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["EXERCISES", "exercise"]

EXERCISES: dict[str, Callable[[Any], Any]] = {}


def exercise(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    EXERCISES[function.__name__] = function
    return function
