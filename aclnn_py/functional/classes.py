# SPDX-License-Identifier: Apache-2.0
"""What losses of classes need: weights of classes, reductions by name, sizes of results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aclnn_py import ops
from aclnn_py.errors import InvalidArgumentError
from aclnn_py.functional.arguments import expect_optional
from aclnn_py.operators.describe.argument_errors import expect_whole
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "bag_mode",
    "class_weights",
    "divergence_mode",
    "longest_target",
    "number_of_bags",
    "sample_weights",
]

_DIVERGENCES = {"none": 0, "mean": 1, "sum": 2, "batchmean": 3}
_BAGS = {"sum": 0, "mean": 1, "max": 2}


def class_weights(input: Tensor, weight: Tensor | None, stream: Stream | None) -> Tensor:
    """The weights as given, or a one for each class of scores: dimension 1, or the only one."""
    if weight is not None:
        return weight
    if input.ndim == 0:
        raise InvalidArgumentError("input: expected at least one dimension, that of the classes")
    ones = empty((input.shape[min(1, input.ndim - 1)],), input.dtype_name, device=input.device)
    ops.inplace_one(ones, stream=stream)
    return ones


def divergence_mode(reduction: str) -> int:
    """The operator's number for the reduction of a divergence."""
    return _named("reduction", reduction, _DIVERGENCES)


def bag_mode(mode: str) -> int:
    """The operator's number for what a bag of rows becomes."""
    return _named("mode", mode, _BAGS)


def number_of_bags(offsets: Tensor, include_last_offset: bool) -> int:
    """How many bags the offsets begin."""
    if offsets.count == 0 and include_last_offset:
        raise InvalidArgumentError("offsets: expected the end of the last bag, got no elements")
    return offsets.count - bool(include_last_offset)


def sample_weights(per_sample_weights: object) -> Any:
    """Check a tensor that may be absent; its name in the C interface does not say that it may."""
    expect_optional(per_sample_weights=per_sample_weights)
    return per_sample_weights


def longest_target(target_lengths: Sequence[int]) -> int:
    """The largest length."""
    for index, length in enumerate(target_lengths):
        expect_whole(**{f"target_lengths[{index}]": length})
        if length < 0:
            raise InvalidArgumentError(f"target_lengths[{index}]: expected 0 or more, got {length}")
    return max(target_lengths, default=0)


def _named(argument: str, value: str, known: dict[str, int]) -> int:
    if value not in known:
        raise InvalidArgumentError(f"{argument}: expected one of {', '.join(known)}, got {value!r}")
    return known[value]
