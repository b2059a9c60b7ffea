# SPDX-License-Identifier: Apache-2.0
"""Operators over the dtypes they take, beside NumPy: `python -m benchmarks.dtypes [name ...]`.

Every operator that NumPy has as one call or a short expression, on a million elements, in each
dtype both take. Both work on one thread, in turns; the figure is the least CPU time of the process,
and what counts is the ratio: above 1 the operator was slower. Results are compared first. With
names, only operators whose name has one of them in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from benchmarks.matmul import cpu_ms  # first, because it limits both to one thread

# ruff: isort: split
import numpy as np

import aclnn_py as ap

SIDE = 1024
COUNT = SIDE * SIDE
FLOATS = ("float32", "float16", "float64")
INTEGERS = ("int8", "uint8", "int16", "int32", "int64")
COMPLEX = ("complex64", "complex128")
REAL = (*FLOATS, *INTEGERS, "bool")
ALL = (*REAL, *COMPLEX)
SIGNED = (*FLOATS, *INTEGERS, *COMPLEX)  # NumPy has no difference of truth values
ROUNDING = {"float16": 2e-2, "float32": 2e-4, "complex64": 2e-4}
CALLS = 4  # of one sample, at whose end the device is waited for


class Pair(NamedTuple):
    """One operator: its call and NumPy's form, both of the same operands."""

    name: str
    ours: Callable[..., Any]  # (out, *operands)
    theirs: Callable[..., Any]  # (*operands)
    operands: tuple[str, ...] = ("x",)
    dtypes: tuple[str, ...] = ALL
    result: str | None = None  # the dtype of ours where it is not that of theirs


def unary(name: str, theirs: Any, dtypes: tuple[str, ...] = ALL, operand: str = "x") -> Pair:
    function = getattr(ap.ops, name)
    return Pair(name, lambda out, x: function(x, out), theirs, (operand,), dtypes)


def binary(name: str, theirs: Any, dtypes: tuple[str, ...] = ALL, other: str = "y") -> Pair:
    function = getattr(ap.ops, name)
    return Pair(name, lambda out, x, y: function(x, y, out), theirs, ("x", other), dtypes)


def scalar(
    name: str, theirs: Any, dtypes: tuple[str, ...] = ALL, number: Any = 3, operand: str = "x"
) -> Pair:
    function = getattr(ap.ops, name)
    return Pair(
        name,
        lambda out, x: function(x, number, out),
        lambda x: theirs(x, x.dtype.type(number)),
        (operand,),
        dtypes,
    )


def arithmetic() -> list[Pair]:
    ops = ap.ops
    return [
        Pair("add", lambda o, x, y: ops.add(x, y, 1, o), np.add, ("x", "y")),
        Pair("adds", lambda o, x: ops.adds(x, 3, 1, o), lambda x: x + x.dtype.type(3)),
        Pair("sub", lambda o, x, y: ops.sub(x, y, 1, o), np.subtract, ("x", "y"), SIGNED),
        Pair(
            "subs", lambda o, x: ops.subs(x, 3, 1, o), lambda x: x - x.dtype.type(3), ("x",), SIGNED
        ),
        Pair(
            "rsubs",
            lambda o, x: ops.rsubs(x, 3, 1, o),
            lambda x: x.dtype.type(3) - x,
            ("x",),
            SIGNED,
        ),
        binary("mul", np.multiply),
        scalar("muls", np.multiply),
        binary("div", np.divide, (*FLOATS, *COMPLEX)),
        Pair(
            "div of integers",
            lambda o, x, y: ops.div(x, y, o),
            np.divide,
            ("x", "y"),
            INTEGERS,
            "float32",
        ),
        scalar("divs", np.divide, (*FLOATS, *COMPLEX)),
        binary("maximum", np.maximum, REAL),
        binary("minimum", np.minimum, REAL),
        scalar("clamp_min", np.maximum, REAL),
        scalar("clamp_max", np.minimum, REAL),
        Pair(
            "clamp",
            lambda o, x: ops.clamp(x, 1, 3, o),
            lambda x: np.clip(x, x.dtype.type(1), x.dtype.type(3)),
            ("x",),
            REAL,
        ),
        Pair(
            "hardtanh",
            lambda o, x: ops.hardtanh(x, 0, 3, o),
            lambda x: np.clip(x, x.dtype.type(0), x.dtype.type(3)),
            ("x",),
            REAL,
        ),
        binary("floor_divide", np.floor_divide, (*FLOATS, *INTEGERS)),
        scalar("floor_divides", np.floor_divide, (*FLOATS, *INTEGERS)),
        binary("fmod_tensor", np.fmod, (*FLOATS, *INTEGERS)),
        scalar("fmod_scalar", np.fmod, (*FLOATS, *INTEGERS)),
        binary("remainder_tensor_tensor", np.remainder, (*FLOATS, *INTEGERS)),
        scalar("remainder_tensor_scalar", np.remainder, (*FLOATS, *INTEGERS)),
        binary("pow_tensor_tensor", np.power, (*FLOATS, *INTEGERS, *COMPLEX), "few"),
        scalar("pow_tensor_scalar", np.power, ALL, 2),
        binary("gcd", np.gcd, INTEGERS),
        unary("neg", np.negative, SIGNED),
        unary("abs", np.abs),
        unary("sign", np.sign),
        unary("square", np.square, REAL),
        unary("reciprocal", np.reciprocal, (*FLOATS, *COMPLEX), "y"),
        unary("sqrt", np.sqrt, (*FLOATS, *COMPLEX), "y"),
        unary("rsqrt", lambda x: 1 / np.sqrt(x), (*FLOATS, *COMPLEX), "y"),
        Pair(
            "addcmul",
            lambda o, x, y: ops.addcmul(x, y, y, 2, o),
            lambda x, y: x + x.dtype.type(2) * y * y,
            ("x", "y"),
            REAL,
        ),
        Pair(
            "addcdiv",
            lambda o, x, y: ops.addcdiv(x, y, y, 2, o),
            lambda x, y: x + x.dtype.type(2) * (y / y),
            ("x", "y"),
            FLOATS,
        ),
        Pair(
            "lerps",
            lambda o, x, y: ops.lerps(x, y, 0.25, o),
            lambda x, y: x + x.dtype.type(0.25) * (y - x),
            ("x", "y"),
            FLOATS,
        ),
        unary("relu", lambda x: np.maximum(x, x.dtype.type(0)), REAL),
    ]


def questions() -> list[Pair]:
    found = []
    for name, function in (
        ("eq", np.equal),
        ("ne", np.not_equal),
        ("lt", np.less),
        ("le", np.less_equal),
        ("gt", np.greater),
        ("ge", np.greater_equal),
    ):
        dtypes = ALL if name in ("eq", "ne") else REAL
        found.append(binary(f"{name}_tensor", function, dtypes))
        found.append(scalar(f"{name}_scalar", function, tuple(d for d in dtypes if d != "bool")))
    found += [
        unary("is_finite", np.isfinite),
        unary("is_inf", np.isinf, REAL),
        unary("is_pos_inf", np.isposinf, REAL),
        unary("signbit", lambda x: np.signbit(x) if x.dtype.kind == "f" else x < 0, REAL),
        unary("logical_not", np.logical_not, REAL),
        binary("logical_and", np.logical_and),
        binary("logical_or", np.logical_or),
        binary("logical_xor", np.logical_xor),
    ]
    return found


def bits() -> list[Pair]:
    whole = (*INTEGERS, "bool")
    found = []
    for name, function in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        found.append(binary(f"bitwise_{name}_tensor", function, whole))
        found.append(scalar(f"bitwise_{name}_scalar", function, whole))
    found += [
        unary("bitwise_not", np.invert, whole),
        binary("left_shift", np.left_shift, INTEGERS, "few"),
        scalar("left_shifts", np.left_shift, INTEGERS),
        binary("right_shift", np.right_shift, INTEGERS, "few"),
    ]
    return found


def functions() -> list[Pair]:
    both = (*FLOATS, *COMPLEX)
    names = ["sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1"]
    names += ["log", "log2", "log10", "log1p"]
    found = [unary(name, getattr(np, name), both, "y") for name in names]
    found += [
        unary("asin", np.arcsin, FLOATS, "unit"),
        unary("acos", np.arccos, FLOATS, "unit"),
        unary("atan", np.arctan, FLOATS),
        unary("asinh", np.arcsinh, FLOATS),
        unary("acosh", np.arccosh, FLOATS, "above"),
        unary("atanh", np.arctanh, FLOATS, "unit"),
        binary("atan2", np.arctan2, FLOATS),
        unary("sigmoid", lambda x: 1 / (1 + np.exp(-x)), FLOATS),
        unary("floor", np.floor, (*FLOATS, *INTEGERS)),
        unary("ceil", np.ceil, FLOATS),
        unary("trunc", np.trunc, FLOATS),
        unary("round", np.rint, FLOATS),
        unary("frac", lambda x: x - np.trunc(x), FLOATS),
        unary("real", lambda x: x.real.copy(), COMPLEX),
        unary("sinc", np.sinc, FLOATS),
        binary("log_add_exp", np.logaddexp, FLOATS),
        binary("log_add_exp2", np.logaddexp2, FLOATS),
        binary("x_log_y_tensor", lambda x, y: x * np.log(y), FLOATS),
    ]
    return found


def folded(
    name: str, ours: Callable[..., Any], function: Any, dtypes: tuple[str, ...], **keywords: Any
) -> list[Pair]:
    """Over everything, along rows and along columns."""

    def form(axis: int | None) -> Pair:
        dims = [0, 1] if axis is None else [axis]
        kind = {None: "", 1: " of rows", 0: " of columns"}[axis]
        return Pair(
            name + kind,
            lambda o, x: ours(x, dims, o),
            lambda x: function(x, axis=axis, **keywords),
            ("square",),
            dtypes,
        )

    return [form(None), form(1), form(0)]


def reductions() -> list[Pair]:
    ops = ap.ops
    return [
        *folded("reduce_sum", lambda x, d, o: ops.reduce_sum(x, d, False, o.dtype, o), np.sum, ALL),
        *folded(
            "mean", lambda x, d, o: ops.mean(x, d, False, o.dtype, o), np.mean, (*FLOATS, *COMPLEX)
        ),
        *folded("amax", lambda x, d, o: ops.amax(x, d, False, o), np.max, REAL),
        *folded("amin", lambda x, d, o: ops.amin(x, d, False, o), np.min, REAL),
        *folded("any", lambda x, d, o: ops.any(x, d, False, o), np.any, REAL),
        *folded("all", lambda x, d, o: ops.all(x, d, False, o), np.all, REAL),
        *folded("std", lambda x, d, o: ops.std(x, d, 0, False, o), np.std, FLOATS),
        *folded("var", lambda x, d, o: ops.var(x, d, False, False, o), np.var, FLOATS),
        Pair("prod", lambda o, x: ops.prod(x, o.dtype, o), np.prod, ("ones",), REAL),
        Pair("max", lambda o, x: ops.max(x, o), np.max, ("x",), REAL),
        Pair("min", lambda o, x: ops.min(x, o), np.min, ("x",), REAL),
        Pair(
            "arg_max of rows",
            lambda o, x: ops.arg_max(x, 1, False, o),
            lambda x: np.argmax(x, 1),
            ("square",),
            REAL,
        ),
        Pair("arg_max", lambda o, x: ops.arg_max(x, 0, False, o), np.argmax, ("x",), REAL),
        Pair(
            "arg_min of columns",
            lambda o, x: ops.arg_min(x, 0, False, o),
            lambda x: np.argmin(x, 0),
            ("square",),
            REAL,
        ),
        Pair(
            "cumsum of rows",
            lambda o, x: ops.cumsum(x, 1, o.dtype, o),
            lambda x: np.cumsum(x, 1),
            ("square",),
            ALL,
        ),
        Pair(
            "cumsum of columns",
            lambda o, x: ops.cumsum(x, 0, o.dtype, o),
            lambda x: np.cumsum(x, 0),
            ("square",),
            ALL,
        ),
        Pair(
            "cumprod of rows",
            lambda o, x: ops.cumprod(x, 1, o.dtype, o),
            lambda x: np.cumprod(x, 1),
            ("square",),
            REAL,
        ),
        Pair(
            "equal",
            lambda o, x, y: ops.equal(x, y, o),
            lambda x, y: np.array(np.array_equal(x, y)),
            ("x", "same"),
            REAL,
        ),
        Pair("dot", lambda o, x, y: ops.dot(x, y, o), np.dot, ("x", "y"), ("float32", "float16")),
    ]


def places() -> list[Pair]:
    ops = ap.ops
    rows, columns = (
        np.random.default_rng(7).permutation(SIDE),
        np.random.default_rng(8).permutation(SIDE),
    )
    mask = np.random.default_rng(9).random((SIDE, SIDE)) < 0.5
    at_rows, at_columns, at_mask = (ap.from_numpy(a) for a in (rows, columns, mask))
    along = np.random.default_rng(6).integers(0, SIDE, (SIDE, SIDE))
    at_along = ap.from_numpy(along)
    return [
        Pair(
            "s_where",
            lambda o, x, y: ops.s_where(at_mask, x, y, o),
            lambda x, y: np.where(mask, x, y),
            ("square", "square"),
            ALL,
        ),
        Pair(
            "index_select of rows",
            lambda o, x: ops.index_select(x, 0, at_rows, o),
            lambda x: x[rows],
            ("square",),
            ALL,
        ),
        Pair(
            "index_select of columns",
            lambda o, x: ops.index_select(x, 1, at_columns, o),
            lambda x: x[:, columns],
            ("square",),
            ALL,
        ),
        Pair(
            "gather of rows",
            lambda o, x: ops.gather(x, 1, at_along, o),
            lambda x: np.take_along_axis(x, along, 1),
            ("square",),
            ALL,
        ),
        Pair(
            "permute",
            lambda o, x: ops.permute(x, [1, 0], o),
            lambda x: x.T.copy(),
            ("square",),
            ALL,
        ),
        Pair(
            "flip of rows",
            lambda o, x: ops.flip(x, [1], o),
            lambda x: np.flip(x, 1).copy(),
            ("square",),
            ALL,
        ),
        Pair(
            "flip of columns",
            lambda o, x: ops.flip(x, [0], o),
            lambda x: np.flip(x, 0).copy(),
            ("square",),
            ALL,
        ),
        Pair(
            "roll of rows",
            lambda o, x: ops.roll(x, [5], [1], o),
            lambda x: np.roll(x, 5, 1),
            ("square",),
            ALL,
        ),
        Pair(
            "cat",
            lambda o, x: ops.cat([x, x], 1, o),
            lambda x: np.concatenate([x, x], 1),
            ("square",),
            ALL,
        ),
        Pair(
            "stack",
            lambda o, x: ops.stack([x, x], 2, o),
            lambda x: np.stack([x, x], 2),
            ("square",),
            ALL,
        ),
        Pair(
            "repeat",
            lambda o, x: ops.repeat(x, [1, 2], o),
            lambda x: np.tile(x, (1, 2)),
            ("square",),
            ALL,
        ),
        Pair(
            "repeat_interleave_int",
            lambda o, x: ops.repeat_interleave_int(x, 3, 3 * COUNT, o),
            lambda x: np.repeat(x, 3),
            ("x",),
            ALL,
        ),
        Pair("tril", lambda o, x: ops.tril(x, 0, o), np.tril, ("square",), ALL),
        Pair(
            "constant_pad_nd",
            lambda o, x: ops.constant_pad_nd(x, [2, 2, 2, 2], 0, o),
            lambda x: np.pad(x, 2),
            ("square",),
            ALL,
        ),
        Pair(
            "slice",
            lambda o, x: ops.slice(x, 1, 0, SIDE, 2, o),
            lambda x: x[:, ::2].copy(),
            ("square",),
            ALL,
        ),
        Pair(
            "sort of rows",  # with places, which the operator finds too
            lambda o, x: ops.sort(x, False, 1, False, o, ap.empty(x.shape, "int64")),
            lambda x: np.take_along_axis(x, np.argsort(x, 1, kind="stable"), 1),
            ("square",),
            REAL,
        ),
        Pair("diag_flat", lambda o, x: ops.diag_flat(x, 0, o), np.diagflat, ("short",), ALL),
        Pair(
            "inplace_fill_scalar",
            lambda o, x: ops.inplace_fill_scalar(o, 3),
            lambda x: np.full_like(x, x.dtype.type(3)),
            ("x",),
            ALL,
        ),
    ]


def casts() -> list[Pair]:
    kinds = ("float32", "float16", "float64", "bool", "int8", "uint8", "int16", "int32", "int64")
    return [
        Pair(
            f"cast to {to}",
            lambda o, x, to=to: ap.ops.cast(x, to, o),
            lambda x, to=to: x.astype(to),
            ("x",),
            kinds,
        )
        for to in kinds
    ]


def operand(kind: str, dtype: str) -> Any:
    """A million elements of one kind."""
    rng = np.random.default_rng(len(kind))
    if kind == "same":
        return operand("x", dtype)
    shape = {"square": (SIDE, SIDE), "short": (SIDE,)}.get(kind, (COUNT,))
    if dtype == "bool":
        return rng.random(shape) < (1 if kind == "ones" else 0.5)
    if kind == "ones":
        return np.ones(shape, dtype)
    wanted = np.dtype(dtype)
    if wanted.kind in "iu":
        low, high = {"y": (1, 9), "few": (0, 5)}.get(kind, (0 if wanted.kind == "u" else -100, 100))
        return rng.integers(low, high, shape).astype(dtype)
    if kind in ("y", "few"):
        found = rng.uniform(0.1, 4, shape)
    elif kind == "unit":
        found = rng.uniform(-0.99, 0.99, shape)
    elif kind == "above":
        found = rng.uniform(1, 9, shape)
    else:
        found = rng.standard_normal(shape)
    if wanted.kind == "c":
        found = found + 1j * rng.standard_normal(shape)
    return found.astype(dtype)


def agree(mine: Any, other: Any) -> bool:
    close = max(ROUNDING.get(str(a.dtype), 1e-9) for a in (mine, other))
    if mine.dtype.kind in "iub" and other.dtype.kind in "iub":
        return bool(np.array_equal(mine, other))
    return bool(np.allclose(mine, other, rtol=close, atol=close, equal_nan=True))


def compared(pair: Pair, dtype: str, rounds: int) -> tuple[float, float, bool] | str:
    """Least ms of either and whether they agree; why not, where the operator refuses."""
    arrays = [operand(kind, dtype) for kind in pair.operands]
    with np.errstate(all="ignore"):
        tensors = [ap.from_numpy(array) for array in arrays]
        try:
            expected = np.asarray(pair.theirs(*arrays))
            out = ap.empty(expected.shape, pair.result or expected.dtype)

            def ours(calls: int = 1) -> None:
                for _ in range(calls):
                    pair.ours(out, *tensors)
                ap.synchronize()

            ours()
        except (ap.errors.StatusError, TypeError) as error:
            return str(error)
        same = agree(out.numpy(), expected)

        def theirs(calls: int) -> None:
            for _ in range(calls):
                pair.theirs(*arrays)

        best = [float("inf")] * 2
        for _ in range(rounds):
            for side, work in enumerate((ours, theirs)):
                best[side] = min(best[side], cpu_ms(partial(work, CALLS)) / CALLS)
    return best[0], best[1], same


def everything() -> list[Pair]:
    return [*arithmetic(), *questions(), *bits(), *functions(), *reductions(), *places(), *casts()]


def main(names: list[str], rounds: int = 12) -> int:
    """Print a table; 1 where an operator was slower."""
    slower = refused = 0
    with ap.Device(0):
        for pair in everything():
            if names and not any(name in pair.name for name in names):
                continue
            for dtype in pair.dtypes:
                found = compared(pair, dtype, rounds)
                if isinstance(found, str):
                    refused += 1
                    continue
                ours, theirs, same = found
                slower += ours > theirs
                note = "  slower" if ours > theirs else ""
                note += "" if same else "  differs"
                figures = f"{ours:9.3f}{theirs:9.3f}{ours / theirs:8.2f}"
                print(f"{pair.name:28}{dtype:12}{figures}{note}", flush=True)
    print(f"{slower} rows above 1; {refused} are refused by CANN's rules or have no form in NumPy")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
