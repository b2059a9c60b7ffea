# SPDX-License-Identifier: Apache-2.0
"""Losses of classes, divergences, bags of rows, and their gradients, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, place, wide

from aclnn_py import functional as f
from aclnn_py.errors import InvalidArgumentError

pytestmark = pytest.mark.usefixtures("device")

RNG = np.random.default_rng(17)
X = RNG.normal(size=(5, 4)).astype(np.float32)
LABELS = np.array([0, 3, 1, 3, 2])
WEIGHT = RNG.uniform(0.5, 2, 4).astype(np.float32)
KINDS = ("none", "mean", "sum")


def log_soft(x: Array) -> Array:
    return np.asarray(x - np.log(np.exp(x).sum(-1, keepdims=True)))


def chosen(logs: Array, weight: Array, ignored: int) -> tuple[Array, Array]:
    each = np.where(ignored == LABELS, 0, weight[LABELS])
    return -each * logs[np.arange(5), LABELS], each


def reduced(losses: Array, each: Array, reduction: str) -> Any:
    if reduction == "none":
        return losses
    return losses.sum() / (each.sum() if reduction == "mean" else 1)


@pytest.mark.parametrize("reduction", KINDS)
@pytest.mark.parametrize("weighted", [True, False])
def test_likelihoods_and_cross_entropies(reduction: str, weighted: bool) -> None:
    known = wide(WEIGHT) if weighted else np.ones(4)
    options: dict[str, Any] = {"reduction": reduction, "ignore_index": 1}
    given = (place(LABELS), place(WEIGHT) if weighted else None)
    losses, each = chosen(wide(X), known, 1)
    found = f.nll_loss(place(X), *given, **options)
    assert found.shape == (() if reduction != "none" else (5,))
    assert_close(found.numpy(), reduced(losses, each, reduction), scale=4)
    losses, _ = chosen(log_soft(wide(X)), known, 1)
    found = f.cross_entropy(place(X), *given, **options)
    assert found.shape == (() if reduction != "none" else (5,))
    assert_close(found.numpy(), reduced(losses, each, reduction), scale=4)
    # Gradients: of the scores themselves, and through the softmax.
    g = RNG.normal(size=() if reduction != "none" else 5).astype(np.float32)
    picked = np.zeros(X.shape)
    picked[np.arange(5), LABELS] = -wide(g) * each / (each.sum() if reduction == "mean" else 1)
    found = f.nll_loss_backward(place(g), place(X), *given, **options)
    assert_close(found.numpy(), picked, scale=4)
    soft = np.exp(log_soft(wide(X)))
    found = f.cross_entropy_backward(place(g), place(X), *given, **options)
    assert_close(found.numpy(), picked - soft * picked.sum(-1, keepdims=True), scale=8)


def test_planes_of_classes() -> None:
    x = RNG.normal(size=(2, 3, 2, 2)).astype(np.float32)
    labels = RNG.integers(0, 3, (2, 2, 2))
    picked = -np.take_along_axis(wide(x), labels[:, None], 1)[:, 0]
    assert_close(f.nll_loss(place(x), place(labels)).numpy(), picked.mean(), scale=2)
    one = place(np.ones((), np.float32))
    slope = f.nll_loss_backward(one, place(x), place(labels), reduction="sum").numpy()
    assert slope.sum() == -8 and set(np.unique(slope)) == {-1.0, 0.0}


def test_smoothing_spreads_a_part() -> None:
    losses, _ = chosen(log_soft(wide(X)), np.ones(4), -1)
    spread = -log_soft(wide(X)).mean(-1)
    found = f.cross_entropy(place(X), place(LABELS), label_smoothing=0.25)
    assert_close(found.numpy(), (0.75 * losses + 0.25 * spread).mean(), scale=4)


@pytest.mark.parametrize("reduction", [*KINDS, "batchmean"])
@pytest.mark.parametrize("logarithms", [True, False])
def test_divergences(reduction: str, logarithms: bool) -> None:
    y = RNG.uniform(0.1, 1, (5, 4)).astype(np.float32)
    target = np.log(y) if logarithms else y
    values = np.exp(wide(target)) * (wide(target) - wide(X)) if logarithms else None
    if values is None:
        values = wide(y) * (np.log(wide(y)) - wide(X))
    divisor = {"mean": 20, "batchmean": 5}.get(reduction, 1)
    oracle = values if reduction == "none" else values.sum() / divisor
    options: dict[str, Any] = {"reduction": reduction, "log_target": logarithms}
    found = f.kl_div(place(X), place(target), **options)
    assert found.shape == oracle.shape
    assert_close(found.numpy(), oracle, scale=8)
    g = np.float32(1.5).reshape(())
    slope = f.kl_div_backward(place(g), place(X), place(target), **options)
    given = np.exp(wide(target)) if logarithms else wide(y)
    assert_close(slope.numpy(), -1.5 * given / divisor, scale=4)


def test_ctc() -> None:
    logs = log_soft(RNG.normal(size=(3, 1, 3))).astype(np.float32)
    labels = place(np.array([[2]]))
    loss, alpha = f.ctc_loss(place(logs), labels, [3], [1])
    assert alpha.shape == (1, 3, 8)

    def likelihood(x: Array) -> Any:
        word = [(2, 0, 0), (0, 2, 0), (0, 0, 2), (2, 2, 0), (0, 2, 2), (2, 2, 2)]
        return sum(np.exp(sum(x[t, 0, one] for t, one in enumerate(path))) for path in word)

    assert_close(loss.numpy(), [-np.log(likelihood(wide(logs)))], scale=2)
    oracle = np.empty(logs.shape)
    for at in np.ndindex(logs.shape):
        moved = wide(logs).astype(complex)
        moved[at] += 1e-30j
        oracle[at] = np.exp(wide(logs)[at]) - np.log(likelihood(moved)).imag / 1e-30
    ones = place(np.ones(1, np.float32))
    slope = f.ctc_loss_backward(ones, place(logs), labels, loss, alpha, [3], [1])
    assert_close(slope.numpy(), oracle, scale=8)


@pytest.mark.parametrize("mode", ["mean", "sum", "max"])
@pytest.mark.parametrize("last", [True, False])
def test_bags_of_rows(mode: str, last: bool) -> None:
    rows, starts = np.array([0, 4, 2, 2, 1]), np.array([0, 3])
    parts = np.split(wide(X)[rows], [3])
    oracle = [
        {"mean": part.mean(0), "sum": part.sum(0), "max": part.max(0)}[mode] for part in parts
    ]
    offsets = place(np.append(starts, 5) if last else starts)
    options: dict[str, Any] = {"mode": mode, "include_last_offset": last}
    found = f.embedding_bag(place(rows), place(X), offsets, **options)
    assert_close(found.numpy(), oracle, scale=2)


def test_weighted_bags_and_padding() -> None:
    rows, shares = np.array([0, 4, 2]), np.array([0.5, 2, -1], np.float32)
    found = f.embedding_bag(
        *(place(rows), place(X), place(np.array([0]))),
        mode="sum",
        per_sample_weights=place(shares),
        padding_idx=4,
    )
    assert_close(found.numpy(), [0.5 * wide(X)[0] - wide(X)[2]], scale=1)


@pytest.mark.parametrize("padding", [-1, 2])
def test_gradients_of_a_table(padding: int) -> None:
    rows = np.array([[0, 2], [2, 1]])
    g = RNG.normal(size=(2, 2, 3)).astype(np.float32)
    oracle = np.zeros((4, 3))
    for at in np.ndindex(rows.shape):
        oracle[rows[at]] += wide(g)[at] * (rows[at] != padding)
    found = f.embedding_backward(place(g), place(rows), 4, padding_idx=padding)
    assert_close(found.numpy(), oracle, scale=1)
    shared = f.embedding_backward(place(g), place(rows), 4, scale_grad_by_freq=True).numpy()
    assert_same(shared[3], np.zeros(3, np.float32))


def test_mistakes_are_named() -> None:
    x, labels = place(X), place(LABELS)
    with pytest.raises(InvalidArgumentError, match="reduction: expected one of none, mean, sum, b"):
        f.kl_div(x, x, reduction="median")
    with pytest.raises(InvalidArgumentError, match="mode: expected one of sum, mean, max"):
        f.embedding_bag(labels, x, place(np.array([0])), mode="min")
    with pytest.raises(InvalidArgumentError, match="target_lengths\\[1\\]: expected 0 or more"):
        f.ctc_loss(place(X[:, None]), place(LABELS[None]), [5], [1, -1])
    with pytest.raises(TypeError, match="target_lengths\\[0\\]: expected an int"):
        f.ctc_loss(place(X[:, None]), place(LABELS[None]), [5], [1.5])  # type: ignore[list-item]
    with pytest.raises(InvalidArgumentError, match="offsets: expected the end"):
        f.embedding_bag(labels, x, place(np.zeros(0, np.int64)), include_last_offset=True)
    with pytest.raises(InvalidArgumentError, match="input: expected at least one dimension"):
        f.nll_loss(place(np.float32(1).reshape(())), labels)
    with pytest.raises(TypeError, match="weight"):
        f.nll_loss(x, labels, 3.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="per_sample_weights"):
        f.embedding_bag(labels, x, labels, per_sample_weights=[1])  # type: ignore[arg-type]
