# SPDX-License-Identifier: Apache-2.0
"""A layer of experts as a service runs it: gates, routing, products with a gated unit and
quantisation, and the combination, against the same layer in NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_same
from helpers.operators import hollow, place, wide

import aclnn_py as ap

from ..gmm.grouped_oracle import put_weight

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]

TOKENS, WIDTH, HIDDEN, EXPERTS, CHOSEN = 37, 64, 96, 6, 2


class Layer:
    """Weights of a layer, quantised by the columns of each expert."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        # Their products are exact, so that rounding cannot choose another expert.
        self.x = (rng.integers(-48, 49, (TOKENS, WIDTH)) / 16).astype(np.float16)
        self.gate = (rng.integers(-16, 17, (WIDTH, EXPERTS)) / 64).astype(np.float16)
        # An expert that no token chooses is the common case of a small batch.
        self.x[:, 0] = 1
        self.gate[:, EXPERTS - 1] = 0
        self.gate[0, EXPERTS - 1] = -16
        self.up, self.up_scale = quantised(rng.standard_normal((EXPERTS, WIDTH, 2 * HIDDEN)) / 8)
        self.down, self.down_scale = quantised(rng.standard_normal((EXPERTS, HIDDEN, WIDTH)) / 8)
        self.shared = rng.standard_normal((TOKENS, WIDTH)).astype(ml_dtypes.bfloat16)


def quantised(weight: Array) -> tuple[Array, Array]:
    scale = (np.abs(weight).max(axis=1) / 127).astype(np.float32)
    return np.rint(weight / scale[:, None]).astype(np.int8), scale


def silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))


def in_steps(row: Array) -> tuple[Array, float]:
    """A row in whole steps of its largest value divided by 127."""
    scale = np.abs(row).max() / 127
    return np.rint(row / scale), scale


def oracle(layer: Layer, *, steps: bool) -> tuple[Array, Array]:
    """The layer in float64 and the experts of each token; ``steps``: quantised as on the device."""
    x = wide(layer.x)
    logits = wide((x @ wide(layer.gate)).astype(np.float32).astype(np.float16))
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    gates = powers / powers.sum(axis=1, keepdims=True)
    experts = np.argsort(-gates, axis=1, kind="stable")[:, :CHOSEN]
    out = wide(layer.shared).copy()
    for token in range(TOKENS):
        row, scale = in_steps(x[token]) if steps else (x[token], 1.0)
        for expert in experts[token]:
            product = row @ layer.up[expert].astype(np.float64) * scale * layer.up_scale[expert]
            hidden = silu(product[:HIDDEN]) * product[HIDDEN:]
            inner, factor = in_steps(hidden) if steps else (hidden, 1.0)
            result = inner @ layer.down[expert].astype(np.float64) * factor
            out[token] += gates[token, expert] * result * layer.down_scale[expert]
    return out, experts


def run(layer: Layer) -> tuple[Array, Array, Array]:
    """The layer on the device: the result, the experts and how many tokens each got."""
    rows = TOKENS * CHOSEN
    x = place(layer.x)
    logits = hollow((TOKENS, EXPERTS), np.float16)
    ap.ops.matmul(x, place(layer.gate), logits, 0)
    gates, experts = hollow((TOKENS, CHOSEN), np.float16), hollow((TOKENS, CHOSEN), np.int32)
    ap.ops.moe_gating_top_k_softmax_v2(logits, None, CHOSEN, 0, False, gates, experts, None)
    routed, origin = hollow((rows, WIDTH), np.int8), hollow((rows,), np.int32)
    counts, scales = hollow((EXPERTS,), np.int64), hollow((rows,), np.float32)
    ap.ops.moe_init_routing_v3(
        *(x, experts, None, None, rows, 0, EXPERTS, 0, 1, True, 1, [0, EXPERTS], 1),
        *(routed, origin, counts, scales),
    )
    hidden, hidden_scales = hollow((rows, HIDDEN), np.int8), hollow((rows,), np.float32)
    ap.ops.grouped_matmul_swiglu_quant_weight_nz_v2(
        routed,
        [put_weight(layer.up, "int8-nz")],
        [place(layer.up_scale)],
        *(None, None, scales, None, counts, 0, 0, 0, 1, None, hidden, hidden_scales),
    )
    token = origin // CHOSEN
    weight = ap.functional.cast(gates, np.float32).reshape(-1)[origin]
    out = hollow((TOKENS, WIDTH), np.float32)
    ap.ops.grouped_matmul_finalize_routing_weight_nz_v2(
        hidden,
        put_weight(layer.down, "int8-nz"),
        place(layer.down_scale),
        *(None, None, None, None, hidden_scales, counts, place(layer.shared), weight, token),
        *(0, 1.0, 0, False, False, 1, None, out),
    )
    return out.numpy(), experts.numpy(), counts.numpy()


@pytest.mark.parametrize("seed", range(3))
def test_the_chain_is_the_layer(seed: int) -> None:
    layer = Layer(seed)
    out, experts, counts = run(layer)
    exact, chosen = oracle(layer, steps=True)
    assert_same(experts, chosen.astype(np.int32))
    assert_same(counts, np.bincount(chosen.reshape(-1), minlength=EXPERTS))
    assert counts[EXPERTS - 1] == 0
    # A value near the middle of two steps may take either, which moves its row by a step.
    near = np.abs(out - exact) <= 1e-3 + 4e-3 * np.abs(exact)
    assert near.mean() > 0.97
    largest = np.abs(exact - wide(layer.shared)).max()
    assert np.abs(out - exact).max() < 0.01 * largest
    plain, _ = oracle(layer, steps=False)
    assert np.abs(out - plain).max() < 0.05 * largest, "eight bits keep the layer close"
