# SPDX-License-Identifier: Apache-2.0
"""Steps of the build: compile the emulator, generate and compile the cffi extension.

The build reads the C contract with the package's own reader, `aclnn_py._ffi.contract`. Importing
`aclnn_py` would need the extension that is still to be built, so the reader's folder is put among
the imported modules under its own name, without the packages around it.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_CONTRACT = "aclnn_py._ffi.contract"


def _import_contract() -> None:
    folder = Path(__file__).resolve().parent.parent.joinpath(*_CONTRACT.split("."))
    spec = importlib.util.spec_from_file_location(
        _CONTRACT, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} is missing from the source tree")
    module = importlib.util.module_from_spec(spec)
    sys.modules[_CONTRACT] = module
    spec.loader.exec_module(module)


# In a process that has the whole package, such as a test, its reader is there already.
if "aclnn_py" not in sys.modules:
    _import_contract()
