# SPDX-License-Identifier: Apache-2.0
"""Every form of the attention of inference, at random, against float64."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import random_attention
from helpers.operators import hollow, place

from aclnn_py.errors import AclnnError, DeviceError
from ops.attention.attention_calls import ALL, F16, attention, run
from ops.attention.attention_compare import compare
from ops.attention.attention_forms import FORMS, Problem
from ops.attention.attention_older import PROMPT, STEP, older_operators, retarget

pytestmark = pytest.mark.usefixtures("device")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("form", sorted(set(FORMS)))
def test_forms(form: str, seed: int) -> None:
    # Sequences without any token are compared too, but do not make up the test.
    problem = next(
        p for p in (Problem(100 * seed + n, form) for n in range(100))
        if max(p.lengths) > 0 and max(p.key_lengths) > 0
    )  # fmt: skip
    compare(problem)


def test_random_calls_of_all_operators() -> None:
    """A share of `python -m tests.random_attention`; the command makes 2,000 of them."""
    told: list[str] = []
    counts, failures = random_attention.run(7000, 120, told.append)
    assert not failures, told
    assert {"IncreFlashAttention", "PromptFlashAttentionV2"} <= set(counts)


_OLDER_FORMS = ("plain", "int8", "int8 result", "padded", "pages", "common factors")


@pytest.mark.parametrize("operator", [*STEP, *PROMPT])
def test_operators_of_steps_and_of_prompts(operator: str) -> None:
    problems = (Problem(n, form) for n in range(999) for form in _OLDER_FORMS)
    for problem in itertools.islice((p for p in problems if operator in older_operators(p)), 4):
        retarget(problem, operator)
        compare(problem)


def step(**changed: object) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Make a step over 9 keys; return the query, keys, values and the result."""
    rng = np.random.default_rng(3)
    q = rng.standard_normal((1, 2, 1, 16)).astype(F16)
    k, v = (rng.standard_normal((1, 2, 9, 16)).astype(F16) for _ in range(2))
    out = hollow(q.shape, F16)
    run(
        "IncreFlashAttentionV4",
        {
            "query": place(q), "key": [place(k)], "value": [place(v)], "attention_out": out,
            "num_heads": 2, "num_key_value_heads": 0, "scale_value": 1.0, "input_layout": "BNSD",
            "block_size": 0, "inner_precise": 0,
            **{n: place(x) if isinstance(x, np.ndarray) else x for n, x in changed.items()},
        },
    )  # fmt: skip
    return q, k, v, out.numpy()


def test_a_step_whose_keys_would_begin_before_their_tensor_is_zero() -> None:
    q, k, v, out = step(actual_seq_lengths=[4], kv_padding_size=np.array([3]))
    expected = attention(q, k[:, :, 2:6], v[:, :, 2:6], 1.0)[0]
    np.testing.assert_allclose(out.astype(np.float64), expected, rtol=4e-3, atol=4e-4)
    *_, out = step(actual_seq_lengths=[4], kv_padding_size=np.array([6]))
    assert not out.any()
    # A negative padding is none.
    q, k, v, out = step(actual_seq_lengths=[4], kv_padding_size=np.array([-5]))
    expected = attention(q, k[:, :, 5:], v[:, :, 5:], 1.0)[0]
    np.testing.assert_allclose(out.astype(np.float64), expected, rtol=4e-3, atol=4e-4)


def test_a_prompt_that_would_begin_before_its_tensor_is_a_fault() -> None:
    problem = next(
        p for p in (Problem(n, "padded") for n in range(99)) if p.query_padding is not None
    )
    problem.given["query_padding_size"] = np.array([problem.queries + 1])
    with pytest.raises(DeviceError, match=r"sequence 0 of query has \d+ tokens before a padding"):
        problem.run()


def refused(form: str, status: int, words: str, seed: int = 0, **changed: object) -> None:
    problem = Problem(seed, form)
    problem.given.update(changed)
    with pytest.raises(AclnnError) as caught:
        problem.run()
    assert caught.value.status == status, caught.value
    assert words in str(caught.value), caught.value


ONE = np.ones(1, np.float32)
REFUSALS = [
    ("factors", 161002, "key has dtype INT8; it must have",
     {"key_antiquant_scale": None, "value_antiquant_scale": None}),
    ("factors", 561002, "give both or none", {"value_antiquant_scale": None}),
    ("factors", 561002, "they must be equal, or 0 and 1",
     {"key_antiquant_mode": 2, "value_antiquant_mode": 3}),
    ("factors", 561002, "deqScale1Optional is given, but query has dtype BFLOAT16",
     {"deq_scale1": ONE}),
    ("page factors", 561002, "is given with mode 6; allowed: 0 to 5",
     {"key_antiquant_mode": 6, "value_antiquant_mode": 6}),
    ("page factors", 561002, "blockSize is 48", {"block_size": 48}),
    ("common factors", 561002, "antiquantScaleOptional has shape (3,)",
     {"antiquant_scale": np.ones(3, np.float16), "antiquant_offset": None, "antiquant_mode": 0}),
    ("int8", 561002, "quantScale1Optional is null; a query of INT8 needs it",
     {"quant_scale1": None}),
    ("int8 result", 561002, "it must have 1 element or", {"quant_scale2": np.ones(3, np.float32)}),
    ("int8 result", 161002, "attentionOut has dtype INT8, but quantScale2Optional is null",
     {"quant_scale2": None}),
    ("prefix", 561002, "give both or none", {"value_shared_prefix": None}),
    ("prefix", 561002, "actualSharedPrefixLenOptional has 2 lengths",
     {"actual_shared_prefix_len": [1, 1]}),
    ("prefix", 561002, "actualSharedPrefixLenOptional[0] is 99",
     {"actual_shared_prefix_len": [99]}),
    ("padded", 561002, "kvPaddingSizeOptional has shape (2,)",
     {"kv_padding_size": np.zeros(2, np.int64)}),
    ("rotary", 561002, "give both or none", {"key_rope": None}),
    ("sink", 561002, "learnableSinkOptional has shape (3,)", {}),
    ("tree", 561002, "attenMaskOptional is null; sparseMode 9 needs it", {"atten_mask": None}),
    ("latent", 561002, "queryQuantMode is 2; allowed: 3", {"query_quant_mode": 2}),
    ("latent", 561002, "is given; with dequantScaleQueryOptional it must be null",
     {"deq_scale1": ONE}),
    ("plain", 561002, "is given without keySharedPrefixOptional",
     {"actual_shared_prefix_len": [1]}),
    ("plain", 561002, "factors belong to quantised keys",
     {"antiquant_scale": np.ones(2, np.float16)}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("form", "status", "words", "changed"), REFUSALS, ids=[f"{r[0]}: {r[2]}" for r in REFUSALS]
)
def test_refusals(form: str, status: int, words: str, changed: dict[str, object]) -> None:
    # The last version knows every argument.
    seed = next(n for n in range(999) if Problem(n, form).operator.endswith(("V4", "V5")))
    if form == "sink":
        changed = {"learnable_sink": np.zeros(3, Problem(seed, form).dtype)}
    refused(form, status, words, seed, **changed)


def test_a_position_encoding_of_the_training_kind_is_refused() -> None:
    seed = next(n for n in range(99) if Problem(n, "plain").operator.endswith("V5"))
    problem = Problem(seed, "plain")
    with pytest.raises(AclnnError, match="pseType is 1; allowed: 0"):
        run(
            problem.operator,
            {
                "query": place(np.zeros((1, 1, 2, 16), F16)),
                "key": [place(np.zeros((1, 1, 2, 16), F16))],
                "value": [place(np.zeros((1, 1, 2, 16), F16))],
                "attention_out": hollow((1, 1, 2, 16), F16), "num_heads": 1, "scale_value": 1.0,
                "pre_tokens": ALL, "next_tokens": ALL, "input_layout": "BNSD",
                "num_key_value_heads": 1, "sparse_mode": 0, "inner_precise": 0, "block_size": 0,
                "antiquant_mode": 0, "softmax_lse_flag": False, "key_antiquant_mode": 0,
                "value_antiquant_mode": 0, "query_quant_mode": 0, "pse_type": 1,
            },
        )  # fmt: skip
