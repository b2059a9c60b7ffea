# SPDX-License-Identifier: Apache-2.0
"""The only door to cffi.

`ffi` is the cffi module object, `lib` the functions compiled into the extension (launcher, operator
table), `held` the second module in its library (held.c), and `C` the functions of CANN:
`C.aclrtMalloc` is looked up in its library at the first use.
Importing this loads no device library.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

from aclnn_py._ffi import libraries as _libraries
from aclnn_py._ffi._binding import ffi, lib
from aclnn_py.emulator import device_path
from aclnn_py.errors import SymbolNotFoundError

__all__ = [
    "C",
    "CallWrapper",
    "LibraryInfo",
    "OpenLibrary",
    "add_wrapper",
    "bind_operator",
    "device_kind",
    "ffi",
    "held",
    "lib",
    "library_info",
    "loaded",
    "open_emulator",
    "open_library",
    "own_function",
    "remove_wrapper",
    "use",
]


def _held_module() -> Any:
    library: Any = find_spec("aclnn_py._ffi._binding")
    loader = ExtensionFileLoader("aclnn_py._ffi._held", library.origin)
    spec: Any = spec_from_loader(loader.name, loader)
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


held = _held_module()
OpenLibrary = _libraries.OpenLibrary
KINDS = ("auto", _libraries.NPU, _libraries.EMULATOR)
# The launcher calls these from C, through the same table.
_LAUNCHER_FUNCTIONS = (
    *(f"aclCreate{kind}" for kind in (
        "Tensor", "TensorList", "Scalar", "ScalarList", "IntArray", "FloatArray", "BoolArray",
    )),
    *(f"aclDestroy{kind}" for kind in (
        "Tensor", "TensorList", "Scalar", "ScalarList", "IntArray", "FloatArray", "BoolArray",
        "AclOpExecutor",
    )),
    "aclGetRecentErrMsg",
    "aclSetAclOpExecutorRepeatable",
    "aclSetTensorAddr",
    "aclSetDynamicTensorAddr",
)  # fmt: skip

CallWrapper = Callable[[str, Any], Any]

_wrappers: tuple[CallWrapper, ...] = ()
_lock = threading.RLock()
_wanted: str | None = None
_loaded: _libraries.Libraries | None = None
_launcher_ready = False
_child_of_user = False


@dataclass(frozen=True)
class LibraryInfo:
    """What the package runs on.

    Attributes
    ----------
    kind : str
        "npu" or "emulator".
    root : Path or None
        Root of CANN.
    version : str
        Release of CANN, "" when unknown or on the emulator.
    libraries : dict
        Libraries opened so far: name -> path.
    searched : tuple
        (place, reason) of every place that was looked at, in order.
    """

    kind: str
    root: Path | None
    version: str
    libraries: dict[str, str]
    searched: tuple[tuple[str, str], ...]


class CannFunctions:
    """Functions and constants of CANN by their C names, looked up at the first use."""

    def __getattr__(self, name: str) -> Any:
        if _child_of_user:
            raise _libraries.forked()
        index = lib.ap_slot_find(name.encode())
        if index < 0:
            value = getattr(lib, name)  # a constant, or AttributeError
        else:
            address, _path = _require().find(name)
            lib.ap_slot_set(index, ffi.cast("void *", address))
            value = getattr(lib, name)
            for wrap in _wrappers:
                value = wrap(name, value)
        self.__dict__[name] = value
        return value

    def has(self, name: str) -> bool:
        """Whether the loaded libraries have a function, an operator (`aclnnAdd`) included."""
        if name in self.__dict__:  # empty in a forked child
            return True
        if _child_of_user:
            raise _libraries.forked()
        try:
            if lib.ap_slot_find(name.encode()) >= 0:
                _require().find(name)
            else:
                _require().find_operator(name.removesuffix("GetWorkspaceSize"))
        except SymbolNotFoundError:
            return False
        return True

    def __dir__(self) -> list[str]:
        return [ffi.string(lib.ap_slot_name(i)).decode() for i in range(lib.ap_slot_count())]


C = CannFunctions()


def add_wrapper(wrap: CallWrapper) -> None:
    """Let functions taken from `C` from now on be what ``wrap(name, function)`` returns.

    Whoever holds a function from before keeps it as it was; the launcher's own calls are not made
    through `C`.
    """
    _exchange_wrappers((*_wrappers, wrap))


def remove_wrapper(wrap: CallWrapper) -> None:
    """Undo `add_wrapper`; one that is unknown is ignored."""
    _exchange_wrappers(tuple(item for item in _wrappers if item is not wrap))


def _exchange_wrappers(wrappers: tuple[CallWrapper, ...]) -> None:
    global _wrappers
    with _lock:
        _wrappers = wrappers
        # What stands there was taken under the old set; the next use looks it up again.
        C.__dict__.clear()


def own_function(name: str, c_type: str) -> Any:
    """A function that only the emulator has, or None on another device."""
    libraries = _require()
    if libraries.kind != _libraries.EMULATOR:
        return None
    opened = libraries.require(str(libraries.installation.directories[0]))
    address = opened.symbol(name)
    return ffi.cast(c_type, address) if address else None


def use(device: str) -> None:
    """Choose the kind of device before the first call.

    Parameters
    ----------
    device : str
        "npu", "emulator", or "auto": an installed CANN, and the emulator only where none is
        installed.

    Raises
    ------
    ValueError
        It is none of the three.
    RuntimeError
        Another kind is in use already.
    """
    global _wanted
    if device not in KINDS:
        raise ValueError(f"device: expected one of {', '.join(KINDS)}, got {device!r}")
    with _lock:
        if _loaded is not None and device not in ("auto", _loaded.kind):
            raise RuntimeError(
                f"the {_loaded.kind} is in use since the first call; call use({device!r}) before "
                "it, or set ACLNN_PY_DEVICE"
            )
        _wanted = device


def loaded() -> bool:
    """Whether the device's libraries have been opened."""
    return _loaded is not None


def device_kind() -> str:
    """Return "npu" or "emulator", opening the libraries if none is open."""
    return _require().kind


def library_info() -> LibraryInfo:
    """Describe the libraries in use, opening them if none is open."""
    libraries = _require()
    installation = libraries.installation
    return LibraryInfo(
        kind=libraries.kind,
        root=installation.root,
        version=installation.version,
        libraries=libraries.opened(),
        searched=tuple(libraries.searched()),
    )


def open_library(path: str) -> _libraries.OpenLibrary:
    """Open a library of a custom operator package by its path."""
    return _require().require(os.path.abspath(path))


def open_emulator() -> _libraries.OpenLibrary:
    """Open the emulator of this package beside the libraries of the device in use.

    Raises
    ------
    LibraryNotFoundError
        It is not installed.
    LibraryLoadError
        It cannot be loaded, or is of another version.
    """
    return _libraries.emulator_at(device_path())


def bind_operator(
    op: Any,
    library: _libraries.OpenLibrary | None = None,
    since: Callable[[], str] = str,
) -> str:
    """Fill in both phases of an operator (`ap_op *`); return the path of the library that has them.

    `since` is asked for the first release that has the operator when no library has it.

    Raises
    ------
    SymbolNotFoundError
        No library has the operator.
    """
    c_name = ffi.string(op.c_name).decode()
    libraries = _require()
    if library is None:
        first, second, path = libraries.find_operator(c_name, since)
    else:
        found = libraries.operator_in(library, c_name)
        if found is None:
            raise SymbolNotFoundError(f"{c_name}GetWorkspaceSize", libraries=[library.path])
        (first, second), path = found, library.path
    _prepare_launcher(libraries)
    op.phase_one = ffi.cast("void *", first)
    op.phase_two = ffi.cast("void *", second)
    return path


def _prepare_launcher(libraries: _libraries.Libraries) -> None:
    global _launcher_ready
    if _launcher_ready:
        return
    for name in _LAUNCHER_FUNCTIONS:
        try:
            address, _path = libraries.find(name)
        except SymbolNotFoundError:
            # Optional since every release has its own set; the slot stays empty and a launch that
            # needs it says so.
            continue
        lib.ap_slot_set(lib.ap_slot_find(name.encode()), ffi.cast("void *", address))
    _launcher_ready = True


def _require() -> _libraries.Libraries:
    global _loaded
    if _child_of_user:
        raise _libraries.forked()
    if _loaded is not None:
        return _loaded
    with _lock:
        if _loaded is None:
            wanted = _wanted or os.environ.get("ACLNN_PY_DEVICE", "") or "auto"
            if wanted not in KINDS:
                raise ValueError(
                    f"ACLNN_PY_DEVICE: expected one of {', '.join(KINDS)}, got {wanted!r}"
                )
            opened = _libraries.choose(wanted, device_path())
            lib.ap_watch_forks()
            _loaded = opened
        return _loaded


def _note_fork() -> None:
    # The lock may be held by a thread that does not exist here.
    global _lock, _child_of_user
    _lock = threading.RLock()
    if _loaded is not None:
        _child_of_user = True
        C.__dict__.clear()


os.register_at_fork(after_in_child=_note_fork)
