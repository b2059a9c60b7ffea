# SPDX-License-Identifier: Apache-2.0
"""Single operators: ``acl.op``."""

from __future__ import annotations

from aclnn_py.acl.members import members_of, module_getattr
from aclnn_py.acl.operators import operator_function, operator_functions
from aclnn_py.acl.own_calls import set_attr_list_list_int

__all__ = ["set_attr_list_list_int"]

__getattr__ = module_getattr("op", globals(), operator_function)


def __dir__() -> list[str]:
    return [*members_of("op"), *operator_functions()]
