# SPDX-License-Identifier: Apache-2.0
"""Calls of operators as the emulator's sources see them: a struct per operator, from its prototype.

`ops/call.h` of the emulator says what a source does with them. All versions of an operator have one
struct; a parameter that a version lacks has no name there. `calls.json` joins further operators
and names members: "operators" are joined with all their versions, "names" gives a parameter (or an
"Operator.parameter") another name than its own in snake case, so that several are one member, and
"defaults" says what a number is where an operator lacks it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aclnn_py._ffi.contract.headers import families
from aclnn_py._ffi.contract.naming import snake_case, without_optional
from aclnn_py._ffi.contract.operators import Operator, operator_of
from build_parts.paths import write_tree
from build_parts.toolchain import BuildError

GROUPS = Path(__file__).with_name("calls.json")
ACCESS = {"i": "read", "o": "written", "r": "both"}
# Kind letter of the contract -> type of the member, and what tells it from one of another type.
MEMBERS = {
    "T": ("Named<aclTensor>", "_tensor"),
    "L": ("Named<aclTensorList>", "_list"),
    "S": ("Named<aclScalar>", "_scalar"),
    "R": ("Named<aclScalarList>", "_scalars"),
    "I": ("Named<aclIntArray>", "_array"),
    "F": ("Named<aclFloatArray>", "_array"),
    "B": ("Named<aclBoolArray>", "_array"),
    "s": ("Named<char>", "_text"),
    "y": ("aclDataType", "_dtype"),
    "?": ("bool", "_flag"),
    "b": ("int64_t", "_number"),
    "i": ("int64_t", "_number"),
    "u": ("uint64_t", "_number"),
    "l": ("int64_t", "_number"),
    "q": ("uint64_t", "_number"),
    "f": ("double", "_number"),
    "d": ("double", "_number"),
}
MOST_TENSORS = 48
_VERSION = re.compile(r"V\d+$")
_KEYWORDS = frozenset({"default", "operator", "this", "switch", "union", "new", "delete", "signed"})


@dataclass(frozen=True)
class Argument:
    """A parameter of an operator, and the member of the struct that it is."""

    parameter: str
    declared: str
    member: str
    type: str
    access: str
    """How a tensor or list of tensors is accessed, else empty."""


@dataclass(frozen=True)
class Group:
    """Operators that share a struct: the C name and the arguments of each."""

    struct: str
    operators: dict[str, tuple[Argument, ...]]
    defaults: dict[str, str]
    """Member -> the number that stands for a parameter which an operator lacks, if it is not 0."""

    def members(self) -> dict[str, str]:
        """Name and type of each member, in the order in which operators first have them."""
        rows = [argument for one in self.operators.values() for argument in one]
        return {argument.member: argument.type for argument in rows}


def write_calls(include: Path, folder: Path) -> list[Path]:
    """Write a header per family of `include/aclnnop`; return the headers."""
    rows = json.loads(GROUPS.read_text(encoding="utf-8"))
    texts: dict[str, str] = {}
    made: set[str] = set()
    for family, functions in families(include):
        groups = groups_of([operator_of(function) for function in functions], rows)
        made.update(group.struct for group in groups)
        texts[f"{family}.h"] = header_text(family, groups)
    if missing := {f"{name}Call" for name in rows} - made:
        raise BuildError(f"{GROUPS.name}: no family has operators of {', '.join(sorted(missing))}")
    return write_tree(folder, texts)


def groups_of(operators: list[Operator], rows: dict[str, dict[str, Any]]) -> list[Group]:
    """The operators of a family, those together that share a struct."""
    group_of = {operator: name for name, row in rows.items() for operator in row["operators"]}
    joined: dict[str, list[Operator]] = {}
    for operator in operators:
        base = base_name(operator.name)
        joined.setdefault(group_of.get(base, base), []).append(operator)
    return [make_group(name, members, rows.get(name, {})) for name, members in joined.items()]


def make_group(name: str, operators: list[Operator], row: dict[str, Any]) -> Group:
    """Give each parameter a member of one type; parameters of one name and type share it."""
    names: dict[str, str] = row.get("names", {})
    unused = set(names)
    types: dict[str, str] = {}
    of_operator = {}
    for operator in operators:
        arguments: list[Argument] = []
        for parameter, kind, mode in zip(
            operator.parameters, operator.kinds, operator.modes.lower(), strict=True
        ):
            ctype, suffix = MEMBERS[kind]
            spelled = (f"{base_name(operator.name)}.{parameter.name}", parameter.name)
            named = next((word for word in spelled if word in names), "")
            unused.discard(named)
            member = names.get(named) or member_name(parameter.name)
            if not named and any(argument.member == member for argument in arguments):
                member = snake_case(parameter.name)
            if types.setdefault(member, ctype) != ctype:
                member += suffix
                types[member] = ctype
            access = ACCESS[mode] if kind in "TL" else ""
            declared = f"{parameter.ctype} {parameter.name}".replace("* ", "*")
            arguments.append(Argument(parameter.name, declared, member, ctype, access))
        if len({argument.member for argument in arguments}) < len(arguments):
            raise BuildError(f"{operator.name}: two parameters are one member in {GROUPS.name}")
        if sum(bool(argument.access) for argument in arguments) > MOST_TENSORS:
            raise BuildError(
                f"{operator.name} has more tensors than OperatorCall of ops/call.h holds"
            )
        of_operator[operator.name] = tuple(arguments)
    defaults: dict[str, str] = row.get("defaults", {})
    if unused := unused | (defaults.keys() - types.keys()):
        text = ", ".join(sorted(unused))
        raise BuildError(f"{GROUPS.name}: {name}Call has no parameter {text}")
    return Group(f"{name}Call", of_operator, defaults)


def member_name(parameter: str) -> str:
    """`weightOptional` -> `weight`, `selfRef` -> `self`, `yOut` -> `y_out`."""
    plain = snake_case(without_optional(parameter).removesuffix("Ref") or parameter)
    return f"{plain}_" if plain in _KEYWORDS else plain


def short_name(operator: str) -> str:
    """`aclnnAdd` -> `Add`; the Fourier transforms are called acl and a name."""
    return operator.removeprefix("aclnn" if operator.startswith("aclnn") else "acl")


def base_name(operator: str) -> str:
    """The short name without a version: `aclnnAddV3` -> `Add`."""
    return _VERSION.sub("", short_name(operator))


def header_text(family: str, groups: list[Group]) -> str:
    """The header of a family: structs, then how each operator fills its own."""
    lines = [
        f"// Generated from include/aclnnop/{family}.h; ops/call.h says what it is for.",
        "#pragma once",
        f'#include "aclnnop/{family}.h"',
        '#include "ops/call.h"',
        "namespace emu {",
    ]
    for group in groups:
        lines.append(f"struct {group.struct} : OperatorCall {{")
        lines.append("  using OperatorCall::OperatorCall;")
        for member, ctype in group.members().items():
            number = "" if "<" in ctype else f"{{{group.defaults.get(member, '')}}}"
            lines.append(f"  {ctype} {member}{number};")
        lines.append("};")
        lines += [f"using CallOf{short_name(one)} = {group.struct};" for one in group.operators]
    lines.append("}  // namespace emu")
    for group in groups:
        for name, arguments in group.operators.items():
            lines.append(entry_text(group.struct, name, arguments))
    return "\n".join(lines) + "\n"


def entry_text(struct: str, name: str, arguments: tuple[Argument, ...]) -> str:
    """The macro that defines both phases of an operator around a function of its call."""
    parameters = "".join(f"{argument.declared}, " for argument in arguments)
    lines = [
        f"#define EMU_ENTRY_{short_name(name)}(RUN)",
        f"EMU_EXPORT aclnnStatus {name}GetWorkspaceSize({parameters}uint64_t *workspaceSize, "
        "aclOpExecutor **executor) try {",
        f'emu::{struct} call("{name}");',
    ]
    for one in arguments:
        text = f'"{one.parameter}", {one.parameter}'
        if one.access:
            lines.append(f"call.add(&call.{one.member}, {text}, emu::Access::{one.access});")
        elif "<" in one.type:
            lines.append(f"call.{one.member} = {{{text}}};")
        else:
            lines.append(f"call.{one.member} = {one.parameter};")
    lines += [
        "return RUN(call, workspaceSize, executor);",
        "} EMU_CATCH",
        f"EMU_EXPORT aclnnStatus {name}(void *workspace, uint64_t workspaceSize, "
        "aclOpExecutor *executor, aclrtStream stream) try {",
        f'return emu::run_plan("{name}", workspace, workspaceSize, executor, stream);',
        "} EMU_CATCH",
    ]
    return " \\\n  ".join(lines)
