# SPDX-License-Identifier: Apache-2.0
"""Tokens that MoeInitRoutingV3 moves or quantises as floats of 8 and 4 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused

from ..low_bits import LARGEST, SCALE, codes_of, encoded, mx
from ..mx_calls import BFLOAT16, given, random

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="chooses the chip of the emulator"),
]

Array = np.ndarray[Any, Any]
TOKENS, EACH, EXPERTS = 5, 3, 6
PLACES = TOKENS * EACH
CHOSEN = np.array([[1, 4, 2], [0, 5, 1], [2, 1, 3], [5, 4, 0], [3, 2, 4]], np.int32)
FIRST, LAST = 1, 5  # the range of experts


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def in_order() -> tuple[Array, Array]:
    """The tokens of the rows, and the experts, by the definition."""
    pairs = [(expert, at) for at, expert in enumerate(CHOSEN.ravel()) if FIRST <= expert < LAST]
    experts, places = zip(*sorted(pairs), strict=True)
    return np.array(places) // EACH, np.array(experts)


def route(
    newer: Chip950,
    x: Given,
    mode: int,
    out: tuple[str, tuple[int, ...]],
    scales: tuple[str, tuple[int, ...]] = ("float32", (PLACES,)),
    scale: Given | None = None,
    **changes: Any,
) -> Any:
    arguments = {
        "active": PLACES, "capacity": 0, "experts": EXPERTS, "drops": 0, "kind": 1,
        "counted": True, "mode": mode, "range": [FIRST, LAST], "index": 0,
    }  # fmt: skip
    arguments.update(changes)
    return newer.operator(
        "moe_init_routing_v3",
        *(x, given(CHOSEN), scale, None, *arguments.values()),
        *(Made(out[1], out[0]), Made((PLACES,), "int32"), Made((LAST - FIRST,), "int64")),
        Made(scales[1], scales[0]),
    )


def taken(found: Any) -> list[Array]:
    assert not isinstance(found, Refused), found
    _, index, counts, _ = found
    tokens, experts = in_order()
    rows = np.full(PLACES, -1)
    places = [i for i, e in enumerate(CHOSEN.ravel()) if FIRST <= e < LAST]
    ordered = sorted(places, key=lambda i: (CHOSEN.ravel()[i], i))
    rows[ordered] = np.arange(len(ordered))
    np.testing.assert_array_equal(index, rows)
    np.testing.assert_array_equal(counts, np.bincount(experts, minlength=LAST)[FIRST:])
    return [found[0][: len(tokens)], found[3][: len(tokens)]]


def stored(x: Array, kind: str) -> Array:
    if kind != "hifloat8":
        return encoded(x, kind)
    codes = encoded(x, kind, "round")
    return np.where(codes == 128, 0, codes)  # HiFloat8 has one zero


@pytest.mark.parametrize(
    ("mode", "kind", "dtype"),
    [
        (2, "float8_e5m2", np.float16),
        (3, "float8_e4m3fn", BFLOAT16),
        (9, "float4_e2m1fn", np.float16),
    ],
)
def test_powers_of_two_for_32_values(newer: Chip950, mode: int, kind: str, dtype: Any) -> None:
    x = random((TOKENS, 70), dtype, mode)
    x[1] = 0
    pairs = (PLACES, 2, 2)
    shape = pairs if mode == 9 else (PLACES, 4)
    rows, scales = taken(route(newer, given(x), mode, (kind, (PLACES, 70)), (SCALE, shape)))
    codes, powers = mx(x[in_order()[0]], kind)
    np.testing.assert_array_equal(codes_of(rows), codes)
    np.testing.assert_array_equal(codes_of(scales).reshape(powers.shape), powers)


@pytest.mark.parametrize(("mode", "kind"), [(11, "float8_e5m2"), (12, "float8_e4m3fn")])
def test_scales_for_128_values(newer: Chip950, mode: int, kind: str) -> None:
    x = random((TOKENS, 300), np.float32, mode)
    x[2, 128:256] = 0
    made = route(newer, given(x), mode, (kind, (PLACES, 300)), ("float32", (PLACES, 2, 2)))
    rows, scales = taken(made)
    padded = np.zeros((TOKENS, 512), np.float32)
    padded[:, :300] = x
    blocks = padded.reshape(TOKENS, 4, 128)
    wanted = np.abs(blocks).max(-1) / np.float32(LARGEST[kind])
    quotients = blocks / np.where(wanted == 0, np.float32(1), wanted)[..., None]
    order = in_order()[0]
    np.testing.assert_array_equal(scales.reshape(-1, 4)[:, :3], wanted[order][:, :3])
    assert (scales.reshape(-1, 4)[:, 3] == 0).all()
    codes = encoded(quotients.reshape(TOKENS, 512)[:, :300], kind)[order]
    np.testing.assert_array_equal(codes_of(rows), codes)


@pytest.mark.parametrize("mode", [6, 7, 8])
def test_hifloat8(newer: Chip950, mode: int) -> None:
    x = random((TOKENS, 33), np.float32, mode)
    x[0] = 0
    scale = np.array([0.375], np.float32)
    shape = (PLACES, 1) if mode == 8 else (PLACES,)
    made = route(
        newer, given(x), mode, ("hifloat8", (PLACES, 33)), ("float32", shape),
        given(scale) if mode == 7 else None,
    )  # fmt: skip
    rows, scales = taken(made)
    wide, order = x, in_order()[0]
    if mode == 7:
        wide = x * scale
    if mode == 8:
        by = np.abs(x).max(-1, keepdims=True) / np.float32(LARGEST["hifloat8"])
        wide = x / np.where(by == 0, np.float32(1), by)
        np.testing.assert_array_equal(scales, by[order])
    else:
        assert (scales == 77).all()
    np.testing.assert_array_equal(codes_of(rows), stored(wide, "hifloat8")[order])


@pytest.mark.parametrize("smoothed", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, BFLOAT16])
def test_numbers_of_4_bits(newer: Chip950, dtype: Any, smoothed: bool) -> None:
    x, smooth = random((TOKENS, 24), dtype, 1), np.linspace(0.5, 2, 24, dtype=np.float32)[None]
    made = route(
        newer, given(x), 1, ("int4", (PLACES, 24)), scale=given(smooth) if smoothed else None
    )
    rows, scales = taken(made)
    wide = x.astype(np.float32) * (smooth if smoothed else np.float32(1))
    by = np.abs(wide).max(-1) / np.float32(7)
    order = in_order()[0]
    np.testing.assert_array_equal(scales, by[order])
    np.testing.assert_array_equal(rows.astype(np.int8), np.round(wide / by[:, None])[order])


@pytest.mark.parametrize("kind", ["float8_e4m3fn", "float4_e2m1fn", "hifloat8"])
def test_rows_move_with_their_scales(newer: Chip950, kind: str) -> None:
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 16 if "4_" in kind else 256, (TOKENS, 70)).astype(np.uint8)
    powers = kind != "hifloat8"
    scale = rng.integers(1, 255, (TOKENS, 2, 2)).astype(np.uint8)
    single = rng.standard_normal(TOKENS).astype(np.float32)
    made = route(
        newer, Given(codes, kind), -1, (kind, (PLACES, 70)),
        (SCALE, (PLACES, 2, 2)) if powers else ("float32", (PLACES,)),
        Given(scale, SCALE) if powers else given(single),
    )  # fmt: skip
    rows, scales = taken(made)
    order = in_order()[0]
    np.testing.assert_array_equal(codes_of(rows), codes[order])
    if powers:
        np.testing.assert_array_equal(codes_of(scales), scale[order])
    else:
        np.testing.assert_array_equal(scales, single[order])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"mode": 4}, "quantMode is 4; allowed: -1, 0, 1, 2, 3, 6, 7, 8, 9, 11 and 12"),
        ({"active": 3}, "activeNum is 3; this chip takes the number of places in expertIdx alone"),
        ({"counted": False}, "expertTokensNumFlag is false; this chip takes true only"),
        (
            {"scale": given(np.ones(1, np.float32))},
            "scaleOptional is given; quantMode 2 takes none",
        ),
        (
            {"mode": 7, "out": ("hifloat8", (PLACES, 64))},
            "scaleOptional is null; quantMode 7 needs it",
        ),
        ({"mode": 3}, "expandedXOut has dtype FLOAT8_E5M2; allowed: FLOAT8_E4M3FN"),
        ({"x": Given(np.zeros((TOKENS, 64), np.uint8), "float8_e4m3fn")}, "quantMode must then be"),
        ({"scales": (SCALE, (PLACES, 3))}, "expandedScaleOut has shape"),
        (
            {"drops": 1, "capacity": 2, "range": [0, EXPERTS], "out": ("int8", (EXPERTS, 2, 64))},
            "quantMode is 2; with dropPadMode 1 this chip takes -1 only",
        ),
    ],
)
def test_refusals(newer: Chip950, changes: dict[str, Any], says: str) -> None:
    good: dict[str, Any] = {
        "x": given(np.ones((TOKENS, 64), np.float16)),
        "mode": 2,
        "out": ("float8_e5m2", (PLACES, 64)),
        "scales": (SCALE, (PLACES, 2)),
    }
    found = route(newer, **{**good, **changes})
    assert isinstance(found, Refused)
    assert says in found.text
