# SPDX-License-Identifier: Apache-2.0
"""From a code or a log to its meaning."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from aclnn_py import facts
from aclnn_py.errors.code_lookup import explain_message, explain_status, find
from aclnn_py.errors.explanation import render
from aclnn_py.tools.explain import explain

LOG = """\
[ERROR] RUNTIME(4711,python3):2026-03-01-10:11:12.123.456 [engine.cc:1211]4712 retCode=0
EE9999: Inner Error!
        rtDeviceSynchronize execute failed, reason=[vector core exception]
        synchronize device failed, runtime result = 507035[FUNC:ReportCallError]
aclnnAddGetWorkspaceSize failed, error: 161002; pid 123456, 207360 bytes
call hccl api failed, hccl result: 9, HCCL_E_REMOTE on rank 3
EI0006: Getting socket times out. Reason: 4 of 8 ranks
size 1048576 at 10:22:33, error code 561999
"""


def aclnn_py(*words: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "aclnn_py.tools.cli", "explain", *words],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
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
    ],
)
def test_one_code_by_number_name_or_prefix(text: str, code: str, name: str) -> None:
    [found] = explain(text)
    assert (found.code, found.name, found.known) == (code, name, True)
    assert found.meaning in render(found)


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
    assert used == set(facts.advice())


def test_a_log_gives_its_codes_once_in_order_and_no_process_ids() -> None:
    codes = [(one.code, one.known) for one in find(LOG)]
    assert codes == [
        ("EE9999", True),
        ("507035", True),
        ("161002", True),
        ("9", True),
        ("21", True),
        ("EI0006", True),
        ("561999", False),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "all is well",
        "took 123456 us",
        "2026-03-01 pid 200001.",
        "version 8.0",
        "E12",
        "x507015y",
    ],
)
def test_text_without_codes_gives_nothing(text: str) -> None:
    assert find(text) == [], text


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
    ],
)
def test_an_unknown_code_says_so_and_names_its_family(code: str, words: str) -> None:
    [found] = explain(code)
    assert not found.known
    assert found.checks
    text = " ".join(render(found).split())
    assert "not in the tables" in text
    assert words in text


def test_a_raised_status_explains_itself_with_the_same_words() -> None:
    from aclnn_py.errors import status_error

    error = status_error("hccl", 9, routine="HcclAllReduce", detail="EI0006: socket times out")
    text = error.explain()
    assert render(explain_status(9, hccl=True)) in text
    assert render(explain_message("EI0006")) in text


def test_command_prints_text_or_json_and_tells_by_its_status() -> None:
    result = aclnn_py("161002")
    assert result.returncode == 0
    assert "161002 ACLNN_ERR_PARAM_INVALID" in result.stdout
    assert "what to check" in result.stdout
    result = aclnn_py("failed with", "561003,", "see EZ9999", "--json")
    assert [one["code"] for one in json.loads(result.stdout)] == ["561003", "EZ9999"]
    result = aclnn_py("-", text=LOG)
    assert result.returncode == 0
    assert "EI0006 SOCKET_TIMEOUT" in result.stdout


def test_command_fails_when_nothing_is_known() -> None:
    unknown = aclnn_py("561999")
    assert unknown.returncode == 1
    assert "not in the tables" in unknown.stdout
    nothing = aclnn_py("hello")
    assert nothing.returncode == 1
    assert "no status code" in nothing.stderr
    assert json.loads(aclnn_py("hello", "--json").stdout) == []
