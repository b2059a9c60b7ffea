# SPDX-License-Identifier: Apache-2.0
"""MoeFusedTopk: experts chosen by sigmoids within the best groups, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.operators import hollow, wide

from ..problems import Case, In, Out, Problem, message, suite

pytestmark = pytest.mark.usefixtures("device")

NAME, F32 = "aclnnMoeFusedTopk", np.float32


def case(groups: int, best: int, n: int, k: int, norm: bool, listed: bool = False) -> Case:
    """Twelve experts, whose scores lie far enough apart for every dtype."""

    def build(rng: np.random.Generator, dtype: Any) -> Problem:
        x = (rng.permuted(np.tile(np.arange(12), (7, 1)), axis=1) / 8).astype(dtype)
        bias = (rng.permutation(12) / 4).astype(dtype)
        sigmoid = 1 / (1 + np.exp(-wide(x)))
        choice = sigmoid + wide(bias)
        each = 12 // groups
        tops = np.sort(choice.reshape(7, groups, each), -1)[..., -n:].sum(-1)
        chosen = np.argsort(-tops, -1, kind="stable")[:, :best]
        inside = np.array([np.isin(np.arange(12) // each, row) for row in chosen])
        indices = np.argsort(np.where(inside, -choice, np.inf), -1, kind="stable")[:, :k]
        y = np.take_along_axis(sigmoid, indices, -1)
        if norm:
            y = y / y.sum(-1, keepdims=True) * 2.5
        lists = [In(np.ones(12, np.int32)), In(np.ones((12, 3), np.int32))]
        return [
            *(In(x), In(bias), *(lists if listed else [None, None])),
            *(groups, best, n, k, 0, norm, 2.5, False),
            *(Out(y, F32, 4), Out(indices, np.int32)),
        ]

    note = f"{best}of{groups}-{n}-{k}-{norm}-{listed}"
    return Case("MoeFusedTopk", build, note, nullable=frozenset({2, 3}))


TestChoice = suite(
    [
        case(1, 1, 1, 4, True),
        case(4, 2, 2, 3, True),
        case(3, 2, 4, 8, False, True),
        case(4, 4, 3, 12, False),
        case(12, 5, 1, 5, True),
    ]
)


def test_refusals() -> None:
    x, bias = hollow((3, 8), F32), hollow((8,), F32)
    y, indices = hollow((3, 2), F32), hollow((3, 2), np.int32)

    def text(status: int = 161002, **other: Any) -> str:
        given = {
            "x": x,
            "bias": bias,
            "number": None,
            "table": None,
            "groups": 2,
            "best": 1,
            "n": 2,
            "k": 2,
            "kind": 0,
            "norm": True,
            "scale": 1.0,
            "mapped": False,
            "y": y,
            "indices": indices,
            **other,
        }
        return message(NAME, status, list(given.values()))

    assert "groupNum is 3" in text(groups=3)
    assert "groupNum is 0" in text(groups=0)
    for best in (0, 3):
        assert f"groupTopk is {best}" in text(best=best)
    for n in (0, 5):
        assert f"topN is {n}" in text(n=n)
    for k in (0, 5):
        assert f"topK is {k}" in text(k=k)
    assert "activateType is 1" in text(kind=1)
    assert "enableExpertMapping is true" in text(mapped=True)
    assert "addNum has dtype" in text(bias=hollow((8,), np.float16))
    assert "addNum has shape" in text(bias=hollow((4,), F32))
    assert "indices has shape" in text(indices=hollow((3, 3), np.int32))
    assert "x has 1 dim" in text(x=x[0])
    assert "1025 experts" in text(x=hollow((3, 1025), F32), bias=hollow((1025,), F32))
