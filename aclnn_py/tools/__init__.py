# SPDX-License-Identifier: Apache-2.0
"""The command line ``aclnn-py`` and the modules behind it, which programs may use as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aclnn_py.late import load as _load

if TYPE_CHECKING:
    from aclnn_py.tools import config, doctor, explain, headers, operators, run
    from aclnn_py.tools.dumps.file import read_dump
    from aclnn_py.tools.profiles.profile import profile
    from aclnn_py.tools.records.comparer import compare
    from aclnn_py.tools.records.recorder import record
    from aclnn_py.tools.records.replayer import replay
    from aclnn_py.tools.traces.writer import trace

_MODULES = ("config", "doctor", "explain", "headers", "operators", "run")
# Public class or function -> the module that defines it.
_HOMES = {
    "compare": "records.comparer",
    "profile": "profiles.profile",
    "read_dump": "dumps.file",
    "record": "records.recorder",
    "replay": "records.replayer",
    "trace": "traces.writer",
}

__all__ = [
    "compare",
    "config",
    "doctor",
    "explain",
    "headers",
    "operators",
    "profile",
    "read_dump",
    "record",
    "replay",
    "run",
    "trace",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _load(f"{__name__}.{name}")
    if name in _HOMES:
        return getattr(_load(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
