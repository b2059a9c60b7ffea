# SPDX-License-Identifier: Apache-2.0
"""Batches of the build: sources meet only where each name means what it means without the other."""

from __future__ import annotations

import ctypes
import time

import pytest

from build_parts import batches, toolchain
from build_parts.batches import ALONE, batched, own_names
from build_parts.emulator import EMULATOR_SOURCES, FOLDERS, units_of
from build_parts.toolchain import Toolchain, Unit

OWN_NAMES = """
#define STEP(NAME) \\
  step_##NAME
static int counted(int n) { return n; }
constexpr int kShown = 3;
int exported(int kParameter) {
  static int kept = kParameter;
  return kept;
}
namespace emu {
namespace {
enum Mode : int { kReduced = 0, kComplete };
enum class Scoped { kHidden };
using Row = std::vector<std::pair<Key, Value>>;
using other::Taken;
constexpr int64_t kFirst = sizeof(Other), kSecond = kShown + 1;
const char *const kNames[] = {
    "in", "out",
};
thread_local bool busy{false};
struct Problem : Base<Other> {
  int member = 0;
};
template <typename T, int N = 3>
std::vector<T> sizes_of(const std::vector<T> &argument,
                        int other) noexcept {
  int local = 0;
#if defined(SOMETHING)
  if (local) {
#else
  {
#endif
    return argument;
  }
}
class Sink final : public Base {
 public:
  void method();
};
int declared(int argument);
}  // namespace
Status check(const Problem &problem) {
  return 0;
}
}  // namespace emu
"""


def test_own_names_are_those_that_no_other_source_can_mean():
    assert own_names(OWN_NAMES.replace("// namespace emu", "").replace("// namespace", "")) == {
        *("STEP", "counted", "kShown", "Mode", "kReduced", "kComplete", "Scoped", "Row", "kFirst"),
        *("kSecond", "kNames", "busy", "Problem", "sizes_of", "Sink", "declared"),
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "GENERATED", tmp_path / "gen")
    monkeypatch.setattr(toolchain, "BUILD", tmp_path / "build")
    return tmp_path


def units_from(folder, **texts: str) -> list[Unit]:
    """A unit for each text; the keys are their names."""
    units = []
    for name, text in texts.items():
        path = folder / f"{name}.cpp"
        path.write_text(text)
        units.append(Unit(path, ("-fvisibility=default", f"-I{folder}"), f"part/{name}.cpp"))
    return units


def together(units: list[Unit], folder) -> list[str]:
    """Names of the sources of each unit, joined, sorted."""
    made = batched(units, [folder])
    return sorted("".join(path.stem for path in u.members or (u.source,)) for u in made)


def loaded(units: list[Unit], folder, tools: Toolchain) -> ctypes.CDLL:
    """The library of the one batch that they make."""
    objects = tools.compile({"test": batched(units, [folder])})["test"]
    assert len(objects) == 1
    library = folder / f"{time.monotonic_ns()}.so"
    toolchain.run([*tools.cxx, "-shared", str(objects[0]), "-o", str(library)], "link")
    return ctypes.CDLL(str(library))


def test_a_name_of_one_s_own_becomes_another_one(folder):
    own = "namespace {{\nint own() {{ return {}; }}\n}}\n"
    units = units_from(
        folder,
        a=own.format(1) + 'extern "C" int a() { return own(); }\n',
        b=own.format(2) + 'extern "C" int b() { return own(); }\n',
        c='int own();\nextern "C" int c() { return own(); }\n',
        d='// own\nint own() { return sizeof("own"); }\n',
    )
    library = loaded(units, folder, Toolchain())
    assert [library.a(), library.b(), library.c()] == [1, 2, 4]


def test_a_name_of_one_s_own_may_be_one_of_a_header_that_only_the_other_reads(folder):
    (folder / "inner.h").write_text(
        "#pragma once\ninline long scaled(double x) { return (long)x; }\n"
    )
    (folder / "outer.h").write_text('#include "inner.h"\n')
    own = "namespace {\nlong scaled(float x) { return (long)x + 1; }\n}\n"
    units = units_from(
        folder,
        a=f'{own}extern "C" long a() {{ return scaled(1.0); }}\n',
        b='#include "outer.h"\nextern "C" long b() { return scaled(1.0f); }\n',
        c='#include "inner.h"\nextern "C" long c() { return scaled(1.0f); }\n',
    )
    library = loaded(units, folder, Toolchain())
    assert [library.a(), library.b(), library.c()] == [2, 1, 1]


@pytest.mark.parametrize(
    "text",
    [
        '#include "named.h"\nnamespace {\nint own(float) { return 2; }\n}\n',
        "struct A { int own; };\nnamespace {\nint own(A a) { return a.own; }\n}\n",
        "namespace other { int own(); }\nnamespace {\nint own() { return other::own(); }\n}\n",
        "#define own() 1\n",
        '#if 1\n#include "other.h"\n#endif\nnamespace {\nint own() { return 2; }\n}\n',
    ],
    ids=["of a header", "of a member", "of a namespace", "macro", "conditional header"],
)
def test_a_name_that_more_than_the_source_has_keeps_others_away(folder, text):
    (folder / "named.h").write_text("#pragma once\ninline int own(int x) { return x; }\n")
    (folder / "other.h").write_text("#pragma once\n")
    units = units_from(
        folder, a=text, b="int own();\nint b() { return own(); }\n", c="int c() { return 1; }\n"
    )
    assert together(units, folder) == ["ac", "b"]


def test_sources_of_one_file_name_stay_apart(folder):
    """The names that they keep to themselves would become the same ones."""
    (folder / "more").mkdir()
    text = "namespace {{\nint own() {{ return 1; }}\n}}\nint {}() {{ return own(); }}\n"
    first = units_from(folder, a=text.format("a"))
    second = units_from(folder / "more", a=text.format("b"))
    assert together([*first, *second], folder) == ["a", "a"]


def test_a_member_is_no_name_of_a_source_but_for_the_preprocessor(folder):
    (folder / "box.h").write_text(
        "#pragma once\nstruct Box {\n  int run() const { return 2; }\n  int halt() const;\n};\n"
    )
    units = units_from(
        folder,
        a='#include "box.h"\nnamespace {\nint run() { return 1; }\n}\nint a() { return run(); }\n',
        b='#include "box.h"\nint b(const Box *x) { return x->run() + Box().halt(); }\n',
        c='#include "box.h"\nint c() { return 1; }\n#define halt() stop()\n',
    )
    assert together(units, folder) == ["ab", "c"]


def test_sources_of_other_flags_and_those_that_ask_for_it_stay_apart(folder):
    units = units_from(
        folder,
        a="int a() { return 1; }\n",
        b="// build flags: -O3\nint b() { return 1; }\n",
        c=f"{ALONE}it is special.\nint c() {{ return 1; }}\n",
        d="// build flags: -O3\nint d() { return 1; }\n",
    )
    kernel = Unit(units[0].source, units[0].flags, "kernel", headers="")
    defined = Unit(units[0].source, (*units[0].flags, "-DX"), "defined")
    assert together([*units, kernel, defined], folder) == ["a", "a", "a", "bd", "c"]
    (made,) = [unit for unit in batched(units, [folder]) if unit.members]
    assert toolchain.own_flags(made.source) == ["-O3"]


def test_a_batch_has_its_bytes(folder, monkeypatch):
    units = units_from(folder, a="int a;\n", b="int b;\n", c="int c;\n")
    monkeypatch.setattr(batches, "BATCH_BYTES", 14)
    assert together(units, folder) == ["ab", "c"]
    monkeypatch.setattr(batches, "BATCH_BYTES", 21)
    assert together(units, folder) == ["abc"]
    assert [path.name for path in (folder / "gen" / "batches").iterdir()] == ["part.a.cpp"]


def test_a_batch_is_compiled_as_its_sources_are(folder, capsys):
    units = units_from(
        folder,
        a='namespace {\nint first = 1;\n}\nextern "C" int a() { return first; }\n',
        b='namespace {\nint second = 2;\n}\nextern "C" int b() { return second; }\n',
    )
    tools = Toolchain()
    library = loaded(units, folder, tools)
    assert (library.a(), library.b()) == (1, 2)
    assert "[1/1] part/a.cpp+1" in capsys.readouterr().err
    assert [entry["file"] for entry in tools.commands["test"]] == [str(u.source) for u in units]
    for entry in tools.commands["test"]:
        assert entry["arguments"][-4:] == ["-c", entry["file"], "-o", entry["output"]]
    time.sleep(0.01)
    loaded(units, folder, tools)
    assert "up to date" in capsys.readouterr().err
    units[1].source.write_text(units[1].source.read_text().replace("2", "3"))
    assert loaded(units, folder, tools).b() == 3


def test_sources_that_work_on_threads_say_how_they_are_compiled():
    """Without a line `// build flags:` they would get -O1, and a benchmark would have to notice."""
    sources = sorted((EMULATOR_SOURCES / "ops").rglob("*.cpp"))
    loops = [path for path in sources if "parallel_for(" in path.read_text()]
    assert len(loops) > 100
    assert [path.name for path in loops if not toolchain.own_flags(path)] == []


def test_each_source_of_the_emulator_is_compiled_once(folder):
    units = [
        unit
        for source in sorted(EMULATOR_SOURCES.rglob("*.cpp"))
        for unit in units_of(source, empty_kernels=False)
    ]
    made = batched(units, FOLDERS)
    alone = [(unit.source, unit.flags) for unit in made if not unit.members]
    joined = [(path, unit.flags) for unit in made for path in unit.members]
    assert sorted(alone + joined) == sorted((unit.source, unit.flags) for unit in units)
    assert batched(units, FOLDERS) == made
    assert len(made) < len(units) / 4
    assert all(unit.bytes() <= batches.BATCH_BYTES for unit in made if unit.members)
