# SPDX-License-Identifier: Apache-2.0
"""Floats of 8 and 4 bits of operators that a 910B has for integers alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused

from .low_bits import SCALE, codes_of, mx, values
from .quant.test_quant_950 import DTYPE, KINDS, by_rows, given, numbers, random, stored

pytestmark = pytest.mark.emulator_only(reason="chooses the chip of the emulator")

Array = np.ndarray[Any, Any]
SINGLE = np.float32


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def assert_codes(found: Array, exact: Array, kind: str, slack: float = 1e-5) -> None:
    """The codes of the values, or of values that differ by a rounding of float32."""
    mine = numbers(found, kind)
    low, high = (
        values(kind)[stored((exact * (1 + s * np.sign(exact))).astype(SINGLE), kind)]
        for s in (-slack, slack)
    )
    assert ((mine >= np.minimum(low, high)) & (mine <= np.maximum(low, high))).all()


@pytest.mark.parametrize("kind", KINDS)
def test_an_adaptive_norm(newer: Chip950, kind: str) -> None:
    x, scale, shift, smooth = (
        random(shape, seed=i) for i, shape in enumerate([(2, 3, 64), (2, 64), (2, 1, 64), (64,)])
    )
    out, scales = newer.operator(
        "ada_layer_norm_quant",
        *(Given(x, "float16", stepped=True), given(scale), given(shift), None, None),
        *(given(smooth), 1e-5, "dynamic", Made(x.shape, kind, True), Made((2, 3), "float32"), None),
    )
    wide = x.astype(float)
    centred = wide - wide.mean(-1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    rows = (normal * (1 + scale[:, None].astype(float)) + shift) * smooth.astype(float)
    _, wanted = by_rows(rows.astype(SINGLE), kind)
    np.testing.assert_allclose(scales, wanted, rtol=1e-5)
    assert_codes(out, rows / scales[..., None], kind)


@pytest.mark.parametrize("divides", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_norm_of_a_sum(newer: Chip950, kind: str, divides: bool) -> None:
    kinds = {"x": SINGLE if divides else np.float16, "scale": np.float16 if divides else SINGLE}
    x1, x2, gamma, beta = (
        random(shape, kinds["x"], i) for i, shape in enumerate([(3, 64), (3, 64), (64,), (64,)])
    )
    scales = [
        np.exp2(np.random.default_rng(i).integers(-2, 3, 64)).astype(kinds["scale"])
        for i in range(2)
    ]
    zeros = random((64,), kinds["scale"], 7)
    name = x1.dtype.name
    found = newer.operator(
        "add_rms_norm_quant_v2",
        *(given(x1), given(x2), given(gamma), given(scales[0]), given(scales[1])),
        *(given(zeros), None, given(beta), -1, 1e-5, divides),
        *(Made(x1.shape, kind), Made(x1.shape, kind), Made(x1.shape, name), Made(x1.shape, name)),
    )
    assert not isinstance(found, Refused), found
    total = x1.astype(float) + x2
    normal = total / np.sqrt((total**2).mean(-1, keepdims=True) + 1e-5) * gamma
    for i, shift in enumerate((zeros.astype(float), 0.0)):
        scale = scales[i].astype(float)
        exact = (normal + beta) / scale if divides else (normal + beta) * scale
        # An offset may leave little of a value.
        mine, wanted = numbers(found[i], kind), exact + shift
        near = {"float8_e4m3fn": 2.0**-4, "float8_e5m2": 2.0**-3, "hifloat8": 2.0**-2}[kind]
        tiny = 2.0**-9 if kind == "float8_e4m3fn" else 2.0**-16
        limit = near * np.abs(wanted) + tiny + 1e-5 * (np.abs(exact) + np.abs(shift))
        assert (np.abs(mine - wanted) <= limit).all()
    np.testing.assert_allclose(found[2].astype(float), total, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_codes_become_values(newer: Chip950, kind: str, root: bool) -> None:
    usable = np.flatnonzero(np.abs(values(kind)) < 256).astype(np.uint8)
    codes = np.random.default_rng(1).choice(usable, (5, 24))
    scale = np.exp2(np.random.default_rng(2).integers(-3, 3, 24)).astype(SINGLE)
    shift = np.random.default_rng(3).integers(-4, 5, 24).astype(SINGLE)
    (out,) = newer.operator(
        "ascend_anti_quant",
        *(Given(codes, kind, stepped=True), given(scale), given(shift), 1, root),
        Made(codes.shape, "float16"),
    )
    exact = (values(kind)[codes] + shift) * scale.astype(float) * (scale if root else 1)
    np.testing.assert_array_equal(out, exact.astype(SINGLE).astype(np.float16))


@pytest.mark.parametrize("kind", KINDS)
def test_a_gated_product(newer: Chip950, kind: str) -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(-500, 500, (2, 3, 20)).astype(np.int32)
    weight, row = rng.uniform(0.001, 0.01, 20).astype(SINGLE), rng.uniform(0.5, 2, (2, 3))
    smooth, mode = rng.uniform(0.5, 2, 10).astype(SINGLE), "round" if kind == "hifloat8" else "rint"
    more = [None, None, True, "dynamic", DTYPE[kind], mode, 2, 0, 7.0, 1.702, 1.0]
    out, scales = newer.operator(
        "dequant_swiglu_quant_v2",
        *(given(x), given(weight), given(row.astype(SINGLE)), None, given(smooth)),
        *(*more, Made((2, 3, 10), kind), Made((2, 3), "float32")),
    )
    wide = x * weight.astype(float) * row.astype(SINGLE).astype(float)[..., None]
    gate, linear = wide[..., :10], wide[..., 10:]
    rows = gate / (1 + np.exp(-gate)) * linear * smooth
    np.testing.assert_allclose(scales, by_rows(rows.astype(SINGLE), kind)[1], rtol=1e-5)
    assert_codes(out, rows / scales[..., None], kind)
    arguments = [given(x), given(weight), None, None, None, *more]
    results = [Made((2, 3, 10), kind), Made((2, 3), "float32")]
    for position, value, says in (
        (10, "floor", "roundModeOptional"),
        (11, 1, "activateDim is 1"),
        (12, 1, "swigluMode is 1"),
    ):
        wrong = [*arguments[:position], value, *arguments[position + 1 :], *results]
        found = newer.operator("dequant_swiglu_quant_v2", *wrong)
        assert isinstance(found, Refused)
        assert says in found.text


@pytest.mark.parametrize("kind", KINDS)
def test_keys_and_values_in_caches(newer: Chip950, kind: str) -> None:
    rng = np.random.default_rng(14)
    kv, gamma = rng.choice([-1.0, 1.0], (2, 1, 3, 12)).astype(np.float16), rng.uniform(0.5, 2, 8)
    index = np.array([[4, 0, 2], [1, -1, 3]], np.int64)
    # A turn by a quarter: pairs (a, b) become -b in front and a behind.
    cos, sin = np.zeros((2, 1, 1, 4), np.float16), np.ones((2, 1, 1, 4), np.float16)
    scales = [np.exp2(rng.integers(-2, 3, n)).astype(SINGLE) for n in (4, 8)]
    found = newer.operator(
        "kv_rms_norm_rope_cache",
        *(given(kv), given(gamma.astype(np.float16)), given(cos), given(sin), given(index)),
        *(Made((2, 1, 5, 4), kind), Made((2, 1, 5, 8), kind)),
        *(given(scales[0]), given(scales[1]), None, None, 0.0, "Norm", False),
        *(Made((2, 1, 3, 4), "float16"), Made((2, 1, 3, 8), "float16")),
    )
    assert not isinstance(found, Refused), found
    key = kv[..., 8:].astype(float)
    turned = np.concatenate([-key[..., 1::2], key[..., ::2]], axis=-1) * scales[0]
    value = kv[..., :8].astype(float) * gamma.astype(np.float16) * scales[1].astype(float)
    for mine, rows in zip(found[:2], (turned, value), strict=True):
        wanted = np.full(mine.shape, 77, np.uint8)
        for b, t in np.ndindex(index.shape):
            if index[b, t] >= 0:
                wanted[b, 0, index[b, t]] = stored(rows[b, 0, t].astype(SINGLE), kind)
        np.testing.assert_array_equal(codes_of(mine), wanted)


def test_matrices_in_blocks_of_float4(newer: Chip950) -> None:
    kind = "float4_e2m1fn"
    x = np.random.default_rng(6).integers(-8, 9, (3, 4, 32)).astype(np.float16)
    left, right = np.eye(4)[::-1].astype(np.float16), np.eye(32)[::-1].astype(np.float16)
    out, scales = newer.operator(
        "flat_quant_v3",
        *(given(x), given(left), given(right), None, 1.0, 0.0, 0),
        *(Made((3, 128), kind), Made((3, 2, 2), SCALE)),
    )
    exact = x[:, ::-1, ::-1].astype(float).reshape(3, 128)
    wanted, powers = mx(exact, kind)
    np.testing.assert_array_equal(codes_of(scales), powers)
    np.testing.assert_array_equal(codes_of(out), wanted)


@pytest.mark.parametrize(
    ("kind", "width"), [("float8_e4m3fn", 32), ("hifloat8", 32), ("float4_e2m1fn", 64)]
)
def test_casts_to_blocks(newer: Chip950, kind: str, width: int) -> None:
    """What a cast makes of a plain tensor and what it makes plain again."""
    made = newer.call("ops.low_result_calls", "cast_there_and_back", kind, (20, 36))
    codes = np.random.default_rng(8).integers(0, 16, (20, 36)).astype(np.uint8)
    blocks, back = made
    padded = np.zeros((32, -(-36 // width) * width), np.uint8)
    padded[:20, :36] = codes
    wanted = padded.reshape(2, 16, -1, width).transpose(2, 0, 1, 3).reshape(-1)
    if width == 64:
        blocks = np.stack([blocks & 15, blocks >> 4], -1).reshape(-1)
    np.testing.assert_array_equal(blocks, wanted)
    np.testing.assert_array_equal(codes_of(back), codes)


@pytest.mark.parametrize(
    ("kind", "powers"),
    [("float8_e4m3fn", False), ("hifloat8", False), ("float8_e5m2", True), ("float8_e4m3fn", True)],
)
@pytest.mark.parametrize("ranks", [2, 4])
def test_sums_over_ranks(newer: Chip950, kind: str, powers: bool, ranks: int) -> None:
    rng, rows, width = np.random.default_rng(9), ranks * 2, 1024
    usable = np.flatnonzero(np.abs(values(kind)) <= 64).astype(np.uint8)
    codes = [rng.choice(usable, (rows, width)) for _ in range(ranks)]
    if powers:
        scales = [rng.integers(124, 131, (rows, 16, 2)).astype(np.uint8) for _ in range(ranks)]
        factors = [np.exp2(s.reshape(rows, 32).astype(float) - 127) for s in scales]
    else:
        scales = [rng.uniform(0.5, 2, (rows, 8)).astype(SINGLE) for _ in range(ranks)]
        factors = [s.astype(float) for s in scales]
    dtype = SCALE if powers else "float32"
    whole, parts = newer.call("ops.low_result_calls", "reduced", kind, dtype, codes, scales)
    total = np.zeros((rows, width), SINGLE)
    for code, factor in zip(codes, factors, strict=True):
        spread = np.repeat(factor, width // factor.shape[1], axis=1).astype(SINGLE)
        total += values(kind)[code].astype(SINGLE) * spread
    for rank in range(ranks):
        np.testing.assert_array_equal(whole[rank], total)
        np.testing.assert_array_equal(parts[rank], total[rank * 2 : rank * 2 + 2])


def operands(
    kinds: tuple[str, str],
    rows: int,
    width: int,
    depth: int,
    columns: int,
    ranks: int,
    turned: bool,
) -> dict[str, list[Array]]:
    """Codes of small numbers, whose sums are exact in float32, and a bias."""
    rng = np.random.default_rng(10)
    small = [np.flatnonzero(np.isin(values(k), np.arange(-3, 4))).astype(np.uint8) for k in kinds]
    shape = (columns, depth) if turned else (depth, columns)
    return {
        "x1": [rng.choice(small[0], (rows, width)) for _ in range(ranks)],
        "x2": [rng.choice(small[1], shape) for _ in range(ranks)],
        "bias": [rng.integers(-9, 10, columns).astype(SINGLE) for _ in range(ranks)],
    }


def powers(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(125, 130, (*shape, 2)).astype(np.uint8)


def spread(scales: Array, width: int) -> Array:
    """A power of two for each element of rows of this width."""
    exact = np.exp2(scales.reshape(len(scales), -1).astype(float) - 127)
    return np.repeat(exact, 32, axis=1)[:, :width]


def gathered(parts: list[Array], rank: int) -> Array:
    """A rank's share of the rows of all, beside each other."""
    share = len(parts[0]) // len(parts)
    return np.concatenate([p[rank * share : (rank + 1) * share] for p in parts], axis=1)


@pytest.mark.parametrize("kinds", [("float8_e4m3fn", "float8_e5m2"), ("float4_e2m1fn",) * 2])
@pytest.mark.parametrize("ranks", [2, 4])
def test_products_with_powers_of_two_and_exchanges(
    newer: Chip950, kinds: tuple[str, str], ranks: int
) -> None:
    rng, rows, columns = np.random.default_rng(11), 2 * ranks, 4 * ranks
    value = [values(kind) for kind in kinds]
    # The product is exchanged: a depth that ends within a pair of scales.
    a = operands(kinds, rows, 70, 70, columns, ranks, True)
    a["x1_scale"] = [powers(rng, rows, 2) for _ in range(ranks)]
    a["x2_scale"] = [powers(rng, columns, 2) for _ in range(ranks)]
    made = newer.call("ops.low_result_calls", "exchanged", False, kinds, a, (6, 6))
    products = []
    for r in range(ranks):
        left = value[0][a["x1"][r]] * spread(a["x1_scale"][r], 70)
        right = value[1][a["x2"][r]] * spread(a["x2_scale"][r], 70)
        products.append(left @ right.T + a["bias"][r])
    share = columns // ranks
    for r in range(ranks):
        exact = np.concatenate([p[:, r * share : (r + 1) * share] for p in products])
        np.testing.assert_allclose(made[r][0], exact, rtol=1e-5, atol=1e-4)
    # Rows are exchanged first, and so are their scales.
    a = operands(kinds, rows, 64, 64 * ranks, columns, ranks, True)
    a["x1_scale"] = [powers(rng, rows, 1) for _ in range(ranks)]
    a["x2_scale"] = [powers(rng, columns, ranks) for _ in range(ranks)]
    made = newer.call("ops.low_result_calls", "exchanged", True, kinds, a, (6, 6))
    for r in range(ranks):
        codes = gathered(a["x1"], r)
        factor = gathered([spread(s, 64) for s in a["x1_scale"]], r)
        right = value[1][a["x2"][r]] * spread(a["x2_scale"][r], 64 * ranks)
        exact = (value[0][codes] * factor) @ right.T + a["bias"][r]
        np.testing.assert_allclose(made[r][0], exact, rtol=1e-5, atol=1e-4)
        np.testing.assert_array_equal(value[0][codes_of(made[r][1])], value[0][codes])


@pytest.mark.parametrize("ranks", [2, 4])
def test_products_with_scales_of_rows_and_exchanges(newer: Chip950, ranks: int) -> None:
    kinds, rng = ("float8_e4m3fn", "float8_e5m2"), np.random.default_rng(12)
    rows, columns = 3 * ranks, 2 * ranks
    a = operands(kinds, rows, 20, 20, columns, ranks, False)
    a["x1_scale"] = [rng.uniform(0.5, 2, rows).astype(SINGLE) for _ in range(ranks)]
    a["x2_scale"] = [rng.uniform(0.5, 2, columns).astype(SINGLE) for _ in range(ranks)]
    made = newer.call("ops.low_result_calls", "exchanged", False, kinds, a, (3, 2))
    products = [
        (values(kinds[0])[a["x1"][r]] @ values(kinds[1])[a["x2"][r]] + a["bias"][r])
        * a["x1_scale"][r][:, None].astype(float) * a["x2_scale"][r]
        for r in range(ranks)
    ]  # fmt: skip
    for r in range(ranks):
        exact = np.concatenate([p[:, r * 2 : r * 2 + 2] for p in products])
        np.testing.assert_allclose(made[r][0], exact, rtol=1e-6)
    # Rows of float16 are quantised between the exchange and the product.
    for kind in kinds:
        own = ("float16", "float8_e5m2")
        a = operands(kinds, rows, 20, 20 * ranks, columns, ranks, False)
        a["x1"] = [rng.standard_normal((rows, 20)).astype(np.float16) for _ in range(ranks)]
        a["x2_scale"] = [rng.uniform(0.5, 2, columns).astype(SINGLE) for _ in range(ranks)]
        given = ("ops.low_result_calls", "exchanged_dynamic", own, a, DTYPE[kind])
        made = newer.call(*given)
        for r in range(ranks):
            x = gathered(a["x1"], r)
            codes, scales = by_rows(x.astype(SINGLE), kind)
            sums = values(kind)[codes] @ values(own[1])[a["x2"][r]] + a["bias"][r]
            exact = sums * scales[:, None].astype(float) * a["x2_scale"][r]
            np.testing.assert_allclose(made[r][0], exact, rtol=1e-5, atol=1e-5)
            np.testing.assert_array_equal(made[r][1], x)


@pytest.mark.parametrize("ranks", [2, 4])
def test_rows_over_ranks_in_float4(newer: Chip950, ranks: int) -> None:
    kind, rng, rows, depth, columns = "float4_e2m1fn", np.random.default_rng(15), 2 * ranks, 256, 5
    a = operands((kind, kind), rows, depth, depth, columns, ranks, True)
    a["x1_scale"] = [powers(rng, rows, 4) for _ in range(ranks)]
    a["x2_scale"] = [powers(rng, columns, 4) for _ in range(ranks)]
    made = newer.call("ops.low_result_calls", "sliced", kind, a)
    left = [values(kind)[c] * spread(s, depth) for c, s in zip(a["x1"], a["x1_scale"], strict=True)]
    right = [
        values(kind)[c] * spread(s, depth) for c, s in zip(a["x2"], a["x2_scale"], strict=True)
    ]
    total = sum(x @ w.T + bias for x, w, bias in zip(left, right, a["bias"], strict=True))
    for r in range(ranks):
        exact = np.concatenate([x @ right[r].T for x in left]) + a["bias"][r]
        np.testing.assert_allclose(made[r][0], exact, rtol=1e-5, atol=1e-3)
        np.testing.assert_array_equal(codes_of(made[r][1]), np.concatenate(a["x1"]))
        np.testing.assert_allclose(made[r][2], total[r * 2 : r * 2 + 2], rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("kind", ["float8_e5m2", "float4_e1m2", "hifloat8", "int4"])
def test_a_barrier_takes_any_tensor(newer: Chip950, kind: str) -> None:
    assert newer.call("ops.low_result_calls", "meet", kind)


@pytest.mark.usefixtures("device")
def test_a_910b_has_none_of_these() -> None:
    import aclnn_py as ap

    x = ap.from_numpy(np.zeros((2, 4), ml_dtypes.float8_e5m2))
    y = ap.from_numpy(np.zeros((2, 4), np.float16))
    with pytest.raises(ap.errors.AclnnError, match="x has dtype FLOAT8_E5M2") as caught:
        ap.ops.ascend_anti_quant(x, ap.from_numpy(np.ones(4, SINGLE)), None, 1, False, y)
    assert caught.value.status == 161002
