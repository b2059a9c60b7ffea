# SPDX-License-Identifier: Apache-2.0
"""Attention over all keys from attentions over parts of them, against NumPy in float64."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, op, place

from aclnn_py.errors import AclnnError, DeviceError

pytestmark = pytest.mark.usefixtures("device")

Array = npt.NDArray[Any]
F16, BF16, F32 = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)


def rng(seed: int = 5) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize("dtype", [F16, BF16, F32], ids=str)
def test_parts_are_joined_by_their_log_sum_exps(dtype: Any, parts: int) -> None:
    lse = (5 * rng().standard_normal((parts, 7))).astype(np.float32)
    local = rng().standard_normal((parts, 7, 24)).astype(dtype)
    out, total = hollow((7, 24), dtype), hollow((7,), F32)
    op("AttentionUpdate")([place(x) for x in lse], [place(x) for x in local], 1, out, total)
    wide = lse.astype(np.float64)
    joined = np.log(np.exp(wide).sum(0))
    weights = np.exp(wide - joined)
    assert_close(total.numpy(), joined, scale=2.0)
    assert_close(out.numpy(), (weights[..., None] * local.astype(np.float64)).sum(0), scale=2.0)
    again = hollow((7, 24), dtype)
    op("AttentionUpdate")([place(x) for x in lse], [place(x) for x in local], 0, again, None)
    assert_same(again.numpy(), out.numpy())


def test_an_update_may_be_written_over_a_part_and_be_empty() -> None:
    lse = rng().standard_normal((2, 3)).astype(np.float32)
    local = [place(x) for x in rng().standard_normal((2, 3, 8)).astype(np.float32)]
    apart = hollow((3, 8), F32)
    op("AttentionUpdate")([place(x) for x in lse], local, 0, apart, None)
    op("AttentionUpdate")([place(x) for x in lse], local, 0, local[1], None)
    assert_same(local[1].numpy(), apart.numpy())
    none = place(np.zeros((0, 8), np.float32))
    op("AttentionUpdate")([place(np.zeros(0, np.float32))], [none], 0, none, None)


UPDATE_REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"lse": []}, "lse has 0 tensors; allowed: 1 to 128"),
    ({"update_type": 2}, "updateType is 2; allowed: 0, 1"),
    ({"lse_out": None}, "lseOutOptional is null; with updateType 1 it must be"),
    ({"update_type": 0}, "lseOutOptional is given; with updateType 0 it must not be"),
    ({"local_out": [np.zeros((3, 12), np.float32)] * 2}, "heads of 12 elements"),
    ({"local_out": [np.zeros((4, 8), np.float32)] * 2}, "localOut has shape (4, 8)"),
    ({"out": np.zeros((3, 16), np.float32)}, "out has shape (3, 16)"),
    ({"out": np.zeros((3, 8), np.float16)}, "out has dtype FLOAT16"),
    ({"lse": [np.zeros(3, np.float16)] * 2}, "lse has dtype FLOAT16"),
]


@pytest.mark.parametrize(("changed", "words"), UPDATE_REFUSALS, ids=[r[1] for r in UPDATE_REFUSALS])
def test_refusals_of_an_update(changed: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {
        "lse": [np.zeros(3, np.float32)] * 2, "local_out": [np.zeros((3, 8), np.float32)] * 2,
        "update_type": 1, "out": np.zeros((3, 8), np.float32), "lse_out": np.zeros(3, np.float32),
    }  # fmt: skip
    given.update(changed)
    placed = {
        name: [place(t) for t in x] if isinstance(x, list) else
        place(x) if isinstance(x, np.ndarray) else x
        for name, x in given.items()
    }  # fmt: skip
    with pytest.raises(AclnnError) as caught:
        op("AttentionUpdate")(**placed)
    assert caught.value.status == 161002, caught.value
    assert words in str(caught.value), caught.value


def joined_rings(
    parts: list[Array], highest: list[Array], sums: list[Array]
) -> tuple[Array, Array, Array]:
    """Results (rows, width) and statistics (rows,) of two rings as one."""
    most = np.maximum(*highest)
    weights = [s * np.exp(h - most) for s, h in zip(sums, highest, strict=True)]
    total = weights[0] + weights[1]
    result = sum(
        p.astype(np.float64) * (w / total)[..., None] for p, w in zip(parts, weights, strict=True)
    )
    return np.asarray(result), most, total


def ring(
    layout: str, statistics: str | None, shape: tuple[int, ...], lanes: tuple[int, ...], dtype: Any,
    ends: list[int] | None,
) -> tuple[list[Array], list[Array], list[Array], list[Array]]:  # fmt: skip
    """Call RingAttentionUpdate, V2 where the layout of the statistics is given."""
    g = rng(9)
    parts = [g.standard_normal(shape).astype(dtype) for _ in range(2)]
    highest = [np.repeat(g.standard_normal((*lanes, 1)), 8, -1).astype(F32) for _ in range(2)]
    sums = [np.repeat(1 + 3 * g.random((*lanes, 1)), 8, -1).astype(F32) for _ in range(2)]
    outs = [hollow(shape, dtype), hollow((*lanes, 8), F32), hollow((*lanes, 8), F32)]
    first = [x for i in range(2) for x in (place(parts[i]), place(highest[i]), place(sums[i]))]
    list_of_ends = None if ends is None else place(np.array(ends, np.int64))
    names = [layout] if statistics is None else [layout, statistics]
    version = "" if statistics is None else "V2"
    op("RingAttentionUpdate" + version)(*first, list_of_ends, *names, *outs)
    return parts, highest, sums, [x.numpy() for x in outs]


@pytest.mark.parametrize("version", ["", "V2"])
@pytest.mark.parametrize("dtype", [F16, BF16, F32], ids=str)
def test_rings_with_heads_side_by_side(version: str, dtype: Any) -> None:
    s, b, n, d = 5, 3, 2, 16
    parts, highest, sums, outs = ring(
        "SBH", "" if version else None, (s, b, n * d), (b, n, s), dtype, None
    )
    turned = [x.reshape(s, b, n, d).transpose(1, 2, 0, 3) for x in parts]
    stats = [[x[..., 0].astype(np.float64) for x in y] for y in (highest, sums)]
    result, most, total = joined_rings(turned, *stats)
    assert_close(outs[0].reshape(s, b, n, d).transpose(1, 2, 0, 3), result, scale=2.0)
    assert_same(outs[1], np.repeat(most[..., None], 8, -1).astype(F32))
    assert_close(outs[2], np.repeat(total[..., None], 8, -1), scale=2.0)


@pytest.mark.parametrize("statistics", [None, "", "SBH", "TND"])
def test_packed_rings(statistics: str | None) -> None:
    n, d, ends = 3, 64, [0, 2, 2, 7]
    parts, highest, sums, outs = ring("TND", statistics, (8, n, d), (8, n), F32, ends)

    def by_token(array: Array) -> Array:
        """Statistics of each sequence, (heads, tokens, 8), as (tokens, heads, 8)."""
        flat = array.reshape(-1, 8)
        rows = []
        for first, last in itertools.pairwise(ends):
            part = flat[first * n : last * n].reshape(n, last - first, 8)
            rows.append(part.transpose(1, 0, 2))
        return np.concatenate(rows)

    read = by_token if statistics != "TND" else lambda x: x[:7]
    stats = [[read(x)[..., 0].astype(np.float64) for x in y] for y in (highest, sums)]
    result, most, total = joined_rings([x[:7] for x in parts], *stats)
    assert_close(outs[0][:7], result, scale=2.0)
    assert_same(outs[0][7], np.full((n, d), 77, F32))  # a token of nobody
    assert_same(read(outs[1]), np.repeat(most[..., None], 8, -1).astype(F32))
    assert_close(read(outs[2]), np.repeat(total[..., None], 8, -1), scale=2.0)


def test_rings_that_are_refused() -> None:
    with pytest.raises(AclnnError, match="inputLayoutOptional is"):
        ring("BSH", None, (2, 2, 16), (2, 2, 2), F32, None)
    with pytest.raises(AclnnError, match="inputSoftmaxLayoutOptional is"):
        ring("TND", "BNS", (2, 2, 64), (2, 2), F32, [0, 2])
    with pytest.raises(AclnnError, match="actualSeqQlenOptional is null"):
        ring("TND", None, (2, 2, 64), (2, 2), F32, None)
    with pytest.raises(AclnnError, match="heads of 32 elements"):
        ring("TND", None, (2, 2, 32), (2, 2), F32, [0, 2])
    with pytest.raises(AclnnError, match="prevSoftmaxMax has shape"):
        ring("SBH", None, (2, 3, 32), (2, 2, 2), F32, None)
    for ends in ([1, 2], [0, 3], [0, 2, 1]):
        with pytest.raises(DeviceError, match="it rises from 0 to at most 2"):
            ring("TND", None, (2, 2, 64), (2, 2), F32, ends)
