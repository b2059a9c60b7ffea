# SPDX-License-Identifier: Apache-2.0
"""Random expressions on tensors and on NumPy arrays: `python -m tests.random_prompt`.

Each expression draws its function, its operands (dtypes, strided, transposed and broadcast views,
empty ones) and its keywords. Both sides must give the same shape, dtype and values. A refusal of
ours where NumPy has a value is counted by its reason, since CANN's operators lack dtypes; a value
where NumPy raises, and any other difference, is a defect.

Methods of ufuncs are left out: NumPy leaks their arguments where an operand of its protocol raises.
Values are small multiples of 1/4, so that sums and products are exact. Tolerance of other floats:
float16 1e-2, float32 2e-5, float64 1e-9, relative to the element and to the largest one.
"""

from __future__ import annotations

import argparse
import collections
import sys
import time
import warnings
from typing import Any

import numpy as np

import aclnn_py as ap

TOLERANCES = {"float16": 1e-2, "float32": 2e-5, "float64": 1e-9, "complex64": 2e-5}
KINDS = ["f2", "f4", "f4", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "b1", "c8"]
UNARY = (
    "absolute", "negative", "positive", "sign", "square", "sqrt", "exp", "exp2", "expm1", "log",
    "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos",
    "arctan", "arcsinh", "arccosh", "arctanh", "floor", "ceil", "trunc", "rint", "isnan",
    "isinf", "isfinite", "logical_not", "invert", "conjugate", "cbrt", "radians",
    "fabs", "spacing", "bitwise_count", "fix", "isposinf", "isneginf", "nan_to_num", "sinc",
    "angle", "real", "imag", "iscomplex", "isreal",
)  # fmt: skip
# Where the last place of an operand does not decide about the first of the result.
NESTED = tuple(name for name in UNARY if not name.startswith(("exp", "sinh", "cosh", "tan")))
BINARY = (
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "power",
    "maximum", "minimum", "fmax", "fmin", "arctan2", "hypot", "logaddexp", "logaddexp2",
    "copysign", "nextafter", "heaviside", "equal", "not_equal", "less", "less_equal", "greater",
    "greater_equal", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or",
    "bitwise_xor", "left_shift", "right_shift", "gcd", "lcm", "float_power", "isclose",
)  # fmt: skip
OPERATORS = (
    "+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^", "<<",
    ">>",
)  # fmt: skip
REDUCING = (
    "sum", "prod", "mean", "max", "min", "any", "all", "std", "var", "ptp", "argmax", "argmin",
    "median", "nansum", "nanmax", "nanmean", "count_nonzero", "average", "nanprod", "nanmin",
    "nanstd",
)  # fmt: skip
RUNNING = (
    "cumsum", "cumprod", "nancumsum", "sort", "argsort", "flip", "diff", "unwrap",
)  # fmt: skip
SHAPING = (
    "{a}.T", "{a}.ravel()", "{a}.copy()", "np.flip({a})", "np.roll({a}, {n})", "np.tile({a}, 2)",
    "np.repeat({a}, 2)", "np.squeeze({a})", "np.atleast_2d({a})", "np.expand_dims({a}, 0)",
    "np.concatenate([{a}, {a}])", "np.stack([{a}, {a}])", "np.vstack([{a}, {b}])",
    "np.hstack([{a}, {b}])", "np.rot90({a})", "np.diag({a})", "np.tril({a})",
    "np.triu({a}, {n})", "np.trace({a})", "np.pad({a}, 1)", "np.pad({a}, 2, mode='edge')",
    "np.unique({a})", "np.nonzero({a})", "np.argwhere({a})", "np.flatnonzero({a})",
    "np.clip({a}, -1, 1)", "np.round({a}, 1)", "np.where({m}, {a}, {b})",
    "np.where({a}, {a}, {n})", "np.append({a}, {b})", "np.delete({a}, 0)",
    "np.insert({a}, 0, {n})", "np.outer({a}, {b})", "np.kron({a}, {n})",
    "np.searchsorted(np.sort({a}.ravel()), {b})", "np.isin({a}, {b})", "np.union1d({a}, {b})",
    "np.intersect1d({a}, {b})", "np.setdiff1d({a}, {b})", "np.quantile({a}, 0.25)",
    "np.percentile({a}, 40)", "np.histogram({a}, 3)", "np.bincount({a}.ravel())",
    "np.digitize({a}, [-1, 0, 1])", "np.gradient({a})", "np.trapezoid({a})", "np.ediff1d({a})",
    "np.take({a}, [0])", "np.compress([True], {a})", "np.extract({m}, {a})",
    "np.select([{m}], [{a}])", "np.array_equal({a}, {b})", "np.allclose({a}, {a})",
    "np.inner({a}, {b})", "{a} @ {b}", "np.dot({a}, {b})", "np.vander({v})",
    "np.polyval([1, 2], {a})", "np.interp({a}, [0.0, 1.0], [1.0, 3.0])", "np.cov({a})",
    "np.linalg.norm({a})", "np.meshgrid({a}, {b})", "np.broadcast_to({a}, (2,) + {a}.shape)",
    "{v}.astype('f4')", "{v}.astype('i4')", "np.average({a})",
    "np.apply_along_axis(np.sum, 0, {a})", "np.split({a}, [1])", "np.array_split({a}, 2)",
    "divmod({a}, {b})", "np.modf({v})", "np.frexp({a})", "np.ldexp({a}, {n})",
    "np.lexsort(({a}, {a}))", "np.moveaxis({a}, 0, -1)", "np.convolve({a}, {b})",
    "np.correlate({a}, {b}, 'full')", "np.einsum('i...->...', {a})", "np.cross({a}, {b})",
    "np.fliplr({a})", "np.flipud({a})", "np.diagonal({a})", "np.max({a}, initial={n})",
    "np.sum({a}, where={m})", "np.add.outer({a}, {b})", "{a} == None", "np.packbits({a})",
    "np.unravel_index({a}, (9, 9))", "np.trim_zeros({a})", "np.trim_zeros({a}, 'b', axis=0)",
    "np.quantile({a}, 0.3, axis=0, method='lower')", "np.percentile({a}, [0, 100])",
    "np.nanquantile({a}, 0.8, axis=-1)", "np.linalg.eigvalsh(np.outer({a}, {a}))",
)  # fmt: skip
KEYS = (
    "0", "-1", ":", "::2", "::-1", "1:", "...", "None", "[0]", "[0, -1]", "..., 0", "..., ::-1",
    "None, ...", "0, ...", "[[0], [-1]]", ":0", "np.array([0])", "..., [0]", "..., None, 0",
)  # fmt: skip


class Side:
    """The operands of one side, by name."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = {"np": np, **names}

    def outcome(self, text: str) -> Any:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return eval(text, self.names)
        except (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError) as error:
            return error
        except np.linalg.LinAlgError as error:
            return error


def operands(rng: np.random.Generator) -> dict[str, tuple[Any, str]]:
    """Whole arrays and the views of them that take part."""
    found: dict[str, tuple[Any, str]] = {}
    for kind in sorted(set(KINDS)):
        low = 0 if kind in ("u1", "b1") else -6
        grid = rng.integers(low, 7, (4, 6))
        whole = grid / 4 if kind[0] in "fc" else grid
        if kind == "c8":
            whole = whole + 1j * rng.integers(-6, 7, (4, 6)) / 4
        found[kind] = (whole.astype(kind), "")
    return found


VIEWS = (
    "[:3, :4]", "[0]", "[:, 1]", "[::2, ::3]", "[:3, 1:5].T", "[1, 2]", "[:0]", "[None, 1]",
    "[::-1, 2:]",
)  # fmt: skip


def expression(rng: np.random.Generator) -> str:
    def pick(*options: str) -> str:
        return options[int(rng.integers(len(options)))]

    def operand(depth: int) -> str:
        base = f"{pick(*KINDS)}{pick(*VIEWS)}"
        if depth and rng.random() < 0.3:
            return f"np.{pick(*NESTED)}({base})"
        return base

    def number() -> str:
        return pick("0", "1", "2", "-1", "3", "1.5", "True", "np.float32(2)", "np.int64(3)")

    shape = int(rng.integers(7))
    a = operand(1)
    b = operand(0) if rng.random() < 0.6 else a
    if shape == 0:
        return f"np.{pick(*UNARY)}({a})"
    if shape == 1:
        return f"np.{pick(*BINARY)}({a}, {b if rng.random() < 0.7 else number()})"
    if shape == 2:
        other = b if rng.random() < 0.7 else number()
        return (
            f"({a}) {pick(*OPERATORS)} ({other})"
            if rng.random() < 0.7
            else f"({other}) {pick(*OPERATORS)} ({a})"
        )
    if shape == 3:
        how = pick("", ", axis=0", ", axis=-1", ", axis=1") + pick("", "", ", keepdims=True")
        name = pick(*REDUCING)
        if name == "average" and "keepdims" in how:
            how = ""
        return f"np.{name}({a}{how})"
    if shape == 4:
        name = pick(*RUNNING)
        stable = ", kind='stable'" if name == "argsort" else ""
        return f"np.{name}({a}{pick('', ', axis=0', ', axis=-1')}{stable})"
    if shape == 5:
        return f"({a})[{pick(*KEYS)}]"
    mask = f"{pick('b1', 'i4')}{pick(*VIEWS)} > 0"
    return pick(*SHAPING).format(a=a, b=b, m=mask, n=number(), v=operand(0))


def difference(result: Any, wanted: Any, least: float = 0.0) -> str:
    """What differs, or nothing; ``least`` is the tolerance of the operands."""
    if isinstance(wanted, (tuple, list)) and not isinstance(result, ap.Tensor):
        if not isinstance(result, (tuple, list)) or len(result) != len(wanted):
            return f"{result!r} instead of {len(wanted)} results"
        found = (difference(*pair, least) for pair in zip(result, wanted, strict=True))
        return next((text for text in found if text), "")
    if not isinstance(result, ap.Tensor):
        if isinstance(wanted, np.ndarray):
            return f"no tensor: {result!r}"
        same = result == wanted or (result != result and wanted != wanted)
        return "" if same else f"{result!r} instead of {wanted!r}"
    values, other = np.asarray(result), np.asarray(wanted)
    if values.shape != other.shape:
        return f"shape {values.shape} instead of {other.shape}"
    if values.dtype != other.dtype:
        return f"dtype {values.dtype} instead of {other.dtype}"
    limit = max(TOLERANCES.get(values.dtype.name, 0.0), least * (values.dtype.kind in "fc"))
    with np.errstate(all="ignore"):
        finite = np.abs(other[np.isfinite(other)])
        scale = max(1.0, float(finite.max())) if limit and finite.size else 1.0
        close = np.isclose(values, other, rtol=limit, atol=limit * scale, equal_nan=True)
        if values.dtype.kind == "c" or values.dtype == np.float16 or least == TOLERANCES["float16"]:
            # Where half precision overflows depends on the order of operations, and which of the
            # infinities of complex numbers comes out is open.
            close |= ~np.isfinite(values) | ~np.isfinite(other)
    if close.all():
        return ""
    at = np.argwhere(~close)[0]
    return f"at {tuple(at.tolist())} {values[tuple(at)]!r} instead of {other[tuple(at)]!r}"


def least_of(text: str) -> float:
    """The tolerance of the least exact operand; small integers give float16 in ufuncs."""
    if any(kind in text for kind in ("f2", "i1", "u1", "b1")):
        return TOLERANCES["float16"]
    return TOLERANCES["float32"] if any(kind in text for kind in ("f4", "i2", "c8")) else 0.0


Outcome = tuple[collections.Counter[str], list[str], dict[str, str]]


def judge(text: str, wanted: Any, result: Any) -> tuple[str, str]:
    """What a result is beside NumPy's, and the defect if it is one."""
    if isinstance(wanted, Exception):
        if isinstance(result, Exception):
            return "both refuse", ""
        return "only NumPy refuses", f"{text}: {result!r:.120} where NumPy raises {wanted!r:.120}"
    if isinstance(result, Exception):
        return "refused: " + str(result).split("\n")[0][:60], ""
    if found := difference(result, wanted, least_of(text)):
        return "different", f"{text}: {found}"
    return "equal", ""


def run(calls: int, seed: int, quiet: bool = False, times: int = 1) -> Outcome:
    """Compare so many expressions; return the counts and the defects.

    The device computes each one `times` times: from the third time on it may go the short way.
    """
    counts: collections.Counter[str] = collections.Counter()
    defects: list[str] = []
    examples: dict[str, str] = {}
    start = time.monotonic()
    for number in range(calls):
        rng = np.random.default_rng((seed, number))
        if number % 200 == 0:
            made = operands(rng)
            host = Side({name: whole.copy() for name, (whole, _) in made.items()})
            device = Side({name: ap.from_numpy(whole) for name, (whole, _) in made.items()})
        text = expression(rng)
        wanted = host.outcome(text)
        for _ in range(times):
            kind, defect = judge(text, wanted, device.outcome(text))
            if defect:
                break
        counts[kind] += 1
        if kind.startswith("refused: "):
            counts["refused on the device"] += 1
            examples.setdefault(kind.removeprefix("refused: "), text)
        defects += [defect] if defect else []
        if not quiet and (number + 1) % 20000 == 0:
            rate = (number + 1) / (time.monotonic() - start)
            print(f"{number + 1} ({rate:.0f}/s), {len(defects)} defects", flush=True)
    return counts, defects, examples


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--times", type=int, default=1, help="how often each is computed")
    given = parser.parse_args()
    counts, defects, examples = run(given.calls, given.seed, times=given.times)
    for text in defects[:200]:
        print(text)
    for name, count in counts.most_common(60):
        example = examples.get(name.removeprefix("refused: "), "")
        print(f"{count:8d}  {name}{': ' * bool(example)}{example}")
    return bool(defects)


if __name__ == "__main__":
    sys.exit(main())
