# SPDX-License-Identifier: Apache-2.0
"""Gradients of activations by name: the derivative of the function, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import Array, place, wide
from ops.elementwise.elementwise_table import (
    elu,
    gelu,
    gelu_tanh,
    hard_sigmoid,
    sigmoid,
    slope,
    softplus,
)

import aclnn_py as ap
from aclnn_py import functional as f

pytestmark = pytest.mark.usefixtures("device")

RNG = np.random.default_rng(13)
G, X = (RNG.normal(size=(4, 6)).astype(np.float32) for _ in range(2))


def selu(x: Array) -> Array:
    return np.asarray(elu(x, 1.6732632423543772848, 1.0507009873554804934))


CASES: list[tuple[str, Callable[[Array], Any], dict[str, Any]]] = [
    ("relu", lambda x: np.maximum(x, 0), {}),
    ("silu", lambda x: x * sigmoid(x), {}),
    ("mish", lambda x: x * np.tanh(softplus(x)), {}),
    ("hardswish", lambda x: x * hard_sigmoid(x), {}),
    ("hardsigmoid", hard_sigmoid, {}),
    ("logsigmoid", lambda x: -np.logaddexp(0, -x), {}),
    ("gelu", gelu, {}),
    ("gelu", gelu_tanh, {"approximate": "tanh"}),
    ("leaky_relu", lambda x: np.where(x > 0, x, 0.25 * x), {"negative_slope": 0.25}),
    ("elu", lambda x: elu(x, 1.5), {"alpha": 1.5}),
    ("softplus", lambda x: softplus(x, 2.0, 20.0), {"beta": 2}),
    ("softshrink", lambda x: np.sign(x) * np.maximum(abs(x) - 0.3, 0), {"lambd": 0.3}),
    ("threshold", lambda x: np.where(x > 0.1, x, 9.0), {"threshold": 0.1}),
]
OF_RESULTS: list[tuple[str, Callable[[Array], Any]]] = [
    ("sigmoid", sigmoid),
    ("tanh", np.tanh),
    ("selu", selu),
]


@pytest.mark.parametrize(("name", "forward", "options"), CASES, ids=lambda part: str(part)[:20])
def test_of_arguments(name: str, forward: Callable[[Array], Any], options: dict[str, Any]) -> None:
    found = getattr(f, f"{name}_backward")(place(G), place(X), **options)
    assert_close(found.numpy(), wide(G) * slope(forward)(wide(X)), scale=8)


@pytest.mark.parametrize(("name", "forward"), OF_RESULTS, ids=[name for name, _ in OF_RESULTS])
def test_of_results(name: str, forward: Callable[[Array], Any]) -> None:
    result = forward(wide(X)).astype(np.float32)
    found = getattr(f, f"{name}_backward")(place(G), place(result))
    assert_close(found.numpy(), wide(G) * slope(forward)(wide(X)), scale=8)


@pytest.mark.parametrize("dim", [-1, 0])
@pytest.mark.parametrize("name", ["glu", "swiglu"])
def test_of_gated_units(name: str, dim: int) -> None:
    first, second = np.split(wide(X), 2, axis=dim)
    dy = np.split(G, 2, axis=dim)[0]
    if name == "glu":
        parts = wide(dy) * sigmoid(second), wide(dy) * first * slope(sigmoid)(second)
    else:
        parts = (
            wide(dy) * second * slope(lambda a: a * sigmoid(a))(first),
            wide(dy) * first * sigmoid(first),
        )
    found = getattr(f, f"{name}_backward")(place(dy), place(X), dim)
    assert_close(found.numpy(), np.concatenate(parts, dim), scale=8)


def test_prelu_and_its_gradients() -> None:
    w = RNG.normal(size=6).astype(np.float32)
    x, weight = place(X), place(w)
    assert_close(f.prelu(x, weight).numpy(), np.where(X > 0, X, wide(w) * wide(X)), scale=1)
    of_input, of_weight = f.prelu_backward(place(G), x, weight)
    assert_close(of_input.numpy(), wide(G) * np.where(X > 0, 1, wide(w)), scale=1)
    oracle = np.where(X > 0, 0, wide(G) * wide(X)).sum(0)
    assert_close(of_weight.numpy(), oracle, scale=2)
    assert isinstance(of_weight, ap.Tensor)
