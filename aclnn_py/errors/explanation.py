# SPDX-License-Identifier: Apache-2.0
"""Explanations as text: the same for a code on the command line and for an exception."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from aclnn_py import facts
from aclnn_py.errors.base import AclnnPyError
from aclnn_py.errors.code_lookup import Explanation, explain_status
from aclnn_py.errors.evidence import BrokenRule
from aclnn_py.errors.log_reader import read_text
from aclnn_py.errors.status import StatusError

__all__ = ["explain_error", "explain_missing", "render", "render_all"]

_WIDTH = 100
_PHASE_ONE = "GetWorkspaceSize"


def render(explanation: Explanation) -> str:
    """Return the explanation of one code or cause as a few lines."""
    lines = [_title(explanation)]
    if explanation.quote:
        where = f"{explanation.file}:{explanation.line}" if explanation.file else ""
        where = where or (f"line {explanation.line}" if explanation.line else "")
        lines += _item("the text" + (f" ({where})" if where else ""), f'"{explanation.quote}"')
    if explanation.named:
        named = ", ".join(f"{name} {value}" for name, value in explanation.named.items())
        lines += _item("it names", named)
    if explanation.code or explanation.name:
        lines += _wrapped("family", explanation)
    lines += [line for cause in explanation.causes for line in _item("usual cause", cause)]
    if explanation.checks:
        lines.append("  what to check:")
        for number, check in enumerate(explanation.checks, 1):
            lines += textwrap.wrap(
                check, _WIDTH, initial_indent=f"    {number}. ", subsequent_indent="       "
            )
    if explanation.since:
        lines.append(f"  known since: CANN {explanation.since}")
    return "\n".join(lines)


def render_all(explanations: Iterable[Explanation]) -> str:
    """Return several explanations as paragraphs; what one has said to check, no other repeats."""
    said: set[str] = set()
    parts = []
    for one in explanations:
        checks = tuple(check for check in one.checks if check not in said)
        said.update(checks)
        parts.append(render(replace(one, checks=checks)))
    return "\n\n".join(parts)


def _title(explanation: Explanation) -> str:
    title = " ".join(part for part in (explanation.code, explanation.name) if part)
    if not title:
        return f"cause {explanation.cause}: {explanation.meaning}"
    if not explanation.known:
        return f"{title}: not in the tables of this package."
    return f"{title}: {explanation.meaning}"


def _wrapped(label: str, explanation: Explanation) -> list[str]:
    owner = explanation.library if explanation.library in ("acl", "aclnn", "hccl") else ""
    owner = f" ({owner})" if owner else ""
    return _item(label, explanation.family + owner)


def _item(label: str, text: str) -> list[str]:
    return textwrap.wrap(f"{label}: {text}", _WIDTH, initial_indent="  ", subsequent_indent="    ")


def explain_error(error: StatusError) -> str:
    """Return the long text of an exception: message, codes, documents."""
    hccl = error.library == "hccl"
    status = explain_status(error.status, hccl=hccl)
    told = [one for one in read_text(error.detail) if one.cause != "unknown"]
    causes = [one for one in told if not one.code and not one.name]
    codes = [one for one in told if one not in causes and one.code != status.code]
    parts = [str(error), render_all((*causes, status, *codes))]
    parts += _paragraph(line for rule in error.broken for line in _rule(rule))
    parts += _paragraph(_documents(error.routine.removesuffix(_PHASE_ONE)))
    return "\n\n".join(parts)


def _rule(rule: BrokenRule) -> Iterator[str]:
    """What is known about the broken rule, apart from its text."""
    yield f"the broken rule: {rule}"
    about = [f"of kind {rule.kind}"] if rule.kind else []
    about += [f"checked by the {rule.stage}"] if rule.stage else []
    about.append(f"refused with {rule.status}")
    yield f"  {', '.join(about)}"
    yield from (
        f"  {name}: {text}"
        for name, text in (("given", rule.given), ("allowed", rule.expected))
        if text
    )


def explain_missing(error: AclnnPyError) -> str:
    """Return the long text of an exception about a library or function that is not there."""
    symbol = str(getattr(error, "symbol", ""))
    parts = [str(error), *_paragraph(_documents(symbol.removesuffix(_PHASE_ONE)))]
    parts.append(
        "aclnn-py doctor reports the whole installation; aclnn-py ops PATTERN says which operators "
        "the loaded libraries have."
    )
    return "\n\n".join(parts)


def _paragraph(lines: Iterable[str]) -> list[str]:
    text = "\n".join(lines)
    return [text] if text else []


def _documents(operator: str) -> Iterator[str]:
    """What is known about the parameters of an operator."""
    fact = facts.operator(operator)
    if fact is None:
        return
    yield f"Parameters of {operator}:"
    for parameter, alike in groupby(fact.parameters.items(), key=lambda item: item[1]):
        text = f"{', '.join(name for name, _ in alike)}: {'; '.join(parameter.words())}"
        yield from textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")
