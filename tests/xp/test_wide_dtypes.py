# SPDX-License-Identifier: Apache-2.0
"""Every function of the array API standard of float64 and complex128: right, or refused.

``unsupported_dtypes`` decides about the refused ones.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import xp

PAGE = Path(__file__).resolve().parents[2] / "docs" / "array_api.md"
Call = Callable[[Any, Any], Any]


def _one(*names: str) -> dict[str, Call]:
    return {name: (lambda s, x, n=name: getattr(s, n)(x)) for name in names}


def _two(*names: str) -> dict[str, Call]:
    return {name: (lambda s, x, n=name: getattr(s, n)(x, x + 0.25)) for name in names}


# Of real and of complex numbers.
BOTH: dict[str, Call] = {
    **_one("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "conj", "cos", "cosh", "exp",
           "expm1", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "logical_not",
           "negative", "positive", "real", "reciprocal", "round", "sign", "sin", "sinh", "sqrt",
           "square", "tan", "tanh"),
    **_two("add", "divide", "equal", "logical_and", "logical_or", "logical_xor", "multiply",
           "not_equal", "pow", "subtract", "matmul", "tensordot", "vecdot"),
    **_one("all", "any", "count_nonzero", "cumulative_prod", "cumulative_sum", "diff", "flip",
           "matrix_transpose", "mean", "nonzero", "prod",  "std", "sum", "tril", "triu",
           "unique_all", "unique_counts", "unique_inverse", "var", "zeros_like"),
    "astype": lambda s, x: s.astype(x, s.complex64 if x.dtype.kind == "c" else s.float32),
    "broadcast_to": lambda s, x: s.broadcast_to(x, (2, 3, 3)),
    "concat": lambda s, x: s.concat([x, x]),
    "cumulative_prod": lambda s, x: s.cumulative_prod(x, axis=0),
    "cumulative_sum": lambda s, x: s.cumulative_sum(x, axis=0),
    "expand_dims": lambda s, x: s.expand_dims(x, axis=0),
    "full_like": lambda s, x: s.full_like(x, 2.5),
    "isin": lambda s, x: s.isin(x, x[0, :]),
    "meshgrid": lambda s, x: s.meshgrid(x[0, :], x[1, :]),
    "moveaxis": lambda s, x: s.moveaxis(x, 0, 1),
    "ones_like": lambda s, x: s.ones_like(x),
    "permute_dims": lambda s, x: s.permute_dims(x, (1, 0)),
    "repeat": lambda s, x: s.repeat(x, 2, axis=0),
    "reshape": lambda s, x: s.reshape(x, (9,)),
    "roll": lambda s, x: s.roll(x, 1),
    "squeeze": lambda s, x: s.squeeze(x[None], axis=0),
    "stack": lambda s, x: s.stack([x, x]),
    "take": lambda s, x: s.take(x, s.asarray([2, 0]), axis=0),
    "take_along_axis": lambda s, x: s.take_along_axis(x, s.asarray([[2, 0, 1]]), axis=0),
    "tile": lambda s, x: s.tile(x, (2, 1)),
    "unique_values": lambda s, x: s.unique_inverse(x)[0] + 0 * s.unique_values(x)[0],
    "unstack": lambda s, x: s.unstack(x),
    "where": lambda s, x: s.where(x != 0, x, x + 1),
    "linalg.cholesky": lambda s, x: s.linalg.cholesky(_definite(s, x)),
    "linalg.cross": lambda s, x: s.linalg.cross(x, x + 1),
    "linalg.det": lambda s, x: s.linalg.det(x),
    "linalg.diagonal": lambda s, x: s.linalg.diagonal(x),
    "linalg.eigh": lambda s, x: s.linalg.eigh(_definite(s, x)).eigenvalues,
    "linalg.eigvalsh": lambda s, x: s.linalg.eigvalsh(_definite(s, x)),
    "linalg.inv": lambda s, x: s.linalg.inv(x),
    "linalg.matrix_norm": lambda s, x: s.linalg.matrix_norm(x),
    "linalg.matrix_power": lambda s, x: s.linalg.matrix_power(x, 3),
    "linalg.matrix_rank": lambda s, x: s.linalg.matrix_rank(x),
    "linalg.outer": lambda s, x: s.linalg.outer(x[0, :], x[1, :]),
    "linalg.pinv": lambda s, x: s.linalg.pinv(x),
    "linalg.qr": lambda s, x: _square(s, s.linalg.qr(x).R),
    "linalg.slogdet": lambda s, x: s.linalg.slogdet(x),
    "linalg.solve": lambda s, x: s.linalg.solve(x, x[:, :2]),
    "linalg.svd": lambda s, x: s.linalg.svd(x).S,
    "linalg.svdvals": lambda s, x: s.linalg.svdvals(x),
    "linalg.trace": lambda s, x: s.linalg.trace(x),
    "linalg.vector_norm": lambda s, x: s.linalg.vector_norm(x),
    **{f"fft.{name}": (lambda s, x, n=name: getattr(s.fft, n)(x))
       for name in ("fft", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "irfft",
                    "irfftn")},
}  # fmt: skip
REAL: dict[str, Call] = {
    **_one("argmax", "argmin", "argsort", "ceil", "floor", "max", "min", "signbit", "sort",
           "trunc"),
    **_two("atan2", "copysign", "floor_divide", "greater", "greater_equal", "hypot", "less",
           "less_equal", "logaddexp", "maximum", "minimum", "nextafter", "remainder"),
    "clip": lambda s, x: s.clip(x, 0.3, 0.6),
    "searchsorted": lambda s, x: s.searchsorted(s.sort(x[0, :]), x[1, :]),
    **{f"fft.{name}": (lambda s, x, n=name: getattr(s.fft, n)(x))
       for name in ("rfft", "rfftn", "ihfft")},
}  # fmt: skip
COMPLEX: dict[str, Call] = _one("imag")
REFUSED = {
    "float64": set(),
    "complex128": {"acos", "asin", "atan", "cumulative_prod", "expm1", "log1p", "tanh"},
}  # fmt: skip
# CANN's operator takes no complex numbers at all.
LEFT: dict[str, set[str]] = {
    "float64": set(),
    "complex128": {"acos", "asin", "atan", "cumulative_prod", "expm1", "log1p", "tanh"},
}  # fmt: skip
_RNG = np.random.default_rng(9)
VALUES = {
    "float64": _RNG.uniform(0.1, 0.9, (3, 3)),
    "complex128": _RNG.uniform(0.1, 0.9, (3, 3)) + 1j * _RNG.uniform(0.1, 0.9, (3, 3)),
}
CASES = {
    (dtype, name): call
    for dtype, tables in (("float64", (BOTH, REAL)), ("complex128", (BOTH, COMPLEX)))
    for table in tables
    for name, call in table.items()
}


def _square(space: Any, x: Any) -> Any:
    return space.matmul(space.conj(space.matrix_transpose(x)), x)


def _definite(space: Any, x: Any) -> Any:
    return space.matmul(x, space.conj(space.matrix_transpose(x))) + 3 * space.eye(3, dtype=x.dtype)


def expect_numpys(dtype: str, name: str, limit: float) -> None:
    call, values = CASES[dtype, name], VALUES[dtype]
    result, wanted = call(xp, ap.from_numpy(values)), call(np, values)
    pairs = (
        zip(result, wanted, strict=True)
        if isinstance(wanted, (tuple, list))
        else [(result, wanted)]
    )
    for one, other in pairs:
        assert one.dtype == np.asarray(other).dtype
        np.testing.assert_allclose(np.asarray(one), other, rtol=limit, atol=limit)


@pytest.mark.parametrize(("dtype", "name"), CASES)
def test_it_is_numpys_or_refused(device, dtype: str, name: str) -> None:
    if name not in REFUSED[dtype]:
        expect_numpys(dtype, name, 1e-9 if "irfft" in name else 1e-11)
        return
    with pytest.raises((TypeError, ValueError), match="aclnn"):
        expect_numpys(dtype, name, 1e-11)


@pytest.mark.parametrize("choice", ["float32", "host"])
@pytest.mark.parametrize(("dtype", "name"), [c for c in CASES if c[1] in REFUSED[c[0]]])
def test_refused_ones_by_choice(device, dtype: str, name: str, choice: str) -> None:
    with ap.unsupported_dtypes(choice):
        if choice == "host" or name not in LEFT[dtype]:
            expect_numpys(dtype, name, 1e-11 if choice == "host" else 1e-5)
            return
        with pytest.raises((TypeError, ValueError), match="aclnn"):
            expect_numpys(dtype, name, 1e-5)


def test_the_page_counts_them() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for dtype in VALUES:
        total = sum(1 for known, _ in CASES if known == dtype)
        refused, left = len(REFUSED[dtype]), len(LEFT[dtype])
        line = f"| {dtype} | {total} | {total - refused} | {total - left} | {total} |"
        assert line in text, line
