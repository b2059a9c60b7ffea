# SPDX-License-Identifier: Apache-2.0
"""Which files of a directory the tree takes, and which it leaves alone."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from aclnn_py.tools.cann.command import make_tree
from aclnn_py.tools.cann.layout import Link, Shipped, Text
from aclnn_py.tools.cann.versions import release_named
from aclnn_py.tools.cann.writer import MANIFEST, OccupiedError, write_tree

pytestmark = pytest.mark.emulator_only(reason="the tree holds the emulator's library")


def content(root: Path) -> dict[str, str]:
    """Every file and link below a directory but the manifest, with what it holds."""
    return {
        str(path.relative_to(root)): f"-> {path.readlink()}"
        if path.is_symlink()
        else path.read_text()
        for path in sorted(root.rglob("*"))
        if (path.is_symlink() or path.is_file()) and path.name != MANIFEST
    }


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.h").write_text("a")
    (folder / "sub" / "b.h").write_text("b")
    return folder


def test_links_and_copies(source: Path, tmp_path: Path) -> None:
    entries = [Shipped("include/x", source), Text("t/v", "1\n"), Link("d/e/lib", "include/x")]
    root = tmp_path / "tree"
    write_tree(root, entries, copy=False)
    linked = {"d/e/lib": "-> ../../include/x", "include/x": f"-> {source}", "t/v": "1\n"}
    assert content(root) == linked
    write_tree(root, entries, copy=True)
    copied = {"d/e/lib": "-> ../../include/x", "t/v": "1\n"}
    copied |= {"include/x/a.h": "a", "include/x/sub/b.h": "b"}
    assert content(root) == copied
    write_tree(root, entries, copy=False)
    assert content(root) == linked
    assert sorted(path.name for path in source.rglob("*")) == ["a.h", "b.h", "sub"]


def test_what_is_no_longer_part_of_the_tree_goes_and_other_files_stay(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    write_tree(root, [Text("opp/old/one", "1"), Text("opp/two", "2")], copy=False)
    (root / "opp" / "vendors").mkdir()
    (root / "opp" / "vendors" / "config.ini").write_text("mine")
    write_tree(root, [Text("opp/two", "22")], copy=False)
    assert content(root) == {"opp/two": "22", "opp/vendors/config.ini": "mine"}
    assert not (root / "opp" / "old").exists()


def test_a_copy_follows_its_source(source: Path, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    write_tree(root, [Shipped("include", source)], copy=True)
    (source / "a.h").write_text("changed")
    (source / "sub" / "b.h").unlink()
    write_tree(root, [Shipped("include", source)], copy=True)
    assert content(root) == {"include/a.h": "changed"}


def test_foreign_content_is_refused_and_kept(source: Path, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "version.cfg").write_text("a real one")
    with pytest.raises(OccupiedError, match="not empty"):
        write_tree(root, [Text("version.cfg", "x")], copy=False)
    assert content(root) == {"version.cfg": "a real one"}


def test_nothing_is_written_through_a_link_of_somebody_else(source: Path, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    write_tree(root, [Text("opp/x", "1")], copy=False)
    (root / "lib64").symlink_to(source)
    (root / "opp" / "x").unlink()
    (root / "opp" / "x").mkdir()
    with pytest.raises(OccupiedError, match="lib64 is a link"):
        write_tree(root, [Text("lib64/a.h", "theirs")], copy=False)
    with pytest.raises(OccupiedError, match="x is a directory"):
        write_tree(root, [Text("opp/x", "2")], copy=False)
    assert (source / "a.h").read_text() == "a"


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"written_by": "someone"}', '{"written_by": "aclnn-py cann", "paths": ["../a"]}'],
)
def test_a_manifest_that_cannot_be_trusted_is_refused(text: str, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (tmp_path / "a").write_text("not part of the tree")
    (root / MANIFEST).write_text(text)
    with pytest.raises(OccupiedError, match=MANIFEST):
        write_tree(root, [Text("b", "x")], copy=False)
    assert (tmp_path / "a").exists()


def test_a_copied_tree_points_nowhere_else_and_may_be_moved(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "first", release_named("9.0"), copy=True)
    moved = tmp_path / "second"
    shutil.move(tree, moved)
    for path in moved.rglob("*"):
        assert path.resolve().is_relative_to(moved), path
        assert path.exists(), f"{path} leads nowhere"
    done = subprocess.run(
        ["bash", "-c", f"source {moved}/bin/setenv.bash; echo $ASCEND_HOME_PATH"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{moved}\n"
