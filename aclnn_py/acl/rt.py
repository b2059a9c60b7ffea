# SPDX-License-Identifier: Apache-2.0
"""The runtime: ``acl.rt``."""

from __future__ import annotations

from aclnn_py.acl.callbacks import launch_callback, set_exception_info_callback
from aclnn_py.acl.members import members_of, module_getattr

__all__ = ["launch_callback", "set_exception_info_callback"]

__getattr__ = module_getattr("rt", globals())


def __dir__() -> list[str]:
    return members_of("rt")
