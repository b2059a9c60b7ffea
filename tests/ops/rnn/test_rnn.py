# SPDX-License-Identifier: Apache-2.0
"""LSTM, GRU, their gradients and the fused cell, against sequences one by one in NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, op, place, refusal
from helpers.recurrent import Network, sigmoid
from helpers.slopes import slopes

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
PLANES = {"lstm": 7, "gru": 5}
OPERATORS = {"lstm": ("aclnnLSTM", "aclnnLstmBackward"), "gru": ("aclnnGRU", "aclnnGRUBackward")}
EVEN = [
    Network("lstm", 5, 4, (3, 3)),
    Network("lstm", 3, 6, (4, 4, 4), layers=2, directions=2),
    Network("lstm", 7, 2, (2,), layers=3, bias=False),
    Network("gru", 5, 4, (3, 3)),
    Network("gru", 3, 6, (4, 4, 4), layers=2, directions=2),
    Network("gru", 7, 2, (2,), layers=3, bias=False),
]
UNEVEN = [
    Network("lstm", 3, 4, (5, 3, 3, 1), layers=2, directions=2),
    Network("gru", 3, 4, (5, 3, 3, 1), layers=2, directions=2),
]


def name_of(value: Any) -> str:
    if not isinstance(value, Network):
        return str(value)
    parts = [value.kind, str(value.layers), "both" if value.directions == 2 else "one"]
    return "-".join(parts + ["bias"] * value.bias)


def turned(array: Array, batch_first: bool) -> Array:
    return array.swapaxes(0, 1) if batch_first else array


def placed(network: Network, rows: Array, flat: bool) -> Array:
    """Rows (times, batch, ...) as the operators on sequences of several lengths have them."""
    if network.kind == "gru":
        return network.pack(rows)
    return rows.reshape(-1, rows.shape[-1]) if flat else rows


def lists(arrays: list[list[Array]], dtype: Any) -> list[list[ap.Tensor]]:
    return [[hollow(array.shape, dtype) for array in plane] for plane in arrays]


def forward(
    network: Network,
    dtype: Any,
    *,
    batch_first: bool = False,
    train: bool = True,
    starts: bool = True,
    layout: str = "dense",
    scale: float = 1.0,
) -> None:
    """Run an operator on drawn values and compare all it writes."""
    x, params, initial = network.draw(np.random.default_rng(3), dtype)
    begin = initial if starts else [np.zeros_like(state) for state in initial]
    y, last, planes = network.run(x, params, begin)
    sizes = None
    if len(set(network.lengths)) > 1:
        x, y = placed(network, x, True), placed(network, y, False)
        planes = [[placed(network, one, False) for one in plane] for plane in planes]
        sizes = place(network.sizes)
    x, y = turned(x, batch_first), turned(y, batch_first)
    states: Any = [place(state, layout) for state in initial]
    states = states if network.kind == "lstm" else states[0]
    output = hollow(y.shape, dtype, layout)
    ends = [hollow(state.shape, dtype, layout) for state in last]
    kept: Any = lists(planes, dtype)
    given = kept if train or network.kind == "lstm" else [None] * len(kept)
    op(OPERATORS[network.kind][0])(
        place(x, layout),
        [place(one, layout) for one in params],
        states if starts else None,
        sizes,
        network.bias,
        network.layers,
        0.5,
        train,
        network.directions == 2,
        batch_first,
        output,
        *ends,
        *given,
    )
    assert_close(output.numpy(), y, scale=scale, what="output")
    for end, state in zip(ends, last, strict=True):
        assert_close(end.numpy(), state, scale=scale, what="last state")
    for plane, made in zip(planes, kept, strict=True):
        for one, tensor in zip(plane, made, strict=True):
            expected = one if train else np.full_like(one, 77)
            assert_close(tensor.numpy(), expected, scale=scale, what="kept")


@pytest.mark.parametrize("network", EVEN + UNEVEN, ids=name_of)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_networks_agree_with_numpy(network: Network, dtype: Any) -> None:
    forward(network, dtype, scale=8)


@pytest.mark.parametrize("network", [EVEN[1], EVEN[4]], ids=name_of)
def test_batches_may_stand_in_front_and_lie_anywhere(network: Network) -> None:
    forward(network, np.float32, batch_first=True, scale=8)
    forward(network, np.float32, batch_first=True, layout="stepped", train=False, scale=8)
    forward(network, np.float32, starts=False, layout="transposed", scale=8)


@pytest.mark.parametrize("network", [EVEN[0], EVEN[3]], ids=name_of)
def test_states_may_be_replaced_in_place(network: Network) -> None:
    x, params, initial = network.draw(np.random.default_rng(4), np.float32)
    y, last, planes = network.run(x, params, initial)
    states: Any = [place(state) for state in initial]
    output = hollow(y.shape, np.float32)
    op(OPERATORS[network.kind][0])(
        *(place(x), [place(one) for one in params]),
        *(states if network.kind == "lstm" else states[0], None, True, 1, 0.0, False, False, False),
        *(output, *states),
        *(lists(planes, np.float32) if network.kind == "lstm" else [None] * 5),
    )
    assert_close(output.numpy(), y, scale=8)
    for state, expected in zip(states, last, strict=True):
        assert_close(state.numpy(), expected, scale=8)


def backward(
    network: Network,
    dtype: Any,
    *,
    batch_first: bool = False,
    layout: str = "dense",
    given: tuple[bool, bool, bool] = (True, True, True),
    scale: float,
) -> None:
    """Compare a gradient operator with the derivative of the network in NumPy."""
    rng = np.random.default_rng(5)
    x, params, initial = network.draw(rng, dtype)
    y, last, planes = network.run(x, params, initial)
    y_slope = rng.normal(size=y.shape).astype(dtype)
    last_slopes = [rng.normal(size=state.shape).astype(dtype) for state in last]
    weights = [slope * kept for slope, kept in zip([y_slope, *last_slopes], given, strict=False)]

    def results(*parts: Array) -> list[Array]:
        count = len(params)
        out, ends, _ = network.run(parts[0], parts[1 : 1 + count], parts[1 + count :])
        return [out, *ends]

    oracle = slopes(results, [x, *params, *initial], *weights)
    uneven = len(set(network.lengths)) > 1
    dx = oracle[0]
    if uneven:
        # What lies in padding must not matter, NaN included.
        for b, length in enumerate(network.lengths):
            x[length:, b] = np.nan
            y_slope[length:, b] = np.nan
            for plane in planes:
                for one in plane:
                    one[length:, b] = np.nan
        x, y_slope, dx = (placed(network, rows, True) for rows in (x, y_slope, dx))
        planes = [[placed(network, one, False) for one in plane] for plane in planes]
    x, y_slope, dx = (turned(rows, batch_first) for rows in (x, y_slope, dx))
    kept = [[place(one.astype(dtype), layout) for one in plane] for plane in planes]
    states = [place(state, layout) for state in initial]
    ends = [
        place(slope, layout) if g else None
        for slope, g in zip(last_slopes, given[1:], strict=False)
    ]
    to_x = hollow(dx.shape, dtype, layout)
    to_states = [hollow(state.shape, dtype, layout) for state in initial]
    to_params = [hollow(one.shape, dtype, layout) for one in params]
    sizes = place(network.sizes) if uneven else None
    weights_in = [place(one, layout) for one in params]
    before: tuple[Any, ...] = (states, weights_in)
    flags: tuple[Any, ...] = (0.0, True, network.directions == 2, batch_first, None)
    if network.kind == "gru":
        before = (weights_in, states[0])
        flags = (network.directions == 2, batch_first)
    op(OPERATORS[network.kind][1])(
        *(place(x, layout), *before, place(y_slope, layout) if given[0] else None, *ends),
        *(*kept, sizes, network.bias, network.layers, *flags),
        *(to_x, *to_states, to_params),
    )
    made = [to_x, *to_params, *to_states]
    for number, (tensor, slope) in enumerate(zip(made, [dx, *oracle[1:]], strict=True)):
        size = max(1.0, float(np.abs(slope).max(initial=0)))
        assert_close(tensor.numpy() / size, slope / size, scale=scale, what=f"gradient {number}")


@pytest.mark.parametrize("network", [*EVEN, UNEVEN[0]], ids=name_of)
def test_gradients_are_derivatives(network: Network) -> None:
    backward(network, np.float32, scale=20)


@pytest.mark.parametrize("network", [EVEN[0], EVEN[4]], ids=name_of)
def test_gradients_of_half_precision_and_of_other_layouts(network: Network) -> None:
    backward(network, np.float16, scale=10)
    backward(network, np.float32, batch_first=True, layout="stepped", scale=20)


@pytest.mark.parametrize(
    "given", [(True, False, False), (False, True, False), (False, False, True)]
)
def test_absent_gradients_of_an_lstm_count_as_zeros(given: tuple[bool, bool, bool]) -> None:
    backward(EVEN[0], np.float32, given=given, scale=20)


def test_empty_networks_have_empty_results() -> None:
    for inputs, hidden, lengths in ((0, 3, (2, 2)), (3, 4, (0, 0)), (3, 0, (2, 2))):
        for kind in ("lstm", "gru"):
            network = Network(kind, inputs, hidden, lengths)
            x, params, initial = network.draw(np.random.default_rng(0), np.float32)
            if 0 not in (hidden, *lengths):
                forward(network, np.float32, scale=8)
                backward(network, np.float32, scale=20)
                continue
            shape = (max(lengths), 2, hidden)
            kept = [[hollow(shape, np.float32)] for _ in range(PLANES[kind])]
            ends = [hollow(state.shape, np.float32) for state in initial]
            states: Any = [place(state) for state in initial]
            op(OPERATORS[kind][0])(
                *(place(x), [place(one) for one in params]),
                *(states if kind == "lstm" else states[0], None, True, 1, 0.0, True, False, False),
                *(hollow(shape, np.float32), *ends, *kept),
            )
            for end, state in zip(ends, initial, strict=True):
                assert_same(end.numpy(), state)


def lstm_arguments(network: Network = EVEN[0]) -> list[Any]:
    x, params, initial = network.draw(np.random.default_rng(0), np.float32)
    y, last, planes = network.run(x, params, initial)
    return [
        *(place(x), [place(one) for one in params], [place(one) for one in initial], None),
        *(network.bias, network.layers, 0.0, True, network.directions == 2, False),
        *(hollow(y.shape, np.float32), *(hollow(s.shape, np.float32) for s in last)),
        *lists(planes, np.float32),
    ]


def without(arguments: list[Any], position: int, value: Any) -> list[Any]:
    return [*arguments[:position], value, *arguments[position + 1 :]]


def test_what_does_not_fit_an_lstm_is_refused() -> None:
    good = lstm_arguments()
    half, flat = hollow((3, 2, 5), np.float16), hollow((6, 5), np.float32)
    for position, value in (
        (0, half),
        (0, flat),
        (0, hollow((3, 2, 6), np.float32)),
        (1, good[1][:3]),
        (1, [*good[1][:3], hollow((15,), np.float32)]),
        (2, good[2][:1]),
        (2, [good[2][0], hollow((1, 3, 4), np.float32)]),
        (3, place(np.array([2, 2, 2]))),
        (5, 0),
        (5, 2**62),
        (8, True),
        (9, True),
        (10, hollow((3, 2, 8), np.float32)),
        (12, hollow((2, 2, 4), np.float32)),
        (14, []),
        (19, [hollow((3, 2, 5), np.float32)]),
    ):
        assert refusal("aclnnLSTM", *without(good, position, value)) == 161002, position
    with pytest.raises(ap.errors.AclnnError, match=r"params\[3\].*\(16,\)"):
        op("aclnnLSTM")(*without(good, 1, [*good[1][:3], hollow((15,), np.float32)]))


@pytest.mark.parametrize("sizes", [[1, 2, 1], [2, 3, 1], [2, 1, 0], [2, 2, -5], [3, 2, 2]])
def test_sizes_that_do_not_sort_the_sequences_are_a_fault(sizes: list[int]) -> None:
    good = lstm_arguments()
    flat = place(np.ones((6, 5), np.float32))
    with pytest.raises(ap.errors.DeviceError, match="batchSizes"):
        op("aclnnLSTM")(flat, *good[1:3], place(np.array(sizes)), *good[4:])
        ap.synchronize()


def test_sizes_of_a_gru_must_name_all_rows() -> None:
    network = Network("gru", 3, 2, (3, 2))
    x, params, _ = network.draw(np.random.default_rng(0), np.float32)
    with pytest.raises(ap.errors.DeviceError, match="batchSizes"):
        op("aclnnGRU")(
            *(place(network.pack(x)), [place(one) for one in params], None),
            *(place(np.array([2, 1, 1])), True, 1, 0.0, False, False, False),
            *(hollow((5, 2), np.float32), hollow((1, 2, 2), np.float32), *[None] * 5),
        )
        ap.synchronize()


ORDER = (0, 2, 1, 3)  # the fused cell's i, g, f, o among the network's i, f, g, o


def reordered(rows: Array, hidden: int) -> Array:
    """Rows of weights in the order of a network as the fused cell has them."""
    return np.concatenate([rows[k * hidden : (k + 1) * hidden] for k in ORDER])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("biased", [True, False])
def test_the_fused_cell_is_a_step_of_the_network(dtype: Any, biased: bool) -> None:
    network = Network("lstm", 5, 6, (1, 1, 1), bias=biased)
    x, params, (h, c) = network.draw(np.random.default_rng(1), dtype)
    _, (hy, cy), planes = network.run(x, params, [h, c])
    w_in, w_rec, *biases = (reordered(one, 6) for one in params)
    wide = np.float64
    gates = (x[0].astype(wide) @ w_in.T.astype(wide)).astype(dtype)
    others = (h[0].astype(wide) @ w_rec.T.astype(wide)).astype(dtype)
    made = [hollow((3, 6), dtype), hollow((3, 6), dtype), hollow((3, 24), dtype, "stepped")]
    given = [place(one) for one in biases] if biased else [None, None]
    op("aclnnThnnFusedLstmCell")(
        *(place(gates, "transposed"), place(others), place(c[0], "stepped"), *given, *made)
    )
    assert_close(made[0].numpy(), hy[0], scale=8)
    assert_close(made[1].numpy(), cy[0], scale=8)
    i, g, f, o = (planes[k][0][0] for k in range(4))
    assert_close(made[2].numpy(), np.concatenate([i, g, f, o], axis=1), scale=8)


@pytest.mark.parametrize("given", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_the_gradient_of_the_fused_cell(dtype: Any, given: tuple[bool, bool]) -> None:
    rng = np.random.default_rng(2)
    gates, c = rng.normal(size=(4, 12)), rng.normal(size=(4, 3)).astype(dtype)
    incoming = [rng.normal(size=(4, 3)).astype(dtype) for _ in range(2)]

    def cell(gates: Array, before: Array) -> list[Array]:
        i, g, f, o = np.split(gates, 4, axis=1)
        after = sigmoid(f) * before + sigmoid(i) * np.tanh(g)
        return [sigmoid(o) * np.tanh(after), after]

    oracle = slopes(
        cell, [gates, c], *(one * kept for one, kept in zip(incoming, given, strict=True))
    )
    i, g, f, o = np.split(gates, 4, axis=1)
    storage = np.concatenate([sigmoid(i), np.tanh(g), sigmoid(f), sigmoid(o)], axis=1)
    after = cell(gates, c.astype(np.float64))[1].astype(dtype)
    made = [hollow(shape, dtype) for shape in ((4, 12), (4, 3), (12,))]
    op("aclnnThnnFusedLstmCellBackward")(
        *(place(one) if kept else None for one, kept in zip(incoming, given, strict=True)),
        *(place(c), place(after), place(storage.astype(dtype), "stepped"), True, *made),
    )
    for tensor, expected in zip(made, [*oracle, oracle[0].sum(axis=0)], strict=True):
        assert_close(tensor.numpy(), expected, scale=10)
    assert_close(made[2].numpy(), made[0].numpy().astype(np.float64).sum(axis=0), scale=4)


def test_the_bias_of_the_fused_gradient_is_left_alone_where_nobody_asks_for_it() -> None:
    ones, gates = place(np.ones((2, 3), np.float32)), place(np.full((2, 12), 0.5, np.float32))
    bias = hollow((12,), np.float32)
    to_gates, to_cell = hollow((2, 12), np.float32), hollow((2, 3), np.float32)
    op("aclnnThnnFusedLstmCellBackward")(
        ones, None, ones, ones, gates, False, to_gates, to_cell, bias
    )
    slope = 0.5 * (1 - np.tanh(1.0) ** 2)
    assert_close(to_cell.numpy(), np.full((2, 3), slope * 0.5))
    assert_same(bias.numpy(), np.full(12, 77, np.float32))


def test_what_does_not_fit_the_fused_cell_is_refused() -> None:
    wide, narrow, bias = (hollow(s, np.float32) for s in ((2, 12), (2, 3), (12,)))
    good = [wide, wide, narrow, bias, bias, narrow, narrow, wide]
    for position, value in (
        (0, narrow),
        (1, hollow((2, 12), np.float16)),
        (3, None),
        (4, hollow((3,), np.float32)),
        (7, narrow),
    ):
        assert refusal("aclnnThnnFusedLstmCell", *without(good, position, value)) == 161002
    given = [narrow, narrow, narrow, narrow, wide, True, wide, narrow, bias]
    for position, value in ((1, wide), (4, narrow), (8, narrow)):
        name = "aclnnThnnFusedLstmCellBackward"
        assert refusal(name, *without(given, position, value)) == 161002


@pytest.fixture(scope="module")
def smaller() -> Iterator[Chip950]:
    with Chip950("310P") as process:
        yield process


def one_layer(network: Network, packed: bool | None, stepped: bool = False) -> tuple[Any, Any]:
    """Arguments of BidirectionLSTM, or of its second version, and what comes out."""
    x, params, initial = network.draw(np.random.default_rng(6), np.float16)
    y, last, _ = network.run(x, params, initial)
    if packed:
        x, y = network.pack(x), network.pack(y)
    kept = iter(params)
    given = lambda array: Given(array, "float16", stepped=stepped)  # noqa: E731
    weights = [
        given(next(kept)) if (i < 4 or network.directions == 2) and (i % 4 < 2 or network.bias)
        else None
        for i in range(8)
    ]  # fmt: skip
    second = [] if packed is None else [Given(network.sizes.astype(np.int32), "int32")]
    arguments = [
        *(given(x), *(given(one) for one in initial), *weights, *second),
        *(1, network.bias, False, network.directions == 2),
        *([] if packed is None else [packed]),
        *(Made(array.shape, "float16", stepped=stepped) for array in (y, *last)),
    ]
    return arguments, [y, *last]


@pytest.mark.parametrize("packed", [None, False, True])
def test_the_310p_has_one_layer_in_both_directions(smaller: Chip950, packed: bool | None) -> None:
    lengths = (3, 3) if packed is None else (4, 2, 1)
    name = "bidirection_lstm" if packed is None else "bidirection_lstm_v2"
    for bias, directions in ((True, 2), (False, 1)):
        network = Network("lstm", 16, 16, lengths, directions=directions, bias=bias)
        arguments, oracle = one_layer(network, packed, stepped=bias)
        made = smaller.operator(name, *arguments)
        assert not isinstance(made, Refused), made.text
        for result, expected in zip(made, oracle, strict=True):
            assert_close(result, expected, scale=8)


def test_other_chips_refuse_it_and_the_310p_refuses_what_does_not_fit(smaller: Chip950) -> None:
    network = Network("lstm", 16, 16, (3, 3), directions=2)
    arguments, _ = one_layer(network, None)
    for position, value in ((11, 2), (13, True), (3, None), (5, None), (7, None), (9, None)):
        answer = smaller.operator("bidirection_lstm", *without(arguments, position, value))
        assert isinstance(answer, Refused), position
        assert answer.status == (161001 if position == 3 else 561002)
    half = [
        place(one.values) if isinstance(one, Given) else
        hollow(one.shape, np.float16) if isinstance(one, Made) else one
        for one in arguments
    ]  # fmt: skip
    assert refusal("aclnnBidirectionLSTM", *half) == 161002
