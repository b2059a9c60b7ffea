# SPDX-License-Identifier: Apache-2.0
"""Ranks of an HCCL job for the tests: the C interface through ctypes, processes or threads."""

from __future__ import annotations

import contextlib
import ctypes
import ctypes as ct
import multiprocessing
import os
import struct
import subprocess
import sys
import textwrap
import threading
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from aclnn_py.emulator import library_path

LIBRARY = library_path()
ACL_ERROR_REPEAT_INITIALIZE = 100002

Array = npt.NDArray[Any]

DTYPES: dict[str, tuple[int, Any]] = {
    "int8": (0, np.int8),
    "int16": (1, np.int16),
    "int32": (2, np.int32),
    "fp16": (3, np.float16),
    "fp32": (4, np.float32),
    "int64": (5, np.int64),
    "uint64": (6, np.uint64),
    "uint8": (7, np.uint8),
    "uint16": (8, np.uint16),
    "uint32": (9, np.uint32),
    "fp64": (10, np.float64),
    "bfp16": (11, ml_dtypes.bfloat16),
}
CODES = {np.dtype(kind).name: code for code, kind in DTYPES.values()}
ACL_DTYPES = {"float32": 0, "float16": 1, "bfloat16": 27}
OPS = {"sum": 0, "prod": 1, "max": 2, "min": 3}

PARA, PTR, NOT_SUPPORT, NOT_FOUND, TIMEOUT, AGAIN, REMOTE = 1, 2, 5, 6, 9, 20, 21
MISMATCH, LATE, LOST = 507049, 507048, 507057


class CallError(Exception):
    """A C call returned a status other than 0."""

    def __init__(self, routine: str, status: int, text: str) -> None:
        super().__init__(routine, status, text)
        self.routine, self.status, self.text = routine, status, text


class RootInfo(ct.Structure):
    _fields_ = [("internal", ct.c_char * 4108)]


class Item(ct.Structure):
    _fields_ = [
        ("kind", ct.c_int),
        ("buf", ct.c_void_p),
        ("count", ct.c_uint64),
        ("dtype", ct.c_int),
        ("remote", ct.c_uint32),
    ]


class Library:
    """The emulator. ``lib("name", ...)`` calls and raises CallError unless the status is 0."""

    def __init__(self, path: Path = LIBRARY) -> None:
        self.dll = ctypes.CDLL(str(path))
        self.dll.aclGetRecentErrMsg.restype = ct.c_char_p
        self.dll.HcclGetErrorString.restype = ct.c_char_p

    def status(self, routine: str, *arguments: Any) -> int:
        """Call and return the status. Integers travel as 64 bits, which suits every parameter."""
        values = [ct.c_uint64(a) if isinstance(a, int) else a for a in arguments]
        return int(getattr(self.dll, routine)(*values))

    def message(self) -> str:
        text = self.dll.aclGetRecentErrMsg()
        return text.decode() if text else ""

    def __call__(self, routine: str, *arguments: Any) -> None:
        status = self.status(routine, *arguments)
        if status != 0:
            raise CallError(routine, status, self.message())


_library: Library | None = None


def library() -> Library:
    """Return the emulator, loaded and initialised once per process."""
    global _library
    if _library is None:
        _library = Library()
        try:
            _library("aclInit", None)
        except CallError as error:
            if error.status != ACL_ERROR_REPEAT_INITIALIZE:  # the package did it in this process
                raise
    return _library


def current_device(lib: Library) -> int | None:
    """The device of the calling thread, or None before the first aclrtSetDevice."""
    device = ct.c_int32()
    return device.value if lib.status("aclrtGetDevice", ct.byref(device)) == 0 else None


class Rank:
    """One rank: a device, a stream and a communicator. close() gives the thread its device back."""

    def __init__(self, rank: int, ranks: int, device: int | None = None) -> None:
        self.lib = library()
        self.rank, self.ranks = rank, ranks
        self.device = rank % 8 if device is None else device
        self._before = current_device(self.lib)
        self.lib("aclrtSetDevice", self.device)
        self.stream = ct.c_void_p()
        self.lib("aclrtCreateStream", ct.byref(self.stream))
        self.comm = ct.c_void_p()
        self._buffers: list[ct.c_void_p] = []

    def attach(self) -> None:
        """Make the rank's device current for the calling thread."""
        self.lib("aclrtSetDevice", self.device)

    def close(self) -> None:
        if self.comm:
            self.lib.status("HcclCommDestroy", self.comm)
            self.comm = ct.c_void_p()
        self.free()
        self.lib.status("aclrtDestroyStream", self.stream)
        if self._before is not None:
            # What the test runner does on this thread after the test is for that device.
            self.lib("aclrtSetDevice", self._before)

    def free(self) -> None:
        for buffer in self._buffers:
            self.lib("aclrtFree", buffer)
        self._buffers.clear()

    def empty(self, nbytes: int) -> ct.c_void_p:
        buffer = ct.c_void_p()
        self.lib("aclrtMalloc", ct.byref(buffer), max(nbytes, 1), 0)
        self._buffers.append(buffer)
        return buffer

    def put(self, array: Array) -> ct.c_void_p:
        """Copy an array to device memory."""
        array = np.ascontiguousarray(array)
        buffer = self.empty(array.nbytes)
        self.lib(
            "aclrtMemcpy", buffer, array.nbytes, array.ctypes.data_as(ct.c_void_p), array.nbytes, 1
        )
        return buffer

    def get(self, buffer: ct.c_void_p, shape: Any, dtype: Any) -> Array:
        result = np.empty(shape, dtype)
        if result.nbytes:
            target = result.ctypes.data_as(ct.c_void_p)
            self.lib("aclrtMemcpy", target, result.nbytes, buffer, result.nbytes, 2)
        return result

    def call(self, routine: str, *arguments: Any) -> None:
        """Call a collective on this rank's communicator and stream."""
        self.lib(routine, *arguments, self.comm, self.stream)

    def sync(self) -> None:
        self.lib("aclrtSynchronizeStream", self.stream)

    def name(self) -> str:
        text = ct.create_string_buffer(128)
        self.lib("HcclGetCommName", self.comm, text)
        return text.value.decode()

    def async_error(self) -> int:
        result = ct.c_int(-1)
        self.lib("HcclGetCommAsyncError", self.comm, ct.byref(result))
        return result.value


def offset(buffer: ct.c_void_p, nbytes: int) -> ct.c_void_p:
    return ct.c_void_p((buffer.value or 0) + nbytes)


def u64(*values: int) -> Any:
    return (ct.c_uint64 * max(len(values), 1))(*values)


def root_info() -> bytes:
    """Return what HcclGetRootInfo writes; the calling thread needs a device."""
    info = RootInfo()
    library()("HcclGetRootInfo", ct.byref(info))
    return bytes(info)


def join(rank: Rank, info: bytes) -> None:
    """Create the rank's communicator from root info."""
    raw = RootInfo.from_buffer_copy(info)
    rank.lib("HcclCommInitRootInfo", rank.ranks, ct.byref(raw), rank.rank, ct.byref(rank.comm))


NOT_SET = 0xFFFFFFFF
CONFIG_SIZES = {
    1: 32,
    2: 160,
    3: 288,
    4: 292,
    5: 300,
    6: 312,
    7: 320,
    8: 2104,
    9: 2232,
    10: 2240,
    11: 2248,
}


def config(version: int = 5, name: str = "", **fields: int) -> Any:
    """Return an HcclCommConfig of a version, fields not given as not set."""
    raw = bytearray(CONFIG_SIZES[version])
    struct.pack_into(
        "<QIIQ", raw, 0, CONFIG_SIZES[version], fields.pop("magic", 0xF0F0F0F0), version, 0
    )
    places = {
        "buffer": 24,
        "deterministic": 28,
        "mode": 288,
        "traffic": 292,
        "service": 296,
        "world": 300,
        "exec": 316,
    }
    defaults = {"mode": 0}
    for field, place in places.items():
        if place + 4 <= len(raw):
            struct.pack_into("<I", raw, place, fields.pop(field, defaults.get(field, NOT_SET)))
    assert not fields
    if version >= 2:
        raw[32 : 32 + len(name)] = name.encode()
    return (ct.c_char * len(raw)).from_buffer(raw)


Work = Callable[..., Any]


def _run_one(
    work: Work, rank: int, ranks: int, share: Callable[[], bytes] | bytes, arguments: Any
) -> Any:
    one = Rank(rank, ranks)
    try:
        info = share() if callable(share) else share
        join(one, info)
        result = work(one, *arguments)
        one.sync()
        return result
    finally:
        one.close()


def _serve(reply: Connection) -> None:
    """A process that runs ranks until its pipe closes: (ranks here, in all, info, work, ...)."""
    while True:
        try:
            request = reply.recv()
        except EOFError:
            return
        if request == "root info":
            library()("aclrtSetDevice", 0)
            reply.send(root_info())
            continue
        mine, ranks, info, env, work, arguments = request
        before = {name: os.environ.get(name) for name in env}
        os.environ.update(env)
        answers: dict[int, tuple[bool, Any]] = {}

        def body(rank: int) -> None:
            try:
                answers[rank] = (True, _run_one(work, rank, ranks, info, arguments))  # noqa: B023
            except BaseException as error:
                answers[rank] = (False, (error, traceback.format_exc()))  # noqa: B023

        threads = [threading.Thread(target=body, args=(rank,)) for rank in mine]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        reply.send(answers)


class Job:
    """Processes that stay: each `run` is a communicator of its own.

    ``mode`` is "process" (one rank each) or "thread" (all ranks in one process).
    """

    def __init__(self, ranks: int, mode: str) -> None:
        self.ranks, self.mode = ranks, mode
        groups = [[r] for r in range(ranks)] if mode == "process" else [list(range(ranks))]
        context = multiprocessing.get_context("spawn")
        self.members: list[tuple[list[int], Any, Connection]] = []
        for group in groups:
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            self.members.append((group, process, ours))

    def run(
        self,
        work: Work,
        *arguments: Any,
        timeout_s: float = 120.0,
        env: dict[str, str] | None = None,
    ) -> list[Any]:
        """Call ``work(rank, *arguments)`` on every rank; failures name their ranks."""
        outcomes = self.outcomes(work, *arguments, timeout_s=timeout_s, env=env)
        failures = [
            f"rank {rank} of {self.ranks} ({self.mode}):\n{value[1]}"
            for rank, (good, value) in enumerate(outcomes)
            if not good
        ]
        assert not failures, "\n".join(failures)
        return [value for _, value in outcomes]

    def outcomes(
        self,
        work: Work,
        *arguments: Any,
        timeout_s: float = 120.0,
        env: dict[str, str] | None = None,
    ) -> list[tuple[bool, Any]]:
        """Like run, but return (True, value) or (False, (error, text)) of each rank."""
        first = self.members[0][2]
        first.send("root info")
        assert first.poll(timeout_s), "no root info"
        info = first.recv()
        for group, _, pipe in self.members:
            pipe.send((group, self.ranks, info, env or {}, work, arguments))
        answers: dict[int, tuple[bool, Any]] = {}
        for group, process, pipe in self.members:
            if not pipe.poll(timeout_s):
                self.kill()
                raise AssertionError(f"rank {group} gave no answer within {timeout_s} s")
            try:
                answers.update(pipe.recv())
            except EOFError:
                process.join(5)
                self.kill()
                raise AssertionError(f"rank {group} ended with status {process.exitcode}") from None
        return [answers[rank] for rank in range(self.ranks)]

    def kill(self) -> None:
        for _, process, pipe in self.members:
            process.kill()
            pipe.close()
            process.join(5)

    @property
    def alive(self) -> bool:
        return all(process.is_alive() for _, process, _ in self.members)

    def close(self) -> None:
        for _, process, pipe in self.members:
            with contextlib.suppress(OSError):
                pipe.close()
            process.join(10)
            if process.is_alive():
                process.kill()
                process.join(5)


_jobs: dict[tuple[int, str], Job] = {}


def job(ranks: int, mode: str) -> Job:
    """A running job of that shape, started at first use and kept for the following tests."""
    key = (ranks, mode)
    if key not in _jobs or not _jobs[key].alive:
        _jobs[key] = Job(ranks, mode)
    return _jobs[key]


def close_jobs() -> None:
    while _jobs:
        _jobs.popitem()[1].close()


def jobs() -> Iterator[None]:
    """The body of a module fixture that ends what `job` started."""
    yield
    close_jobs()


def script(code: str, *arguments: str, env: dict[str, str] | None = None) -> str:
    """Run code in a fresh process; every name of hccl_ranks is there."""
    source = "from hccl_ranks import *\nimport sys, struct, time, threading\n" + textwrap.dedent(
        code
    )
    done = subprocess.run(
        [sys.executable, "-c", source, *arguments],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, **(env or {})},
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout
