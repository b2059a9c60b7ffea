# SPDX-License-Identifier: Apache-2.0
"""The fields of a message of protocol buffers, as far as the description in a dump needs them."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["WireError", "fields", "numbers"]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MOST_BITS = 64


class WireError(ValueError):
    """The bytes are no such message."""


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield (number, value) of each field: an integer, or the bytes of a text or a message."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if kind == _BYTES:
            size, at = _varint(message, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise WireError(f"a field of the unknown kind {kind}")
        if size > len(message) - at:
            raise WireError(f"field {number} is longer than its message")
        yield number, message[at : at + size]
        at += size


def numbers(value: int | bytes) -> Iterator[int]:
    """Yield the numbers of a repeated field, which stand alone or packed in one piece."""
    if isinstance(value, int):
        yield value
        return
    at = 0
    while at < len(value):
        number, at = _varint(value, at)
        yield number


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, _MOST_BITS + 6, 7):
        if at >= len(message):
            raise WireError("a number has no end")
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (1 << _MOST_BITS) - 1, at
    raise WireError("a number is longer than 64 bits")
