# SPDX-License-Identifier: Apache-2.0
"""Exercises with windows, blocks, sums along axes and several arrays."""

from __future__ import annotations

from exercise_list import exercise


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
