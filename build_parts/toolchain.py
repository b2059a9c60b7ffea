# SPDX-License-Identifier: Apache-2.0
"""The C and C++ compilers: choice, flags, parallel compilation with a dependency-tracking cache."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from build_parts.paths import BUILD, ROOT, say
from build_parts.precompiled import STANDARD, compiled_headers, is_plain_gcc

INSTALL_ADVICE = (
    "Install one (Debian and Ubuntu: apt install g++; Fedora and openEuler: dnf install gcc-c++; "
    "conda: conda install cxx-compiler) or name yours in the environment: CC=... CXX=..."
)
# From so many units on, compiling their headers once is the shorter way.
WORTH_PRECOMPILING = 8
FLAGS_COMMENT = re.compile(r"^// build flags: (.+)$", re.MULTILINE)


class BuildError(Exception):
    """The build cannot go on; the text says what to do about it."""


@dataclass(frozen=True)
class Unit:
    """One source file to compile into one object file."""

    source: Path
    flags: tuple[str, ...]
    label: str
    headers: str = STANDARD
    """What is compiled once for all units that have it and the same flags; empty: nothing."""
    members: tuple[Path, ...] = ()
    """The sources that this one includes, if it is a batch of them."""

    def bytes(self) -> int:
        """How much text of ours there is to compile, headers aside."""
        return sum(path.stat().st_size for path in self.members or (self.source,))


Job = tuple[Unit, list[str], Path]
"""What to compile, with which words, into which file."""


@dataclass
class Toolchain:
    """The two compilers and what this build asks of them."""

    sanitize: tuple[str, ...] = ()
    cc: list[str] = field(default_factory=lambda: find_compiler("CC", ("gcc", "cc", "clang")))
    cxx: list[str] = field(default_factory=lambda: find_compiler("CXX", ("g++", "c++", "clang++")))
    commands: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    """What `compile` was asked for -> entries of compile_commands.json"""

    def common_flags(self) -> list[str]:
        flags = ["-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-pthread"]
        # Contraction would make a sum of products round differently from one machine to the next.
        # Nobody reads the errno of <cmath>.
        flags += ["-ffp-contract=off", "-fno-math-errno"]
        if self.sanitize:
            flags += [f"-fsanitize={','.join(self.sanitize)}", "-g", "-fno-omit-frame-pointer"]
        return flags + shlex.split(os.environ.get("ACLNN_PY_CFLAGS", ""))

    def link_flags(self, *, undefined_allowed: bool) -> list[str]:
        flags = ["-shared", "-pthread"]
        if self.sanitize:
            return [*flags, f"-fsanitize={','.join(self.sanitize)}"]
        if not undefined_allowed:
            flags.append("-Wl,--no-undefined")
        return [*flags, "-static-libgcc", "-Wl,--exclude-libs,ALL"]

    def variant(self) -> str:
        """Name of the object directory: objects of different options never mix."""
        return "-".join((platform.machine(), *self.sanitize)) or "plain"

    def compile(self, parts: Mapping[str, Sequence[Unit]]) -> dict[str, list[Path]]:
        """Compile what is out of date, in parallel; return the object files of each part in order.

        All parts share one queue: the last files of one would leave processors idle otherwise.
        """
        jobs: list[Job] = []
        times: dict[str, int] = {}
        objects = {
            what: self.plan(units, self.commands.setdefault(what, []), jobs, times)
            for what, units in parts.items()
        }
        names = " and ".join(parts)
        count = sum(map(len, objects.values()))
        if jobs:
            workers = job_count()
            say(f"{names}: compiling {len(jobs)} of {count} files, {workers} at a time")
            self.work(jobs, workers)
        else:
            say(f"{names}: {count} object files are up to date")
        return objects

    def plan(
        self,
        units: Sequence[Unit],
        entries: list[dict[str, object]],
        jobs: list[Job],
        times: dict[str, int],
    ) -> list[Path]:
        """Object files of the units; what is out of date joins `jobs`."""
        folder = BUILD / "obj" / self.variant()
        objects = []
        entries.clear()
        for unit in units:
            compiler = self.cxx if unit.source.suffix in (".cpp", ".cc") else self.cc
            command = [*compiler, *self.common_flags(), *unit.flags, *own_flags(unit.source)]
            digest = hashlib.sha256(shlex.join(command).encode()).hexdigest()[:12]
            target = folder / f"{unit.label.replace('/', '.')}.{digest}.o"
            objects.append(target)
            entries += [
                {
                    "directory": str(ROOT),
                    "file": str(source),
                    "arguments": [*command, "-c", str(source), "-o", str(target)],
                    "output": str(target),
                }
                for source in unit.members or (unit.source,)
            ]
            if not up_to_date(unit.source, target, times):
                jobs.append((unit, command, target))
        return objects

    def work(self, jobs: list[Job], workers: int) -> None:
        """Run the compilers."""
        folder = BUILD / "obj" / self.variant()
        folder.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(workers) as pool:
            # Before the units, so none of these waits for one that has not begun.
            added = self.precompiled([unit for unit, _, _ in jobs], folder, pool)
            # Processors that ended early would wait for a long one begun late; kernels are long.
            jobs.sort(key=lambda job: (job[0].headers == STANDARD, -job[0].bytes()))
            futures = {
                pool.submit(compile_one, unit, command, target, added.get(unit)): unit
                for unit, command, target in jobs
            }
            for number, future in enumerate(as_completed(futures), 1):
                unit = futures[future]
                try:
                    warnings = future.result()
                except BuildError:
                    for other in futures:
                        other.cancel()
                    raise
                say(f"[{number}/{len(jobs)}] {unit.label}")
                if warnings:
                    say(warnings)

    def precompiled(
        self, units: Sequence[Unit], folder: Path, pool: ThreadPoolExecutor
    ) -> dict[Unit, Future[list[str]]]:
        """What to add to the commands of units that share precompiled headers."""
        alike: dict[tuple[str, ...], list[Unit]] = {}
        for unit in units:
            if unit.source.suffix == ".cpp" and unit.headers:
                shared = [flag for flag in unit.flags if not flag.startswith(("-D", "-I"))]
                alike.setdefault((unit.headers, *shared), []).append(unit)
        many = {key: group for key, group in alike.items() if len(group) >= WORTH_PRECOMPILING}
        if not many or not is_plain_gcc(self.cxx):
            return {}
        added: dict[Unit, Future[list[str]]] = {}
        for (headers, *flags), group in many.items():
            words = [*self.common_flags(), *flags]
            made = pool.submit(compiled_headers, self.cxx, words, headers, folder)
            added |= dict.fromkeys(group, made)
        return added

    def link(
        self,
        objects: Iterable[Path],
        target: Path,
        flags: Sequence[str],
        *,
        undefined_allowed: bool = False,
    ) -> None:
        """Link a shared library; the old file is replaced in one step, never written in place."""
        objects = list(objects)
        stamp = target.with_name(f".{target.name}.link")
        command = [*self.cxx, *self.link_flags(undefined_allowed=undefined_allowed), *flags]
        record = shlex.join([*command, *map(str, objects)])
        if (
            target.is_file()
            and stamp.is_file()
            and stamp.read_text() == record
            and all(o.stat().st_mtime_ns <= target.stat().st_mtime_ns for o in objects)
        ):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(f".{target.name}.{os.getpid()}")
        # A response file: the object list outgrows the longest command line some day.
        response = BUILD / f"{target.name}.{os.getpid()}.rsp"
        response.write_text("\n".join(shlex.quote(str(o)) for o in objects))
        try:
            run([*command, "-o", str(fresh), f"@{response}"], f"link {target.name}")
            os.replace(fresh, target)
        finally:
            response.unlink(missing_ok=True)
            fresh.unlink(missing_ok=True)
        stamp.write_text(record)
        say(f"linked {target.relative_to(ROOT)} ({target.stat().st_size / 1e6:.1f} MB)")


def find_compiler(variable: str, candidates: Sequence[str]) -> list[str]:
    """The compiler named by the environment (several words allowed), else the first one found."""
    named = shlex.split(os.environ.get(variable, ""))
    for words in [named] if named else [[name] for name in candidates]:
        if shutil.which(words[0]):
            return words
    language = "C++17" if variable == "CXX" else "C"
    if named:
        raise BuildError(f"{variable}={shlex.join(named)}: no such compiler. {INSTALL_ADVICE}")
    raise BuildError(
        f"no {language} compiler found (looked for {', '.join(candidates)}). {INSTALL_ADVICE}"
    )


def job_count() -> int:
    """How many compilers run at once."""
    named = os.environ.get("ACLNN_PY_JOBS") or os.environ.get("MAX_JOBS")
    if named:
        return max(1, int(named))
    return max(1, len(os.sched_getaffinity(0)))


def own_flags(source: Path) -> list[str]:
    """Flags a source asks for itself, in a line `// build flags: ...` near its top."""
    with source.open(encoding="utf-8") as file:
        found = FLAGS_COMMENT.search(file.read(600))
    return shlex.split(found.group(1)) if found else []


def up_to_date(source: Path, target: Path, times: dict[str, int]) -> bool:
    """Whether `target` is newer than its source and every header its last compilation read.

    `times` keeps the modification times of headers, which many sources share.
    """
    depfile = target.with_suffix(".d")
    try:
        built = target.stat().st_mtime_ns
        rule = depfile.read_text(encoding="utf-8").replace("\\\n", " ").split(":", 1)[1]
    except OSError:
        return False
    # Only names with blanks are escaped, and reading escapes is slow.
    names = shlex.split(rule) if "\\" in rule else rule.split()
    try:
        for name in (*names, str(source)):
            if name not in times:
                times[name] = os.stat(name).st_mtime_ns
            if times[name] >= built:
                return False
    except OSError:
        return False
    return True


def compile_one(
    unit: Unit, command: Sequence[str], target: Path, added: Future[list[str]] | None
) -> str:
    """Compile one file, with what its precompiled headers add; return the compiler's warnings."""
    fresh = target.with_name(f"{target.name}.{os.getpid()}")
    depfile = target.with_suffix(".d")
    headers = added.result() if added else []
    full = [*command, *headers, "-MMD", "-MF", str(depfile), "-MT", "object"]
    began = time.time_ns()
    text = run([*full, "-c", str(unit.source), "-o", str(fresh)], f"compile {unit.label}")
    # A source saved while the compiler ran is newer than its object file.
    os.utime(fresh, ns=(began, began))
    os.replace(fresh, target)
    return text


def run(command: Sequence[str], what: str) -> str:
    """Run a compiler; return what it printed, or raise with all of it."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", cwd=ROOT, check=False
        )
    except OSError as error:
        raise BuildError(f"{what}: cannot run {command[0]}: {error}. {INSTALL_ADVICE}") from error
    output = (done.stdout + done.stderr).strip()
    if done.returncode:
        advice = ""
        if "cannot find -lstdc++" in output:
            advice = "\nThe static C++ runtime is missing (Fedora and openEuler: libstdc++-static)."
        raise BuildError(f"{what} failed\n{shlex.join(command)}\n{output}{advice}")
    return output
