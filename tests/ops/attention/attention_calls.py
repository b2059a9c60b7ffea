# SPDX-License-Identifier: Apache-2.0
"""Attention in float64 with NumPy, and calls of the operators that compute it.

Arrays have the order (batch, heads, tokens, elements); `arranged` turns them to a layout.
"""

from __future__ import annotations

import inspect
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
from helpers.operators import hollow, op, place

import aclnn_py as ap

Array = npt.NDArray[Any]
ALL = 2147483647
FUSED = "FusedInferAttentionScoreV2"
F16, BF16 = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)
ORDER = {"BSND": (0, 2, 1, 3), "BSH": (0, 2, 1, 3), "BNSD": (0, 1, 2, 3), "BNSD_BSND": (0, 1, 2, 3)}
TRIANGLE = np.triu(np.ones((2048, 2048), np.bool_), 1)


def operands(
    heads: int = 2,
    queries: int = 5,
    keys: int = 7,
    *,
    batch: int = 2,
    kv_heads: int = 0,
    width: int = 16,
    dtype: Any = F16,
) -> tuple[Array, Array, Array]:
    """Query, key and value as (batch, heads, tokens, width)."""
    rng = np.random.default_rng(heads * 1000 + queries * 100 + keys)
    shapes = ((batch, heads, queries, width), *[(batch, kv_heads or heads, keys, width)] * 2)
    query, key, value = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    return query, key, value


def arranged(array: Array, layout: str) -> Array:
    """The array in a layout of the operator."""
    turned: Array = array.transpose(ORDER[layout])
    if layout == "BSH":
        turned = turned.reshape(*turned.shape[:2], -1)
    return turned


def restored(array: Array, layout: str, heads: int) -> Array:
    """A result of the operator as (batch, heads, tokens, elements)."""
    if layout == "BNSD":
        return array
    if layout == "BSH":
        array = array.reshape(*array.shape[:2], heads, -1)
    turned: Array = array.transpose(0, 2, 1, 3)
    return turned


def meets(queries: int, keys: int, before: int = ALL, after: int = ALL, shift: int = 0) -> Array:
    """Which keys the tokens of a query meet in a band moved by `shift`."""
    away = np.arange(keys) - np.arange(queries)[:, None] - shift
    return np.asarray((away >= -before) & (away <= after))


def attention(
    query: Array,
    key: Array,
    value: Array,
    scale: float,
    *,
    met: Array | bool = True,
    added: Array | float = 0.0,
) -> tuple[Array, Array]:
    """The result and log-sum-exp; rows that meet nothing give 0 and inf."""
    q, k, v = (x.astype(np.float64) for x in (query, key, value))
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    scores = scale * (q @ k.swapaxes(-1, -2)) + np.asarray(added, np.float64)
    scores = np.where(met, scores, -np.inf)
    highest = scores.max(-1, keepdims=True, initial=-np.inf)
    empty = highest == -np.inf
    powers = np.exp(scores - np.where(empty, 0.0, highest))
    total = powers.sum(-1, keepdims=True)
    result = powers @ v / np.where(empty, 1.0, total)
    with np.errstate(divide="ignore"):
        return result, np.where(empty, np.inf, highest + np.log(total))


def call(
    operator: str, query: Array, key: Any, value: Any, /, **changed: Any
) -> tuple[Array, Array]:
    """Run an operator on arrays in its own layout; return the result and the log-sum-exp.

    ``changed`` has values for its parameters by name; the others are those of a plain call.
    """
    heads = changed["num_heads"]
    layout = changed.get("input_layout", "BNSD")
    first, *middle, last = query.shape
    tokens = middle[1] if layout.startswith("BNSD") else middle[0]
    shape = (first, *reversed(middle), last) if layout == "BNSD_BSND" else query.shape
    out = hollow(shape, query.dtype)
    lse = hollow((first, heads, 1) if layout == "TND" else (first, heads, tokens, 1), np.float32)
    given: dict[str, Any] = {
        "query": place(query),
        "key": listed(key),
        "value": listed(value),
        "scale_value": 1.0,
        "pre_tokens": ALL,
        "next_tokens": ALL,
        "input_layout": layout,
        "num_key_value_heads": 0,
        "sparse_mode": 0,
        "inner_precise": 0,
        "block_size": 0,
        "antiquant_mode": 0,
        "softmax_lse_flag": True,
        "key_antiquant_mode": 0,
        "value_antiquant_mode": 0,
        "attention_out": out,
        "softmax_lse": lse,
        **{name: place(x) if isinstance(x, np.ndarray) else x for name, x in changed.items()},
    }
    run(operator, given)
    return given["attention_out"].numpy(), lse.numpy()


def listed(tensors: Any) -> list[ap.Tensor]:
    """A list of tensors from an array or a list of them."""
    return [place(x) for x in (tensors if isinstance(tensors, list) else [tensors])]


def run(operator: str, given: dict[str, Any]) -> None:
    """Call an operator with the values it has a parameter for, None for the others."""
    function = op(operator)
    function(
        **{
            name: given.get(name)
            for name in inspect.signature(function).parameters
            if name != "stream"
        }
    )
