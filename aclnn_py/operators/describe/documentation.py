# SPDX-License-Identifier: Apache-2.0
"""Docstrings and signatures of operators, made when somebody asks."""

from __future__ import annotations

import inspect

from aclnn_py.facts import OperatorFact, ParameterFact
from aclnn_py.facts import operator as operator_facts
from aclnn_py.operators.describe.operator import Operator
from aclnn_py.operators.describe.parameter import Parameter

__all__ = ["DOCUMENT_MARK", "docstring", "signature", "since"]

DOCUMENT_MARK = "[document]"
"""In the sentence about an operator whose prototype is known from documents only."""


def since(c_name: str) -> str:
    """First release of CANN known to have an operator, or ""."""
    facts = operator_facts(c_name)
    return "" if facts is None else facts.since.replace("later", "a release after 8.1.RC1")


def signature(op: Operator) -> inspect.Signature:
    """Signature with the annotations of the stubs."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(p.name, kind, annotation=p.annotation) for p in op.parameters]
    parameters.append(
        inspect.Parameter(
            "stream", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Stream | None"
        )
    )
    return inspect.Signature(parameters, return_annotation="None")


def docstring(op: Operator) -> str:
    """The docstring in the package's template."""
    facts = operator_facts(op.c_name)
    summary = op.summary.replace(DOCUMENT_MARK, "").strip() or f"Call {op.c_name}."
    lines = [summary, "", "Parameters", "----------"]
    for parameter in op.parameters:
        known = None if facts is None else facts.parameter(parameter.c_name)
        lines += [f"{parameter.name} : {parameter.annotation}", f"    {_meaning(parameter, known)}"]
    lines += [
        "stream : Stream | None, default None",
        "    Queue to use; the current stream of this thread by default. Returns before the device "
        "finishes.",
        "",
        "Raises",
        "------",
        "AclnnError",
        "    161001 a required argument is None; 161002 a shape, dtype or format is refused.",
        "SymbolNotFoundError",
        "    The loaded libraries do not have the operator.",
        "",
        "Source",
        "------",
        _source(op, facts),
    ]
    return "\n".join(lines)


def _meaning(parameter: Parameter, fact: ParameterFact | None) -> str:
    parts = [{"in": "Read", "out": "Written", "in place": "Read and written"}[parameter.direction]]
    if parameter.c_name != parameter.name:
        parts.append(f"``{parameter.c_name}`` in C")
    if fact is not None:
        parts += fact.words()
    return "; ".join(parts) + "."


def _source(op: Operator, facts: OperatorFact | None) -> str:
    text = f"{op.c_name} (``include/aclnnop/{op.family}.h``)" if op.family else op.c_name
    if facts is None:
        return f"{text}, declared at run time."
    origin = since(op.c_name)
    text += f", CANN >= {origin}" if origin[0].isdigit() else f", CANN: {origin}"
    if DOCUMENT_MARK in op.summary:
        text += "; the prototype is known from documents only"
    if facts.experimental:
        text += "; a contributed package, not part of CANN's own library"
    return text + "."
