# SPDX-License-Identifier: Apache-2.0
"""Codes of lines: those that a text states, and no process number, port, size or shape."""

from __future__ import annotations

import pytest
from helpers.log_lines import lines_without_codes

from aclnn_py.errors.cause_finder import words_of
from aclnn_py.errors.code_finder import codes_in, may_have_a_code, the_code
from aclnn_py.errors.log_line import read_line
from aclnn_py.errors.log_reader import LogReader

HCCL = "[ERROR] HCCL(507015,python3):2026-07-01-12:00:00.123.456 [op_base.cc:161] [507015]"
RUNTIME = "[ERROR] RUNTIME(107002,python3):2026-07-01-12:00:00.123.456 [stream.cc:9]107003 Sync:"
STATED = [
    # The text, and the codes that it states: number, message code, "hccl 9", "dcmi -8005" ...
    ("aclnnAddGetWorkspaceSize failed, error: 161001", ["161001"]),
    ("call aclnnAdd failed, detail:EZ1001: dtype, ret = 161002", ["EZ1001", "161002"]),
    ("run failed, error code is 361001", ["361001"]),
    ("aclnnMatmul execute failed with 561000", ["561000"]),
    ("aclnnForeachAdd error code is 561002", ["561002"]),
    ("launch failed, ret:561003", ["561003"]),
    ("aclnnCat error code is 561103", ["561103"]),
    ("ret=561107", ["561107"]),
    ("returned 561112.", ["561112"]),
    ("aclInit failed, errorCode = 100000", ["100000"]),
    ("aclInit repeat, return 100002", ["100002"]),
    ("status 100039", ["100039"]),
    ("aclrtSetDevice failed, result = 107001", ["107001"]),
    (RUNTIME + "get context failed, retCode=107002", ["107002"]),
    ("rtStreamSynchronize failed, error code: 107003", ["107003"]),
    ("sync stream timeout, runtime result = 107020", ["107020"]),
    ("aclrtSynchronizeStream error[107027]", ["107027"]),
    ("runtime_result=107030", ["107030"]),
    ("NPU function error: aclrtMalloc, error code is 207001", ["207001"]),
    ("error(207008)", ["207008"]),
    ("graph load failed, ret is 145000", ["145000"]),
    ("graph run failed, ret is 500002", ["500002"]),
    ("synchronize device failed, runtime result = 507010", ["507010"]),
    ("aicpu exception, runtime result = 507018", ["507018"]),
    ("NPU function error: c10_npu::aclrtSynchronizeDevice, error code is 507015", ["507015"]),
    ("error code 507014, rank 3", ["507014"]),
    ("error code:507033", ["507033"]),
    ("error code is 507034[FUNC:SyncStream][FILE:a.cc][LINE:507035]", ["507034"]),
    ("reason=[vector core exception], result=507035", ["507035"]),
    ("hccl fftsplus task timeout, error code is 507048", ["507048"]),
    ("status: 507049", ["507049"]),
    ("result 507899", ["507899"]),
    ("inner error, error code 561999", ["561999"]),
    (HCCL + "call trace: hcclRet -> 9", ["hccl 9"]),
    (HCCL + "StartRootNetwork failed, ret[7]", ["hccl 7"]),
    (HCCL + "errNo[0x0000000005010004] memory is null", ["hccl 4"]),
    (HCCL + "errNo[0x000000000500000b] tcp connect fail", ["hccl 11"]),
    ("call hccl api failed, hccl result: 9", ["hccl 9"]),
    ("HcclAllReduce returned HCCL_E_REMOTE", ["hccl 21"]),
    ("HCCL function error: HcclCommInitRootInfo, error code is 6", ["hccl 6"]),
    ("hcom_broadcast failed, return 1", ["hccl 1"]),
    (
        "[ERROR] OP(9,p):2026-07-01-12:00:00.123.456 [a.h:168][NNOP][Get][106524] errno[561000] "
        "OpName:[MoeDistributeDispatchV2_0] HcclAllocComResourceByTiling failed. ret = 9",
        ["561000"],
    ),
    (RUNTIME + "[EXEC][DEFAULT]kernel fault, retCode=0x7150026", ["0x7150026"]),
    ("rtMemAlloc failed, retCode 0x711000e; error code is 207001", ["207001"]),
    ("device open failed, retCode=0x7010003", ["0x7010003"]),
    ("report error, ErrCode=507015, desc=[aicore exception], error code = 0x26", ["507015"]),
    ("AI core exception, retCode=0x26", ["0x26"]),
    ("drv alloc failed, drvRetCode=6, device_id=0", ["6"]),
    ("halMemAlloc drvRet=0, drvRetCode=0", []),
    ("dcmi module initialize failed. ret is -8005", ["-8005"]),
    ("npu-smi: get device failed, error code: -8020", ["-8020"]),
    ("EE9999: Inner Error!", ["EE9999"]),
    ("EE1001: The argument is invalid.", ["EE1001"]),
    ("EH9999: Inner Error!", ["EH9999"]),
    ("EI0002: The wait execution of the Notify register times out.", ["EI0002"]),
    ("[PID: 161002] 2026-07-01 Communication_Error_Bind_IP_Port(EI0019): Failed", ["EI0019"]),
    ("EJ0001: Failed to initialize the HCCP process.", ["EJ0001"]),
    ("EL0004: Failed to allocate memory.", ["EL0004"]),
    ("EZ9999: all input dim1 must equal", ["EZ9999"]),
    ("ErrorCode=EE1023", ["EE1023"]),
    ("error code EJ0003 was reported", ["EJ0003"]),
    ("E10001: Value [-1] for parameter is invalid.", ["E10001"]),
    ("E29999: Inner Error!", ["E29999"]),
    ("E39999: Inner Error!", ["E39999"]),
    ("E69999: Inner Error!", ["E69999"]),
    ("E89999: Inner Error!", ["E89999"]),
    ("E40021: Failed to compile Op", ["E40021"]),
    ("W11001: Op with the high priority is not found", ["W11001"]),
    ("RuntimeError: call failed. [ERROR] ERR00100 PTA call acl api failed", ["ERR00100"]),
    ("[ERROR] ERR02200 DIST call hccl api failed.", ["ERR02200"]),
    ("ERR99999 UNKNOWN application exception", ["ERR99999"]),
    ("ACLNN_ERR_INNER_TILING_ERROR", ["561002"]),
    ("failed: ACL_ERROR_RT_CONTEXT_NULL (see plog)", ["107002"]),
    ("all well, ret = 0, error code 0, HCCL_SUCCESS, ACL_SUCCESS", []),
]  # fmt: skip


def stated(line: str, *, lenient: bool = False) -> list[str]:
    found = codes_in(read_line(line), lenient=lenient)
    return [f"hccl {one.code}" if one.library == "hccl" else one.code for one in found]


@pytest.mark.parametrize(("line", "codes"), STATED)
def test_a_code_is_where_the_text_states_it(line: str, codes: list[str]) -> None:
    assert stated(line) == codes
    for one in codes_in(read_line(line)):
        assert one.quote.removeprefix("... ").removesuffix(" ...") in read_line(line).text
        assert one.family
        assert one.checks


def test_the_forms_above_cover_the_families() -> None:
    codes = {code for _, row in STATED for code in row}
    assert len(codes) > 60
    families = {code[:3] for code in codes if len(code) == 6 and code.isdecimal()}
    assert families == {"100", "107", "145", "161", "207", "361", "500", "507", "561"}
    assert {code[:2] for code in codes if code[:2].isalnum() and code[0] in "EW"} >= {
        "EE", "EH", "EI", "EJ", "EL", "EZ", "E1", "E2", "E3", "E4", "E6", "E8", "ER", "W1",
    }  # fmt: skip


def test_ten_thousand_lines_of_numbers_have_no_code() -> None:
    wrong = []
    for seed in (1, 2):
        for line in lines_without_codes(5000, seed):
            reader = LogReader()
            reader.feed(line)
            wrong += [(one.code, one.cause, line) for one in reader.explanations()]
    assert wrong == []


@pytest.mark.parametrize(
    "line",
    [
        "aclnnAdd failed: 3 rows, error at line 161002, size 207001 bytes",
        "error: 161002 bytes are missing",
        "failed 107002 times",
        "code 507015.5",
        "status 161002-3",
        "[INFO] HCCL(9,python3):2026-07-01-12:00:00.123.456 [a.cc:9] [9]ret[9], error code 9",
        "hccl timeout 9 s, rank 4, error in 7 of 9 ranks",
        "tensor E89999, value EZ9999x, /path/EZ9999/kernel.o, xE39999",
        "exit code 1, errno 2",
    ],
)
def test_numbers_of_other_things_are_no_codes(line: str) -> None:
    assert stated(line) == []


def test_a_question_needs_no_word_that_states_a_failure() -> None:
    assert stated("161002 or 561103 for views", lenient=True) == ["161002", "561103"]
    assert stated("161002 or 561103 for views") == []
    assert stated("pid 161002 and EZ9999", lenient=True) == ["EZ9999"]


@pytest.mark.parametrize(("line", "codes"), STATED)
def test_a_line_that_states_a_code_is_one_to_look_at(line: str, codes: list[str]) -> None:
    assert may_have_a_code(line, words_of(line)) or not codes


def test_only_a_code_is_the_code() -> None:
    for word in ("161002", "hccl 9", "hccl:9", "dcmi -8005", "-8005", "0x7150026", "ERR00100",
                 "EZ9999", "ACL_ERROR_RT_CONTEXT_NULL"):  # fmt: skip
        found = the_code(word)
        assert found is not None
        assert found.known, word
    for word in ("", "161002 failed", "x", "0x26x", "-1", "EZ12", "\uff19"):
        assert the_code(word) is None, word
