# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks as functions, forth and back, against sequences one by one in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.recurrent import Network
from helpers.slopes import slopes

import aclnn_py as ap
from aclnn_py import functional
from aclnn_py.errors import InvalidArgumentError

pytestmark = pytest.mark.usefixtures("device")

NETWORKS = [
    Network("lstm", 3, 4, (3, 3), layers=2, directions=2),
    Network("gru", 3, 4, (3, 3), layers=2, directions=2, bias=False),
]
UNEVEN = [Network("lstm", 3, 4, (4, 2, 1)), Network("gru", 3, 4, (4, 2, 1))]


def options(network: Network) -> dict[str, Any]:
    return {
        "num_layers": network.layers,
        "bias": network.bias,
        "bidirectional": network.directions == 2,
    }


def placed(arrays: Any) -> list[ap.Tensor]:
    return [ap.from_numpy(array) for array in arrays]


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.kind)
@pytest.mark.parametrize("batch_first", [False, True])
def test_forth_and_back(network: Network, batch_first: bool) -> None:
    rng = np.random.default_rng(0)
    x, params, initial = network.draw(rng, np.float32)
    y, last, _ = network.run(x, params, initial)
    incoming = [rng.normal(size=one.shape).astype(np.float32) for one in (y, *last)]
    oracle = slopes(
        lambda *parts: (
            lambda out, ends, _: [out, *ends]
        )(*network.run(parts[0], parts[1 : 1 + len(params)], parts[1 + len(params) :])),
        [x, *params, *initial],
        *incoming,
    )  # fmt: skip
    turn = (lambda rows: np.ascontiguousarray(rows.swapaxes(0, 1))) if batch_first else np.asarray
    keys = {**options(network), "batch_first": batch_first}
    forth = getattr(functional, network.kind)
    back = getattr(functional, f"{network.kind}_backward")
    states: Any = placed(initial)
    states = states if network.kind == "lstm" else states[0]
    given, weights = ap.from_numpy(turn(x)), placed(params)
    *results, kept = forth(given, weights, states, train=True, **keys)
    for made, expected in zip(results, [turn(y), *last], strict=True):
        assert_close(made.numpy(), expected, scale=8)
    slope = [ap.from_numpy(turn(incoming[0])), *placed(incoming[1:])]
    to_x, to_params, *to_states = back(given, weights, states, kept, *slope, **keys)
    wanted = [turn(oracle[0]), *oracle[1:]]
    for made, expected in zip([to_x, *to_params, *to_states], wanted, strict=True):
        size = max(1.0, float(np.abs(expected).max()))
        assert_close(made.numpy() / size, expected / size, scale=20)
    *short, none = forth(given, weights, **keys)
    zeros = [np.zeros_like(state) for state in initial]
    expected, *_ = network.run(x, params, zeros)
    assert none == ()
    assert_close(short[0].numpy(), turn(expected), scale=8)


@pytest.mark.parametrize("network", UNEVEN, ids=lambda network: network.kind)
def test_sequences_of_several_lengths(network: Network) -> None:
    x, params, initial = network.draw(np.random.default_rng(1), np.float32)
    y, last, planes = network.run(x, params, initial)
    sizes = ap.from_numpy(network.sizes)
    flat = x.reshape(-1, 3)
    if network.kind == "gru":
        flat, y = network.pack(x), network.pack(y)
        planes = [[network.pack(one) for one in plane] for plane in planes]
    states: Any = placed(initial)
    states = states if network.kind == "lstm" else states[0]
    forth = getattr(functional, network.kind)
    given, weights = ap.from_numpy(flat), placed(params)
    *results, kept = forth(given, weights, states, batch_sizes=sizes, train=True)
    for made, expected in zip(results, [y, *last], strict=True):
        assert_close(made.numpy(), expected, scale=8)
    for plane, expected_plane in zip(kept, planes, strict=True):
        assert_close(plane[0].numpy(), expected_plane[0], scale=8)


def test_the_cell_and_its_gradient_fit_together() -> None:
    rng = np.random.default_rng(2)
    gates, others = (rng.normal(size=(2, 12)).astype(np.float32) for _ in range(2))
    c, slope = (rng.normal(size=(2, 3)).astype(np.float32) for _ in range(2))
    bias = rng.normal(size=12).astype(np.float32)

    def cell(gates: Any, others: Any, c: Any, bias: Any) -> Any:
        i, g, f, o = np.split(gates + others + 2 * bias, 4, axis=1)
        sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
        after = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return [sigmoid(o) * np.tanh(after), after]

    given = placed([gates, others, c, bias, bias])
    hy, cy, kept = functional.lstm_cell(*given)
    wide = [one.astype(np.float64) for one in (gates, others, c, bias)]
    for made, expected in zip((hy, cy), cell(*wide), strict=True):
        assert_close(made.numpy(), expected, scale=4)
    oracle = slopes(cell, [gates, others, c, bias], slope, np.zeros_like(slope))
    made = functional.lstm_cell_backward(ap.from_numpy(slope), None, given[2], cy, kept)
    for one, expected in zip(made, (oracle[0], oracle[2], oracle[3] / 2), strict=True):
        assert_close(one.numpy(), expected, scale=8)


def test_what_a_network_needs_is_named() -> None:
    network = UNEVEN[1]
    x, params, _ = network.draw(np.random.default_rng(3), np.float32)
    flat, weights = ap.from_numpy(network.pack(x)), placed(params)
    with pytest.raises(InvalidArgumentError, match=r"hx.*batch_sizes"):
        functional.gru(flat, weights, batch_sizes=ap.from_numpy(network.sizes))
    with pytest.raises(InvalidArgumentError, match="params"):
        functional.lstm(flat, [])
    states = ap.zeros((1, 3, 4), "float32")
    with pytest.raises(InvalidArgumentError, match=r"kept.*train=True"):
        functional.lstm_backward(flat, weights, [states, states], ())
    with pytest.raises(ap.errors.AclnnError, match="input"):
        functional.lstm(flat, weights)
