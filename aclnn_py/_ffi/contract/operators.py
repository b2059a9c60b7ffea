# SPDX-License-Identifier: Apache-2.0
"""Prototypes of operators: which types a parameter may have, and what its name and const tell."""

from __future__ import annotations

from typing import NamedTuple

from aclnn_py._ffi.contract.kinds import KINDS
from aclnn_py._ffi.contract.naming import is_in_place, is_optional
from aclnn_py._ffi.contract.reader import (
    DeclarationError,
    Function,
    Parameter,
    Statement,
    function_of,
    statements,
)

__all__ = ["PHASE_ONE_SUFFIX", "Operator", "operator_of", "parse_operator"]

PHASE_ONE_SUFFIX = "GetWorkspaceSize"
_TAIL = ["uint64_t *", "aclOpExecutor **"]


class Operator(NamedTuple):
    """One operator: its C name, and its parameters without workspace size and executor."""

    name: str
    parameters: tuple[Parameter, ...]

    @property
    def kinds(self) -> str:
        """Kind letters of the parameters, as launch.h has them."""
        return "".join(KINDS[parameter.bare][0] for parameter in self.parameters)

    @property
    def shape(self) -> str:
        """Machine letters of the parameters: equal shapes share one invoker."""
        return "".join(KINDS[parameter.bare][1] for parameter in self.parameters)

    @property
    def modes(self) -> str:
        """A letter per parameter: i read, o written, r both; a capital where it may be null."""
        return "".join(_mode(parameter) for parameter in self.parameters)


def parse_operator(text: str) -> Operator:
    """Read the text of a phase-one prototype, on one or more lines, as the operator.

    Raises
    ------
    DeclarationError
        It is no phase-one prototype, or has a parameter that no operator can have.
    """
    found = [part for part in statements(f"{text};") if isinstance(part, Statement)]
    if len(found) != 1:
        raise DeclarationError(f"not a C prototype: {text[:200]!r}")
    return operator_of(function_of(found[0]))


def operator_of(function: Function) -> Operator:
    """Read phase one as the operator; its last two parameters are checked and left out.

    Raises
    ------
    DeclarationError
        It is no phase one, or has a parameter that no operator can have.
    """
    name = function.name.removesuffix(PHASE_ONE_SUFFIX)
    if name == function.name or not name:
        raise DeclarationError(f"{function.name}: the name of phase one ends in {PHASE_ONE_SUFFIX}")
    tail = [parameter.ctype for parameter in function.parameters[-2:]]
    if tail != _TAIL:
        raise DeclarationError(
            f"{function.name}: the last two parameters must be uint64_t * and aclOpExecutor **, "
            f"not {', '.join(tail) or 'none'}"
        )
    own = function.parameters[:-2]
    for parameter in own:
        if parameter.bare not in KINDS:
            raise DeclarationError(
                f"{function.name}: parameter {parameter.name} has type {parameter.ctype!r}, "
                f"which no operator parameter can have"
            )
    return Operator(name, own)


def _mode(parameter: Parameter) -> str:
    mode = "i"
    if is_in_place(parameter.name):
        mode = "r"
    elif KINDS[parameter.bare][0] in "TL" and not parameter.is_const:
        mode = "o"
    return mode.upper() if is_optional(parameter.name) else mode
