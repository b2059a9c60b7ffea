# SPDX-License-Identifier: Apache-2.0
"""What is known about an operator beyond its prototype: one row, in the file of its family.

``operators/<family>.json`` is about the operators that ``include/aclnnop/<family>.h`` declares. A
row is an object whose keys are those of `OperatorFact`; ``parameters`` has a line for each
parameter about which something is known, and parameters of which the same is known share one:

    "aclnnAdd": {"header": "aclnn_add.h", "since": "8.1.RC1", "parameters": {
      "self, other, out": {"dtypes": "FLOAT FLOAT16 BFLOAT16", "ranks": "0-8", "formats": "ND"}
    }},

The prototype says the rest: order, types, direction and which parameters may be null.
``python -m maintain.facts`` lays the files out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple

__all__ = ["OperatorFact", "ParameterFact", "read_rows"]

_CHIP = "950"
_NONE: Mapping[str, Any] = MappingProxyType({})


class ParameterFact(NamedTuple):
    """What is known about one parameter of an operator.

    CANN's source decides. Where its documents say otherwise, ``documented`` has their version by
    the name of the fact, and ``why`` has the reason by the same name. A reason that starts with
    ``exception:`` marks a departure of the emulator from CANN's source.
    """

    dtypes: tuple[str, ...] | None = None
    """Dtypes of a tensor, a scalar or an attribute that names a dtype. None: nothing is known;
    empty: the argument must be null."""
    dtypes_950: tuple[str, ...] | None = None
    """Dtypes on a chip of the 950 series; None: those of other chips."""
    ranks: str = ""
    """Numbers of dimensions, such as ``"2"``, ``"0-8"`` or ``"3,5"``."""
    shape: str = ""
    """The shape in symbols."""
    formats: tuple[str, ...] = ()
    strided: bool | None = None
    """Whether views with gaps are accepted."""
    documented: Mapping[str, Any] = _NONE
    why: Mapping[str, str] = _NONE

    @property
    def every_dtype(self) -> tuple[str, ...]:
        """The dtypes of all chips."""
        return tuple(dict.fromkeys((*(self.dtypes or ()), *(self.dtypes_950 or ()))))

    @property
    def documented_dtypes(self) -> tuple[str, ...]:
        """The dtypes that the documents name, for whatever chip."""
        own = self.documented.get("dtypes")
        return self.every_dtype if own is None else tuple(own.split())

    def words(self) -> list[str]:
        """What is known, one part of a sentence for each fact."""
        parts = [f"{self.ranks} dimensions"] if self.ranks else []
        if self.shape:
            parts.append(f"shape {self.shape}")
        if self.dtypes is not None:
            names = self.every_dtype
            parts.append(f"dtype {' | '.join(names)}" if names else "must be None")
        if "dtypes" in self.documented:
            names = self.documented_dtypes
            parts.append(f"documented dtype {' | '.join(names)} ({self.why['dtypes']})")
        if self.formats:
            parts.append(f"format {' | '.join(self.formats)}")
        if self.strided is not None:
            parts.append("strided views accepted" if self.strided else "contiguous")
        return parts


class OperatorFact(NamedTuple):
    """What is known about one operator."""

    family: str
    """The name of its file, and of its header in ``include/aclnnop``."""
    header: str
    """The header of CANN that declares it."""
    since: str
    """``"8.1.RC1"``, or ``"later"`` for an operator that CANN 8.1.RC1 lacks."""
    chip: str = ""
    """``"950"`` or ``"310P"`` for an operator that only such a chip has: the row is about it, and a
    910B refuses every call."""
    exact: bool = False
    """Whether it only moves, compares, counts or selects elements: its results in real dtypes have
    no rounding error."""
    absent: str = ""
    """Why the emulator lacks it; then the dtypes are the documents' alone."""
    cann: Mapping[str, str] = _NONE
    """CANN's own spelling of parameters, such as ``"const aclTensor *out"``, by our name, where it
    differs from ``include/``."""
    parameters: Mapping[str, ParameterFact] = _NONE
    """By name in ``include/``."""

    @property
    def experimental(self) -> bool:
        """Whether it is from a contributed package, not from CANN's own library."""
        return self.family == "experimental"

    @property
    def emulated(self) -> bool:
        """Whether the emulator has it."""
        return not self.absent and not self.experimental

    @property
    def has_own_dtypes_on_950(self) -> bool:
        """Whether a chip of the 950 series accepts other dtypes for some parameter."""
        return any(fact.dtypes_950 is not None for fact in self.parameters.values())

    def parameter(self, name: str) -> ParameterFact:
        """The facts of a parameter by its name in ``include/``; empty ones where none are known."""
        return self.parameters.get(name, _NOTHING)


_NOTHING = ParameterFact()


def read_rows() -> dict[str, OperatorFact]:
    """All operators by C name, family by family."""
    table = {}
    folder = files(__package__).joinpath("operators")
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        family = file.name.removesuffix(".json")
        for name, row in json.loads(file.read_text(encoding="utf-8")).items():
            table[name] = _operator(family, row)
    return table


def _operator(family: str, row: dict[str, Any]) -> OperatorFact:
    lines: dict[str, dict[str, Any]] = row.pop("parameters", {})
    parameters = {}
    for names, line in lines.items():
        fact = _parameter(**line)
        for name in names.split(", "):
            parameters[name] = fact
    return OperatorFact(family=family, parameters=parameters, **row)


def _parameter(**line: Any) -> ParameterFact:
    newer: dict[str, str] = line.pop(_CHIP, {})
    if "dtypes" in newer:
        line["dtypes_950"] = tuple(newer["dtypes"].split())
    if "dtypes" in line:
        line["dtypes"] = tuple(line["dtypes"].split())
    line["formats"] = tuple(line.get("formats", "").split())
    return ParameterFact(**line)
