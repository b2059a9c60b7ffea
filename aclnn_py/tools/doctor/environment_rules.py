# SPDX-License-Identifier: Apache-2.0
"""Rules about variables that are unset, outdated, set too late, or lead to wrong libraries."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from aclnn_py._ffi import KINDS, discovery
from aclnn_py.tools.doctor.facts import Facts
from aclnn_py.tools.doctor.finding import Finding, error, note, ok, warning
from aclnn_py.tools.doctor.releases import at_least

__all__ = ["RULES"]

_PACKAGES = {"cffi": "1.17", "numpy": "1.24", "ml_dtypes": "0.4"}
_OLDEST_PYTHON = (3, 10)
_DIRECTORIES = (
    "ASCEND_HOME_PATH",
    "ASCEND_TOOLKIT_HOME",
    "ASCEND_OPP_PATH",
    "ASCEND_AICPU_PATH",
    "TOOLCHAIN_HOME",
)
# Read by CANN or by the system's loader when the process starts or CANN is initialised.
_READ_EARLY = (*_DIRECTORIES, "ASCEND_CUSTOM_OPP_PATH", "LD_LIBRARY_PATH")
# Of the emulator: devices without ACLNN_PY_EMULATOR_DEVICES, and at most.
_EMULATED, _MOST_DEVICES = 8, 64
_SOURCE = "source CANN's set_env.sh in the shell that starts the program"


def python_packages(facts: Facts) -> Iterator[Finding]:
    """Python and the packages that this one needs are installed and new enough."""
    if sys.version_info < _OLDEST_PYTHON:
        oldest = ".".join(map(str, _OLDEST_PYTHON))
        yield error(
            f"Python {platform.python_version()} is older than {oldest}",
            "the package does not support it",
            "use a newer interpreter",
        )
    versions = [f"Python {platform.python_version()}"]
    for name, wanted in _PACKAGES.items():
        try:
            have = metadata.version(name)
        except metadata.PackageNotFoundError:
            yield error(
                f"the Python package {name} is not installed",
                "without it arrays cannot be converted or functions cannot be called",
                f"python -m pip install '{name}>={wanted}'",
            )
            continue
        versions.append(f"{name} {have}")
        if not at_least(have, wanted):
            yield error(
                f"{name} {have} is older than {wanted}",
                "the package was not tested with it",
                f"python -m pip install '{name}>={wanted}'",
            )
    yield ok(", ".join(versions))


def device_choice(facts: Facts) -> Iterator[Finding]:
    """ACLNN_PY_DEVICE has a known value and does not hide an NPU."""
    wanted = facts.host.variable("ACLNN_PY_DEVICE")
    if wanted and wanted not in KINDS:
        yield error(
            f"ACLNN_PY_DEVICE={wanted} is none of {', '.join(KINDS)}",
            "the first call raises ValueError",
            "set one of them, or leave it unset",
        )
    elif wanted == "emulator" and facts.has_cann:
        yield note(
            "ACLNN_PY_DEVICE=emulator although CANN is installed",
            "programs run on the CPU",
            "unset it to use the NPU",
        )


def set_env(facts: Facts) -> Iterator[Finding]:
    """The variables that CANN's own libraries need are set."""
    host = facts.host
    if not facts.has_cann:
        return
    home = any(host.variable(name) for name in discovery.ROOT_VARIABLES)
    if not home or not (host.variable("ASCEND_OPP_PATH") or _has_latest(facts)):
        missing = [] if home else ["ASCEND_HOME_PATH"]
        missing += [] if host.variable("ASCEND_OPP_PATH") else ["ASCEND_OPP_PATH"]
        yield error(
            f"set_env.sh was not sourced: {' and '.join(missing)} not set",
            "the operator library finds no kernels and operators fail with 561107 or 561112",
            f"{_SOURCE}: . {facts.installation.root or '$ASCEND_HOME_PATH'}/set_env.sh",
        )
    else:
        yield ok(f"set_env.sh was sourced for {host.variable('ASCEND_HOME_PATH') or 'CANN'}")


def _has_latest(facts: Facts) -> bool:
    root = facts.installation.root
    return root is not None and (root / "opp_latest").is_dir()


def stale_variables(facts: Facts) -> Iterator[Finding]:
    """The directories that variables name exist."""
    host = facts.host
    for name in _DIRECTORIES:
        value = host.variable(name)
        if value and not Path(value).is_dir():
            yield error(
                f"{name}={value}: there is no such directory",
                "it was set for a CANN that was moved or removed, or that is not mounted",
                _SOURCE,
            )
    for item in host.directories("ASCEND_CUSTOM_OPP_PATH"):
        if not (Path(item) / discovery.CUSTOM_LIBRARY).exists():
            yield warning(
                f"ASCEND_CUSTOM_OPP_PATH names {item}, which has no {discovery.CUSTOM_LIBRARY}",
                "operators of that package are not found",
                "source the package's own set_env script, or correct the variable",
            )


def one_cann(facts: Facts) -> Iterator[Finding]:
    """All variables lead to one CANN."""
    host, root = facts.host, facts.installation.root
    if root is None:
        return
    real = root.resolve()
    for name in (*discovery.ROOT_VARIABLES, "ASCEND_OPP_PATH", "ASCEND_AICPU_PATH"):
        value = host.variable(name)
        if value and Path(value).is_dir() and not _below(Path(value), real):
            yield error(
                f"{name}={value} is outside {root}, the CANN in use",
                "libraries of one release would load operator packages of another one",
                f"{_SOURCE}, and only that one",
            )
    first = _first_runtime(facts)
    if first is not None and not _below(first, real):
        yield error(
            f"LD_LIBRARY_PATH finds {first} before the libraries of {root}",
            "dependencies of CANN's libraries come from another release",
            f"{_SOURCE}, and only that one",
        )


def _below(path: Path, root: Path) -> bool:
    # opp may be a link to a place outside the root, which is fine when the root has that link.
    return path.resolve().is_relative_to(root) or path.resolve() == (root / "opp").resolve()


def _first_runtime(facts: Facts) -> Path | None:
    for item in facts.host.directories("LD_LIBRARY_PATH"):
        for name in discovery.RUNTIME_LIBRARIES:
            path = Path(item) / name
            if path.exists() and not discovery.is_link_time_directory(path.parent):
                return path
    return None


def late_variables(facts: Facts) -> Iterator[Finding]:
    """Variables that are read when a process starts were not changed inside it."""
    host = facts.host
    if not host.started_with:
        return
    for name in _READ_EARLY:
        now, before = host.environ.get(name), host.started_with.get(name)
        if now == before:
            continue
        changed = "set" if before is None else "removed" if now is None else "changed"
        yield warning(
            f"{name} was {changed} inside the process",
            "the system's loader reads LD_LIBRARY_PATH once, and CANN reads the others when it is"
            " initialised: a later change has no effect or only part of it (561103, 561112)",
            "set it before the process starts",
        )


def link_time_directories(facts: Facts) -> Iterator[Finding]:
    """No directory with libraries for linking comes before the real libraries."""
    real = False
    for item in facts.host.directories("LD_LIBRARY_PATH"):
        directory = Path(item)
        here = any((directory / n).exists() for n in (*discovery.RUNTIME_LIBRARIES, _DRIVER))
        if not discovery.is_link_time_directory(directory):
            real = real or here
        elif real:
            yield note(
                f"LD_LIBRARY_PATH has {item}, whose libraries are for linking",
                "harmless as long as the real libraries come before it",
            )
        else:
            yield error(
                f"LD_LIBRARY_PATH has {item} first, whose libraries are for linking only",
                "calls into them do nothing or fail with 100039",
                "remove it, or put the real libraries and those of the driver before it",
            )
    for item in facts.host.directories("ACLNN_PY_LIBRARY_PATH"):
        if Path(item).is_dir() and discovery.is_link_time_directory(Path(item)):
            yield error(
                f"ACLNN_PY_LIBRARY_PATH names {item}, whose libraries are for linking only",
                "it is ignored",
                "name the directory of the real libraries",
            )


_DRIVER = "libascend_hal.so"


def visible_devices(facts: Facts) -> Iterator[Finding]:
    """ASCEND_RT_VISIBLE_DEVICES is a list of ascending numbers of devices that exist."""
    value = facts.host.environ.get("ASCEND_RT_VISIBLE_DEVICES")
    if value is None:
        return
    count, what = _devices(facts)
    items = value.split(",")
    taken: list[int] = []
    for item in items:
        # The runtime stops at the first item it does not accept, such as one with a blank.
        if not item.isdigit() or (taken and int(item) <= taken[-1]) or int(item) >= count:
            break
        taken.append(int(item))
    if len(taken) == len(items):
        yield ok(f"ASCEND_RT_VISIBLE_DEVICES={value}")
        return
    item = items[len(taken)]
    wrong = "is no number of a device" if not item.isdigit() else "does not ascend"
    if item.isdigit() and int(item) >= count:
        wrong = f"does not exist: there are {count} devices, 0 to {count - 1} ({what})"
    judge = warning if taken else error
    kept = f"is cut after {','.join(map(str, taken))}" if taken else "hides every device"
    yield judge(
        f"ASCEND_RT_VISIBLE_DEVICES={value!r} {kept}: {item!r} {wrong}",
        "the list ends at the first item that is not accepted",
        f"write numbers of devices in 0..{count - 1}, ascending, with commas and no blanks: 0,1",
    )


def _devices(facts: Facts) -> tuple[int, str]:
    """How many devices there are, and where that is from."""
    if facts.has_cann and facts.host.variable("ACLNN_PY_DEVICE") != "emulator":
        # Without any, `device-nodes` says so.
        return len(facts.nodes) or _MOST_DEVICES, "/dev/davinci*"
    name = "ACLNN_PY_EMULATOR_DEVICES"
    text = facts.host.variable(name)
    return min(int(text) if text.isdigit() else _EMULATED, _MOST_DEVICES), name


RULES = (
    python_packages,
    device_choice,
    set_env,
    stale_variables,
    one_cann,
    late_variables,
    link_time_directories,
    visible_devices,
)
