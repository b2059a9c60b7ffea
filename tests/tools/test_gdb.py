# SPDX-License-Identifier: Apache-2.0
"""The printers of gdb: in gdb on a C program, and their logic with a module in gdb's place."""

from __future__ import annotations

import shutil
import subprocess
import types
from pathlib import Path
from typing import Any

import pytest
from helpers.native import ROOT, SANITIZERS, compiled

from aclnn_py.tools.cli import main
from aclnn_py.tools.gdb.command import printers_path
from aclnn_py.tools.gdb.printers import printer_of, register

PROGRAM = ROOT / "tests" / "emulator" / "faults" / "mistakes.c"


class FakeType:
    """A type of gdb: a pointer to a structure with this tag, or the structure."""

    def __init__(self, tag: str, pointer: bool) -> None:
        self.tag, self.name = tag, None
        self.code = "pointer" if pointer else "structure"

    def strip_typedefs(self) -> FakeType:
        return self

    unqualified = strip_typedefs

    def target(self) -> FakeType:
        return FakeType(self.tag, pointer=False)


class FakeValue:
    def __init__(self, number: int, tag: str = "", text: str = "") -> None:
        self.number, self.text = number, text
        self.type = FakeType(tag, pointer=True)

    def __int__(self) -> int:
        return self.number

    def string(self) -> str:
        return self.text


def fake_gdb(answers: dict[str, FakeValue]) -> tuple[Any, list[str], dict[str, Any]]:
    written: list[str] = []
    commands: dict[str, Any] = {}

    class Command:
        def __init__(self, name: str, *_: object) -> None:
            commands[name] = self

    class FakeError(Exception):
        pass

    def parse_and_eval(expression: str) -> FakeValue:
        for part, answer in answers.items():
            if part in expression:
                return answer
        raise FakeError("no symbol in current context")

    gdb = types.SimpleNamespace(
        TYPE_CODE_PTR="pointer",
        COMMAND_DATA=0,
        COMPLETE_EXPRESSION=0,
        pretty_printers=[],
        Command=Command,
        GdbError=ValueError,
        error=FakeError,
        write=written.append,
        parse_and_eval=parse_and_eval,
    )
    return gdb, written, commands


def test_a_handle_is_described_by_the_library() -> None:
    gdb, written, commands = fake_gdb(
        {
            "aclnn_py_emulator_describe)((const void *)0x40": FakeValue(1, text="aclTensor (2)"),
            "(stream)": FakeValue(0x40),
        }
    )
    register(gdb)
    (lookup,) = gdb.pretty_printers
    assert lookup(FakeValue(0x40, "aclTensor")).to_string() == "0x40 aclTensor (2)"
    assert lookup(FakeValue(0, "aclTensor")).to_string() == "0x0"
    assert lookup(FakeValue(0x40, "another")) is None
    commands["acl"].invoke("stream", False)
    assert written == ["aclTensor (2)\n"]
    with pytest.raises(ValueError, match="missing"):
        commands["acl"].invoke("", False)


def test_without_a_process_the_address_stays() -> None:
    gdb, _, _ = fake_gdb({})
    printer = printer_of(gdb, FakeValue(0x40, "aclOpExecutor"))
    assert printer is not None
    assert "cannot be asked: no symbol" in printer.to_string()


def test_the_path_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gdb", "--path"]) == 0
    assert Path(capsys.readouterr().out.strip()) == printers_path()
    assert printers_path().is_file()


def test_without_gdb_the_command_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert main(["gdb", "--args", "true"]) == 1
    assert "gdb is not on the path" in capsys.readouterr().err


@pytest.fixture
def gdb_with_python() -> str:
    gdb = shutil.which("gdb")
    if gdb is None:
        pytest.skip("no gdb")
    asked = subprocess.run(
        [gdb, "-batch", "-nx", "-ex", "python print(6 * 7)"],
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.stdout.strip() != "42":
        pytest.skip("this gdb has no Python")
    return gdb


@pytest.fixture
def gdb_that_calls(gdb_with_python: str, tmp_path: Path) -> str:
    """One that can call a function of a program: releases older than the registers of the processor
    cannot put those back."""
    source = tmp_path / "asked.c"
    source.write_text("int answer(void) { return 42; }\nint main(void) { return answer() - 42; }\n")
    program = compiled(source, tmp_path / "asked")
    words = ["-batch", "-nx", "-ex", "break main", "-ex", "run", "-ex", "print answer()"]
    asked = subprocess.run(
        [gdb_with_python, *words, str(program)],
        capture_output=True,
        text=True,
        timeout=240.0,
        check=False,
    )
    if "ptrace" in asked.stderr or "Could not trace" in asked.stderr:
        pytest.skip("this machine lets nobody trace a process")
    if "Couldn't write extended state status" in asked.stderr:
        pytest.skip("this gdb does not know all registers of this processor and calls no function")
    assert "$1 = 42" in asked.stdout, asked.stdout + asked.stderr
    return gdb_with_python


@pytest.mark.emulator_only(reason="links against the emulator's library")
def test_gdb_prints_tensors_and_executors(gdb_that_calls: str, tmp_path: Path) -> None:
    if SANITIZERS:
        pytest.skip("gdb does not follow a program under a sanitizer")
    program = compiled(PROGRAM, tmp_path / "program")
    words = ["-batch", "-nx", "-x", str(printers_path()), "-ex", "set debuginfod enabled off"]
    words += ["-ex", "break aclnnAbs", "-ex", "run", "-ex", "up"]
    words += [
        "-ex",
        "print o.x",
        "-ex",
        "print executor",
        "-ex",
        "acl g_stream",
        "-ex",
        "acl &size",
    ]
    done = subprocess.run(
        [gdb_that_calls, *words, "--args", str(program), "executor_used_twice"],
        capture_output=True,
        text=True,
        timeout=240.0,
        check=False,
    )
    out = done.stdout
    assert "aclTensor (4, 8) FLOAT ND, at 0x" in out, out + done.stderr
    assert "aclOpExecutor of aclnnAbs, workspace 0 bytes\n  in self (4, 8) FLOAT at 0x" in out, out
    assert "stream 0 of device 0, 0 of 0 tasks done" in out, out
    assert "host memory, no live handle" in out, out
