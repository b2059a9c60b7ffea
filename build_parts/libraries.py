# SPDX-License-Identifier: Apache-2.0
"""The libraries under CANN's names: each has the functions that CANN's library of that name has.

A function of theirs is a jump into the one device library, by way of its table of functions. The
device exports no name of CANN's, so neither the linker nor `dlsym` sees more through these
libraries than through CANN's, and the loader has one symbol to find for each. Wheels cannot hold
symbolic links, copies would be separate devices, and an ELF filter opens all of its device.
"""

from __future__ import annotations

import json
import platform
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from aclnn_py.facts import libraries as facts
from aclnn_py.facts import operators
from build_parts.gates import table_name
from build_parts.paths import GENERATED, LIB, say
from build_parts.toolchain import Toolchain, job_count, run

DEVICE = "libaclnn_py_emulator_device.so"
# All functions in one library, for programs that load the emulator by its own name.
WHOLE = "libaclnn_py_emulator.so"
# {table}, {offset}: where the function's distance from the table stands. The registers are those
# that the linker's own jumps may change.
_JUMP = {
    "x86_64": (
        "movq {table}@GOTPCREL(%rip), %r11",
        "movslq {offset}(%r11), %r10",
        "addq %r11, %r10",
        "jmp *%r10",
    ),
    "aarch64": (
        "adrp x16, :got:{table}",
        "ldr x16, [x16, :got_lo12:{table}]",
        "ldrsw x17, [x16, {offset}]",
        "add x16, x16, x17",
        "br x16",
    ),
}
_FLAGS = (
    "-shared",
    "-nostdlib",
    "-s",
    "-Wl,-rpath,$ORIGIN",
    "-Wl,--no-as-needed",
    "-Wl,--hash-style=gnu",
    "-Wl,--build-id=none",
    # They have a few pages at most, and many of them are loaded.
    "-Wl,-z,noseparate-code,-z,norelro",
)

Content = tuple[tuple[str, ...], tuple[str, ...]]
"""Of a library: its functions, and the libraries that it needs."""


def build_libraries(toolchain: Toolchain, device: Path, functions: Mapping[str, str]) -> list[Path]:
    """Make the libraries of all releases; return their files.

    Parameters
    ----------
    toolchain
        The compiler.
    device
        The library that does the work.
    functions
        What the device offers, in the order of its table -> the release that its header names, or
        "".
    """
    wanted = contents(functions)
    maker = Maker(toolchain, device, list(functions))
    record, stamp = _record(maker, wanted), GENERATED / "libraries.json"
    if not stamp.is_file() or stamp.read_text() != record or not all(p.is_file() for p in wanted):
        stamp.unlink(missing_ok=True)
        for path in (*LIB.glob("lib*.so"), *LIB.glob("releases/*/lib*.so")):
            if path.name != DEVICE:
                path.unlink()
        with ThreadPoolExecutor(job_count()) as pool:
            list(pool.map(lambda item: maker.make(*item), wanted.items()))
        stamp.write_text(record)
        size = sum(path.stat().st_size for path in wanted)
        say(f"{len(wanted)} libraries under CANN's names ({size / 1e6:.1f} MB)")
    return list(wanted)


def contents(functions: Mapping[str, str]) -> dict[Path, Content]:
    """File -> what is in it, for all releases."""
    wanted: dict[str, Content] = {WHOLE: (tuple(sorted(functions)), ())}
    for release in (facts.NEWEST, *reversed(facts.RELEASES)):
        divided = facts.exports(release, functions, operators())
        for library in facts.shipped(release):
            content = tuple(divided[library]), facts.needs(library, release)
            if wanted.get(facts.file_of(library, release, wanted) or "") != content:
                folder = "" if release == facts.NEWEST else f"releases/{release}/"
                wanted[f"{folder}lib{library}.so"] = content
    return {LIB / name: content for name, content in wanted.items()}


class Maker:
    """Assembles and links libraries for one device."""

    def __init__(self, toolchain: Toolchain, device: Path, functions: list[str]) -> None:
        self.cc = toolchain.cc
        self.table = table_name(functions)
        self._device = device
        self._offsets = {name: 4 * at for at, name in enumerate(functions)}
        self._folder = GENERATED / "libraries"
        (self._folder / "needed").mkdir(parents=True, exist_ok=True)

    def make(self, path: Path, content: Content) -> None:
        """Make one library."""
        functions, needed = content
        source = self._folder / f"{path.relative_to(LIB).as_posix().replace('/', '-')}.s"
        source.write_text(self._assembly(functions))
        path.parent.mkdir(parents=True, exist_ok=True)
        command = [*self.cc, *_FLAGS, f"-Wl,-soname,{path.name}", str(source), str(self._device)]
        command += [str(self._stand_in(name)) for name in needed]
        run([*command, "-o", str(path)], f"link {path.name}")

    def _assembly(self, functions: Sequence[str]) -> str:
        lines = [".text"]
        for name in functions:
            lines += [f".globl {name}", f".type {name},%function", ".p2align 3", f"{name}:"]
            lines += [
                step.format(table=self.table, offset=self._offsets[name])
                for step in _JUMP[platform.machine()]
            ]
            lines.append(f".size {name},.-{name}")
        return "\n".join([*lines, '.section .note.GNU-stack,"",%progbits', ""])

    def _stand_in(self, library: str) -> Path:
        """An empty library of that name: what needs it only has to say so."""
        path = self._folder / "needed" / f"lib{library}.so"
        fresh = path.with_name(f"{path.name}.{threading.get_ident()}")
        if not path.is_file():
            command = [*self.cc, "-shared", "-nostdlib", "-x", "c", "/dev/null"]
            run([*command, f"-Wl,-soname,{path.name}", "-o", str(fresh)], f"link {path.name}")
            fresh.replace(path)
        return path


def _record(maker: Maker, wanted: Mapping[Path, Content]) -> str:
    rows = {path.relative_to(LIB).as_posix(): content for path, content in wanted.items()}
    return json.dumps([maker.cc, _FLAGS, _JUMP, maker.table, rows], indent=0)
