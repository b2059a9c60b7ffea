# SPDX-License-Identifier: Apache-2.0
"""Docstrings of the functions of the table, in the package's template."""

from __future__ import annotations

import textwrap

from aclnn_py.facts import operator as operator_facts
from aclnn_py.operators.describe.documentation import since
from aclnn_py.operators.launch.table import operator_named
from maintain.functional.row import Row

__all__ = ["docstring"]

# The docstring is indented by four in the function.
_WIDTH = 96
# What a parameter means wherever it appears, unless the row says otherwise.
_COMMON = {
    "dim": "Dimension; a negative one counts from the last.",
    "keepdim": "Whether to keep reduced dimensions with length 1.",
    "dtype": "Element type of the result.",
    "other": "Second operand, broadcast with ``input``. A number changes the dtype of the result "
    "only if its kind is higher (bool < int < float < complex).",
    "alpha": "Factor of ``other``.",
    "stream": "Stream to queue the work on; default is the current one. The call returns before "
    "the device finishes.",
    "cube_math_type": "0 keeps the precision of the inputs, 1 allows lower precision, 2 allows "
    "float16, 3 allows HF32.",
    "device": "Device of the result; default is the current one of this thread.",
}
# For operands about which the documents say nothing.
_UNKNOWN = {"input": "First operand.", "tensor1": "Second operand.", "tensor2": "Third operand."}
_TYPES = {
    "Stream | None": "Stream, optional",
    "Tensor | None": "Tensor, optional",
    "Sequence[Tensor]": "sequence of Tensor",
    "Sequence[Tensor] | None": "sequence of Tensor, optional",
    "Number": "number",
    "Number | None": "number, optional",
    "Tensor | Number": "Tensor or number",
    "DTypeLike": "dtype-like",
    "DTypeLike | None": "dtype-like, optional",
    "Device | int | None": "Device or int, optional",
    "tuple[int, ...]": "tuple of int",
    "int | tuple[int, ...]": "int or tuple of int",
    "int | tuple[int, ...] | None": "int or tuple of int, optional",
    "Sequence[int]": "sequence of int",
    "Sequence[int] | None": "sequence of int, optional",
    "float | None": "float, optional",
    "int | None": "int, optional",
    "Generator | None": "Generator, optional",
}


def docstring(row: Row) -> str:
    """The docstring of a row."""
    lines = [row.summary, "", "Parameters", "----------"]
    for parameter in row.arguments:
        name = parameter.name
        known = row.about.get(name, _COMMON.get(name, "")), _documented(row, name)
        text = " ".join(filter(None, known)) or _UNKNOWN.get(name, "")
        if not text:
            raise ValueError(f"{row.name}: nothing is said about {name}")
        lines.append(f"{name} : {_type(parameter.annotation, parameter.default)}")
        lines += _wrapped(text)
    lines += ["", "Returns", "-------"]
    for out in row.returned:
        one = _type(row.annotation, None)
        lines += [one if len(row.returned) == 1 else f"{out.name} : Tensor"]
        lines += _wrapped(out.text)
    lines += [
        "",
        "Raises",
        "------",
        "AclnnError",
        "    161002 a dtype, shape or attribute is refused.",
        "SymbolNotFoundError",
        "    The loaded libraries do not have the operator.",
    ]
    if row.notes:
        lines += ["", "Notes", "-----", *textwrap.wrap(row.notes, _WIDTH)]
    lines += ["", "Source", "------", *textwrap.wrap(_source(row), _WIDTH)]
    return "\n".join(lines)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="    ", subsequent_indent="    ")


def _type(annotation: str, default: str | None) -> str:
    text = _TYPES.get(annotation, annotation)
    if default is None or (default == "None" and text.endswith("optional")):
        return text
    return f"{text}, default {default}"


def _documented(row: Row, name: str) -> str:
    """What the facts say about a parameter that is handed to the operator as it is."""
    for call in row.operators:
        operator, _, rest = call.partition("(")
        arguments = [part.strip() for part in rest[:-1].split(",")]
        op = operator_named(operator)
        if name not in arguments or len(arguments) != len(op.parameters):
            continue
        if not op.parameters[arguments.index(name)].is_tensor:
            return ""
        facts = operator_facts(op.c_name)
        if facts is None:
            return ""
        known = facts.parameter(op.parameters[arguments.index(name)].c_name)
        parts = [_dimensions(known.ranks)] if known.ranks else []
        if known.every_dtype:
            parts.append(f"dtype {' | '.join(map(_element_type, known.every_dtype))}")
        if parts:
            text = "; ".join(parts)
            return f"{text[:1].upper()}{text[1:]}."
    return ""


def _element_type(name: str) -> str:
    """The package's name of a C element type: FLOAT is float32, DOUBLE is float64."""
    return {"FLOAT": "float32", "DOUBLE": "float64"}.get(name.upper(), name.lower())


def _dimensions(text: str) -> str:
    """The ranks of a fact in words: "0-8" is "0 to 8 dimensions"."""
    words = text.replace("-", " to ").replace(",", " or ")
    return f"{words} dimension{'' if text == '1' else 's'}"


def _source(row: Row) -> str:
    parts = []
    for name in row.names:
        op = operator_named(name)
        origin = since(op.c_name)
        release = f"CANN >= {origin}" if origin[:1].isdigit() else f"CANN: {origin}"
        parts.append(f"{op.c_name} (``include/aclnnop/{op.family}.h``), {release}")
    return "; ".join(parts) + "."
