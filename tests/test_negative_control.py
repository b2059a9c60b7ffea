# SPDX-License-Identifier: Apache-2.0
"""The copy in which the negative control builds, and its list of tests about no number."""

from __future__ import annotations

import os
import runpy
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parent.parent / ".ci" / "negative_control"
LONG_AGO = 1_000_000_000


@pytest.fixture
def copy_tree() -> Callable[[Path, Path], None]:
    names: dict[str, Any] = runpy.run_path(str(PROGRAM))
    function: Callable[[Path, Path], None] = names["copy_tree"]
    return function


def working_tree(folder: Path, **files: str) -> Path:
    """A repository in `folder` with these files, all of them old."""
    folder.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    for name, text in files.items():
        (folder / name).write_text(text)
        os.utime(folder / name, (LONG_AGO, LONG_AGO))
    return folder


def test_an_old_file_with_other_contents_gets_a_new_time(
    copy_tree: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    first = working_tree(tmp_path / "first", changed="one", same="text")
    second = working_tree(tmp_path / "second", changed="two", same="text")
    copy = tmp_path / "copy"
    copy_tree(first, copy)
    built = LONG_AGO + 100  # an object made of the first tree, after the second was written
    for name in ("changed", "same"):
        os.utime(copy / name, (built - 1, built - 1))
    copy_tree(second, copy)
    assert (copy / "changed").read_text() == "two"
    assert (copy / "changed").stat().st_mtime > built
    assert (copy / "same").stat().st_mtime == built - 1


def test_a_file_that_is_gone_is_removed_and_what_was_built_stays(
    copy_tree: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    first = working_tree(tmp_path / "first", gone="", stays="")
    second = working_tree(tmp_path / "second", stays="")
    copy = tmp_path / "copy"
    copy_tree(first, copy)
    (copy / "built").touch()
    copy_tree(second, copy)
    assert sorted(path.name for path in copy.iterdir() if path.is_file()) == ["built", "stays"]


def test_a_folder_of_somebody_else_is_left_alone(
    copy_tree: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    root = working_tree(tmp_path / "root", file="")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letter").touch()
    with pytest.raises(SystemExit, match="not empty"):
        copy_tree(root, mine)
    assert [path.name for path in mine.iterdir()] == ["letter"]


def test_the_list_is_sorted_and_names_each_test_once() -> None:
    lines = PROGRAM.with_suffix(".txt").read_text().splitlines()
    entries = [line for line in lines if line and not line.startswith("#")]
    assert entries == sorted(set(entries))
