# SPDX-License-Identifier: Apache-2.0
"""Offline models: ``acl.mdl``. All but the configuration of dumps is refused."""

from __future__ import annotations

from aclnn_py.acl.members import members_of, module_getattr

__getattr__ = module_getattr("mdl", globals())


def __dir__() -> list[str]:
    return members_of("mdl")
