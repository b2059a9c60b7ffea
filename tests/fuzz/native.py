# SPDX-License-Identifier: Apache-2.0
"""Cases as C calls, over painted memory whose every byte is compared afterwards.

All tensors of a case lie in one block of device memory, apart from each other. Before a call the
block is painted and the tensors filled; afterwards it is as before, but for the elements of the
tensors that the operator is documented to write. So a write into a guard zone, into the gaps of a
strided result, or into an input shows, without a sanitizer.
"""

from __future__ import annotations

import ctypes
import functools
from collections import Counter
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from helpers.accepted_calls import (
    Group,
    ScalarListSpec,
    ScalarSpec,
    TensorListSpec,
    TensorSpec,
    pattern,
)

import aclnn_py as ap
from aclnn_py import facts, ops
from aclnn_py._ffi import C, ffi
from aclnn_py._ffi.contract.naming import operator_name
from aclnn_py.operators.launch.op import Op
from aclnn_py.runtime.status import check_acl
from aclnn_py.tensor.dtypes import dtype_of, from_acl
from aclnn_py.tensor.formats import format_of, is_blocked
from aclnn_py.tensor.views import contiguous_strides

from .cases import FREED_DATA, HOST_DATA, NO_DATA, Case, Same, Stale, Text, Wrong
from .sanitizer import Shadow

POOL = 1 << 20
UNIT = 2 << 20  # of mapped memory
PAGE = 4096  # what a block has behind its end, up to here, can be touched as on a device
GUARD = 256
MARGIN = 16 << 10
BEHIND = 512  # bytes of paint behind a workspace
PAINT = 0xA5
SLOT = (
    64 << 10
)  # the most that one tensor gets; what reaches further is a fault, or lies over others
WORKSPACE = 8 << 20
FRACTAL_NZ = 29
# They change the format of a tensor, which takes its storage and not its view.
REFORMATTING = frozenset({"aclnnTransConvolutionWeight", "aclnnTransMatmulWeight"})
# A kernel that runs long has nothing wrong with it.
MOST_ELEMENTS = 1 << 16
_RUN = "int32_t (*)(void *, uint64_t, void *, void *)"
_HOST = ffi.new("char[]", 4096)
_memcmp = ctypes.CDLL(None).memcmp
_memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


@dataclass
class Result:
    """How a case ended.

    ``outcome`` counts it, or ``counts`` where the case was made more than once. ``defect`` is the
    kind of what is wrong, "" when nothing is, ``what`` its description.
    """

    outcome: str
    defect: str = ""
    what: str = ""
    counts: Counter[str] = field(default_factory=Counter)


@dataclass
class Prepared:
    """A case whose C objects exist, for a caller that makes both phases itself: addresses."""

    phase_one: int
    op: int
    words: int
    phase_two: int
    workspace: int
    stream: int


@functools.cache
def known_codes() -> frozenset[int]:
    """Every status that the documents know."""
    return frozenset(row["code"] for row in facts.statuses() if isinstance(row["code"], int))


@functools.cache
def _op(operator: str) -> Op:
    op: Op = getattr(ops, operator_name(operator))
    op.bind()
    return op


@functools.cache
def _pattern(dtype: str) -> bytes:
    return pattern(dtype_of(dtype), SLOT)


@functools.cache
def _dtype_number(dtype: str) -> int:
    return dtype_of(dtype).acl


@functools.cache
def _format_number(name: str) -> int:
    return int(format_of(name))


@functools.cache
def _bits(dtype: str | int) -> int:
    try:
        return (from_acl(dtype) if isinstance(dtype, int) else dtype_of(dtype)).bits
    except (KeyError, ValueError, TypeError):
        return 8


def reach(tensor: TensorSpec, storage: bool = False) -> tuple[int, int]:
    """Return the bytes that a tensor touches, from its address: first, and behind the last.

    With ``storage`` its whole storage counts, as it does for formats that are not row-major.
    """
    bits = _bits(tensor.dtype)
    low = high = 0
    if storage or not _plain_format(tensor.format):
        elements = prod(max(dim, 0) for dim in tensor.storage_shape)
        elements = max(elements, tensor.offset + _fractal_elements(tensor))
        high = (elements * bits + 7) // 8
    if any(dim <= 0 for dim in tensor.shape):
        return low, high
    first = last = tensor.offset
    for dim, step in zip(tensor.shape, tensor.strides):  # noqa: B905 (ranks may differ on purpose)
        span = (dim - 1) * step
        first, last = (first + span, last) if span < 0 else (first, last + span)
    first, last = first * bits // 8, ((last + 1) * bits + 7) // 8
    return (first, last) if low == high else (min(first, low), max(last, high))


def _fractal_elements(tensor: TensorSpec) -> int:
    """Elements of a stack of matrices in FRACTAL_NZ, whatever storage it claims; 0 for others."""
    if tensor.format not in ("FRACTAL_NZ", FRACTAL_NZ) or len(tensor.shape) < 2:
        return 0
    *stack, rows, cols = tensor.shape
    if tensor.strides[-2:] == (1, rows) and rows > 1 and cols > 1:
        rows, cols = cols, rows  # a transposing view lies over the blocks
    width = 256 // _bits(tensor.dtype)
    return prod(stack) * (-(-rows // 16) * 16) * (-(-cols // width) * width)


@functools.cache
def _plain_format(format: str | int) -> bool:
    try:
        return not is_blocked(format_of(format))
    except (KeyError, ValueError, TypeError):
        return False  # nobody knows how it lies


def _allocate(nbytes: int) -> int:
    out = ffi.new("void **")
    check_acl(C.aclrtMalloc(out, nbytes, 0), "aclrtMalloc")
    return int(ffi.cast("uintptr_t", out[0]))


class Machine:
    """Makes cases on a device, which is current; one per process and device."""

    def __init__(self, device: int = 0) -> None:
        self._stream = ap.Device(device).create_stream()
        # Of the device itself: the package's allocator would put them into one block.
        self._freed = _allocate(1 << 16)
        self._block = _allocate(POOL + PAGE)
        self._workspace = _allocate(WORKSPACE + MARGIN)
        check_acl(C.aclrtFree(ffi.cast("void *", self._freed)), "aclrtFree")
        self._memory = np.frombuffer(ffi.buffer(ffi.cast("char *", self._block), POOL), np.uint8)
        after = ffi.cast("char *", self._workspace)
        self._behind = np.frombuffer(ffi.buffer(after, WORKSPACE + MARGIN), np.uint8)
        paint = np.random.default_rng(1).integers(1, 255, POOL, dtype=np.uint8)
        self._paint = paint
        self._image = paint.copy()
        self._memory[:] = paint
        self._used = POOL
        self.groups: dict[int, bytes] = {}
        self._communicators: list[Any] = []
        self._keep: list[Any] = []
        self._objects: list[tuple[str, Any]] = []
        self._size = ffi.new("uint64_t *")
        self._executor = ffi.new("void **")
        self._shadow = Shadow()
        self._spread: dict[int, int] = {}
        # Addresses of tensors that lie elsewhere, by their number in the call.
        self.moved: dict[int, int] = {}

    def make(self, case: Case, note: Any = None) -> Result:
        """Make the calls of a case; ``note(step)`` is told before each call of the library."""
        self._reformatting = case.call.operator in REFORMATTING
        placed = self._place(case)
        if placed is None:
            return Result("too large")
        self._keep.clear()
        try:
            words = self._words(case)
            if words is None:
                return Result("no such object")
            return self._call(case, words, placed, note or (lambda step: None))
        finally:
            self._destroy()

    def prepared(self, case: Case) -> Prepared:
        """Place the tensors of a case and create its objects; `finished` must follow."""
        self._reformatting = case.call.operator in REFORMATTING
        placed = self._place(case)
        self._keep.clear()
        words = None if placed is None else self._words(case)
        if placed is None or words is None:
            raise ValueError(f"{case.call.operator}: the case cannot be made")
        self._prepared = case, placed
        self._behind[:] = PAINT
        op = _op(case.call.operator)
        pointers = (op._raw.invoke, op._raw, words, op._raw.phase_two)
        addresses = [int(ffi.cast("uintptr_t", pointer)) for pointer in pointers]
        stream = int(ffi.cast("uintptr_t", self._stream.raw))
        return Prepared(*addresses, self._workspace, stream)

    def finished(self, nbytes: int) -> Result:
        """Destroy what `prepared` made; compare the block after calls with so large a workspace."""
        case, placed = self._prepared
        self._destroy()
        return self._unchanged(Result("ran"), placed, case, nbytes)

    # ----------------------------------------------------------------- memory

    def _place(self, case: Case) -> list[TensorSpec] | None:
        """Give every tensor an address and fill the block; return the tensors, or None."""
        self._spread = {}
        shared: dict[int, tuple[int, int]] = {}
        image, used = self._image, self._used
        image[:used] = self._paint[:used]
        tensors = list(case.call.tensors())
        wanted: dict[int, list[int]] = {}
        for tensor in tensors:
            low, high = self._reach(tensor)
            if tensor.memory is not None and tensor.memory >= 0:
                known = wanted.setdefault(tensor.memory, [0, 0])
                known[0], known[1] = min(known[0], low), max(known[1], high)
        at = GUARD
        self._addresses: dict[int, int] = {}
        for tensor in tensors:
            if id(tensor) in self._addresses or (tensor.memory is not None and tensor.memory < 0):
                continue
            if tensor.memory in shared:
                self._addresses[id(tensor)] = shared[tensor.memory][0]
                continue
            low, high = wanted[tensor.memory] if tensor.memory in wanted else self._reach(tensor)
            before = -low if -SLOT < low < 0 else 0
            length = min(max(high, 64), SLOT) if high <= SLOT else 4096
            start = (at + before + 63) // 64 * 64
            if start + length + GUARD + MARGIN > POOL:
                return None
            self._fill(tensor, start - before, start, start + length)
            self._addresses[id(tensor)] = start
            if tensor.memory is not None:
                shared[tensor.memory] = (start, length)
            at = start + length + GUARD
        self._used = max(at + MARGIN, 0)
        top = max(used, self._used)
        self._memory[:top] = image[:top]
        for number, address in self.moved.items():
            self._move(tensors[number], address)
        return tensors

    def _move(self, tensor: TensorSpec, address: int) -> None:
        """Give a placed tensor an address outside the block, and what the block has of it."""
        start = self._addresses[id(tensor)]
        room = UNIT - address % UNIT
        data = self._image[start : start + min(room, SLOT)].tobytes()
        ctypes.memmove(address, data, len(data))
        self._addresses[id(tensor)] = address - self._block

    def _fill(self, tensor: TensorSpec, first: int, start: int, end: int) -> None:
        name = tensor.dtype if isinstance(tensor.dtype, str) else "uint8"
        data = _pattern(name)[: end - start]
        self._image[start:end] = np.frombuffer(data, np.uint8)
        if first < start:
            self._image[first:start] = np.frombuffer(_pattern(name)[: start - first], np.uint8)
        if tensor.contents:
            known = np.frombuffer(tensor.contents, np.uint8)[: end - start]
            self._image[start : start + len(known)] = known

    def _restore(self, tensor: TensorSpec) -> bool:
        """Put back what a written tensor covers; one that goes beyond the memory is not written.

        Returns False when it ends in the last pages: only the device knows where they end.
        """
        start = self._addresses.get(id(tensor))
        if start is None:
            return True
        low, high = self._reach(tensor)
        if low == high:
            return True
        first, last = start + low, start + high
        whole = self._reformatting or not _plain_format(tensor.format)
        if whole:  # how much of it is memory, the view says
            first, last = max(first, 0), min(last, POOL)
        if first < 0 or last > POOL:
            return first < 0 or last > POOL + 3 * PAGE
        bits = _bits(tensor.dtype)
        if whole or bits < 8 or _dense(tensor):
            self._memory[first:last] = self._image[first:last]
            return True
        size = bits // 8
        pairs = zip(tensor.shape, tensor.strides, strict=True)
        strides = tuple(step * size if dim > 1 else 0 for dim, step in pairs)
        offset = start + tensor.offset * size
        kind = np.dtype((np.void, size))
        into = np.ndarray(tensor.shape, kind, self._memory.data, offset, strides)
        into[...] = np.ndarray(tensor.shape, kind, self._image.data, offset, strides)
        return True

    def _difference(self, top: int) -> int | None:
        """The first byte of the block that is not as it should be."""
        here, there = self._memory.ctypes.data, self._image.ctypes.data
        if _memcmp(here, there, top) == 0:
            return None
        return int(np.flatnonzero(self._memory[:top] != self._image[:top])[0])

    def _place_of(self, at: int, tensors: list[TensorSpec]) -> str:
        for number, tensor in enumerate(tensors):
            start = self._addresses.get(id(tensor))
            if start is None:
                continue
            low, high = self._reach(tensor)
            if start + low - GUARD <= at < start + high + GUARD:
                distance = at - start
                return f"tensor {number} ({tensor.dtype}{tensor.shape}), byte {distance} of {high}"
        return f"byte {at} of the block, of which {self._used} were in use"

    def _reach(self, tensor: TensorSpec) -> tuple[int, int]:
        return reach(tensor, self._reformatting)

    # ---------------------------------------------------------------- objects

    def _words(self, case: Case) -> Any:
        """Create the objects; return the words of the call, None when one cannot be created."""
        op = _op(case.call.operator)
        words = ffi.new("ap_word[]", max(len(op.parameters), 1))
        self._keep.append(words)
        pairs = zip(op.parameters, case.call.arguments, strict=True)
        for word, (parameter, argument) in zip(words, pairs):  # noqa: B905 (one spare when empty)
            if isinstance(argument, Same):
                word.pointer = words[argument.position].pointer
            elif not self._word(word, parameter.kind, argument):
                return None
        return words

    def _word(self, word: Any, kind: str, argument: Any) -> bool:
        if argument is None and kind in "TLSRIFBs":
            word.pointer = ffi.NULL
        elif kind == "s":
            word.text = self._text(argument)
        elif kind in "?biulqfdy":
            _plain(word, kind, argument)
        else:
            made = self._object(kind, argument)
            if made is None:
                return False
            word.pointer = made
        return True

    def _text(self, argument: Any) -> Any:
        if isinstance(argument, Group):
            data = self._group(argument.key)
        elif isinstance(argument, Text):
            data = argument.data
        else:
            data = argument.encode("utf-8", "surrogateescape")
        text = ffi.new("char[]", data)
        self._keep.append(text)
        return text

    def _group(self, key: int) -> bytes:
        if key not in self.groups:
            from aclnn_py.distributed import Communicator

            comms = Communicator.init_all(abs(key))
            self.groups[key] = comms[0].name.encode()
            self._communicators.extend(comms)
            self._stream.activate()  # the thread was on the last rank's device
        return self.groups[key]

    def _object(self, kind: str, argument: Any) -> Any:
        """Create an object; None when the library refuses to."""
        if isinstance(argument, Wrong):
            return self._object(argument.kind, argument.argument)
        if isinstance(argument, Stale):
            return self._stale(argument.kind)
        made = self._create(kind, argument)
        if not made:
            return None
        self._objects.append((kind, made))
        return made

    def _create(self, kind: str, argument: Any) -> Any:
        if isinstance(argument, TensorSpec):
            return self._tensor(argument)
        if isinstance(argument, TensorListSpec):
            return self._list(argument)
        if isinstance(argument, ScalarSpec):
            return _scalar(argument)
        if isinstance(argument, ScalarListSpec):
            members = [_scalar(member) for member in argument.members]
            made = C.aclCreateScalarList(members, len(members)) if all(members) else ffi.NULL
            if not made:
                for member in filter(None, members):
                    C.aclDestroyScalar(member)
            return made
        if kind == "I":
            return C.aclCreateIntArray([_int64(item) for item in argument], len(argument))
        if kind == "B":
            return C.aclCreateBoolArray([bool(item) for item in argument], len(argument))
        return C.aclCreateFloatArray(list(argument), len(argument))

    def _tensor(self, spec: TensorSpec) -> Any:
        if spec.memory is None or spec.memory >= 0:
            # One in place of another kind of argument is not placed.
            address = self._block + self._addresses.get(id(spec), GUARD)
        else:
            host = int(ffi.cast("uintptr_t", _HOST))
            address = {NO_DATA: 0, HOST_DATA: host, FREED_DATA: self._freed}[spec.memory]
        dtype, form = spec.dtype, spec.format
        return C.aclCreateTensor(
            [_int64(dim) for dim in spec.shape],
            len(spec.shape),
            _dtype_number(dtype) if isinstance(dtype, str) else dtype,
            [_int64(step) for step in spec.strides],
            _int64(spec.offset),
            _format_number(form) if isinstance(form, str) else form,
            [_int64(dim) for dim in spec.storage_shape],
            len(spec.storage_shape),
            ffi.cast("void *", address),
        )

    def _list(self, spec: TensorListSpec) -> Any:
        members = [ffi.NULL if m is None else self._tensor(m) for m in spec.members]
        refused = any(
            not made and m is not None for made, m in zip(members, spec.members, strict=True)
        )
        made = ffi.NULL if refused else C.aclCreateTensorList(members, len(members))
        if not made:
            for member in filter(None, members):
                C.aclDestroyTensor(member)
        return made

    def _stale(self, kind: str) -> Any:
        examples = {
            "S": ScalarSpec("float32", bytes(16)),
            "R": ScalarListSpec(()),
            "I": [1],
            "F": [1.0],
            "B": [True],
        }
        if kind in "TL":
            made = C.aclCreateTensor([2], 1, 0, [1], 0, 2, [2], 1, ffi.cast("void *", self._block))
            if kind == "L":
                made = C.aclCreateTensorList([made], 1)
        else:
            made = self._create(kind, examples[kind])
        _DESTROY[kind](made)
        return made

    def _destroy(self) -> None:
        for kind, made in self._objects:
            _DESTROY[kind](made)
        self._objects.clear()

    # ------------------------------------------------------------------ calls

    def _call(self, case: Case, words: Any, tensors: list[TensorSpec], note: Any) -> Result:
        op, flags = _op(case.call.operator), case.flags
        size = ffi.NULL if "no size" in flags else self._size
        executor = ffi.NULL if "no executor" in flags else self._executor
        self._size[0], self._executor[0] = 0, ffi.NULL
        note(1)
        status = int(op._raw.invoke(op._raw, words, size, executor))
        note(3)
        if status:
            result = _refused("refused", status)
            return result if result.defect else self._unchanged(result, tensors)
        if not size or not executor or not self._executor[0]:
            return Result("accepted", "no executor", "phase one returned 0 without an executor")
        elements = sum(prod(max(dim, 0) for dim in tensor.shape) for tensor in tensors)
        if elements > MOST_ELEMENTS or self._size[0] > WORKSPACE or case.call.ranks > 1:
            C.aclDestroyAclOpExecutor(self._executor[0])
            return self._unchanged(Result("phase one alone"), tensors)
        return self._run(case, op, tensors, note)

    def _run(self, case: Case, op: Op, tensors: list[TensorSpec], note: Any) -> Result:
        workspace, nbytes = ffi.cast("void *", self._workspace), int(self._size[0])
        if "no workspace" in case.flags:
            workspace = ffi.NULL
        if "small workspace" in case.flags:
            nbytes = max(0, nbytes - 1)
        runs = 1
        if "repeatable" in case.flags and C.aclSetAclOpExecutorRepeatable(self._executor[0]) == 0:
            runs = 2
        run = ffi.cast(_RUN, op._raw.phase_two)
        stream = self._stream.raw
        self._behind[nbytes : nbytes + BEHIND] = PAINT
        self._shadow.close(self._block, self._used, self._spans(tensors))
        try:
            note(2)
            for _ in range(runs):
                status = int(run(workspace, nbytes, self._executor[0], stream))
                if status:
                    break
            fault = int(C.aclrtSynchronizeStreamWithTimeout(stream, -1))
            note(3)
        finally:
            self._shadow.open(self._block, POOL)
        if runs == 2:
            C.aclDestroyAclOpExecutor(self._executor[0])
        result = Result("ran")
        if status:
            result = _refused("refused by phase two", status)
        elif fault:
            result = _refused("fault", fault)
        return result if result.defect else self._unchanged(result, tensors, case, nbytes)

    def _spans(self, tensors: list[TensorSpec]) -> list[tuple[int, int]]:
        spans = []
        for tensor in tensors:
            start = self._addresses.get(id(tensor))
            if start is not None:
                low, high = self._reach(tensor)
                spans.append((max(start + low, 0), min(start + high, POOL)))
        return spans

    def _unchanged(
        self, result: Result, tensors: list[TensorSpec], case: Case | None = None, nbytes: int = 0
    ) -> Result:
        """Compare the block; with a case, whose operator ran, but for the tensors it writes."""
        if case is not None:
            for tensor in _written(case):
                if not self._restore(tensor):
                    self._used = POOL
                    return result
            top = min(nbytes, WORKSPACE)
            if not (self._behind[top : top + BEHIND] == PAINT).all():
                self._behind[top : top + BEHIND] = PAINT
                return Result(result.outcome, "write outside", f"workspace of {nbytes} bytes")
        at = self._difference(self._used)
        if at is None:
            return result
        words = self._place_of(at, tensors)
        self._used = POOL
        return Result(result.outcome, "write outside", f"{result.outcome}: {words}")


def _message() -> bytes:
    text = C.aclGetRecentErrMsg()
    return bytes(ffi.string(text)) if text else b""


def _refused(kind: str, status: int) -> Result:
    text = _message()
    outcome = f"{kind} {status}"
    if status not in known_codes():
        return Result(outcome, "unknown status", f"{kind} with {status}")
    if not text.strip():
        return Result(outcome, "no message", f"{kind} with {status}")
    return Result(outcome)


# Counters that dispatch and combine of experts add to.
WRITTEN_ALTHOUGH_CONST = {"performanceInfoOptional"}


def _written(case: Case) -> list[TensorSpec]:
    """The tensors that the operator writes, as the documents say."""
    found = []
    arguments = case.call.arguments
    for parameter, argument in zip(_op(case.call.operator).parameters, arguments, strict=True):
        written = parameter.direction != "in" or parameter.c_name in WRITTEN_ALTHOUGH_CONST
        if not written or not parameter.is_tensor:
            continue
        for _ in arguments:  # as often as there can be links; two that point at each other are null
            if isinstance(argument, Same):
                argument = arguments[argument.position]
        if isinstance(argument, TensorSpec):
            found.append(argument)
        elif isinstance(argument, TensorListSpec):
            found += [member for member in argument.members if member is not None]
    return found


def _dense(tensor: TensorSpec) -> bool:
    return tensor.strides == contiguous_strides(tensor.shape)


def _scalar(spec: ScalarSpec) -> Any:
    value = ffi.new("char[]", spec.value.ljust(16, b"\0"))
    return C.aclCreateScalar(ffi.cast("void *", value), _dtype_number(spec.dtype))


_WIDTHS = {"b": 8, "i": 32, "u": 32, "l": 64, "q": 64, "y": 32}
_FIELDS = {"b": "int8", "i": "int32", "u": "uint32", "l": "int64", "q": "uint64", "y": "int32"}


def _plain(word: Any, kind: str, argument: Any) -> None:
    if kind == "?":
        word.boolean = bool(argument)
    elif kind == "f":
        word.float32 = float(argument)
    elif kind == "d":
        word.float64 = float(argument)
    else:
        if kind == "y" and not isinstance(argument, int):
            argument = -1 if argument is None else _dtype_number(argument)
        bits = _WIDTHS[kind]
        value = int(argument) % 2**bits
        if kind not in "uq" and value >= 2 ** (bits - 1):
            value -= 2**bits
        setattr(word, _FIELDS[kind], value)


def _int64(value: int) -> int:
    return (int(value) + 2**63) % 2**64 - 2**63


_DESTROY = {
    "T": C.aclDestroyTensor,
    "L": C.aclDestroyTensorList,
    "S": C.aclDestroyScalar,
    "R": C.aclDestroyScalarList,
    "I": C.aclDestroyIntArray,
    "F": C.aclDestroyFloatArray,
    "B": C.aclDestroyBoolArray,
}
