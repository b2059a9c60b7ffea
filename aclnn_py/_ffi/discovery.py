# SPDX-License-Identifier: Apache-2.0
"""Find an installed CANN: roots, library directories, custom packages. Nothing is loaded here.

Every place that is looked at is noted with the reason why it was taken or not, because "library not
found" without the list of places is the least helpful message there is. Absent (nothing installed)
and broken (something is there but cannot work) are different answers.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Installation", "Searched", "find_installation"]

ROOT_VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
WELL_KNOWN_ROOTS = (
    "/usr/local/Ascend/cann",
    "/usr/local/Ascend/ascend-toolkit/latest",
    "/usr/local/Ascend/latest",
    "~/Ascend/cann",
    "~/Ascend/ascend-toolkit/latest",
    "~/Ascend/latest",
)
DRIVER_ROOT = "/usr/local/Ascend/driver"
INSTALL_INFO = "/etc/ascend_install.info"
RUNTIME_LIBRARIES = ("libacl_rt.so", "libascendcl.so")
CUSTOM_LIBRARY = Path("op_api/lib/libcust_opapi.so")
# Link-time libraries: they resolve symbols and do nothing.
_LINK_TIME_DIRECTORIES = frozenset({"stub", "devlib"})


@dataclass(frozen=True)
class Searched:
    """One place that was looked at."""

    place: str
    reason: str


@dataclass
class Installation:
    """What was found.

    Attributes
    ----------
    root : Path or None
        Root of CANN; None when only library directories are known.
    directories : list of Path
        Where libraries are looked for, in order.
    custom_libraries : list of Path
        Operator libraries of vendor and custom packages, in order of priority.
    driver_directories : list of Path
        Where the driver's libraries are.
    version : str
        Release of CANN, or "".
    searched : list of Searched
        Every place looked at, in order.
    broken : str
        Why the installation cannot work, or "".
    """

    root: Path | None = None
    directories: list[Path] = field(default_factory=list)
    custom_libraries: list[Path] = field(default_factory=list)
    driver_directories: list[Path] = field(default_factory=list)
    version: str = ""
    searched: list[Searched] = field(default_factory=list)
    broken: str = ""

    @property
    def present(self) -> bool:
        """Whether something of CANN is installed, working or not."""
        return bool(self.directories or self.broken)

    def note(self, place: object, reason: str) -> None:
        """Remember that a place was looked at."""
        self.searched.append(Searched(str(place), reason))

    def locate(self, library: str) -> Iterator[Path]:
        """Files of that name, in search order."""
        for directory in self.directories:
            path = directory / library
            if path.exists():
                yield path

    def split_operator_libraries(self) -> tuple[str, ...]:
        """Names of the libopapi_*.so files, in directory order."""
        names: dict[str, None] = {}
        for directory in self.directories:
            names.update(dict.fromkeys(sorted(p.name for p in directory.glob("libopapi_*.so"))))
        return tuple(names)


def find_installation(
    environ: Mapping[str, str] = os.environ,
    *,
    well_known: tuple[str, ...] = WELL_KNOWN_ROOTS,
    driver_root: str = DRIVER_ROOT,
    install_info: str = INSTALL_INFO,
) -> Installation:
    """Look for CANN in the documented order.

    ACLNN_PY_LIBRARY_PATH, then ASCEND_HOME_PATH and ASCEND_TOOLKIT_HOME, then the well-known roots,
    then LD_LIBRARY_PATH. The first root that has the runtime library is taken; directories of
    ACLNN_PY_LIBRARY_PATH stay in front of it.
    """
    found = Installation()
    _add_named_directories(found, environ)
    if not found.broken:
        _add_root(found, environ, well_known)
    if not found.directories and not found.broken:
        _add_loader_path(found, environ)
    if found.directories:
        _add_custom_packages(found, environ)
        _add_driver(found, driver_root, install_info)
    return found


def is_link_time_directory(directory: Path) -> bool:
    """Whether the directory holds libraries for the linker only."""
    return any(
        part in _LINK_TIME_DIRECTORIES for part in (*directory.parts, *directory.resolve().parts)
    )


def library_directories(root: Path) -> list[Path]:
    """Directories of a CANN root that may hold libraries."""
    machine = platform.machine()
    system = f"{machine}-linux"
    operators = Path("built-in/op_impl/ai_core/tbe/op_api/lib/linux") / machine
    candidates = [root / "lib64", root / system / "lib64", root / "opp" / operators]
    found: dict[Path, Path] = {}
    for candidate in candidates:
        # latest/lib64 is a link to ARCH-linux/lib64: one directory, looked at once.
        if candidate.is_dir() and not is_link_time_directory(candidate):
            found.setdefault(candidate.resolve(), candidate)
    return list(found.values())


def _add_named_directories(found: Installation, environ: Mapping[str, str]) -> None:
    for item in filter(None, environ.get("ACLNN_PY_LIBRARY_PATH", "").split(os.pathsep)):
        directory = Path(item).expanduser()
        place = f"ACLNN_PY_LIBRARY_PATH: {item}"
        if not directory.is_dir():
            found.broken = f"ACLNN_PY_LIBRARY_PATH names {item}, which is no directory"
            found.note(place, "no such directory")
        elif is_link_time_directory(directory):
            found.note(place, "refused: libraries there are for linking only")
        else:
            found.note(place, "searched first")
            found.directories.append(directory)


def _add_root(found: Installation, environ: Mapping[str, str], well_known: tuple[str, ...]) -> None:
    named = bool(found.directories)
    for variable in ROOT_VARIABLES:
        value = environ.get(variable, "")
        if not value:
            continue
        root = Path(value)
        if _take_root(found, f"{variable}={value}", root):
            return
        if not named:
            # Somebody says that CANN is there: a CPU device in its place would hide the mistake.
            found.broken = f"{variable} is {value}, but no CANN runtime library is there"
            return
    if named:
        return
    for item in well_known:
        root = Path(item).expanduser()
        if _take_root(found, str(root), root):
            return
        if _is_damaged(root):
            found.broken = f"{root} holds parts of CANN, but no runtime library"
            return


def _take_root(found: Installation, place: str, root: Path) -> bool:
    if not root.is_dir():
        found.note(place, "no such directory")
        return False
    directories = library_directories(root)
    if not directories:
        found.note(place, "no lib64 directory")
        return False
    if not any((d / name).exists() for d in directories for name in RUNTIME_LIBRARIES):
        found.note(place, f"none of {', '.join(RUNTIME_LIBRARIES)} is there")
        return False
    found.note(place, "taken")
    found.root = root
    found.directories += directories
    found.version = read_version(root)
    return True


def _is_damaged(root: Path) -> bool:
    return any(next(d.glob("lib*.so"), None) is not None for d in library_directories(root))


def _add_loader_path(found: Installation, environ: Mapping[str, str]) -> None:
    for item in filter(None, environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)):
        directory = Path(item)
        if not any((directory / name).exists() for name in RUNTIME_LIBRARIES):
            continue
        if is_link_time_directory(directory):
            found.note(f"LD_LIBRARY_PATH: {item}", "refused: libraries there are for linking only")
            continue
        found.note(f"LD_LIBRARY_PATH: {item}", "taken")
        found.directories.append(directory)
    if not found.directories:
        found.note("LD_LIBRARY_PATH", f"none of {', '.join(RUNTIME_LIBRARIES)} in its directories")


def _add_custom_packages(found: Installation, environ: Mapping[str, str]) -> None:
    for item in filter(None, environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(os.pathsep)):
        _add_custom(found, "ASCEND_CUSTOM_OPP_PATH", Path(item) / CUSTOM_LIBRARY)
    roots = []
    if environ.get("ASCEND_OPP_PATH"):
        roots.append(Path(environ["ASCEND_OPP_PATH"]))
    elif found.root is not None:
        roots.append(found.root / "opp")
    for opp in roots:
        for vendor in vendor_priority(opp / "vendors" / "config.ini"):
            _add_custom(found, "vendors/config.ini", opp / "vendors" / vendor / CUSTOM_LIBRARY)
        operators = opp / "built-in/op_impl/ai_core/tbe/op_api/lib/linux" / platform.machine()
        if operators.is_dir() and operators not in found.directories:
            found.directories.append(operators)


def vendor_priority(config: Path) -> list[str]:
    """Vendor names of a config.ini, highest priority first; none when there is no such file."""
    try:
        lines = config.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    for line in lines:
        # The operator library itself takes the first line that contains the word.
        if "priority" in line and "=" in line and not line.lstrip().startswith("#"):
            return [name.strip() for name in line.split("=", 1)[1].split(",") if name.strip()]
    return []


def _add_custom(found: Installation, origin: str, library: Path) -> None:
    place = f"{origin}: {library}"
    try:
        owner = library.stat().st_uid
    except OSError as error:
        found.note(place, error.strerror or "cannot be read")
        return
    if owner not in (os.getuid(), 0):
        # Loading it would run another user's code in this process.
        found.note(place, f"skipped: owned by user {owner}, neither you nor root")
        return
    found.note(place, "operators of a custom package")
    found.custom_libraries.append(library)


def _add_driver(found: Installation, driver_root: str, install_info: str) -> None:
    roots = [driver_root]
    try:
        text = Path(install_info).read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    named = re.search(r"^Driver_Install_Path_Param=(.+)$", text, re.MULTILINE)
    if named:
        roots.insert(0, f"{named.group(1).strip()}/driver")
    for root in dict.fromkeys(roots):
        for part in ("common", "driver"):
            directory = Path(root) / "lib64" / part
            if directory.is_dir() and directory not in found.driver_directories:
                found.driver_directories.append(directory)
    if not found.driver_directories:
        found.note(f"{roots[0]}/lib64", "no driver libraries")


def read_version(root: Path) -> str:
    """Release of the CANN below `root` from its version files, or ""."""
    patterns = (
        (f"{platform.machine()}-linux/ascend_toolkit_install.info", r"^version=(.+)$"),
        ("ascend_toolkit_install.info", r"^version=(.+)$"),
        ("share/info/runtime/version.info", r"^Version=(.+)$"),
        ("runtime/version.info", r"^version_dir=(.+)$"),
        ("version.cfg", r"^runtime_running_version=\[[^:\]]*:([^\]]+)\]"),
    )
    for name, pattern in patterns:
        try:
            text = (root / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if match := re.search(pattern, text, re.MULTILINE):
            return match.group(1).strip()
    return ""
