# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py headers check|import`` against made-up CANN include trees."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import cffi
import pytest
from compiling import INCLUDE, Compile, known_fragments
from helpers.processes import run_script

from aclnn_py import facts
from aclnn_py._ffi.contract.headers import cdef_text
from aclnn_py.tools.headers import main
from aclnn_py.tools.headers_reader import MAX_FILE_NBYTES
from build_parts.forwarders import forwarder_texts
from build_parts.paths import write_tree

Edit = Callable[[str, str, str], None]


@pytest.fixture
def cann(tmp_path: Path) -> Path:
    """A tree as CANN installs it: its own const, per-operator headers, only some operators."""
    tree = tmp_path / "cann"
    for folder in ("acl", "aclnn", "hccl", "aclnn_py", "mstx"):
        shutil.copytree(INCLUDE / folder, tree / folder)
    write_tree(tmp_path / "all", forwarder_texts(INCLUDE, facts.operators()))
    (tree / "aclnnop" / "level2").mkdir(parents=True)
    names = (
        "aclnn_add.h",
        "aclnn_all_gather_matmul.h",
        "aclnn_cat.h",
        "aclnn_flash_attention_score.h",
    )
    for name in names:
        shutil.copy(tmp_path / "all" / "aclnnop" / name, tree / "aclnnop" / name)
    shutil.move(tree / "aclnnop" / "aclnn_cat.h", tree / "aclnnop" / "level2" / "aclnn_cat.h")
    return tree


@pytest.fixture
def edit(cann: Path) -> Edit:
    def change(name: str, old: str, new: str) -> None:
        path = cann / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


def run_check(cann: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    status = main(["check", str(cann), "--include", str(INCLUDE), "--compiler", "g++", *more])
    return status, capsys.readouterr().out


def test_an_equal_tree_agrees(cann: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out = run_check(cann, capsys)
    assert status == 0
    assert out.startswith("0 differences; ")
    assert len(out.splitlines()) == 1


def test_const_is_no_difference(cann: Path, edit: Edit, capsys: pytest.CaptureFixture[str]) -> None:
    edit("acl/acl_rt.h", "Memcpy(void *dst, size_t", "Memcpy(void *const dst, size_t")
    edit("acl/acl_rt.h", "aclrtFree(void *devPtr)", "aclrtFree(const void *devPtr)")
    edit("aclnn/acl_meta.h", "const aclTensor *const *value", "aclTensor **value")
    assert run_check(cann, capsys)[0] == 0


def test_a_changed_enumerator(cann: Path, edit: Edit, capsys: pytest.CaptureFixture[str]) -> None:
    edit("acl/acl_base_rt.h", "ACL_BF16 = 27", "ACL_BF16 = 28")
    status, out = run_check(cann, capsys)
    assert status == 1
    assert re.search(r"different: acl/acl_base_rt.h: ACL_BF16: .*the contract says 27", out)
    assert "1 differences" in out


def test_a_changed_signature(cann: Path, edit: Edit, capsys: pytest.CaptureFixture[str]) -> None:
    edit("acl/acl_rt.h", "aclrtSetDevice(int32_t deviceId)", "aclrtSetDevice(int64_t deviceId)")
    edit(
        "aclnnop/aclnn_add.h", "const aclScalar *alpha, aclTensor *out", "double a, aclTensor *out"
    )
    status, out = run_check(cann, capsys)
    assert status == 1
    assert "different: acl/acl_rt.h: aclrtSetDevice: " in out
    assert "different: aclnnop/aclnn_add.h: aclnnAddGetWorkspaceSize: " in out
    assert "2 differences" in out


def test_a_changed_structure(cann: Path, edit: Edit, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = "    uint32_t id;\n", "    aclrtMemLocationType type;\n"
    edit("acl/acl_rt.h", first + second, second + first)
    edit("acl/acl_rt.h", "    char bytes[16];", "    char bytes[24];")
    status, out = run_check(cann, capsys)
    assert status == 1
    assert "offset of aclrtMemLocation.type" in out
    assert "offset of aclrtMemLocation.id" in out
    assert "size of aclrtUuid" in out
    assert "3 differences" in out


def test_an_older_tree_has_less_and_that_is_no_fault(
    cann: Path, edit: Edit, capsys: pytest.CaptureFixture[str]
) -> None:
    edit("acl/acl_rt.h", "aclrtLaunchHostFunc(", "aclrtMadeUpHostFunc(")
    edit("acl/acl_base_rt.h", "    ACL_FLOAT4_E1M2 = 41", "    ACL_LAST_MADE_UP = 40")
    (cann / "acl" / "acl_platform.h").unlink()
    status, out = run_check(cann, capsys, "--verbose")
    assert status == 0
    for line in (
        "absent: acl/acl_rt.h: aclrtLaunchHostFunc: ",
        "absent: acl/acl_base_rt.h: ACL_FLOAT4_E1M2: ",
        "absent: acl/acl_platform.h: header: ",
        "absent: aclnnop/math.h: aclnnMul: ",
    ):
        assert line in out


def test_declarations_are_found_in_their_former_header(
    cann: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = (cann / "acl" / "acl_base_rt.h").read_text()
    new = (cann / "acl" / "acl_base_mdl.h").read_text()
    new = new.replace('#include "acl/acl_base_rt.h"\n', "")
    (cann / "acl" / "acl_base.h").write_text(old.replace("ACL_INT4 = 29", "ACL_INT4 = 77") + new)
    for name in ("acl_base_rt.h", "acl_base_mdl.h"):
        (cann / "acl" / name).unlink()
    for path in [*cann.rglob("*.h")]:
        text = re.sub(r'"acl/acl_base_(rt|mdl)\.h"', '"acl/acl_base.h"', path.read_text())
        path.write_text(text)
    status, out = run_check(cann, capsys)
    assert status == 1
    assert "different: acl/acl_base.h: ACL_INT4: " in out
    assert "1 differences" in out


def test_a_header_that_does_not_compile(
    cann: Path, edit: Edit, capsys: pytest.CaptureFixture[str]
) -> None:
    include = '#include "acl/acl_base.h"'
    edit("acl/acl_prof.h", include, f'{include}\n#include "gone.h"')
    status, out = run_check(cann, capsys)
    assert status == 1
    assert re.search(r"broken: acl/acl_prof.h: .*gone.h", out)


def test_wrong_calls(cann: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path / "nowhere"), "--include", str(INCLUDE)]) == 2
    assert "no such folder" in capsys.readouterr().err
    command = ["check", str(cann), "--include", str(INCLUDE), "--compiler", "no-such-compiler"]
    assert main(command) == 2
    assert "no-such-compiler" in capsys.readouterr().err
    assert main(["import", str(tmp_path / "nowhere"), "--include", str(INCLUDE)]) == 2


NEW_HEADER = """
#ifndef OP_API_INC_MADE_UP_H_
#define OP_API_INC_MADE_UP_H_
#include "aclnn/aclnn_base.h"
#ifdef __cplusplus
extern "C" {
#endif
/**
 * @brief made up
 * @param [in] self: a tensor
 * @param [in] alphaOptional: may be null
 * @param [out] result: a tensor
 * @param [in,out] cache: a tensor
 */
__attribute__((visibility("default"))) aclnnStatus aclnnSwiGluV9GetWorkspaceSize(
    const aclTensor* self, const aclTensorList *others, double eps, // the rest
    const aclTensor *alphaOptional, char* layout, const aclTensor *cache,
    const aclTensor *result, uint64_t* workspaceSize, aclOpExecutor** executor = nullptr);
__attribute__((visibility("default"))) aclnnStatus aclnnSwiGluV9(
    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, const aclrtStream stream);
aclnnStatus aclnnBrandNewGetWorkspaceSize(const aclTensor *x, aclTensor *stateRef,
    const aclTensor *yOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnOddGetWorkspaceSize(const aclTensor *x, struct Odd *odd,
    uint64_t *workspaceSize, aclOpExecutor **executor);
#ifdef __cplusplus
}
#endif
#endif
"""


def run_import(cann: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["import", str(cann), "--include", str(INCLUDE)]) == 0
    return capsys.readouterr().out


def test_import_has_nothing_to_say_of_a_known_tree(
    cann: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_import(cann, capsys) == ""


def test_import_proposes_new_operators(
    cann: Path, compile_text: Compile, capsys: pytest.CaptureFixture[str]
) -> None:
    (cann / "aclnnop" / "aclnn_made_up.h").write_text(NEW_HEADER)
    out = run_import(cann, capsys)
    assert (
        "aclnnStatus aclnnSwiGluV9GetWorkspaceSize(const aclTensor *self, "
        "const aclTensorList *others, double eps, const aclTensor *alphaOptional, "
        "const char *layout, aclTensor *cacheRef, aclTensor *result, "
        "uint64_t *workspaceSize, aclOpExecutor **executor);"
    ) in out
    assert (
        "aclnnStatus aclnnBrandNewGetWorkspaceSize(const aclTensor *x, aclTensor *stateRef, "
        "aclTensor *yOut, uint64_t *workspaceSize, aclOpExecutor **executor);"
    ) in out
    assert "For include/aclnnop/activation.h" in out
    assert "For a family header of your choice" in out
    assert "aclnnOdd (aclnnop/aclnn_made_up.h) is left out: " in out
    assert "parameter odd has type 'struct Odd *', which no operator parameter can have" in out

    rows = dict(
        pair
        for line in out.splitlines()
        if line.startswith('"aclnn')
        for pair in json.loads("{" + line + "}").items()
    )
    assert rows.keys() == {"aclnnSwiGluV9", "aclnnBrandNew"}
    row = rows["aclnnSwiGluV9"]
    assert "For aclnn_py/facts/operators/activation.json" in out
    assert "For aclnn_py/facts/operators/FAMILY.json" in out
    assert (row["header"], row["since"]) == ("aclnn_made_up.h", "later")
    assert row["cann"]["cacheRef"] == "const aclTensor *cache"
    assert row["cann"]["layout"] == "char *layout"
    assert "self" not in row["cann"]

    fragment = '#include "aclnn/aclnn_base.h"\n#include "aclnn_py/c_begin.h"\n' + out
    fragment += '#include "aclnn_py/c_end.h"\n'
    for language in ("c11", "c++17"):
        assert compile_text(language, fragment, INCLUDE) == ""
    ffi = cffi.FFI()
    ffi.cdef("".join(cdef_text(path.read_text()) for path in known_fragments()))
    ffi.cdef(cdef_text(out))


def test_a_new_operator_is_no_difference(cann: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (cann / "aclnnop" / "aclnn_made_up.h").write_text(NEW_HEADER)
    assert run_check(cann, capsys)[0] == 0


# Each would take minutes if the time grew with the square of the length.
LONG = {
    "open prototypes": "aclnnAGetWorkspaceSize(" * 40_000,
    "open comments": "/*" * 400_000,
    "comments and prototypes": "/* @param [in] x */ aclnnAGetWorkspaceSize(x) " * 20_000,
    "blanks in a comment": f"/* @param [in] {' ' * 900_000} */ int aclnnAGetWorkspaceSize(int a);",
    "one name": "aclnn" * 200_000 + "GetWorkspaceSize(int a);",
    "one string": '\\"' * 400_000,
    "blanks in a line": f"{' ' * 900_000}x{' ' * 900_000}#define A 1\n",
    "one parameter": f"int aclnnAGetWorkspaceSize({'a' * 900_000}!);",
    "many parameters": f"int aclnnAGetWorkspaceSize({'int a,' * 150_000} int b);",
    "many operators": "".join(
        f"/** @param [in] x */\nint aclnnNew{n}GetWorkspaceSize(const aclTensor *x, "
        "uint64_t *workspaceSize, aclOpExecutor **executor);\n"
        for n in range(8_000)
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_time_grows_with_the_length_of_a_header(name: str, tmp_path: Path) -> None:
    (tmp_path / "aclnnop").mkdir()
    (tmp_path / "aclnnop" / "aclnn_long.h").write_text(LONG[name])
    source = "import sys; from aclnn_py.tools.headers import main; sys.exit(main(sys.argv[1:]))"
    done = run_script(source, "import", str(tmp_path), "--include", str(INCLUDE)).check()
    assert done.out.count("For a family header of your choice") == (
        8_000 if name == "many operators" else 0
    )


def test_a_header_that_is_none_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "aclnnop"
    folder.mkdir()
    header = folder / "aclnn_new.h"
    for make, words in (
        (lambda: header.mkdir(), "aclnn_new.h"),
        (lambda: os.mkfifo(header), "not a regular file"),
        (lambda: header.symlink_to("/dev/zero"), "not a regular file"),
        (lambda: header.write_bytes(b" " * (MAX_FILE_NBYTES + 1)), "which no header has"),
    ):
        make()
        assert main(["import", str(tmp_path), "--include", str(INCLUDE)]) == 2
        text = capsys.readouterr().err
        assert text.startswith("aclnn-py headers: ") and words in text, text
        header.rmdir() if header.is_dir() and not header.is_symlink() else header.unlink()


def test_the_name_of_a_header_does_not_reach_a_source(
    cann: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, name in enumerate(("x*\nint pwned;", 'x"\n#error "', "x\\", "ü")):
        text = NEW_HEADER.replace("BrandNew", f"BrandNew{number}")
        (cann / "aclnnop" / f"{name}.h").write_text(text)
    assert run_import(cann, capsys) == ""
    assert run_check(cann, capsys)[0] == 0


def test_what_a_header_says_stays_in_its_comment(
    cann: Path, compile_text: Compile, capsys: pytest.CaptureFixture[str]
) -> None:
    tail = "uint64_t *workspaceSize, aclOpExecutor **executor);"
    (cann / "aclnnop" / "aclnn_new.h").write_text(
        f"int aclnnOneGetWorkspaceSize(const aclTensor *x, int * // *\n /y, {tail}\n"
        f"int aclnnTwoGetWorkspaceSize(const aclTensor *x, Evil\\??/ * z, {tail}\n"
        f"int aclnnÜGetWorkspaceSize(const aclTensor *x, {tail}\n"
        f"int aclnnTriGetWorkspaceSize(int *\\\n/ #error\n *x, {tail}\n"
    )
    out = run_import(cann, capsys)
    assert out.count("is left out") == 3 and out.isascii()
    assert all(line.startswith("/*") and line.endswith("*/") for line in out.splitlines() if line)
    for language in ("c11", "c++17"):
        assert compile_text(language, f"{out}extern int one;\n", INCLUDE) == ""
