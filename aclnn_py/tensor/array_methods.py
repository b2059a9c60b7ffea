# SPDX-License-Identifier: Apache-2.0
"""Operators and methods of an array, which ``Tensor`` inherits.

Operators stand above tensors, so each method calls a function of ``aclnn_py.array`` through the
hook ``late.array``, which loads that package when the first of them is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aclnn_py import late

if TYPE_CHECKING:
    from aclnn_py.tensor.tensor import Tensor

__all__ = ["ArrayMethods"]

Axis = int | tuple[int, ...] | None


class ArrayMethods:
    """Expressions, reductions and conversions with NumPy's names, dtypes and errors."""

    __slots__ = ()

    # Elements are compared, as NumPy does, so equality says nothing about identity.
    __hash__ = object.__hash__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return late.array.array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return late.array.array_function(function, args, kwargs)

    def __add__(self, other: Any) -> Tensor:
        return _binary("add", self, other)

    def __radd__(self, other: Any) -> Tensor:
        return _binary("add", other, self)

    def __iadd__(self, other: Any) -> Tensor:
        return _inplace("add", self, other)

    def __sub__(self, other: Any) -> Tensor:
        return _binary("subtract", self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return _binary("subtract", other, self)

    def __isub__(self, other: Any) -> Tensor:
        return _inplace("subtract", self, other)

    def __mul__(self, other: Any) -> Tensor:
        return _binary("multiply", self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return _binary("multiply", other, self)

    def __imul__(self, other: Any) -> Tensor:
        return _inplace("multiply", self, other)

    def __truediv__(self, other: Any) -> Tensor:
        return _binary("divide", self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return _binary("divide", other, self)

    def __itruediv__(self, other: Any) -> Tensor:
        return _inplace("divide", self, other)

    def __floordiv__(self, other: Any) -> Tensor:
        return _binary("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Tensor:
        return _binary("floor_divide", other, self)

    def __ifloordiv__(self, other: Any) -> Tensor:
        return _inplace("floor_divide", self, other)

    def __mod__(self, other: Any) -> Tensor:
        return _binary("remainder", self, other)

    def __rmod__(self, other: Any) -> Tensor:
        return _binary("remainder", other, self)

    def __imod__(self, other: Any) -> Tensor:
        return _inplace("remainder", self, other)

    def __pow__(self, other: Any) -> Tensor:
        return _binary("power", self, other)

    def __rpow__(self, other: Any) -> Tensor:
        return _binary("power", other, self)

    def __ipow__(self, other: Any) -> Tensor:
        return _inplace("power", self, other)

    def __and__(self, other: Any) -> Tensor:
        return _binary("bitwise_and", self, other)

    def __rand__(self, other: Any) -> Tensor:
        return _binary("bitwise_and", other, self)

    def __iand__(self, other: Any) -> Tensor:
        return _inplace("bitwise_and", self, other)

    def __or__(self, other: Any) -> Tensor:
        return _binary("bitwise_or", self, other)

    def __ror__(self, other: Any) -> Tensor:
        return _binary("bitwise_or", other, self)

    def __ior__(self, other: Any) -> Tensor:
        return _inplace("bitwise_or", self, other)

    def __xor__(self, other: Any) -> Tensor:
        return _binary("bitwise_xor", self, other)

    def __rxor__(self, other: Any) -> Tensor:
        return _binary("bitwise_xor", other, self)

    def __ixor__(self, other: Any) -> Tensor:
        return _inplace("bitwise_xor", self, other)

    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        return _binary("equal", self, other)

    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        return _binary("not_equal", self, other)

    def __lt__(self, other: Any) -> Tensor:
        return _binary("less", self, other)

    def __le__(self, other: Any) -> Tensor:
        return _binary("less_equal", self, other)

    def __gt__(self, other: Any) -> Tensor:
        return _binary("greater", self, other)

    def __ge__(self, other: Any) -> Tensor:
        return _binary("greater_equal", self, other)

    def __matmul__(self, other: Any) -> Tensor:
        return _binary("matmul", self, other)

    def __rmatmul__(self, other: Any) -> Tensor:
        return _binary("matmul", other, self)

    def __imatmul__(self, other: Any) -> Tensor:
        self[...] = late.array.matmul(self, other)
        return self  # type: ignore[return-value]

    def __divmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return _binary("floor_divide", self, other), _binary("remainder", self, other)

    def __neg__(self) -> Tensor:
        return _unary("negative", self)

    def __pos__(self) -> Tensor:
        return _unary("positive", self)

    def __abs__(self) -> Tensor:
        return _unary("absolute", self)

    def __invert__(self) -> Tensor:
        return _unary("invert", self)

    def __setitem__(self, key: Any, value: Any) -> None:
        late.array.assign(self, key, value)

    def __iter__(self) -> Iterator[Tensor]:
        tensor = _tensor(self)
        if not tensor.ndim:
            raise TypeError("iteration over a tensor without dimensions")
        return (tensor[i] for i in range(len(tensor)))

    def __contains__(self, value: Any) -> bool:
        return bool(late.array.reduce("any", self == value))

    def __bool__(self) -> bool:
        tensor = _tensor(self)
        if tensor.count != 1:
            raise ValueError("the truth value of a tensor is ambiguous; use any() or all()")
        return bool(tensor.item())

    def __int__(self) -> int:
        return int(_only_element(self))

    def __float__(self) -> float:
        return float(_only_element(self))

    def __complex__(self) -> complex:
        return complex(_only_element(self))

    def __repr__(self) -> str:
        text: str = late.array.text_of(self)
        return text

    # Reductions. Arguments are NumPy's.

    def sum(self, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Tensor:
        """Add the elements along dimensions; int64 or uint64 for integers."""
        return _reduce("sum", self, axis, dtype, keepdims)

    def prod(self, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Tensor:
        """Multiply the elements along dimensions; int64 or uint64 for integers."""
        return _reduce("prod", self, axis, dtype, keepdims)

    def mean(self, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Tensor:
        """Average along dimensions; float64 for integers."""
        return _reduce("mean", self, axis, dtype, keepdims)

    def max(self, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
        """Largest element along dimensions."""
        return _reduce("max", self, axis, None, keepdims)

    def min(self, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
        """Smallest element along dimensions."""
        return _reduce("min", self, axis, None, keepdims)

    def any(self, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
        """Tell whether an element along dimensions is not zero."""
        return _reduce("any", self, axis, None, keepdims)

    def all(self, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
        """Tell whether all elements along dimensions are not zero."""
        return _reduce("all", self, axis, None, keepdims)

    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
        """Index of the first largest element, in row-major order or along a dimension."""
        return _call("arg_extreme", "argmax", self, axis, keepdims)

    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
        """Index of the first smallest element, in row-major order or along a dimension."""
        return _call("arg_extreme", "argmin", self, axis, keepdims)

    def var(self, axis: Axis = None, *, ddof: int = 0, keepdims: bool = False) -> Tensor:
        """Variance along dimensions; ``ddof`` diminishes the divisor."""
        return _call("variance", self, axis, ddof, keepdims)

    def std(self, axis: Axis = None, *, ddof: int = 0, keepdims: bool = False) -> Tensor:
        """Standard deviation along dimensions; ``ddof`` diminishes the divisor."""
        return _call("standard_deviation", self, axis, ddof, keepdims)

    def cumsum(self, axis: int | None = None, dtype: Any = None) -> Tensor:
        """Running sum, in row-major order or along a dimension."""
        return _call("accumulate", "cumsum", self, axis, dtype)

    def cumprod(self, axis: int | None = None, dtype: Any = None) -> Tensor:
        """Running product, in row-major order or along a dimension."""
        return _call("accumulate", "cumprod", self, axis, dtype)

    # Other forms of the same elements.

    @property
    def size(self) -> int:
        """Number of elements."""
        return _tensor(self).count

    @property
    def itemsize(self) -> int:
        """Bytes of one element in a host array."""
        return _tensor(self).dtype.itemsize

    def softmax(self, axis: int = -1) -> Tensor:
        """Divide exponentials by their sum along one dimension."""
        result: Tensor = late.functional.softmax(_tensor(self), axis)
        return result

    def clip(self, min: Any = None, max: Any = None) -> Tensor:
        """Limit the elements to a range."""
        return _call("clip", self, min, max)

    def round(self, decimals: int = 0) -> Tensor:
        """Round to a number of decimals, ties to even."""
        return _call("rounded", self, decimals)

    def dot(self, other: Tensor) -> Tensor:
        """Matrix product; with a number or a tensor without dimensions, product of elements."""
        return _call("dot", self, other)

    def nonzero(self) -> tuple[Tensor, ...]:
        """Indices of the elements that are not zero, one tensor for each dimension."""
        found: tuple[Tensor, ...] = late.array.nonzero(self)
        return found

    def take(self, indices: Any, axis: int | None = None) -> Tensor:
        """Take elements in row-major order, or slices along a dimension."""
        return _call("take", self, indices, axis)

    def repeat(self, repeats: int, axis: int | None = None) -> Tensor:
        """Repeat every element, in row-major order or along a dimension."""
        return _call("repeat", self, repeats, axis)

    def argsort(self, axis: int | None = -1) -> Tensor:
        """Indices that would sort along a dimension; equal elements keep their order."""
        return _call("argsort", self, axis)

    def sort(self, axis: int = -1) -> None:
        """Sort along a dimension, in place."""
        self[...] = _call("sort", self, axis)

    def fill(self, value: Any) -> None:
        """Set all elements to one value."""
        self[...] = value

    def copy(self) -> Tensor:
        """Return a new row-major tensor of the same elements."""
        result: Tensor = late.functional.contiguous(_tensor(self))
        return result

    def flatten(self) -> Tensor:
        """Return a new tensor of one dimension with the same elements."""
        return _tensor(self.copy()).reshape(-1)

    def ravel(self) -> Tensor:
        """Return the elements in one dimension; a view where the strides allow it."""
        return _tensor(self).reshape(-1)

    def tolist(self) -> Any:
        """Wait for the work on this tensor and return its elements as nested lists."""
        return _tensor(self).numpy().tolist()

    if TYPE_CHECKING:

        def __getitem__(self, key: Any) -> Tensor: ...


def _tensor(value: Any) -> Tensor:
    """The same object as the class that inherits these methods."""
    tensor: Tensor = value
    return tensor


def _call(name: str, *args: Any) -> Tensor:
    result: Tensor = getattr(late.array, name)(*args)
    return result


def _unary(name: str, operand: Any) -> Tensor:
    return _call("apply", name, operand)


def _binary(name: str, a: Any, b: Any) -> Tensor:
    return _call("matmul", a, b) if name == "matmul" else _call("apply", name, a, b)


def _inplace(name: str, target: Any, other: Any) -> Tensor:
    result: Tensor = late.array.apply(name, target, other, out=target)
    return result


def _reduce(name: str, tensor: Any, axis: Axis, dtype: Any, keepdims: bool) -> Tensor:
    return _call("reduce", name, tensor, axis, dtype, keepdims)


def _only_element(value: Any) -> Any:
    tensor = _tensor(value)
    if tensor.count != 1:
        raise TypeError("only a tensor of one element converts to a number")
    return tensor.item()
