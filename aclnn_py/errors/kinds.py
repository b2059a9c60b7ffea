# SPDX-License-Identifier: Apache-2.0
"""What went wrong, whichever library says so: one class for each kind of failure."""

from __future__ import annotations

from aclnn_py import late
from aclnn_py.errors.base import AclnnPyError

__all__ = [
    "AllocatorError",
    "CaptureError",
    "ClosedError",
    "CommunicationError",
    "DeviceError",
    "DeviceMismatchError",
    "DeviceTimeoutError",
    "ForkError",
    "InvalidArgumentError",
    "NotSupportedError",
    "OutOfMemoryError",
    "ReleaseWarning",
]


class ReleaseWarning(ResourceWarning):
    """A C object could not be released; the text names the routine and the status."""


class ClosedError(AclnnPyError, RuntimeError):
    """An object was used after it was closed, or an executor after it was consumed."""


late.at_exit(ClosedError)


class CaptureError(AclnnPyError, RuntimeError):
    """A call that the capture of a graph forbids, or a graph in a state that does not allow it.

    ``call`` is what was called, for example ``"Tensor.numpy"``.
    """

    def __init__(self, message: str, *, call: str = "") -> None:
        super().__init__(message)
        self.call = call


class ForkError(AclnnPyError, RuntimeError):
    """The process was forked after the runtime was initialised; start workers with ``spawn``."""


class InvalidArgumentError(AclnnPyError, ValueError):
    """An argument is outside what the function takes."""


class DeviceMismatchError(InvalidArgumentError):
    """A tensor, buffer or stream belongs to another device than the call."""


class OutOfMemoryError(AclnnPyError, MemoryError):
    """Host or device memory is exhausted."""


class AllocatorError(AclnnPyError, RuntimeError):
    """A function given to ``set_allocator`` failed or returned no usable address."""


class DeviceTimeoutError(AclnnPyError, TimeoutError):
    """A wait for the device or for another rank expired."""


class NotSupportedError(AclnnPyError, NotImplementedError):
    """The library or the device does not have the feature."""


class DeviceError(AclnnPyError, RuntimeError):
    """The device reported a fault, usually of work queued before the call that raises."""


class CommunicationError(AclnnPyError, ConnectionError):
    """The link to another rank failed, or the rank is gone."""
