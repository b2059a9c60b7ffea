# SPDX-License-Identifier: Apache-2.0
"""Arguments of NumPy's functions as tensors of one dtype and one shape, and results stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from aclnn_py import functional, ops
from aclnn_py.array.arithmetic import check_out, overlaps
from aclnn_py.array.backwards import written
from aclnn_py.array.elements import expect_target
from aclnn_py.array.parts import WIDE_UNSIGNED, part
from aclnn_py.array.promotion import (
    cast,
    expect_operands,
    result_type,
    same_kind,
    scalar,
    tensor_of,
    without_lists,
)
from aclnn_py.runtime.device import Device
from aclnn_py.tensor.creation import from_numpy
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "along",
    "as_row",
    "cat",
    "common",
    "device_of",
    "expect_cast",
    "flat",
    "floating",
    "host_integers",
    "indices_on",
    "key_along",
    "neutral",
    "placed",
    "promoted",
    "real_floating",
    "stored",
    "with_dtype",
]

# Values of NumPy's keywords that ask for nothing but what happens anyway; None never does.
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "order": ("C", "K", "A"),
    "subok": (True, False),
    "casting": ("same_kind", "unsafe"),
    "where": (True,),
    "copy": (False,),
    "mode": ("raise",),
    "device": ("cpu",),
    "overwrite_input": (True, False),
    "optimize": (True, False, "greedy", "optimal"),
}


class _IndexTypeError(IndexError, TypeError):
    """NumPy's functions raise one or the other for indices that are no integers."""


def neutral(name: str, value: Any) -> bool:
    """Whether an argument asks for nothing special."""
    if value is None:
        return True
    known = _NEUTRAL.get(name, ())
    return isinstance(value, (str, bool)) and value in known


def device_of(name: str, *values: Any) -> Device:
    """The device of the tensors among the arguments; arrays on the host are refused."""
    return expect_operands(name, *(scalar(value) for value in values))


def promoted(name: str, *values: Any) -> list[Tensor]:
    """Tensors and numbers as tensors of their common dtype."""
    values = tuple(scalar(value) for value in values)
    device = expect_operands(name, *values)
    kind = result_type(*values)
    return [tensor_of(value, kind, device) for value in values]


def common(name: str, arrays: Sequence[Any]) -> list[Tensor]:
    """Tensors and numbers of a sequence in their common dtype."""
    if isinstance(arrays, Tensor):
        return [arrays] if not arrays.ndim else list(arrays)
    if not arrays:
        raise ValueError(f"{name}: need at least one tensor")
    return promoted(name, *without_lists(*arrays))


def flat(tensor: Tensor, axis: Any) -> tuple[Tensor, Any]:
    """The tensor and the axis; without an axis its elements in one row."""
    return (tensor.reshape(-1), 0) if axis is None else (tensor, axis)


def as_row(tensor: Tensor, axis: Any) -> Tensor:
    """A tensor without dimensions as a row of one where the first or last one is named."""
    return tensor.reshape(1) if not tensor.ndim and axis in (0, -1) else tensor


def floating(tensor: Tensor) -> Tensor:
    """Integers and booleans as float64, as NumPy's statistics take them."""
    return cast(tensor, dtype_of("float64")) if tensor.dtype.kind in "biu" else tensor


def real_floating(name: str, tensor: Tensor) -> Tensor:
    """As ``floating``; complex numbers are refused."""
    if tensor.dtype.kind == "c":
        raise TypeError(f"{name}: not for complex numbers; use the real or the imaginary part")
    return floating(tensor)


def placed(value: Any, device: Device) -> Tensor:
    """A tensor itself; an array, a list or a number of the host copied to the device."""
    return value if isinstance(value, Tensor) else from_numpy(np.asarray(value), device=device)


def along(axis: int, item: Any) -> tuple[Any, ...]:
    """The key that applies an index or a slice to one dimension."""
    return (*(slice(None),) * axis, item)


def key_along(axis: int, index: Tensor, lengths: Sequence[int]) -> tuple[Tensor, ...]:
    """The key that takes elements by an index along one dimension, and all along the others."""
    rank = len(lengths)
    return tuple(
        index if i == axis else from_numpy(
            np.arange(lengths[i]).reshape([-1 if j == i else 1 for j in range(rank)]),
            device=index.device,
        )
        for i in range(rank)
    )  # fmt: skip


def indices_on(device: Device, indices: Any) -> Tensor:
    """Indices as an int64 tensor of the device."""
    if isinstance(indices, Tensor):
        if indices.dtype.kind not in "iu":
            raise _IndexTypeError("arrays used as indices must be of integer type")
        return cast(indices, dtype_of("int64"))
    array = np.asarray(indices)
    if array.dtype.kind not in "iu" and array.size:
        raise _IndexTypeError("arrays used as indices must be of integer type")
    return from_numpy(array.astype(np.int64), device=device)


def cat(tensors: Sequence[Tensor], axis: int) -> Tensor:
    """Tensors of one dtype joined; what aclnnCat lacks is joined as bits or part by part."""
    kind = tensors[0].layout.dtype
    if kind.name == "complex128":
        parts = (
            functional.cat([functional.contiguous(part(item, number)) for item in tensors], axis)
            for number in (0, 1)
        )
        return functional.complex(*parts)
    if kind.name in WIDE_UNSIGNED:
        whole = [functional.contiguous(item).view(WIDE_UNSIGNED[kind.name]) for item in tensors]
        return functional.cat(whole, axis).view(kind.name)
    return functional.cat(tensors, axis)


def host_integers(values: Any) -> list[int]:
    """Integers that decide about shapes: a tensor of them is read."""
    found = np.asarray(values)
    if found.dtype.kind not in "biu" and found.size:
        raise TypeError(f"expected integers, got {found.dtype}: use astype(np.int64)")
    return [int(value) for value in found.reshape(-1)]


def stored(name: str, result: Any, out: Any) -> Any:
    """Write a result to ``out`` and return that."""
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    if out is None:
        return result
    if isinstance(result, tuple):
        if not isinstance(out, Iterable):
            raise TypeError(f"{name}: out must hold {len(result)} tensors")
        return tuple(stored(name, r, o) for r, o in zip(result, out, strict=True))
    check_out(out, result.shape, result.layout.dtype, name)
    expect_target(out)
    if out.shape != result.shape:
        raise ValueError(f"{name}: the result has shape {result.shape}, out has {out.shape}")
    ops.inplace_copy(out, functional.contiguous(result) if overlaps(out, result) else result)
    written(out)
    return out


def with_dtype(tensor: Tensor, dtype: Any) -> Tensor:
    """The tensor in another dtype, if one is asked for."""
    return tensor if dtype is None else cast(tensor, dtype_of(dtype))


def expect_cast(name: str, source: DType, target: DType, casting: str) -> None:
    """Raise where NumPy's rule ``casting`` forbids a conversion."""
    if casting == "same_kind":
        allowed = same_kind(source, target)
    else:
        allowed = np.can_cast(source.numpy, target.numpy, casting)  # type: ignore[arg-type]
    if not allowed:
        raise TypeError(
            f"{name}: cannot cast {source} to {target} according to the rule {casting!r}; "
            "use astype()"
        )
