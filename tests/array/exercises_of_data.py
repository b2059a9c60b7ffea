# SPDX-License-Identifier: Apache-2.0
"""Exercises with data: statistics, learning, signals, images, motion."""

from __future__ import annotations

import itertools

from exercise_list import exercise


@exercise
def a_line_through_points(np):
    rng = np.random.default_rng(35)
    x = np.linspace(0, 10, 50)
    y = 3 * x + 2 + rng.normal(0, 0.5, 50)
    a = np.vstack([x, np.ones(len(x))]).T
    return np.linalg.lstsq(a, y, rcond=None)[0], np.polyfit(x, y, 1)


@exercise
def principal_components(np):
    x = np.random.default_rng(36).standard_normal((50, 4)) @ np.diag([3.0, 2.0, 1.0, 0.5])
    x = x - x.mean(axis=0)
    _, s, vt = np.linalg.svd(x, full_matrices=False)
    return np.abs(x @ vt.T[:, :2]), s**2 / np.sum(s**2)


@exercise
def components_by_eigenvectors(np):
    x = np.random.default_rng(36).standard_normal((50, 4))
    _, vectors = np.linalg.eigh(np.cov(x.T))
    return np.abs(x @ vectors[:, ::-1][:, :2])


@exercise
def clusters_by_means(np):
    rng = np.random.default_rng(37)
    x = np.concatenate([rng.normal(c, 0.3, (30, 2)) for c in ((0, 0), (3, 3), (0, 4))])
    centres = x[[0, 30, 60]]
    for _ in range(5):
        d = ((x[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        label = d.argmin(axis=1)
        centres = np.array([x[label == k].mean(axis=0) for k in range(3)])
    return centres, label


@exercise
def a_softmax_of_rows(np):
    z = np.random.default_rng(38).normal(0, 5, (4, 6))
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@exercise
def a_logistic_regression(np):
    rng = np.random.default_rng(39)
    x = np.c_[np.ones(40), rng.normal(0, 1, (40, 2))]
    y = (x[:, 1] + x[:, 2] > 0).astype(float)
    w = np.zeros(3)
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ w))
        w -= 0.1 * x.T @ (p - y) / len(y)
    return w


@exercise
def a_network_of_two_layers(np):
    rng = np.random.default_rng(40)
    x, y = rng.normal(0, 1, (20, 3)), rng.normal(0, 1, (20, 1))
    w1, w2 = rng.normal(0, 1, (3, 5)), rng.normal(0, 1, (5, 1))
    for _ in range(10):
        h = np.maximum(x @ w1, 0)
        error = h @ w2 - y
        g2 = h.T @ error / len(x)
        g1 = x.T @ ((error @ w2.T) * (h > 0)) / len(x)
        w1, w2 = w1 - 0.05 * g1, w2 - 0.05 * g2
    return w1, w2, (error**2).mean()


@exercise
def a_recurrent_cell(np):
    rng = np.random.default_rng(41)
    x, w, u = rng.normal(0, 1, (6, 4)), rng.normal(0, 1, (4, 3)), rng.normal(0, 1, (3, 3))
    h = np.zeros(3)
    for row in x:
        h = np.tanh(row @ w + h @ u)
    return h


@exercise
def labels_as_columns(np):
    labels = np.array([2, 0, 1, 2, 3])
    return np.eye(4)[labels]


@exercise
def a_confusion_matrix(np):
    rng = np.random.default_rng(42)
    truth, guess = rng.integers(0, 3, 50), rng.integers(0, 3, 50)
    m = np.zeros((3, 3), dtype=int)
    np.add.at(m, (truth, guess), 1)
    return m, m.diagonal() / m.sum(axis=1), np.trace(m) / m.sum()


@exercise
def square_roots_by_newton(np):
    a = np.arange(1, 11, dtype=float)
    x = a.copy()
    for _ in range(8):
        x = 0.5 * (x + a / x)
    return x


@exercise
def the_mandelbrot_set(np):
    x, y = np.linspace(-2, 0.5, 30), np.linspace(-1.25, 1.25, 24)
    c = x + y[:, None] * 1j
    n, z = np.zeros(c.shape, dtype=np.int64), np.zeros(c.shape, dtype=np.complex128)
    for _ in range(20):
        inside = z.real**2 + z.imag**2 < 4
        n[inside] += 1
        z[inside] = z[inside] ** 2 + c[inside]
    return n


@exercise
def a_low_pass_by_transforms(np):
    t = np.linspace(0, 1, 200, endpoint=False)
    signal = np.sin(2 * np.pi * 5 * t) + 0.5 * np.sin(2 * np.pi * 50 * t)
    spectrum = np.fft.rfft(signal)
    spectrum[np.fft.rfftfreq(200, 1 / 200) > 20] = 0
    return np.fft.irfft(spectrum, 200)


@exercise
def heat_in_a_plate(np):
    u = np.zeros((12, 12))
    u[0] = 100
    for _ in range(30):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u


@exercise
def fibonacci_by_a_power(np):
    return np.linalg.matrix_power(np.array([[1, 1], [1, 0]]), 20)


@exercise
def equations_solved(np):
    a = np.array([[3, 1, -1], [2, -2, 4], [-1, 0.5, -1]])
    b = np.array([1, -2, 0])
    x = np.linalg.solve(a, b)
    return x, np.allclose(a @ x, b)


@exercise
def the_grey_of_an_image_made_even(np):
    image = np.random.default_rng(43).integers(50, 120, (32, 32))
    counts, edges = np.histogram(image.flatten(), bins=256, range=(0, 255))
    cdf = counts.cumsum()
    cdf = 255 * cdf / cdf[-1]
    return np.interp(image.flatten(), edges[:-1], cdf).reshape(image.shape)


@exercise
def lengths_of_runs(np):
    z = np.array([1, 1, 1, 0, 0, 2, 2, 2, 2, 5])
    places = np.flatnonzero(np.diff(z) != 0) + 1
    starts = np.concatenate([np.array([0]), places])
    return z[starts], np.diff(np.append(starts, len(z)))


@exercise
def distances_on_a_sphere(np):
    where = np.radians(np.array([[52.5, 13.4], [48.9, 2.4], [51.5, -0.1]]))
    lat, lon = where[:, 0], where[:, 1]
    dlat, dlon = lat[:, None] - lat, lon[:, None] - lon
    a = np.sin(dlat / 2) ** 2 + np.cos(lat[:, None]) * np.cos(lat) * np.sin(dlon / 2) ** 2
    return 2 * 6371 * np.arcsin(np.sqrt(a))


@exercise
def columns_standardised(np):
    x = np.random.default_rng(44).normal(5, 3, (20, 4))
    z = (x - x.mean(0)) / x.std(0, ddof=1)
    return z, np.corrcoef(z, rowvar=False)


@exercise
def the_largest_eigenvalue_by_iteration(np):
    a = np.array([[2.0, 1, 0], [1, 3, 1], [0, 1, 4]])
    v = np.ones(3)
    for _ in range(60):
        v = a @ v
        v = v / np.linalg.norm(v)
    return float(v @ a @ v)


@exercise
def a_chain_at_rest(np):
    p = np.array([[0.9, 0.075, 0.025], [0.15, 0.8, 0.05], [0.25, 0.25, 0.5]])
    return np.array([1.0, 0, 0]) @ np.linalg.matrix_power(p, 100)


@exercise
def an_orthonormal_basis(np):
    a = np.random.default_rng(45).normal(0, 1, (4, 4))
    q = np.zeros_like(a)
    for i in range(4):
        v = a[:, i] - q[:, :i] @ (q[:, :i].T @ a[:, i])
        q[:, i] = v / np.linalg.norm(v)
    return q, np.round(q.T @ q, 10)


@exercise
def primes_by_a_sieve(np):
    sieve = np.ones(100, dtype=bool)
    sieve[:2] = False
    for i in range(2, 10):
        if sieve[i]:
            sieve[i * i :: i] = False
    return np.where(sieve)[0]


@exercise
def marks_of_points(np):
    points = np.array([95, 82, 67, 54, 71, 88])
    grades = np.digitize(points, bins=[60, 70, 80, 90])
    chosen = np.select([points >= 90, points >= 70], [1, 2], default=3)
    return grades, chosen, np.bincount(grades, minlength=5)


@exercise
def ranks_of_values(np):
    x = np.array([30, 10, 20, 50, 40])
    ranks = np.empty_like(x)
    ranks[x.argsort()] = np.arange(len(x))
    return ranks, x.argsort().argsort()


@exercise
def the_largest_fall_of_a_price(np):
    price = np.cumprod(1 + np.random.default_rng(46).normal(0, 0.02, 200))
    top = np.maximum.accumulate(price)
    return ((price - top) / top).min(), np.argmin(price - top)


@exercise
def gaps_in_measurements(np):
    x = np.array([1.0, np.nan, 3.0, np.nan, 5.0, 6.0])
    missing = np.isnan(x)
    index = np.arange(len(x))
    x[missing] = np.interp(index[missing], index[~missing], x[~missing])
    return x, np.nanmean(np.where(missing, np.nan, x))


@exercise
def rows_and_columns_by_name(np):
    a = np.arange(30).reshape(5, 6)
    a[np.ix_([0, 2], [1, 3, 5])] = -1
    return a, a[np.ix_([1, 4], [0, 2])]


@exercise
def a_spiral(np):
    a = np.arange(20).reshape(4, 5)
    found = []
    while a.size:
        found.append(a[0])
        a = np.rot90(a[1:])
    return np.concatenate(found)


@exercise
def a_magic_square(np):
    m = np.array([[2, 7, 6], [9, 5, 1], [4, 3, 8]])
    sums = np.concatenate([m.sum(0), m.sum(1), [m.trace(), np.fliplr(m).trace()]])
    return (sums == sums[0]).all()


@exercise
def edges_of_an_image(np):
    image = np.random.default_rng(47).random((12, 12))
    kernel = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    out = np.zeros((10, 10))
    for i, j in itertools.product(range(3), range(3)):
        out += kernel[i, j] * image[i : i + 10, j : j + 10]
    return out


@exercise
def a_colour_image_in_grey(np):
    image = np.random.default_rng(48).integers(0, 256, (8, 8, 3)).astype(np.uint8)
    return np.dot(image[..., :3], [0.299, 0.587, 0.114]).astype(np.uint8)


@exercise
def an_integral_and_a_slope(np):
    x = np.linspace(0, np.pi, 101)
    return np.trapezoid(np.sin(x), x), np.gradient(np.sin(x), x)


@exercise
def names_sorted_by_two_keys(np):
    age, score = np.array([30, 25, 30, 22]), np.array([5, 9, 7, 9])
    return np.lexsort((score, age))


@exercise
def words_in_capitals(np):
    return np.char.upper(np.array(["tea", "coffee"]))


@exercise
def the_days_of_july(np):
    return np.arange("2016-07", "2016-08", dtype="datetime64[D]")


@exercise
def a_function_for_each_element(np):
    return np.vectorize(lambda x: x * 2 if x > 2 else x)(np.arange(5))


@exercise
def roots_of_a_polynomial(np):
    return np.sort(np.roots(np.array([1.0, -6, 11, -6])))


@exercise
def a_walk_at_random(np):
    steps = np.where(np.random.default_rng(49).random(1000) < 0.5, -1, 1)
    walk = steps.cumsum()
    return walk.min(), walk.max(), (np.abs(walk) >= 10).argmax()


@exercise
def the_area_of_a_polygon(np):
    x, y = np.array([0.0, 4, 4, 0]), np.array([0.0, 0, 3, 3])
    return 0.5 * np.abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))


@exercise
def a_table_of_products(np):
    n = np.arange(1, 10)
    return np.outer(n, n), n[:, None] * n, np.multiply.outer(n, n)


@exercise
def bodies_that_attract(np):
    rng = np.random.default_rng(50)
    p, v, m = rng.normal(0, 1, (5, 3)), np.zeros((5, 3)), rng.uniform(1, 2, 5)
    for _ in range(10):
        d = p[None] - p[:, None]
        r = np.sqrt((d**2).sum(-1) + 0.01)
        v += 0.01 * (m[None, :, None] * d / r[..., None] ** 3).sum(axis=1)
        p += 0.01 * v
    return p, 0.5 * (m * (v**2).sum(1)).sum()


@exercise
def likelihoods_added_up_in_logarithms(np):
    x = np.random.default_rng(51).normal(0, 3, (4, 5))
    return np.logaddexp(x[0], x[1]), np.logaddexp.reduce(x, axis=1)


@exercise
def samples_of_a_covariance(np):
    c = np.array([[2.0, 0.5], [0.5, 1.0]])
    lower = np.linalg.cholesky(c)
    return np.random.default_rng(52).standard_normal((10, 2)) @ lower.T
