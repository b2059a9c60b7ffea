# SPDX-License-Identifier: Apache-2.0
"""Decompositions, determinants, inverses, triangular systems and distances against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same, tolerance
from helpers.operators import LAYOUTS, NUMPY, Array, hollow, op, place, refusal, wide

import aclnn_py as ap
from aclnn_py import functional

from ..problems import Case, In, Out, Problem, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Dtype = np.dtype[Any]
SHAPES = [(5, 5), (6, 3), (3, 6), (2, 3, 4, 5)]


def normal(rng: Rng, shape: tuple[int, ...], dtype: Dtype) -> Array:
    values = rng.standard_normal(shape)
    if dtype.kind == "c":
        return (values + 1j * rng.standard_normal(shape)).astype(dtype)
    return values.astype(dtype)


def regular(rng: Rng, shape: tuple[int, ...], dtype: Dtype) -> Array:
    """Square matrices far from singular."""
    return (normal(rng, shape, dtype) + 3 * np.eye(shape[-1])).astype(dtype)


def qr(shape: tuple[int, ...], mode: int) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = normal(rng, shape, dtype)
        # NumPy's are LAPACK's signs, and so are the operator's.
        q, r = np.linalg.qr(wide(x), "complete" if mode == 1 else "reduced")
        q = np.empty((0,)) if mode == 2 else q
        return [In(x), mode, Out(q, dtype, 4), Out(r, dtype, 4)]

    return Case("LinalgQr", build, f"{mode}-{'x'.join(map(str, shape))}", free_shapes=mode == 2)


def slogdet(rng: Rng, dtype: Dtype) -> Problem:
    x = regular(rng, (2, 3, 5, 5), dtype)
    x[0, 0, [0, 1]] = x[0, 0, [1, 0]]
    sign, logarithm = np.linalg.slogdet(wide(x))
    return [In(x), Out(sign, dtype, 4), Out(logarithm, dtype, 4)]


def inverse(rng: Rng, dtype: Dtype) -> Problem:
    x = regular(rng, (2, 3, 5, 5), dtype)
    return [In(x), Out(np.linalg.inv(wide(x)), dtype, 4)]


def solve(upper: bool, transpose: bool, unit: bool = False) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        b, a = normal(rng, (2, 1, 4, 3), dtype), regular(rng, (3, 4, 4), dtype)
        triangle = np.triu(wide(a)) if upper else np.tril(wide(a))
        if unit:
            triangle[..., range(4), range(4)] = 1
        read = triangle.swapaxes(-1, -2) if transpose else triangle
        x = np.linalg.solve(read, np.broadcast_to(wide(b), (2, 3, 4, 3)))
        copy = np.broadcast_to(wide(a), (2, 3, 4, 4))
        return [In(b), In(a), upper, transpose, unit, Out(x, dtype, 8), Out(copy, dtype)]

    note = f"{'upper' if upper else 'lower'}{'-transposed' if transpose else ''}"
    if unit:
        return Case("TriangularSolve", build, f"{note}-unit", dtypes=frozenset({"FLOAT"}))
    return Case("TriangularSolve", build, note)


def distances(p: float) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x1, x2 = normal(rng, (2, 1, 4, 5), dtype), normal(rng, (3, 6, 5), dtype)
        x1[0, 0, 0] = x2[0, 0]
        size = np.abs(wide(x1)[..., :, None, :] - wide(x2)[..., None, :, :])
        if p == 0:
            oracle = (size != 0).sum(-1)
        else:
            oracle = size.max(-1) if p == np.inf else (size**p).sum(-1) ** (1 / p)
        return [In(x1), In(x2), p, 0, Out(oracle.astype(np.float64), dtype, 4)]

    return Case("Cdist", build, f"{p:g}")


TestLinalg = suite(
    [
        *(qr(shape, mode) for shape in SHAPES for mode in (0, 1, 2)),
        qr((70, 33), 0),
        Case("Slogdet", slogdet),
        Case("Inverse", inverse),
        *(solve(upper, transpose) for upper in (True, False) for transpose in (True, False)),
        solve(True, False, unit=True),
        solve(False, True, unit=True),
        *(distances(p) for p in (0.0, 1.0, 2.0, 3.5, np.inf)),
    ]
)

# Singular value decompositions: the signs of vectors are free, so what they must do is compared.

SVD_DTYPES = ["FLOAT", "DOUBLE", "COMPLEX64", "COMPLEX128"]


def adjoint(x: Array) -> Array:
    return np.conj(x.swapaxes(-1, -2))


def svd_on(x: ap.Tensor, full: bool, layout: str = "dense", vectors: bool = True) -> list[Array]:
    *batch, m, n = x.shape
    k = min(m, n)
    shapes = [(k,), (m, m if full else k), (n, n if full else k)]
    out = [hollow((*batch, *shape), x.dtype, layout) for shape in shapes]
    op("aclnnSvd")(x, full, vectors, *out)
    return [tensor.numpy() for tensor in out]


def expect_decomposition(x: Array, s: Array, u: Array, v: Array) -> None:
    """Values NumPy finds too, in descending order; unitary vectors; their product is the matrix."""
    bound = 8 * tolerance(x.dtype).relative
    largest = max(float(np.abs(x).max(initial=0)), np.finfo(x.real.dtype).tiny)
    reals, w = wide(s).real, wide(x)
    assert (np.diff(reals) <= 0).all() and (reals >= 0).all()
    np.testing.assert_allclose(
        reals, np.linalg.svd(w, compute_uv=False), rtol=bound, atol=bound * largest
    )
    for basis in (wide(u), wide(v)):
        unit = np.broadcast_to(np.eye(basis.shape[-1]), (*basis.shape[:-2], *basis.shape[-1:] * 2))
        np.testing.assert_allclose(adjoint(basis) @ basis, unit, atol=bound)
    k = s.shape[-1]
    product = (wide(u)[..., :k] * wide(s)[..., None, :]) @ adjoint(wide(v)[..., :k])
    np.testing.assert_allclose(product, w, atol=bound * largest * max(1, k))


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("shape", [*SHAPES, (1, 1), (70, 33)], ids=str)
def test_svd(shape: tuple[int, ...], full: bool) -> None:
    for name in SVD_DTYPES:
        x = normal(np.random.default_rng(len(shape) * shape[-1]), shape, NUMPY[name])
        for layout in LAYOUTS if shape == (2, 3, 4, 5) else ("dense",):
            expect_decomposition(x, *svd_on(place(x, layout), full, layout))


SINGULAR = {
    "zeros": np.zeros((4, 3)),
    "ones": np.ones((3, 5)),
    "one column": np.outer([1.0, 0, 2, 0], [0, 3.0, 0]),
    "rank 2 of 5": np.random.default_rng(1).standard_normal((6, 2)) @ np.arange(10.0).reshape(2, 5),
    "equal values": np.diag([2.0, 2.0, 2.0])[[2, 0, 1]],
    "far apart": np.diag([1e-100, 1.0, 1e150]),
    "graded": np.random.default_rng(2).standard_normal((6, 5)) * np.logspace(0, -280, 5),
    "tiny": np.full((3, 2), 5e-324),
    "huge": np.array([[1e308, 1e308], [1e308, -1e308]]),
    "nearly dependent": np.vander([1.0, 1.0 + 1e-9, 1.0 + 2e-9, 2.0]),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_svd_of_matrices_without_full_rank_or_of_unusual_size(name: str) -> None:
    for x in (SINGULAR[name], SINGULAR[name].T.copy()):
        s, u, v = svd_on(place(x), True)
        if name == "huge":  # the oracle's products overflow
            np.testing.assert_allclose(s, np.linalg.svd(x, compute_uv=False), rtol=1e-12)
            np.testing.assert_allclose(u @ (s[:, None] / 1e300 * v.T), x / 1e300, rtol=1e-12)
            continue
        expect_decomposition(x, s, u, v)


def test_svd_finds_each_value_of_a_diagonal() -> None:
    s, _, _ = svd_on(place(SINGULAR["far apart"]), True)
    np.testing.assert_allclose(s, [1e150, 1.0, 1e-100], rtol=1e-14)


def test_svd_without_vectors_leaves_zeros() -> None:
    x = normal(np.random.default_rng(5), (4, 3), np.dtype(np.float32))
    s, u, v = svd_on(place(x), True, vectors=False)
    assert_close(s, np.linalg.svd(wide(x), compute_uv=False), scale=4)
    assert not u.any() and u.shape == (4, 4) and not v.any()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_matrix_that_is_not_finite_has_nan_for_all_factors(value: float) -> None:
    x = np.stack([np.array([[1.0, value], [3.0, 4.0]]), np.eye(2)])
    for part in svd_on(place(x), True):
        assert np.isnan(part[0]).all() and np.isfinite(part[1]).all()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 0, 3, 2)], ids=str)
def test_empty_matrices(shape: tuple[int, ...]) -> None:
    x = place(np.zeros(shape, np.float32))
    values, *bases = svd_on(x, True)
    assert values.shape == (*shape[:-2], min(shape[-2:]))
    for basis, length in zip(bases, shape[-2:], strict=True):
        units = np.broadcast_to(np.eye(length, dtype=np.float32), (*shape[:-2], length, length))
        assert_same(basis, units)
    q, r = functional.qr(x, "complete")
    assert_same(q.numpy(), np.linalg.qr(np.zeros(shape), "complete")[0].astype(np.float32))
    assert r.shape == shape
    if shape[-1] == shape[-2]:
        sign, logarithm = functional.slogdet(x)
        assert (sign.item(), logarithm.item()) == (1.0, 0.0)
    d = functional.cdist(x, x)
    assert_same(d.numpy(), np.zeros((*shape[:-1], shape[-2]), np.float32))


# Determinants and inverses at their limits.


def test_slogdet_of_singular_matrices_and_nan() -> None:
    x = np.zeros((3, 2, 2))
    x[1] = [[1, 2], [2, 4]]
    x[2] = [[np.nan, 1], [1, 1]]
    sign, logarithm = (part.numpy() for part in functional.slogdet(place(x)))
    np.testing.assert_array_equal(sign, [0, 0, np.nan])
    np.testing.assert_array_equal(logarithm, [-np.inf, -np.inf, np.nan])


def test_slogdet_neither_overflows_nor_needs_the_tensors_dtype() -> None:
    x = np.stack([np.eye(40) * 1e200, -np.eye(40)[::-1] * 1e-200])
    sign, logarithm = hollow((2,), np.float32), hollow((2,), np.complex64)
    op("aclnnSlogdet")(place(x), sign, logarithm)
    oracle = np.linalg.slogdet(x)
    assert_same(sign.numpy(), oracle.sign.astype(np.float32))
    assert_close(logarithm.numpy(), oracle.logabsdet.astype(np.complex128))


def test_slogdet_of_empty_matrices_leaves_the_results_as_they_are() -> None:
    sign, logarithm = hollow((3,), np.float32), hollow((3,), np.float32)
    op("aclnnSlogdet")(place(np.zeros((3, 0, 0), np.float32)), sign, logarithm)
    assert_same(sign.numpy(), np.full(3, 77, np.float32))
    assert_same(logarithm.numpy(), np.full(3, 77, np.float32))


def test_svd_without_vectors_takes_tensors_of_any_shape_for_them() -> None:
    x = normal(np.random.default_rng(4), (3, 2), np.dtype(np.float32))
    sigma, u, v = hollow((2,), np.float32), hollow((5,), np.float32), hollow((), np.float32)
    op("aclnnSvd")(place(x), True, False, sigma, u, v)
    assert_close(sigma.numpy(), np.linalg.svd(wide(x), compute_uv=False), scale=4)
    assert_same(u.numpy(), np.zeros(5, np.float32))
    assert_same(v.numpy(), np.zeros((), np.float32))


def test_qr_casts_its_results() -> None:
    x = normal(np.random.default_rng(5), (4, 3), np.dtype(np.float32))
    q, r = hollow((4, 3), np.float64), hollow((3, 3), np.complex64)
    op("aclnnLinalgQr")(place(x), 0, q, r)
    oracle = np.linalg.qr(wide(x))
    assert_close(q.numpy(), oracle.Q, scale=1e7)  # FLOAT in DOUBLE
    assert_close(r.numpy(), oracle.R.astype(np.complex128), scale=8)


def test_inverse_of_a_singular_matrix_is_nan_and_of_nothing_is_nothing() -> None:
    x = np.stack([np.ones((2, 2)), np.diag([2.0, 4.0])]).astype(np.float16)
    result = functional.inverse(place(x)).numpy()
    assert np.isnan(result[0]).all()
    assert_same(result[1], np.diag([0.5, 0.25]).astype(np.float16))
    assert functional.inverse(place(np.zeros((0, 3), np.float32))).shape == (0, 3)


def test_inverse_in_place_and_into_another_dtype() -> None:
    x = regular(np.random.default_rng(2), (3, 4, 4), np.dtype(np.float32))
    tensor, out = place(x), hollow((3, 4, 4), np.float64)
    op("aclnnInverse")(tensor, out)
    op("aclnnInverse")(tensor, tensor)
    assert_close(out.numpy(), np.linalg.inv(wide(x)), scale=100)
    assert_close(tensor.numpy(), np.linalg.inv(wide(x)), scale=4)


@pytest.mark.parametrize("size", [17, 45, 100])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_large_matrices_are_eliminated_in_blocks(size: int, dtype: Any) -> None:
    # Without a heavy diagonal nearly every pivot changes places.
    x = normal(np.random.default_rng(size), (2, size, size), np.dtype(dtype))
    sign, logarithm = (part.numpy() for part in functional.slogdet(place(x)))
    np.testing.assert_allclose(sign, np.linalg.slogdet(x).sign, rtol=1e-9)
    np.testing.assert_allclose(np.real(logarithm), np.linalg.slogdet(x).logabsdet, rtol=1e-9)
    oracle = np.linalg.inv(x)
    found = functional.inverse(place(x)).numpy()
    np.testing.assert_allclose(found, oracle, rtol=1e-7, atol=1e-9 * abs(oracle).max())


def test_a_large_singular_matrix_has_no_inverse_and_no_determinant() -> None:
    x = regular(np.random.default_rng(1), (50, 50), np.dtype(np.float64))
    x[:, 30] = 0
    assert np.isnan(functional.inverse(place(x)).numpy()).all()
    sign, logarithm = functional.slogdet(place(x))
    assert (sign.item(), logarithm.item()) == (0.0, -np.inf)


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_large_triangles_are_solved_in_blocks(upper: bool, transpose: bool, dtype: Any) -> None:
    rng = np.random.default_rng(3)
    a, b = (normal(rng, shape, np.dtype(dtype)) for shape in ((70, 70), (70, 19)))
    a[range(70), range(70)] += 70
    read = np.triu(a) if upper else np.tril(a)
    x, _ = functional.triangular_solve(place(b), place(a), upper, transpose)
    oracle = np.linalg.solve(read.T if transpose else read, b)
    np.testing.assert_allclose(x.numpy(), oracle, rtol=1e-9, atol=1e-12)


def test_a_zero_on_the_diagonal_is_divided_by() -> None:
    a = np.array([[0.0, 1.0], [0.0, 2.0]], np.float32)
    x, _ = functional.triangular_solve(place(np.ones((2, 1), np.float32)), place(a))
    assert_same(x.numpy(), np.array([[np.inf], [0.5]], np.float32))


def test_solving_in_the_place_of_the_operands() -> None:
    rng = np.random.default_rng(4)
    a = np.triu(regular(rng, (4, 4), np.dtype(np.float64)))
    b = normal(rng, (4, 4), np.dtype(np.float64))
    x, m = place(b), place(a)
    op("aclnnTriangularSolve")(x, m, True, False, False, x, m)
    assert_close(x.numpy(), np.linalg.solve(a, b), scale=8)
    assert_same(m.numpy(), a)


def test_distances_carry_nan_and_use_all_threads_rows() -> None:
    rng = np.random.default_rng(6)
    x1 = rng.standard_normal((70, 33)).astype(np.float32)
    x2 = rng.standard_normal((1500, 33)).astype(np.float32)
    x2[1200, 7] = np.nan
    result = functional.cdist(place(x1), place(x2)).numpy()
    assert_close(result, np.linalg.norm(wide(x1)[:, None] - wide(x2), axis=-1), scale=2)
    assert np.isnan(result[:, 1200]).all()


# Refusals the suite does not reach.


def f32(*shape: int) -> ap.Tensor:
    return hollow(shape, np.float32)


def f64(*shape: int) -> ap.Tensor:
    return hollow(shape, np.float64)


REFUSALS: list[tuple[str, Any, str]] = [
    ("LinalgQr", lambda: (f32(4), 0, f32(4), f32(4)), "self has 1 dimensions"),
    ("LinalgQr", lambda: (f32(3, 2), 3, f32(3, 2), f32(2, 2)), "mode is 3; allowed: 0"),
    ("LinalgQr", lambda: (f32(3, 2), -1, f32(3, 2), f32(2, 2)), "mode is -1"),
    (
        "LinalgQr",
        lambda: (f32(3, 2), 2, f32(3, 2), f32(2, 2)),
        "Q has shape (3, 2); it must have no",
    ),
    (
        "LinalgQr",
        lambda: (f32(3, 2), 1, f32(3, 2), f32(3, 2)),
        "Q has shape (3, 2); expected (3, 3)",
    ),
    (
        "LinalgQr",
        lambda: (hollow((3, 2), np.complex64), 0, f32(3, 2), f32(2, 2)),
        "can't be cast to the desired output type",
    ),
    ("Svd", lambda: (f32(3), True, True, f32(3), f32(3, 3), f32(3, 3)), "input has 1 dimensions"),
    ("Svd", lambda: (f32(3, 2), True, True, f32(2), f32(3, 2), f32(2, 2)), "u has shape (3, 2)"),
    ("Svd", lambda: (f32(3, 2), True, True, f32(3), f32(3, 3), f32(2, 2)), "sigma has shape (3,)"),
    ("Svd", lambda: (f32(3, 2), False, True, f32(2), f32(3, 2), f32(2, 3)), "v has shape (2, 3)"),
    ("Svd", lambda: (f32(3, 2), False, True, f64(2), f32(3, 2), f32(2, 2)), "sigma has dtype"),
    ("Slogdet", lambda: (f32(3, 2), f32(), f32()), "self has shape (3, 2); its last two"),
    ("Slogdet", lambda: (f32(2), f32(), f32()), "self has 1 dimensions"),
    (
        "Slogdet",
        lambda: (hollow((2, 2), np.complex64), f32(), f32()),
        "can't be cast to the desired output type",
    ),
    ("Inverse", lambda: (f32(3, 2), f32(3, 2)), "self has shape (3, 2); its last two"),
    ("Inverse", lambda: (f32(3), f32(3)), "self has 1 dimensions"),
    (
        "TriangularSolve",
        lambda: (f64(2, 1), f64(2, 2), True, False, True, f64(2, 1), f64(2, 2)),
        "unitriangular is true, which goes with FLOAT",
    ),
    (
        "TriangularSolve",
        lambda: (f32(2, 1), f32(2, 3), True, False, False, f32(2, 1), f32(2, 3)),
        "A has shape (2, 3); its last two",
    ),
    (
        "TriangularSolve",
        lambda: (f32(3, 1), f32(2, 2), True, False, False, f32(3, 1), f32(2, 2)),
        "self has shape (3, 1); its last dimension but one",
    ),
    (
        "TriangularSolve",
        lambda: (f32(4, 2, 1), f32(3, 2, 2), True, False, False, f32(4, 2, 1), f32(3, 2, 2)),
        "do not broadcast",
    ),
    ("Cdist", lambda: (f32(3, 2), f32(4, 3), 2.0, 0, f32(3, 4)), "rows of different lengths"),
    ("Cdist", lambda: (f32(3, 2), f32(4, 2), -1.0, 0, f32(3, 4)), "p is -1; it must not"),
    ("Cdist", lambda: (f32(3, 2), f32(4, 2), float("nan"), 0, f32(3, 4)), "p is nan"),
    ("Cdist", lambda: (f32(2, 3, 2), f32(3, 4, 2), 2.0, 0, f32(2, 3, 4)), "do not broadcast"),
    ("Cdist", lambda: (f32(3, 2), f64(4, 2), 2.0, 0, f32(3, 4)), "x2 has dtype DOUBLE"),
]


@pytest.mark.parametrize(("operator", "arguments", "words"), REFUSALS)
def test_refusals_name_what_is_wrong(operator: str, arguments: Any, words: str) -> None:
    with pytest.raises(ap.errors.AclnnError) as caught:
        op(f"aclnn{operator}")(*arguments())
    assert caught.value.status == 161002
    assert words in str(caught.value)


def test_svd_refuses_nulls_and_other_dtypes() -> None:
    good = [f32(3, 2), True, True, f32(2), f32(3, 3), f32(2, 2)]
    for position in (0, 3, 4, 5):
        holed = [None if i == position else value for i, value in enumerate(good)]
        assert refusal("aclnnSvd", *holed) == 161001
    for name in sorted(set(NUMPY) - set(SVD_DTYPES)):
        kind = NUMPY[name]
        shapes = [(2,), (3, 3), (2, 2)]
        rest = [hollow(shape, kind) for shape in shapes]
        assert refusal("aclnnSvd", hollow((3, 2), kind), True, True, *rest) == 161002, name
