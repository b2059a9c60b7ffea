# SPDX-License-Identifier: Apache-2.0
"""Load the chosen device's libraries one by one and look functions up in them.

A symbol always comes from the handle of a named library: custom operator packages export CANN's own
names with other argument lists, so the process-wide scope cannot be trusted. Libraries are opened
when the first function of theirs is needed.
"""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aclnn_py._ffi import discovery, routing
from aclnn_py._ffi._binding import ffi, lib
from aclnn_py.errors import ForkError, LibraryLoadError, LibraryNotFoundError, SymbolNotFoundError

__all__ = ["EMULATOR", "NPU", "Libraries", "OpenLibrary", "emulator_at", "open_library"]

NPU = "npu"
EMULATOR = "emulator"
_MISSING_DEPENDENCY = re.compile(r"^([^/\s:]+\.so[^\s:]*): cannot open shared object file")
_MAX_PRELOADS = 64
# The emulator's device has CANN's functions under names with a prefix (build_parts/gates.py).
_DEVICE = "libaclnn_py_emulator_device.so"
_EMULATED = "emulated_"
_OWN = "aclnn_py_"


class OpenLibrary:
    """One library that was opened."""

    __slots__ = ("_prefix", "handle", "path")

    def __init__(self, path: str, handle: Any) -> None:
        self.path = path
        self.handle = handle
        self._prefix = _EMULATED if os.path.basename(path) == _DEVICE else ""

    def symbol(self, name: str) -> int:
        """Address of a function, 0 when the library and its dependencies have none of that name."""
        if not name.startswith(_OWN):
            name = self._prefix + name
        return int(ffi.cast("uintptr_t", lib.ap_library_symbol(self.handle, name.encode())))


class Libraries:
    """The libraries of one device kind, opened as they are needed."""

    def __init__(self, kind: str, installation: discovery.Installation) -> None:
        self.kind = kind
        self.installation = installation
        self._lock = threading.RLock()
        self._open: dict[str, OpenLibrary | None] = {}
        self._reasons: list[tuple[str, str]] = []

    def opened(self) -> dict[str, str]:
        """Libraries opened so far: name -> path."""
        with self._lock:
            return {name: entry.path for name, entry in self._open.items() if entry is not None}

    def searched(self) -> list[tuple[str, str]]:
        """Every place looked at so far and every reason of the system's loader."""
        places = [(entry.place, entry.reason) for entry in self.installation.searched]
        with self._lock:
            return [*places, *self._reasons]

    def find(self, name: str) -> tuple[int, str]:
        """(address, path of the library) of a function that is no operator."""
        for spelling in filter(None, (name, routing.other_spelling(name))):
            for library in self._homes(spelling):
                opened = self.open(library)
                address = opened.symbol(spelling) if opened else 0
                if opened and address:
                    return address, opened.path
        raise SymbolNotFoundError(
            name,
            libraries=self._asked(self._homes(name)),
            version=self.installation.version,
            since=since_of(name),
            device=self.kind,
        )

    def find_operator(self, c_name: str, since: Callable[[], str] = str) -> tuple[int, int, str]:
        """(phase one, phase two, path) of an operator; both phases come from one library."""
        names = [str(path) for path in self.installation.custom_libraries]
        split = self.installation.split_operator_libraries()
        names += self._device() or routing.operator_libraries(split)
        for library in names:
            opened = self.open(library)
            found = self.operator_in(opened, c_name) if opened else None
            if opened and found:
                return (*found, opened.path)
        raise SymbolNotFoundError(
            f"{c_name}GetWorkspaceSize",
            libraries=self._asked(names),
            version=self.installation.version,
            since=since(),
            device=self.kind,
        )

    @staticmethod
    def operator_in(opened: OpenLibrary, c_name: str) -> tuple[int, int] | None:
        """Both phases of an operator in one library, if it has both."""
        first = opened.symbol(f"{c_name}GetWorkspaceSize")
        second = opened.symbol(c_name) if first else 0
        return (first, second) if first and second else None

    def open(self, library: str) -> OpenLibrary | None:
        """Open a library by name or path once; None when there is no such file.

        Raises
        ------
        LibraryLoadError
            The file is there and cannot be loaded.
        """
        with self._lock:
            if library not in self._open:
                self._open[library] = self._open_first(library)
            return self._open[library]

    def require(self, library: str) -> OpenLibrary:
        """Open a library by path; its absence is an error."""
        opened = self.open(library)
        if opened is None:
            raise LibraryNotFoundError(
                f"{library} is not there", library=library, searched=self.searched()
            )
        return opened

    def _homes(self, name: str) -> list[str]:
        """The libraries that may hold a function that is no operator."""
        return self._device() or list(routing.libraries_of(name))

    def _device(self) -> list[str]:
        # One shared object is all of the emulator.
        return [str(self.installation.directories[0])] if self.kind == EMULATOR else []

    def _asked(self, names: list[str]) -> list[str]:
        """Paths of those libraries that are there; the names when none is."""
        opened = self.opened()
        return [opened[name] for name in names if name in opened] or names

    def _open_first(self, library: str) -> OpenLibrary | None:
        if os.sep in library:
            paths = [Path(library)] if Path(library).exists() else []
        else:
            # Two copies of one library in a process are two runtimes: take the one that is there.
            handle = lib.ap_library_loaded(library.encode())
            if handle != ffi.NULL:
                return OpenLibrary(_path_of(handle) or library, handle)
            paths = list(self.installation.locate(library))
        if not paths:
            self._reasons.append((library, "not in any of the library directories"))
            return None
        path = paths[0]
        handle, reason = self._load(path)
        if handle == ffi.NULL:
            self._reasons.append((str(path), reason))
            raise LibraryLoadError(
                f"{path} is there but cannot be loaded: {reason}",
                library=str(path),
                searched=self.searched(),
            )
        return OpenLibrary(str(path), handle)

    def _load(self, path: Path) -> tuple[Any, str]:
        """Open a file. Dependencies the system's loader does not find are opened first, by path.

        LD_LIBRARY_PATH is read when a process starts, so a program that was started without
        set_env.sh could not be helped otherwise. A dependency that is already open is found by its
        name.
        """
        where = [*self.installation.directories, *self.installation.driver_directories]
        handle, reason = open_library(path)
        for _ in range(_MAX_PRELOADS):
            missing = _MISSING_DEPENDENCY.match(reason)
            if handle != ffi.NULL or not missing:
                break
            candidate = next((d / missing[1] for d in where if (d / missing[1]).exists()), None)
            if candidate is None or candidate == path:
                break
            opened, why = self._load(candidate)
            self._reasons.append((str(candidate), why or f"opened first: {path.name} needs it"))
            if opened == ffi.NULL:
                return ffi.NULL, f"{missing[1]}, which it needs: {why}"
            handle, reason = open_library(path)
        return handle, reason


def open_library(path: Path) -> tuple[Any, str]:
    """(handle, "") of a file, or (NULL, the reason of the system's loader)."""
    error = ffi.new("char[1024]")
    handle = lib.ap_library_open(os.fsencode(path), error, len(error))
    if handle == ffi.NULL:
        return handle, ffi.string(error).decode("utf-8", "replace") or "unknown reason"
    return handle, ""


def since_of(name: str) -> str:
    """First release of CANN known to have a function, "" when unknown or older than all we know."""
    index = lib.ap_slot_find(name.encode())
    return ffi.string(lib.ap_slot_since(index)).decode() if index >= 0 else ""


def _path_of(handle: Any) -> str:
    text = ffi.new("char[4096]")
    lib.ap_library_path(handle, text, len(text))
    return os.fsdecode(ffi.string(text))


def choose(wanted: str, emulator_path: Path | None) -> Libraries:
    """Open the libraries of the device kind that is wanted: auto, npu or emulator."""
    if wanted == EMULATOR:
        return _emulator(emulator_path)
    installation = discovery.find_installation()
    searched = [(entry.place, entry.reason) for entry in installation.searched]
    if installation.broken:
        raise LibraryLoadError(
            f"CANN is installed but cannot work: {installation.broken}. "
            "Repair it, or set ACLNN_PY_DEVICE=emulator to use the CPU device.",
            library="CANN",
            searched=searched,
        )
    if installation.present:
        return _checked(Libraries(NPU, installation))
    if wanted == NPU:
        raise LibraryNotFoundError(
            "No CANN installation was found. Source its set_env.sh, or name its library directory "
            "in ACLNN_PY_LIBRARY_PATH. ACLNN_PY_DEVICE=emulator uses the CPU device instead.",
            library="CANN",
            searched=searched,
        )
    libraries = _emulator(emulator_path)
    warnings.warn(
        "No CANN installation was found: aclnn_py uses the emulator, a CPU device. "
        "Set ACLNN_PY_DEVICE=emulator to choose it without this warning.",
        RuntimeWarning,
        stacklevel=_caller_depth(),
    )
    return libraries


def _require_emulator(path: Path | None) -> Path:
    if path is None or not path.is_file():
        raise LibraryNotFoundError(
            "The emulator library is missing from the package. In a source tree build it with "
            "`python build_ffi.py`.",
            library=_DEVICE,
            searched=[(str(path), "no such file")],
        )
    return path


def emulator_at(path: Path | None) -> OpenLibrary:
    """Open the emulator of the package beside the libraries of the device in use.

    Its symbols stay in its own handle.

    Raises
    ------
    LibraryNotFoundError
        It is not installed.
    LibraryLoadError
        It cannot be loaded, or is of another version.
    """
    found = _require_emulator(path)
    handle, reason = open_library(found)
    if handle == ffi.NULL:
        raise LibraryLoadError(
            f"{found} is there but cannot be loaded: {reason}", library=str(found), searched=[]
        )
    opened = OpenLibrary(str(found), handle)
    _check_contract(opened, opened.symbol("aclnn_py_emulator_contract"), [])
    return opened


def _emulator(path: Path | None) -> Libraries:
    path = _require_emulator(path)
    installation = discovery.Installation(directories=[path])
    installation.note(path, "the emulator")
    return _checked(Libraries(EMULATOR, installation))


def _checked(libraries: Libraries) -> Libraries:
    """Make sure that the runtime library opens, and that an emulator fits this extension."""
    names = libraries._homes("aclInit")
    opened = [entry for entry in map(libraries.open, names) if entry is not None]
    if not opened:
        raise LibraryNotFoundError(
            f"None of {', '.join(names)} was found.",
            library="CANN",
            searched=libraries.searched(),
        )
    address = opened[0].symbol("aclnn_py_emulator_contract")
    if not address:
        return libraries
    libraries.kind = EMULATOR
    # From here on Python looks for mistakes, not the library (docs/c_programs.md).
    if announce := opened[0].symbol("aclnn_py_emulator_python_reports"):
        ffi.cast("void (*)(void)", announce)()
    _check_contract(opened[0], address, libraries.searched())
    # Also when it was found under one of CANN's names: the real file answers for all of them.
    libraries.installation.directories = [Path(_path_of_symbol(address) or opened[0].path)]
    return libraries


def _check_contract(emulator: OpenLibrary, address: int, searched: list[tuple[str, str]]) -> None:
    """Refuse an emulator that was built from other headers than this extension."""
    theirs = "none"
    if address:
        theirs = ffi.string(ffi.cast("const char *(*)(void)", address)()).decode()
    ours = ffi.string(lib.ap_contract()).decode()
    if theirs != ours:
        raise LibraryLoadError(
            f"{emulator.path} was built from another version of include/ (contract {theirs}) than "
            f"this package's extension (contract {ours}). Build both: python build_ffi.py",
            library=emulator.path,
            searched=searched,
        )


def _path_of_symbol(address: int) -> str:
    text = ffi.new("char[4096]")
    lib.ap_symbol_path(ffi.cast("void *", address), text, len(text))
    return os.fsdecode(ffi.string(text))


def _caller_depth() -> int:
    """Stack level of the first frame outside the package: the warning names the user's line."""
    import sys

    depth = 1
    frame = sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("aclnn_py"):
        frame = frame.f_back
        depth += 1
    return depth


def forked() -> ForkError:
    """The error of a call in a forked child."""
    return ForkError(
        "The device was in use when this process was forked, and it does not survive fork(). "
        "Start workers with the 'spawn' start method, or fork before the first call."
    )
