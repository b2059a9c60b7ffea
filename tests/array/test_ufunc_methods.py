# SPDX-License-Identifier: Apache-2.0
"""Every ufunc with `out`, `where` and its methods, against NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py.array import ufuncs

UFUNCS = {
    found.__name__: found
    for found in (getattr(np, name) for name in dir(np))
    if isinstance(found, np.ufunc) and found.__name__ in ufuncs.NAMES
}
# Second names of the same ufuncs.
ALIASES = [name for name in ufuncs.NAMES if getattr(np, name).__name__ != name]
INTEGERS = {
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_count", "invert", "gcd", "lcm",
    "left_shift", "right_shift",
}  # fmt: skip
Call = Callable[[np.ufunc, list[Any]], Any]


def operands(ufunc: np.ufunc) -> list[Any]:
    """Two rows and columns of numbers that every function takes."""
    if ufunc.__name__ == "arccosh":
        return [np.array([[1.5, 2.0], [1.25, 4.0]], np.float32)]
    kind: Any = np.int32 if ufunc.__name__ in INTEGERS else np.float32
    scale = 1 if kind is np.int32 else 4
    first = np.array([[1, 2], [3, 1]], kind) / scale
    second = np.array([[2, 1], [1, 3]], np.int32 if ufunc.__name__ == "ldexp" else kind)
    if ufunc.__name__ != "ldexp":
        second = second / scale
    kinds = (kind, second.dtype if ufunc.__name__ == "ldexp" else kind)
    return [x.astype(k) for x, k in zip((first, second), kinds, strict=True)][: ufunc.nin]


def _out(ufunc: np.ufunc, given: list[Any]) -> Any:
    like = ufunc(*(np.asarray(x) for x in given))
    results = like if isinstance(like, tuple) else (like,)
    make = ap.from_numpy if isinstance(given[0], ap.Tensor) else np.array
    out = tuple(make(np.full_like(x, 1)) for x in results)
    found = ufunc(*given, out=out)
    assert (found if isinstance(found, tuple) else (found,))[0] is out[0]
    return out


def _where(ufunc: np.ufunc, given: list[Any]) -> Any:
    like = ufunc(*(np.asarray(x) for x in given))
    on_device = isinstance(given[0], ap.Tensor)
    make = ap.from_numpy if on_device else np.array
    out = tuple(make(np.full_like(x, 1)) for x in (like if isinstance(like, tuple) else (like,)))
    ufunc(*given, out=out, where=make(np.array([[True, False], [False, True]])))
    return out


def _at(ufunc: np.ufunc, given: list[Any]) -> Any:
    target = given[0].copy()
    if ufunc.nin == 1:
        ufunc.at(target, [1])
    else:
        ufunc.at(target, [1], given[1][:1])
    return target


METHODS: dict[str, Call] = {
    "out": _out,
    "where": _where,
    "reduce": lambda ufunc, given: ufunc.reduce(given[0], axis=1),
    "accumulate": lambda ufunc, given: ufunc.accumulate(given[0], axis=0),
    "outer": lambda ufunc, given: ufunc.outer(given[0], given[1][0]),
    "at": _at,
    "reduceat": lambda ufunc, given: ufunc.reduceat(given[0], [0, 1], axis=1),
}
# Of functions that take matrices NumPy has no methods.
CASES = [
    (name, method)
    for name, found in sorted(UFUNCS.items())
    for method in METHODS
    if not (found.signature and method != "out")
    and not (found.nin == 1 and method in ("reduce", "accumulate", "outer", "reduceat"))
    and not (found.nout == 2 and method != "out" and method != "where" and method != "outer")
]


def attempt(ufunc: np.ufunc, method: str, given: list[Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return METHODS[method](ufunc, given)


def expect_equal(result: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple):
        for one, other in zip(result, wanted, strict=True):
            expect_equal(one, other)
        return
    assert isinstance(result, ap.Tensor)
    values, other = result.numpy(), np.asarray(wanted)
    assert values.dtype == other.dtype
    limit = 2e-6 if other.dtype.kind == "f" else 0
    np.testing.assert_allclose(values, other, rtol=limit, atol=limit)


@pytest.mark.parametrize(("name", "method"), CASES)
def test_a_method_is_numpys(device, name: str, method: str) -> None:
    ufunc = UFUNCS[name]
    host = operands(ufunc)
    try:
        wanted = attempt(ufunc, method, host)
    except (TypeError, ValueError):
        return  # NumPy has no loop for it
    expect_equal(attempt(ufunc, method, [ap.from_numpy(x) for x in host]), wanted)


def test_every_name_is_tried() -> None:
    assert {ufunc.__name__ for ufunc in UFUNCS.values()} | {*ALIASES} >= ufuncs.NAMES
    assert len(ufuncs.NAMES) >= 105  # and np.isnat, which is refused
