# SPDX-License-Identifier: Apache-2.0
"""More families of training beside NumPy: `python -m benchmarks.families_training`.

Losses, optimizers, norms of batches, rows scattered by index, recurrent networks with their
gradients, random numbers and decompositions of matrices. As `benchmarks.inference`: about a million
elements, beside the straightforward form in NumPy, both on one thread, the least CPU time of the
process, and results that were compared before.
"""

from __future__ import annotations

import sys
from typing import Any

from benchmarks.inference import F32, Case, Families, Work, device, main, measured, runs
from benchmarks.training import LABEL, SIZE, gives, normal, timed  # limits threads

# ruff: isort: split
import numpy as np

import aclnn_py as ap

f: Any = ap.functional
ops: Any = ap.ops  # whose arguments are too many to be written out


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def classes(rng: np.random.Generator) -> tuple[Any, Any]:
    return normal(rng, *SIZE), rng.integers(0, SIZE[1], SIZE[0])


def log_softmax(x: Any) -> Any:
    moved = x - x.max(-1, keepdims=True)
    return moved - np.log(np.exp(moved).sum(-1, keepdims=True))


def entropy(rng: np.random.Generator) -> Case:
    x, t = classes(rng)
    input, target = device(x, t)

    def theirs() -> Any:
        return (-log_softmax(x)[np.arange(len(x)), t].mean(),)

    call = gives(lambda: f.cross_entropy(input, target))
    return Case("losses: cross entropy", LABEL, call, theirs, 1e-4)


def entropy_gradient(rng: np.random.Generator) -> Case:
    x, t = classes(rng)
    input, target, one = device(x, t, np.ones((), F32))

    def theirs() -> Any:
        found = np.exp(log_softmax(x))
        found[np.arange(len(x)), t] -= 1
        return (found / F32(len(x)),)

    call = gives(lambda: f.cross_entropy_backward(one, input, target))
    return Case("losses: cross entropy's gradient", LABEL, call, theirs, 1e-4)


def likelihood_gradient(rng: np.random.Generator) -> Case:
    x, t = classes(rng)
    given = device(np.ones((), F32), x, t, np.ones(x.shape[1], F32))
    (total,), out = device(np.array([len(x)], F32)), ap.empty(x.shape, F32)

    def theirs() -> Any:
        found = np.zeros_like(x)
        found[np.arange(len(x)), t] = -1 / len(x)
        return (found,)

    call = runs(lambda: ops.nll_loss_backward(*given, 1, -100, total, out), out)
    return Case("losses: nll_loss's gradient", LABEL, call, theirs, 1e-6)


def absolute(rng: np.random.Generator) -> Case:
    x, y = normal(rng, *SIZE), normal(rng, *SIZE)
    input, target = device(x, y)
    call = gives(lambda: f.l1_loss(input, target))
    return Case("losses: l1_loss", LABEL, call, lambda: (abs(x - y).mean(),), 1e-4)


def smooth(rng: np.random.Generator) -> Case:
    x, y = normal(rng, *SIZE), normal(rng, *SIZE)
    input, target = device(x, y)

    def theirs() -> Any:
        d = abs(x - y)
        return (np.where(d < 1, F32(0.5) * d * d, d - F32(0.5)).mean(),)

    call = gives(lambda: f.smooth_l1_loss(input, target))
    return Case("losses: smooth_l1_loss", LABEL, call, theirs, 1e-4)


def smooth_gradient(rng: np.random.Generator) -> Case:
    x, y = normal(rng, *SIZE), normal(rng, *SIZE)
    input, target, one = device(x, y, np.ones((), F32))

    def theirs() -> Any:
        return (np.clip(x - y, -1, 1) / F32(x.size),)

    call = gives(lambda: f.smooth_l1_loss_backward(one, input, target))
    return Case("losses: smooth_l1_loss's gradient", LABEL, call, theirs, 1e-9)


def absolute_gradient(rng: np.random.Generator) -> Case:
    x, y = normal(rng, *SIZE), normal(rng, *SIZE)
    input, target, one = device(x, y, np.ones((), F32))

    def theirs() -> Any:
        return (np.sign(x - y) / F32(x.size),)

    call = gives(lambda: f.l1_loss_backward(one, input, target))
    return Case("losses: l1_loss's gradient", LABEL, call, theirs, 1e-9)


def binary(rng: np.random.Generator) -> Case:
    x, y = normal(rng, *SIZE), rng.random(SIZE, F32)
    input, target = device(x, y)

    def theirs() -> Any:
        return ((np.maximum(x, 0) - x * y + np.log1p(np.exp(-abs(x)))).mean(),)

    call = gives(lambda: f.binary_cross_entropy_with_logits(input, target))
    return Case("losses: binary cross entropy", LABEL, call, theirs, 1e-4)


def binary_gradient(rng: np.random.Generator) -> Case:
    x, y = rng.uniform(0.1, 0.9, SIZE).astype(F32), rng.random(SIZE, F32)
    input, target, one = device(x, y, np.ones((), F32))

    def theirs() -> Any:
        return ((x - y) / (x * (1 - x)) / F32(x.size),)

    call = gives(lambda: f.binary_cross_entropy_backward(one, input, target))
    return Case("losses: binary cross entropy's gradient", LABEL, call, theirs, 1e-9)


def divergence_gradient(rng: np.random.Generator) -> Case:
    x, y = normal(rng, *SIZE), rng.random(SIZE, F32)
    input, target, one = device(x, y, np.ones((), F32))
    call = gives(lambda: f.kl_div_backward(one, input, target))
    return Case(
        "losses: kl_div's gradient",
        LABEL,
        call,
        lambda: (np.where(y > 0, -y, 0) / F32(x.size),),
        1e-9,
    )


def alignment(rng: np.random.Generator) -> Case:
    times, batch, letters, length = 128, 16, 512, 32
    x = log_softmax(normal(rng, times, batch, letters))
    t = rng.integers(1, letters, (batch, length))
    given, target = device(x, t)
    n = np.arange(batch)[:, None]

    def theirs() -> Any:
        extended = np.zeros((batch, 2 * length + 1), np.int64)
        extended[:, 1::2] = t
        skips = np.zeros(extended.shape, bool)
        skips[:, 2:] = (extended[:, 2:] != 0) & (extended[:, 2:] != extended[:, :-2])
        alpha = np.full(extended.shape, -np.inf, F32)
        alpha[:, :2] = x[0, n, extended[:, :2]]
        for row in x[1:]:
            one, two = np.full_like(alpha, -np.inf), np.full_like(alpha, -np.inf)
            one[:, 1:], two[:, 2:] = alpha[:, :-1], alpha[:, :-2]
            two[~skips] = -np.inf
            alpha = np.logaddexp(np.logaddexp(alpha, one), two) + row[n, extended]
        return (-np.logaddexp(alpha[:, -1], alpha[:, -2]),)

    lengths = [times] * batch, [length] * batch
    call = gives(lambda: f.ctc_loss(given, target, *lengths))
    case = f"{times} x {batch} x {letters}, {length} letters, float32"
    return Case("losses: ctc", case, call, theirs, 1e-3)


def momentum(rng: np.random.Generator) -> Case:
    x, g = normal(rng, *SIZE), normal(rng, *SIZE)
    parameter, slope, buffer = device(x, g, np.zeros_like(x))
    w, m = x.copy(), np.zeros_like(x)

    def theirs() -> Any:
        m[...] = F32(0.9) * m + (g + F32(0.01) * w)
        w[...] -= F32(1e-3) * m
        return (w,)

    rates = {"lr": 1e-3, "momentum": 0.9, "weight_decay": 0.01}
    call = runs(lambda: f.sgd_([parameter], [slope], [buffer], **rates), parameter)
    return Case("optimizers: SGD", LABEL, call, theirs, 1e-3)


def unscale(rng: np.random.Generator) -> Case:
    parts = [normal(rng, 128, 1024) for _ in range(8)]
    slopes, (found, scale) = list(device(*parts)), device(np.zeros(1, F32), np.array([1.0], F32))
    copies = [part.copy() for part in parts]

    def theirs() -> Any:
        bad = False
        for part in copies:
            bad |= not np.isfinite(part).all()
            part *= F32(1)
        return (np.array([bad], F32),)

    call = runs(lambda: ops.foreach_non_finite_check_and_unscale(slopes, found, scale), found)
    return Case("gradients unscaled and checked", "8 of 128 x 1024, float32", call, theirs, 0)


def batch_norm(rng: np.random.Generator) -> Case:
    x, w, b = normal(rng, 16, 64, 32, 32), normal(rng, 64), normal(rng, 64)
    input, weight, bias, mean, var = device(x, w, b, np.zeros(64, F32), np.ones(64, F32))

    def theirs() -> Any:
        m, v = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
        return ((x - m) / np.sqrt(v + F32(1e-5)) * w[:, None, None] + b[:, None, None],)

    call = gives(lambda: f.batch_norm(input, mean, var, weight, bias, True))
    return Case("norms: batch", "16 x 64 x 32 x 32, float32", call, theirs, 1e-4)


def batch_norm_gradient(rng: np.random.Generator) -> Case:
    x, g, w = normal(rng, 16, 64, 32, 32), normal(rng, 16, 64, 32, 32), normal(rng, 64)
    m, r = x.mean((0, 2, 3)), 1 / np.sqrt(x.var((0, 2, 3)) + F32(1e-5))
    given = device(g, x, w, np.zeros(64, F32), np.ones(64, F32), m, r)

    def theirs() -> Any:
        centred = (x - m[:, None, None]) * r[:, None, None]
        by_bias, by_weight = g.sum((0, 2, 3)), (g * centred).sum((0, 2, 3))
        count = F32(x.size / 64)
        moved = g - (by_bias / count)[:, None, None] - centred * (by_weight / count)[:, None, None]
        return (moved * (w * r)[:, None, None],)

    call = gives(lambda: f.batch_norm_backward(*given))
    return Case("norms: batch, gradient", "16 x 64 x 32 x 32, float32", call, theirs, 1e-3)


def group_norm_gradient(rng: np.random.Generator) -> Case:
    x, g, w = normal(rng, 16, 64, 32, 32), normal(rng, 16, 64, 32, 32), normal(rng, 64)
    groups = x.reshape(16, 8, -1)
    m, r = groups.mean(-1), 1 / np.sqrt(groups.var(-1) + F32(1e-5))
    slope, input, mean, rstd, weight = device(g, x, m, r, w)

    def theirs() -> Any:
        centred = (groups - m[..., None]) * r[..., None]
        scaled = (g * w[:, None, None]).reshape(16, 8, -1)
        pull = centred * (scaled * centred).mean(-1, keepdims=True)
        found = r[..., None] * (scaled - scaled.mean(-1, keepdims=True) - pull)
        by_weight = (g * centred.reshape(g.shape)).sum((0, 2, 3))
        return found.reshape(x.shape), by_weight, g.sum((0, 2, 3))

    call = gives(lambda: f.group_norm_backward(slope, input, mean, rstd, 8, weight))
    case = "16 x 64 x 32 x 32 in 8 groups, float32"
    return Case("norms: group, gradient", case, call, lambda: theirs()[:1], 1e-3)


def scattered(rng: np.random.Generator) -> Case:
    x, s = np.zeros(SIZE, F32), normal(rng, *SIZE)
    at = np.argsort(rng.random(SIZE), -1)
    input, index, source = device(x, at, s)

    def theirs() -> Any:
        found = x.copy()
        np.put_along_axis(found, at, s, -1)
        return (found,)

    call = gives(lambda: f.scatter(input, -1, index, source))
    return Case("index: scatter along rows", LABEL, call, theirs, 0)


def scattered_sums(rng: np.random.Generator) -> Case:
    x, s, at = np.zeros(SIZE, F32), normal(rng, *SIZE), rng.integers(0, SIZE[0], SIZE)
    input, index, source = device(x, at, s)

    def theirs() -> Any:
        found = x.copy()
        np.add.at(found, (at, np.arange(SIZE[1])), s)
        return (found,)

    call = gives(lambda: f.scatter_add(input, 0, index, source))
    return Case("index: scatter_add down columns", LABEL, call, theirs, 1e-4)


def slices(rng: np.random.Generator) -> Case:
    x, s = np.zeros(SIZE, F32), normal(rng, *SIZE)
    at = rng.permutation(SIZE[0])
    table, index, source = device(x, at[:, None], s)

    def theirs() -> Any:
        x[at] = s
        return (x,)

    call = runs(lambda: ops.scatter_nd_update(table, index, source), table)
    return Case("index: scatter of rows", LABEL, call, theirs, 0)


def put(rng: np.random.Generator) -> Case:
    x, s = np.zeros(SIZE, F32), normal(rng, 1 << 18)
    at = rng.integers(0, 1024, (2, 1 << 18))
    table, first, second, source = device(x, *at, s)

    def theirs() -> Any:
        x[...] = 0
        np.add.at(x, tuple(at), s)
        return (x,)

    def call() -> None:
        ops.inplace_zero(table)
        ops.index_put_impl(table, [first, second], source, True, False)

    case = "262,144 of 1024 x 1024, float32"
    return Case("index: added at places", case, runs(call, table), theirs, 1e-4)


def copied_rows(rng: np.random.Generator) -> Case:
    x, s, at = normal(rng, *SIZE), normal(rng, 512, 1024), rng.permutation(1024)[:512]
    input, index, source = device(x, at, s)

    def theirs() -> Any:
        found = x.copy()
        found[at] = s
        return (found,)

    call = gives(lambda: f.index_copy(input, 0, index, source))
    return Case("index: rows copied", LABEL, call, theirs, 0)


def bags(rng: np.random.Generator) -> Case:
    table, at = normal(rng, 5000, 256), rng.integers(0, 5000, 4096)
    starts = np.arange(0, 4096, 8)
    input, weight, offsets = device(at, table, starts)

    def theirs() -> Any:
        return (np.add.reduceat(table[at], starts, 0) / F32(8),)

    call = gives(lambda: f.embedding_bag(input, weight, offsets))
    return Case("embedding of bags", "512 bags of 8 rows of 256, float32", call, theirs, 1e-4)


TIMES, BATCH, WIDTH = 32, 32, 256
LAYER = f"{TIMES} steps of {BATCH} x {WIDTH}, float32"


def layer(rng: np.random.Generator, gates: int) -> tuple[Any, ...]:
    x = normal(rng, TIMES, BATCH, WIDTH)
    weights = [normal(rng, gates * WIDTH, WIDTH) / F32(16) for _ in range(2)]
    return (x, *weights, *(normal(rng, gates * WIDTH) for _ in range(2)))


def gated(rng: np.random.Generator) -> Case:
    x, w, u, b, d = layer(rng, 3)
    input, *params = device(x, w, u, b, d)

    def theirs() -> Any:
        hidden, found = np.zeros((BATCH, WIDTH), F32), np.empty_like(x)
        for t, given in enumerate(x @ w.T + b):
            pulled = hidden @ u.T + d
            both = sigmoid(given[:, : 2 * WIDTH] + pulled[:, : 2 * WIDTH])
            r, z = np.split(both, 2, -1)
            new = np.tanh(given[:, 2 * WIDTH :] + r * pulled[:, 2 * WIDTH :])
            found[t] = hidden = (1 - z) * new + z * hidden
        return (found,)

    call = gives(lambda: f.gru(input, params))
    return Case("recurrent networks: gru", LAYER, call, theirs, 1e-3)


def memory_gradient(rng: np.random.Generator) -> Case:
    x, w, u, b, d = layer(rng, 4)
    g, zero = normal(rng, *x.shape), np.zeros((1, BATCH, WIDTH), F32)
    input, *params = device(x, w, u, b, d)
    slope, *states = device(g, zero, zero)
    kept = f.lstm(input, params, states, train=True)[-1]
    gates, hidden, cells = [], [zero[0]], [zero[0]]
    for given in x @ w.T + (b + d):
        i, keep, new, o = np.split(given + hidden[-1] @ u.T, 4, -1)
        i, keep, o, new = sigmoid(i), sigmoid(keep), sigmoid(o), np.tanh(new)
        cells.append(keep * cells[-1] + i * new)
        hidden.append(o * np.tanh(cells[-1]))
        gates.append((i, keep, new, o))

    def theirs() -> Any:
        dh = dc = zero[0]
        slopes = np.empty((TIMES, BATCH, 4 * WIDTH), F32)
        for t in reversed(range(TIMES)):
            i, keep, new, o = gates[t]
            dh, end = dh + g[t], np.tanh(cells[t + 1])
            dc = dc + dh * o * (1 - end * end)
            parts = (
                dc * new * i * (1 - i),
                dc * cells[t] * keep * (1 - keep),
                dc * i * (1 - new * new),
                dh * end * o * (1 - o),
            )
            slopes[t] = np.concatenate(parts, -1)
            dh, dc = slopes[t] @ u, dc * keep
        flat = slopes.reshape(-1, 4 * WIDTH)
        before = np.stack(hidden[:-1]).reshape(-1, WIDTH)
        return slopes @ w, flat.T @ x.reshape(-1, WIDTH), flat.T @ before, flat.sum(0)

    call = gives(lambda: f.lstm_backward(input, params, states, kept, slope))
    return Case("recurrent networks: lstm's gradient", LAYER, call, lambda: theirs()[:1], 1e-2)


def uniform(rng: np.random.Generator) -> Case:
    ours = gives(lambda: f.uniform(0, 1, SIZE, seed=3, offset=0, dtype="float32"))
    np.testing.assert_allclose(float(ours()[0].numpy().mean()), 0.5, atol=0.01)
    return Case("random: uniform", LABEL, timed(ours), timed(lambda: rng.random(SIZE, F32)), 0)


def bell(rng: np.random.Generator) -> Case:
    ours = gives(lambda: f.normal(0, 1, SIZE, seed=3, offset=0, dtype="float32"))
    np.testing.assert_allclose(float(ours()[0].numpy().std()), 1, atol=0.01)

    def theirs() -> Any:
        return rng.standard_normal(SIZE, F32)

    return Case("random: normal", LABEL, timed(ours), timed(theirs), 0)


def order(rng: np.random.Generator) -> Case:
    ours = gives(lambda: f.randperm(1 << 20, seed=3, offset=0))
    np.testing.assert_array_equal(np.sort(ours()[0].numpy()), np.arange(1 << 20))
    return Case("random: order", "1M", timed(ours), timed(lambda: rng.permutation(1 << 20)), 0)


def integers(rng: np.random.Generator) -> Case:
    ours = gives(lambda: f.randint(0, 1000, SIZE, seed=3, offset=0, dtype="int32"))
    np.testing.assert_allclose(float(ours()[0].numpy().mean()), 499.5, atol=5)

    def theirs() -> Any:
        return rng.integers(0, 1000, SIZE, np.int32)

    return Case("random: integers", "1024 x 1024, int32", timed(ours), timed(theirs), 0)


def matrix(rng: np.random.Generator, size: int) -> Any:
    return (normal(rng, size, size) / F32(size**0.5) + 2 * np.eye(size)).astype(F32)


def lapack(name: str, size: str, ours: Work, theirs: Work, close: float = 1e-3) -> Case:
    return Case(f"linear algebra: {name}", size, ours, theirs, close, "LAPACK in NumPy")


def triangle(rng: np.random.Generator) -> Case:
    a, b = np.triu(matrix(rng, 512)), normal(rng, 512, 512)
    left, right = device(a, b)
    call = gives(lambda: f.triangular_solve(right, left))
    return lapack("triangular", "512 x 512, float32", call, lambda: (np.linalg.solve(a, b),), 1e-2)


def inverse(rng: np.random.Generator) -> Case:
    a = matrix(rng, 512)
    (given,) = device(a)
    call = gives(lambda: f.inverse(given))
    return lapack("inverse", "512 x 512, float32", call, lambda: (np.linalg.inv(a),))


def determinant(rng: np.random.Generator) -> Case:
    a = matrix(rng, 1000)
    (given,) = device(a)
    call = gives(lambda: f.logdet(given))
    return lapack("logdet", "1000 x 1000, float32", call, lambda: (np.linalg.slogdet(a)[1],))


def orthogonal(rng: np.random.Generator) -> Case:
    a = matrix(rng, 512)
    (given,) = device(a)
    call = timed(gives(lambda: f.qr(given)))
    q, r = f.qr(given)
    np.testing.assert_allclose(q.numpy() @ r.numpy(), a, atol=1e-3)
    return lapack("qr", "512 x 512, float32", call, timed(lambda: np.linalg.qr(a)))


def singular(rng: np.random.Generator) -> Case:
    a = normal(rng, 256, 256)
    (given,) = device(a)

    def call() -> Any:
        return f.svd(given)[1]

    return lapack("svd", "256 x 256, float32", gives(call), lambda: (np.linalg.svd(a)[1],))


def singular_values(rng: np.random.Generator) -> Case:
    a = normal(rng, 512, 512)
    (given,) = device(a)
    values, u, v = (ap.empty(shape, F32) for shape in ((512,), (0,), (0,)))
    call = runs(lambda: ops.svd(given, False, False, values, u, v), values)
    case = "512 x 512, float32"
    return lapack("singular values", case, call, lambda: (np.linalg.svd(a, compute_uv=False),))


def distance_gradient(rng: np.random.Generator) -> Case:
    a, b, g = normal(rng, 256, 64), normal(rng, 256, 64), normal(rng, 256, 256)
    d = np.sqrt(((a[:, None] - b) ** 2).sum(-1))
    slope, first, second, lengths = device(g, a, b, d)

    def theirs() -> Any:
        return (((g / d)[..., None] * (a[:, None] - b)).sum(1),)

    call = gives(lambda: f.cdist_backward(slope, first, second, lengths))
    case = "256 by 256 of 64, float32"
    return Case("linear algebra: distances, gradient", case, call, theirs, 1e-3)


def cross(rng: np.random.Generator) -> Case:
    a, b = normal(rng, 350_000, 3), normal(rng, 350_000, 3)
    (first, second), out = device(a, b), ap.empty(a.shape, "float32")
    call = runs(lambda: ops.linalg_cross(first, second, -1, out), out)
    case = "350,000 x 3, float32"
    return Case("linear algebra: cross", case, call, lambda: (np.cross(a, b),), 1e-5)


FAMILIES: Families = (
    entropy, entropy_gradient, likelihood_gradient, absolute, absolute_gradient, smooth,
    smooth_gradient, binary, binary_gradient, divergence_gradient, alignment, momentum,
    unscale, batch_norm, batch_norm_gradient, group_norm_gradient, scattered, scattered_sums,
    slices, put, copied_rows, bags, gated, memory_gradient, uniform, bell,
    order, integers, triangle, inverse, determinant, orthogonal, singular, singular_values,
    distance_gradient, cross,
)  # fmt: skip


def rows(quick: bool) -> list[dict[str, object]]:
    """Rows for the table of all benchmarks; here less is faster."""
    return measured(FAMILIES, quick)


if __name__ == "__main__":
    sys.exit(main(rows))
