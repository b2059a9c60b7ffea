# SPDX-License-Identifier: Apache-2.0
"""The libraries under CANN's names: each has the functions of CANN's, and the linker says so."""

from __future__ import annotations

import functools
import itertools
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.native import LIB, ROOT

from aclnn_py import facts
from aclnn_py._ffi.contract.headers import fragments
from aclnn_py._ffi.contract.reader import read_file
from aclnn_py.facts import libraries
from aclnn_py.tools.cann.command import make_tree
from aclnn_py.tools.cann.versions import RELEASES, release_named
from build_parts.binding import first_release
from build_parts.elf import exported_names
from build_parts.libraries import DEVICE, WHOLE

pytestmark = pytest.mark.emulator_only(reason="looks into the emulator's libraries")

ALL = (*libraries.RELEASES, libraries.NEWEST)
# Lower-level names that no header has.
UNDECLARED = re.compile(r"rt[A-Z]\w+|Msprof\w+|hal\w+|drv\w+|\w+_s|mstxMem\w+")


@functools.cache
def declared() -> dict[str, str]:
    """The C functions of `include/` and the release that the header names, operators among them."""
    found: dict[str, str] = {}
    for path in fragments(ROOT / "include"):
        for name, function in read_file(path).functions.items():
            found[name] = first_release(function)
    return found


@functools.cache
def offered() -> frozenset[str]:
    return frozenset(exported_names(LIB / WHOLE))


@functools.cache
def table(release: str) -> dict[str, list[str]]:
    names = {name: declared().get(name, "") for name in offered()}
    return libraries.exports(release, names, facts.operators())


def file_of(library: str, release: str) -> Path:
    known = {str(path.relative_to(LIB)) for path in LIB.rglob("lib*.so")}
    found = libraries.file_of(library, release, known)
    assert found is not None, f"{release} has no file for {library}"
    return LIB / found


@pytest.mark.parametrize("release", ALL)
def test_each_library_has_what_the_table_says(release: str) -> None:
    for library in libraries.shipped(release):
        assert exported_names(file_of(library, release)) == table(release)[library], library


def test_every_declared_function_has_a_library() -> None:
    homes = libraries.exports(libraries.NEWEST, declared(), facts.operators())
    housed = {name for names in homes.values() for name in names}
    assert sorted(set(declared()) - housed) == []
    # Contributed operators are in packages of their own, which the emulator does not have.
    assert set(homes) - set(libraries.shipped(libraries.NEWEST)) == {"cust_opapi"}
    assert not set(homes["cust_opapi"]) & offered()


def test_nothing_is_offered_without_a_library() -> None:
    housed = {name for names in table(libraries.NEWEST).values() for name in names}
    assert sorted(offered() - housed) == []
    strangers = {name for name in offered() - set(declared()) if not UNDECLARED.fullmatch(name)}
    # Their headers are for compilers alone.
    assert {name for name in strangers if not name.startswith(("acl", "Hccl"))} == set()


def test_releases_have_what_they_brought() -> None:
    before = [set().union(*map(set, table(release).values())) for release in ALL]
    for older, newer in itertools.pairwise(before):
        assert older < newer
    assert "aclrtLaunchHostFunc" not in before[0] and "aclrtLaunchHostFunc" in before[1]
    assert [release.short for release in RELEASES] == list(libraries.RELEASES)


@pytest.mark.parametrize(
    ("release", "function", "homes"),
    [
        ("8.1", "aclrtMalloc", "ascendcl"),
        ("8.5", "aclrtMalloc", "acl_rt ascendcl"),
        ("8.1", "aclmdlLoadFromFile", "ascendcl"),
        ("9.0", "aclmdlLoadFromFile", "acl_mdl ascendcl"),
        ("8.1", "aclopCompile", "acl_op_compiler"),
        ("9.1", "aclCreateTensor", "nnopbase"),
        ("8.1", "aclnnAdd", "opapi aclnn_math"),
        ("8.1", "aclnnSoftmax", "opapi aclnn_ops_infer"),
        ("8.1", "aclnnSoftmaxBackward", "opapi aclnn_ops_train"),
        ("8.5", "aclnnAdd", "opapi opapi_math"),
        ("9.0", "aclnnMatmul", "opapi opapi_nn"),
        ("9.1", "aclnnFlashAttentionScore", "opapi opapi_transformer"),
        ("9.1", "aclnnGridSampler2D", "opapi opapi_cv"),
        ("8.1", "HcclGetRootInfo", "hccl"),
        ("8.5", "HcclGetRootInfo", "hcomm"),
        ("8.5", "HcclAllReduce", "hccl"),
        ("9.1", "aclprofInit", "msprofiler ascendcl"),
        ("9.1", "memcpy_s", "c_sec"),
    ],
)
def test_functions_are_where_cann_has_them(release: str, function: str, homes: str) -> None:
    found = {library for library, names in table(release).items() if function in names}
    assert found == set(homes.split())


SEES = """
import ctypes, sys
library, *names = sys.argv[1:]
handle = ctypes.CDLL(library)
print(*(name for name in names if hasattr(handle, name)))
process = ctypes.CDLL(None)
print(*(name for name in names if hasattr(process, name)))
"""
ASKED = ("aclrtMalloc", "aclCreateTensor", "aclnnAdd", "HcclAllReduce", "HcclGetRootInfo")


@pytest.mark.parametrize(
    ("library", "seen"),
    [
        ("acl_rt", {"aclrtMalloc"}),
        ("ascendcl", {"aclrtMalloc"}),
        # What a library needs is found through it, as with CANN.
        ("nnopbase", {"aclCreateTensor", "aclrtMalloc"}),
        ("opapi", {"aclnnAdd", "aclCreateTensor", "aclrtMalloc"}),
        ("opapi_math", {"aclnnAdd", "aclCreateTensor", "aclrtMalloc"}),
        ("opapi_cv", {"aclnnAdd", "aclCreateTensor", "aclrtMalloc"}),
        ("opapi_transformer", {"aclCreateTensor", "aclrtMalloc"}),
        ("hccl", {"HcclAllReduce", "HcclGetRootInfo", "aclrtMalloc"}),
        ("runtime", set()),
        ("aclnn_py_emulator", set(ASKED)),
        ("aclnn_py_emulator_device", set()),
    ],
)
def test_dlsym_sees_that_and_no_more(library: str, seen: set[str]) -> None:
    command = [sys.executable, "-c", SEES, str(LIB / f"lib{library}.so"), *ASKED]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240)
    through, in_process = done.stdout.split("\n")[:2]
    assert set(through.split()) == seen
    assert in_process == ""


ONE_DEVICE = """
import ctypes, sys
handles = [ctypes.CDLL(path) for path in sys.argv[1:]]
print(len({ctypes.cast(h.aclnn_py_emulator_contract, ctypes.c_void_p).value for h in handles}))
runtime = [h for h in handles if hasattr(h, "aclrtSetDevice")]
assert len(runtime) > 5
found = set()
for number, handle in enumerate(runtime):
    assert handle.aclrtSetDevice(number % 8) == 0
    device = ctypes.c_int32(-1)
    for other in runtime:
        assert other.aclrtGetDevice(ctypes.byref(device)) == 0 and device.value == number % 8
"""


def test_all_lead_to_one_device() -> None:
    paths = [str(LIB / name) for name in (DEVICE, WHOLE)]
    paths += [str(LIB / f"lib{name}.so") for name in libraries.shipped(libraries.NEWEST)]
    done = subprocess.run(
        [sys.executable, "-c", ONE_DEVICE, *paths], capture_output=True, text=True, timeout=240
    )
    assert (done.stdout, done.stderr) == ("1\n", "")


# What programs write, and the words with which the linker answers where CANN is installed.
PROGRAM = """\
#include <acl/acl.h>
#include <aclnnop/aclnn_add.h>
#include <hccl/hccl.h>
int main() {
  void *memory = nullptr;
  uint64_t size = 0;
  aclOpExecutor *executor = nullptr;
  HcclRootInfo root;
  aclrtMalloc(&memory, 16, ACL_MEM_MALLOC_HUGE_FIRST);
  aclCreateScalar(&size, ACL_UINT64);
  aclnnAddGetWorkspaceSize(nullptr, nullptr, nullptr, nullptr, &size, &executor);
  HcclGetRootInfo(&root);
  HcclBroadcast(memory, 1, HCCL_DATA_TYPE_INT8, 0, nullptr, nullptr);
  return 0;
}
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project(program CXX)
add_executable(program program.cpp)
target_include_directories(program PRIVATE $ENV{{ASCEND_TOOLKIT_HOME}}/include)
target_link_directories(program PRIVATE $ENV{{ASCEND_TOOLKIT_HOME}}/lib64)
target_link_libraries(program PRIVATE {libraries})
"""
MISSING = "DSO missing from command line"


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("trees")
    return {
        short: make_tree(folder / short, release_named(short)) for short in ("8.1", "8.5", "9.1")
    }


def build(tree: Path, names: str, folder: Path) -> subprocess.CompletedProcess[str]:
    for program in ("bash", "c++", "cmake"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program}")
    (folder / "program.cpp").write_text(PROGRAM)
    (folder / "CMakeLists.txt").write_text(CMAKE.format(libraries=names))
    script = (
        f"source {tree}/set_env.sh && cmake -B build > log && cmake --build build && build/program"
    )
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.mark.parametrize(
    ("release", "names"),
    [
        ("8.1", "ascendcl nnopbase opapi hccl"),
        ("8.1", "ascendcl nnopbase aclnn_math hccl"),
        ("8.5", "ascendcl nnopbase opapi hccl hcomm"),
        ("9.1", "acl_rt nnopbase opapi_math hccl hcomm"),
    ],
)
def test_a_right_project_builds_and_starts(
    release: str, names: str, trees: dict[str, Path], tmp_path: Path
) -> None:
    done = build(trees[release], names, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("release", "names", "words"),
    [
        ("8.1", "nnopbase opapi hccl", f"libascendcl.so: error adding symbols: {MISSING}"),
        ("8.1", "ascendcl opapi hccl", f"libnnopbase.so: error adding symbols: {MISSING}"),
        ("8.1", "ascendcl nnopbase hccl", "undefined reference to `aclnnAddGetWorkspaceSize'"),
        ("8.1", "ascendcl nnopbase opapi", "undefined reference to `HcclGetRootInfo'"),
        ("8.1", "ascendcl nnopbase opapi_math hccl", "cannot find -lopapi_math"),
        ("8.5", "hccl hcomm", f"libacl_rt.so: error adding symbols: {MISSING}"),
        ("8.5", "ascendcl nnopbase opapi hccl", f"libhcomm.so: error adding symbols: {MISSING}"),
        ("9.1", "acl_rt nnopbase aclnn_math hccl hcomm", "cannot find -laclnn_math"),
    ],
)
def test_a_wrong_project_fails_with_the_linker_s_words(
    release: str, names: str, words: str, trees: dict[str, Path], tmp_path: Path
) -> None:
    done = build(trees[release], names, tmp_path)
    assert done.returncode != 0
    assert words in done.stderr, done.stderr
