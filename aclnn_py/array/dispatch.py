# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions on tensors: they run on the device, or refuse and say what to use.

``np.asarray(t)`` and ``np.array(t)`` copy to the host because that is what they are for; no other
function does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aclnn_py import functional
from aclnn_py.array import arithmetic, reduction
from aclnn_py.array.products import matmul
from aclnn_py.array.promotion import cast, expect_operands, result_type, tensor_of
from aclnn_py.tensor.creation import empty_like, zeros_like
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = ["FUNCTIONS", "array_function", "array_ufunc"]

_ADVICE = "np.asarray(t) copies a tensor to the host"
# What NumPy hands on for an argument that was not given; not every release declares it.
_NO_VALUE: Any = getattr(np, "_NoValue", None)
# Reductions of ufuncs that stand for a function of their own.
_REDUCING = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_or": "any",
    "logical_and": "all",
}


def array_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Evaluate a ufunc on tensors."""
    name = ufunc.__name__
    if method == "reduce" and name in _REDUCING and len(inputs) == 1:
        given = {"axis": 0, **kwargs}
        _only(f"np.{name}.reduce", given, "axis", "dtype", "keepdims")
        return reduction.reduce(_REDUCING[name], inputs[0], **given)
    if method != "__call__":
        raise TypeError(f"np.{name}.{method} does not run on the device; {_ADVICE}")
    out = kwargs.pop("out", (None,))
    dtype = kwargs.pop("dtype", None)
    _only(f"np.{name}", kwargs)
    if name == "matmul":
        result = matmul(*inputs)
    elif name in arithmetic.NAMES:
        if dtype is not None:
            inputs = tuple(_converted(item, dtype) for item in inputs)
        return arithmetic.apply(name, *inputs, out=out[0])
    else:
        raise TypeError(f"np.{name} does not run on the device; {_ADVICE}")
    if out[0] is not None:
        out[0][...] = result
        return out[0]
    return result if dtype is None else cast(result, dtype_of(dtype))


def array_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Evaluate another function of NumPy on tensors."""
    found = FUNCTIONS.get(function)
    if found is None:
        name = f"{function.__module__}.{function.__name__}".replace("numpy", "np", 1)
        raise TypeError(f"{name} does not run on the device; {_ADVICE}")
    return found(*args, **{name: v for name, v in kwargs.items() if v is not _NO_VALUE})


def dot(a: Any, b: Any) -> Tensor:
    """Evaluate ``np.dot``: a matrix product, or an element-wise one if an operand is 0-d."""
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a.ndim and b.ndim:
        if b.ndim > 2:
            raise TypeError("dot: not for more than two dimensions on the right; use matmul")
        return matmul(a, b)
    # To np.dot a Python number is an array, with a dtype that is not weak.
    return arithmetic.apply(
        "multiply", *(x if isinstance(x, Tensor) else np.asarray(x) for x in (a, b))
    )


def concatenate(arrays: Sequence[Tensor], axis: int | None = 0) -> Tensor:
    """Join tensors along a dimension."""
    tensors = _common(arrays)
    if axis is None:
        tensors, axis = [tensor.reshape(-1) for tensor in tensors], 0
    return functional.cat(tensors, reduction.axes_of(axis, tensors[0].ndim)[0])


def stack(arrays: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Join tensors of one shape along a new dimension."""
    tensors = _common(arrays)
    return functional.stack(tensors, reduction.axes_of(axis, tensors[0].ndim + 1)[0])


def where(condition: Any, *choices: Any) -> Any:
    """Choose between two operands, or find where the condition holds."""
    if not choices:
        return nonzero(condition)
    a, b = choices
    device = expect_operands("where", condition, a, b)
    kind = result_type(a, b)
    operands = (tensor_of(item, kind, device) for item in choices)
    return functional.where(tensor_of(condition, dtype_of("bool"), device), *operands)


def nonzero(tensor: Tensor) -> tuple[Tensor, ...]:
    """Indices of the elements that are not zero, one tensor for each dimension."""
    if not tensor.ndim:
        raise ValueError("nonzero: not for a tensor without dimensions; reshape it to (1,) first")
    places = functional.nonzero(tensor)
    return tuple(functional.contiguous(places[:, i]) for i in range(tensor.ndim))


def clip(tensor: Tensor, a_min: Any = None, a_max: Any = None) -> Tensor:
    """Limit the elements to a range."""
    result = tensor
    if tensor.dtype.kind in "iu":  # a limit beyond those of the dtype changes nothing
        limits = np.iinfo(tensor.dtype)
        if type(a_min) is int:
            a_min = max(a_min, limits.min)
        if type(a_max) is int:
            a_max = min(a_max, limits.max)
    if a_min is not None:
        result = arithmetic.apply("maximum", result, a_min)
    if a_max is not None:
        result = arithmetic.apply("minimum", result, a_max)
    return functional.contiguous(tensor) if result is tensor else result


def rounded(tensor: Tensor, decimals: int = 0) -> Tensor:
    """Round to a number of decimals, ties to even."""
    if tensor.dtype.kind in "biu":
        return functional.contiguous(tensor)
    if decimals == 0:
        return functional.round(tensor)
    factor = 10.0 ** abs(decimals)
    first, last = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    return arithmetic.apply(last, functional.round(arithmetic.apply(first, tensor, factor)), factor)


def repeat(tensor: Tensor, repeats: int, axis: int | None = None) -> Tensor:
    """Repeat every element."""
    if axis is None:
        tensor, axis = tensor.reshape(-1), 0
    return functional.repeat_interleave(tensor, repeats, reduction.axes_of(axis, tensor.ndim)[0])


def take(tensor: Tensor, indices: Any, axis: int | None = None) -> Tensor:
    """Take slices along a dimension."""
    if axis is None:
        tensor, axis = tensor.reshape(-1), 0
    key: list[Any] = [slice(None)] * tensor.ndim
    key[reduction.axes_of(axis, tensor.ndim)[0]] = indices
    return tensor[tuple(key)]


def flip(tensor: Tensor, axis: Any = None) -> Tensor:
    """Reverse dimensions."""
    return functional.flip(tensor, reduction.axes_of(axis, tensor.ndim))


def roll(tensor: Tensor, shift: Any, axis: Any = None) -> Tensor:
    """Move elements along dimensions."""
    if axis is None:
        return functional.roll(tensor.reshape(-1), (shift,), (0,)).reshape(tensor.shape)
    axes = reduction.axes_of(axis, tensor.ndim)
    shifts = (shift,) * len(axes) if isinstance(shift, int) else tuple(shift)
    return functional.roll(tensor, shifts, axes)


def argsort(tensor: Tensor, axis: int | None = -1) -> Tensor:
    """Indices that would sort; equal elements keep their order."""
    if axis is None:
        tensor, axis = tensor.reshape(-1), 0
    return functional.sort(tensor, axis, stable=True)[1]


def sort(tensor: Tensor, axis: int | None = -1) -> Tensor:
    """Sort along a dimension."""
    if axis is None:
        tensor, axis = tensor.reshape(-1), 0
    return functional.sort(tensor, reduction.axes_of(axis, tensor.ndim)[0])[0]


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Tell where operands differ by no more than a tolerance."""
    device = expect_operands("isclose", a, b)
    kind = result_type(a, b)
    left, right = (tensor_of(item, kind, device) for item in (a, b))
    return functional.isclose(left, right, rtol, atol, equal_nan)


def array_equal(a: Any, b: Any) -> bool:
    """Tell whether shapes and elements are equal."""
    return bool(np.shape(a) == np.shape(b)) and bool(reduction.reduce("all", a == b))


def full_like(tensor: Tensor, fill_value: Any, dtype: Any = None) -> Tensor:
    """Tensor of one value."""
    result = empty_like(tensor, dtype=dtype)
    result[...] = fill_value
    return result


def real(tensor: Tensor) -> Tensor:
    """View of the real parts; of real numbers the tensor itself."""
    return arithmetic.part(tensor, 0) if tensor.dtype.kind == "c" else tensor


def imag(tensor: Tensor) -> Tensor:
    """View of the imaginary parts; of real numbers zeros."""
    return arithmetic.part(tensor, 1) if tensor.dtype.kind == "c" else zeros_like(tensor)


def outer(a: Any, b: Any) -> Tensor:
    """Products of each element of one operand with each of the other."""
    expect_operands("outer", a, b)
    # As to np.dot, a Python number is an array to np.outer.
    column = a.reshape(-1, 1) if isinstance(a, Tensor) else np.asarray(a)
    row = b.reshape(1, -1) if isinstance(b, Tensor) else np.asarray(b)
    return arithmetic.apply("multiply", column, row).reshape(np.size(a), np.size(b))


def ptp(tensor: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Distance from the smallest to the largest element."""
    largest, smallest = (
        reduction.reduce(n, tensor, axis, keepdims=keepdims) for n in ("max", "min")
    )
    return arithmetic.apply("subtract", largest, smallest)


def diff(tensor: Tensor, n: int = 1, axis: int = -1) -> Tensor:
    """Differences of neighbours along a dimension, ``n`` times."""
    if not tensor.ndim:
        raise ValueError("diff requires input that is at least one dimensional")
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    (at,) = reduction.axes_of(axis, tensor.ndim)
    name = "not_equal" if tensor.dtype == np.bool_ else "subtract"
    whole = [slice(None)] * at
    later, earlier = (*whole, slice(1, None)), (*whole, slice(None, -1))
    for _ in range(n):
        tensor = arithmetic.apply(name, tensor[later], tensor[earlier])
    return tensor


def norm(tensor: Tensor, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Norm of vectors; without an axis and an order, of all elements as one vector."""
    axes = reduction.axes_of(axis, tensor.ndim)
    if ord is not None and (len(axes) > 1 or not isinstance(ord, (int, float)) or ord == 0):
        raise TypeError(
            f"np.linalg.norm: the order {ord!r} over {len(axes)} dimensions does not run on the "
            f"device; {_ADVICE}"
        )
    if tensor.dtype.kind in "biu":
        tensor = cast(tensor, dtype_of("float64"))
    lengths = arithmetic.apply("absolute", tensor)
    if ord in (np.inf, -np.inf):
        return reduction.reduce("max" if ord > 0 else "min", lengths, axes, keepdims=keepdims)
    if ord in (None, 2):
        squares = arithmetic.apply("square", lengths)
        return arithmetic.apply("sqrt", reduction.reduce("sum", squares, axes, keepdims=keepdims))
    powers = arithmetic.apply("power", lengths, float(ord))
    total = reduction.reduce("sum", powers, axes, keepdims=keepdims)
    return arithmetic.apply("power", total, 1.0 / ord)


def moveaxis(tensor: Tensor, source: Any, destination: Any) -> Tensor:
    """Move dimensions to other places."""
    places = reduction.axes_of(source, tensor.ndim)
    targets = reduction.axes_of(destination, tensor.ndim)
    order = [axis for axis in range(tensor.ndim) if axis not in places]
    for target, place in sorted(zip(targets, places, strict=True)):
        order.insert(target, place)
    return tensor.permute(*order)


def expand_dims(tensor: Tensor, axis: int) -> Tensor:
    """Insert a dimension of length 1."""
    return tensor.unsqueeze(reduction.axes_of(axis, tensor.ndim + 1)[0])


def _common(arrays: Sequence[Any]) -> list[Tensor]:
    expect_operands("concatenate", *arrays)
    kind = result_type(*arrays)
    return [cast(array, kind) for array in arrays]


def _converted(item: Any, dtype: Any) -> Any:
    return cast(item, dtype_of(dtype)) if isinstance(item, Tensor) else item


def _only(name: str, kwargs: dict[str, Any], *known: str) -> None:
    for argument in kwargs:
        if argument not in known:
            raise TypeError(f"{name}: the argument {argument!r} is not taken for tensors")


def _method(name: str) -> Callable[..., Any]:
    def call(tensor: Tensor, *args: Any, **kwargs: Any) -> Any:
        if kwargs.pop("out", None) is not None:
            raise TypeError(f"np.{name}: the argument 'out' is not taken for tensors")
        return getattr(tensor, name)(*args, **kwargs)

    return call


def _row(name: str) -> Callable[..., Any]:
    def call(tensor: Tensor, *args: Any, **kwargs: Any) -> Any:
        return getattr(functional, name)(tensor, *args, **kwargs)

    return call


# NumPy's function -> what evaluates it. Methods of the same name take the same arguments.
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{getattr(np, name): _method(name) for name in (
        "sum", "prod", "mean", "max", "min", "any", "all", "argmax", "argmin", "std", "var",
        "cumsum", "cumprod", "reshape", "transpose", "squeeze", "ravel", "swapaxes", "copy",
        "broadcast_to", "astype",
    ) if hasattr(np, name)},  # np.astype came with NumPy 2.1
    **{getattr(np, name): _row(name) for name in ("tril", "triu")},
    np.amax: _method("max"),
    np.amin: _method("min"),
    np.shape: lambda tensor: tensor.shape,
    np.ndim: lambda tensor: tensor.ndim,
    np.size: lambda tensor, axis=None: tensor.size if axis is None else tensor.shape[axis],
    np.concatenate: concatenate,
    np.stack: stack,
    np.where: where,
    np.nonzero: nonzero,
    np.argwhere: _row("nonzero"),
    np.count_nonzero: _row("count_nonzero"),
    np.clip: clip,
    np.round: rounded,
    np.repeat: repeat,
    np.tile: lambda tensor, reps: functional.tile(
        tensor, (reps,) if isinstance(reps, int) else tuple(reps)),
    np.take: take,
    np.flip: flip,
    np.roll: roll,
    np.sort: sort,
    np.argsort: argsort,
    np.isclose: isclose,
    np.allclose: lambda *args, **kwargs: bool(reduction.reduce("all", isclose(*args, **kwargs))),
    np.array_equal: array_equal,
    np.dot: dot,
    np.outer: outer,
    np.ptp: ptp,
    np.diff: diff,
    np.linalg.norm: norm,
    np.linalg.inv: _row("inverse"),
    np.real: real,
    np.imag: imag,
    np.expand_dims: expand_dims,
    np.moveaxis: moveaxis,
    np.zeros_like: lambda tensor, dtype=None: zeros_like(tensor, dtype=dtype),
    np.ones_like: lambda tensor, dtype=None: full_like(tensor, 1, dtype),
    np.full_like: full_like,
    np.empty_like: lambda tensor, dtype=None: empty_like(tensor, dtype=dtype),
}  # fmt: skip
