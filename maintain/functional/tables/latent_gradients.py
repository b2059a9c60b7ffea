# SPDX-License-Identifier: Apache-2.0
"""Gradients of attention over chosen keys, and of the indexers that choose them."""

from __future__ import annotations

from maintain.functional.row import Output, Row

__all__ = ["ROWS"]

_FAR = "2147483647, 2147483647"
_LISTS = (
    "actual_seq_lengths_query: Tensor | None = None, actual_seq_lengths_{}: Tensor | None = None"
)
_NUMBERS = (
    "query_rope: Tensor | None = None, key_rope: Tensor | None = None, "
    "actual_seq_lengths_query: Sequence[int] | None = None, "
    "actual_seq_lengths_key: Sequence[int] | None = None, scale: float = 1.0, layout: str = 'BSND'"
)


def _like(name: str, of: str, text: str = "") -> Output:
    return Output(
        text or f"Shape and dtype of ``{of}``.", f"{of}.shape", f"{of}.dtype_name", f"grad_{name}"
    )


def _optional(name: str, of: str, asked: str, text: str) -> Output:
    shape = f"if_asked({asked} is not None, *{of}.shape)"
    return Output(text, shape, "query.dtype_name", f"grad_{name}")


_LAYOUT = "'BSND' or 'TND' (packed sequences)."
_LENGTHS = {
    "actual_seq_lengths_query": "Number of tokens of each query, int32; with 'TND' where each "
    "ends.",
    "layout": _LAYOUT,
    "sparse_mode": "3: a token sees the keys up to its own; 0: all.",
}
_ENDS = {
    "actual_seq_lengths_query": "Number of tokens of each query; with 'TND' where each ends.",
    "actual_seq_lengths_key": "Number of keys of each sequence; with 'TND' where each ends.",
    "layout": _LAYOUT,
    "scale": "Factor of the products of the attention.",
    "query_rope": "Rotary part of the queries, 64 elements to a head.",
    "key_rope": "Rotary part of the keys.",
    "query_index": "Queries of the indexer, 128 elements to a head.",
    "key_index": "Keys of the indexer, one head of 128 elements.",
    "weights": "Weight of each head of ``query_index``; its shape without the last dimension, "
    "float32 or the dtype of ``query``.",
}
_LOSS_RESULTS = (
    Output("The divergence, summed over all tokens; float32, shape ``(1,)``.", "(1,)", "'float32'",
           "loss"),
    _like("query_index", "query_index"),
    _like("key_index", "key_index"),
    _like("weights", "weights"),
)  # fmt: skip
_LOSS_TAIL = (
    f"actual_seq_lengths_query, actual_seq_lengths_key, scale, layout, 3, {_FAR}, {{}}"
    "grad_query_index, grad_key_index, grad_weights, loss)"
)
_NOTES = (
    "The divergence of a token is that of the softmax of its index scores from the softmax of the "
    "attention, averaged over the heads. Each token sees the keys up to its own; the last tokens "
    "of query and keys are level."
)

ROWS = (
    Row(
        "lightning_indexer_backward",
        "grad_output: Tensor, query: Tensor, key: Tensor, weights: Tensor, "
        f"sparse_indices: Tensor, *, {_LISTS.format('key')}, layout: str = 'BSND', "
        "sparse_mode: int = 3",
        "Gradient of the scores of `lightning_indexer`.",
        (_like("query", "query"), _like("key", "key"), _like("weights", "weights")),
        (
            "lightning_indexer_grad(query, key, grad_output, sparse_indices, weights, "
            "actual_seq_lengths_query, actual_seq_lengths_key, heads_of(query=query), layout, "
            f"sparse_mode, {_FAR}, False, grad_query, grad_key, grad_weights)",
        ),
        {
            "grad_output": "Gradient of the scores; shape of ``sparse_indices``.",
            "query": "Shape as ``layout`` says, 128 elements to a head.",
            "key": "Shape as ``layout`` says, one head.",
            "weights": "Weight of each head of ``query``; its shape without the last dimension.",
            "sparse_indices": "The keys of each token, 2048 of them; below 0 where there are "
            "fewer.",
            **_LENGTHS,
            "actual_seq_lengths_key": "Number of keys of each sequence, int32; with 'TND' where "
            "each ends.",
        },
    ),
    Row(
        "sparse_flash_attention_backward",
        "grad_output: Tensor, query: Tensor, key: Tensor, value: Tensor | None, "
        "sparse_indices: Tensor, output: Tensor, softmax_max: Tensor, softmax_sum: Tensor, *, "
        f"{_LISTS.format('kv')}, query_rope: Tensor | None = None, "
        "key_rope: Tensor | None = None, scale: float = 1.0, sparse_block_size: int = 1, "
        "layout: str = 'BSND', sparse_mode: int = 3",
        "Gradient of `sparse_flash_attention`.",
        (
            _like("query", "query"),
            _like("key", "key", "Shape and dtype of ``key``; without ``value`` its gradient as "
                  "values is part of it."),
            _optional("value", "key", "value", "Shape and dtype of ``key``, without elements where "
                      "``value`` is None."),
            _optional("query_rope", "(query if query_rope is None else query_rope)", "query_rope",
                      "Shape and dtype of ``query_rope``, or without elements."),
            _optional("key_rope", "(key if key_rope is None else key_rope)", "key_rope",
                      "Shape and dtype of ``key_rope``, or without elements."),
        ),
        (
            "sparse_flash_attention_grad(query, key, value, sparse_indices, grad_output, output, "
            "softmax_max, softmax_sum, actual_seq_lengths_query, actual_seq_lengths_kv, "
            "query_rope, key_rope, scale, sparse_block_size, layout, sparse_mode, "
            f"{_FAR}, False, grad_query, grad_key, None if value is None else grad_value, "
            "None if query_rope is None else grad_query_rope, "
            "None if key_rope is None else grad_key_rope)",
        ),
        {
            "grad_output": "Gradient of the first result.",
            "query": "Shape as ``layout`` says, 512 elements to a head.",
            "key": "Shape as ``layout`` says, one head.",
            "value": "Shape of ``key``; None where the keys are the values too.",
            "sparse_indices": "Blocks of keys for each token, int32, 1024 to 8192 in steps of "
            "1024; a block below 0 ends the list.",
            "output": "The first result of `sparse_flash_attention`.",
            "softmax_max": "Its second result.",
            "softmax_sum": "Its third result.",
            **_LENGTHS,
            "actual_seq_lengths_kv": "Number of keys of each sequence, int32; with 'TND' where "
            "each ends.",
            "query_rope": "Rotary part of the queries, 64 elements to a head.",
            "key_rope": "Rotary part of the keys.",
            "scale": "Factor of the products.",
            "sparse_block_size": "Keys of a block: 1, 8, 16, 32 or 64.",
        },
    ),
    Row(
        "sparse_lightning_indexer_kl_loss",
        "query: Tensor, key: Tensor, query_index: Tensor, key_index: Tensor, weights: Tensor, "
        f"sparse_indices: Tensor, softmax_max: Tensor, softmax_sum: Tensor, *, {_NUMBERS}",
        "Compute how far index scores are from attention over chosen keys, and its gradient.",
        _LOSS_RESULTS,
        (
            "sparse_lightning_indexer_grad_kl_loss(query, key, query_index, key_index, weights, "
            "sparse_indices, softmax_max, softmax_sum, query_rope, key_rope, "
            f"{_LOSS_TAIL.format('False, ')}",
        ),
        {
            **_ENDS,
            "query": "Queries of the attention, 512 elements to a head.",
            "key": "Keys of the attention, one head.",
            "sparse_indices": "The keys of each token, int32, 1024 to 8192 in steps of 1024; below "
            "0 where there are fewer.",
            "softmax_max": "The second result of `sparse_flash_attention`.",
            "softmax_sum": "Its third result.",
        },
        notes=_NOTES,
    ),
    Row(
        "dense_lightning_indexer_kl_loss",
        "query: Tensor, key: Tensor, query_index: Tensor, key_index: Tensor, weights: Tensor, "
        "softmax_max: Tensor, softmax_sum: Tensor, softmax_max_index: Tensor, "
        f"softmax_sum_index: Tensor, *, {_NUMBERS}",
        "Compute how far index scores are from attention over all keys, and its gradient.",
        _LOSS_RESULTS,
        (
            "dense_lightning_indexer_grad_kl_loss(query, key, query_index, key_index, weights, "
            "softmax_max, softmax_sum, softmax_max_index, softmax_sum_index, query_rope, key_rope, "
            f"{_LOSS_TAIL.format('')}",
        ),
        {
            **_ENDS,
            "query": "Queries of the attention, 128 elements to a head.",
            "key": "Keys of the attention, as many heads.",
            "softmax_max": "Highest score of each token of the attention, shape ``(batch, heads, "
            "tokens, 1)``, or without the batch with 'TND'.",
            "softmax_sum": "Sum of its exponentials, the same shape.",
            "softmax_max_index": "Highest index score of each token, shape ``(batch, 1, tokens)``, "
            "or without the batch with 'TND'.",
            "softmax_sum_index": "Sum of its exponentials, the same shape.",
        },
        notes=_NOTES,
    ),
)  # fmt: skip
