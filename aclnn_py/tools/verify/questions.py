# SPDX-License-Identifier: Apache-2.0
"""Calls that differ from an accepted one in one argument, to be put to phase one.

A call is a list of arguments as `facts.accepted_calls` has them. A change keeps all that it is not
about: another rank keeps the dtype, another dtype the shape.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

from aclnn_py.operators.describe.parameter import Parameter
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.formats import format_of, storage_shape
from aclnn_py.tensor.views import contiguous_strides

__all__ = ["DTYPES", "KINDS", "Change", "changes"]

DTYPES = (
    *("float32", "float16", "bfloat16", "float64", "int8", "int16", "int32", "int64", "uint8"),
    *("uint16", "uint32", "uint64", "bool", "complex64", "complex128", "int4", "float8_e4m3fn"),
    *("float8_e5m2", "float8_e8m0fnu", "hifloat8", "float4_e2m1fn"),
)
_FORMATS = ("ND", "NCHW", "NHWC", "NCDHW", "NCL", "FRACTAL_Z", "FRACTAL_NZ")
_TOO_MANY_DIMENSIONS = 9
_TEXTS = ("", "none", "sum", "BSND", "BNSD", "TND", "mean", "no such text")
_INTEGERS = "biulq"
_RANGES = {"b": (-128, 127), "i": (-(2**31), 2**31 - 1), "u": (0, 2**32 - 1),
           "l": (-(2**63), 2**63 - 1), "q": (0, 2**64 - 1)}  # fmt: skip
_REALS = (0.0, -1.0, 0.5, 2.0, float("inf"), float("nan"))
_POINTERS = "TLSRIFBs"
_NUMBERS = {
    "float32": struct.pack("<f", 1.5),
    "float16": struct.pack("<e", 1.5),
    "int64": struct.pack("<q", 2),
    "bool": b"\1",
    "complex64": struct.pack("<ff", 1.5, -1.0),
}
_SCALARS = {"zero": 0.0, "minus one": -1.0, "infinity": float("inf"), "NaN": float("nan")}

# What a change is about.
KINDS = (
    *("null", "given", "dtype", "format", "rank", "extent", "stride"),
    *("attribute", "text", "length", "member"),
)


class Change(NamedTuple):
    """Another argument in the place of one.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    position : int
        Of the argument.
    what : str
        How it differs: with the name of the parameter, it is unique among the changes of a call.
    argument : object
        As `facts.accepted_calls` has it.
    """

    kind: str
    position: int
    what: str
    argument: Any


def changes(parameters: Sequence[Parameter], row: Sequence[Any]) -> Iterator[Change]:
    """Yield every change of an accepted call, in a fixed order."""
    tensors = [value for value in row if _is(value, "tensor")]
    for position, (parameter, value) in enumerate(zip(parameters, row, strict=True)):
        for kind, what, other in _others(parameter.kind, value, tensors):
            yield Change(kind, position, what, other)


def _others(kind: str, value: Any, tensors: list[Any]) -> Iterator[tuple[str, str, Any]]:
    if value is None:
        yield from _instead_of_null(kind, tensors)
        return
    if kind in _POINTERS:
        yield "null", "null", None
    if kind == "T":
        yield from _tensor(value)
    elif kind == "L":
        yield from _list("tensors", value["tensors"], _tensor)
    elif kind == "S":
        yield from _scalar(value)
    elif kind == "R":
        yield from _list("scalars", value["scalars"], _scalar)
    elif kind in "IFB":
        yield from _array(kind, value)
    elif kind == "s":
        yield from (("text", repr(text), text) for text in _TEXTS if text != value)
    elif kind == "y":
        yield from (("attribute", name, name) for name in DTYPES if not _same(name, value))
    elif kind == "?":
        yield "attribute", str(not value).lower(), not value
    elif kind in "fd":
        yield from (("attribute", str(real), real) for real in _REALS if real != value)
    elif not isinstance(value, dict):  # the number of a rank is what it has to be
        yield from (("attribute", str(other), other) for other in _integers(kind, value))


def _same(name: str, value: Any) -> bool:
    try:
        return dtype_of(value) is dtype_of(name)
    except (TypeError, ValueError):
        return False


def _integers(kind: str, value: int) -> list[int]:
    low, high = _RANGES[kind]
    near = (value + 1, value - 1, 0, -1, 2**31 - 1, -(2**31), 2**31)
    return [n for n in dict.fromkeys(near) if n != value and low <= n <= high]


def _instead_of_null(kind: str, tensors: list[Any]) -> Iterator[tuple[str, str, Any]]:
    if kind == "T" and tensors:
        yield "given", "the first tensor's shape", _plain(tensors[0], tensors[0]["shape"])
    elif kind == "L" and tensors:
        yield "given", "a list", {"tensors": [_plain(tensors[0], tensors[0]["shape"])]}
    elif kind in "SR":
        one = {"scalar": "float32", "bytes": _NUMBERS["float32"].hex()}
        yield "given", "1.5", one if kind == "S" else {"scalars": [one]}
    elif kind in "IFB":
        yield "given", "two ones", [1, 1] if kind == "I" else [1.0, 1.0] if kind == "F" else [True]
    elif kind == "s":
        yield from (("given", repr(text), text) for text in _TEXTS)


def _is(value: Any, word: str) -> bool:
    return isinstance(value, dict) and word in value


def _plain(tensor: Any, shape: Sequence[int]) -> dict[str, Any]:
    return {"tensor": tensor["tensor"], "shape": list(shape)}


def _dense(tensor: dict[str, Any], shape: Sequence[int]) -> dict[str, Any]:
    """The tensor with another shape, dense in memory; blocks follow the shape."""
    kept = ("tensor", "format", "bytes")
    made = {"shape": list(shape), **{key: tensor[key] for key in kept if key in tensor}}
    return _stored(made, tensor.get("format", "ND"))


def _stored(tensor: dict[str, Any], format: str) -> dict[str, Any]:
    """Give a tensor the storage of a format, where its shape can have that."""
    try:
        shape = tuple(tensor["shape"])
        blocks = list(storage_shape(shape, format_of(format), dtype_of(tensor["tensor"])))
    except ValueError:
        return tensor
    return tensor if blocks == tensor["shape"] else {**tensor, "storage_shape": blocks}


def _tensor(value: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for dtype in DTYPES:
        if dtype != value["tensor"]:
            yield "dtype", dtype, {**value, "tensor": dtype}
    for format in _FORMATS:
        if format != value.get("format", "ND"):
            plain = {key: item for key, item in value.items() if key != "storage_shape"}
            yield "format", format, _stored({**plain, "format": format}, format)
    for what, shape in _ranks(value["shape"]):
        yield "rank", what, _dense(value, shape)
    for axis, extent in enumerate(value["shape"]):
        for other in dict.fromkeys((extent + 1, max(extent - 1, 0), 0)):
            if other != extent:
                shape = [*value["shape"][:axis], other, *value["shape"][axis + 1 :]]
                yield "extent", f"dimension {axis} is {other}", _dense(value, shape)
    yield from _strides(value)


def _ranks(shape: list[int]) -> Iterator[tuple[str, list[int]]]:
    if shape:
        yield "without the first dimension", shape[1:]
        yield "a dimension in front", [1, *shape]
    if len(shape) > 1:
        yield "without the last dimension", shape[:-1]
        yield "the first two dimensions in one", [shape[0] * shape[1], *shape[2:]]
    yield "a dimension behind", [*shape, 1]
    missing = _TOO_MANY_DIMENSIONS - len(shape)
    yield f"{_TOO_MANY_DIMENSIONS} dimensions", [1] * missing + shape


def _strides(value: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    shape = value["shape"]
    if not shape or not prod(shape):
        return
    dense = list(contiguous_strides(tuple(shape)))
    strides = value.get("strides", dense)
    if len(shape) > 1:
        turned = list(contiguous_strides((*shape[:-2], shape[-1], shape[-2])))
        turned[-2:] = reversed(turned[-2:])
        for what, other in (("transposed", turned), ("dense", dense)):
            if other != strides:
                yield "stride", what, {**value, "strides": other}
    yield "stride", "gaps", {**value, "strides": [2 * step for step in strides]}
    yield "stride", "repeated", {**value, "strides": [0, *strides[1:]]}
    yield "stride", "an offset", {**value, "offset": value.get("offset", 0) + 1}


def _scalar(value: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for dtype, data in _NUMBERS.items():
        if dtype != value["scalar"]:
            yield "dtype", dtype, {"scalar": dtype, "bytes": data.hex()}
    for what, number in _SCALARS.items():
        yield "attribute", what, {"scalar": "float32", "bytes": struct.pack("<f", number).hex()}


def _list(word: str, members: list[Any], one: Any) -> Iterator[tuple[str, str, Any]]:
    yield "length", "empty", {word: []}
    if not members:
        return
    yield "length", "one more", {word: [*members, members[-1]]}
    if len(members) > 1:
        yield "length", "one less", {word: members[:-1]}
    last = members[-1]
    if word == "tensors":
        yield "member", "the last is null", {word: [*members[:-1], None]}
    if last is not None:
        for kind, what, other in one(last):
            yield "member", f"the last: {kind} {what}", {word: [*members[:-1], other]}


def _array(kind: str, items: list[Any]) -> Iterator[tuple[str, str, Any]]:
    if items:
        yield "length", "empty", []
        yield "length", "one more", [*items, items[-1]]
        if len(items) > 1:
            yield "length", "one less", items[:-1]
        for other in _other_items(kind, items[-1]):
            yield "member", f"the last is {other}", [*items[:-1], other]


def _other_items(kind: str, item: Any) -> list[Any]:
    if kind == "B":
        return [not item]
    return [real for real in _REALS if real != item] if kind == "F" else _integers("l", item)
