# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""New tensors filled on the device: ranges, constants, random numbers."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_numbers, expect_tensors_or_numbers
from aclnn_py.functional.drawing import Replayed, fixed_place, next_place, signed, unsigned
from aclnn_py.functional.promotion import DTypeLike, arange_type
from aclnn_py.functional.shapes import arange_length
from aclnn_py.operators.describe.argument_errors import expect_tensors, expect_whole, whole_numbers
from aclnn_py.operators.describe.scalar import Number
from aclnn_py.random.generator import Generator
from aclnn_py.runtime.device import Device
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "arange",
    "bernoulli",
    "eye",
    "full_like",
    "linspace",
    "normal",
    "ones_like",
    "randint",
    "randperm",
    "uniform",
    "zeros_like",
]


def arange(
    start: Number,
    end: Number,
    step: Number = 1,
    *,
    dtype: DTypeLike | None = None,
    device: Device | int | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Make the numbers from ``start`` up to ``end``, without ``end``.

    Parameters
    ----------
    start : number
        First number.
    end : number
        Limit, excluded.
    step : number, default 1
        Difference between neighbours.
    dtype : dtype-like, optional
        Element type; default is int64, or float32 when one of the three numbers is not an integer.
        With int64 the three numbers are truncated before anything is computed.
    device : Device or int, optional
        Device of the result; default is the current one of this thread.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        One dimension.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnArange (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    out = empty(
        (arange_length(start, end, step, dtype),),
        arange_type(start, end, step, dtype),
        device=device,
    )
    ops.arange(start, end, step, out, stream=stream)
    return out


def linspace(
    start: Number,
    end: Number,
    steps: int,
    *,
    dtype: DTypeLike | None = None,
    device: Device | int | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Make evenly spaced numbers from ``start`` to ``end``, both included.

    Parameters
    ----------
    start : number
        First number.
    end : number
        Last number.
    steps : int
        How many numbers.
    dtype : dtype-like, optional
        Element type; default is float32.
    device : Device or int, optional
        Device of the result; default is the current one of this thread.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(steps,)``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLinspace (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_whole(steps=steps)
    out = empty((steps,), "float32" if dtype is None else dtype, device=device)
    ops.linspace(start, end, steps, out, stream=stream)
    return out


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: DTypeLike | None = None,
    device: Device | int | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Make a matrix with ones on its diagonal and zeros elsewhere.

    Parameters
    ----------
    n : int
        Number of rows.
    m : int, optional
        Number of columns; default is ``n``.
    dtype : dtype-like, optional
        Element type; default is float32.
    device : Device or int, optional
        Device of the result; default is the current one of this thread.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(n, m)``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnEye (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    if m is None:
        m = n
    expect_whole(n=n, m=m)
    out = empty((n, m), "float32" if dtype is None else dtype, device=device)
    ops.eye(n, m, out, stream=stream)
    return out


@remembered
def zeros_like(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Make a tensor of zeros in the shape of another.

    Parameters
    ----------
    input : Tensor
        First operand.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape and dtype as ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceZero (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.inplace_zero(out, stream=stream)
    return out


@remembered
def ones_like(input: Tensor, *, stream: Stream | None = None) -> Tensor:
    """Make a tensor of ones in the shape of another.

    Parameters
    ----------
    input : Tensor
        First operand.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape and dtype as ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceOne (``include/aclnnop/math.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.inplace_one(out, stream=stream)
    return out


@remembered
def full_like(input: Tensor, fill_value: Number, *, stream: Stream | None = None) -> Tensor:
    """Make a tensor of one value in the shape of another.

    Parameters
    ----------
    input : Tensor
        First operand.
    fill_value : number
        Value of all elements.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape and dtype as ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceFillScalar (``include/aclnnop/conversion.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_numbers(fill_value=fill_value)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.inplace_fill_scalar(out, fill_value, stream=stream)
    return out


def normal(
    mean: float,
    std: float,
    size: tuple[int, ...],
    *,
    generator: Generator | None = None,
    seed: int | None = None,
    offset: int | None = None,
    dtype: DTypeLike | None = None,
    device: Device | int | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Draw normally distributed random numbers.

    Parameters
    ----------
    mean : float
        Mean of the distribution.
    std : float
        Standard deviation.
    size : tuple of int
        Shape of the result.
    generator : Generator, optional
        Source of the numbers; default is the generator of the device, see ``default_generator``.
    seed : int, optional
        Seed to use instead of a generator. Equal seeds and offsets give equal numbers.
    offset : int, optional
        Position in the sequence of ``seed`` to start from; default is 0.
    dtype : dtype-like, optional
        Element type; default is float32.
    device : Device or int, optional
        Device of the result; default is the current one of this thread.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``size``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    Without ``seed`` the generator supplies the numbers, and each replay of a graph or sequence that
    captured the call draws new ones. With ``seed``, element ``i`` is always number ``offset + i``
    of the sequence of that seed, in every replay too. The emulator's sequence is Philox 4x32-10;
    that of a real device differs.

    Source
    ------
    aclnnInplaceNormalTensor (``include/aclnnop/random.h``), CANN: a release after 8.1.RC1;
    aclnnInplaceNormal (``include/aclnnop/random.h``), CANN >= 8.1.RC1.
    """
    size = whole_numbers("size", size)
    out = empty(size, "float32" if dtype is None else dtype, device=device)
    place = next_place(out, generator, seed, offset, stream)
    if isinstance(place, Replayed):
        ops.inplace_normal_tensor(
            out, mean, std, place.seed, place.offset, place.start, stream=stream
        )
    else:
        ops.inplace_normal(out, mean, std, signed(place.seed), place.offset, stream=stream)
    return out


def uniform(
    low: float,
    high: float,
    size: tuple[int, ...],
    *,
    generator: Generator | None = None,
    seed: int | None = None,
    offset: int | None = None,
    dtype: DTypeLike | None = None,
    device: Device | int | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Draw uniformly distributed random numbers.

    Parameters
    ----------
    low : float
        Lower bound, included.
    high : float
        Upper bound, excluded.
    size : tuple of int
        Shape of the result.
    generator : Generator, optional
        Source of the numbers; default is the generator of the device, see ``default_generator``.
    seed : int, optional
        Seed to use instead of a generator. Equal seeds and offsets give equal numbers.
    offset : int, optional
        Position in the sequence of ``seed`` to start from; default is 0.
    dtype : dtype-like, optional
        Element type; default is float32.
    device : Device or int, optional
        Device of the result; default is the current one of this thread.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``size``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    Without ``seed`` the generator supplies the numbers, and each replay of a graph or sequence that
    captured the call draws new ones. With ``seed``, element ``i`` is always number ``offset + i``
    of the sequence of that seed, in every replay too. The emulator's sequence is Philox 4x32-10;
    that of a real device differs.

    Source
    ------
    aclnnInplaceUniformTensor (``include/aclnnop/random.h``), CANN: a release after 8.1.RC1;
    aclnnInplaceUniform (``include/aclnnop/random.h``), CANN >= 8.1.RC1.
    """
    expect_numbers(low=low, high=high)
    size = whole_numbers("size", size)
    out = empty(size, "float32" if dtype is None else dtype, device=device)
    place = next_place(out, generator, seed, offset, stream)
    if isinstance(place, Replayed):
        ops.inplace_uniform_tensor(
            out, low, high, unsigned(place.seed), unsigned(place.offset), place.start, stream=stream
        )
    else:
        ops.inplace_uniform(out, low, high, place.seed, place.offset, stream=stream)
    return out


def randint(
    low: int,
    high: int,
    size: tuple[int, ...],
    *,
    generator: Generator | None = None,
    seed: int | None = None,
    offset: int | None = None,
    dtype: DTypeLike | None = None,
    device: Device | int | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Draw random integers.

    Parameters
    ----------
    low : int
        Lower bound, included.
    high : int
        Upper bound, excluded.
    size : tuple of int
        Shape of the result.
    generator : Generator, optional
        Source of the numbers; default is the generator of the device, see ``default_generator``.
    seed : int, optional
        Seed to use instead of a generator. Equal seeds and offsets give equal numbers.
    offset : int, optional
        Position in the sequence of ``seed`` to start from; default is 0.
    dtype : dtype-like, optional
        Element type; default is int64.
    device : Device or int, optional
        Device of the result; default is the current one of this thread.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``size``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    The operator draws float32 numbers from ``low`` to ``high`` and drops their fraction. From 0 on
    all integers are equally likely, as far as float32 tells them apart. Below 0 the fraction is
    dropped towards 0: 0 is twice as likely as its neighbours and ``low`` itself hardly comes. Draw
    from 0 to ``high - low`` and add ``low`` for integers that are equally likely. Bool is whether
    the nearest integer is not 0.  Without ``seed`` the generator supplies the numbers, and each
    replay of a graph or sequence that captured the call draws new ones. With ``seed``, element
    ``i`` is always number ``offset + i`` of the sequence of that seed, in every replay too. The
    emulator's sequence is Philox 4x32-10; that of a real device differs.

    Source
    ------
    aclnnInplaceRandomTensor (``include/aclnnop/random.h``), CANN: a release after 8.1.RC1;
    aclnnInplaceRandom (``include/aclnnop/random.h``), CANN >= 8.1.RC1.
    """
    expect_whole(low=low, high=high)
    size = whole_numbers("size", size)
    out = empty(size, "int64" if dtype is None else dtype, device=device)
    place = next_place(out, generator, seed, offset, stream)
    if isinstance(place, Replayed):
        ops.inplace_random_tensor(
            out, low, high, place.seed, place.offset, place.start, stream=stream
        )
    else:
        ops.inplace_random(out, low, high, signed(place.seed), place.offset, stream=stream)
    return out


def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    seed: int | None = None,
    offset: int | None = None,
    dtype: DTypeLike | None = None,
    device: Device | int | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Draw the numbers from 0 to ``n - 1`` in random order.

    Parameters
    ----------
    n : int
        How many numbers.
    generator : Generator, optional
        Source of the numbers; default is the generator of the device, see ``default_generator``.
    seed : int, optional
        Seed to use instead of a generator. Equal seeds and offsets give equal numbers.
    offset : int, optional
        Position in the sequence of ``seed`` to start from; default is 0.
    dtype : dtype-like, optional
        Element type; default is int64.
    device : Device or int, optional
        Device of the result; default is the current one of this thread.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(n,)``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    Without ``seed`` the generator supplies the numbers. The operator takes its place in their
    sequence as numbers, so that a replay cannot draw new ones: a graph or a sequence captures the
    call with ``seed`` alone. Element ``i`` is made of number ``offset + i`` of the sequence; the
    emulator's is Philox 4x32-10, that of a real device differs.

    Source
    ------
    aclnnRandperm (``include/aclnnop/random.h``), CANN >= 8.1.RC1.
    """
    expect_whole(n=n)
    out = empty((n,), "int64" if dtype is None else dtype, device=device)
    place = fixed_place(out, generator, seed, offset, stream)
    ops.randperm(n, signed(place.seed), place.offset, out, stream=stream)
    return out


def bernoulli(
    input: Tensor,
    p: Tensor | Number,
    *,
    generator: Generator | None = None,
    seed: int | None = None,
    offset: int | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Draw ones and zeros in the shape of a tensor.

    Parameters
    ----------
    input : Tensor
        Gives shape and dtype; its elements are not read. 0 to 8 dimensions; dtype float32 | float16
        | bfloat16 | float64 | int8 | int16 | int32 | int64 | uint8 | bool.
    p : Tensor or number
        Chance of a 1, as a number or as a tensor in the shape of ``input``. 0 to 8 dimensions;
        dtype float32 | float16 | bfloat16 | float64.
    generator : Generator, optional
        Source of the numbers; default is the generator of the device, see ``default_generator``.
    seed : int, optional
        Seed to use instead of a generator. Equal seeds and offsets give equal numbers.
    offset : int, optional
        Position in the sequence of ``seed`` to start from; default is 0.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape and dtype as ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    Without ``seed`` the generator supplies the numbers. The operator takes its place in their
    sequence as numbers, so that a replay cannot draw new ones: a graph or a sequence captures the
    call with ``seed`` alone. Element ``i`` is made of number ``offset + i`` of the sequence; the
    emulator's is Philox 4x32-10, that of a real device differs.

    Source
    ------
    aclnnBernoulliTensor (``include/aclnnop/random.h``), CANN >= 8.1.RC1; aclnnBernoulli
    (``include/aclnnop/random.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_tensors_or_numbers(p=p)
    out = empty(input.shape, input.dtype_name, device=input.device)
    place = fixed_place(out, generator, seed, offset, stream)
    if isinstance(p, Tensor):
        ops.bernoulli_tensor(input, p, signed(place.seed), place.offset, out, stream=stream)
    else:
        ops.bernoulli(input, p, signed(place.seed), place.offset, out, stream=stream)
    return out
