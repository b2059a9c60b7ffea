# SPDX-License-Identifier: Apache-2.0
"""What happens where an operator takes no float64 or no complex128: as the thread has chosen."""

from __future__ import annotations

import inspect
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.each import each

import aclnn_py as ap
from aclnn_py import errors
from aclnn_py.array.unsupported import ON_HOST

_RNG = np.random.default_rng(5)
NAMES: dict[str, Any] = {
    "x": _RNG.uniform(0.5, 3, (3, 4)),
    "y": _RNG.uniform(-2, 2, (3, 4)),
    "z": _RNG.uniform(-2, 2, (3, 4)) + 1j * _RNG.uniform(-2, 2, (3, 4)),
    "k": np.arange(1, 13).reshape(3, 4),
    "h": np.array([[4, 1, 0.5], [1, 3, 0.25], [0.5, 0.25, 5]]),
}
# Each of them needs an operator that takes no such dtype.
EXPRESSIONS = [
    "f.tanh(x)", "f.expm1(y)", "f.logaddexp(x, y)", "f.tanh(x[:, ::2].T)",
    "f.cat([z, z], 1)", "f.cat([z[:, 1], z[:, 0]], 0)", "np.apply_along_axis(f.tanh, 0, x)",
]  # fmt: skip
# Several operators give these, which a choice replaces by one.
CHOSEN = [
    "np.linalg.cholesky(h)", "np.linalg.cholesky(h, upper=True)", "np.linalg.cholesky(h[None] + h)",
]  # fmt: skip
# What `functional` has of NumPy's functions; each is one operator.
ON_NUMPY = SimpleNamespace(tanh=np.tanh, expm1=np.expm1, logaddexp=np.logaddexp, cat=np.concatenate)


def _evaluated(text: str, names: dict[str, Any]) -> Any:
    f = ap.functional if isinstance(names["x"], ap.Tensor) else ON_NUMPY
    return eval(text, {"np": np, "f": f, **names})


def _tensors() -> dict[str, ap.Tensor]:
    return {name: ap.from_numpy(value) for name, value in NAMES.items()}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_without_a_choice_it_is_refused_and_the_ways_out_are_named(device, text: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        _evaluated(text, _tensors())
    message = str(caught.value)
    assert "aclnn" in message and "unsupported_dtypes" in message
    assert "astype(np.float32)" in message or "astype(np.complex64)" in message


@pytest.mark.parametrize(("choice", "limit"), [("float32", 2e-6), ("host", 1e-14)])
@pytest.mark.parametrize("text", [*EXPRESSIONS, *CHOSEN])
def test_it_is_computed_and_has_numpys_dtype(device, text: str, choice: str, limit: float) -> None:
    wanted = np.asarray(_evaluated(text, NAMES))
    with ap.unsupported_dtypes(choice):
        result = np.asarray(_evaluated(text, _tensors()))
    assert result.dtype == wanted.dtype and result.shape == wanted.shape
    np.testing.assert_allclose(result, wanted, rtol=limit, atol=limit)
    if choice == "float32" and result.dtype.kind in "fc":
        assert (result != wanted).any()  # it was narrowed


def test_what_an_operator_takes_is_not_narrowed(device) -> None:
    tensors = _tensors()
    with ap.unsupported_dtypes("float32"):
        for text in ("x + y", "np.exp(x)", "x.sum()", "z * z", "np.linalg.inv(h)", "np.cumsum(x)"):
            np.testing.assert_allclose(
                _evaluated(text, tensors).numpy(), _evaluated(text, NAMES), rtol=1e-14
            )


def test_what_several_operators_give_is_not_narrowed(device) -> None:
    tensors = _tensors()
    texts = (
        "np.tanh(x)", "np.expm1(k)", "np.logaddexp(x, 1.5)", "np.logaddexp2.reduce(x, 0)",
        "abs(z)", "z.std()", "np.linalg.norm(z)", "np.tanh(x, out=np.empty_like(x))",
    )  # fmt: skip
    for choice in ("refuse", "float32", "host"):
        with ap.unsupported_dtypes(choice):
            for text in texts:
                result = np.asarray(_evaluated(text, tensors))
                np.testing.assert_allclose(result, _evaluated(text, NAMES), rtol=1e-14)


def test_products_of_float64_are_in_float32_by_choice_only(device) -> None:
    x, y = (_RNG.standard_normal((5, 5)) for _ in range(2))
    a, b = ap.from_numpy(x), ap.from_numpy(y)
    np.testing.assert_allclose((a @ b).numpy(), x @ y, rtol=1e-13, atol=1e-13)
    with ap.unsupported_dtypes("float32"):
        narrow = (a @ b).numpy()
    assert narrow.dtype == np.float64 and (narrow == narrow.astype(np.float32)).all()
    np.testing.assert_allclose(narrow, x @ y, atol=1e-5)
    with ap.unsupported_dtypes("host"):
        np.testing.assert_array_equal((a @ b).numpy(), x @ y)


def test_the_choice_is_of_one_thread_and_ends_with_its_block(device) -> None:
    assert ap.unsupported_dtypes.current() == "refuse"
    seen = []
    with ap.unsupported_dtypes("host"):
        with ap.unsupported_dtypes("float32"):
            assert ap.unsupported_dtypes.current() == "float32"
        assert ap.unsupported_dtypes.current() == "host"
        other = threading.Thread(target=lambda: seen.append(ap.unsupported_dtypes.current()))
        other.start()
        other.join()
    assert seen == ["refuse"]
    ap.unsupported_dtypes("float32")
    assert ap.unsupported_dtypes.current() == "float32"
    ap.unsupported_dtypes("refuse")
    with pytest.raises(ValueError, match="refuse, float32, host"):
        ap.unsupported_dtypes("bfloat16")
    assert ap.unsupported_dtypes.current() == "refuse"


def test_a_block_brings_back_what_held_when_it_was_entered(device) -> None:
    current = ap.unsupported_dtypes.current
    host = ap.unsupported_dtypes("host")
    assert current() == "host"  # from the call on
    ap.unsupported_dtypes("float32")
    with host:
        assert current() == "host"
        ap.unsupported_dtypes("refuse")
        with host:
            assert current() == "host"
        assert current() == "refuse"
    assert current() == "float32"
    seen: list[str] = []

    def other() -> None:
        with host:
            seen.append(current())
            with host:
                seen.append(current())
            seen.append(current())
        seen.append(current())

    with host:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert current() == "host"
    assert current() == "float32"
    assert seen == ["host", "host", "host", "refuse"]
    ap.unsupported_dtypes("refuse")
    with pytest.raises(KeyError), ap.unsupported_dtypes("host"):
        raise KeyError
    assert current() == "refuse"


def test_functions_and_operators_follow_the_choice(device) -> None:
    x = ap.from_numpy(NAMES["x"])
    out = ap.full((4, 3), 7.0, "float64").T
    stream = ap.Stream()
    for choice in ("float32", "host"):
        with ap.unsupported_dtypes(choice):
            np.testing.assert_allclose(
                ap.functional.tanh(x).numpy(), np.tanh(NAMES["x"]), rtol=1e-6
            )
            ap.ops.tanh(x, out, stream=stream)
            stream.synchronize()
            np.testing.assert_allclose(out.numpy(), np.tanh(NAMES["x"]), rtol=1e-6)
            ap.ops.inplace_zero(out)
    with ap.unsupported_dtypes("float32"):  # in place, and a list of tensors
        y = ap.from_numpy(NAMES["x"])
        ap.ops.inplace_tanh(y)
        np.testing.assert_allclose(y.numpy(), np.tanh(NAMES["x"]), rtol=1e-6)
        z = ap.from_numpy(NAMES["z"])
        joined = ap.functional.cat([z, z], 0)
        assert joined.dtype == np.complex128
        np.testing.assert_allclose(joined.numpy(), np.concatenate([NAMES["z"]] * 2), rtol=1e-6)


def test_the_array_api_follows_the_choice(device) -> None:
    h = ap.from_numpy(NAMES["h"])
    for choice in ("float32", "host"):
        with ap.unsupported_dtypes(choice):
            lower = ap.xp.linalg.cholesky(h).numpy()
            np.testing.assert_allclose(lower, np.linalg.cholesky(NAMES["h"]), atol=1e-6)
            with pytest.raises(np.linalg.LinAlgError):
                ap.xp.linalg.cholesky(-h)


@pytest.mark.parametrize("name", ["eig", "eigvals"])
@pytest.mark.parametrize("kind", ["float32", "float64", "complex128"])
def test_eigenvalues_are_numpys_by_choice(device, name: str, kind: str) -> None:
    a = np.array([[0, -1, 2], [1, 0.5, 0], [3, 1, 1]]).astype(kind)
    t, call = ap.from_numpy(a), getattr(np.linalg, name)
    with pytest.raises(TypeError, match=r"unsupported_dtypes\('host'\)"):
        call(t)
    with ap.unsupported_dtypes("host"):
        found, wanted = call(t), call(a)
    pairs = zip(found, wanted, strict=True) if name == "eig" else [(found, wanted)]
    for one, other in pairs:
        assert isinstance(one, ap.Tensor) and one.device is t.device
        np.testing.assert_array_equal(one.numpy(), other)
    if name == "eig":
        np.testing.assert_array_equal(found.eigenvalues.numpy(), wanted.eigenvalues)


def test_launches_that_are_watched_follow_the_choice(device) -> None:
    x = ap.from_numpy(NAMES["x"])
    for watch in (ap.strict, ap.blocking):
        with watch(), ap.unsupported_dtypes("float32"):
            np.testing.assert_allclose(
                ap.functional.tanh(x).numpy(), np.tanh(NAMES["x"]), rtol=1e-6
            )


def test_a_graph_records_the_conversions(device) -> None:
    x = ap.from_numpy(NAMES["x"])
    with ap.Graph() as graph, ap.unsupported_dtypes("float32"):
        with graph.capture():
            y = ap.functional.tanh(x)
        x.copy_from(NAMES["y"])
        graph.replay()
        np.testing.assert_allclose(y.numpy(), np.tanh(NAMES["y"]), rtol=1e-5)
    with (
        ap.unsupported_dtypes("host"),
        ap.Graph() as graph,
        pytest.raises(errors.CaptureError),
        graph.capture(),
    ):
        ap.functional.tanh(x)


def test_a_refusal_for_another_reason_stays_one(device) -> None:
    x = ap.from_numpy(NAMES["x"])
    for choice in ("float32", "host"):
        with ap.unsupported_dtypes(choice):
            with pytest.raises(errors.InvalidArgumentError, match="aclnnTanh"):
                ap.ops.tanh(x, ap.empty((5,), "float64"))
            with pytest.raises(errors.InvalidArgumentError, match="aclnnErf"):
                ap.functional.erf(ap.from_numpy(np.ones(3, np.uint16)))
            assert ap.unsupported_dtypes.current() == choice


def test_integers_that_operators_lack_are_computed_on_the_host(device) -> None:
    for name in ("uint16", "uint32", "uint64"):
        values = np.arange(1, 7).astype(name)
        t = ap.from_numpy(values)
        with pytest.raises(errors.InvalidArgumentError):
            t + t
        with ap.unsupported_dtypes("host"):
            for result, wanted in (
                (t + t, values + values), (t * 3, values * 3), (t - t, values - values),
                (t // 2, values // 2), (t.max(), values.max()), (7 - t, 7 - values),
                (t % 4, values % 4), (t == 3, values == 3), (t.sum(), values.sum()),
                (t[[0, 2]], values[[0, 2]]), (-t, -values), (t.argmax(), values.argmax()),
            ):  # fmt: skip
                assert result.dtype == wanted.dtype
                np.testing.assert_array_equal(result.numpy(), wanted)


def test_a_row_takes_the_arguments_of_its_operator() -> None:
    def judge(name: str) -> None:
        given = [p for p in getattr(ap.ops, name).parameters if p.direction != "out"]
        compute = ON_HOST[name]
        if isinstance(compute, np.ufunc):
            assert compute.nin == len(given)
        else:
            inspect.signature(compute).bind(*given)

    each(sorted(ON_HOST), judge)
