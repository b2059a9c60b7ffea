# SPDX-License-Identifier: Apache-2.0
"""What is installed, what was found, and whether it works (``aclnn-py doctor``)."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import warnings
from dataclasses import asdict, dataclass, field
from importlib import metadata
from typing import Any

__all__ = ["Report", "examine", "run"]

_PACKAGES = ("cffi", "numpy", "ml_dtypes")
_VARIABLES = re.compile(r"(ACLNN_PY_|ASCEND_|HCCL_|RANK_TABLE_FILE$|LD_LIBRARY_PATH$)")
_SECRET = "ACLNN_PY_JOB_TOKEN"
# Older releases lack the fused communication operators' firmware side and can end with a bus error.
_OLDEST = "8.0.RC2"


@dataclass
class Report:
    """Everything ``aclnn-py doctor`` found.

    Source
    ------
    aclrtGetDeviceCount, aclrtGetSocName, aclrtGetMemInfo (``include/acl/acl_rt.h``); CANN's version
    files.
    """

    versions: dict[str, str] = field(default_factory=dict)
    """Package, Python, and libraries it depends on."""
    variables: dict[str, str] = field(default_factory=dict)
    """Environment variables that change what is found; the job token is hidden."""
    searched: list[tuple[str, str]] = field(default_factory=list)
    """Places that were looked at for CANN, each with the reason it was taken or not."""
    kind: str = ""
    """``"npu"``, ``"emulator"`` or empty when neither can be used."""
    cann: dict[str, str] = field(default_factory=dict)
    """Root and release of CANN, driver directories."""
    libraries: dict[str, str] = field(default_factory=dict)
    """Libraries opened, by name."""
    devices: list[dict[str, Any]] = field(default_factory=list)
    """Index, chip name, free and total memory in bytes."""
    operators: dict[str, int] = field(default_factory=dict)
    """Operators that are declared, and those that the device has."""
    problems: list[str] = field(default_factory=list)
    """What is wrong, each with what to do; empty when all is well."""


def examine() -> Report:
    """Look at the installation and use the device once.

    Returns
    -------
    Report
        Complete as far as the installation allows; nothing is raised for a fault it finds.
    """
    report = Report()
    _add_versions(report)
    for name, value in sorted(os.environ.items()):
        if _VARIABLES.match(name):
            report.variables[name] = "(set)" if name == _SECRET else value
    try:
        from aclnn_py._ffi import discovery
    except ImportError as error:
        report.problems.append(
            f"the compiled part of aclnn_py is missing ({error}): install the package, or run"
            " `python build_ffi.py` in the source tree"
        )
        return report
    found = discovery.find_installation()
    report.searched = [(entry.place, entry.reason) for entry in found.searched]
    if found.present:
        report.cann = {
            "root": str(found.root or ""),
            "release": found.version,
            "driver": ", ".join(map(str, found.driver_directories)),
        }
    if found.version and release_order(found.version) < release_order(_OLDEST):
        report.problems.append(
            f"CANN {found.version} is older than {_OLDEST}: fused communication operators can end"
            " the process with a bus error; update CANN, driver and firmware together"
        )
    _use_device(report)
    return report


def run(*, as_json: bool) -> int:
    """Print the report.

    Parameters
    ----------
    as_json : bool
        Whether to print one JSON object instead of text.

    Returns
    -------
    int
        0 when a device can be used and nothing is wrong, else 1.
    """
    report = examine()
    print(json.dumps(asdict(report), indent=2) if as_json else _text(report))
    return 1 if report.problems else 0


def release_order(release: str) -> tuple[int, ...]:
    """Return a sortable form of a CANN release, such as 8.0.RC2 < 8.0.0 < 8.5.0-beta.1 < 8.5.0."""
    numbers = re.match(r"(\d+)\.(\d+)", release)
    if numbers is None:
        return (0,)
    major, minor = int(numbers[1]), int(numbers[2])
    rest = release[numbers.end() :]
    patch = re.match(r"\.(\d+)", rest)
    before = re.search(r"(alpha|beta|rc)\D*(\d+)", rest, re.IGNORECASE)
    stage = {"alpha": -3, "beta": -2, "rc": -1}[before[1].lower()] if before else 0
    return (major, minor, int(patch[1]) if patch else 0, stage, int(before[2]) if before else 0)


def _add_versions(report: Report) -> None:
    from aclnn_py import __version__

    report.versions = {"aclnn_py": __version__, "python": platform.python_version()}
    report.versions["platform"] = platform.platform()
    for name in _PACKAGES:
        try:
            report.versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            report.versions[name] = ""
            report.problems.append(f"the Python package {name} is not installed")


def _use_device(report: Report) -> None:
    from aclnn_py import _ffi
    from aclnn_py.errors import AclnnPyError

    try:
        with warnings.catch_warnings():
            # That auto falls back to the emulator is part of the report itself.
            warnings.simplefilter("ignore", RuntimeWarning)
            info = _ffi.library_info()
            report.kind = info.kind
            report.searched = [
                *report.searched,
                *(s for s in info.searched if s not in report.searched),
            ]
            _add_devices(report)
            _round_trip()
        report.libraries = _ffi.library_info().libraries
        report.operators = _operators(_ffi.C.has)
    except (AclnnPyError, ValueError) as error:
        report.problems.append(f"the device cannot be used: {error}")


def _add_devices(report: Report) -> None:
    from aclnn_py.device import device_count, soc_name
    from aclnn_py.memory import memory_info

    count = device_count()
    if count == 0:
        report.problems.append(
            "no device is visible; see ASCEND_RT_VISIBLE_DEVICES and /dev/davinci*"
        )
        return
    name = soc_name()
    memory = memory_info(0)
    report.devices = [{"index": index, "name": name} for index in range(count)]
    report.devices[0].update(free=memory.free, total=memory.total)


def _round_trip() -> None:
    import numpy as np

    from aclnn_py.creation import from_numpy

    sent = np.arange(256, dtype=np.uint8)
    received = from_numpy(sent, device=0).numpy()
    if not np.array_equal(sent, received):
        raise ValueError("device 0 returned other bytes than it was given")


def _operators(has: Any) -> dict[str, int]:
    from aclnn_py import facts

    names = list(facts.operators())
    return {"declared": len(names), "available": sum(1 for name in names if has(name))}


def _text(report: Report) -> str:
    lines = [f"{name:<10} {value or 'not installed'}" for name, value in report.versions.items()]
    if report.variables:
        lines += ["", "environment"]
        lines += [f"  {name}={value}" for name, value in report.variables.items()]
    lines += ["", "searched for CANN"]
    lines += [f"  {place}: {reason}" for place, reason in report.searched]
    if report.cann:
        lines += ["", "CANN", *(f"  {k:<8} {v or 'unknown'}" for k, v in report.cann.items())]
    if report.kind:
        lines += ["", f"device in use: {report.kind}"]
        if report.devices:
            first = report.devices[0]
            memory = f"{first['free'] / 2**30:.1f} of {first['total'] / 2**30:.1f} GiB free"
            lines.append(f"  {len(report.devices)} x {first['name']}; device 0: {memory}")
        lines += [f"  {name}: {path}" for name, path in sorted(report.libraries.items())]
        if report.operators:
            lines.append(
                f"  operators: {report.operators['available']} of"
                f" {report.operators['declared']} declared"
            )
    lines.append("")
    if report.problems:
        lines += ["problems", *(f"  - {problem}" for problem in report.problems)]
    else:
        lines.append("no problem found")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(run(as_json=False))
