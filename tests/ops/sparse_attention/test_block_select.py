# SPDX-License-Identifier: Apache-2.0
"""Block sparse attention: the choice of its blocks, and its second version with scales."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, op, place

import aclnn_py as ap
from aclnn_py.errors import AclnnError

pytestmark = pytest.mark.usefixtures("device")

Array = npt.NDArray[Any]
F16, BF16, F32 = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)
E4M3 = np.dtype(ml_dtypes.float8_e4m3fn)
DTYPES = pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
ALL = 2147483647


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def means(tokens: Array, block: int, taken: Any) -> tuple[Array, Array]:
    """(tokens, width) to the averages of blocks, and which of them may be chosen."""
    rows, used = [], []
    for i in range(0, len(tokens), block):
        n = block if taken is None else taken[i // block]
        rows.append(tokens[i : i + n].sum(0) / n if n else np.zeros(tokens.shape[1]))
        used.append(n > 0)
    return np.array(rows), np.array(used)


def choice(
    q: Array, k: Array, shape: Any, post: Any, scale: float, kept: float, taken: Any = (None, None)
) -> Array:
    """The mask of one sequence and head, (tokens, width) each."""
    rows, row_used = means(q.astype(np.float64), shape[0], taken[0])
    columns, column_used = means(k.astype(np.float64), shape[1], taken[1])
    scores = np.exp(scale * rows @ columns.T)
    scores /= scores.sum(1, keepdims=True)
    used = row_used[:, None] & column_used
    if post is not None:
        cells = [range(0, n, p) for n, p in zip(scores.shape, post, strict=True)]
        pool = [[scores[i : i + post[0], j : j + post[1]] for j in cells[1]] for i in cells[0]]
        used = np.array(
            [[used[i : i + post[0], j : j + post[1]].any() for j in cells[1]] for i in cells[0]]
        )
        scores = np.array([[cell.mean() for cell in line] for line in pool])
    count = int(np.floor(kept * scores.size + 0.5))
    order = np.argsort(np.where(used, -scores, np.inf).ravel(), kind="stable")[:count]
    mask = np.zeros(scores.size, np.int8)
    mask[order[used.ravel()[order]]] = 1
    return mask.reshape(scores.shape)


def sequences(dtype: Any, heads: int = 2) -> tuple[list[Array], list[Array]]:
    g = np.random.default_rng(11)
    return tuple(
        [(2 * g.standard_normal((heads, n, 128))).astype(dtype) for n in lengths]
        for lengths in ([90, 41], [200, 130])
    )


def whole(parts: list[Array], tokens: int) -> Array:
    made = np.full((len(parts), parts[0].shape[0], tokens, 128), 3, parts[0].dtype)
    for b, x in enumerate(parts):
        made[b, :, : x.shape[1]] = x
    return made


@DTYPES
@pytest.mark.parametrize("layout", ["BNSD", "TND"])
@pytest.mark.parametrize(
    ("shape", "post", "kept", "partial"),
    [((16, 32), None, 0.3, False), ((8, 8), (8, 8), 0.5, True), ((8, 16), None, 0.9, True)],
)
def test_the_best_pairs_of_blocks(
    shape: Any, post: Any, kept: float, partial: bool, layout: str, dtype: Any
) -> None:
    q, k = sequences(dtype)
    packed = layout == "TND"
    g = np.random.default_rng(5)
    taken: list[list[Any]] = [[None, None], [None, None]]
    lists: list[Any] = [None, None]
    grid = [
        [-(-x.shape[1] // size) for x in side] for side, size in zip((q, k), shape, strict=True)
    ]
    if partial:
        for side in range(2):
            counts = [g.integers(0, shape[side] + 1, n) for n in grid[side]]
            counts[0][1] = 0
            taken[side] = [c.tolist() for c in counts]
            most = [np.pad(c, (0, 0 if packed else max(grid[side]) - len(c))) for c in counts]
            lists[side] = np.concatenate(most).tolist()
    cells = [-(-max(n) // (post[i] if post else 1)) for i, n in enumerate(grid)]
    out = hollow((2, 2, *cells), np.int8)
    tensors = [
        np.concatenate([x.transpose(1, 0, 2) for x in side]) if packed else whole(side, tokens)
        for side, tokens in ((q, 90), (k, 200))
    ]
    op("BSASelectBlockMask")(
        place(tensors[0], "transposed"), place(tensors[1]), list(shape), post and list(post),
        [90, 41], [200, 130], *lists, layout, layout, 2, 0.5, kept, out,
    )  # fmt: skip
    expected = np.zeros((2, 2, *cells), np.int8)
    for b in range(2):
        for n in range(2):
            mask = choice(q[b][n], k[b][n], shape, post, 0.5, kept, (taken[0][b], taken[1][b]))
            expected[b, n, : mask.shape[0], : mask.shape[1]] = mask
    assert_same(out.numpy(), expected)
    assert 0 < expected.mean() < 1


def test_the_chosen_blocks_are_what_attention_takes() -> None:
    q, k = sequences(F16)
    query, key = place(whole(q, 90)), place(whole(k, 200))
    mask = hollow((2, 2, 1, 2), np.int8)
    lengths = ([90, 41], [200, 130])
    op("BSASelectBlockMask")(
        query, key, None, None, *lengths, None, None, "BNSD", "BNSD", 2, 0.5, 0.5, mask
    )
    results = []
    for keep in (mask, place(np.concatenate([choice(q[b][n], k[b][n], (128, 128), None, 0.5, 0.5)
                                             for b in range(2) for n in range(2)])
                             .reshape(2, 2, 1, 2))):  # fmt: skip
        out = hollow((2, 2, 90, 128), F16)
        op("BlockSparseAttention")(
            query, key, key, keep, None, None, *lengths, None, "BNSD", "BNSD", 2, 0, 0.1, 0, 0,
            ALL, ALL, 0, out, None,
        )  # fmt: skip
        results.append(out.numpy())
    assert_same(*results)
    assert 0.1 < np.abs(results[0][0, 0]).max() < 20  # a result was written


def select(**changed: Any) -> None:
    given: dict[str, Any] = {
        "query": np.zeros((1, 2, 20, 128), F16), "key": np.zeros((1, 2, 24, 128), F16),
        "block_shape": [8, 8], "post_block_shape": None, "actual_seq_lengths": None,
        "actual_seq_lengths_kv": None, "actual_block_len_query": None,
        "actual_block_len_key": None, "q_input_layout": "BNSD", "kv_input_layout": "BNSD",
        "num_key_value_heads": 2, "scale_value": 1.0, "sparsity": 0.5,
        "block_sparse_mask_out": np.zeros((1, 2, 3, 3), np.int8), **changed,
    }  # fmt: skip
    op("BSASelectBlockMask")(
        **{k: place(v) if isinstance(v, np.ndarray) else v for k, v in given.items()}
    )


REFUSALS: list[tuple[dict[str, Any], int, str]] = [
    ({"key": None}, 161001, "key is null"),
    ({"key": np.zeros((1, 2, 24, 128), BF16)}, 161002, "key has dtype BFLOAT16"),
    ({"block_sparse_mask_out": np.zeros((1, 2, 3, 3), np.bool_)}, 161002, "has dtype BOOL"),
    ({"q_input_layout": "BSND"}, 561002, 'qInputLayout is "BSND"; allowed: TND, BNSD'),
    ({"kv_input_layout": "TND"}, 561002, "it must be qInputLayout"),
    ({"block_shape": [12, 8]}, 561002, "blockShapeOptional[0] is 12"),
    ({"post_block_shape": [8]}, 561002, "postBlockShapeOptional has 1 elements"),
    ({"post_block_shape": [8, 8]}, 561002, "postBlockShapeOptional joins all pairs to one"),
    ({"block_shape": [64, 64]}, 561002, "query has 1 blocks and key 1"),
    ({"sparsity": 1.0}, 561002, "sparsity is 1; it must lie between 0 and 1"),
    ({"query": np.zeros((1, 2, 20, 64), F16)}, 561002, "allowed: 128"),
    ({"num_key_value_heads": 1}, 561002, "the three must be equal"),
    ({"actual_seq_lengths": [21]}, 561002, "actualSeqLengthsOptional[0] is 21"),
    ({"actual_block_len_key": [8, 8]}, 561002, "the sequences have 3 blocks"),
    ({"actual_block_len_key": [8, 9, 0]}, 561002, "actualBlockLenKeyOptional[1] is 9"),
    ({"block_sparse_mask_out": np.zeros((1, 2, 3, 4), np.int8)}, 561002, "expected (1, 2, 3, 3)"),
]


@pytest.mark.parametrize(("changed", "status", "words"), REFUSALS, ids=[r[2] for r in REFUSALS])
def test_refusals_of_the_choice(changed: dict[str, Any], status: int, words: str) -> None:
    with pytest.raises(AclnnError) as caught:
        select(**changed)
    assert caught.value.status == status, caught.value
    assert words in str(caught.value), caught.value


@DTYPES
def test_the_second_version_does_the_same(dtype: Any) -> None:
    q, k = sequences(dtype)
    query, key = place(whole(q, 90)), place(whole(k, 200))
    mask = place(np.random.default_rng(3).integers(0, 2, (2, 2, 6, 2), np.int8))
    tail = ("BNSD", "BNSD", 2, 0, 0.1, 0, 0, ALL, ALL, 1)
    results = []
    for name, scales in (("BlockSparseAttention", ()), ("BlockSparseAttentionV2", (None,) * 3)):
        out, lse = hollow((2, 2, 90, 128), dtype), hollow((2, 2, 90, 1), F32)
        op(name)(
            query, key, key, mask, None, [16, 128], [90, 41], [200, 130], None, *scales, *tail,
            out, lse,
        )  # fmt: skip
        results.append((out.numpy().astype(F32), lse.numpy()))
    for first, second in zip(*results, strict=True):
        assert_same(first, second)
    assert 0.1 < np.abs(results[0][0]).max() < 20  # a result was written


def test_scales_are_refused_for_wide_floats() -> None:
    x = place(np.zeros((1, 2, 20, 128), F16))
    with pytest.raises(AclnnError, match="qDequantScaleOptional is given") as caught:
        op("BlockSparseAttentionV2")(
            x, x, x, place(np.zeros((1, 2, 1, 1), np.int8)), None, None, None, None, None,
            place(np.zeros((1, 2, 1, 1), F32)), None, None, "BNSD", "BNSD", 2, 0, 0.1, 0, 0, ALL,
            ALL, 0, x, None,
        )  # fmt: skip
    assert caught.value.status == 161002
    ap.synchronize()


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
@pytest.mark.parametrize("out", ["float16", "bfloat16"])
def test_operands_of_8_bits_on_the_newer_chip(newer: Chip950, out: str) -> None:
    g = np.random.default_rng(9)
    q, k, v = (
        g.standard_normal((1, n, t, 64)).astype(E4M3) for n, t in ((4, 30), (2, 50), (2, 50))
    )
    scales = [g.uniform(0.5, 2, (1, n, m, 1)).astype(F32) for n, m in ((4, 4), (2, 4), (2, 4))]
    mask = g.integers(0, 2, (1, 4, 4, 4), np.int8)
    mask[..., 0] = 1
    made = Made((1, 4, 30, 64), out), Made((1, 4, 30, 1), "float32")
    found = newer.operator(
        "block_sparse_attention_v2", *(Given(x, "float8_e4m3fn") for x in (q, k, v)),
        Given(mask, "int8"), None, [8, 16], None, None, None,
        *(Given(s, "float32") for s in scales), "BNSD", "BNSD", 2, 0, 0.2, 4, 0, ALL, ALL, 1, *made,
    )  # fmt: skip
    assert not isinstance(found, Refused), found
    wide = [
        np.repeat(x.astype(np.float64)[0] * np.repeat(s[0], size, 1)[:, : x.shape[2]], n, 0)
        for x, s, size, n in zip((q, k, v), scales, (8, 16, 16), (1, 2, 2), strict=True)
    ]
    met = np.repeat(np.repeat(mask[0], 8, 1), 16, 2)[:, :30, :50] != 0
    scores = np.where(met, 0.2 * wide[0] @ wide[1].swapaxes(1, 2), -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    total = powers.sum(-1, keepdims=True)
    assert_close(found[0][0], powers @ wide[2] / total, scale=2.0)
    assert_close(found[1][0], scores.max(-1, keepdims=True) + np.log(total), scale=9.0)


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({9: None}, "qDequantScaleOptional is null"),
        ({10: np.ones((1, 2, 2, 1), F32)}, "expected (1, 2, 1, 1)"),
        ({5: None}, "blockShapeOptional is null"),
        ({17: 0}, "innerPrecise is 0; allowed: 4"),
    ],
    ids=["scale", "shape", "blocks", "precision"],
)
def test_refusals_on_the_newer_chip(newer: Chip950, changed: dict[int, Any], words: str) -> None:
    x = Given(np.zeros((1, 2, 16, 64), E4M3), "float8_e4m3fn")
    one = np.ones((1, 2, 1, 1), F32)
    arguments: list[Any] = [
        x, x, x, Given(np.ones((1, 2, 1, 1), np.int8), "int8"), None, [16, 16], None, None, None,
        one, one, one, "BNSD", "BNSD", 2, 0, 1.0, 4, 0, ALL, ALL, 0,
        Made((1, 2, 16, 64), "float16"), None,
    ]  # fmt: skip
    for at, value in changed.items():
        arguments[at] = value
    given = [Given(a, "float32") if isinstance(a, np.ndarray) else a for a in arguments]
    found = newer.operator("block_sparse_attention_v2", *given)
    assert isinstance(found, Refused)
    assert words in found.text, found
