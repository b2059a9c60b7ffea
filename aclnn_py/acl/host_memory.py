# SPDX-License-Identifier: Apache-2.0
"""Whether an address that a program gives can be read, before C or Python reads it."""

from __future__ import annotations

import os
import threading

from aclnn_py._ffi import C, ffi
from aclnn_py.errors import InvalidArgumentError

__all__ = ["check_readable", "is_mapped", "note", "take_note"]

_ON_DEVICE = 1  # ACL_MEM_LOCATION_TYPE_DEVICE
_noted = threading.local()


def is_mapped(address: int, nbytes: int) -> bool:
    """Whether the first and the last byte of a range can be read by this process.

    The kernel copies them into a pipe, which fails where nothing is mapped. Memory of an NPU is
    not mapped here.
    """
    if address == 0 or address + nbytes > 2**64:
        return False
    reader, writer = os.pipe()
    try:
        for place in {address, address + max(nbytes, 1) - 1}:
            os.write(writer, ffi.buffer(ffi.cast("char *", place), 1))
    except OSError:
        return False
    finally:
        os.close(reader)
        os.close(writer)
    return True


def check_readable(name: str, address: int, nbytes: int) -> None:
    """Refuse an address that Python cannot read, or that is a device's.

    Raises
    ------
    InvalidArgumentError
        Nothing is mapped there, or the memory is a device's.
    """
    if not is_mapped(address, nbytes):
        raise InvalidArgumentError(
            f"{name}: {nbytes} bytes at {address:#x} cannot be read from the host; copy device "
            "memory to the host first with acl.rt.memcpy"
        )
    if _is_of_a_device(address):
        raise InvalidArgumentError(
            f"{name}: {address:#x} is memory of a device, which the host cannot read on an NPU; "
            "copy it first with acl.rt.memcpy"
        )


def note(text: str) -> None:
    """Keep a sentence for `acl.get_recent_err_msg` on this thread."""
    _noted.text = text


def take_note() -> str:
    """Return the sentence kept on this thread and forget it; "" if there is none."""
    text: str = getattr(_noted, "text", "")
    _noted.text = ""
    return text


def _is_of_a_device(address: int) -> bool:
    if not C.has("aclrtPointerGetAttributes"):
        return False
    attributes = ffi.new("aclrtPtrAttributes *")
    if C.aclrtPointerGetAttributes(ffi.cast("void *", address), attributes):
        return False
    return bool(attributes.location.type == _ON_DEVICE)
