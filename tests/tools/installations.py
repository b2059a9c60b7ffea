# SPDX-License-Identifier: Apache-2.0
"""Installations of CANN made up from small files below a directory."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from aclnn_py.tools.doctor import Host

MACHINE = platform.machine()
OPERATORS = f"opp/built-in/op_impl/ai_core/tbe/op_api/lib/linux/{MACHINE}"
KERNELS = "opp/built-in/op_impl/ai_core/tbe/kernel"
RUNTIME = (
    "aclInit", "aclFinalize", "aclrtSetDevice", "aclrtResetDevice", "aclrtCreateStream",
    "aclrtDestroyStream", "aclrtSynchronizeStream", "aclrtMalloc", "aclrtFree", "aclrtMemcpy",
    "aclrtMemcpyAsync",
)  # fmt: skip
META = (
    "aclCreateTensor", "aclDestroyTensor", "aclCreateScalar", "aclDestroyScalar",
    "aclCreateTensorList", "aclDestroyTensorList",
)  # fmt: skip
ADD = ("aclnnAdd", "aclnnAddGetWorkspaceSize")
FORMER = "[V100R001C15],[V100R001C18],[V100R001C19],[V100R001C20],[V100R001C21]"


def library(path: Path, functions: Iterable[str], *needed: str) -> Path:
    """Compile a library that defines functions and says that it needs others."""
    compiler = shlex.split(os.environ.get("CC", "")) or [shutil.which("gcc") or "cc"]
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [*compiler, "-shared", "-fPIC", "-nostdlib", "-w", "-x", "c", "-"]
    command += ["-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", "-o", str(path)]
    for name in needed:
        other = path.with_name(f"needed-{name}")
        link = [*compiler, "-shared", "-nostdlib", "-w", "-x", "c", "/dev/null"]
        subprocess.run([*link, f"-Wl,-soname,{name}", "-o", str(other)], check=True)
        command += ["-x", "none", str(other)]
    source = "".join(f"int {name}(void) {{ return 0; }}\n" for name in functions)
    subprocess.run(command, input=source, text=True, check=True)
    for name in needed:
        path.with_name(f"needed-{name}").unlink()
    return path


@dataclass
class Libraries:
    """Compiled once for a run of tests, and copied into trees."""

    runtime: Path
    meta: Path
    operators: Path
    plain: Path

    @classmethod
    def compile(cls, place: Path) -> Libraries:
        return cls(
            library(place / "runtime.so", RUNTIME, "libascend_hal.so"),
            library(place / "meta.so", META),
            library(place / "operators.so", ADD),
            library(place / "plain.so", ["anything"]),
        )


@dataclass
class Tree:
    """A machine below ``root``, with CANN in ``home``."""

    root: Path
    libraries: Libraries
    environ: dict[str, str] = field(default_factory=dict)
    home: Path = Path()

    @property
    def host(self) -> Host:
        return Host(self.root, self.environ, {})

    def write(self, place: str | Path, *lines: str) -> Path:
        path = self.root / str(place).lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def copy(self, source: Path, place: str | Path) -> Path:
        path = self.root / str(place).lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, path)
        return path

    def cann(self, release: str, inner: int, *, split: bool = False, compatible: str = "") -> None:
        """Install CANN as releases of that time lay it out, and set its variables."""
        if split:
            self.home = self.root / "usr/local/Ascend/cann"
        else:
            self.home = self.root / f"usr/local/Ascend/ascend-toolkit/{release}"
            self.home.mkdir(parents=True)
            (self.home.parent / "latest").symlink_to(release)
        lib64 = self.home / f"{MACHINE}-linux/lib64"
        lib64.mkdir(parents=True)
        (self.home / "lib64").symlink_to(f"{MACHINE}-linux/lib64")
        parts = self.libraries
        for name in ("libacl_rt.so", "libhcomm.so") if split else ("libascendcl.so",):
            shutil.copy(parts.runtime if "hcomm" not in name else parts.plain, lib64 / name)
        for name in ("libopapi_math.so", "libopapi.so") if split else ("libopapi.so",):
            shutil.copy(parts.operators, lib64 / name)
        shutil.copy(parts.meta, lib64 / "libnnopbase.so")
        shutil.copy(parts.plain, lib64 / "libhccl.so")
        requires = "required_driver_ascendhal_version=4.0.0"
        if split:
            info = self.home / "share/info/runtime/version.info"
            self.write(info.relative_to(self.root), f"Version={release}", requires)
        else:
            fields = [f"version={release}", f"innerversion=V100R001C{inner}SPC001B238"]
            if compatible:
                fields.append(f"compatible_version={compatible}")
            info = self.home / f"{MACHINE}-linux/ascend_toolkit_install.info"
            self.write(info.relative_to(self.root), *fields)
            info = self.home / "runtime/version.info"
            self.write(
                info.relative_to(self.root),
                "Version=7.7.0.1.238",
                f"version_dir={release}",
                requires,
            )
        self.kernels("ascend910b")
        home = str(self.home)
        self.environ.update(
            ASCEND_HOME_PATH=home,
            ASCEND_TOOLKIT_HOME=home,
            ASCEND_OPP_PATH=f"{home}/opp",
            LD_LIBRARY_PATH=f"{home}/lib64",
        )

    def kernels(self, soc: str) -> None:
        place = self.home / KERNELS / soc / "add" / "Add.json"
        self.write(place.relative_to(self.root), "{}")

    def driver(self, version: str, inner: int, *, firmware: str = "7.7.0.1.231") -> None:
        """Install driver and firmware of one release, and one device."""
        ascend = self.root / "usr/local/Ascend"
        self.write(
            "etc/ascend_install.info",
            f"Driver_Install_Path_Param={ascend}",
            f"Firmware_Install_Path_Param={ascend}",
        )
        self.write(
            "usr/local/Ascend/driver/version.info",
            f"Version={version}",
            "ascendhal_version=7.35.23",
            f"Innerversion=V100R001C{inner}SPC002B220",
            "compatible_version=[V100R001C17],[V100R001C18]",
            "compatible_version_fw=[7.0.0,7.7.99]",
        )
        self.write(
            "usr/local/Ascend/firmware/version.info",
            f"Version={firmware}",
            "compatible_version_drv=[23.0.0,23.0.0.],[24.0,24.0.],[24.1,24.1.],[25.0,25.0.],[25.5,25.5.]",
        )
        self.copy(self.libraries.plain, "usr/local/Ascend/driver/lib64/driver/libascend_hal.so")
        for name in ("davinci0", "davinci_manager", "devmm_svm", "hisi_hdc"):
            self.write(f"dev/{name}")
