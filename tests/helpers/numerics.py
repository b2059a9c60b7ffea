# SPDX-License-Identifier: Apache-2.0
"""How far a result may be from the float64 oracle, by the dtype it is stored in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from aclnn_py import facts


@dataclass(frozen=True)
class Tolerance:
    """``|result - oracle| <= absolute + relative * |oracle|``; both 0 means exact."""

    relative: float
    absolute: float


# One rounding to the dtype costs half a unit in the last place; operators round a few times more.
TOLERANCES = {
    "float64": Tolerance(1e-12, 1e-14),
    "float32": Tolerance(2e-6, 1e-7),
    "float16": Tolerance(2e-3, 2e-4),
    "bfloat16": Tolerance(1.6e-2, 1e-3),
    "complex64": Tolerance(4e-6, 2e-7),
    "complex128": Tolerance(1e-12, 1e-14),
    "float8_e4m3fn": Tolerance(0.07, 0.004),
    "float8_e5m2": Tolerance(0.13, 0.001),
}
EXACT = Tolerance(0.0, 0.0)


def tolerance(dtype: Any) -> Tolerance:
    """Return the tolerance of a dtype; integers and bool are exact."""
    kind = np.dtype(dtype)
    if kind.kind in "iub" or kind.name in ("int4", "uint4"):
        return EXACT
    return TOLERANCES[kind.name]


def is_exact(operator: str) -> bool:
    """Whether the facts say that results of real dtypes have no rounding error."""
    return facts.emulated()["aclnn" + operator].exact


def widen(array: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return the values in the widest type of their kind, where comparisons are meaningful."""
    values = np.asarray(array)
    if values.dtype.kind == "c":
        return values.astype(np.complex128)
    if values.dtype.kind in "iub":
        return values
    return values.astype(np.float64)


def assert_close(
    result: npt.ArrayLike,
    oracle: npt.ArrayLike,
    *,
    dtype: Any = None,
    scale: float = 1.0,
    what: str = "",
) -> None:
    """Compare a result with its oracle at the tolerance of the result's dtype.

    ``scale`` widens the tolerance, for operators that add many rounded terms. The oracle is float64
    and is not rounded to the dtype first; infinities and NaNs must agree.
    """
    values = np.asarray(result)
    limit = tolerance(values.dtype if dtype is None else dtype)
    assert values.shape == np.shape(oracle), f"{what} shape {values.shape}, not {np.shape(oracle)}"
    np.testing.assert_allclose(
        widen(values),
        widen(oracle),
        rtol=limit.relative * scale,
        atol=limit.absolute * scale,
        err_msg=what,
    )


def assert_same(result: npt.ArrayLike, oracle: npt.ArrayLike, what: str = "") -> None:
    """Compare two arrays of one dtype element by element; NaNs agree with NaNs."""
    left, right = np.asarray(result), np.asarray(oracle)
    assert left.dtype == right.dtype, f"{what} dtype {left.dtype}, not {right.dtype}"
    np.testing.assert_array_equal(widen(left), widen(right), err_msg=what)


def sample(
    rng: np.random.Generator, shape: int | tuple[int, ...], dtype: Any, scale: float = 4.0
) -> npt.NDArray[Any]:
    """Return values that a dtype can hold: small integers, or normals of a given scale."""
    kind = np.dtype(dtype)
    if kind == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if kind.name == "int4":
        return rng.integers(-8, 8, shape).astype(np.int8).astype(ml_dtypes.int4)
    if kind.kind == "u":
        return rng.integers(0, 100, shape).astype(kind)
    if kind.kind == "i":
        return rng.integers(-100, 100, shape).astype(kind)
    values = rng.standard_normal(shape) * scale
    if kind.kind == "c":
        return (values + 1j * rng.standard_normal(shape) * scale).astype(kind)
    return values.astype(kind)
