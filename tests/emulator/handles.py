# SPDX-License-Identifier: Apache-2.0
"""Every function of the headers that ends an object, called at the wrong time or with another one.

``python tests/emulator/handles.py LIBRARY SCENARIO`` asks the questions of one scenario in a
process of its own. It prints a line before each call, so that the last line names the call that
ended it, and a line with an exclamation mark for each wrong answer.
"""

from __future__ import annotations

import ctypes
import functools
import json
import mmap
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from objects import Device, functions, make, pool

from aclnn_py._ffi.contract.reader import Function

ROOT = Path(__file__).resolve().parents[2]
REFUSED = ROOT / "aclnn_py" / "emulator" / "src" / "runtime" / "unsupported.inc"
ENDS = re.compile(r"Destroy(?!Reg|Unreg)|Free(?!Func)|Release|Unmap|Close|HostUnregister")
FOREIGN = 0x5A5A5A5A5A50

# The function that makes an object, where its name does not follow from the name of the one that
# ends it.
MAKERS = {
    "HcclCommDestroy": "HcclCommInitRootInfo",
    "aclDestroyAclOpExecutor": "aclnnAbsGetWorkspaceSize",
    "aclmdlRIDestroy": "aclmdlRICaptureEnd",
    "aclrtDestroyStreamForce": "aclrtCreateStream",
    "aclrtFree": "aclrtMalloc",
    "aclrtFreeHost": "aclrtMallocHost",
    "aclrtFreeHostWithDevSync": "aclrtMallocHost",
    "aclrtFreePhysical": "aclrtMallocPhysical",
    "aclrtFreeWithDevSync": "aclrtMalloc",
    "aclrtHostUnregister": "aclrtHostRegister",
    "aclrtIpcMemClose": "aclrtIpcMemGetExportKey",
    "aclrtMemPoolFreeAsync": "aclrtMemPoolMallocAsync",
    "aclrtReleaseMemAddress": "aclrtReserveMemAddress",
    "aclrtUnmapMem": "aclrtMapMem",
    "acltdtFreeBuf": "acltdtAllocBuf",
    "mstxDomainDestroy": "mstxDomainCreateA",
}
# Null is an object that there is not, and ending it is no mistake, as in CANN.
NULL_IS_FINE = re.compile(
    r"aclDestroy(AclOpExecutor|Tensor|Scalar|TensorList|ScalarList|\w+Array)$"
)


@functools.cache
def refused() -> frozenset[str]:
    """The functions that the emulator does not support."""
    return frozenset(re.findall(r"^EMU_\w+\(k\w+, (\w+)\)$", REFUSED.read_text(), re.MULTILINE))


def enders() -> dict[str, Function]:
    """The functions that end the object they are given first."""
    return {
        name: function
        for name, function in functions().items()
        if ENDS.search(name)
        and function.parameters
        and not function.parameters[0].ctype.endswith("**")
    }


def maker_of(ender: str) -> str:
    """The name of the function that makes what ``ender`` ends."""
    return MAKERS.get(ender) or ender.replace("Destroy", "Create")


class Pair(NamedTuple):
    """A function that ends an object, and the one that makes it."""

    ender: Function
    maker: str

    def end(self, d: Device, handle: int) -> int | None:
        """The status; None where there is none."""
        rest = [d.stream if p.ctype == "aclrtStream" else 0 for p in self.ender.parameters[1:]]
        status = d.call(self.ender.name, handle, *rest)
        return None if self.ender.result == "void" else status


def pairs() -> list[Pair]:
    """Each pair that the emulator supports."""
    return [
        Pair(function, maker_of(name))
        for name, function in enders().items()
        if name not in refused()
    ]


@functools.cache
def documented() -> frozenset[int]:
    """The numbers of all statuses that the documents have."""
    path = ROOT / "aclnn_py" / "facts" / "status.json"
    return frozenset(row["code"] for row in json.loads(path.read_text()))


def wrong(text: str) -> None:
    print("!", text, flush=True)


def judge(d: Device, pair: Pair, what: str, status: int | None, *, may_pass: bool = False) -> None:
    """An answer to a mistake: a documented refusal with a text."""
    if status is None or (may_pass and status == 0):
        return
    if status == 0:
        wrong(f"{pair.ender.name}({what}) answered success")
    elif status not in documented():
        wrong(f"{pair.ender.name}({what}) answered {status}, which no document has")
    elif not d.message():
        wrong(f"{pair.ender.name}({what}) answered {status} without a text")


def twice(d: Device) -> None:
    """Ended, and ended again, at once and after others were made."""
    for pair in pairs():
        handle = make(d, pair.maker)
        status = pair.end(d, handle)
        if status:
            wrong(f"{pair.ender.name} answered {status} for a live object: {d.message()}")
        judge(d, pair, "destroyed", pair.end(d, handle))
        make(d, pair.maker)
        judge(d, pair, "destroyed before another was made", pair.end(d, handle), may_pass=True)


def addresses(d: Device) -> Iterator[tuple[str, int]]:
    """Numbers that are no handle of anything."""
    buffer = ctypes.create_string_buffer(4096)
    closed = mmap.mmap(-1, mmap.PAGESIZE, prot=0)
    d.kept += [buffer, closed]
    yield "host memory", ctypes.addressof(buffer)
    yield "one", 1
    yield "an address nowhere", FOREIGN
    yield "an address no memory can have", 0xDEADBEEFDEADBEEF
    yield "the last address", 2**64 - 1
    yield "device memory, but for its first byte", d.memory + 1


def foreign(d: Device) -> None:
    """Null, addresses of other things, and the objects of every other kind, which stay alive."""
    for pair in pairs():
        named = pair.ender.parameters[0].ctype == "const char *"
        fine = NULL_IS_FINE.match(pair.ender.name) is not None
        judge(d, pair, "null", pair.end(d, 0), may_pass=fine)
        if named:  # a text has to be one
            judge(d, pair, "another text", pair.end(d, make(d, pair.maker) + 3))
            continue
        for what, address in addresses(d):
            judge(d, pair, what, pair.end(d, address))
        handle = make(d, pair.maker)
        if handle > mmap.PAGESIZE:  # a number is its own neighbour
            judge(d, pair, "the middle of its object", pair.end(d, handle + 8))
        pair.end(d, handle)
        for other in {p.maker: p for p in pairs()}.values():
            if other.maker == pair.maker or kin(pair, other):
                continue
            live = make(d, other.maker)
            judge(d, pair, f"an object of {other.maker}", pair.end(d, live))
            if other.end(d, live):
                wrong(f"{pair.ender.name} ended an object of {other.maker}: {d.message()}")


# Numbers of small objects and addresses of memory that is in a reservation mean both.
KIN = (
    {"aclrtMapMem", "aclrtReserveMemAddress"},
    {"aclrtHostRegister", "aclrtMallocHost"},
)


def kin(one: Pair, other: Pair) -> bool:
    return any({one.maker, other.maker} <= both for both in KIN)


def after(d: Device, end: str, *arguments: object) -> None:
    """Ended after the device was reset or the library finalized."""
    for pair in pairs():
        handle = make(d, pair.maker)
        d.ok(end, *arguments)
        for again in ("", " again"):
            status = pair.end(d, handle)
            judge(d, pair, f"after {end}{again}", status, may_pass=not again)
        if end == "aclFinalize":
            d.ok("aclInit", None)
        d.open()


def users(d: Device) -> None:
    """Every function that takes a handle, with null, a destroyed one and foreign addresses."""
    kinds: dict[str, int] = {}
    for pair in pairs():
        kind = pair.ender.parameters[0].bare
        if kind in ("void *", "char *", "uint32_t"):
            continue
        handle = make(d, pair.maker)
        pair.end(d, handle)
        kinds[kind] = handle
    for name, function in d.names.items():
        kinds_here = [p.bare for p in function.parameters]
        if function.variadic or name in refused():
            continue
        for at, kind in enumerate(kinds_here):
            if kind not in kinds:
                continue
            for handle in [kinds[kind], 0, *(address for _, address in addresses(d))]:
                given: list[object] = [0] * len(kinds_here)
                given[at] = handle
                d.call(name, *given)


def pool_after_reset(d: Device) -> None:
    """A pool forgets its blocks with the device's memory, which others are given next."""
    memory = pool(d)
    before = d.out("aclrtMemPoolMallocAsync", 64, memory, d.stream)
    d.ok("aclrtResetDeviceForce", 0)
    d.open()
    others = [d.out("aclrtMalloc", 64, 0) for _ in range(8)]
    if d.call("aclrtMemPoolFreeAsync", before, d.stream) == 0:
        wrong("aclrtMemPoolFreeAsync took memory that the reset had released")
    for other in others:
        d.ok("aclrtFree", other)


SCENARIOS: dict[str, Callable[[Device], None]] = {
    "twice": twice,
    "foreign": foreign,
    "aclrtResetDevice": lambda d: after(d, "aclrtResetDevice", 0),
    "aclrtResetDeviceForce": lambda d: after(d, "aclrtResetDeviceForce", 0),
    "aclFinalize": lambda d: after(d, "aclFinalize"),
    "users": users,
    "pool after reset": pool_after_reset,
}


def main() -> int:
    path, scenario = sys.argv[1:]
    device = Device(path)
    if scenario == "aclFinalize":
        device.ok("aclInit", None)
    SCENARIOS[scenario](device)
    print("done", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
