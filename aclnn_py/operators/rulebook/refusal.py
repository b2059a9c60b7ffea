# SPDX-License-Identifier: Apache-2.0
"""A refusal of the emulator's phase one as data (include/aclnn_py/refusal.h)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aclnn_py._ffi import ffi
from aclnn_py.errors import BrokenRule
from aclnn_py.operators.describe.parameter import Parameter

__all__ = ["FIXES", "READER", "Refusal", "read_refusal", "rule_of"]

# aclnn_py_refusal is a status and six texts, each a word of its own.
READER = "int32_t (*)(char const *, uintptr_t *)"
_TEXTS = ("kind", "parameter", "stage", "given", "expected", "text")
# What makes an argument of the wrong kind a right one.
FIXES = {
    "dtype": "convert it with astype()",
    "format": "with_format() names a plain one, functional.trans_matmul_weight() makes FRACTAL_NZ",
}
_PARAMETER = re.compile(r"(\w+)(.*)", re.DOTALL)


@dataclass(frozen=True)
class Refusal:
    """Why phase one refused a call; names are those of the C prototype.

    Attributes
    ----------
    status : int
    kind : str
        The rule that is broken: "null", "dtype", "format", "rank", "shape", "value", "list" or
        "chip".
    parameter : str
        With the index of a member of a list; "" where the refusal is about none.
    stage : str
        "host" or "tiling", the second line of checks.
    given, expected : str
        Words of the text, "" where it does not set them apart.
    text : str
        The message without its code and the operator's name.
    """

    status: int
    kind: str
    parameter: str
    stage: str
    given: str
    expected: str
    text: str


def read_refusal(function: Any, c_name: str) -> Refusal | None:
    """Take the refusal that an emulator keeps for this thread; None when there is none.

    Parameters
    ----------
    function : cdata or None
        ``aclnn_py_emulator_refusal`` of that emulator; None where the library has none.
    c_name : str
        The operator.
    """
    words = ffi.new("uintptr_t[]", 1 + len(_TEXTS))
    if function is None or not function(c_name.encode(), words):
        return None
    texts = [
        ffi.string(ffi.cast("char const *", word)).decode("utf-8", "replace") for word in words[1:7]
    ]
    return Refusal(int(ffi.cast("int32_t", words[0])), **dict(zip(_TEXTS, texts, strict=True)))


def rule_of(refusal: Refusal, parameters: Sequence[Parameter]) -> BrokenRule:
    """Return the broken rule of a refusal, with the parameter's name in Python."""
    names = {parameter.c_name: parameter.name for parameter in parameters}
    found = _PARAMETER.fullmatch(refusal.parameter)
    argument = names.get(found[1], found[1]) + found[2] if found else ""
    word = rf"\b{re.escape(refusal.parameter)}(?!\w)"
    text = re.sub(word, argument, refusal.text, count=1) if found else refusal.text
    return BrokenRule(
        argument,
        text,
        refusal.status,
        FIXES.get(refusal.kind, ""),
        kind=refusal.kind,
        given=refusal.given,
        expected=refusal.expected,
        stage=refusal.stage,
    )
