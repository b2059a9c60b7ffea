# SPDX-License-Identifier: Apache-2.0
"""Foreach operators whose number says what is computed: norms, roundings, powers of a number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made
from helpers.numerics import assert_close, assert_same
from helpers.operators import NUMPY, Array, hollow, op, place, refusal, wide

import aclnn_py as ap

from ..problems import message

pytestmark = pytest.mark.usefixtures("device")

FLOATS = ("FLOAT", "FLOAT16", "BFLOAT16")
SHAPES = [(3, 70), (), (0, 4), (70001,)]


def lists(kind: Any, span: float = 3.0) -> list[Array]:
    rng = np.random.default_rng(8)
    return [rng.uniform(-span, span, shape).astype(kind) for shape in SHAPES]


def norm(x: Array, p: float) -> float:
    size = np.abs(x).ravel()
    if np.isinf(p):
        return float(size.max(initial=0) if p > 0 else size.min(initial=np.inf))
    return float((size**p).sum() ** (1 / p))


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, 0.5, np.inf, -np.inf])
def test_norms(p: float) -> None:
    for name in FLOATS:
        span = 1e-3 if name == "FLOAT16" else 3.0  # sums of many powers stay in range
        arrays = lists(NUMPY[name], span)
        if p < 1 and name == "FLOAT16":
            arrays.pop()
        outs = [hollow((1,) * (i % 3), NUMPY[name]) for i in range(len(arrays))]
        op("aclnnForeachNorm")([place(x, "stepped") for x in arrays], float(p), outs)
        for x, out in zip(arrays, outs, strict=True):
            assert_close(out.numpy().ravel(), np.array([norm(wide(x), p)]), scale=2, what=name)


def test_norms_of_numbers_that_are_not_finite() -> None:
    x = np.array([1, np.nan, 3], np.float32)
    for p in (1.0, 2.0, 3.5, np.inf, -np.inf):
        out = hollow((), np.float32)
        op("aclnnForeachNorm")([place(x)], float(p), [out])
        assert np.isnan(out.numpy())
    whole = hollow((), np.float32)
    op("aclnnForeachNorm")([place(np.array([3, -4], np.float32))], ap.Scalar(2, "int64"), [whole])
    assert_same(whole.numpy(), np.float32(5))


def rounded(x: Array, mode: int) -> Array:
    low = np.floor(x)
    odd = np.where(low == x, x, np.where(low % 2 != 0, low, low + 1))
    half_away = np.sign(x) * np.floor(np.abs(x) + 0.5)
    forms = {2: low, 3: np.ceil(x), 4: half_away, 5: np.trunc(x), 6: odd}
    return forms.get(mode, np.rint(x))


HALVES = np.arange(-22, 22) / 4


@pytest.mark.parametrize("mode", range(8))
def test_roundings(mode: int) -> None:
    for name in (*FLOATS, "INT16", "INT32"):
        x = (HALVES if name in FLOATS else HALVES * 4).astype(NUMPY[name])
        expected = rounded(wide(x), mode).astype(NUMPY[name])
        for kind in ("int8", "int64"):
            out = hollow(x.shape, NUMPY[name])
            op("aclnnForeachRoundOffNumberV2")([place(x, "stepped")], ap.Scalar(mode, kind), [out])
            assert_same(out.numpy(), expected, f"{name} {mode}")
        if name != "INT32":
            out = hollow(x.shape, NUMPY[name])
            chosen = place(np.array([mode], np.int8))
            op("aclnnForeachRoundOffNumber")([place(x, "stepped")], chosen, [out])
            assert_same(out.numpy(), expected, f"{name} {mode}")


def test_powers_of_a_number() -> None:
    for name in FLOATS:
        arrays = lists(NUMPY[name])
        outs = [hollow(x.shape, NUMPY[name]) for x in arrays]
        op("aclnnForeachPowScalarAndTensor")(1.5, [place(x, "stepped") for x in arrays], outs)
        for x, out in zip(arrays, outs, strict=True):
            assert_close(out.numpy(), 1.5 ** wide(x), scale=4, what=name)
    exponents = np.array([0, 1, 5, 20, -1], np.int32)
    out = hollow((5,), np.int32)
    op("aclnnForeachPowScalarAndTensor")(ap.Scalar(3, "int64"), [place(exponents)], [out])
    assert_same(
        out.numpy(), np.array([1, 3, 243, 3486784401 - 2**32, 0], np.int64).astype(np.int32)
    )


def test_lists_are_refused() -> None:
    x, half, one = (hollow((3,), np.float32), hollow((3,), np.float16), hollow((1,), np.float32))
    norms, rounds = "aclnnForeachNorm", "aclnnForeachRoundOffNumber"
    assert refusal(norms, [x], 2.0, [x]) == 561002
    assert refusal(norms, [x, half], 2.0, [one, hollow((1,), np.float16)]) == 561002
    assert refusal(norms, [x], 2.0, [hollow((1,), np.float16)]) == 161002
    assert refusal(norms, [x], 2.0, [one, one]) == 161002
    assert refusal(norms, [x], None, [one]) == 161001
    assert refusal(norms, [None], 2.0, [one]) == 161001
    assert refusal(norms, [x], ap.Scalar(2, "int32"), [one]) == 161002
    assert refusal(rounds, [x], place(np.zeros(2, np.int8)), [x]) == 161002
    assert refusal(rounds, [x], place(np.zeros(1, np.int32)), [x]) == 161002
    assert refusal(rounds + "V2", [x], 2.0, [x]) == 161002
    text = message("aclnnForeachPowScalarAndTensor", 161002, (2.0, [x], [half]))
    assert "out[0] has dtype FLOAT16" in text
    assert refusal("aclnnForeachPowScalarAndTensor", None, [x], [x]) == 161001


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_a_950_has_three_norms(newer: Chip950) -> None:
    x = np.array([1, -2, 4], np.float32)
    for p, expected in [(1.0, 7), (1.75, 7), (3.0, 21**0.5), (-np.inf, 21**0.5), (np.inf, 4)]:
        (out,) = newer.operator(
            "foreach_norm", [Given(x, "float32")], float(p), [Made((1,), "float32")]
        )
        assert_close(out, np.array([float(expected)]), what=str(p))
