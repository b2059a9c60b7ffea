# SPDX-License-Identifier: Apache-2.0
"""Gates: what the device library offers for each C function, in front of the emulator's own.

The sources define `aclrtMalloc`, which stays inside the library; it exports `emulated_aclrtMalloc`,
where the libraries under CANN's names lead (build_parts/libraries.py). A gate is a jump while
nobody looks. Under ACLNN_PY_TRACE and ACLNN_PY_RECORD it shows the call with its arguments to
`faults/gate.h` and then makes it. Gates are written from the prototypes of `include/`; a function
without one there, or with `...`, is a jump always. A call inside the library is no call of the
program.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from aclnn_py._ffi.contract.headers import fragments
from aclnn_py._ffi.contract.reader import Function, Parameter, Statement, read_file, statements
from build_parts.elf import visible_definitions
from build_parts.paths import GENERATED, INCLUDE, say, write_if_changed

PREFIX = "emulated_"
# What is exported under its own name: what the package asks of the emulator alone.
OWN = "aclnn_py_"
JUMPS = {"x86_64": "jmp", "aarch64": "b"}
_FOLDERS = ("acl", "aclnn", "aclnnop", "hccl")
_FILES = 4  # compiled side by side
# Types whose values need no name to be understood; `faults/values.cpp` knows the second group.
_PLAIN = frozenset({"bool", "char", "double", "float", "int", "size_t", "void"}) | {
    f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_META = frozenset(
    {"aclBoolArray", "aclFloatArray", "aclIntArray", "aclOpExecutor", "aclScalar", "aclScalarList"}
    | {"aclTensor", "aclTensorList"}
)
_STATUSES = {"aclError": "ACL_ERROR_", "aclnnStatus": "ACLNN_ERR_"}


def gated_functions() -> dict[str, Function]:
    """Every function of the contract that can have a gate; one with `...` cannot pass it on."""
    found: dict[str, Function] = {}
    for path in fragments(INCLUDE, *_FOLDERS):
        for name, function in read_file(path).functions.items():
            if not function.variadic:
                found[name] = function
    return found


def defined_functions(objects: Sequence[Path]) -> set[str]:
    """The C functions that the object files define for others; names are read once per file."""
    table = GENERATED / "defined_functions.json"
    try:
        known = json.loads(table.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {}
    fresh = {}
    for path in objects:
        time = path.stat().st_mtime_ns
        entry = known.get(str(path))
        if entry is None or entry["time"] != time:
            names = [name for name in visible_definitions(path) if not name.startswith("_Z")]
            entry = {"time": time, "names": names}
        fresh[str(path)] = entry
    write_if_changed(table, json.dumps(fresh, indent=0) + "\n")
    return {name for entry in fresh.values() for name in entry["names"]}


def write_gates(functions: dict[str, Function], defined: set[str]) -> list[Path]:
    """Write the gates of the functions that are defined; return the files to compile."""
    names = sorted(defined & functions.keys())
    enumerations = dict(_enumerations())
    head = "// Generated from the prototypes of include/.\n"
    includes = [path.relative_to(INCLUDE).as_posix() for path in fragments(INCLUDE, *_FOLDERS)]
    opening = head + "".join(f'#include "{name}"\n' for name in ["faults/gate.h", *includes])
    files = []
    for number in range(_FILES):
        text = "\n".join(_gate(functions[name]) for name in names[number::_FILES])
        files.append(GENERATED / f"gates_{number}.cpp")
        write_if_changed(files[-1], f"{opening}\n{text}")
    rows = "".join(f'    "\\n{name} {row} "\n' for name, row in sorted(enumerations.items()))
    files.append(GENERATED / "enumerators.cpp")
    write_if_changed(
        files[-1],
        f'{head}#include "faults/values.h"\n\nnamespace emu::faults {{\n'
        f"const char *const kEnumerators =\n{rows};\n}}\n",
    )
    everything = offered(defined)
    files.append(GENERATED / "jumps.cpp")
    jumps = "".join(_jump(name) for name in everything if name not in functions)
    write_if_changed(files[-1], head + jumps + _table(everything))
    say(f"{len(names)} functions have gates")
    return files


def offered(defined: set[str]) -> list[str]:
    """The functions that programs call, in the order of the table."""
    return sorted(name for name in defined if not name.startswith(OWN))


def table_name(functions: Sequence[str]) -> str:
    """Name of the table of functions: a library made for another table finds none."""
    return f"{OWN}functions_{hashlib.sha256(' '.join(functions).encode()).hexdigest()[:12]}"


def _table(functions: Sequence[str]) -> str:
    """How far each function is from the table: numbers that need nothing done when it is loaded."""
    table = table_name(functions)
    rows = "".join(
        f'    ".long {PREFIX}{name} - . + {4 * at}\\n"\n' for at, name in enumerate(functions)
    )
    return (
        f'asm(".section .rodata\\n.globl {table}\\n.type {table},%object\\n.p2align 3\\n"\n'
        f'    "{table}:\\n"\n{rows}    ".size {table},.-{table}\\n.text\\n");\n'
    )


def _jump(name: str) -> str:
    jump = JUMPS[platform.machine()]
    label = f"{PREFIX}{name}"
    return (
        f'asm(".text\\n.globl {label}\\n.type {label},%function\\n.p2align 4\\n"\n'
        f'    "{label}: {jump} {name}\\n.size {label},.-{label}\\n");\n'
    )


def _gate(function: Function) -> str:
    values = ", ".join(parameter.name for parameter in function.parameters)
    more = f"{values}, " if values else ""
    inner = function.name
    prototype = function.prototype.removesuffix(";")
    prototype = prototype.replace(f"{inner}(", f"{PREFIX}{inner}(", 1)
    return (
        f"EMU_EXPORT {prototype} {{\n"
        "  if (emu::faults::watched()) {\n"
        f"    return emu::faults::Gate<decltype({function.name})>::pass(\n"
        f'        {more}"{_described(function)}", {inner});\n'
        "  }\n"
        f"  return {inner}({values});\n"
        "}\n"
    )


def _described(function: Function) -> str:
    """The texts that `gate.h` reads: `name(parameter:type,...)type of the result`."""
    parameters = ",".join(
        parameter.name + _type_of(parameter.ctype) + ("[]" if counted else "")
        for parameter, counted in _with_counts(function.parameters)
    )
    return f"{function.name}({parameters}){_type_of(function.result)}"


def _type_of(ctype: str) -> str:
    """`:aclrtStream`, where the type says more than the machine's."""
    words = re.findall(r"[A-Za-z_]\w*", ctype)
    named = [word for word in words if word not in ("const", "struct")]
    if len(named) != 1 or named[0] in _PLAIN or named[0] in _META:
        return ""
    return f":{named[0]}"


def _with_counts(parameters: Sequence[Parameter]) -> Iterator[tuple[Parameter, bool]]:
    """Each parameter, and whether it is an array whose length is the next one."""
    for at, parameter in enumerate(parameters):
        after = parameters[at + 1].name if at + 1 < len(parameters) else ""
        is_array = parameter.is_const and parameter.bare in ("int64_t *", "float *", "bool *")
        yield parameter, is_array and after in ("size", "numDims", f"{parameter.name}Num")


def _enumerations() -> Iterator[tuple[str, str]]:
    """Name of each enumeration and status type, and its `number=name` pairs."""
    statuses: dict[str, list[str]] = {name: ["0=ACL_SUCCESS"] for name in _STATUSES}
    statuses["aclnnStatus"] = ["0=ACLNN_SUCCESS"]
    for path in fragments(INCLUDE, *_FOLDERS):
        constants = read_file(path).constants
        for item in statements(path.read_text(encoding="utf-8")):
            if isinstance(item, Statement):
                words = [token.text for token in item.tokens]
                if words[:2] == ["typedef", "enum"] and "{" in words:
                    members = [word for word in words if word in constants]
                    yield words[-1], _pairs(constants, dict.fromkeys(members))
        for status, prefix in _STATUSES.items():
            found = [name for name in constants if name.startswith(prefix)]
            statuses[status] += [_pairs(constants, found)] if found else []
    for status, rows in statuses.items():
        yield status, " ".join(rows)


def _pairs(constants: dict[str, int], names: Iterable[str]) -> str:
    return " ".join(f"{constants[name]}={name}" for name in names)
