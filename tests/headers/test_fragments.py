# SPDX-License-Identifier: Apache-2.0
"""One text is C11, C++17 and cffi cdef."""

from __future__ import annotations

import re
from pathlib import Path

import cffi
import pytest
from compiling import INCLUDE, Compile, known_fragments
from helpers.each import each

from aclnn_py import facts
from aclnn_py._ffi.contract.headers import cdef_text, fragments
from aclnn_py._ffi.contract.reader import Header, read_file, without_comments

NAMES = sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*.h"))
FRAGMENTS = [path.relative_to(INCLUDE).as_posix() for path in known_fragments()]
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
def declared() -> Header:
    whole = Header({}, {}, {})
    for path in known_fragments():
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


DIRECTIVE = re.compile(
    r"#(ifndef \w+|define \w+( -?\w+)?|endif( /\* \w+ \*/)?|include [<\"][\w/.]+[>\"])"
)


def test_fragment_has_only_the_agreed_lines() -> None:
    def judge(name: str) -> None:
        text = (INCLUDE / name).read_text(encoding="utf-8")
        assert text.startswith("/* SPDX-License-Identifier: Apache-2.0 */\n")
        assert text.isascii()
        for line in text.splitlines():
            if line.startswith("#"):
                assert DIRECTIVE.fullmatch(line), line
        plain = without_comments(text)
        assert not re.search(r"\b(inline|extern|static|template|class|namespace)\b", plain)
        assert not re.search(r"\)\s*\{", plain), "no function has a body"

    each(FRAGMENTS, judge)


def test_cffi_reads_the_whole_text(declared: Header) -> None:
    ffi = cffi.FFI()
    ffi.cdef("".join(cdef_text(path.read_text()) for path in known_fragments()))
    assert ffi.sizeof("HcclCommConfig") == 300
    assert ffi.sizeof("aclrtRandomNumTaskInfo") % 8 == 0
    library = ffi.dlopen(None)
    for name, value in declared.constants.items():
        assert getattr(library, name) == value


def test_fragments_come_after_those_they_include() -> None:
    place = {name: index for index, name in enumerate(FRAGMENTS)}
    for name in place:
        for other in re.findall(r'#include "([^"]+)"', (INCLUDE / name).read_text()):
            if other in place:
                assert place[other] < place[name], f"{name} includes {other}"


def test_a_circle_of_includes_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#include "b.h"\n')
    (tmp_path / "b.h").write_text('#include "a.h"\n')
    with pytest.raises(ValueError, match=r"a\.h -> b\.h -> a\.h"):
        fragments(tmp_path)


def test_compiler_only_headers_are_no_fragments() -> None:
    assert "hccl/hccl_config_init.h" in NAMES
    assert "hccl/hccl_config_init.h" not in FRAGMENTS


def test_cdef_text_keeps_integer_macros_only() -> None:
    text = '#ifndef G\n#define G\n#include "x.h"\n#define ONE (1)\n#define NAME "s"\nint f(void);\n'
    assert cdef_text(text) == "#define ONE 1\nint f(void);\n"


def test_the_surface_is_complete(declared: Header) -> None:
    phases = {f"{name}{end}" for name in facts.operators() for end in ("", "GetWorkspaceSize")}
    assert phases <= set(declared.functions)
    assert len(set(declared.functions) - phases) >= 880, "functions besides operators"
    assert not LEFT_OUT & set(declared.functions)
    for name in (
        *("aclInit", "aclrtMalloc", "aclrtLaunchHostFunc", "aclmdlRICaptureBegin", "aclrtMapMem"),
        *("aclGetRecentErrMsg", "aclsysGetVersionStr", "aclprofMarkEx", "mstxRangeStartA"),
        *("aclCreateTensor", "aclSetDynamicInputTensorAddr", "AclSetTensorAddr", "aclnnInit"),
        *("HcclCommInitRootInfoConfig", "HcclAlltoAllVC", "HcclGetCommName", "HcclGroupStart"),
    ):
        assert name in declared.functions
