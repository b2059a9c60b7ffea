# SPDX-License-Identifier: Apache-2.0
"""Causal convolutions with a cache of the last tokens, on a chip of the 950 series."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, op, wide

pytestmark = pytest.mark.emulator_only(reason="the chip of the emulator is chosen")

K, DIM = 3, 64
HALVES = [np.float16, ml_dtypes.bfloat16]


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def normal(shape: tuple[int, ...], dtype: Any, seed: int = 1) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def numbers(*values: Any) -> Any:
    return np.array(values, np.int32)


def arguments(**given: Any) -> dict[str, Any]:
    names = ["x", "weight", "states", "starts", "cache", "mode", "bias", "accepted", "computed"]
    return {name: given.get(name) for name in [*names, "first", "last", "initial"]}


def oracle(
    a: dict[str, Any], residual: bool, block: int, conv_mode: int, pad: int
) -> tuple[Any, Any]:
    """The documents' eight steps for each sequence, in float64."""
    x, states, weight = wide(a["x"]), wide(a["states"]).copy(), wide(a["weight"])
    flat = x.reshape(-1, x.shape[-1])
    starts = np.arange(x.shape[0] + 1) * x.shape[1] if x.ndim == 3 else a["starts"]
    y, held = np.full_like(flat, 77), states.shape[1]
    kept = states.copy()
    for b in range(len(starts) - 1):
        tokens = flat[starts[b] : starts[b + 1]]
        length = len(tokens)
        paged = a["cache"] is not None and a["cache"].ndim == 2
        if paged:
            read, write = a["cache"][b, a["initial"][b]], a["cache"][b, a["last"][b]]
        else:
            read = write = b if a["cache"] is None else a["cache"][b]
        if read == pad:
            continue
        if a["computed"] is not None and a["computed"][b] == 0:
            before, offset = np.zeros((K - 1, x.shape[-1])), 0
        else:
            speculates = a["accepted"] is not None and a["accepted"][b] > 0
            offset = a["accepted"][b] - 1 if speculates else held - (K - 1)
            before = states[read, : offset + K - 1]
        padded = np.concatenate([before, tokens])
        last = min(held, len(padded))
        kept[write, held - last :] = padded[len(padded) - last :]
        seen = padded[offset:]
        if paged:
            rest = block - a["computed"][b] % block
            behind = (length - rest) % block
            full = length - behind - (block if behind == 0 else 0)
            count = a["last"][b] - a["first"][b]
            for chunk in range(count):
                row = full - (count - chunk - 1) * block
                line = a["cache"][b, a["first"][b] + chunk]
                kept[line, held - (K - 1) :] = seen[row : row + K - 1]
        made = sum(weight[k] * seen[k : k + length] for k in range(K))
        if conv_mode == 1 and a["computed"] is not None:
            made[: min(max(K - 1 - a["computed"][b], 0), length)] = 0
        y[starts[b] : starts[b + 1]] = made + (tokens if residual else 0)
    return y.reshape(x.shape), kept


def run(
    newer: Chip950,
    a: dict[str, Any],
    residual: bool = False,
    block: int = 0,
    conv_mode: int = 0,
    pad: int = -1,
    in_place: bool = False,
) -> None:
    attributes = [0, pad, 0, -1, int(residual), block, conv_mode]
    made = newer.call("ops.mamba.causal_conv_calls", "convolve", a, attributes, in_place)
    assert not isinstance(made, Refused), made
    y, states = oracle(a, residual, block, conv_mode, pad)
    if in_place:
        skipped = (y == 77).all(-1)
        y[skipped] = wide(a["x"])[skipped]
    assert_close(made[0], y, scale=4)
    assert_close(made[1], states)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("cache", [None, (4, 0, 2), (3, -1, 1)], ids=str)
@pytest.mark.parametrize(("computed", "mode"), [(None, 0), ((0, 5, 1), 0), ((0, 1, 9), 1)])
def test_sequences(
    newer: Chip950, dtype: Any, cache: Any, computed: Any, mode: int, residual: bool, in_place: bool
) -> None:
    a = arguments(
        x=normal((11, DIM), dtype),
        weight=normal((K, DIM), dtype, 2),
        states=normal((5, K - 1, DIM), dtype, 3),
        starts=numbers(0, 1, 6, 11),
        cache=None if cache is None else numbers(*cache),
        computed=None if computed is None else numbers(*computed),
    )
    run(newer, a, residual, conv_mode=mode, in_place=in_place)


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("accepted", [None, (1, 4, 2), (0, 3, 1)], ids=str)
def test_speculated_tokens(newer: Chip950, accepted: Any, fixed: bool) -> None:
    x = normal((3, 4, 576), np.float16)
    a = arguments(
        x=x if fixed else x.reshape(12, 576),
        weight=normal((K, 576), np.float16, 2),
        states=normal((3, K - 1 + 3, 576), np.float16, 3),
        starts=None if fixed else numbers(0, 4, 8, 12),
        accepted=None if accepted is None else numbers(*accepted),
    )
    run(newer, a)


def test_lines_of_completed_blocks(newer: Chip950) -> None:
    block = 4
    a = arguments(
        x=normal((24, DIM), np.float16),
        weight=normal((K, DIM), np.float16, 2),
        states=normal((15, K - 1, DIM), np.float16, 3),
        starts=numbers(0, 10, 13, 24),
        cache=numbers(0, 1, 2, 3, 4, 9, 8, 7, 6, 5, 10, 11, 12, 13, 14).reshape(3, 5),
        # The first begins, the second ends within its block, the third completes two.
        computed=numbers(0, 5, 6),
        first=numbers(0, 1, 1),
        last=numbers(2, 1, 4),
        initial=numbers(0, 1, 1),
    )
    run(newer, a, residual=True, block=block)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"starts": numbers(0, 5, 12)}, "queryStartLoc[2] is 12; allowed: 5 to 11"),
        ({"starts": numbers(3, 1, 11)}, "queryStartLoc[1] is 1; allowed: 3 to 11"),
        ({"cache": numbers(0, 5)}, "cacheIndices[1] is 5; allowed: 0 to 4"),
        ({"accepted": numbers(1, 4)}, "numAcceptedTokens[1] is 4; allowed: 0 to 1"),
    ],
    ids=str,
)
def test_numbers_that_name_nothing_are_faults(
    newer: Chip950, changed: dict[str, Any], says: str
) -> None:
    a = arguments(
        x=normal((11, DIM), np.float16),
        weight=normal((K, DIM), np.float16),
        states=normal((5, K - 1, DIM), np.float16),
        starts=numbers(0, 5, 11),
    )
    found = newer.call(
        "ops.mamba.causal_conv_calls", "convolve", {**a, **changed}, [0, -1, 0, -1, 0, 0, 0], False
    )
    assert isinstance(found, Refused)
    assert found.status == 507015
    assert says in found.text


def test_convolutions_refuse(newer: Chip950) -> None:
    half = np.float16
    a = arguments(
        x=normal((11, DIM), half),
        weight=normal((K, DIM), half),
        states=normal((5, K - 1, DIM), half),
        starts=numbers(0, 5, 11),
    )
    for changed, attributes, says in [
        ({"starts": None}, {}, "queryStartLoc is null"),
        ({"weight": normal((4, DIM), half)}, {}, "weight has shape"),
        ({"states": normal((1, 2, DIM), half)}, {}, "convStatesRef has 1 lines"),
        ({"states": normal((5, 1, DIM), half)}, {}, "the second dimension of convStatesRef is 1"),
        ({"cache": numbers([0, 1], [2, 3])}, {5: 4}, "numComputedTokens is null"),
        ({}, {4: 2}, "residualConnection is 2"),
        ({}, {6: 1}, "numComputedTokens is null; convMode 1"),
        ({"accepted": numbers(1)}, {}, "numAcceptedTokens has shape"),
        ({"x": normal((11, 65), half)}, {}, "multiple of 16"),
        ({"weight": normal((K, DIM), ml_dtypes.bfloat16)}, {}, "weight has dtype"),
    ]:
        values = [0, -1, 0, -1, 0, 0, 0]
        for place, value in attributes.items():
            values[place] = value
        given = ("ops.mamba.causal_conv_calls", "convolve", {**a, **changed}, values, False)
        found = newer.call(*given)
        assert isinstance(found, Refused)
        assert found.status == 561002, found
        assert says in found.text


@pytest.mark.usefixtures("device")
def test_an_older_chip_does_not_have_them() -> None:
    x, out = hollow((2, 1, 384), np.float16), hollow((2, 1, 384), np.float16)
    with pytest.raises(Exception, match="950 series") as caught:
        op("aclnnMaskedCausalConv1d")(x, hollow((3, 384), np.float16), None, out)
    assert getattr(caught.value, "status", 0) == 361001


@pytest.mark.parametrize("stepped", [False, True])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("masked", [False, True])
def test_masked(newer: Chip950, dtype: Any, masked: bool, stepped: bool) -> None:
    length, batch, dim = 5, 2, 384
    x, weight = normal((length, batch, dim), dtype), normal((K, dim), dtype, 2)
    mask = np.random.default_rng(3).random((batch, length)) < 0.6
    name = np.dtype(dtype).name
    (out,) = newer.operator(
        "masked_causal_conv1d",
        *(Given(x, name, stepped), Given(weight, name, stepped)),
        Given(mask, "bool", stepped) if masked else None,
        Made(x.shape, name, stepped),
    )
    padded = np.concatenate([np.zeros((K - 1, batch, dim)), wide(x)])
    exact = sum(padded[k : k + length] * wide(weight[k]) for k in range(K))
    if masked:
        exact = exact * mask.T[..., None]
    assert_close(out, exact, scale=4)


def test_masked_refuses(newer: Chip950) -> None:
    x = Given(normal((2, 1, 384), np.float16), "float16")
    out, name = Made((2, 1, 384), "float16"), "masked_causal_conv1d"
    for weight, mask, status, says in [
        (normal((4, 384), np.float16), None, 561002, "weight has shape"),
        (normal((3, 384), np.float32), None, 161002, "weight has dtype"),
        (normal((3, 384), np.float16), np.ones((2, 1), bool), 561002, "maskOptional has shape"),
    ]:
        hidden = None if mask is None else Given(mask, "bool")
        found = newer.operator(name, x, Given(weight, weight.dtype.name), hidden, out)
        assert isinstance(found, Refused)
        assert found.status == status, found
        assert says in found.text
    narrow = Given(normal((2, 1, 320), np.float16), "float16")
    weight = Given(normal((3, 320), np.float16), "float16")
    found = newer.operator(name, narrow, weight, None, Made((2, 1, 320), "float16"))
    assert "the last dimension of x is 320" in found.text


def test_a_convolution_over_its_input_keeps_nothing_back(newer: Chip950) -> None:
    a = arguments(
        x=normal((300, DIM), np.float16),
        weight=normal((K, DIM), np.float16, 2),
        states=normal((1, K - 1, DIM), np.float16, 3),
        starts=numbers(0, 300),
    )
    attributes = [0, -1, 0, -1, 1, 0, 0]
    apart, over = (
        newer.call("ops.mamba.causal_conv_calls", "convolve", a, attributes, in_place)
        for in_place in (False, True)
    )
    assert_same(over[0], apart[0])
    assert_same(over[1], apart[1])
