# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/ do what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from aclnn_py.tools.cli import main

DOCS = Path(__file__).parent.parent / "docs"
SOURCES = "".join(path.read_text() for path in (DOCS.parent / "aclnn_py").rglob("*.py"))
BLOCKS = [
    (path.name, number, *found)
    for path in sorted(DOCS.glob("*.md"))
    for number, found in enumerate(
        re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", path.read_text(), re.M | re.S)
    )
]


def test_every_python_block_has_its_output() -> None:
    blocks = sum(path.read_text().count("```python\n") for path in DOCS.glob("*.md"))
    assert blocks == len(BLOCKS) >= 4


@pytest.mark.parametrize(
    ("code", "output"), [b[2:] for b in BLOCKS], ids=[f"{b[0]}-{b[1]}" for b in BLOCKS]
)
def test_python_block_prints_what_follows_it(code: str, output: str, tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env=dict(os.environ),
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == output


def test_every_variable_and_command_named_exists() -> None:
    text = "".join(path.read_text() for path in DOCS.glob("*.md"))
    for name in set(re.findall(r"ACLNN_PY_\w+", text)):
        assert f'"{name}"' in SOURCES, f"nothing reads {name}"
    for command in set(re.findall(r"aclnn-py (\w+)", text)):
        with pytest.raises(SystemExit) as caught:
            main([command, "--help"])
        assert caught.value.code == 0, command


def test_the_twenty_troubles_are_answered() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+?) \| (.+?) \|$", (DOCS / "pains.md").read_text(), re.M)
    assert [int(number) for number, _, _ in rows] == list(range(1, 21))
