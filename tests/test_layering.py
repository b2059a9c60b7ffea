# SPDX-License-Identifier: Apache-2.0
"""Imports go down or sideways, never up."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "aclnn_py"
# Folder -> layer. What stands above may import what stands below or beside it.
LAYERS = {
    name: layer
    for layer, names in enumerate(
        [
            ["facts"],
            ["errors", "_ffi", "emulator"],
            ["runtime", "memory", "tensor", "random"],
            ["operators", "graphs", "ops", "checking", "functional", "array"],
            ["distributed"],
            ["tools"],
        ]
    )
    for name in names
}
# `from aclnn_py import Name` loads a name of any layer, so only the package's users may write it.
PUBLIC = {"__version__"}
# NumPy is imported where arrays are converted or made, and nowhere else.
NUMPY = {
    "array",
    "checking/launches",
    "functional",
    "memory/buffer",
    "operators",
    "tensor",
    "distributed/collectives",
    "tools/doctor/trial",
    "tools/records/difference",
}
FRAMEWORKS = {"torch", "torch_npu", "mindspore", "tensorflow", "jax", "cupy", "paddle", "oneflow"}


def modules() -> list[Path]:
    apart = {"lib", "include"}
    return sorted(p for p in PACKAGE.rglob("*.py") if p.parent.name not in apart)


def imported(path: Path) -> Iterator[str]:
    """Absolute names a module imports when it runs, so without those for type checkers only."""

    def visit(node: ast.AST) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                for other in child.orelse:
                    yield from visit(other)
            elif isinstance(child, ast.Import):
                yield from (alias.name for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{path.name}: imports are absolute inside the package"
                module = child.module or ""
                yield module
                yield from (f"{module}.{alias.name}" for alias in child.names)
            else:
                yield from visit(child)

    yield from visit(ast.parse(path.read_text()))


def unit(dotted: str) -> str | None:
    parts = dotted.split(".")
    return parts[1] if parts[0] == "aclnn_py" and len(parts) > 1 else None


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_imports_never_go_up(path: Path) -> None:
    own = name_of(path).split("/")[0]
    if own in ("__init__", "__main__"):
        return
    if own == "emulator":
        assert not [name for name in imported(path) if unit(name)], "the emulator stands alone"
        return
    for name in imported(path):
        other = unit(name)
        if other is not None and other not in PUBLIC:
            above = LAYERS[other] > LAYERS[own]
            assert not above, f"imports {name}, which is a layer above"


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_only_discovery_knows_the_emulator(path: Path) -> None:
    users = {name for name in imported(path) if unit(name) == "emulator"}
    assert not users or name_of(path).startswith("_ffi/")


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_numpy_only_where_arrays_are(path: Path) -> None:
    name = name_of(path)
    if not {"numpy", "ml_dtypes"} & {module.split(".")[0] for module in imported(path)}:
        return
    assert name in NUMPY or name.split("/")[0] in NUMPY


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_no_framework_is_imported(path: Path) -> None:
    roots = {name.split(".")[0] for name in imported(path)}
    assert not roots & FRAMEWORKS
    allowed = {"aclnn_py", "cffi", "numpy", "ml_dtypes", ""}
    assert roots <= allowed | set(sys.stdlib_module_names), "an undeclared dependency"


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_cffi_has_one_door(path: Path) -> None:
    names = set(imported(path))
    assert "cffi" not in {name.split(".")[0] for name in names}
    if not name_of(path).startswith("_ffi/"):
        assert not any(name.startswith("aclnn_py._ffi._binding") for name in names)


@pytest.mark.parametrize("part", ["errors", "facts"])
def test_errors_and_what_explains_them_need_the_standard_library_only(part: str) -> None:
    # A process that cannot load the C library still has to unpickle and explain an exception.
    place = PACKAGE / part
    for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
        for name in imported(path):
            own = unit(name) in ("errors", "facts") or name in ("", "aclnn_py")
            assert own or name.split(".")[0] in sys.stdlib_module_names, f"{path.name}: {name}"
