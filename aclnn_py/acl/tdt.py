# SPDX-License-Identifier: Apache-2.0
"""Channels and queues: ``acl.tdt``. Refused."""

from __future__ import annotations

from aclnn_py.acl.members import members_of, module_getattr

__getattr__ = module_getattr("tdt", globals())


def __dir__() -> list[str]:
    return members_of("tdt")
