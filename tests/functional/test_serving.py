# SPDX-License-Identifier: Apache-2.0
"""What a service does between its layers, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import place, wide

import aclnn_py as ap
from aclnn_py import functional as f
from aclnn_py.errors import InvalidArgumentError

pytestmark = pytest.mark.usefixtures("device")


def steps() -> dict[str, ap.Tensor]:
    return {
        "input_tokens": place(np.full(3, 9)),
        "sampled_token_ids": place(np.array([[21], [31]])),
        "input_positions": place(np.array([4, 1, 0])),
        "seq_lens": place(np.array([5, 2, 1])),
        "slot_mapping": place(np.full(3, 9)),
        "block_tables": place(np.arange(12).reshape(3, 4) + 5),
    }


COUNTS = {"num_seqs": 3, "num_queries": 2, "block_size": 4}


def test_sequences_go_on_to_what_was_sampled() -> None:
    given = steps()
    assert f.advance_step_(**given, **COUNTS) is given["input_tokens"]
    found = {name: given[name].numpy()[:2].tolist() for name in given}
    assert found["input_tokens"] == [21, 31]
    assert found["input_positions"] == [5, 2]
    assert found["seq_lens"] == [6, 3]
    assert found["slot_mapping"] == [(5 + 1) * 4 + 1, 9 * 4 + 2]


def test_sequences_go_on_by_the_guesses_that_were_right() -> None:
    given = {
        "input_tokens": place(np.full((2, 3), 9)),
        "sampled_token_ids": place(np.array([[21, 22, 23], [31, 32, 33]])),
        "input_positions": place(np.array([[2, 3, 4], [0, 1, 2]])),
        "seq_lens": place(np.full((2, 3), 9)),
        "slot_mapping": place(np.full((2, 3), 9)),
        "block_tables": place(np.arange(8).reshape(2, 4) + 5),
    }
    more = {
        "spec_token": place(np.array([[1, 2], [3, 4]])),
        "accepted_num": place(np.array([0, 2])),
    }
    f.advance_step_(**given, **more, num_seqs=2, num_queries=2, block_size=4)
    assert given["input_tokens"].numpy().tolist() == [[21, 1, 2], [33, 3, 4]]
    assert given["input_positions"].numpy().tolist() == [[3, 4, 5], [3, 4, 5]]
    with pytest.raises(InvalidArgumentError, match="accepted_num: needed together with spec_token"):
        f.advance_step_(**given, spec_token=more["spec_token"], **COUNTS)


def adapters() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    shapes = {"y": (5, 64), "x": (5, 32), "weight_b": (2, 1, 48, 16), "weight_a": (2, 1, 16, 32)}
    return {name: rng.standard_normal(s).astype(np.float16) for name, s in shapes.items()}


def test_rows_get_what_their_adapters_make() -> None:
    arrays, chosen = adapters(), np.array([0, 1, 1, 0, 1], np.int32)
    tensors = {name: place(array) for name, array in arrays.items()}
    out = f.add_lora(**tensors, indices=place(chosen), scale=0.5, y_offset=16)
    exact = wide(arrays["y"])
    for r, adapter in enumerate(chosen):
        low = wide(arrays["weight_a"][adapter, 0]) @ wide(arrays["x"][r])
        exact[r, 16:] += 0.5 * (wide(arrays["weight_b"][adapter, 0]) @ low)
    assert_close(out.numpy(), exact, scale=16)


def test_attention_in_parts_is_joined() -> None:
    rng = np.random.default_rng(4)
    tokens, heads, width = 3, 2, 16
    parts = [rng.standard_normal((tokens, 1, heads * width)).astype(np.float32) for _ in range(2)]
    most = [rng.standard_normal((1, heads, tokens, 1)).astype(np.float32) for _ in range(2)]
    sums = [(1 + rng.random((1, heads, tokens, 1))).astype(np.float32) for _ in range(2)]
    out, highest, total = f.ring_attention_update(
        *(place(np.ascontiguousarray(np.broadcast_to(x, (*x.shape[:-1], 8) if x.ndim == 4 else
                                                     x.shape)))
          for i in range(2) for x in (parts[i], most[i], sums[i]))
    )  # fmt: skip
    top = np.maximum(*most)
    weights = [s * np.exp(m - top) for s, m in zip(sums, most, strict=True)]
    turned = [p.reshape(tokens, heads, width).transpose(1, 0, 2)[None] for p in parts]
    joined = sum(w * p for w, p in zip(weights, turned, strict=True)) / sum(weights)
    assert_close(
        out.numpy().reshape(tokens, heads, width).transpose(1, 0, 2)[None], joined, scale=4
    )
    assert_same(highest.numpy(), np.repeat(top, 8, -1))
    assert_close(total.numpy(), np.repeat(sum(weights), 8, -1), scale=4)


def test_an_outer_product_by_its_equation() -> None:
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(n).astype(np.float32) for n in (4, 7))
    assert_close(f.einsum("a,b->ab", [place(a), place(b)]).numpy(), np.outer(a, b))
    x = rng.standard_normal((2, 3, 4, 5)).astype(np.float32)
    y = rng.standard_normal((2, 3, 4, 6, 5)).astype(np.float32)
    out = f.einsum("abcd,abced->abce", [place(x), place(y)])
    assert_close(out.numpy(), np.einsum("abcd,abced->abce", wide(x), wide(y)), scale=4)
    for equation, operands, words in (
        ("a,b->ab", [x], "operands: 1 are given"),
        ("a,b->ab", [x, a], r"operands\[0\]: shape \(2, 3, 4, 5\) does not fit 'a'"),
        ("a,a->a", [a, b], r"operands\[1\]: 'a' has the lengths 4 and 7"),
        ("a,b->ac", [a, b], "equation: no operand has the letter 'c'"),
    ):
        with pytest.raises(InvalidArgumentError, match=words):
            f.einsum(equation, [place(x) for x in operands])


class Odd:
    """No tensor, no number, no sequence, no text."""


def test_a_value_of_no_kind_is_refused_and_its_parameter_named() -> None:
    arrays = {name: place(array) for name, array in adapters().items()}
    x, highest = place(np.ones((3, 1, 16), np.float32)), place(np.ones((1, 1, 3, 8), np.float32))
    ring = dict(
        zip(
            f.ring_attention_update.__code__.co_varnames,
            [x, highest, highest] * 2,
            strict=False,
        )
    )
    vector = place(np.ones(3, np.float32))
    calls: dict[str, dict[str, Any]] = {
        "advance_step_": {**steps(), **COUNTS},
        "add_lora": {
            **arrays, "indices": place(np.zeros(5, np.int32)), "layer_idx": 0, "scale": 1.0,
            "y_offset": 0, "y_slice_size": 48,
        },
        "ring_attention_update": {**ring, "input_layout": "SBH"},
        "einsum": {"equation": "a,b->ab", "operands": [vector, vector]},
        "group_quant": {
            "input": x[:, 0], "scale": x[:1, 0], "group_index": place(np.array([3], np.int32)),
            "offset": place(np.ones(1, np.float32)), "dtype": "int8",
        },
    }  # fmt: skip
    for name, given in calls.items():
        for parameter in (*given, "stream"):
            with pytest.raises((TypeError, ValueError)) as caught:
                getattr(f, name)(**{**given, parameter: Odd()})
            first = str(caught.value).splitlines()[0]
            assert parameter in first, f"{name}, {parameter}: {first}"
