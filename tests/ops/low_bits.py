# SPDX-License-Identifier: Apache-2.0
"""Numbers of 8 and 4 bits and scales of blocks, by their definitions, in float64."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]

# aclDataType and the exponent of the largest number.
NUMBER = {"float8_e5m2": 35, "float8_e4m3fn": 36, "float4_e2m1fn": 40, "float4_e1m2": 41}
EXPONENT = {"float8_e5m2": 15, "float8_e4m3fn": 8, "float4_e2m1fn": 2, "float4_e1m2": 0}
FLOAT8 = ["float8_e5m2", "float8_e4m3fn"]
FLOAT4 = ["float4_e2m1fn", "float4_e1m2"]
LARGEST = {
    "float8_e5m2": 57344.0,
    "float8_e4m3fn": 448.0,
    "float4_e2m1fn": 6.0,
    "float4_e1m2": 1.75,
    "hifloat8": 32768.0,
}
SCALE = "float8_e8m0fnu"


def _hifloat8(code: int) -> float:
    """The value of a code, read off its bits from the left as the format's definition has them."""
    bits = f"{code:08b}"
    sign = -1.0 if bits[0] == "1" else 1.0
    rest = bits[1:]
    if rest == "0000000":
        return np.nan if sign < 0 else 0.0
    if rest == "1101111":
        return sign * np.inf
    prefixes = {"11": 4, "10": 3, "01": 2, "001": 1, "0001": 0}
    for prefix, width in prefixes.items():
        if rest.startswith(prefix):
            field = rest[len(prefix) : len(prefix) + width]
            mantissa = rest[len(prefix) + width :]
            # Sign and magnitude; the leading one of the magnitude is not stored.
            power = int("1" + field[1:], 2) if width else 0
            power = -power if field[:1] == "1" else power
            return sign * 2.0**power * (1 + int(mantissa, 2) / 2 ** len(mantissa))
    return sign * 2.0 ** (int(rest[4:], 2) - 23)


@cache
def values(dtype: str) -> Array:
    """The value of every code."""
    if dtype == "hifloat8":
        return np.array([_hifloat8(code) for code in range(256)])
    if dtype == "float4_e1m2":
        magnitudes = np.arange(8) / 4
        return np.concatenate([magnitudes, -magnitudes])
    kind = np.dtype(getattr(ml_dtypes, dtype))
    count = 16 if "float4" in dtype else 256
    return np.arange(count, dtype=np.uint8).view(kind).astype(np.float64)


def encoded(x: Array, dtype: str, rounding: str = "rint") -> Array:
    """Codes of values: the nearest number with ties to even or away from zero, or the one below."""
    table = values(dtype)
    half = len(table) // 2
    order = np.argsort(table[:half])  # HiFloat8's codes are not in order
    magnitudes = table[:half][order]
    order, magnitudes = order[np.isfinite(magnitudes)], magnitudes[np.isfinite(magnitudes)]
    x = np.asarray(x, np.float64)
    size = np.minimum(np.abs(np.nan_to_num(x)), magnitudes[-1])
    below = np.searchsorted(magnitudes, size, side="right") - 1
    above = np.minimum(below + 1, len(magnitudes) - 1)
    low, high = size - magnitudes[below], magnitudes[above] - size
    if rounding == "floor":
        up = np.signbit(x) & (low > 0)
    elif rounding == "round":
        up = (low > 0) & (low >= high)
    else:
        up = (low > 0) & ((low > high) | ((low == high) & (order[below] % 2 == 1)))
    codes = order[np.where(up, above, below)]
    return (codes + half * np.signbit(x)).astype(np.uint8)


def scale_codes(
    most: Array, dtype: str, algorithm: int, limit: float = 0.0, low: float = 0.0
) -> Array:
    """Codes of the scales of blocks by their largest values; ``limit`` 0 is the format's own."""
    finite = np.isfinite(most)
    most = np.where(finite, most, 1.0)
    if algorithm == 1:
        most = np.maximum(most, low)
    whole = limit or LARGEST[dtype]
    power = np.frexp(most)[1] - 1  # floor(log2)
    if algorithm == 2 and whole in (6.0, 7.0, 1.875):
        fraction = most / 2.0**power
        power = power + (fraction > whole / 2.0 ** np.floor(np.log2(whole)))
    if algorithm == 0 or (algorithm == 2 and whole in (6.0, 7.0, 1.875)):
        codes = np.where(most > 0, np.clip(power - EXPONENT[dtype] + 127, 0, 254), 0)
    else:
        quotient = (most.astype(np.float32) / np.float32(whole)).astype(np.float64)
        fraction, power = np.frexp(quotient)
        normal = quotient >= 2.0**-126
        ceiling = power - 1 + 127 + (fraction > 0.5)
        tiny = (quotient > 2.0**-127) & (algorithm == 1)
        codes = np.where(normal, np.minimum(ceiling, 254), tiny)
    return np.where(finite, codes, 255).astype(np.uint8)


def paired(scales: Array, axis: int) -> Array:
    """Scales along an axis in pairs, which make a last axis of 2; an odd one gets a 0."""
    moved = np.moveaxis(scales, axis, -1)
    odd = moved.shape[-1] % 2
    moved = np.concatenate([moved, np.zeros((*moved.shape[:-1], odd), np.uint8)], axis=-1)
    split = moved.reshape(*moved.shape[:-1], moved.shape[-1] // 2, 2)
    return np.moveaxis(split, -2, axis if axis >= 0 else axis - 1)


def factors(scales: Array) -> Array:
    """The values of scales."""
    return np.where(scales == 255, np.nan, 2.0 ** (scales.astype(np.float64) - 127))


def mx(
    x: Array,
    dtype: str,
    axis: int = -1,
    block: int = 32,
    rounding: str = "rint",
    algorithm: int = 0,
    limit: float = 0.0,
    low: float = 0.0,
) -> tuple[Array, Array]:
    """Codes and pairs of scales of blocks along an axis. A block that is not finite is zeros."""
    wide = np.moveaxis(np.asarray(x).astype(np.float64), axis, -1)
    length = wide.shape[-1]
    count = -(-length // block)
    padded = np.zeros((*wide.shape[:-1], count * block))
    padded[..., :length] = wide
    blocks = padded.reshape(*wide.shape[:-1], count, block)
    scales = scale_codes(np.abs(blocks).max(axis=-1), dtype, algorithm, limit, low)
    with np.errstate(invalid="ignore"):
        quotients = blocks / factors(scales)[..., None]
    codes = np.where(scales[..., None] == 255, 0, encoded(quotients, dtype, rounding))
    flat = codes.reshape(padded.shape)[..., :length].astype(np.uint8)
    return np.moveaxis(flat, -1, axis), paired(np.moveaxis(scales, -1, axis), axis)


def grouped(x: Array, ends: list[int], kind: str, **ways: Any) -> tuple[Array, Array]:
    """Blocks along the rows of each group; its scales begin at first row / 64 + its number."""
    y = np.zeros(x.shape, np.uint8)
    scales = np.zeros((len(x) // 64 + len(ends), x.shape[1], 2), np.uint8)
    first = 0
    for number, end in enumerate(ends):
        if end > first:
            y[first:end], found = mx(x[first:end], kind, 0, **ways)
            scales[first // 64 + number :][: len(found)] = found
        first = end
    return y, scales


def codes_of(array: Array) -> Array:
    """The codes of what a device gave back."""
    return array.view(np.uint8)
