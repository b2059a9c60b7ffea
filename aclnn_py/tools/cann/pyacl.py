# SPDX-License-Identifier: Apache-2.0
"""The part of the tree from which Python imports ``acl``."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

__all__ = ["LOADER", "PACKAGE", "loader", "package_files"]

LOADER = "python/site-packages/acl/__init__.py"
PACKAGE = "python/aclnn_py/aclnn_py"
_PACKAGE_FROM_LOADER = "../../aclnn_py"
_NEEDED = ("cffi", "numpy", "ml_dtypes")
# The tree has these two elsewhere, and the emulator's sources are for nobody there.
_ELSEWHERE = ("include", "lib", "emulator", "__pycache__")
_TEXT = '''\
# SPDX-License-Identifier: Apache-2.0
"""pyACL on the emulator: aclnn_py.acl under the name acl. Written by `aclnn-py cann`."""

import os
import sys

# The package, and where that which it needs was installed when this file was written.
_PLACES = {places}
_NEEDED = {needed}


def _load():
    try:
        import aclnn_py.acl as found
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in _NEEDED:
            raise
        here = os.path.dirname(os.path.abspath(__file__))
        sys.path += [os.path.normpath(os.path.join(here, place)) for place in _PLACES]
        for name in [name for name in sys.modules if name.partition(".")[0] == "aclnn_py"]:
            del sys.modules[name]  # a part of it was imported before something was missing
        import aclnn_py.acl as found
    return found


_load().stand_in(__name__)
'''


def loader() -> str:
    """Return the text of the module ``acl``."""
    found = (find_spec(name) for name in _NEEDED)
    sites = {str(Path(spec.origin).parent.parent): None for spec in found if spec and spec.origin}
    places = [_PACKAGE_FROM_LOADER, *sites]
    return _TEXT.format(places=places, needed=("aclnn_py", *_NEEDED, "_cffi_backend"))


def package_files() -> Iterator[tuple[str, Path]]:
    """Yield (place in the tree, file or directory) of this package without what it has built."""
    package = Path(__file__).resolve().parents[2]
    for path in sorted(package.iterdir()):
        if path.name not in _ELSEWHERE:
            yield f"{PACKAGE}/{path.name}", path
    yield f"{PACKAGE}/emulator/__init__.py", package / "emulator" / "__init__.py"
