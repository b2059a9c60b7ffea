# SPDX-License-Identifier: Apache-2.0
"""Random numbers with the names and arguments of ``numpy.random.Generator``, on the device.

The methods of ``aclnn_py.Generator`` call these functions. The distributions are NumPy's, the
sequences are CANN's: the same seed does not give NumPy's numbers.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array.arithmetic import apply
from aclnn_py.array.operands import placed
from aclnn_py.array.promotion import cast
from aclnn_py.array.searching import take
from aclnn_py.random.drawing import Size
from aclnn_py.random.generator import Generator
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "choice",
    "exponential",
    "integers",
    "normal",
    "permutation",
    "random",
    "shuffle",
    "uniform",
]

_FLOATS = ("float64", "float32", "float16", "bfloat16")


def _shape(size: Size, *parameters: Any) -> tuple[int, ...]:
    """The size asked for; else that of the parameters together, as NumPy has it."""
    if size is None:
        return np.broadcast_shapes(*(np.shape(item) for item in parameters))
    return (int(size),) if isinstance(size, (int, np.integer)) else tuple(size)


def _float(dtype: Any) -> str:
    kind = dtype_of(dtype)
    if kind.name not in _FLOATS:
        raise TypeError(f"dtype: expected one of {', '.join(_FLOATS)}, got {kind}")
    return kind.name


def random(generator: Generator, size: Size = None, dtype: Any = "float64") -> Tensor:
    """From 0 to 1, without 1."""
    shape = _shape(size)
    return functional.uniform(0.0, 1.0, shape, dtype=_float(dtype), generator=generator)


def uniform(
    generator: Generator, low: Any = 0.0, high: Any = 1.0, size: Size = None, dtype: Any = "float64"
) -> Tensor:
    low, high = (_beside(generator, item) for item in (low, high))
    width = np.asarray(high - low)
    if not np.isfinite(width).all():
        raise OverflowError("high - low range exceeds valid bounds")
    if (width < 0).any():
        raise ValueError("high - low < 0")
    unit = random(generator, _shape(size, low, high), dtype)
    return cast(unit * (high - low) + low, unit.layout.dtype)


def normal(
    generator: Generator, loc: Any = 0.0, scale: Any = 1.0, size: Size = None,
    dtype: Any = "float64",
) -> Tensor:  # fmt: skip
    loc, scale = (_beside(generator, item) for item in (loc, scale))
    if bool(np.any(np.asarray(scale) < 0)):
        raise ValueError("scale < 0")
    shape = _shape(size, loc, scale)
    unit = functional.normal(0.0, 1.0, shape, dtype=_float(dtype), generator=generator)
    return cast(unit * scale + loc, unit.layout.dtype)


def exponential(
    generator: Generator, scale: Any = 1.0, size: Size = None, dtype: Any = "float64"
) -> Tensor:
    scale = _beside(generator, scale)
    if bool(np.any(np.asarray(scale) < 0)):
        raise ValueError("scale < 0")
    unit = random(generator, _shape(size, scale), dtype)
    # 1 - u is never 0, so that the logarithm is finite.
    return cast(apply("log", 1 - unit) * -scale, unit.layout.dtype)


def integers(
    generator: Generator, low: int, high: int | None = None, size: Size = None,
    dtype: Any = "int64", endpoint: bool = False,
) -> Tensor:  # fmt: skip
    first, last = (0, low) if high is None else (low, high)
    if np.ndim(first) or np.ndim(last):
        raise TypeError("low and high are numbers here; scale the numbers of random() for several")
    last += endpoint
    kind = dtype_of(dtype)
    limits = np.iinfo(kind.numpy)
    if first >= last:
        raise ValueError("low >= high")
    if first < limits.min or last - 1 > limits.max:
        raise ValueError(f"low or high is out of bounds for {kind}")
    # Equally likely from 0 on only, and as far as float32 tells integers apart.
    start = 0 if last - first <= 2**24 else first
    drawn = functional.randint(
        start, last - first + start, _shape(size), dtype="int64", generator=generator
    )
    if start != first:
        functional.add_(drawn, first)
    return cast(drawn, kind)


def permutation(generator: Generator, x: Any, axis: int = 0) -> Tensor:
    """The numbers below ``x``, or a copy of ``x``, in a random order along a dimension."""
    if isinstance(x, (int, np.integer)):
        return functional.randperm(int(x), generator=generator)
    values = placed(x, generator.device)
    order = functional.randperm(values.shape[axis], generator=generator)
    return take(values, order, axis)


def shuffle(generator: Generator, x: Tensor, axis: int = 0) -> None:
    """Bring the slices of a tensor along a dimension into a random order, in place."""
    if not isinstance(x, Tensor):
        raise TypeError(f"x: expected a Tensor, got {type(x).__name__}; NumPy shuffles on the host")
    x[...] = permutation(generator, x, axis)


def choice(
    generator: Generator, a: Any, size: Size = None, replace: bool = True, p: Any = None,
    axis: int = 0,
) -> Tensor:  # fmt: skip
    """Elements of ``a``, or numbers below it, with the probabilities ``p``."""
    whole = isinstance(a, (int, np.integer))
    values = None if whole else placed(a, generator.device)
    length = int(a) if values is None else values.shape[axis]
    shape = _shape(size)
    count = prod(shape)
    if not length and count:
        raise ValueError("a cannot be empty unless no samples are taken")
    if not replace and count > length:
        raise ValueError("Cannot take a larger sample than population when replace is False")
    if p is not None:
        chances = placed(p, generator.device)
        if chances.shape != (length,):
            raise ValueError("a and p must have same size")
        if bool((chances < 0).any()) or abs(float(chances.sum()) - 1) > 1e-6:
            raise ValueError("probabilities are not negative, and their sum is 1")
        weights = cast(chances, dtype_of("float32"))
        index = functional.multinomial(weights, count, replace, generator=generator)
    elif replace:
        index = integers(generator, length, size=count)
    else:
        index = functional.randperm(length, generator=generator)[:count]
    index = functional.contiguous(index).reshape(shape)
    if values is None:
        return index
    return take(values, index, axis)


def _beside(generator: Generator, value: Any) -> Any:
    """A number as it is; lists and arrays on the generator's device."""
    return value if isinstance(value, (int, float)) else placed(value, generator.device)
