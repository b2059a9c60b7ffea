# SPDX-License-Identifier: Apache-2.0
"""Operators as data: call one by its C name on NumPy arrays laid out in memory in various ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

import aclnn_py as ap
from aclnn_py import facts
from aclnn_py.errors import AclnnError

Array = npt.NDArray[Any]

NUMPY = {
    "FLOAT": np.dtype(np.float32),
    "FLOAT16": np.dtype(np.float16),
    "BFLOAT16": np.dtype(ml_dtypes.bfloat16),
    "DOUBLE": np.dtype(np.float64),
    "INT8": np.dtype(np.int8),
    "INT16": np.dtype(np.int16),
    "INT32": np.dtype(np.int32),
    "INT64": np.dtype(np.int64),
    "UINT8": np.dtype(np.uint8),
    "UINT16": np.dtype(np.uint16),
    "UINT32": np.dtype(np.uint32),
    "UINT64": np.dtype(np.uint64),
    "BOOL": np.dtype(np.bool_),
    "COMPLEX64": np.dtype(np.complex64),
    "COMPLEX128": np.dtype(np.complex128),
}
# What an operator takes of which the facts name no dtype.
UNDOCUMENTED = frozenset(NUMPY) - {"UINT16", "UINT32", "UINT64"}
LAYOUTS = ("dense", "transposed", "stepped")


def accepted_dtypes(operator: str, position: int) -> frozenset[str]:
    """Return the dtypes that the facts name for the parameter at a position, of those NumPy has."""
    name = op(operator).parameters[position].c_name
    names = frozenset(facts.emulated()[operator].parameter(name).dtypes or ())
    return names & frozenset(NUMPY) if names else UNDOCUMENTED


def tensor_dtypes(operator: str, *, of_950: bool = False) -> dict[str, tuple[str, ...]]:
    """Return the dtypes of each tensor by its C name; of a chip of the 950 series where asked."""
    fact = facts.emulated()[operator]
    found = {}
    for parameter in op(operator).parameters:
        known = fact.parameter(parameter.c_name)
        names = known.dtypes
        if of_950 and known.dtypes_950 is not None:
            names = known.dtypes_950
        if parameter.is_tensor and names is not None:
            found[parameter.c_name] = names
    return found


def snake(operator: str) -> str:
    """Return the name under which `aclnn_py.ops` has a C operator."""
    from aclnn_py._ffi.contract.naming import operator_name

    return operator_name(operator)


def op(operator: str) -> Any:
    """Return the callable of a C operator."""
    return getattr(ap.ops, snake(operator))


def place(array: Array, layout: str = "dense") -> ap.Tensor:
    """Copy an array to the device so that the tensor's elements lie as the layout says."""
    if layout == "transposed" and array.ndim > 1:
        axes = tuple(reversed(range(array.ndim)))
        return ap.from_numpy(np.ascontiguousarray(array.transpose(axes))).permute(*axes)
    if layout == "stepped" and array.ndim > 0:
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 1), array.dtype)
        wide[..., 1::2] = array
        return ap.from_numpy(wide)[..., 1::2]
    return ap.from_numpy(np.ascontiguousarray(array).reshape(array.shape))


def hollow(shape: Sequence[int], dtype: Any, layout: str = "dense") -> ap.Tensor:
    """Return a tensor for a result, filled with what no operator would leave there by chance."""
    kind = np.dtype(dtype)
    if kind == np.bool_:
        # All of one truth value is a likely result; alternating ones are not.
        junk = np.arange(int(np.prod(shape))).reshape(tuple(shape)) % 2 == 0
        return place(junk, layout)
    return place(np.full(tuple(shape), 77).astype(kind), layout)


def refusal(operator: str, *arguments: Any) -> int:
    """Call an operator that must be refused; return the status code."""
    try:
        op(operator)(*arguments)
    except AclnnError as error:
        return int(error.status)
    raise AssertionError(f"{operator} took {[_text(a) for a in arguments]}")


def _text(argument: Any) -> str:
    if isinstance(argument, ap.Tensor):
        return f"{argument.dtype}{argument.shape}"
    return repr(argument)


def wide(array: Array) -> Array:
    """Return the values where an oracle computes: float64, complex128, int64, uint64 or bool."""
    kind = array.dtype
    if kind.kind == "c":
        return array.astype(np.complex128)
    if kind == np.bool_ or kind == np.uint64:
        return array
    if kind.kind in "iu":
        return array.astype(np.int64)
    return array.astype(np.float64)


def values(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, low: float, high: float
) -> Array:
    """Return random values of a dtype between two bounds, as far as the dtype goes."""
    kind = np.dtype(dtype)
    if kind == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if kind.kind in "iu":
        least = max(int(np.ceil(low)), int(np.iinfo(kind).min))
        most = min(int(np.floor(high)), int(np.iinfo(kind).max))
        return rng.integers(least, most, shape, endpoint=True).astype(kind)
    real = rng.uniform(low, high, shape)
    if kind.kind == "c":
        return (real + 1j * rng.uniform(low, high, shape)).astype(kind)
    return real.astype(kind)


def pairs(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each unordered pair of different names once."""
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            yield first, second
