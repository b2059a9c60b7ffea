# SPDX-License-Identifier: Apache-2.0
"""One line of a log: what CANN, torch_npu and launchers write around a text, and the text.

CANN writes ``[LEVEL] MODULE(pid,process):time [file:line]thread function:text``. Modules differ in
what they put between file and text, and frameworks put prefixes of their own in front. All of that
is taken off here, so that a process number, a thread or a time is never read as a code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["LogLine", "read_line"]


@dataclass(frozen=True)
class LogLine:
    """What one line says.

    Attributes
    ----------
    text : str
        What is said, without prefixes and places, with single spaces.
    level, module, pid, process, file, function : str
        What CANN wrote in front of it; "" where the line has none.
    """

    text: str
    level: str = ""
    module: str = ""
    pid: str = ""
    process: str = ""
    file: str = ""
    function: str = ""

    @property
    def informs(self) -> bool:
        """Whether the line only tells what goes on, so that numbers in it are no failures.

        A cause may stand there all the same, as in the heartbeats of HCCL's run log.
        """
        return self.level in {"INFO", "DEBUG", "EVENT", "TRACE"}


_TIME = r"\d{4}-\d\d-\d\d[-T ]\d\d:\d\d:\d\d[.,:\d]*"
# [ERROR] HCCL(12,python3):2026-07-01-12:00:00.123.456 [stream.cc:12], from the module on optional
_HEAD = re.compile(
    r"\[(?P<level>ERROR|WARNING|WARN|INFO|DEBUG|EVENT|TRACE)\]\s?(?P<module>[A-Z][A-Z0-9_]{1,30})"
    r"(?:\((?P<pid>\d{1,10}),(?P<process>[^()]{0,80})\))?\s?:\s?"
    rf"(?P<time>{_TIME})?\s?(?P<file>\[[\w./+-]{{1,200}}:\d{{1,6}}\])?"
)
# The thread, as the modules write it: 123 f:, [123], [tid:123], tid:123,f(12) :, >>> (tid:123)
_THREAD = re.compile(
    r"\s?(?:>>> )?(?:\[ascend\]|\[curpid: ?\d+, ?\d+\]|\[\d{1,10}\]|\[tid:\d+\]|\(tid:\d+\)"
    r"|tid:\d+,?|\d{1,10}(?= ?[A-Za-z\[]))"
)
_FUNCTION = re.compile(
    r"\s?(?:\[NNOP\]\[(?P<operator>\w{1,100})\]\[\d{1,10}\]\s?"
    r"|(?P<function>[A-Za-z_]\w{0,100})(?:\(\d{1,6}\))?\s?:(?!:)\s?)"
)
# What other programs put in front of a line or leave in a text, and what CANN puts behind it.
_ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_AROUND = re.compile(
    rf"\[FUNC:[^\]]{{0,200}}\]|\[FILE:[^\]]{{0,300}}\]|\[LINE:\d+\]|\[?PID: ?\d+\]?|{_TIME}"
    r"|\(PID: ?\d+, ?Device: ?-?\d+, ?RankID: ?-?\d+\)|\([\w. -]{0,60}\bpid=\d+[^)]{0,60}\)"
    r"|\[tid:\d+\]|\b(?:host)?pid[=: ]\s?\d+|\btid[=: ]\s?\d+|\[\w{1,60}\.py:\d{1,6}\]"
    r"|(?<![\w./+-])[\w./+-]{1,200}?\.(?:cpp|cc|ts|py|h):\d{1,6}",
    re.IGNORECASE,
)
_PID = re.compile(r"\bPID: ?(\d{1,10})|\bpid=(\d{1,10})", re.IGNORECASE)
_MOST_BEFORE = 400  # characters in front of CANN's part of a line


def read_line(line: str) -> LogLine:
    """Split one line of a log.

    Parameters
    ----------
    line : str
        A line in any of the forms that CANN's modules use, or of any other program.

    Returns
    -------
    LogLine
    """
    if not line.isprintable():
        line = _CONTROL.sub(" ", _ESCAPE.sub("", line))
    line = " ".join(line.split())
    head = _HEAD.search(line, 0, _MOST_BEFORE + 400)
    if head is None or head.start() > _MOST_BEFORE or not _is_cann(head):
        pid = _PID.search(line)
        number = "" if pid is None else pid[1] or pid[2]
        level = "ERROR" if line.startswith("[ERROR]") else ""
        return LogLine(text=_bare(line), level=level, pid=number)
    at = head.end()
    while (thread := _THREAD.match(line, at)) is not None:
        at = thread.end()
    function = _FUNCTION.match(line, at) if head["file"] else None
    if function is not None:
        at = function.end()
    return LogLine(
        text=_bare(line[at:]),
        level=head["level"],
        module=head["module"],
        pid=head["pid"] or "",
        process=head["process"] or "",
        file=(head["file"] or "").strip("[]"),
        function="" if function is None else function["operator"] or function["function"],
    )


def _is_cann(head: re.Match[str]) -> bool:
    """Whether a match is CANN's: it names its process, or nothing but its module."""
    return head["pid"] is not None or head.start() == 0


def _bare(text: str) -> str:
    return " ".join(_AROUND.sub(" ", text).split())
