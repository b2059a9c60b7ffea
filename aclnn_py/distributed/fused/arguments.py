# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments that the fused operators have in common."""

from __future__ import annotations

from typing import Any

from aclnn_py.distributed import groups
from aclnn_py.distributed.communicator import Communicator
from aclnn_py.distributed.groups import Group
from aclnn_py.errors import NotSupportedError
from aclnn_py.operators.describe.argument_errors import not_a_tensor
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "STOP_ON_FAILURE",
    "communicator_of",
    "matrices",
    "own_product",
    "product_like",
    "tensor_of",
]

# The only mode that communication operators accept: a failure stops the stream.
STOP_ON_FAILURE = 1


def communicator_of(group: Group, world_size: int | None) -> Communicator:
    """Return the communicator of ``group``; ValueError when it has another number of ranks."""
    comm = groups.resolve(group)
    if world_size is not None and world_size != comm.world_size:
        raise ValueError(
            f"world_size: {world_size}, but communicator {comm.name} has {comm.world_size} ranks"
        )
    return comm


def tensor_of(value: object, argument: str, dimensions: tuple[int, ...]) -> Tensor:
    """Return ``value`` when it is a tensor with one of these numbers of dimensions.

    The result is allocated from its shape, before the library could check it.
    """
    if not isinstance(value, Tensor):
        raise not_a_tensor(argument, value)
    if value.ndim not in dimensions:
        numbers = " or ".join(map(str, dimensions))
        kind = "a matrix" if dimensions == (2,) else f"{numbers} dimensions"
        raise ValueError(f"{argument}: expected {kind}, got shape {value.shape}")
    return value


def product_like(x1: object, x2: object, dtype: str | None, comm: Communicator) -> Tensor:
    """Allocate the result of ``x1 @ x2``; its dtype is that of ``x1`` unless one is given."""
    left, right = tensor_of(x1, "x1", (2, 3)), tensor_of(x2, "x2", (2,))
    shape = (*left.shape[:-1], right.shape[1])
    return empty(shape, dtype or left.dtype_name, device=comm.device)


def own_product(
    mm_x: Tensor | None,
    mm_weight: Tensor | None,
    turned: bool,
    comm: Communicator,
    dtype: Any = None,
) -> Tensor | None:
    """Allocate the product of rows that stay on their rank, if there are any."""
    if mm_x is None and mm_weight is None:
        return None
    for name, value in (("mm_x", mm_x), ("mm_weight", mm_weight)):
        if value is None:
            raise ValueError(f"{name}: mm_x and mm_weight are given together")
        if not isinstance(value, Tensor):
            raise not_a_tensor(name, value)
    left, right = tensor_of(mm_x, "mm_x", (2,)), tensor_of(mm_weight, "mm_weight", (2,))
    shape = (left.shape[0], right.shape[0 if turned else 1])
    return empty(shape, left.dtype_name if dtype is None else dtype, device=comm.device)


def matrices(
    routine: str, input: object, x2: object, trans_input: bool, trans_x2: bool
) -> tuple[Tensor, Tensor]:
    """Return both matrices of a product; NotSupportedError when the left one is transposed."""
    if trans_input:
        raise NotSupportedError(f"trans_input: {routine} takes only False")
    left, right = tensor_of(input, "input", (2,)), tensor_of(x2, "x2", (2,))
    return left, right.T if trans_x2 else right
