# SPDX-License-Identifier: Apache-2.0
"""Skip the generation of sources while nothing that they are generated from has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from build_parts.paths import BUILD, FACTS, INCLUDE, PACKAGE, ROOT, write_if_changed


@cache
def inputs_digest() -> str:
    """Digest of everything that generated files depend on, and of the programs that write them."""
    digest = hashlib.sha256(cffi_version().encode())
    ffi = PACKAGE / "_ffi"
    for folder, pattern in (
        (INCLUDE, "**/*.h"),
        (FACTS, "**/*.json"),
        (FACTS, "*.py"),
        (ffi, "*.h"),
        (ffi / "contract", "*.py"),
        (Path(__file__).parent, "*.py"),
        (Path(__file__).parent, "*.cmake"),
        (Path(__file__).parent, "*.json"),
    ):
        for path in sorted(folder.glob(pattern)):
            digest.update(str(path.relative_to(ROOT)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def cffi_version() -> str:
    """The release of cffi that would write the extension, or "none"."""
    try:
        return version("cffi")
    except PackageNotFoundError:
        return "none"


class Step:
    """One generating step of the build, which remembers what it wrote and from what."""

    def __init__(self, name: str) -> None:
        self._stamp = BUILD / "steps" / f"{name}.json"

    def is_done(self) -> bool:
        """Whether its files are there and were made from what is there now."""
        try:
            known = json.loads(self._stamp.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        outputs = (ROOT / name for name in known["outputs"])
        return known["inputs"] == inputs_digest() and all(path.is_file() for path in outputs)

    def done(self, outputs: Iterable[Path]) -> None:
        """Remember the files just written."""
        names = sorted(str(path.relative_to(ROOT)) for path in outputs)
        text = json.dumps({"inputs": inputs_digest(), "outputs": names}, indent=0)
        write_if_changed(self._stamp, text + "\n")
