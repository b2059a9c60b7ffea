# SPDX-License-Identifier: Apache-2.0
"""Archives whose process ended before it wrote the directory: made readable without it."""

from __future__ import annotations

import io
import os
import struct
from typing import BinaryIO

__all__ = ["completed"]

_LOCAL = struct.Struct("<4s5H3I2H")  # signature, version to extra length
_ENTRY = struct.Struct("<4s6H3I5H2I")  # signature, two versions to the place of the member
_MOST_MEMBERS = 65535
_SIZE_FOLLOWS = 8
_MOST_NAME = 256


def completed(file: BinaryIO) -> io.BufferedReader | None:
    """Return the file with a directory of its whole members behind them; None where it has none."""
    size = os.fstat(file.fileno()).st_size
    directory = b""
    end = count = 0
    while count < _MOST_MEMBERS:
        file.seek(end)
        head = file.read(_LOCAL.size)
        if len(head) < _LOCAL.size:
            break
        signature, version, flags, *fields, name_size, extra_size = _LOCAL.unpack(head)
        if signature != b"PK\3\4" or flags & _SIZE_FOLLOWS or name_size > _MOST_NAME:
            break
        packed = fields[4]
        name = file.read(name_size)
        after = end + _LOCAL.size + name_size + extra_size + packed
        if after > size or (packed == 0 and not _goes_on(file, after, size)):
            break  # cut off; a member that is being written has no size yet
        directory += _ENTRY.pack(
            b"PK\1\2", version, version, flags, *fields, name_size, 0, 0, 0, 0, 0, end
        )
        directory += name
        end, count = after, count + 1
    if not count:
        return None
    tail = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, len(directory), end, 0)
    return io.BufferedReader(_Joined(file, end, directory + tail))


def _goes_on(file: BinaryIO, at: int, size: int) -> bool:
    file.seek(at)
    return at == size or file.read(4) == b"PK\3\4"


class _Joined(io.RawIOBase):
    """The beginning of a file, and bytes behind it."""

    def __init__(self, file: BinaryIO, end: int, tail: bytes) -> None:
        self._file, self._end, self._tail = file, end, tail
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._end + len(self._tail)}
        at = start[whence] + offset
        if at < 0:
            raise ValueError(f"seek to {at}")
        self._at = at
        return at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        if self._at < self._end:
            self._file.seek(self._at)
            data = self._file.read(min(len(buffer), self._end - self._at))
        else:
            first = self._at - self._end
            data = self._tail[first : first + len(buffer)]
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
