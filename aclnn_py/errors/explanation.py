# SPDX-License-Identifier: Apache-2.0
"""Explanations as text: the same for a code on the command line and for an exception."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from aclnn_py import facts
from aclnn_py.errors.base import AclnnPyError
from aclnn_py.errors.code_lookup import Explanation, explain_status, find
from aclnn_py.errors.status import StatusError

__all__ = ["explain_error", "explain_missing", "render"]

_WIDTH = 100
_PHASE_ONE = "GetWorkspaceSize"


def render(explanation: Explanation) -> str:
    """Return the explanation of one code as a few lines."""
    title = " ".join(part for part in (explanation.code, explanation.name) if part)
    if not explanation.known:
        lines = [f"{title}: not in the tables of this package.", *_wrapped("family", explanation)]
    else:
        lines = [f"{title}: {explanation.meaning}", *_wrapped("family", explanation)]
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


def _wrapped(label: str, explanation: Explanation) -> list[str]:
    owner = f" ({explanation.library})" if explanation.library not in ("", "message") else ""
    return _item(label, explanation.family + owner)


def _item(label: str, text: str) -> list[str]:
    return textwrap.wrap(f"{label}: {text}", _WIDTH, initial_indent="  ", subsequent_indent="    ")


def explain_error(error: StatusError) -> str:
    """Return the long text of an exception: message, codes, documents."""
    hccl = error.library == "hccl"
    codes = [explain_status(error.status, hccl=hccl)]
    codes += [one for one in find(error.detail) if one.code != codes[0].code]
    parts = [str(error), *(render(one) for one in codes)]
    parts += _paragraph(_documents(error.routine.removesuffix(_PHASE_ONE)))
    return "\n\n".join(parts)


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
    """What the documents say about the parameters of an operator."""
    fact = facts.operator(operator)
    if fact is None:
        return
    yield f"{operator} in the documents:"
    for parameter in fact["params"]:
        words = []
        if "dtypes" in parameter:
            words.append("dtype " + " | ".join(parameter["dtypes"]))
        if "formats" in parameter:
            words.append("format " + " | ".join(parameter["formats"]))
        if "dims" in parameter:
            words.append(f"{parameter['dims']} dimensions")
        if "shape" in parameter:
            words.append(f"shape {parameter['shape']}")
        if "strided" in parameter:
            words.append("strided views taken" if parameter["strided"] else "contiguous")
        text = "; ".join(words) or "nothing is said"
        yield from textwrap.wrap(
            f"{parameter['name']}: {text}", _WIDTH, initial_indent="  ", subsequent_indent="    "
        )
