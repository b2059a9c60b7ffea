# SPDX-License-Identifier: Apache-2.0
"""Functions of layers of experts: they allocate what their operators fill."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import functional

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]

GROUPS, ROWS, K, N = 2, 5, 32, 64
COUNTS = np.array([2, 3])
OWNER = [0, 0, 1, 1, 1]


def silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))


@pytest.fixture
def operands() -> dict[str, Array]:
    rng = np.random.default_rng(1)
    return {
        "x": rng.integers(-9, 10, (ROWS, K)).astype(np.int8),
        "weight": rng.integers(-9, 10, (GROUPS, K, N)).astype(np.int8),
        "scale": rng.uniform(0.01, 0.02, (GROUPS, N)).astype(np.float32),
        "token": rng.uniform(0.1, 0.2, ROWS).astype(np.float32),
    }


def product(p: dict[str, Array]) -> Array:
    rows = [p["x"][r].astype(float) @ p["weight"][g] * p["scale"][g] for r, g in enumerate(OWNER)]
    return np.stack(rows) * p["token"][:, None]


def test_grouped_matmul_swiglu_quant(operands: dict[str, Array]) -> None:
    p = operands
    out, scale = functional.grouped_matmul_swiglu_quant(
        ap.from_numpy(p["x"]),
        ap.from_numpy(p["weight"], format=ap.Format.FRACTAL_NZ),
        *(ap.from_numpy(p["scale"]), ap.from_numpy(p["token"]), ap.from_numpy(COUNTS)),
        group_list_type=1,
    )
    gate, linear = np.split(product(p), 2, axis=1)
    exact = silu(gate) * linear
    np.testing.assert_allclose(scale.numpy(), np.abs(exact).max(axis=1) / 127, rtol=1e-5)
    assert out.dtype_name == "int8"
    steps = exact / scale.numpy()[:, None]
    assert np.abs(out.numpy() - steps).max() <= 0.5 + 1e-3


@pytest.mark.parametrize("blocks", [False, True])
def test_grouped_matmul(operands: dict[str, Array], blocks: bool) -> None:
    p = operands
    weight, ends = p["weight"], ap.from_numpy(np.cumsum(COUNTS))
    held = ap.from_numpy(weight, format=ap.Format.FRACTAL_NZ if blocks else ap.Format.ND)
    out = functional.grouped_matmul(
        ap.from_numpy(p["x"]), held, ends, scale=ap.from_numpy(p["scale"]),
        per_token_scale=ap.from_numpy(p["token"]), output_dtype="float16",
    )  # fmt: skip
    np.testing.assert_allclose(out.numpy(), product(p), rtol=2e-3, atol=1e-3)
    x = np.random.default_rng(2).standard_normal((ROWS, K)).astype(np.float16)
    factors = np.full((GROUPS, N), 0.25, np.float16)
    out = functional.grouped_matmul(
        ap.from_numpy(x), ap.from_numpy(weight), ap.from_numpy(COUNTS), group_list_type=1,
        antiquant_scale=ap.from_numpy(factors), antiquant_offset=ap.from_numpy(factors * 0),
    )  # fmt: skip
    exact = [x[r].astype(float) @ weight[g] * 0.25 for r, g in enumerate(OWNER)]
    np.testing.assert_allclose(out.numpy(), exact, rtol=2e-3, atol=2e-2)
    with pytest.raises(ValueError, match="weight: shape"):
        functional.grouped_matmul(ap.from_numpy(x), ap.from_numpy(x), ends)


@pytest.mark.parametrize("rows", ["int4", "int8"])
def test_grouped_matmul_with_weights_of_four_bits(operands: dict[str, Array], rows: str) -> None:
    p = operands
    p["weight"] = np.clip(p["weight"], -8, 7)
    p["scale"] = (np.round(p["scale"] * 2048) / 2048).astype(np.float32)
    weight = ap.from_numpy(p["weight"].astype(ml_dtypes.int4))
    given: dict[str, Any] = {"scale": p["scale"].view(np.uint32).astype(np.uint64)}
    if rows == "int4":
        p["x"] = np.clip(p["x"], -8, 7)
        x = ap.from_numpy(p["x"].astype(ml_dtypes.int4))
    else:
        x = ap.from_numpy(p["x"])
        sums = (8 * p["weight"].astype(np.float32) * p["scale"][:, None]).sum(axis=1)
        given = {
            "scale": given["scale"].reshape(GROUPS, 1, N),
            "offset": np.zeros((GROUPS, 1, N), np.float32),
            "bias": sums.astype(np.float32),
        }
    out = functional.grouped_matmul(
        x, weight, ap.from_numpy(COUNTS), group_list_type=1, output_dtype="float16",
        per_token_scale=ap.from_numpy(p["token"]),
        **{name: ap.from_numpy(value) for name, value in given.items()},
    )  # fmt: skip
    np.testing.assert_allclose(out.numpy(), product(p), rtol=2e-3, atol=1e-3)


def test_rows_of_experts_added_by_token(operands: dict[str, Array]) -> None:
    p, tokens = operands, np.array([0, 2, 2, 1, 0])
    logit = np.linspace(0.2, 1, ROWS).astype(np.float32)
    shared = np.ones((1, N), ml_dtypes.bfloat16)
    out = functional.grouped_matmul_finalize_routing(
        ap.from_numpy(p["x"]), ap.from_numpy(p["weight"], format=ap.Format.FRACTAL_NZ),
        ap.from_numpy(COUNTS), ap.from_numpy(tokens), 3, ap.from_numpy(p["scale"]),
        pertoken_scale=ap.from_numpy(p["token"]), logit=ap.from_numpy(logit),
        shared_input=ap.from_numpy(shared), shared_input_weight=0.5, shared_input_offset=1,
    )  # fmt: skip
    exact = np.zeros((3, N))
    np.add.at(exact, tokens, product(p) * logit[:, None])
    exact[1] += 0.5
    np.testing.assert_allclose(out.numpy(), exact, rtol=1e-4, atol=1e-4)


def test_dequant_swiglu_quant() -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(-900, 900, (4, 64)).astype(np.int32)
    weight, token = np.full(64, 0.002, np.float32), rng.uniform(0.5, 2, 4).astype(np.float32)
    out, scale = functional.dequant_swiglu_quant(
        ap.from_numpy(x), weight_scale=ap.from_numpy(weight), activation_scale=ap.from_numpy(token)
    )
    gate, linear = np.split(x * 0.002 * token[:, None].astype(float), 2, axis=1)
    exact = silu(gate) * linear
    np.testing.assert_allclose(scale.numpy(), np.abs(exact).max(axis=1) / 127, rtol=1e-5)
    assert np.abs(out.numpy() - exact / scale.numpy()[:, None]).max() <= 0.5 + 1e-3


@pytest.mark.parametrize("experts", [False, True])
def test_ffn(experts: bool) -> None:
    rng = np.random.default_rng(3)
    stack = (GROUPS,) if experts else ()
    x = rng.standard_normal((ROWS, 8)).astype(np.float16)
    weights = [
        (rng.standard_normal((*stack, *s)) / 4).astype(np.float16) for s in ((8, 16), (16, 8))
    ]
    tokens = ap.from_numpy(COUNTS) if experts else None
    y = functional.ffn(ap.from_numpy(x), *map(ap.from_numpy, weights), "relu", expert_tokens=tokens)
    for row, group in enumerate(OWNER):
        first, second = (w[group] if experts else w for w in weights)
        hidden = np.maximum(x[row].astype(float) @ first, 0)
        np.testing.assert_allclose(y.numpy()[row], hidden @ second, rtol=1e-2, atol=1e-2)
