# SPDX-License-Identifier: Apache-2.0
"""Steps of the build: compile the emulator, generate and compile the cffi extension.

The build reads the C contract and the facts about operators with the package's own readers,
`aclnn_py._ffi.contract` and `aclnn_py.facts`. Importing `aclnn_py` would need the extension that is
still to be built, so the readers' folders are put among the imported modules under their own names,
without the packages around them.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_READERS = ("aclnn_py._ffi.contract", "aclnn_py.facts")


def _import_reader(name: str) -> None:
    folder = Path(__file__).resolve().parent.parent.joinpath(*name.split("."))
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} is missing from the source tree")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


# In a process that has the whole package, such as a test, its readers are there already.
if "aclnn_py" not in sys.modules:
    for reader in _READERS:
        _import_reader(reader)
