# SPDX-License-Identifier: Apache-2.0
"""Build backend (PEP 517 and 660, over setuptools) and `python build_ffi.py`, the build in place.

Compiles the emulator and the cffi extension into the package directory; setuptools then packs them.
docs/building.md says why not CMake or meson does it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from typing import Any

from build_parts.binding import binding_units, link_binding
from build_parts.compile_commands import write_compile_commands
from build_parts.emulator import emulator_units, install_headers, link_emulator
from build_parts.paths import BUILD, say
from build_parts.toolchain import BuildError, Toolchain, Unit

Settings = dict[str, Any] | None


def build_in_place(
    *,
    emulator: bool = True,
    binding: bool = True,
    empty_kernels: bool = False,
    sanitize: tuple[str, ...] = (),
    in_batches: bool = False,
) -> None:
    """Build the parts asked for into the package directory of this source tree."""
    started = time.monotonic()
    toolchain = Toolchain(sanitize=sanitize)
    parts: dict[str, list[Unit]] = {}
    if binding:
        parts["binding"] = binding_units()
    if emulator:
        parts["emulator"] = emulator_units(empty_kernels=empty_kernels, in_batches=in_batches)
    objects = toolchain.compile(parts)
    if binding:
        link_binding(toolchain, objects["binding"])
    if emulator:
        link_emulator(toolchain, objects["emulator"])
        install_headers()
    write_compile_commands(toolchain.commands)
    say(f"done in {time.monotonic() - started:.1f} s")


def build_from_environment(*, in_batches: bool) -> None:
    """Build everything, options taken from ACLNN_PY_BUILD_* (pip passes no command line)."""
    sanitize = os.environ.get("ACLNN_PY_BUILD_SANITIZE", "")
    try:
        build_in_place(
            empty_kernels=os.environ.get("ACLNN_PY_BUILD_EMPTY_KERNELS", "") not in ("", "0"),
            sanitize=tuple(filter(None, sanitize.split(","))),
            in_batches=in_batches,
        )
    except BuildError as error:
        raise SystemExit(f"build_ffi: error: {error}") from None


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Nothing beyond build-system.requires."""
    return []


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """Nothing beyond build-system.requires."""
    return []


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    """Nothing beyond build-system.requires."""
    return []


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: Settings = None
) -> str:
    """Metadata without compiling anything."""
    from setuptools import build_meta

    return build_meta.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def prepare_metadata_for_build_editable(
    metadata_directory: str, config_settings: Settings = None
) -> str:
    """Metadata without compiling anything."""
    from setuptools import build_meta

    return build_meta.prepare_metadata_for_build_editable(metadata_directory, config_settings)


def build_wheel(
    wheel_directory: str,
    config_settings: Settings = None,
    metadata_directory: str | None = None,
) -> str:
    """Compile, then pack a wheel."""
    from setuptools import build_meta

    build_from_environment(in_batches=True)
    remove_packed_files()
    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)


def remove_packed_files() -> None:
    """Remove what setuptools copied for an earlier wheel: it would pack files that are gone since.

    It names the folder `lib`, or `lib.` with platform and Python where code is compiled.
    """
    for folder in BUILD.glob("lib*"):
        shutil.rmtree(folder)


def build_editable(
    wheel_directory: str,
    config_settings: Settings = None,
    metadata_directory: str | None = None,
) -> str:
    """Compile in place, then pack the link to this source tree."""
    from setuptools import build_meta

    build_from_environment(in_batches=False)  # its sources will change one by one
    return build_meta.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Pack the sources; nothing is compiled."""
    from setuptools import build_meta

    return build_meta.build_sdist(sdist_directory, config_settings)


def main(argv: list[str] | None = None) -> int:
    """Command line of the build in place."""
    parser = argparse.ArgumentParser(description="Build aclnn_py in place.")
    parser.add_argument("--emulator", action="store_true", help="build only the emulator")
    parser.add_argument("--binding", action="store_true", help="build only the cffi extension")
    parser.add_argument(
        "--empty-kernels",
        action="store_true",
        default=os.environ.get("ACLNN_PY_BUILD_EMPTY_KERNELS", "") not in ("", "0"),
        help="negative control: the emulator's kernels do nothing",
    )
    parser.add_argument(
        "--batches",
        action="store_true",
        help="compile small sources together, as pip does: sooner done, but a change takes longer",
    )
    parser.add_argument(
        "--sanitize",
        default=os.environ.get("ACLNN_PY_BUILD_SANITIZE", ""),
        metavar="KINDS",
        help="compile with these sanitizers, for example address,undefined",
    )
    options = parser.parse_args(argv)
    both = options.emulator == options.binding
    try:
        build_in_place(
            emulator=both or options.emulator,
            binding=both or options.binding,
            empty_kernels=options.empty_kernels,
            sanitize=tuple(filter(None, options.sanitize.split(","))),
            in_batches=options.batches,
        )
    except BuildError as error:
        print(f"build_ffi: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
