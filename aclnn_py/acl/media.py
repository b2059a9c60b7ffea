# SPDX-License-Identifier: Apache-2.0
"""Pictures and videos, first version: ``acl.media``. Refused."""

from __future__ import annotations

from aclnn_py.acl.members import members_of, module_getattr

__getattr__ = module_getattr("media", globals())


def __dir__() -> list[str]:
    return members_of("media")
