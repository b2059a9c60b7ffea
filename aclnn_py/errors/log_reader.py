# SPDX-License-Identifier: Apache-2.0
"""From the lines of a log to the cause: texts first, then codes, then where to read on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from aclnn_py.errors.cause_finder import causes_in, may_name_a_cause, words_of
from aclnn_py.errors.code_finder import codes_in, may_have_a_code, the_code
from aclnn_py.errors.code_lookup import Explanation, advised
from aclnn_py.errors.log_line import LogLine, read_line

__all__ = ["LogReader", "read_text"]

MOST = 1000  # explanations; no log of a failure has as many
_PIECE = 8192  # characters of a line that are read at once
_OVERLAP = 512
_FEW_WORDS = 10  # of a question, in contrast to a log
_CODE = re.compile(r"(?<![\w.-])(?:[1235]\d{5}|[EWI][A-Z0-9]\d{4})(?![\w-])")
_DIGIT = re.compile(r"[0-9=\[]")
_INFORMS = re.compile(r"\[(?:INFO|DEBUG|EVENT|TRACE)\]\s?[A-Z]{2,30}\(")
_HCCL_MODULES = frozenset({"HCCL", "HCOM", "HCCP"})


class LogReader:
    """Collects what lines say, in constant memory.

    Attributes
    ----------
    n_lines : int
        Lines read so far.
    first : str
        The first of them.
    """

    def __init__(self) -> None:
        self.n_lines = 0
        self.first = ""
        self._causes: dict[str, Explanation] = {}
        self._codes: dict[tuple[str, str], Explanation] = {}
        self._pid = ""
        self._modules: set[str] = set()

    def feed(self, line: str, *, file: str = "", number: int = 0, lenient: bool = False) -> None:
        """Read one line.

        Parameters
        ----------
        line : str
            Of any length; a line break written as ``\\n``, as in JSON, ends a line too.
        file : str, optional
            Where it stands.
        number : int, optional
            Its number; default is the number of lines read.
        lenient : bool, default False
            Whether a known number is a code without a word that states a failure.
        """
        self.n_lines += 1
        if self.n_lines == 1:
            self.first = line
        number = number or self.n_lines
        if not lenient and not self._may_matter(line):
            return  # most lines of a large log
        for piece in _pieces(line):
            parsed = read_line(piece)
            failed = not parsed.informs
            found = codes_in(parsed, lenient=lenient)
            named = causes_in(parsed.text)
            if failed and (found or named or parsed.level == "ERROR"):
                self._note(parsed)
            for one in found:
                key = (one.library, one.code or one.name)
                if len(self._codes) < MOST:
                    self._codes.setdefault(key, replace(one, file=file, line=number))
            for one in named:
                kept = self._causes.get(one.cause)
                # The same cause again is told with the line that names more of it.
                if kept is None or len(kept.named) < len(one.named):
                    self._causes[one.cause] = replace(one, file=file, line=number)

    @property
    def n_found(self) -> int:
        """Codes and causes found so far."""
        return len(self._causes) + len(self._codes)

    def explanations(self) -> list[Explanation]:
        """What the lines said: the most telling first.

        Returns
        -------
        list of Explanation
            Causes that the texts name, by weight, then codes in the order of the lines; the one
            that speaks most directly of the cause stands first. If none does, the first is one
            whose ``cause`` is ``"unknown"``, which says where to read on.
        """
        causes = sorted(self._causes.values(), key=lambda one: (-one.weight, one.line))
        rows = [*causes, *self._codes.values()]
        if not rows:
            return []
        first = max(rows, key=lambda one: one.weight)  # of equals the first
        if not first.weight:
            return [self._unknown(), *rows]
        return [first, *(one for one in rows if one is not first)]

    def _may_matter(self, line: str) -> bool:
        """Whether to look at a line: it may name a cause, state a code, or be the first error."""
        words = words_of(line.removeprefix("[ERROR]"))
        if may_name_a_cause(words):
            return True
        if _INFORMS.match(line):
            return False
        return (not self._pid and line.startswith("[ERROR]")) or may_have_a_code(line, words)

    def _note(self, line: LogLine) -> None:
        self._pid = self._pid or line.pid
        if line.module and len(self._modules) < MOST:
            self._modules.add(line.module)

    def _unknown(self) -> Explanation:
        hccl = bool(self._modules & _HCCL_MODULES) or any(
            one.library == "hccl" or one.code[:2] in ("EI", "EJ") for one in self._codes.values()
        )
        topics = ["plog", "logs_of_ranks" if hccl else "logs_of_devices"]
        pid = self._pid or "PID"
        return Explanation(
            code="",
            name="",
            library="text",
            known=False,
            family="no text that the table of causes has",
            meaning="the text does not name it; the codes below say what kind of failure it is",
            causes=(),
            checks=tuple(check.replace("PID", pid) for check in advised(topics)),
            since="",
            cause="unknown",
        )


def read_text(text: str) -> list[Explanation]:
    """Explain a code, a question or the lines of a log.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of Explanation
        As ``LogReader.explanations``; of nothing but a code, that one; empty when there is none.
    """
    word = text.strip()
    found = the_code(word)
    if found is not None:
        return [found]
    lines = word.splitlines()
    reader = LogReader()
    for line in lines:
        reader.feed(line, lenient=len(lines) == 1 and _is_question(line))
    return reader.explanations()


def _is_question(line: str) -> bool:
    """Whether a line is a few words around codes, and its only numbers are those."""
    few = len(line) < _PIECE and len(line.split()) <= _FEW_WORDS
    return few and not _DIGIT.search(_CODE.sub("", line))


def _pieces(line: str) -> Iterator[str]:
    """The lines of a line, and of long ones parts that overlap, so that no statement is cut."""
    for part in line.split("\\n") if "\\n" in line else (line,):
        at = 0
        while len(part) - at > _PIECE:
            end = at + _PIECE
            stop = part.rfind(" ", end - _OVERLAP, end)
            yield part[at : end if stop < 0 else stop]
            space = part.find(" ", end - _OVERLAP, end)
            at = end if space < 0 else space + 1
        yield part[at:] if at else part
