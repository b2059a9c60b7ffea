# SPDX-License-Identifier: Apache-2.0
"""Scalars of operators from Python's numbers."""

from __future__ import annotations

from aclnn_py._ffi import C, ffi
from aclnn_py.acl.values import number
from aclnn_py.operators.describe.scalar import Scalar, scalar_bytes
from aclnn_py.tensor.dtypes import from_acl

__all__ = ["create_scalar"]


def create_scalar(value: bool | int | float | complex, data_type: int) -> int:
    """Return the handle of an aclScalar; the caller destroys it with ``acl.destroy_scalar``.

    Parameters
    ----------
    value : number
        It has to fit into the type.
    data_type : int
        The aclDataType, such as ``acl.ACL_FLOAT``.

    Source
    ------
    aclCreateScalar, include/aclnn/acl_meta.h
    """
    code = number("data_type", data_type, 0, 2**31 - 1, "integer")
    _code, packed = scalar_bytes(Scalar(value, from_acl(code)), 0, "value")
    return int(ffi.cast("uintptr_t", C.aclCreateScalar(ffi.new("char[]", packed), code)))
