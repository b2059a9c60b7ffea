# SPDX-License-Identifier: Apache-2.0
"""Operator types of the aclop interface: the table of facts, and the C++ made of it.

A row of `aclop.json` has a form, `x1 x2 -> y`, attributes, and the call of its aclnn form. In a
form a name followed by `?` may be missing, one followed by `*` is a list, and one followed by `~`
is not read. An attribute is `name:kind`, followed by `=default` unless it is required; `~` at its
end says that it has no effect here or follows from the tensors, and `!value` that only this value
is taken. An attribute that the call does not read has to keep its default.

The words of a call stand in the order of the C parameters: a name; a literal (`0`, `false`, `null`,
`"tanh"`, `{1,1}`); `=1`, a scalar; `x^flag`, a matrix that is transposed if the attribute says so;
`reduction%none,mean`, the place of a text in a list; `x|0`, a scalar if x is missing; and
`function(names)`, a member of `Call`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from aclnn_py._ffi.contract.headers import families
from aclnn_py._ffi.contract.kinds import KINDS
from aclnn_py._ffi.contract.operators import Operator, operator_of
from build_parts.paths import write_if_changed
from build_parts.toolchain import BuildError

FILE = "aclop.json"
COPY = "copied"
KIND_NAMES = {
    "bool": "kBool",
    "int": "kInt",
    "float": "kFloat",
    "string": "kString",
    "type": "kType",
    "bools": "kBools",
    "ints": "kInts",
    "floats": "kFloats",
    "lists": "kLists",
}
CALL_FORM = re.compile(r"(\w+)\(([\w,]*)\)")
# Kinds of parameters, and the member of Call that makes one.
MAKERS = {"T": "tensor", "L": "list", "S": "scalar", "I": "ints", "B": "bools", "s": "text"}
WHOLE, REAL = "libqu", "df"


@dataclass(frozen=True)
class Port:
    """An input or output."""

    name: str
    optional: bool
    listed: bool
    unread: bool


@dataclass(frozen=True)
class Attribute:
    """An attribute; `default` is None where it is required."""

    name: str
    kind: str
    default: str | None
    only: str | None
    free: bool


@dataclass(frozen=True)
class Type:
    """One row of the table."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    attributes: tuple[Attribute, ...]
    function: str
    words: tuple[str, ...]

    def reads(self, name: str) -> bool:
        """Whether the call reads the port or attribute."""
        return any(name in re.findall(r"\w+", word.partition("%")[0]) for word in self.words)


def read_types(facts: Path) -> list[Type]:
    """Every row of the table, sorted by name as the C library compares names."""
    rows = json.loads((facts / FILE).read_text(encoding="utf-8"))
    return [type_of(name, rows[name]) for name in sorted(rows)]


def type_of(name: str, row: dict[str, str]) -> Type:
    """One row, parsed."""
    inputs, _, outputs = row["form"].partition("->")
    function, *words = row["call"].split()
    if found := CALL_FORM.fullmatch(function):
        function, words = found[1], found[2].split(",")
    return Type(
        name,
        tuple(port_of(word) for word in inputs.split()),
        tuple(port_of(word) for word in outputs.split()),
        tuple(attribute_of(word) for word in row.get("attributes", "").split()),
        function,
        tuple(words),
    )


def port_of(word: str) -> Port:
    """`x1`, `bias?`, `x*` or `y~`."""
    return Port(word.rstrip("?*~"), "?" in word, "*" in word, "~" in word)


def attribute_of(word: str) -> Attribute:
    """`axis:int=-1`, `axes:ints`, `p:int!1` or `N:int=1~`."""
    free = word.endswith("~")
    name, _, rest = word.removesuffix("~").partition(":")
    rest, _, only = rest.partition("!")
    kind, given, default = rest.partition("=")
    return Attribute(name, kind, default if given else None, only or None, free)


class Writer:
    """Writes the C++ of one row."""

    def __init__(self, row: Type, operators: dict[str, Operator]) -> None:
        self.row = row
        self.operator = operators.get(row.function)
        if self.operator is None and row.function != COPY:
            raise BuildError(f"{FILE}: {row.name}: no operator {row.function} in include/aclnnop")
        self.places = {
            **{port.name: f"In{{{i}}}" for i, port in enumerate(row.inputs)},
            **{a.name: f"At{{{i}}}" for i, a in enumerate(row.attributes)},
        }
        self.results = {port.name: f"Out{{{i}}}" for i, port in enumerate(row.outputs)}

    def place(self, name: str) -> str:
        """The position of a name: an input before an output of the same name."""
        found = self.places.get(name) or self.results.get(name)
        if found is None:
            raise BuildError(f"{FILE}: {self.row.name}: nothing is called {name}")
        return found

    def function(self) -> str:
        """The C++ function that calls phase one."""
        head = f"Status plan_{self.row.name}(Call &c, uint64_t *workspace, "
        head += "aclOpExecutor **executor) {"
        if self.operator is None:
            places = ", ".join(self.place(word) for word in self.row.words)
            return f"{head}\n  return c.{COPY}({places}, workspace, executor);\n}}"
        parameters = self.operator.parameters
        if len(parameters) != len(self.row.words):
            raise BuildError(
                f"{FILE}: {self.row.name}: {self.row.function} has {len(parameters)} parameters"
            )
        lines = [head]
        for i, (parameter, word) in enumerate(zip(parameters, self.row.words, strict=True)):
            kind = KINDS[parameter.bare][0]
            made = self.argument(word, kind, parameter.bare)
            lines.append(f"  const auto a{i} = {made};")
        names = ", ".join([*(f"a{i}" for i in range(len(parameters))), "workspace", "executor"])
        lines.append("  if (c.failed() || c.deferred()) return c.status();")
        lines.append(f"  c.runs(&{self.row.function});")
        lines.append(f"  return {self.row.function}GetWorkspaceSize({names});")
        return "\n".join([*lines, "}"])

    def argument(self, word: str, kind: str, ctype: str) -> str:
        """The C++ expression of one parameter."""
        if word == "null":
            return f"static_cast<{ctype}>(nullptr)"
        if kind == "y":
            return f"c.{self.call(word)}"
        if kind in WHOLE:
            return f"c.narrow<{ctype}>({self.whole(word)})"
        if kind in REAL:
            return f"static_cast<{ctype}>(c.real({self.operand(word)}))"
        if kind == "?":
            return f"c.flag({self.operand(word)})"
        if "^" in word:
            name, flag = word.split("^")
            return f"c.transposed({self.place(name)}, {self.place(flag)})"
        if CALL_FORM.fullmatch(word):
            return f"c.{self.call(word)}" if kind == "T" else f"c.ints(c.{self.call(word)})"
        if "|" in word:
            name, default = word.split("|")
            return f"c.scalar({self.place(name)}, {float(default)})"
        return f"c.{MAKERS[kind]}({self.operand(word)})"

    def whole(self, word: str) -> str:
        """A whole number."""
        if "%" in word:
            name, texts = word.split("%")
            listed = ", ".join(f'"{text}"' for text in texts.split(","))
            return f"c.choice({self.place(name)}, {{{listed}}})"
        return f"c.{self.call(word)}" if "(" in word else f"c.integer({self.operand(word)})"

    def operand(self, word: str) -> str:
        """A position or a literal."""
        if word.startswith("="):
            return str(float(word[1:]))
        if re.fullmatch(r"-?\d+(\.\d+)?|true|false|\"\w+\"", word):
            return word
        return f"std::vector<int64_t>{word}" if word.startswith("{") else self.place(word)

    def call(self, word: str) -> str:
        """A member of Call with the positions of its names."""
        found = CALL_FORM.fullmatch(word)
        if found is None:
            raise BuildError(f"{FILE}: {self.row.name}: {word} is no function")
        name = {"type": "dtype"}.get(found[1], found[1])
        return f"{name}({', '.join(self.place(part) for part in found[2].split(','))})"

    def entry(self) -> str:
        """The row of the table, and the arrays it points to."""
        row, function = self.row, self.function()
        name = row.name
        parts = [
            spanned(f"in_{name}", "Port", [self.port(port) for port in row.inputs]),
            spanned(f"out_{name}", "Port", [self.port(port) for port in row.outputs]),
            spanned(f"at_{name}", "AttributeRow", [self.attribute(a) for a in row.attributes]),
        ]
        return "\n".join([*parts, function])

    def port(self, port: Port) -> str:
        """One Port."""
        refused = not port.unread and not self.row.reads(port.name)
        if refused and not port.optional:
            raise BuildError(f"{FILE}: {self.row.name} does not read {port.name}; mark it with ~")
        return f'{{"{port.name}", {truth(port.optional)}, {truth(port.listed)}, {truth(refused)}}}'

    def attribute(self, a: Attribute) -> str:
        """One AttributeRow: what the call does not read keeps its default."""
        only = a.only
        if only is None and not a.free and not self.row.reads(a.name):
            only = a.default
            if only is None:
                raise BuildError(f"{FILE}: {self.row.name} does not read {a.name}")
        texts = ", ".join("nullptr" if text is None else f'"{text}"' for text in (a.default, only))
        return f'{{"{a.name}", Kind::{KIND_NAMES[a.kind]}, {texts}, {truth(a.free)}}}'


def truth(value: bool) -> str:
    """A C++ literal."""
    return "true" if value else "false"


def spanned(name: str, ctype: str, items: list[str]) -> str:
    """An array; nothing for an empty one."""
    return f"constexpr {ctype} {name}[] = {{{', '.join(items)}}};" if items else ""


def span(name: str, items: tuple[object, ...]) -> str:
    """What a row says about an array."""
    return f"{{{name}, {len(items)}}}" if items else "{nullptr, 0}"


def write_single_operators(facts: Path, include: Path, target: Path) -> None:
    """Write a function per operator type that calls phase one, and the table of them."""
    operators = {}
    for _family, functions in families(include):
        for function in functions:
            operator = operator_of(function)
            operators[operator.name] = operator
    types = read_types(facts)
    parts = [f"// Generated from facts/{FILE} and include/aclnnop."]
    parts += [Writer(row, operators).entry() for row in types]
    parts.append("constexpr Row kRows[] = {")
    for row in types:
        spans = ", ".join(
            span(f"{prefix}_{row.name}", items)
            for prefix, items in (("in", row.inputs), ("out", row.outputs), ("at", row.attributes))
        )
        parts.append(f'    {{"{row.name}", {spans}, &plan_{row.name}}},')
    parts.append("};")
    write_if_changed(target, "\n".join(part for part in parts if part) + "\n")
