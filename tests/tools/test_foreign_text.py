# SPDX-License-Identifier: Apache-2.0
"""Names that anybody may have chosen reach no terminal as commands to it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.processes import environment

import aclnn_py as ap
from aclnn_py.tools.cli import main
from aclnn_py.tools.foreign_text import Escaping, printable

# Clears the screen, sets the title, turns the writing direction, is no text of UTF-8.
EVIL = "a\x1b[2J\x1b]0;title\x07\u202eb\udcff\rc"
SHOWN = r"a\x1b[2J\x1b]0;title\x07\u202eb\udcff\rc"


def test_what_is_no_text_becomes_visible() -> None:
    assert printable(f"{EVIL}\n") == f"{SHOWN}\\n"
    assert printable("x" * 9, 4) == "xxxx... (9 characters)"


def test_a_stream_keeps_lines_and_tabs(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="utf-8") as file:
        print(f"one\t{EVIL}\ntwo", file=Escaping(file))  # type: ignore[arg-type]
        assert Escaping(file).fileno() == file.fileno()
    assert (tmp_path / "out").read_text(encoding="utf-8") == f"one\t{SHOWN}\ntwo\n"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a dump, a record, a trace, a profile, headers and a text of such a name."""
    folder = tmp_path_factory.mktemp("hostile")
    x = ap.from_numpy(np.ones(3, np.float32))
    with ap.tools.record(folder / f"record-{EVIL}"), ap.tools.trace(folder / f"trace-{EVIL}"):
        ap.ops.abs(x, x)
    for name in ("dump", "text"):
        (folder / f"{name}-{EVIL}").write_bytes(b"\x08\x01" + os.fsencode(EVIL))
    (folder / f"PROF_{EVIL}").mkdir()
    (folder / f"headers-{EVIL}").mkdir()
    return folder


COMMANDS = [
    ("trace", f"trace-{EVIL}"),
    ("trace", f"text-{EVIL}"),
    ("trace", f"PROF_{EVIL}"),
    ("dump", f"dump-{EVIL}"),
    ("dump", "."),
    ("dump", f"absent-{EVIL}"),
    ("replay", f"record-{EVIL}"),
    ("replay", f"text-{EVIL}"),
    ("replay", f"record-{EVIL}", "--cpp", "--call", "0"),
    ("explain", f"161002 {EVIL}"),
    ("explain", EVIL),
    ("ops", EVIL),
    ("verify", EVIL, "--device", "emulator"),
    ("config", EVIL),
    ("cann", f"cann-{EVIL}"),
    ("cann", ".", "--run", EVIL),
    ("headers", "import", f"headers-{EVIL}"),
    ("headers", "check", f"absent-{EVIL}"),
    ("run", "-n", "1", f"absent-{EVIL}"),
    (EVIL,),
]


@pytest.mark.emulator_only(reason="some commands are about the emulator")
def test_no_command_prints_what_controls_a_terminal(
    hostile: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(hostile)
    said = 0
    for words in COMMANDS:
        try:
            main(words)
        except SystemExit as ended:  # of argparse
            assert ended.code == 2, words
        captured = capfd.readouterr()
        for text in (captured.out, captured.err):
            bare = text.replace("\n", "").replace("\t", "")
            assert bare.isprintable(), (words, text)
            assert "Traceback" not in text, (words, text)
            said += SHOWN in text
    assert said >= len(COMMANDS) // 2


@pytest.mark.emulator_only(reason="some commands are about the emulator")
def test_variables_and_names_of_dumps_are_shown(hostile: Path) -> None:
    """In a process of its own, with the strict streams that a program has."""
    program = (
        "import sys; from aclnn_py.tools.cli import main;"
        f" sys.exit(main(['doctor']) or main(['dump', {str(hostile)!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment({"HCCL_WHITELIST_FILE": EVIL}), capture_output=True, check=False,
    )  # fmt: skip
    text = (done.stdout + done.stderr).decode("utf-8")
    assert f"HCCL_WHITELIST_FILE={SHOWN}" in text and "Traceback" not in text
    assert text.replace("\n", "").isprintable()
