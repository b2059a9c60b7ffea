# SPDX-License-Identifier: Apache-2.0
"""The zip archive under a record, read with bounds that hold before anything is unpacked."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import stat
import struct
import weakref
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aclnn_py.operators.record.call import RecordError
from aclnn_py.operators.record.unfinished import completed

__all__ = ["INDEX", "Archive"]

INDEX = "index.json"
# Of a record that is read without a limit of the caller's own. The writer packs zeros about 230 to
# 1, so no record of ours comes near the ratio; a file made to be small comes to 1030 to 1.
MOST_NBYTES = 4 << 30
_RATIO = 300
_ALWAYS_NBYTES = 256 << 20
# Decoded JSON takes a multiple of its text, so this is counted apart, as are its values.
_INDEX_NBYTES = 64 << 20
_NBYTES_PER_VALUE = 16
# zipfile reads the whole directory at once, for each name about ten times what it takes there.
_DIRECTORY_NBYTES = 16 << 20
_CHUNK_NBYTES = 1 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1
# What zipfile raises for archives that are damaged, encrypted, or packed in ways it does not know.
_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError, ValueError,
               OverflowError, struct.error)  # fmt: skip


class Archive:
    """The members of a record by name, each no longer than the archive says at its start.

    Parameters
    ----------
    path : Path
    limit_nbytes : int or None
        Bytes that may be unpacked, in place of 4 GiB and 300 times the size of the file.

    Attributes
    ----------
    most : int
        Bytes that may be unpacked in all.
    complete : bool
        False when the process that wrote it ended before the directory was written.

    Raises
    ------
    RecordError
        It is no zip archive, or holds more than may be unpacked.
    OSError
        The file cannot be read.
    """

    def __init__(self, path: Path, limit_nbytes: int | None) -> None:
        self._path = path
        file = _open(path)
        self._close = weakref.finalize(self, file.close)
        size = os.fstat(file.fileno()).st_size
        if limit_nbytes is None:
            self.most = min(MOST_NBYTES, max(_ALWAYS_NBYTES, _RATIO * size))
            self._index_nbytes = _INDEX_NBYTES
        else:
            self.most = limit_nbytes
            self._index_nbytes = max(_INDEX_NBYTES, limit_nbytes // 16)
        with self._readable("not a record of calls"):
            self._zip, self.complete = _opened(file)
            whole = sum(info.file_size for info in self._zip.infolist())
        if whole > self.most:
            raise RecordError(
                f"{path}: would unpack to {whole} bytes from {size}; at most {self.most} are read. "
                "If you trust the file, allow more: --max-mib, limit_nbytes="
            )

    def index(self) -> Any:
        """Return the decoded ``index.json``."""
        with self._readable("not a record of calls"):
            info = self._zip.getinfo(INDEX)
            if info.file_size > self._index_nbytes:
                raise RecordError(
                    f"{self._path}: {INDEX} has {info.file_size} bytes; at most "
                    f"{self._index_nbytes} are read. If you trust the file, allow more: --max-mib, "
                    "limit_nbytes="
                )
            return self._decoded(info.filename, self._unpacked(info))

    def numbered(self, folder: str) -> list[Any]:
        """Return the decoded ``folder/0.json``, ``folder/1.json`` and so on."""
        names = self._zip.NameToInfo
        infos: list[zipfile.ZipInfo] = []
        while (name := f"{folder}/{len(infos)}.json") in names:
            infos.append(names[name])
        with self._readable("damaged"):
            nbytes = sum(info.file_size for info in infos)
            if nbytes > self._index_nbytes:
                raise RecordError(
                    f"{self._path}: {folder} has {nbytes} bytes; at most {self._index_nbytes} are "
                    "read. If you trust the file, allow more: --max-mib, limit_nbytes="
                )
            rows = self._decoded(folder, b"[%s]" % b",".join(map(self._unpacked, infos)))
            return list(rows)

    def json(self, name: str) -> Any:
        """Return a decoded member, or None where there is none."""
        with self._readable("damaged"):
            info = self._zip.NameToInfo.get(name)
            if info is None:
                return None
            if info.file_size > self._index_nbytes:
                raise RecordError(f"{self._path}: {name} has {info.file_size} bytes, too many")
            return self._decoded(name, self._unpacked(info))

    def _decoded(self, name: str, raw: bytes) -> Any:
        # Each value of JSON but the first of a list stands behind a comma.
        values = sum(map(raw.count, (b",", b"[", b"{")))
        if values > self._index_nbytes // _NBYTES_PER_VALUE:
            raise RecordError(f"{self._path}: {name} has {values} values, which is too many")
        try:
            return json.loads(raw.decode("utf-8"))
        except RecursionError:
            raise RecordError(f"{self._path}: {name} is nested too deeply") from None

    def member(self, name: str, nbytes: int) -> bytes:
        """Return the bytes of a member; ``nbytes`` is how many there have to be."""
        with self._readable("damaged"):
            info = self._zip.getinfo(name)
            if info.file_size != nbytes:
                raise RecordError(f"{self._path}: {name} does not hold {nbytes} bytes")
            return self._unpacked(info)

    def _unpacked(self, info: zipfile.ZipInfo) -> bytes:
        if info.compress_type not in _METHODS or info.flag_bits & _ENCRYPTED:
            raise RecordError(f"{self._path}: {info.filename} is packed in a way records are not")
        parts = []
        with self._zip.open(info) as stream:
            while part := stream.read(_CHUNK_NBYTES):
                parts.append(part)
        raw = b"".join(parts)
        if len(raw) != info.file_size:
            raise RecordError(f"{self._path}: damaged: {info.filename} ends early")
        return raw

    @contextlib.contextmanager
    def _readable(self, what: str) -> Iterator[None]:
        try:
            yield
        except RecordError:
            raise
        except (*_UNREADABLE, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.EINVAL:
                raise  # of the disk; EINVAL is a place before the start that the file names
            raise RecordError(f"{self._path}: {what}: {ascii(str(error))[1:-1][:200]}") from None


class _Bounded(io.BufferedReader):
    """A file of which nobody reads more at once than a directory may have."""

    def read(self, size: int | None = -1, /) -> bytes:
        wanted = -1 if size is None else size
        if wanted < 0:
            wanted = os.fstat(self.fileno()).st_size - self.tell()
        if wanted > _DIRECTORY_NBYTES:
            raise RecordError(f"{self.name}: its directory has {wanted} bytes, which is too many")
        return super().read(size)


def _opened(file: io.BufferedReader) -> tuple[zipfile.ZipFile, bool]:
    """Open an archive, and say whether it was finished."""
    try:
        return zipfile.ZipFile(file), True
    except zipfile.BadZipFile:
        whole = completed(file)
        if whole is None:
            raise
        return zipfile.ZipFile(whole), False


def _open(path: Path) -> _Bounded:
    # Without O_NONBLOCK a fifo would be waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise RecordError(f"{path}: not a record of calls: it is no regular file")
        return _Bounded(_Named(descriptor, str(path)))
    except BaseException:
        os.close(descriptor)
        raise


class _Named(io.FileIO):
    """An open file that knows its path."""

    def __init__(self, descriptor: int, path: str) -> None:
        super().__init__(descriptor)
        self.name = path
