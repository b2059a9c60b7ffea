# SPDX-License-Identifier: Apache-2.0
"""Gradients of layers with several residual streams."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950
from helpers.numerics import assert_close
from helpers.operators import Array, hollow, op, place, refusal, wide
from helpers.slopes import slopes_at, some_places

pytestmark = pytest.mark.usefixtures("device")

HALVES = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
N, EPS, ROUNDS = 4, 1e-6, 20


def normal(seed: int, *shape: int, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_the_gradient_of_writing_back(dtype: Any) -> None:
    lead, width = (2, 3), 128
    dy, x = normal(1, *lead, N, width, dtype=dtype), normal(2, *lead, N, width, dtype=dtype)
    mix, post = normal(3, *lead, N, N), normal(4, *lead, N)
    layer = normal(5, *lead, width, dtype=dtype)

    def forward(x: Array, mix: Array, layer: Array, post: Array) -> Array:
        y = np.einsum("bsji,bsjd->bsid", mix, x)
        return np.asarray(y + post[..., None] * layer[..., None, :])

    parts = [x, mix, layer, post]
    places = [some_places(part.shape, 40) for part in parts]
    wanted = slopes_at(forward, [wide(part) for part in parts], places, wide(dy))
    results = [hollow(part.shape, part.dtype, "stepped") for part in parts]
    op("aclnnMhcPostBackward")(
        place(dy, "stepped"), *(place(part, "transposed") for part in parts), *results
    )
    for result, expected, at in zip(results, wanted, places, strict=True):
        found = result.numpy()
        assert_close(np.array([found[i] for i in at]), expected, dtype=found.dtype, scale=32)


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def mixed(x: Array, phi: Array, alpha: Array, bias: Array, gamma: Array) -> tuple[Array, ...]:
    """Compute 1 / rms, the projection, the gates and the joined input of (tokens, N, width)."""
    flat = x.reshape(len(x), -1)
    inverse = ((flat**2).mean(-1) + EPS) ** -0.5
    mix = (flat * gamma.reshape(-1)) @ phi.T
    gates = mix * inverse[:, None]
    pre = sigmoid(gates[:, :N] * alpha[0] + bias[:N]) + EPS
    post = 2 * sigmoid(gates[:, N : 2 * N] * alpha[1] + bias[N : 2 * N])
    rest = gates[:, 2 * N :] * alpha[2] + bias[2 * N :]
    joined = (pre[..., None] * x).sum(1)
    return inverse, mix, pre, post, rest.reshape(-1, N, N), joined


def stochastic(matrix: Array) -> tuple[Array, list[Array], list[Array]]:
    """Return the last matrix of a Sinkhorn iteration, and the sums and matrices of its stages."""
    powers = np.exp(matrix - matrix.real.max(-1, keepdims=True))
    matrix = powers / powers.sum(-1, keepdims=True) + EPS
    sums, norms = [np.ones(matrix.shape[:-1])], [matrix]
    for stage in range(1, 2 * ROUNDS):
        axis = -2 if stage % 2 else -1
        total = matrix.sum(axis, keepdims=True) + EPS
        matrix = matrix / total
        sums.append(total.squeeze(axis))
        norms.append(matrix)
    return matrix, sums, norms


def operands(width: int, dtype: Any) -> list[Array]:
    rows = 2 * N + N * N
    # The documented gradient is that of the softmax as far as it is large beside epsilon.
    phi = normal(7, rows, N * width) / np.float32(np.sqrt(N * width)) / 2
    return [normal(6, 3, N, width, dtype=dtype), phi, normal(8, 3), normal(9, rows) / 2]


def compare(found: list[Array], wanted: list[Array], places: list[Any]) -> None:
    for result, expected, at in zip(found, wanted, places, strict=True):
        chosen = np.array([wide(result)[i] for i in at])
        kind = result.dtype
        size = max(1.0, float(np.abs(expected).max()))
        limit = {2: 4e-2 if kind == HALVES[1] else 6e-3, 4: 4e-5}[kind.itemsize]
        np.testing.assert_allclose(chosen, expected, rtol=0, atol=limit * size)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_the_gradient_with_a_stochastic_matrix(dtype: Any) -> None:
    width, tokens = 128, 3
    parts = [wide(part) for part in operands(width, dtype)]
    gamma = np.ones((N, width))
    inverse, mix, pre, _, rest, _ = mixed(*parts, gamma)
    _, sums, norms = stochastic(rest)
    grads = [
        normal(10, tokens, width, dtype=dtype),
        normal(11, tokens, N),
        normal(12, tokens, N, N),
    ]

    def forward(*given: Array) -> tuple[Array, ...]:
        _, _, _, post, rest, joined = mixed(*given, gamma)
        return joined, post, stochastic(rest)[0]

    places = [some_places(part.shape, 12) for part in parts]
    wanted = slopes_at(forward, parts, places, *(wide(g) for g in grads))
    x, phi, alpha, bias = operands(width, dtype)
    one = (1, tokens)
    given = [
        grads[0].reshape(*one, width), grads[1].reshape(*one, N), grads[2].reshape(*one, N, N),
        x.reshape(*one, N, width), phi, alpha, bias, pre.reshape(*one, N),
        mix.reshape(*one, -1), inverse.reshape(*one, 1),
        np.stack(sums).reshape(-1, *one, N), np.stack(norms).reshape(-1, *one, N, N),
    ]  # fmt: skip
    given = [part.astype(np.float32) if part.dtype == np.float64 else part for part in given]
    results = [hollow((*one, N, width), dtype)]
    results += [hollow(part.shape, np.float32) for part in (phi, alpha, bias)]
    op("aclnnMhcPreSinkhornBackward")(*(place(g, "stepped") for g in given), EPS, *results)
    found = [result.numpy() for result in results]
    compare([found[0][0], *found[1:]], wanted, places)


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
def test_the_gradient_of_a_950() -> None:
    width, dtype = 64, HALVES[0]
    with Chip950() as newer:
        for scaled in (True, False):
            parts = [wide(part) for part in operands(width, dtype)]
            gamma = normal(13, N, width) if scaled else np.ones((N, width), np.float32)
            parts.append(wide(gamma))
            inverse, mix, pre, post, _, _ = mixed(*parts)
            grads = [normal(14, 3, width, dtype=dtype), normal(15, 3, N), normal(16, 3, N, N)]
            more = normal(17, 3, N, width, dtype=dtype)

            def forward(*given: Array) -> tuple[Array, ...]:
                _, _, _, post, rest, joined = mixed(*given)
                return joined, post, rest

            places = [some_places(part.shape, 12) for part in parts]
            wanted = slopes_at(forward, parts, places, *(wide(g) for g in grads))
            wanted[0] = wanted[0] + np.array([wide(more)[at] for at in places[0]])
            x, phi, alpha, _ = operands(width, dtype)
            kept = [part.astype(np.float32) for part in (inverse, mix, pre, post)]
            given = [x, phi, alpha, *grads, *kept, gamma if scaled else None, more]
            found = newer.call("ops.mhc.test_mhc_gradients", "call_pre", given)
            compare(found, wanted[: len(found)], places[: len(found)])


def call_pre(given: list[Any]) -> list[Array]:
    """Call MhcPreBackward, in the process of another chip."""
    x, phi, alpha, *_ = given
    gamma = given[10]
    shapes = [phi.shape, alpha.shape, (len(phi),)]
    results: list[Any] = [hollow(x.shape, x.dtype), *(hollow(s, np.float32) for s in shapes)]
    results.append(None if gamma is None else hollow(gamma.shape, np.float32))
    tensors = [None if part is None else place(part) for part in given]
    op("aclnnMhcPreBackward")(*tensors, EPS, *results)
    return [result.numpy() for result in results if result is not None]


def test_what_does_not_fit_is_refused() -> None:
    post = "aclnnMhcPostBackward"
    x, mix = hollow((2, 4, 128), np.float16), hollow((2, 4, 4), np.float32)
    layer, weights = hollow((2, 128), np.float16), hollow((2, 4), np.float32)
    good = [x, x, mix, layer, weights, x, mix, layer, weights]
    for position, wrong in ((0, layer), (2, weights), (3, x), (8, mix)):
        given = [*good]
        given[position] = wrong
        assert refusal(post, *given) == 161002
    assert refusal(post, None, *good[1:]) == 161001
    narrow = hollow((2, 4, 64), np.float16)
    assert refusal(post, *[narrow if part is x else part for part in good]) == 161002
