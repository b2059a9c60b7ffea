# SPDX-License-Identifier: Apache-2.0
"""Builds and programs for CANN in a tree that stands alone: no Python package is on their path."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.processes import environment

import aclnn_py
from aclnn_py._ffi import discovery
from aclnn_py.tools.cann.command import make_tree
from aclnn_py.tools.cann.versions import RELEASES, release_named

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
RUN = [sys.executable, "-m", "aclnn_py.tools.cli"]

pytestmark = pytest.mark.emulator_only(reason="the tree holds the emulator's library")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, as a container has it."""
    place = tmp_path_factory.mktemp("container") / "cann"
    return make_tree(place, release_named("8.5"), copy=True)


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """The samples' sources, in a directory that builds may write to."""
    shutil.copytree(SAMPLES / "cann", tmp_path / "samples" / "cann")
    shutil.copy(SAMPLES / "07_add.cpp", tmp_path / "samples")
    return tmp_path / "samples" / "cann"


def in_shell(tree: Path, script: str, folder: Path, *, succeeds: bool = True) -> str:
    """Run commands after `source set_env.sh` in an environment that has nothing else."""
    done = subprocess.run(
        ["bash", "-c", f"set -eu\nsource {tree / 'set_env.sh'}\n{script}"],
        cwd=folder,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (done.returncode == 0) == succeeds, done.stdout + done.stderr
    return done.stdout if succeeds else done.stderr


def needs(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"no {program}")


def test_a_cmake_program(tree: Path, samples: Path) -> None:
    needs("cmake", "c++", "readelf")
    out = in_shell(
        tree,
        "cmake -B build > log && cmake --build build >> log && ./build/add && readelf -d build/add",
        samples / "program",
    )
    assert "32 elements, largest error 0\nok\n" in out
    assert "python" not in out


def test_a_module_of_pybind11(tree: Path, samples: Path) -> None:
    pytest.importorskip("pybind11", reason="the module is written with pybind11")
    pytest.importorskip("setuptools", reason="setuptools builds the module")
    needs("c++")
    out = in_shell(
        tree,
        f"{sys.executable} setup.py -q build_ext --inplace 2> log || {{ cat log >&2; exit 1; }}\n"
        f"{sys.executable} -c 'import npu_cosine as m; print(m.cosine([0.0, 3.14159265]));"
        ' print({line.split()[-1] for line in open("/proc/self/maps") if "emulator" in line})\'',
        samples / "module",
    )
    values, library = out.splitlines()
    assert values == "[1.0, -1.0]"
    assert library == str({str(tree / "lib64" / "libaclnn_py_emulator_device.so")})


@pytest.mark.parametrize("sample", ["17_pyacl_memory", "18_pyacl_operator", "19_pyacl_streams"])
def test_a_script_of_pyacl(tree: Path, tmp_path: Path, sample: str) -> None:
    text = (SAMPLES / f"{sample}.py").read_text()
    assert "from aclnn_py import acl" in text
    (tmp_path / "script.py").write_text(text.replace("from aclnn_py import acl", "import acl"))
    out = in_shell(tree, f"{sys.executable} script.py", tmp_path)
    assert out.splitlines()[0] == "Ascend910B1" and out.splitlines()[-1] == "ok"


@pytest.mark.parametrize("copy", [False, True], ids=["linked", "copied"])
def test_modules_of_pyacl_are_imported_by_name(copy: bool, tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "cann", release_named("8.5"), copy=copy)
    (tmp_path / "script.py").write_text(
        "import acl.rt, acl\nfrom acl.util import bytes_to_ptr\nimport aclnn_py\n"
        "assert acl.rt is aclnn_py.acl.rt and acl.init() == 0\n"
        "print(aclnn_py.__file__, aclnn_py.library_info().kind)\n"
    )
    out = in_shell(tree, f"{sys.executable} script.py", tmp_path)
    # An installed package goes before the one of the tree.
    installed = "site-packages" in Path(aclnn_py.__file__).parts
    found = aclnn_py.__file__ if installed else f"{tree}/python/aclnn_py/aclnn_py/__init__.py"
    assert out == f"{found} emulator\n"


def test_a_plug_in_that_finds_operators_by_name(tree: Path, samples: Path) -> None:
    needs("cmake", "c++")
    build = "cmake -B build > log && cmake --build build >> log"
    out = in_shell(tree, f"{build} && ./build/framework build/libnpu.so", samples / "plugin")
    assert out == "device: Ascend910B1\n0 0 0 0.5 2 \n"


def test_an_extension_of_setuptools(tree: Path, tmp_path: Path) -> None:
    pytest.importorskip("setuptools", reason="setuptools builds the extension")
    needs("cc")
    (tmp_path / "setup.py").write_text(
        "import os\nfrom setuptools import Extension, setup\n"
        "home = os.environ['ASCEND_TOOLKIT_HOME'] + '/' + os.uname().machine + '-linux'\n"
        "setup(name='soc', ext_modules=[Extension('soc', ['soc.c'], include_dirs=[home +"
        " '/include'], library_dirs=[home + '/lib64'], libraries=['ascendcl'])])\n"
    )
    (tmp_path / "soc.c").write_text(
        '#include <Python.h>\n#include "acl/acl.h"\n'
        "static PyObject *name(PyObject *m, PyObject *a) {"
        " (void)m; (void)a; return PyUnicode_FromString(aclrtGetSocName()); }\n"
        'static PyMethodDef all[] = {{"name", name, METH_NOARGS, ""}, {0, 0, 0, 0}};\n'
        'static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "soc", "", -1, all, 0, 0, 0, 0};\n'
        "PyMODINIT_FUNC PyInit_soc(void) { return PyModule_Create(&def); }\n"
    )
    out = in_shell(
        tree,
        f"{sys.executable} setup.py -q build_ext --inplace > log 2>&1 || {{ cat log >&2; exit 1; }}"
        f"\n{sys.executable} -c 'import soc; print(soc.name())'",
        tmp_path,
    )
    assert out == "Ascend910B1\n"


def test_headers_bare_and_beside_the_c_librarys(tree: Path, tmp_path: Path) -> None:
    """With every directory of CANN on the include path, <math.h> is still the C library's."""
    needs("cc")
    (tmp_path / "a.c").write_text(
        '#include <math.h>\n#include "aclnn_add.h"\n#include <aclnnop/level2/aclnn_cos.h>\n'
        "#include <acl/acl.h>\n#include <hccl/hccl.h>\n#include <version/cann_version.h>\n"
        "static void *volatile used = (void *)aclnnAdd;\n"
        "int main(void) { return (int)sqrt(CANN_VERSION_NUM - 80500000.0) + (used == 0); }\n"
    )
    roots = ('"$ASCEND_HOME_PATH/include"', '"$ASCEND_OPP_PATH"/include/aclnnop')
    for first in roots:
        flags = " ".join(f"-I{root}" for root in (first, *roots))
        libraries = '-L"$NPU_HOST_LIB" -lopapi -lascendcl -lm'
        in_shell(tree, f"cc -Wall -Werror {flags} a.c -o a {libraries} && ./a", tmp_path)


def test_pkg_config(tree: Path, tmp_path: Path) -> None:
    needs("cc", "pkg-config")
    (tmp_path / "a.c").write_text('#include "acl/acl.h"\nint main(void) { return aclInit(0); }\n')
    script = "cc a.c -o a $(pkg-config --cflags --libs cann) && ./a && pkg-config --modversion hccl"
    assert in_shell(tree, script, tmp_path) == "8.5.0\n"


def test_cmake_says_which_library_or_release_is_missing(tree: Path, tmp_path: Path) -> None:
    needs("cmake")
    start = "cmake_minimum_required(VERSION 3.16)\nproject(a NONE)\n"
    for wanted, message in (
        ("CANN 9.0 REQUIRED", "version: 8.5.0"),
        ("CANN REQUIRED COMPONENTS nonsense", "libnonsense.so"),
    ):
        (tmp_path / "CMakeLists.txt").write_text(f"{start}find_package({wanted})\n")
        assert message in in_shell(tree, "rm -rf build && cmake -B build", tmp_path, succeeds=False)


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.short)
def test_files_and_library_name_the_release(release, tmp_path: Path) -> None:
    needs("cc")
    tree = make_tree(tmp_path / "cann", release)
    assert discovery.read_version(tree) == release.name
    for part in ("runtime", "opp", "toolkit", "compiler"):
        assert f"version_dir={release.name}\n" in (tree / part / "version.info").read_text()
    assert (tree / f"{platform.machine()}-linux/ascend_toolkit_install.info").is_file()
    question = (
        "aclCANNPackageVersion found; const char *text = found.version;\n"
        "  int number = CANN_VERSION_NUM;\n"
        "  if (aclsysGetCANNVersion(ACL_PKG_NAME_RUNTIME, &found)) return 1;\n"
    )
    if release.short != "8.1":  # which lacks the functions that took its place
        question = (
            "char text[ACL_PKG_VERSION_MAX_SIZE]; int number = 0;\n"
            '  if (aclsysGetVersionStr("runtime", text)) return 1;\n'
            '  if (aclsysGetVersionNum("runtime", &number)) return 2;\n'
        )
    (tmp_path / "a.c").write_text(
        '#include <stdio.h>\n#include "acl/acl.h"\n#include "version/cann_version.h"\n'
        f"int main(void) {{ {question}"
        '  printf("%s %d %s %d\\n", text, number, CANN_VERSION_STR, CANN_VERSION_NUM); }\n'
    )
    script = 'cc a.c -o a -I"$DDK_PATH/include" -L"$DDK_PATH/runtime/lib64/stub" -lascendcl && ./a'
    words = f"{release.name} {release.number}"
    assert in_shell(tree, script, tmp_path) == f"{words} {words}\n"


@pytest.mark.parametrize("shell", ["bash", "dash", "zsh"])
def test_set_env_in_other_shells_and_twice(shell: str, tree: Path) -> None:
    needs(shell)
    source = f". {tree}/set_env.sh"
    done = subprocess.run(
        [shell, "-c", f"set -eu; {source}; {source}; echo $ASCEND_OPP_PATH:$LD_LIBRARY_PATH"],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{tree}/opp:{tree}/lib64\n"


def test_run_gives_a_command_the_same_variables(tmp_path: Path) -> None:
    script = "import os; print(os.environ['ASCEND_HOME_PATH'], os.environ['LD_LIBRARY_PATH'])"
    done = subprocess.run(
        [*RUN, "cann", "--run", sys.executable, "-c", script],
        env=environment({"XDG_CACHE_HOME": str(tmp_path), "LD_LIBRARY_PATH": "/other"}),
        capture_output=True,
        text=True,
        check=True,
    )
    tree = tmp_path / "aclnn_py" / "cann-8.5.0"
    assert done.stdout == f"{tree} {tree}/lib64:/other\n"
    assert (tree / "set_env.sh").is_file()


def test_run_and_set_env_agree(tree: Path, tmp_path: Path) -> None:
    names = ("ASCEND", "TOOLCHAIN", "DDK", "NPU", "CMAKE", "PKG", "LD_", "PYTHON", "ACLNN", "PATH")
    sourced = in_shell(tree, "env", tmp_path).splitlines()
    done = subprocess.run(
        [*RUN, "cann", str(tree), "--copy", "--run", "env"],
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONPATH": environment()["PYTHONPATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    ours = done.stdout.replace(f":{environment()['PYTHONPATH']}", "").splitlines()
    assert sorted(line for line in sourced if line.startswith(names)) == sorted(
        line for line in ours if line.startswith(names)
    )


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ((), 2, "name a directory"),
        (("--run",), 2, "--run needs a command"),
        (("{}/x", "--run", "/no/such/program"), 127, "/no/such/program: No such file"),
        (("{}/x", "--run", "{}"), 126, "Permission denied"),
        (("{}",), 1, "is not empty"),
        (("{}/file/x",), 1, "Not a directory"),
        (("{}/x", "--release", "7.0"), 2, "invalid choice: '7.0'"),
    ],
)
def test_mistakes_are_named(
    words: tuple[str, ...], status: int, message: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("not ours")
    done = subprocess.run(
        [*RUN, "cann", *(word.format(tmp_path) for word in words)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (status, "")
    assert message in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "x") == ["file"]
