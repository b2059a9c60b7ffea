# SPDX-License-Identifier: Apache-2.0
"""What stands before latent attention against NumPy: queries, latent keys, rotary keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_same
from helpers.operators import hollow, op, place, wide

import aclnn_py as ap

from ..cache.test_cache_pages import message
from ..problems import fault
from ..rotary.test_rotary_cache import interleaved, normed, to_memory

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
BF16 = np.dtype(ml_dtypes.bfloat16)
INT8 = np.dtype(np.int8)
HIDDEN, RANK, KEYS, ROTARY = 1024, 1536, 512, 64
NAMES = {1: "aclnnMlaProlog", 2: "aclnnMlaPrologV2WeightNz", 3: "aclnnMlaPrologV3WeightNz"}
EPSILONS = (1e-5, 1e-4)


def brain(x: Array) -> Array:
    return x.astype(np.float32).astype(BF16).astype(np.float64)


def eight_bits(x: Array) -> tuple[Array, Array]:
    """Symmetric numbers of the rows and their scales, in float32."""
    rows = x.astype(np.float32)
    scale = np.abs(rows).max(-1, keepdims=True) / np.float32(127)
    return np.round(rows / scale).astype(np.float64), scale.astype(np.float64)


@dataclass
class Scene:
    """One call: what is quantised, and the tensors as arrays."""

    part: bool = False  # weightUqQr
    whole: bool = False  # the tokens and all weights but weightUk
    keys: bool = False  # latent keys
    lead: tuple[int, ...] = (5,)
    heads: int = 2
    head: int = 128
    smooth: bool = False

    def __post_init__(self) -> None:
        rng = np.random.default_rng(3)
        self.tokens = int(np.prod(self.lead))
        joined, all_ = KEYS + ROTARY, self.heads * (self.head + ROTARY)

        def normal(*shape: int, size: float = 1.0) -> Array:
            return (rng.standard_normal(shape) * size).astype(BF16)

        def number(*shape: int) -> Array:
            return rng.integers(-90, 90, shape).astype(INT8)

        def factor(given: bool, *shape: int) -> Array | None:
            return rng.uniform(0.5e-3, 2e-3, shape).astype(np.float32) if given else None

        self.x = number(*self.lead, HIDDEN) if self.whole else normal(*self.lead, HIDDEN)
        self.w_dq = number(HIDDEN, RANK) if self.whole else normal(HIDDEN, RANK, size=0.03)
        self.w_uq_qr = number(RANK, all_) if self.part else normal(RANK, all_, size=0.03)
        self.w_uk = normal(self.heads, self.head, KEYS, size=0.1)
        self.w_dkv_kr = number(HIDDEN, joined) if self.whole else normal(HIDDEN, joined, size=0.03)
        self.gammas = normal(RANK), normal(KEYS)
        self.sin, self.cos = normal(*self.lead, ROTARY), normal(*self.lead, ROTARY)
        self.scale_x = factor(self.whole, self.tokens, 1)
        self.scale_dq = factor(self.whole, 1, RANK)
        self.scale_uq = factor(self.part, 1, all_)
        self.scale_dkv = factor(self.whole, 1, joined)
        self.quant_ckv = (
            rng.uniform(0.01, 0.05, (1, KEYS)).astype(np.float32) if self.keys else None
        )
        channels = self.keys and not self.whole
        self.quant_ckr = (
            rng.uniform(0.01, 0.05, (1, ROTARY)).astype(np.float32) if channels else None
        )
        self.smooth_cq = rng.uniform(0.5, 2, (1, RANK)).astype(np.float32) if self.smooth else None

    def product(self, weight: Array, column: Array | None) -> Array:
        result = wide(self.x).reshape(self.tokens, HIDDEN).astype(np.float64) @ wide(weight)
        return result * wide(self.scale_x) * wide(column) if column is not None else result

    def oracle(self, factors: tuple[float, float] = (1.0, 1.0)) -> dict[str, Array]:
        latent = normed(self.product(self.w_dq, self.scale_dq), self.gammas[0], EPSILONS[0])
        latent = latent * factors[0]
        found: dict[str, Array] = {}
        if self.part:
            rows = latent * (1 if self.smooth_cq is None else wide(self.smooth_cq))
            found["norm"], found["norm_scale"] = eight_bits(rows)
            scale = found["norm_scale"] * wide(self.scale_uq)
            both = found["norm"] @ wide(self.w_uq_qr).astype(np.float64) * scale
        else:
            found["norm"] = brain(latent)
            both = found["norm"] @ wide(self.w_uq_qr)
        both = both.reshape(self.tokens, self.heads, self.head + ROTARY)
        cos, sin = (wide(t).reshape(self.tokens, 1, ROTARY) for t in (self.cos, self.sin))
        found["rope"] = interleaved(both[..., self.head :], cos, sin)
        up = np.einsum("tnd,ndk->tnk", brain(both[..., : self.head]), wide(self.w_uk))
        found["query"] = up
        low = self.product(self.w_dkv_kr, self.scale_dkv)
        kv = normed(low[:, :KEYS], self.gammas[1], EPSILONS[1]) * factors[1]
        kr = interleaved(low[:, KEYS:], cos[:, 0], sin[:, 0])
        found["kv"] = kv if self.quant_ckv is None else kv / wide(self.quant_ckv)
        found["kr"] = kr if self.quant_ckr is None else kr / wide(self.quant_ckr)
        return found


def blocked(weight: Array) -> ap.Tensor:
    return ap.from_numpy(weight, format="FRACTAL_NZ")


def optional(array: Array | None) -> ap.Tensor | None:
    return None if array is None else place(array)


def close(result: Array, exact: Array) -> None:
    """Within the roundings of bfloat16 in between, which fall on either side now and then."""
    limit = 0.02 * np.abs(exact) + 0.01 * np.abs(exact).max()
    assert (np.abs(wide(result) - exact) <= limit).all()
    assert np.abs(wide(result) - exact).mean() <= 0.004 * np.abs(exact).mean()


def numbers_close(result: Array, exact: Array) -> None:
    """Numbers of 8 bits, of which few may be off by one."""
    distance = np.abs(result.astype(np.float64) - np.clip(exact, -128, 127))
    assert distance.max() <= 1.5
    assert np.mean(distance > 0.51) < 0.02


def run(
    version: int,
    s: Scene,
    mode: str | None,
    index: Array | None,
    ends: Array | None = None,
    factors: tuple[float, float] = (1.0, 1.0),
    places: int = 16,
) -> dict[str, Array]:
    own = mode in ("BSND", "TND")
    lead = s.lead if own else (4, places)
    kinds = INT8 if s.keys else BF16, INT8 if s.keys and not s.whole else BF16
    caches = [
        place(np.full((*lead, 1, w), 7).astype(k))
        for w, k in zip((KEYS, ROTARY), kinds, strict=True)
    ]
    quantises = s.whole and s.keys
    query = hollow((*s.lead, s.heads, KEYS), INT8 if quantises else BF16)
    rope = hollow((*s.lead, s.heads, ROTARY), BF16)
    scale = hollow((s.tokens, s.heads, 1), np.float32) if quantises else None
    head = [
        *(place(s.x), blocked(s.w_dq), blocked(s.w_uq_qr), place(s.w_uk), blocked(s.w_dkv_kr)),
        *(place(s.gammas[0]), place(s.gammas[1]), place(s.sin), place(s.cos)),
    ]
    ckv = s.quant_ckv
    if version == 3 and quantises and ckv is not None:
        ckv = ckv[0, :1].copy()
        s.quant_ckv = ckv
    scales = [
        optional(a)
        for a in (s.scale_x, s.scale_dq, s.scale_uq, s.scale_dkv, ckv, s.quant_ckr, s.smooth_cq)
    ]
    where = None if index is None else place(index)
    results = {"query": query, "rope": rope, "kv": caches[0], "kr": caches[1], "scale": scale}
    if version < 3:
        tail = [scale] if version == 2 else []
        op(NAMES[version])(*(*head, where, *caches, *scales, *EPSILONS, mode, query, rope, *tail))
    else:
        norm = hollow((*s.lead, RANK), INT8 if s.part else BF16)
        norm_scale = hollow((s.tokens, 1), np.float32) if s.part else None
        modes = (2 if s.whole else int(s.part), (1 if s.whole else 2) if s.keys else 0)
        op(NAMES[3])(
            *(*head, *caches, where, *scales, None if ends is None else place(ends), None),
            *(*EPSILONS, mode, *modes, int(quantises), 0, 0, 128, *factors),
            *(query, rope, scale, norm, norm_scale),
        )
        results |= {"norm": norm, "norm_scale": norm_scale}
    return {name: tensor.numpy() for name, tensor in results.items() if tensor is not None}


def check(
    results: dict[str, Array],
    s: Scene,
    slots: Array,
    factors: tuple[float, float],
    fractal: bool = False,
) -> None:
    found = s.oracle(factors)
    shape = (s.tokens, s.heads, -1)
    close(results["rope"].reshape(shape), found["rope"])
    query = results["query"].reshape(shape)
    if "scale" in results:
        scales = np.abs(found["query"]).max(-1, keepdims=True) / 127
        np.testing.assert_allclose(results["scale"], scales, rtol=0.02)
        numbers_close(query, found["query"] / wide(results["scale"]))
    else:
        close(query, found["query"])
    for name, width in (("kv", KEYS), ("kr", ROTARY)):
        cache = results[name]
        if fractal:
            blocks, places, _, _ = cache.shape
            unit = 32 // cache.dtype.itemsize
            runs = cache.reshape(blocks, width // unit, places, unit).transpose(0, 2, 1, 3)
            assert_same(to_memory(runs.reshape(cache.shape), True), cache)
            cache = runs
        rows = cache.reshape(-1, width)
        compare = numbers_close if rows.dtype == INT8 else close
        compare(rows[slots], found[name])
        others = np.setdiff1d(np.arange(len(rows)), slots)
        assert (wide(rows[others]) == 7).all()
    if "norm" in results:
        compare = numbers_close if s.part else close
        compare(results["norm"].reshape(s.tokens, RANK), found["norm"])
    if "norm_scale" in results:
        np.testing.assert_allclose(results["norm_scale"], found["norm_scale"], rtol=1e-4)


SCENES = [
    Scene,
    lambda **k: Scene(part=True, **k),
    lambda **k: Scene(part=True, keys=True, smooth=True, **k),
    lambda **k: Scene(part=True, whole=True, smooth=True, **k),
    lambda **k: Scene(part=True, whole=True, keys=True, **k),
]
IDS = ["plain", "part", "part and keys", "whole", "whole and keys"]


@pytest.mark.parametrize("mode", ["PA_BSND", "PA_NZ"])
@pytest.mark.parametrize(
    ("version", "scene"),
    [
        pytest.param(version, scene, id=f"{version}-{name}")
        for version in (1, 2, 3)
        for scene, name in zip(SCENES, IDS, strict=True)
        if version > 1 or not name.startswith("whole")  # the first has no tokens of INT8
    ],
)
def test_tokens_become_queries_and_keys(scene: Any, version: int, mode: str) -> None:
    s = scene(lead=(5,) if mode == "PA_NZ" else (1, 5))
    slots = np.array([33, 2, 40, 0, 17])
    factors = (0.5, 1.5) if version == 3 else (1.0, 1.0)
    results = run(version, s, mode, slots.reshape(s.lead), factors=factors)
    check(results, s, slots, factors, fractal=mode == "PA_NZ")


@pytest.mark.parametrize("mode", ["PA_BLK_BSND", "PA_BLK_NZ"])
@pytest.mark.parametrize("deep", [True, False])
def test_an_index_may_name_blocks(deep: bool, mode: str) -> None:
    if deep:
        s = Scene(lead=(2, 18), heads=1, head=192)
        index, ends = np.array([[3, 0], [2, 1]]), None
        lengths = [18, 18]
    else:
        s = Scene(lead=(24,), heads=1)
        index, ends, lengths = np.array([2, 0, 3]), np.array([18, 18, 24], np.int32), [18, 0, 6]
    blocks = iter(index.reshape(-1).tolist())
    slots = []
    for length in lengths:
        for first in range(0, length, 16):
            block = next(blocks)
            slots += [block * 16 + t for t in range(min(16, length - first))]
    results = run(3, s, mode, index, ends)
    check(results, s, np.array(slots), (1.0, 1.0), fractal=mode.endswith("NZ"))


@pytest.mark.parametrize("mode", ["BSND", "TND"])
def test_caches_may_have_the_shape_of_the_tokens(mode: str) -> None:
    s = Scene(lead=(70,) if mode == "TND" else (2, 3), heads=1)
    check(run(3, s, mode, None), s, np.arange(s.tokens), (1.0, 1.0))


def test_no_tokens_change_nothing() -> None:
    s = Scene(lead=(0,), heads=1)
    results = run(2, s, None, np.zeros(0, np.int64))
    assert results["query"].shape == (0, 1, KEYS)
    assert (wide(results["kv"]) == 7).all()


@pytest.mark.parametrize("slot", [-1, 64, 2**62])
def test_a_slot_outside_the_cache_is_a_fault(slot: int) -> None:
    s = Scene(lead=(2,), heads=1)
    with pytest.raises(ap.errors.DeviceError, match=f"cacheIndex holds {slot}"):
        run(2, s, None, np.array([0, slot]))
        ap.synchronize()


def arguments(s: Scene) -> list[Any]:
    return [
        *(place(s.x), blocked(s.w_dq), blocked(s.w_uq_qr), place(s.w_uk), blocked(s.w_dkv_kr)),
        *(place(s.gammas[0]), place(s.gammas[1]), place(s.sin), place(s.cos)),
        *(hollow((4, 16, 1, KEYS), BF16), hollow((4, 16, 1, ROTARY), BF16)),
        *(place(np.zeros(s.tokens, np.int64)), *[None] * 9, 1e-5, 1e-5, None, 0, 0, 0, 0, 0, 128),
        *(1.0, 1.0, hollow((s.tokens, 1, KEYS), BF16), hollow((s.tokens, 1, ROTARY), BF16)),
        *(None, None, None),
    ]


def test_wrong_ends_are_a_fault() -> None:
    s = Scene(lead=(20,), heads=1)
    for ends, index, named in (
        ([20, 10], [0, 1], "holds 10 behind 20"),
        ([5, 19], [0, 1, 2], "ends at 19"),
        ([20], [0], "the sequences need more"),
        ([20], [0, 4], "cacheIndex holds 4; the cache has 4 blocks"),
    ):
        given = arguments(s)
        given[11], given[19] = place(np.array(index)), place(np.array(ends, np.int32))
        given[23] = "PA_BLK_BSND"
        assert named in fault(NAMES[3], *given)


def test_prolog_refuses() -> None:
    s = Scene(lead=(2,), heads=1)

    def bad(status: int, position: int, given: Any) -> str:
        changed = arguments(s)
        changed[position] = given
        return message(status, NAMES[3], *changed)

    for position in (*range(11), 32, 33):
        bad(161001, position, None)
    assert "cacheIndexOptional is null" in bad(561002, 11, None)
    assert "tokenX has dtype" in bad(161002, 0, place(np.ones((2, HIDDEN), np.float16)))
    assert "weightDq has format ND" in bad(161002, 1, place(s.w_dq))
    assert "weightDq has dtype" in bad(561002, 0, place(np.ones((2, HIDDEN), INT8)))
    assert "tokenX has 1000" in bad(561002, 0, place(np.ones((2, 1000), BF16)))
    assert "weightDq has 1520" in bad(561002, 1, blocked(np.ones((HIDDEN, 1520), BF16)))
    assert "weightUk has 3 heads" in bad(561002, 3, place(np.ones((3, 128, KEYS), BF16)))
    assert "weightUqQr has shape" in bad(561002, 2, blocked(np.ones((RANK, 384), BF16)))
    assert "kvCacheRef has shape" in bad(561002, 9, hollow((4, 16, 2, KEYS), BF16))
    assert "cacheModeOptional is" in bad(561002, 23, "PA")
    assert "tokenX has 2 dimensions" in bad(561002, 23, "BSND")
    assert "weightQuantMode is 1" in bad(561002, 24, 1)
    assert "kvCacheQuantMode is 3" in bad(561002, 25, 3)
    assert "kvCacheQuantMode is 1" in bad(561002, 25, 1)
    assert "queryQuantMode is 1" in bad(561002, 26, 1)
    clip = place(np.ones(1, np.float32))
    assert "kNopeClipAlphaOptional is given" in bad(561002, 20, clip)
    assert "dequantScaleXOptional is given" in bad(561002, 12, clip)
    assert "queryOut has shape" in bad(561002, 32, hollow((2, 2, KEYS), BF16))
    assert "queryNormOutOptional has shape" in bad(561002, 35, hollow((2, KEYS), BF16))
    low = arguments(s)
    low[2] = blocked(np.ones((RANK, 192), INT8))
    low[24] = 1
    assert "dequantScaleWUqQrOptional is null" in message(561002, NAMES[3], *low)
