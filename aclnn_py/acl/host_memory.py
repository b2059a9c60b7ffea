# SPDX-License-Identifier: Apache-2.0
"""Whether an address that a program gives can be read, before C or Python reads it."""

from __future__ import annotations

import os
import threading

from aclnn_py._ffi import C, ffi
from aclnn_py.errors import InvalidArgumentError
from aclnn_py.runtime.status import recent_message

__all__ = ["check_readable", "is_mapped", "note", "take_note"]

# Of aclrtMemLocationType: memory that the runtime made. Anything else is the program's own.
_ON_HOST, _ON_DEVICE = 0, 1
_noted = threading.local()


def is_mapped(address: int, nbytes: int) -> bool:
    """Whether the first and the last byte of a range can be read by this process.

    Memory of an NPU is not mapped here.
    """
    if address == 0 or address + nbytes > 2**64:
        return False
    places = (address, address + max(nbytes, 1) - 1)
    return all(_location_of(place) in (_ON_HOST, _ON_DEVICE) for place in places) or _can_be_read(
        places
    )


def _can_be_read(places: tuple[int, ...]) -> bool:
    # The kernel copies the bytes into a pipe, which fails where nothing is mapped.
    reader, writer = os.pipe()
    try:
        for place in places:
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
    if _location_of(address) == _ON_DEVICE:
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


def _location_of(address: int) -> int | None:
    """Where the runtime says that memory is; None if it does not know."""
    if not C.has("aclrtPointerGetAttributes"):
        return None
    attributes = ffi.new("aclrtPtrAttributes *")
    if C.aclrtPointerGetAttributes(ffi.cast("void *", address), attributes):
        recent_message()  # so that it does not turn up in the text of a later error
        return None
    return int(attributes.location.type)
