# SPDX-License-Identifier: Apache-2.0
"""Tokens chosen from logits: top-k, top-p, min-p and exponential numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, NUMPY, Array, hollow, op, place, refusal, wide

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("device")

FLOATS = ["FLOAT", "FLOAT16", "BFLOAT16"]


def logits_of(seed: int, rows: int, width: int, kind: Any) -> Array:
    """Logits without equal ones in a row, and far enough apart for every dtype."""
    rng = np.random.default_rng(seed)
    steps = rng.permuted(np.tile(np.arange(width), (rows, 1)), axis=1)
    return ((steps - width / 2) / 8).astype(kind)


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max())
    return np.asarray(e / e.sum())


def filtered(logits: Array, p: float | None, k: int | None) -> Array:
    """The document's steps for one row, in float64."""
    order = np.argsort(logits, kind="stable")
    values = logits[order].astype(np.float64)
    if k is not None and 0 < k < len(values):
        values[values < values[len(values) - k]] = -np.inf
    if p is not None:
        masked = np.cumsum(softmax(values)) <= 1 - p
        masked[-1] = False
        values[masked] = -np.inf
    result = np.empty_like(values)
    result[order] = values
    return result


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("given", ["p k", "p", "k"])
def test_apply_top_k_top_p(given: str, name: str, layout: str) -> None:
    kind = NUMPY[name]
    logits = logits_of(1, 7, 37, kind)
    p = np.array([0.5, 0.9, 0.03, 1.0, 0.0, 0.7, 0.99], kind)
    k = np.array([5, 0, 37, -3, 1, 36, 100], np.int32)
    out = hollow(logits.shape, kind, layout)
    op("aclnnApplyTopKTopP")(
        place(logits, layout),
        place(p, layout) if "p" in given else None,
        place(k, layout) if "k" in given else None,
        out,
    )
    expected = [
        filtered(row, float(p[i]) if "p" in given else None, k[i] if "k" in given else None)
        for i, row in enumerate(wide(logits))
    ]
    assert_same(out.numpy(), np.array(expected).astype(kind))


def test_apply_top_k_keeps_all_that_equal_the_threshold() -> None:
    logits = np.array([[3, 1, 3, 2, 3, 0]], np.float32)
    out = hollow(logits.shape, np.float32)
    op("aclnnApplyTopKTopP")(place(logits), None, place(np.array([2], np.int32)), out)
    assert out.numpy().tolist() == [[3, -np.inf, 3, -np.inf, 3, -np.inf]]
    # Of equal ones those in front are filtered first.
    equal = np.full((1, 4), 2, np.float32)
    out = hollow(equal.shape, np.float32)
    op("aclnnApplyTopKTopP")(place(equal), place(np.array([0.4], np.float32)), None, out)
    assert out.numpy().tolist() == [[-np.inf, -np.inf, 2, 2]]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_apply_top_p_leaves_a_row_without_probabilities(bad: float) -> None:
    logits = np.array([[1, bad, 2, -np.inf]], np.float32)
    out = hollow(logits.shape, np.float32)
    op("aclnnApplyTopKTopP")(place(logits), place(np.array([0.5], np.float32)), None, out)
    assert_same(out.numpy(), logits)


def test_apply_top_k_top_p_in_place_and_of_nothing() -> None:
    logits = logits_of(2, 3, 50, np.float32)
    p, k = np.full(3, 0.8, np.float32), np.full(3, 20, np.int32)
    x = place(logits)
    op("aclnnApplyTopKTopP")(x, place(p), place(k), x)
    expected = [filtered(row, 0.8, 20) for row in wide(logits)]
    assert_same(x.numpy(), np.array(expected, np.float32))
    for shape in [(0, 5), (3, 0)]:
        nothing = ap.empty(shape, "float32")
        ps = ap.zeros(shape[:1], "float32")
        op("aclnnApplyTopKTopP")(nothing, ps, None, nothing)
        assert nothing.numpy().shape == shape


def test_apply_top_k_top_p_refuses() -> None:
    x, p = place(np.ones((3, 8), np.float16)), place(np.ones(3, np.float16))
    k = place(np.ones(3, np.int32))
    good = [x, p, k, x]

    def changed(position: int, value: Any) -> int:
        return refusal("aclnnApplyTopKTopP", *good[:position], value, *good[position + 1 :])

    assert changed(0, None) == 161001
    assert changed(3, None) == 161001
    with pytest.raises(
        ap.errors.AclnnError, match=r"kOptional \(like pOptional\) is null"
    ) as caught:
        op("aclnnApplyTopKTopP")(x, None, None, x)
    assert caught.value.status == 161001
    assert changed(1, place(np.ones(3, np.float32))) == 161002
    assert changed(1, place(np.ones(4, np.float16))) == 161002
    assert changed(2, place(np.ones(3, np.int64))) == 161002
    assert changed(2, place(np.ones((3, 1), np.int32))) == 161002
    assert changed(3, place(np.ones((3, 7), np.float16))) == 161002
    assert changed(0, place(np.ones((3, 8, 1), np.float16))) == 161002


class Sample:
    """TopKTopPSampleV2 of one row in float64, after the document's steps."""

    def __init__(
        self, logits: Array, k: int, p: float, least: float, most_k: int, normalise: bool
    ) -> None:
        width = len(logits)
        order = np.arange(width)
        if 1 <= k <= min(width, most_k):
            order = np.argsort(-logits, kind="stable")[:k]
        if p < 1 or least > 0:
            order = order[np.argsort(-logits[order], kind="stable")]
        probability = softmax(logits[order]) if normalise else logits[order]
        stays = np.ones(len(order), bool)
        if p < 1:
            stays &= np.cumsum(probability) - probability <= p
            stays[0] = True
        if 0 < least < 1:
            stays &= probability >= probability.max() * least
        elif least >= 1:
            stays[1:] = False
        self.order, self.probability = order[stays], probability[stays]
        self.logits, self.missing = logits, -np.inf if normalise else 0.0

    def token(self, q: Array | None) -> int:
        scores = self.probability
        if q is not None:
            scores = scores / (q[: len(scores)] + 1e-8)
        return int(self.order[np.argmax(scores)])

    def selected(self) -> Array:
        result = np.full(len(self.logits), self.missing)
        result[self.order] = self.logits[self.order]
        return result

    def intermediate(self) -> tuple[Array, Array]:
        places, values = np.zeros(len(self.logits), np.int64), np.zeros(len(self.logits))
        places[: len(self.order)], values[: len(self.order)] = self.order, self.probability
        return places, values


KS = np.array([8, 1, 0, 40, 100, 17, 30, 5], np.int32)
PS = [0.6, 0.9, 0.5, 1.0, 0.3, 1.0, 0.0, 0.95]
LEAST = [0.0, 0.2, 0.4, 0.6, 1.0, -1.0, 0.1, 0.05]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize("name", FLOATS[1:])
def test_top_k_top_p_sample(name: str, drawn: bool, layout: str) -> None:
    kind = NUMPY[name]
    logits, p = logits_of(3, 8, 40, kind), np.array(PS, kind)
    q = np.random.default_rng(4).exponential(size=logits.shape).astype(np.float32)
    token, kept = hollow((8,), np.int64, layout), hollow(logits.shape, np.float32, layout)
    op("aclnnTopKTopPSample")(
        *(place(part, layout) for part in (logits, KS, p)),
        place(q, layout) if drawn else None,
        *(1e-8, layout != "stepped", 32, token, kept),
    )
    rows = [Sample(wide(logits)[i], KS[i], float(p[i]), 0, 1024, True) for i in range(8)]
    tokens = [row.token(q[i] if drawn else None) for i, row in enumerate(rows)]
    assert token.numpy().tolist() == tokens
    if layout == "stepped":
        assert_same(kept.numpy(), np.full(logits.shape, 77, np.float32))  # not asked for
    else:
        assert_same(kept.numpy(), np.array([row.selected() for row in rows], np.float32))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("mode", ["best", "drawn", "intermediate"])
@pytest.mark.parametrize("name", FLOATS)
def test_top_k_top_p_sample_v2(name: str, mode: str, normalise: bool, layout: str) -> None:
    kind, most_k = NUMPY[name], 24  # ksMax 20, rounded up
    logits = logits_of(5, 8, 40, kind)
    if not normalise:
        logits = np.array([softmax(row / 3) for row in wide(logits)]).astype(kind)
    p, least = np.array(PS, kind), np.array(LEAST, kind)
    q = np.random.default_rng(6).exponential(size=logits.shape).astype(np.float32)
    token, kept = hollow((8,), np.int64), hollow(logits.shape, np.float32)
    places, values = hollow(logits.shape, np.int64), hollow(logits.shape, np.float32)
    op("aclnnTopKTopPSampleV2")(
        *(place(part, layout) for part in (logits, KS, p)),
        place(q, layout) if mode == "drawn" else None,
        place(least, layout),
        *(1e-8, True, 32, 20, normalise, mode == "intermediate", token, kept, places, values),
    )
    rows = [
        Sample(wide(logits)[i], KS[i], float(p[i]), float(least[i]), most_k, normalise)
        for i in range(8)
    ]
    assert_same(kept.numpy(), np.array([row.selected() for row in rows], np.float32))
    if mode == "intermediate":
        both = [row.intermediate() for row in rows]
        assert_same(places.numpy(), np.array([where for where, _ in both]))
        assert_close(values.numpy(), np.array([value for _, value in both]))
        assert_same(token.numpy(), np.full(8, 77))
    else:
        tokens = [row.token(q[i] if mode == "drawn" else None) for i, row in enumerate(rows)]
        assert token.numpy().tolist() == tokens
        assert_same(places.numpy(), np.full(logits.shape, 77))
        assert_same(values.numpy(), np.full(logits.shape, 77, np.float32))


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("spread", [0.0, 0.01, 1.0, 5.0, 300.0])
def test_filters_without_k_find_the_likely_tokens_of_a_long_row(
    spread: float, normalise: bool
) -> None:
    """Few or many of them are likely, some equally; p and min-p decide where they end."""
    width, rows = 3000, 12
    logits = np.random.default_rng(7).standard_normal((rows, width)).astype(np.float32)
    logits = np.round(logits * spread, 2)
    if not normalise:
        logits = np.array([softmax(row) for row in wide(logits)], np.float32)
    p = np.array([0.1, 0.5, 0.9, 0.999, 1.0, 1.0, 1.0, 0.9, 0.5, 0.0, 0.95, 0.3], np.float32)
    least = np.array([0, 0, 0, 0, 0.5, 0.01, 1e-9, 0.2, 1e-9, 0.5, 1.0, 0], np.float32)
    token, kept = hollow((rows,), np.int64), hollow(logits.shape, np.float32)
    places, values = hollow(logits.shape, np.int64), hollow(logits.shape, np.float32)
    all_of = place(np.zeros(rows, np.int32))
    op("aclnnTopKTopPSampleV2")(
        *(place(logits), all_of, place(p), None, place(least)),
        *(1e-8, True, 32, 20, normalise, False, token, kept, places, values),
    )
    expected = [
        Sample(wide(logits)[i], 0, float(p[i]), float(least[i]), 24, normalise) for i in range(rows)
    ]
    assert token.numpy().tolist() == [row.token(None) for row in expected]
    selected = np.array([row.selected() for row in expected], np.float32)
    # Sums of thousands of rounded probabilities may pass p one token earlier or later.
    assert (np.abs((kept.numpy() == logits).sum(1) - (selected == logits).sum(1)) <= 1).all()
    assert ((kept.numpy() != selected).sum(1) <= 1).all()


def test_exponential_numbers_draw_tokens_by_their_probability() -> None:
    """What q is for: the argmax of probability / exponential number is a draw."""
    rows, probability = 20_000, np.array([0.5, 0.2, 0.15, 0.1, 0.05])
    logits = place(np.tile(np.log(probability), (rows, 1)).astype(np.float32))
    q = ap.empty((rows, 5), "float32")
    op("aclnnSimThreadExponential")(q, q.size, 1.0, 3, 0)
    one, all_of = place(np.ones(rows, np.float32)), place(np.zeros(rows, np.int32))
    token, unused = ap.empty((rows,), "int64"), ap.empty((rows, 5), "float32")
    places = ap.empty((rows, 5), "int64")
    op("aclnnTopKTopPSampleV2")(
        *(logits, all_of, one, q, None, 1e-8, False, 32, 1024, True, False),
        *(token, unused, places, unused),
    )
    counts = np.bincount(token.numpy(), minlength=5)
    expected = rows * probability
    assert ((counts - expected) ** 2 / expected).sum() < 23.5  # chi-square of 4: one in 10,000


def test_samples_take_the_longest_row_and_odd_numbers() -> None:
    width = 1 << 20
    logits = np.zeros((1, width), np.float16)
    logits[0, [77, 500_000]] = 3
    token, kept = hollow((1,), np.int64), hollow((1, width), np.float32)
    one = place(np.ones(1, np.float16))
    op("aclnnTopKTopPSample")(
        place(logits), place(np.array([2], np.int32)), one, None, 1e-8, True, 1, token, kept
    )
    assert token.numpy().tolist() == [77]
    assert np.flatnonzero(kept.numpy() > -np.inf).tolist() == [77, 500_000]
    # NaN is the greatest logit; its row has no probabilities, and its best token is the first one.
    strange = np.array([[1, np.nan, 2, np.inf]], np.float16)
    token, kept = hollow((1,), np.int64), hollow((1, 4), np.float32)
    half = place(np.full(1, 0.5, np.float16))
    op("aclnnTopKTopPSample")(
        place(strange), place(np.array([3], np.int32)), half, None, 1e-8, True, 1, token, kept
    )
    assert token.numpy().tolist() == [1]


def test_samples_refuse() -> None:
    x, p = place(np.ones((3, 8), np.float16)), place(np.ones(3, np.float16))
    k, q = place(np.ones(3, np.int32)), place(np.ones((3, 8), np.float32))
    token, places = hollow((3,), np.int64), hollow((3, 8), np.int64)
    first = [x, k, p, q, 1e-8, False, 32, token, q]
    second = [x, k, p, q, p, 1e-8, False, 32, 1024, True, False, token, q, places, q]

    def changed(operator: str, good: list[Any], position: int, value: Any) -> int:
        return refusal(operator, *good[:position], value, *good[position + 1 :])

    for operator, good in [("aclnnTopKTopPSample", first), ("aclnnTopKTopPSampleV2", second)]:
        assert changed(operator, good, 0, place(np.ones((3, 9), np.float16))) == 161002
        for position in (0, 1, 2):
            assert changed(operator, good, position, None) == 161001
        assert changed(operator, good, 2, place(np.ones(3, NUMPY["BFLOAT16"]))) == 161002
        assert changed(operator, good, 1, place(np.ones(4, np.int32))) == 161002
        assert changed(operator, good, 3, place(np.ones((3, 7), np.float32))) == 161002
        assert changed(operator, good, 3, x) == 161002
        long = ap.zeros((1, (1 << 20) + 1), "float16")
        wide_ = ap.zeros(long.shape, "float32")
        short = [t[:1] if isinstance(t, ap.Tensor) else t for t in good]
        long_ = [
            t if not isinstance(t, ap.Tensor) or t.ndim == 1
            else long if t.dtype == long.dtype
            else wide_ if t.dtype == wide_.dtype
            else ap.zeros(long.shape, "int64")
            for t in short
        ]  # fmt: skip
        assert refusal(operator, *long_) == 561002
    assert changed("aclnnTopKTopPSample", first, 6, 0) == 561002
    assert changed("aclnnTopKTopPSample", first, 0, place(np.ones((3, 8), np.float32))) == 161002
    for ks_max in (0, 1025, -(2**63), 2**63 - 1):
        assert changed("aclnnTopKTopPSampleV2", second, 8, ks_max) == 561002
    assert changed("aclnnTopKTopPSampleV2", second, 4, place(np.ones(3, np.float32))) == 161002
    assert changed("aclnnTopKTopPSampleV2", second, 4, place(np.ones(4, np.float16))) == 161002
    assert changed("aclnnTopKTopPSampleV2", second, 13, place(np.ones((3, 8), np.int32))) == 161002
