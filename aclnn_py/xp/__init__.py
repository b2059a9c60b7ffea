# SPDX-License-Identifier: Apache-2.0
"""The array API standard, version 2024.12, on tensors: ``t.__array_namespace__()`` returns it.

Code that is written for the standard runs on tensors without a change: it asks its arguments for
their namespace and calls the functions it finds there. The default float is float32, because many
operators of CANN take no float64. ``docs/array_api.md`` says what differs from the standard.
"""

from __future__ import annotations

from aclnn_py.xp import fft, linalg
from aclnn_py.xp.creation import *  # noqa: F403
from aclnn_py.xp.dtypes import *  # noqa: F403
from aclnn_py.xp.dtypes import boolean as bool
from aclnn_py.xp.elementwise import *  # noqa: F403
from aclnn_py.xp.functions import *  # noqa: F403
from aclnn_py.xp.info import VERSION, Info

__array_api_version__ = VERSION
__all__ = ["bool", "fft", "linalg"]


def __array_namespace_info__() -> Info:
    """Answers about devices, dtypes and capabilities."""
    return Info()
