# SPDX-License-Identifier: Apache-2.0
"""Identity of the C contract: the extension and the emulator must come from the same one."""

from __future__ import annotations

import hashlib

from ffi_build.paths import INCLUDE


def contract_id() -> str:
    """Digest of every header of include/, names and text."""
    digest = hashlib.sha256()
    for path in sorted(INCLUDE.rglob("*.h")):
        digest.update(path.relative_to(INCLUDE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
