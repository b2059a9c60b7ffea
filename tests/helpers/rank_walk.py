# SPDX-License-Identifier: Apache-2.0
"""Which numbers of dimensions phase one takes and names, found by asking the library."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from aclnn_py import facts
from aclnn_py.tensor.views import contiguous_strides
from helpers.accepted_calls import Call, TensorListSpec, TensorSpec, calls
from helpers.phase_one import PhaseOne

# Dimensions that a tensor of the emulator can have.
_MOST = 12
_NAMED = re.compile(r"aclnn\w+: (\w+)(?:\[\d+\])? has \d+ dimensions; allowed: (\d+) to (\d+)")


@dataclass(frozen=True)
class Asked:
    """A tensor of accepted calls: its parameter, the ranks of the facts, and the answers."""

    parameter: str
    known: frozenset[int]
    given: frozenset[int]
    """Ranks in the accepted calls."""
    refusals: Mapping[int, str | None]
    """By the nearest ranks that the facts lack, in the first of these calls; None where phase one
    takes one."""

    def named(self) -> frozenset[int]:
        """The ranks that refusals allow the parameter."""
        ranks: set[int] = set()
        for message in filter(None, self.refusals.values()):
            found = _NAMED.search(message)
            if found is not None and found[1] == self.parameter:
                ranks.update(range(int(found[2]), int(found[3]) + 1))
        return frozenset(ranks)


@functools.cache
def ranks_of(text: str) -> frozenset[int]:
    """Return the numbers in a text such as "0-8" or "2,4"."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        found.update(range(int(low), int(high or low) + 1))
    return frozenset(found)


def asked(operator: str, groups: Mapping[int, str]) -> Iterator[Asked]:
    """Ask about the tensors of an operator's accepted calls of which the facts have ranks.

    Parameters
    ----------
    operator : str
        C name.
    groups : mapping
        Names of communicators by their number of ranks.
    """
    fact, first = facts.operators()[operator], {}
    given: dict[int, set[int]] = {}
    for call in calls(operator):
        for position, argument in enumerate(call.arguments):
            if members := _members(argument):
                first.setdefault(position, call)
                given.setdefault(position, set()).update(len(m.shape) for m in members)
    for position, call in first.items():
        parameter = call.op.parameters[position].c_name
        known = ranks_of(fact.parameter(parameter).ranks)
        if known:
            outside = [r for r in (min(known) - 1, max(known) + 1) if 0 <= r <= _MOST]
            answers = {rank: _refusal(call, position, rank, groups) for rank in outside}
            yield Asked(parameter, known, frozenset(given[position]), answers)


def _members(argument: Any) -> list[TensorSpec]:
    if isinstance(argument, TensorListSpec):
        return [member for member in argument.members if member is not None]
    return [argument] if isinstance(argument, TensorSpec) else []


def _refusal(call: Call, position: int, rank: int, groups: Mapping[int, str]) -> str | None:
    argument = call.arguments[position]
    if isinstance(argument, TensorListSpec):
        value: Any = TensorListSpec(tuple(m and _of_rank(m, rank) for m in argument.members))
    else:
        value = _of_rank(argument, rank)
    with PhaseOne(call.changed(position, value), groups) as question:
        return None if question.ask({}) == 0 else question.message()


def _of_rank(spec: TensorSpec, rank: int) -> TensorSpec:
    """The tensor with ones in front, or with its first dimensions made one."""
    shape = (1,) * (rank - len(spec.shape)) + spec.shape
    surplus = len(shape) - rank
    if surplus:
        shape = (prod(shape[: surplus + 1]), *shape[surplus + 1 :]) if rank else ()
    strides = contiguous_strides(shape)
    return replace(spec, shape=shape, strides=strides, offset=0, storage_shape=shape)
