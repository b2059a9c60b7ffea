# SPDX-License-Identifier: Apache-2.0
"""Dtypes and ranks of operator parameters, as a table the emulator compiles in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from aclnn_py._ffi.contract.headers import dtype_numbers, families
from aclnn_py._ffi.contract.operators import operator_of
from aclnn_py.facts import OperatorFact
from build_parts.paths import write_if_changed

RANK_RANGE = re.compile(r"^(\d)-(\d)$")
RANK_ONE = re.compile(r"^(\d)$")


def write_op_facts(facts: Mapping[str, OperatorFact], include: Path, target: Path) -> None:
    """Write rows `{"aclnnAdd", "self", mask, mask of a 950, lowest rank, highest rank},`.

    Every parameter has a row, in C order: the emulator names parameters by position. A mask has bit
    N set for aclDataType N; 0 means that the facts name no dtype. Rank -1 means that they give no
    plain range.
    """
    numbers = dtype_numbers(include)
    declared = [operator_of(function) for _, some in families(include) for function in some]
    rows = []
    for operator in sorted(declared, key=lambda one: one.name):
        for parameter in operator.parameters:
            fact = facts[operator.name].parameter(parameter.name)
            own = dtype_mask(fact.dtypes or (), numbers)
            newer = own if fact.dtypes_950 is None else dtype_mask(fact.dtypes_950, numbers)
            low, high = rank_range(fact.ranks)
            name = parameter.name
            rows.append(f'{{"{operator.name}", "{name}", {own:#x}, {newer:#x}, {low}, {high}}},')
    head = "// Generated from the data files of facts/.\n"
    write_if_changed(target, head + "\n".join(rows) + "\n")


def dtype_mask(dtypes: Iterable[str], numbers: Mapping[str, int]) -> int:
    """Bits of the dtypes that aclDataType knows; names outside it carry no bit."""
    mask = 0
    for dtype in dtypes:
        number = numbers.get(f"ACL_{dtype}", -1)
        if 0 <= number < 64:
            mask |= 1 << number
    return mask


def rank_range(ranks: str) -> tuple[int, int]:
    """(lowest, highest) of a plain range such as "0-8" or "2"; (-1, -1) for anything else."""
    if found := RANK_RANGE.match(ranks):
        return int(found.group(1)), int(found.group(2))
    if found := RANK_ONE.match(ranks):
        return int(found.group(1)), int(found.group(1))
    return -1, -1
