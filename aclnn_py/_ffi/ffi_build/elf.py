# SPDX-License-Identifier: Apache-2.0
"""Read the exported names of a 64-bit little-endian ELF shared library."""

from __future__ import annotations

import struct
from pathlib import Path

SHT_DYNSYM = 11


def exported_names(library: Path) -> list[str]:
    """Global and weak symbols the library defines, sorted."""
    data = library.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"{library} is not a 64-bit little-endian ELF file")
    table, entry, count = (
        struct.unpack_from("<Q", data, 40)[0],
        *struct.unpack_from("<HH", data, 58),
    )
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * entry) for i in range(count)]
    names = []
    for section in sections:
        if section[1] != SHT_DYNSYM:
            continue
        start, size, link = section[4], section[5], section[6]
        strings = sections[link][4]
        for offset in range(start, start + size, 24):
            name, info, _other, index = struct.unpack_from("<IBBH", data, offset)
            if index and info >> 4 in (1, 2):
                begin = strings + name
                names.append(data[begin : data.index(b"\0", begin)].decode())
    return sorted(set(names))
