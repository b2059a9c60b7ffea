# SPDX-License-Identifier: Apache-2.0
"""Gates: what stands under the name of each C function, in front of the emulator's own.

A gate is a jump while nobody looks. Under ACLNN_PY_TRACE and ACLNN_PY_RECORD it shows the call with
its arguments to `faults/gate.h` and then makes it. Gates are written from the prototypes of
`include/`; the functions that the sources define get another name in their object files, so the
sources know nothing of them, and a call inside the library is no call of the program.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from aclnn_py._ffi.contract.headers import fragments
from aclnn_py._ffi.contract.reader import Function, Parameter, Statement, read_file, statements
from build_parts.elf import global_definitions
from build_parts.paths import GENERATED, INCLUDE, say, write_if_changed
from build_parts.toolchain import job_count, run

INNER = "emu_inner_"
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


def rename_definitions(
    objects: Sequence[Path], names: Iterable[str]
) -> tuple[list[Path], set[str]]:
    """Give the functions of these names their inner names in copies of the object files.

    Returns the copies, and which of the functions the objects define.
    """
    wanted = frozenset(names)
    table = GENERATED / "inner_names.txt"
    lines = "".join(f"{name} {INNER}{name}\n" for name in sorted(wanted))
    write_if_changed(table, lines)
    digest = hashlib.sha256(lines.encode()).hexdigest()
    folder = objects[0].parent / "inner"
    folder.mkdir(exist_ok=True)

    def renamed(source: Path) -> tuple[Path, list[str]]:
        target = folder / source.name
        known = _known(target, source, digest)
        if known is not None:
            return target, known
        defined = sorted(wanted.intersection(global_definitions(source)))
        fresh = target.with_name(f"{target.name}.{os.getpid()}")
        tool = os.environ.get("OBJCOPY", "objcopy")
        run([tool, f"--redefine-syms={table}", str(source), str(fresh)], f"rename {source.name}")
        os.replace(fresh, target)
        _stamp(target).write_text(json.dumps({"table": digest, "defined": defined}))
        return target, defined

    with ThreadPoolExecutor(job_count()) as pool:
        results = list(pool.map(renamed, objects))
    return [target for target, _ in results], {name for _, found in results for name in found}


def _stamp(target: Path) -> Path:
    return target.with_suffix(".json")


def _known(target: Path, source: Path, digest: str) -> list[str] | None:
    """What the object was found to define when its copy was made; None for an old copy."""
    try:
        if target.stat().st_mtime_ns < source.stat().st_mtime_ns:
            return None
        stamp = json.loads(_stamp(target).read_text())
    except (OSError, ValueError):
        return None
    return list(stamp["defined"]) if stamp["table"] == digest else None


def write_gates(functions: dict[str, Function], defined: set[str]) -> list[Path]:
    """Write the gates of these functions; return the files to compile."""
    names = sorted(defined)
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
    say(f"{len(names)} functions have gates")
    return files


def _gate(function: Function) -> str:
    values = ", ".join(parameter.name for parameter in function.parameters)
    more = f"{values}, " if values else ""
    inner = f"{INNER}{function.name}"
    prototype = function.prototype.removesuffix(";")
    return (
        f'extern "C" decltype({function.name}) {inner};\n'
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
