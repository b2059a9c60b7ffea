# SPDX-License-Identifier: Apache-2.0
"""The file that holds calls of operators with their data; docs/record_format.md describes it.

A record is a zip archive: ``index.json``, and the bytes of device memory under the SHA-256 of what
they are, so that equal contents are stored once. Nothing in it is executed when it is read.
"""

from __future__ import annotations

import contextlib
import fcntl
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
from aclnn_py.operators.record.call import LeftOut, Memory, RecordedCall, RecordError, View
from aclnn_py.operators.record.schema import (
    JOURNAL_VERSION,
    KIND,
    VERSION,
    read_index,
    read_left_out,
)

__all__ = ["Memory", "RecordError", "RecordReader", "RecordWriter", "RecordedCall", "View"]


@dataclass
class RecordWriter:
    """Writes a record; in a ``with`` block, at whose end the file is complete.

    Until then it has another name, and a file that is there already stays. With ``journal`` the
    file has its name at once and holds each call that was added, however the process ends.
    """

    path: str | os.PathLike[str]
    about: dict[str, Any] = field(default_factory=dict)
    journal: bool = False

    def __post_init__(self) -> None:
        self._calls: list[RecordedCall] = []
        self._count = 0
        self._left_out: dict[str, LeftOut] = {}
        self._names: set[str] = set()
        path = os.fspath(self.path)
        try:
            self._partial, self._file = _journal(path) if self.journal else _fresh_beside(path)
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from None
        self._zip = zipfile.ZipFile(self._file, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        if self.journal:
            head = {"kind": KIND, "version": JOURNAL_VERSION, "about": self.about}
            self._write(INDEX, json.dumps(head))

    @property
    def nbytes(self) -> int:
        """The size of the file by now."""
        return self._zip.start_dir

    def keep(self, data: bytes | memoryview) -> str:
        """Store bytes and return their name."""
        name = f"data/{hashlib.sha256(data).hexdigest()}.bin"
        if name not in self._names:
            self._names.add(name)
            self._zip.writestr(name, bytes(data))
        return name

    def add(self, call: RecordedCall) -> None:
        """Append a call; its bytes are stored already."""
        if not self.journal:
            self._calls.append(call)
            return
        self._write(f"calls/{self._count}.json", _line(call))
        self._count += 1

    def leave_out(self, operator: str, why: str) -> bool:
        """Note a call that is not recorded; return whether it is the first for this reason."""
        known = self._left_out.get(why)
        self._left_out[why] = LeftOut(operator if known is None else known.operator, why,
                                      1 if known is None else known.calls + 1)  # fmt: skip
        if known is None:
            name = f"left_out/{len(self._left_out) - 1}.json"
            self._write(name, json.dumps(asdict(self._left_out[why])))
        return known is None

    def _write(self, name: str, text: str) -> None:
        self._zip.writestr(name, text)
        self._file.flush()

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
        if self.journal:
            return self._end()
        head = json.dumps({"kind": KIND, "version": VERSION, "about": self.about})
        # A call to a line: long records stay readable, and within what a reader takes.
        calls = ",\n".join(map(_line, self._calls))
        try:
            self._zip.writestr(INDEX, f'{head[:-1]}, "calls": [\n{calls}\n]}}\n')
            self._zip.close()
            self._file.close()
            os.replace(self._partial, self.path)
        except OSError as error:
            self.discard()
            raise OSError(error.errno, error.strerror, os.fspath(self.path)) from None

    def _end(self) -> None:
        rows = [asdict(row) for row in self._left_out.values()]
        try:
            self._write("end.json", json.dumps({"left_out": rows}))
            self._zip.close()
            self._file.close()
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
        """Leave nothing of what was written; of a journal, what was written so far."""
        with contextlib.suppress(Exception):  # a full disk refuses the rest of the archive too
            self._zip.close()
        with contextlib.suppress(OSError):
            self._file.close()
        if not self.journal:  # which holds what was written before
            with contextlib.suppress(OSError):
                os.unlink(self._partial)


def _line(call: RecordedCall) -> str:
    return json.dumps(asdict(call), separators=(",", ":"))


def _journal(path: str) -> tuple[str, BinaryIO]:
    """Open the file itself and empty it, unless another process writes to it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(descriptor, 0)
        return path, os.fdopen(descriptor, "w+b")
    except BlockingIOError as error:
        os.close(descriptor)
        more = "another process writes to it; put %p or %r into the name"
        raise BlockingIOError(error.errno, more, path) from None
    except OSError:
        os.close(descriptor)
        raise


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

    Attributes
    ----------
    complete : bool
        False when the process that wrote it ended without finishing it. Its last call may be
        missing then.
    left_out : tuple of LeftOut
        Calls that were made and are not in it.

    Raises
    ------
    RecordError
        It is no record, of a later version, damaged, or larger than the limit.
    """

    def __init__(self, path: str | os.PathLike[str], *, limit_nbytes: int | None = None) -> None:
        self.path = Path(path)
        self._archive = Archive(self.path, limit_nbytes)
        self.complete = self._archive.complete
        index = self._archive.index()
        rows: Any = []
        if isinstance(index, dict) and index.get("version") == JOURNAL_VERSION:
            index = {**index, "calls": self._archive.numbered("calls")}
            end = self._archive.json("end.json")
            rows = end["left_out"] if isinstance(end, dict) and "left_out" in end else (
                self._archive.numbered("left_out"))  # fmt: skip
        try:
            self.about, self.calls = read_index(index, self._archive.most)
            self.left_out = read_left_out(rows)
        except RecordError as error:
            raise RecordError(f"{path}: {error}") from None

    def data(self, name: str, nbytes: int) -> bytes:
        """Return stored bytes; ``nbytes`` is how many there have to be."""
        return self._archive.member(name, nbytes)
