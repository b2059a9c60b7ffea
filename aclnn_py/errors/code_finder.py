# SPDX-License-Identifier: Apache-2.0
"""Codes in one line of a text.

A number is a code only where the text says so: logs are full of process numbers, ports, sizes and
shapes. Each rule below is a way in which CANN, torch_npu or a program of theirs states a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from aclnn_py import facts
from aclnn_py.errors.code_lookup import (
    Explanation,
    explain_dcmi,
    explain_driver,
    explain_framework,
    explain_message,
    explain_name,
    explain_runtime,
    explain_status,
)
from aclnn_py.errors.log_line import LogLine

__all__ = ["codes_in", "may_have_a_code", "quote", "the_code"]

_NAME = re.compile(
    r"(?<![A-Za-z0-9_])((?:ACL|ACLNN)_(?:SUCCESS|ERR[A-Z0-9_]{1,60})"
    r"|HCCL_(?:SUCCESS|E_[A-Z0-9_]{1,60}))(?![A-Za-z0-9_])"
)
_FRAMEWORK = re.compile(r"(?<![A-Za-z0-9_])(ERR\d{5})(?![A-Za-z0-9_])")
_MESSAGE = re.compile(r"(?<![\w./=-])([EWI][A-Z0-9]\d{4})(?![\w/-])")
# "EZ9999: ...", "EZ9999[PID...", "Name(EZ1001): ...", "ErrorCode=EE1023", "error code EJ0003"
_STATED_MESSAGE = re.compile(
    r"(?<![\w./=-])([EWI][A-Z0-9]\d{4})(?=\s?[:\[])|\(([EWI][A-Z0-9]\d{4})\)"
    r"|(?:error|code|errorcode|errcode|fault)[\s:=\[]{1,4}([EWI][A-Z0-9]\d{4})(?![\w/-])"
    r"|^([EWI][A-Z0-9]\d{4})(?=\s|$)",
    re.IGNORECASE,
)
# The words that state a result, up to the number itself. Nothing but fillers stands between.
_WORDS = (
    r"(?:error|err|errno|errcode|errorcode|ret|retcode|rc|result|status|code|fail|failed|failure"
    r"|return|returned|returns|answered|exception|runtime_result)"
)
_SAID = frozenset(re.findall(r"[a-z_]+", _WORDS)) | {"hcclret", "drvret", "drvretcode", "innercode"}
_FORM = re.compile(r"[EWI][A-Z0-9]\d{4}|ERR\d{5}|ACL(?:NN)?_[ES]|HCCL_[ES]|dcmi")
_FILLERS = r"(?:\s|[:=\[(#,]|->|\bis\b|\bwith\b|\bcode\b|\bnumber\b|\bof\b(?=\s-?\d)){1,12}"
_UNIT = r"(?!\s?(?:bytes|byte|times|ms|us|ns|s|sec|seconds|[kmg]i?b|b|%|tokens|elements|x)\b)"
_STATUS = re.compile(
    rf"(?<![A-Za-z]){_WORDS}{_FILLERS}([1235]\d{{5}})(?![\w.-]\w){_UNIT}", re.IGNORECASE
)
_BARE_STATUS = re.compile(rf"(?<![\w.:/=\[-])([1235]\d{{5}})(?![\w:/-]|\.\d){_UNIT}", re.IGNORECASE)
_OTHER = re.compile(
    r"(?:pid|tid|thread|process|line|size|bytes|port|seed|shape|count|num|id)\W{0,8}$",
    re.IGNORECASE,
)
# HCCL's small numbers: where HCCL itself returns, or the words name one of its functions.
_HCCL_OWN = re.compile(
    r"(?:hcclRet ->|(?<![A-Za-z])(?:ret|return|errno|hccl result|result|error)[\s:=]{0,2}\[?)"
    r"\s?(\d{1,4})\b(?![.x:/])",
    re.IGNORECASE,
)
_HCCL_ERRNO = re.compile(r"errNo\[0x0{0,8}0?5[0-9a-f]{2}([0-9a-f]{4})\]", re.IGNORECASE)
_HCCL_CALLED = re.compile(
    rf"hc(?:cl|om)\w*[^0-9\n]{{0,120}}?(?<![A-Za-z]){_WORDS}{_FILLERS}(\d{{1,4}})(?![\w.:-]){_UNIT}",
    re.IGNORECASE,
)
_RUNTIME = re.compile(
    r"(?:retCode|InnerCode|error|ret|result)\s?[=:]\s?(0x0?7[0-9a-f]{6}|117[5-9]\d{5}|11[89]\d{6})\b",
    re.IGNORECASE,
)
_SCHEDULER = re.compile(r"retCode\s?=\s?(0x[0-9a-f]{1,3})\b", re.IGNORECASE)
_DRIVER = re.compile(r"drvRet(?:Code)?\s?=\s?(\d{1,3})\b", re.IGNORECASE)
_DCMI = re.compile(
    r"(?:ret|result|error|code)(?:\s|[:=]|\bis\b|\bcode\b){1,8}(-8\d{3}|-9999[789])\b",
    re.IGNORECASE,
)
_DCMI_LINE = re.compile(r"dcmi|npu-smi", re.IGNORECASE)
_MOST_QUOTED = 160
_Found = Iterator[tuple[int, int, Explanation]]


def the_code(word: str) -> Explanation | None:
    """Explain a word that is nothing but a code: ``161002``, ``hccl 9``, ``EZ1001``, a name.

    Parameters
    ----------
    word : str

    Returns
    -------
    Explanation or None
        None for anything else.
    """
    if re.fullmatch(r"[0-9]{1,20}", word):
        number = int(word)
        return explain_status(number, hccl=0 < number < 10_000)
    if match := re.fullmatch(r"hccl[\s:]+([0-9]{1,4})", word, re.IGNORECASE):
        return explain_status(int(match[1]), hccl=True)
    if match := re.fullmatch(r"dcmi[\s:]+(-[0-9]{4,5})|(-8[0-9]{3})", word, re.IGNORECASE):
        return explain_dcmi(int(match[1] or match[2]))
    if match := re.fullmatch(r"0x0?(7[0-9a-f]{6})", word, re.IGNORECASE):
        return explain_runtime(int(match[1], 16))
    if _FRAMEWORK.fullmatch(word):
        return explain_framework(word)
    if _MESSAGE.fullmatch(word) and facts.message(word) is not None:
        return explain_message(word)
    return explain_name(word) if _NAME.fullmatch(word) else None


def may_have_a_code(line: str, words: Iterable[str]) -> bool:
    """Whether a line has the form of a code, or a word that states one; quicker than to look.

    Parameters
    ----------
    line : str
    words : Iterable of str
        Its words, in lower case.
    """
    return not _SAID.isdisjoint(words) or _FORM.search(line) is not None


def codes_in(line: LogLine, *, lenient: bool = False) -> list[Explanation]:
    """Explain the codes of one line, in the order in which they stand there.

    Parameters
    ----------
    line : LogLine
    lenient : bool, default False
        Whether known statuses and message codes count without a word that states a failure, as in
        a question that somebody types.

    Returns
    -------
    list of Explanation
        With ``quote``; success is left out, and what a line says that only informs.
    """
    if line.informs:
        return []
    text = line.text
    found = [*_named(text, lenient), *_statuses(text, lenient), *_internal(text), *_hccl(line)]
    rows = []
    for start, end, one in sorted(found, key=lambda each: each[0]):
        if one.code != "0":
            rows.append(replace(one, quote=quote(text, start, end)))
    return rows


def quote(text: str, start: int, end: int) -> str:
    """The words around a part of a text, at most ``_MOST_QUOTED`` characters."""
    room = max(_MOST_QUOTED - (end - start), 0)
    begin = max(start - room // 3, 0)
    stop = min(max(end + room - (start - begin), end), begin + 3 * _MOST_QUOTED, len(text))
    if begin > 0:
        begin = text.find(" ", begin, start) + 1 or begin
    if stop < len(text):
        stop = text.rfind(" ", end, stop) if text.rfind(" ", end, stop) > 0 else stop
    return f"{'... ' if begin else ''}{text[begin:stop]}{' ...' if stop < len(text) else ''}"


def _named(text: str, lenient: bool) -> _Found:
    for match in _NAME.finditer(text):
        yield *match.span(1), explain_name(match[1])
    for match in _FRAMEWORK.finditer(text):
        yield *match.span(1), explain_framework(match[1])
    for match in (_MESSAGE if lenient else _STATED_MESSAGE).finditer(text):
        group = match.lastindex or 1
        code = match[group].upper()
        if facts.message(code) is not None:
            yield *match.span(group), explain_message(code)


def _statuses(text: str, lenient: bool) -> _Found:
    stated = set()
    for match in _STATUS.finditer(text):
        stated.add(match.start(1))
        yield *match.span(1), explain_status(int(match[1]))
    for match in _BARE_STATUS.finditer(text) if lenient else ():
        before = text[max(match.start(1) - 40, 0) : match.start(1)]
        if match.start(1) in stated or _OTHER.search(before):
            continue
        if facts.status(int(match[1])) is not None:
            yield *match.span(1), explain_status(int(match[1]))


def _internal(text: str) -> _Found:
    for match in _RUNTIME.finditer(text):
        yield *match.span(), explain_runtime(int(match[1], 0))
    for match in _SCHEDULER.finditer(text):
        yield *match.span(), explain_runtime(int(match[1], 16), scheduler=True)
    for match in _DRIVER.finditer(text):
        if match[1] != "0":
            yield *match.span(), explain_driver(int(match[1]))
    if _DCMI_LINE.search(text):
        for match in _DCMI.finditer(text):
            yield *match.span(), explain_dcmi(int(match[1]))


def _hccl(line: LogLine) -> _Found:
    if line.module not in ("", "HCCL", "HCOM"):
        return
    text = line.text
    for match in _HCCL_ERRNO.finditer(text):
        yield *match.span(), explain_status(int(match[1], 16), hccl=True)
    for match in (_HCCL_OWN if line.module else _HCCL_CALLED).finditer(text):
        number = int(match[1])
        if facts.status(number, hccl=True) is not None:
            yield *match.span(1), explain_status(number, hccl=True)
