# SPDX-License-Identifier: Apache-2.0
"""Grouped products of floats of 8 and 4 bits and what follows them, on a 950."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close

from ..low_bits import EXPONENT, FLOAT8, LARGEST, SCALE, codes_of, encoded, mx, values
from .test_grouped_950 import FOUR, SIZES, codes, floats, mx_factors, of_rows, powers, product

pytestmark = pytest.mark.emulator_only(reason="chooses the chip of the emulator")

Array = np.ndarray[Any, Any]
ROWS, USED = 8, sum(SIZES)


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def groups() -> Given:
    return Given(np.array(SIZES), "int64")


def gated(sums: Array) -> Array:
    """Rows of two halves: the first activated, times the second."""
    gate, linear = np.split(sums, 2, axis=1)
    return np.asarray(gate / (1 + np.exp(-gate)) * linear)


def swiglu(newer: Chip950, name: str, *arguments: Any) -> Any:
    """x, weight, weight scale, row scale, mode, dtype in between and the two results."""
    x, weight, scale, token, mode, dtype, y, y_scale = arguments
    found = newer.operator(
        name,
        *(x, weight, scale, None, None, token, None, groups()),
        *(mode, dtype, mode, 1, None, y, y_scale),
    )
    assert not isinstance(found, Refused), found
    return found


def assert_mx(found: Any, exact: Array, dtype: str) -> None:
    """Codes may be neighbours where float32 sums lie beside the middle of two numbers."""
    y, scales = codes_of(found[0]), codes_of(found[1])
    wanted_y, wanted_scales = mx(exact[:USED], dtype)
    same = scales[:USED] == wanted_scales
    assert same.mean() > 0.9
    step = values(dtype)[y[:USED]] - values(dtype)[wanted_y]
    blocks = np.repeat(same.reshape(USED, -1), 32, axis=1)[:, : y.shape[1]]
    assert (step[blocks] == 0).mean() > 0.95
    width = 2.0 ** (EXPONENT[dtype] - 1)
    assert np.abs(step[blocks]).max() <= width
    # What no group has keeps what lay there.
    assert (y[USED:] == (77 if dtype in FLOAT8 else 77 & 15)).all()
    assert (scales[USED:] == 77).all()


@pytest.mark.parametrize("dtype", [*FLOAT8, "hifloat8"])
@pytest.mark.parametrize("between", [0, 1, 27])
def test_gated_rows_with_scales_of_their_own(newer: Chip950, dtype: str, between: int) -> None:
    rng = np.random.default_rng(11)
    x, w = codes(rng, dtype, (ROWS, 40)), codes(rng, dtype, (3, 40, 24))
    token, scale = floats(rng, ROWS) / 16, floats(rng, 3, 24) / 16
    y, y_scale = swiglu(
        newer,
        "grouped_matmul_swiglu_quant_v2",
        *(Given(x, dtype), [Given(w, dtype, swapped=(1, 2) if between else None)]),
        *([Given(scale, "float32")], Given(token, "float32"), 0, between),
        *(Made((ROWS, 12), dtype), Made((ROWS,), "float32")),
    )
    sums = product(values(dtype)[x], values(dtype)[w])
    sums *= of_rows(scale.astype(np.float64)) * token[:, None]
    kind = {0: np.float32, 1: np.float16, 27: ml_dtypes.bfloat16}[between]
    exact = gated(sums.astype(np.float32).astype(kind).astype(np.float64))
    most = np.abs(exact).max(axis=1) / LARGEST[dtype]
    # A sum beside the middle of two numbers in between may become the other.
    np.testing.assert_allclose(y_scale[:USED], most[:USED], rtol=1e-6 if between == 0 else 1e-2)
    assert (y_scale[USED:] == 77).all()
    wanted = encoded(
        exact[:USED] / most[:USED, None], dtype, "round" if dtype == "hifloat8" else "rint"
    )
    wanted[values(dtype)[wanted] == 0] &= 127 if dtype == "hifloat8" else 255
    assert (codes_of(y)[:USED] == wanted).mean() > 0.95
    assert (codes_of(y)[USED:] == 77).all()


@pytest.mark.parametrize(
    ("dtype", "made"),
    [
        (FLOAT8[0], FLOAT8[1]),
        (FLOAT8[1], FLOAT8[0]),
        (FOUR, FOUR),
        (FOUR, FLOAT8[1]),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_gated_rows_in_blocks(newer: Chip950, dtype: str, made: str, turned: bool) -> None:
    rng = np.random.default_rng(12)
    x, w = codes(rng, dtype, (ROWS, 96)), codes(rng, dtype, (3, 96, 128))
    token, scale = powers(rng, ROWS, 2, 2), powers(rng, 3, 2, 128, 2)
    token[...] -= 6
    swapped = (1, 2) if turned else None
    found = swiglu(
        newer,
        "grouped_matmul_swiglu_quant_v2",
        *(Given(x, dtype), [Given(w, dtype, swapped=swapped)]),
        *([Given(scale, SCALE, swapped=swapped)], Given(token, SCALE), 2, 0),
        *(Made((ROWS, 64), made), Made((ROWS, 1, 2), SCALE)),
    )
    left = values(dtype)[x] * mx_factors(token, 96, 1)
    assert_mx(found, gated(product(left, values(dtype)[w] * mx_factors(scale, 96, 1))), made)


@pytest.mark.parametrize(("dtype", "other"), [(FLOAT8[1], FLOAT8[1]), (FOUR, "float4_e1m2")])
@pytest.mark.parametrize("single", [True, False])
def test_gated_rows_of_weights_in_blocks_of_memory(
    newer: Chip950, dtype: str, other: str, single: bool
) -> None:
    rng = np.random.default_rng(13)
    x, w = codes(rng, dtype, (ROWS, 64)), codes(rng, other, (3, 64, 128))
    token, scale = powers(rng, ROWS, 1, 2) - 6, powers(rng, 3, 1, 128, 2)
    stacks = [(w, scale)] if single else list(zip(w, scale, strict=True))
    found = swiglu(
        newer,
        "grouped_matmul_swiglu_quant_weight_nz_v2",
        *(Given(x, dtype), [Given(part, other, format="FRACTAL_NZ") for part, _ in stacks]),
        *([Given(part, SCALE) for _, part in stacks], Given(token, SCALE), 2, 0),
        *(Made((ROWS, 64), FLOAT8[1]), Made((ROWS, 1, 2), SCALE)),
    )
    left = values(dtype)[x] * mx_factors(token, 64, 1)
    exact = gated(product(left, values(other)[w] * mx_factors(scale, 64, 1)))
    assert_mx(found, exact, FLOAT8[1])


def test_gated_rows_refuse(newer: Chip950) -> None:
    dtype = FLOAT8[0]
    x, w = Given(np.zeros((4, 64), np.uint8), dtype), np.zeros((3, 64, 128), np.uint8)
    weight, scale = [Given(w, dtype)], [Given(np.zeros((3, 1, 128, 2), np.uint8), SCALE)]
    token, y = Given(np.zeros((4, 1, 2), np.uint8), SCALE), Made((4, 64), dtype)
    y_scale = Made((4, 1, 2), SCALE)
    narrow = [Given(w[..., :8], dtype)]
    for change, says in (
        ({"mode": 1}, "dequantMode is 1 and quantMode 1"),
        ({"between": 1}, "dequantDtype is 1; allowed: 0"),
        ({"weight": [Given(w, "hifloat8")]}, "weight has dtype HIFLOAT8"),
        ({"weight": narrow}, "a multiple of 128"),
        ({"scale": [Given(np.ones((3, 128), np.float32), "float32")]}, "weightScale has dtype"),
        ({"token": Given(np.zeros((4, 2, 2), np.uint8), SCALE)}, "xScale has shape"),
        ({"y": Made((4, 64), "int8")}, "output has dtype INT8"),
    ):
        given = {"weight": weight, "scale": scale, "token": token, "mode": 2, "between": 0, "y": y}
        given.update(change)
        found = newer.operator(
            "grouped_matmul_swiglu_quant_v2",
            *(x, given["weight"], given["scale"], None, None, given["token"], None, groups()),
            *(given["mode"], given["between"], given["mode"], 1, None, given["y"], y_scale),
        )
        assert isinstance(found, Refused), says
        assert says in found.text
        assert found.status == 161002


def finalize(newer: Chip950, name: str, **given: Any) -> Any:
    found = newer.operator(
        name,
        *(given["x"], given["w"], given["scale"], given["bias"], None, None, None),
        *(given["token"], groups(), given["shared"], given["logit"], given["index"]),
        *(0, 0.5, 1, False, given["turned"], 1, None, Made((4, given["n"]), "float32")),
    )
    assert not isinstance(found, Refused), found
    return found[0]


def added(rows: Array, bias: Array, logit: Array, index: Array, shared: Array) -> Array:
    out = np.zeros((4, rows.shape[1]))
    out[1 : 1 + len(shared)] = 0.5 * shared.astype(np.float64)
    rows = (rows + of_rows(bias.astype(np.float64))) * logit[:, None].astype(np.float64)
    for row in range(USED):
        out[index[row]] += rows[row]
    return out


@pytest.mark.parametrize("dtype", [*FLOAT8, FOUR])
@pytest.mark.parametrize("turned", [False, True])
def test_rows_added_to_their_tokens(newer: Chip950, dtype: str, turned: bool) -> None:
    rng = np.random.default_rng(14)
    n, k = 12, 100
    x, w = codes(rng, dtype, (ROWS, k)), codes(rng, dtype, (3, k, n))
    token, scale = powers(rng, ROWS, 2, 2), powers(rng, 3, 2, n, 2)
    bias, shared = (floats(rng, rows, n).view(np.uint32) & 0xFFFF0000 for rows in (3, 2))
    bias, shared = bias.view(np.float32), shared.view(np.float32)
    logit, index = floats(rng, ROWS), rng.integers(0, 4, ROWS)
    found = finalize(
        newer,
        "grouped_matmul_finalize_routing_v3",
        x=Given(x, dtype),
        w=Given(np.ascontiguousarray(w.swapaxes(1, 2)) if turned else w, dtype),
        scale=Given(np.ascontiguousarray(scale.swapaxes(1, 2)) if turned else scale, SCALE),
        bias=Given((bias.view(np.uint32) >> 16).astype(np.uint16), "bfloat16"),
        token=Given(token, SCALE),
        shared=Given((shared.view(np.uint32) >> 16).astype(np.uint16), "bfloat16"),
        logit=Given(logit, "float32"),
        index=Given(index, "int64"),
        turned=turned,
        n=n,
    )
    left = values(dtype)[x] * mx_factors(token, k, 1)
    rows = product(left, values(dtype)[w] * mx_factors(scale, k, 1))
    assert_close(found, added(rows, bias, logit, index, shared), scale=16)


@pytest.mark.parametrize("dtype", [FLOAT8[1], "hifloat8"])
@pytest.mark.parametrize("turned", [False, True])
def test_rows_of_weights_in_blocks_of_memory(newer: Chip950, dtype: str, turned: bool) -> None:
    rng = np.random.default_rng(15)
    n, k = 32, 64
    x, w = codes(rng, dtype, (ROWS, k)), codes(rng, dtype, (3, k, n))
    token, scale = floats(rng, ROWS), floats(rng, 3, 1, n)
    logit, index = floats(rng, ROWS), rng.integers(0, 4, ROWS)
    zeros = np.zeros((3, n), np.float32)
    found = finalize(
        newer,
        "grouped_matmul_finalize_routing_weight_nz_v2",
        x=Given(x, dtype),
        w=Given(w.swapaxes(1, 2) if turned else w, dtype, format="FRACTAL_NZ"),
        scale=Given(scale, "float32"),
        bias=None,
        token=Given(token, "float32"),
        shared=None,
        logit=Given(logit, "float32"),
        index=Given(index, "int64"),
        turned=turned,
        n=n,
    )
    rows = product(values(dtype)[x], values(dtype)[w]) * of_rows(scale[:, 0].astype(np.float64))
    exact = added(rows * token[:, None], zeros, logit, index, zeros[:0])
    assert_close(found, exact, scale=16)


def mixed(codes_of_w: Array) -> Given:
    """A weight (experts, columns, depth) of FLOAT4 in blocks of 32 values of the depth."""
    return Given(codes_of_w, FOUR, format="FRACTAL_NZ_C0_32")


def test_rows_of_8_bits_with_weights_of_4(newer: Chip950) -> None:
    rng = np.random.default_rng(16)
    n, k, dtype = 64, 96, "float8_e4m3fn"
    x, w = codes(rng, dtype, (ROWS, k)), codes(rng, FOUR, (3, n, k))
    token, scale = powers(rng, ROWS, 2, 2), powers(rng, 3, n, 2, 2)
    bias, shared = (floats(rng, rows, n).view(np.uint32) & 0xFFFF0000 for rows in (3, 2))
    logit, index = floats(rng, ROWS), rng.integers(0, 4, ROWS)
    found = finalize(
        newer,
        "grouped_matmul_finalize_routing_weight_nz_v2",
        x=Given(x, dtype),
        w=mixed(w),
        scale=Given(scale, SCALE),
        bias=Given((bias >> 16).astype(np.uint16), "bfloat16"),
        token=Given(token, SCALE),
        shared=Given((shared >> 16).astype(np.uint16), "bfloat16"),
        logit=Given(logit, "float32"),
        index=Given(index, "int64"),
        turned=True,
        n=n,
    )
    left = values(dtype)[x] * mx_factors(token, k, 1)
    right = values(FOUR)[w] * mx_factors(scale, k, 2)
    rows = product(left, right.swapaxes(1, 2))
    exact = added(rows, bias.view(np.float32), logit, index, shared.view(np.float32))
    assert_close(found, exact, scale=16)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"turned": False}, "transposeX2 is false; with x2 of FLOAT4_E2M1 it must be true"),
        ({"w": Given(np.zeros((3, 32, 64), np.uint8), FOUR)}, "it is FRACTAL_NZ_C0_32"),
        ({"w": mixed(np.zeros((3, 48, 64), np.uint8))}, "both must be multiples of 32"),
        ({"token": None}, "pertokenScaleOptional"),
        ({"scale": Given(np.zeros((3, 32, 1), np.uint8), SCALE)}, "scale"),
        ({"index": Given(np.zeros(4, np.int32), "int32")}, "rowIndex has dtype INT32"),
    ],
)
def test_weights_of_4_bits_refuse(newer: Chip950, change: dict[str, Any], says: str) -> None:
    given: dict[str, Any] = {
        "x": Given(np.zeros((4, 64), np.uint8), "float8_e4m3fn"),
        "w": mixed(np.zeros((3, 32, 64), np.uint8)),
        "scale": Given(np.zeros((3, 32, 1, 2), np.uint8), SCALE),
        "token": Given(np.zeros((4, 1, 2), np.uint8), SCALE),
        "index": Given(np.zeros(4, np.int64), "int64"),
        "turned": True,
    }
    given.update(change)
    found = newer.operator(
        "grouped_matmul_finalize_routing_weight_nz_v2",
        *(given["x"], given["w"], given["scale"], None, None, None, None, given["token"]),
        *(groups(), None, Given(np.ones(4, np.float32), "float32"), given["index"]),
        *(0, 0.5, 1, False, given["turned"], 1, None, Made((4, 32), "float32")),
    )
    assert isinstance(found, Refused)
    assert says in found.text
