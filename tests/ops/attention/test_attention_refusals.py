# SPDX-License-Identifier: Apache-2.0
"""Calls of the attention of inference that phase one refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.operators import place

from aclnn_py.errors import AclnnError
from ops.attention.attention_calls import BF16, F16, FUSED, TRIANGLE, Array, call, operands

pytestmark = pytest.mark.usefixtures("device")


def zeros(*shape: int, dtype: Any = F16) -> Array:
    return np.zeros(shape, dtype)


TABLE = zeros(2, 1, dtype=np.int32)
PAGES = {"key": [zeros(3, 2, 128, 16)], "value": [zeros(3, 2, 128, 16)], "block_table": TABLE,
         "block_size": 128, "actual_seq_lengths_kv": [7]}  # fmt: skip
REFUSALS: list[tuple[dict[str, Any], int, str]] = [
    ({"query": None}, 161001, "query is null"),
    ({"key": None}, 161001, "key is null"),
    ({"attention_out": None}, 161001, "attentionOut is null"),
    ({"softmax_lse": None}, 161001, "softmaxLseOptional is null"),
    ({"query": zeros(2, 2, 5, 16, dtype=np.float32)}, 161002, "query has dtype FLOAT"),
    ({"query": zeros(2, 2, 5, 16, dtype=np.int8)}, 161002, "key has dtype FLOAT16; it must have"),
    ({"key": [zeros(2, 2, 7, 16, dtype=np.int8)]}, 161002, "key has dtype INT8; it must have"),
    ({"value": [zeros(2, 2, 7, 16, dtype=BF16)]}, 161002, "value has dtype BFLOAT16; it must have"),
    ({"pse_shift": zeros(1, 2, 5, 7, dtype=BF16)}, 161002, "pseShiftOptional has dtype BFLOAT16"),
    ({"atten_mask": zeros(5, 7)}, 161002, "attenMaskOptional has dtype FLOAT16"),
    ({"attention_out": zeros(2, 2, 5, 16, dtype=np.int8)}, 161002, "attentionOut has dtype INT8"),
    ({"softmax_lse": zeros(2, 2, 5, 1)}, 161002, "softmaxLseOptional has dtype FLOAT16"),
    ({"key": []}, 161002, "key is an empty list"),
    ({"quant_scale2": zeros(1, dtype=np.float32)}, 161002, "quantScale2Optional is given"),
    ({"antiquant_scale": zeros(2)}, 561002, "antiquantScaleOptional is given, but key has dtype"),
    ({"key_antiquant_scale": zeros(1)}, 561002, "keyAntiquantScaleOptional is given, but key has"),
    ({"key_shared_prefix": zeros(1, 2, 3, 16)}, 561002, "keySharedPrefixOptional is given and"),
    ({"actual_shared_prefix_len": [1]}, 561002, "is given without keySharedPrefixOptional"),
    ({"kv_padding_size": zeros(2, dtype=np.int64)}, 561002, "kvPaddingSizeOptional has shape (2,)"),
    ({"input_layout": "SBH"}, 561002, '"SBH"; allowed: BSH, BSND, BNSD, BNSD_BSND, TND'),
    ({"num_heads": 0}, 561002, "numHeads is 0; allowed: 1 to 256"),
    ({"num_heads": 3}, 561002, "dimension 1 of query is 2; it must be numHeads, 3"),
    ({"num_key_value_heads": 3}, 561002, "numKeyValueHeads is 3; allowed: 0 to numHeads, 2"),
    ({"num_key_value_heads": -1}, 561002, "numKeyValueHeads is -1"),
    ({"num_key_value_heads": 1}, 561002, "of key is 2; it must be numKeyValueHeads, 1"),
    ({"inner_precise": 4}, 561002, "innerPrecise is 4; allowed: 0 to 3"),
    ({"query": zeros(2, 5, 32)}, 561002, "query has 3 dimensions; allowed: 4"),
    ({"query": zeros(2, 2, 5, 20)}, 561002, "heads of 16 elements; those of query have 20"),
    ({"key": [zeros(3, 2, 7, 16)], "value": [zeros(3, 2, 7, 16)]}, 561002, "3 sequences"),
    ({"value": [zeros(2, 2, 8, 16)]}, 561002, "value has shape (2, 2, 8, 16)"),
    ({"value": [zeros(2, 2, 7, 16)] * 2}, 561002, "key has 1 tensors and value 2"),
    ({"key": [zeros(1, 2, 7, 16)] * 3, "value": [zeros(1, 2, 7, 16)] * 3}, 561002, "3 tensors"),
    ({"actual_seq_lengths": [6]}, 561002, "actualSeqLengthsOptional[0] is 6; allowed: 0 to 5"),
    ({"actual_seq_lengths_kv": [7, -1]}, 561002, "actualSeqLengthsKvOptional[1] is -1"),
    ({"pse_shift": zeros(1, 2, 5, 6)}, 561002, "pseShiftOptional has shape (1, 2, 5, 6)"),
    ({"atten_mask": zeros(4, 7, dtype=np.bool_)}, 561002, "attenMaskOptional has shape (4, 7)"),
    ({"atten_mask": zeros(2, 2, 5, 7, dtype=np.bool_)}, 561002, "shape (2, 2, 5, 7)"),
    ({"sparse_mode": 5}, 561002, "sparseMode is 5; allowed: 0 to 4"),
    ({"sparse_mode": 1}, 561002, "attenMaskOptional is null; sparseMode 1 needs it"),
    ({"sparse_mode": 2, "atten_mask": zeros(5, 7, dtype=np.bool_)}, 561002, "(2048, 2048)"),
    ({"sparse_mode": 4, "atten_mask": TRIANGLE, "pre_tokens": 1, "next_tokens": -2}, 561002,
     "preTokens is 1 and nextTokens -2; their sum must not be negative"),
    ({"attention_out": zeros(2, 5, 2, 16)}, 561002, "attentionOut has shape (2, 5, 2, 16)"),
    ({"softmax_lse": zeros(2, 2, 5, dtype=np.float32)}, 561002, "expected (2, 2, 5, 1)"),
    ({**PAGES, "block_size": 64}, 561002, "blockSize is 64; with 5 tokens per query"),
    ({**PAGES, "block_size": 256}, 561002, "key has pages of 128 tokens; blockSize is 256"),
    ({**PAGES, "actual_seq_lengths_kv": None}, 561002, "actualSeqLengthsKvOptional is missing"),
    ({**PAGES, "actual_seq_lengths_kv": [129]}, 561002, "[0] is 129; allowed: 0 to 128"),
    ({**PAGES, "block_table": TABLE[:1]}, 561002, "blockTableOptional has 1 rows"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "status", "words"), REFUSALS, ids=[r[2] for r in REFUSALS])
def test_refusals(changed: dict[str, Any], status: int, words: str) -> None:
    sides = [zeros(2, 2, 5, 16), zeros(2, 2, 7, 16), zeros(2, 2, 7, 16)]
    given = {
        name: [place(x) for x in value] if name in ("key", "value") and value is not None else value
        for name, value in changed.items()
    }
    with pytest.raises(AclnnError) as caught:
        call(FUSED, *sides, **{"num_heads": 2, **given})
    assert caught.value.status == status, caught.value
    assert words in str(caught.value), caught.value


PACKED_REFUSALS: list[tuple[dict[str, Any], int, str]] = [
    ({"actual_seq_lengths": None}, 561002, "actualSeqLengthsOptional is missing; with inputLayout"),
    ({"actual_seq_lengths_kv": []}, 561002, "actualSeqLengthsKvOptional is missing"),
    ({"actual_seq_lengths": [4, 3]}, 561002, "actualSeqLengthsOptional[1] is 3; allowed: 4 to 5"),
    ({"actual_seq_lengths_kv": [4, 8]}, 561002, "Optional[1] is 8; allowed: 4 to 7, from the end"),
    ({"actual_seq_lengths_kv": [7]}, 561002, "has 1 sequences and actualSeqLengthsOptional 2"),
    ({"sparse_mode": 1, "atten_mask": TRIANGLE}, 561002, "sparseMode is 1; with inputLayout TND"),
    ({"sparse_mode": 3}, 561002, "attenMaskOptional is null; sparseMode 3 needs it"),
    ({"pse_shift": np.zeros((1, 2, 5, 7), F16)}, 561002, "with inputLayout TND it must be null"),
    ({"query": np.zeros((5, 2, 272), F16)}, 561002, "with inputLayout TND at most 256"),
    ({"softmax_lse": np.zeros((1, 2, 5, 1), np.float32)}, 561002, "expected (5, 2, 1)"),
]


@pytest.mark.parametrize(
    ("changed", "status", "words"), PACKED_REFUSALS, ids=[r[2] for r in PACKED_REFUSALS]
)
def test_refusals_of_packed_sequences(changed: dict[str, Any], status: int, words: str) -> None:
    sides = [np.zeros((tokens, 2, 16), F16) for tokens in (5, 7, 7)]
    given = {
        "num_heads": 2, "input_layout": "TND", "actual_seq_lengths": [2, 5],
        "actual_seq_lengths_kv": [3, 7],
    }  # fmt: skip
    with pytest.raises(AclnnError) as caught:
        call(FUSED, *sides, **{**given, **changed})
    assert caught.value.status == status, caught.value
    assert words in str(caught.value), caught.value


OTHERS: list[tuple[str, dict[str, Any], int, str]] = [
    ("IncreFlashAttentionV4", {}, 561002, "query has 5 tokens per sequence; a step has 1"),
    ("IncreFlashAttention", {"key": None}, 161001, "key is null"),
    ("PromptFlashAttentionV3", {"key": None, "value": None}, 161001, "key is null"),
    ("PromptFlashAttentionV3", {"deq_scale1": np.zeros(1, np.float32)}, 561002, "deqScale1"),
    ("FusedInferAttentionScore", {"input_layout": "TND"}, 561002, "BSH, BSND, BNSD, BNSD_BSND ["),
    (FUSED[:-1] + "3", {"query_rope": np.zeros((2, 2, 5, 64), F16)}, 561002, "give both or none"),
]


@pytest.mark.parametrize(("operator", "changed", "status", "words"), OTHERS)
def test_refusals_of_other_versions(
    operator: str, changed: dict[str, Any], status: int, words: str
) -> None:
    q, k, v = operands()
    sides = {"key": place(k), "value": place(v)} if operator.startswith("Prompt") else {}
    with pytest.raises(AclnnError) as caught:
        call(operator, q, k, v, **{"num_heads": 2, **sides, **changed})
    assert caught.value.status == status, caught.value
    assert words in str(caught.value), caught.value


def test_a_strided_operand_is_refused_where_the_kernel_copies_none() -> None:
    q, k, v = operands()
    sides = {"key": place(k), "value": place(v)}
    with pytest.raises(AclnnError, match="query is a strided view; it must be contiguous"):
        prompt = "PromptFlashAttentionV3"
        call(prompt, q, k, v, num_heads=2, query=place(q, "transposed"), **sides)


# The document of the third version, under queryRope, where query has heads of 512 elements.
LATENT_REFUSALS: list[tuple[str, dict[str, Any], str]] = [
    ("V3", {"tokens": 17}, "query has 17 tokens in a sequence"),
    ("V3", {"sparse_mode": 0, "atten_mask": None}, "sparseMode is 0; with 2 tokens in a sequence"),
    ("V3", {"sparse_mode": 4}, "sparseMode is 4; with 2 tokens in a sequence"),
    ("V3", {"tokens": 1}, "sparseMode is 3 and attenMaskOptional is given; with 1 token"),
    ("V3", {"page": 32}, "blockSize is 32; with heads of 512 elements and queryRopeOptional it is"),
    ("V3", {"block_table": None, "actual_seq_lengths_kv": None}, "blockTableOptional is null"),
    ("V4", {"block_table": None, "actual_seq_lengths_kv": None}, "blockTableOptional is null"),
    ("V4", {"sparse_mode": 2}, "sparseMode is 2; with heads of 512 elements"),
    ("V3", {"input_layout": "BSND_BNSD"}, 'inputLayout is "BSND_BNSD"; with heads of 512'),
]


def latent_call(version: str, **changed: Any) -> None:
    tokens, page = changed.pop("tokens", 2), changed.pop("page", 128)
    kept = np.zeros((2, page, 512), F16)
    if "block_table" in changed:
        kept = np.zeros((1, page, 1, 512), F16)
    given: dict[str, Any] = {
        "query_rope": np.zeros((1, tokens, 2, 64), F16),
        "key_rope": np.zeros((*kept.shape[:-1], 64), F16),
        "num_heads": 2, "num_key_value_heads": 1, "input_layout": "BSND", "block_size": page,
        "block_table": np.zeros((1, 1), np.int32), "actual_seq_lengths_kv": [page],
        "sparse_mode": 3, "atten_mask": TRIANGLE,
    }  # fmt: skip
    given.update(changed)
    if version == "V4":
        given["query_quant_mode"] = 0
    query = np.zeros((1, tokens, 2, 512), F16)
    call(FUSED[:-2] + version, query, kept, kept, **given)


@pytest.mark.parametrize(("version", "changed", "words"), LATENT_REFUSALS)
def test_refusals_of_latent_keys(version: str, changed: dict[str, Any], words: str) -> None:
    with pytest.raises(AclnnError) as caught:
        latent_call(version, **changed)
    assert caught.value.status == 561002, caught.value
    assert words in str(caught.value), caught.value


@pytest.mark.parametrize(
    ("version", "changed"),
    [
        ("V3", {"tokens": 16}),
        ("V3", {"page": 16}),
        ("V3", {"tokens": 1, "sparse_mode": 0, "atten_mask": None}),
        ("V4", {"tokens": 17, "page": 48, "sparse_mode": 4}),
    ],
)
def test_forms_of_latent_keys_that_are_taken(version: str, changed: dict[str, Any]) -> None:
    latent_call(version, **changed)
