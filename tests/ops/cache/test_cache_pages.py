# SPDX-License-Identifier: Apache-2.0
"""Keys and values that go into pages of a cache and come back, against NumPy; all are exact."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, op, place, refusal, wide

import aclnn_py as ap
from aclnn_py.errors import AclnnError

from ..problems import fault

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
Rng = np.random.Generator
BF16 = np.dtype(ml_dtypes.bfloat16)
KINDS = [np.dtype(np.float16), BF16, np.dtype(np.int8)]
SCATTER, GATHER = "aclnnScatterPaKvCache", "aclnnGatherPaKvCache"


def rows(rng: Rng, shape: tuple[int, ...], dtype: Any) -> Array:
    return rng.integers(-100, 100, shape).astype(dtype)


def untouched(shape: tuple[int, ...], dtype: Any) -> Array:
    return np.full(shape, 77).astype(dtype)


def written(cache: Array, slots: Array, tokens: Array) -> Array:
    """Slot by slot into a cache of (blocks, places, ...); slots below 0 take nothing."""
    result = cache.copy()
    for slot, token in zip(slots, tokens, strict=True):
        if slot >= 0:
            block, at = divmod(int(slot), cache.shape[1])
            result[block, at] = token.reshape(cache.shape[2:])
    return result


def scatter(
    key: Any,
    key_cache: Any,
    slots: Any,
    value: Any,
    value_cache: Any,
    *lists: Any,
    mode: str | None = None,
    form: str | None = None,
    steps: tuple[Any, Any] = (None, None),
) -> None:
    lens, offsets, lengths = lists or (None, None, None)
    tensors = [key, key_cache, slots, value, value_cache, lens, offsets, lengths]
    op(SCATTER)(*tensors, mode, form, *steps)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_tokens_go_to_their_slots(kind: Any, layout: str) -> None:
    rng = np.random.default_rng(1)
    key, value = rows(rng, (7, 3, 10), kind), rows(rng, (7, 3, 6), kind)
    slots = np.array([4, 11, -1, 0, 19, 5, -3])
    caches = untouched((5, 4, 3, 10), kind), untouched((5, 4, 3, 6), kind)
    for mode, form, index in (("Norm", "None", np.int32), (None, None, np.int64)):
        placed = [place(cache, layout) for cache in caches]
        scatter(
            place(key, layout),
            placed[0],
            place(slots.astype(index), layout),
            place(value, layout),
            placed[1],
            mode=mode,
            form=form,
        )
        assert_same(placed[0].numpy(), written(caches[0], slots, key))
        assert_same(placed[1].numpy(), written(caches[1], slots, value))


@pytest.mark.parametrize("width", [1024, 1023])
def test_more_tokens_than_a_cache_of_the_processor_holds(width: int) -> None:
    """Such rows are written past the caches; those that are no whole lines too."""
    rng = np.random.default_rng(3)
    tokens = rng.integers(-100, 100, (2100, 1, width)).astype(np.float16)
    slots = rng.permutation(2200)[:2100].astype(np.int32)
    cache = place(untouched((22, 100, 1, width), np.float16))
    scatter(
        place(tokens),
        cache,
        place(slots),
        place(tokens[..., :1]),
        place(untouched((22, 100, 1, 1), np.float16)),
    )
    expected = untouched((2200, 1, width), np.float16)
    expected[slots] = tokens
    assert_same(cache.numpy(), expected.reshape(22, 100, 1, width))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_heads_may_come_before_places(layout: str) -> None:
    rng = np.random.default_rng(2)
    key, value = rows(rng, (5, 3, 32), np.float16), rows(rng, (5, 3, 16), np.float16)
    slots = np.array([7, 2, 0, 13, 6], np.int32)
    placed = [place(untouched((4, 3, 4, width), np.float16), layout) for width in (32, 16)]
    scatter(place(key), placed[0], place(slots), place(value), placed[1], mode="Norm", form="NHSD")
    for cache, tokens in zip(placed, (key, value), strict=True):
        blocks = untouched((4, 4, 3, tokens.shape[2]), np.float16)
        assert_same(cache.numpy(), written(blocks, slots, tokens).transpose(0, 2, 1, 3))


@pytest.mark.parametrize("split", [False, True], ids=["flat", "by head"])
@pytest.mark.parametrize("kinds", [(KINDS[0], KINDS[0]), (KINDS[2], BF16), (BF16, KINDS[0])])
def test_blocks_of_32_bytes(kinds: tuple[Any, Any], split: bool) -> None:
    rng = np.random.default_rng(3)
    slots = np.array([17, 2, 0, 40, -1, 31])
    placed, tokens, wanted = [], [], []
    for kind, width in zip(kinds, (64, 32), strict=True):
        unit = 32 // np.dtype(kind).itemsize
        token = rows(rng, (6, 2, width), kind)
        # The elements of a token in runs of 32 bytes, each run in a block of its own.
        runs = written(untouched((3, 16, 2 * width // unit, unit), kind), slots, token)
        shape = (3, 2, width // unit, 16, unit) if split else (3, 2 * width // unit, 16, unit)
        wanted.append(runs.transpose(0, 2, 1, 3).reshape(shape))
        placed.append(place(untouched(shape, kind)))
        tokens.append(place(token))
    scatter(tokens[0], placed[0], place(slots), tokens[1], placed[1], mode="PA_NZ")
    for cache, oracle in zip(placed, wanted, strict=True):
        assert_same(cache.numpy(), oracle)


@pytest.mark.parametrize("form", ["None", "Nct"])
def test_keys_alone(form: str) -> None:
    rng = np.random.default_rng(4)
    key, slots = rows(rng, (4, 2, 6), np.float16), np.array([3, 7, 0, 2], np.int32)
    cache = place(untouched((2, 4, 2, 6), np.float16))
    nothing = place(np.array(0, np.float16)), place(np.array(7, np.float16))
    steps = ([12, 1], [0, 0]) if form == "Nct" else (None, None)
    scatter(place(key), cache, place(slots), *nothing, form=form, steps=steps)
    assert_same(cache.numpy(), written(untouched((2, 4, 2, 6), np.float16), slots, key))
    assert nothing[1].numpy() == 7


def test_tokens_a_stride_apart() -> None:
    rng = np.random.default_rng(5)
    # Rows of query, key and value side by side, as one product gives them.
    joined = rows(rng, (5, 40), np.float16)
    value = rows(rng, (5, 3, 4), np.float16)
    slots = np.array([1, 9, 6, 0, 3], np.int32)
    whole = ap.Tensor.wrap(place(joined).buffer, (5, 3, 4), np.float16)
    caches = [place(untouched((3, 4, 3, 4), np.float16)) for _ in range(2)]
    scatter(
        whole,
        caches[0],
        place(slots),
        place(value),
        caches[1],
        form="Nct",
        steps=([40, 12], [8, 0]),
    )
    blocks = untouched((3, 4, 3, 4), np.float16)
    assert_same(caches[0].numpy(), written(blocks, slots, joined[:, 8:20].reshape(5, 3, 4)))
    assert_same(caches[1].numpy(), written(blocks, slots, value))


LENGTHS = np.array([5, 0, 4])
SLOTS = np.array([[0, 6], [30, 30], [12, 20]])
LENS = np.array([[3, 5], [0, 0], [0, 2]])
OFFSETS = np.array([[1, 0], [0, 0], [2, -1]])


def compressed(form: str, tokens: Array, cache: Array) -> Array:
    """The definition, a head at a time."""
    places = wide(cache).reshape(-1, cache.shape[-1])
    begin = 0
    for sequence, length in enumerate(LENGTHS):
        own = wide(tokens)[begin : begin + length]
        for head in range(2):
            window, offset = LENS[sequence, head], OFFSETS[sequence, head]
            x = own[:, head]
            if form == "Alibi":
                kept = x[length - window :]
            elif offset < 0 or window == 0:
                kept = x
            else:
                middle = x[offset : offset + window].mean(0, keepdims=True)
                parts = [x[:offset], middle, x[offset + window :]]
                kept = np.concatenate(parts if form == "Rope" else parts[::2])
            slot = SLOTS[sequence, head]
            places[slot : slot + len(kept)] = kept
        begin += length
    return places.reshape(cache.shape)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", ["Alibi", "Rope", "Omni"])
def test_compressed_heads(form: str, layout: str) -> None:
    rng = np.random.default_rng(6)
    for kind in KINDS if form != "Rope" else KINDS[:2]:
        key, value = rows(rng, (9, 2, 6), kind), rows(rng, (9, 2, 4), kind)
        index = np.int64 if kind == BF16 else np.int32
        slots, lens, offsets, lengths = (
            place(x.reshape(-1).astype(index)) for x in (SLOTS, LENS, OFFSETS, LENGTHS)
        )
        caches = [untouched((8, 4, 1, width), kind) for width in (6, 4)]
        placed = [place(cache, layout) for cache in caches]
        scatter(
            place(key, layout),
            placed[0],
            slots,
            place(value, layout),
            placed[1],
            lens,
            None if form == "Alibi" else offsets,
            lengths,
            form=form,
        )
        for cache, tokens, given in zip(placed, (key, value), caches, strict=True):
            oracle = compressed(form, tokens, given)
            if form == "Rope":
                assert_close(cache.numpy(), oracle)
            else:
                assert_same(cache.numpy(), oracle.astype(kind))


def test_a_key_may_lie_in_its_cache() -> None:
    cache = place(np.arange(32, dtype=np.float16).reshape(2, 4, 1, 4))
    key = cache.reshape(8, 1, 4)[:3]
    before, slots = cache.numpy().copy(), np.array([1, 2, 0], np.int32)
    value = place(np.zeros((3, 1, 4), np.float16))
    scatter(key, cache, place(slots), value, place(untouched((2, 4, 1, 4), np.float16)))
    assert_same(cache.numpy(), written(before, slots, before.reshape(8, 1, 4)[:3]))


@pytest.mark.parametrize("slot", [12, 2**31 - 1])
def test_slots_beyond_the_cache_are_a_fault(slot: int) -> None:
    key = place(np.ones((2, 2, 4), np.float16))
    caches = [place(untouched((3, 4, 2, 4), np.float16)) for _ in range(2)]
    slots = place(np.array([0, slot], np.int32))
    text = fault(SCATTER, key, caches[0], slots, key, caches[1], *[None] * 7)
    assert f"slotMapping holds {slot}" in text and "12 slots" in text


@pytest.mark.parametrize(
    ("lens", "offsets", "lengths", "slot", "named"),
    [
        ([4], [0], [3], 0, "compressLensOptional holds 4"),
        ([1], [4], [3], 0, "compressSeqOffsetOptional holds 4"),
        ([1], [-2], [3], 0, "compressSeqOffsetOptional holds -2"),
        ([1], [0], [4], 0, "seqLensOptional holds 4"),
        ([1], [0], [-1], 0, "seqLensOptional holds -1"),
        ([-1], [0], [3], 0, "compressLensOptional holds -1"),
        ([1], [0], [3], 6, "slotMapping holds 6, where 3 rows begin"),
    ],
)
def test_lists_that_lead_outside_are_a_fault(
    lens: list[int], offsets: list[int], lengths: list[int], slot: int, named: str
) -> None:
    key = place(np.ones((3, 1, 4), np.float16))
    caches = [place(untouched((2, 4, 1, 4), np.float16)) for _ in range(2)]
    lists = [place(np.array(x, np.int32)) for x in ([slot], lens, offsets, lengths)]
    text = fault(
        SCATTER, key, caches[0], lists[0], key, caches[1], *lists[1:], "Norm", "Rope", None, None
    )
    assert named in text


def test_strides_that_lead_out_of_memory_are_a_fault() -> None:
    key = place(np.ones((3, 1, 4), np.float16))
    caches = [place(untouched((2, 4, 1, 4), np.float16)) for _ in range(2)]
    slots = place(np.arange(3, dtype=np.int32))
    for strides, offsets in (([2**62, 4], [0, 0]), ([4, 2**40], [0, 0]), ([4, 4], [0, 2**62])):
        arguments = [key, caches[0], slots, key, caches[1], None, None, None]
        text = fault(SCATTER, *arguments, None, "Nct", strides, offsets)
        assert "offsetsOptional and stridesOptional" in text
        ap.synchronize()


def message(status: int, name: str, *arguments: Any) -> str:
    with pytest.raises(AclnnError) as caught:
        op(name)(*arguments)
    assert caught.value.status == status, caught.value
    return str(caught.value)


def test_scatter_refuses() -> None:
    half = np.float16
    key, cache = place(np.ones((2, 2, 16), half)), place(np.ones((3, 4, 2, 16), half))
    slots, none = place(np.zeros(2, np.int32)), [None] * 3
    good = [key, cache, slots, key, cache, *none, None, None, None, None]

    def bad(status: int, **changes: Any) -> str:
        arguments = list(good)
        for position, given in changes.items():
            arguments[int(position[1:])] = given
        return message(status, SCATTER, *arguments)

    for position in range(5):
        bad(161001, **{f"_{position}": None})
    single = place(np.ones((2, 2, 16), np.float32))
    assert "key has dtype FLOAT" in bad(161002, _0=single)
    assert "keyCacheOptionalRef has dtype" in bad(161002, _1=place(np.ones((3, 4, 2, 16), np.int8)))
    assert "value has dtype" in bad(
        161002, _3=place(np.ones((2, 2, 16), np.int8)), _4=place(np.ones((3, 4, 2, 16), np.int8))
    )
    assert "slotMapping has dtype" in bad(161002, _2=place(np.zeros(2, np.float32)))
    assert "key has 2 dimensions" in bad(161002, _0=place(np.ones((2, 16), half)))
    assert "cacheModeOptional" in bad(161002, _8="PA")
    assert "scatterModeOptional" in bad(161002, _9="alibi")
    one = place(np.ones((3, 4, 1, 16), half))
    four = place(np.ones((1, 2, 2, 16), half))
    assert "key has 4 dimensions" in bad(561002, _0=four, _3=four)
    assert "value has shape" in bad(561002, _3=place(np.ones((3, 2, 16), half)))
    assert "keyCacheOptionalRef has shape" in bad(561002, _1=place(np.ones((3, 4, 1, 16), half)))
    assert "slotMapping has shape" in bad(561002, _2=place(np.zeros(3, np.int32)))
    assert "valueCacheOptionalRef has 20 slots" in bad(
        561002, _4=place(np.ones((5, 4, 2, 16), half))
    )
    assert "seqLensOptional must be null" in bad(561002, _7=slots)
    assert "compressLensOptional must be given" in bad(561002, _9="Alibi", _1=one, _4=one)
    assert '"PA_NZ" allows' in bad(561002, _8="PA_NZ", _9="Rope")
    assert "empty" in bad(
        561002,
        _0=ap.empty((0, 2, 16), half),
        _3=ap.empty((0, 2, 16), half),
        _2=ap.empty((0,), np.int32),
    )
    assert "stridesOptional has 1 numbers" in bad(561002, _9="Nct", _10=[1])
    assert "stridesOptional has 0 at 1" in bad(561002, _9="Nct", _10=[1, 0])
    assert "offsetsOptional has -1 at 0" in bad(561002, _9="Nct", _11=[-1, 0])
    assert "32 bytes" in bad(561002, _0=place(np.ones((2, 2, 8), half)), _8="PA_NZ")
    assert "32 bytes" in bad(
        561002,
        _0=place(np.ones((2, 2, 8), half)),
        _1=place(np.ones((3, 2, 4, 8), half)),
        _3=place(np.ones((2, 2, 8), half)),
        _4=place(np.ones((3, 2, 4, 8), half)),
        _9="NHSD",
    )


def gathered(cache: Array, table: Array, lengths: Array, offsets: Array) -> Array:
    """Sequence by sequence from a cache of (blocks, places, ...)."""
    result = []
    for sequence, length in enumerate(lengths):
        skipped = offsets[sequence] // cache.shape[1]
        for t in range(length):
            block = table[sequence, skipped + t // cache.shape[1]]
            result.append(cache[block, t % cache.shape[1]])
    return np.stack(result)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("ends", [False, True], ids=["lengths", "ends"])
@pytest.mark.parametrize("skips", [False, True], ids=["whole", "skipped"])
def test_sequences_come_out_of_pages(skips: bool, ends: bool, layout: str) -> None:
    rng = np.random.default_rng(7)
    table = rng.integers(0, 6, (4, 5)).astype(np.int32)
    lengths, offsets = np.array([5, 0, 8, 3]), np.array([4, 1, 9, 3] if skips else [0] * 4)
    given = np.concatenate([[0], np.cumsum(lengths)]) if ends else lengths
    for kind in KINDS:
        caches = [rows(rng, (6, 4, 3, width), kind) for width in (5, 8)]
        results = [place(untouched((16, 3, width), kind), layout) for width in (5, 8)]
        op(GATHER)(
            *(place(cache, layout) for cache in caches),
            *(place(table), place(given.astype(np.int32))),
            *results,
            place(offsets.astype(np.int32)) if skips else None,
            *("Norm", ends),
        )
        for result, cache in zip(results, caches, strict=True):
            assert_same(result.numpy(), gathered(cache, table, lengths, offsets))


def test_rows_behind_the_last_sequence_keep_their_values() -> None:
    cache = place(np.arange(8, dtype=np.float16).reshape(2, 4, 1, 1))
    result = place(untouched((5, 1, 1), np.float16))
    lists = place(np.array([[1]], np.int32)), place(np.array([3], np.int32))
    op(GATHER)(
        cache, cache, *lists, result, place(untouched((5, 1, 1), np.float16)), None, "Norm", False
    )
    assert result.numpy().reshape(-1).tolist() == [4, 5, 6, 77, 77]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_what_was_scattered_in_blocks_is_gathered(kind: Any) -> None:
    rng = np.random.default_rng(8)
    unit = 32 // np.dtype(kind).itemsize
    key, value = rows(rng, (20, 2, 2 * unit), kind), rows(rng, (20, 2, unit), kind)
    caches = [place(untouched((3, chunks, 16, unit), kind)) for chunks in (4, 2)]
    table = np.array([[2, 0]], np.int32)
    slots = np.concatenate([32 + np.arange(16), np.arange(4)]).astype(np.int32)
    scatter(place(key), caches[0], place(slots), place(value), caches[1], mode="PA_NZ")
    results = [place(untouched((20, chunks * unit), kind)) for chunks in (4, 2)]
    op(GATHER)(
        *(ap.Tensor.wrap(c.buffer, c.shape, c.dtype, format="FRACTAL_NZ") for c in caches),
        *(place(table), place(np.array([20], np.int32)), *results, None, "PA_NZ", False),
    )
    assert_same(results[0].numpy(), key.reshape(20, -1))
    assert_same(results[1].numpy(), value.reshape(20, -1))


@pytest.mark.parametrize(
    ("table", "lengths", "offset", "ends", "named"),
    [
        ([[0, 3]], [5], 0, False, "blockTables holds 3; keyCache has 3 blocks"),
        ([[0, -1]], [5], 0, False, "blockTables holds -1"),
        ([[0, 1]], [9], 0, False, "9 tokens behind seqOffsetOptional 0"),
        ([[0, 1]], [5], 4, False, "5 tokens behind seqOffsetOptional 4"),
        ([[0, 1]], [5], -1, False, "seqOffsetOptional -1"),
        ([[0, 1]], [13], 0, False, "a length of 13"),
        ([[0, 1]], [-1], 0, False, "a length of -1"),
        ([[0, 1]], [3, 1], 0, True, "a length of -2"),
    ],
)
def test_gather_faults(
    table: list[list[int]], lengths: list[int], offset: int, ends: bool, named: str
) -> None:
    cache, result = place(np.ones((3, 4, 1, 2), np.float16)), place(np.ones((12, 1, 2), np.float16))
    lists = [place(np.array(x, np.int32)) for x in (table, lengths, [offset])]
    text = fault(GATHER, cache, cache, *lists[:2], result, result, lists[2], "Norm", ends)
    assert named in text


def test_gather_refuses() -> None:
    half = np.float16
    cache, result = place(np.ones((3, 4, 2, 16), half)), place(np.ones((6, 2, 16), half))
    table, lengths = place(np.zeros((2, 3), np.int32)), place(np.ones(2, np.int32))
    good = [cache, cache, table, lengths, result, result, None, "Norm", False]

    def bad(status: int, position: int, given: Any) -> str:
        arguments = list(good)
        arguments[position] = given
        return message(status, GATHER, *arguments)

    for position in range(6):
        bad(161001, position, None)
    assert "keyCache has dtype" in bad(161002, 0, place(np.ones((3, 4, 2, 16), np.float32)))
    assert "valueCache has dtype" in bad(161002, 1, place(np.ones((3, 4, 2, 16), np.float32)))
    assert "blockTables has dtype" in bad(161002, 2, place(np.zeros((2, 3), np.int64)))
    assert "seqLens has dtype" in bad(161002, 3, place(np.ones(2, np.int64)))
    assert "seqLens has shape" in bad(161002, 8, True)
    assert "cacheMode" in bad(161002, 7, "norm")
    assert "keyRef has shape" in bad(161002, 4, place(np.ones((6, 1, 16), half)))
    assert "valueRef has 5 rows" in bad(161002, 5, place(np.ones((5, 2, 16), half)))
    assert "valueCache has 2 blocks" in bad(161002, 1, place(np.ones((2, 4, 2, 16), half)))
    assert "FRACTAL_NZ" in message(
        161002,
        GATHER,
        *(cache, cache, table, lengths, *[place(np.ones((6, 64), half))] * 2, None, "PA_NZ", False),
    )
    assert refusal(GATHER, *good[:6], place(np.zeros(3, np.int32)), "Norm", False) == 161002


_ON_950 = """
import ml_dtypes
import numpy as np
import aclnn_py as ap
from aclnn_py import ops
with ap.Device(0):
    put, rng = ap.from_numpy, np.random.default_rng(9)
    # Keys of 8 bits with their scales, heads before places.
    kind = np.dtype(ml_dtypes.float8_e4m3fn)
    key, value = (rng.integers(0, 100, (2, 3, n)).astype(np.uint8).view(kind) for n in (4, 6))
    scale, slots = rng.random((2, 3), np.float32), [5, 2]
    caches = [put(np.zeros((2, 3, 4, n), kind)) for n in (4, 6)]
    scales = put(np.zeros((2, 3, 4, 1), np.float32))
    ops.scatter_pa_kv_cache_with_k_scale(
        put(key), put(value), *caches, put(np.array(slots)), put(scale), scales, "BNBD")
    results = [*(cache.numpy().view(np.uint8) for cache in caches), scales.numpy()]
    tokens = [key.view(np.uint8), value.view(np.uint8), scale[..., None]]
    for result, token in zip(results, tokens):
        wanted = np.zeros_like(result)
        for i, slot in enumerate(slots):
            wanted[slot // 4, :, slot % 4] = token[i]
        assert np.array_equal(result, wanted)
    # One cache, plain and compressed, with sequences padded to one length.
    key = rng.integers(-50, 50, (3, 2, 4)).astype(np.float32)
    cache = put(np.zeros((2, 4, 2, 4), np.float32))
    ops.scatter_pa_cache(put(key), cache, put(np.array([6, -1, 1])), None, None, None, "Norm")
    wanted = np.zeros((8, 2, 4), np.float32)
    wanted[6], wanted[1] = key[0], key[2]
    assert np.array_equal(cache.numpy().reshape(8, 2, 4), wanted)
    key = rng.integers(-50, 50, (2, 4, 2, 3)).astype(np.float32)
    slots, lens, lengths = np.array([[0, 4], [7, 11]]), np.array([[2, 1], [0, 3]]), np.array([4, 3])
    offsets = np.array([1, 0, 2, 0])
    for offset in (None, offsets):
        cache = put(np.zeros((4, 4, 1, 3), np.float32))
        ops.scatter_pa_cache(
            put(key), cache, put(slots), put(lens if offset is not None else lens.reshape(-1)),
            None if offset is None else put(offset), put(lengths), "Norm")
        wanted = np.zeros((16, 3))
        for b in range(2):
            for h in range(2):
                x, n, at = key[b, :lengths[b], h], lens[b, h], slots[b, h]
                if offset is None:
                    x = x[lengths[b] - n:]
                elif n:
                    o = offset[2 * b + h]
                    x = np.concatenate([x[:o], x[o:o + n].mean(0, keepdims=True), x[o + n:]])
                wanted[at:at + len(x)] = x
        np.testing.assert_allclose(cache.numpy().reshape(16, 3), wanted, rtol=1e-6)
    # Two numbers of 4 bits in a byte.
    four = np.dtype(ml_dtypes.float4_e2m1fn)
    key = rng.integers(-2, 3, (2, 1, 6)).astype(four)
    cache = put(np.zeros((2, 2, 1, 6), four))
    ops.scatter_pa_cache(put(key), cache, put(np.array([3, 0])), None, None, None, "Norm")
    wanted = np.zeros((4, 1, 6), np.float32)
    wanted[3], wanted[0] = key.astype(np.float32)
    assert np.array_equal(cache.numpy().astype(np.float32).reshape(4, 1, 6), wanted)
    print("right")
"""


def run_on_950(program: str) -> None:
    environment = {**os.environ, "ACLNN_PY_EMULATOR_SOC": "Ascend950PR_9599"}
    made = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert made.stdout == "right\n", made.stderr


def test_caches_of_a_950() -> None:
    run_on_950(_ON_950)


def test_operators_of_a_950_are_refused() -> None:
    key, cache = place(np.ones((2, 2, 4), np.float16)), place(np.ones((1, 4, 2, 4), np.float16))
    slots = place(np.zeros(2, np.int32))
    arguments = [key, cache, slots, None, None, None, "Norm"]
    assert "950" in message(161002, "aclnnScatterPaCache", *arguments)
    arguments = [key, key, cache, cache, slots, key, cache, None]
    assert "950" in message(161002, "aclnnScatterPaKvCacheWithKScale", *arguments)
