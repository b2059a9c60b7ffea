# SPDX-License-Identifier: Apache-2.0
"""The one way from values into C and C++ source.

``cpp`` fills a template of ours with numbers and with ``Code``, and with nothing else: text from
anywhere else becomes ``Code`` only by being spelled as a literal, a comment or a name here. What
they spell is printable ASCII on one line, whatever the text was.
"""

from __future__ import annotations

import json
import math
import re
import string as _strings
import struct
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["Code", "block_comment", "comment", "cpp", "identifier", "integer", "integers", "joined",
           "real", "string"]  # fmt: skip

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_COMMENT_WIDTH = 300
# A backslash at the end continues a comment; ?? opens a trigraph where those are still known; the
# two marks of block comments end one, or make compilers warn.
_UNSAFE_IN_COMMENTS = re.compile(r"[^ -~]|\\|\?(?=\?)|\*(?=/)|/(?=\*)")
_SAFE_IN_STRINGS = frozenset(range(32, 127)) - frozenset(b'"\\?')


class Code(str):
    """Text that is C++ already: made by this module, never from a file."""

    __slots__ = ()


class _Filler(_strings.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec:
            raise TypeError("templates of C++ have no format specifications")
        if type(value) is Code:
            return value
        if type(value) is int:
            return str(value)
        raise TypeError(f"{type(value).__name__} is no C++; spell it first")

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion is not None:
            raise TypeError("templates of C++ have no conversions")
        return value

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Any) -> Any:
        return self.get_value(
            int(field_name) if field_name.isdigit() else field_name, args, kwargs
        ), 0


_filler = _Filler()


def cpp(template: str, *positional: Code | int, **named: Code | int) -> Code:
    """Fill a template, which is a literal of ours, with code and decimal numbers.

    Raises
    ------
    TypeError
        A value is neither ``Code`` nor an int.
    """
    return Code(_filler.vformat(template, positional, named))


def joined(items: Iterable[Code], separator: str = ", ", empty: str = "") -> Code:
    """Join pieces of code; ``empty`` stands for none of them."""
    pieces = list(items)
    if any(type(piece) is not Code for piece in pieces):
        raise TypeError("only code can be joined")
    return Code(separator.join(pieces) or empty)


def identifier(name: str) -> Code:
    """Return a name as it is.

    Raises
    ------
    ValueError
        It is no C identifier of at most 128 characters.
    """
    if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
        raise ValueError(f"{ascii(name)[:80]} is no C identifier")
    return Code(name)


def comment(text: str) -> Code:
    """Return ``// text`` on one line; what could end it, or is not ASCII, is written <U+XX>."""
    return Code("// " + _commented(text))


def block_comment(text: str) -> Code:
    """Return the text between ``/*`` and ``*/``, on one line."""
    return Code(f"/* {_commented(text)} */")


def _commented(text: str) -> str:
    if len(text) > _COMMENT_WIDTH:
        text = f"{text[:_COMMENT_WIDTH]}... ({len(text)} characters)"
    # An end like "*" or "/" would pair up with what follows.
    return _UNSAFE_IN_COMMENTS.sub(lambda found: f"<U+{ord(found[0]):02X}>", text).rstrip()


def json_text(row: dict[str, Any]) -> Code:
    """Return the members of a JSON object for a block comment, which they cannot end."""
    spelled = json.dumps(row, separators=(",", ":"))[1:-1]
    # Outside of texts JSON has neither mark.
    return Code(re.sub(r"\*(?=/)|(?<=/)\*", r"\\u002a", spelled))


def string(text: str) -> Code:
    """Return a literal of the UTF-8 bytes of a text.

    Raises
    ------
    ValueError
        It holds a zero byte, or a surrogate that stands for no byte.
    """
    raw = text.encode("utf-8", "surrogateescape")
    if 0 in raw:
        raise ValueError("a C string cannot hold a zero byte")
    spelled = "".join(chr(byte) if byte in _SAFE_IN_STRINGS else f"\\{byte:03o}" for byte in raw)
    return Code(f'"{spelled}"')


def integer(value: int, bits: int = 64, *, signed: bool = True) -> Code:
    """Return a literal of an integer type of that width.

    Raises
    ------
    TypeError
        The value is no int.
    ValueError
        It does not fit.
    """
    if type(value) is not int:
        raise TypeError(f"expected an int, got {type(value).__name__}")
    low = -(1 << bits - 1) if signed else 0
    high = (1 << bits - signed) - 1
    if not low <= value <= high:
        raise ValueError(f"{value} does not fit into {'' if signed else 'u'}int{bits}_t")
    # C++ has no negative literals: -2**63 would be the negation of what does not fit.
    if signed and value == low:
        return Code(f"INT{bits}_MIN")
    if bits < 64:
        return Code(f"{value}" if signed else f"{value}u")
    return Code(f"INT64_C({value})" if signed else f"UINT64_C({value})")


def integers(values: Iterable[int]) -> Code:
    """Return the initializer of an array of int64_t; C++ has none of no elements."""
    return Code("{" + (", ".join(_plain(value) for value in values) or "0") + "}")


def _plain(value: int) -> str:
    spelled = integer(value)
    return str(value) if -(2**31) < value < 2**31 else spelled


def real(value: float, *, single: bool = False) -> Code:
    """Return a literal of a double, or of a float, rounded as the conversion does."""
    if type(value) is not float:
        raise TypeError(f"expected a float, got {type(value).__name__}")
    if single:
        try:
            value = struct.unpack("=f", struct.pack("=f", value))[0]
        except OverflowError:
            value = math.copysign(math.inf, value)
    suffix = "f" if single else ""
    if math.isnan(value):
        return Code(f'__builtin_nan{suffix}("")')
    if math.isinf(value):
        return Code(f"{'-' if value < 0 else ''}__builtin_inf{suffix}()")
    # Seventeen digits of the double are the float as well; the suffix keeps the type.
    return Code(f"{value!r}{suffix}")
