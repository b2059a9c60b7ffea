# SPDX-License-Identifier: Apache-2.0
"""Exercises in the manner of courses: automata, pictures, classes, matrices, signals, views."""

from __future__ import annotations

import itertools

from exercise_list import exercise


@exercise
def an_automaton_of_three_states(np):
    z = np.random.default_rng(2).integers(0, 3, (12, 12)).astype(np.int8)
    for _ in range(5):
        on = z == 1
        n = np.zeros_like(z)
        for step in itertools.product((-1, 0, 1), repeat=2):
            if step != (0, 0):
                n += np.roll(on, step, axis=(0, 1))
        new = np.zeros_like(z)
        new[(z == 0) & (n == 2)] = 1
        new[on] = 2
        z[...] = new
    return z, np.bincount(z.ravel(), minlength=3)


@exercise
def an_elementary_automaton(np):
    rule = np.array([int(c) for c in f"{110:08b}"[::-1]], dtype=np.uint8)
    row = np.zeros(31, np.uint8)
    row[-1] = 1
    rows = [row]
    for _ in range(15):
        r = rows[-1]
        rows.append(rule[4 * np.roll(r, 1) + 2 * r + np.roll(r, -1)])
    return np.stack(rows), np.vstack(rows).sum(axis=1)


@exercise
def an_ant_on_a_grid(np):
    g = np.ones((11, 11), bool)
    x, y, d = 5, 5, 0
    for _ in range(40):
        d = (d + 1) % 4 if g[x, y] else (d - 1) % 4
        g[x, y] = ~g[x, y]
        x, y = (x + (-1, 0, 1, 0)[d]) % 11, (y + (0, 1, 0, -1)[d]) % 11
    return g, np.count_nonzero(~g)


@exercise
def sand_that_slides(np):
    h = np.full((9, 9), 3)
    h[4, 4] = 12
    while (h > 3).any():
        t = h > 3
        h[t] -= 4
        h[1:] += t[:-1]
        h[:-1] += t[1:]
        h[:, 1:] += t[:, :-1]
        h[:, :-1] += t[:, 1:]
    return h, np.unique(h, return_counts=True)


@exercise
def two_substances_that_react(np):
    u, v = np.ones((18, 18)), np.zeros((18, 18))
    u[7:10, 7:10] = 0.5
    v[7:10, 7:10] = 0.25
    a, b = u[1:-1, 1:-1], v[1:-1, 1:-1]
    for _ in range(5):
        du = u[:-2, 1:-1] + u[1:-1, :-2] - 4 * a + u[1:-1, 2:] + u[2:, 1:-1]
        dv = v[:-2, 1:-1] + v[1:-1, :-2] - 4 * b + v[1:-1, 2:] + v[2:, 1:-1]
        reaction = a * b * b
        a += 0.16 * du - reaction + 0.035 * (1 - a)
        b += 0.08 * dv + reaction - 0.1 * b
        for f in (u, v):
            f[0, :], f[-1, :] = f[-2, :], f[1, :]
            f[:, 0], f[:, -1] = f[:, -2], f[:, 1]
    return u, v


@exercise
def the_median_of_neighbours(np):
    image = np.random.default_rng(6).random((14, 13)).astype(np.float32)
    image[[2, 5, 9], [1, 7, 3]] = 5
    p = np.pad(image, 1, "reflect")
    w = np.lib.stride_tricks.sliding_window_view(p, (3, 3)).reshape(14, 13, 9)
    return np.median(w, axis=-1), np.partition(w, 4, axis=-1)[..., 4]


@exercise
def errors_spread_to_neighbours(np):
    g = np.linspace(0, 1, 24).reshape(4, 6)
    h, w = g.shape
    for y, x in itertools.product(range(h), range(w)):
        old = g[y, x].item()
        g[y, x] = float(old > 0.5)
        error = old - g[y, x].item()
        if x + 1 < w:
            g[y, x + 1] += error * 7 / 16
        if y + 1 < h:
            g[y + 1, max(x - 1, 0) : x + 2] += error * 3 / 16
    return g


@exercise
def a_blur_by_sums_of_all_before(np):
    image = np.random.default_rng(10).integers(0, 9, (9, 11))
    s = np.zeros_like(image, shape=(10, 12))
    s[1:, 1:] = image.cumsum(0).cumsum(1)
    box = s[3:, 3:] - s[:-3, 3:] - s[3:, :-3] + s[:-3, :-3]
    return box / 9, box // 9, box % 9


@exercise
def regions_of_a_mask(np):
    m = np.random.default_rng(11).random((8, 8)) < 0.5
    label = np.where(m, np.arange(1, 65).reshape(8, 8), 0)
    for _ in range(12):
        p = np.pad(label, 1)
        parts = [p[1:-1, 1:-1], p[:-2, 1:-1], p[2:, 1:-1], p[1:-1, :-2], p[1:-1, 2:]]
        label = np.where(m, np.max(np.stack(parts), axis=0), 0)
    values, inverse = np.unique(label, return_inverse=True)
    return label, inverse, len(values) - 1


@exercise
def a_picture_mirrored_in_place(np):
    image = np.arange(24).reshape(4, 6)
    left, right = image[:, :3], image[:, ::-1][:, :3]
    right[...] = left
    upside = np.flipud(image)
    upside[0] *= 10
    np.rot90(image, 2)[1, 1] = -1
    return image, upside, left


@exercise
def sorted_downwards_in_place(np):
    x = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    x[::-1].sort()
    m = np.random.default_rng(3).random((3, 5))
    m[:, ::-1].sort(axis=1)
    first, last = x[0], x[::-1][0]
    return x, m, first, last


@exercise
def every_other_element_from_behind(np):
    x = np.arange(12.0)
    y = x[::-2]
    y += 100
    x[0] = -1
    x[::-1] += x
    return x, y, y.sum()


@exercise
def the_nearest_vote(np):
    rng = np.random.default_rng(20)
    x, label, q = rng.random((25, 3)), rng.integers(0, 3, 25), rng.random((6, 3))
    d = ((q[:, np.newaxis, :] - x[np.newaxis, :, :]) ** 2).sum(-1)
    votes = label[np.argsort(d, axis=1)[:, :5]]
    counts = np.apply_along_axis(np.bincount, 1, votes, minlength=3)
    best = np.argpartition(d, 5, axis=1)[:, :5]
    return votes, counts.argmax(1), np.sort(np.take_along_axis(d, best, 1), 1)


@exercise
def the_area_under_a_curve_of_hits(np):
    rng = np.random.default_rng(24)
    score, y = rng.random(40), rng.integers(0, 2, 40)
    order = np.argsort(-score)
    hits, misses = np.cumsum(y[order]), np.cumsum(1 - y[order])
    x = np.concatenate(([0.0], misses / misses[-1]))
    return np.trapezoid(np.concatenate([[0], hits / hits[-1]]), x)


@exercise
def groups_by_their_keys(np):
    k = np.array([3, 1, 2, 3, 1, 1, 2])
    v = np.array([10.0, 20, 30, 40, 50, 60, 70])
    keys, inverse, count = np.unique(k, return_inverse=True, return_counts=True)
    largest = np.full_like(v, -np.inf, shape=(3,))
    np.maximum.at(largest, inverse, v)
    product = np.ones(3)
    np.multiply.at(product, inverse, v)
    order = np.argsort(k, kind="stable")
    starts = np.flatnonzero(np.diff(k[order], prepend=-1))
    return (
        keys,
        np.bincount(inverse, weights=v) / count,
        largest,
        product,
        np.add.reduceat(v[order], starts),
    )


@exercise
def elimination_with_pivots(np):
    a = np.array([[2.0, 1, -1, 8], [-3, -1, 2, -11], [-2, 1, 2, -3]])
    for i in range(3):
        p = i + np.abs(a[i:, i]).argmax()
        a[[i, p]] = a[[p, i]]
        a[i] /= a[i, i]
        for k in range(3):
            if k != i:
                a[k] -= a[k, i] * a[i]
    return a


@exercise
def pages_ranked_by_links(np):
    links = np.array([[0.0, 0, 1, 0], [1, 0, 0, 0], [1, 1, 0, 1], [0, 1, 0, 0]])
    m = links / links.sum(0)
    r = np.full(4, 0.25)
    for _ in range(30):
        r = 0.85 * m @ r + 0.15 / len(m)
    return r, r.argsort()[::-1]


@exercise
def equations_by_iteration(np):
    a = np.array([[10.0, -1, 2, 0], [-1, 11, -1, 3], [2, -1, 10, -1], [0, 3, -1, 8]])
    b = np.array([6.0, 25, -11, 15])
    d = np.diag(a)
    rest = a - np.diagflat(d)
    x, y = np.zeros_like(b), np.zeros_like(b)
    for _ in range(15):
        x = (b - rest @ x) / d
        for i in range(4):
            y[i] = (b[i] - a[i, :i] @ y[:i] - a[i, i + 1 :] @ y[i + 1 :]) / a[i, i]
    return x, y, np.linalg.cond(a), [np.linalg.norm(a, o) for o in (1, 2, np.inf, "fro", "nuc")]


@exercise
def an_inverse_by_cofactors(np):
    a = np.array([[1.0, 2, 3], [0, 4, 5], [1, 0, 6]])
    cofactors = np.empty_like(a)
    for i, j in itertools.product(range(3), repeat=2):
        minor = np.delete(np.delete(a, i, axis=0), j, axis=1)
        cofactors[i, j] = (-1) ** (i + j) * np.linalg.det(minor)
    return cofactors.T / np.linalg.det(a)


@exercise
def turns_in_space(np):
    t = np.linspace(0, np.pi, 5)
    c, s, z, o = np.cos(t), np.sin(t), np.zeros_like(t), np.ones_like(t)
    rows = [np.stack(row, -1) for row in ((c, -s, z), (s, c, z), (z, z, o))]
    r = np.stack(rows, axis=-2)
    return r @ np.array([1.0, 2, 3]), np.linalg.det(r), r.swapaxes(1, 2) @ r, np.linalg.inv(r)


@exercise
def a_convolution_by_transforms(np):
    rng = np.random.default_rng(33)
    a, b = rng.random(13), rng.random(7)
    c = np.fft.irfft(np.fft.rfft(a, 19) * np.fft.rfft(b, 19), 19)
    return c, np.convolve(a, b), np.fft.ifft(np.fft.fft(a, 32) * np.fft.fft(b, 32)).real[:19]


@exercise
def a_signal_beside_itself(np):
    x = np.cos(np.arange(40) * 0.5)
    x = x - x.mean()
    r = np.correlate(x, x, "full")[x.size - 1 :]
    r /= r[0]
    frames = np.lib.stride_tricks.sliding_window_view(x, 8)[::4]
    return r, np.abs(np.fft.rfft(frames * np.hanning(8), axis=-1))


@exercise
def pendulums(np):
    s = np.array([[1.0, 0.0], [0.5, 0.1], [2.0, -1]])
    seen = []
    for _ in range(20):
        angle, speed = s.T
        s = s + 0.01 * np.column_stack([speed, -9.81 * np.sin(angle)])
        seen.append(s)
    t = np.stack(seen)
    return t[-1], np.ptp(t, axis=0), t[..., 0].max(axis=0)


@exercise
def quantiles_with_weights(np):
    x, w = np.array([1.0, 2, 3, 4]), np.array([4.0, 3, 2, 1])
    mean = np.average(x, weights=w)
    spread = np.average((x - mean) ** 2, weights=w)
    return mean, spread, np.quantile(x, [0.25, 0.5], method="inverted_cdf", weights=w)


@exercise
def steps_to_one(np):
    n = np.arange(1, 20)
    steps = np.zeros_like(n)
    while np.any(n > 1):
        n, steps = np.where(n <= 1, n, np.where(n % 2 == 0, n // 2, 3 * n + 1)), steps + (n > 1)
    return steps, steps.argmax() + 1


@exercise
def a_code_of_single_changes(np):
    i = np.arange(16, dtype=np.uint8)
    g = i ^ (i >> 1)
    bits = np.unpackbits(g[:, np.newaxis], axis=1)
    return g, bits, np.bitwise_count(g[1:] ^ g[:-1]), np.packbits(bits, axis=1).ravel()


@exercise
def bins_by_a_rule(np):
    x = np.random.default_rng(44).normal(100, 20, 200)
    counts, edges = np.histogram(x, bins="auto")
    return counts, edges, np.histogram_bin_edges(x, "fd")


@exercise
def a_fit_with_its_errors(np):
    x = np.linspace(0, 3, 12)
    y = 2 * x**2 - x + np.sin(9 * x) / 10
    p, spread = np.polyfit(x, y, 2, cov=True)
    return p, np.sqrt(np.diag(spread)), np.polyval(p, x)
