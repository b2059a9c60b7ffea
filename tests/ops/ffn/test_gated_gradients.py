# SPDX-License-Identifier: Apache-2.0
"""Gradients of gated units, against the slopes of the units in float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, hollow, place, refusal, wide

import aclnn_py as ap

from ..elementwise.elementwise_table import gelu, gelu_tanh
from ..problems import Case, In, Out, Problem, fault, message, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Unit = Callable[[Array, Array], Array]  # of the gate and of what it lets through
STEP = 1e-6


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def silu(x: Array) -> Array:
    return x * sigmoid(x)


def clipped(gate: Array, linear: Array) -> Array:
    gate, linear = np.minimum(gate, 2.0), np.clip(linear, -2.0, 2.0)
    return gate * sigmoid(1.5 * gate) * (linear + 0.5)


def situ(factors: tuple[float, float]) -> Unit:
    beta, linear_beta = factors

    def unit(gate: Array, up: Array) -> Array:
        if linear_beta > 0:
            up = linear_beta * np.tanh(up / linear_beta)
        return beta * np.tanh(gate / beta) * sigmoid(gate) * up

    return unit


def halves(x: Array, dim: int, alternate: bool) -> tuple[Array, Array]:
    """Views of both halves: side by side, or every other element from the dimension on."""
    if not alternate:
        first, second = np.split(x, 2, axis=dim)
        return first, second
    rows = x.reshape(*x.shape[:dim], -1)
    return rows[..., ::2], rows[..., 1::2]


def central(of: Callable[[Array], Array], at: Array) -> Array:
    return np.asarray((of(at + STEP) - of(at - STEP)) / (2 * STEP))


def complex_step(of: Callable[[Array], Array], at: Array) -> Array:
    """Exact to the last digit, for formulas that take complex numbers."""
    return np.asarray(of(at + 1e-30j).imag / 1e-30)


def slopes(
    unit: Unit,
    dy: Array,
    x: Array,
    dim: int,
    left: bool,
    alternate: bool = False,
    derivative: Any = central,
) -> Array:
    """The derivative of ``sum(dy * unit(x))``; units are elementwise, so each half moves alone."""
    dim %= x.ndim
    first, second = halves(x, dim, alternate)
    gate, linear = (first, second) if left else (second, first)
    g = dy.reshape(gate.shape)
    of_gate = g * derivative(lambda a: unit(a, linear), gate)
    of_linear = g * derivative(lambda b: unit(gate, b), linear)
    out = np.empty(x.shape)
    to = halves(out, dim, alternate)
    to[0][...], to[1][...] = (of_gate, of_linear) if left else (of_linear, of_gate)
    return out


def operands(rng: Rng, dtype: Any, dim: int) -> tuple[Array, Array]:
    x = (2 * rng.normal(size=(4, 6, 10))).astype(dtype)
    shape = list(x.shape)
    shape[dim] //= 2
    return rng.normal(size=shape).astype(dtype), x


def plain(name: str, unit: Unit, dim: int, left: bool, *attributes: Any) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        dy, x = operands(rng, dtype, dim)
        oracle = slopes(unit, wide(dy), wide(x), dim, left, derivative=complex_step)
        return [In(dy), In(x), dim, *attributes, Out(oracle, dtype, 16)]

    return Case(name, build, f"{dim}-{attributes}", decides=1)


def geglu(name: str, form: int, dim: int, left: bool, *attributes: Any) -> Case:
    activation = gelu_tanh if form else gelu

    def build(rng: Rng, dtype: Any) -> Problem:
        dy, x = operands(rng, dtype, dim)
        parts = np.split(wide(x), 2, axis=dim)
        activated = activation(parts[0 if left else 1]).astype(dtype)
        oracle = slopes(lambda a, b: activation(a) * b, wide(dy), wide(x), dim, left)
        kept = np.split(oracle, 2, axis=dim)  # the other half has the activation as it was rounded
        kept[1 if left else 0][...] = wide(dy) * wide(activated)
        arguments = [In(dy), In(x), In(activated), dim, form, *attributes]
        return [*arguments, Out(np.concatenate(kept, dim), dtype, 16)]

    return Case(name, build, f"{form}-{dim}-{attributes}", decides=1)


TestGradients = suite(
    [
        plain("SwiGluGrad", lambda a, b: silu(a) * b, -1, True),
        plain("SwiGluGrad", lambda a, b: silu(a) * b, 0, True),
        plain("GluBackward", lambda a, b: sigmoid(a) * b, -1, False),
        plain("GluBackward", lambda a, b: sigmoid(a) * b, 1, False),
        plain("SituGluGrad", situ((4.0, 25.0)), -1, True, 4.0, 25.0, True),
        plain("SituGluGrad", situ((1.0, 0.0)), 1, False, 1.0, 0.0, False),
        geglu("GeGluBackward", 1, -1, False),
        geglu("GeGluBackward", 0, 1, False),
        geglu("GeGluV3Backward", 1, 0, True, True),
        geglu("GeGluV3Backward", 0, -1, False, False),
    ]
)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("dim", [-1, 1])
@pytest.mark.parametrize("interleaved", [True, False])
def test_clipped_swiglu(dtype: Any, dim: int, interleaved: bool) -> None:
    rng = np.random.default_rng(3)
    dy, x = operands(rng, dtype, dim)
    oracle = slopes(clipped, wide(dy), wide(x), dim, True, interleaved)
    assert 0 < np.mean(oracle == 0) < 0.5
    out = hollow(x.shape, dtype, "stepped")
    call = (None, dim, 1.5, 2.0, 0.5, interleaved, out)
    ap.ops.clipped_swiglu_grad(place(dy), place(x, "transposed"), *call)
    assert_close(out.numpy(), oracle, scale=16)


def test_on_a_limit_the_clipped_unit_still_has_a_slope() -> None:
    x, out = np.array([[2, 3, 2, -2]], np.float32), hollow((1, 4), np.float32)
    one = place(np.ones((1, 2), np.float32))
    ap.ops.clipped_swiglu_grad(one, place(x), None, -1, 1.0, 2.0, 0.0, False, out)
    s = sigmoid(np.float64(2.0))
    high = s * (1 + 2 * (1 - s))
    assert_close(out.numpy(), [[2 * high, 0, 2 * s, 2 * s]], scale=4)


@pytest.mark.parametrize(("groups", "rows"), [([1, 0, 2], 3), ([0], 0), ([9], 5)])
def test_rows_beyond_the_groups_get_nothing(groups: list[int], rows: int) -> None:
    rng = np.random.default_rng(4)
    dy = rng.normal(size=(5, 1300)).astype(np.float32)
    x = rng.normal(size=(5, 2600)).astype(np.float32)
    out = hollow(x.shape, np.float32)
    call = (place(np.array(groups)), 1, 1.5, 2.0, 0.5, True, out)
    ap.ops.clipped_swiglu_grad(place(dy), place(x), *call)
    oracle = slopes(clipped, wide(dy), wide(x), 1, True, True)
    oracle[rows:] = 0
    assert_close(out.numpy(), oracle, scale=16)


def test_the_gradient_may_lie_on_the_argument() -> None:
    rng = np.random.default_rng(5)
    dy, x = operands(rng, np.float32, 0)
    apart = hollow(x.shape, np.float32)
    ap.ops.swi_glu_grad(place(dy), place(x), 0, apart)
    memory = place(x)
    ap.ops.swi_glu_grad(place(dy), memory, 0, memory)
    assert_same(memory.numpy(), apart.numpy())
    ap.ops.swi_glu_grad(memory[:2], memory, 0, again := hollow(x.shape, np.float32))
    ap.ops.swi_glu_grad(memory[:2], memory, 0, memory)
    assert_same(memory.numpy(), again.numpy())


def test_empty_tensors() -> None:
    for shape in [(0, 8), (3, 0)]:
        x, dy = ap.empty(shape, np.float32), ap.empty((shape[0], shape[1] // 2), np.float32)
        ap.ops.swi_glu_grad(dy, x, -1, x)
        ap.ops.glu_backward(dy, x, -1, x)
        ap.ops.ge_glu_backward(dy, x, dy, -1, 1, x)
        assert x.numpy().size == 0


def test_refusals() -> None:
    x, dy, out = (hollow(s, np.float32) for s in [(3, 8), (3, 4), (3, 8)])
    half = hollow((3, 8), np.float16)
    for name in ("aclnnSwiGluGrad", "aclnnGluBackward"):
        assert refusal(name, dy, x, 2, out) == refusal(name, dy, x, 0, out) == 161002
        assert refusal(name, dy, x, -1, half) == refusal(name, dy, half, -1, out) == 161002
        odd = hollow((3, 7), np.float32)
        assert "it must be even" in message(name, 161002, [dy, odd, -1, out])
    geglu = "aclnnGeGluV3Backward"
    assert refusal(geglu, dy, x, dy, -1, 2, True, out) == 161002
    assert refusal(geglu, dy, x, x, -1, 1, True, out) == 161002
    assert refusal(geglu, dy, x, hollow((3, 4), np.float16), -1, 1, True, out) == 161002
    clip, rest = "aclnnClippedSwigluGrad", (-1, 1.0, 1.0, 1.0, True, out)
    assert refusal(clip, None, x, None, *rest) == refusal(clip, dy, None, None, *rest) == 161001
    assert refusal(clip, dy, half, None, *rest) == 161002
    assert refusal(clip, dy, x, place(np.ones(1, np.int32)), *rest) == 161002
    assert refusal(clip, x, x, None, *rest) == 561002
    assert refusal(clip, dy, x, None, 5, *rest[1:]) == 561002
    assert "limit is 0" in message(clip, 561002, [dy, x, None, -1, 1.0, 0.0, 1.0, True, out])
    assert refusal(clip, dy, x, place(np.ones((1, 1), np.int64)), *rest) == 561002
    wrong = place(np.array([2, -1]))
    assert "groupIndexOptional[1] is -1" in fault(clip, dy, x, wrong, *rest)
    for name in ("SwigluGroupGrad", "SwigluGroupQuantGrad"):
        call = (dy, x, None, None, None, 1.0, out, None)
        assert refusal(f"aclnn{name}", *call) == 561003


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def given(x: Array) -> Given:
    return Given(x, x.dtype.name)


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
@pytest.mark.parametrize("quantised", [False, True])
@pytest.mark.parametrize("limit", [None, 1.5])
@pytest.mark.parametrize("weighted", [True, False])
def test_groups(newer: Chip950, quantised: bool, limit: float | None, weighted: bool) -> None:
    rng = np.random.default_rng(6)
    dy = rng.normal(size=(2, 3, 8)).astype(np.float16)
    x = (2 * rng.normal(size=(2, 3, 16))).astype(np.float16)
    weight = rng.random((2, 3, 1)).astype(np.float32)
    origin = rng.normal(size=dy.shape).astype(np.float16)

    def unit(gate: Array, linear: Array) -> Array:
        if limit is not None:
            gate, linear = np.minimum(gate, limit), np.clip(linear, -limit, limit)
        return silu(gate) * linear

    factor = wide(weight) if weighted else 1.0
    oracle = slopes(unit, wide(dy) * factor, wide(x), -1, True).reshape(6, 16)
    oracle[4:] = 0
    sums = (wide(dy) * wide(origin)).sum(-1, keepdims=True)
    if quantised:
        sums[1, 1:] = 0
    name = "swiglu_group_quant_grad" if quantised else "swiglu_group_grad"
    off = -1.0 if quantised else 0.0
    found = newer.operator(
        *(name, given(dy), given(x), given(weight) if weighted else None),
        *(given(origin) if weighted else None, given(np.array([1, 3]))),
        *(off if limit is None else limit, Made((2, 3, 16), "float16")),
        Made((2, 3, 1), "float32") if weighted else None,
    )
    assert not isinstance(found, Refused), found
    assert_close(found[0].reshape(6, 16), oracle, scale=16)
    if weighted:
        assert_close(found[1], sums, scale=4)


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
def test_what_groups_refuse(newer: Chip950) -> None:
    dy, x = given(np.ones((3, 4), np.float32)), given(np.ones((3, 8), np.float32))
    weight, out = given(np.ones((3, 1), np.float32)), Made((3, 8), "float32")
    sums = Made((3, 1), "float32")
    calls = [
        ((dy, x, None, None, None, -2.0, out, None), True),
        ((dy, x, None, None, given(np.ones(0, np.int64)), 1.0, out, None), True),
        ((dy, x, weight, None, None, 1.0, out, sums), True),
        ((dy, x, given(np.ones(2, np.float32)), dy, None, 1.0, out, Made((2,), "float32")), True),
        ((x, x, None, None, None, 1.0, out, None), True),
        ((dy, x, given(np.ones((3, 1), np.float16)), dy, None, 1.0, out, sums), False),
    ]
    for arguments, shapes in calls:
        for name, code in (("", 161002), ("quant_", 561002 if shapes else 161002)):
            found = newer.operator(f"swiglu_group_{name}grad", *arguments)
            assert isinstance(found, Refused), arguments
            assert found.status == code, (found, arguments)
