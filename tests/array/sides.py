# SPDX-License-Identifier: Apache-2.0
"""Expressions evaluated on NumPy arrays and on tensors of the same values, and compared.

Tolerance by dtype: integers, bool and comparisons are exact; a float may differ from NumPy's result
by a few units of the last place of its dtype, relative and absolute: float16 4e-3, float32 4e-6,
float64 1e-11.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from helpers.numerics import widen

import aclnn_py as ap

TOLERANCES = {
    "float16": 4e-3, "float32": 4e-6, "float64": 1e-11, "complex64": 4e-6, "complex128": 1e-11,
}  # fmt: skip
DTYPES = {
    "f2": "float16", "f4": "float32", "f8": "float64", "i1": "int8", "i2": "int16", "i4": "int32",
    "i8": "int64", "u1": "uint8", "b1": "bool",
}  # fmt: skip
ERRORS = (IndexError, OverflowError, ZeroDivisionError, ValueError, TypeError)


def _values() -> dict[str, npt.NDArray[Any]]:
    """Whole arrays; the forms are made of them on either side."""
    rng = np.random.default_rng(3)
    names: dict[str, npt.NDArray[Any]] = {}
    for name, dtype in DTYPES.items():
        low = 0 if name == "u1" else -8
        grid = rng.integers(low, 9, (6, 12)) / (4 if name.startswith("f") else 1)
        names[name] = (grid % 2 > 0 if name == "b1" else grid).astype(dtype)
    for name in ("p2", "p4", "p8"):
        names[name] = rng.uniform(0.25, 3.5, (3, 4)).astype(DTYPES["f" + name[1]])
    for name in ("u2", "u4", "u8"):
        names[name] = rng.integers(0, 9, (3, 4)).astype(name)
    names["c"] = rng.integers(-8, 9, (2, 3, 4)).astype(np.float32)
    names["z"] = (rng.integers(-8, 9, (3, 4)) + 1j * rng.integers(-8, 9, (3, 4))).astype(
        np.complex64
    )
    names["e"] = np.zeros((0, 4), np.float32)
    names["m"] = rng.integers(0, 2, (3, 4)).astype(bool)
    names["k"] = np.array([2, 0])
    return names


def _names(wholes: dict[str, Any]) -> dict[str, Any]:
    names = dict(wholes)
    for name in DTYPES:
        whole = wholes[name]
        names |= {
            name: whole[:3, :4],
            f"{name}v": whole[0, :4],
            f"{name}s": whole[::2, ::3],
            f"{name}t": whole[:3, 5:9].T,
            f"{name}0": whole[1, 5],
        }
    return names


VALUES = _values()


def outcome(text: str, names: dict[str, Any]) -> Any:
    *statements, result = text.split("; ")
    scope = {"np": np, **names}
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for statement in statements:
                exec(statement, scope)
            return eval(result, scope)
    except ERRORS as error:
        return error


def on_numpy(text: str) -> Any:
    return outcome(text, _names({name: value.copy() for name, value in VALUES.items()}))


def on_device(text: str) -> Any:
    return outcome(text, _names({name: ap.from_numpy(value) for name, value in VALUES.items()}))


def error_kinds(error: Exception) -> set[type[Exception]]:
    return {kind for kind in ERRORS if isinstance(error, kind)}


def expect_equal(result: Any, wanted: Any) -> None:
    """Both sides gave the same values, or both refused."""
    if isinstance(wanted, Exception) or isinstance(result, Exception):
        assert isinstance(wanted, Exception), f"NumPy gives {wanted!r}, not {result!r}"
        assert isinstance(result, Exception), f"NumPy raises {wanted!r}, not {result!r}"
        assert error_kinds(result) & error_kinds(wanted), f"{result!r} instead of {wanted!r}"
        return
    if isinstance(wanted, (tuple, list)) and not isinstance(result, ap.Tensor):
        assert len(result) == len(wanted)
        for one, other in zip(result, wanted, strict=True):
            expect_equal(one, other)
        return
    if not isinstance(result, ap.Tensor):
        np.testing.assert_equal(result, wanted)
        assert type(result) is type(wanted) or not isinstance(wanted, np.ndarray)
        return
    values = np.asarray(result)
    assert values.shape == np.shape(wanted)
    assert values.dtype == np.asarray(wanted).dtype
    limit = TOLERANCES.get(values.dtype.name, 0.0)
    np.testing.assert_allclose(widen(values), widen(wanted), rtol=limit, atol=limit)
