# SPDX-License-Identifier: Apache-2.0
"""pyACL's interface over the library in use: CANN, or the emulator.

``from aclnn_py import acl`` gives it under its own name. The tree of ``aclnn-py cann`` has it as
``acl``, so that scripts written for pyACL run unchanged. Pointers, streams, contexts and events are
integers, and functions return their results and then a status, as in CANN's reference.
`docs/pyacl.md` lists every function.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from aclnn_py._ffi import C
from aclnn_py.acl import blas, constants, himpi, mdl, media, op, prof, rt, tdt, util
from aclnn_py.acl.host_memory import take_note
from aclnn_py.acl.members import member, members_of
from aclnn_py.acl.own_calls import create_scalar, get_cann_attribute_list
from aclnn_py.acl.values import plain

__all__ = [
    "blas",
    "constants",
    "create_scalar",
    "get_cann_attribute_list",
    "get_recent_err_msg",
    "himpi",
    "mdl",
    "media",
    "op",
    "prof",
    "rt",
    "stand_in",
    "tdt",
    "util",
]

_MODULES = (blas, constants, himpi, mdl, media, op, prof, rt, tdt, util)


def get_recent_err_msg() -> str:
    """Return what the last failed call on this thread left to say, and forget it.

    Source
    ------
    aclGetRecentErrMsg, include/acl/acl_rt.h
    """
    noted = take_note()
    told = str(plain(C.aclGetRecentErrMsg()))
    return noted or told


def stand_in(name: str = "acl") -> ModuleType:
    """Put this package and its modules into ``sys.modules`` under another name.

    Parameters
    ----------
    name : str
        The name that scripts import.
    """
    package = sys.modules[__name__]
    sys.modules[name] = package
    for module in _MODULES:
        sys.modules[f"{name}.{module.__name__.rpartition('.')[2]}"] = module
    return package


def __getattr__(name: str) -> Any:
    value = constants.constant(name) if name.startswith(constants.PREFIXES) else member("", name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *members_of(""), *constants.names()})
