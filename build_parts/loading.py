# SPDX-License-Identifier: Apache-2.0
"""Load one module of the package by path: importing the package would need what is being built."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from build_parts.toolchain import BuildError


def load_by_path(name: str, path: Path) -> ModuleType:
    """Execute the file as module `name` and return it."""
    spec = importlib.util.spec_from_file_location(f"_build_{name}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise BuildError(f"{path} is missing from the source tree")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module
