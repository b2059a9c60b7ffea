# SPDX-License-Identifier: Apache-2.0
"""Read a shared library without loading it: machine, symbols it defines, libraries it needs.

Loading a damaged library can end the process, and loading CANN's libraries starts threads. The
doctor must do neither.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MACHINES", "Shared", "read_shared"]

MACHINES = {62: "x86_64", 183: "aarch64"}
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNAMIC = struct.Struct("<qQ")
_SHT_DYNAMIC, _SHT_DYNSYM = 6, 11
_DT_NEEDED = 1
_UNDEFINED = 0
_LOCAL = 0


@dataclass(frozen=True)
class Shared:
    """What the file of a shared library says about itself."""

    machine: str
    symbols: frozenset[str]
    needed: tuple[str, ...]


def read_shared(path: Path) -> Shared:
    """Read a 64-bit little-endian shared library.

    Raises
    ------
    OSError
        The file cannot be read.
    ValueError
        It is no such library, or it is cut off.
    """
    if path.stat().st_size == 0:
        raise ValueError("the file is empty")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            return _read(data)
        except (struct.error, IndexError) as error:
            raise ValueError(f"the file is cut off or damaged ({error})") from error


def _read(data: mmap.mmap) -> Shared:
    if data[:4] != b"\x7fELF":
        raise ValueError("it is no shared library")
    if data[4] != 2 or data[5] != 1:
        raise ValueError("it is no 64-bit little-endian library")
    header = _HEADER.unpack_from(data, 0)
    machine, table, entry_size, count = header[2], header[6], header[11], header[12]
    if table + entry_size * count > len(data):
        raise ValueError("the file is cut off: its section table lies beyond its end")
    sections = [_SECTION.unpack_from(data, table + index * entry_size) for index in range(count)]
    symbols: frozenset[str] = frozenset()
    needed: tuple[str, ...] = ()
    for section in sections:
        if section[1] not in (_SHT_DYNAMIC, _SHT_DYNSYM):
            continue
        names = _part(data, sections[section[6]])
        body = _part(data, section)
        if section[1] == _SHT_DYNSYM:
            symbols = frozenset(
                _text(names, name)
                for name, info, _other, index, _value, _size in _SYMBOL.iter_unpack(body)
                if index != _UNDEFINED and info >> 4 != _LOCAL
            )
        else:
            entries = _DYNAMIC.iter_unpack(body)
            needed = tuple(_text(names, value) for tag, value in entries if tag == _DT_NEEDED)
    return Shared(MACHINES.get(machine, f"machine {machine}"), symbols, needed)


def _part(data: mmap.mmap, section: tuple[int, ...]) -> bytes:
    start, size = section[4], section[5]
    if start + size > len(data):
        raise ValueError("the file is cut off: a section lies beyond its end")
    return data[start : start + size]


def _text(names: bytes, offset: int) -> str:
    return names[offset : names.index(b"\0", offset)].decode("ascii", "replace")
