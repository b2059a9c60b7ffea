# SPDX-License-Identifier: Apache-2.0
"""Gradients of rotary embeddings: the derivatives of the rotation and of NormRopeConcat."""

from __future__ import annotations

from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, hollow, op, place, refusal, wide
from helpers.slopes import slopes

pytestmark = pytest.mark.usefixtures("device")

NAME = "aclnnRotaryPositionEmbeddingGrad"
FLOATS = [np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
EPS = 1e-3


def normal(seed: int, *shape: int, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def rotated(mode: int, x: Array, cos: Array, sin: Array) -> Array:
    """Turn the rows of x as the document of the forward operator says."""
    width = x.shape[-1]
    if mode == 1:
        other = np.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
        return np.asarray(x * cos + other * sin)
    if mode == 2:
        parts = np.split(x, 4, -1)
        return np.asarray(
            x * cos + np.concatenate([-parts[1], parts[0], -parts[3], parts[2]], -1) * sin
        )
    if mode == 3:
        x = x.reshape(*x.shape[:-1], width // 2, 2).swapaxes(-1, -2).reshape(x.shape)
    first, second = np.split(x, 2, -1)
    return np.asarray(x * cos + np.concatenate([-second, first], -1) * sin)


SHAPES = [
    (0, (2, 3, 4, 6), (1, 1, 4, 6)),
    (0, (2, 3, 2, 6), (2, 1, 2, 6)),
    (0, (5, 2, 4), (5, 1, 4)),
    (1, (2, 3, 4, 6), (1, 3, 1, 6)),
    (1, (5, 2, 4), (5, 1, 4)),
]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("mode", "shape", "table"), SHAPES, ids=str)
def test_the_gradients_of_a_rotation(
    mode: int, shape: tuple[int, ...], table: tuple[int, ...], dtype: Any
) -> None:
    dy, x = normal(1, *shape, dtype=dtype), normal(2, *shape, dtype=dtype)
    cos, sin = normal(3, *table, dtype=dtype), normal(4, *table, dtype=dtype)
    wanted = slopes(lambda *p: rotated(mode, *p), [wide(x), wide(cos), wide(sin)], wide(dy))
    for layout in ("dense", "stepped"):
        outs = [hollow(part.shape, dtype) for part in (x, cos, sin)]
        given = [place(part, layout) for part in (dy, cos, sin, x)]
        op(NAME)(*given, mode, *outs)
        for out, expected in zip(outs, wanted, strict=True):
            assert_close(out.numpy(), expected, scale=8)


def test_without_x_the_tables_have_no_gradient() -> None:
    dy, table = normal(5, 1, 2, 3, 4), normal(6, 1, 1, 3, 4)
    kept = hollow((1, 1, 3, 4), np.float32)
    before = kept.numpy()
    given = place(dy)
    op(NAME)(given, place(table), place(table), None, 0, given, kept, kept)
    (wanted,) = slopes(lambda x: rotated(0, x, wide(table), wide(table)), [wide(dy)], wide(dy))
    assert_close(given.numpy(), wanted, scale=4)
    assert_same(kept.numpy(), before)


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
def test_what_a_950_turns() -> None:
    with Chip950() as newer:
        for mode in (2, 3):
            dy, x, cos, sin = (normal(7 + i, 1, 2, 2, 8) for i in range(4))
            wanted = slopes(partial(rotated, mode), [x, cos, sin], wide(dy))
            found = newer.call(
                "ops.rotary.test_rotary_gradients", "call_gradients", [dy, cos, sin, x], mode
            )
            for result, expected in zip(found, wanted, strict=True):
                assert_close(result, expected, scale=8)
        dy, cos, sin = normal(11, 2, 3, 2, 8), normal(12, 1, 3, 1, 4), normal(13, 1, 3, 1, 4)
        (part,) = slopes(
            lambda x: rotated(1, x, wide(cos), wide(sin)), [wide(dy[..., 2:6])], wide(dy[..., 2:6])
        )
        found = newer.call("ops.rotary.test_rotary_gradients", "call_part", [dy, cos, sin], [2, 6])
        assert_close(found[..., 2:6], part, scale=4)
        assert_same(found[..., [0, 1, 6, 7]], dy[..., [0, 1, 6, 7]])


def call_gradients(arrays: list[Array], mode: int) -> list[Array]:
    """Call RotaryPositionEmbeddingGrad, in the process of another chip."""
    outs = [hollow(arrays[i].shape, np.float32) for i in (0, 1, 2)]
    op(NAME)(*(place(array) for array in arrays), mode, *outs)
    return [out.numpy() for out in outs]


def call_part(arrays: list[Array], part: list[int]) -> Array:
    """Call InplacePartialRotaryMulGrad there."""
    dy, cos, sin = (place(array) for array in arrays)
    op("aclnnInplacePartialRotaryMulGrad")(dy, cos, sin, 1, part)
    return np.asarray(dy.numpy())


BATCH, HEADS, WIDTH = 2, 2, 4
LENGTHS = (3, 4, 4)


def joined(
    norms: tuple[int, int], rope: int, order: int, tables: list[Array], *parts: Array
) -> Any:
    """Compute NormRopeConcat: six sources of tokens and four weights with their biases."""
    results = []
    for n in range(3):
        both = []
        for i in range(2):
            x = parts[n + 3 * i]
            if norms[i] and n < 2:
                centred = x - x.mean(-1, keepdims=True)
                x = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPS)
                if norms[i] == 2:
                    at = 6 + 4 * i + 2 * n
                    x = x * parts[at] + parts[at + 1]
            both.append(x)
        whole = np.concatenate(both[::-1] if order else both, axis=1)
        if rope and n < 2:
            sin, cos = (table[:, None] for table in tables)
            turned = rotated(1 if rope == 1 else 0, whole[:, : len(sin)], cos, sin)
            whole = np.concatenate([turned, whole[:, len(sin) :]], axis=1)
        results.append(whole.transpose(0, 2, 1, 3))
    return results


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("norms", "rope", "order", "encoder"),
    [((2, 2), 1, 0, True), ((1, 2), 2, 1, True), ((2, 0), 0, 0, True), ((2, 1), 2, 0, False)],
)
def test_the_gradient_of_normalised_joined_tokens(
    norms: tuple[int, int], rope: int, order: int, encoder: bool, dtype: Any
) -> None:
    extra = 2 if encoder else 0
    own = [normal(20 + n, BATCH, LENGTHS[n], HEADS, WIDTH, dtype=dtype) for n in range(3)]
    more = [normal(23 + n, BATCH, extra, HEADS, WIDTH, dtype=dtype) for n in range(3)]
    weights = [normal(26 + n, WIDTH, dtype=dtype) for n in range(8)]
    tables = [normal(34 + n, 4 if encoder else 3, WIDTH, dtype=dtype) for n in range(2)]
    grads = [normal(36 + n, BATCH, HEADS, LENGTHS[n] + extra, WIDTH, dtype=dtype) for n in range(3)]
    parts = [wide(part) for part in (*own, *more, *weights)]
    spread = [wide(table) for table in tables]
    wanted = slopes(
        lambda *p: joined(norms, rope, order, spread, *p), parts, *(wide(g) for g in grads)
    )
    sources = [own[0], own[1], *([more[0], more[1]] if encoder else [None, None])]
    statistics: list[Any] = []
    for n, source in enumerate(sources):
        if source is None:
            statistics += [None] * 3
            continue
        x = wide(source)
        mean = x.mean(-1, keepdims=True)
        rstd = 1 / np.sqrt(x.var(-1, keepdims=True) + EPS)
        statistics += [weights[2 * n], mean.astype(np.float32), rstd.astype(np.float32)]
    given = [*grads, *sources, *statistics, *tables]
    results: list[Any] = [hollow(x.shape, dtype) for x in own]
    results += [hollow(x.shape, dtype) if encoder else None for x in more]
    results += [hollow((WIDTH,), dtype) for _ in range(8)]
    op("aclnnNormRopeConcatBackward")(
        *(None if x is None else place(x, "stepped") for x in given), *norms, rope, order, *results
    )
    for n, (result, expected) in enumerate(zip(results, wanted, strict=True)):
        used = n < 6 or (norms[(n - 6) // 4] == 2 and (encoder or n < 10))
        if result is not None and used:
            assert_close(result.numpy(), expected, scale=32, what=str(n))


def test_what_does_not_fit_is_refused() -> None:
    x, table = hollow((1, 2, 3, 4), np.float32), hollow((1, 1, 3, 4), np.float32)
    assert refusal(NAME, x, table, x, None, 0, x, table, table) == 561002
    assert refusal(NAME, x, table, table, x, 0, x, x, table) == 561002
    assert refusal(NAME, x, x, x, x, 1, x, x, x) == 561002
    assert refusal(NAME, x, table, table, None, 0, None, table, table) == 161001
    part = "aclnnInplacePartialRotaryMulGrad"
    assert refusal(part, x, table, table, 1, [0, 4]) == 561003
    none = [None] * 14
    back = "aclnnNormRopeConcatBackward"
    grad = hollow((1, 3, 2, 4), np.float32)
    good = [grad, grad, grad, x, x, *none, None, None]
    outs = [x, x, x, *[None] * 11]
    assert refusal(back, *good, 3, 0, 0, 0, *outs) == 561002
    assert refusal(back, *good, 1, 0, 0, 0, *outs) == 561002
    assert refusal(back, *good, 0, 0, 1, 0, *outs) == 561002
    assert refusal(back, x, *good[1:], 0, 0, 0, 0, *outs) == 561002
    assert refusal(back, None, *good[1:], 0, 0, 0, 0, *outs) == 161001
