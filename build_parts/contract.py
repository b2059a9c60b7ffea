# SPDX-License-Identifier: Apache-2.0
"""Identity of the C contract: the extension and the emulator must come from the same one."""

from __future__ import annotations

import hashlib

from aclnn_py._ffi.contract.reader import without_comments
from build_parts.paths import INCLUDE


def contract_id() -> str:
    """Digest of every header of include/: names and what a compiler sees, so not the comments."""
    digest = hashlib.sha256()
    for path in sorted(INCLUDE.rglob("*.h")):
        digest.update(path.relative_to(INCLUDE).as_posix().encode())
        text = without_comments(path.read_text(encoding="utf-8"))
        digest.update(" ".join(text.split()).encode())
    return digest.hexdigest()[:16]
