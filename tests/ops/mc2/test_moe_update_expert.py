# SPDX-License-Identifier: Apache-2.0
"""MoeUpdateExpert: copies of experts by rank and by token, and experts that are pruned."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py.errors import AclError, AclnnError

TABLE = np.array([[1, 4, -1, -1], [3, 0, 5, 2], [2, 1, 3, -1]], np.int32)


@pytest.fixture(autouse=True)
def _on_device_0(device: ap.Device) -> None:
    pass


def placed(ids: np.ndarray, rank: int, world: int, mode: int) -> np.ndarray:
    expected = np.empty_like(ids)
    for token, row in enumerate(ids):
        for k, expert in enumerate(row):
            copies = TABLE[expert, 0]
            by_rank = rank // -(-world // copies)
            expected[token, k] = TABLE[expert, 1 + (by_rank if mode == 0 else token % copies)]
    return expected


def update(
    ids: np.ndarray,
    rank: int,
    world: int,
    mode: int,
    scales: np.ndarray | None = None,
    threshold: np.ndarray | None = None,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    out, kept = ap.full(ids.shape, -7, ids.dtype), ap.full(ids.shape, True, np.bool_)
    given = [None if a is None else ap.from_numpy(a) for a in (scales, threshold, mask)]
    ap.ops.moe_update_expert(
        ap.from_numpy(ids), ap.from_numpy(TABLE), *given, rank, world, mode, out, kept
    )
    return out.numpy(), kept.numpy()


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize(("rank", "world"), [(0, 2), (1, 2), (2, 4), (7, 8), (6, 7)])
def test_copies_of_experts(dtype: Any, mode: int, rank: int, world: int) -> None:
    if world < 3 and mode == 0:
        table_columns = world + 1
        assert table_columns < TABLE.shape[1]  # such a table is refused
        with pytest.raises(AclnnError):
            update(np.zeros((2, 2), dtype), rank, world, mode)
        return
    ids = np.random.default_rng(1).integers(0, 3, (9, 2)).astype(dtype)
    out, _ = update(ids, rank, world, mode)
    np.testing.assert_array_equal(out, placed(ids, rank, world, mode))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
@pytest.mark.parametrize("masked", [False, True])
def test_light_experts_are_pruned(dtype: Any, masked: bool) -> None:
    scales = np.array([[0.5, 0.25, 0.125], [0.75, 0.0, 0.0], [0.5, 0.5, 0.5]], dtype)
    threshold = np.array([0.25, 0.25, 0.5], np.float32)
    mask = np.array([True, True, False]) if masked else None
    ids = np.zeros((3, 3), np.int32)
    _, kept = update(ids, 0, 4, 0, scales, threshold[None] if masked else threshold, mask)
    least = (scales.astype(np.float64) * threshold).sum(axis=1, keepdims=True)
    expected = scales.astype(np.float64) >= least
    if mask is not None:
        expected &= mask[:, None]
    np.testing.assert_array_equal(kept, expected)


def test_the_mask_is_not_written_without_scales() -> None:
    assert update(np.zeros((2, 2), np.int32), 0, 4, 0)[1].all()


def test_strided_experts_are_copied() -> None:
    ids = np.array([[0, 1, 2, 0], [2, 2, 1, 1]], np.int32)
    out = ap.full((2, 2), -7, np.int32)
    ap.ops.moe_update_expert(
        ap.from_numpy(ids)[:, ::2], ap.from_numpy(TABLE), None, None, None, 5, 8, 1, out, None
    )
    np.testing.assert_array_equal(out.numpy(), placed(ids[:, ::2], 5, 8, 1))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"rank": 8}, "localRankId"),
        ({"world": 1}, "worldSize"),
        ({"mode": 2}, "balanceMode"),
        ({"ids": np.zeros((513, 1), np.int32)}, "expertIds"),
        ({"ids": np.zeros((2, 4), np.int32)}, "expertIds"),
        ({"threshold": np.ones(2, np.float32)}, "expertScalesOptional"),
        ({"mask": np.ones(2, bool)}, "activeMaskOptional"),
        (
            {"scales": np.ones((2, 2), np.float32), "threshold": np.ones(3, np.float32)},
            "pruningThresholdOptional",
        ),
    ],
    ids=str,
)
def test_wrong_calls_are_refused(change: dict[str, Any], word: str) -> None:
    call = {"ids": np.zeros((2, 2), np.int32), "rank": 0, "world": 8, "mode": 0} | change
    with pytest.raises(AclnnError, match=word) as caught:
        update(**call)
    assert caught.value.status == 561002


@pytest.mark.parametrize(
    ("ids", "mask", "text"),
    [([[3]], None, "names expert 3"), ([[-1]], None, "names expert -1"),
     ([[0], [0]], [False, True], "true value behind a false one")],
)  # fmt: skip
def test_data_out_of_range_stop_the_stream(
    ids: list[list[int]], mask: list[bool] | None, text: str
) -> None:
    values = np.array(ids, np.int32)
    more = {}
    if mask is not None:
        more = {
            "scales": np.ones(values.shape, np.float32),
            "threshold": np.ones(1, np.float32),
            "mask": np.array(mask),
        }
    with ap.Device(0).create_stream(), pytest.raises(AclError, match=text):
        update(values, 0, 8, 1, **more)
