# SPDX-License-Identifier: Apache-2.0
"""Generate and compile the cffi extension `aclnn_py._ffi._binding`."""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path

from aclnn_py._ffi.contract.headers import cdef_text, fragments
from aclnn_py._ffi.contract.reader import Function, read_file
from aclnn_py.facts import libraries
from build_parts.contract import contract_id
from build_parts.fixed_launch import fixed_declarations, fixed_definitions
from build_parts.generation import Step
from build_parts.operator_table import Row, read_operators, table_source
from build_parts.paths import GENERATED, INCLUDE, PACKAGE, ROOT, say, write_if_changed
from build_parts.toolchain import BuildError, Toolchain, Unit

FFI = PACKAGE / "_ffi"
MODULE = "aclnn_py._ffi._binding"
OWN_HEADERS = ("launch.h", "allocator.h")
STATUS_TYPES = {"aclError", "aclnnStatus", "HcclResult", "HccnResult"}
SINCE = re.compile(r"/\* since (\S+) \*/")
SYSTEM_HEADERS = (
    "dlfcn.h",
    "link.h",
    "pthread.h",
    "sched.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
)


def binding_units() -> list[Unit]:
    """Generate the extension's sources; return what is to be compiled."""
    python_include = Path(sysconfig.get_path("include"))
    if not (python_include / "Python.h").is_file():
        raise BuildError(
            f"Python.h is not in {python_include}. Install Python's development files "
            "(Debian and Ubuntu: apt install python3-dev; Fedora and openEuler: "
            "dnf install python3-devel)"
        )
    source, launcher = GENERATED / "_binding.c", GENERATED / "_launcher.c"
    step = Step("binding")
    if not step.is_done():
        generate_sources(source, launcher)
        step.done([source, launcher])
    flags = (f"-I{python_include}", f"-I{INCLUDE}", f"-I{FFI}")
    return [
        # A thousand small functions that cffi wrote: -O1 and -O2 take long there and gain nothing.
        Unit(source, (*flags, "-Og", "-Wno-unused-function"), "gen/_binding.c", ""),
        Unit(launcher, flags, "gen/_launcher.c", ""),
        Unit(FFI / "allocator.c", flags, "allocator.c", ""),
        Unit(FFI / "held.c", flags, "held.c", ""),
    ]


def link_binding(toolchain: Toolchain, objects: list[Path]) -> Path:
    """Link the extension in the package; return its path."""
    target = FFI / "_binding.abi3.so"
    toolchain.link(objects, target, (), undefined_allowed=True)
    return target


def generate_sources(source: Path, launcher: Path) -> None:
    """Write cffi's C file of the extension, and the one with CANN's functions and the launcher."""
    try:
        import cffi
    except ImportError:
        raise BuildError(
            "the cffi package is needed to build the extension: pip install cffi"
        ) from None
    say("binding: reading include/")
    runtime = [path for path in fragments(INCLUDE) if path.parent.name != "aclnnop"]
    functions = read_functions(runtime)
    rows = read_operators()
    builder = cffi.FFI()
    for path in runtime:
        try:
            builder.cdef(without_variadic(cdef_text(path.read_text(encoding="utf-8"))))
        except Exception as error:
            raise BuildError(f"{path.relative_to(ROOT)}: cffi cannot read it: {error}") from error
    for name in OWN_HEADERS:
        builder.cdef(cdef_text((FFI / name).read_text(encoding="utf-8")))
    builder.cdef(fixed_declarations())
    includes = include_lines(runtime) + fixed_declarations()
    builder.set_source(MODULE, includes)
    fresh = source.with_suffix(".new")
    GENERATED.mkdir(parents=True, exist_ok=True)
    builder.emit_c_code(str(fresh))
    write_if_changed(source, fresh.read_text(encoding="utf-8"))
    fresh.unlink()
    write_if_changed(launcher, launcher_source(includes, functions, rows))
    say(f"binding: {len(functions)} functions, {len(rows)} operators")


def without_variadic(text: str) -> str:
    """Prototypes with `...` have no wrapper: nothing can forward their arguments."""
    return "\n".join(line for line in text.splitlines() if not line.rstrip().endswith("...);"))


def read_functions(headers: list[Path]) -> list[tuple[str, str, str]]:
    """(name, C definition, first release) of every function, each calling through its slot."""
    functions: dict[str, Function] = {}
    for path in headers:
        functions.update(read_file(path).functions)
    callable_ = sorted(name for name, function in functions.items() if not function.variadic)
    return [
        (name, wrapper(functions[name], slot), first_release(functions[name]))
        for slot, name in enumerate(callable_)
    ]


def first_release(function: Function) -> str:
    """The first release that has a function, "" for one that is older than all we know."""
    found = SINCE.fullmatch(function.comment)
    return libraries.first_release(function.name, found[1] if found else "")


def wrapper(function: Function, slot: int) -> str:
    """Definition of one function, with the very prototype of the header."""
    names = ", ".join(parameter.name for parameter in function.parameters)
    result = function.result
    if result == "void":
        body = f"if (function) function({names});"
    else:
        missing = "AP_UNBOUND" if result in STATUS_TYPES else "0"
        body = f"return function ? function({names}) : ({result}){missing};"
    head = function.prototype.removesuffix(";")
    types = head[head.index(f"{function.name}(") + len(function.name) :]
    return f"{head} {{ {result} (*function){types} = ap_slots[{slot}]; {body} }}"


def include_lines(headers: list[Path]) -> str:
    """What both C files start with."""
    paths = [path.relative_to(INCLUDE).as_posix() for path in headers]
    names = [f"#include <{name}>" for name in SYSTEM_HEADERS]
    return "\n".join([*names, *(f'#include "{path}"' for path in [*paths, *OWN_HEADERS]), ""])


def launcher_source(includes: str, functions: list[tuple[str, str, str]], rows: list[Row]) -> str:
    """The C file with the functions of CANN, the operator table and the launcher."""
    parts = ["#define _GNU_SOURCE", includes, f"#define AP_SLOTS {len(functions)}"]
    parts.append("static void *ap_slots[AP_SLOTS];")
    parts.append("static const char *const ap_slot_names[] = {")
    parts += [f'    "{name}",' for name, _, _ in functions]
    parts.append("};")
    parts.append("static const char *const ap_slot_sinces[] = {")
    parts += [f'    "{since}",' for _, _, since in functions]
    parts.append("};")
    parts += [definition for _, definition, _ in functions]
    parts.append(table_source(rows))
    parts.append(f'const char *ap_contract(void) {{ return "{contract_id()}"; }}')
    included = (
        "lookup.c",
        "launch.c",
        "fresh.c",
        "sequence.c",
        "copies.c",
        "replay.c",
        "update.c",
        "faults.c",
    )
    parts += [f'#include "{name}"' for name in included]
    parts.append(fixed_definitions())
    return "\n".join(parts) + "\n"
