# SPDX-License-Identifier: Apache-2.0
"""From the lines of a log to the cause that stands first."""

from __future__ import annotations

import pytest

from aclnn_py.errors import log_reader
from aclnn_py.errors.log_reader import LogReader, read_text

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
SOCKET = """\
[ERROR] HCCL(12,python3): wait socket establish timeout, role[0] rank[1] timeout[120 s]
[ERROR] HCCL(12,python3): call trace: hcclRet -> 9
"""


def codes(text: str) -> list[tuple[str, bool]]:
    return [(one.code, one.known) for one in read_text(text) if one.code]


def test_a_log_gives_its_codes_once_and_no_process_numbers() -> None:
    assert sorted(codes(LOG)) == [
        ("161002", True),
        ("21", True),
        ("507035", True),
        ("561999", False),
        ("9", True),
        ("EE9999", True),
        ("EI0006", True),
    ]


@pytest.mark.parametrize(
    "text",
    ["", "all is well", "took 123456 us", "2026-03-01 pid 200001.", "version 8.0", "E12",
     "x507015y", "[INFO] HCCL(9,python3): HcclAllReduce start"],
)  # fmt: skip
def test_text_without_codes_and_causes_gives_nothing(text: str) -> None:
    assert read_text(text) == []


def test_the_text_comes_before_the_code_and_says_what_it_names() -> None:
    first, second = read_text(SOCKET)
    assert (first.cause, first.code, first.line) == ("rank-missing", "", 1)
    assert dict(first.named) == {"rank": "1"}
    assert "wait socket establish timeout" in first.quote
    assert (second.code, second.name, second.line) == ("9", "HCCL_E_TIMEOUT", 2)


def test_a_code_that_stands_for_a_cause_comes_before_a_weaker_text() -> None:
    found = read_text("fault kernel_name=Add_1, error code is 507015\nEJ0003: Failed")
    assert [one.code or one.cause for one in found] == ["EJ0003", "kernel-fault", "507015"]


def test_a_cause_without_its_name_says_where_to_read_on() -> None:
    first, second = read_text(
        "[ERROR] HCCL(4711,python3):2026-07-01-12:00:00.123.456 [a.cc:9] [4712]failed, ret[4]"
    )
    assert (first.cause, first.known, first.weight) == ("unknown", False, 0)
    assert second.name == "HCCL_E_INTERNAL"
    text = " ".join(first.checks)
    assert "plog-4711_" in text
    assert "~/ascend/log/debug/plog" in text
    assert "ASCEND_GLOBAL_LOG_LEVEL" in text
    assert "HCCL_ENTRY_LOG_ENABLE" in text
    other = " ".join(read_text("EZ9999: Inner Error!")[0].checks)
    assert "plog-PID_" in other
    assert "HCCL_ENTRY_LOG_ENABLE" not in other


def test_heartbeats_of_a_run_log_name_a_cause_although_they_only_inform() -> None:
    line = (
        "[EVENT] HCCL(4711,python3):2026-07-01-12:00:00.123.456 [heartbeat.cc:9] [1]"
        "Cluster Exception Location[IP/ID]:[192.0.2.1/3], ExceptionType:[Heartbeat Lost Occurred]"
    )
    assert [one.cause for one in read_text(line)] == ["rank-exited"]


def test_a_line_break_written_as_in_json_ends_a_line() -> None:
    found = read_text('{"message": "EZ9999: Inner Error!\\nall input dim1 must equal"}')
    assert [one.cause or one.code for one in found] == ["argument-shape", "EZ9999"]


def test_long_lines_are_read_to_their_end() -> None:
    for padding in ("y" * 100_000, "y " * 100_000):
        found = read_text(f"{padding} error code is 507035 {padding} all input dim1 must equal")
        assert {one.cause or one.code for one in found} >= {"argument-shape", "507035"}


def test_what_is_kept_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_reader, "MOST", 5)
    reader = LogReader()
    for number in range(9):
        reader.feed(f"ACL_ERROR_MADE_UP_{number}")
    assert reader.n_lines == 9
    assert reader.n_found == 5
