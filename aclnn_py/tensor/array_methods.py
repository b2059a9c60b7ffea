# SPDX-License-Identifier: Apache-2.0
"""Operators and methods of an array, which ``Tensor`` inherits.

Operators stand above tensors, so each method calls a function of ``aclnn_py.array`` through the
hook ``late.array``, which loads that package when the first of them is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aclnn_py import late
from aclnn_py.tensor.elements import is_element
from aclnn_py.tensor.flat import Flat
from aclnn_py.tensor.recipes import remembered

if TYPE_CHECKING:
    from aclnn_py.tensor.tensor import Tensor

__all__ = ["ArrayMethods"]

Axis = int | tuple[int, ...] | None
_ORDERS = ("C", "F", "A", "K")


class _Functions(dict[str, Callable[[Any, Any], "Tensor"]]):
    """Functions of two operands by NumPy's names, each with recipes of its own."""

    def __missing__(self, name: str) -> Callable[[Any, Any], Tensor]:
        def function(a: Any, b: Any) -> Tensor:
            result: Tensor = late.array.apply(name, a, b)
            return result

        self[name] = made = remembered(function)
        return made


_binary = _Functions()


class ArrayMethods:
    """Expressions, reductions and conversions with NumPy's names, dtypes and errors."""

    __slots__ = ()

    # Elements are compared, as NumPy does, so equality says nothing about identity.
    __hash__ = object.__hash__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return late.array.array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return late.array.array_function(function, args, kwargs)

    __add__ = _binary["add"]

    def __radd__(self, other: Any) -> Tensor:
        return _binary["add"](other, self)

    def __iadd__(self, other: Any) -> Tensor:
        return _inplace("add", self, other)

    __sub__ = _binary["subtract"]

    def __rsub__(self, other: Any) -> Tensor:
        return _binary["subtract"](other, self)

    def __isub__(self, other: Any) -> Tensor:
        return _inplace("subtract", self, other)

    __mul__ = _binary["multiply"]

    def __rmul__(self, other: Any) -> Tensor:
        if other.__class__ is str:
            return NotImplemented  # Python repeats it
        return _binary["multiply"](other, self)

    def __imul__(self, other: Any) -> Tensor:
        return _inplace("multiply", self, other)

    __truediv__ = _binary["divide"]

    def __rtruediv__(self, other: Any) -> Tensor:
        return _binary["divide"](other, self)

    def __itruediv__(self, other: Any) -> Tensor:
        return _inplace("divide", self, other)

    __floordiv__ = _binary["floor_divide"]

    def __rfloordiv__(self, other: Any) -> Tensor:
        return _binary["floor_divide"](other, self)

    def __ifloordiv__(self, other: Any) -> Tensor:
        return _inplace("floor_divide", self, other)

    __mod__ = _binary["remainder"]

    def __rmod__(self, other: Any) -> Tensor:
        return _binary["remainder"](other, self)

    def __imod__(self, other: Any) -> Tensor:
        return _inplace("remainder", self, other)

    def __pow__(self, other: Any) -> Tensor:
        tensor = _tensor(self)
        if type(other) is int and other == 2 and tensor.dtype.kind == "b" and tensor.ndim:
            # As NumPy does, which makes int8 of an array of booleans. What has no dimensions is a
            # scalar in its expressions, and of those it makes int64.
            return _unary("square", self)
        return _binary["power"](self, other)

    def __rpow__(self, other: Any) -> Tensor:
        return _binary["power"](other, self)

    def __ipow__(self, other: Any) -> Tensor:
        return _inplace("power", self, other)

    __and__ = _binary["bitwise_and"]

    def __rand__(self, other: Any) -> Tensor:
        return _binary["bitwise_and"](other, self)

    def __iand__(self, other: Any) -> Tensor:
        return _inplace("bitwise_and", self, other)

    __or__ = _binary["bitwise_or"]

    def __ror__(self, other: Any) -> Tensor:
        return _binary["bitwise_or"](other, self)

    def __ior__(self, other: Any) -> Tensor:
        return _inplace("bitwise_or", self, other)

    __xor__ = _binary["bitwise_xor"]

    def __rxor__(self, other: Any) -> Tensor:
        return _binary["bitwise_xor"](other, self)

    def __ixor__(self, other: Any) -> Tensor:
        return _inplace("bitwise_xor", self, other)

    def __lshift__(self, other: Any) -> Tensor:
        return _call("evaluate", "left_shift", self, other)

    def __rlshift__(self, other: Any) -> Tensor:
        return _call("evaluate", "left_shift", other, self)

    def __ilshift__(self, other: Any) -> Tensor:
        return self << other if is_element(self) else _into(_tensor(self), "<<", self << other)

    def __rshift__(self, other: Any) -> Tensor:
        return _call("evaluate", "right_shift", self, other)

    def __rrshift__(self, other: Any) -> Tensor:
        return _call("evaluate", "right_shift", other, self)

    def __irshift__(self, other: Any) -> Tensor:
        return self >> other if is_element(self) else _into(_tensor(self), ">>", self >> other)

    # As in NumPy, no element is equal to None or to a text.

    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        if other is None or other.__class__ is str:
            return _filled(self, False)
        return _binary["equal"](self, other)

    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        if other is None or other.__class__ is str:
            return _filled(self, True)
        return _binary["not_equal"](self, other)

    __lt__ = _binary["less"]

    __le__ = _binary["less_equal"]

    __gt__ = _binary["greater"]

    __ge__ = _binary["greater_equal"]

    def __matmul__(self, other: Any) -> Tensor:
        return _product(self, other)

    def __rmatmul__(self, other: Any) -> Tensor:
        return _product(other, self)

    def __imatmul__(self, other: Any) -> Tensor:
        return _into(_tensor(self), "matmul", _product(self, other))

    def __divmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return _binary["floor_divide"](self, other), _binary["remainder"](self, other)

    def __rdivmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return _binary["floor_divide"](other, self), _binary["remainder"](other, self)

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

    def __index__(self) -> int:
        tensor = _tensor(self)
        if tensor.ndim or tensor.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(tensor.item())

    def __round__(self, digits: int | None = None) -> Any:
        tensor = _tensor(self)
        if tensor.ndim:
            raise TypeError("round: not for a tensor with dimensions; use np.round or its method")
        return round(tensor.item()) if digits is None else self.round(digits)

    def __format__(self, spec: str) -> str:
        tensor = _tensor(self)
        return format(tensor.item() if spec and not tensor.ndim else str(self), spec)

    def __copy__(self) -> Tensor:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        result = self.copy()
        memo[id(self)] = result
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        kept: tuple[Any, ...] = late.array.pickled(self)
        return kept

    def __repr__(self) -> str:
        text: str = late.array.text_of(self)
        return text

    def __str__(self) -> str:
        text: str = late.array.plain_text_of(self)
        return text

    def _repr_html_(self) -> str:
        html: str = late.array.html_of(self)
        return html

    # Reductions. Arguments are NumPy's.

    def sum(
        self,
        axis: Axis = None,
        dtype: Any = None,
        out: Tensor | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Tensor:
        """Add the elements along dimensions; int64 or uint64 for integers."""
        return _reduce("sum", self, out, axis, dtype, keepdims, initial, where)

    def prod(
        self,
        axis: Axis = None,
        dtype: Any = None,
        out: Tensor | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Tensor:
        """Multiply the elements along dimensions; int64 or uint64 for integers."""
        return _reduce("prod", self, out, axis, dtype, keepdims, initial, where)

    def mean(
        self,
        axis: Axis = None,
        dtype: Any = None,
        out: Tensor | None = None,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Tensor:
        """Average along dimensions; float64 for integers."""
        return _reduce("mean", self, out, axis, dtype, keepdims, None, where)

    def max(
        self,
        axis: Axis = None,
        out: Tensor | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Tensor:
        """Largest element along dimensions."""
        return _reduce("max", self, out, axis, None, keepdims, initial, where)

    def min(
        self,
        axis: Axis = None,
        out: Tensor | None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Tensor:
        """Smallest element along dimensions."""
        return _reduce("min", self, out, axis, None, keepdims, initial, where)

    def any(
        self,
        axis: Axis = None,
        out: Tensor | None = None,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Tensor:
        """Tell whether an element along dimensions is not zero."""
        return _reduce("any", self, out, axis, None, keepdims, None, where)

    def all(
        self,
        axis: Axis = None,
        out: Tensor | None = None,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Tensor:
        """Tell whether all elements along dimensions are not zero."""
        return _reduce("all", self, out, axis, None, keepdims, None, where)

    def argmax(
        self, axis: int | None = None, out: Tensor | None = None, *, keepdims: bool = False
    ) -> Tensor:
        """Index of the first largest element, in row-major order or along a dimension."""
        return _into(out, "argmax", _call("arg_extreme", "argmax", self, axis, keepdims))

    def argmin(
        self, axis: int | None = None, out: Tensor | None = None, *, keepdims: bool = False
    ) -> Tensor:
        """Index of the first smallest element, in row-major order or along a dimension."""
        return _into(out, "argmin", _call("arg_extreme", "argmin", self, axis, keepdims))

    def var(
        self,
        axis: Axis = None,
        dtype: Any = None,
        out: Tensor | None = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        mean: Any = None,
    ) -> Tensor:
        """Variance along dimensions; ``ddof`` diminishes the divisor."""
        values = self if dtype is None else _tensor(self).astype(dtype)
        return _into(out, "var", _call("variance", values, axis, ddof, keepdims, where, mean))

    def std(
        self,
        axis: Axis = None,
        dtype: Any = None,
        out: Tensor | None = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        mean: Any = None,
    ) -> Tensor:
        """Standard deviation along dimensions; ``ddof`` diminishes the divisor."""
        values = self if dtype is None else _tensor(self).astype(dtype)
        return _into(
            out, "std", _call("standard_deviation", values, axis, ddof, keepdims, where, mean)
        )

    def ptp(self, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
        """Distance from the smallest to the largest element along dimensions."""
        result: Tensor = late.array.ptp(self, axis, keepdims=keepdims)
        return result

    def trace(
        self,
        offset: int = 0,
        axis1: int = 0,
        axis2: int = 1,
        dtype: Any = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Sum of a diagonal."""
        return _into(out, "trace", _call("trace", self, offset, axis1, axis2, dtype))

    def cumsum(
        self, axis: int | None = None, dtype: Any = None, out: Tensor | None = None
    ) -> Tensor:
        """Running sum, in row-major order or along a dimension."""
        return _into(out, "cumsum", _call("accumulate", "cumsum", self, axis, dtype))

    def cumprod(
        self, axis: int | None = None, dtype: Any = None, out: Tensor | None = None
    ) -> Tensor:
        """Running product, in row-major order or along a dimension."""
        return _into(out, "cumprod", _call("accumulate", "cumprod", self, axis, dtype))

    # Other forms of the same elements.

    @property
    def size(self) -> int:
        """Number of elements."""
        return _tensor(self).count

    @property
    def itemsize(self) -> int:
        """Bytes of one element in a host array."""
        return _tensor(self).dtype.itemsize

    @property
    def real(self) -> Tensor:
        """View of the real parts; of real numbers the tensor itself."""
        return _call("real", self)

    @real.setter
    def real(self, value: Any) -> None:
        _call("real", self)[...] = value

    @property
    def imag(self) -> Tensor:
        """View of the imaginary parts; of real numbers zeros."""
        return _call("imag", self)

    @imag.setter
    def imag(self, value: Any) -> None:
        if _tensor(self).dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        _call("imag", self)[...] = value

    @property
    def mT(self) -> Tensor:
        """View with the last two dimensions exchanged."""
        return _tensor(self).swapaxes(-1, -2)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Tensor:
        """Return the tensor itself, or a copy on another device, which passes the host.

        Parameters
        ----------
        device : Device or int
            Where the elements are wanted.
        stream : None
            The copy is complete when the call returns; a stream is not taken.
        """
        if stream is not None:
            raise ValueError("stream: the copy is complete at return; leave it out")
        result: Tensor = late.array.to_device(self, device)
        return result

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return late.xp.namespace(api_version)

    @property
    def flat(self) -> Flat:
        """The elements in row-major order: iterated, indexed and assigned."""
        return Flat(_tensor(self))

    @flat.setter
    def flat(self, value: Any) -> None:
        late.array.put(self, range(_tensor(self).count), value)

    def conj(self) -> Tensor:
        """Complex conjugates."""
        return self.conjugate()

    def conjugate(self) -> Tensor:
        """Complex conjugates; of real numbers the tensor itself."""
        tensor = _tensor(self)
        return _unary("conjugate", tensor) if tensor.dtype.kind == "c" else tensor

    def softmax(self, axis: int = -1) -> Tensor:
        """Divide exponentials by their sum along one dimension."""
        result: Tensor = late.functional.softmax(_tensor(self), axis)
        return result

    def clip(self, min: Any = None, max: Any = None, out: Tensor | None = None) -> Tensor:
        """Limit the elements to a range."""
        return _into(out, "clip", _call("clip", self, min, max))

    def round(self, decimals: int = 0, out: Tensor | None = None) -> Tensor:
        """Round to a number of decimals, ties to even."""
        return _into(out, "round", _call("rounded", self, decimals))

    def dot(self, other: Any, out: Tensor | None = None) -> Tensor:
        """Matrix product; with a number or a tensor without dimensions, product of elements."""
        return _into(out, "dot", _call("dot", self, other))

    def nonzero(self) -> tuple[Tensor, ...]:
        """Indices of the elements that are not zero, one tensor for each dimension."""
        found: tuple[Tensor, ...] = late.array.nonzero(self)
        return found

    def take(
        self, indices: Any, axis: int | None = None, out: Tensor | None = None, mode: str = "raise"
    ) -> Tensor:
        """Take elements in row-major order, or slices along a dimension."""
        return _into(out, "take", late.array.take(self, indices, axis, mode=mode))

    def repeat(self, repeats: Any, axis: int | None = None) -> Tensor:
        """Repeat every element, in row-major order or along a dimension."""
        return _call("repeat", self, repeats, axis)

    def argsort(
        self, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None
    ) -> Tensor:
        """Indices that would sort along a dimension; equal elements keep their order."""
        result: Tensor = late.array.argsort(self, axis, kind, order, stable=stable)
        return result

    def sort(
        self, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None
    ) -> None:
        """Sort along a dimension, in place; equal elements keep their order."""
        self[...] = late.array.sort(self, axis, kind, order, stable=stable)

    def partition(
        self, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None
    ) -> None:
        """Sort along a dimension, in place, which is a partition for every ``kth``."""
        self[...] = _call("partition", self, kth, axis, kind, order)

    def argpartition(
        self, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
    ) -> Tensor:
        """Indices that would sort along a dimension."""
        return _call("argpartition", self, kth, axis, kind, order)

    def searchsorted(self, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
        """Places in this sorted tensor that keep it sorted when elements are inserted."""
        return _call("searchsorted", self, v, side, sorter)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
        """View of a diagonal, in the last dimension."""
        return _call("diagonal", self, offset, axis1, axis2)

    def choose(self, choices: Any, out: Tensor | None = None, mode: str = "raise") -> Tensor:
        """Elements of the choice that each element numbers."""
        return _into(out, "choose", late.array.choose(self, choices, mode=mode))

    def compress(
        self, condition: Any, axis: int | None = None, out: Tensor | None = None
    ) -> Tensor:
        """Slices along a dimension where a condition holds."""
        return _into(out, "compress", _call("compress", condition, self, axis))

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        """Set elements by their places in row-major order."""
        late.array.put(self, indices, values, mode)

    def fill(self, value: Any) -> None:
        """Set all elements to one value."""
        self[...] = value

    def copy(self, order: str = "C") -> Tensor:
        """Return a new row-major tensor of the same elements, whatever ``order`` asks for."""
        if order not in _ORDERS:
            raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
        result: Tensor = late.functional.contiguous(_tensor(self))
        return result

    def flatten(self, order: str = "C") -> Tensor:
        """Return a new tensor of one dimension with the same elements."""
        return self.ravel(order).copy()

    def ravel(self, order: str = "C") -> Tensor:
        """Return the elements in one dimension; a view if they follow each other."""
        return _call("ravel", self, order)

    def tolist(self) -> Any:
        """Wait for the work on this tensor and return its elements as nested lists."""
        return _tensor(self).numpy().tolist()

    def tobytes(self, order: str | None = "C") -> bytes:
        """Wait for the work on this tensor and return the bytes of its elements."""
        return _tensor(self).numpy().tobytes(order)  # type: ignore[arg-type]

    if TYPE_CHECKING:

        def __getitem__(self, key: Any) -> Tensor: ...


def _tensor(value: Any) -> Tensor:
    """The same object as the class that inherits these methods."""
    tensor: Tensor = value
    return tensor


def _call(name: str, *args: Any) -> Tensor:
    result: Tensor = getattr(late.array, name)(*args)
    return result


@remembered
def _unary(name: str, operand: Any) -> Tensor:
    result: Tensor = late.array.apply(name, operand)
    return result


@remembered
def _product(a: Any, b: Any) -> Tensor:
    result: Tensor = late.array.matmul(a, b)
    return result


@remembered
def _reduced(name: str, tensor: Any, *how: Any) -> Tensor:
    result: Tensor = late.array.reduce(name, tensor, *how)
    return result


def _inplace(name: str, target: Any, other: Any) -> Tensor:
    if target.shape or (target.buffer.nbytes > target.nbytes and not is_element(target)):
        result: Tensor = late.array.apply(name, target, other, out=target)
        return result
    if not is_element(target):  # those are numbers, which do not change
        with suppress(TypeError, ValueError):  # what does not fit makes a new number too
            result = late.array.apply(name, target, other, out=target)
            return result
    result = late.array.apply(name, target, other)
    return result


def _reduce(name: str, tensor: Any, out: Tensor | None, *how: Any) -> Tensor:
    return _into(out, name, _reduced(name, tensor, *how))


def _into(out: Tensor | None, name: str, result: Tensor) -> Tensor:
    if out is None:
        return result
    stored: Tensor = late.array.stored(name, result, out)
    return stored


def _filled(value: Any, truth: bool) -> Tensor:
    """A tensor of one truth value, of the shape of another."""
    result: Tensor = late.array.full_like(value, truth, bool)
    return result


def _only_element(value: Any) -> Any:
    tensor = _tensor(value)
    if tensor.count != 1:
        raise TypeError("only a tensor of one element converts to a number")
    return tensor.item()
