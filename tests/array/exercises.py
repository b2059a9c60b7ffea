# SPDX-License-Identifier: Apache-2.0
"""All exercises; a module for each kind adds its own."""

from __future__ import annotations

import exercises_first_steps  # noqa: F401
import exercises_of_courses  # noqa: F401
import exercises_of_data  # noqa: F401
import exercises_of_neighbours  # noqa: F401
from exercise_list import EXERCISES

__all__ = ["EXERCISES"]
