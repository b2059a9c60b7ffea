# SPDX-License-Identifier: Apache-2.0
"""Addresses of Python objects, and threads: ``acl.util``."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aclnn_py._ffi import ffi
from aclnn_py.acl.host_memory import check_readable
from aclnn_py.acl.values import number
from aclnn_py.errors import InvalidArgumentError

__all__ = [
    "bytes_to_ptr",
    "numpy_contiguous_to_ptr",
    "numpy_to_ptr",
    "ptr_to_bytes",
    "ptr_to_numpy",
    "start_thread",
    "stop_thread",
]

_UNKNOWN_THREAD = 107000  # ACL_ERROR_RT_PARAM_INVALID
_threads: dict[int, threading.Thread] = {}


def bytes_to_ptr(bytes_data: bytes) -> int:
    """Return the address of the content of a bytes object.

    Parameters
    ----------
    bytes_data : bytes
        Keep a reference to it for as long as the address is used.
    """
    if not isinstance(bytes_data, (bytes, bytearray)):
        raise TypeError(f"bytes_data: expected bytes, got {type(bytes_data).__name__}")
    return int(ffi.cast("uintptr_t", ffi.from_buffer(bytes_data)))


def ptr_to_bytes(ptr: int, size: int) -> bytes:
    """Return a copy of host memory.

    Parameters
    ----------
    ptr : int
        The address.
    size : int
        How many bytes.

    Raises
    ------
    InvalidArgumentError
        Nothing is mapped there, or it is a device's memory.
    """
    address = number("ptr", ptr, 1, 2**64 - 1, "address")
    nbytes = number("size", size, 0, 2**63 - 1, "integer")
    check_readable("ptr", address, nbytes)
    return bytes(ffi.buffer(ffi.cast("char *", address), nbytes))


def numpy_to_ptr(data: np.ndarray[Any, Any]) -> int:
    """Return the address of an array's first element, with a warning if it has gaps.

    Parameters
    ----------
    data : ndarray
        Keep a reference to it for as long as the address is used.
    """
    _check_array(data)
    if not data.flags.c_contiguous:
        warnings.warn(
            "data is not contiguous, and a copy of its memory will hold other elements; use "
            "acl.util.numpy_contiguous_to_ptr",
            RuntimeWarning,
            stacklevel=2,
        )
    return int(data.__array_interface__["data"][0])


def numpy_contiguous_to_ptr(data: np.ndarray[Any, Any]) -> tuple[int, np.ndarray[Any, Any]]:
    """Return the address of a contiguous array with the same elements, and that array.

    Parameters
    ----------
    data : ndarray
        It is copied if it has gaps. Keep a reference to the returned array.
    """
    _check_array(data)
    result = np.ascontiguousarray(data).reshape(data.shape)
    return int(result.__array_interface__["data"][0]), result


def ptr_to_numpy(ptr: int, shape: Sequence[int], type: int) -> np.ndarray[Any, Any]:
    """Return an array over host memory, without a copy.

    Parameters
    ----------
    ptr : int
        The address. The memory has to outlive the array.
    shape : tuple of int
        The array's shape.
    type : int
        NumPy's number of the dtype: 5 for int32, 11 for float32, 23 for float16.

    Raises
    ------
    InvalidArgumentError
        No dtype has that number, or the memory cannot be read.
    """
    address = number("ptr", ptr, 1, 2**64 - 1, "address")
    kind = number("type", type, 0, 23, "integer")
    dtype = next((d for d in map(np.dtype, np.typecodes["All"]) if d.num == kind), None)
    if dtype is None or dtype.itemsize == 0 or dtype.hasobject:
        raise InvalidArgumentError(f"type: {kind} is the number of no dtype of plain numbers")
    if isinstance(shape, int) or not hasattr(shape, "__iter__"):
        raise TypeError(f"shape: expected a tuple of integers, got {shape!r}")
    sizes = tuple(number(f"shape[{i}]", n, 0, 2**62, "integer") for i, n in enumerate(shape))
    count = 1
    for n in sizes:
        count *= n
    nbytes = count * dtype.itemsize
    check_readable("ptr", address, nbytes)
    memory = ffi.buffer(ffi.cast("char *", address), nbytes)
    return np.frombuffer(memory, dtype, count).reshape(sizes)


def start_thread(thr_func: Callable[[Any], Any], args_list: Any) -> tuple[int, int]:
    """Run a function on a new thread; return the thread's number and a status.

    Parameters
    ----------
    thr_func : callable
        Called with ``args_list``. It has no context: it starts with ``acl.rt.set_context``.
    args_list : list
        What the function gets.
    """
    if not callable(thr_func):
        raise TypeError(f"thr_func: expected a function, got {_name_of(thr_func)}")
    thread = threading.Thread(target=thr_func, args=(args_list,), daemon=True)
    thread.start()
    assert thread.ident is not None  # it has started
    _threads[thread.ident] = thread
    return thread.ident, 0


def stop_thread(thr_id: int) -> int:
    """Wait for the end of a thread of `start_thread`; return a status.

    Parameters
    ----------
    thr_id : int
        The thread's number. Its function has to end by itself.
    """
    thread = _threads.pop(number("thr_id", thr_id, 0, 2**64 - 1, "integer"), None)
    if thread is None:
        return _UNKNOWN_THREAD
    thread.join()
    return 0


def _check_array(data: Any) -> None:
    if not isinstance(data, np.ndarray):
        raise TypeError(f"data: expected a NumPy array, got {_name_of(data)}")


def _name_of(value: object) -> str:
    return value.__class__.__name__
