# SPDX-License-Identifier: Apache-2.0
"""What lets builds find the installed headers and libraries: a CMake package, pkg-config files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from build_parts.paths import INCLUDE

_HERE = Path(__file__).parent
# pkg-config's names, each with the libraries it stands for.
_MODULES = {
    "ascendcl": ("The runtime of CANN", ("ascendcl",)),
    "nnopbase": ("Tensors and executors of CANN's operators", ("nnopbase",)),
    "opapi": ("The operators of CANN", ("opapi", "nnopbase")),
    "hccl": ("Collective communication of CANN", ("hccl", "hcomm")),
    "cann": (
        "Runtime, operators and communication",
        ("opapi", "nnopbase", "hccl", "hcomm", "ascendcl"),
    ),
}


def package_texts() -> Mapping[str, str]:
    """Files beside the libraries: path below their directory -> text."""
    release = release_of((INCLUDE / "version" / "cann_version.h").read_text(encoding="utf-8"))
    texts = {
        f"cmake/CANN/{name}": (_HERE / name).read_text(encoding="utf-8")
        for name in ("CANNConfig.cmake", "CANNConfigVersion.cmake")
    }
    for name, (description, libraries) in _MODULES.items():
        texts[f"pkgconfig/{name}.pc"] = (
            "libdir=${pcfiledir}/..\n"
            "includedir=${libdir}/../include\n\n"
            f"Name: {name}\n"
            f"Description: {description}, on the CPU device of aclnn_py\n"
            f"Version: {release}\n"
            "Cflags: -I${includedir}\n"
            f"Libs: -L${{libdir}} {' '.join(f'-l{library}' for library in libraries)}\n"
        )
    return texts


def release_of(header: str) -> str:
    """The release that cann_version.h names."""
    found = re.search(r'^#define CANN_VERSION_STR "([^"]+)"$', header, re.MULTILINE)
    if found is None:
        raise ValueError("include/version/cann_version.h defines no CANN_VERSION_STR")
    return found[1]
