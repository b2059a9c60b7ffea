# SPDX-License-Identifier: Apache-2.0
"""Rules about the versions of CANN, driver and firmware, as their version files have them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aclnn_py.tools.doctor import releases
from aclnn_py.tools.doctor.facts import Facts
from aclnn_py.tools.doctor.finding import Finding, error, note, ok, warning

__all__ = ["RULES"]

_OLDEST = "8.0.RC2"
_MISMATCH = (
    "a set that does not match fails at the first operator (561103, 507033, 507899), and fused"
    " communication operators can end the process with a bus error"
)
# From this driver on the inner numbers start again, so only releases can be compared.
_RESTARTED = (26, 0)
_REQUIRED = re.compile(r"required_driver_(\w+)_version$")


def cann_release(facts: Facts) -> Iterator[Finding]:
    """CANN is installed, its release can be read, and it is new enough."""
    found = facts.installation
    if found.broken:
        yield error(
            found.broken,
            "the CPU device never replaces an installation that is named or incomplete",
            "install CANN there, correct the variable, or set ACLNN_PY_DEVICE=emulator",
        )
    if not found.present:
        yield note(
            "no CANN is installed",
            "programs run on the emulator, a CPU device",
            "to use an NPU install CANN, driver and firmware, and source CANN's set_env.sh",
        )
    elif not found.directories:
        return
    elif not facts.has_cann:
        yield ok(f"the emulator under CANN's names in {found.directories[0]}")
    elif not found.version:
        yield warning(
            f"the release of CANN in {found.root or found.directories[0]} cannot be read",
            "whether driver and firmware match it is unknown",
            "reinstall the toolkit, or name its root in ASCEND_HOME_PATH",
        )
    elif releases.release_order(found.version) < releases.release_order(_OLDEST):
        yield error(
            f"CANN {found.version} is older than {_OLDEST}",
            "fused communication operators can end the process with a bus error",
            f"update CANN to {_OLDEST} or newer, with the driver and firmware published with it",
        )
    else:
        yield ok(f"CANN {found.version} in {found.root}")


def cann_links(facts: Facts) -> Iterator[Finding]:
    """The usual links to CANN lead to an existing directory."""
    places = [facts.host.path("/usr/local/Ascend/cann")]
    places += [facts.host.path(f"/usr/local/Ascend/{p}latest") for p in ("ascend-toolkit/", "")]
    for place in places:
        if place.is_symlink() and not place.exists():
            yield error(
                f"{place} is a link to {place.readlink()}, which does not exist",
                "CANN was removed or moved; programs that use this link find nothing",
                "reinstall CANN, or point the link at the release that is installed",
            )


def package_versions(facts: Facts) -> Iterator[Finding]:
    """Runtime and operator packages of one root have the same release."""
    root = facts.installation.root
    if root is None:
        return
    release: dict[str, str] = {}
    for package in ("runtime", "compiler", "hccl", "opp", "opp_kernel", "toolkit"):
        for place in (root / package, root / "share/info" / package):
            fields = releases.read_fields(place / "version.info")
            if version := fields.get("version_dir") or fields.get("Version"):
                release.setdefault(package, version)
    if len(set(release.values())) > 1:
        listed = ", ".join(f"{name} {version}" for name, version in release.items())
        yield error(
            f"packages of different releases in {root}: {listed}",
            "operators fail with 561104 to 561106 or 561103",
            "install toolkit and kernel packages of one release",
        )
    elif release:
        yield ok(f"packages agree: {', '.join(release)} are of {next(iter(release.values()))}")


def driver_present(facts: Facts) -> Iterator[Finding]:
    """Where CANN is installed, a driver is installed too."""
    if facts.driver:
        version = facts.driver.get("Version", "of unknown version")
        yield ok(f"driver {version}")
    elif facts.has_cann:
        yield error(
            "no driver: neither /etc/ascend_install.info nor /usr/local/Ascend leads to one",
            "no device can be opened; in a container the driver of the host was not mounted",
            "install the driver, or mount /usr/local/Ascend/driver and /etc/ascend_install.info",
        )


def driver_matches_cann(facts: Facts) -> Iterator[Finding]:
    """CANN lists the driver as compatible, or the driver lists CANN."""
    version = facts.driver.get("Version", "")
    release = facts.installation.version
    if not version or not release:
        return
    known = releases.known_release(release)
    inner = releases.c_number(_cann(facts, "innerversion", "Innerversion"))
    inner = inner if inner is not None else (known.inner if known else None)
    listed = releases.c_numbers(_cann(facts, "compatible_version"))
    listed = listed or (known.compatible if known else frozenset())
    advice = _matching_driver(known)
    if releases.numbers(version)[:2] >= _RESTARTED:
        if releases.release_order(release) >= (9, 0):
            yield ok(f"driver {version} is new enough for CANN {release}")
        else:
            yield warning(
                f"driver {version} is newer than CANN {release} knows",
                "its inner number cannot be compared with the numbers that CANN lists",
                f"use CANN 9.0 or newer with it, or {advice}",
            )
        return
    driver = releases.c_number(facts.driver.get("Innerversion", ""))
    theirs = releases.c_numbers(facts.driver.get("compatible_version", ""))
    if driver is None or (inner is None and not listed and not theirs):
        yield from _by_release(version, release, known)
    elif driver == inner or driver in listed or inner in theirs:
        yield ok(f"driver {version} (C{driver}) matches CANN {release}")
    else:
        takes = ", ".join(f"C{number}" for number in sorted(listed)) or f"C{inner}"
        yield error(
            f"driver {version} (C{driver}) does not match CANN {release} (accepts {takes})",
            _MISMATCH,
            advice,
        )


def _by_release(version: str, release: str, known: releases.Release | None) -> Iterator[Finding]:
    if known is None:
        yield warning(
            f"it is unknown whether driver {version} matches CANN {release}",
            f"neither says which inner releases it accepts; {_MISMATCH}",
            "look the pair up in the release notes of CANN",
        )
    elif releases.driver_listed(version, known):
        yield ok(f"CANN {known.name} was published with driver {version}")
    else:
        yield error(
            f"driver {version} is not among those of CANN {known.name}: {', '.join(known.drivers)}",
            _MISMATCH,
            _matching_driver(known),
        )


def _matching_driver(known: releases.Release | None) -> str:
    if known is None:
        return "install the driver that the release notes of this CANN name"
    return f"install driver {' or '.join(known.drivers)}, or the CANN that fits the driver"


def firmware_in_driver_range(facts: Facts) -> Iterator[Finding]:
    """The firmware's version is in a range that the driver accepts."""
    version = facts.firmware.get("Version", "")
    ranges = releases.pairs(facts.driver.get("compatible_version_fw", ""))
    if not version or not ranges:
        return
    text = ", ".join(f"{low} to {high}" for low, high in ranges)
    if any(releases.in_numeric_range(version, low, high) for low, high in ranges):
        yield ok(f"firmware {version} is in the driver's range {text}")
    else:
        yield error(
            f"firmware {version} is outside the range that the driver accepts, {text}",
            _MISMATCH,
            "install the firmware that was published with the driver, and restart the host",
        )


def driver_in_firmware_range(facts: Facts) -> Iterator[Finding]:
    """The driver's version is in a range that the firmware accepts."""
    version = facts.driver.get("Version", "")
    ranges = releases.pairs(facts.firmware.get("compatible_version_drv", ""))
    if not version or not ranges:
        return
    text = ", ".join(low for low, _ in ranges)
    if any(releases.in_prefix_range(version, low, high) for low, high in ranges):
        yield ok(f"the firmware accepts driver {version} ({text})")
    else:
        yield error(
            f"the firmware does not accept driver {version} (it accepts {text})",
            _MISMATCH,
            "install driver and firmware of one release, and restart the host",
        )


def driver_interfaces(facts: Facts) -> Iterator[Finding]:
    """The driver's interfaces have the versions that CANN requires."""
    if not facts.driver:
        return
    checked = []
    for fields in facts.cann_files.values():
        for key, wanted in fields.items():
            name = _REQUIRED.match(key)
            if name is None:
                continue
            have = facts.driver.get(f"{name[1]}_version", "")
            if have and not releases.at_least(have, wanted):
                yield error(
                    f"the driver's {name[1]} is {have}, CANN requires {wanted}",
                    "calls of CANN into the driver fail or are missing",
                    "update the driver",
                )
            elif have:
                checked.append(name[1])
    if checked:
        yield ok(f"driver interfaces are as CANN requires: {', '.join(sorted(set(checked)))}")


def _cann(facts: Facts, *keys: str) -> str:
    return releases.first_field(facts.cann_files, *keys)


RULES = (
    cann_release,
    cann_links,
    package_versions,
    driver_present,
    driver_matches_cann,
    firmware_in_driver_range,
    driver_in_firmware_range,
    driver_interfaces,
)
