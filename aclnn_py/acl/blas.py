# SPDX-License-Identifier: Apache-2.0
"""Matrix products by offline operator models: ``acl.blas``. Refused."""

from __future__ import annotations

from aclnn_py.acl.members import members_of, module_getattr

__getattr__ = module_getattr("blas", globals())


def __dir__() -> list[str]:
    return members_of("blas")
