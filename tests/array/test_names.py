# SPDX-License-Identifier: Apache-2.0
"""Every name of NumPy: connected and right, or refused with a reason."""

from __future__ import annotations

import copy
import inspect
import io
import pickle
import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from array_table import EXPRESSIONS as OLDER
from helpers.each import each
from names_table import EXPRESSIONS
from sides import expect_equal, on_device, on_numpy

import aclnn_py as ap
from aclnn_py.array import names, ufuncs


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expression_is_numpys(text: str) -> None:
    expect_equal(on_device(text), on_numpy(text))


def numpys_functions() -> dict[str, Any]:
    """The functions of the installed NumPy that ask their arguments who evaluates them."""
    found = (getattr(space, name) for space in (np, np.linalg, np.fft) for name in dir(space))
    return {
        f"{function.__module__}.{function.__name__}".removeprefix("numpy."): function
        for function in found
        if type(function).__name__ == "_ArrayFunctionDispatcher"
    }


def test_every_function_is_connected_or_refused() -> None:
    unknown = sorted(set(numpys_functions()) - set(names.HOMES) - set(names.REFUSED))
    assert not unknown
    assert not set(names.HOMES) & set(names.REFUSED)


def test_every_ufunc_is_connected_or_refused() -> None:
    found = {getattr(np, name) for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}
    assert len(found) >= 90
    unknown = sorted(u.__name__ for u in found if u.__name__ not in ufuncs.NAMES | {*names.REFUSED})
    assert not unknown


def test_every_connected_name_is_compared_with_numpy() -> None:
    text = "\n".join((*EXPRESSIONS, *OLDER))
    # Their results hold what was in memory, or are of the host.
    apart = {"empty", "empty_like", "save", "savetxt", "savez", "savez_compressed", "array_repr"}
    missing = [name for name in names.HOMES if not re.search(rf"np\.{re.escape(name)}\(", text)]
    assert sorted(set(missing) - apart) == []


def test_arguments_stand_where_numpys_stand() -> None:
    def judge(name: str) -> None:
        theirs = numpys_functions().get(name)
        if theirs is None:
            return  # it makes arrays, and takes `like=`
        kinds = inspect.Parameter
        found = names.evaluator(name)
        assert found is not None
        ours = [
            item.name
            for item in inspect.signature(found).parameters.values()
            if item.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
        ]
        given = list(inspect.signature(theirs).parameters)
        assert ours == given[: len(ours)]

    each(sorted(names.HOMES), judge)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("linalg.eigvals", np.linalg.eigvals),
        ("roots", np.roots),
        ("isnat", np.isnat),
        ("is_busday", np.is_busday),
    ],
)
def test_a_refusal_has_its_reason_and_the_next_step(device, name: str, call: Any) -> None:
    with pytest.raises(TypeError) as caught:
        call(ap.from_numpy(np.ones((2, 2), np.float32)))
    assert f"np.{name} does not run on the device: {names.REFUSED[name]}" in str(caught.value)
    assert "np.asarray(t) copies t to the host" in str(caught.value)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda t: np.sort(t, order="x"), "order"),
        (lambda t: np.ravel(t, order="Q"), "order"),
        (lambda t: np.add(t, 1, casting="no"), "casting"),
        (lambda t: np.quantile(t, 0.5, weights=t), "weights"),
        (lambda t: np.histogram(t, bins="stone"), "bins"),
        (lambda t: np.max(t, 0, None, False, 1, t > 0, 7), "positional"),
    ],
)
def test_an_argument_is_refused_by_its_name(device, call: Any, argument: str) -> None:
    with pytest.raises((TypeError, ValueError), match=argument):
        call(ap.from_numpy(np.ones((2, 2), np.float32)))


def test_out_of_a_function_is_written_and_returned(device) -> None:
    x = ap.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    out = ap.empty((3,), "float32")
    assert np.sum(x, axis=0, out=out) is out
    np.testing.assert_array_equal(out.numpy(), [3, 5, 7])
    whole = ap.empty((6,), "float32")
    assert np.concatenate([x[0], x[1]], out=whole) is whole
    np.testing.assert_array_equal(whole.numpy(), np.arange(6))
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        np.sum(x, axis=0, out=ap.empty((2,), "float32"))
    with pytest.raises(TypeError, match="same_kind"):
        np.sum(x, axis=0, out=ap.empty((3,), "int32"))
    part = x[0]
    np.cumsum(x[0], out=part)  # the operand itself
    np.testing.assert_array_equal(x.numpy(), [[0, 1, 3], [3, 4, 5]])


@pytest.mark.parametrize("n", [1, 2, 97, 127, 128, 131, 384, 1000, 1021])
def test_transforms_of_any_length(device, n: int) -> None:
    rng = np.random.default_rng(n)
    values = (rng.standard_normal((2, n)) + 1j * rng.standard_normal((2, n))).astype(np.complex64)
    for call in (np.fft.fft, np.fft.ifft):
        result = call(ap.from_numpy(values)).numpy()
        wanted = call(values.astype(np.complex128))
        assert np.abs(result - wanted).max() <= 2e-6 * np.abs(wanted).max() * np.log2(n + 1)


def test_decompositions_give_their_matrix_back(device) -> None:
    rng = np.random.default_rng(4)
    a = rng.standard_normal((5, 3)).astype(np.float32)
    t = ap.from_numpy(a)
    u, s, vh = np.linalg.svd(t, full_matrices=False)
    np.testing.assert_allclose(((u * s) @ vh).numpy(), a, atol=1e-5)
    q, r = np.linalg.qr(t)
    np.testing.assert_allclose((q @ r).numpy(), a, atol=1e-5)
    np.testing.assert_allclose(np.linalg.tensorsolve(t[:3], t[:3, 0]).numpy(), [1, 0, 0], atol=1e-5)
    assert np.linalg.matrix_rank(t) == 3
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        np.linalg.cholesky(ap.from_numpy(-np.eye(2, dtype=np.float32)))
    lower = np.linalg.cholesky(ap.from_numpy(np.array([[4, 7], [2, 5]], np.float32)))
    np.testing.assert_allclose(lower.numpy(), [[2, 0], [1, 2]])  # the upper triangle is not read
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        np.linalg.cholesky(ap.from_numpy(np.stack([np.eye(2), np.eye(2) * np.nan]).astype("f4")))


def test_the_limit_of_a_pseudo_inverse_is_numpys(device) -> None:
    rng = np.random.default_rng(11)
    a = (np.diag([1, 1e-2, 1e-5]) @ np.linalg.qr(rng.standard_normal((3, 3)))[0]).astype("f4")
    stack = np.stack([a, 2 * a])
    t = ap.from_numpy(stack)
    for how in ({}, {"rtol": None}, {"rtol": 0.1}, {"rcond": 0.1}):
        wanted = np.linalg.pinv(stack, **how)
        found = np.linalg.pinv(t, **how).numpy()
        np.testing.assert_allclose(found, wanted, atol=2e-2 * np.abs(wanted).max())
    limits = np.array([0.1, 0.001], np.float32)
    found = np.linalg.pinv(t, rtol=ap.from_numpy(limits)).numpy()
    np.testing.assert_allclose(found, np.linalg.pinv(stack, rtol=limits), atol=1e-3)
    assert np.linalg.matrix_rank(t, rtol=ap.from_numpy(limits)).tolist() == [1, 2]
    assert np.linalg.matrix_rank(t, tol=ap.from_numpy(limits)).tolist() == [1, 2]
    with pytest.raises(ValueError, match="both"):
        np.linalg.pinv(t, rcond=0.1, rtol=0.1)
    # Singular to float32: the standard's limit, unlike NumPy's 1e-15, leaves the small value out.
    singular = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.float32)
    wanted = np.linalg.pinv(singular.astype(np.float64))
    standard = ap.xp.linalg.pinv(ap.from_numpy(singular)).numpy()
    np.testing.assert_allclose(standard, wanted, atol=1e-4)


def test_weights_of_a_histogram_have_the_shape_of_the_elements(device) -> None:
    t = ap.from_numpy(np.arange(4.0, dtype=np.float32))
    assert np.histogram_bin_edges(t, 2, None, np.ones(4)).tolist() == [0, 1.5, 3]
    for call in (np.histogram, np.histogram_bin_edges):
        with pytest.raises(ValueError, match="same shape"):
            call(t, bins=2, weights=np.ones(3))


def test_bins_end_where_numpy_ends_them(device) -> None:
    """Edges are computed in the elements' dtype: elements beside them are counted alike."""
    for kind in (np.float16, np.float32, np.float64):
        for seed in range(60):
            drawn = np.random.default_rng(seed).integers(-6, 7, 6) / 4
            host = np.radians(drawn).astype(kind)
            counts, edges = np.histogram(ap.from_numpy(host), 3)
            wanted = np.histogram(host, 3)
            np.testing.assert_array_equal(counts, wanted[0])
            np.testing.assert_array_equal(edges, wanted[1])


def test_arrays_of_the_host_are_taken_where_lists_are(device) -> None:
    t = ap.from_numpy(np.arange(4.0, dtype=np.float32))
    assert np.digitize(t, np.array([1.0, 2.5])).tolist() == [0, 1, 1, 2]
    assert np.average(t, weights=np.array([0, 0, 1, 1])).item() == 2.5
    assert np.insert(t, 1, np.array([7, 8])).tolist() == [0, 7, 8, 1, 2, 3]
    with pytest.raises(TypeError, match="from_numpy"):
        np.add(t, np.ones(4))


def test_any_number_of_arguments_is_taken_where_numpy_takes_any(device) -> None:
    t = ap.from_numpy(np.ones(1, np.float32))
    assert len(np.broadcast_arrays(*[t] * 1100)) == 1100


def test_a_tensor_is_copied_pickled_and_saved(device, tmp_path) -> None:
    for values in (
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.ones((2, 2), ml_dtypes.bfloat16),
        np.zeros((0, 3), np.int8),
    ):
        tensor = ap.from_numpy(values)
        for other in (copy.copy(tensor), copy.deepcopy(tensor), pickle.loads(pickle.dumps(tensor))):
            assert other.dtype_name == tensor.dtype_name and other.buffer is not tensor.buffer
            np.testing.assert_array_equal(other.numpy(), values)
    blocked = ap.from_numpy(np.ones((20, 20), np.float16), format="FRACTAL_NZ")
    restored = pickle.loads(pickle.dumps(blocked))
    assert restored.format is blocked.format
    np.testing.assert_array_equal(restored.numpy(), blocked.numpy())
    tensor = ap.from_numpy(np.arange(4.0))
    file = io.BytesIO()
    np.save(file, tensor)
    file.seek(0)
    np.testing.assert_array_equal(np.load(file), np.arange(4.0))
    np.savez(tmp_path / "both.npz", tensor, named=tensor)
    with np.load(tmp_path / "both.npz") as kept:
        assert sorted(kept) == ["arr_0", "named"]
    np.savetxt(tmp_path / "text.txt", tensor)
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "text.txt"), np.arange(4.0))
    assert np.array_repr(tensor) == "array([0., 1., 2., 3.])"


def test_uninitialised_tensors_have_their_shape(device) -> None:
    like = ap.zeros((2, 3), "float32")
    assert np.empty_like(like, dtype=np.int8, shape=(4,)).dtype_name == "int8"
    assert np.empty((2, 2), np.float16, like=like).shape == (2, 2)


def test_functions_on_one_element_and_on_none(device) -> None:
    one, none = ap.zeros((1,), "float32"), ap.zeros((0,), "float32")
    assert np.sort(none).shape == np.unique(none).shape == np.cumsum(none).shape == (0,)
    assert np.median(one).item() == 0
    assert np.searchsorted(none, one).tolist() == [0]
    assert np.fft.fft(one).tolist() == [0]
    assert np.histogram(none)[0].tolist() == [0] * 10
    for call in (np.argmax, np.max, np.fft.fft):
        with pytest.raises(ValueError):
            call(none)
