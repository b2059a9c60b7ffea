# SPDX-License-Identifier: Apache-2.0
"""Dtypes and ranks of operator parameters, as a table the emulator compiles in."""

from __future__ import annotations

import json
import re
from pathlib import Path

from aclnn_py._ffi.contract.headers import dtype_numbers
from build_parts.paths import write_if_changed

RANK_RANGE = re.compile(r"^(\d)-(\d)$")
RANK_ONE = re.compile(r"^(\d)$")


def write_op_facts(facts: Path, include: Path, target: Path) -> None:
    """Write rows `{"aclnnAdd", "self", mask, mask of a 950, lowest rank, highest rank},`.

    `facts` is the folder of the data files. Every parameter has a row, in C order: the emulator
    names parameters by position. A mask has bit N set for aclDataType N: the dtypes that the
    emulator's own facts give, else the documented ones; 0 means that no dtype is named. A 950 has
    the same dtypes where the facts give none for it. Rank -1 means that the documents give no plain
    range.
    """
    numbers = dtype_numbers(include)
    emulated = {}
    for path in sorted((facts / "emulator").glob("*.json")):
        emulated.update(json.loads(path.read_text(encoding="utf-8")))
    documented = json.loads((facts / "operators.json").read_text(encoding="utf-8"))
    rows = []
    for operator, entry in sorted(documented.items()):
        fact = emulated.get(operator, {})
        accepts, newer = fact.get("accepts", {}), fact.get("accepts_950", {})
        for parameter in entry["params"]:
            name = parameter["name"]
            named = dtype_mask(parameter.get("dtypes", ()), numbers)
            mask = dtype_mask(accepts[name], numbers) if name in accepts else named
            mask_950 = dtype_mask(newer[name], numbers) if name in newer else mask
            low, high = rank_range(parameter.get("dims", ""))
            rows.append(f'{{"{operator}", "{name}", {mask:#x}, {mask_950:#x}, {low}, {high}}},')
    head = "// Generated from the data files of facts/.\n"
    write_if_changed(target, head + "\n".join(rows) + "\n")


def dtype_mask(dtypes: list[str], numbers: dict[str, int]) -> int:
    """Bits of the dtypes that aclDataType knows; names outside it carry no bit."""
    mask = 0
    for dtype in dtypes:
        number = numbers.get(f"ACL_{dtype}", -1)
        if 0 <= number < 64:
            mask |= 1 << number
    return mask


def rank_range(dims: str) -> tuple[int, int]:
    """(lowest, highest) of a plain range such as "0-8" or "2"; (-1, -1) for anything else."""
    if found := RANK_RANGE.match(dims):
        return int(found.group(1)), int(found.group(2))
    if found := RANK_ONE.match(dims):
        return int(found.group(1)), int(found.group(1))
    return -1, -1
