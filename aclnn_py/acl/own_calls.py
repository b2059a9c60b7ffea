# SPDX-License-Identifier: Apache-2.0
"""Functions whose arguments or results no row of the table describes."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py._ffi import C, ffi
from aclnn_py.acl.values import array_of, number, plain, text_of, value_of
from aclnn_py.operators.describe.scalar import Scalar, scalar_bytes
from aclnn_py.tensor.dtypes import from_acl

__all__ = ["create_scalar", "get_cann_attribute_list", "set_attr_list_list_int"]


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


def get_cann_attribute_list() -> tuple[list[int], int, int]:
    """Return what the library can be asked about, how much that is, and the status.

    Source
    ------
    aclGetCannAttributeList, include/acl/acl_rt.h
    """
    attributes, count = ffi.new("aclCannAttr **"), ffi.new("size_t *")
    status = int(C.aclGetCannAttributeList(attributes, count))
    found = [] if status else [int(plain(attributes[0][i])) for i in range(count[0])]
    return found, len(found), status


def set_attr_list_list_int(attr: int, attr_name: str, attr_value: Sequence[Sequence[int]]) -> int:
    """Set an attribute that is a list of lists of any lengths; return the status.

    Parameters
    ----------
    attr : int
        What ``acl.op.create_attr`` returned.
    attr_name : str
        The attribute.
    attr_value : list of lists of int
        Its value.

    Source
    ------
    aclopSetAttrListListInt, include/acl/acl_op.h
    """
    handle = value_of(ffi.typeof("aclopAttr *"))("attr", attr)
    name = text_of("attr_name", attr_name)
    if isinstance(attr_value, (str, bytes)) or not hasattr(attr_value, "__len__"):
        raise TypeError(f"attr_value: expected a list, got {type(attr_value).__name__}")
    integers = ffi.typeof("int64_t *")
    arrays = [array_of(f"attr_value[{i}]", v, integers)[0] for i, v in enumerate(attr_value)]
    lengths = ffi.new("int[]", [len(part) for part in attr_value])
    values = ffi.new("int64_t *[]", arrays)
    return int(C.aclopSetAttrListListInt(handle, name, len(arrays), lengths, values))
