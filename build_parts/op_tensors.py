# SPDX-License-Identifier: Apache-2.0
"""Which tensors each operator takes, as a table the emulator compiles in."""

from __future__ import annotations

from pathlib import Path

from build_parts.operator_table import read_operators
from build_parts.paths import write_if_changed


def write_op_tensors(include: Path, target: Path) -> None:
    """Write rows `{"aclnnAdd", "self", list, read, written},` for all tensors and lists of tensors.

    The rows of an operator stand in C order: an address is exchanged by position in the call.
    """
    rows = []
    for row in sorted(read_operators(include), key=lambda row: row.c_name):
        names = row.parameters.split(",")
        for name, kind, mode in zip(names, row.kinds, row.modes.lower(), strict=True):
            if kind not in "TL":
                continue
            flags = (kind == "L", mode in "ir", mode in "or")
            text = ", ".join("true" if flag else "false" for flag in flags)
            rows.append(f'{{"{row.c_name}", "{name}", {text}}},')
    write_if_changed(target, "// Generated from include/aclnnop.\n" + "\n".join(rows) + "\n")
