# SPDX-License-Identifier: Apache-2.0
"""ops, config and headers as a person calls them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from aclnn_py import facts
from aclnn_py.tools import operators
from aclnn_py.tools.operators import matches


def aclnn_py(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "aclnn_py.tools.cli", *words],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).parent,
        env={**os.environ, **env},
    )


def test_ops_lists_what_matches() -> None:
    result = aclnn_py("ops", "all_gather_matmul", "--parameters")
    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert lines[1].split() == [
        "all_gather_matmul",
        "aclnnAllGatherMatmul",
        "8.1.RC1",
        "header",
        "yes",
    ]
    assert "gatherIndex" in lines[2]


def test_ops_json_has_every_operator_once() -> None:
    rows = json.loads(aclnn_py("ops", "--json").stdout)
    assert sorted(row["function"] for row in rows) == sorted(facts.operators())
    assert len({row["name"] for row in rows}) == len(rows)
    assert {row["source"] for row in rows} == {"header", "document", "contributed"}
    add = next(row for row in rows if row["function"] == "aclnnAdd")
    assert add["parameters"] == ["self", "other", "alpha", "out"]
    assert add["available"] is True
    assert any(row["available"] is False for row in rows)


def test_ops_without_a_match_is_1() -> None:
    result = aclnn_py("ops", "no_such_operator")
    assert result.returncode == 1
    assert "no_such_operator" in result.stderr


def test_ops_works_without_a_device(tmp_path: Path) -> None:
    result = aclnn_py("ops", "aclnnAbs", ACLNN_PY_DEVICE="npu", ASCEND_HOME_PATH=str(tmp_path))
    assert result.returncode == 0
    assert "aclnnAbs" in result.stdout
    assert "no device can be used" in result.stderr


@pytest.mark.parametrize(
    ("pattern", "name", "meant"),
    [
        ("", "add", True),
        ("ADD", "inplace_add", True),
        ("add*", "inplace_add", False),
        ("*add", "inplace_add", True),
        ("a?d", "add", True),
        ("sub", "add", False),
    ],
)
def test_patterns(pattern: str, name: str, meant: bool) -> None:
    assert matches(pattern, name) is meant


@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        ((), len(facts.operators())),
        (("aclnnAdd",), 1),
        (("add", "ACLNNSUB"), 2),
        (("aclnnAddmv*",), 1),
        (("addm",), len([name for name in facts.operators() if "addm" in name.lower()])),
        (("^aclnnAdd$",), 0),
    ],
)
def test_a_whole_name_is_that_operator_alone(patterns: tuple[str, ...], found: int) -> None:
    assert len(operators.chosen(patterns)) == found
    assert len(operators.find(*patterns)) == found


def test_ops_into_a_closed_pipe_is_quiet() -> None:
    words = f"{shlex.quote(sys.executable)} -m aclnn_py.tools.cli ops | head -n 1"
    result = subprocess.run(
        ["bash", "-c", words],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=Path(__file__).parent,
    )
    assert result.stdout.startswith("name")
    assert "Traceback" not in result.stderr
    assert "BrokenPipe" not in result.stderr


def test_config_flags_name_files_that_exist() -> None:
    cflags = shlex.split(aclnn_py("config", "--cflags").stdout)
    libs = shlex.split(aclnn_py("config", "--libs").stdout)
    include = Path(cflags[0].removeprefix("-I"))
    directory = Path(libs[0].removeprefix("-L"))
    for header in ("acl/acl.h", "aclnn/aclnn_base.h", "aclnnop/aclnn_add.h", "hccl/hccl.h"):
        assert (include / header).is_file()
    assert f"-Wl,-rpath,{directory}" in libs
    for word in libs:
        if word.startswith("-l"):
            assert (directory / f"lib{word[2:]}.so").exists()
    assert shlex.split(aclnn_py("config", "--cflags", "--libs").stdout) == cflags + libs


def test_config_without_a_question_is_wrong_usage() -> None:
    result = aclnn_py("config")
    assert (result.returncode, result.stdout) == (2, "")


def test_headers_is_passed_on(tmp_path: Path) -> None:
    assert "check" in aclnn_py("headers", "--help").stdout
    assert aclnn_py("headers", "check", str(tmp_path / "absent")).returncode == 2


def test_usage_errors_are_2() -> None:
    for words in ([], ["nonsense"], ["run"], ["doctor", "--unknown"]):
        assert aclnn_py(*words).returncode == 2
