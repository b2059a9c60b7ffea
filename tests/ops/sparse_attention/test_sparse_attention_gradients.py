# SPDX-License-Identifier: Apache-2.0
"""Gradients of sparse attention, of windows of keys and of masked convolution."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950
from helpers.numerics import assert_close
from helpers.operators import Array, hollow, op, place, wide
from helpers.slopes import slopes, slopes_at, some_places

from aclnn_py.errors import AclnnError

pytestmark = pytest.mark.usefixtures("device")

F16, BF16, F32 = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)
DTYPES = pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
ALL = 2147483647


def normal(seed: int, *shape: int, dtype: Any = F32) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def compare(results: list[Any], expected: list[Array], places: Any = None) -> None:
    """Hold results to their own rounding, and to that of the forward result, which they read."""
    for i, (result, wanted) in enumerate(zip(results, expected, strict=True)):
        found = wide(result.numpy())
        if places is not None:
            found = np.array([found[at] for at in places[i]])
        step = 2.0**-10 if result.numpy().dtype == F16 else 2.0**-7
        error, usual = abs(found - wanted), np.sqrt(np.mean(wanted**2))
        assert np.sqrt(np.mean(error**2)) <= step * usual
        np.testing.assert_array_less(error, step * (abs(wanted) + 16 * usual) + 1e-9)


def attention(q: Array, k: Array, v: Array, shown: Array, scale: float) -> Array:
    """(rows, width), (keys, width) and (keys, values); rows that meet nothing become 0."""
    scores = np.where(shown, scale * q @ k.T, -np.inf)
    powers = np.where(shown, np.exp(scores - scores.real.max(-1, keepdims=True, initial=-99.0)), 0)
    return np.asarray(powers @ v / np.maximum(powers.sum(-1, keepdims=True), 1e-300))


def statistics(q: Array, k: Array, shown: Array, scale: float) -> tuple[Array, Array]:
    scores = np.where(shown, scale * wide(q) @ wide(k).T, -np.inf)
    highest = scores.max(-1, keepdims=True)
    return highest, np.exp(scores - highest).sum(-1, keepdims=True)


def attention_slopes(q: Array, k: Array, v: Array, dy: Array, shown: Array, scale: float) -> Any:
    """Return the derivatives by their own formula; a test holds it to complex steps."""
    q, k, v, dy = (wide(x) for x in (q, k, v, dy))
    highest, total = statistics(q, k, shown, scale)
    chances = np.where(shown, np.exp(scale * q @ k.T - highest) / total, 0)
    along = (dy * (chances @ v)).sum(-1, keepdims=True)
    slope = scale * chances * (dy @ v.T - along)
    return slope @ k, slope.T @ q, chances.T @ dy


def test_the_oracle_is_the_derivative() -> None:
    q, k, v, dy = normal(1, 3, 8), normal(2, 5, 8), normal(3, 5, 4), normal(4, 3, 4)
    shown = np.array([[1, 0, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 1]], bool)
    steps = slopes(lambda q, k, v: attention(q, k, v, shown, 0.3), [q, k, v], dy)
    for found, wanted in zip(attention_slopes(q, k, v, dy, shown, 0.3), steps, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


@DTYPES
@pytest.mark.parametrize(("length", "stride"), [(16, 16), (48, 16)])
def test_the_gradient_of_windows(length: int, stride: int, dtype: Any) -> None:
    lengths = [100, 15, 0, 64]
    x, w = normal(1, sum(lengths), 3, 32, dtype=dtype), normal(2, length, 3, dtype=dtype)
    ends = [int(e) for e in np.cumsum(lengths)]

    def forward(x: Array, w: Array) -> Array:
        rows = [
            (part[i : i + length] * w[:, :, None]).sum(0)
            for part in np.split(x, ends[:-1])
            for i in range(0, len(part) - length + 1, stride)
        ]
        return np.array(rows)

    dy = normal(3, *forward(x, w).shape, dtype=dtype)
    places = [some_places(x.shape, 60), some_places(w.shape, 30)]
    results = [hollow(x.shape, dtype, "stepped"), hollow(w.shape, dtype)]
    op("NsaCompressGrad")(
        place(dy, "transposed"), place(x, "stepped"), place(w, "stepped"), ends, length, stride, 0,
        "TND", *results,
    )  # fmt: skip
    compare(results, slopes_at(forward, [wide(x), wide(w)], places, wide(dy)), places)


@DTYPES
@pytest.mark.parametrize("masked", [False, True])
def test_the_gradient_of_floyd(masked: bool, dtype: Any) -> None:
    n, m, k, width, scale = 16, 128, 128, 32, 0.2
    q, key1, value1 = (
        normal(i, 2, 1, n, e, width, dtype=dtype) for i, e in ((1, m), (2, k), (3, k))
    )
    key2, value2 = (normal(i, 2, 1, k, m, width, dtype=dtype) for i in (4, 5))
    dy = normal(6, *q.shape, dtype=dtype)
    mask = np.random.default_rng(7).random((2, 1, n, 1, k)) < 0.3
    mask[1, 0, 2] = True  # these rows have the mean of all values, whatever their scores
    hidden = mask.astype(np.uint8) if masked else None
    out, highest, total = hollow(q.shape, dtype), *(hollow((2, 1, n, m, 8), F32) for _ in range(2))
    tensors = [place(x) for x in (q, key1, value1, key2, value2)]
    given = None if hidden is None else place(hidden)
    op("FusedFloydAttention")(*tensors, given, scale, highest, total, out)
    results = [hollow(x.shape, dtype, "stepped") for x in (q, key1, value1, key2, value2)]
    op("FusedFloydAttentionGrad")(
        *tensors, place(dy, "transposed"), given, highest, total, out, scale, *results
    )
    shown = ~mask[:, :, :, :, :] if masked else np.ones_like(mask)
    scores = scale * (
        np.einsum("bhnmd,bhnkd->bhnmk", wide(q), wide(key1))
        + np.einsum("bhnmd,bhkmd->bhnmk", wide(q), wide(key2))
    )
    scores = np.where(shown, scores, -1e30)
    chances = np.exp(scores - scores.max(-1, keepdims=True))
    chances /= chances.sum(-1, keepdims=True)
    g = wide(dy)
    values = np.einsum("bhnmd,bhnkd->bhnmk", g, wide(value1))
    values += np.einsum("bhnmd,bhkmd->bhnmk", g, wide(value2))
    slope = scale * chances * (values - (chances * values).sum(-1, keepdims=True)) * shown
    expected = [
        np.einsum("bhnmk,bhnkd->bhnmd", slope, wide(key1))
        + np.einsum("bhnmk,bhkmd->bhnmd", slope, wide(key2)),
        np.einsum("bhnmk,bhnmd->bhnkd", slope, wide(q)),
        np.einsum("bhnmk,bhnmd->bhnkd", chances, g),
        np.einsum("bhnmk,bhnmd->bhkmd", slope, wide(q)),
        np.einsum("bhnmk,bhnmd->bhkmd", chances, g),
    ]
    # The operator has dk1, dv1, dk2, dv2 in this order.
    compare(results, expected)


@DTYPES
@pytest.mark.parametrize("mode", [None, 0, 2])
def test_the_gradient_over_selected_blocks(mode: int | None, dtype: Any) -> None:
    g = np.random.default_rng(1)
    lengths, key_lengths, heads, group, size, count = [5, 40], [64, 96], 2, 3, 16, 3
    scale = 0.08
    q = normal(1, 45, heads * group, 192, dtype=dtype)
    k, v = normal(2, 160, heads, 192, dtype=dtype), normal(3, 160, heads, 128, dtype=dtype)
    dy = normal(4, 45, heads * group, 128, dtype=dtype)
    mask = g.random((40, 96)) < 0.4
    blocks = np.zeros((45, heads, count), np.int32)
    shown = np.zeros((45, heads, 160), bool)
    starts, key_starts = [0, 5], [0, 64]
    for b in range(2):
        for t in range(lengths[b]):
            for n in range(heads):
                chosen = g.permutation(key_lengths[b] // size)[:count]
                chosen[0] = 0 if mode == 2 else chosen[0]
                chosen[1:] = [c if c != chosen[0] else -1 for c in chosen[1:]]
                blocks[starts[b] + t, n] = chosen
                for c in chosen[chosen >= 0]:
                    for key in range(c * size, (c + 1) * size):
                        hidden = mask[t, key] if mode == 0 else mode == 2 and key > t
                        shown[starts[b] + t, n, key_starts[b] + key] = not hidden
    tensors = [place(q), place(k, "stepped"), place(v)]
    chosen_at, ends, key_ends = place(blocks), [5, 45], [64, 160]
    triangle = np.triu(np.ones((2048, 2048), bool), 1)
    given = None if mode is None else place(triangle if mode == 2 else mask)
    out, *sums = hollow(dy.shape, dtype), *(hollow((45, heads * group, 8), F32) for _ in range(2))
    op("NsaSelectedAttention")(
        *tensors, chosen_at, given, ends, key_ends, scale, heads * group, "TND", mode or 0, size,
        count, *sums, out,
    )  # fmt: skip
    results = [hollow(x.shape, dtype, "stepped") for x in (q, k, v)]
    op("NsaSelectedAttentionGrad")(
        *tensors, out, place(dy, "transposed"), *sums, chosen_at, ends, key_ends, given, scale,
        size, count, heads * group, "TND", mode or 0, *results,
    )  # fmt: skip
    expected = [np.zeros(x.shape) for x in (q, k, v)]
    for n in range(heads * group):
        kv = n // group
        parts = attention_slopes(q[:, n], k[:, kv], v[:, kv], dy[:, n], shown[:, kv], scale)
        expected[0][:, n] += parts[0]
        expected[1][:, kv] += parts[1]
        expected[2][:, kv] += parts[2]
    compare(results, expected)


def test_a_token_whose_keys_are_all_hidden_reaches_their_values_only() -> None:
    q, k, v = (
        normal(i, n, 1, w, dtype=F16) for i, n, w in ((1, 2, 192), (2, 32, 192), (3, 32, 128))
    )
    dy = normal(4, 2, 1, 128, dtype=F16)
    blocks, mask = place(np.ones((2, 1, 1), np.int32)), place(np.ones((2, 32), bool))
    out, *sums = hollow(dy.shape, F16), *(hollow((2, 1, 8), F32) for _ in range(2))
    tensors = [place(x) for x in (q, k, v)]
    op("NsaSelectedAttention")(
        *tensors, blocks, mask, [2], [32], 1.0, 1, "TND", 0, 16, 1, *sums, out
    )
    results = [hollow(x.shape, F16) for x in (q, k, v)]
    op("NsaSelectedAttentionGrad")(
        *tensors, out, place(dy), *sums, blocks, [2], [32], mask, 1.0, 16, 1, 1, "TND", 0, *results
    )
    expected = np.zeros(v.shape)
    expected[16:] = wide(dy).sum(0) / 16
    assert not results[0].numpy().any() and not results[1].numpy().any()
    assert_close(results[2].numpy(), expected, scale=4.0)


def blocks_of(layout: str, dtype: Any, heads: int = 2, kv_heads: int = 2) -> None:
    """Two sequences, of which one block of queries meets nothing, against the oracle."""
    g = np.random.default_rng(5)
    lengths, key_lengths, shape, scale, width = [9, 37], [300, 129], (5, 128), 0.1, 128
    if layout == "BSND":  # there the lists of lengths are not looked at
        lengths, key_lengths = [40, 40], [310, 310]
    q, dy = (
        [normal(i + b, n, heads, width, dtype=dtype) for b, n in enumerate(lengths)] for i in (1, 9)
    )
    k, v = (
        [normal(i + b, n, kv_heads, width, dtype=dtype) for b, n in enumerate(key_lengths)]
        for i in (3, 5)
    )
    met = g.random((2, heads, 8, 3)) < 0.6
    met[0, 0, 0] = False
    packed = layout == "TND"

    def tensor(parts: list[Array], tokens: int) -> Array:
        if packed:
            return np.concatenate(parts)
        whole = np.full((2, tokens, *parts[0].shape[1:]), 99, parts[0].dtype)
        for b, part in enumerate(parts):
            whole[b, : len(part)] = part
        return whole.transpose(0, 2, 1, 3) if layout == "BNSD" else whole

    lists = [lengths, key_lengths]
    out, lse = [], []
    expected = [[np.zeros(x.shape) for x in parts] for parts in (q, k, v)]
    for b, n in enumerate(lengths):
        out.append(np.zeros(q[b].shape))
        lse.append(np.zeros((n, heads, 1), np.float32))
        for h in range(heads):
            kv = h * kv_heads // heads
            pairs = np.repeat(np.repeat(met[b, h], shape[0], 0), shape[1], 1)
            shown = pairs[:n, : key_lengths[b]]
            rows = shown.any(-1)
            mine = [wide(x) for x in (q[b][rows, h], k[b][:, kv], v[b][:, kv], dy[b][rows, h])]
            highest, total = statistics(mine[0], mine[1], shown[rows], scale)
            lse[b][rows, h] = highest + np.log(total)
            lse[b][~rows, h] = np.inf
            out[b][rows, h] = attention(mine[0], mine[1], mine[2], shown[rows], scale)
            found = attention_slopes(mine[0], mine[1], mine[2], mine[3], shown[rows], scale)
            expected[0][b][rows, h] = found[0]
            expected[1][b][:, kv] += found[1]
            expected[2][b][:, kv] += found[2]
    tokens = [40, 310, 310]
    operands = [tensor(q, 40), tensor(k, 310), tensor(v, 310)]
    results = [hollow(x.shape, dtype, "stepped") for x in operands]
    op("BlockSparseAttentionGrad")(
        place(tensor(dy, 40)), *(place(x) for x in operands),
        place(tensor([x.astype(dtype) for x in out], 40)), place(tensor(lse, 40)), place(met), None,
        list(shape), *lists, layout, layout, kv_heads, 0, scale, ALL, ALL, *results,
    )  # fmt: skip
    wanted = []
    for parts, extent in zip(expected, tokens, strict=True):
        whole = tensor(parts, extent)
        wanted.append(np.where(whole == 99, 0, whole))
    compare(results, wanted)


@DTYPES
@pytest.mark.parametrize("layout", ["TND", "BNSD"])
def test_the_gradient_over_pairs_of_blocks(layout: str, dtype: Any) -> None:
    blocks_of(layout, dtype)


def convolution(seed: int, masked: bool, dtype: Any) -> None:
    length, batch, dim = 5, 2, 384
    x, dy = (normal(seed + i, length, batch, dim, dtype=dtype) for i in range(2))
    w = normal(seed + 2, 3, dim, dtype=dtype)
    mask = np.random.default_rng(seed).random((batch, length)) < 0.6 if masked else None

    def forward(x: Array, w: Array) -> Array:
        padded = np.concatenate([np.zeros((2, batch, dim)), x])
        y = sum(padded[k : k + length] * w[k] for k in range(3))
        return np.asarray(y if mask is None else y * mask.T[..., None])

    places = [some_places(x.shape, 60), some_places(w.shape, 60)]
    results = [hollow(x.shape, dtype), hollow(w.shape, dtype)]
    op("MaskedCausalConv1dBackward")(
        place(dy, "transposed"), place(x, "stepped"), place(w, "stepped"),
        None if mask is None else place(mask), *results,
    )  # fmt: skip
    compare(results, slopes_at(forward, [wide(x), wide(w)], places, wide(dy)), places)


SELECTED: dict[str, Any] = {
    "query": np.zeros((3, 2, 192), F16), "key": np.zeros((32, 1, 192), F16),
    "value": np.zeros((32, 1, 128), F16), "out": np.zeros((3, 2, 128), F16),
    "dy": np.zeros((3, 2, 128), F16), "highest": np.zeros((3, 2, 8), F32),
    "sum": np.zeros((3, 2, 8), F32), "chosen": np.zeros((3, 1, 1), np.int32), "ends": [3],
    "key_ends": [32], "mask": None, "scale": 1.0, "size": 16, "count": 1, "heads": 2,
    "layout": "TND", "mode": 0, "dq": np.zeros((3, 2, 192), F16), "dk": np.zeros((32, 1, 192), F16),
    "dv": np.zeros((32, 1, 128), F16),
}  # fmt: skip
PAIRS: dict[str, Any] = {
    "dy": np.zeros((1, 2, 3, 128), F16), "query": np.zeros((1, 2, 3, 128), F16),
    "key": np.zeros((1, 2, 5, 128), F16), "value": np.zeros((1, 2, 5, 128), F16),
    "out": np.zeros((1, 2, 3, 128), F16), "lse": np.zeros((1, 2, 3, 1), F32),
    "pairs": np.ones((1, 2, 1, 1), bool), "mask": None, "shape": None, "lengths": None,
    "key_lengths": None, "layout": "BNSD", "key_layout": "BNSD", "heads": 2, "mask_type": 0,
    "scale": 1.0, "before": ALL, "after": ALL, "dq": np.zeros((1, 2, 3, 128), F16),
    "dk": np.zeros((1, 2, 5, 128), F16), "dv": np.zeros((1, 2, 5, 128), F16),
}  # fmt: skip
REFUSALS: list[tuple[str, dict[str, Any], dict[str, Any], int, str]] = [
    ("NsaSelectedAttentionGrad", SELECTED, {"sum": None}, 161001, "softmaxSum is null"),
    ("NsaSelectedAttentionGrad", SELECTED, {"layout": "BSH"}, 161002, "allowed: TND"),
    ("NsaSelectedAttentionGrad", SELECTED, {"heads": 4}, 561002, "headNum is 4"),
    ("NsaSelectedAttentionGrad", SELECTED, {"dk": np.zeros((3, 2, 192), F16)}, 561002, "dkOut has"),
    ("BlockSparseAttentionGrad", PAIRS, {"layout": "TND", "key_layout": "TND"}, 161001, "is null"),
    ("BlockSparseAttentionGrad", PAIRS, {"layout": "BSND"}, 161002, 'qInputLayout is "BSND"'),
    ("BlockSparseAttentionGrad", PAIRS, {"dv": np.zeros(2, BF16)}, 161002, "dv has dtype"),
    ("BlockSparseAttentionGrad", PAIRS, {"before": 1}, 561002, "preTokens is 1"),
    ("BlockSparseAttentionGrad", PAIRS, {"heads": 1}, 561002, "numKeyValueHeads is 1"),
    ("BlockSparseAttentionGrad", PAIRS, {"dv": np.zeros((1, 2, 3, 128), F16)}, 561002, "dv has"),
]


@pytest.mark.parametrize(
    ("name", "given", "changed", "status", "words"),
    REFUSALS,
    ids=[f"{r[0]}-{r[4]}" for r in REFUSALS],
)
def test_what_does_not_fit_is_refused(
    name: str, given: dict[str, Any], changed: dict[str, Any], status: int, words: str
) -> None:
    arguments = {**given, **changed}.values()
    tensors = [place(a) if isinstance(a, np.ndarray) else a for a in arguments]
    with pytest.raises(AclnnError) as caught:
        op(name)(*tensors)
    assert caught.value.status == status, caught.value
    assert words in str(caught.value), caught.value


def on_a_950(name: str) -> None:
    """What a 950 takes besides, in its process."""
    dtype = BF16 if name == "bfloat16" else F16
    for masked in (False, True):
        convolution(3, masked, dtype)
    blocks_of("TND", dtype, 4, 2)
    blocks_of("BSND", dtype, 4, 1)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_what_only_a_950_takes(name: str) -> None:
    with Chip950() as newer:
        module = "ops.sparse_attention.test_sparse_attention_gradients"
        assert newer.call(module, "on_a_950", name) is None
