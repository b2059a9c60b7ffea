# SPDX-License-Identifier: Apache-2.0
"""Masks of attention, converted from torch's meaning to the operator's.

In torch, true means that a key takes part; for the operator, true means that it is hidden. A mask
of numbers is added to the scores in both.
"""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.errors import InvalidArgumentError
from aclnn_py.operators.describe.argument_errors import expect_flags, expect_whole, type_name
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "ALL_TOKENS",
    "OLDER_LAYOUTS",
    "added_scores",
    "attended_shape",
    "check_attention",
    "hidden_keys",
    "lse_shape",
    "softmax_shape",
    "sparse_mode",
]

# As preTokens and nextTokens: no token is too far away.
ALL_TOKENS = 2147483647
# The layouts that every version of the operator has.
OLDER_LAYOUTS = ("BSH", "BSND", "BNSD", "BNSD_BSND", "TND")
# Side of the triangle that stands for causal masks of any size. Masks of more elements than
# `_LARGEST_MASK` are replaced by it.
_TRIANGLE = 2048
_LARGEST_MASK = _TRIANGLE * _TRIANGLE


def check_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    is_causal: bool,
    enable_gqa: bool,
) -> None:
    """Raise for arguments that the operator would take for something else."""
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.ndim != 4:
            raise InvalidArgumentError(
                f"{name}: shape {tensor.shape} is not (batch, heads, tokens, width)"
            )
    expect_flags(is_causal=is_causal, enable_gqa=enable_gqa)
    if not enable_gqa and query.shape[1] != key.shape[1]:
        raise InvalidArgumentError(
            f"key: {key.shape[1]} heads beside {query.shape[1]} of query need enable_gqa=True"
        )
    if attn_mask is not None and is_causal:
        raise InvalidArgumentError("attn_mask, is_causal: only one of them can be given")


def hidden_keys(
    query: Tensor, key: Tensor, attn_mask: Tensor | None, is_causal: bool, stream: Stream | None
) -> Tensor | None:
    """The operator's mask for a bool mask or a causal one; None for a mask of numbers."""
    batch, _, queries, _ = query.shape
    if is_causal:
        # A single query has a row for each sequence and no sparse mode.
        side = (batch, 1, 1, key.shape[2]) if queries == 1 else (queries, key.shape[2])
        if sparse_mode(query, key, is_causal):
            side = (_TRIANGLE, _TRIANGLE)
        hidden = empty(side, "bool", device=query.device)
        ops.inplace_one(hidden, stream=stream)
        ops.inplace_triu(hidden, 1, stream=stream)
        return hidden
    if attn_mask is None or attn_mask.dtype_name != "bool":
        return None
    padded = _four_dimensions(attn_mask)
    if padded.shape[1] != 1:
        raise InvalidArgumentError(
            f"attn_mask: shape {attn_mask.shape} has truth values for each head; the operator takes"
            " one mask for all heads. Give 0 and -inf to add, in the dtype of query, instead"
        )
    # A single query has a row of its own for each sequence.
    masks = batch if queries == 1 else padded.shape[0]
    hidden = empty((masks, 1, queries, key.shape[2]), "bool", device=query.device)
    ops.logical_not(padded.broadcast_to(hidden.shape), hidden, stream=stream)
    return hidden


def sparse_mode(query: Tensor, key: Tensor, is_causal: bool) -> int:
    """The operator's causal mode if the mask itself would be large, else 0."""
    queries = query.shape[2]
    return 2 if is_causal and queries > 1 and queries * key.shape[2] > _LARGEST_MASK else 0


def added_scores(query: Tensor, key: Tensor, attn_mask: Tensor | None) -> Tensor | None:
    """The numbers to add to the scores, for a mask of numbers; heads may share them."""
    if attn_mask is None or attn_mask.dtype_name == "bool":
        return None
    padded = _four_dimensions(attn_mask)
    wanted = (padded.shape[0], *query.shape[1:3], key.shape[2])
    return padded.broadcast_to(wanted)


def _four_dimensions(mask: Tensor) -> Tensor:
    if not 2 <= mask.ndim <= 4:
        raise InvalidArgumentError(
            f"attn_mask: shape {mask.shape} has {mask.ndim} dimensions; expected 2 to 4"
        )
    for _ in range(4 - mask.ndim):
        mask = mask.unsqueeze(0)
    return mask


def attended_shape(
    query: Tensor, value: Tensor, num_heads: int, input_layout: str
) -> tuple[int, ...]:
    """Shape of the result: the layout may name one for the queries and one for the result."""
    sizes = _sizes(query, num_heads, input_layout)
    result = input_layout.rpartition("_")[2]
    if not sizes or "H" in result:
        return query.shape
    if "T" in result and value.ndim == query.ndim:
        sizes["D"] = value.shape[-1]
    return tuple(sizes.get(letter, 0) for letter in result)


def lse_shape(query: Tensor, num_heads: int, input_layout: str, wanted: bool) -> tuple[int, ...]:
    """Shape of the log-sum-exp; it has no elements unless it is wanted."""
    sizes = _sizes(query, num_heads, input_layout)
    if not wanted or not sizes:
        return (0,)
    return (*(sizes[letter] for letter in ("TN" if "T" in sizes else "BNS")), 1)


def softmax_shape(query: Tensor, num_heads: int, input_layout: str) -> tuple[int, ...]:
    """Shape of the highest scores of a softmax and of its sums, which lie eight times each."""
    sizes = _sizes(query, num_heads, input_layout)
    return (*(sizes.get(letter, 0) for letter in ("TN" if "T" in sizes else "BNS")), 8)


def _sizes(query: Tensor, num_heads: int, input_layout: str) -> dict[str, int]:
    """Lengths of the dimensions of a query by the letters of its layout; none if it has others."""
    if not isinstance(input_layout, str):
        raise TypeError(f"input_layout: expected a str, got {type_name(input_layout)}")
    expect_whole(num_heads=num_heads)
    letters = input_layout.partition("_")[0]
    if len(letters) != query.ndim:
        return {}
    sizes = dict(zip(letters, query.shape, strict=True))
    if "H" in sizes:
        sizes |= {"N": num_heads, "D": sizes["H"] // max(num_heads, 1)}
    return sizes
