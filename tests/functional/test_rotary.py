# SPDX-License-Identifier: Apache-2.0
"""Rotary embeddings with the norms and caches beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import place, wide

from aclnn_py import functional

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]


def normal(seed: int, *shape: int, dtype: Any = np.float16) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def turned(x: Array, cos: Array, sin: Array) -> Array:
    """Elements pair up by halves."""
    first, second = np.split(wide(x), 2, axis=-1)
    return wide(x) * wide(cos) + np.concatenate([-second, first], axis=-1) * wide(sin)


def normed(x: Array, gamma: Array) -> Array:
    mean = (wide(x) ** 2).mean(axis=-1, keepdims=True)
    return wide(x) / np.sqrt(mean + 1e-6) * wide(gamma)


def test_queries_and_keys_turn_in_place() -> None:
    q, k = normal(1, 2, 3, 4, 8), normal(2, 2, 3, 1, 8)
    cos, sin = normal(3, 2, 3, 1, 8), normal(4, 2, 3, 1, 8)
    query, key = place(q), place(k)
    given = functional.apply_rotary_pos_emb_(query, key, place(cos), place(sin))
    assert given is query
    assert_close(query.numpy(), turned(q, cos, sin), scale=2)
    assert_close(key.numpy(), turned(k, cos, sin), scale=2)
    flat = place(q.reshape(6, 4, 8))
    functional.apply_rotary_pos_emb_(
        flat, place(k.reshape(6, 1, 8)), *(place(x.reshape(6, 1, 8)) for x in (cos, sin)),
        layout=4, rotary_mode="interleave",
    )  # fmt: skip
    # A 910B pairs elements by halves, whatever the mode says.
    assert_close(flat.numpy(), turned(q, cos, sin).reshape(6, 4, 8), scale=2)


def test_a_part_turns_in_place() -> None:
    x, cos, sin = normal(1, 2, 3, 4, 16), normal(2, 2, 3, 1, 8), normal(3, 2, 3, 1, 8)
    target = place(x)
    functional.partial_rotary_mul_(target, place(cos), place(sin), partial_slice=[4, 12])
    middle, wanted = wide(x)[..., 4:12], wide(x).copy()
    pairs = np.stack([-middle[..., 1::2], middle[..., ::2]], axis=-1).reshape(middle.shape)
    wanted[..., 4:12] = middle * wide(cos) + pairs * wide(sin)
    assert_close(target.numpy(), wanted, scale=2)


@pytest.mark.parametrize("sections", [None, [2, 2]])
def test_angles_of_positions(sections: list[int] | None) -> None:
    q, k = normal(1, 5, 36), normal(2, 5, 12)
    cache = normal(3, 20, 8)
    at = np.arange(5)[::-1] if sections is None else np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
    query, key = functional.rope_with_sin_cos_cache(
        place(np.ascontiguousarray(at)), place(q), place(k), place(cache), 12,
        mrope_section=sections,
    )  # fmt: skip
    rows = wide(cache)[at]
    if sections is not None:
        own = np.repeat([0, 1], 2)
        rows = np.concatenate([rows[own, :, np.arange(4)], rows[own, :, np.arange(4, 8)]]).T.copy()
    cos, sin = (np.tile(part, 2)[:, None] for part in np.split(rows, 2, axis=1))
    for x, found in ((q, query), (k, key)):
        heads = wide(x).reshape(5, -1, 12)
        heads[..., :8] = turned(heads[..., :8], cos, sin)
        assert_close(found.numpy(), heads.reshape(x.shape), scale=2)


def test_latent_keys_go_into_pages() -> None:
    kv, gamma = normal(1, 2, 1, 3, 96), normal(2, 32)
    cos, sin = normal(3, 2, 1, 3, 64), normal(4, 2, 1, 3, 64)
    slots = np.array([40, -1, 3, 7, 33, 0])
    caches = [place(np.zeros((3, 16, 1, n), np.float16)) for n in (64, 32)]
    keys, values = functional.kv_rms_norm_rope_cache(
        *map(place, (kv, gamma, cos, sin, slots)), *caches, epsilon=1e-6, cache_mode="PA",
        is_output_kv=True,
    )  # fmt: skip
    rotary = wide(kv)[..., 32:]
    apart = np.concatenate([rotary[..., ::2], rotary[..., 1::2]], axis=-1)
    exact = [turned(apart, cos, sin), normed(kv[..., :32], gamma)]
    assert_close(keys.numpy(), exact[0], scale=2)
    assert_close(values.numpy(), exact[1], scale=2)
    for cache, rows in zip(caches, (keys, values), strict=True):
        written = cache.numpy().reshape(48, -1)
        for slot, row in zip(slots, rows.numpy().reshape(6, -1), strict=True):
            if slot >= 0:
                assert_same(written[slot], row)
        assert np.count_nonzero(written.any(axis=1)) == 5


def test_queries_keys_and_values_of_one_product() -> None:
    qkv, gammas = normal(1, 3, 512), normal(2, 2, 128)
    cos, sin = normal(3, 3, 128), normal(4, 3, 128)
    slots = np.array([5, 17, 0])
    caches = [place(np.zeros((2, 8, 16, 16), np.float16)) for _ in range(2)]
    query = functional.qkv_rms_norm_rope_cache(
        *map(place, (qkv, gammas[0], gammas[1], cos, sin, slots)), *caches, [1, 3, 4, 128],
        [2, 1, 1],
    )  # fmt: skip
    heads = wide(qkv).reshape(3, 4, 128)
    exact = turned(normed(heads[:, :2], gammas[0]), cos[:, None], sin[:, None])
    assert_close(query.numpy(), exact.reshape(3, 256), scale=2)
    rows = turned(normed(heads[:, 2], gammas[1]), cos, sin), heads[:, 3]
    for cache, wanted in zip(caches, rows, strict=True):
        written = cache.numpy().transpose(0, 2, 1, 3).reshape(32, 128)
        assert_close(written[slots], wanted, scale=2)
    with pytest.raises(ValueError, match="head_nums"):
        functional.qkv_rms_norm_rope_cache(
            *map(place, (qkv, gammas[0], gammas[1], cos, sin, slots)), *caches, [1, 3, 4, 128], [4]
        )
