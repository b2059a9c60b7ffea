# SPDX-License-Identifier: Apache-2.0
"""The arguments of a call as an exception keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from aclnn_py.errors import Argument
from aclnn_py.operators.describe.operator import Operator
from aclnn_py.operators.describe.parameter import TENSOR_LIST, Parameter
from aclnn_py.tensor.tensor import Tensor

__all__ = ["echo", "origin_of"]


def _unknown_origin(tensor: Tensor) -> str:
    return ""


# Replaced by whoever keeps the lines that made tensors; nobody pays for them otherwise.
origin_of: Callable[[Tensor], str] = _unknown_origin


def echo(op: Operator, values: Sequence[object]) -> tuple[Argument, ...]:
    """Arguments of a call in C order; a list of tensors is followed by its members."""
    return tuple(
        argument
        for parameter, value in zip(op.parameters, values, strict=True)
        for argument in _arguments(parameter, value)
    )


def _arguments(parameter: Parameter, value: object) -> Iterator[Argument]:
    if parameter.kind == TENSOR_LIST and isinstance(value, Sequence):
        yield Argument(name=parameter.name, value=f"{len(value)} tensors")
        for index, item in enumerate(value):
            yield _argument(f"{parameter.name}[{index}]", item)
    else:
        yield _argument(parameter.name, value)


def _argument(name: str, value: object) -> Argument:
    if not isinstance(value, Tensor):
        return Argument(name=name, value=repr(value))
    layout, block = value.layout, value.buffer.block
    start = block.address + layout.dtype.nbytes(value.offset) if block.address else 0
    return Argument(
        name=name,
        shape=value.shape,
        dtype=value.dtype_name,
        strides=value.strides,
        offset=value.offset,
        format=value.format.name,
        storage_shape=value.storage_shape,
        address=start,
        nbytes=layout.storage_nbytes
        if value.format.name != "ND"
        else layout.dtype.nbytes(layout.span),
        device=block.device.index,
        owner=_owner(value),
        origin=origin_of(value),
    )


def _owner(tensor: Tensor) -> str:
    buffer = tensor.buffer
    if buffer.closed:
        return "a closed buffer"
    if buffer.block.owner is not None:
        kind = type(buffer.block.owner)
        return f"{buffer.nbytes} bytes of a {kind.__module__}.{kind.__qualname__}"
    if buffer.block.owned:
        return f"a buffer of {buffer.nbytes} bytes"
    return f"{buffer.nbytes} bytes at an address of the caller's"
