# SPDX-License-Identifier: Apache-2.0
"""Rules about libraries: which exist, whether they can be loaded, which functions they lack."""

from __future__ import annotations

import platform
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from aclnn_py import facts as documents
from aclnn_py._ffi import ffi, lib, routing
from aclnn_py.tools.doctor.elf import Shared
from aclnn_py.tools.doctor.facts import Facts
from aclnn_py.tools.doctor.finding import Finding, error, note, ok, warning

__all__ = ["RULES", "operator_counts"]

_BASE = ("libacl_rt.so", "libascendcl.so", "libnnopbase.so", "libopapi.so", "libhccl.so")
# Nothing works without these; any other function is looked up when it is called.
_ESSENTIAL = (
    "aclInit", "aclFinalize", "aclrtSetDevice", "aclrtResetDevice", "aclrtCreateStream",
    "aclrtDestroyStream", "aclrtSynchronizeStream", "aclrtMalloc", "aclrtFree", "aclrtMemcpy",
    "aclrtMemcpyAsync", "aclCreateTensor", "aclDestroyTensor", "aclCreateScalar",
    "aclDestroyScalar", "aclCreateTensorList", "aclDestroyTensorList",
)  # fmt: skip
_SYSTEM = re.compile(
    r"(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|util|resolv|stdc\+\+|gcc_s|atomic|gomp|z|crypt))\b"
)
_SYSTEM_DIRECTORIES = ("/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib")
_REINSTALL = "reinstall the package of CANN that holds it"
_SHOWN = 6


def libraries_readable(facts: Facts) -> Iterator[Finding]:
    """Every library of CANN is one for this machine, and no broken link."""
    if not facts.has_cann:
        return
    fine = 0
    for directory in facts.installation.directories:
        for path in sorted(directory.glob("lib*.so")):
            if path.is_symlink() and not path.exists():
                yield error(
                    f"{path} is a link to {path.readlink()}, which does not exist",
                    "the library cannot be opened",
                    _REINSTALL,
                )
            elif path.name in _BASE or path.name.startswith("libopapi"):
                shared = facts.shared(path)
                if isinstance(shared, str):
                    yield error(f"{path}: {shared}", "the library cannot be opened", _REINSTALL)
                elif shared.machine != platform.machine():
                    yield error(
                        f"{path} is for {shared.machine}, this machine is {platform.machine()}",
                        "the library cannot be opened",
                        f"install CANN for {platform.machine()}",
                    )
                else:
                    fine += 1
    if fine:
        yield ok(f"{fine} libraries of CANN can be read")


def runtime_library(facts: Facts) -> Iterator[Finding]:
    """The libraries for the runtime, tensors, operators and communication exist."""
    if not facts.has_cann:
        return
    for purpose, names in (
        ("runtime", ("libacl_rt.so", "libascendcl.so")),
        ("tensors and executors", ("libnnopbase.so",)),
        ("operators", _operator_names(facts)),
        ("communication", ("libhccl.so",)),
    ):
        found = [path for name in names for path in facts.installation.locate(name)]
        if found:
            yield ok(f"{purpose}: {', '.join(dict.fromkeys(path.name for path in found))}")
        else:
            yield error(
                f"no library for {purpose}: none of {', '.join(names)}",
                "every call of that kind raises LibraryNotFoundError or SymbolNotFoundError",
                "install the toolkit package of CANN completely",
            )


def dependencies(facts: Facts) -> Iterator[Finding]:
    """The libraries that CANN's libraries need are found by the system's loader or beside them."""
    cache = _loader_cache(facts)
    missing: dict[str, list[str]] = defaultdict(list)
    for path in _base_libraries(facts):
        shared = facts.shared(path)
        if isinstance(shared, str):
            continue
        for needed in shared.needed:
            if not _SYSTEM.match(needed) and not _is_found(facts, needed, cache):
                missing[needed].append(path.name)
    for needed, users in sorted(missing.items()):
        driver = needed.startswith(("libascend_hal", "libdcmi", "libdrvdsmi"))
        yield error(
            f"{needed}, which {', '.join(users)} needs, was not found",
            "those libraries cannot be loaded",
            "install the driver, or mount /usr/local/Ascend/driver into the container"
            if driver
            else _REINSTALL,
        )


def _loader_cache(facts: Facts) -> bytes:
    try:
        return facts.host.path("/etc/ld.so.cache").read_bytes()
    except OSError:
        return b""


def _is_found(facts: Facts, name: str, cache: bytes) -> bool:
    host, installation = facts.host, facts.installation
    places = [*installation.directories, *installation.driver_directories]
    places += map(Path, host.directories("LD_LIBRARY_PATH"))
    places += [host.path(place) for place in _SYSTEM_DIRECTORIES]
    places += [host.path(f"/usr/lib/{platform.machine()}-linux-gnu")]
    return any((p / name).exists() for p in places) or name.encode() + b"\0" in cache


def essential_functions(facts: Facts) -> Iterator[Finding]:
    """The functions that every program calls exist."""
    if not facts.has_cann:
        return
    missing = [name for name in _ESSENTIAL if not _has(facts, routing.libraries_of(name), (name,))]
    if missing:
        yield error(
            f"functions that every program calls are missing: {_listed(missing)}",
            "calling one raises SymbolNotFoundError",
            _REINSTALL,
        )


def declared_functions(facts: Facts) -> Iterator[Finding]:
    """Count the declared functions that each family of libraries has."""
    if not facts.has_cann:
        return
    families: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for index in range(lib.ap_slot_count()):
        name = ffi.string(lib.ap_slot_name(index)).decode()
        families[routing.libraries_of(name)].append(name)
    for libraries, names in families.items():
        missing = [
            n for n in names if not _has(facts, libraries, (n, routing.other_spelling(n) or n))
        ]
        have = (
            f"{' or '.join(libraries[:2])}: {len(names) - len(missing)} of {len(names)} functions"
        )
        if missing:
            yield note(
                f"{have}; missing: {_listed(missing)}",
                "they came with another release; calling one raises SymbolNotFoundError",
            )
        else:
            yield ok(have)


def operator_counts(facts: Facts) -> dict[str, dict[str, list[str]]]:
    """Return the available and the missing operators of each family."""
    names = _operator_names(facts)
    paths = [path for name in names for path in facts.installation.locate(name)]
    custom = facts.installation.custom_libraries
    symbols = _symbols(facts, [*custom, *paths])
    result: dict[str, dict[str, list[str]]] = {}
    for name, fact in documents.operators().items():
        here = name in symbols and f"{name}GetWorkspaceSize" in symbols
        family = result.setdefault(fact.family, {"available": [], "missing": []})
        family["available" if here else "missing"].append(name)
    return result


def operators_by_family(facts: Facts) -> Iterator[Finding]:
    """Count the operators of each family that the libraries have."""
    if not facts.has_cann:
        return
    for family, names in sorted(operator_counts(facts).items()):
        have, missing = names["available"], names["missing"]
        text = f"{family}: {len(have)} of {len(have) + len(missing)} operators"
        if not have:
            yield warning(
                f"{text}: the whole family is missing",
                "calling one raises SymbolNotFoundError",
                "install the operator package of CANN that holds them, or a newer CANN",
            )
        elif missing:
            yield note(
                f"{text}; missing: {_listed(missing)}",
                "they came with another release; `aclnn-py ops NAME` says which",
            )
        else:
            yield ok(text)


def custom_packages(facts: Facts) -> Iterator[Finding]:
    """Operators of custom packages, and CANN's own that they replace."""
    own = set(documents.operators())
    for path in facts.installation.custom_libraries:
        shared = facts.shared(path)
        if isinstance(shared, str):
            yield error(f"{path}: {shared}", "the custom package cannot be opened", "rebuild it")
            continue
        replaced = sorted(own & shared.symbols)
        if replaced:
            yield warning(
                f"{path} replaces operators of CANN: {_listed(replaced)}",
                "if its argument lists differ, calls read the wrong arguments and may crash",
                "rename them in the package, or take it out of ASCEND_CUSTOM_OPP_PATH and"
                " vendors/config.ini",
            )
        else:
            yield ok(f"custom operators: {path}")
    for entry in facts.installation.searched:
        if entry.reason.startswith("skipped"):
            yield warning(
                f"{entry.place}: {entry.reason}",
                "loading it would run another user's code in this process",
                "change the owner of the file to you or to root",
            )


def _operator_names(facts: Facts) -> tuple[str, ...]:
    return routing.operator_libraries(facts.installation.split_operator_libraries())


def _base_libraries(facts: Facts) -> Iterator[Path]:
    for name in dict.fromkeys((*_BASE, *_operator_names(facts))):
        yield from facts.installation.locate(name)


def _symbols(facts: Facts, paths: Iterable[Path]) -> frozenset[str]:
    read = [shared for path in paths if isinstance(shared := facts.shared(path), Shared)]
    return frozenset().union(*(shared.symbols for shared in read))


def _has(facts: Facts, libraries: tuple[str, ...], names: tuple[str, ...]) -> bool:
    paths = (path for library in libraries for path in facts.installation.locate(library))
    for path in paths:
        shared = facts.shared(path)
        if isinstance(shared, Shared) and any(name in shared.symbols for name in names):
            return True
    return False


def _listed(names: list[str]) -> str:
    rest = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + rest


RULES = (
    libraries_readable,
    runtime_library,
    dependencies,
    essential_functions,
    declared_functions,
    operators_by_family,
    custom_packages,
)
