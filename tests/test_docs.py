# SPDX-License-Identifier: Apache-2.0
"""What the README, the pages of docs/ and their like say is so."""

from __future__ import annotations

import fnmatch
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.documents import (
    DOCS,
    PAGES,
    ROOT,
    anchors,
    blocks,
    links,
    name_of,
    prose,
    tree_paths,
)
from helpers.processes import environment

import aclnn_py
from aclnn_py.tools.cli import main

SUFFIXES = ("py", "pyi", "c", "h", "cpp", "inc", "md", "json", "toml", "txt")
FOLDERS = (
    "aclnn_py",
    "benchmarks",
    "build_parts",
    "docs",
    "include",
    "maintain",
    "samples",
    "tests",
)
SOURCES = "".join(
    path.read_text()
    for folder in ("aclnn_py", "build_parts")
    for suffix in ("py", "h", "cpp")
    for path in (ROOT / folder).rglob(f"*.{suffix}")
)
# Set by the package for its own processes, and a macro.
NOT_SETTINGS = {"ACLNN_PY_RENDEZVOUS_FD", "ACLNN_PY_FORWARD_"}


def python_blocks() -> list[tuple[str, str, str]]:
    """(name, code, output); the output is the block that follows."""
    found = []
    for page in PAGES:
        each = blocks(page)
        for number, (language, text) in enumerate(each):
            if language == "python":
                after = each[number + 1] if number + 1 < len(each) else ("", "")
                assert after[0] == "text", f"{name_of(page)}: a block without its output:\n{text}"
                found.append((f"{name_of(page)}-{number}", text, after[1]))
    return found


PYTHON = python_blocks()


@pytest.mark.parametrize(("code", "output"), [b[1:] for b in PYTHON], ids=[b[0] for b in PYTHON])
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


@pytest.fixture
def path_with_command(tmp_path: Path) -> str:
    """PATH on which `aclnn-py` is the command of the package under test."""
    command = tmp_path / "aclnn-py"
    # The package under test, not the source tree, which may be unbuilt; -I keeps the folder of the
    # call out of the path.
    package = str(Path(aclnn_py.__file__).parents[1])
    program = f"import sys; sys.path.insert(0, {package!r}); from aclnn_py.tools.cli import main; "
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -I -c "{program}sys.exit(main())" "$@"\n')
    command.chmod(0o755)
    return f"{tmp_path}{os.pathsep}{os.environ['PATH']}"


def shell_lines() -> list[str]:
    """What readers type; installing is tried by .ci/run, in a fresh environment."""
    lines = []
    for page in PAGES:
        if page.is_relative_to(ROOT / "samples"):
            continue  # a server, which has tests of its own
        for language, text in blocks(page):
            if language == "sh":
                for line in text.splitlines():
                    command = line.partition("&& ")[2] if line.startswith("pip install") else line
                    if not command.startswith("pytest"):
                        lines.append(command)
    return lines


@pytest.mark.parametrize("line", shell_lines())
def test_shell_line_runs(line: str, path_with_command: str, tmp_path: Path) -> None:
    words = line.replace("-o add", f"-o {tmp_path}/add").replace("./add", f"{tmp_path}/add")
    result = subprocess.run(
        ["bash", "-c", words],
        cwd=ROOT,
        env=environment({"PATH": path_with_command}),
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert result.returncode == 0, f"{line}\n{result.stdout}{result.stderr}"
    if "samples/" in line:
        assert "ok" in result.stdout


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        assert other.exists(), f"{target}: there is no such file"
        if anchor:
            assert anchor in anchors(other), f"{target}: no heading of that name"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_paths_exist(page: Path) -> None:
    """Every path in backticks, from the root or from the page's folder, or a file's name alone."""
    names = {path.name for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")}
    names |= {path.name for path in ROOT.iterdir()}
    for token in re.findall(r"`([\w.*/-]+)`", prose(page)):
        source = re.fullmatch(rf"[\w.*/-]*\w\.({'|'.join(SUFFIXES)})", token)
        if "/" in token and (source or token.split("/")[0] in FOLDERS):
            here = any(any(base.glob(token.rstrip("/"))) for base in (ROOT, page.parent))
            assert here, f"`{token}`: there is no such file"
        elif source and source[1] in ("py", "c", "h", "cpp", "inc", "md"):
            assert fnmatch.filter(names, token), f"`{token}`: no file has this name"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_trees_are_the_trees_on_disk(page: Path) -> None:
    for language, text in blocks(page):
        if language == "tree":
            missing = [path for path in tree_paths(text) if not (ROOT / path).exists()]
            assert not missing


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_variable_and_command_named_exists(page: Path) -> None:
    text = page.read_text()
    for name in set(re.findall(r"ACLNN_PY_\w+", text)):
        assert f'"{name}"' in SOURCES, f"nothing reads {name}"
    for command in set(re.findall(r"aclnn-py ([a-z]\w*)", text)):
        with pytest.raises(SystemExit) as caught:
            main([command, "--help"])
        assert caught.value.code == 0, command
    for module in set(re.findall(r"python -m ([a-z_]\w*(?:\.\w+)*)", text)):
        place = ROOT.joinpath(*module.split("."))
        if module.split(".")[0] in FOLDERS:
            known = place.with_suffix(".py").exists() or (place / "__main__.py").exists()
            assert known, f"python -m {module}: there is no such program"


def test_every_variable_that_is_read_is_a_setting_with_a_line() -> None:
    package = "".join(
        path.read_text()
        for suffix in ("py", "h", "cpp")
        for path in (ROOT / "aclnn_py").rglob(f"*.{suffix}")
    )
    read = set(re.findall(r'"(ACLNN_PY_[A-Z_]+)"', package)) - NOT_SETTINGS
    told = set(re.findall(r"^\| `(ACLNN_PY_[A-Z_]+)`", (DOCS / "settings.md").read_text(), re.M))
    assert told == read
