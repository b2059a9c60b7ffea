# SPDX-License-Identifier: Apache-2.0
"""Every block of the README does what the README says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PYTHON = [
    (text, BLOCKS[i + 1][1] if i + 1 < len(BLOCKS) and BLOCKS[i + 1][0] == "text" else None)
    for i, (language, text) in enumerate(BLOCKS)
    if language == "python"
]
SOURCES = [
    path for suffix in ("py", "h", "cpp") for path in (ROOT / "aclnn_py").rglob(f"*.{suffix}")
]
SHELL = [text for language, text in BLOCKS if language == "sh"]


@pytest.fixture
def path_with_command(tmp_path: Path) -> str:
    """PATH on which `aclnn-py` is the command of the package under test."""
    command = tmp_path / "aclnn-py"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -m aclnn_py.tools.cli "$@"\n')
    command.chmod(0o755)
    return f"{tmp_path}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.parametrize(("code", "output"), PYTHON, ids=range(len(PYTHON)))
def test_python_block_prints_what_follows_it(code: str, output: str | None, tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    assert output is not None, "a block without its output shows nothing"
    assert result.stdout == output


def test_shell_blocks_run(path_with_command: str, tmp_path: Path) -> None:
    """Installation aside, which .ci/run does word for word in a fresh environment."""
    ran = 0
    for block in SHELL:
        for line in block.splitlines():
            words = line.replace("-o add", f"-o {tmp_path}/add").replace("./add", f"{tmp_path}/add")
            if line.startswith("pip install"):
                words = words.partition("&& ")[2]
            if words.startswith("pytest"):
                continue  # this run
            result = subprocess.run(
                ["bash", "-c", words],
                cwd=ROOT,
                env={**os.environ, "PATH": path_with_command},
                capture_output=True,
                text=True,
                timeout=240,
            )
            assert result.returncode == 0, f"{line}\n{result.stdout}{result.stderr}"
            assert "ok" in result.stdout
            ran += 1
    assert ran == 2


def test_the_two_commands_stand_first() -> None:
    """.ci/run takes them from here."""
    assert SHELL[0].strip() == "pip install . && aclnn-py run -n 2 samples/01_all_gather_matmul.py"
    assert SHELL[1].strip() == "pip install '.[test]' && pytest -n auto"


def test_numbers_are_those_of_the_operator_table() -> None:
    from aclnn_py import facts

    table = facts.operators().values()
    contributed = sum(fact["experimental"] for fact in table)
    documents = sum(fact["source"] == "document" for fact in table)
    assert f"| {len(table)}, of them {contributed} contributed packages and {documents} " in README


def test_every_environment_variable_named_exists() -> None:
    sources = "".join(path.read_text() for path in SOURCES)
    for name in set(re.findall(r"ACLNN_PY_\w+", README)):
        assert f'"{name}"' in sources, f"nothing reads {name}"


def test_length() -> None:
    assert len(README.splitlines()) < 250
