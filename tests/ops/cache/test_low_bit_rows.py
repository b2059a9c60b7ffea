# SPDX-License-Identifier: Apache-2.0
"""Caches of a 950 whose rows are quantised on their way, exactly as the formulas give them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_same
from helpers.operators import op, place

import aclnn_py as ap
from aclnn_py.errors import AclnnError

from ..low_bits import FLOAT4, FLOAT8, LARGEST, SCALE, codes_of, encoded, factors, scale_codes

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="chooses the chip of the emulator"),
]

Array = npt.NDArray[Any]
BF16 = np.dtype(ml_dtypes.bfloat16)
SLOTS = np.array([4, -1, 0, 5], np.int32)  # the second row goes nowhere


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def random(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape) * 2.0 ** rng.integers(-9, 6, shape)
    x[0, :64] = 0
    return x.astype(dtype)


def by_groups(x: Array, kind: str, group: int, algorithm: int) -> tuple[Array, Array]:
    """Codes and codes of scales of groups whose scales are powers of two."""
    parts = x.astype(np.float64).reshape(len(x), -1, group)
    scales = scale_codes(np.abs(parts).max(-1), kind, algorithm)
    return encoded(parts / factors(scales)[..., None], kind).reshape(x.shape), scales


def made(found: Any) -> list[Array]:
    assert not isinstance(found, Refused), found
    return [codes_of(x) if x.dtype.itemsize == 1 else x for x in found]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(("mode", "kind"), [*((0, k) for k in FLOAT8), *((3, k) for k in FLOAT4)])
def test_groups_with_powers_of_two(newer: Chip950, mode: int, kind: str, dtype: str) -> None:
    x = random((4, 96), BF16 if dtype == "bfloat16" else np.float16)
    cache, scale = made(
        newer.operator(
            "indexer_quant_cache", Made((2, 3, 1, 98), kind), Made((2, 3, 1, 5), SCALE),
            Given(x, dtype), Given(SLOTS, "int32"), mode, True, 1.0,
        )
    )  # fmt: skip
    codes, powers = by_groups(x, kind, 32, 0 if mode == 3 else 1)
    junk = 77 & (15 if kind in FLOAT4 else 255)
    expected, scales = np.full((6, 98), junk, np.uint8), np.full((6, 5), 77, np.uint8)
    for row, slot in enumerate(SLOTS):
        if slot >= 0:
            expected[slot, :96], scales[slot, :3] = codes[row], powers[row]
    assert_same(cache.reshape(6, 98), expected)
    assert_same(scale.reshape(6, 5), scales)


@pytest.mark.parametrize("kind", FLOAT8)
def test_rows_with_one_scale(newer: Chip950, kind: str) -> None:
    x = random((4, 64), BF16, 3)
    cache, scale = made(
        newer.operator(
            "indexer_quant_cache", Made((2, 3, 1, 64), kind), Made((2, 3, 1, 1), "float32"),
            Given(x, "bfloat16"), Given(SLOTS, "int32"), 1, False, 1.0,
        )
    )  # fmt: skip
    wide = x.astype(np.float32)
    scales = np.abs(wide).max(1) / np.float32(LARGEST[kind])
    codes = encoded(wide / np.where(scales == 0, np.float32(1), scales)[:, None], kind)
    for row, slot in enumerate(SLOTS):
        if slot >= 0:
            assert_same(cache.reshape(6, 64)[slot], codes[row])
            assert_same(scale.reshape(6)[slot], scales[row])
    assert_same(scale.reshape(6)[1:4], np.full(3, 77, np.float32))


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize(("mode", "rounds"), [(0, False), (0, True), (1, True)])
def test_all_of_a_token_in_one_row(newer: Chip950, mode: int, rounds: bool, index: str) -> None:
    x = random((4, 192), BF16, 5)
    columns = {0: 288, 1: 258}[mode] + 3
    (cache,) = made(
        newer.operator(
            "kv_compress_epilog", Made((2, 3, 1, columns), "uint8"), Given(x, "bfloat16"),
            Given(SLOTS.astype(index), index), 64, mode, rounds, 1.0,
        )
    )  # fmt: skip
    rest = x[:, :128].astype(np.float32)
    rotary = x[:, 128:].view(np.uint8)
    if mode == 1:
        codes, powers = by_groups(rest, "float8_e4m3fn", 64, 1)
        rows = np.concatenate([codes, rotary, powers], 1)
    else:
        most = np.abs(rest.reshape(4, 2, 64)).max(-1)
        scales = most / np.float32(448)
        if rounds:
            scales = np.where(scales > 0, 2.0 ** np.ceil(np.log2(np.maximum(scales, 1e-30))), 0)
        stored = scales.astype(BF16)
        divisor = np.where(stored == 0, 1, stored.astype(np.float32)).astype(np.float32)
        codes = encoded(rest.reshape(4, 2, 64) / divisor[..., None], "float8_e4m3fn")
        rows = np.concatenate([rotary, codes.reshape(4, 128), stored.view(np.uint8)], 1)
    expected = np.full((6, columns), 77, np.uint8)
    for row, slot in enumerate(SLOTS):
        if slot >= 0:
            expected[slot, : rows.shape[1]] = rows[row]
    assert_same(cache.reshape(6, columns), expected)


def write_apart() -> Array:
    """Write rows to a cache whose blocks of three places have a place between them."""
    whole = ap.from_numpy(np.full((2, 4, 1, 224), 77, np.uint8))
    x = ap.from_numpy(random((4, 128), BF16, 7))
    op("KvCompressEpilog")(whole[:, :3], x, place(SLOTS), 64, 0, True, 1.0)
    ap.synchronize()
    return whole.numpy()


def test_blocks_may_lie_apart(newer: Chip950) -> None:
    found = newer.call("ops.cache.test_low_bit_rows", "write_apart")
    (dense,) = newer.operator(
        "kv_compress_epilog", Made((2, 3, 1, 224), "uint8"),
        Given(random((4, 128), BF16, 7), "bfloat16"), Given(SLOTS, "int32"), 64, 0, True, 1.0,
    )  # fmt: skip
    assert_same(found[:, :3], dense)
    assert_same(found[:, 3], np.full((2, 1, 224), 77, np.uint8))
    assert (dense[1] != 77).any()


INDEXER: list[Any] = [
    Made((2, 3, 1, 64), "float8_e4m3fn"), Made((2, 3, 1, 2), SCALE),
    Given(np.zeros((4, 64), BF16), "bfloat16"), Given(SLOTS, "int32"), 0, True, 1.0,
]  # fmt: skip
EPILOG: list[Any] = [
    Made((2, 3, 1, 224), "uint8"), Given(np.zeros((4, 128), BF16), "bfloat16"),
    Given(SLOTS, "int32"), 64, 0, True, 1.0,
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "at", "value", "words"),
    [
        ("indexer", 3, None, "slotMapping is null"),
        ("indexer", 4, 2, "quantMode is 2; allowed: 0, 1, 3"),
        ("indexer", 5, False, "roundScale is false"),
        ("indexer", 4, 1, "they must be FLOAT8 and FLOAT"),
        ("indexer", 0, Made((6, 1, 64), "float8_e4m3fn"), "cacheRef has 3 dim"),
        ("indexer", 0, Made((2, 3, 1, 63), "float8_e4m3fn"), "at least 64"),
        ("indexer", 1, Made((3, 2, 1, 2), SCALE), "has other blocks"),
        ("indexer", 3, Given(SLOTS[:3], "int32"), "slotMapping has 3 slots for 4 rows"),
        ("indexer", 3, Given(SLOTS + 1, "int32"), "slotMapping has 6; the cache has 6 slots"),
        ("indexer", 2, Given(np.zeros((4, 48), BF16), "bfloat16"), "multiples of 32 up to 8192"),
        ("epilog", 4, 2, "quantMode is 2; allowed: 0, 1"),
        ("epilog", 3, 32, "quantGroupSize is 32; allowed: 64"),
        ("epilog", 0, Made((2, 3, 1, 223), "uint8"), "at least 224"),
        ("epilog", 0, Made((2, 3, 1, 224), "uint8", True), "has other gaps"),
        ("epilog", 1, Given(np.zeros((4, 64), BF16), "bfloat16"), "rows of 64 elements"),
        ("epilog", 2, Given(SLOTS - 1, "int32"), "slotMapping has -2"),
    ],
)
def test_refusals(newer: Chip950, name: str, at: int, value: Any, words: str) -> None:
    arguments = list(INDEXER if name == "indexer" else EPILOG)
    arguments[at] = value
    full = {"indexer": "indexer_quant_cache", "epilog": "kv_compress_epilog"}[name]
    found = newer.operator(full, *arguments)
    assert isinstance(found, Refused)
    assert words in found.text, found


def test_older_chips_do_not_have_them() -> None:
    cache, x = place(np.zeros((2, 3, 1, 224), np.uint8)), place(np.zeros((4, 128), BF16))
    with pytest.raises(AclnnError, match="only chips of the 950 series"):
        op("KvCompressEpilog")(cache, x, place(SLOTS), 64, 0, True, 1.0)
