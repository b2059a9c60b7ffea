# SPDX-License-Identifier: Apache-2.0
"""Every CANN operator from NumPy arrays, without a framework.

``__all__`` is the public surface. Names are loaded at their first use, so that importing the
package costs next to nothing and needs neither a device nor a device library.
"""

from __future__ import annotations

import os as _os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aclnn_py import distributed, errors, functional, ops, tools
    from aclnn_py._ffi import library_info, use
    from aclnn_py.accounting import (
        MemoryStats,
        SizeClass,
        memory_stats,
        reset_peak_memory_stats,
        set_allocator,
        set_memory_limit,
        trim_memory,
    )
    from aclnn_py.checking import check
    from aclnn_py.creation import empty, empty_like, from_numpy, full, zeros, zeros_like
    from aclnn_py.device import Device, MemoryInfo, device_count, soc_name
    from aclnn_py.dlpack import from_dlpack
    from aclnn_py.event import Event
    from aclnn_py.formats import Format
    from aclnn_py.generator import Generator, default_generator, manual_seed
    from aclnn_py.graph import Graph
    from aclnn_py.memory import Buffer, HostBuffer, memory_info
    from aclnn_py.operators.blocking import blocking
    from aclnn_py.operators.scalar import Scalar
    from aclnn_py.operators.strictness import strict
    from aclnn_py.plans import Plan, plan
    from aclnn_py.sequence import Sequence, SequenceStep
    from aclnn_py.stream import Stream, current_stream, synchronize
    from aclnn_py.tensor import Tensor

__version__ = "0.1.0"

# Public name -> module that defines it. A module stands for itself.
_HOMES = {
    # Devices and order of work
    "Device": "device",
    "MemoryInfo": "device",
    "device_count": "device",
    "soc_name": "device",
    "Stream": "stream",
    "current_stream": "stream",
    "synchronize": "stream",
    "Event": "event",
    # Memory and tensors
    "Buffer": "memory",
    "HostBuffer": "memory",
    "memory_info": "memory",
    "MemoryStats": "accounting",
    "SizeClass": "accounting",
    "memory_stats": "accounting",
    "reset_peak_memory_stats": "accounting",
    "set_allocator": "accounting",
    "set_memory_limit": "accounting",
    "trim_memory": "accounting",
    "Tensor": "tensor",
    # Operators
    "Plan": "plans",
    "plan": "plans",
    "Sequence": "sequence",
    "SequenceStep": "sequence",
    "Graph": "graph",
    "Generator": "generator",
    "default_generator": "generator",
    "manual_seed": "generator",
    "Scalar": "operators.scalar",
    "blocking": "operators.blocking",
    "check": "checking",
    "strict": "operators.strictness",
    "Format": "formats",
    "empty": "creation",
    "empty_like": "creation",
    "from_numpy": "creation",
    "full": "creation",
    "zeros": "creation",
    "zeros_like": "creation",
    "from_dlpack": "dlpack",
    # The library
    "library_info": "_ffi",
    "use": "_ffi",
}
_MODULES = ("distributed", "errors", "functional", "ops", "tools")

__all__ = [
    "Buffer",
    "Device",
    "Event",
    "Format",
    "Generator",
    "Graph",
    "HostBuffer",
    "MemoryInfo",
    "MemoryStats",
    "Plan",
    "Scalar",
    "Sequence",
    "SequenceStep",
    "SizeClass",
    "Stream",
    "Tensor",
    "blocking",
    "check",
    "current_stream",
    "default_generator",
    "device_count",
    "distributed",
    "empty",
    "empty_like",
    "errors",
    "from_dlpack",
    "from_numpy",
    "full",
    "functional",
    "library_info",
    "manual_seed",
    "memory_info",
    "memory_stats",
    "ops",
    "plan",
    "reset_peak_memory_stats",
    "set_allocator",
    "set_memory_limit",
    "soc_name",
    "strict",
    "synchronize",
    "tools",
    "trim_memory",
    "use",
    "zeros",
    "zeros_like",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"aclnn_py.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'aclnn_py' has no attribute {name!r}")
    value = getattr(import_module(f"aclnn_py.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if _os.environ.get("ACLNN_PY_TRACE"):
    import_module("aclnn_py.tools.tracing").start_from_environment(_os.environ["ACLNN_PY_TRACE"])

if _os.environ.get("ACLNN_PY_CHECK", "0") not in ("", "0"):
    # Before anything is allocated. What is loaded for it costs other programs nothing.
    import_module("aclnn_py.checking").start_from_environment()
