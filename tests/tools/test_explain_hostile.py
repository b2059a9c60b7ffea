# SPDX-License-Identifier: Apache-2.0
"""Codes and logs that anybody may have written: an answer, in bounded time."""

from __future__ import annotations

import io
import sys

import pytest
from helpers.processes import run_script

from aclnn_py.tools import explain
from aclnn_py.tools.cli import main

EXPLAINED = [
    "9" * 5000,
    "0" * 5000,
    "-1",
    "١٦١٠٠٢",
    "hccl " + "9" * 5000,
    "\x1b]0;pwned\x07 161002 \udcff",
    "",
    "\0",
    "EZ9999: " * 100_000,
    "error " * 100_000,
    "error " + "is " * 300_000,
    "161002 " * 100_000,
    "ACL_ERROR_" + "X" * 1_000_000,
    "pid" + " " * 1_000_000 + "161002",
    "hccl error " + "1 " * 200_000,
]


@pytest.mark.parametrize("text", EXPLAINED, ids=range(len(EXPLAINED)))
def test_any_text_is_explained_or_not_and_no_more(text, capsys):
    assert main(["explain", text]) in (0, 1)
    assert main(["explain", "--json", text]) in (0, 1)
    printed = capsys.readouterr()
    assert "\x1b" not in printed.out + printed.err


def test_time_grows_with_the_length_of_a_log():
    source = """
        from aclnn_py.tools import explain
        for line in ("161002 " * 37_500, "pid 161002 " * 25_000, "error " + "is " * 75_000,
                     "1" * 1_000_000, "hccl " + "err: " * 50_000, "(" * 1_000_000 + "161002",
                     "[" * 75_000, "[ERROR] HCCL(" * 20_000, "ret[" * 50_000, "hccl " * 50_000,
                     "must equal dim all input " * 10_000, "{" * 75_000, "a:1" * 75_000,
                     "HCCL_BUFFSIZE is too small " * 10_000, "path [ for [ is invalid " * 10_000,
                     "EZ9999" * 37_500, "\\\\n" * 100_000, "error code is " * 17_500,
                     "Exception Location[IP/ID]:[" * 10_000, "/a.py:" * 40_000, "2026-" * 50_000,
                     "rank [1,2,3,4 " * 17_500, "not in lib.so " * 17_500, "pid=1) (" * 30_000):
            explain.explain(line + " .")
    """
    run_script(source, timeout_s=600).check()


def test_a_long_line_and_bytes_that_are_no_text(monkeypatch, capsys):
    monkeypatch.setattr(explain, "_LONGEST_NBYTES", 100)
    for raw, status in (
        (b"status 161002", 0),
        (b"\xff" * 301, 1),
        (b"\xff\x00 161002 ", 0),
        (b"x" * 250 + b"\nerror code is 507035", 0),
        (b"\n" * 300, 1),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        assert main(["explain", "-"]) == status
    assert "\x00" not in capsys.readouterr().out
