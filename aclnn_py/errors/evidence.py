# SPDX-License-Identifier: Apache-2.0
"""What an exception keeps of a failed call: its arguments and the rules they break."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Argument", "BrokenRule", "lines_of"]

# A call with more arguments is told in fewer lines.
_SMALL_CALL = 12
_MOST_LINES = 16
_MOST_WIDTH = 500


@dataclass(frozen=True, kw_only=True)
class Argument:
    """One argument of a call that failed, as it was at that time.

    Attributes
    ----------
    name : str
        The parameter; members of a list are ``name[0]``, ``name[1]``, ...
    value : str
        What was given where it is no tensor.
    shape, strides, storage_shape : tuple of int or None
        Of a tensor, strides in elements; None where it is none.
    dtype, format : str
        Of a tensor.
    offset : int
        Elements before the first one.
    address, nbytes : int
        The bytes that the tensor spans, first to last element.
    device : int or None
        Where its memory is.
    owner : str
        Whose memory it is.
    origin : str
        The line that made it, where that was kept.
    """

    name: str
    value: str = ""
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    strides: tuple[int, ...] | None = None
    offset: int = 0
    format: str = ""
    storage_shape: tuple[int, ...] | None = None
    address: int = 0
    nbytes: int = 0
    device: int | None = None
    owner: str = ""
    origin: str = ""

    def __str__(self) -> str:
        if self.shape is None:
            return f"{self.name}: {self.value}"
        text = f"{self.name}: {self.shape} {self.dtype} strides {self.strides} {self.format}"
        if self.offset:
            text += f" offset {self.offset}"
        if self.storage_shape not in (None, self.shape):
            text += f" storage {self.storage_shape}"
        if self.address:
            text += f", {self.address:#x}..{self.address + self.nbytes:#x}"
        if self.owner:
            text += f" of {self.owner}"
        if self.device is not None:
            text += f" on device {self.device}"
        return f"{text}, made at {self.origin}" if self.origin else text


@dataclass(frozen=True)
class BrokenRule:
    """The rule that the arguments of a refused call break, as the emulator checks it.

    Attributes
    ----------
    argument : str
        The parameter, or the member of a list; "" where the rule is about none.
    rule : str
        What was given and what is allowed.
    status : int
        The status with which the emulator refuses the call.
    fix : str
        What makes it a right one, where that is always the same.
    kind : str
        "null", "dtype", "format", "rank", "shape", "value", "list" (the number of its members) or
        "chip", which lacks the operator.
    given, expected : str
        What was given and what is allowed, "" where ``rule`` does not set them apart.
    stage : str
        "host", or "tiling": the second line of checks, that of the kernel.
    """

    argument: str
    rule: str
    status: int = 161002
    fix: str = ""
    kind: str = ""
    given: str = ""
    expected: str = ""
    stage: str = ""

    def __str__(self) -> str:
        named = not self.argument or f" {self.argument} " in f" {self.rule} "
        return self.rule if named else f"{self.argument}: {self.rule}"


def lines_of(arguments: Iterable[Argument]) -> list[str]:
    """Return the arguments as a message has them: what decides first, nothing buried.

    Of a call with many arguments, tensors have a line each, and those that are not left out share
    one, as do the names of those that are.
    """
    given = list(arguments)
    if len(given) <= _SMALL_CALL:
        return _shortened([str(argument) for argument in given])
    lines = _shortened([str(one) for one in given if one.shape is not None])
    rest = [one for one in given if one.shape is None]
    plain = ", ".join(str(one) for one in rest if one.value != "None")
    absent = ", ".join(one.name for one in rest if one.value == "None")
    return lines + _shortened([plain] * bool(plain) + [f"None: {absent}"] * bool(absent))


def _shortened(lines: list[str]) -> list[str]:
    """The first and the last lines, and how many others the exception has.

    A list of a thousand tensors must not bury what a message says; outputs come last.
    """
    left = len(lines) - _MOST_LINES
    if left > 0:
        half = _MOST_LINES // 2
        told = f"... {left} more, see `arguments` of the exception"
        lines = [*lines[:half], told, *lines[-half:]]
    return [
        line if len(line) <= _MOST_WIDTH else f"{line[:_MOST_WIDTH]}... ({len(line)} characters)"
        for line in lines
    ]
