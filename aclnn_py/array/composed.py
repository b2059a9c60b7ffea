# SPDX-License-Identifier: Apache-2.0
"""Ufuncs that CANN has no operator for, of several operators each, with NumPy's dtypes."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

import numpy as np

from aclnn_py import functional, ops
from aclnn_py.array import wide
from aclnn_py.array.arithmetic import apply, choose
from aclnn_py.array.promotion import (
    cast,
    expect_operands,
    float_type,
    result_type,
    tensor_of,
)
from aclnn_py.functional.shapes import broadcast
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = ["FUNCTIONS"]

# Bits of a float: the integer type of its width, bits of the fraction, bias of the exponent.
_FORMATS = {
    "float16": ("int16", 10, 15),
    "bfloat16": ("int16", 7, 127),
    "float32": ("int32", 23, 127),
    "float64": ("int64", 52, 1023),
}


def _float_kind(name: str, *operands: Any) -> DType:
    """The float that holds the operands, as NumPy's ufuncs of floats choose it."""
    kind = float_type(*operands)
    if kind.numpy.kind == "c":
        raise TypeError(f"{name}: not for complex numbers, and an operand is {kind}")
    return kind


def _floats(name: str, *operands: Any) -> list[Tensor]:
    device = expect_operands(name, *operands)
    kind = _float_kind(name, *operands)
    return [tensor_of(item, kind, device) for item in operands]


def _integers(name: str, *operands: Any) -> list[Tensor]:
    device = expect_operands(name, *operands)
    kind = result_type(*operands)
    if kind.name == "bool":
        if name in ("gcd", "lcm"):
            raise TypeError(f"{name}: not for booleans; use astype(np.int8)")
        kind = dtype_of("int8")
    if kind.numpy.kind not in "iu":
        raise TypeError(f"{name}: only for integers and booleans, not {kind}")
    return [tensor_of(item, kind, device) for item in operands]


def _into(operator: Callable[..., None], *operands: Tensor) -> Tensor:
    out = empty(broadcast(*operands), operands[0].layout.dtype, device=operands[0].device)
    operator(*operands, out)
    return out


def _widened(operator: Callable[..., None], *operands: Tensor) -> Tensor:
    """Through float32 where the operator takes no half precision."""
    kind = operands[0].layout.dtype
    wide = kind if kind.numpy.itemsize > 2 else dtype_of("float32")
    return cast(_into(operator, *(cast(item, wide) for item in operands)), kind)


# Bits.


def _bits(x: Tensor) -> tuple[Tensor, int, int]:
    """The bits as integers, the number of those of the fraction, the bias."""
    integer, fraction, bias = _FORMATS[x.dtype_name]
    return functional.contiguous(x).view(integer), fraction, bias


def copysign(a: Any, b: Any) -> Tensor:
    """The magnitude of one operand with the sign of the other, of zeros and NaN too."""
    a, b = _floats("copysign", a, b)
    shape = broadcast(a, b)
    magnitude, sign = (_bits(functional.contiguous(x.broadcast_to(shape)))[0] for x in (a, b))
    limits = np.iinfo(magnitude.dtype)
    bits: Tensor = (magnitude & limits.max) | (sign & limits.min)
    return bits.view(a.dtype_name)


def nextafter(a: Any, b: Any) -> Tensor:
    """The neighbour of one operand in the direction of the other."""
    a, b = _floats("nextafter", a, b)
    shape = broadcast(a, b)
    a, b = (functional.contiguous(x.broadcast_to(shape)) for x in (a, b))
    bits, _, _ = _bits(a)
    # Away from zero the bits grow. From zero the first step is the least number of that sign.
    outwards = (b > a) == (a > 0)
    stepped = choose(outwards, bits + 1, bits - 1).view(a.dtype_name)
    least = choose(b > a, *(_number(a, v) for v in (1, np.iinfo(bits.dtype).min + 1)))
    moved = choose(a == 0, least, stepped)
    result = choose(a == b, b, moved)
    return choose((a != a) | (b != b), a + b, result)


def _number(like: Tensor, bits: int) -> Tensor:
    """A 0-d float of given bits."""
    integer, _, _ = _FORMATS[like.dtype_name]
    return tensor_of(bits, dtype_of(integer), like.device).view(like.dtype_name)


def spacing(x: Any) -> Tensor:
    """Distance to the neighbour farther from zero, with the sign of the number."""
    (x,) = _floats("spacing", x)
    if x.dtype_name == "float16":
        upwards: Tensor = nextafter(x, float("inf")) - x  # as NumPy's half precision
        return upwards
    bits, fraction, _ = _bits(x)
    infinite = apply("absolute", x) == float("inf")
    # The fraction's last place: the exponent less the bits of the fraction, or the least number.
    magnitude = bits & np.iinfo(bits.dtype).max
    exponent = functional.maximum(magnitude >> fraction, tensor_of(1, bits.layout.dtype, x.device))
    result = ldexp(
        tensor_of(1.0, x.layout.dtype, x.device), exponent - (_FORMATS[x.dtype_name][2] + fraction)
    )
    signed = copysign(result, x + 0.0)  # of both zeros above
    return choose(infinite | (x != x), x * 0 - x * 0, signed)


def frexp(x: Any) -> tuple[Tensor, Tensor]:
    """Fraction in [0.5, 1) and exponent of 2."""
    (x,) = _floats("frexp", x)
    _, fraction, bias = _FORMATS[x.dtype_name]
    # Numbers below the normal ones are scaled up first.
    scale = fraction + 2
    least = 2.0 ** (1 - bias)
    small = (apply("absolute", x) < least) & (x != 0)
    bits, _, _ = _bits(choose(small, x * 2.0**scale, x))
    ones = (1 << (bits.dtype.itemsize * 8 - 1 - fraction)) - 1
    exponent = (bits >> fraction) & ones
    special = (exponent == ones) | (x == 0)
    mantissa = ((bits & ~(ones << fraction)) | ((bias - 1) << fraction)).view(x.dtype_name)
    power = cast(exponent, dtype_of("int32")) - (bias - 1)
    zero = tensor_of(0, power.layout.dtype, x.device)
    power = choose(small, power - scale, power)
    return choose(special, x, mantissa), choose(special, zero, power)


def ldexp(x: Any, exponent: Any) -> Tensor:
    """The number times a power of 2, exact where the result is a normal number."""
    if np.result_type(getattr(exponent, "dtype", type(exponent))).kind not in "biu":
        raise TypeError(f"ldexp: the exponent must be an integer, not {exponent!r:.60}")
    (x,) = _floats("ldexp", x) if isinstance(x, Tensor) else _floats("ldexp", exponent * 0.0 + x)
    _, fraction, bias = _FORMATS[x.dtype_name]
    wide = dtype_of("int64")
    power = tensor_of(exponent, wide, x.device)
    limit = 2 * (bias + fraction) + 2
    power = functional.maximum(power, tensor_of(-limit, wide, x.device))
    power = functional.minimum(power, tensor_of(limit, wide, x.device))
    # Powers of 2 beyond the normal ones are reached in four steps, of which each is exact.
    quarter = functional.floor_divide(power, tensor_of(4, wide, x.device))
    result: Tensor = x
    for step in (quarter, quarter, quarter, power - quarter * 3):
        result = result * _power_of_two(step, x.layout.dtype)
    return result


def _power_of_two(exponent: Tensor, kind: DType) -> Tensor:
    integer, fraction, bias = _FORMATS[kind.name]
    return functional.contiguous(cast((exponent + bias) << fraction, dtype_of(integer))).view(
        kind.name
    )


def bitwise_count(x: Any) -> Tensor:
    """Number of bits that are 1 in the magnitude of an integer."""
    device = expect_operands("bitwise_count", x)
    if x.dtype.kind not in "biu":
        raise TypeError(f"bitwise_count: only for integers and booleans, not {x.dtype_name}")
    value = cast(x, dtype_of("int64"))
    if x.dtype.kind == "i":
        value = apply("absolute", value)
    total = tensor_of(0, dtype_of("int64"), device)
    for shift in range(0, 8 * x.dtype.itemsize, 8):
        byte = (value >> shift) & 255
        byte = byte - ((byte >> 1) & 0x55)
        byte = (byte & 0x33) + ((byte >> 2) & 0x33)
        total = total + ((byte + (byte >> 4)) & 15)
    return cast(total, dtype_of("uint8"))


def _shift(name: str, operator: Callable[..., None]) -> Callable[..., Tensor]:
    def shift(a: Any, b: Any) -> Tensor:
        a, b = _integers(name, a, b)
        kind, device = a.layout.dtype, a.device
        width = 8 * a.dtype.itemsize
        # Past the width, and by a negative number, nothing is left but the sign.
        outside = (b < 0) | (b >= width)
        zero = tensor_of(0, kind, device)
        rest = zero
        if name == "right_shift" and kind.numpy.kind == "i":
            rest = choose(a < 0, tensor_of(-1, kind, device), zero)
        return choose(outside, rest, _into(operator, a, choose(outside, zero, b)))

    return shift


# Arithmetic.


def cbrt(x: Any) -> Tensor:
    """Cube root, of negative numbers too."""
    (x,) = _floats("cbrt", x)
    wide = x if x.dtype.itemsize > 2 else cast(x, dtype_of("float32"))
    magnitude = apply("absolute", wide)
    root = apply("power", magnitude, 1 / 3)
    # One step of Newton's method: the power alone is off by several units of the last place.
    better = root - (root - magnitude / (root * root)) / 3
    root = choose((magnitude == 0) | (magnitude == float("inf")), magnitude, better)
    return cast(copysign(root, wide), x.layout.dtype)


def hypot(a: Any, b: Any) -> Tensor:
    """Length of the hypotenuse, without overflow on the way."""
    a, b = _floats("hypot", a, b)
    kind = a.layout.dtype
    wide = kind if kind.numpy.itemsize > 2 else dtype_of("float32")
    a, b = (apply("absolute", cast(item, wide)) for item in (a, b))
    infinite = (a == float("inf")) | (b == float("inf"))
    large, small = apply("maximum", a, b), apply("minimum", a, b)
    ratio = small / choose(large == 0, tensor_of(1.0, wide, a.device), large)
    length = large * apply("sqrt", ratio * ratio + 1)
    return cast(choose(infinite, tensor_of(float("inf"), wide, a.device), length), kind)


def _scaled(name: str, factor: float) -> Callable[..., Tensor]:
    def scale(x: Any) -> Tensor:
        (tensor,) = _floats(name, x)
        return tensor * factor

    return scale


def fabs(x: Any) -> Tensor:
    """Magnitude, as a float."""
    return apply("absolute", _floats("fabs", x)[0])


def float_power(a: Any, b: Any) -> Tensor:
    """Power, in float64 at least."""
    device = expect_operands("float_power", a, b)
    kind = result_type(a, b)
    kind = dtype_of("complex128" if kind.numpy.kind == "c" else "float64")
    return apply("power", tensor_of(a, kind, device), tensor_of(b, kind, device))


def _without_nan(name: str, row: str) -> Callable[..., Tensor]:
    def extreme(a: Any, b: Any) -> Tensor:
        device = expect_operands(name, a, b)
        kind = result_type(a, b)
        a, b = tensor_of(a, kind, device), tensor_of(b, kind, device)
        result = apply(row, a, b)
        if kind.numpy.kind in "biu":
            return result
        return choose(a != a, b, choose(b != b, a, result))

    return extreme


def gcd(a: Any, b: Any) -> Tensor:
    """Greatest common divisor of the magnitudes."""
    a, b = _integers("gcd", a, b)
    kind = a.layout.dtype
    work = dtype_of("int32" if kind.numpy.itemsize < 4 else kind.name)
    return cast(_into(ops.gcd, cast(a, work), cast(b, work)), kind)


def lcm(a: Any, b: Any) -> Tensor:
    """Least common multiple of the magnitudes."""
    a, b = _integers("lcm", a, b)
    divisor = gcd(a, b)
    one = tensor_of(1, divisor.layout.dtype, divisor.device)
    product = apply("floor_divide", a, choose(divisor == 0, one, divisor)) * b
    return product if a.dtype.kind == "u" else apply("absolute", product)


def heaviside(x: Any, values: Any) -> Tensor:
    """0 below zero, 1 above, ``values`` at zero."""
    x, values = _floats("heaviside", x, values)
    step = choose(x == 0, values, cast(x > 0, x.layout.dtype))
    return choose(x != x, x, step)


def logaddexp2(a: Any, b: Any) -> Tensor:
    """Logarithm to base 2 of the sum of two powers of 2."""
    a, b = _floats("logaddexp2", a, b)
    return _widened(wide.logaddexp2, a, b)


def modf(x: Any) -> tuple[Tensor, Tensor]:
    """Fraction and whole part, both with the sign of the number."""
    (x,) = _floats("modf", x)
    whole = apply("trunc", x)
    infinite = apply("absolute", x) == float("inf")
    zero = tensor_of(0.0, x.layout.dtype, x.device)
    return copysign(choose(infinite, zero, x - whole), x), copysign(whole, x)


def divide_with_rest(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Quotient rounded down, and what is left."""
    return apply("floor_divide", a, b), apply("remainder", a, b)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "bitwise_count": bitwise_count,
    "bitwise_left_shift": _shift("left_shift", ops.left_shift),
    "bitwise_right_shift": _shift("right_shift", ops.right_shift),
    "cbrt": cbrt,
    "copysign": copysign,
    "deg2rad": _scaled("deg2rad", pi / 180),
    "degrees": _scaled("degrees", 180 / pi),
    "divmod": divide_with_rest,
    "fabs": fabs,
    "float_power": float_power,
    "fmax": _without_nan("fmax", "maximum"),
    "fmin": _without_nan("fmin", "minimum"),
    "frexp": frexp,
    "gcd": gcd,
    "heaviside": heaviside,
    "hypot": hypot,
    "lcm": lcm,
    "ldexp": ldexp,
    "left_shift": _shift("left_shift", ops.left_shift),
    "logaddexp2": logaddexp2,
    "modf": modf,
    "nextafter": nextafter,
    "rad2deg": _scaled("rad2deg", 180 / pi),
    "radians": _scaled("radians", pi / 180),
    "right_shift": _shift("right_shift", ops.right_shift),
    "spacing": spacing,
}
