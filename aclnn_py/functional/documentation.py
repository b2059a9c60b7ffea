# SPDX-License-Identifier: Apache-2.0
"""Docstrings, signatures and stubs of the functions of the table."""

from __future__ import annotations

import inspect
import textwrap
from typing import TYPE_CHECKING, Any

from aclnn_py.facts import operator as operator_facts
from aclnn_py.operators.describe.documentation import since
from aclnn_py.operators.launch.table import operator_named

if TYPE_CHECKING:
    from aclnn_py.functional.row import Row
    from aclnn_py.operators.launch.op import Op

__all__ = ["docstring", "signature", "stub_line"]

_WIDTH = 100
# What a parameter means wherever it appears, unless the row says otherwise.
_COMMON = {
    "dim": "The dimension; negative ones count from the last.",
    "keepdim": "Whether reduced dimensions stay, with length 1.",
    "dtype": "Element type of the result.",
    "other": "Broadcast with ``input``; dtypes are promoted. A number keeps the dtype of ``input`` "
    "unless its kind is higher.",
    "alpha": "Factor of ``other``.",
    "stream": "Ordering; default is the current stream. Returns before the device finishes.",
    "cube_math_type": "0 keeps the precision of the inputs, 1 allows lower precision, 2 allows "
    "float16, 3 allows HF32.",
    "device": "Default: the current device of this thread.",
}
_TYPES = {
    "Stream | None": "Stream, optional",
    "Tensor | None": "Tensor, optional",
    "Sequence[Tensor]": "sequence of Tensor",
    "Number": "number",
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


def signature(row: Row) -> inspect.Signature:
    """Signature with the annotations of the stubs."""
    keyword_from = row.head.split("*, ")[0] if "*, " in row.head else row.head
    parameters = []
    for name, annotation, default in (*row.arguments, ("stream", "Stream | None", "None")):
        named = f"{name}:" not in keyword_from
        kind = inspect.Parameter.KEYWORD_ONLY if named else inspect.Parameter.POSITIONAL_OR_KEYWORD
        value = inspect.Parameter.empty if default is None else _value(default)
        parameters.append(inspect.Parameter(name, kind, annotation=annotation, default=value))
    return inspect.Signature(parameters, return_annotation=row.annotation)


def _value(text: str) -> object:
    import ast

    return ast.literal_eval(text)


def stub_line(row: Row) -> str:
    """The typed line of ``functional/__init__.pyi``."""
    return f"def {row.name}({row.head}) -> {row.annotation}: ...\n"


def docstring(row: Row) -> str:
    """The docstring in the package's template."""
    lines = [row.summary, "", "Parameters", "----------"]
    for name, annotation, default in (*row.arguments, ("stream", "Stream | None", "None")):
        lines.append(f"{name} : {_type(annotation, default)}")
        lines += _wrapped(" ".join(filter(None, [row.about.get(name, _COMMON.get(name, "")),
                                                 _documented(row, name)])))  # fmt: skip
    lines += ["", "Returns", "-------"]
    for out in row.returned:
        lines += ["Tensor" if len(row.returned) == 1 else f"{out.name} : Tensor"]
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
        lines += ["", "Notes", "-----", *textwrap.wrap(row.notes, _WIDTH - 4)]
    lines += ["", "Source", "------", *textwrap.wrap(_source(row), _WIDTH - 4)]
    return "\n".join(lines)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH - 4, initial_indent="    ", subsequent_indent="    ")


def _type(annotation: str, default: str | None) -> str:
    text = _TYPES.get(annotation, annotation)
    if default is None or (default == "None" and text.endswith("optional")):
        return text
    return f"{text}, default {default}"


def _documented(row: Row, name: str) -> str:
    """What the facts say about a parameter that is handed to the operator as it is."""
    for call in reversed(row.operators):
        operator, _, rest = call.partition("(")
        arguments = [part.strip() for part in rest[:-1].split(",")]
        op: Op = operator_named(operator)
        if name not in arguments or len(arguments) != len(op.parameters):
            continue
        if not op.parameters[arguments.index(name)].is_tensor:
            return ""
        facts = operator_facts(op.c_name)
        known: Any = {} if facts is None else facts["params"][arguments.index(name)]
        parts = []
        if known.get("dims"):
            parts.append(f"{known['dims']} dimensions")
        if known.get("dtypes"):
            parts.append(f"dtype {' | '.join(kind.lower() for kind in known['dtypes'])}")
        text = "; ".join(parts)
        return f"{text[:1].upper()}{text[1:]}." if text else ""
    return ""


def _source(row: Row) -> str:
    parts = []
    for name in reversed(row.names):
        op = operator_named(name)
        origin = since(op.c_name)
        release = f"CANN >= {origin}" if origin[:1].isdigit() else f"CANN: {origin}"
        parts.append(f"{op.c_name} (``include/aclnnop/{op.family}.h``), {release}")
    return "; ".join(parts) + "."
