# SPDX-License-Identifier: Apache-2.0
"""Names of the runtime: each one a header declares exists, and what is not supported says so."""

from __future__ import annotations

import ctypes
import functools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from aclnn_py import facts
from aclnn_py._ffi.contract.headers import fragments
from aclnn_py._ffi.contract.reader import read_file

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
LIBRARY = ROOT / "aclnn_py" / "lib" / "libaclnn_py_emulator.so"
REFUSED = ROOT / "aclnn_py" / "emulator" / "src" / "runtime" / "unsupported.inc"
# Lower-level names that libraries linked with immediate binding ask for; no header has them.
UNDECLARED = ("rtLaunch", "rtKernelLaunch", "rtDevBinaryRegister", "rtDevBinaryUnRegister")
NOT_SUPPORTED = 207000
HCCL_NOT_SUPPORTED = 5
HCCN_FAILED = 2
# Headers in C++: what they declare has no C names (tests/emulator/test_opdev.py uses it).
CPLUSPLUS = "opdev"
PROTOTYPE = re.compile(r"^(?!typedef|static|return)\w[\w ]*[ *](\w+)\(", re.MULTILINE)

pytestmark = pytest.mark.emulator_only(reason="looks into the emulator's library")


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    loaded = ctypes.CDLL(str(LIBRARY))
    loaded.aclGetRecentErrMsg.restype = ctypes.c_char_p
    return loaded


@functools.cache
def known_fragments() -> frozenset[Path]:
    return frozenset(fragments(INCLUDE))


def declared(folder: str) -> set[str]:
    names: set[str] = set()
    for path in known_fragments():
        if path.parent.name == folder:
            names |= set(read_file(path).functions)
    return names


def functions_of(path: Path) -> set[str]:
    """The functions that a header declares, with those of headers for compilers alone."""
    if path in known_fragments():
        return set(read_file(path).functions)
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    without_macros = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.MULTILINE)
    # What has a body is inline.
    prototypes = "\n".join(re.findall(r"^[^{};]*;", without_macros, re.MULTILINE))
    return set(PROTOTYPE.findall(prototypes))


def refusals() -> list[tuple[str, str]]:
    """(kind of answer, name) of each function that is refused."""
    return re.findall(r"^EMU_(\w+)\(k\w+, (\w+)\)$", REFUSED.read_text(), re.MULTILINE)


def families() -> list[tuple[str, str]]:
    """(what the emulator does not have, why) of each family."""
    text = re.sub(r'"\s+"', "", REFUSED.read_text())
    return re.findall(r'^EMU_FAMILY\(k\w+, "([^"]+)",\s+"([^"]+)"\)$', text, re.MULTILINE)


@pytest.mark.parametrize("folder", ["acl", "mstx", "hccl"])
def test_what_a_header_declares_exists(library: ctypes.CDLL, folder: str) -> None:
    names = declared(folder)
    assert names
    assert sorted(name for name in names if not hasattr(library, name)) == []


@pytest.mark.parametrize(
    "path", sorted(INCLUDE.rglob("*.h")), ids=lambda path: str(path.relative_to(INCLUDE))
)
def test_every_function_of_a_header_exists(library: ctypes.CDLL, path: Path) -> None:
    """Whatever is declared is there; only an operator may be absent, and then both its phases."""
    if path.parent.name == CPLUSPLUS:
        pytest.skip("C++")
    absent = {name for name in functions_of(path) if not hasattr(library, name)}
    operators = {name.removesuffix("GetWorkspaceSize") for name in absent}
    assert operators <= set(facts.operators())
    assert absent == operators | {f"{name}GetWorkspaceSize" for name in operators}


def test_compiler_headers_are_read() -> None:
    found = functions_of(INCLUDE / "securec.h")
    assert {"memcpy_s", "vswscanf_s", "strtok_s", "gets_s"} <= found and len(found) > 30
    assert functions_of(INCLUDE / "acl" / "acl_prof.h") >= {"aclprofRangePushEx"}


def test_names_no_header_has(library: ctypes.CDLL) -> None:
    assert [name for name in UNDECLARED if not hasattr(library, name)] == []


# More than any prototype has: a gate passes on as many as its prototype says.
ZEROS = (0,) * 32


def test_what_is_not_supported_says_so(library: ctypes.CDLL) -> None:
    rows = refusals()
    assert len(rows) > 350
    assert len({name for _, name in rows}) == len(rows)
    reasons = families()
    for kind, name in rows:
        function = getattr(library, name)
        library.aclGetRecentErrMsg()
        if kind == "STATUS":
            assert function(*ZEROS) == NOT_SUPPORTED, name
        elif kind == "HCCL":
            assert function(*ZEROS) == HCCL_NOT_SUPPORTED, name
        elif kind == "HCCN":
            assert function(*ZEROS) == HCCN_FAILED, name
        elif kind == "POINTER":
            function.restype = ctypes.c_void_p
            assert function(*ZEROS) is None, name
        elif kind == "NUMBER":
            function.restype = ctypes.c_uint64
            assert function(*ZEROS) == 0, name
        elif kind == "UNDEFINED":
            assert function(*ZEROS) == -1, name
        else:
            function.restype = None
            function(*ZEROS)
        message = library.aclGetRecentErrMsg()
        assert message is not None, name
        told = message.decode().partition(": ")[2]  # behind the code of the message
        assert told in {f"{name}: the emulator has no {a}: {b}." for a, b in reasons}


def test_the_page_of_the_emulator_lists_what_it_refuses() -> None:
    page = (ROOT / "docs" / "emulator.md").read_text()
    table = page.partition("| The emulator has no | because |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| (.+?) \| (.+?) \|$", table, re.MULTILINE)[1:] == families()
    assert len(families()) > 30


LINKED = {
    "profapi": "MsprofReportApi",
    "acl_rt_impl": None,
    "ascend_hal": "drvGetDevNum",
    "ms_tools_ext": "mstxMarkA",
    "c_sec": "memcpy_s",
}


@pytest.mark.parametrize("library_name", LINKED)
def test_programs_link_against_the_library(library_name: str, tmp_path: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no cc")
    symbol = LINKED[library_name]
    source = tmp_path / "program.c"
    use = f"void *volatile at = {symbol}; return at == 0;" if symbol else "return 0;"
    prototype = f"void {symbol}(void);" if symbol else ""
    source.write_text(f"{prototype}\nint main(void) {{ {use} }}\n")
    program = tmp_path / "program"
    folder = LIBRARY.parent
    command = ["cc", str(source), "-o", str(program), f"-L{folder}", f"-Wl,-rpath,{folder}"]
    # The options after the library: it is needed even when nothing of it is.
    command += ["-Wl,--no-as-needed", f"-l{library_name}", "-Wl,-z,now"]
    subprocess.run(command, check=True, capture_output=True)
    assert subprocess.run([str(program)], check=False, timeout=60).returncode == 0
