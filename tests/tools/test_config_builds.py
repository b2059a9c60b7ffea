# SPDX-License-Identifier: Apache-2.0
"""Builds that are told where the package is, without a tree of CANN."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aclnn_py.tools import config

PROGRAM = """\
#include <math.h>

#include <cstdio>

#include "acl/acl.h"
#include "aclnn_add.h"
#include "aclnnop/aclnn_mul.h"
#include "ms_tools_ext.h"
#include "opdev/fp16_t.h"
#include "securec.h"

int main() {
  char text[8];
  uint32_t count = 0;
  if (aclrtGetDeviceCount(&count) != 0 || count == 0) return 1;
  if (sprintf_s(text, sizeof text, "%g", sqrt(op::fp16_t(6.25f).toDouble())) != 3) return 2;
  const void *volatile used[] = {reinterpret_cast<const void *>(&aclnnAdd),
                                 reinterpret_cast<const void *>(&aclnnMul)};
  return std::puts(text) < 0 || used[0] == used[1];
}
"""

pytestmark = pytest.mark.emulator_only(reason="links against the emulator's library")


def output_of(words: list[str], folder: Path, **variables: str) -> str:
    done = subprocess.run(
        words,
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **variables},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    if shutil.which("c++") is None:
        pytest.skip("no c++")
    (tmp_path / "program.cpp").write_text(PROGRAM)
    return tmp_path


def test_flags_serve_every_spelling_of_a_header(project: Path) -> None:
    words = ["c++", "-std=c++17", "-Wall", *config.compiler_flags(), "program.cpp", "-o", "program"]
    output_of([*words, *config.linker_flags(), "-lc_sec"], project)
    assert output_of(["./program"], project) == "2.5\n"


def test_cmake_takes_the_package_by_its_directory(project: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    include = "${CANN_INCLUDE_DIRS}"
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(program CXX)\nset(CMAKE_CXX_STANDARD 17)\n"
        "find_package(CANN 8.1 REQUIRED)\nadd_executable(program program.cpp)\n"
        f"target_include_directories(program PRIVATE {include}/aclnn {include}/mstx\n"
        f"  {include}/aclnnop/level2)\n"
        "target_link_libraries(program PRIVATE CANN::CANN CANN::c_sec)\n"
    )
    output_of(["cmake", "-B", "build", f"-DCANN_DIR={config.cmake_directory()}"], project)
    output_of(["cmake", "--build", "build"], project)
    assert output_of(["build/program"], project) == "2.5\n"


def test_pkg_config_takes_the_package_by_its_directory(project: Path) -> None:
    if shutil.which("pkg-config") is None:
        pytest.skip("no pkg-config")
    place = str(config.pkg_config_directory())
    words = ["pkg-config", "--cflags", "--libs", "ascendcl", "opapi", "nnopbase"]
    flags = output_of(words, project, PKG_CONFIG_PATH=place).split()
    folder = Path(next(f for f in flags if f.startswith("-L"))[2:])
    assert folder.resolve() == config.libraries_directory()
    (project / "plain.cpp").write_text('#include "acl/acl.h"\nint main() { return aclInit(0); }\n')
    output_of(["c++", "plain.cpp", "-o", "plain", *flags], project)
    output_of(["./plain"], project, LD_LIBRARY_PATH=str(folder))


def test_a_place_with_blanks_serves_a_shell(project: Path) -> None:
    """One directory is a word as it is; flags are quoted, and the way to read them is told."""
    place = project / "two words $HOME (x)" / "aclnn_py"
    place.mkdir(parents=True)
    for name in ("include", "lib"):
        (place / name).symlink_to(Path(config.__file__).parent.parent / name)
    command = (
        "import pathlib, sys; from aclnn_py.tools import config;"
        f" config._package = lambda: pathlib.Path({str(place)!r});"
        " sys.exit(config.run(*sys.argv[1:]))"
    )
    tool = project / "aclnn-py"
    path = shlex.quote(str(Path(config.__file__).parents[2]))
    python = shlex.join([sys.executable, "-c", command])
    tool.write_text(f'#!/bin/sh\nshift\nPYTHONPATH={path} exec {python} "$@"\n')
    tool.chmod(0o755)
    variables = {"PATH": f"{project}:{os.environ['PATH']}"}
    directory = output_of(
        ["sh", "-c", 'cd "$(aclnn-py config lib-dir)" && pwd'], project, **variables
    )
    assert directory.strip() == str(place / "lib")
    told = subprocess.run(
        ["aclnn-py", "config", "cflags"],
        cwd=project, env={**os.environ, **variables}, capture_output=True, text=True, check=True,
    ).stderr  # fmt: skip
    assert 'let the shell read them: eval "c++ $(aclnn-py config --cflags) program.cpp' in told
    build = (
        'eval "c++ -std=c++17 $(aclnn-py config cflags) program.cpp $(aclnn-py config libs) -lc_sec'
        ' -o program"'
    )
    output_of(["sh", "-c", build], project, **variables)
    assert output_of(["./program"], project) == "2.5\n"


def test_answers_come_in_one_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert config.run("lib-dir", "include-dir") == 0
    places = (config.include_directory(), config.libraries_directory())
    assert capsys.readouterr().out == f"{places[0]} {places[1]}\n"


def test_no_question_names_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert config.run() == 2
    error = capsys.readouterr().err
    assert all(f"--{name}" in error for name in config.CHOICES)


def test_a_package_that_is_not_built_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(config, "_package", lambda: tmp_path)
    for name in config.CHOICES:
        assert config.run(name) == 1
        captured = capsys.readouterr()
        assert captured.out == "" and "install the package" in captured.err
