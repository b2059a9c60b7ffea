# SPDX-License-Identifier: Apache-2.0
"""The emulator as the book of rules: one rule for each refusal, none for what it accepts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import refusals
from helpers.accepted_calls import PATH_950, calls, operators
from helpers.chip_950 import Chip950
from helpers.places import places
from helpers.processes import run_script
from operators.stand_ins import TEXT, stand_in

import aclnn_py as ap
from aclnn_py import _ffi, errors, facts
from aclnn_py.emulator import device_path
from aclnn_py.operators.rulebook import book

pytestmark = pytest.mark.emulator_only(reason="asks the emulator, beside libraries made of it")

PARTS = 8
KINDS = {"null", "dtype", "format", "rank", "shape", "value", "list", "chip"}


@pytest.fixture(scope="module", params=["950", "310P"])
def chip(request: pytest.FixtureRequest) -> Iterator[Chip950]:
    with Chip950(request.param) as process:
        yield process


def every(request: pytest.FixtureRequest, sample: int) -> int:
    """One question of so many is asked, or each one."""
    return 1 if request.config.getoption("--every-refusal") else sample


@pytest.mark.parametrize("part", range(PARTS))
def test_every_refusal_has_one_rule_with_its_status(
    part: int, device: ap.Device, request: pytest.FixtureRequest
) -> None:
    found = refusals.explained(operators()[part::PARTS], every(request, 24))
    assert found.unexplained == []
    assert set(found.kinds) <= KINDS
    assert found.asked > 500


def test_every_refusal_has_one_rule_on_other_chips(
    chip: Chip950, request: pytest.FixtureRequest
) -> None:
    for part in range(PARTS):
        names = operators()[part::PARTS]
        found = chip.call("helpers.refusals", "explained", names, every(request, 150))
        assert found.unexplained == []


@pytest.mark.parametrize("part", range(PARTS))
def test_exceptions_have_the_rule_of_their_status(
    part: int, device: ap.Device, request: pytest.FixtureRequest
) -> None:
    found = refusals.raised(operators()[part::PARTS], every(request, 160))
    assert found.unexplained == []
    assert found.asked > 50


def test_strict_accepts_every_accepted_call(
    device: ap.Device, request: pytest.FixtureRequest
) -> None:
    step = every(request, 8)
    refused = []
    for operator in operators():
        if facts.emulated()[operator].chip:
            continue
        for call in calls(operator)[::step]:
            with places(call.group_keys) as found:
                place, groups = found[0]
                with place:
                    verdict = book.judge(call.op, call.build(groups))
            if verdict.rule or verdict.unasked:
                refused.append(f"{operator}: {verdict}")
    assert refused == []


def test_strict_accepts_the_calls_of_a_950(chip: Chip950) -> None:
    if chip.call("aclnn_py.runtime.device", "soc_name").startswith("Ascend950"):
        assert chip.call("helpers.refusals", "refused_by_strict", operators(PATH_950)) == []


# ------------------------------------------------------------------ another library


SCRIPT = """
import json, sys
import numpy as np
import aclnn_py as ap
from aclnn_py import errors

def said(call, strict=False):
    try:
        if strict:
            with ap.strict():
                call()
        else:
            call()
    except errors.AclnnPyError as error:
        rules = [[r.argument, r.kind, r.status, r.rule] for r in getattr(error, "broken", ())]
        return dict(kind=type(error).__name__, text=str(error), rules=rules,
                    status=getattr(error, "status", 0), detail=getattr(error, "detail", ""),
                    hint=getattr(error, "hint", ""), explained=error.explain())
    return None

with ap.Device(0) as device:
    assert ap.library_info().kind == "npu"
    x, y = ap.zeros((2, 3), np.float32), ap.zeros((3, 2), np.float32)
    out = ap.zeros((2, 2), np.float32)
    half = ap.zeros((2, 3), "bfloat16")
    right = lambda: ap.ops.mm(x, y, out, 0)
    wrong = lambda: ap.ops.mm(x, x, out, 0)
    answers = {ANSWERS}
    print(json.dumps(answers))
"""


def answers(root: Path, wanted: str, **env: str) -> Any:
    """Run the script on a stand-in; `wanted` are the answers to be returned."""
    script = SCRIPT.replace("{ANSWERS}", wanted)
    outcome = run_script(
        script,
        env={"ACLNN_PY_DEVICE": "npu", "ASCEND_HOME_PATH": str(root), **env},
    ).check()
    return json.loads(outcome.out.splitlines()[-1])


def test_a_library_that_refuses_everything(tmp_path: Path) -> None:
    stand_in(tmp_path, status=161002)
    right, wrong = answers(tmp_path, "[said(right), said(wrong)]")
    # What the emulator accepts breaks no rule, and the message says so.
    assert right["rules"] == [] and right["status"] == 161002
    assert TEXT in right["detail"] and "libopapi.so" in right["hint"]
    assert "accepts these arguments" in right["hint"] and "161002" in right["hint"]
    (rule,) = wrong["rules"]
    assert rule == ["self", "shape", 161002, "self (2, 3) and mat2 (2, 3) cannot be multiplied"]
    assert TEXT in wrong["text"] and f"broken rule: {rule[3]}" in wrong["text"]
    assert "refused with 161002" in wrong["explained"]


def test_a_library_that_accepts_everything(tmp_path: Path) -> None:
    stand_in(tmp_path, status=0)
    right, wrong, strictly, by_environment = answers(
        tmp_path, "[said(right), said(wrong), said(wrong, True), said(right, True)]"
    )
    assert right is None and wrong is None and by_environment is None
    assert strictly["status"] == 161002 and strictly["detail"] == ""
    assert "strict() refused the call before the library was asked" in strictly["hint"]


def test_a_library_with_other_statuses(tmp_path: Path) -> None:
    stand_in(tmp_path, status=561002)
    (wrong,) = answers(tmp_path, "[said(wrong)]")
    assert wrong["status"] == 561002
    (rule,) = wrong["rules"]
    assert rule[2] == 161002
    for words in (TEXT, "with 161002 instead of 561002", rule[3]):
        assert words in wrong["text"]


def test_a_library_that_lacks_the_operator(tmp_path: Path) -> None:
    stand_in(tmp_path, lacks="aclnnMm")
    plain, strictly = answers(tmp_path, "[said(wrong), said(wrong, True)]")
    assert plain["kind"] == strictly["kind"] == "SymbolNotFoundError"


def test_a_library_of_another_release_and_chip(tmp_path: Path) -> None:
    stand_in(tmp_path, soc="Ascend950PR_9599", version="8.0.RC1")
    # Phase one of the device is that of a 910B; the rules are those of the chip that it names.
    call = "lambda: ap.ops.angle_v2(half, half)"
    (plain, strictly) = answers(tmp_path, f"[said({call}), said({call}, True)]")
    for said in (plain, strictly):
        assert "x has dtype BFLOAT16" in said["detail"] and said["rules"] == []
        assert "the rules of the Ascend950PR_9599, accepts these arguments" in said["hint"]
    stand_in(tmp_path / "other", soc="Ascend950PR_9599", version="8.0.RC1", status=161002)
    (right,) = answers(tmp_path / "other", "[said(right)]")
    assert "(CANN 8.0.RC1) refuses them with 161002" in right["hint"]


def test_groups_of_the_device_are_described_to_the_emulator(tmp_path: Path) -> None:
    stand_in(tmp_path)
    good, odd = answers(
        tmp_path,
        """(lambda comms, a, b: [
            said(lambda: ap.plan(ap.ops.all_gather_matmul, a, b, None, comms[0].name, 0, 0, 1,
                 ap.zeros((rows, 3), np.float16), ap.zeros((8, 256), np.float16)).close(), True)
            for rows in (8, 7)])(
            __import__("aclnn_py.distributed").distributed.Communicator.init_all(2),
            ap.zeros((4, 256), np.float16), ap.zeros((256, 3), np.float16))""",
    )
    assert odd["rules"] and odd["rules"][0][0] == "output"
    assert good is None


def test_without_the_emulator_the_message_says_how_to_get_it(
    device: ap.Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(_ffi, "device_path", lambda: tmp_path / "none.so")
    book._book.cache_clear()
    x = ap.zeros((2, 3), np.float32)
    with ap.strict(), pytest.raises(errors.LibraryNotFoundError, match=r"python build_ffi\.py"):
        ap.ops.mm(x, x, x, 0)
    book._book.cache_clear()


def test_an_operator_declared_at_run_time_is_not_judged(device: ap.Device) -> None:
    declared = ap.ops.declare(
        "aclnnStatus aclnnMmGetWorkspaceSize(const aclTensor *a, const aclTensor *b,"
        " aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);"
    )
    x = ap.zeros((2, 3), np.float32)
    assert "declared at run time" in book.judge(declared, (x, x, x, 0)).unasked


def test_the_emulator_needs_no_room_in_the_static_tls_block() -> None:
    """It is opened while the program runs, when other libraries may have filled that block."""
    command = ["readelf", "--wide", "--dynamic", str(device_path())]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "SONAME" in text
    assert "STATIC_TLS" not in text


def test_calls_of_the_emulator_stay_within_it() -> None:
    """Another library in the process has the same names for its functions."""
    command = ["readelf", "--wide", "--relocs", str(device_path())]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    looked_up = [line.split()[4] for line in text.splitlines() if len(line.split()) > 4]
    assert any(name.startswith("memcpy") for name in looked_up), "of the C library"
    own = ("acl", "Hccl", "Hcom", "mstx", "emu_")
    assert not [name for name in looked_up if name.startswith(own)]
