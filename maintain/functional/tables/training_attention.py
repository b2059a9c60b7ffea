# SPDX-License-Identifier: Apache-2.0
"""Attention of training, and its gradient."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row

__all__ = ["ROWS"]

_OPTIONS = (
    "pse: Tensor | None = None, drop_mask: Tensor | None = None, atten_mask: Tensor | None = None, "
    "prefix: Sequence[int] | None = None, actual_seq_q_len: Sequence[int] | None = None, "
    "actual_seq_kv_len: Sequence[int] | None = None, num_heads: int = 1, scale: float = 1.0, "
    "keep_prob: float = 1.0, pre_tokens: int = 2147483647, next_tokens: int = 2147483647, "
    "input_layout: str = 'BSH', inner_precise: int = 0, sparse_mode: int = 0"
)
_ATTRIBUTES = (
    "scale, keep_prob, pre_tokens, next_tokens, num_heads, input_layout, inner_precise, sparse_mode"
)
_MASKS = "pse, drop_mask, None, atten_mask"
_LENGTHS = "actual_seq_q_len, actual_seq_kv_len"
_RESULTS = "softmax_max, softmax_sum, softmax_out, out"
_SLOPES = "grad_query, grad_key, grad_value, grad_pse"
_KEPT = "softmax_max, softmax_sum, None, output"
_PACKED = "actual_seq_q_len is not None or actual_seq_kv_len is not None"
_TWO = "shape ``(batch, heads, tokens, 8)``, or ``(tokens, heads, 8)`` with packed sequences."
_ABOUT = {
    "query": "Shape as ``input_layout`` says.",
    "key": "Shape as ``input_layout`` says; its heads may be fewer.",
    "value": "Shape as ``input_layout`` says; tokens and heads of ``key``.",
    "pse": "Added to the products before they are scaled, shape ``(batch or 1, heads, tokens or "
    "1, keys)``, or the last 1024 tokens of a bias that goes by distance.",
    "drop_mask": "One bit for each score, the first in the lowest bit of a byte; 1 keeps it, and "
    "what is kept is divided by ``keep_prob``.",
    "atten_mask": "True for the keys to hide.",
    "prefix": "With ``sparse_mode`` 5 and 6, how many keys at its beginning each sequence always "
    "sees.",
    "actual_seq_q_len": "With packed sequences, the end of each query.",
    "actual_seq_kv_len": "With packed sequences, the end of each sequence's keys.",
    "num_heads": "Number of heads of ``query``.",
    "scale": "Factor of the products.",
    "keep_prob": "Share of the scores that ``drop_mask`` keeps.",
    "pre_tokens": "With a mask, how many keys before its own position a token sees.",
    "next_tokens": "With a mask, how many keys after its own position a token sees.",
    "input_layout": "'BSH', 'SBH', 'BSND', 'BNSD' or 'TND' (packed sequences).",
    "inner_precise": "As of the operator.",
    "sparse_mode": "0 applies mask and band, 1 the mask, 2 is causal aligned to the first token, "
    "3 causal aligned to the last, 4 a band aligned to the last, 5 and 6 add a prefix, 7 and 8 are "
    "3 and 4 for parts of sequences.",
}

ROWS = (
    Row(
        "flash_attention",
        f"query: Tensor, key: Tensor, value: Tensor, *, {_OPTIONS}",
        "Compute attention and keep what its gradient needs.",
        (
            Output(
                "Shape and dtype of ``query``.",
                "attended_shape(query, value, num_heads, input_layout)",
                "query.dtype_name",
            ),
            Output(
                f"Highest score of each token and head, float32; {_TWO}",
                "softmax_shape(query, num_heads, input_layout)",
                "'float32'",
                "softmax_max",
            ),
            Output(
                "Sum of exponentials, as ``softmax_max``.",
                "softmax_shape(query, num_heads, input_layout)",
                "'float32'",
                "softmax_sum",
            ),
            Output("Reserved.", "(0,)", "query.dtype_name", "softmax_out"),
        ),
        (
            Call(
                _PACKED,
                (
                    f"flash_attention_var_len_score(query, key, value, {_MASKS}, prefix, "
                    f"{_LENGTHS}, {_ATTRIBUTES}, {_RESULTS})",
                ),
            ),
            f"flash_attention_score(query, key, value, {_MASKS}, prefix, {_ATTRIBUTES}, "
            f"{_RESULTS})",
        ),
        _ABOUT,
        returns="out, softmax_max, softmax_sum",
    ),
    Row(
        "flash_attention_backward",
        "grad_output: Tensor, query: Tensor, key: Tensor, value: Tensor, output: Tensor, "
        f"softmax_max: Tensor, softmax_sum: Tensor, *, {_OPTIONS}",
        "Gradient of `flash_attention`.",
        (
            Output("Shape and dtype of ``query``.", "query.shape", "query.dtype_name",
                   "grad_query"),
            Output("Shape and dtype of ``key``.", "key.shape", "key.dtype_name", "grad_key"),
            Output("Shape and dtype of ``value``.", "value.shape", "value.dtype_name",
                   "grad_value"),
            Output("Reserved.", "(0,)", "query.dtype_name", "grad_pse"),
        ),
        (
            Call(
                _PACKED,
                (
                    f"flash_attention_unpadding_score_grad(query, key, value, grad_output, "
                    f"{_MASKS}, {_KEPT}, prefix, {_LENGTHS}, {_ATTRIBUTES}, {_SLOPES})",
                ),
            ),
            f"flash_attention_score_grad(query, key, value, grad_output, {_MASKS}, {_KEPT}, "
            f"prefix, {_ATTRIBUTES}, {_SLOPES})",
        ),
        {
            **_ABOUT,
            "grad_output": "Gradient of the result.",
            "output": "The result of `flash_attention`.",
            "softmax_max": "Its second result.",
            "softmax_sum": "Its third result.",
        },
        returns="grad_query, grad_key, grad_value",
        steps=("expect_whole(num_heads=num_heads)", "expect_numbers(scale=scale)"),
    ),
)  # fmt: skip
