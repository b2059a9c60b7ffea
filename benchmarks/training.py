# SPDX-License-Identifier: Apache-2.0
"""Families of operators of training beside NumPy: `python -m benchmarks.training`.

As `benchmarks.inference`: one row per family, on about a million elements, beside the form that a
NumPy program has, both on one thread, the least CPU time of the process, and results that were
compared before. Gradients of attention and of convolution stand beside their own forward instead
and may take three times as long.
"""

from __future__ import annotations

import sys
from typing import Any

from benchmarks.inference import (
    F32,
    Case,
    Families,
    Work,
    device,
    main,
    measured,
    runs,
)  # limits threads

# ruff: isort: split
import numpy as np

import aclnn_py as ap

f: Any = ap.functional
ops: Any = ap.ops  # whose arguments are too many to be written out
MOST_OF_FORWARD = 3
SIZE = 1024, 1024
LABEL = "1024 x 1024, float32"


def normal(rng: np.random.Generator, *shape: int) -> Any:
    return rng.standard_normal(shape).astype(F32)


def gives(call: Work) -> Work:
    """The call and its wait; the tensor it returns, or the first of them, is the answer."""

    def run() -> tuple[ap.Tensor, ...]:
        found = call()
        ap.synchronize()
        return (found if isinstance(found, ap.Tensor) else found[0],)

    return run


def timed(call: Work) -> Work:
    """The work alone, of which the results are compared elsewhere."""

    def run() -> tuple[()]:
        call()
        return ()

    return run


def activation(rng: np.random.Generator) -> Case:
    x, g = normal(rng, *SIZE), normal(rng, *SIZE)
    input, slope = device(x, g)

    def theirs() -> Any:
        s = 1 / (1 + np.exp(-x))
        return (g * s * (1 + x * (1 - s)),)

    call = gives(lambda: f.silu_backward(slope, input))
    return Case("activations: silu's gradient", LABEL, call, theirs, 1e-4)


def mish(rng: np.random.Generator) -> Case:
    x = normal(rng, *SIZE)
    (input,) = device(x)

    def theirs() -> Any:
        return (x * np.tanh(np.log1p(np.exp(x))),)

    return Case("activations: mish", LABEL, gives(lambda: f.mish(input)), theirs, 1e-4)


def elu_gradient(rng: np.random.Generator) -> Case:
    g, x = normal(rng, *SIZE), normal(rng, *SIZE)
    slope, input = device(g, x)

    def theirs() -> Any:
        return (g * np.where(x > 0, F32(1), np.exp(x)),)

    call = gives(lambda: f.elu_backward(slope, input))
    return Case("activations: elu's gradient", LABEL, call, theirs, 1e-4)


def loss(rng: np.random.Generator) -> Case:
    shares = rng.uniform(0.1, 1, SIZE).astype(F32)
    logs = np.log(rng.uniform(0.1, 1, SIZE)).astype(F32)
    input, target = device(logs, shares)

    def theirs() -> Any:
        return ((shares * (np.log(shares) - logs)).mean(),)

    return Case("losses: kl_div", LABEL, gives(lambda: f.kl_div(input, target)), theirs, 1e-4)


def loss_gradient(rng: np.random.Generator) -> Case:
    x, y = normal(rng, *SIZE), normal(rng, *SIZE)
    input, target, one = device(x, y, np.ones((), F32))

    def theirs() -> Any:
        return ((x - y) * F32(2 / x.size),)

    call = gives(lambda: f.mse_loss_backward(one, input, target))
    return Case("losses: mse_loss's gradient", LABEL, call, theirs, 1e-9)


def norm(rng: np.random.Generator) -> Case:
    x, g, weight = normal(rng, *SIZE), normal(rng, *SIZE), normal(rng, SIZE[1])
    mean, rstd = x.mean(-1, keepdims=True), 1 / x.std(-1, keepdims=True)
    given = device(g, x, mean, rstd, weight)

    def theirs() -> Any:
        centred = (x - mean) * rstd
        scaled = g * weight
        pull = centred * (scaled * centred).mean(-1, keepdims=True)
        return rstd * (scaled - scaled.mean(-1, keepdims=True) - pull), (g * centred).sum(0)

    call = gives(lambda: f.layer_norm_backward(*given[:2], SIZE[1:], *given[2:], given[4]))
    return Case("norms: layer_norm's gradient", LABEL, call, lambda: theirs()[:1], 1e-3)


def softmax(rng: np.random.Generator) -> Case:
    x, g = normal(rng, *SIZE), normal(rng, *SIZE)
    y = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
    slope, output = device(g, y)

    def theirs() -> Any:
        return (y * (g - (g * y).sum(-1, keepdims=True)),)

    call = gives(lambda: f.softmax_backward(slope, output))
    return Case("softmax's gradient", LABEL, call, theirs, 1e-5)


def pooling(rng: np.random.Generator) -> Case:
    x = normal(rng, 4, 64, 64, 64)
    (input,) = device(x)

    def theirs() -> Any:
        return (x.reshape(4, 64, 32, 2, 32, 2).max((3, 5)),)

    call = gives(lambda: f.max_pool2d(input, 2))
    return Case("pooling: largest of 2 x 2", "4 x 64 x 64 x 64, float32", call, theirs, 0)


def pooling_gradient(rng: np.random.Generator) -> Case:
    x, g = normal(rng, 4, 64, 64, 64), normal(rng, 4, 64, 32, 32)
    input, slope = device(x, g)

    def theirs() -> Any:
        return ((g / F32(4)).repeat(2, -1).repeat(2, -2),)

    call = gives(lambda: f.avg_pool2d_backward(slope, input, 2))
    return Case("pooling: gradient of 2 x 2", "4 x 64 x 64 x 64, float32", call, theirs, 1e-6)


def padding(rng: np.random.Generator) -> Case:
    x = normal(rng, 4, 64, 64, 64)
    (input,) = device(x)

    def theirs() -> Any:
        return (np.pad(x, [(0, 0), (0, 0), (2, 2), (2, 2)], mode="reflect"),)

    call = gives(lambda: f.pad(input, [2, 2, 2, 2], "reflect"))
    return Case("padding by reflection", "4 x 64 x 64 x 64, float32", call, theirs, 0)


def resizing(rng: np.random.Generator) -> Case:
    x = normal(rng, 4, 64, 32, 32)
    (input,) = device(x)

    def theirs() -> Any:
        place = np.clip((np.arange(64) + 0.5) / 2 - 0.5, 0, None)
        low = place.astype(int)
        high, share = np.minimum(low + 1, 31), (place - low).astype(F32)
        rows = x[:, :, low] * (1 - share)[:, None] + x[:, :, high] * share[:, None]
        return (rows[..., low] * (1 - share) + rows[..., high] * share,)

    call = gives(lambda: f.interpolate(input, (64, 64), mode="bilinear"))
    return Case("resizing, bilinear", "4 x 64 x 32 x 32 to 64 x 64, float32", call, theirs, 1e-5)


def convolution(rng: np.random.Generator) -> Case:
    x, w, g = normal(rng, 4, 64, 32, 32), normal(rng, 64, 64, 3, 3), normal(rng, 4, 64, 32, 32)
    input, weight, slope = device(x, w, g)
    forward = gives(lambda: f.conv2d(input, weight, padding=1))
    backward = gives(lambda: f.conv2d_backward(slope, input, weight, padding=1))
    agree(backward, adjoint_of_convolution(g, w))
    case = "4 x 64 x 32 x 32 by 64 x 64 x 3 x 3, float32"
    return Case(
        "convolution's gradients",
        case,
        timed(backward),
        timed(forward),
        0,
        "its forward",
        MOST_OF_FORWARD,
    )


def adjoint_of_convolution(g: Any, w: Any) -> Any:
    """The gradient by the input of a convolution of 3 x 3 that keeps the size."""
    wide = np.pad(g, [(0, 0), (0, 0), (1, 1), (1, 1)])
    total = np.zeros((g.shape[0], w.shape[1], *g.shape[2:]), F32)
    for row, column in np.ndindex(3, 3):
        part = wide[:, :, row : row + g.shape[2], column : column + g.shape[3]]
        turned = w[:, :, 2 - row, 2 - column]
        total += np.einsum("nohw,oi->nihw", part, turned, optimize=True)
    return total


def agree(call: Work, expected: Any) -> None:
    """A gradient is compared with NumPy's before it stands beside its forward."""
    found = call()[0].numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-2)


def embedding(rng: np.random.Generator) -> Case:
    g, index = normal(rng, 4096, 256), rng.integers(0, 5000, 4096)
    slope, chosen = device(g, index)

    def theirs() -> Any:
        table = np.zeros((5000, 256), F32)
        np.add.at(table, index, g)
        return (table,)

    call = gives(lambda: f.embedding_backward(slope, chosen, 5000))
    return Case("embedding's gradient", "4,096 rows of 256, float32", call, theirs, 1e-4)


def dropout(rng: np.random.Generator) -> Case:
    x = np.ones(SIZE, F32)
    (input,) = device(x)
    ours = gives(lambda: f.dropout(input, 0.5, seed=3, offset=0))

    def theirs() -> Any:
        return (x * (rng.random(SIZE, F32) >= F32(0.5)) * F32(2),)

    # Their numbers differ: what agrees is the share of those that stay.
    means = float(ours()[0].numpy().mean()), float(theirs()[0].mean())
    np.testing.assert_allclose(means, 1, atol=0.01)
    return Case("dropout", LABEL, timed(ours), timed(theirs), 0)


def optimizer(rng: np.random.Generator) -> Case:
    x, g = normal(rng, *SIZE), normal(rng, *SIZE)
    var, m, v, grad = device(x, np.zeros_like(x), np.zeros_like(x), g)
    (step,) = device(np.zeros(1, F32))
    w, first, second = x.copy(), np.zeros_like(x), np.zeros_like(x)
    rates = {"lr": 1e-3, "weight_decay": 0.01}

    def theirs() -> Any:
        first[...] = F32(0.9) * first + F32(0.1) * g
        second[...] = F32(0.999) * second + F32(0.001) * g * g
        w[...] = w * F32(1 - 1e-5)
        w[...] -= F32(1e-3 / 0.1) * first / (np.sqrt(second / F32(0.001)) + F32(1e-8))
        return (w,)

    call = gives(lambda: f.adamw_(var, m, v, grad, step, **rates))
    return Case("optimizers: AdamW", LABEL, call, theirs, 1e-3)


def scatter(rng: np.random.Generator) -> Case:
    x, index = normal(rng, *SIZE), rng.integers(0, 512, 1024)
    zeros = np.zeros((512, 1024), F32)
    base, place, source = device(zeros, index, x)

    def theirs() -> Any:
        table = zeros.copy()
        np.add.at(table, index, x)
        return (table,)

    call = gives(lambda: f.index_add(base, 0, place, source))
    return Case("index: rows added", LABEL, call, theirs, 1e-4)


def median(rng: np.random.Generator) -> Case:
    x = normal(rng, 1024, 1023)
    (input,) = device(x)
    values, places = ap.empty((1024,), "float32"), ap.empty((1024,), "int64")
    call = runs(lambda: ops.median_dim(input, -1, False, values, places), values)
    case = "1024 x 1023, float32"
    return Case("median of rows", case, call, lambda: (np.median(x, -1),), 0)


def extremes(rng: np.random.Generator) -> Case:
    x = normal(rng, *SIZE)
    (input,) = device(x)
    call = gives(lambda: f.amax(input, (-1,)))
    return Case("largest of rows", LABEL, call, lambda: (x.max(-1),), 0)


def boxes(rng: np.random.Generator) -> Case:
    corner, size = rng.uniform(0, 50, (2048, 2)), rng.uniform(1, 50, (2048, 2))
    x = np.concatenate([corner, corner + size], 1).astype(F32)
    a, b = x[:1024], x[1024:]
    mine, others = device(a, b)
    out = ap.empty((1024, 1024), "float32")

    def theirs() -> Any:
        sides = np.minimum(a[:, None, 2:], b[None, :, 2:]) - np.maximum(
            a[:, None, :2], b[None, :, :2]
        )
        both = np.maximum(sides, 0).prod(-1)
        areas = [(y[:, 2:] - y[:, :2]).prod(-1) for y in (a, b)]
        return (both / (areas[0][:, None] + areas[1] - both),)

    call = runs(lambda: ops.iou(mine, others, "iou", 0.0, False, out), out)
    return Case("boxes: overlaps", "1,024 by 1,024 boxes, float32", call, theirs, 1e-5)


def recurrent(rng: np.random.Generator) -> Case:
    steps, batch, width = 32, 32, 256
    x = normal(rng, steps, batch, width)
    w, u = (normal(rng, 4 * width, width) / F32(16) for _ in range(2))
    b, c = normal(rng, 4 * width), normal(rng, 4 * width)
    input, *params = device(x, w, u, b, c)

    def theirs() -> Any:
        hidden, cell = np.zeros((2, batch, width), F32)
        found = np.empty_like(x)
        for t, given in enumerate(x @ w.T + (b + c)):
            i, keep, g, o = np.split(given + hidden @ u.T, 4, -1)
            i, keep, o = (1 / (1 + np.exp(-gate)) for gate in (i, keep, o))
            cell = keep * cell + i * np.tanh(g)
            hidden = o * np.tanh(cell)
            found[t] = hidden
        return (found,)

    call = gives(lambda: f.lstm(input, params))
    case = f"lstm, {steps} steps of {batch} x {width}, float32"
    return Case("recurrent networks", case, call, theirs, 1e-3)


def attention(rng: np.random.Generator) -> Case:
    heads, tokens, width = 8, 256, 64
    q, k, v, g = (normal(rng, 1, tokens, heads * width) for _ in range(4))
    query, key, value, slope = device(*(x.astype(np.float16) for x in (q, k, v, g)))
    shape = {"num_heads": heads, "scale": width**-0.5}
    forward = gives(lambda: f.flash_attention(query, key, value, **shape))
    kept = f.flash_attention(query, key, value, **shape)

    def split(x: Any) -> Any:
        return x.astype(np.float16).astype(F32).reshape(tokens, heads, width).swapaxes(0, 1)

    def by_query() -> Any:
        a, b, c, d = map(split, (q, k, v, g))
        scores = a @ b.swapaxes(1, 2) * F32(shape["scale"])
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        pull = d @ c.swapaxes(1, 2)
        slopes = shares * (pull - (pull * shares).sum(-1, keepdims=True))
        found = slopes @ b * F32(shape["scale"])
        return found.swapaxes(0, 1).reshape(1, tokens, heads * width)

    given = (slope, query, key, value, *kept)
    backward = gives(lambda: f.flash_attention_backward(*given, **shape))
    agree(backward, by_query())
    case = f"{heads} heads, {tokens} x {tokens} x {width}, float16"
    return Case(
        "attention's gradients",
        case,
        timed(backward),
        timed(forward),
        0,
        "its forward",
        MOST_OF_FORWARD,
    )


def conversion(rng: np.random.Generator) -> Case:
    x = normal(rng, *SIZE)
    (input,) = device(x)

    def theirs() -> Any:
        return (x.astype(np.float16),)

    call = gives(lambda: f.cast(input, "float16"))
    return Case("conversion to float16", LABEL, call, theirs, 0)


def linear_algebra(rng: np.random.Generator) -> Case:
    a, b = normal(rng, 512, 64), normal(rng, 512, 64)
    first, second = device(a, b)

    def theirs() -> Any:
        return (np.sqrt(((a[:, None] - b) ** 2).sum(-1)),)

    call = gives(lambda: f.cdist(first, second))
    return Case("linear algebra: distances", "512 by 512 of 64, float32", call, theirs, 1e-4)


FAMILIES: Families = (
    activation, mish, elu_gradient, loss, loss_gradient, norm, softmax, pooling, pooling_gradient,
    padding, resizing, convolution, embedding, dropout, optimizer, scatter, median, extremes, boxes,
    recurrent, attention, conversion, linear_algebra,
)  # fmt: skip


def rows(quick: bool) -> list[dict[str, object]]:
    """Rows for the table of all benchmarks; here less is faster."""
    return measured(FAMILIES, quick)


if __name__ == "__main__":
    sys.exit(main(rows))
