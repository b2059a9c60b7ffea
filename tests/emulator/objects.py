# SPDX-License-Identifier: Apache-2.0
"""One object of each kind that the C interface has, made by calls through ctypes."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable
from pathlib import Path

from aclnn_py._ffi.contract.headers import fragments
from aclnn_py._ffi.contract.reader import Function, read_file

INCLUDE = Path(__file__).resolve().parents[2] / "include"
UNIT = 2 << 20  # of mapped memory
# Results that are no pointers; those of objects have names of their own.
NUMBERS = {"aclError", "aclnnStatus", "HcclResult", "HccnResult", "void", "int32_t", "int"}


def functions() -> dict[str, Function]:
    """Every function of the headers but the operators."""
    found: dict[str, Function] = {}
    for path in fragments(INCLUDE):
        if path.parent.name != "aclnnop":
            found |= read_file(path).functions
    return found


class Device:
    """One context, and the small things that calls need."""

    def __init__(self, path: str) -> None:
        self.library = ctypes.CDLL(path)
        self.library.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self.names = functions()
        self.kept: list[object] = []
        self.stream = 0
        self.open()

    def open(self) -> None:
        """Set the device, and make what makers use."""
        self.ok("aclrtSetDevice", 0)
        self.stream = self.out("aclrtCreateStream")
        self.memory = self.out("aclrtMalloc", 4096, 0)

    def call(self, name: str, *arguments: object) -> int:
        """Call by name; integers and buffers."""
        print(name, *arguments, flush=True)
        function = getattr(self.library, name)
        function.restype = ctypes.c_void_p if self._points(name) else ctypes.c_int32
        self.kept.extend(a for a in arguments if not isinstance(a, int))
        return function(*(ctypes.c_uint64(a) if isinstance(a, int) else a for a in arguments)) or 0

    def _points(self, name: str) -> bool:
        function = self.names.get(name)
        return function is not None and function.result not in NUMBERS

    def message(self) -> str:
        """The text of the last refusal."""
        return (self.library.aclGetRecentErrMsg() or b"").decode()

    def ok(self, name: str, *arguments: object) -> None:
        """Call what has to succeed."""
        status = self.call(name, *arguments)
        if status != 0:
            raise RuntimeError(f"{name} answered {status}: {self.message()}")

    def made(self, name: str, *arguments: object) -> int:
        """An object that is returned."""
        handle = self.call(name, *arguments)
        if handle == 0:
            raise RuntimeError(f"{name} made nothing: {self.message()}")
        return handle

    def out(self, name: str, *arguments: object, at: int = 0) -> int:
        """An object that is written to an address, which is argument ``at``."""
        place = ctypes.c_uint64(0)
        given = list(arguments)
        given.insert(at, ctypes.byref(place))
        self.ok(name, *given)
        return place.value


def numbers(*values: int) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * len(values))(*values)


def words(*values: int) -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * len(values))(*values)


def tensor(d: Device) -> int:
    return d.made("aclCreateTensor", numbers(4), 1, 0, None, 0, 2, numbers(4), 1, d.memory)


def scalar(d: Device) -> int:
    return d.made("aclCreateScalar", numbers(1), 9)


def context(d: Device) -> int:
    before = d.out("aclrtGetCurrentContext")
    made = d.out("aclrtCreateContext", 0)  # which makes it the thread's
    d.ok("aclrtSetCurrentContext", before)
    return made


def executor(d: Device) -> int:
    x, size = tensor(d), ctypes.c_uint64(0)
    return d.out("aclnnAbsGetWorkspaceSize", x, x, ctypes.byref(size), at=3)


def captured(d: Device) -> int:
    d.ok("aclmdlRICaptureBegin", d.stream, 0)
    return d.out("aclmdlRICaptureEnd", d.stream, at=1)


def communicator(d: Device) -> int:
    info = ctypes.create_string_buffer(4108)
    d.ok("HcclGetRootInfo", info)
    return d.out("HcclCommInitRootInfo", 1, info, 0, at=3)


def page(d: Device) -> int:
    memory = mmap.mmap(-1, mmap.PAGESIZE)
    d.kept.append(memory)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    d.out("aclrtHostRegister", address, mmap.PAGESIZE, 0, at=3)
    return address


def physical(d: Device) -> int:
    # handleType, allocationType, memAttr, location.id, location.type, reserved
    return d.out("aclrtMallocPhysical", UNIT, words(0, 0, 4, 0, 1, 0, 0, 0), 0)


def mapped(d: Device) -> int:
    address = d.out("aclrtReserveMemAddress", UNIT, 0, 0, 1)
    d.ok("aclrtMapMem", address, UNIT, 0, physical(d), 0)
    return address


def pool(d: Device) -> int:
    # allocType, handleType, location.id, location.type, maxSize, reserved
    return d.out("aclrtMemPoolCreate", words(0, 0, 0, 1, *[0] * 12))


def label_list(d: Device) -> int:
    label = d.out("aclrtCreateLabel")
    return d.out("aclrtCreateLabelList", numbers(label), 1, at=2)


def operator_handle(d: Device) -> int:
    desc = d.made("aclCreateTensorDesc", 0, 1, numbers(4), 2)
    one = numbers(desc)
    d.ok("aclopCompile", b"Abs", 1, one, 1, one, None, 0, 0, None)
    return d.out("aclopCreateHandle", b"Abs", 1, one, 1, one, None, at=6)


def key_of(d: Device) -> int:
    key = ctypes.create_string_buffer(128)
    d.ok("aclrtIpcMemGetExportKey", d.memory, 4096, key, 128, 0)
    d.kept.append(key)
    return ctypes.addressof(key)


def made_by(maker: str, *arguments: object) -> Callable[[Device], int]:
    return lambda d: d.made(maker, *arguments)


def out_of(maker: str, *arguments: object, at: int = 0) -> Callable[[Device], int]:
    return lambda d: d.out(maker, *arguments, at=at)


# One object of each kind, by the function that makes it. What takes no argument, or only the place
# for the object, needs no line.
OBJECTS: dict[str, Callable[[Device], int]] = {
    "HcclCommInitRootInfo": communicator,
    "aclnnAbsGetWorkspaceSize": executor,
    "aclCreateBoolArray": made_by("aclCreateBoolArray", b"\1", 1),
    "aclCreateDataBuffer": lambda d: d.made("aclCreateDataBuffer", d.memory, 32),
    "aclCreateFloatArray": made_by("aclCreateFloatArray", words(0), 1),
    "aclCreateIntArray": made_by("aclCreateIntArray", numbers(1), 1),
    "aclCreateScalar": scalar,
    "aclCreateScalarList": lambda d: d.made("aclCreateScalarList", numbers(scalar(d)), 1),
    "aclCreateTensor": tensor,
    "aclCreateTensorDesc": made_by("aclCreateTensorDesc", 0, 1, numbers(4), 2),
    "aclCreateTensorList": lambda d: d.made("aclCreateTensorList", numbers(tensor(d)), 1),
    "aclmdlRICaptureEnd": captured,
    "aclopCreateHandle": operator_handle,
    "aclprofCreateConfig": made_by("aclprofCreateConfig", words(0), 1, 0, None, 1),
    "aclrtAllocatorCreateDesc": made_by("aclrtAllocatorCreateDesc", 0),
    "aclrtCreateContext": context,
    "aclrtCreateLabelList": label_list,
    "aclrtCreateNotify": out_of("aclrtCreateNotify", 0),
    "aclrtHostRegister": page,
    "aclrtIpcMemGetExportKey": key_of,
    "aclrtMalloc": out_of("aclrtMalloc", 64, 0),
    "aclrtMallocHost": out_of("aclrtMallocHost", 64),
    "aclrtMallocPhysical": physical,
    "aclrtMapMem": mapped,
    "aclrtMemPoolCreate": pool,
    "aclrtMemPoolMallocAsync": lambda d: d.out("aclrtMemPoolMallocAsync", 64, pool(d), d.stream),
    "aclrtReserveMemAddress": out_of("aclrtReserveMemAddress", UNIT, 0, 0, 1),
    "acltdtAllocBuf": out_of("acltdtAllocBuf", 64, 0, at=2),
    "acltdtCreateChannel": made_by("acltdtCreateChannel", 0, b"handles"),
    "acltdtCreateDataItem": lambda d: d.made(
        "acltdtCreateDataItem", 1, numbers(4), 1, 0, d.memory, 16
    ),
    "acltdtCreateQueue": lambda d: d.out(
        "acltdtCreateQueue", d.made("acltdtCreateQueueAttr"), at=1
    ),
    "acltdtCreateQueueRoute": made_by("acltdtCreateQueueRoute", 0, 1),
    "mstxDomainCreateA": made_by("mstxDomainCreateA", b"handles"),
}


def make(d: Device, maker: str) -> int:
    """One object; by what its prototype says where `OBJECTS` says nothing."""
    if maker in OBJECTS:
        return OBJECTS[maker](d)
    function = d.names.get(maker)
    if function is None:
        raise RuntimeError(f"no function makes it: {maker} is not in the headers; add it to MAKERS")
    if not function.parameters:
        return d.made(maker)
    if len(function.parameters) == 1 and function.parameters[0].ctype.endswith("*"):
        return d.out(maker)
    raise RuntimeError(f"how to call {maker} is not known; add it to OBJECTS")
