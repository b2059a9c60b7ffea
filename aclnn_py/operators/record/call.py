# SPDX-License-Identifier: Apache-2.0
"""What a record keeps of one call, as values; docs/record_format.md describes them."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from aclnn_py.errors import AclnnPyError
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.formats import format_of, is_blocked

__all__ = ["LeftOut", "Memory", "RecordError", "RecordedCall", "View"]


class RecordError(AclnnPyError, ValueError):
    """A file is no record, of a later version, damaged, or larger than is read unasked."""


@dataclass(frozen=True)
class Memory:
    """A piece of device memory: its length, and the names of its bytes before and after the call.

    ``before`` and ``after`` are None where they were not kept; ``after`` also where the call cannot
    have changed it.
    """

    nbytes: int
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True)
class LeftOut:
    """Calls that a record does not hold: the first one's operator, the reason, and how many."""

    operator: str
    why: str
    calls: int

    def __str__(self) -> str:
        many = "1 call is" if self.calls == 1 else f"{self.calls} calls are"
        return f"{many} left out, first {self.operator}: {self.why}"


@dataclass(frozen=True)
class View:
    """A tensor: a layout over one piece of memory, by its position among those of the call."""

    memory: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    format: str
    storage_shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """Bytes from the start of the memory to the end of the tensor."""
        dtype = dtype_of(self.dtype)
        if is_blocked(format_of(self.format)):
            return dtype.nbytes(prod(self.storage_shape))
        if 0 in self.shape:
            return 0
        last = sum((dim - 1) * step for dim, step in zip(self.shape, self.strides, strict=True))
        return dtype.nbytes(self.offset + last + 1)


@dataclass(frozen=True)
class RecordedCall:
    """One call of an operator.

    Attributes
    ----------
    operator : str
        The C name.
    arguments : tuple
        In C order. A tensor is its position in ``views`` or None, a list of tensors a list of
        those; the others are written as docs/record_format.md says.
    views, memories : tuple
        The tensors, and the memory under them.
    status : int
        What the call ended with.
    stage : str
        Where: "phase one", "phase two", "device", or "" for success.
    message : str
        The text of the failure.
    line : str
        The Python line that made the call.
    group : int or None
        How many ranks the communicator has that an argument names.
    """

    operator: str
    arguments: tuple[Any, ...]
    views: tuple[View, ...]
    memories: tuple[Memory, ...]
    status: int = 0
    stage: str = ""
    message: str = ""
    line: str = ""
    group: int | None = None
