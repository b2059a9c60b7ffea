# SPDX-License-Identifier: Apache-2.0
"""The Python text of a function: check the arguments, allocate the result, queue the operator."""

from __future__ import annotations

import ast

from aclnn_py.operators.launch.table import operator_named
from maintain.functional.docstrings import docstring
from maintain.functional.row import Call, Row

__all__ = ["function_text"]

# Calls of more arguments than this name them.
_MANY = 9


def function_text(row: Row) -> str:
    """The function of a row; the formatter lays out its lines."""
    quote = '"""'
    lines = ["@remembered"] if _may_be_remembered(row) else []
    lines.append(f"def {row.name}({row.head}) -> {row.annotation}:")
    text = docstring(row).split("\n")
    lines += [f"    {quote}{text[0]}", *(f"    {line}".rstrip() for line in text[1:])]
    lines += [f"    {quote}", *(f"    {line}" for line in _body(row))]
    return "\n".join(lines) + "\n"


def _may_be_remembered(row: Row) -> bool:
    """Whether one launch makes the one tensor that the function returns."""
    lists = any("Sequence[Tensor" in p.annotation for p in row.arguments)
    tensors = any(p.annotation.startswith("Tensor") for p in row.arguments)
    one = len(row.outputs) == len(row.returned) == 1
    single = all(isinstance(c, str) or len(c.operators) == 1 for c in row.calls)
    texts = [call for call in row.calls if isinstance(call, str)]
    return tensors and one and single and len(texts) <= 1 and not (lists or row.draws or row.before)


def _body(row: Row) -> list[str]:
    lines = [*_expectations(row), *row.steps]
    for out in row.outputs:
        device = row.device or _first_device(row)
        lines.append(f"{out.name} = empty({out.shape}, {out.dtype}, device={device})")
    if row.draws:
        source = "next_place" if row.replayable else "fixed_place"
        lines.append(f"place = {source}({row.draws}, generator, seed, offset, stream)")
    lines += [*map(_launch, row.before), *_launches(row)]
    lines.append(f"return {', '.join(out.name for out in row.returned)}")
    return lines


def _expectations(row: Row) -> list[str]:
    checks = {
        "Tensor": "expect_tensors",
        "Tensor | Number": "expect_tensors_or_numbers",
        "Tensor | None": "expect_optional",
        "Sequence[Tensor]": "expect_list",
    }
    lines = []
    for annotation, check in checks.items():
        names = [p.name for p in row.arguments if p.annotation == annotation]
        if names:
            lines.append(f"{check}({', '.join(f'{name}={name}' for name in names)})")
    return lines


def _first_device(row: Row) -> str:
    for parameter in row.arguments:
        if parameter.annotation == "Tensor":
            return f"{parameter.name}.device"
        if parameter.annotation == "Sequence[Tensor]":
            return f"{parameter.name}[0].device"
    raise ValueError(f"{row.name}: takes no tensor, so the row must name a device")


def _launches(row: Row) -> list[str]:
    lines, word = [], "if"
    for call in row.calls:
        if isinstance(call, Call):
            lines.append(f"{word} {call.condition}:")
            lines += [f"    {_launch(text)}" for text in call.operators]
            word = "elif"
    otherwise = [_launch(call) for call in row.calls if isinstance(call, str)]
    if lines and otherwise:
        lines += ["else:", *(f"    {line}" for line in otherwise)]
    return lines or otherwise


def _launch(call: str) -> str:
    tree = ast.parse(call, mode="eval").body
    assert isinstance(tree, ast.Call)
    assert isinstance(tree.func, ast.Name)
    operator = operator_named(tree.func.id)
    names = [parameter.name for parameter in operator.parameters]
    given = [ast.unparse(argument) for argument in tree.args]
    if len(names) != len(given):
        raise ValueError(f"{call}: {len(given)} arguments, the operator takes {len(names)}")
    if len(given) > _MANY:
        given = [f"{name}={value}" for name, value in zip(names, given, strict=True)]
    return f"ops.{operator.name}({', '.join(given)}, stream=stream)"
