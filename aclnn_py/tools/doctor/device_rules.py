# SPDX-License-Identifier: Apache-2.0
"""Rules about chips, device nodes, permissions and the kernels for the chip."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from aclnn_py.tools.doctor.facts import Facts
from aclnn_py.tools.doctor.finding import Finding, error, note, ok, warning

__all__ = ["RULES", "kernel_name"]

_CONTROL_NODES = ("davinci_manager", "devmm_svm", "hisi_hdc")
_VENDOR = "0x19e5"
_ACCELERATOR_CLASS = "0x12"
_KERNELS = Path("built-in/op_impl/ai_core/tbe/kernel")
# Chip name -> directory of its kernels; the first match counts.
_KERNEL_NAMES = (
    (re.compile(r"Ascend910_93"), "ascend910_93"),
    (re.compile(r"Ascend910B"), "ascend910b"),
    (re.compile(r"Ascend910"), "ascend910"),
    (re.compile(r"Ascend310P"), "ascend310p"),
    (re.compile(r"Ascend310B"), "ascend310b"),
    (re.compile(r"Ascend310"), "ascend310"),
    (re.compile(r"Ascend950"), "ascend950"),
)
_USE_GROUP = "add the user to the driver's group (HwHiAiUser), or start the container with access"


def kernel_name(soc: str) -> str:
    """Return the name of a chip's kernel directory, or "" for an unknown chip."""
    return next((name for pattern, name in _KERNEL_NAMES if pattern.match(soc)), "")


def chips_on_the_bus(facts: Facts) -> Iterator[Finding]:
    """Accelerators on the bus have device nodes."""
    found = []
    for device in sorted(facts.host.path("/sys/bus/pci/devices").glob("*")):
        vendor, kind = _text(device / "vendor"), _text(device / "class")
        if vendor == _VENDOR and kind.startswith(_ACCELERATOR_CLASS):
            found.append(device.name)
    if found and not facts.nodes:
        yield error(
            f"{len(found)} accelerators on the bus ({', '.join(found[:4])}) and no /dev/davinci*",
            "the driver is not loaded, or the container was started without the devices",
            "install the driver and load it, or pass --device /dev/davinci0 to the container",
        )
    elif found:
        yield ok(f"{len(found)} accelerators on the bus")


def device_nodes(facts: Facts) -> Iterator[Finding]:
    """Where CANN is installed, device nodes exist."""
    if not facts.nodes:
        if facts.has_cann:
            yield error(
                "no /dev/davinci0: this machine or container has no device",
                "opening a device fails with 107001 or 507033",
                "pass the devices to the container (--device /dev/davinci0), or set"
                " ACLNN_PY_DEVICE=emulator",
            )
        return
    yield ok(f"device nodes: {', '.join(node.name for node in facts.nodes)}")
    for name in _CONTROL_NODES:
        if not facts.host.path(f"/dev/{name}").exists():
            yield error(
                f"/dev/{name} is missing although there are devices",
                "opening a device fails with 107001 or 507033",
                f"pass --device /dev/{name} to the container, or load the driver",
            )


def node_permissions(facts: Facts) -> Iterator[Finding]:
    """The user may open the device nodes."""
    control = (facts.host.path(f"/dev/{name}") for name in _CONTROL_NODES)
    closed = [
        str(node)
        for node in (*facts.nodes, *control)
        if node.exists() and not os.access(node, os.R_OK | os.W_OK)
    ]
    if closed:
        yield error(
            f"no permission to open {', '.join(closed)} as user {os.getuid()}",
            "opening a device fails with 107001 or 507033",
            _USE_GROUP,
        )


def driver_library(facts: Facts) -> Iterator[Finding]:
    """The driver's library is in a place that the loader of this package searches."""
    installation = facts.installation
    if not facts.has_cann:
        return
    name = "libascend_hal.so"
    places = [*installation.driver_directories, *installation.directories]
    places += map(Path, facts.host.directories("LD_LIBRARY_PATH"))
    real = [p / name for p in places if (p / name).exists() and p.name not in ("stub", "devlib")]
    if real:
        yield ok(f"driver library {real[0]}")
    else:
        yield error(
            f"{name} was not found",
            "CANN's runtime cannot be loaded",
            "install the driver, or mount /usr/local/Ascend/driver into the container",
        )


def kernel_packages(facts: Facts) -> Iterator[Finding]:
    """Kernels are installed, and they are for the chip of this machine."""
    if not facts.has_cann:
        return
    kinds: dict[str, Path] = {}
    for root in facts.operator_roots:
        for directory in sorted((root / _KERNELS).glob("ascend*")):
            if directory.is_dir() and next(directory.iterdir(), None) is not None:
                kinds.setdefault(directory.name, directory)
    wanted = kernel_name(facts.soc)
    where = ", ".join(str(root) for root in facts.operator_roots) or "no operator directory"
    if not kinds:
        yield error(
            f"no kernels below {where}",
            "every operator fails with 561003, 561107 or 561112",
            "install the kernel package of your chip (Ascend-cann-kernels-...), of the same release"
            " as the toolkit",
        )
    elif wanted and wanted not in kinds:
        yield error(
            f"{facts.soc} needs kernels of {wanted}; installed: {', '.join(kinds)}",
            "every operator fails with 561003 or 561112",
            "install the kernel package of your chip, of the same release as the toolkit",
        )
    elif facts.soc and not wanted:
        yield warning(
            f"which kernels {facts.soc} needs is not known; installed: {', '.join(kinds)}",
            "operators fail with 561112 if they are not among them",
            "look the chip up in the release notes of CANN",
        )
    else:
        of_chip = f" ({facts.soc} uses {wanted})" if wanted else ""
        yield ok(f"kernels for {', '.join(kinds)}{of_chip}")


def nothing_here(facts: Facts) -> Iterator[Finding]:
    """A machine without CANN, driver and chip is fine; a chip without CANN is not."""
    bus = facts.host.path("/sys/bus/pci/devices")
    if not facts.installation.present and not facts.nodes and not facts.driver and bus.is_dir():
        yield note("no device nodes and no driver", "there is no NPU to use on this machine")
    elif not facts.installation.present and (facts.nodes or facts.driver):
        yield warning(
            "there is a driver or a device, but no CANN",
            "programs run on the CPU although there is an NPU",
            "install CANN, or name its root in ASCEND_HOME_PATH",
        )


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""  # the device was removed while the directory was read


RULES = (
    nothing_here,
    chips_on_the_bus,
    device_nodes,
    node_permissions,
    driver_library,
    kernel_packages,
)
