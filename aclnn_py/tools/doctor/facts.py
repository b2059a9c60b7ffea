# SPDX-License-Identifier: Apache-2.0
"""Facts that are read once from the machine and used by several rules."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from aclnn_py._ffi import discovery
from aclnn_py.tools.doctor.elf import Shared, read_shared
from aclnn_py.tools.doctor.host import Host
from aclnn_py.tools.doctor.releases import read_fields

__all__ = ["Facts"]

_EMULATOR_MARK = "aclnn_py_emulator_contract"


class Facts:
    """Facts about a machine, each read when a rule first needs it.

    Parameters
    ----------
    host : Host
        Where to look.
    soc : str
        Name of the chip as the device reports it; empty when no device was opened.
    """

    def __init__(self, host: Host, soc: str = "") -> None:
        self.host = host
        self.soc = soc
        self._shared: dict[Path, Shared | str] = {}

    @cached_property
    def installation(self) -> discovery.Installation:
        """Where CANN is, as the loader of this package finds it."""
        return discovery.find_installation(
            self.host.environ,
            well_known=tuple(str(self.host.path(p)) for p in discovery.WELL_KNOWN_ROOTS),
            driver_root=str(self.host.path(discovery.DRIVER_ROOT)),
            install_info=str(self.host.path(discovery.INSTALL_INFO)),
        )

    @cached_property
    def has_cann(self) -> bool:
        """Whether libraries of CANN were found that are not the emulator under CANN's names."""
        found = self.installation
        paths = (path for name in discovery.RUNTIME_LIBRARIES for path in found.locate(name))
        runtime = next(paths, None)
        if runtime is None:
            return bool(found.directories)
        shared = self.shared(runtime)
        return isinstance(shared, str) or _EMULATOR_MARK not in shared.symbols

    @cached_property
    def cann_files(self) -> dict[str, dict[str, str]]:
        """Fields of CANN's version files, the most specific file first."""
        root = self.installation.root
        if root is None:
            return {}
        places = [
            *sorted(root.glob("*-linux/ascend_toolkit_install.info")),
            root / "ascend_toolkit_install.info",
            root / "share/info/runtime/version.info",
            root / "runtime/version.info",
        ]
        return {str(place): fields for place in places if (fields := read_fields(place))}

    @cached_property
    def driver(self) -> dict[str, str]:
        """Fields of the driver's version file; empty when there is none."""
        return self._installed("driver", "Driver_Install_Path_Param")

    @cached_property
    def firmware(self) -> dict[str, str]:
        """Fields of the firmware's version file; empty when there is none."""
        return self._installed("firmware", "Firmware_Install_Path_Param")

    @cached_property
    def nodes(self) -> list[Path]:
        """Device nodes of the chips, by number."""
        found = self.host.path("/dev").glob("davinci[0-9]*")
        return sorted(found, key=lambda p: int(p.name.removeprefix("davinci")))

    @cached_property
    def operator_roots(self) -> list[Path]:
        """Directories that hold operator packages, in the order they are read."""
        roots: list[Path] = []
        home = self.installation.root
        if home is not None and (home / "opp_latest").is_dir():
            roots.append(home / "opp_latest")
        elif self.host.variable("ASCEND_OPP_PATH"):
            roots.append(Path(self.host.variable("ASCEND_OPP_PATH")))
        elif home is not None:
            roots.append(home / "opp")
        return roots

    def shared(self, path: Path) -> Shared | str:
        """Return what the file of a library contains, or why it cannot be read."""
        if path not in self._shared:
            try:
                self._shared[path] = read_shared(path)
            except OSError as error:
                self._shared[path] = error.strerror or str(error)
            except ValueError as error:
                self._shared[path] = str(error)
        return self._shared[path]

    def _installed(self, part: str, parameter: str) -> dict[str, str]:
        named = read_fields(self.host.path(discovery.INSTALL_INFO)).get(parameter)
        places = [Path(named)] if named else []
        places.append(self.host.path("/usr/local/Ascend"))
        for place in places:
            if fields := read_fields(place / part / "version.info"):
                return fields
        return {}
