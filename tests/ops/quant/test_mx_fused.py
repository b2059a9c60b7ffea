# SPDX-License-Identifier: Apache-2.0
"""Gated units and norms whose result is quantised in blocks, on a chip of the 950 series.

The unit is computed in float64; a code may be the neighbour of the expected one where the exact
value lies beside the middle of two numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.operators import hollow, place

import aclnn_py as ap

from ..low_bits import FLOAT8, NUMBER, SCALE, codes_of, mx, values
from ..mx_calls import BFLOAT16, FORMATS, Array, given, scale_shape

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="chooses the chip of the emulator"),
]


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def random(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> Array:
    return (np.random.default_rng(seed).normal(size=shape) * 3).astype(dtype)


def assert_quantised(found: Any, exact: Array, kind: str, axis: int = -1, **ways: Any) -> None:
    """Scales are right, and so are the codes but for neighbours at the middle of two numbers."""
    y, scales = (codes_of(array) for array in found)
    codes, wanted = mx(exact, kind, axis, **ways)
    np.testing.assert_array_equal(scales, wanted)
    table = values(kind)
    # Magnitudes of these formats are in the order of their codes.
    distance = np.abs(y.astype(int) - codes.astype(int))
    assert distance.max(initial=0) <= 1
    assert (distance > 0).mean() < 0.01
    assert np.isfinite(table[y]).all()


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def swiglu(gate: Array, linear: Array, mode: int = 0) -> Array:
    """The unit in its four modes, with limit 2, alpha 1.5 and bias 0.5."""
    if mode == 0:
        return gate * sigmoid(gate) * linear
    if mode == 3:
        return np.minimum(gate * sigmoid(gate), 2.0) * np.clip(linear, -2.0, 2.0)
    gate = np.minimum(gate, 2.0)
    return gate * sigmoid(1.5 * gate) * (np.clip(linear, -2.0, 2.0) + 0.5)


def halves(x: Array, axis: int, left: bool) -> tuple[Array, Array]:
    first, second = np.split(x.astype(np.float64), 2, axis=axis)
    return (first, second) if left else (second, first)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=str)
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_gated_units(newer: Chip950, mode: int, left: bool, dtype: Any, kind: str) -> None:
    x = random((3, 5, 140), dtype)
    if mode == 1:
        gate, linear = x[..., ::2].astype(np.float64), x[..., 1::2].astype(np.float64)
    else:
        gate, linear = halves(x, -1, left)
    algorithm = int(kind in FLOAT8 and left)
    found = newer.operator(
        "swiglu_mx_quant",
        *(given(x), None, -1, left, mode, 2.0, 1.5, 0.5, 0, -1, NUMBER[kind], None, algorithm, 0.0),
        *(Made((3, 5, 70), kind), Made((3, 5, 2, 2), SCALE)),
    )
    assert not isinstance(found, Refused), found
    assert_quantised(found, swiglu(gate, linear, mode), kind, algorithm=algorithm)


@pytest.mark.parametrize(("halved", "axis"), [(-2, -1), (-2, -2), (-1, -2)])
def test_gated_units_along_other_dimensions(newer: Chip950, halved: int, axis: int) -> None:
    x, kind = random((2, 80, 72), np.float16), "float8_e4m3fn"
    exact = swiglu(*halves(x, halved, True))
    found = newer.operator(
        "swiglu_mx_quant",
        *(given(x, True), None, halved, True, 0, 7.0, 1.702, 1.0, 0, axis, 36, "rint", 0, 0.0),
        *(Made(exact.shape, kind), Made(scale_shape(exact.shape, axis), SCALE)),
    )
    assert not isinstance(found, Refused), found
    assert_quantised(found, exact, kind, axis)


@pytest.mark.parametrize(("mode", "list_"), [(0, [2, 0, 3]), (1, [2, 2, 5])])
def test_rows_behind_the_last_group_are_left_alone(
    newer: Chip950, mode: int, list_: list[int]
) -> None:
    x, kind = random((7, 128), np.float16), "float8_e5m2"
    found = newer.operator(
        "swiglu_mx_quant",
        *(given(x), Given(np.array(list_), "int64"), -1, True, 0, 7.0, 1.702, 1.0, mode),
        *(-1, 35, None, 0, 0.0, Made((7, 64), kind), Made((7, 1, 2), SCALE)),
    )
    assert not isinstance(found, Refused), found
    exact = swiglu(*halves(x, -1, True))
    assert_quantised([array[:5] for array in found], exact[:5], kind)
    assert (codes_of(found[0])[5:] == 77).all()
    assert (codes_of(found[1])[5:] == 77).all()


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("ends", [None, [70, 70, 150]], ids=str)
def test_gated_units_along_both_dimensions(
    newer: Chip950, ends: list[int] | None, kind: str
) -> None:
    x = random((150, 72), BFLOAT16)
    exact = swiglu(*halves(x, -1, False))
    pairs = 3 if ends is None else 2 + len(ends)
    found = newer.operator(
        "swiglu_mx_quant_with_dual_axis",
        *(given(x), None if ends is None else Given(np.array(ends), "int64"), False, None, 0),
        *(NUMBER[kind], 0.0, Made(exact.shape, kind), Made((150, 1, 2), SCALE)),
        *(Made(exact.shape, kind), Made((pairs, 36, 2), SCALE)),
    )
    assert not isinstance(found, Refused), found
    assert_quantised(found[:2], exact, kind)
    if ends is None:
        assert_quantised(found[2:], exact, kind, 0)
        return
    y, scales = found[2], codes_of(found[3])
    assert_quantised([y[:70], scales[:2]], exact[:70], kind, 0)
    # The second group is empty; the third begins at row 70, the second pair, and is the third one.
    assert_quantised([y[70:], scales[3:5]], exact[70:], kind, 0)
    assert not scales[2].any()


@pytest.mark.parametrize("kind", FLOAT8)
@pytest.mark.parametrize(("beta", "linear_beta"), [(1.0, 0.0), (2.5, 1.5), (-1.0, -3.0)])
@pytest.mark.parametrize("left", [True, False])
def test_situ(newer: Chip950, left: bool, beta: float, linear_beta: float, kind: str) -> None:
    x = random((4, 3, 200), BFLOAT16)
    gate, up = halves(x, -1, left)
    if linear_beta > 0:
        up = linear_beta * np.tanh(up / linear_beta)
    exact = beta * np.tanh(gate / beta) * sigmoid(gate) * up
    found = newer.operator(
        "situ_mx_quant",
        *(given(x), beta, linear_beta, left, -1, NUMBER[kind], None),
        *(Made(exact.shape, kind), Made(scale_shape(exact.shape, -1), SCALE)),
    )
    assert not isinstance(found, Refused), found
    assert_quantised(found, exact, kind)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=str)
def test_norms(newer: Chip950, dtype: Any, wide: bool, kind: str) -> None:
    shape = (3, 2, 98)
    x, other = random(shape, dtype), random(shape, dtype, 1)
    weight = np.dtype(np.float32) if wide else np.dtype(dtype)
    gamma, beta = random((98,), weight, 2), random((98,), weight, 3)
    made = Made(shape, kind), Made((3, 2, 2, 2), SCALE), Made((3, 2, 1), "float32")

    def normed(sums: Array, shift: Array | float) -> tuple[Array, Array]:
        rstd = 1 / np.sqrt((sums**2).mean(axis=-1, keepdims=True) + 1e-3)
        return sums * rstd * gamma.astype(np.float64) + shift, rstd

    algorithm = int(kind in FLOAT8)
    attributes = (1e-3, algorithm, "rint", NUMBER[kind], True)
    found = newer.operator(
        "rms_norm_dynamic_mx_quant", given(x), given(gamma), None, *attributes, *made
    )
    assert not isinstance(found, Refused), found
    exact, rstd = normed(x.astype(np.float64), 0.0)
    assert_quantised(found[:2], exact, kind, algorithm=algorithm)
    np.testing.assert_allclose(found[2], rstd, rtol=1e-6)

    found = newer.operator(
        "add_rms_norm_dynamic_mx_quant",
        *(given(x, True), given(other, True), given(gamma), given(beta), *attributes),
        *(made[0], Made(shape, x.dtype.name), *made[1:]),
    )
    assert not isinstance(found, Refused), found
    total = x.astype(np.float32) + other.astype(np.float32)
    exact, rstd = normed(total.astype(np.float64), beta.astype(np.float64))
    assert_quantised([found[0], found[2]], exact, kind, algorithm=algorithm)
    np.testing.assert_array_equal(found[1], total.astype(dtype))
    np.testing.assert_allclose(found[3], rstd, rtol=1e-6)


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_a_norm_of_values_that_are_not_finite(newer: Chip950, bad: float) -> None:
    x = np.full((2, 40), bad, np.float16)
    x[1] = 1
    y, scales, rstd = newer.operator(
        "rms_norm_dynamic_mx_quant",
        *(given(x), given(np.ones(40, np.float16)), None, 0.0, 0, "rint", 36, True),
        *(Made(x.shape, "float8_e4m3fn"), Made((2, 1, 2), SCALE), Made((2, 1), "float32")),
    )
    assert not codes_of(y)[0].any()
    assert codes_of(scales)[0].tolist() == [[255, 255]]
    np.testing.assert_array_equal(rstd[:, 0], [0.0 if bad == np.inf else np.nan, 1.0])


def test_rstd_is_not_asked_for(newer: Chip950) -> None:
    x = np.ones((2, 40), np.float16)
    arguments = given(x), given(np.ones(40, np.float16)), None, 0.0, 0, "rint", 36, False
    made = Made(x.shape, "float8_e4m3fn"), Made((2, 1, 2), SCALE)
    y, scales = newer.operator("rms_norm_dynamic_mx_quant", *arguments, *made, None)
    assert (y.astype(np.float32) == 256).all()
    assert (codes_of(scales) == 119).all()


Change = Callable[[list[Any]], None]


def change(position: int, value: Any) -> Change:
    def apply(arguments: list[Any]) -> None:
        arguments[position] = value

    return apply


NORM = [
    (change(5, "floor"), 561103, "roundMode"),
    (change(4, 2), 561103, "scaleAlg is 2"),
    (change(6, 35), 561103, "dstType is 35"),
    (change(1, Given(np.ones(39, np.float16), "float16")), 561103, "gamma has shape"),
    (change(1, Given(np.ones(40, BFLOAT16), "bfloat16")), 561103, "gamma has dtype"),
    (change(9, Made((2, 2, 2), SCALE)), 561103, "mxscaleOut has shape"),
    (change(10, None), 161001, "rstdOut"),
    (change(0, None), 161001, "x is null"),
]


@pytest.mark.parametrize("case", NORM, ids=[case[2] for case in NORM])
def test_wrong_calls_of_a_norm(newer: Chip950, case: tuple[Change, int, str]) -> None:
    arguments: list[Any] = [
        *(
            Given(np.ones((2, 40), np.float16), "float16"),
            Given(np.ones(40, np.float16), "float16"),
        ),
        *(None, 0.0, 0, "rint", 36, True, Made((2, 40), "float8_e4m3fn"), Made((2, 1, 2), SCALE)),
        Made((2, 1), "float32"),
    ]
    case[0](arguments)
    found = newer.operator("rms_norm_dynamic_mx_quant", *arguments)
    assert isinstance(found, Refused)
    assert found.status == case[1]
    assert case[2].split()[0] in found.text


UNIT = [
    (change(2, 0), "activateDim is 0"),
    (change(4, 4), "swigluMode is 4"),
    (change(5, 0.0), "clampLimit is 0"),
    (change(8, 2), "groupMode is 2"),
    (change(9, 0), "axis is 0"),
    (change(12, 2), "scaleAlg is 2"),
    (change(13, -1.0), "maxDtypeValue is -1"),
    (change(14, Made((2, 3, 41), "float8_e4m3fn")), "yOut has shape"),
    (change(0, Given(np.ones((2, 3, 81), np.float16), "float16")), "must be even"),
    (change(1, Given(np.ones(0, np.int64), "int64")), "groupIndexOptional has 0 groups"),
]


@pytest.mark.parametrize("case", UNIT, ids=[case[1] for case in UNIT])
def test_wrong_calls_of_a_unit(newer: Chip950, case: tuple[Change, str]) -> None:
    arguments: list[Any] = [
        *(Given(np.ones((2, 3, 80), np.float16), "float16"), None, -1, True, 0, 7.0, 1.702, 1.0, 0),
        *(-1, 36, "rint", 0, 0.0, Made((2, 3, 40), "float8_e4m3fn"), Made((2, 3, 1, 2), SCALE)),
    ]
    case[0](arguments)
    found = newer.operator("swiglu_mx_quant", *arguments)
    assert isinstance(found, Refused)
    assert found.status == 161002
    assert case[1] in found.text


def test_groups_need_the_last_dimension(newer: Chip950) -> None:
    found = newer.operator(
        "swiglu_mx_quant",
        *(Given(np.ones((4, 80), np.float16), "float16"), Given(np.array([4]), "int64")),
        *(-1, True, 0, 7.0, 1.702, 1.0, 0, 0, 36, "rint", 0, 0.0),
        *(Made((4, 40), "float8_e4m3fn"), Made((1, 40, 2), SCALE)),
    )
    assert isinstance(found, Refused)
    assert "groupIndexOptional is given" in found.text


def test_an_older_chip_does_not_have_the_operators() -> None:
    x, y = np.ones((2, 40), np.float16), hollow((2, 40), ml_dtypes.float8_e4m3fn)
    scale = place(np.ones((2, 1, 2), ml_dtypes.float8_e8m0fnu))
    gamma, rstd = place(np.ones(40, np.float16)), hollow((2, 1), np.float32)
    with pytest.raises(ap.errors.AclnnError, match="only chips of the 950 series") as caught:
        ap.ops.rms_norm_dynamic_mx_quant(
            place(x), gamma, None, 0.0, 0, "rint", 36, True, y, scale, rstd
        )
    assert caught.value.status == 561103
