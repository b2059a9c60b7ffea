# SPDX-License-Identifier: Apache-2.0
"""The calls that are compared: made from the accepted calls alone, the same in every process.

A case is known by its operator and number, so two processes speak of the same call without sending
it to each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from aclnn_py import facts, ops
from aclnn_py.operators.describe.parameter import Parameter
from aclnn_py.operators.launch.op import Op
from aclnn_py.operators.launch.table import python_name
from aclnn_py.operators.record.call import Memory, RecordedCall, View
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.views import contiguous_strides
from aclnn_py.tools.verify.questions import Change, changes

__all__ = ["Case", "Chip", "cases_of", "chip_of", "names_of"]

Chip = Literal["910B", "950"]

# What phase one is asked about an accepted call.
_ASKED_KINDS = ("null", "rank", "extent", "attribute")
_ASKED_DTYPES = (
    *("float32", "float16", "bfloat16", "float64", "int8", "int16", "int32", "int64", "uint8"),
    *("uint64", "bool", "complex64", "float8_e4m3fn", "int4"),
)

# The side of the mask that stands for all causal ones, which operators ask for as it is.
_CAUSAL_MASK = 2048


@dataclass(frozen=True)
class Case:
    """One call.

    Attributes
    ----------
    number : int
        Its position among the cases of the operator.
    what : str
        How it differs from an accepted call, or which contents it has.
    call : RecordedCall
        The call, without an outcome.
    data : dict
        Contents of the memories, by the names in ``call.memories``.
    runs : bool
        Whether both phases are run; otherwise phase one alone is asked.
    groups : dict
        Number of ranks of the communicator that the argument at a position names.
    rank_at : tuple of int
        Positions of arguments that are the number of the calling rank.
    """

    number: int
    what: str
    call: RecordedCall
    data: dict[str, bytes] = field(repr=False)
    runs: bool
    groups: dict[int, int] = field(default_factory=dict)
    rank_at: tuple[int, ...] = ()

    @property
    def ranks(self) -> int:
        """Ranks that take part; 1 for a call without a communicator."""
        return max(self.groups.values(), default=1)

    def of(self, rank: int, names: dict[int, str]) -> RecordedCall:
        """Return the call as a rank makes it.

        Parameters
        ----------
        rank : int
        names : dict
            Names of communicators by the positions of ``groups``.
        """
        arguments = list(self.call.arguments)
        for position, name in names.items():
            arguments[position] = name
        for position in self.rank_at:
            arguments[position] = rank
        return replace(self.call, arguments=tuple(arguments))


def chip_of(soc: str) -> Chip:
    """Return which accepted calls a chip takes, by the name of its SoC."""
    return "950" if soc.startswith("Ascend950") else "910B"


def names_of(chip: Chip) -> list[str]:
    """C names of the operators that have cases on a chip."""
    names = set(facts.accepted_calls())
    if chip == "950":
        names |= set(facts.accepted_calls("950"))
    return sorted(names)


def cases_of(operator: str, chip: Chip, seed: int) -> list[Case]:
    """Return the cases of an operator by its C name.

    Parameters
    ----------
    operator : str
    chip : str
    seed : int
        Of the random contents.
    """
    rows = list(facts.accepted_calls().get(operator, []))
    if chip == "950":
        rows = list(facts.accepted_calls("950").get(operator, [])) or rows
    # One call that needs two communicators is left to programs that have both.
    rows = [row for row in rows if not any(_second(value) for value in row)]
    op: Op = getattr(ops, python_name(operator))
    found: list[Case] = []

    def add(what: str, row: list[Any], *, runs: bool, random: bool = False) -> None:
        number = len(found)
        start = (seed, number, *operator.encode())
        generator = np.random.default_rng(start) if random else None
        found.append(_Builder(op, row, generator).case(number, what, runs))

    for index, row in enumerate(rows):
        add(f"accepted call {index}", row, runs=True)
        add(f"accepted call {index}, random contents", row, runs=True, random=True)
    # An empty tensor is excused from much, so the questions are about a call with elements.
    full = [row for row in rows if not any(map(_empty, row))]
    for row in (full or rows)[:1]:
        for change in changes(op.parameters, row):
            parameter = op.parameters[change.position]
            if _is_asked(change, parameter):
                changed = [*row[: change.position], change.argument, *row[change.position + 1 :]]
                add(f"{parameter.name}: {change.what}", changed, runs=False)
    return found


def _is_asked(change: Change, parameter: Parameter) -> bool:
    """Whether a device is asked about a change: one call takes milliseconds there."""
    if change.kind == "dtype":
        return change.what in _ASKED_DTYPES
    # A record has no null text.
    return change.kind in _ASKED_KINDS and not (change.argument is None and parameter.kind == "s")


def _empty(value: Any) -> bool:
    return isinstance(value, dict) and "tensor" in value and 0 in value["shape"]


def _second(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.get("second"))


class _Builder:
    """Turns a row of arguments into a call."""

    def __init__(self, op: Op, row: list[Any], random: np.random.Generator | None) -> None:
        self._op, self._row, self._random = op, row, random
        self._views: list[View] = []
        self._contents: list[tuple[DType, bytes]] = []  # of each memory: dtype, given bytes
        self._numbered: dict[int, int] = {}

    def case(self, number: int, what: str, runs: bool) -> Case:
        """Return the case."""
        pairs = list(zip(self._op.parameters, self._row, strict=True))
        arguments = tuple(self._argument(parameter, value) for parameter, value in pairs)
        memories, data = [], {}
        for index, (dtype, given) in enumerate(self._contents):
            nbytes = max(view.nbytes for view in self._views if view.memory == index)
            if not runs:
                memories.append(Memory(nbytes))  # phase one reads no device memory
                continue
            name = f"memory {index}"
            filled = given + self._fill(dtype, nbytes)[len(given) :]
            data[name] = filled[:nbytes]
            memories.append(Memory(nbytes, name))
        groups = {
            at: value["group"]
            for at, (_, value) in enumerate(pairs)
            if isinstance(value, dict) and "group" in value
        }
        rank_at = tuple(
            at for at, (_, value) in enumerate(pairs) if isinstance(value, dict) and "rank" in value
        )
        call = RecordedCall(self._op.c_name, arguments, tuple(self._views), tuple(memories))
        return Case(number, what, call, data, runs, groups, rank_at)

    def _fill(self, dtype: DType, nbytes: int) -> bytes:
        count = -(-nbytes * 8 // dtype.bits)
        if dtype.bits == 8 and dtype.numpy.kind in "iub" and count == _CAUSAL_MASK**2:
            return np.triu(np.ones((_CAUSAL_MASK, _CAUSAL_MASK), np.uint8), 1).tobytes()
        floats = dtype.exact and dtype.numpy.kind not in "iub"
        if self._random is not None:
            # Integers are often indices: 0 and 1 lie in most ranges.
            values = (
                self._random.standard_normal(count)
                if floats
                else self._random.integers(0, 2, count)
            )
        else:
            values = 0.25 + (np.arange(count) * 7 % 13) / 16 if floats else np.arange(count) % 2
        return values.astype(dtype.numpy).tobytes()[:nbytes].ljust(nbytes, b"\0")

    def _argument(self, parameter: Parameter, value: Any) -> Any:
        """An argument as a record has it (docs/record_format.md)."""
        if value is None or parameter.kind == "s":
            return "" if isinstance(value, dict) else value
        if parameter.kind == "T":
            return self._tensor(value)
        if parameter.kind == "L":
            members = value["tensors"]
            return [None if member is None else self._tensor(member) for member in members]
        if parameter.kind == "S":
            return [value["scalar"], value["bytes"]]
        if parameter.kind == "R":
            return [[item["scalar"], item["bytes"]] for item in value["scalars"]]
        if parameter.kind == "F":
            return [float(item).hex() for item in value]
        if parameter.kind in "fd":
            return float(value).hex()
        return 0 if isinstance(value, dict) else value  # the number of a rank comes later

    def _tensor(self, value: dict[str, Any]) -> int:
        shape = tuple(value["shape"])
        shared = value.get("memory")
        given = bytes.fromhex(value.get("bytes", ""))
        if shared is not None and shared in self._numbered:
            memory = self._numbered[shared]
        else:
            memory = len(self._contents)
            self._contents.append((dtype_of(value["tensor"]), given))
            if shared is not None:
                self._numbered[shared] = memory
        self._views.append(
            View(
                memory=memory,
                offset=value.get("offset", 0),
                shape=shape,
                strides=tuple(value.get("strides", contiguous_strides(shape))),
                dtype=value["tensor"],
                format=value.get("format", "ND"),
                storage_shape=tuple(value.get("storage_shape", shape)),
            )
        )
        return len(self._views) - 1
