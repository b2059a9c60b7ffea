# SPDX-License-Identifier: Apache-2.0
"""Exception and warning classes. Nothing but the standard library and data below it, so that every
layer may import it.

A failed C call raises a class with two independent axes: which library said it (``AclError``,
``AclnnError``, ``HcclError``) and what kind of failure it is (``InvalidArgumentError``,
``OutOfMemoryError``, ...). Each kind also inherits the builtin a Python programmer would catch. The
combinations, such as ``AclnnInvalidArgumentError``, are made once, in ``status_classes``.
"""

from __future__ import annotations

from aclnn_py.errors.base import AclnnPyError
from aclnn_py.errors.checker import CheckArgumentError, CheckClosedError, CheckError, CheckWarning
from aclnn_py.errors.evidence import Argument, BrokenRule
from aclnn_py.errors.installation import (
    LibraryLoadError,
    LibraryNotFoundError,
    SymbolNotFoundError,
)
from aclnn_py.errors.kinds import (
    AllocatorError,
    CaptureError,
    ClosedError,
    CommunicationError,
    DeviceError,
    DeviceMismatchError,
    DeviceTimeoutError,
    ForkError,
    InvalidArgumentError,
    NotSupportedError,
    OutOfMemoryError,
    ReleaseWarning,
)
from aclnn_py.errors.status import AclError, AclnnError, HcclError, StatusError
from aclnn_py.errors.status_classes import COMBINED, status_error

__all__ = [
    "AclError",
    "AclnnError",
    "AclnnPyError",
    "AllocatorError",
    "Argument",
    "BrokenRule",
    "CaptureError",
    "CheckArgumentError",
    "CheckClosedError",
    "CheckError",
    "CheckWarning",
    "ClosedError",
    "CommunicationError",
    "DeviceError",
    "DeviceMismatchError",
    "DeviceTimeoutError",
    "ForkError",
    "HcclError",
    "InvalidArgumentError",
    "LibraryLoadError",
    "LibraryNotFoundError",
    "NotSupportedError",
    "OutOfMemoryError",
    "ReleaseWarning",
    "StatusError",
    "SymbolNotFoundError",
    "status_error",
]

globals().update({cls.__name__: cls for cls in COMBINED.values()})

# Tracebacks show the name that users catch, and pickle finds a class by its name in its module.
for _class in (*COMBINED.values(), *(globals()[name] for name in __all__)):
    if isinstance(_class, type) and issubclass(_class, BaseException):
        _class.__module__ = __name__
