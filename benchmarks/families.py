# SPDX-License-Identifier: Apache-2.0
"""Operators of training and images beside NumPy: `python -m benchmarks.families`.

As `benchmarks.inference`: one row per family on about a million elements, beside the
straightforward form in NumPy, both on one thread, the least CPU time of the process, and results
that were compared before.
"""

from __future__ import annotations

import sys
from typing import Any

from benchmarks.inference import F32, Case, Families, device, main, measured, runs

# ruff: isort: split
import numpy as np

import aclnn_py as ap


def images(*arrays: Any) -> list[ap.Tensor]:
    return [tensor.with_format("NCHW") for tensor in device(*arrays)]


def empty_image(*shape: int) -> ap.Tensor:
    return ap.empty(shape, F32, format="NCHW")


def linear_matrix(size: int, count: int) -> Any:
    """The share of each element, by column, in each place."""
    places = np.clip((np.arange(count) + 0.5) * (size / count) - 0.5, 0, size - 1)
    return np.maximum(0, 1 - abs(places[:, None] - np.arange(size))).astype(F32)


def resizing(rng: np.random.Generator) -> Case:
    slopes, weights = rng.standard_normal((4, 4, 256, 256)).astype(F32), linear_matrix(128, 256)
    (dy,), dx = images(slopes), empty_image(4, 4, 128, 128)
    sizes = ([256, 256], [4, 4, 128, 128])

    def theirs() -> Any:
        return (weights.T @ (slopes @ weights),)

    call = runs(lambda: ap.ops.upsample_bilinear2d_backward(dy, *sizes, False, 0, 0, dx), dx)
    return Case("resizing, gradient", "4 x 4 x 256 x 256, bilinear", call, theirs, 1e-4)


def sampling(rng: np.random.Generator) -> Case:
    x = rng.standard_normal((4, 16, 128, 128)).astype(F32)
    places = (rng.random((4, 128, 128, 2)) * 1.9 - 0.95).astype(F32)
    image, grid = device(x, places)
    y = ap.empty(x.shape, F32)

    def theirs() -> Any:
        at = ((places + 1) * 128 - 1) / 2
        low = np.floor(at).astype(np.int64)
        part, n, last = at - low, np.arange(4)[:, None, None], x.transpose(0, 2, 3, 1)
        found = np.zeros(last.shape, F32)
        for right in (0, 1):
            for down in (0, 1):
                column, row = low[..., 0] + right, low[..., 1] + down
                share = abs(1 - right - part[..., 0]) * abs(1 - down - part[..., 1])
                found += last[n, row, column] * share[..., None]
        return (found.transpose(0, 3, 1, 2),)

    call = runs(lambda: ap.ops.grid_sampler2_d(image, grid, 0, 0, False, y), y)
    return Case("grid sampling", "4 x 16 x 128 x 128, bilinear", call, theirs, 1e-4)


def average(rng: np.random.Generator) -> Case:
    slopes = rng.standard_normal((4, 16, 64, 64)).astype(F32)
    shape = (4, 16, 128, 128)
    (dy,), x, dx = images(slopes), empty_image(*shape), empty_image(*shape)

    def theirs() -> Any:
        return (np.repeat(np.repeat(slopes / F32(4), 2, 2), 2, 3),)

    arrays = ([2, 2], [2, 2], [0, 0], False, True, 0, 0)
    call = runs(lambda: ap.ops.avg_pool2d_backward(dy, x, *arrays, dx), dx)
    return Case("average pool, gradient", "4 x 16 x 128 x 128, windows of 2 x 2", call, theirs, 0)


def cells(rng: np.random.Generator) -> Case:
    slopes = rng.standard_normal((4, 16, 8, 8)).astype(F32)
    shape = (4, 16, 128, 128)
    (dy,), x, dx = images(slopes), empty_image(*shape), empty_image(*shape)

    def theirs() -> Any:
        return (np.repeat(np.repeat(slopes / F32(256), 16, 2), 16, 3),)

    call = runs(lambda: ap.ops.adaptive_avg_pool2d_backward(dy, x, dx), dx)
    return Case("adaptive pool, gradient", "4 x 16 x 128 x 128, 8 x 8 cells", call, theirs, 0)


def margins(rng: np.random.Generator) -> Case:
    slopes = rng.standard_normal((4, 16, 132, 132)).astype(F32)
    (dy,), x, dx = device(slopes), *(ap.empty((4, 16, 128, 128), F32) for _ in range(2))

    def theirs() -> Any:
        down = slopes[:, :, 2:-2].copy()
        down[:, :, 1:3] += slopes[:, :, 1::-1]
        down[:, :, -3:-1] += slopes[:, :, :-3:-1]
        across = down[..., 2:-2].copy()
        across[..., 1:3] += down[..., 1::-1]
        across[..., -3:-1] += down[..., :-3:-1]
        return (across,)

    call = runs(lambda: ap.ops.reflection_pad2d_backward(dy, x, [2, 2, 2, 2], dx), dx)
    return Case("margins, gradient", "4 x 16 x 132 x 132, reflected", call, theirs, 1e-5)


def columns(rng: np.random.Generator) -> Case:
    given = rng.standard_normal((4, 16 * 9, 64 * 64)).astype(F32)
    (matrix,), y = device(given), ap.empty((4, 16, 64, 64), F32)

    def theirs() -> Any:
        parts = given.reshape(4, 16, 3, 3, 64, 64)
        found = np.zeros((4, 16, 66, 66), F32)
        for i in range(3):
            for j in range(3):
                found[:, :, i : i + 64, j : j + 64] += parts[:, :, i, j]
        return (found[:, :, 1:65, 1:65],)

    arrays = ([64, 64], [3, 3], [1, 1], [1, 1], [1, 1])
    call = runs(lambda: ap.ops.im2col_backward(matrix, *arrays, y), y)
    return Case("columns added up", "4 x 16 x 64 x 64, windows of 3 x 3", call, theirs, 1e-5)


def recurrent(rng: np.random.Generator) -> Case:
    times, batch, size = 64, 64, 256
    x = rng.standard_normal((times, batch, size)).astype(F32)
    weights = [rng.uniform(-0.1, 0.1, (4 * size, size)).astype(F32) for _ in range(2)]
    biases = [rng.uniform(-0.1, 0.1, 4 * size).astype(F32) for _ in range(2)]
    params, states = device(*weights, *biases), device(*np.zeros((2, 1, batch, size), F32))
    (input,), y = device(x), ap.empty(x.shape, F32)
    ends, unkept = [ap.empty((1, batch, size), F32) for _ in range(2)], [[] for _ in range(7)]

    def theirs() -> Any:
        products = x @ weights[0].T + biases[0]
        h = c = np.zeros((batch, size), F32)
        rows = []
        for product in products:
            gates = product + h @ weights[1].T + biases[1]
            new = np.tanh(gates[:, 2 * size : 3 * size])
            i, f, _, o = np.split(1 / (1 + np.exp(-gates)), 4, axis=1)
            c = f * c + i * new
            h = o * np.tanh(c)
            rows.append(h)
        return (np.stack(rows),)

    flags = (None, True, 1, 0.0, False, False, False)
    call = runs(lambda: ap.ops.lstm(input, params, states, *flags, y, *ends, *unkept), y)
    return Case("recurrent network", "LSTM, 64 times of 64 x 256", call, theirs, 1e-4)


def repeated(rng: np.random.Generator) -> Case:
    x = np.repeat(rng.integers(0, 1000, 250_000), 4).astype(np.int32)
    (given,), kept = device(x), ap.zeros(x.shape, "int32")
    inverse, counts = (ap.zeros((len(x),), "int64") for _ in range(2))

    def theirs() -> Any:
        starts = np.flatnonzero(np.concatenate([[True], x[1:] != x[:-1]]))
        values, lengths = np.zeros(len(x), np.int32), np.zeros(len(x), np.int64)
        values[: len(starts)] = x[starts]
        lengths[: len(starts)] = np.diff(starts, append=len(x))
        return values, lengths

    arrays = (False, True, 1000, kept, inverse, counts)
    call = runs(lambda: ap.ops.unique_consecutive(given, *arrays), kept, counts)
    return Case("runs of equal elements", "1M integers", call, theirs, 0)


def chosen_attention(rng: np.random.Generator) -> Case:
    q, dy = (rng.standard_normal((1, 128, 16, 512)).astype(np.float16) for _ in range(2))
    k, scale, far = rng.standard_normal((1, 1024, 1, 512)).astype(np.float16), 0.05, 2**31 - 1
    places = np.full((1, 128, 1, 1024), -1, np.int32)
    places[0, :, 0, :512] = np.argsort(rng.random((128, 1024)))[:, :512]
    query, key, slopes, chosen = device(q, k, dy, places)
    out, dq, dk = (ap.empty(shape, "float16") for shape in (q.shape, q.shape, k.shape))
    highest, total = (ap.empty((1, 1, 128, 16), F32) for _ in range(2))
    ap.ops.sparse_flash_attention(
        query, key, key, chosen, None, None, None, None, None, scale, 1, "BSND", "BSND", 0, far,
        far, 2, True, out, highest, total,
    )  # fmt: skip

    def theirs() -> Any:
        wide, keys, g = (x.astype(F32) for x in (q[0], k[0, :, 0], dy[0]))
        by_query, by_key = np.empty_like(wide), np.zeros_like(keys)
        for t in range(128):
            met = places[0, t, 0, :512]
            scores = scale * wide[t] @ keys[met].T
            p = np.exp(scores - scores.max(-1, keepdims=True))
            p /= p.sum(-1, keepdims=True)
            along = (g[t] * (p @ keys[met])).sum(-1, keepdims=True)
            slope = scale * p * (g[t] @ keys[met].T - along)
            by_query[t] = slope @ keys[met]
            by_key[met] += slope.T @ wide[t] + p.T @ g[t]
        return by_query[None], by_key[None, :, None]

    def call() -> None:
        ap.ops.sparse_flash_attention_grad(
            query, key, None, chosen, slopes, out, highest, total, None, None, None, None, scale, 1,
            "BSND", 0, far, far, False, dq, dk, None, None, None,
        )  # fmt: skip

    name = "attention over chosen keys, back"
    return Case(name, "128 x 16 x 512, 512 of 1,024 keys", runs(call, dq, dk), theirs, 2e-2)


def volumes(rng: np.random.Generator) -> Case:
    slopes = rng.standard_normal((2, 4, 64, 64, 32)).astype(F32)
    deep, across = linear_matrix(32, 64), linear_matrix(16, 32)
    shape = (2, 4, 32, 32, 16)
    dy, dx = (t.with_format("NCDHW") for t in (*device(slopes), ap.empty(shape, F32)))

    def theirs() -> Any:
        flat = deep.T @ (slopes @ across)
        return ((deep.T @ flat.reshape(8, 64, -1)).reshape(shape),)

    sizes = ([64, 64, 32], list(shape))
    call = runs(lambda: ap.ops.upsample_trilinear3d_backward(dy, *sizes, False, 0, 0, 0, dx), dx)
    return Case("volumes, gradient", "2 x 4 x 64 x 64 x 32, trilinear", call, theirs, 1e-4)


def channels(rng: np.random.Generator) -> Case:
    x = rng.standard_normal((4, 64, 64, 64)).astype(F32)
    (image,), y = images(x), empty_image(4, 64, 1, 1)
    call = runs(lambda: ap.ops.global_max_pool(image, y), y)
    case = "4 x 64 x 64 x 64, the largest"
    return Case("whole channels", case, call, lambda: (x.max((2, 3), keepdims=True),), 0)


def chunks(rng: np.random.Generator) -> Case:
    given = [rng.standard_normal((64, 512)).astype(F32) for _ in range(32)]
    tensors, y = list(device(*given)), ap.empty((8, 8 * 512 * 32), F32)

    def theirs() -> Any:
        return (np.concatenate([x.reshape(8, -1) for x in given], 1),)

    call = runs(lambda: ap.ops.chunk_cat(tensors, 0, 8, y), y)
    return Case("chunks side by side", "32 of 64 x 512, 8 chunks", call, theirs, 0)


def roundings(rng: np.random.Generator) -> Case:
    x = (rng.standard_normal(1 << 20) * 5).astype(F32)
    (given, how), y = device(x, np.array([2], np.int8)), ap.empty(x.shape, F32)
    call = runs(lambda: ap.ops.foreach_round_off_number([given], how, [y]), y)
    return Case("roundings", "1M, down", call, lambda: (np.floor(x),), 0)


def scalings(rng: np.random.Generator) -> Case:
    x = rng.random((1000, 1000)).astype(F32)
    (cost,), y, size = device(x), ap.empty(x.shape, F32), F32(len(x))

    def theirs() -> Any:
        powers, of_columns, change = np.exp(x), np.ones(len(x), F32), 1.0
        while change > 1e-4:
            of_rows = 1 / (size * ((of_columns * powers).sum(1) + F32(1e-8)))
            new = 1 / (size * ((of_rows[:, None] * powers).sum(0) + F32(1e-8)))
            change, of_columns = float(abs(new - of_columns).mean()), new
        return (of_columns * powers * of_rows[:, None],)

    call = runs(lambda: ap.ops.sinkhorn(cost, 1e-4, y), y)
    return Case("rows and columns of one sum", "1,000 x 1,000", call, theirs, 1e-4)


def factors(rng: np.random.Generator) -> Case:
    root = rng.standard_normal((1000, 1000))
    x = (root @ root.T / 1000 + np.eye(1000)).astype(F32)
    (matrix,), y = device(x), ap.empty(x.shape, F32)
    call = runs(lambda: ap.ops.linalg_cholesky(matrix, False, y), y)
    case = "Cholesky, 1,000 x 1,000"
    return Case("factors", case, call, lambda: (np.linalg.cholesky(x),), 1e-4, "LAPACK in NumPy")


FAMILIES: Families = (
    *(resizing, volumes, sampling, average, cells, channels, margins, columns),
    *(recurrent, repeated, chosen_attention, chunks, roundings, scalings, factors),
)


def rows(quick: bool) -> list[dict[str, object]]:
    """Rows for the table of all benchmarks; here less is faster."""
    return measured(FAMILIES, quick)


if __name__ == "__main__":
    sys.exit(main(rows))
