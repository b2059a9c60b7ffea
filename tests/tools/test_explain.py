# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py explain``: codes, texts, files and standard input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aclnn_py import facts
from aclnn_py.errors import status_error
from aclnn_py.errors.code_lookup import explain_message, explain_status
from aclnn_py.errors.explanation import render
from aclnn_py.facts.log_facts import causes, log_codes
from aclnn_py.tools import explain as command
from aclnn_py.tools.cli import main
from aclnn_py.tools.explain import explain

SOCKET = """\
[ERROR] HCCL(12,python3): wait socket establish timeout, role[0] rank[1] timeout[120 s]
[ERROR] HCCL(12,python3): call trace: hcclRet -> 9
"""
PORT = "[ERROR] HCCL(13,python3): listen on ip[192.0.2.1] and specific port[60000] fail\n"


def aclnn_py(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "aclnn_py.tools.cli", "explain", *words],
        input=text,
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.mark.parametrize(
    ("text", "code", "name"),
    [
        ("161002", "161002", "ACLNN_ERR_PARAM_INVALID"),
        (" 107002\n", "107002", "ACL_ERROR_RT_CONTEXT_NULL"),
        ("ACL_ERROR_RT_AICORE_EXCEPTION", "507015", "ACL_ERROR_RT_AICORE_EXCEPTION"),
        ("EZ1001", "EZ1001", "ACLNN_PARAM"),
        ("EJ0003", "EJ0003", "HCCP_BIND"),
        ("9", "9", "HCCL_E_TIMEOUT"),
        ("hccl 21", "21", "HCCL_E_REMOTE"),
        ("hccl:0", "0", "HCCL_SUCCESS"),
        ("0", "0", "ACL_SUCCESS"),
        ("HCCL_E_PARA", "1", "HCCL_E_PARA"),
        ("E89999", "E89999", "VECTOR_OPERATOR_INNER"),
        ("ERR00100", "ERR00100", ""),
        ("0x711000e", "0x711000e", "ACL_ERROR_RT_MEMORY_ALLOCATION"),
        ("0x7010003", "0x7010003", "ACL_ERROR_RT_INVALID_DEVICEID"),
        ("dcmi -8005", "-8005", ""),
    ],
)
def test_one_code_by_number_name_or_prefix(text: str, code: str, name: str) -> None:
    [found] = explain(text)
    assert (found.code, found.name, found.known) == (code, name, True)
    assert " ".join(found.meaning.split()) in " ".join(render(found).split())


def test_every_code_has_a_meaning_and_something_to_check() -> None:
    for row in facts.statuses():
        code = row["code"]
        if isinstance(code, int):
            found = explain_status(code, hccl=row["domain"] == "hccl")
        elif row["domain"] == "message":
            found = explain_message(code)
        else:
            continue
        assert found.known, code
        assert found.meaning, code
        assert found.checks, code


def test_advice_is_used_and_complete() -> None:
    used = {topic for row in facts.statuses() for topic in row["advice"]}
    used |= {topic for cause in causes().values() for topic in cause.get("advice", ())}
    used |= {topic for _, topics in log_codes()["framework_kinds"].values() for topic in topics}
    used |= {"logs_of_ranks", "logs_of_devices"}  # of a log that names no cause
    assert used == set(facts.advice())


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("161777", "operator library: an argument is refused"),
        ("507777", "fault of the device"),
        ("107777", "runtime: a mistake of the caller"),
        ("234567", "first digit stands for a resource"),
        ("987654", "no range that CANN is known to use"),
        ("777", "HCCL result"),
        ("ACLNN_ERR_INNER_NOBODY_KNOWS", "operator library: an internal error"),
        ("HCCL_E_NOBODY_KNOWS", "HCCL result"),
        ("EZ8765", "aclnn / public operator checks; its digits stand for a cause on the caller"),
        ("EE9876", "RTS runtime; its digits stand for an internal failure"),
        ("0x7aaaaaa", "the runtime's own number"),
        ("dcmi -8999", "device management (DCMI)"),
    ],
)
def test_an_unknown_code_says_so_and_names_its_family(code: str, words: str) -> None:
    [found] = explain(code)
    assert not found.known
    assert found.checks
    text = " ".join(render(found).split())
    assert "not in the tables" in text
    assert words in text


@pytest.mark.parametrize(
    ("code", "has", "lacks"),
    [
        ("145000", "docs/aclop.md", "aclop is not used"),
        ("500002", "docs/aclop.md", "aclop is not used"),
        ("107030", "aclmdlRICaptureThreadExchangeMode", ""),
        ("561103", "ViewCopy", "usually means"),
        ("EZ9999", "text behind the code", ""),
        ("-8005", "another container", ""),
        ("507049", "HCCL_BUFFSIZE", ""),
    ],
)
def test_advice_that_was_wrong_stays_right(code: str, has: str, lacks: str) -> None:
    [found] = explain(code)
    text = " ".join(render(found).split())
    assert has in text
    assert not lacks or lacks not in text


def test_a_raised_status_explains_itself_with_the_same_words() -> None:
    error = status_error("hccl", 9, routine="HcclAllReduce", detail="EI0006: socket times out")
    text = error.explain()
    assert render(explain_status(9, hccl=True)) in text
    assert "EI0006 SOCKET_TIMEOUT" in text
    error = status_error("aclnn", 561002, routine="aclnnCat", detail="all input dim1 must equal")
    assert "cause argument-shape" in error.explain()


def test_command_prints_text_or_json_and_tells_by_its_status() -> None:
    result = aclnn_py("161002")
    assert result.returncode == 0
    assert "161002 ACLNN_ERR_PARAM_INVALID" in result.stdout
    assert "what to check" in result.stdout
    result = aclnn_py("failed with", "507051,", "see EH9999", "--json")
    assert [one["code"] for one in json.loads(result.stdout)] == ["", "507051", "EH9999"]
    result = aclnn_py("-", text=SOCKET)
    assert result.returncode == 0
    assert result.stdout.startswith("cause rank-missing: ")
    assert 'the text (line 1): "wait socket establish timeout, role[0] rank[1]' in result.stdout
    assert "it names: rank 1" in result.stdout
    assert "9 HCCL_E_TIMEOUT" in result.stdout
    assert result.stderr == ""


def test_command_fails_when_nothing_is_known() -> None:
    unknown = aclnn_py("561999")
    assert unknown.returncode == 1
    assert "not in the tables" in unknown.stdout
    nothing = aclnn_py("hello")
    assert nothing.returncode == 1
    assert "plog-PID_" in nothing.stderr
    assert json.loads(aclnn_py("hello", "--json").stdout) == []


def test_standard_input_needs_no_dash_and_may_be_empty() -> None:
    assert aclnn_py(text=PORT).stdout.startswith("cause port-in-use: ")
    assert aclnn_py(text="161002\n").stdout.startswith("161002 ACLNN_ERR_PARAM_INVALID")
    assert aclnn_py(text="").returncode == 1


def test_files_are_read_together_and_the_answer_names_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ranks = tmp_path / "rank 0.log", tmp_path / "rank 1.log"
    ranks[0].write_text(SOCKET)
    ranks[1].write_text("all is well\r\n" + PORT, newline="")
    assert main(["explain", *map(str, ranks), "--json"]) == 0
    first, second, third = json.loads(capsys.readouterr().out)
    assert (first["cause"], first["file"], first["line"]) == ("port-in-use", str(ranks[1]), 2)
    assert first["named"] == {"address": "192.0.2.1", "port": "60000"}
    assert (second["cause"], second["file"], second["line"]) == ("rank-missing", str(ranks[0]), 1)
    assert (third["code"], third["library"]) == ("9", "hccl")
    assert main(["explain", str(ranks[0])]) == 0
    assert "the text (line 1):" in capsys.readouterr().out


def test_places_that_cannot_be_read_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(tmp_path)]) == 1
    assert f"{tmp_path}: give the files in it" in capsys.readouterr().err
    missing, there = str(tmp_path / "plog-1_2.log"), tmp_path / "there"
    there.write_text(PORT)
    for words in ([missing], [str(there), missing]):
        assert main(["explain", *words]) == 1
        assert f"{missing}: No such file or directory" in capsys.readouterr().err


def test_a_large_file_is_read_to_its_end_with_progress(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_REPORT_S", 0.0)
    line = "[INFO] GE(507015,python3):2026-07-01-12:00:00.123.456 [a.cc:507015]507015 Run:step\n"
    log = tmp_path / "plog-1_2.log"
    log.write_text(line * 50_000 + PORT)
    assert main(["explain", str(log)]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("cause port-in-use: ")
    assert "(line 50001)" in printed.out
    assert f"{log}: 3 MiB read in" in printed.err


def test_without_input_the_command_says_what_to_give() -> None:
    leader, follower = os.openpty()
    try:
        result = subprocess.run(
            [sys.executable, "-m", "aclnn_py.tools.cli", "explain"],
            stdin=follower,
            capture_output=True,
            text=True,
            timeout=600,
        )
    finally:
        os.close(leader)
        os.close(follower)
    assert result.returncode == 2
    assert "pipe a log" in result.stderr
