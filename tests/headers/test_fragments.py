# SPDX-License-Identifier: Apache-2.0
"""One text is C11, C++17 and cffi cdef."""

from __future__ import annotations

import re
from pathlib import Path

import cffi
import pytest
from compiling import INCLUDE, Compile

from aclnn_py.facts import fragments
from aclnn_py.facts.declarations import Declarations, read_declarations, read_file

NAMES = sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*.h"))
FRAGMENTS = [path.relative_to(INCLUDE).as_posix() for path in fragments.ordered_headers(INCLUDE)]
BRACKETS = {"aclnn_py/c_begin.h", "aclnn_py/c_end.h"}
# Functions whose types CANN keeps to itself or has in two versions of different size.
LEFT_OUT = {
    "HcclSubTeamCreate",
    "HcclTeamChannelsCreate",
    "HcclTeamDestroy",
    "HcclTeamWindowDeregister",
    "HcclTeamWindowRegister",
    "HcclWorldTeamCreate",
    "aclmdlLoadFromModel",
    "aclrtLaunchSIMTKernelWithArgsArray",
    "aclrtLaunchSIMTKernelWithHostArgs",
}


@pytest.fixture(scope="module")
def declared() -> Declarations:
    whole = Declarations()
    for path in fragments.ordered_headers(INCLUDE):
        one = read_file(path)
        whole.functions.update(one.functions)
        whole.constants.update(one.constants)
        whole.structures.update(one.structures)
    return whole


@pytest.mark.parametrize("language", ["c11", "c++17"])
@pytest.mark.parametrize("name", [name for name in NAMES if name not in BRACKETS])
def test_each_header_stands_alone(compile_text: Compile, language: str, name: str) -> None:
    text = f'#include "{name}"\n#include "{name}"\nint main(void) {{ return 0; }}\n'
    assert compile_text(language, text, INCLUDE) == ""


@pytest.mark.parametrize("language", ["c11", "c++17"])
@pytest.mark.parametrize("order", [1, -1])
def test_all_headers_together(compile_text: Compile, language: str, order: int) -> None:
    lines = [f'#include "{name}"' for name in NAMES if name not in BRACKETS][::order]
    text = "\n".join([*lines, "int main(void) { return 0; }", ""])
    assert compile_text(language, text, INCLUDE) == ""


def test_a_broken_header_is_noticed(compile_text: Compile, tmp_path: Path) -> None:
    (tmp_path / "broken.h").write_text("aclError aclrtUnheardOf(NoSuchType x);\n")
    text = '#include "acl/acl.h"\n#include "broken.h"\nint main(void) { return 0; }\n'
    for language in ("c11", "c++17"):
        assert "NoSuchType" in compile_text(language, text, INCLUDE, tmp_path)


@pytest.mark.parametrize("name", FRAGMENTS)
def test_fragment_has_only_the_agreed_lines(name: str) -> None:
    text = (INCLUDE / name).read_text(encoding="utf-8")
    assert text.startswith("/* SPDX-License-Identifier: Apache-2.0 */\n")
    assert text.isascii()
    for line in text.splitlines():
        if line.startswith("#"):
            assert re.fullmatch(
                r"#(ifndef \w+|define \w+( -?\w+)?|endif( /\* \w+ \*/)?|include [<\"][\w/.]+[>\"])",
                line,
            ), line
    plain = fragments.without_comments(text)
    assert not re.search(r"\b(inline|extern|static|template|class|namespace)\b", plain)
    assert not re.search(r"\)\s*\{", plain), "no function has a body"


def test_cffi_reads_the_whole_text(declared: Declarations) -> None:
    ffi = cffi.FFI()
    ffi.cdef("".join(text for _, text in fragments.read_fragments(INCLUDE)))
    assert ffi.sizeof("HcclCommConfig") == 300
    assert ffi.sizeof("aclrtRandomNumTaskInfo") % 8 == 0
    library = ffi.dlopen(None)
    for name, value in declared.constants.items():
        assert getattr(library, name) == value


def test_fragments_come_after_those_they_include() -> None:
    place = {name: index for index, (name, _) in enumerate(fragments.read_fragments(INCLUDE))}
    for name in place:
        for other in re.findall(r'#include "([^"]+)"', (INCLUDE / name).read_text()):
            if other in place:
                assert place[other] < place[name], f"{name} includes {other}"


def test_a_circle_of_includes_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#include "b.h"\n')
    (tmp_path / "b.h").write_text('#include "a.h"\n')
    with pytest.raises(ValueError, match=r"a\.h -> b\.h -> a\.h"):
        fragments.read_fragments(tmp_path)


def test_compiler_only_headers_are_no_fragments() -> None:
    assert "hccl/hccl_config_init.h" in NAMES
    assert "hccl/hccl_config_init.h" not in FRAGMENTS


def test_cdef_text_keeps_integer_macros_only() -> None:
    text = '#ifndef G\n#define G\n#include "x.h"\n#define ONE (1)\n#define NAME "s"\nint f(void);\n'
    assert fragments.cdef_text(text) == "#define ONE 1\nint f(void);\n"


def test_the_surface_is_complete(declared: Declarations) -> None:
    runtime = {name for name in declared.functions if not name.startswith("aclnn")}
    # both phases of the two transforms that are not named aclnn are counted here
    assert len(runtime) == 868 + 4
    # initialization, host calls of the operator library, both phases of every operator
    assert len(declared.functions) == 868 + 4 + 2 + 10 + 2 * 1223
    assert not LEFT_OUT & set(declared.functions)
    for name in (
        *("aclInit", "aclrtMalloc", "aclrtLaunchHostFunc", "aclmdlRICaptureBegin", "aclrtMapMem"),
        *("aclGetRecentErrMsg", "aclsysGetVersionStr", "aclprofMarkEx", "mstxRangeStartA"),
        *("aclCreateTensor", "aclSetDynamicInputTensorAddr", "AclSetTensorAddr", "aclnnInit"),
        *("HcclCommInitRootInfoConfig", "HcclAlltoAllVC", "HcclGetCommName", "HcclGroupStart"),
    ):
        assert name in declared.functions


def test_reader_of_declarations() -> None:
    found = read_declarations(
        "#define LIMIT 0x10U\n/* int hidden(void); */\n"
        "typedef enum Kind { A = -1, B = 7 } Kind;\n"
        "typedef struct Thing {\n    int64_t a[3];\n    union {\n        void *b;\n"
        "        Kind c;\n    };\n    union {\n        int d;\n    } e;\n} Thing;\n"
        "typedef void (*Call)(int x);\nint f(Thing *t,\n      Call c);\nconst char *g(void);\n"
    )
    assert found.constants == {"LIMIT": 16, "A": -1, "B": 7}
    assert found.structures == {"Thing": ["a", "b", "c", "e"]}
    assert found.functions == {
        "f": "int f(Thing *t, Call c);",
        "g": "const char *g(void);",
    }
