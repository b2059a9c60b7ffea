# SPDX-License-Identifier: Apache-2.0
"""What stands before latent attention with products of 8 bits, against NumPy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.operators import hollow, op, place, wide

import aclnn_py as ap

from ..cache.test_cache_pages import message
from ..problems import fault
from ..rotary.test_rotary_cache import normed, turned
from .test_mla_prolog import close

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
BF16, F16 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16)
FIRST, SECOND = "aclnnMlaPreprocess", "aclnnMlaPreprocessV2"
HIDDEN, RANK, KEYS, ROTARY, HEAD, PLACES = 2048, 512, 512, 64, 16, 128
EPSILON = 1e-5


@dataclass
class Scene:
    """One call as arrays. Scales are powers of two and so few bits that they are exact."""

    dtype: Any = F16
    tokens: int = 3
    heads: int = 2
    blocks: int = 2
    norm: bool = True
    slots: list[int] = field(default_factory=lambda: [130, 5, 7])

    def __post_init__(self) -> None:
        rng = np.random.default_rng(7)

        def normal(*shape: int, size: float = 1.0) -> Array:
            return (rng.standard_normal(shape) * size).astype(self.dtype)

        def number(*shape: int) -> Array:
            return rng.integers(-90, 90, shape).astype(np.int8)

        joined, up = KEYS + ROTARY + RANK, self.heads * (HEAD + ROTARY)
        self.input = normal(self.tokens, HIDDEN)
        self.gammas = [normal(HIDDEN), normal(RANK), normal(KEYS)]
        self.betas = [normal(HIDDEN, size=0.2), normal(RANK, size=0.2)]
        self.scales = [np.array([s], self.dtype) for s in (2.0**-5, 2.0**-6)]
        self.offsets = [np.array([n], np.int8) for n in (3, -7)]
        self.weights = [number(joined, HIDDEN), number(up, RANK)]
        self.factors = [
            (rng.integers(1, 16, n) * 2.0**-16).astype(np.float32) for n in (joined, up)
        ]
        self.biases = [rng.integers(-5000, 5000, n).astype(np.int32) for n in (joined, up)]
        self.cos, self.sin = normal(self.tokens, ROTARY), normal(self.tokens, ROTARY)
        self.absorb = normal(self.heads, HEAD, KEYS, size=0.1)

    def step(self, index: int, rows: Array, norm: bool) -> Array:
        """A row of floats through its norm, its numbers of 8 bits, and the product."""
        if norm:
            rows = normed(rows, self.gammas[index], EPSILON) + wide(self.betas[index])
        shifted = rows.astype(np.float32) / wide(self.scales[index]) + wide(self.offsets[index])
        numbers = np.clip(np.rint(shifted), -128, 127)
        sums = numbers @ wide(self.weights[index]).T.astype(np.float64) + self.biases[index]
        return sums * wide(self.factors[index])

    def oracle(self) -> dict[str, Array]:
        rows = self.step(0, wide(self.input), self.norm)
        key, rope, latent = np.split(rows, [KEYS, KEYS + ROTARY], axis=1)
        both = self.step(1, latent, True).reshape(self.tokens, self.heads, HEAD + ROTARY)
        low = both[..., :HEAD].astype(np.float32).astype(self.dtype)
        return {
            "query": np.einsum("tnd,ndk->tnk", wide(low), wide(self.absorb)),
            "rope": turned(both[..., HEAD:], self.cos[:, None], self.sin[:, None]),
            "kv": normed(key, self.gammas[2], EPSILON),
            "kr": turned(rope, self.cos, self.sin),
        }

    def arguments(self, mode: int, second: bool = False, blocks: bool = False) -> dict[str, Any]:
        long = self.dtype == F16
        given: dict[str, Any] = {"input": place(self.input)}
        for i, names in enumerate((("wdqkv", 0), ("wuq", 1))):
            given[f"gamma{i}"] = place(self.gammas[i])
            given[f"beta{i}"] = place(self.betas[i])
            given[f"scale{i}"] = place(self.scales[i])
            given[f"offset{i}"] = place(self.offsets[i])
            given[names[0]] = weight(self.weights[i], blocks)
            factors = self.factors[i].view(np.int32).astype(np.int64) if long else self.factors[i]
            given[f"factors{i}"] = place(factors)
            given[f"bias{i}"] = place(self.biases[i])
        given |= {"gamma2": place(self.gammas[2]), "cos": place(self.cos), "sin": place(self.sin)}
        given["wuk"] = place(self.absorb)
        kv = {0: (PLACES, 1, KEYS + ROTARY), 1: (PLACES, 1, KEYS), 3: (KEYS // 16, PLACES, 16)}
        kr = {1: (PLACES, 1, ROTARY), 3: (ROTARY // 16, PLACES, 16)}
        caches = [hollow((self.blocks, *kv.get(mode, kv[1])), self.dtype), None]
        if mode:
            caches[1] = hollow((self.blocks, *kr.get(mode, kr[1])), self.dtype)
        given |= {"kv": caches[0], "kr": caches[1]}
        given["slots"] = place(np.array(self.slots, np.int32))
        given |= {"ctkv": None, "nope": None, "wdq": 1536, "q_rope": 64, "k_rope": 64}
        given |= {"epsilon": EPSILON, "q_coefficient": 2, "k_coefficient": 2}
        given |= {"wdq_turned": True, "wuq_turned": True, "wuk_turned": True}
        given |= {"mode": mode, "quant": 0, "norm": self.norm, "parts": 1}
        if second:
            given["flag"] = False
        wide_query = KEYS + ROTARY if mode == 0 else KEYS
        given["query"] = hollow((self.tokens, self.heads, wide_query), self.dtype)
        given["kv_out"] = caches[0]
        given["rope"] = hollow((self.tokens, self.heads, ROTARY), self.dtype) if mode else None
        given["kr_out"] = caches[1]
        if second:
            given["down"] = None
        return given


def weight(array: Array, blocks: bool) -> ap.Tensor:
    """A matrix in FRACTAL_NZ, or its blocks as a tensor of four dimensions."""
    if not blocks:
        return ap.from_numpy(array, format="FRACTAL_NZ")
    rows, columns = array.shape
    parts = array.reshape(rows // 16, 16, columns // 32, 32).transpose(2, 0, 1, 3)
    blocked = ap.empty(parts.shape, "int8", format="FRACTAL_NZ")
    blocked.buffer.write(np.ascontiguousarray(parts))
    return blocked


def rows_of(cache: Array, slots: list[int], blocked: bool) -> Array:
    if blocked:
        cache = cache.transpose(0, 2, 1, 3)
    flat = cache.reshape(cache.shape[0] * PLACES, -1)
    return flat[slots]


@pytest.mark.parametrize("mode", [0, 1, 3])
@pytest.mark.parametrize(
    ("dtype", "second", "blocks", "norm"),
    [(F16, False, False, True), (BF16, True, True, True), (F16, True, False, False)],
    ids=str,
)
def test_queries_and_cached_keys(
    mode: int, dtype: Any, second: bool, blocks: bool, norm: bool
) -> None:
    s = Scene(dtype, norm=norm)
    given = s.arguments(mode, second, blocks)
    op(SECOND if second else FIRST)(*given.values())
    ap.synchronize()
    found, query = s.oracle(), given["query"].numpy()
    kv = rows_of(given["kv"].numpy(), s.slots, mode == 3)
    if mode == 0:
        query, rope = query[..., :KEYS], query[..., KEYS:]
        kv, kr = kv[:, :KEYS], kv[:, KEYS:]
    else:
        rope = given["rope"].numpy()
        kr = rows_of(given["kr"].numpy(), s.slots, mode == 3)
    for name, result in (("query", query), ("rope", rope), ("kv", kv), ("kr", kr)):
        close(result, found[name])
    untouched = np.delete(np.arange(s.blocks * PLACES), s.slots)
    assert (rows_of(given["kv"].numpy(), untouched.tolist(), mode == 3) == 77).all()


def test_a_slot_below_zero_takes_nothing() -> None:
    s = Scene(slots=[-1, 5, -1])
    given = s.arguments(1)
    op(FIRST)(*given.values())
    ap.synchronize()
    kept = np.delete(np.arange(s.blocks * PLACES), [5])
    assert (rows_of(given["kv"].numpy(), kept.tolist(), False) == 77).all()
    close(rows_of(given["kv"].numpy(), [5], False), s.oracle()["kv"][1:2])


def test_no_token() -> None:
    s = Scene(tokens=0, slots=[])
    given = s.arguments(1)
    op(FIRST)(*given.values())
    ap.synchronize()
    assert (given["kv"].numpy() == 77).all()


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"mode": 2}, "cacheMode is 2"),
        ({"quant": 3}, "quantMode is 3"),
        ({"parts": 2}, "wdkvSplitCount is 2"),
        ({"wuk_turned": False}, "transposeWuk 0"),
        ({"flag": True}, "qDownOutFlag is true"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_refused_modes(changed: dict[str, Any], text: str) -> None:
    given = Scene().arguments(1, second=True) | changed
    assert text in message(561002, SECOND, *given.values())


def test_refused_tensors() -> None:
    s = Scene()
    good = s.arguments(1)

    def told(status: int, **changed: Any) -> str:
        return message(status, FIRST, *(good | changed).values())

    assert "bias0" in told(161001, bias0=None)
    assert "deScale0 has dtype FLOAT" in told(161002, factors0=place(s.factors[0]))
    assert "wdqkv has format ND" in told(561002, wdqkv=place(s.weights[0]))
    assert "wuq has shape" in told(561002, wuq=weight(s.weights[0], False))
    assert "krCacheOutOptional is null" in told(161001, kr_out=None)
    assert "kvCache has blocks of 64" in told(561002, kv=hollow((2, 64, 1, KEYS), F16))
    short = place(s.input[:, :1024].copy())
    assert "input has 1024 as its last dimension" in told(561002, input=short)
    text = fault(FIRST, *(good | {"slots": place(np.array([0, 256, 1], np.int32))}).values())
    assert "slotMapping holds 256; the cache has 256 slots" in text


@pytest.mark.parametrize("mode", [0, 1, 3])
def test_the_function_makes_the_same_queries_and_caches(mode: int) -> None:
    s = Scene(BF16)
    given, again = s.arguments(mode), s.arguments(mode)
    op(FIRST)(*given.values())
    names = list(again)
    query, rope = ap.functional.mla_preprocess(
        *(again[name] for name in names[: names.index("ctkv")]), cache_mode=mode
    )
    for mine, other in (
        (query, given["query"]),
        (rope, given["rope"]),
        (again["kv"], given["kv"]),
        (again["kr"], given["kr"]),
    ):
        if other is None:
            assert mine is None or mine.count == 0
        else:
            assert (mine.numpy().view(np.uint16) == other.numpy().view(np.uint16)).all()
