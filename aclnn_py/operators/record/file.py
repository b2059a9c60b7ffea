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
import secrets
import zipfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from aclnn_py.operators.record.archive import INDEX, Archive
from aclnn_py.operators.record.call import Memory, RecordedCall, RecordError, View
from aclnn_py.operators.record.schema import KIND, VERSION, read_index

__all__ = ["Memory", "RecordError", "RecordReader", "RecordWriter", "RecordedCall", "View"]


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
        try:
            self._partial, self._file = _fresh_beside(os.fspath(self.path))
        except OSError as error:
            raise OSError(error.errno, error.strerror, os.fspath(self.path)) from None
        self._zip = zipfile.ZipFile(self._file, "w", zipfile.ZIP_DEFLATED, compresslevel=1)

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
        head = json.dumps({"kind": KIND, "version": VERSION, "about": self.about})
        # A call to a line: long records stay readable, and within what a reader takes.
        calls = ",\n".join(json.dumps(asdict(call), separators=(",", ":")) for call in self._calls)
        try:
            self._zip.writestr(INDEX, f'{head[:-1]}, "calls": [\n{calls}\n]}}\n')
            self._zip.close()
            self._file.close()
            os.replace(self._partial, self.path)
        except OSError as error:
            self.discard()
            raise OSError(error.errno, error.strerror, os.fspath(self.path)) from None

    def leave_to_parent(self) -> None:
        """In a forked child: nothing more of it, buffered bytes included, goes into the file."""
        if not self._file.closed:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, self._file.fileno())
            os.close(nowhere)
            self._zip.close()
            self._file.close()

    def discard(self) -> None:
        """Leave nothing of what was written."""
        with contextlib.suppress(OSError):  # a full disk refuses the rest of the archive too
            self._zip.close()
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._partial)


def _fresh_beside(path: str) -> tuple[str, BinaryIO]:
    """Make a new file in the folder of another, under a name that nobody can have foreseen.

    The folder may be open to everybody: what stands there already, links included, is not opened.
    """
    while True:
        partial = f"{path}.{secrets.token_hex(8)}.partial"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with contextlib.suppress(FileExistsError):
            return partial, os.fdopen(os.open(partial, flags, 0o666), "w+b")


class RecordReader:
    """Reads a record that anybody may have written.

    Parameters
    ----------
    path : str or os.PathLike
    limit_nbytes : int, optional
        Bytes that the file may unpack to, and the tensors of one call take. Without it 4 GiB, or
        300 times the size of the file where that is less, but 256 MiB in any case.

    Raises
    ------
    RecordError
        It is no record, of a later version, damaged, or larger than the limit.
    """

    def __init__(self, path: str | os.PathLike[str], *, limit_nbytes: int | None = None) -> None:
        self.path = Path(path)
        self._archive = Archive(self.path, limit_nbytes)
        index = self._archive.index()
        try:
            self.about, self.calls = read_index(index, self._archive.most)
        except RecordError as error:
            raise RecordError(f"{path}: {error}") from None

    def data(self, name: str, nbytes: int) -> bytes:
        """Return stored bytes; ``nbytes`` is how many there have to be."""
        return self._archive.member(name, nbytes)
