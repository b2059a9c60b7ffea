# SPDX-License-Identifier: Apache-2.0
"""Quantisation that only chips of the 950 series have: modes, largest values, norms, FLOAT4."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.operators import hollow, place, refusal

from ..low_bits import FLOAT8, LARGEST, codes_of, encoded, mx
from ..mx_calls import BFLOAT16, given, random, scale_shape
from ..quantised import assert_quantised

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="chooses the chip of the emulator"),
]

Array = np.ndarray[Any, Any]
NUMBER = {"int8": 2, "int4": 29, "hifloat8": 34, "float8_e5m2": 35, "float8_e4m3fn": 36}
RANGE = {"int8": (-128.0, 127.0), "int4": (-8.0, 7.0)}
CODES = ["hifloat8", *FLOAT8]
EPS = 1e-5


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def taken(found: Any) -> list[Array]:
    assert not isinstance(found, Refused), found
    return list(found)


def wide(x: Array) -> Array:
    return x.astype(np.float64)


def stored(x: Array, kind: str) -> Array:
    """The codes of values. HiFloat8 has no negative zero; its code is that of NaN."""
    if kind != "hifloat8":
        return encoded(x, kind)
    codes = encoded(x, kind, "round")
    return np.where(codes == 128, 0, codes)


def assert_numbers(made: Array, exact: Array, kind: str) -> None:
    """Integers nearest to the exact values; codes of floats of 8 bits nearly always."""
    if kind in RANGE:
        assert_quantised(made.astype(np.int8), exact, kind, 2e-3)
        return
    assert (codes_of(made) != stored(exact, kind)).mean() < 0.02


AXES = {"pertoken": (-1,), "perchannel": (-2,), "pertensor": None}


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("smoothed", [False, True])
@pytest.mark.parametrize("mode", AXES)
@pytest.mark.parametrize("kind", ["int8", "int4", *CODES])
@pytest.mark.parametrize("dtype", [np.dtype(np.float16), BFLOAT16], ids=str)
def test_dynamic_quant_modes(
    newer: Chip950, dtype: Any, kind: str, mode: str, smoothed: bool, symmetric: bool
) -> None:
    rng = np.random.default_rng(1)
    x = (rng.standard_normal((2, 6, 16)) * 3 + 1).astype(dtype)
    smooth = rng.uniform(0.5, 2, 6 if mode == "perchannel" else 16).astype(dtype)
    value = wide(x)
    if smoothed:
        value = value * wide(smooth)[:, None] if mode == "perchannel" else value * wide(smooth)
    axes = AXES[mode]
    shape = {"pertoken": (2, 6), "perchannel": (2, 16), "pertensor": (1,)}[mode]
    found = taken(
        newer.operator(
            "dynamic_quant_v3",
            *(given(x), given(smooth) if smoothed else None, None, NUMBER[kind], symmetric, mode),
            *(Made(x.shape, kind), Made(shape, "float32")),
            None if symmetric else Made(shape, "float32"),
        )
    )
    low, high = RANGE.get(kind, (-LARGEST.get(kind, 0.0), LARGEST.get(kind, 0.0)))
    most, least = value.max(axis=axes, keepdims=True), value.min(axis=axes, keepdims=True)
    if symmetric:
        scale, offset = np.abs(value).max(axis=axes, keepdims=True) / high, np.zeros_like(most)
    else:
        scale = (most - least) / (high - low)
        offset = high - most / scale
    np.testing.assert_allclose(found[1].ravel(), scale.ravel(), rtol=1e-5)
    if not symmetric:
        np.testing.assert_allclose(found[2].ravel(), offset.ravel(), rtol=1e-4, atol=1e-3)
    # The operator's own scale, so that only one rounding is compared.
    own = found[1].reshape(scale.shape).astype(np.float64)
    shift = 0 if symmetric else found[2].reshape(scale.shape).astype(np.float64)
    assert_numbers(found[0], value / own + shift, kind)


def test_the_range_of_hifloat8_may_be_chosen(newer: Chip950) -> None:
    x = random((4, 32))
    for limit, highest in [(0.0, 32768.0), (15.0, 15.0)]:
        found = taken(
            newer.operator(
                "dynamic_quant_v4",
                *(given(x), None, None, 34, True, "pertoken", limit),
                *(Made(x.shape, "hifloat8"), Made((4,), "float32"), None),
            )
        )
        np.testing.assert_allclose(found[1], np.abs(wide(x)).max(-1) / highest, rtol=1e-6)
        own = found[1].astype(np.float64)[:, None]
        assert_numbers(found[0], wide(x) / own, "hifloat8")


def test_dynamic_quant_of_groups_is_that_of_the_second_version(newer: Chip950) -> None:
    x, smooth = random((6, 32)), random((2, 32), seed=1)
    groups = Given(np.array([2, 5], np.int32), "int32")
    results = [Made(x.shape, "int8"), Made((6,), "float32")]
    second = taken(
        newer.operator("dynamic_quant_v2", given(x), given(smooth), groups, 2, *results, None)
    )
    for version, extra in [("v3", ()), ("v4", (0.0,))]:
        found = taken(
            newer.operator(
                f"dynamic_quant_{version}",
                *(given(x), given(smooth), groups, 2, True, None, *extra, *results, None),
            )
        )
        for got, wanted in zip(found, second, strict=True):
            np.testing.assert_array_equal(got, wanted)
    assert (second[1][:5] != 77).all()
    assert (second[1][5:] == 77).all()


def test_groups_are_integers_of_32_bits(newer: Chip950) -> None:
    """The dtypes that the document gives by mistake, those of x, would be read beyond their end."""
    x, smooth = random((6, 32)), random((2, 32), seed=1)
    groups = Given(np.array([2, 5], np.float16), "float16")
    results = [Made(x.shape, "int8"), Made((6,), "float32"), None]
    found = newer.operator("dynamic_quant_v2", given(x), given(smooth), groups, 2, *results)
    assert isinstance(found, Refused)
    assert "groupIndexOptional has dtype FLOAT16; allowed: INT32" in str(found)


def test_dynamic_quant_of_equal_values(newer: Chip950) -> None:
    x = np.full((2, 3, 8), 2.5, np.float16)
    x[0] = 0
    for mode, shape in [("pertoken", (2, 3)), ("perchannel", (2, 8))]:
        for symmetric in (True, False):
            found = taken(
                newer.operator(
                    "dynamic_quant_v3",
                    *(given(x), None, None, 2, symmetric, mode, Made(x.shape, "int8")),
                    *(Made(shape, "float32"), None if symmetric else Made(shape, "float32")),
                )
            )
            assert (found[0][0] == 0).all()
            assert (found[0][1] == (127 if symmetric else 0)).all()
            np.testing.assert_allclose(found[1][0], 0)


@pytest.mark.parametrize("kind", CODES)
@pytest.mark.parametrize("dtype", [np.dtype(np.float32), np.dtype(np.float16), BFLOAT16], ids=str)
def test_quant_max(newer: Chip950, dtype: Any, kind: str) -> None:
    x, scale = random((3, 700), dtype), np.array([3.5], np.float32)
    mode = "round" if kind == "hifloat8" else "rint"
    found = taken(
        newer.operator(
            "quant_max",
            *(
                given(x),
                given(scale),
                mode,
                NUMBER[kind],
                Made(x.shape, kind),
                Made((1,), x.dtype.name),
            ),
        )
    )
    product = x.astype(np.float32) * scale
    np.testing.assert_array_equal(codes_of(found[0]), stored(product, kind))
    np.testing.assert_array_equal(found[1], np.abs(x).max().reshape(1))
    groups, scales = np.array([1, 3], np.int64), np.array([3.5, 0.01], np.float32)
    found = taken(
        newer.operator(
            "grouped_quant_max",
            *(given(x), given(scales), Given(groups, "int64"), mode, NUMBER[kind]),
            *(Made(x.shape, kind), Made((2,), x.dtype.name)),
        )
    )
    product = x.astype(np.float32) * scales[[0, 1, 1], None]
    np.testing.assert_array_equal(codes_of(found[0]), stored(product, kind))
    np.testing.assert_array_equal(found[1], [np.abs(x[:1]).max(), np.abs(x[1:]).max()])


def test_quant_max_of_nothing_and_of_wrong_groups(newer: Chip950) -> None:
    none, scale = np.zeros((0, 3), np.float32), np.ones(1, np.float32)
    found = taken(
        newer.operator(
            "quant_max",
            *(given(none), given(scale), "rint", 36, Made((0, 3), "float8_e4m3fn")),
            Made((1,), "float32"),
        )
    )
    assert found[1].tolist() == [0]
    x, scales = random((4, 3), np.float32), np.ones(2, np.float32)
    for groups in ([3, 2], [1, 5], [-1, 4]):
        found = newer.operator(
            "grouped_quant_max",
            *(given(x), given(scales), Given(np.array(groups), "int64"), "rint", 36),
            *(Made((4, 3), "float8_e4m3fn"), Made((2,), "float32")),
        )
        assert isinstance(found, Refused)
        assert found.status == 507015
        assert "groupList" in found.text


@pytest.mark.parametrize("divide", [True, False])
@pytest.mark.parametrize("scales", [1, 32])
@pytest.mark.parametrize(
    ("dtype", "scale_kind", "offset_kind"),
    [
        ("float16", "float16", "int8"), ("float16", "float32", "int32"),
        ("float16", "float32", "float32"), ("float32", "float32", "float32"),
        ("float16", "float16", None),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["int8", "int4", *CODES])
def test_rms_norm_quant_v3(
    newer: Chip950,
    kind: str,
    dtype: str,
    scale_kind: str,
    offset_kind: str | None,
    scales: int,
    divide: bool,
) -> None:
    rng = np.random.default_rng(7)
    x = (rng.standard_normal((2, 3, 32)) * 2).astype(dtype)
    gamma, beta = (rng.standard_normal(32).astype(dtype) for _ in range(2))
    scale = rng.uniform(0.1, 0.9, scales).astype(scale_kind)
    offset = None if offset_kind is None else rng.integers(-3, 4, scales).astype(offset_kind)
    found = taken(
        newer.operator(
            "rms_norm_quant_v3",
            *(given(x), given(gamma), given(scale), None if offset is None else given(offset)),
            *(given(beta) if divide else None, EPS, divide, True),
            *(Made(x.shape, kind), Made((2, 3, 1), "float32")),
        )
    )
    root = 1 / np.sqrt((wide(x) ** 2).mean(-1, keepdims=True) + EPS)
    np.testing.assert_allclose(found[1], root, rtol=1e-5)
    exact = wide(x) * root * wide(gamma) + (wide(beta) if divide else 0)
    exact = exact / wide(scale) if divide else exact * wide(scale)
    assert_numbers(found[0], exact + (0 if offset is None else wide(offset)), kind)


@pytest.mark.parametrize("mode", ["divide", "multiply", "dynamic"])
@pytest.mark.parametrize("results", [1, 2])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_add_layer_norm_quant(
    newer: Chip950, dtype: str, version: int, results: int, mode: str
) -> None:
    if mode == "dynamic" and dtype == "float32":
        dtype = BFLOAT16.name
    kind = BFLOAT16 if dtype == BFLOAT16.name else np.dtype(dtype)
    rng = np.random.default_rng(8)
    x1, x2, bias = ((rng.standard_normal((2, 3, 32)) * 2).astype(kind) for _ in range(3))
    gamma, beta = (rng.standard_normal(32).astype(kind) for _ in range(2))
    scales = [rng.uniform(0.5, 2, 32).astype(kind) for _ in range(results)]
    zeros = [rng.integers(-3, 4, 32).astype(kind) for _ in range(results)]

    def two(parts: list[Array]) -> list[Given | None]:
        return [*(given(part) for part in parts), None, None][:2]

    made = Made((2, 3, 32), dtype)
    found = taken(
        newer.operator(
            "add_layer_norm_quant" + ("_v2" if version == 2 else ""),
            *(given(x1), given(x2), given(gamma), given(beta), given(bias), *two(scales)),
            *([None, None] if mode == "dynamic" else two(zeros)),
            *("dynamic" if mode == "dynamic" else "static", EPS, True, mode == "divide"),
            *(Made((2, 3, 32), "int8"), Made((2, 3, 32), "int8"), made),
            *([made] if version == 2 else []),
            *(Made((2, 3), "float32"), Made((2, 3), "float32")),
        )
    )
    total = wide(x1) + wide(x2) + wide(bias)
    slack = {"float32": 1e-5, "float16": 4e-3, "bfloat16": 2e-2}[dtype]
    np.testing.assert_allclose(wide(found[2]), total, rtol=slack, atol=slack)
    centred = total - total.mean(-1, keepdims=True)
    exact = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPS) * wide(gamma) + wide(beta)
    if version == 2:
        np.testing.assert_allclose(wide(found[3]), exact, rtol=slack, atol=slack)
    for n in range(results):
        if mode == "dynamic":
            smooth = exact * wide(scales[n])
            largest = np.abs(smooth).max(-1) / 127
            np.testing.assert_allclose(found[-2 + n], largest, rtol=1e-4)
            assert_quantised(found[n], smooth / largest[..., None], "int8", 5e-3)
        else:
            by = 1 / wide(scales[n]) if mode == "divide" else wide(scales[n])
            assert_quantised(found[n], exact * by + wide(zeros[n]), "int8", 2e-3)
    if results == 1:
        assert (found[1] == 77).all()


@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize("limit", [0.0, 6.0, 7.0, 9.5])
def test_flat_quant_to_blocks_of_float4(newer: Chip950, limit: float, right: bool) -> None:
    rng = np.random.default_rng(9)
    # Small whole numbers, so that the products are exact.
    x = rng.integers(-8, 9, (3, 4, 24)).astype(np.float16)
    left, other = (rng.integers(-2, 3, (n, n)).astype(np.float16) for n in (4, 24))
    exact = wide(left) @ (wide(x) @ wide(other) if right else wide(x))
    codes, scales = mx(
        exact.reshape(3, 96), "float4_e2m1fn", algorithm=2 if limit else 0, limit=limit
    )
    given_right = given(other) if right else Given(np.zeros((0, 0), np.float16), "float16")
    found = taken(
        newer.operator(
            "flat_quant_v2",
            *(given(x), given(left), given_right, 1.0, limit, Made((3, 96), "float4_e2m1fn")),
            Made(scale_shape((3, 96), 1), "float8_e8m0fnu"),
        )
    )
    np.testing.assert_array_equal(codes_of(found[0]), codes)
    np.testing.assert_array_equal(codes_of(found[1]), scales)


def test_the_newer_chip_refuses(newer: Chip950) -> None:
    x, made, row = given(random((4, 32))), Made((4, 32), "int8"), Made((4,), "float32")

    def status(operator: str, *arguments: Any) -> int:
        found = newer.operator(operator, *arguments)
        assert isinstance(found, Refused), operator
        return found.status

    v3 = "dynamic_quant_v3"
    assert status(v3, x, None, None, 2, True, "perrow", made, row, None) == 161002
    assert status(v3, x, None, None, 3, True, None, made, row, None) == 161002
    assert status(v3, x, None, None, 2, True, None, made, row, row) == 161002
    assert status(v3, x, None, None, 2, False, None, made, row, None) == 161001
    assert status(v3, x, None, None, 2, True, "pertensor", made, row, None) == 161002
    groups = Given(np.array([4], np.int32), "int32")
    smooth = given(random((1, 32)))
    assert status(v3, x, None, groups, 2, True, None, made, row, None) == 161002
    assert status(v3, x, smooth, groups, 2, True, "perchannel", made, row, None) == 161002
    low, most = Made((4, 32), "float8_e5m2"), Made((1,), "float16")
    one = given(np.ones(1, np.float32))
    assert status("quant_max", x, one, "round", 35, low, most) == 161002
    assert status("quant_max", x, one, "rint", 36, low, most) == 161002
    assert status("quant_max", x, one, "rint", 35, low, Made((1,), "float32")) == 161002
    hybrid = Made((4, 32), "hifloat8")
    assert status("quant_max", x, one, "hybrid", 34, hybrid, most) == 161002
    half = given(np.ones(1, np.float16))
    gamma = given(np.ones(32, np.float16))
    root = Made((4, 1), "float32")
    v3 = "rms_norm_quant_v3"
    whole = given(np.ones(1, np.int32))
    assert status(v3, x, gamma, half, whole, None, EPS, True, True, made, root) == 161002
    assert status(v3, x, gamma, half, None, None, EPS, True, True, made, row) == 161002
    assert status(v3, x, gamma, half, None, None, EPS, True, True, made, None) == 161001


def test_older_chips_do_not_have_them() -> None:
    x, y = place(np.ones((4, 32), np.float16)), hollow((4, 32), np.int8)
    row, one = hollow((4,), np.float32), place(np.ones(1, np.float16))
    gamma, scale = place(np.ones(32, np.float16)), place(np.ones(1, np.float32))
    calls: dict[str, list[Any]] = {
        "DynamicQuantV3": [x, None, None, 2, True, None, y, row, None],
        "DynamicQuantV4": [x, None, None, 2, True, None, 0.0, y, row, None],
        "QuantMax": [x, scale, "rint", 35, y, one],
        "GroupedQuantMax": [x, scale, place(np.array([4])), "rint", 35, y, one],
        "RmsNormQuantV3": [x, gamma, one, None, None, EPS, True, False, y, None],
        "AddLayerNormQuant": [
            *(x, x, gamma, gamma, None, gamma, None, None, None, "static", EPS, False, True),
            *(y, y, x, row, row),
        ],
    }
    for operator, arguments in calls.items():
        assert refusal("aclnn" + operator, *arguments) == 161002, operator
