# SPDX-License-Identifier: Apache-2.0
"""MlaPrologV3 with floats of 8 bits, which chips of the 950 series have, against NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.operators import wide

from ..low_bits import LARGEST, encoded, values
from ..rotary.test_rotary_cache import interleaved, normed
from .test_mla_prolog import brain

Array = np.ndarray[Any, Any]
BF16 = np.dtype(ml_dtypes.bfloat16)
POWER = np.dtype(ml_dtypes.float8_e8m0fnu)
TOKENS, HIDDEN, RANK, KEYS, ROTARY, HEADS, HEAD = 3, 1024, 1536, 512, 64, 1, 128
JOINED, ALL = KEYS + ROTARY, HEADS * (HEAD + ROTARY)
FACTORS = (0.5, 1.5)
# Their first weightQuantMode is that of scales of rows and columns.
MODES = {"float8_e4m3fn": 4, "hifloat8": 5}


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def given(codes: Array, dtype: str, format: str = "ND") -> Given:
    kind = np.dtype(getattr(ml_dtypes, dtype)) if dtype != "hifloat8" else np.dtype(np.uint8)
    return Given(codes.view(kind), dtype, format=format)


def low(x: Array, dtype: str) -> Array:
    """The values that codes of x stand for."""
    return values(dtype)[encoded(x, dtype, "round" if dtype == "hifloat8" else "rint")]


def by_row(x: Array, dtype: str) -> tuple[Array, Array]:
    scale = np.abs(x).max(-1, keepdims=True) / LARGEST[dtype]
    return low(x / scale, dtype), scale


def by_block(x: Array) -> tuple[Array, Array]:
    """Values in E4M3 and the power of two of each 32 of them."""
    blocks = x.reshape(len(x), -1, 32)
    power = 2.0 ** (np.floor(np.log2(np.abs(blocks).max(-1, keepdims=True))) - 8)
    return low(blocks / power, "float8_e4m3fn").reshape(x.shape), power[..., 0]


class Scene:
    """One call: codes of tokens and weights, their scales, and what they stand for."""

    def __init__(self, dtype: str, mx: bool, keys: bool) -> None:
        self.dtype, self.mx, self.keys = dtype, mx, keys
        rng = self.rng = np.random.default_rng(5)
        self.x = self.operand(TOKENS, HIDDEN)
        self.w_dq = self.operand(RANK, HIDDEN)
        self.w_uq = self.operand(ALL, RANK)
        self.w_dkv = self.operand(JOINED, HIDDEN)
        self.w_uk = (rng.standard_normal((HEADS, HEAD, KEYS)) * 0.1).astype(BF16)
        self.gammas = [rng.standard_normal(n).astype(BF16) for n in (RANK, KEYS)]
        self.sin, self.cos = (rng.standard_normal((TOKENS, ROTARY)).astype(BF16) for _ in "sc")
        self.smooth = None if mx else rng.uniform(0.5, 2, (1, RANK)).astype(np.float32)
        self.key_scale = np.array([0.02], np.float32)

    def operand(self, rows: int, depth: int) -> tuple[Array, Array, Array]:
        """Codes, scales as the operator takes them, and values; rows first."""
        numbers = self.rng.standard_normal((rows, depth))
        codes = encoded(np.where(np.abs(numbers) < 0.01, 0.01, numbers), self.dtype)
        exact = values(self.dtype)[codes]
        if self.mx:
            scale = 2.0 ** self.rng.integers(-6, -3, (rows, depth // 32))
            return codes, scale.astype(POWER), exact * np.repeat(scale, 32, axis=1)
        scale = self.rng.uniform(0.02, 0.05, (rows, 1)).astype(np.float32)
        return codes, scale, exact * wide(scale)

    def arguments(self, mode: int) -> list[Any]:
        d = self.dtype

        def weight(operand: tuple[Array, Array, Array]) -> Given:
            return given(np.ascontiguousarray(operand[0].T), d, "FRACTAL_NZ")

        def scale(operand: tuple[Array, Array, Array], rows: bool = False) -> Given:
            if self.mx:
                return Given(operand[1], "float8_e8m0fnu")
            return Given(operand[1] if rows else operand[1].T.copy(), "float32")

        def half(x: Array) -> Given:
            return Given(x, "bfloat16")

        cache = d if self.keys else "bfloat16"
        scale_kind = "float8_e8m0fnu" if self.mx else "float32"
        return [
            *(given(self.x[0], d), weight(self.w_dq), weight(self.w_uq), half(self.w_uk)),
            *(weight(self.w_dkv), half(self.gammas[0]), half(self.gammas[1])),
            *(half(self.sin), half(self.cos)),
            *(Made((TOKENS, 1, KEYS), cache), Made((TOKENS, 1, ROTARY), "bfloat16"), None),
            *(scale(self.x, True), scale(self.w_dq), scale(self.w_uq), scale(self.w_dkv)),
            *(Given(self.key_scale, "float32") if self.keys else None, None),
            *(None if self.smooth is None else Given(self.smooth, "float32"), None, None),
            *(1e-5, 1e-4, "TND", mode, int(self.keys), int(self.keys), 0, 0, 128, *FACTORS),
            *(Made((TOKENS, HEADS, KEYS), cache), Made((TOKENS, HEADS, ROTARY), "bfloat16")),
            Made((TOKENS, HEADS, 1), "float32") if self.keys else None,
            Made((TOKENS, RANK), d),
            Made((TOKENS, RANK // 32 if self.mx else 1), scale_kind),
        ]

    def oracle(self) -> dict[str, Array]:
        found: dict[str, Array] = {}
        latent = normed(self.x[2] @ self.w_dq[2].T, self.gammas[0], 1e-5) * FACTORS[0]
        if self.mx:
            found["norm"], found["norm_scale"] = by_block(latent)
            held = found["norm"] * np.repeat(found["norm_scale"], 32, axis=1)
        else:
            assert self.smooth is not None
            found["norm"], found["norm_scale"] = by_row(latent * wide(self.smooth), self.dtype)
            held = found["norm"] * found["norm_scale"]
        both = (held @ self.w_uq[2].T).reshape(TOKENS, HEADS, HEAD + ROTARY)
        found["rope"] = interleaved(both[..., HEAD:], self.cos[:, None], self.sin[:, None])
        found["query"] = np.einsum("tnd,ndk->tnk", brain(both[..., :HEAD]), wide(self.w_uk))
        joined = self.x[2] @ self.w_dkv[2].T
        found["kv"] = normed(joined[:, :KEYS], self.gammas[1], 1e-4) * FACTORS[1]
        if self.keys:
            found["kv"] = found["kv"] / wide(self.key_scale)
            found["scale"] = np.abs(found["query"]).max(-1, keepdims=True) / LARGEST[self.dtype]
            found["query"] = found["query"] / found["scale"]
        found["kr"] = interleaved(joined[:, KEYS:], self.cos, self.sin)
        return found


def decoded(result: Array, dtype: str) -> Array:
    if dtype == "hifloat8":
        return values(dtype)[result.view(np.uint8)]
    return wide(result)


def near(result: Array, exact: Array, step: float) -> None:
    """Rounded to a step that is relative; one of a few numbers before may fall the other way."""
    limit = step * np.abs(exact) + 0.02 * np.abs(exact).mean()
    assert (np.abs(result - exact) <= limit).mean() > 0.995
    assert np.abs(result - exact).mean() <= step / 2 * np.abs(exact).mean()


@pytest.mark.parametrize("keys", [False, True])
@pytest.mark.parametrize(
    ("dtype", "mx"), [("float8_e4m3fn", False), ("hifloat8", False), ("float8_e4m3fn", True)]
)
def test_tokens_of_floats_of_8_bits(newer: Chip950, dtype: str, mx: bool, keys: bool) -> None:
    s = Scene(dtype, mx, keys)
    results = newer.operator("mla_prolog_v3_weight_nz", *s.arguments(3 if mx else MODES[dtype]))
    assert not isinstance(results, Refused), results
    names = ["kv", "kr", "query", "rope", *(["scale"] if keys else []), "norm", "norm_scale"]
    made, exact = dict(zip(names, results, strict=True)), s.oracle()
    step = 0.26 if dtype == "hifloat8" else 0.07  # one bit of mantissa beyond 128
    for name in ("kr", "rope"):
        near(wide(made[name]), exact[name].reshape(made[name].shape), 0.02)
    for name in ("kv", "query"):
        result = decoded(made[name], dtype) if keys else wide(made[name])
        near(result, exact[name].reshape(result.shape), step if keys else 0.02)
    near(decoded(made["norm"], dtype), exact["norm"], step)
    np.testing.assert_allclose(wide(made["norm_scale"]), exact["norm_scale"], rtol=1e-4)
    if keys:
        np.testing.assert_allclose(made["scale"], exact["scale"], rtol=0.02)


def test_the_mode_says_what_the_dtypes_do(newer: Chip950) -> None:
    for dtype, mode, text in (
        ("float8_e4m3fn", 5, "weightQuantMode is 5"),
        ("hifloat8", 4, "weightQuantMode is 4"),
        ("float8_e4m3fn", 3, "dequantScaleXOptional has dtype FLOAT"),
    ):
        refused = newer.operator(
            "mla_prolog_v3_weight_nz", *Scene(dtype, False, False).arguments(mode)
        )
        assert isinstance(refused, Refused)
        assert refused.status == 561002
        assert text in refused.text, refused.text
