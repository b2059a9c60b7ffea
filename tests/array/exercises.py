# SPDX-License-Identifier: Apache-2.0
"""Exercises of ordinary NumPy courses, each written for NumPy: only the arrays are switched.

A function is one exercise. It takes ``np``, which is NumPy, or NumPy with functions that make
arrays making tensors, and returns what has to be equal.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable
from typing import Any

__all__ = ["EXERCISES"]

EXERCISES: dict[str, Callable[[Any], Any]] = {}


def exercise(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    EXERCISES[function.__name__] = function
    return function


# First steps.


@exercise
def a_vector_of_zeros_but_the_fifth(np):
    z = np.zeros(10)
    z[4] = 1
    return z


@exercise
def a_vector_reversed(np):
    return np.arange(50)[::-1]


@exercise
def indices_of_what_is_not_zero(np):
    return np.nonzero(np.array([1, 2, 0, 0, 4, 0]))


@exercise
def smallest_and_largest(np):
    z = np.random.default_rng(1).random((10, 10))
    return z.min(), z.max(), z.mean()


@exercise
def a_border_of_ones(np):
    z = np.ones((10, 10))
    z[1:-1, 1:-1] = 0
    return z


@exercise
def zeros_around_an_array(np):
    return np.pad(np.ones((5, 5)), pad_width=1, mode="constant", constant_values=0)


@exercise
def numbers_below_the_diagonal(np):
    return np.diag(1 + np.arange(4), k=-1)


@exercise
def a_chess_board(np):
    z = np.zeros((8, 8), dtype=int)
    z[1::2, ::2] = 1
    z[::2, 1::2] = 1
    return z, np.tile(np.array([[0, 1], [1, 0]]), (4, 4))


@exercise
def the_place_of_the_hundredth_element(np):
    return np.unravel_index(99, (6, 7, 8))


@exercise
def numbers_between_three_and_eight_negated(np):
    z = np.arange(11)
    z[(z > 3) & (z < 8)] *= -1
    return z


@exercise
def whole_parts_in_five_ways(np):
    z = np.random.default_rng(2).uniform(0, 10, 10)
    return z - z % 1, z // 1, np.floor(z), z.astype(int), np.trunc(z)


@exercise
def rounded_away_from_zero(np):
    z = np.random.default_rng(3).uniform(-10, 10, 10)
    return np.copysign(np.ceil(np.abs(z)), z), np.where(z > 0, np.ceil(z), np.floor(z))


@exercise
def values_that_two_arrays_share(np):
    rng = np.random.default_rng(4)
    return np.intersect1d(rng.integers(0, 10, 10), rng.integers(0, 10, 10))


@exercise
def an_expression_without_temporaries(np):
    a, b = np.ones(3) * 1, np.ones(3) * 2
    np.add(a, b, out=b)
    np.divide(a, 2, out=a)
    np.negative(a, out=a)
    np.multiply(a, b, out=a)
    return a


@exercise
def rows_of_numbers(np):
    z = np.zeros((5, 5))
    z += np.arange(5)
    return z


@exercise
def an_array_of_a_generator(np):
    return np.fromiter((x * x for x in range(10)), dtype=float, count=-1)


@exercise
def ends_left_out(np):
    return np.linspace(0, 1, 11, endpoint=False)[1:]


@exercise
def sorted_in_place(np):
    z = np.random.default_rng(5).random(10)
    z.sort()
    return z


@exercise
def cartesian_to_polar(np):
    z = np.random.default_rng(6).random((10, 2))
    x, y = z[:, 0], z[:, 1]
    return np.sqrt(x**2 + y**2), np.arctan2(y, x)


@exercise
def the_largest_becomes_zero(np):
    z = np.random.default_rng(7).random(10)
    z[z.argmax()] = 0
    return z


@exercise
def a_cauchy_matrix(np):
    x = np.arange(8)
    y = x + 0.5
    return np.linalg.det(1.0 / np.subtract.outer(x, y))


@exercise
def the_closest_value(np):
    z = np.arange(100)
    v = 42.3
    return z[(np.abs(z - v)).argmin()]


@exercise
def distances_of_all_points(np):
    z = np.random.default_rng(8).random((100, 2))
    x, y = np.atleast_2d(z[:, 0], z[:, 1])
    return np.sqrt((x - x.T) ** 2 + (y - y.T) ** 2)


@exercise
def floats_to_integers_in_place(np):
    z = (np.random.default_rng(9).random(10) * 100).astype(np.float32)
    y = z.view(np.int32)
    y[:] = z
    return y


@exercise
def a_text_file_with_gaps(np):
    text = io.StringIO("1, 2, 3, 4, 5\n6,  ,  , 7, 8\n ,  , 9,10,11\n")
    return np.genfromtxt(text, delimiter=",", dtype=np.int64)


@exercise
def places_and_values_in_turn(np):
    z = np.arange(9).reshape(3, 3)
    return [(index, int(value)) for index, value in np.ndenumerate(z)]


@exercise
def a_gaussian_of_two_dimensions(np):
    x, y = np.meshgrid(np.linspace(-1, 1, 10), np.linspace(-1, 1, 10))
    d = np.sqrt(x * x + y * y)
    return np.exp(-((d - 0.0) ** 2 / (2.0 * 1.0**2)))


@exercise
def ones_at_random_places(np):
    z = np.zeros((10, 10))
    np.put(z, np.random.default_rng(10).choice(range(100), 3, replace=False), 1)
    return z


@exercise
def the_mean_of_each_row_subtracted(np):
    x = np.random.default_rng(11).random((5, 10))
    return x - x.mean(axis=1, keepdims=True)


@exercise
def sorted_by_a_column(np):
    z = np.random.default_rng(12).integers(0, 10, (6, 3))
    return z[z[:, 1].argsort(kind="stable")]


@exercise
def a_column_of_zeros(np):
    z = np.random.default_rng(13).integers(0, 3, (3, 10))
    return (~z.any(axis=0)).any()


@exercise
def the_nearest_value_by_flat(np):
    z = np.random.default_rng(14).uniform(0, 1, 10)
    return z.flat[np.abs(z - 0.5).argmin()]


@exercise
def a_row_and_a_column_by_an_iterator(np):
    a, b = np.arange(3).reshape(3, 1), np.arange(3).reshape(1, 3)
    total = 0
    for x, y in np.nditer([a, b]):
        total += int(x) * int(y)
    return total


@exercise
def one_more_for_each_index(np):
    z = np.ones(10)
    i = np.random.default_rng(15).integers(0, len(z), 20)
    np.add.at(z, i, 1)
    return z, np.ones(10) + np.bincount(i, minlength=10)


@exercise
def values_added_up_by_index(np):
    x = np.array([1, 2, 3, 4, 5, 6])
    i = np.array([1, 3, 9, 3, 4, 1])
    return np.bincount(i, x)


@exercise
def colours_of_an_image(np):
    image = np.random.default_rng(16).integers(0, 4, (16, 16, 3)).astype(np.uint8)
    return len(np.unique(image.reshape(-1, 3), axis=0))


@exercise
def sums_over_the_last_two_dimensions(np):
    a = np.random.default_rng(17).integers(0, 10, (3, 4, 3, 4))
    return a.sum(axis=(-2, -1)), a.reshape((*a.shape[:-2], -1)).sum(axis=-1)


@exercise
def means_of_groups(np):
    rng = np.random.default_rng(18)
    d, s = rng.uniform(0, 1, 100), rng.integers(0, 10, 100)
    return np.bincount(s, weights=d) / np.bincount(s)


@exercise
def the_diagonal_of_a_product(np):
    rng = np.random.default_rng(19)
    a, b = rng.uniform(0, 1, (5, 5)), rng.uniform(0, 1, (5, 5))
    return np.diag(np.dot(a, b)), np.sum(a * b.T, axis=1), np.einsum("ij,ji->i", a, b)


@exercise
def zeros_between_the_elements(np):
    z = np.array([1, 2, 3, 4, 5])
    nz = 3
    z0 = np.zeros(len(z) + (len(z) - 1) * nz)
    z0[:: nz + 1] = z
    return z0


@exercise
def a_mask_over_a_picture(np):
    return np.ones((5, 5, 3)) * (2 * np.ones((5, 5)))[:, :, None]


@exercise
def two_rows_swapped(np):
    a = np.arange(25).reshape(5, 5)
    a[[0, 1]] = a[[1, 0]]
    return a


@exercise
def segments_of_triangles(np):
    faces = np.random.default_rng(20).integers(0, 100, (10, 3))
    f = np.roll(faces.repeat(2, axis=1), -1, axis=1)
    f = f.reshape(len(f) * 3, 2)
    f = np.sort(f, axis=1)
    g = f.view(dtype=[("p0", f.dtype), ("p1", f.dtype)])
    return len(np.unique(g))


@exercise
def an_array_of_its_counts(np):
    c = np.bincount(np.array([1, 1, 2, 3, 4, 4, 6]))
    return np.repeat(np.arange(len(c)), c)


@exercise
def averages_of_a_sliding_window(np):
    z = np.arange(20)
    total = np.cumsum(z, dtype=float)
    total[3:] = total[3:] - total[:-3]
    return total[2:] / 3, np.convolve(z, np.ones(3) / 3, mode="valid")


@exercise
def windows_of_a_vector(np):
    return np.lib.stride_tricks.sliding_window_view(np.arange(10), window_shape=3)


@exercise
def signs_changed_in_place(np):
    z = np.random.default_rng(21).integers(0, 2, 100).astype(bool)
    np.logical_not(z, out=z)
    x = np.random.default_rng(22).uniform(-1.0, 1.0, 100)
    np.negative(x, out=x)
    return z, x


@exercise
def distances_of_points_from_lines(np):
    rng = np.random.default_rng(23)
    p0, p1, p = (rng.uniform(-10, 10, (10, 2)) for _ in range(3))
    t = p1 - p0
    length = (t**2).sum(axis=1)
    u = -((p0[:, 0] - p[..., 0]) * t[:, 0] + (p0[:, 1] - p[..., 1]) * t[:, 1]) / length
    u = u.reshape(len(u), 1)
    d = p0 + u * t - p
    return np.sqrt((d**2).sum(axis=1))


@exercise
def a_part_around_an_element(np):
    z = np.random.default_rng(24).integers(0, 10, (10, 10))
    r = np.ones((5, 5), dtype=z.dtype) * 0
    position, shape = (1, 1), (5, 5)
    start = [max(p - n // 2, 0) for p, n in zip(position, shape, strict=True)]
    stop = [min(p + n // 2 + n % 2, m) for p, n, m in zip(position, shape, z.shape, strict=True)]
    to = [max(n // 2 - p, 0) for p, n in zip(position, shape, strict=True)]
    part = z[start[0] : stop[0], start[1] : stop[1]]
    r[to[0] : to[0] + part.shape[0], to[1] : to[1] + part.shape[1]] = part
    return r


@exercise
def the_rank_of_a_matrix(np):
    z = np.random.default_rng(25).uniform(0, 1, (10, 10))
    _, s, _ = np.linalg.svd(z)
    return np.sum(s > 1e-10), np.linalg.matrix_rank(z)


@exercise
def the_most_frequent_value(np):
    return np.bincount(np.random.default_rng(26).integers(0, 10, 50)).argmax()


@exercise
def blocks_of_a_matrix(np):
    z = np.random.default_rng(27).integers(0, 5, (10, 10))
    n = 3
    i = 1 + (z.shape[0] - 3)
    return np.lib.stride_tricks.as_strided(z, shape=(i, i, n, n), strides=z.strides + z.strides)


@exercise
def products_of_matrices_and_vectors_added_up(np):
    m, v = np.ones((10, 20, 20)), np.ones((10, 20, 1))
    return np.tensordot(m, v, axes=[[0, 2], [0, 1]])


@exercise
def sums_of_blocks(np):
    z = np.ones((16, 16))
    k = 4
    rows = np.add.reduceat(z, np.arange(0, z.shape[0], k), axis=0)
    return np.add.reduceat(rows, np.arange(0, z.shape[1], k), axis=1)


@exercise
def the_game_of_life(np):
    z = np.random.default_rng(28).integers(0, 2, (20, 20))
    for _ in range(10):
        n = (z[0:-2, 0:-2] + z[0:-2, 1:-1] + z[0:-2, 2:] + z[1:-1, 0:-2] + z[1:-1, 2:]
             + z[2:, 0:-2] + z[2:, 1:-1] + z[2:, 2:])  # fmt: skip
        birth = (n == 3) & (z[1:-1, 1:-1] == 0)
        survive = ((n == 2) | (n == 3)) & (z[1:-1, 1:-1] == 1)
        z[...] = 0
        z[1:-1, 1:-1][birth | survive] = 1
    return z


@exercise
def the_largest_values(np):
    z = np.random.default_rng(29).permutation(1000)
    return z[np.argsort(z)[-5:]], np.sort(z[np.argpartition(-z, 5)[:5]])


@exercise
def a_cartesian_product(np):
    arrays = [np.array([1, 2, 3]), np.array([4, 5]), np.array([6, 7])]
    shape = tuple(len(x) for x in arrays)
    ix = np.indices(shape, dtype=int).reshape(len(arrays), -1).T
    for n, _ in enumerate(arrays):
        ix[:, n] = arrays[n][ix[:, n]]
    return ix


@exercise
def a_record_array(np):
    z = np.array(
        [("Hello", 2.5, 3), ("World", 3.6, 2)], dtype=[("name", "U8"), ("x", float), ("n", int)]
    )
    return z["x"]


@exercise
def a_cube_in_three_ways(np):
    x = np.random.default_rng(30).random(1000)
    return np.power(x, 3), x * x * x, np.einsum("i,i,i->i", x, x, x)


@exercise
def rows_with_elements_of_other_rows(np):
    rng = np.random.default_rng(31)
    a, b = rng.integers(0, 5, (8, 3)), rng.integers(0, 5, (2, 2))
    c = a[..., np.newaxis, np.newaxis] == b
    return np.where(c.any((3, 1)).all(1))[0]


@exercise
def rows_of_different_values(np):
    z = np.random.default_rng(32).integers(0, 2, (20, 3))
    e = np.all(z[:, 1:] == z[:, :-1], axis=1)
    return z[~e], z[z.max(axis=1) != z.min(axis=1), :]


@exercise
def integers_in_binary(np):
    i = np.array([0, 1, 2, 3, 15, 16, 32, 64, 128], dtype=np.uint8)
    b = ((i.reshape(-1, 1) & (2 ** np.arange(8))) != 0).astype(int)
    return b[:, ::-1], np.unpackbits(i[:, np.newaxis], axis=1)


@exercise
def inner_outer_sum_and_product_by_einsum(np):
    a, b = np.random.default_rng(33).uniform(0, 1, (2, 10))
    return (
        np.einsum("i->", a),
        np.einsum("i,i->i", a, b),
        np.einsum("i,i", a, b),
        np.einsum("i,j->ij", a, b),
    )


@exercise
def points_at_one_distance_on_a_path(np):
    phi = np.arange(0, 10 * np.pi, 0.5)
    x, y = 2 * phi * np.cos(phi), 2 * phi * np.sin(phi)
    dr = (np.diff(x) ** 2 + np.diff(y) ** 2) ** 0.5
    r = np.zeros_like(x)
    r[1:] = np.cumsum(dr)
    r_int = np.linspace(0, r.max(), 100)
    return np.interp(r_int, r, x), np.interp(r_int, r, y)


@exercise
def draws_of_a_multinomial(np):
    x = np.array([[1.0, 0.0, 3.0, 8.0], [2.0, 0.0, 1.0, 1.0], [1.5, 2.5, 1.0, 0.0]])
    m = np.logical_and.reduce(np.mod(x, 1) == 0, axis=-1)
    m &= x.sum(axis=-1) == 4
    return x[m]


@exercise
def confidence_by_drawing_again(np):
    rng = np.random.default_rng(34)
    x = rng.standard_normal(100)
    means = x[rng.integers(0, x.size, (500, x.size))].mean(axis=1)
    return np.percentile(means, [2.5, 97.5])


# Data.


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
