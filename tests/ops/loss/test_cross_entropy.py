# SPDX-License-Identifier: Apache-2.0
"""Cross entropies of classes, of probabilities and of split vocabularies, and their gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, hollow, op, place, refusal, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, fault, message, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
ROWS, CLASSES, IGNORED = 6, 37, 3
LABELS = np.array([0, 36, 3, 7, 7, 3])
# Shapes are judged with 561002, which a test of its own looks at.
REFUSED_LATER: Any = {"free_shapes": True}


def log_soft(x: Array) -> Array:
    highest = x.real.max(-1, keepdims=True)
    return np.asarray(x - highest - np.log(np.exp(x - highest).sum(-1, keepdims=True)))


def loss_of(x: Array, weight: Array, reduction: str, smoothing: float = 0.0) -> Any:
    """The loss by the document's formula; smoothing spreads a part over all classes."""
    logs = log_soft(x)
    each = np.where(LABELS == IGNORED, 0, weight[LABELS])
    own = -each * logs[np.arange(ROWS), LABELS]
    spread = np.where(LABELS == IGNORED, 0, -(weight * logs).sum(-1) / CLASSES)
    losses = (1 - smoothing) * own + smoothing * spread
    if reduction == "none":
        return losses
    return losses.sum() / (each.sum() if reduction == "mean" else 1)


def operands(rng: Rng, dtype: Any, weighted: bool) -> tuple[Array, Array | None]:
    x = (3 * rng.normal(size=(ROWS, CLASSES))).astype(dtype)
    return x, rng.uniform(0.5, 2, CLASSES).astype(np.float32) if weighted else None


def forward(reduction: str | None, weighted: bool, smoothing: float) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        x, weight = operands(rng, dtype, weighted)
        known = np.ones(CLASSES) if weight is None else wide(weight)
        loss = np.atleast_1d(loss_of(wide(x), known, reduction or "mean", smoothing))
        nothing = [np.zeros(loss.shape, dtype), np.zeros(ROWS, dtype)]
        return [
            *(In(x), In(LABELS), None if weight is None else In(weight), reduction, IGNORED),
            *(smoothing, 0.0, False, Out(loss, dtype, 4), Out(log_soft(wide(x)), dtype, 2)),
            *(In(one) for one in nothing),
        ]

    return Case(
        "CrossEntropyLoss",
        build,
        f"{reduction}-{weighted}",
        **REFUSED_LATER,
        nullable=frozenset({2}),
    )


def backward(reduction: str, weighted: bool) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        x, weight = operands(rng, dtype, weighted)
        known = np.ones(CLASSES) if weight is None else wide(weight)
        g = rng.normal(size=ROWS if reduction == "none" else ()).astype(dtype)
        logs = log_soft(wide(x)).astype(dtype)
        # What the forward hands over is rounded; as logits it has nearly the same loss.
        start = wide(logs)
        oracle = np.empty(x.shape)
        for at in range(CLASSES):
            moved = start.astype(complex)
            moved[:, at] += 1e-30j
            if reduction == "mean":  # rows add up: each has its own derivative
                each = loss_of(moved, known, "none") / known[LABELS[LABELS != IGNORED]].sum()
            else:
                each = loss_of(moved, known, "none")
            oracle[:, at] = (wide(g) * each).imag / 1e-30
        return [
            *(In(g), In(logs), In(LABELS), None if weight is None else In(weight)),
            *(None, None, reduction, IGNORED, 0.0, 0.0, Out(oracle, dtype, 16)),
        ]

    return Case(
        "CrossEntropyLossGrad",
        build,
        f"{reduction}-{weighted}",
        1,
        **REFUSED_LATER,
        nullable=frozenset({3}),
    )


TestClasses = suite(
    [
        forward("mean", True, 0.0),
        forward("sum", False, 0.25),
        forward("none", True, 0.25),
        forward(None, True, 0.5),
    ]
)
TestNarrow = suite([backward("mean", True), backward("sum", False), backward("none", True)])


def of_probabilities(rng: Rng, dtype: Any) -> Problem:
    x = (3 * rng.normal(size=(ROWS, CLASSES))).astype(dtype)
    y = rng.dirichlet(np.ones(CLASSES), ROWS).astype(dtype)
    logs = log_soft(wide(x))
    loss = -(wide(y) * logs).sum(-1)
    return [In(x), In(y), Out(loss, dtype, 2), Out(np.exp(logs) - wide(y), dtype, 2)]


TestProbabilities = suite([Case("SoftmaxCrossEntropyWithLogits", of_probabilities)])


def test_the_second_result_is_the_derivative_of_the_first() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(3, 5)), rng.dirichlet(np.ones(5), 3)
    slope = np.empty(x.shape)
    for at in range(5):
        moved = x.astype(complex)
        moved[:, at] += 1e-30j
        slope[:, at] = -(y * log_soft(moved)).sum(-1).imag / 1e-30
    loss, backprop = hollow((3,), np.float32), hollow((3, 5), np.float32)
    given = [place(one.astype(np.float32)) for one in (x, y)]
    ap.ops.softmax_cross_entropy_with_logits(*given, loss, backprop)
    assert_close(backprop.numpy(), slope, scale=4)


def test_losses_of_nothing() -> None:
    x, labels = place(np.ones((2, 3), np.float32)), place(np.full(2, 7))
    loss, logs, rows = (hollow(s, np.float32) for s in [(1,), (2, 3), (2,)])
    ap.ops.cross_entropy_loss(x, labels, None, "mean", 7, 0.0, 0.0, False, loss, logs, loss, rows)
    assert np.isnan(loss.numpy()[0])
    assert_close(logs.numpy(), np.full((2, 3), -np.log(3)), scale=1)
    ap.ops.cross_entropy_loss(x, labels, None, "sum", 7, 0.5, 0.0, False, loss, logs, loss, rows)
    assert loss.numpy()[0] == 0
    none, few = ap.empty((0, 3), np.float32), ap.empty((0,), np.int64)
    empty = ap.empty((0,), np.float32)
    ap.ops.cross_entropy_loss(none, few, None, "mean", 7, 0.0, 0.0, False, loss, none, loss, empty)
    assert np.isnan(loss.numpy()[0])
    ap.ops.softmax_cross_entropy_with_logits(none, none, empty, none)
    ap.synchronize()


def test_gradients_of_rows_that_do_not_count() -> None:
    """They are the softmax times 0, divided by the sum of all weights for a mean."""
    logs = np.array([[-1, -2, -3], [-0.5, np.nan, -4]], np.float32)
    one, slope = place(np.ones(1, np.float32)), hollow((2, 3), np.float32)

    def found(labels: list[int], how: str, weight: Any = None) -> Any:
        rest = (place(np.array(labels)), weight, None, None, how, 7, 0.0, 0.0, slope)
        ap.ops.cross_entropy_loss_grad(one, place(logs), *rest)
        return slope.numpy()

    power = np.exp(wide(logs[0]))
    oracle = np.stack([power - [0, 1, 0], [0, np.nan, 0]])
    assert_close(found([1, 7], "mean"), oracle, scale=2)
    assert_close(found([1, 7], "sum"), oracle, scale=2)
    assert np.isnan(found([7, 7], "mean")).all()
    assert_same(found([7, 7], "sum"), np.array([[0, 0, 0], [0, np.nan, 0]], np.float32))
    weightless = place(np.array([1, 0, 1], np.float32))
    assert np.isnan(found([1, 7], "mean", weightless)).all()


@pytest.mark.parametrize("label", [-1, 3, 2**40])
def test_a_class_that_does_not_exist_is_a_fault(label: int) -> None:
    x, labels = place(np.ones((2, 3), np.float32)), place(np.array([0, label]))
    loss, rows = hollow((1,), np.float32), hollow((2,), np.float32)
    rest = ("mean", -100, 0.0, 0.0, False, loss, hollow((2, 3), np.float32), loss, rows)
    assert f"{label}" in fault("aclnnCrossEntropyLoss", x, labels, None, *rest)
    rest = (None, None, "sum", -100, 0.0, 0.0, hollow((2, 3), np.float32))
    assert f"{label}" in fault("aclnnCrossEntropyLossGrad", loss, x, labels, None, *rest)


def test_what_does_not_fit_is_refused() -> None:
    x, t, one, row = (hollow(s, np.float32) for s in [(2, 3), (2,), (1,), (2,)])
    t = hollow((2,), np.int64)

    def call(**changed: Any) -> list[Any]:
        given = {"x": x, "t": t, "w": None, "how": "mean", "smooth": 0.0, "loss": one, "logs": x}
        given |= changed
        first = [given["x"], given["t"], given["w"], given["how"], -100, given["smooth"]]
        return [*first, 0.0, False, given["loss"], given["logs"], one, row]

    name = "aclnnCrossEntropyLoss"
    assert "allowed: " in message(name, 561002, call(how="average"))
    assert "labelSmoothing is 1.5" in message(name, 561002, call(smooth=1.5))
    assert refusal(name, *call(t=hollow((3,), np.int64))) == 561002
    assert refusal(name, *call(w=hollow((2,), np.float32))) == 561002
    assert refusal(name, *call(how="none")) == 561002
    assert refusal(name, *call(logs=hollow((3, 2), np.float32))) == 561002
    assert refusal(name, *call(t=hollow((2,), np.int32))) == 161002
    assert refusal(name, *call(loss=hollow((1,), np.float16))) == 161002
    assert refusal(name, *call(logs=None)) == 161001
    assert refusal(name, *call(x=hollow((2, 0), np.float32), logs=hollow((2, 0), np.float32))) == (
        561002
    )
    grad = "aclnnCrossEntropyLossGrad"
    rest = (None, None, "mean", -100, 0.5, 0.0, x)
    assert "only 0 is supported" in message(grad, 561002, [one, x, t, None, *rest])
    assert refusal(grad, row, x, t, None, None, None, "mean", -100, 0.0, 0.0, x) == 561002
    soft = "aclnnSoftmaxCrossEntropyWithLogits"
    assert refusal(soft, x, hollow((3, 2), np.float32), row, x) == 161002
    assert refusal(soft, x, hollow((2, 3), np.float16), row, x) == 161002


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_a_loss_from_the_largest_logits_and_sums(dtype: Any) -> None:
    rng = np.random.default_rng(3)
    x = (3 * rng.normal(size=(5, 700))).astype(dtype)
    most = wide(x).max(-1) + 0.5
    total = 1.5 * np.exp(wide(x) - most[:, None]).sum(-1)
    own = rng.normal(size=5)
    rows = [one.astype(np.float32) for one in (most, total, own)]
    loss, soft = hollow((5,), np.float32, "stepped"), hollow((5, 700), np.float32, "transposed")
    call = (0.0, None, None, place(x, "stepped"), loss, soft)
    ap.ops.fused_cross_entropy_loss_with_max_sum(*map(place, rows), *call)
    most, total, own = map(wide, rows)
    assert_close(loss.numpy(), np.log(total) - own, scale=2)
    assert_close(soft.numpy(), np.exp(wide(x) - most[:, None]) / total[:, None], scale=8)
    again = hollow((5,), np.float32)
    ap.ops.fused_cross_entropy_loss_with_max_sum(
        *map(place, rows), 0.0, None, None, None, again, None
    )
    assert_same(again.numpy(), loss.numpy())


def test_a_loss_from_sums_refuses() -> None:
    name, row = "aclnnFusedCrossEntropyLossWithMaxSum", hollow((3,), np.float32)
    x = hollow((3, 5), np.float32)
    assert refusal(name, row, row, row, 0.0, None, None, x, row, None) == 161001
    assert refusal(name, row, row, None, 0.0, None, None, None, row, None) == 161001
    text = message(name, 161002, [row, row, row, 0.5, None, None, x, row, x])
    assert "labelSmoothing is 0.5" in text
    assert refusal(name, x, x, x, 0.0, None, None, None, x, None) == 161002
    assert refusal(name, row, row, row, 0.0, None, None, x[:2], row, x[:2]) == 161002
    assert refusal(name, row, row, row, 0.0, None, None, x, row, x[:, :4]) == 161002
    assert refusal(name, row, row, row, 0.0, None, None, x, hollow((2,), np.float32), x) == 161002


def logit_gradients(rng: Rng, dtype: Any) -> dict[str, Array]:
    """The operands of the gradient of a split vocabulary, and the gradients by the formula."""
    x, w = rng.normal(size=(11, 6)).astype(dtype), rng.normal(size=(130, 6)).astype(dtype)
    g = rng.normal(size=11).astype(np.float32)
    logits = (wide(x) @ wide(w).T).astype(dtype)
    most = wide(logits).max(-1).astype(np.float32)
    total = (2 * np.exp(wide(logits) - most[:, None]).sum(-1)).astype(np.float32)
    soft = np.exp(wide(logits) - most[:, None]) / wide(total)[:, None]
    held = rng.random(11) < 0.6
    labels = rng.integers(0, 130, 11)
    slopes = soft.copy()
    slopes[np.arange(11), labels] -= held
    slopes *= wide(g)[:, None]
    mask = np.packbits(~held, bitorder="little")
    labels = np.where(held, labels, 500)  # places of others are not looked at
    return {
        "x": x,
        "w": w,
        "g": g,
        "most": most,
        "total": total,
        "soft": soft,
        "mask": mask,
        "labels": labels,
        "dx": slopes @ wide(w),
        "dw": slopes.T @ wide(x),
    }


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("given", [True, False])
def test_gradients_of_a_split_vocabulary(dtype: Any, given: bool) -> None:
    p = logit_gradients(np.random.default_rng(4), dtype)
    dx, dw = hollow((11, 6), dtype, "transposed"), hollow((130, 6), dtype)
    kind = np.int32 if given else np.int64
    soft = place(p["soft"].astype(np.float32)) if given else None
    ap.ops.fused_linear_cross_entropy_loss_grad(
        *(place(p["g"]), place(p["x"], "stepped"), place(p["w"], "transposed"), place(p["mask"])),
        *(place(p["labels"].astype(kind)), 0.0),
        *(None if given else place(p[name]) for name in ("most", "total")),
        *(soft, dx, dw),
    )
    assert_close(dx.numpy(), p["dx"], scale=4)
    assert_close(dw.numpy(), p["dw"], scale=4)


def test_the_gradients_are_those_of_the_forward_operators() -> None:
    """The loss of the forward chain moves as its gradients say."""
    rng = np.random.default_rng(5)
    x, w = rng.normal(size=(4, 3)), rng.normal(size=(128, 3))
    labels = np.array([0, 127, 5, 5])

    def loss(x: Array, w: Array) -> Array:
        logs = log_soft(x @ w.T)
        return np.asarray(-logs[np.arange(4), labels].sum())

    move = rng.normal(size=x.shape)
    slope = loss(x + 1e-30j * move, w.astype(complex)).imag / 1e-30
    half = [place(one.astype(np.float16)) for one in (x, w)]
    most, total, own = (hollow((4,), np.float32) for _ in range(3))
    mask, places = hollow((1,), np.uint8), hollow((4,), np.int64)
    ap.ops.fused_linear_online_max_sum(
        *(*half, place(labels), 0, 128, most, total, own, mask, places, None)
    )
    dx, dw = hollow((4, 3), np.float16), hollow((128, 3), np.float16)
    ones = place(np.ones(4, np.float32))
    ap.ops.fused_linear_cross_entropy_loss_grad(
        *(ones, *half, mask, places, 0.0, most, total, None, dx, dw)
    )
    np.testing.assert_allclose((wide(dx.numpy()) * move).sum(), slope, rtol=2e-2, atol=2e-2)


def test_gradients_of_a_split_vocabulary_refuse() -> None:
    name, f = "aclnnFusedLinearCrossEntropyLossGrad", np.float16
    g, x, w = hollow((3,), np.float32), hollow((3, 4), f), hollow((128, 4), f)
    mask, t = place(np.zeros(1, np.uint8)), place(np.array([0, 1, 128]))
    soft = place(np.ones((3, 128), np.float32))
    assert refusal(name, g, x, w, mask, t, 0.0, g, None, None, x, w) == 161001
    assert refusal(name, g, x, w, None, t, 0.0, g, g, None, x, w) == 161001
    text = message(name, 161002, [g, x, w, mask, t, 0.1, g, g, None, x, w])
    assert "labelSmoothing" in text
    small = hollow((127, 4), f)
    text = message(name, 161002, [g, x, small, mask, t, 0.0, g, g, None, x, small])
    assert "at least 128" in text
    none = place(np.zeros(0, np.uint8))
    assert refusal(name, g, x, w, none, t, 0.0, g, g, None, x, w) == 161002
    assert refusal(name, g, x, w, mask, t, 0.0, None, None, soft[:, :100], x, w) == 161002
    assert refusal(name, g, x, hollow((128, 4), np.float32), mask, t, 0.0, g, g, None, x, w) == (
        161002
    )
    assert "128" in fault(name, g, x, w, mask, t, 0.0, None, None, soft, x, w)


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def given_as(x: Array) -> Given:
    return Given(x, x.dtype.name)


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_powers_and_sums_of_one_part(newer: Chip950, dtype: Any) -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(2, 3, 48)).astype(dtype)
    most = (wide(x).max(-1) + 0.25).astype(dtype)
    labels = np.array([[7, 8, 55], [56, 0, 20]], np.int32)
    rows = [Made((2, 3), kind) for kind in ("float32", "float32", "int32", "int32")]
    found = newer.operator(
        *("cross_entropy_sum_exp_and_index_logit", given_as(x), given_as(labels)),
        *(given_as(most), 8, 56, rows[0], rows[1], Made((2, 3, 48), "float32"), *rows[2:]),
    )
    assert not isinstance(found, Refused), found
    absent = (labels < 8) | (labels >= 56)
    offsets = np.where(absent, 0, labels - 8)
    shifted = wide(x) - wide(most)[..., None]
    own = np.take_along_axis(shifted, offsets[..., None], -1)[..., 0]
    assert_close(found[0], np.where(absent, 0, own), scale=1)
    assert_close(found[1], np.exp(shifted).sum(-1), scale=2)
    assert_close(found[2], np.exp(shifted), scale=4)
    assert_same(found[3], offsets.astype(np.int32))
    assert_same(found[4], absent.astype(np.int32))


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
def test_one_part_refuses(newer: Chip950) -> None:
    def call(width: int, first: int, last: int, rank: int = 2) -> Any:
        shape = (*(2,) * (rank - 1), width)
        x, t = np.ones(shape, np.float32), np.zeros(shape[:-1], np.int32)
        return newer.operator(
            *("cross_entropy_sum_exp_and_index_logit", given_as(x), given_as(t)),
            *(given_as(np.ones(shape[:-1], np.float32)), first, last),
            *(Made(shape[:-1], "float32"), Made(shape[:-1], "float32"), Made(shape, "float32")),
            *(Made(shape[:-1], "int32"), Made(shape[:-1], "int32")),
        )

    for arguments in [
        (8, 0, 8),
        (20, 0, 20),
        (16, 0, 24),
        (16, 16, 0),
        (16, -16, 0),
        (16, 0, 16, 4),
    ]:
        found = call(*arguments)
        assert isinstance(found, Refused) and found.status == 161002, arguments
    assert not isinstance(call(24, 2**62, 2**62 + 24), Refused)


def test_one_part_needs_a_950() -> None:
    x, row, t = hollow((3, 16), np.float32), hollow((3,), np.float32), hollow((3,), np.int32)
    name = "aclnnCrossEntropySumExpAndIndexLogit"
    assert refusal(name, x, t, row, 0, 16, row, row, x, t, t) == 561003
    assert op(name) is ap.ops.cross_entropy_sum_exp_and_index_logit
