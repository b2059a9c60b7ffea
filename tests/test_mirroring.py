# SPDX-License-Identifier: Apache-2.0
"""Tests lie where their module lies: `aclnn_py/memory/buffer.py`, `tests/memory/test_buffer.py`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "aclnn_py"
MIRRORED = (
    "acl",
    "array",
    "checking",
    "distributed",
    "errors",
    "functional",
    "graphs",
    "memory",
    "operators",
    "random",
    "runtime",
    "tensor",
    "tools",
)
MAINTAIN = TESTS.parent / "maintain"  # not in the package


def test_names_are_unique() -> None:
    """Pytest imports test files by their name alone, unless their folder is a package."""
    files = [*TESTS.rglob("test_*.py"), *(TESTS.parent / "samples").rglob("test_*.py")]
    names = [path.stem for path in files if not (path.parent / "__init__.py").exists()]
    assert [name for name, count in Counter(names).items() if count > 1] == []


@pytest.mark.parametrize(
    "folder", [*(PACKAGE / name for name in MIRRORED), MAINTAIN], ids=lambda folder: folder.name
)
def test_a_test_file_has_the_name_of_a_module(folder: Path) -> None:
    """`test_MODULE.py`, or `test_MODULE_ASPECT.py` for a part of it; the folder counts as one."""
    sources = list(folder.rglob("*.py"))
    modules = {path.stem for path in sources} | {path.parent.name for path in sources}
    files = sorted(
        path.stem.removeprefix("test_") for path in (TESTS / folder.name).glob("test_*.py")
    )
    assert files
    strangers = [
        name
        for name in files
        if not any(name == module or name.startswith(f"{module}_") for module in modules)
    ]
    assert not strangers, f"no module of {folder} has this name"


def test_the_negative_control_lists_files_that_exist() -> None:
    lines = (TESTS.parent / ".ci" / "negative_control.txt").read_text().splitlines()
    listed = {line.split()[1].split("::")[0] for line in lines if line and line[0] != "#"}
    assert listed
    assert [name for name in sorted(listed) if not any(TESTS.parent.glob(name))] == []
