# SPDX-License-Identifier: Apache-2.0
"""Compare the C contract with an installed CANN include tree, and propose what it lacks.

``check`` compiles, for each CANN header that has a counterpart, one translation unit that includes
CANN's header and asserts what the contract says: signatures (``const`` apart, it is no part of the
ABI), values of enumerators and macros, sizes and offsets. ``import`` prints a fragment and a row
of facts for each operator that only the CANN tree has.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from aclnn_py import facts
from aclnn_py._ffi.contract.headers import fragments
from aclnn_py._ffi.contract.operators import PHASE_ONE_SUFFIX
from aclnn_py._ffi.contract.reader import Header, read_file
from aclnn_py.tools.headers_import import declared_operators, proposals
from aclnn_py.tools.headers_reader import HeaderError

__all__ = ["Finding", "check", "main"]

# Where a header of today keeps its declarations in trees that have no such header.
FORMER_HOMES = {
    "acl/acl_base_rt.h": ("acl/acl_base.h",),
    "acl/acl_base_mdl.h": ("acl/acl_base.h",),
    "acl/acl_rt_memory_soma.h": ("acl/acl_rt.h",),
    "hccl/hccl_comm.h": ("hccl/hccl.h",),
    "hccl/hccl_types.h": ("hccl/hccl.h",),
    "hccl/hcomm_primitives.h": ("hcomm/hcomm_primitives.h",),
    "hccl/hcomm_res_defs.h": ("hcomm/hcomm_res_defs.h",),
}

# Constants that name a version or mark the end of an enumeration: they differ between releases.
RELEASE_MARKS = frozenset(
    {
        "ACL_MAJOR_VERSION",
        "ACL_MINOR_VERSION",
        "ACL_PATCH_VERSION",
        "ACL_PROF_ARGS_MAX",
        "HCCL_E_RESERVED",
        "HCCL_COMM_CONFIG_RESERVED",
        "HCCL_COMM_CONFIG_VERSION",
    }
)
# HcclCommConfig grows with its version; the library reads it by the size it carries.
SIZED_BY_VERSION = frozenset({"HcclCommConfig"})

_ASSERTIONS = """\
#include <cstddef>
#include <cstdint>
namespace aclnn_py_contract {
template <class T> struct Bare { using type = T; };
template <class T> using bare = typename Bare<T>::type;
template <class T> struct Bare<const T> { using type = bare<T>; };
template <class T> struct Bare<T *> { using type = bare<T> *; };
template <class R, class... A> struct Bare<R(A...)> { using type = bare<R>(bare<A>...); };
template <class R, class... A> struct Bare<R(A..., ...)> { using type = bare<R>(bare<A>..., ...); };
template <class T, class U> struct Same { static constexpr bool value = false; };
template <class T> struct Same<T, T> { static constexpr bool value = true; };
template <class T, class U> constexpr bool same = Same<bare<T>, bare<U>>::value;
}
"""


@dataclass(frozen=True, order=True)
class Finding:
    """One disagreement, or one thing the CANN tree does not have."""

    kind: Literal["different", "broken", "absent"]
    header: str
    what: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.header}: {self.what}: {self.detail}"


@dataclass
class _Unit:
    """One translation unit: what one CANN header is asked about."""

    header: str
    statements: list[tuple[str, str]] = field(default_factory=list)
    """(what, text of one line)"""


def check(
    cann_include: Path, include: Path, *, compiler: str, jobs: int | None = None
) -> list[Finding]:
    """Compare the contract in ``include`` with the tree ``cann_include``.

    Parameters
    ----------
    cann_include : Path
        Folder with CANN's ``acl/``, ``aclnn/``, ``aclnnop/`` and ``hccl/``.
    include : Path
        Folder of the contract's fragments.
    compiler : str
        A C++17 compiler that takes the options of GCC.
    jobs : int, optional
        Compilers at a time; the number of processors by default.

    Returns
    -------
    list of Finding
        Sorted; ``different`` and ``broken`` are faults, ``absent`` is no fault, because every
        symbol is looked up at run time.

    Raises
    ------
    RuntimeError
        The compiler does not compile the contract's own headers.
    """
    findings: list[Finding] = []
    units: dict[str, _Unit] = {}
    layouts = _layouts(include, compiler)
    for path in fragments(include):
        name = path.relative_to(include).as_posix()
        if not name.startswith("aclnnop/"):
            _ask_about(name, read_file(path), layouts, cann_include, units, findings)
    _ask_about_operators(include, cann_include, units, findings)
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        for found in pool.map(lambda unit: _compile(unit, cann_include, compiler), units.values()):
            findings += found
    return sorted(findings)


def _ask_about(
    name: str,
    declared: Header,
    layouts: Mapping[str, Mapping[str, int]],
    cann_include: Path,
    units: dict[str, _Unit],
    findings: list[Finding],
) -> None:
    """Add the statements of one fragment to the unit of its counterpart."""
    if not (declared.functions or declared.constants or declared.structures):
        return
    homes = (name, *FORMER_HOMES.get(name, ()))
    home = next((home for home in homes if (cann_include / home).is_file()), None)
    if home is None:
        findings.append(Finding("absent", name, "header", "this CANN has no such header"))
        return
    statements = units.setdefault(home, _Unit(home)).statements
    for function in declared.functions.values():
        statements.append((function.name, _signature(function.name, function.prototype)))
    for constant, value in declared.constants.items():
        if constant not in RELEASE_MARKS:
            # compared as unsigned, so that -1 and 0xFFFFFFFFFFFFFFFF both have a literal
            literal = f"{value & 0xFFFFFFFFFFFFFFFF:#x}ULL"
            width = "" if value < 0 or value > 0xFFFFFFFF else " & 0xFFFFFFFFULL"
            statements.append(
                (
                    constant,
                    f"static_assert((static_cast<unsigned long long>({constant}){width}) == "
                    f'{literal}, "the contract says {value}");',
                )
            )
    for structure in declared.structures:
        if structure in SIZED_BY_VERSION:
            continue
        for member, number in layouts[structure].items():
            measure = f"offsetof({structure}, {member})" if member else f"sizeof({structure})"
            what = f"offset of {structure}.{member}" if member else f"size of {structure}"
            statements.append(
                (what, f'static_assert({measure} == {number}, "the contract says {number}");')
            )


def _ask_about_operators(
    include: Path, cann_include: Path, units: dict[str, _Unit], findings: list[Finding]
) -> None:
    homes = declared_operators(cann_include)
    for path in fragments(include, "aclnnop"):
        if path.parent.name != "aclnnop":
            continue
        functions = read_file(path).functions
        for phase_one in functions:
            name = phase_one.removesuffix(PHASE_ONE_SUFFIX)
            if phase_one == name:
                continue
            home = homes.get(name)
            if home is None:
                header = path.relative_to(include).as_posix()
                findings.append(Finding("absent", header, name, "no header declares it"))
                continue
            unit = units.setdefault(home, _Unit(home))
            for function in (phase_one, name):
                prototype = functions[function].prototype
                unit.statements.append((function, _signature(function, prototype)))


def _signature(function: str, prototype: str) -> str:
    return (
        f"namespace aclnn_py_contract {{ {prototype} "
        f"static_assert(same<decltype(::{function}), decltype(aclnn_py_contract::{function})>, "
        f'"the contract says {prototype}"); }}'
    )


def _compile(unit: _Unit, cann_include: Path, compiler: str) -> list[Finding]:
    """Compile one unit; each statement stands on a line of its own, named by its number."""
    opening = f'#include "{unit.header}"\n{_ASSERTIONS}'
    lines = "".join(
        f'#line 1 "aclnn_py_statement_{number}"\n{text}\n'
        for number, (_, text) in enumerate(unit.statements)
    )
    complaints = _complaints(opening + lines, cann_include, compiler)
    findings = []
    for number, (what, _) in enumerate(unit.statements):
        complaint = complaints.pop(f"aclnn_py_statement_{number}", None)
        if complaint is None:
            continue
        unknown = "not declared" in complaint or "has not been declared" in complaint
        unknown = unknown or "does not name a type" in complaint or "is not a member" in complaint
        if unknown:
            findings.append(Finding("absent", unit.header, what, complaint))
        else:
            findings.append(Finding("different", unit.header, what, complaint))
    for place, complaint in complaints.items():
        findings.append(Finding("broken", unit.header, place, complaint))
    return findings


def _complaints(source: str, cann_include: Path, compiler: str) -> dict[str, str]:
    """The first error of each file the compiler names, by that file."""
    command = [
        *compiler.split(),
        *("-std=c++17", "-x", "c++", "-fsyntax-only", "-w", "-fmax-errors=0"),
        *("-fno-diagnostics-show-caret", "-I", str(cann_include)),
        *("-I", str(cann_include / "aclnnop"), "-"),
    ]
    done = subprocess.run(
        command, input=source, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}
    )
    found: dict[str, str] = {}
    for line in done.stderr.splitlines():
        place, mark, text = line.partition(" error: ")
        if not mark:
            place, mark, text = line.partition(" fatal error: ")
        if mark:
            found.setdefault(place.split(":")[0], text.strip())
    if done.returncode != 0 and not found:
        raise RuntimeError(f"{command[0]} failed without naming an error: {done.stderr.strip()}")
    return found


def _layouts(include: Path, compiler: str) -> dict[str, dict[str, int]]:
    """Measured on this machine: structure -> {"": size, member: offset}."""
    includes, questions = [], []
    for path in fragments(include):
        name = path.relative_to(include).as_posix()
        declared = read_file(path)
        if declared.structures:
            includes.append(f'#include "{name}"\n')
        for structure, members in declared.structures.items():
            questions.append(f'ask("{structure}", "-", sizeof({structure}));')
            questions += [
                f'ask("{structure}", "{member}", offsetof({structure}, {member}));'
                for member in members
            ]
    source = (
        "".join(includes)
        + "#include <cstddef>\n#include <cstdio>\n"
        + "static void ask(const char *s, const char *m, std::size_t n)\n"
        + '{ std::printf("%s %s %zu\\n", s, m, n); }\n'
        + "int main() {\n"
        + "\n".join(questions)
        + "\nreturn 0; }\n"
    )
    with tempfile.TemporaryDirectory(prefix="aclnn-py-headers-") as folder:
        program = Path(folder) / "layouts"
        done = subprocess.run(
            [
                *(*compiler.split(), "-std=c++17", "-x", "c++", "-w"),
                *("-I", str(include), "-o", str(program), "-"),
            ],
            input=source,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{include} does not compile with {compiler}:\n{done.stderr}")
        answer = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    layouts: dict[str, dict[str, int]] = {}
    for line in answer.splitlines():
        structure, member, number = line.split()
        layouts.setdefault(structure, {})["" if member == "-" else member] = int(number)
    return layouts


def _default_include() -> Path:
    package = Path(facts.__file__).resolve().parents[1]
    installed = package / "include"
    return installed if installed.is_dir() else package.parent / "include"


def _default_compiler() -> str:
    if chosen := os.environ.get("CXX"):
        return chosen
    return next((name for name in ("c++", "g++", "clang++") if shutil.which(name)), "c++")


def _report(findings: Sequence[Finding], *, verbose: bool) -> Iterator[str]:
    faults = [finding for finding in findings if finding.kind != "absent"]
    absent = [finding for finding in findings if finding.kind == "absent"]
    yield from map(str, faults)
    if verbose:
        yield from map(str, absent)
    yield (
        f"{len(faults)} differences; {len(absent)} names of the contract are not in this CANN tree"
        + ("" if verbose or not absent else " (--verbose lists them)")
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``aclnn-py headers check|import``.

    Returns
    -------
    int
        0 when the trees agree, 1 when they differ, 2 when the check could not be made.
    """
    parser = argparse.ArgumentParser(prog="aclnn-py headers", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in (
        ("check", "compare the contract with a CANN include tree"),
        ("import", "propose declarations of operators that only the CANN tree has"),
    ):
        command = commands.add_parser(name, help=about, description=about)
        command.add_argument("cann_include", type=Path, help="CANN's include folder")
        command.add_argument("--include", type=Path, default=None, help="the contract's folder")
    options = commands.choices["check"]
    options.add_argument("--compiler", default=None, help="C++17 compiler (default: $CXX or c++)")
    options.add_argument("--jobs", type=int, default=None, help="compilers at a time")
    options.add_argument("--verbose", action="store_true", help="list absent names too")
    chosen = parser.parse_args(argv)
    include = chosen.include or _default_include()
    for folder in (chosen.cann_include, include):
        if not folder.is_dir():
            print(f"aclnn-py headers: no such folder: {folder}", file=sys.stderr)
            return 2
    compiler = chosen.compiler if chosen.command == "check" else None
    compiler = compiler or _default_compiler()
    try:
        if chosen.command == "import":
            print(proposals(chosen.cann_include, facts.operators()), end="")
            return 0
        findings = check(chosen.cann_include, include, compiler=compiler, jobs=chosen.jobs)
    except (RuntimeError, OSError, HeaderError) as problem:
        print(f"aclnn-py headers: {problem}", file=sys.stderr)
        return 2
    for line in _report(findings, verbose=chosen.verbose):
        print(line)
    return 1 if any(finding.kind != "absent" for finding in findings) else 0
