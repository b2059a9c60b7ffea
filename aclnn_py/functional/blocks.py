# SPDX-License-Identifier: Apache-2.0
"""Shapes of attention over blocks of keys."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py.errors import InvalidArgumentError
from aclnn_py.operators.describe.argument_errors import expect_whole, type_name, whole_numbers
from aclnn_py.tensor.tensor import Tensor

__all__ = ["block_pairs", "chosen_shape", "stepped_shape"]


def stepped_shape(query: Tensor, value: Tensor, num_key_value_heads: int) -> tuple[int, ...]:
    """Shape of the result for ``query``, whose keys lie in pages."""
    _positive("num_key_value_heads", num_key_value_heads)
    if not query.ndim or not value.ndim:
        return query.shape
    # Pages of three dimensions have their heads side by side.
    heads = num_key_value_heads if value.ndim == 3 else 1
    return (*query.shape[:-1], value.shape[-1] // heads)


def chosen_shape(
    query: Tensor, num_key_value_heads: int, select_block_count: int
) -> tuple[int, ...]:
    """Shape of the blocks that are chosen for each token and head of the keys."""
    _positive("num_key_value_heads", num_key_value_heads)
    _positive("select_block_count", select_block_count)
    return (*query.shape[:-2], num_key_value_heads, select_block_count)


def block_pairs(
    query: Tensor,
    key: Tensor,
    block_shape: Sequence[int],
    actual_seq_lengths: Sequence[int] | None,
    actual_seq_lengths_kv: Sequence[int] | None,
    input_layout: str,
) -> tuple[int, ...]:
    """Shape of a mask of pairs of blocks, for the longest sequences."""
    if not isinstance(input_layout, str):
        raise TypeError(f"input_layout: expected a str, got {type_name(input_layout)}")
    sizes = whole_numbers("block_shape", block_shape)
    if len(sizes) != 2 or min(sizes) < 1:
        raise InvalidArgumentError(f"block_shape: {sizes} is not two positive sizes")
    packed = input_layout == "TND"
    batch, counts = query.shape[0] if query.ndim else 0, []
    sides = (
        ("actual_seq_lengths", query, actual_seq_lengths),
        ("actual_seq_lengths_kv", key, actual_seq_lengths_kv),
    )
    for (name, tensor, given), size in zip(sides, sizes, strict=True):
        if tensor.ndim != (3 if packed else 4):
            raise InvalidArgumentError(
                f"input_layout: {input_layout!r} does not fit the shape {tensor.shape}; give 'TND' "
                "with 3 dimensions or 'BNSD' with 4"
            )
        if given is None and packed:
            raise InvalidArgumentError(f"{name}: give the lengths of packed sequences")
        lengths = (tensor.shape[2],) if given is None else whole_numbers(name, given)
        if packed:
            batch = len(lengths)
        counts.append(-(-max(lengths, default=0) // size))
    return (batch, query.shape[1], *counts)


def _positive(name: str, value: int) -> None:
    expect_whole(**{name: value})
    if value < 1:
        raise InvalidArgumentError(f"{name}: {value} is not positive")
