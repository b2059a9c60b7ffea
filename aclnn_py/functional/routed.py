# SPDX-License-Identifier: Apache-2.0
"""Shapes of tokens on their way to experts and back."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py.errors import InvalidArgumentError
from aclnn_py.operators.describe.argument_errors import (
    expect_flags,
    expect_tensors,
    expect_whole,
    whole_numbers,
)
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "check_head_numbers",
    "counts_shape",
    "expanded_shape",
    "finalized_rows",
    "mapped_rows",
    "permuted_rows",
]

_PAIRS = 2


def expanded_shape(
    x: Tensor,
    expert_idx: Tensor,
    expert_num: int,
    active_num: int,
    expert_capacity: int,
    drop_pad_mode: int,
) -> tuple[int, ...]:
    """Shape of the tokens in the order of their experts."""
    if drop_pad_mode == 1:
        return (_not_negative("expert_num", expert_num),
                _not_negative("expert_capacity", expert_capacity), x.shape[-1])  # fmt: skip
    rows = expert_idx.count
    expect_whole(active_num=active_num)
    return (min(active_num, rows) if active_num > 0 else rows, x.shape[-1])


def counts_shape(
    expert_num: int, active_expert_range: Sequence[int] | None, kind: int
) -> tuple[int, ...]:
    """Shape of the numbers of tokens of experts."""
    if kind == _PAIRS:
        return (_not_negative("expert_num", expert_num), 2)
    if active_expert_range is None:
        return (_not_negative("expert_num", expert_num),)
    given = whole_numbers("active_expert_range", active_expert_range)
    if len(given) != 2 or given[0] > given[1]:
        raise InvalidArgumentError(
            f"active_expert_range: {given} is not the first expert and the one behind the last"
        )
    return (given[1] - given[0],)


def finalized_rows(places: Tensor, weights: Tensor | None) -> int:
    """Number of tokens that some choices belong to; without weights a token has one choice."""
    choices = 1 if weights is None else weights.shape[-1] if weights.ndim else 1
    return places.count // max(choices, 1)


def permuted_rows(indices: Tensor, num_out_tokens: int) -> int:
    """How many rows of the sorted tokens are kept."""
    rows = indices.count
    expect_whole(num_out_tokens=num_out_tokens)
    if num_out_tokens > 0:
        return min(rows, num_out_tokens)
    return max(rows + num_out_tokens, 0)


def check_head_numbers(head_nums: Sequence[int]) -> None:
    """Raise unless there are numbers of heads for queries, keys and values."""
    given = whole_numbers("head_nums", head_nums)
    if len(given) != 3:
        raise InvalidArgumentError(
            f"head_nums: {given} has {len(given)} numbers; expected those of queries, keys and "
            "values"
        )


def _not_negative(name: str, value: int) -> int:
    expect_whole(**{name: value})
    if value < 0:
        raise InvalidArgumentError(f"{name}: {value} is negative; give 0 or more")
    return value


def mapped_rows(routing_map: Tensor, num_out_tokens: int, drop_and_pad: bool) -> int:
    """Rows of tokens that a map sends to experts: as many for each token, or for each expert."""
    expect_tensors(routing_map=routing_map)
    expect_whole(num_out_tokens=num_out_tokens)
    expect_flags(drop_and_pad=drop_and_pad)
    if routing_map.ndim != 2:
        raise InvalidArgumentError(
            f"routing_map: expected shape (tokens, experts), got {routing_map.shape}"
        )
    parts = max(1, routing_map.shape[1 if drop_and_pad else 0])
    return num_out_tokens // parts * parts
