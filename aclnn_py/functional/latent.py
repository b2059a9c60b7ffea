# SPDX-License-Identifier: Apache-2.0
"""Shapes around latent attention, indexers and native sparse attention."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py.errors import InvalidArgumentError
from aclnn_py.operators.describe.argument_errors import (
    expect_flags,
    expect_whole,
    type_name,
    whole_numbers,
)
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "absorbed_shape",
    "chosen_keys_shape",
    "heads_of",
    "if_asked",
    "key_sums_shape",
    "windows_shape",
    "with_width",
]


def heads_of(**tensors: Tensor) -> int:
    """The number of heads of a tensor whose last two dimensions are heads and width."""
    ((name, tensor),) = tensors.items()
    if tensor.ndim < 2:
        raise InvalidArgumentError(
            f"{name}: shape {tensor.shape} has no heads; expected (..., heads, width)"
        )
    return tensor.shape[-2]


def absorbed_shape(token_x: Tensor, weight_uk: Tensor, width: int | None = None) -> tuple[int, ...]:
    """Shape of the queries of each head: in latent space, or ``width`` wide."""
    if weight_uk.ndim != 3:
        raise InvalidArgumentError(
            f"weight_uk: shape {weight_uk.shape}; expected (heads, head width, latent width)"
        )
    heads, _, latent = weight_uk.shape
    return (*token_x.shape[:-1], heads, latent if width is None else width)


def with_width(**tensors: Tensor) -> int:
    """The length of the last dimension of a tensor."""
    ((name, tensor),) = tensors.items()
    if not tensor.ndim:
        raise InvalidArgumentError(f"{name}: a tensor without dimensions has no width")
    return tensor.shape[-1]


def if_asked(asked: bool, *shape: int) -> tuple[int, ...]:
    """The shape of a result, or that of a tensor without elements."""
    return shape if asked else (0,)


def chosen_keys_shape(query: Tensor, key: Tensor, sparse_count: int) -> tuple[int, ...]:
    """Shape of the keys that are chosen for each token."""
    expect_whole(sparse_count=sparse_count)
    if sparse_count < 1:
        raise InvalidArgumentError(f"sparse_count: {sparse_count} is not positive")
    heads_of(query=query)
    return (*query.shape[:-2], heads_of(key=key), sparse_count)


def key_sums_shape(query: Tensor, key: Tensor, layout_query: str, asked: bool) -> tuple[int, ...]:
    """Shape of the maxima and sums of a sparse attention, without elements unless ``asked``."""
    expect_flags(return_softmax_lse=asked)
    if not isinstance(layout_query, str):
        raise TypeError(f"layout_query: expected a str, got {type_name(layout_query)}")
    if not asked:
        return (0,)
    heads, key_heads = heads_of(query=query), heads_of(key=key)
    if query.ndim != (3 if layout_query == "TND" else 4):
        raise InvalidArgumentError(
            f"layout_query: {layout_query!r} does not fit the shape {query.shape}; give 'TND' with "
            "3 dimensions or 'BSND' with 4"
        )
    return (*query.shape[:-3], key_heads, query.shape[-3], heads // max(1, key_heads))


def windows_shape(
    input: Tensor, act_seq_len: Sequence[int], block: int, stride: int
) -> tuple[int, ...]:
    """Shape of the windows of packed sequences that end where ``act_seq_len`` says."""
    ends = whole_numbers("act_seq_len", act_seq_len)
    expect_whole(compress_block_size=block, compress_stride=stride)
    for name, value in (("compress_block_size", block), ("compress_stride", stride)):
        if value < 1:
            raise InvalidArgumentError(f"{name}: {value} is not positive")
    lengths = (end - start for start, end in zip((0, *ends), ends, strict=False))
    count = sum((n - block) // stride + 1 for n in lengths if n >= block)
    return (count, *input.shape[1:])
