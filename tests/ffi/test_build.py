# SPDX-License-Identifier: Apache-2.0
"""The build backend: what it packs, what it recompiles, what it says when something is missing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import build_ffi
from aclnn_py.emulator import library_path
from build_parts import generation, op_facts, precompiled, toolchain

ROOT = Path(__file__).resolve().parents[2]
# The libraries of the package under test: a second copy would share its name with the one in use.
LIB = library_path().parent


def run(*command: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("variable", ["CC", "CXX"])
def test_missing_compiler_is_a_message_that_says_what_to_install(variable):
    done = run("build_ffi.py", **{variable: "no-such-compiler -x"})
    assert done.returncode == 1
    assert f"{variable}=no-such-compiler -x: no such compiler" in done.stderr
    assert "apt install g++" in done.stderr and "Traceback" not in done.stderr


def test_no_compiler_on_the_path_is_a_message(tmp_path):
    done = run("build_ffi.py", PATH=str(tmp_path), CC="", CXX="")
    assert done.returncode == 1
    assert "compiler found (looked for gcc, cc, clang)" in done.stderr


def test_compiler_of_several_words(monkeypatch):
    monkeypatch.setenv("CC", "env 'gcc'")
    assert toolchain.find_compiler("CC", ("gcc",)) == ["env", "gcc"]


@pytest.fixture
def unit(tmp_path, monkeypatch):
    monkeypatch.setattr(toolchain, "BUILD", tmp_path / "build")
    (tmp_path / "value.h").write_text("#define VALUE 1\n")
    source = tmp_path / "unit.cpp"
    source.write_text('#include "value.h"\nint value() { return VALUE; }\n')
    return toolchain.Unit(source, ("-std=c++17",), "unit.cpp")


def test_only_what_changed_is_compiled_again(unit, capsys):
    tools = toolchain.Toolchain()

    def compiled() -> bool:
        tools.compile({"test": [unit]})
        return "up to date" not in capsys.readouterr().err

    assert compiled()
    time.sleep(0.01)
    assert not compiled()
    (unit.source.parent / "value.h").write_text("#define VALUE 2\n")
    assert compiled(), "a header that the source includes has changed"
    assert not compiled()
    changed = toolchain.Unit(unit.source, ("-std=c++17", "-DX"), unit.label)
    assert tools.compile({"test": [changed]}) != tools.compile({"test": [unit]})


@pytest.fixture
def gcc():
    if shutil.which("g++") is None or not precompiled.is_plain_gcc(["g++"]):
        pytest.skip("needs GCC under its name g++")
    return toolchain.Toolchain(cxx=["g++"])


def test_many_units_share_precompiled_headers(unit, gcc, tmp_path):
    """A cache in front of the compiler goes without: it looks at preprocessed text."""
    tools = gcc
    units = [
        toolchain.Unit(unit.source, (*unit.flags, f"-DPART={part}"), f"{part}.cpp")
        for part in range(toolchain.WORTH_PRECOMPILING)
    ]
    objects = [path.read_bytes() for path in tools.compile({"test": units})["test"]]
    assert len(list((tmp_path / "build").rglob("*.gch"))) == 1
    with ThreadPoolExecutor(1) as pool:
        assert tools.precompiled(units[1:], tmp_path, pool) == {}
        cached = toolchain.Toolchain(cxx=["ccache", "g++"])
        assert cached.precompiled(units, tmp_path, pool) == {}
    alone = [tools.compile({"test": [one]})["test"][0] for one in units]
    for path in alone:
        path.unlink()
    assert [tools.compile({"test": [one]})["test"][0].read_bytes() for one in units] == objects


def test_parts_share_one_queue_and_units_may_go_without_precompiled_headers(unit, gcc, tmp_path):
    units = [
        toolchain.Unit(unit.source, (*unit.flags, f"-DPART={part}"), f"{part}.cpp", "")
        for part in range(toolchain.WORTH_PRECOMPILING)
    ]
    made = gcc.compile({"first": units[:1], "second": units[1:], "third": [unit]})
    assert [path.name.partition(".")[0] for path in made["second"]] == [
        str(part) for part in range(1, toolchain.WORTH_PRECOMPILING)
    ]
    assert [len(made[part]) for part in ("first", "third")] == [1, 1]
    assert all(path.is_file() for objects in made.values() for path in objects)
    assert [len(entries) for entries in gcc.commands.values()] == [1, len(units) - 1, 1]
    assert not list((tmp_path / "build").rglob("*.gch"))


def test_a_source_saved_while_the_compiler_runs_is_compiled_again(unit, monkeypatch, capsys):
    tools = toolchain.Toolchain()
    compiler = toolchain.run

    def slow(command, what):
        text = compiler(command, what)
        unit.source.write_text("int value() { return 3; }\n")
        return text

    with monkeypatch.context() as patch:
        patch.setattr(toolchain, "run", slow)
        tools.compile({"test": [unit]})
    capsys.readouterr()
    tools.compile({"test": [unit]})
    assert "up to date" not in capsys.readouterr().err


def test_compile_error_shows_the_compiler_s_words(unit):
    unit.source.write_text("int broken(\n")
    with pytest.raises(toolchain.BuildError, match=r"compile unit.cpp failed[\s\S]*error:"):
        toolchain.Toolchain().compile({"test": [unit]})


def test_flags_a_source_asks_for(unit):
    unit.source.write_text("// build flags: -DVALUE=3 -O1\n" + unit.source.read_text())
    assert toolchain.own_flags(unit.source) == ["-DVALUE=3", "-O1"]


def test_commands_for_editors_name_every_source_that_was_compiled():
    entries = json.loads((ROOT / "compile_commands.json").read_text())
    sources = {entry["file"] for entry in entries}
    assert {str(path) for path in (ROOT / "aclnn_py/emulator/src").rglob("*.cpp")} <= sources
    assert str(ROOT / "aclnn_py/_ffi/allocator.c") in sources
    for entry in entries:
        assert entry["arguments"][-4:] == ["-c", entry["file"], "-o", entry["output"]]


@pytest.fixture
def step(tmp_path, monkeypatch):
    monkeypatch.setattr(generation, "BUILD", tmp_path / "build")
    monkeypatch.setattr(generation, "ROOT", tmp_path)
    (tmp_path / "made.c").write_text("int made;\n")
    monkeypatch.setattr(generation, "inputs_digest", lambda: "one")
    return generation.Step("made")


def test_a_step_is_done_until_its_inputs_or_outputs_change(step, tmp_path, monkeypatch):
    assert not step.is_done()
    step.done([tmp_path / "made.c"])
    assert step.is_done()
    with monkeypatch.context() as patch:
        patch.setattr(generation, "inputs_digest", lambda: "two")
        assert not step.is_done()
    (tmp_path / "made.c").unlink()
    assert not step.is_done(), "what it made is gone"


def test_c_program_links_against_cann_s_names(tmp_path):
    source = tmp_path / "program.c"
    source.write_text(
        '#include "acl/acl.h"\n#include "aclnnop/aclnn_add.h"\n#include "hccl/hccl.h"\n'
        "#include <stdio.h>\nint main(void) { uint32_t n = 0; int a = aclInit(0);\n"
        "int b = aclrtGetDeviceCount(&n); uint64_t size; aclOpExecutor *e;\n"
        "int c = aclnnAddGetWorkspaceSize(0, 0, 0, 0, &size, &e);\n"
        'printf("%d %d %d %d\\n", a, b, n > 0, c); return aclFinalize(); }\n'
    )
    program = tmp_path / "program"
    libraries = ["-lascendcl", "-lnnopbase", "-lopapi"]
    command = [*toolchain.Toolchain().cc, str(source), f"-I{ROOT / 'aclnn_py/include'}", f"-L{LIB}"]
    subprocess.run(
        [*command, *libraries, f"-Wl,-rpath,{LIB}", "-Wl,-z,now", "-o", str(program)], check=True
    )
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "0", "1", "161001"]


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    pytest.importorskip("setuptools", minversion="77", reason="the build backend's own dependency")
    folder = tmp_path_factory.mktemp("sdist")
    done = run("-c", f"import build_ffi; print(build_ffi.build_sdist({str(folder)!r}))")
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.split()[-1]


def test_a_wheel_is_packed_without_the_files_of_an_earlier_one(tmp_path, monkeypatch):
    setuptools = pytest.importorskip("setuptools", reason="the build backend's own dependency")

    class Compiled(setuptools.Distribution):
        def has_ext_modules(self):
            return True

    command = Compiled().get_command_obj("build")
    command.ensure_finalized()
    packed = tmp_path / Path(command.build_lib).name / "aclnn_py" / "gone.py"
    objects = tmp_path / "obj" / "kept.o"
    for path in (packed, objects):
        path.parent.mkdir(parents=True)
        path.touch()
    monkeypatch.setattr(build_ffi, "BUILD", tmp_path)
    build_ffi.remove_packed_files()
    assert not packed.exists() and objects.exists()


def test_sdist_has_the_sources_and_nothing_compiled(sdist):
    with tarfile.open(sdist) as archive:
        names = {"/".join(Path(name).parts[1:]) for name in archive.getnames()}
    for wanted in (
        "build_ffi.py",
        "setup.py",
        "build_parts/binding.py",
        "include/acl/acl.h",
        "include/aclnnop/math.h",
        "aclnn_py/ops.pyi",
        "aclnn_py/py.typed",
        "aclnn_py/_ffi/launch.c",
        "aclnn_py/_ffi/launch.h",
        "aclnn_py/facts/operators/math.json",
        "aclnn_py/emulator/src/core/stream.cpp",
        "aclnn_py/emulator/src/core/stream.h",
        "benchmarks/null_device.c",
    ):
        assert wanted in names, wanted
    assert not [n for n in names if n.endswith((".so", ".o", ".pyc"))]
    assert not [n for n in names if n.startswith(("aclnn_py/include/", "aclnn_py/lib/", "build/"))]


def test_sdist_holds_every_file_the_build_reads(sdist):
    with tarfile.open(sdist) as archive:
        names = {"/".join(Path(name).parts[1:]) for name in archive.getnames()}
    tracked = run("-c", "import subprocess; print(subprocess.run(['git', 'ls-files'], "
                  "capture_output=True, text=True).stdout)").stdout.split()  # fmt: skip
    needed = [
        name
        for name in tracked
        if name.startswith(("include/", "aclnn_py/", "build_parts/", "maintain/"))
        and not name.endswith((".gitignore", ".md"))
    ]
    assert [name for name in needed if name not in names and (ROOT / name).exists()] == []


@pytest.mark.parametrize(
    ("ranks", "mask"), [("0-8", 0x1FF), ("2", 0b100), ("", 0), ("1,3", 0b1010), ("0,4-5", 0b110001)]
)
def test_ranks_as_bits(ranks, mask):
    assert op_facts.rank_mask(ranks) == mask


def test_dtypes_as_bits():
    numbers = op_facts.dtype_numbers(ROOT / "include")
    assert op_facts.dtype_mask(["FLOAT", "FLOAT16", "BFLOAT16"], numbers) == 1 | 2 | 1 << 27
    assert op_facts.dtype_mask(["STRING_OF_NO_TYPE"], numbers) == 0
