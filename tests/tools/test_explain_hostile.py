# SPDX-License-Identifier: Apache-2.0
"""Codes and logs that anybody may have written: an answer, in bounded time."""

from __future__ import annotations

import io
import sys

import pytest
from helpers.processes import run_script

from aclnn_py.errors import code_lookup
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
        for line in ("161002 " * 150_000, "pid 161002 " * 100_000, "error " + "is " * 300_000,
                     "1" * 1_000_000, "hccl " + "err: " * 200_000, "(" * 1_000_000 + "161002"):
            explain.explain(line + " .")
    """
    run_script(source).check()


def test_a_log_has_an_end(monkeypatch, capsys):
    monkeypatch.setattr(code_lookup, "MOST", 5)
    found = explain.explain("\n".join(f"ACL_ERROR_MADE_UP_{n}" for n in range(9)))
    assert len(found) == 5
    monkeypatch.setattr(explain, "MAX_NBYTES", 100)
    for raw, status in ((b"status 161002", 0), (b"\xff" * 101, 1), (b"\xff\x00 161002 ", 0)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        assert main(["explain", "-"]) == status
    assert "tail -c" in capsys.readouterr().err
