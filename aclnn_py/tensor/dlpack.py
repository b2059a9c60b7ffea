# SPDX-License-Identifier: Apache-2.0
"""DLPack, both ways.

Memory of the emulator is ordinary host memory that its own bounds checks tell apart, so its tensors
are exported as device type kDLCPU and NumPy or a CPU framework reads them in place. Memory of an
NPU is kDLExtDev with the index of the device. Imported memory that is on the device already is used
in place; other host memory is copied to the device.

The capsule protocol is CPython's, so the structures are laid out with ctypes; no library is loaded
by it.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from aclnn_py._ffi import C, device_kind, ffi
from aclnn_py.memory.buffer import Buffer
from aclnn_py.runtime import initialization
from aclnn_py.runtime.device import Device, resolve
from aclnn_py.runtime.handle import Handle
from aclnn_py.runtime.status import recent_message
from aclnn_py.runtime.stream import current_stream
from aclnn_py.tensor import dtypes
from aclnn_py.tensor.creation import from_numpy
from aclnn_py.tensor.dtypes import DType
from aclnn_py.tensor.formats import is_blocked
from aclnn_py.tensor.tensor import Tensor
from aclnn_py.tensor.views import contiguous_strides, span

__all__ = ["device_of", "export", "from_dlpack"]

_CPU = 1
_EXT_DEV = 12
_VERSION = (1, 0)
_READ_ONLY = 1
_IS_COPIED = 2
_LOCATION_DEVICE = 1

# DLPack type code per kind of element; sub-byte and 8-bit floats have codes since version 1.1.
_INT, _UINT, _FLOAT, _BFLOAT, _COMPLEX, _BOOL = 0, 1, 2, 4, 5, 6
_CODES = {
    "bool": _BOOL,
    "bfloat16": _BFLOAT,
    "float8_e4m3fn": 10,
    "float8_e5m2": 12,
    "float8_e8m0fnu": 14,
}
_PREFIXES = (("uint", _UINT), ("int", _INT), ("float", _FLOAT), ("complex", _COMPLEX))


class _DLDevice(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class _DLDataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    """DLManagedTensor, of consumers that do not ask for a version."""

    _fields_ = (("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _DLTensor),
    )


_NAMES = {False: b"dltensor", True: b"dltensor_versioned"}
_USED = {False: b"used_dltensor", True: b"used_dltensor_versioned"}

_python = ctypes.pythonapi
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_python.PyCapsule_IsValid.restype = ctypes.c_int
_python.PyCapsule_IsValid.argtypes = (ctypes.py_object, ctypes.c_char_p)
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
_python.PyCapsule_SetName.restype = ctypes.c_int
_python.PyCapsule_SetName.argtypes = (ctypes.py_object, ctypes.c_char_p)
# A capsule that is being destroyed has no references left: its destructor sees the bare address.
_is_valid_at = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", _python)
)
_pointer_at = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _python)
)

# Exported structures by address, with what they refer to, until their consumer calls the deleter.
_exported: dict[int, tuple[Any, ...]] = {}


def _forget(address: int) -> None:
    _exported.pop(address, None)


def _capsule_gone(capsule: int) -> None:
    # A consumer renames the capsule; one that was not consumed still has its first name.
    for name in _NAMES.values():
        if _is_valid_at(capsule, name):
            _exported.pop(_pointer_at(capsule, name), None)


# Held here for ever: C code may call them at any time.
_deleter = _Deleter(_forget)
_destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_capsule_gone)


def device_of(tensor: Tensor) -> tuple[int, int]:
    """Return the DLPack device: ``(1, 0)`` on the emulator, ``(12, index)`` on an NPU."""
    if device_kind() == "emulator":
        return _CPU, 0
    return _EXT_DEV, tensor.device.index


def _code_of(kind: DType) -> tuple[int, int]:
    if kind.packed or not kind.exact:
        raise BufferError(f"DLPack has no element type for {kind} as it is stored here")
    code = _CODES.get(kind.name)
    if code is None:
        code = next(code for prefix, code in _PREFIXES if kind.name.startswith(prefix))
    return code, kind.bits


def _kind_of(code: int, bits: int, lanes: int) -> DType:
    for kind in dtypes.all_types() if lanes == 1 else ():
        if kind.exact and not kind.packed and _code_of(kind) == (code, bits):
            return kind
    raise BufferError(f"CANN has no type for DLPack code {code}, {bits} bits, {lanes} lanes")


def export(
    tensor: Tensor,
    stream: Any,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> Any:
    """Return a capsule for ``tensor``; see ``Tensor.__dlpack__``."""
    if is_blocked(tensor.format):
        raise BufferError(f"DLPack cannot describe the format {tensor.format.name}")
    _ = tensor.buffer.raw
    here = device_of(tensor)
    if dl_device is not None and tuple(dl_device) != here:
        raise BufferError(f"dl_device: the tensor is on {here}, not on {tuple(dl_device)}")
    code, bits = _code_of(tensor.layout.dtype)
    versioned = max_version is not None and tuple(max_version) >= _VERSION
    if copy:
        tensor = from_numpy(tensor.numpy(), device=tensor.device)
    if stream != -1:
        # Whatever stream the consumer names: after a wait it has nothing to be ordered after.
        tensor.buffer.settle()
    rank = tensor.ndim
    shape = (ctypes.c_int64 * rank)(*tensor.shape)
    strides = (ctypes.c_int64 * rank)(*tensor.strides)
    managed = _Versioned() if versioned else _Managed()
    if isinstance(managed, _Versioned):
        managed.major, managed.minor = _VERSION
        managed.flags = _IS_COPIED if copy else 0
    managed.deleter = ctypes.cast(_deleter, ctypes.c_void_p).value
    view = managed.tensor
    view.data = tensor.buffer.address
    view.byte_offset = tensor.offset * bits // 8
    view.device = _DLDevice(*here)
    view.ndim = rank
    view.dtype = _DLDataType(code, bits, 1)
    view.shape = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
    view.strides = ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64))
    address = ctypes.addressof(managed)
    _exported[address] = (managed, tensor, shape, strides)
    return _python.PyCapsule_New(
        address, _NAMES[versioned], ctypes.cast(_destructor, ctypes.c_void_p)
    )


def _release_import(import_: tuple[int, int]) -> None:
    address, deleter = import_
    if deleter:
        _Deleter(deleter)(address)


class ForeignMemory(Handle):
    """Imported memory: the deleter of its producer is called once, when nothing refers to it any
    more."""

    __slots__ = ()

    def __init__(self, address: int, deleter: int | None) -> None:
        super().__init__((address, deleter or 0), _release_import)

    def _state(self) -> str:
        return "closed" if self.closed else hex(self.raw[0])


def from_dlpack(
    source: Any, *, device: Device | int | None = None, copy: bool | None = None
) -> Tensor:
    """Make a tensor of an object of another library.

    Parameters
    ----------
    source : object with ``__dlpack__`` and ``__dlpack_device__``
        For example a NumPy array or a CPU tensor of a framework.
    device : Device or int, optional
        Where host memory is copied to. Default: the current device of this thread.
    copy : bool, optional
        ``True`` always copies, ``False`` never does; by default host memory is copied and memory of
        the device is shared.

    Returns
    -------
    Tensor
        Sharing keeps the producer's memory alive.

    Raises
    ------
    TypeError
        ``source`` does not speak DLPack.
    BufferError
        CANN has no such element type, the memory is on a foreign device, or ``copy=False`` cannot
        be kept.
    """
    if not hasattr(source, "__dlpack__") or not hasattr(source, "__dlpack_device__"):
        raise TypeError(f"source: {type(source).__name__} has no __dlpack__")
    where = resolve(device)
    capsule = _capsule_of(source)
    versioned = bool(_python.PyCapsule_IsValid(capsule, _NAMES[True]))
    if not versioned and not _python.PyCapsule_IsValid(capsule, _NAMES[False]):
        raise BufferError("source: __dlpack__ returned no unused DLPack capsule")
    address = _python.PyCapsule_GetPointer(capsule, _NAMES[versioned])
    managed = (_Versioned if versioned else _Managed).from_address(address)
    # From here on the memory is ours to release.
    _python.PyCapsule_SetName(capsule, _USED[versioned])
    owner = ForeignMemory(address, managed.deleter)
    if versioned and managed.major != _VERSION[0]:
        raise BufferError(f"source: DLPack version {managed.major} is not understood")
    return _adopt(managed, owner, where, copy)


def _capsule_of(source: Any) -> Any:
    kind = int(source.__dlpack_device__()[0])
    if kind != _CPU and not (kind == _EXT_DEV and device_kind() == "npu"):
        raise BufferError(f"source: DLPack device type {kind} is out of reach")
    options = {} if kind == _CPU else {"stream": int(ffi.cast("intptr_t", current_stream().raw))}
    try:
        return source.__dlpack__(max_version=_VERSION, **options)
    except TypeError:
        # A producer from before version 1.0.
        return source.__dlpack__(**options)


def _adopt(
    managed: _Managed | _Versioned, owner: ForeignMemory, where: Device, copy: bool | None
) -> Tensor:
    view = managed.tensor
    shape = tuple(view.shape[i] for i in range(view.ndim))
    strides = contiguous_strides(shape)
    if view.strides:
        strides = tuple(view.strides[i] for i in range(view.ndim))
    kind = _kind_of(view.dtype.code, view.dtype.bits, view.dtype.lanes)
    start = (view.data or 0) + view.byte_offset
    place = _device_at(start, view.device)
    read_only = isinstance(managed, _Versioned) and managed.flags & _READ_ONLY
    share = place is not None and not read_only and not copy and min(strides, default=0) >= 0
    if copy is False and not share:
        raise BufferError("copy: this memory cannot be used in place")
    if place is None:
        return from_numpy(_host_view(start, shape, strides, kind), device=where)
    memory = Buffer.wrap(start, span(shape, strides) * kind.bits // 8, owner=owner, device=place)
    tensor = Tensor.wrap(memory, shape, kind, strides=strides)
    return tensor if share else from_numpy(tensor.numpy(), device=place)


def _device_at(address: int, device: _DLDevice) -> Device | None:
    """Return the device whose memory an address is in, None for host memory."""
    if device.type == _EXT_DEV:
        return Device(device.id) if device_kind() == "npu" else None
    if device.type != _CPU or device_kind() != "emulator" or not address:
        return None
    attributes = ffi.new("aclrtPtrAttributes *")
    initialization.ensure()
    if C.aclrtPointerGetAttributes(ffi.cast("void *", address), attributes) != 0:
        recent_message()  # an address the device does not know
        return None
    location = attributes.location
    return Device(int(location.id)) if int(location.type) == _LOCATION_DEVICE else None


def _host_view(
    start: int, shape: tuple[int, ...], strides: tuple[int, ...], kind: DType
) -> npt.NDArray[Any]:
    if 0 in shape:
        return np.empty(shape, kind.numpy)
    size = kind.numpy.itemsize
    reach = [(dim - 1) * stride for dim, stride in zip(shape, strides, strict=True)]
    below = -sum(step for step in reach if step < 0) * size
    above = (sum(step for step in reach if step > 0) + 1) * size
    cells = (ctypes.c_char * (below + above)).from_address(start - below)
    steps = tuple(stride * size for stride in strides)
    flat = np.frombuffer(memoryview(cells), np.uint8)
    view: npt.NDArray[Any] = np.ndarray(shape, kind.numpy, flat, below, steps)
    return view
