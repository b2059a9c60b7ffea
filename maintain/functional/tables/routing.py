# SPDX-License-Identifier: Apache-2.0
"""Experts: which of them a token goes to, its way there and back."""

from __future__ import annotations

from maintain.functional.row import Output, Row

__all__ = ["ROWS"]

_SORTED = "Rows of tokens in the order of their experts; "
_PLACES = "Where the row of each choice lies, int32, shape ``(tokens * k,)``"

ROWS = (
    Row(
        "moe_gating_top_k_softmax",
        "input: Tensor, finished: Tensor | None = None, k: int = 1",
        "Choose the ``k`` likeliest experts of each token.",
        (
            Output("Probabilities of the chosen experts; shape ``(..., k)``, dtype of ``input``.",
                   "(*input.shape[:-1], k)", name="y"),
            Output("The chosen experts, int32, shape ``(..., k)``.", "(*input.shape[:-1], k)",
                   "'int32'", "expert_idx"),
            Output("The number of each choice when choices are counted expert by expert, int32, "
                   "shape ``(..., k)``.", "(*input.shape[:-1], k)", "'int32'", "row_idx"),
        ),
        ("moe_gating_top_k_softmax(input, finished, k, y, expert_idx, row_idx)",),
        {
            "input": "Scores, shape ``(..., experts)``; dtype float16 | bfloat16 | float32.",
            "finished": "True for tokens that need no expert: they get the number of experts. "
            "bool, shape ``(...)``.",
            "k": "How many experts each token gets.",
        },
        steps=("expect_whole(k=k)",),
        notes="Probabilities are the softmax over all experts; they are not divided by their sum.",
    ),
    Row(
        "moe_gating_top_k",
        "input: Tensor, k: int, *, bias: Tensor | None = None, k_group: int = 1, "
        "group_count: int = 1, group_select_mode: int = 0, renorm: int = 0, norm_type: int = 0, "
        "out_flag: bool = False, routed_scaling_factor: float = 1.0, eps: float = 1e-20",
        "Choose the ``k`` best experts of each token within its best groups of experts.",
        (
            Output("Weights of the chosen experts; shape ``(tokens, k)``, dtype of ``input``.",
                   "(*input.shape[:-1], k)", name="y"),
            Output("The chosen experts, int32, shape ``(tokens, k)``.", "(*input.shape[:-1], k)",
                   "'int32'", "expert_idx"),
            Output("Scores of all experts, float32, shape of ``input``; undefined unless "
                   "``out_flag`` is set.", dtype="'float32'", name="scores"),
        ),
        (
            "moe_gating_top_k(input, bias, k, k_group, group_count, group_select_mode, renorm, "
            "norm_type, out_flag, routed_scaling_factor, eps, y, expert_idx, scores)",
        ),
        {
            "input": "Scores, shape ``(tokens, experts)``; dtype float16 | bfloat16 | float32.",
            "k": "How many experts each token gets.",
            "bias": "Added to the normalised scores for the choice, not for the weights; shape "
            "``(experts,)``, dtype of ``input``.",
            "k_group": "How many groups of experts a token may choose from.",
            "group_count": "Number of groups.",
            "group_select_mode": "A group counts with 0 its best score, 1 the sum of its two "
            "best.",
            "renorm": "0; the operator knows no other.",
            "norm_type": "0 normalises scores by softmax, 1 by sigmoid and divides the weights by "
            "their sum.",
            "out_flag": "Whether to give all scores.",
            "routed_scaling_factor": "Factor of the weights.",
            "eps": "Added to the sum of the weights.",
        },
        steps=("expect_whole(k=k)",),
    ),
    Row(
        "moe_init_routing",
        "x: Tensor, expert_idx: Tensor, expert_num: int, *, scale: Tensor | None = None, "
        "offset: Tensor | None = None, active_num: int = 0, expert_capacity: int = 0, "
        "drop_pad_mode: int = 0, expert_tokens_num_type: int = 1, quant_mode: int = -1, "
        "active_expert_range: Sequence[int] | None = None, row_idx_type: int = 0",
        "Copy tokens into the order of their experts.",
        (
            Output(_SORTED + "shape ``(tokens * k, width)``, or with ``drop_pad_mode`` ``(experts, "
                   "expert_capacity, width)``; dtype of ``x``, int8 with ``quant_mode``. Rows "
                   "behind the last choice are undefined.",
                   "expanded_shape(x, expert_idx, expert_num, active_num, expert_capacity, "
                   "drop_pad_mode)",
                   "x.dtype_name if quant_mode == -1 else 'int8'", "expanded_x"),
            Output(_PLACES + "; see ``row_idx_type``.", "(expert_idx.count,)", "'int32'",
                   "expanded_row_idx"),
            Output("Number of tokens of each expert in the range; int64.",
                   "counts_shape(expert_num, active_expert_range, expert_tokens_num_type)",
                   "'int64'", "expert_tokens"),
            Output("What each row is to be multiplied with, float32, with ``quant_mode`` 1 or "
                   "``scale``; shape ``(rows,)``. Else undefined.",
                   "(prod(expanded_x.shape[:-1]),)", "'float32'", "expanded_scale"),
        ),
        (
            "moe_init_routing_v3(x, expert_idx, scale, offset, active_num or expert_idx.count, "
            "expert_capacity, "
            "expert_num, drop_pad_mode, expert_tokens_num_type, True, quant_mode, "
            "active_expert_range, row_idx_type, expanded_x, expanded_row_idx, expert_tokens, "
            "expanded_scale)",
        ),
        {
            "x": "Shape ``(tokens, width)``.",
            "expert_idx": "Experts of each token, int32, shape ``(tokens, k)``.",
            "expert_num": "Number of experts.",
            "scale": "Without quantisation a factor of each token, shape ``(tokens,)``; with "
            "``quant_mode`` 0 one factor, with 1 a row for each expert of the range.",
            "offset": "What ``quant_mode`` 0 adds.",
            "active_num": "Most rows of the result; 0 for all.",
            "expert_capacity": "Rows of an expert with ``drop_pad_mode`` 1.",
            "drop_pad_mode": "1: each expert has ``expert_capacity`` rows, further tokens are "
            "dropped and missing ones are zeros.",
            "expert_tokens_num_type": "0: the ends of the experts' rows; 1: their numbers; 2: "
            "pairs of an expert and its number.",
            "quant_mode": "-1: none; 0: by one factor; 1: each row by its own.",
            "active_expert_range": "First expert and the one behind the last; default is all.",
            "row_idx_type": "0: the place of each choice, -1 for one without a row; 1: the choice "
            "of each place.",
        },
    ),
    Row(
        "moe_finalize_routing",
        "expanded_x: Tensor, expanded_row_idx: Tensor, *, x1: Tensor | None = None, "
        "x2: Tensor | None = None, bias: Tensor | None = None, scales: Tensor | None = None, "
        "expert_idx: Tensor | None = None, drop_pad_mode: int = 0",
        "Add up the results of each token's experts.",
        (
            Output("Shape ``(tokens, width)``; dtype of ``expanded_x``.",
                   "(finalized_rows(expanded_row_idx, scales), expanded_x.shape[-1])",
                   "expanded_x.dtype_name"),
        ),
        (
            "moe_finalize_routing_v2(expanded_x, expanded_row_idx, x1, x2, bias, scales, "
            "expert_idx, drop_pad_mode, out)",
        ),
        {
            "expanded_x": _SORTED + "shape ``(rows, width)``, or with ``drop_pad_mode`` 1 and 3 "
            "``(experts, capacity, width)``.",
            "expanded_row_idx": _PLACES + ".",
            "x1": "Added to the sum; shape of the result.",
            "x2": "Added to the sum too.",
            "bias": "Added to the results of each expert; shape ``(experts, width)``.",
            "scales": "Weights of the choices, shape ``(tokens, k)``; without them a token has one "
            "choice of weight 1.",
            "expert_idx": "Experts of each token, shape of ``scales``; needed for ``bias``.",
            "drop_pad_mode": "0 and 1: ``expanded_row_idx`` lists all first choices, then all "
            "second ones; 2 and 3: all choices of the first token, then those of the second, as "
            "`moe_init_routing` gives it. With 1 and 3 experts have a fixed number of rows.",
        },
    ),
    Row(
        "moe_token_permute",
        "tokens: Tensor, indices: Tensor, num_out_tokens: int = 0",
        "Copy tokens into the order of their experts.",
        (
            Output(_SORTED + "shape ``(rows, width)``, dtype of ``tokens``.",
                   "(permuted_rows(indices, num_out_tokens), *tokens.shape[1:])",
                   "tokens.dtype_name", "permuted_tokens"),
            Output(_PLACES + ".", "(indices.count,)", "'int32'", "sorted_indices"),
        ),
        ("moe_token_permute(tokens, indices, num_out_tokens, False, permuted_tokens, "
         "sorted_indices)",),
        {
            "tokens": "Shape ``(tokens, width)``.",
            "indices": "Experts of each token, int32 or int64, shape ``(tokens,)`` or ``(tokens, "
            "k)``.",
            "num_out_tokens": "Number of rows to keep; 0 for all, a negative number leaves out as "
            "many.",
        },
    ),
    Row(
        "moe_token_unpermute",
        "permuted_tokens: Tensor, sorted_indices: Tensor, probs: Tensor | None = None",
        "Add up the rows of each token.",
        (
            Output("Shape ``(tokens, width)``, dtype of ``permuted_tokens``.",
                   "(finalized_rows(sorted_indices, probs), permuted_tokens.shape[-1])",
                   "permuted_tokens.dtype_name"),
        ),
        ("moe_token_unpermute(permuted_tokens, sorted_indices, probs, False, None, out)",),
        {
            "permuted_tokens": _SORTED + "shape ``(rows, width)``.",
            "sorted_indices": _PLACES + ", as `moe_token_permute` gives it.",
            "probs": "Weights of the choices, shape ``(tokens, k)``; without them a token has one "
            "choice of weight 1.",
        },
    ),
    Row(
        "moe_compute_expert_tokens",
        "sorted_experts: Tensor, num_experts: int",
        "Count how many rows lie before the end of each expert's rows.",
        (Output("int32, shape ``(num_experts,)``.", "(num_experts,)", "'int32'"),),
        ("moe_compute_expert_tokens(sorted_experts, num_experts, out)",),
        {
            "sorted_experts": "The expert of each row, in ascending order.",
            "num_experts": "Number of experts.",
        },
        steps=("expect_whole(num_experts=num_experts)",),
    ),
    Row(
        "moe_token_permute_with_routing_map",
        "tokens: Tensor, routing_map: Tensor, num_out_tokens: int, *, "
        "probs: Tensor | None = None, drop_and_pad: bool = False",
        "Copy tokens to the experts that a map of zeros and ones names.",
        (
            Output(_SORTED + "shape ``(rows, width)``, dtype of ``tokens``; ``rows`` is the "
                   "multiple below ``num_out_tokens`` of the tokens, or, with ``drop_and_pad``, of "
                   "the experts.", "(rows, *tokens.shape[1:])", "tokens.dtype_name",
                   "permuted_tokens"),
            Output("Probability of each row, shape ``(rows,)``, dtype of ``probs``; without "
                   "elements when there are none.", "(rows,) if probs is not None else (0,)",
                   "probs.dtype_name if probs is not None else 'float32'", "permuted_probs"),
            Output("Where the copies of each token lie, or, with ``drop_and_pad``, the token of "
                   "each row; int32, shape ``(rows,)``.", "(rows,)", "'int32'", "sorted_indices"),
        ),
        (
            "moe_token_permute_with_routing_map(tokens, routing_map, probs, num_out_tokens, "
            "drop_and_pad, permuted_tokens, permuted_probs if probs is not None else None, "
            "sorted_indices)",
        ),
        {
            "tokens": "Shape ``(tokens, width)``.",
            "routing_map": "Whether a token goes to an expert, bool or int8, shape ``(tokens, "
            "experts)``.",
            "num_out_tokens": "Number of rows.",
            "probs": "Probabilities, shape ``(tokens, experts)``.",
            "drop_and_pad": "Whether every expert gets the same number of rows.",
        },
        steps=("rows = mapped_rows(routing_map, num_out_tokens, drop_and_pad)",),
    ),
    Row(
        "moe_token_unpermute_with_routing_map",
        "permuted_tokens: Tensor, sorted_indices: Tensor, num_tokens: int, *, "
        "routing_map: Tensor | None = None, probs: Tensor | None = None, padded_mode: bool = False",
        "Add up the copies of each token that `moe_token_permute_with_routing_map` made.",
        (
            Output("Shape ``(num_tokens, width)``, dtype of ``permuted_tokens``.",
                   "(num_tokens, permuted_tokens.shape[-1])", "permuted_tokens.dtype_name"),
            Output("", "(permuted_tokens.shape[0],)", "'int32'", "rows"),
            Output("", "(permuted_tokens.shape[0],)", "'int32'", "owners"),
            Output("", "(permuted_tokens.shape[0],)",
                   "probs.dtype_name if probs is not None else 'float32'", "factors"),
        ),
        (
            "moe_token_unpermute_with_routing_map(permuted_tokens, sorted_indices, routing_map, "
            "probs, padded_mode, (num_tokens, permuted_tokens.shape[-1]) if padded_mode else None, "
            "out, rows, owners, factors)",
        ),
        {
            "permuted_tokens": _SORTED + "shape ``(rows, width)``.",
            "sorted_indices": "What `moe_token_permute_with_routing_map` gave, int32, shape "
            "``(rows,)``.",
            "num_tokens": "Number of tokens.",
            "routing_map": "What the permutation got; needed with ``probs``.",
            "probs": "Weights of the copies, shape ``(tokens, experts)``.",
            "padded_mode": "``drop_and_pad`` of the permutation.",
        },
        returns="out",
        steps=("expect_whole(num_tokens=num_tokens)",),
    ),
    Row(
        "moe_update_expert",
        "expert_ids: Tensor, eplb_table: Tensor, local_rank_id: int, world_size: int, *, "
        "balance_mode: int = 0, expert_scales: Tensor | None = None, "
        "pruning_threshold: Tensor | None = None, active_mask: Tensor | None = None",
        "Choose a copy of each expert, and leave out experts of little weight.",
        (
            Output("The copies; shape and dtype of ``expert_ids``.", "expert_ids.shape",
                   "expert_ids.dtype_name", "balanced_expert_ids"),
            Output("Which choices are kept, bool, shape of ``expert_ids``; undefined without "
                   "``pruning_threshold``.", "expert_ids.shape", "'bool'", "balanced_active_mask"),
        ),
        (
            "moe_update_expert(expert_ids, eplb_table, expert_scales, pruning_threshold, "
            "active_mask, local_rank_id, world_size, balance_mode, balanced_expert_ids, "
            "balanced_active_mask)",
        ),
        {
            "expert_ids": "Experts of each token, int32 or int64, shape ``(tokens, k)``.",
            "eplb_table": "Number of copies of each expert and then the copies, int32, shape "
            "``(experts, width)``.",
            "local_rank_id": "Number of this rank.",
            "world_size": "Number of ranks.",
            "balance_mode": "0: a rank takes the copy that its number names. 1: a token does.",
            "expert_scales": "Weights of the choices, shape of ``expert_ids``.",
            "pruning_threshold": "A choice is left out whose weight is below the sum of the "
            "token's weights times this, float32, shape ``(k,)`` or ``(1, k)``.",
            "active_mask": "Which tokens take part, bool, shape ``(tokens,)``.",
        },
    ),
)  # fmt: skip
