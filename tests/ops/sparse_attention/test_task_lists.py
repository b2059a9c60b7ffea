# SPDX-License-Identifier: Apache-2.0
"""Lists of tasks for cores: the metadata that stands in front of sparse attention."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.operators import hollow, op, place

import aclnn_py as ap

from ..cache.test_cache_pages import message
from ..problems import fault

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
INDEXER, QUANT = "aclnnLightningIndexerV2Metadata", "aclnnQuantLightningIndexerV2Metadata"
MLA, MIXED = "aclnnSparseFlashMlaMetadata", "aclnnMixedQuantSparseFlashMlaMetadata"
LOSS, GRAD = "aclnnSparseLightningIndexerKLLossGradMetadata", "aclnnSparseFlashMlaGradMetadata"
CORES, CORES_910B = 36, 24  # that a list has room for; that the chip has


def ints(*values: int) -> ap.Tensor:
    return place(np.array(values, np.int32))


def numbers(name: str, **changed: Any) -> list[Any]:
    """The arguments of a call over three sequences that lie apart, with what is changed."""
    mla = name in (MLA, MIXED)
    lists = ["cu_q", "cu_ori", "cu_cmp", "used_q", "used_ori", "used_cmp", "residual", "a", "b"]
    if not mla:
        lists = ["cu_q", "cu_k", "used_q", "used_k", "residual"]
    given: dict[str, Any] = dict.fromkeys(lists)
    given |= {"heads_q": 64, "heads_k": 1, "width": 512 if mla else 128}
    if mla:
        given |= {"quant": 1} if name == MIXED else {}
        given |= {"batch": 3, "longest_q": 5, "longest_ori": 40, "longest_cmp": 0}
        given |= {"ori_topk": 0, "cmp_topk": 0} | ({"rope": 64} if name == MIXED else {})
        given |= {"ratio": 1, "mask": 4, "cmp_mask": 3, "left": 127, "right": 0}
        given |= {"layout_q": "BSND", "layout_k": "BSND", "ori": True, "cmp": False}
    else:
        given |= {"topk": 512} | ({"quant": 2} if name == QUANT else {})
        given |= {"batch": 3, "longest_q": 5, "longest_k": 40}
        given |= {"layout_q": "BSND", "layout_k": "BSND", "mask": 3, "ratio": 1}
        if name == QUANT:
            given |= {"layout_k": "PA_BBND", "used_k": ints(9, 9, 9)}
    assert set(changed) <= set(given), changed
    return list((given | changed).values())


def made(name: str, **changed: Any) -> Array:
    tasks = hollow((1024,), np.int32)
    op(name)(*numbers(name, **changed), tasks)
    ap.synchronize()
    return tasks.numpy()


def covered(tasks: Array, fields: int, lengths: list[int]) -> list[int]:
    """How many tokens every core has; all of them in their order, and nothing else is set."""
    rows = tasks[: CORES * fields].reshape(CORES, fields)
    assert (tasks[CORES * fields :] == 0).all()
    assert (rows[:, 3] == 0).all()
    assert (rows[:, 6:] == 0).all()
    order = [(b, t) for b, length in enumerate(lengths) for t in range(length)]
    order.append((len(lengths), 0))
    enabled = int(rows[:, 0].sum())
    assert rows[:enabled, 0].all()
    assert (rows[enabled:] == 0).all()
    if enabled == 0:
        assert len(order) == 1
        return []
    places = [(order.index((r[1], r[2])), order.index((r[4], r[5]))) for r in rows[:enabled]]
    assert [first for first, _ in places] == [0, *(last for _, last in places[:-1])]
    assert places[-1][1] == len(order) - 1
    return [last - first for first, last in places]


@pytest.mark.parametrize("name", [INDEXER, QUANT, MLA])
def test_every_token_has_one_core(name: str) -> None:
    fields = 9 if name == MLA else 8
    for lengths in ([5, 5, 5], [2, 0, 7], [40, 1, 60], [0, 0, 0]):
        packed = {"layout_q": "TND", "cu_q": ints(0, *np.cumsum(lengths).tolist())}
        if name == MLA:
            packed |= {"layout_k": "PA_BBND", "used_ori": ints(9, 9, 9)}
        else:
            packed |= {"layout_k": "PA_BBND", "used_k": ints(9, 9, 9)}
        found = covered(made(name, **packed), fields, lengths)
        assert len(found) == min(sum(lengths), CORES_910B)
        assert max(found, default=0) - min(found, default=0) <= 1
    assert covered(made(name), fields, [5, 5, 5]) == [1] * 15


def test_tokens_in_use_come_first() -> None:
    used = {"used_q": ints(3, 1), "batch": 9, "used_k": ints(4, 4)}
    assert covered(made(INDEXER, **used), 8, [3, 1]) == [1] * 4
    stepped = place(np.array([3, 1], np.int32), "stepped")
    assert covered(made(INDEXER, **used | {"used_q": stepped}), 8, [3, 1]) == [1] * 4


@pytest.mark.parametrize(
    ("name", "changed", "text"),
    [
        (INDEXER, {"heads_k": 2}, "numHeadsK is 2"),
        (INDEXER, {"width": 64}, "headDim is 64"),
        (INDEXER, {"topk": 0}, "topk is 0"),
        (INDEXER, {"mask": 1}, "maskMode is 1"),
        (INDEXER, {"ratio": 4}, "cmpResidualKOptional is null or empty"),
        (INDEXER, {"layout_q": "TND"}, "it must be layoutQOptional"),
        (INDEXER, {"layout_q": "TND", "layout_k": "TND"}, "cuSeqlensQOptional is null"),
        (INDEXER, {"longest_q": -1}, "maxSeqlenQ is -1"),
        (INDEXER, {"longest_k": 2**31}, "maxSeqlenK is 2147483648"),
        (INDEXER, {"batch": -1}, "batchSize is -1"),
        (QUANT, {"quant": 1}, "quantMode is 1; allowed: 2"),
        (QUANT, {"layout_k": "BSND"}, "layoutKOptional is"),
        (QUANT, {"used_k": None}, "sequsedKOptional is null"),
        (MLA, {"mask": 3}, "oriMaskMode is 3"),
        (MLA, {"left": 128}, "oriWinLeft is 128"),
        (MLA, {"cmp": True}, "cmpRatio is 1; allowed: 128"),
        (MLA, {"ori": False}, "hasOriKv is false"),
        (MLA, {"longest_ori": -1}, "maxSeqlenOriKv is -1"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_calls(name: str, changed: dict[str, Any], text: str) -> None:
    tasks = hollow((1024,), np.int32)
    assert text in message(161002, name, *numbers(name, **changed), tasks)


def test_wrong_tensors() -> None:
    assert "metadata is null" in message(161002, INDEXER, *numbers(INDEXER), None)
    short = hollow((1000,), np.int32)
    assert "metadata has shape" in message(161002, INDEXER, *numbers(INDEXER), short)
    tasks, used = hollow((1024,), np.int32), ints(1, 2, 3)
    text = message(161002, MLA, *numbers(MLA, used_q=used), tasks)
    assert "sequsedQOptional is given" in text
    assert "oriTopkLengthOptional is given" in message(161002, MLA, *numbers(MLA, a=used), tasks)
    wrong = numbers(INDEXER, used_q=ints(3, 1), used_k=ints(1, 2, 3))
    assert "sequsedKOptional has shape (3,)" in message(161002, INDEXER, *wrong, tasks)
    for values, text in (((0, 4, 3), "-1 tokens"), ((1, 2, 3), "begin with 0")):
        packed = {"layout_q": "TND", "layout_k": "PA_BBND", "used_k": ints(4, 4)}
        call = numbers(INDEXER, **packed, cu_q=ints(*values))
        assert text in fault(INDEXER, *call, tasks)
    negative = numbers(INDEXER, used_q=ints(3, -2), used_k=ints(4, 4))
    assert "-2 tokens" in fault(INDEXER, *negative, tasks)


def test_a_950_has_the_form_for_quantised_keys() -> None:
    arguments = [*numbers(MIXED), Made((1024,), "int32")]
    with Chip950() as process:
        tasks = process.operator("mixed_quant_sparse_flash_mla_metadata", *arguments)[0]
        refused = process.operator(
            "mixed_quant_sparse_flash_mla_metadata",
            *numbers(MIXED, quant=3),
            Given(np.zeros(1024, np.int32), "int32"),
        )
    assert covered(tasks, 9, [5, 5, 5]) == [1] * 15
    assert isinstance(refused, Refused)
    assert "quantMode is 3" in refused.text
    assert "950 series" in message(561003, MIXED, *numbers(MIXED), hollow((1024,), np.int32))


def loss(**changed: Any) -> list[Any]:
    """The arguments for the gradient of a divergence over three sequences that lie apart."""
    given: dict[str, Any] = dict.fromkeys(["cu_q", "cu_k", "used_q", "used_k", "residual"])
    given |= {"batch": 3, "longest_q": 5, "longest_k": 40, "heads_q": 8, "heads_k": 1}
    given |= {"width": 128, "topk": 512, "layout_q": "BSND", "layout_k": "BSND"}
    given |= {"mask": 3, "ratio": 4}
    assert set(changed) <= set(given), changed
    return list((given | changed).values())


@pytest.mark.parametrize("lengths", [[5, 5, 5], [2, 0, 7], [40, 1, 60], [0, 0, 0]])
def test_the_gradient_of_a_divergence_has_the_first_token_of_every_core(lengths: list[int]) -> None:
    lists = {"cu_q": ints(0, *np.cumsum(lengths).tolist()), "cu_k": ints(0, 9, 18, 27)}
    found = hollow((64,), np.int32)
    op(LOSS)(*loss(batch=0, layout_q="TND", layout_k="TND", **lists), found)
    tasks, rows = found.numpy(), sum(lengths)
    used = min(rows, CORES_910B)
    assert tasks[:3].tolist() == [used, rows, -(-rows // CORES_910B)]
    assert (tasks[3:8] == 0).all()
    assert (tasks[33:] == 0).all()
    starts = [*tasks[8 : 8 + used], rows]
    assert (tasks[8 + used : 33] == rows).all()
    steps = np.diff(starts)
    assert steps.sum() == rows
    assert used == 0 or (starts[0] == 0 and steps.max() - steps.min() <= 1)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"heads_q": 12}, "numHeadsQ is 12; allowed: 8, 16, 32, 64"),
        ({"topk": 513}, "topk is 513"),
        ({"mask": 4}, "maskMode is 4; allowed: 0, 3"),
        ({"ratio": 129}, "cmpRatio is 129"),
        ({"layout_k": "PA_BBND"}, "layoutKOptional is"),
        ({"batch": 0}, "batchSize is 0; with BSND it must be positive"),
        ({"longest_k": 0}, "maxSeqlenK 0; with BSND both are positive"),
        ({"layout_q": "TND", "layout_k": "TND"}, "cuSeqlensQOptional is null"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_calls_for_gradients(changed: dict[str, Any], text: str) -> None:
    assert text in message(161002, LOSS, *loss(**changed), hollow((64,), np.int32))


def test_a_950_shares_out_the_tokens_of_gradients() -> None:
    given = {"cu_q": Given(np.array([0, 30, 70], np.int32), "int32"), "layout_q": "TND"}
    lists = [given["cu_q"], given["cu_q"], *[None] * 7]
    numbers = [16, 1, 512, 0, 0, 0, 0, 0, 0, 1, 3, 0, -1, -1, "TND", "TND", True, False]
    with Chip950() as process:
        mla = process.operator(
            "sparse_flash_mla_grad_metadata", *lists, *numbers, Made((1024,), "int32")
        )
        changed = {"layout_k": "TND", "cu_k": given["cu_q"], "batch": 0, "ratio": 1}
        made = Made((64,), "int32")
        other = process.operator(
            "sparse_lightning_indexer_kl_loss_grad_metadata", *loss(**given, **changed), made
        )
        numbers[0] = 129
        refused = process.operator(
            "sparse_flash_mla_grad_metadata", *lists, *numbers, Made((1024,), "int32")
        )
    for tasks in (mla[0], other[0]):
        rows, most, fewer, rest, used = tasks[:5].tolist()
        assert (rows, fewer) == (70, most - 1)
        assert (used - rest) * most + rest * fewer == rows
        assert (tasks[5:] == 0).all()
    assert isinstance(refused, Refused)
    assert "numHeadsQ is 129" in refused.text
    numbers[0], lists = 16, [None] * 9
    short = hollow((1024,), np.int32)
    assert "950 series" in message(561003, GRAD, *lists, *numbers, short)
