# SPDX-License-Identifier: Apache-2.0
"""Dtypes and ranks of operator parameters, as a table the emulator compiles in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from aclnn_py._ffi.contract.headers import dtype_numbers, families
from aclnn_py._ffi.contract.operators import operator_of
from aclnn_py.facts import OperatorFact
from build_parts.paths import write_if_changed


def write_op_facts(facts: Mapping[str, OperatorFact], include: Path, target: Path) -> None:
    """Write rows `{"aclnnAdd", "self", dtypes, dtypes of a 950, ranks},`, each set as a mask.

    Every parameter has a row, in C order: the emulator names parameters by position. Bit N stands
    for aclDataType N, or for N dimensions. 0 means that the facts name none.
    """
    numbers = dtype_numbers(include)
    declared = [operator_of(function) for _, some in families(include) for function in some]
    rows = []
    for operator in sorted(declared, key=lambda one: one.name):
        for parameter in operator.parameters:
            fact = facts[operator.name].parameter(parameter.name)
            own = dtype_mask(fact.dtypes or (), numbers)
            newer = own if fact.dtypes_950 is None else dtype_mask(fact.dtypes_950, numbers)
            masks = f"{own:#x}, {newer:#x}, {rank_mask(fact.ranks):#x}"
            rows.append(f'{{"{operator.name}", "{parameter.name}", {masks}}},')
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


def rank_mask(ranks: str) -> int:
    """Bits of the ranks in a text such as "0-8", "2" or "3,5"."""
    mask = 0
    for part in filter(None, ranks.split(",")):
        low, _, high = part.partition("-")
        for rank in range(int(low), int(high or low) + 1):
            mask |= 1 << rank
    return mask
