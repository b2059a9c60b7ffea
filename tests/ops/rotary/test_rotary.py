# SPDX-License-Identifier: Apache-2.0
"""Rotary position embedding against NumPy in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Changed, Chip950, Given, Made, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, place, refusal, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, Ref, fault, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Dtype = np.dtype[Any]
Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


def turned(x: Array, cos: Array, sin: Array, mode: str) -> Array:
    """The definition, written with whole-array operations."""
    if mode == "interleave":
        pairs = x.reshape(*x.shape[:-1], -1, 2)
        rotated = np.stack((-pairs[..., 1], pairs[..., 0]), axis=-1).reshape(x.shape)
    elif mode == "quarter":
        a, b, c, d = np.split(x, 4, axis=-1)
        rotated = np.concatenate((-b, a, -d, c), axis=-1)
    else:
        if mode == "interleave-half":
            x = np.concatenate((x[..., ::2], x[..., 1::2]), axis=-1)
        a, b = np.split(x, 2, axis=-1)
        rotated = np.concatenate((-b, a), axis=-1)
    return x * cos + rotated * sin


def embedding(mode: int, shape: tuple[int, ...], table: tuple[int, ...]) -> Case:
    name = ("half", "interleave", "quarter", "interleave-half")[mode]

    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = rng.standard_normal(shape).astype(dtype)
        cos, sin = (rng.uniform(-1, 1, table).astype(dtype) for _ in range(2))
        return [
            In(x),
            In(cos),
            In(sin),
            mode,
            Out(turned(wide(x), wide(cos), wide(sin), name), dtype, 2),
        ]

    return Case("RotaryPositionEmbedding", build, f"{name}-{len(shape)}d")


def applied(
    mode: str | None,
    layout: int,
    query: tuple[int, ...],
    key: tuple[int, ...],
    table: tuple[int, ...],
) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        q, k = rng.standard_normal(query).astype(dtype), rng.standard_normal(key).astype(dtype)
        cos, sin = (rng.uniform(-1, 1, table).astype(dtype) for _ in range(2))
        tail = [layout] if mode is None else [layout, mode]
        tables = wide(cos), wide(sin)
        return [
            Ref(q, turned(wide(q), *tables, mode or "half"), 2),
            Ref(k, turned(wide(k), *tables, mode or "half"), 2),
            In(cos),
            In(sin),
            *tail,
        ]

    if mode is None:
        return Case("ApplyRotaryPosEmb", build, str(layout))
    return Case("ApplyRotaryPosEmbV2", build, f"{mode}-{layout}")


def cached(neox: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        head, rotary = 12, 8
        q, k = (
            rng.standard_normal((5, 3 * head)).astype(dtype),
            rng.standard_normal((5, head)).astype(dtype),
        )
        cache = rng.uniform(-1, 1, (20, rotary)).astype(dtype)
        positions = rng.integers(0, 20, 5)
        cos, sin = np.split(wide(cache)[positions][:, None, :], 2, axis=-1)

        def turn(x: Array) -> Array:
            heads = wide(x).reshape(5, -1, head)
            part, rest = heads[..., :rotary], heads[..., rotary:]
            if neox:
                result = turned(
                    part, np.concatenate((cos, cos), -1), np.concatenate((sin, sin), -1), "half"
                )
            else:
                result = turned(part, np.repeat(cos, 2, -1), np.repeat(sin, 2, -1), "interleave")
            return np.concatenate((result, rest), axis=-1).reshape(x.shape)

        return [
            In(positions),
            In(q),
            In(k),
            In(cache),
            None,
            head,
            neox,
            Out(turn(q), dtype, 2),
            Out(turn(k), dtype, 2),
        ]

    return Case("RopeWithSinCosCache", build, "neox" if neox else "pairs", decides=1)


CASES = [
    embedding(0, (2, 3, 4, 8), (1, 3, 1, 8)),
    embedding(0, (5, 16), (5, 16)),
    embedding(1, (2, 3, 4, 8), (2, 3, 4, 8)),
    embedding(0, (0, 4, 8), (1, 1, 8)),
    applied(None, 1, (2, 3, 4, 128), (2, 3, 1, 128), (2, 3, 1, 128)),
    applied(None, 4, (6, 4, 128), (6, 1, 128), (6, 1, 128)),
    applied("half", 4, (3, 4, 64), (3, 2, 64), (3, 1, 64)),
    applied("half", 1, (2, 3, 4, 8), (2, 3, 1, 8), (1, 3, 1, 8)),
    cached(True),
    cached(False),
]

TestTable = suite(CASES)


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


MODES = ("half", "interleave", "quarter", "interleave-half")


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
@pytest.mark.parametrize("mode", range(4))
def test_the_four_modes_of_a_950(mode: int, newer: Chip950) -> None:
    rng = np.random.default_rng(mode)
    for dtype in ("float32", "float16"):
        x = rng.standard_normal((2, 3, 4, 8)).astype(dtype)
        cos, sin = (rng.uniform(-1, 1, (1, 3, 1, 8)).astype(dtype) for _ in range(2))
        given = [Given(array, dtype) for array in (x, cos, sin)]
        (found,) = newer.operator("rotary_position_embedding", *given, mode, Made(x.shape, dtype))
        assert_close(found, turned(wide(x), wide(cos), wide(sin), MODES[mode]), scale=2)
    refused = newer.operator("rotary_position_embedding", *given, 4, Made(x.shape, dtype))
    assert isinstance(refused, Refused) and refused.status == 161002


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
@pytest.mark.parametrize(
    ("mode", "layout", "query", "key", "table"),
    [
        ("half", 2, (3, 2, 4, 8), (3, 2, 1, 8), (3, 1, 1, 8)),
        ("interleave", 3, (2, 4, 3, 8), (2, 1, 3, 8), (1, 1, 3, 8)),
        ("quarter", 4, (3, 4, 8), (3, 2, 8), (3, 1, 8)),
    ],
)
def test_the_pairs_of_a_950(
    mode: str, layout: int, query: Shape, key: Shape, table: Shape, newer: Chip950
) -> None:
    rng = np.random.default_rng(layout)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in (query, key, table, table)]
    both = [Changed(array, "float32") for array in arrays[:2]]
    tables = [Given(array, "float32") for array in arrays[2:]]
    found = newer.operator("apply_rotary_pos_emb_v2", *both, *tables, layout, mode)
    for result, x in zip(found, arrays, strict=False):
        oracle = turned(wide(x), wide(arrays[2]), wide(arrays[3]), mode)
        assert_close(result, oracle, scale=2)


def test_worked_examples() -> None:
    x = place(np.array([[1, 2, 3, 4]], np.float32))
    for mode, cos, sin, expected in (
        (0, [0, 1, 0, 1], [1, 0, 1, 0], [-3, 2, 1, 4]),
        (1, [0, 0, 1, 1], [1, 1, 0, 0], [-2, 1, 3, 4]),
    ):
        out = hollow((1, 4), np.float32)
        tables = (place(np.array([values], np.float32)) for values in (cos, sin))
        ap.ops.rotary_position_embedding(x, *tables, mode, out)
        assert out.numpy().tolist() == [expected]


def test_sections_take_their_positions_from_different_rows() -> None:
    cache = np.random.default_rng(2).uniform(-1, 1, (9, 8)).astype(np.float32)
    q = np.random.default_rng(3).standard_normal((2, 8)).astype(np.float32)
    positions = np.array([[1, 2], [3, 4], [5, 6]])
    sections = [1, 1, 2]
    rows = np.repeat(np.arange(3), sections)
    cos = cache[positions[rows].T, np.arange(4)]
    sin = cache[positions[rows].T, 4 + np.arange(4)]
    oracle = turned(
        wide(q), wide(np.concatenate((cos, cos), -1)), wide(np.concatenate((sin, sin), -1)), "half"
    )
    out, key_out = hollow((2, 8), np.float32), hollow((2, 8), np.float32)
    ap.ops.rope_with_sin_cos_cache(
        place(positions), place(q), place(q), place(cache), sections, 8, True, out, key_out
    )
    assert_close(out.numpy(), oracle, scale=2)
    assert_same(key_out.numpy(), out.numpy())


def test_a_position_outside_the_cache_is_a_fault() -> None:
    q = place(np.ones((1, 8), np.float32))
    text = fault(
        "aclnnRopeWithSinCosCache",
        place(np.array([9])),
        q,
        q,
        place(np.ones((9, 8), np.float32)),
        None,
        8,
        True,
        hollow((1, 8), np.float32),
        hollow((1, 8), np.float32),
    )
    assert "positions" in text


def test_refusals() -> None:
    x, tables = place(np.ones((2, 3, 4, 8), np.float32)), place(np.ones((2, 3, 1, 8), np.float32))
    assert refusal("aclnnApplyRotaryPosEmb", x, x, tables, tables, 2) == 161002
    assert refusal("aclnnApplyRotaryPosEmbV2", x, x, tables, tables, 1, "other") == 161002
    for layout in (2, 3, 5):
        assert refusal("aclnnApplyRotaryPosEmbV2", x, x, tables, tables, layout, "half") == 161002
    other = place(np.ones((2, 3, 1, 6), np.float32))
    assert refusal("aclnnApplyRotaryPosEmb", x, x, other, other, 1) == 161002
