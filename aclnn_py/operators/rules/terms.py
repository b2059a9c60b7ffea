# SPDX-License-Identifier: Apache-2.0
"""Terms of the rule table: small expressions over the arguments of one call.

A term is a number, or one of ``name`` (an attribute), ``name[i]`` (extent of dimension i of a
tensor), ``len(name)``, ``rank(name)``, ``dtype(name)``, ``format(name)``, ``given(name)`` and
``ranks(name)`` (of the group of that name), each with an optional ``+n`` or ``-n`` behind it. Names
are those of the C prototype.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from aclnn_py import facts
from aclnn_py.operators.describe import groups
from aclnn_py.operators.describe.operator import Operator
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = ["Call", "python_dtype"]

_TERM = re.compile(
    r"(?:(?P<call>\w+)\((?P<of>\w+)\)|(?P<name>[A-Za-z_]\w*)(?:\[(?P<at>-?\d+)\])?)(?P<plus>[+-]\d+)?"
)


@lru_cache(maxsize=64)
def python_dtype(name: str) -> str:
    """The package's name of a dtype that the documents call `name`, such as FLOAT."""
    try:
        return dtype_of(name.lower()).name
    except TypeError:
        return name.lower()  # one that no tensor can have, such as STRING


class Call:
    """The arguments of one call by their names in C."""

    def __init__(self, op: Operator, values: Sequence[object]) -> None:
        self.op = op
        self._names = {p.c_name: p.name for p in op.parameters}
        self._values = {p.c_name: v for p, v in zip(op.parameters, values, strict=True)}

    def name(self, c_name: str) -> str:
        """The name of a parameter in Python."""
        return self._names[c_name]

    def value(self, c_name: str) -> Any:
        """The argument; an empty list stands for an absent one."""
        value = self._values[c_name]
        return None if isinstance(value, (list, tuple)) and not value else value

    def tensors(self, c_name: str) -> list[tuple[str, Tensor]]:
        """The tensors of a tensor or list argument, with the names the user knows them by."""
        value, name = self.value(c_name), self.name(c_name)
        if isinstance(value, Tensor):
            return [(name, value)]
        if isinstance(value, (list, tuple)):
            found = [(f"{name}[{i}]", t) for i, t in enumerate(value) if isinstance(t, Tensor)]
            # Many operators take a list of one tensor of shape (0,) for an absent one.
            return [] if len(found) == 1 and found[0][1].shape == (0,) else found
        return []

    def given(self, c_name: str) -> bool:
        """Whether an optional argument is there."""
        value = self.value(c_name)
        if isinstance(value, (list, tuple)) and all(isinstance(t, Tensor) for t in value):
            return bool(self.tensors(c_name))
        return value is not None

    def member(self) -> groups.Member | None:
        """The part of the caller in the group that a fused operator names."""
        names = [
            v for c_name, v in self._values.items() if c_name == "group" and isinstance(v, str)
        ]
        tensors = [t for c_name in self._values for _name, t in self.tensors(c_name)]
        if not names or not tensors:
            return None
        return groups.member(tensors[0].device.index, names[0])

    def status_of(self, c_name: str, kind: str, usual: int = 161002) -> int:
        """The status by which a fact about one parameter is refused."""
        for row in facts.rules(self.op.c_name):
            named = row["rule"] == "status" and (row["argument"], row["fact"]) == (c_name, kind)
            if named and self.applies(row):
                return int(row["status"])
        return usual

    def applies(self, row: facts.RuleRow) -> bool:
        """Whether the conditions of a row, its ``when``, hold."""
        for term, wanted in row.get("when", {}).items():
            if self.term(term) not in (wanted if isinstance(wanted, list) else [wanted]):
                return False
        return True

    def term(self, text: object) -> Any:
        """The value of a term; None where an argument of it is absent or of another kind."""
        if not isinstance(text, str):
            return text
        found = _TERM.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is no term of the rule table")
        value = self._function(found) if found["call"] else self._plain(found)
        return value if value is None or not found["plus"] else value + int(found["plus"])

    def _plain(self, found: re.Match[str]) -> Any:
        value = self.value(found["name"])
        if found["at"] is None:
            return value
        at = int(found["at"])
        tensors = self.tensors(found["name"])
        if not tensors or not -tensors[0][1].ndim <= at < tensors[0][1].ndim:
            return None
        return tensors[0][1].shape[at]

    def _function(self, found: re.Match[str]) -> Any:
        function, c_name = found["call"], found["of"]
        if function == "given":
            return self.given(c_name)
        if function == "ranks":
            part = self.member()
            return None if part is None else part.size
        if function == "len":
            value = self.value(c_name)
            if isinstance(value, (list, tuple)):
                return len(value)
            return 0 if value is None else None
        tensors = self.tensors(c_name)
        if not tensors:
            return None
        tensor = tensors[0][1]
        if function == "rank":
            return tensor.ndim
        return tensor.dtype_name if function == "dtype" else tensor.format.name
