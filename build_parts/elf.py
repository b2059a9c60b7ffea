# SPDX-License-Identifier: Apache-2.0
"""Read the names that 64-bit little-endian ELF files define."""

from __future__ import annotations

import struct
from pathlib import Path

SHT_SYMTAB, SHT_DYNSYM = 2, 11
STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE = 1, 2, 10
STV_DEFAULT = 0


def exported_names(library: Path) -> list[str]:
    """Global and weak symbols the library defines, sorted."""
    return _defined(library, SHT_DYNSYM, (STB_GLOBAL, STB_WEAK))


def shared_definitions(object_file: Path) -> list[str]:
    """Symbols of an object file of which the linker keeps one for all objects, sorted."""
    return _defined(object_file, SHT_SYMTAB, (STB_WEAK, STB_GNU_UNIQUE))


def visible_definitions(object_file: Path) -> list[str]:
    """Symbols of an object file that no other object may define and that are not hidden, sorted."""
    return _defined(object_file, SHT_SYMTAB, (STB_GLOBAL,), visibilities=(STV_DEFAULT,))


def _defined(
    file: Path,
    table_kind: int,
    bindings: tuple[int, ...],
    *,
    visibilities: tuple[int, ...] = (0, 1, 2, 3),
) -> list[str]:
    data = file.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"{file} is not a 64-bit little-endian ELF file")
    table, entry, count = (
        struct.unpack_from("<Q", data, 40)[0],
        *struct.unpack_from("<HH", data, 58),
    )
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * entry) for i in range(count)]
    names = []
    for section in sections:
        if section[1] != table_kind:
            continue
        start, size, link = section[4], section[5], section[6]
        strings = sections[link][4]
        for offset in range(start, start + size, 24):
            name, info, other, index = struct.unpack_from("<IBBH", data, offset)
            if index and info >> 4 in bindings and other & 3 in visibilities:
                begin = strings + name
                names.append(data[begin : data.index(b"\0", begin)].decode())
    return sorted(set(names))
