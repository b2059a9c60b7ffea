# SPDX-License-Identifier: Apache-2.0
"""Build the emulator: the device in one shared library, and libraries under CANN's names."""

from __future__ import annotations

import platform
from pathlib import Path

from aclnn_py.facts import operators
from build_parts.batches import batched
from build_parts.binding import first_release
from build_parts.calls import write_calls
from build_parts.contract import contract_id
from build_parts.elf import shared_definitions
from build_parts.forwarders import forwarder_texts
from build_parts.gates import (
    JUMPS,
    OWN,
    PREFIX,
    defined_functions,
    gated_functions,
    offered,
    write_gates,
)
from build_parts.generation import Step
from build_parts.libraries import DEVICE, build_libraries
from build_parts.op_facts import write_op_facts
from build_parts.op_tensors import write_op_tensors
from build_parts.packages import package_texts
from build_parts.paths import (
    EMULATOR_SOURCES,
    FACTS,
    GENERATED,
    INCLUDE,
    LIB,
    PACKAGE_INCLUDE,
    ROOT,
    say,
    write_if_changed,
    write_tree,
)
from build_parts.precompiled import KERNELS
from build_parts.single_operators import write_single_operators
from build_parts.toolchain import BuildError, Toolchain, Unit, own_flags

# Where units find what they include.
FOLDERS = (INCLUDE, EMULATOR_SOURCES, GENERATED)
# The baseline of each level is also what a machine must have for the dispatcher to pick it.
ISA_FLAGS = {
    "base": (),
    "v3": ("-march=x86-64-v3",),
    "v4": ("-march=x86-64-v4", "-mprefer-vector-width=512"),
}
# Many sources check arguments and plan launches: -O2 takes a third longer there and gains nothing.
# Those that compute, and those that every launch runs through, ask for more in a line of their own.
PLAIN = "-O1"


def emulator_units(*, empty_kernels: bool = False, in_batches: bool = False) -> list[Unit]:
    """Generate the tables; return what is to be compiled."""
    build_id = generate_tables()
    sources = sorted(EMULATOR_SOURCES.rglob("*.cpp"))
    if not sources:
        raise BuildError(f"no emulator sources under {EMULATOR_SOURCES}")
    units = [unit for source in sources for unit in units_of(source, empty_kernels=empty_kernels)]
    if in_batches:
        units = batched(units, FOLDERS)
    # Of an inline function that several units compiled the linker keeps the first it meets.
    units.sort(key=lambda unit: PLAIN in unit.flags)
    units.append(Unit(build_id, ("-std=c++17",), "gen/contract_id.cpp"))
    return units


def link_emulator(toolchain: Toolchain, objects: list[Path]) -> Path:
    """Link the device and the libraries under CANN's names; return the path of the device."""
    if platform.machine() not in JUMPS:
        raise BuildError(
            f"the emulator's libraries jump into its device, and build_parts/gates.py knows the "
            f"jumps of {' and '.join(JUMPS)} alone; this machine is {platform.machine()}"
        )
    if not toolchain.sanitize:
        check_levels(objects)
    functions = gated_functions()
    # Nothing is left to gain in a gate, once it is a jump, or in what nobody runs but watchers.
    short = (*include_flags(), "-O1", "-foptimize-sibling-calls")
    defined = defined_functions(objects)
    files = write_gates(functions, defined)
    gates = [Unit(path, short, f"gen/{path.name}") for path in files]
    objects = objects + toolchain.compile({"gates": gates})["gates"]
    target = LIB / DEVICE
    # Templates of the standard library keep default visibility whatever the compiler is told, and
    # would stand in for the host program's own.
    exports = GENERATED / "emulator.map"
    write_if_changed(exports, f"{{ global: {PREFIX}*; {OWN}*; local: *; }};\n")
    flags = ["-static-libstdc++", f"-Wl,-soname,{DEVICE}", "-ldl", "-lrt"]
    flags.append(f"-Wl,--version-script={exports}")
    # Distances in the table of functions are known when the functions cannot be replaced.
    flags.append("-Wl,-Bsymbolic-functions")
    # Threads of the library run its code until the process ends.
    flags.append("-Wl,-z,nodelete")
    if toolchain.sanitize:
        flags.remove("-static-libstdc++")
    toolchain.link(objects, target, flags)
    releases = {name: first_release(function) for name, function in functions.items()}
    build_libraries(toolchain, target, {name: releases.get(name, "") for name in offered(defined)})
    return target


def generate_tables() -> Path:
    """Write what the emulator compiles in besides its sources; return the unit among it."""
    build_id = GENERATED / "contract_id.cpp"
    step = Step("emulator")
    if step.is_done():
        return build_id
    facts, tensors = GENERATED / "op_facts.inc", GENERATED / "op_tensors.inc"
    write_op_facts(operators(), INCLUDE, facts)
    write_op_tensors(INCLUDE, tensors)
    types = GENERATED / "aclop_rows.inc"
    write_single_operators(FACTS, INCLUDE, types)
    write_if_changed(
        build_id,
        "// Tells the loader that this library and the extension were built from one contract.\n"
        'extern "C" __attribute__((visibility("default")))\n'
        f'const char *aclnn_py_emulator_contract(void) {{ return "{contract_id()}"; }}\n',
    )
    calls = write_calls(INCLUDE, GENERATED / "calls")
    step.done([facts, tensors, types, build_id, *calls])
    return build_id


def units_of(source: Path, *, empty_kernels: bool) -> list[Unit]:
    """The compilations of one source: one, or one per ISA level for `*.isa.cpp`."""
    label = source.relative_to(EMULATOR_SOURCES).as_posix()
    flags = list(include_flags())
    if empty_kernels:
        flags.append("-DEMU_EMPTY_KERNELS")
    if not source.name.endswith(".isa.cpp"):
        return [Unit(source, (*flags, *(() if own_flags(source) else (PLAIN,))), label)]
    levels = ISA_FLAGS if platform.machine() == "x86_64" else {"base": ()}
    return [
        Unit(
            source,
            (*flags, *extra, f"-DEMU_ISA={level}", f"-DEMU_ISA_NS=isa_{level}"),
            f"{label}@{level}",
            headers=KERNELS,
        )
        for level, extra in levels.items()
    ]


def include_flags() -> tuple[str, ...]:
    """What every unit of the emulator is compiled with."""
    return ("-std=c++17", "-fvisibility-inlines-hidden", *(f"-I{folder}" for folder in FOLDERS))


def check_levels(objects: list[Path]) -> None:
    """Refuse code for newer processors that the linker might give to every unit.

    An inline function that was not inlined is compiled in each unit that uses it, and the linker
    keeps whichever it meets first: one from a unit for AVX-512 would end the program on a processor
    without it, and two definitions under one name would mean different things by chance.
    """
    for path in objects:
        level = path.name.partition("@")[2].partition(".")[0]
        if level in ("", "base"):
            continue
        if names := shared_definitions(path):
            raise BuildError(
                f"{path.name} defines {', '.join(names)} for all units; make each always_inline or "
                f"put it into the namespace of the level (core/isa.h)"
            )


def install_headers() -> None:
    """Put include/, the per-operator forwarders and what builds look for into the package."""
    step = Step("headers")
    if step.is_done():
        return
    texts = {
        path.relative_to(INCLUDE).as_posix(): path.read_text(encoding="utf-8")
        for path in INCLUDE.rglob("*.h")
    }
    written = write_tree(PACKAGE_INCLUDE, texts | forwarder_texts(INCLUDE, operators()))
    for name, text in package_texts().items():
        write_if_changed(LIB / name, text)
        written.append(LIB / name)
    step.done(written)
    say(f"installed {len(written)} headers in {PACKAGE_INCLUDE.relative_to(ROOT)}")
