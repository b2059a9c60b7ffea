# SPDX-License-Identifier: Apache-2.0
"""Rotary embedding with what stands beside it: norms, quantisation and caches, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, hollow, op, place, wide

from ..cache.test_cache_pages import message, run_on_950
from ..problems import fault
from ..quantised import assert_quantised

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
BF16 = np.dtype(ml_dtypes.bfloat16)
HALVES = [np.dtype(np.float16), BF16]
FLOATS = [np.dtype(np.float32), *HALVES]
KV, QKV = "aclnnKvRmsNormRopeCache", "aclnnQkvRmsNormRopeCache"
KV2, DEQUANT, STEP = KV + "V2", "aclnnDequantRopeQuantKvcache", "aclnnAdvanceStep"


def normal(seed: int, shape: tuple[int, ...], dtype: Any = np.float64) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def halves(x: Array) -> Array:
    """The second half negated, then the first."""
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate([-second, first], axis=-1)


def pairs(x: Array) -> Array:
    """(-b, a) for every pair (a, b) of neighbours."""
    return np.stack([-x[..., 1::2], x[..., ::2]], axis=-1).reshape(x.shape)


def turned(x: Array, cos: Array, sin: Array) -> Array:
    return wide(x) * wide(cos) + halves(wide(x)) * wide(sin)


def interleaved(x: Array, cos: Array, sin: Array) -> Array:
    """Even elements first, then odd ones; the result turns like halves."""
    apart = np.concatenate([wide(x)[..., ::2], wide(x)[..., 1::2]], axis=-1)
    return turned(apart, cos, sin)


def normed(x: Array, gamma: Array, epsilon: float) -> Array:
    mean = (wide(x) ** 2).mean(axis=-1, keepdims=True)
    return wide(x) / np.sqrt(mean + epsilon) * wide(gamma)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_a_matrix_may_turn_the_rows(dtype: Any, layout: str) -> None:
    x, cos, sin = (normal(i, s, dtype) for i, s in enumerate([(2, 5, 3, 8)] + [(1, 5, 1, 8)] * 2))
    matrix = np.kron(np.eye(4), [[0, 1], [-1, 0]]).astype(dtype)
    name = "aclnnRotaryPositionEmbeddingV2"
    for mode, rotate, oracle in (
        (0, None, halves(wide(x))),
        (1, None, pairs(wide(x))),
        (1, matrix, pairs(wide(x))),
        (0, normal(5, (8, 8), dtype), None),
    ):
        part = wide(x) @ wide(rotate) if oracle is None else oracle
        out = hollow(x.shape, dtype, layout)
        given = None if rotate is None else place(rotate)
        op(name)(place(x, layout), place(cos, layout), place(sin, layout), mode, given, out)
        assert_close(out.numpy(), wide(x) * wide(cos) + part * wide(sin), scale=3)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("length", [1, 6])
def test_interleave_rope(length: int, layout: str, dtype: Any) -> None:
    x = normal(1, (2, 3, 6, 64), dtype)
    cos, sin = (normal(i, (2, 1, length, 64), dtype) for i in (2, 3))
    out = hollow(x.shape, dtype, layout)
    op("aclnnInterleaveRope")(place(x, layout), place(cos), place(sin), out)
    assert_close(out.numpy(), interleaved(x, cos, sin), scale=2)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("part", [None, (4, 10), (0, 16), (3, 3)], ids=str)
def test_a_part_of_each_row_turns_in_place(part: Any, dtype: Any) -> None:
    start, end = part or (0, 16)
    x = normal(1, (2, 4, 3, 16), dtype)
    for table in (dtype, np.dtype(np.float32)):
        cos, sin = (normal(i, (2, 4, 1, end - start), table) for i in (2, 3))
        for layout in LAYOUTS:
            target = place(x, layout)
            op("aclnnInplacePartialRotaryMul")(
                target, place(cos), place(sin), 1, None if part is None else list(part)
            )
            wanted, middle = wide(x).copy(), wide(x)[..., start:end]
            wanted[..., start:end] = middle * wide(cos) + pairs(middle) * wide(sin)
            assert_close(target.numpy(), wanted, scale=2)


@pytest.mark.parametrize("neox", [True, False])
@pytest.mark.parametrize(
    ("sections", "in_turn"), [([11, 11, 10], True), ([24, 20, 20], True), ([16] * 4, False)]
)
def test_sections_may_take_turns(sections: list[int], in_turn: bool, neox: bool) -> None:
    rotary, tokens = 2 * sum(sections), 5
    head = rotary + 32
    rng = np.random.default_rng(4)
    positions = rng.integers(0, 9, (len(sections), tokens))
    cache, x = normal(5, (9, rotary), np.float32), normal(6, (tokens, 2 * head), np.float32)
    out, key = hollow(x.shape, np.float32), hollow(x.shape, np.float32)
    op("aclnnRopeWithSinCosCacheV2")(
        place(positions),
        place(x),
        place(x),
        place(cache),
        sections,
        head,
        neox,
        int(in_turn),
        out,
        key,
    )
    both = wide(cache)[positions]  # (section, token, cosines and sines)
    cos, sin = (both[..., : rotary // 2], both[..., rotary // 2 :])
    source = np.repeat(np.arange(len(sections)), sections)
    if in_turn:
        source = np.zeros(rotary // 2, int)
        for section in (1, 2):
            source[section : 3 * sections[1] : 3] = section
    lanes = np.arange(rotary // 2)
    c, s = (part[source, :, lanes].T[:, None] for part in (cos, sin))
    rows = wide(x).reshape(tokens, 2, head)
    wanted = rows.copy()
    first, second = (
        (slice(0, rotary // 2), slice(rotary // 2, rotary))
        if neox
        else (slice(0, rotary, 2), slice(1, rotary, 2))
    )
    wanted[..., first] = rows[..., first] * c - rows[..., second] * s
    wanted[..., second] = rows[..., second] * c + rows[..., first] * s
    assert_close(out.numpy(), wanted.reshape(x.shape), scale=2)
    assert_same(key.numpy(), out.numpy())


def to_memory(cache: Array, blocked: bool) -> Array:
    """(block, place, head, element) as a cache lies in memory under a name ending in NZ."""
    if not blocked:
        return cache
    blocks, places, heads, width = cache.shape
    unit = 32 // cache.dtype.itemsize
    runs = cache.reshape(blocks, places, heads * width // unit, unit)
    return runs.transpose(0, 2, 1, 3).reshape(cache.shape)


def slots_of(index: Array, mode: str, shape: tuple[int, int], places: int) -> Array:
    """The slot of every (batch, token), -1 for one that is left out."""
    batches, tokens = shape
    slots = np.empty(shape, int)
    for b in range(batches):
        for t in range(tokens):
            if "BLK" in mode:
                at = index.reshape(batches, -1)[b, t // places]
                slots[b, t] = at if at < 0 else at // places * places + t % places
            else:
                at = index.reshape(shape)[b, t]
                slots[b, t] = at + b * places if mode == "Norm" and at >= 0 else at
    return slots


def filled(
    values: Array, slots: Array, cache: Array, factors: tuple[Any, Any], mode: str
) -> tuple[Array, Array]:
    """What (batch, head, token, element) leaves in a cache, exact, and where it wrote."""
    blocks = wide(cache).astype(np.float64)
    if mode == "Norm":
        blocks = blocks.transpose(0, 2, 1, 3)
    flat = blocks.reshape(-1, *blocks.shape[2:])
    scale, offset = factors
    for b, t in np.ndindex(slots.shape):
        if slots[b, t] >= 0:
            row = values[b, :, t]
            flat[slots[b, t]] = (
                row if scale is None else row * scale + (0 if offset is None else offset)
            )
    result = flat.reshape(blocks.shape)
    return (result.transpose(0, 2, 1, 3) if mode == "Norm" else result), slots


MODES = ["Norm", "PA", "PA_BNSD", "PA_NZ", "PA_BLK_BNSD", "PA_BLK_NZ"]


def index_of(mode: str, shape: tuple[int, int], places: int, total: int) -> Array:
    rng = np.random.default_rng(17)
    batches, tokens = shape
    if mode == "Norm":
        made = np.stack([rng.permutation(places)[:tokens] for _ in range(batches)])
    elif "BLK" in mode:
        each = -(-tokens // places)
        made = rng.permutation(total // places)[: batches * each] * places
    else:
        made = rng.permutation(total)[: batches * tokens]
    made.reshape(-1)[-1] = -1
    return made.astype(np.int64)


def check_cache(result: Array, exact: Array, dtype: np.dtype[Any], mode: str) -> None:
    blocked = mode.endswith("NZ")
    if dtype != np.int8:
        assert_close(result, wide(to_memory(exact.astype(dtype), blocked)), scale=2)
        return
    # The number of every element says where in memory it must lie.
    places = to_memory(np.arange(exact.size, dtype=np.int32).reshape(exact.shape), False)
    unit = 32
    if blocked:
        blocks, count, heads, width = exact.shape
        runs = places.reshape(blocks, count, heads * width // unit, unit)
        places = runs.transpose(0, 2, 1, 3)
    assert_quantised(result.reshape(-1), exact.reshape(-1)[places.reshape(-1)], "int8", slack=2e-3)


QUANTISED = [(False, False), (True, True), (True, False), (False, True)]


@pytest.mark.parametrize(
    ("mode", "quantised"),
    [(m, q) for m in MODES for q in QUANTISED if m != "Norm" or not any(q)],
)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_latent_keys_and_values_go_to_their_caches(
    dtype: Any, quantised: tuple[bool, bool], mode: str
) -> None:
    batches, tokens, wide_v, wide_k = 2, 37 if "BLK" in mode else 3, 64, 32
    places, blocks = 32, 5
    kv = normal(1, (batches, 1, tokens, wide_v + wide_k), dtype)
    gamma = normal(2, (wide_v,), dtype)
    rows = 1 if mode == "Norm" or (mode == "PA" and not any(quantised)) else tokens
    cos, sin = (normal(i, (batches, 1, rows, wide_k), dtype) for i in (3, 4))
    widths = (wide_k, wide_v)
    kinds = [np.dtype(np.int8) if q else np.dtype(dtype) for q in quantised]
    shapes = [(batches, 1, places, w) if mode == "Norm" else (blocks, places, 1, w) for w in widths]
    caches = [np.full(s, 7).astype(k) for s, k in zip(shapes, kinds, strict=True)]
    scales = [
        np.random.default_rng(5).uniform(5, 30, (1, w)).astype(np.float32) if q else None
        for q, w in zip(quantised, widths, strict=True)
    ]
    index = index_of(mode, (batches, tokens), places, blocks * places)
    placed = [place(cache) for cache in caches]
    outs = [hollow((batches, 1, tokens, w), dtype) for w in widths]
    arguments = [place(x) for x in (kv, gamma, cos, sin, index)] + placed
    arguments += [None if s is None else place(s) for s in scales]
    # A 910B passes over an offset here.
    arguments += [None if s is None else place(np.full_like(s, 50)) for s in scales]
    op(KV)(*arguments, 1e-5, mode, True, *outs)
    values = [
        interleaved(kv[..., wide_v:], cos, sin),
        normed(kv[..., :wide_v], gamma, 1e-5),
    ]
    slots = slots_of(index, mode, (batches, tokens), places)
    for i in range(2):
        factor = None if scales[i] is None else wide(scales[i])
        exact, _ = filled(values[i], slots, caches[i], (factor, None), mode)
        check_cache(placed[i].numpy(), exact, kinds[i], mode)
        if mode == "Norm":
            assert (wide(outs[i].numpy()) == 77).all()  # this mode gives none
        else:
            assert_close(outs[i].numpy(), values[i], scale=2)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("quantised", [False, True])
def test_values_apart_from_keys(mode: str, quantised: bool) -> None:
    dtype, heads, batches, tokens, places = BF16, 2, 2, 3, 32
    kv, v = normal(1, (batches, heads, tokens, 192), dtype), normal(2, (2, 2, tokens, 128), dtype)
    gamma = normal(3, (192,), dtype)
    cos, sin = (normal(i, (batches, heads, tokens, 64), dtype) for i in (4, 5))
    shapes = [
        (batches, heads, places, w) if mode == "Norm" else (4, places, heads, w) for w in (192, 128)
    ]
    kind = np.dtype(np.int8) if quantised else dtype
    caches = [np.full(s, 7).astype(kind) for s in shapes]
    rng = np.random.default_rng(6)
    scales, offsets = (
        [rng.uniform(*bounds, (heads, w)).astype(np.float32) for w in (192, 128)]
        for bounds in ((5, 30), (-20, 20))
    )
    index = index_of(mode, (batches, tokens), places, 4 * places)
    placed = [place(cache) for cache in caches]
    outs = [hollow((batches, heads, tokens, w), dtype) for w in (192, 128)]
    factors = [place(x) if quantised else None for x in (*scales, *offsets)]
    op(KV2)(
        *(place(x) for x in (kv, gamma, cos, sin, index)),
        *(*placed, *factors, place(v), 1e-5, mode, True, *outs),
    )
    key = normed(kv, gamma, 1e-5)
    key[..., :64] = interleaved(key[..., :64], cos, sin)
    slots = slots_of(index, mode, (batches, tokens), places)
    for i, values in enumerate((key, wide(v))):
        factor = (wide(scales[i]), wide(offsets[i])) if quantised else (None, None)
        exact, _ = filled(values, slots, caches[i], factor, mode)
        check_cache(placed[i].numpy(), exact, kind, mode)
        if mode != "Norm" or quantised:
            assert_close(outs[i].numpy(), values, scale=2)


def kv_arguments() -> list[Any]:
    half = np.float16
    return [
        *(place(np.ones((1, 1, 2, 12), half)), place(np.ones(8, half))),
        *(place(np.ones((1, 1, 2, 4), half)), place(np.ones((1, 1, 2, 4), half))),
        place(np.zeros((1, 2), np.int64)),
        *(place(np.ones((1, 1, 5, 4), half)), place(np.ones((1, 1, 5, 8), half))),
        *(None, None, None, None, 1e-5, "Norm", False),
        *(place(np.ones((1, 1, 2, 4), half)), place(np.ones((1, 1, 2, 8), half))),
    ]


@pytest.mark.parametrize("index", [-2, 5, 2**62])
def test_an_index_outside_the_cache_is_a_fault(index: int) -> None:
    arguments = kv_arguments()
    arguments[4] = place(np.array([[0, index]]))
    assert f"index holds {index}" in fault(KV, *arguments)


def test_kv_refuses() -> None:
    half, single = np.float16, np.float32

    def bad(status: int, position: int, given: Any) -> str:
        arguments = kv_arguments()
        arguments[position] = given
        return message(status, KV, *arguments)

    for position in (*range(7), 14, 15):
        bad(161001, position, None)
    assert "kv has dtype" in bad(161002, 0, place(np.ones((1, 1, 2, 12), single)))
    assert "gamma has dtype" in bad(161002, 1, place(np.ones(8, BF16)))
    assert "index has dtype" in bad(161002, 4, place(np.zeros((1, 2), np.int32)))
    assert "kCacheRef has dtype" in bad(561002, 5, place(np.ones((1, 1, 5, 4), np.int8)))
    assert "cacheModeOptional" in bad(561002, 12, "norm")
    assert "kv has 2 heads" in bad(561002, 0, place(np.ones((1, 2, 2, 12), half)))
    assert "gamma takes 9" in bad(561002, 1, place(np.ones(9, half)))
    assert "cos has shape" in bad(561002, 2, place(np.ones((1, 1, 3, 4), half)))
    assert "sin has shape" in bad(561002, 3, place(np.ones((1, 1, 1, 4), half)))
    assert "index has shape" in bad(561002, 4, place(np.zeros((2, 1), np.int64)))
    assert "ckvCacheRef has shape" in bad(561002, 6, place(np.ones((1, 1, 5, 4), half)))
    assert "kRopeScaleOptional" in bad(561002, 9, place(np.ones((1, 4), single)))
    quantised = kv_arguments()
    quantised[5], quantised[7] = (
        place(np.ones((1, 1, 5, 4), np.int8)),
        place(np.ones((1, 4), single)),
    )
    assert "does not quantise" in message(561002, KV, *quantised)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("quantised", [(False, False), (True, True), (True, False)])
@pytest.mark.parametrize("shifted", [False, True])
def test_queries_keys_and_values_in_one(
    shifted: bool, quantised: tuple[bool, bool], dtype: Any
) -> None:
    batches, length, queries, keys, places = 2, 3, 3, 2, 32
    tokens, heads = batches * length, queries + 2 * keys
    qkv = normal(1, (tokens, heads * 128), dtype)
    gammas = [normal(i, (128,), dtype) for i in (2, 3)]
    cos, sin = (normal(i, (tokens, 128), dtype) for i in (4, 5))
    index = np.array([40, 3, -1, 0, 63, 17])
    rng = np.random.default_rng(6)
    kinds = [np.dtype(np.int8) if q else np.dtype(dtype) for q in quantised]
    caches = [
        np.full((2, keys * 128 * k.itemsize // 32, places, 32 // k.itemsize), 7).astype(k)
        for k in kinds
    ]
    scales = [rng.uniform(0.02, 0.1, (keys, 128)).astype(np.float32) for _ in range(2)]
    offsets = [rng.uniform(-9, 9, (keys, 128)).astype(np.float32) for _ in range(2)]
    placed, q_out = [place(c) for c in caches], hollow((tokens, queries * 128), dtype)
    factors = [place(s) if q else None for s, q in zip(scales, quantised, strict=True)]
    factors += [
        place(o) if q and shifted else None for o, q in zip(offsets, quantised, strict=True)
    ]
    op(QKV)(
        *(place(x) for x in (qkv, *gammas, cos, sin, index)),
        *(q_out, *placed, *factors, [batches, length, heads, 128], [queries, keys, keys]),
        *(1e-6, "PA_NZ", None, None, None),
    )
    x = wide(qkv).reshape(tokens, heads, 128)
    q = turned(normed(x[:, :queries], gammas[0], 1e-6), cos[:, None], sin[:, None])
    k = turned(normed(x[:, queries:-keys], gammas[1], 1e-6), cos[:, None], sin[:, None])
    assert_close(q_out.numpy(), q.reshape(tokens, -1), scale=2)
    for i, values in enumerate((k, x[:, -keys:])):
        exact = np.full((2 * places, keys, 128), 7.0)
        for t, slot in enumerate(index):
            if slot >= 0:
                row = values[t]
                if quantised[i]:
                    row = row / wide(scales[i]) + (wide(offsets[i]) if shifted else 0)
                exact[slot] = row
        result = placed[i].numpy().transpose(0, 2, 1, 3).reshape(exact.shape)
        if quantised[i]:
            assert_quantised(result, exact, "int8", slack=2e-3)
        else:
            assert_close(result, exact, scale=2)


def test_qkv_refuses_and_faults() -> None:
    half = np.float16
    good: list[Any] = [
        place(np.ones((2, 4 * 128), half)),
        *(place(np.ones(128, half)) for _ in range(2)),
        *(place(np.ones((2, 128), half)) for _ in range(2)),
        *(place(np.zeros(2, np.int64)), place(np.ones((2, 256), half))),
        *(place(np.ones((1, 8, 16, 16), half)) for _ in range(2)),
        *(None, None, None, None, [1, 2, 4, 128], [2, 1, 1], 1e-6, "PA_NZ", None, None, None),
    ]

    def bad(status: int, position: int, given: Any) -> str:
        arguments = list(good)
        arguments[position] = given
        return message(status, QKV, *arguments)

    for position in (*range(9), 13, 14):
        bad(161001, position, None)
    assert "qkv has dtype" in bad(161002, 0, place(np.ones((2, 512), np.float32)))
    assert "kCacheRef has dtype" in bad(161002, 7, place(np.ones((1, 8, 16, 16), np.int8)))
    assert "kScaleOptional must be given" in bad(161002, 11, place(np.ones((1, 128), np.float32)))
    assert "qOutBeforeQuantOptional" in bad(161002, 17, place(np.ones((2, 256), half)))
    assert "qkvSize has 3" in bad(561002, 13, [1, 2, 4])
    assert "headNums is" in bad(561002, 14, [1, 2, 1])
    assert "headNums holds 0" in bad(561002, 14, [4, 0, 0])
    assert "cacheModeOptional" in bad(561002, 16, "PA")
    assert "qkv has shape" in bad(561002, 0, place(np.ones((3, 512), half)))
    assert "vCacheRef has shape" in bad(561002, 8, place(np.ones((2, 8, 16, 16), half)))
    good[5] = place(np.array([0, 16]))
    assert "index holds 16" in fault(QKV, *good)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("mode", ["contiguous", "page", None])
@pytest.mark.parametrize("deep", [True, False])
@pytest.mark.parametrize("bias", ["no product", None, "float32", "int32"])
def test_a_product_is_dequantised_and_split(
    bias: Any, deep: bool, mode: str | None, dtype: Any
) -> None:
    batches, length, queries, keys, head = 3, 2 if deep else 1, 2, 1, 16
    tokens, width = batches * length, (queries + 2 * keys) * head
    rng = np.random.default_rng(1)
    lead = (batches, length) if deep else (batches,)
    product = bias != "no product"
    x = (
        rng.integers(-500, 500, (*lead, width)).astype(np.int32)
        if product
        else normal(2, (*lead, width), dtype)
    )
    weight = rng.uniform(0.001, 0.01, width).astype(np.float32)
    active = rng.uniform(0.5, 2, tokens).astype(np.float32)
    added = rng.integers(-9, 9, width).astype(bias) if product and bias else None
    table = (batches, length, 1, head) if deep else (batches, head)
    cos, sin = (normal(i, table, dtype) for i in (3, 4))
    cache = np.full((4, 5, keys, head), 77, np.int8)
    flat = mode == "page"
    index = rng.permutation(20)[: tokens if flat else 20] if flat else np.array([0, 3, 2])
    if flat and not deep:
        index = index[:batches]
    scales = [rng.uniform(0.02, 0.1, (keys, head)).astype(np.float32) for _ in range(2)]
    offset = rng.uniform(-9, 9, keys * head).astype(np.float32)
    placed = [place(cache), place(cache)]
    outs = [hollow((*lead, n, head), dtype) for n in (queries, keys, keys)]
    op(DEQUANT)(
        *(place(x), place(cos), place(sin), *placed, place(index.astype(np.int32))),
        *(place(scales[0]), place(scales[1]), place(offset), None),
        *(place(weight) if product else None, place(active) if product else None),
        None if added is None else place(added),
        [queries * head, keys * head, keys * head],
        *("static", "BSND", True, mode, *outs),
    )
    rows = wide(x).reshape(tokens, width).astype(np.float64)
    if product:
        rows = rows + (wide(added) if bias == "int32" else 0)
        rows = rows * wide(weight) * wide(active)[:, None]
        rows = rows + (wide(added) if bias == "float32" else 0)
    rows = rows.reshape(tokens, -1, head)
    c, s = (wide(part).reshape(tokens, 1, head) for part in (cos, sin))
    q, k, v = rows[:, :queries], rows[:, queries:-keys], rows[:, -keys:]
    q, k = turned(q, c, s), turned(k, c, s)
    for out, value in zip(outs, (q, k, v), strict=True):
        assert_close(out.numpy(), value.reshape(out.shape), scale=2)
    for i, value in enumerate((k, v)):
        exact = np.full((20, keys, head), 77.0)
        for t in range(tokens):
            b, step = divmod(t, length)
            slot = index[t] if flat and deep else index[b] if flat else 5 * b + index[b] + step
            shift = offset.reshape(keys, head) if i == 0 else 0
            exact[slot] = value[t] / wide(scales[i]) + shift
        assert_quantised(placed[i].numpy().reshape(exact.shape), exact, "int8", slack=2e-3)


def dequant_arguments() -> list[Any]:
    half, single = np.float16, np.float32
    return [
        place(np.ones((2, 1, 64), half)),
        *(place(np.ones((2, 1, 1, 16), half)) for _ in range(2)),
        *(place(np.ones((2, 3, 1, 16), np.int8)) for _ in range(2)),
        place(np.zeros(2, np.int32)),
        *(place(np.ones((1, 16), single)) for _ in range(2)),
        *(None, None, None, None, None, [32, 16, 16], "static", "BSND", False, "contiguous"),
        *(place(np.ones((2, 1, n, 16), half)) for n in (2, 1, 1)),
    ]


def test_dequant_refuses_and_faults() -> None:
    single = np.float32

    def bad(status: int, position: int, given: Any) -> str:
        arguments = dequant_arguments()
        arguments[position] = given
        return message(status, DEQUANT, *arguments)

    for position in (*range(8), 13, 18, 19, 20):
        bad(161001, position, None)
    assert "x has dtype" in bad(161002, 0, place(np.ones((2, 1, 64), single)))
    whole = place(np.ones((2, 1, 64), np.int32))
    assert "weightScaleOptional is null" in bad(161002, 0, whole)
    assert "qOut has dtype" in bad(161002, 18, place(np.ones((2, 1, 2, 16), BF16)))
    assert "sizeSplits is" in bad(561002, 13, [16, 32, 16])
    assert "quantModeOptional" in bad(561002, 14, "dynamic")
    assert "layoutOptional" in bad(561002, 15, "BNSD")
    assert "cacheModeOptional" in bad(561002, 17, "pages")
    assert "indices has shape" in bad(561002, 5, place(np.zeros(3, np.int32)))
    assert "scaleK has shape" in bad(561002, 6, place(np.ones((1, 8), single)))
    assert "qOut has shape" in bad(561002, 18, place(np.ones((2, 1, 1, 16), np.float16)))
    for index in (-1, 3):
        arguments = dequant_arguments()
        arguments[5] = place(np.array([0, index], np.int32))
        assert f"indices holds {index}; allowed: 0 to 2" in fault(DEQUANT, *arguments)


def step_arguments(lengths: list[int]) -> list[Any]:
    table = np.arange(12, dtype=np.int64).reshape(4, 3) + 5
    return [
        *(place(np.full(4, 9)), place(np.array([[21], [22], [23]]))),
        *(place(np.full(4, 9)), place(np.array(lengths)), place(np.full(4, 9)), place(table)),
        *(4, 3, 4),
    ]


def test_sequences_advance_by_a_token() -> None:
    given = step_arguments([3, 4, 11, 2])
    op(STEP)(*given)
    tokens, _, positions, lengths, slots, _ = (x.numpy().tolist() for x in given[:6])
    assert tokens == [21, 22, 23, 9]
    assert positions == [3, 4, 11, 9]
    assert lengths == [4, 5, 12, 2]
    assert slots == [5 * 4 + 3, 9 * 4 + 0, 13 * 4 + 3, 9]


@pytest.mark.parametrize("length", [12, -1, 2**62])
def test_a_length_beyond_the_blocks_is_a_fault(length: int) -> None:
    given = step_arguments([length, 4, 11, 2])
    assert f"seqLensRef holds {length}" in fault(STEP, *given)
    assert given[0].numpy().tolist() == [9] * 4


def test_advance_step_refuses() -> None:
    def bad(status: int, position: int, given: Any) -> str:
        arguments = step_arguments([3, 4, 11, 2])
        arguments[position] = given
        return message(status, STEP, *arguments)

    for position in range(6):
        bad(161001, position, None)
        short = place(np.zeros((4, 3) if position == 5 else 4, np.int32))
        assert "has dtype INT32" in bad(161002, position, short)
    assert "numSeqs is 0" in bad(561002, 6, 0)
    assert "numQueries is 4" in bad(561002, 7, 4)
    assert "blockSize is 0" in bad(561002, 8, 0)
    assert "sampledTokenIds has shape" in bad(561002, 1, place(np.zeros((3, 2), np.int64)))
    assert "blockTables has shape" in bad(561002, 5, place(np.zeros((3, 3), np.int64)))


def test_single_rotations_refuse() -> None:
    x, table = place(np.ones((2, 3, 4, 64), np.float16)), place(np.ones((2, 1, 4, 64), np.float16))
    out, rope = hollow((2, 3, 4, 64), np.float16), "aclnnInterleaveRope"
    assert "x is null" in message(161001, rope, None, table, table, out)
    single = place(np.ones((2, 3, 4, 64), np.float32))
    assert "x has dtype" in message(161002, rope, single, table, table, out)
    assert "dimension 1 must be 1" in message(561002, rope, x, x, x, out)
    assert "out has shape" in message(561002, rope, x, table, table, table)
    part = "aclnnInplacePartialRotaryMul"
    cos = place(np.ones((2, 3, 1, 8), np.float16))
    assert "rotary_mode is 0" in message(561002, part, x, cos, cos, 0, [0, 8])
    for slice_ in ([-2, 6], [60, 68], [8, 0], [0, 7], [2**62, -(2**62)]):
        assert "partialSliceOptional is" in message(561002, part, x, cos, cos, 1, slice_)
    assert "does not broadcast" in message(561002, part, x, cos, cos, 1, [0, 16])
    assert "one head" in message(
        561002, part, x, *[place(np.ones((2, 1, 4, 8), np.float16))] * 2, 1, [0, 8]
    )
    brain = place(np.ones((2, 3, 1, 8), BF16))
    assert "cos has dtype" in message(161002, part, x, brain, brain, 1, [0, 8])
    whole = "aclnnRotaryPositionEmbeddingV2"
    assert "mode is 2" in message(561002, whole, x, table, table, 2, None, out)
    square = place(np.ones((8, 8), np.float16))
    assert "rotate has shape" in message(561002, whole, x, table, table, 0, square, out)


_ON_950 = """
import ml_dtypes
import numpy as np
import aclnn_py as ap
with ap.Device(0):
    put, rng = ap.from_numpy, np.random.default_rng(9)
    kv = rng.standard_normal((1, 1, 2, 96)).astype(np.float16)
    ones, zeros = np.ones((1, 1, 2, 32), np.float16), np.zeros((1, 1, 2, 32), np.float16)
    kind = ml_dtypes.float8_e4m3fn
    k, v = put(np.zeros((1, 1, 4, 32), kind)), put(np.zeros((1, 1, 4, 64), np.int8))
    outs = [put(np.zeros((1, 1, 2, n), np.float16)) for n in (32, 64)]
    factor = lambda value: put(np.full(1, value, np.float32))
    ap.ops.kv_rms_norm_rope_cache(
        put(kv), put(np.ones(64, np.float16)), put(ones), put(zeros), put(np.array([[3, 0]])),
        k, v, factor(2), factor(20), None, factor(5), 0.0, "Norm", False, *outs)
    x = kv.astype(np.float64)[0, 0]
    key = np.concatenate([x[:, 64::2], x[:, 65::2]], axis=1) * 2
    value = x[:, :64] / np.sqrt((x[:, :64] ** 2).mean(1, keepdims=True)) * 20 + 5
    got = k.numpy()[0, 0].astype(np.float64)
    np.testing.assert_allclose(got[[3, 0]], key, rtol=0.07, atol=0.01)
    assert not got[[1, 2]].any()
    assert np.abs(v.numpy()[0, 0][[3, 0]] - value).max() <= 0.51
    print("right")
"""


def test_caches_of_a_950_are_quantised_in_every_mode() -> None:
    run_on_950(_ON_950)
