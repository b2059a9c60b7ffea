# SPDX-License-Identifier: Apache-2.0
"""Draws of a generator: NumPy's arguments, shapes, dtypes, errors and distributions."""

from __future__ import annotations

import numpy as np
import pytest

import aclnn_py as ap

N = 20000


@pytest.fixture
def rng(device) -> ap.Generator:
    return ap.Generator().manual_seed(11)


def test_the_arguments_are_numpys(rng) -> None:
    for make in (rng, np.random.default_rng(1)):
        assert make.random(size=(2, 1), dtype="float32").dtype == np.float32
        assert make.standard_normal((3,), "float64").shape == (3,)
        assert make.normal(loc=1, scale=2, size=4).shape == (4,)
        assert make.uniform(low=1, high=2, size=(0, 4)).shape == (0, 4)
        assert make.exponential(scale=2, size=1).dtype == np.float64
        assert make.integers(low=3, high=9, size=5, dtype="int8", endpoint=True).dtype == np.int8
        assert make.permutation(4, axis=0).dtype == np.int64
        assert make.choice(a=3, size=2, replace=True, p=None, axis=0).shape == (2,)


def test_distributions(rng) -> None:
    unit = rng.random(N).numpy()
    assert unit.dtype == np.float64 and 0 <= unit.min() < 0.01 and 0.99 < unit.max() < 1
    for drawn, mean, deviation in (
        (rng.random((N,), "float32"), 0.5, 1 / 12**0.5),
        (rng.uniform(-3, 5, N), 1, 8 / 12**0.5),
        (rng.standard_normal(N), 0, 1),
        (rng.normal(10, 2, size=N, dtype="float32"), 10, 2),
        (rng.exponential(3, N), 3, 3),
        (rng.integers(10, size=N), 4.5, (99 / 12) ** 0.5),
        (rng.integers(-2, 2, N, endpoint=True), 0, 2**0.5),
    ):
        values = drawn.numpy().astype(np.float64)
        assert abs(values.mean() - mean) < 0.05 * deviation
        assert abs(values.std() - deviation) < 0.05 * deviation
    counts = np.bincount(rng.integers(1, 7, N).numpy())
    assert counts[0] == 0 and len(counts) == 7 and (abs(counts[1:] - N / 6) < 300).all()
    found, counts = np.unique(rng.integers(-3, 3, N).numpy(), return_counts=True)
    assert found.tolist() == [-3, -2, -1, 0, 1, 2]
    assert abs(counts / N - 1 / 6).max() < 4 * (5 / 36 / N) ** 0.5


def test_parameters_are_broadcast(rng) -> None:
    means = ap.from_numpy(np.array([-100.0, 0, 100]))
    drawn = rng.normal(means, 1.0).numpy()
    assert drawn.shape == (3,) and (abs(drawn - means.numpy()) < 10).all()
    drawn = rng.uniform(means, [[101], [102]], size=(2, 3)).numpy()
    assert (drawn >= means.numpy()).all() and (drawn < [[101], [102]]).all()
    assert rng.exponential([1.0, 2.0]).shape == (2,)
    assert rng.random().shape == () and rng.integers(3).shape == ()
    assert rng.random(0).shape == (0,)


def test_orders_and_choices(rng) -> None:
    order = rng.permutation(50).numpy()
    assert sorted(order) == list(range(50)) and list(order) != list(range(50))
    x = ap.from_numpy(np.arange(12).reshape(4, 3))
    mixed = rng.permutation(x).numpy()
    assert sorted(map(tuple, mixed)) == [tuple(row) for row in x.numpy()]
    assert sorted(rng.permutation(x, axis=1).numpy()[0]) == [0, 1, 2]
    assert sorted(rng.choice(x[:, 0], 4, replace=False).tolist()) == [0, 3, 6, 9]
    assert rng.choice(x, (2, 5), axis=1).shape == (4, 2, 5)
    drawn = rng.choice(3, N, p=[0.5, 0.0, 0.5]).numpy()
    counts = np.bincount(drawn, minlength=3)
    assert counts[1] == 0 and abs(counts[0] - N / 2) < 400


def test_a_seed_repeats_its_draws(device) -> None:
    def draws() -> list[object]:
        rng = ap.Generator().manual_seed(5)
        return [rng.random(5).tolist(), rng.integers(9, size=3).tolist(), rng.random(2).tolist()]

    first = draws()
    assert first == draws() and first[0][:2] != first[2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.integers(5, 5), "low >= high"),
        (lambda r: r.integers(0, 300, dtype="int8"), "out of bounds for int8"),
        (lambda r: r.normal(0, -1), "scale < 0"),
        (lambda r: r.choice(3, 4, replace=False), "larger sample"),
        (lambda r: r.choice(3, 2, p=[0.5, 0.5]), "same size"),
        (lambda r: r.choice(2, 2, p=[0.5, 0.6]), "sum is 1"),
        (lambda r: r.choice(0, 2), "cannot be empty"),
    ],
)
def test_mistakes_are_numpys(rng, call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(rng)
    with pytest.raises(TypeError, match="float64, float32"):
        rng.random(3, "int32")


def test_a_shuffle_moves_rows_in_place(device) -> None:
    rng = ap.Generator().manual_seed(5)
    x = ap.from_numpy(np.arange(20).reshape(10, 2))
    backwards = x[::-1]
    assert rng.shuffle(x) is None
    assert sorted(x[:, 0].tolist()) == list(range(0, 20, 2))
    assert x[:, 0].tolist() != list(range(0, 20, 2))
    assert (x[:, 1] - x[:, 0] == 1).all() and (backwards == x[::-1]).all()
    rng.shuffle(x, axis=1)
    with pytest.raises(TypeError, match="expected a Tensor"):
        rng.shuffle([1, 2])


def test_what_numpys_generator_refuses_is_refused(device) -> None:
    rng = ap.Generator().manual_seed(5)
    for call, error in (
        (lambda: rng.uniform(5, 2), ValueError),
        (lambda: rng.uniform([0, 3], [1, 2]), ValueError),
        (lambda: rng.uniform(0, np.inf), OverflowError),
        (lambda: rng.exponential(-1), ValueError),
        (lambda: rng.integers([1, 2], [3, 4]), TypeError),
    ):
        with pytest.raises(error):
            call()
