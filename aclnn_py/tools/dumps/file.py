# SPDX-License-Identifier: Apache-2.0
"""Read a dump of an operator: its description, and its tensors as NumPy arrays."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aclnn_py.errors import AclnnPyError
from aclnn_py.tensor.dtypes import DType, from_acl, unpack
from aclnn_py.tools.dumps.wire import WireError, fields, numbers
from aclnn_py.tools.foreign_text import printable

__all__ = ["Dump", "DumpError", "DumpedTensor", "dump_files", "read_dump"]

_MOST_HEADER = 1 << 24
_MOST_AXES = 32
# Where dumps have another number for a dtype than aclDataType; from int4 on it is one less.
_ACL_DTYPES = {1: 0, 2: 1, 3: 2, 4: 4, 5: 6, 6: 7, 7: 3, 8: 9, 9: 8, 10: 10, 11: 12, 12: 11}
_ACL_DTYPES |= {16: 16, 17: 17, 27: 27, **{number: number + 1 for number in range(28, 41)}}
# Fields of the description: of an output all but the first three follow one place later.
_OUTPUT, _INPUT, _NAME, _TIME = 3, 4, 6, 2
_DTYPE, _FORMAT, _STORED, _SIZE, _SHAPE = 1, 2, 3, 5, 6


class DumpError(AclnnPyError, ValueError):
    """The file is no dump of an operator, or is damaged."""


@dataclass(frozen=True)
class DumpedTensor:
    """One tensor of a dump.

    Attributes
    ----------
    path : Path
        The file it is in.
    kind : str
        "input" or "output".
    index : int
        Its place among those.
    dtype : DType or None
        None for a type that aclnn_py has no name for.
    format : int
        The aclFormat value.
    shape : tuple of int
        As the operator sees it.
    stored_shape : tuple of int
        As it lies in the file: other than `shape` for a private format.
    nbytes : int
    """

    path: Path
    kind: str
    index: int
    dtype: DType | None
    format: int
    shape: tuple[int, ...]
    stored_shape: tuple[int, ...]
    nbytes: int
    offset: int

    def numpy(self) -> npt.NDArray[Any]:
        """Return the elements, as they lie in the file.

        Returns
        -------
        numpy.ndarray
            Of `stored_shape`; bytes in a row where the dtype or their number does not fit it.

        Raises
        ------
        DumpError
            The file has become shorter.
        OSError
            It cannot be read.
        """
        raw = np.fromfile(self.path, np.uint8, self.nbytes, offset=self.offset)
        if raw.size != self.nbytes:
            raise DumpError(f"{self.path}: it ends inside {self.kind} {self.index}")
        count = math.prod(self.stored_shape)
        if self.dtype is None or self.dtype.nbytes(count) != self.nbytes:
            return raw
        if self.dtype.packed:
            return unpack(raw, self.dtype, count).reshape(self.stored_shape)
        return raw.view(self.dtype.numpy).reshape(self.stored_shape)


@dataclass(frozen=True)
class Dump:
    """A file: the inputs of one run of an operator, or its outputs.

    Attributes
    ----------
    path : Path
    operator : str
        Its name, "aclnnAdd".
    at_us : int
        When it was written, in microseconds since 1970.
    tensors : tuple of DumpedTensor
    """

    path: Path
    operator: str
    at_us: int
    tensors: tuple[DumpedTensor, ...]


def dump_files(path: str | os.PathLike[str]) -> list[Path]:
    """Return the dumps below a folder in the order of their time, or the file itself."""
    place = Path(path)
    if not place.is_dir():
        return [place]
    found = [entry for entry in place.rglob("*") if entry.suffix != ".csv" and entry.is_file()]
    return sorted(found, key=lambda entry: (entry.name.rpartition(".")[2], entry))


def read_dump(path: str | os.PathLike[str]) -> Dump:
    """Read what a file of a dump says about its tensors.

    Parameters
    ----------
    path : str or os.PathLike
        A file that `aclInit` or `aclmdlSetDump` asked for; of the emulator, or of an NPU.

    Returns
    -------
    Dump

    Raises
    ------
    DumpError
        The file is no dump, or is damaged.
    OSError
        It cannot be read.
    """
    place = Path(path)
    size = place.stat().st_size
    with place.open("rb") as file:
        head = file.read(8)
        length = struct.unpack("<Q", head)[0] if len(head) == 8 else 0
        if not 0 < length <= min(size - 8, _MOST_HEADER):
            raise DumpError(f"{path}: no dump of an operator")
        message = file.read(length)
    try:
        return _described(place, message, size)
    except WireError as error:
        raise DumpError(f"{path}: damaged: {error}") from None


def _described(path: Path, message: bytes, size: int) -> Dump:
    name, at_us = "", 0
    parts: dict[int, list[bytes]] = {_INPUT: [], _OUTPUT: []}
    for number, value in fields(message):
        if number in parts and isinstance(value, bytes):
            parts[number].append(value)
        elif number == _NAME and isinstance(value, bytes):
            name = printable(value.decode("utf-8", "replace"), 200)
        elif number == _TIME and isinstance(value, int):
            at_us = value
    offset = 8 + len(message)
    tensors: list[DumpedTensor] = []
    for kind, number in (("input", _INPUT), ("output", _OUTPUT)):
        for index, part in enumerate(parts[number]):
            tensor = _tensor(path, kind, index, part, offset)
            offset += tensor.nbytes
            if offset > size:
                raise DumpError(f"{path}: it ends inside {kind} {index}")
            tensors.append(tensor)
    return Dump(path, name, at_us, tuple(tensors))


def _tensor(path: Path, kind: str, index: int, message: bytes, offset: int) -> DumpedTensor:
    shift = 1 if kind == "output" else 0
    found: dict[int, int | bytes] = dict(fields(message))
    stored = tuple(_shape(found.get(_STORED, b"")))
    acl = _ACL_DTYPES.get(_number(found, _DTYPE))
    try:
        dtype = None if acl is None else from_acl(acl)
    except TypeError:
        dtype = None
    form = _number(found, _FORMAT)
    return DumpedTensor(
        path=path,
        kind=kind,
        index=index,
        dtype=dtype,
        format=form - (1 << 64) if form >> 63 else form,
        shape=tuple(_shape(found[_SHAPE + shift])) if _SHAPE + shift in found else stored,
        stored_shape=stored,
        nbytes=_number(found, _SIZE + shift),
        offset=offset,
    )


def _number(found: dict[int, int | bytes], key: int) -> int:
    value = found.get(key, 0)
    if not isinstance(value, int):
        raise WireError(f"field {key} is no number")
    return value


def _shape(message: int | bytes) -> Iterator[int]:
    if not isinstance(message, bytes):
        raise WireError("a shape is a number")
    axes = [extent for key, value in fields(message) if key == 1 for extent in numbers(value)]
    if len(axes) > _MOST_AXES or any(extent >> 62 for extent in axes):
        raise WireError("a shape is no shape")
    return iter(axes)
