# SPDX-License-Identifier: Apache-2.0
"""Calls of C functions, through ``C``: what they make, destroy and use."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from aclnn_py._ffi import C, ffi, lib
from aclnn_py._ffi.source_lines import calling_stack
from aclnn_py.checking.history import History, Life, stack_text
from aclnn_py.checking.queued import Queued
from aclnn_py.checking.reports import Reports
from aclnn_py.errors import CheckClosedError, CheckError
from aclnn_py.runtime.status import recent_message

__all__ = ["Functions"]

_MEMORY = ("aclrtMalloc", "aclrtMallocAlign32", "aclrtMallocCached", "aclrtMallocWithCfg")
_FREE = ("aclrtFree", "aclrtFreeWithDevSync")
_OBJECTS = re.compile(
    r"acl(?:Create|Destroy)(Tensor|TensorList|Scalar|ScalarList|IntArray|FloatArray|BoolArray|"
    r"DataBuffer|TensorDesc)$"
)
_MADE_INTO = re.compile(r"aclrtCreate(Stream|Event)\w*$")
_DESTROYED = re.compile(r"aclrtDestroy(Stream|Event)(Force)?$")
_HANDLES = re.compile(
    r"(acl(?:Tensor|TensorList|Scalar|ScalarList|IntArray|FloatArray|BoolArray|OpExecutor)"
    r"|void) \*$"
)
# What an argument of type void * may be. Other kinds are told apart by their types: a library may
# give the address of a destroyed object to anything.
_UNTYPED = ("Stream", "Event", "memory")
# They take any address on purpose, or say themselves what an address is.
_ANY_ADDRESS = frozenset({"aclrtPointerGetAttributes"})


class Functions:
    """Stands between callers and C functions.

    Parameters
    ----------
    history : History
        Where lives are written down.
    queued : Queued
        What the streams still have to do.
    reports : Reports
        What the emulator found, asked for after each wait.
    """

    def __init__(self, history: History, queued: Queued, reports: Reports) -> None:
        self._reports = reports
        self._history = history
        self._queued = queued
        self._opened: dict[int, int] = {}

    def wrap(self, name: str, function: Any) -> Any:
        """Return what `C` hands out for a function."""
        special = self._special(name, function)
        if special is None:
            return self._guarded(name, function)
        return special

    def _special(self, name: str, function: Any) -> Callable[..., Any] | None:
        if name in _MEMORY:
            return lambda *args: self._allocate(function, args)
        if name in _FREE:
            return lambda address, *rest: self._free(name, function, address, rest)
        if object_ := _OBJECTS.match(name):
            kind = f"acl{object_[1]}"
            if name.startswith("aclCreate"):
                return lambda *args: self._create(kind, name, function, args)
            return lambda raw: self._destroy(kind, name, function, raw)
        if name == "aclDestroyAclOpExecutor":
            return lambda raw: self._destroy("aclOpExecutor", name, function, raw)
        if made := _MADE_INTO.match(name):
            return lambda out, *rest: self._create_into(made[1], function, out, rest)
        if ended := _DESTROYED.match(name):
            return lambda raw: self._destroy(ended[1], name, function, raw)
        if name == "aclrtSetDevice":
            return lambda index: self._set_device(function, index)
        if name in ("aclrtResetDevice", "aclrtResetDeviceForce"):
            return lambda index: self._reset_device(name, function, index)
        return None

    def _guarded(self, name: str, function: Any) -> Any:
        """Refuse arguments that are dead; functions without such arguments stay as they are."""
        kind = ffi.typeof(getattr(lib, name))  # another wrapper may be before this one
        if kind.kind != "function" or name in _ANY_ADDRESS:
            return function
        typed = [(i, _HANDLES.search(a.cname)) for i, a in enumerate(kind.args)]
        places = [(i, found[1]) for i, found in typed if found is not None]
        if not places:
            return function
        waits = name.startswith(("aclrtSynchronize", "aclrtMemcpy"))

        def call(*args: Any) -> Any:
            for place, type_name in places:
                if place < len(args):
                    self._refuse_dead(name, args[place], type_name)
            result = function(*args)
            if waits:
                self._reports.take(name)
            return result

        return call

    def _refuse_dead(self, name: str, raw: Any, type_name: str) -> None:
        address = address_of(raw)
        life = self._history.dead(address) if address else None
        if life is None or life.kind not in (_UNTYPED if type_name == "void" else (type_name,)):
            return
        raise CheckClosedError(
            f"{name} uses {_named(life)}, which is {life.reason.split(' ', 1)[1]}",
            fault="use after destroy",
            stacks=[*life.stacks(), (f"used by {name}", stack_text(calling_stack()))],
        )

    def _create(self, kind: str, name: str, function: Any, args: tuple[Any, ...]) -> Any:
        raw = function(*args)
        address = address_of(raw)
        if address:
            life = Life(kind, address)
            if name.endswith("List") and len(args) == 2 and address_of(args[0]):
                life.members = tuple(address_of(member) for member in args[0][0 : int(args[1])])
            self._history.born(life)
        return raw

    def _create_into(self, kind: str, function: Any, out: Any, rest: tuple[Any, ...]) -> Any:
        status = function(out, *rest)
        if status == 0 and out != ffi.NULL:
            life = Life(kind, address_of(out[0]))
            if kind == "Stream":
                self._queued.adopt(life.address, _current_device())
            self._history.born(life)
        return status

    def _destroy(self, kind: str, name: str, function: Any, raw: Any) -> Any:
        address = address_of(raw)
        if address:
            self._refuse_second(kind, name, address)
        status = function(raw)
        if status == 0 and address:
            self._history.ended(address)
        return status

    def _refuse_second(self, kind: str, name: str, address: int) -> None:
        life = self._history.dead(address)
        if life is not None and life.kind == kind:
            raise CheckError(
                f"{name} is called for {_named(life)}, which is"
                f" {life.reason.split(' ', 1)[1]} already",
                fault="double destroy",
                stacks=[*life.stacks(), (f"{name} called again", stack_text(calling_stack()))],
            )

    def _allocate(self, function: Any, args: tuple[Any, ...]) -> Any:
        status = function(*args)
        if status == 0:
            # Kernels may touch what the length is rounded up to.
            nbytes = -(-int(args[1]) // 32) * 32
            self._history.born(Life("memory", address_of(args[0][0]), nbytes))
        return status

    def _free(self, name: str, function: Any, raw: Any, rest: tuple[Any, ...]) -> Any:
        address = address_of(raw)
        self._refuse_second("memory", name, address)
        life = self._history.alive(address)
        # aclrtFreeWithDevSync waits for the device itself.
        if life is not None and name == "aclrtFree":
            work = self._queued.using(life.address, life.nbytes)
            if work is not None:
                raise CheckError(
                    f"{name} is called for {_named(life)} while stream {work.stream_id} still has"
                    f" {work.name} to do, which uses it; it stays allocated",
                    fault="freed while in use",
                    stacks=[
                        *life.stacks(),
                        (f"{work.name} launched", stack_text(work.stack)),
                        (f"{name} called", stack_text(calling_stack())),
                    ],
                )
        status = function(raw, *rest)
        ended = self._history.ended(address, "freed") if _was_freed(status) else None
        if status == _WRITTEN_OUTSIDE and ended is not None:
            raise CheckError(
                f"something wrote outside {_named(ended)}: {recent_message()}",
                fault="write outside an allocation",
                stacks=[*ended.stacks()],
            )
        return status

    def _set_device(self, function: Any, index: int) -> Any:
        status = function(index)
        if status == 0:
            self._opened[index] = self._opened.get(index, 0) + 1
        return status

    def _reset_device(self, name: str, function: Any, index: int) -> Any:
        status = function(index)
        if status != 0:
            return status
        left = 0 if name.endswith("Force") else max(0, self._opened.get(index, 0) - 1)
        self._opened[index] = left
        if left == 0:
            for address in self._queued.streams_of(index):
                self._history.ended(address, f"gone with {name}({index})")
        return status


_WRITTEN_OUTSIDE = 507015


def _was_freed(status: int) -> bool:
    # Damage is found while the memory is freed, and it is freed.
    return status in (0, _WRITTEN_OUTSIDE)


def address_of(raw: Any) -> int:
    """Return a pointer as a number; 0 for None and for what is no pointer."""
    if isinstance(raw, int):
        return raw
    if isinstance(raw, ffi.CData) and ffi.typeof(raw).kind in ("pointer", "array"):
        return int(ffi.cast("uintptr_t", raw))
    return 0


def _named(life: Life) -> str:
    if life.kind == "memory":
        return f"the memory of {life.nbytes} bytes at {life.address:#x}"
    return f"the {life.kind} {life.address:#x}"


def _current_device() -> int:
    out = ffi.new("int32_t *")
    return int(out[0]) if C.aclrtGetDevice(out) == 0 else -1
