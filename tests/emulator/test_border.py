# SPDX-License-Identifier: Apache-2.0
"""The border of the emulator: no exception leaves it, and every name in it is defined once."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from build_parts.elf import shared_definitions
from build_parts.emulator import check_levels
from build_parts.toolchain import BuildError

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "aclnn_py" / "emulator" / "src"
# Functions over C's own library: they allocate nothing and throw nothing.
PLAIN_C = "securec"


def sources() -> list[Path]:
    return sorted(p for p in SOURCES.rglob("*") if p.suffix in (".cpp", ".h", ".inc"))


def code_of(path: Path) -> str:
    """Return the text of a source without comments and without line continuations."""
    return re.sub(r"//[^\n]*", "", path.read_text()).replace("\\\n", " ")


def unguarded(code: str) -> list[str]:
    """Entry points whose body is not one try block with the catch of the border."""
    found = []
    for match in re.finditer(r"\bEMU_EXPORT\b", code):
        head, _, rest = code[match.end() :].partition("{")
        if head.rstrip().endswith("try") and not rest:
            continue  # EMU_OPERATOR: without its catch a body does not compile
        depth, end = 1, 0
        while depth:
            depth += {"{": 1, "}": -1}.get(rest[end], 0)
            end += 1
        caught = re.match(r"\s*(EMU_CATCH|catch \(const std::exception)", rest[end:])
        if not re.search(r"\)\s*try\s*$", head) or not caught:
            found.append(" ".join(head.split()))
    return found


def test_every_entry_point_catches_what_is_thrown() -> None:
    missing = {}
    count = 0
    for path in sources():
        if path.name == "export.h" or path.parent.name == PLAIN_C:
            continue
        code = code_of(path)
        count += len(re.findall(r"\bEMU_EXPORT\b", code))
        if bare := unguarded(code):
            missing[path.relative_to(SOURCES).as_posix()] = bare
    assert count > 300
    assert not missing


def test_an_unguarded_entry_point_is_found() -> None:
    assert unguarded("EMU_EXPORT int f(int a) { return a; }")
    assert unguarded("EMU_EXPORT int f(int a) try { return a; } catch_nothing")
    assert not unguarded("EMU_EXPORT int f(int a) try { if (a) { a = 1; } return a; } EMU_CATCH")


def test_only_the_border_exports() -> None:
    """Nothing leaves the library but through EMU_EXPORT."""
    for path in sources():
        code = code_of(path)
        if path.name != "export.h":
            assert 'visibility("default")' not in code, path
        if path.name not in ("export.h", "slots.h"):
            assert 'extern "C"' not in code, path


def test_inline_functions_have_one_definition() -> None:
    """Units for several levels of the processor include the same headers."""
    defined: dict[str, set[str]] = defaultdict(set)
    for path in sources():
        if path.name.endswith((".isa.h", ".isa.cpp")) or path.suffix != ".h":
            continue  # those of one level live in its own namespace
        pattern = r"^inline [\w:<>*&\s]*?(\w+)\(([^)]*)\)"
        for match in re.finditer(pattern, code_of(path), re.MULTILINE):
            kinds = ",".join(" ".join(p.split()[:-1]) for p in match[2].split(","))
            defined[f"{match[1]}({kinds})"].add(path.name)
    assert "float16_to_float(uint16_t)" in defined
    assert not {name: files for name, files in defined.items() if len(files) > 1}


def test_code_of_one_level_is_not_shared(tmp_path: Path) -> None:
    """The build refuses a unit for newer processors that defines functions for all units."""
    source = tmp_path / "unit.cpp"
    source.write_text(
        "__attribute__((noinline)) inline int twice(int a) { return 2 * a; }\n"
        "int (*use())(int) { return &twice; }\n"
    )
    shared = tmp_path / "unit.isa.cpp@v4.0123.o"
    subprocess.run(["c++", "-c", str(source), "-o", str(shared)], check=True)
    assert [name for name in shared_definitions(shared) if "twice" in name]
    with pytest.raises(BuildError, match="twice"):
        check_levels([shared])
    base = shared.rename(tmp_path / "unit.isa.cpp@base.0123.o")
    check_levels([base])
