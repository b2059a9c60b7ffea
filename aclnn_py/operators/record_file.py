# SPDX-License-Identifier: Apache-2.0
"""The file that holds calls of operators with their data; docs/record_format.md describes it.

A record is a zip archive: ``index.json``, and the bytes of device memory under the SHA-256 of what
they are, so that equal contents are stored once. Nothing in it is executed when it is read.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import prod
from pathlib import Path
from types import TracebackType
from typing import Any

from aclnn_py.dtypes import dtype_of
from aclnn_py.formats import format_of, is_blocked

__all__ = ["Memory", "RecordError", "RecordReader", "RecordWriter", "RecordedCall", "View"]

VERSION = 1
_KIND = "aclnn_py record"
_INDEX = "index.json"
_MAX_RANK = 10
# What zipfile raises for archives that are damaged, encrypted, or packed in ways it does not know.
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError)


class RecordError(ValueError):
    """A file is no record, of a later version, or damaged."""


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


@dataclass
class RecordWriter:
    """Writes a record; in a ``with`` block, at whose end the file is complete.

    Until then it has another name, and a file that is there already stays.
    """

    path: str | os.PathLike[str]
    about: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._calls: list[RecordedCall] = []
        self._names: set[str] = set()
        self._partial = f"{os.fspath(self.path)}.{os.getpid()}.partial"
        try:
            self._zip = zipfile.ZipFile(self._partial, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        except OSError as error:
            raise OSError(error.errno, error.strerror, os.fspath(self.path)) from None

    def keep(self, data: bytes | memoryview) -> str:
        """Store bytes and return their name."""
        name = f"data/{hashlib.sha256(data).hexdigest()}.bin"
        if name not in self._names:
            self._names.add(name)
            self._zip.writestr(name, bytes(data))
        return name

    def add(self, call: RecordedCall) -> None:
        """Append a call; its bytes are stored already."""
        self._calls.append(call)

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def close(self) -> None:
        """Write the index and give the file its name."""
        index = {"kind": _KIND, "version": VERSION, "about": self.about,
                 "calls": [asdict(call) for call in self._calls]}  # fmt: skip
        try:
            self._zip.writestr(_INDEX, json.dumps(index, indent=1))
            self._zip.close()
            os.replace(self._partial, self.path)
        except OSError as error:
            self.discard()
            raise OSError(error.errno, error.strerror, os.fspath(self.path)) from None

    def leave_to_parent(self) -> None:
        """In a forked child: nothing more of it, buffered bytes included, goes into the file."""
        if self._zip.fp is not None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, self._zip.fp.fileno())
            os.close(nowhere)
            self._zip.close()

    def discard(self) -> None:
        """Leave nothing of what was written."""
        with contextlib.suppress(OSError):  # a full disk refuses the rest of the archive too
            self._zip.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._partial)


class RecordReader:
    """Reads a record that anybody may have written.

    Parameters
    ----------
    path : str or os.PathLike

    Raises
    ------
    RecordError
        It is no record, of a later version, or damaged.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            with zipfile.ZipFile(path) as archive:
                index = json.loads(archive.read(_INDEX))
        except (*_UNREADABLE, ValueError) as error:
            raise RecordError(f"{path}: not a record of calls: {error}") from None
        if not isinstance(index, dict) or index.get("kind") != _KIND:
            raise RecordError(f"{path}: not a record of calls: {_INDEX} is of another kind")
        if index.get("version") != VERSION:
            raise RecordError(
                f"{path}: a record of version {index.get('version')}; this package reads version "
                f"{VERSION}"
            )
        try:
            self.about: dict[str, Any] = dict(index["about"])
            self.calls = tuple(_call_of(row) for row in index["calls"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RecordError(f"{path}: damaged: {type(error).__name__}: {error}") from None

    def data(self, name: str, nbytes: int) -> bytes:
        """Return stored bytes; ``nbytes`` is how many there have to be."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                # Before anything is unpacked: a small file may claim to hold any amount.
                if archive.getinfo(name).file_size != nbytes:
                    raise RecordError(f"{self.path}: {name} does not hold {nbytes} bytes")
                return archive.read(name)
        except _UNREADABLE as error:
            raise RecordError(f"{self.path}: damaged: {error}") from None


def _call_of(row: dict[str, Any]) -> RecordedCall:
    views = tuple(_view_of(item) for item in row["views"])
    memories = tuple(
        Memory(_natural(item["nbytes"]), item["before"], item["after"]) for item in row["memories"]
    )
    for view in views:
        if not 0 <= view.memory < len(memories) or view.nbytes > memories[view.memory].nbytes:
            raise ValueError("a tensor is outside its memory")
    group = row["group"]
    return RecordedCall(
        operator=str(row["operator"]),
        arguments=tuple(row["arguments"]),
        views=views,
        memories=memories,
        status=int(row["status"]),
        stage=str(row["stage"]),
        message=str(row["message"]),
        line=str(row["line"]),
        group=None if group is None else _natural(group),
    )


def _view_of(row: dict[str, Any]) -> View:
    view = View(
        memory=_natural(row["memory"]),
        offset=_natural(row["offset"]),
        shape=_naturals(row["shape"]),
        strides=_naturals(row["strides"]),
        dtype=dtype_of(row["dtype"]).name,
        format=format_of(row["format"]).name,
        storage_shape=_naturals(row["storage_shape"]),
    )
    if len(view.shape) != len(view.strides) or len(view.shape) > _MAX_RANK:
        raise ValueError("a tensor has a rank that cannot be")
    return view


def _naturals(values: Sequence[Any]) -> tuple[int, ...]:
    return tuple(_natural(value) for value in values)


def _natural(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value
