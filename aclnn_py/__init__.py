# SPDX-License-Identifier: Apache-2.0
"""Every CANN operator from NumPy arrays, without a framework.

``__all__`` is the public surface. Names are loaded at their first use, so that importing the
package costs next to nothing and needs neither a device nor a device library.
"""

from __future__ import annotations

import os as _os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from aclnn_py.late import lead as _lead
from aclnn_py.late import load as _load

if TYPE_CHECKING:
    from aclnn_py import distributed, errors, functional, ops, tools, xp
    from aclnn_py._ffi import library_info, use
    from aclnn_py.checking import check
    from aclnn_py.graphs.graph import Graph
    from aclnn_py.memory.buffer import Buffer, HostBuffer, memory_info
    from aclnn_py.memory.statistics import (
        MemoryStats,
        SizeClass,
        memory_stats,
        reset_peak_memory_stats,
        set_allocator,
        set_memory_limit,
        trim_memory,
    )
    from aclnn_py.operators.describe.scalar import Scalar
    from aclnn_py.operators.launch.blocking import blocking
    from aclnn_py.operators.launch.plans import Plan, plan
    from aclnn_py.operators.launch.sequence import Sequence, SequenceStep
    from aclnn_py.operators.launch.strictness import strict
    from aclnn_py.operators.launch.unsupported import unsupported_dtypes
    from aclnn_py.random.generator import Generator, default_generator, manual_seed
    from aclnn_py.runtime.device import Device, MemoryInfo, device_count, soc_name
    from aclnn_py.runtime.event import Event
    from aclnn_py.runtime.stream import Stream, current_stream, synchronize
    from aclnn_py.tensor.creation import (
        arange,
        asarray,
        empty,
        empty_like,
        eye,
        from_numpy,
        full,
        linspace,
        zeros,
        zeros_like,
    )
    from aclnn_py.tensor.dlpack import from_dlpack
    from aclnn_py.tensor.formats import Format
    from aclnn_py.tensor.tensor import Tensor

__version__ = "0.1.0"

# Public name -> module that defines it. A module stands for itself.
_HOMES = {
    # Devices and order of work
    "Device": "runtime.device",
    "MemoryInfo": "runtime.device",
    "device_count": "runtime.device",
    "soc_name": "runtime.device",
    "Stream": "runtime.stream",
    "current_stream": "runtime.stream",
    "synchronize": "runtime.stream",
    "Event": "runtime.event",
    # Memory and tensors
    "Buffer": "memory.buffer",
    "HostBuffer": "memory.buffer",
    "memory_info": "memory.buffer",
    "MemoryStats": "memory.statistics",
    "SizeClass": "memory.statistics",
    "memory_stats": "memory.statistics",
    "reset_peak_memory_stats": "memory.statistics",
    "set_allocator": "memory.statistics",
    "set_memory_limit": "memory.statistics",
    "trim_memory": "memory.statistics",
    "Tensor": "tensor.tensor",
    # Operators
    "Plan": "operators.launch.plans",
    "plan": "operators.launch.plans",
    "Sequence": "operators.launch.sequence",
    "SequenceStep": "operators.launch.sequence",
    "Graph": "graphs.graph",
    "Generator": "random.generator",
    "default_generator": "random.generator",
    "manual_seed": "random.generator",
    "Scalar": "operators.describe.scalar",
    "blocking": "operators.launch.blocking",
    "check": "checking",
    "strict": "operators.launch.strictness",
    "unsupported_dtypes": "operators.launch.unsupported",
    "Format": "tensor.formats",
    "arange": "tensor.creation",
    "asarray": "tensor.creation",
    "eye": "tensor.creation",
    "linspace": "tensor.creation",
    "empty": "tensor.creation",
    "empty_like": "tensor.creation",
    "from_numpy": "tensor.creation",
    "full": "tensor.creation",
    "zeros": "tensor.creation",
    "zeros_like": "tensor.creation",
    "from_dlpack": "tensor.dlpack",
    # The library
    "library_info": "_ffi",
    "use": "_ffi",
}
# What is loaded beside a module: who makes tensors computes with them next, and the first `x + y`
# would wait for these.
_COMPANIONS = {"tensor.creation": ("array.arithmetic",)}
# Where the calls go that lower modules make to higher ones; see `late`.
_lead(
    {
        "array": "aclnn_py.array",
        "declaring": "aclnn_py.operators.launch.declare",
        "dlpack": "aclnn_py.tensor.dlpack",
        "drawing": "aclnn_py.array.drawing",
        "documentation": "aclnn_py.operators.describe.documentation",
        "doctor": "aclnn_py.tools.doctor",
        "event": "aclnn_py.runtime.event",
        "explanation": "aclnn_py.errors.explanation",
        "functional": "aclnn_py.functional",
        "learning": "aclnn_py.operators.launch.learning",
        "settling": "aclnn_py.operators.launch.settling",
        "startup": "aclnn_py.operators.launch.startup",
        "stream": "aclnn_py.runtime.stream",
        "unsupported": "aclnn_py.array.unsupported",
        "workspace": "aclnn_py.memory.workspace",
        "xp": "aclnn_py.xp.info",
    }
)
_MODULES = ("distributed", "errors", "functional", "ops", "tools", "xp")

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
    "arange",
    "asarray",
    "blocking",
    "check",
    "current_stream",
    "default_generator",
    "device_count",
    "distributed",
    "empty",
    "empty_like",
    "errors",
    "eye",
    "from_dlpack",
    "from_numpy",
    "full",
    "functional",
    "library_info",
    "linspace",
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
    "unsupported_dtypes",
    "use",
    "xp",
    "zeros",
    "zeros_like",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _load(f"aclnn_py.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'aclnn_py' has no attribute {name!r}")
    value = getattr(_load(f"aclnn_py.{home}"), name)
    for companion in _COMPANIONS.get(home, ()):
        _load(f"aclnn_py.{companion}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if _os.environ.get("ACLNN_PY_TRACE"):
    import_module("aclnn_py.tools.traces.writer").start_from_environment(
        _os.environ["ACLNN_PY_TRACE"]
    )

if _os.environ.get("ACLNN_PY_RECORD"):
    import_module("aclnn_py.tools.records.recorder").start_from_environment(
        _os.environ["ACLNN_PY_RECORD"]
    )

if _os.environ.get("ACLNN_PY_CHECK", "0") not in ("", "0"):
    # Before anything is allocated. What is loaded for it costs other programs nothing.
    import_module("aclnn_py.checking").start_from_environment()
