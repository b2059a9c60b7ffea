# SPDX-License-Identifier: Apache-2.0
"""The command line ``aclnn-py`` and the modules behind it, which programs may use as well."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aclnn_py.tools import config, doctor, explain, headers, operators, run

__all__ = ["config", "doctor", "explain", "headers", "operators", "run"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
