# SPDX-License-Identifier: Apache-2.0
"""Attention of training: FlashAttentionScore, its packed form, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, op, place, wide

import aclnn_py as ap
from aclnn_py.errors import AclnnError, DeviceError

from .training_attention import FAR, TrainingProblem, backward, forward
from .training_compare import compare

pytestmark = pytest.mark.usefixtures("device")

STEP = 1e-30


@pytest.mark.parametrize("part", range(3))
def test_random_calls_are_those_of_float64(part: int) -> None:
    for seed in range(part, 75, 3):
        compare(TrainingProblem(seed))


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
def test_the_fourth_version_runs_on_a_950() -> None:
    with Chip950() as newer:
        newer.call("ops.training_attention.training_compare", "compare_newer", 0, 25)


def test_the_oracle_is_the_derivative_of_the_forward_form() -> None:
    seen = set()
    for seed in (3, 12, 14, 31, 45):
        p = TrainingProblem(seed)
        slopes = backward(p, forward(p))
        for name in ("q", "k", "v", "qr", "kr", "sink"):
            if name == "sink":
                parts = [] if p.sink is None else [wide(p.sink)]
            else:
                parts = [wide(part) for part in getattr(p, name)]
            for b, part in enumerate(parts):
                for at in list(np.ndindex(part.shape))[::7]:
                    moved = [one.astype(complex) for one in parts]
                    moved[b][at] += 1j * STEP
                    ends = forward(p, **{name: moved}).out
                    slope = sum(
                        (wide(dy) * end).sum().imag for dy, end in zip(p.dy, ends, strict=True)
                    )
                    assert_close(slopes[name][b][at], slope / STEP, scale=1e4, what=f"{name}, {p}")
                    seen.add(name)
    assert seen == {"q", "k", "v", "qr", "kr", "sink"}


def _plain(**more: Any) -> tuple[list[Any], list[Any]]:
    """Return the arguments of a small call and of its gradient."""
    rng = np.random.default_rng(2)
    q, k, v, dy = (rng.normal(size=(1, 2, 4, 8)).astype(np.float32) for _ in range(4))
    given: dict[str, Any] = {
        "pse": None, "drop": None, "padding": None, "mask": None, "prefix": None, "scale": 0.5,
        "keep": 1.0, "before": FAR, "after": FAR, "heads": 2, "layout": "BNSD", "inner": 0,
        "mode": 0,
    }  # fmt: skip
    given.update(more)
    middle = [given.pop(name) for name in ("pse", "drop", "padding", "mask")]
    highest, total = (hollow((1, 2, 4, 8), np.float32) for _ in range(2))
    out = hollow((1, 2, 4, 8), np.float32)
    sides = [place(x) for x in (q, k, v)]
    ahead = [*sides, *middle, *given.values(), highest, total, None, out]
    results = [hollow((1, 2, 4, 8), np.float32) for _ in range(3)]
    back = [
        *sides, place(dy), *middle, highest, total, None, out, *given.values(), *results, None
    ]  # fmt: skip
    return ahead, back


def test_the_last_rows_of_a_bias_stand_for_all() -> None:
    rng = np.random.default_rng(7)
    tokens, heads = 1100, 2
    q, k, v, dy = (rng.normal(size=(1, heads, tokens, 2)).astype(np.float32) for _ in range(4))
    i, j = np.indices((tokens, tokens))
    whole = -np.abs(i - j)[None] * np.array([0.03, 0.007])[:, None, None]
    last = whole[None, :, -1024:].astype(np.float32)
    triangle = np.triu(np.ones((2048, 2048), np.uint8), 1)
    highest, total = (hollow((1, heads, tokens, 8), np.float32) for _ in range(2))
    out = hollow(q.shape, np.float32)
    sides, bias, mask = [place(x) for x in (q, k, v)], place(last), place(triangle)
    names = [None, 1.0, 1.0, 0, 0, heads, "BNSD", 0, 2]
    tail = [highest, total, None, out]
    op("aclnnFlashAttentionScore")(*sides, bias, None, None, mask, *names, *tail)
    scores = np.where(j <= i, wide(q[0]) @ wide(k[0]).transpose(0, 2, 1) + whole, -np.inf)
    chances = np.exp(scores - scores.max(-1, keepdims=True))
    chances /= chances.sum(-1, keepdims=True)
    np.testing.assert_allclose(out.numpy()[0], chances @ wide(v[0]), rtol=1e-4, atol=1e-5)
    results = [hollow(q.shape, np.float32) for _ in range(3)]
    op("aclnnFlashAttentionScoreGrad")(
        *sides, place(dy), bias, None, None, mask, *tail, *names, *results, None
    )
    slopes = wide(dy[0]) @ wide(v[0]).transpose(0, 2, 1)
    slopes = chances * (slopes - (slopes * chances).sum(-1, keepdims=True))
    for result, wanted in zip(
        results,
        (slopes @ wide(k[0]), slopes.transpose(0, 2, 1) @ wide(q[0]),
         chances.transpose(0, 2, 1) @ wide(dy[0])), strict=True,
    ):  # fmt: skip
        np.testing.assert_allclose(result.numpy()[0], wanted, rtol=1e-3, atol=1e-4)


def test_a_row_whose_keys_are_all_masked() -> None:
    mask = np.zeros((4, 4), np.uint8)
    mask[1] = 1
    for inner in (0, 2):
        ahead, back = _plain(mask=place(mask), inner=inner)
        op("aclnnFlashAttentionScore")(*ahead)
        value, out = wide(ahead[2].numpy()), ahead[-1].numpy()
        wanted = value.mean(2) if inner == 0 else 0 * value.mean(2)
        assert_close(out[:, :, 1], wanted, scale=8)
        op("aclnnFlashAttentionScoreGrad")(*back)
        assert_same(back[-4].numpy()[:, :, 1], np.zeros((1, 2, 8), np.float32))


def test_a_mask_that_is_not_the_triangle_is_a_fault() -> None:
    wrong = np.tril(np.ones((2048, 2048), np.uint8))
    ahead, _ = _plain(mask=place(wrong), mode=2)
    with pytest.raises(DeviceError, match=r"row \d+ of the mask"):
        op("aclnnFlashAttentionScore")(*ahead)
        ap.synchronize()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"layout": "TND"}, "inputLayout"),
    ({"heads": 3}, "headNum"),
    ({"keep": 0.0}, "keepProb"),
    ({"keep": 0.5}, "dropMaskOptional"),
    ({"mode": 7}, "sparseMode"),
    ({"mask": (4, 3)}, "attenMaskOptional"),
    ({"mask": (4, 4), "mode": 2}, "attenMaskOptional"),
    ({"mask": (4, 4), "before": -3, "after": 2}, "preTokens"),
    ({"mask": (3072, 2048), "mode": 6}, "prefixOptional"),
    ({"mask": (3072, 2048), "mode": 6, "prefix": [5]}, "prefixOptional"),
    ({"drop": (3,)}, "dropMaskOptional"),
]


@pytest.mark.parametrize(("more", "name"), WRONG, ids=[str(more) for more, _ in WRONG])
def test_what_does_not_fit_is_refused(more: dict[str, Any], name: str) -> None:
    made = {
        key: hollow(value, np.uint8) if isinstance(value, tuple) else value
        for key, value in more.items()
    }
    for operator, arguments in zip(
        ("aclnnFlashAttentionScore", "aclnnFlashAttentionScoreGrad"), _plain(**made), strict=True
    ):
        with pytest.raises(AclnnError, match=name) as caught:
            op(operator)(*arguments)
        assert caught.value.status == 561002


def test_the_gradient_needs_what_the_forward_form_kept() -> None:
    for position, name in ((8, "softmaxMaxOptional"), (11, "attentionInOptional")):
        _, back = _plain()
        back[position] = None
        with pytest.raises(AclnnError, match=name):
            op("aclnnFlashAttentionScoreGrad")(*back)
