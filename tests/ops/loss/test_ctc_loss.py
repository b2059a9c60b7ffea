# SPDX-License-Identifier: Apache-2.0
"""The loss of a connectionist temporal classification, against all paths in linear numbers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, hollow, op, place, refusal, wide

import aclnn_py as ap

from ..problems import fault, message

pytestmark = pytest.mark.usefixtures("device")

TIMES, BATCH, CLASSES, BLANK = 7, 3, 5, 1
LENGTHS, INPUTS = [3, 2, 1], [7, 6, 1]
TARGETS = np.array([[2, 2, 4], [0, 3, 0], [4, 0, 0]])


def spelled(labels: Array) -> list[int]:
    word = [BLANK]
    for label in labels:
        word += [int(label), BLANK]
    return word


def paths(x: Array, labels: Array) -> Array:
    """The probability of each place of the spelling at each time, summed over all paths to it."""
    word = spelled(labels)
    found = np.zeros((len(x), len(word)), x.dtype)
    for t, row in enumerate(np.exp(x)):
        for p, label in enumerate(word):
            before = float(p < 2) if t == 0 else found[t - 1, : p + 1][-2:].sum()
            if t > 0 and p > 1 and word[p] != word[p - 2]:
                before = before + found[t - 1, p - 2]
            found[t, p] = before * row[label]
    return found


def loss(x: Array, labels: Array) -> Any:
    return -np.log(paths(x, labels)[-1, -2:].sum())


def derivative(x: Array, labels: Array) -> Array:
    """For the logits behind a log-softmax: the probabilities and the derivative for ``x``."""
    slope = np.exp(x)
    for at in np.ndindex(x.shape):
        moved = x.astype(complex)
        moved[at] += 1e-30j
        slope[at] += loss(moved, labels).imag / 1e-30
    return slope


def logarithms(dtype: Any, seed: int = 1) -> Array:
    x = np.random.default_rng(seed).normal(size=(TIMES, BATCH, CLASSES))
    return np.asarray(x - np.log(np.exp(x).sum(-1, keepdims=True))).astype(dtype)


def parts(x: Array) -> list[tuple[Array, Array]]:
    return [(wide(x)[: INPUTS[b], b], TARGETS[b, : LENGTHS[b]]) for b in range(BATCH)]


def joined() -> Array:
    return np.concatenate([TARGETS[b, : LENGTHS[b]] for b in range(BATCH)])


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("layout", ["dense", "transposed", "stepped"])
def test_losses_and_gradients(dtype: str, layout: str) -> None:
    kind = np.dtype(dtype)
    x = logarithms(kind)
    out, alpha = hollow((BATCH,), kind, layout), hollow((BATCH, TIMES, 8), kind, layout)
    given = (place(x, layout), place(TARGETS if layout == "dense" else joined()), INPUTS, LENGTHS)
    ap.ops.ctc_loss(*given, BLANK, False, out, alpha)
    assert_close(out.numpy(), [loss(*one) for one in parts(x)], scale=2)
    with np.errstate(divide="ignore"):
        for b, one in enumerate(parts(x)):
            oracle = np.full((TIMES, 8), -np.inf)
            reached = np.log(paths(*one))
            oracle[: reached.shape[0], : reached.shape[1]] = reached
            assert_close(alpha.numpy()[b], oracle, scale=2)
    # The gradient starts from what the forward handed over as it was rounded.
    g = np.array([1.0, -0.5, 2.0]).astype(kind)
    exact = hollow((BATCH,), np.float64), hollow((BATCH, TIMES, 8), np.float64)
    ap.ops.ctc_loss(place(wide(x)), *given[1:], BLANK, False, *exact)
    slope = hollow(x.shape, kind, layout)
    kept = [place(one.numpy().astype(kind), layout) for one in exact]
    ap.ops.ctc_loss_backward(place(g), *given, *kept, BLANK, False, slope)
    oracle = np.zeros(x.shape)
    for b, one in enumerate(parts(x)):
        oracle[: INPUTS[b], b] = wide(g)[b] * derivative(*one)
    # A rounded loss and alpha are off by up to this factor, whatever the rest does.
    room = {"float64": 1, "float32": 4, "float16": 8, "bfloat16": 12}[dtype]
    assert_close(slope.numpy(), oracle, scale=room)


def test_one_sequence_without_a_batch() -> None:
    x = logarithms(np.float32)[:, 0]
    out, alpha = hollow((), np.float32), hollow((1, TIMES, 8), np.float32)
    ap.ops.ctc_loss(place(x), place(TARGETS[0]), [TIMES], [3], BLANK, False, out, alpha)
    assert_close(out.numpy(), loss(wide(x), TARGETS[0]), scale=2)


def test_every_path_is_counted() -> None:
    """Of two classes and three times, the paths of one label are counted by hand."""
    x = np.full((3, 1, 2), np.log(0.5), np.float32)
    out, alpha = hollow((1,), np.float32), hollow((1, 3, 8), np.float32)
    ap.ops.ctc_loss(place(x), place(np.array([[1]])), [3], [1], 0, False, out, alpha)
    runs = [
        bits for bits in np.ndindex(2, 2, 2) if sum(a < b for a, b in pairwise((0, *bits))) == 1
    ]
    assert len(runs) == 6
    assert_close(out.numpy(), [-np.log(6 / 8)], scale=1)


@pytest.mark.parametrize("zero", [True, False])
def test_targets_that_no_path_spells(zero: bool) -> None:
    x = logarithms(np.float32)[:2]
    labels = place(np.array([[2, 2], [0, 3], [4, 0]]))  # two equal labels need three times
    out, alpha = hollow((3,), np.float32), hollow((3, 2, 8), np.float32)
    call = (place(x), labels, [2, 2, 0], [2, 2, 0])
    ap.ops.ctc_loss(*call, BLANK, zero, out, alpha)
    found = out.numpy()
    assert found[0] == (0 if zero else np.inf) and found[2] == 0 and 0 < found[1] < 99
    slope = hollow(x.shape, np.float32)
    ones = place(np.ones(3, np.float32))
    infinite = place(np.array([np.inf, found[1], 0], np.float32))
    ap.ops.ctc_loss_backward(ones, *call, infinite, alpha, BLANK, zero, slope)
    gradients = slope.numpy()
    assert np.isnan(gradients[:, 0]).all() != zero
    assert_same(gradients[:, 2], np.zeros((2, CLASSES), np.float32))
    oracle = derivative(wide(x)[:, 1], np.array([0, 3]))
    assert_close(gradients[:, 1], oracle, scale=4)
    if zero:
        assert_same(gradients[:, 0], np.zeros((2, CLASSES), np.float32))


def test_logits_get_the_gradient_that_frameworks_give() -> None:
    """A log-softmax hands it on as it is: each row of it sums to 0."""
    x = logarithms(np.float32)
    out, alpha = hollow((BATCH,), np.float32), hollow((BATCH, TIMES, 8), np.float32)
    given = (place(x), place(TARGETS), INPUTS, LENGTHS)
    ap.ops.ctc_loss(*given, BLANK, False, out, alpha)
    slope, logits = hollow(x.shape, np.float32), hollow(x.shape, np.float32)
    ones = place(np.ones(BATCH, np.float32))
    ap.ops.ctc_loss_backward(ones, *given, out, alpha, BLANK, False, slope)
    np.testing.assert_allclose(slope.numpy().sum(2), 0, atol=1e-5)
    ap.ops.log_softmax_backward(slope, place(x), 2, logits)
    np.testing.assert_allclose(logits.numpy(), slope.numpy(), rtol=1e-5, atol=1e-5)


def test_a_gradient_by_hand() -> None:
    """Of the four paths of two times three spell the label, and two of these are at it first."""
    x = np.log(np.full((2, 1, 2), 0.5, np.float32))
    out, alpha = hollow((1,), np.float32), hollow((1, 2, 8), np.float32)
    given, slope = (place(x), place(np.array([[1]])), [2], [1]), hollow(x.shape, np.float32)
    ap.ops.ctc_loss(*given, 0, False, out, alpha)
    ap.ops.ctc_loss_backward(place(np.ones(1, np.float32)), *given, out, alpha, 0, False, slope)
    assert_close(slope.numpy(), np.tile([1 / 2 - 1 / 3, 1 / 2 - 2 / 3], (2, 1, 1)), scale=4)


@pytest.mark.parametrize("label", [-1, CLASSES])
def test_a_label_that_does_not_exist_is_a_fault(label: int) -> None:
    x, labels = place(logarithms(np.float32)), TARGETS.copy()
    labels[1, 1] = label
    out, alpha = hollow((BATCH,), np.float32), hollow((BATCH, TIMES, 8), np.float32)
    rest = (x, place(labels), INPUTS, LENGTHS)
    assert str(label) in fault("aclnnCtcLoss", *rest, BLANK, False, out, alpha)
    back = (*rest, out, alpha, BLANK, False, hollow(x.shape, np.float32))
    assert str(label) in fault("aclnnCtcLossBackward", out, *back)


def test_no_sequences() -> None:
    none = ap.empty((4, 0, 5), np.float32)
    rows, alpha = ap.empty((0,), np.float32), ap.empty((0, 4, 8), np.float32)
    labels = ap.empty((0, 2), np.int64)
    ap.ops.ctc_loss(none, labels, [], [], 0, False, rows, alpha)
    ap.ops.ctc_loss_backward(rows, none, labels, [], [], rows, alpha, 0, False, none)
    ap.synchronize()


def test_what_does_not_fit_is_refused() -> None:
    x, t = hollow((7, 3, 5), np.float32), hollow((3, 3), np.int64)
    out, alpha = hollow((3,), np.float32), hollow((3, 7, 8), np.float32)

    def call(name: str, **changed: Any) -> tuple[str, list[Any]]:
        given = {"x": x, "t": t, "inputs": INPUTS, "lengths": LENGTHS, "blank": 1, "out": out}
        given |= {"alpha": alpha, "to": x, **changed}
        first = [given["x"], given["t"], given["inputs"], given["lengths"]]
        if name == "aclnnCtcLoss":
            return name, [*first, given["blank"], False, given["out"], given["alpha"]]
        last = [given["blank"], False, given["to"]]
        return name, [given["out"], *first, given["out"], given["alpha"], *last]

    for name in ("aclnnCtcLoss", "aclnnCtcLossBackward"):

        def text(name: str = name, **changed: Any) -> str:
            operator, arguments = call(name, **changed)
            return message(operator, 161002, arguments)

        assert "blank is 5" in text(blank=5)
        assert "inputLengths has 2" in text(inputs=[7, 7])
        assert "inputLengths[1] is 8" in text(inputs=[7, 8, 1])
        assert "must not be negative" in text(lengths=[3, -1, 1])
        assert "2 or more" in text(t=hollow((3, 1), np.int64), lengths=[1, 2, 1])
        assert "targets" in text(t=hollow((5,), np.int64))
        assert "logAlpha" in text(alpha=hollow((3, 7, 6), np.float32))
        assert "out" in text(out=hollow((2,), np.float32)) or name.endswith("Backward")
        assert "dtype" in text(alpha=hollow((3, 7, 8), np.float16))
        huge = [2**62, 2**62, 2**62]
        assert refusal(*_flat(call(name, lengths=huge, t=hollow((3,), np.int64)))) == 161002
        assert refusal(*_flat(call(name, lengths=[2**62, 0, 0]))) == 161002
        for missing in ("x", "t", "out", "alpha"):
            assert refusal(*_flat(call(name, **{missing: None}))) == 161001
    assert refusal(*_flat(call("aclnnCtcLossBackward", to=x[:6]))) == 161002
    assert op("aclnnCtcLoss") is ap.ops.ctc_loss


def _flat(call: tuple[str, list[Any]]) -> list[Any]:
    return [call[0], *call[1]]
