# SPDX-License-Identifier: Apache-2.0
"""QkvRmsNormRopeCacheWithKScale on a 950, against NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.operators import place, refusal

from .test_rotary_cache import normed, turned

pytestmark = pytest.mark.emulator_only(reason="chooses the chip of the emulator")

Array = np.ndarray[Any, Any]
NAME, FLOAT8, BRAIN = "qkv_rms_norm_rope_cache_with_k_scale", "float8_e4m3fn", "bfloat16"
E4M3, BF16 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.bfloat16)
D, POSITIONS, BLOCK = 128, 9, 4
STARTS, LENGTHS, SLOTS = [0, 2, 2, 5], [2, 4, 9], [7, 0, 3, 11, 5]


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


class Problem:
    """Five tokens of three sequences, the second of which has none in this call."""

    def __init__(self, exact: bool, keys: int = 2) -> None:
        rng = np.random.default_rng(4)
        self.queries, self.keys, self.tokens = 8 * keys, keys, len(SLOTS)
        shape = (self.tokens, self.queries + 2 * keys, D)
        if exact:  # every step but the quantisation has a result without rounding
            self.x = rng.choice([-1.0, 1.0], shape).astype(BF16)
            self.gammas = [2.0 ** rng.integers(-2, 3, D) for _ in range(2)]
            self.table = np.repeat(rng.integers(0, 2, (POSITIONS, 2)), D // 2, axis=1)
            self.matrix = rng.choice([-1.0, 0.0, 0.5, 1.0], (D, D)).astype(BF16)
        else:
            self.x = rng.standard_normal(shape).astype(BF16)
            self.gammas = [rng.uniform(0.5, 1.5, D) for _ in range(2)]
            self.table = rng.uniform(-1, 1, (POSITIONS, D))
            self.matrix = (rng.standard_normal((D, D)) / 11).astype(BF16)
        self.by = rng.uniform(0.5, 2, keys).astype(np.float32)
        self.epsilon = 0.0 if exact else 1e-3

    def products(self) -> Array:
        """Queries and keys behind the matrix, in float64: (token, head, element)."""
        positions = [
            length - (end - start) + i
            for start, end, length in zip(STARTS, STARTS[1:], LENGTHS, strict=False)
            for i in range(end - start)
        ]
        rows = self.table.astype(np.float32).astype(np.float64)[positions][:, None]
        cos, sin = (np.concatenate([part, part], -1) for part in np.split(rows, 2, axis=-1))
        heads = self.queries + self.keys
        gammas = np.stack([self.gammas[0]] * self.queries + [self.gammas[1]] * self.keys)
        y = normed(self.x[:, :heads], gammas.astype(np.float32), self.epsilon)
        z = turned(y, cos, sin).astype(BF16).astype(np.float64)
        return z @ self.matrix.astype(np.float64)

    def arguments(self, layout: str, out_layout: str) -> list[Any]:
        first, out_first = layout == "NTD", out_layout != "TND"
        x = self.x.swapaxes(0, 1) if first else self.x
        made = (self.queries, self.tokens) if out_first else (self.tokens, self.queries)
        cache = (3, self.keys, BLOCK, D)
        return [
            Given(x, BRAIN),
            *(Given(g.astype(np.float32), "float32") for g in self.gammas),
            Given(self.table.astype(np.float32), "float32"),
            Given(np.array(SLOTS, np.int32), "int32"),
            *(Made(cache, FLOAT8), Made(cache, FLOAT8), Made((*cache[:3], 1), "float32")),
            *(Given(np.array(n, np.int32), "int32") for n in (STARTS, LENGTHS)),
            *(Given(self.matrix, BRAIN), Given(self.by, "float32")),
            *([self.queries, self.keys, self.keys], layout, out_layout, self.epsilon),
            *(Made((*made, D), FLOAT8), Made(made, "float32")),
        ]


def in_pages(rows: Array, junk: Any) -> Array:
    """Rows of tokens and heads at the places of their slots; `junk` elsewhere."""
    cache = np.full((3, rows.shape[1], BLOCK, rows.shape[2]), junk, rows.dtype)
    for token, slot in enumerate(SLOTS):
        cache[slot // BLOCK, :, slot % BLOCK] = rows[token]
    return cache


def quantised(rows: Array) -> tuple[Array, Array]:
    """Rows of float8 and their scales."""
    scales = (np.abs(rows).max(axis=-1, keepdims=True).astype(np.float32)) / np.float32(448)
    return (rows.astype(np.float32) / scales).astype(E4M3), scales


@pytest.mark.parametrize(
    ("layout", "out_layout"), [("TND", "TND"), ("", ""), ("NTD", "NTD"), ("", "TND")]
)
def test_each_step_in_its_place(newer: Chip950, layout: str, out_layout: str) -> None:
    p = Problem(exact=True)
    found = newer.operator(NAME, *p.arguments(layout, out_layout))
    assert not isinstance(found, Refused), found
    numbers, scales = quantised(p.products())
    junk = np.array(77, np.uint8).view(E4M3)
    queries = [numbers[:, : p.queries], scales[:, : p.queries, 0]]
    if out_layout != "TND":
        queries = [part.swapaxes(0, 1) for part in queries]
    values = p.x[:, p.queries + p.keys :].astype(np.float32) * p.by[:, None]
    wanted = [
        in_pages(numbers[:, p.queries :], junk),
        in_pages(values.astype(E4M3), junk),
        in_pages(scales[:, p.queries :], np.float32(77)),
        *queries,
    ]
    for mine, right in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(
            mine.astype(np.float64).reshape(right.shape), right.astype(np.float64)
        )


def test_any_numbers(newer: Chip950) -> None:
    p = Problem(exact=False, keys=1)
    found = newer.operator(NAME, *p.arguments("TND", "TND"))
    exact = p.products()
    queries = found[3].astype(np.float64) * found[4].astype(np.float64)[..., None]
    # Half a unit in the last place of float8, and one of bfloat16 in front of the matrix.
    limit = np.abs(exact).max(axis=-1, keepdims=True) * 2.0**-9
    wanted = exact[:, : p.queries]
    assert (np.abs(queries - wanted) <= np.abs(wanted) * 2.0**-4 + limit[:, : p.queries]).all()
    largest = np.abs(wanted).max(axis=-1)
    np.testing.assert_allclose(found[4], largest / 448, rtol=2.0**-7)


def test_a_row_of_zeros_has_a_scale_of_zero(newer: Chip950) -> None:
    p = Problem(exact=True, keys=1)
    p.matrix = np.zeros((D, D), BF16)
    found = newer.operator(NAME, *p.arguments("TND", "TND"))
    assert not found[3].astype(np.float64).any()
    assert not found[4].any()


def test_refusals(newer: Chip950) -> None:
    p = Problem(exact=True, keys=1)
    good = p.arguments("TND", "TND")

    def refused(status: int, text: str, position: int, value: Any) -> None:
        given = [*good[:position], value, *good[position + 1 :]]
        found = newer.operator(NAME, *given)
        assert isinstance(found, Refused), text
        assert found.status == status
        assert text in found.text

    for position, name in ((10, "rotationOptional"), (11, "vScaleOptional"), (8, "queryStartLoc")):
        refused(161001, name, position, None)
    refused(161002, "headNums", 12, [8, 2, 2])
    refused(161002, "layoutQkv", 13, "tnd")
    refused(161002, "layoutQOut", 13, "NTD")
    refused(161002, "qGamma", 1, Given(np.ones(64, np.float32), "float32"))
    refused(161002, "vCacheRef", 6, Made((3, 1, BLOCK, D), "int8"))
    refused(161002, "kCacheRef", 5, Made((3, 1, BLOCK, D), FLOAT8, stepped=True))
    for position, name, numbers in (
        (4, "slotMapping[1] is 12", [0, 12, 1, 2, 3]),
        (4, "slotMapping[0] is -1", [-1, 0, 1, 2, 3]),
        (8, "queryStartLoc[3] is 4", [0, 2, 2, 4]),
        (8, "queryStartLoc[2] is 1", [0, 2, 1, 5]),
        (9, "seqLens[0] is 1", [1, 4, 9]),
        (9, "seqLens[2] is 10", [2, 4, 10]),
    ):
        refused(507015, name, position, Given(np.array(numbers, np.int32), "int32"))


def test_a_910b_has_no_such_operator(device: Any) -> None:
    p = Problem(exact=True, keys=1)
    x = place(p.x)
    ones = place(np.ones(D, np.float32))
    numbers = place(np.zeros(5, np.int32))
    cache = place(np.zeros((1, 1, 8, D), E4M3))
    scales = place(np.zeros((1, 1, 8, 1), np.float32))
    given = [x, ones, ones, place(p.table.astype(np.float32)), numbers, cache, cache, scales]
    given += [numbers, numbers, place(p.matrix), place(p.by), [8, 1, 1], "", "", 1e-6]
    given += [place(np.zeros((8, 5, D), E4M3)), place(np.zeros((8, 5), np.float32))]
    assert refusal("aclnnQkvRmsNormRopeCacheWithKScale", *given) == 161002
