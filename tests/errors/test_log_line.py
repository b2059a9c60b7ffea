# SPDX-License-Identifier: Apache-2.0
"""Lines as CANN's modules, torch_npu, servers and collectors of logs write them."""

from __future__ import annotations

import pytest

from aclnn_py.errors.log_line import LogLine, read_line

TIME = "2026-07-01-12:00:00.123.456"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            f"[ERROR] RUNTIME(12345,python3):{TIME} [stream.cc:1234]12346 StreamSynchronize: "
            "Stream synchronize failed, stream is 0x2c, retCode=0x7150026",
            LogLine(
                "Stream synchronize failed, stream is 0x2c, retCode=0x7150026",
                "ERROR", "RUNTIME", "12345", "python3", "stream.cc:1234", "StreamSynchronize",
            ),
        ),
        (
            f"[ERROR] HCCL(507015,all_reduce_test):{TIME} [hccl_socket.cc:110] [507015]"
            "[InitChannelStage][RanktableDetect] listen fail",
            LogLine(
                "[InitChannelStage][RanktableDetect] listen fail",
                "ERROR", "HCCL", "507015", "all_reduce_test", "hccl_socket.cc:110",
            ),
        ),
        (
            f"[ERROR]RUNTIME(161002,):{TIME} [engine.cc:1211]161003 ReportExceptProc:[EXEC]"
            "[DEFAULT]Task exception! device_id=0",
            LogLine(
                "[EXEC][DEFAULT]Task exception! device_id=0",
                "ERROR", "RUNTIME", "161002", "", "engine.cc:1211", "ReportExceptProc",
            ),
        ),
        (
            f"[ERROR] HCCP(107001,python):{TIME} [ra_host.c:621]tid:107002,ra_rdev_init(621) : "
            "[init][ra_rdev]init failed, ret(-67)",
            LogLine(
                "[init][ra_rdev]init failed, ret(-67)",
                "ERROR", "HCCP", "107001", "python", "ra_host.c:621", "ra_rdev_init",
            ),
        ),
        (
            f"[ERROR] DRV(207001,python3):{TIME} [ascend][curpid: 207001, 207002][drv][devmm]"
            "[devmm_virt_heap 12]alloc failed",
            LogLine(
                "[drv][devmm][devmm_virt_heap 12]alloc failed",
                "ERROR", "DRV", "207001", "python3",
            ),
        ),
        (
            f"[ERROR] TDT(507033,python):{TIME} [process_mode_manager.cpp:605]"
            "[ProcessModeManager][tid:507034] start failed",
            LogLine(
                "[ProcessModeManager] start failed",
                "ERROR", "TDT", "507033", "python", "process_mode_manager.cpp:605",
            ),
        ),
        (
            f"(Worker_TP3 pid=561103) [ERROR] ASCENDCL(561103,python):{TIME} [device.cpp:66]561104 "
            "aclrtSetDevice: open device 3 failed",
            LogLine(
                "open device 3 failed",
                "ERROR", "ASCENDCL", "561103", "python", "device.cpp:66", "aclrtSetDevice",
            ),
        ),
        (
            f"plog-161001_1.log:[INFO] HCCL(161001,python3):{TIME} [a.cc:12] [161001]start",
            LogLine("start", "INFO", "HCCL", "161001", "python3", "a.cc:12"),
        ),
        (
            f"[ERROR] OP(161001,program):{TIME} [logs.cpp:186][NNOP][aclnnMatmul][161001] "
            "errno[161002] EZ1001: self and mat2 cannot be multiplied",
            LogLine(
                "errno[161002] EZ1001: self and mat2 cannot be multiplied",
                "ERROR", "OP", "161001", "program", "logs.cpp:186", "aclnnMatmul",
            ),
        ),
        (
            "[ERROR] HCCL(3977573,t): call trace: hcclRet -> 9",
            LogLine("call trace: hcclRet -> 9", "ERROR", "HCCL", "3977573", "t"),
        ),
        (
            "\x1b[31m[PID: 4711] 2026-07-01-12:00:00.123.456 AI_Core(EZ9999): text\x1b[0m",
            LogLine("AI_Core(EZ9999): text", pid="4711"),
        ),
        (
            "[ERROR] 2026-07-01-12:00:00 (PID:4711, Device:0, RankID:-1) ERR00100 PTA call failed",
            LogLine("[ERROR] ERR00100 PTA call failed", level="ERROR", pid="4711"),
        ),
        ("words\tand   more ", LogLine("words and more")),
        ("", LogLine("")),
    ],
)  # fmt: skip
def test_a_line_is_its_text_and_what_stands_around_it(line: str, expected: LogLine) -> None:
    assert read_line(line) == expected


@pytest.mark.parametrize(
    ("level", "informs"),
    [("ERROR", False), ("WARNING", False), ("INFO", True), ("DEBUG", True), ("EVENT", True)],
)
def test_levels_tell_a_failure_from_a_message(level: str, informs: bool) -> None:
    assert read_line(f"[{level}] GE(1,python3):{TIME} [a.cc:1]2 Run:text").informs is informs


def test_brackets_that_are_no_head_stay_in_the_text() -> None:
    for text in ("[ERROR] 507015 twice", "x [ERROR] HCCL: text", "[rank3]: EZ9999: text"):
        assert read_line(text).text == text
        assert read_line(text).module == ""
