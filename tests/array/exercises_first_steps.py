# SPDX-License-Identifier: Apache-2.0
"""Exercises of a first course: making, choosing, changing and counting elements."""

from __future__ import annotations

import io

from exercise_list import exercise


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
