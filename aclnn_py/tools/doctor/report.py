# SPDX-License-Identifier: Apache-2.0
"""Apply all rules, and print what they found."""

from __future__ import annotations

import json
import platform
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from aclnn_py import __version__
from aclnn_py.tools.doctor import probe
from aclnn_py.tools.doctor.causes import comes_from_installation
from aclnn_py.tools.doctor.finding import LEVELS, Finding, Level, error, verdict
from aclnn_py.tools.doctor.host import Host

try:
    from aclnn_py.tools.doctor.facts import Facts
    from aclnn_py.tools.doctor.rules import RULES
except ImportError as fault:
    # The compiled part of the package is missing, which is a finding and not the end of the report.
    _NOT_BUILT = str(fault)
else:
    _NOT_BUILT = ""

__all__ = ["Report", "examine", "findings_for", "run"]

GROUPS = ("environment", "versions", "libraries", "hardware", "communication", "log", "trial")
_VARIABLES = re.compile(
    r"(ACLNN_PY_|ASCEND_|HCCL_|TOOLCHAIN_HOME$|RANK_TABLE_FILE$|RANK_ID$|LD_LIBRARY_PATH$)"
)
_SECRET = "ACLNN_PY_JOB_TOKEN"
_TIMEOUT_S = 120.0
_WIDTH = 100


@dataclass
class Report:
    """Everything ``aclnn-py doctor`` found; its fields are the keys of ``--json``.

    Source
    ------
    aclrtGetDeviceCount, aclrtGetSocName, aclrtGetMemInfo (``include/acl/acl_rt.h``); CANN's, the
    driver's and the firmware's version files; the symbol tables of CANN's libraries.
    """

    verdict: Level = "ok"
    """The worst level of the findings; ``"error"`` gives exit status 1."""
    findings: list[Finding] = field(default_factory=list)
    """What each rule found: level, seen, why, action, rule, group."""
    versions: dict[str, str] = field(default_factory=dict)
    """Of this package, Python and the platform; of CANN, driver and firmware where installed."""
    variables: dict[str, str] = field(default_factory=dict)
    """Environment variables that change what is found; the job token is hidden."""
    searched: list[tuple[str, str]] = field(default_factory=list)
    """Places that were looked at for CANN, each with the reason it was taken or not."""
    kind: str = ""
    """``"npu"``, ``"emulator"``, or empty when no device was tried or none can be used."""
    libraries: dict[str, str] = field(default_factory=dict)
    """Libraries the trial opened, by name."""
    devices: list[dict[str, Any]] = field(default_factory=list)
    """Index, chip name, free and total memory in bytes."""
    operators: dict[str, int] = field(default_factory=dict)
    """Operators that are declared, and those that the device has."""

    def worst(self) -> list[Finding]:
        """Return the findings that need action, the worst first.

        Returns
        -------
        list of Finding
            Errors, then warnings.
        """
        asking = [f for f in self.findings if f.level in ("warning", "error")]
        return sorted(asking, key=lambda f: -LEVELS.index(f.level))


def examine(
    host: Host | None = None,
    *,
    device: bool = True,
    smoke: bool = False,
    all_reduce: bool = False,
    timeout_s: float = _TIMEOUT_S,
) -> Report:
    """Examine the installation, and try the device in a child process.

    Parameters
    ----------
    host : Host, optional
        Where to look; default is this machine with the variables of this process.
    device : bool, default True
        Whether to open the device; if not, no library is loaded and only files are read.
    smoke : bool, default False
        Whether to run one operator too.
    all_reduce : bool, default False
        Whether to run a sum over two ranks too.
    timeout_s : float, default 120.0
        Seconds after which each trial is ended.

    Returns
    -------
    Report
        As complete as the installation allows. Faults are findings, not exceptions.

    Source
    ------
    aclrtGetDeviceCount, aclrtGetSocName, aclrtGetMemInfo (``include/acl/acl_rt.h``).
    """
    host = Host() if host is None else host
    report = Report()
    _describe(report, host)
    soc = ""
    if device:
        soc = _try_device(report, host, timeout_s)
    trials: list[tuple[bool, str, Callable[..., Finding]]] = [
        (smoke, "smoke", probe.smoke_finding),
        (all_reduce, "all-reduce", probe.all_reduce_finding),
    ]
    for wanted, name, find in trials:
        if wanted:
            finding = find(host.environ, timeout_s)
            report.findings.append(replace(finding, rule=name, group="trial"))
    report.findings = [*_apply(report, host, soc), *report.findings]
    report.verdict = verdict(report.findings)
    return report


def findings_for(fault: BaseException, host: Host | None = None) -> list[Finding]:
    """Return what is wrong with the installation when it is a likely cause of an exception.

    Only files are read. Exceptions of other kinds have no findings.

    Parameters
    ----------
    fault : BaseException
        A library or symbol that was not found, or a status that an installation causes.
    host : Host, optional
        Where to look; default is this machine.

    Returns
    -------
    list of Finding
        Errors, then warnings; empty when the installation looks well or ``fault`` is of another
        kind.
    """
    return examine(host, device=False).worst() if comes_from_installation(fault) else []


def run(
    *,
    as_json: bool,
    smoke: bool = False,
    all_reduce: bool = False,
    timeout_s: float = _TIMEOUT_S,
) -> int:
    """Print the report.

    Parameters
    ----------
    as_json : bool
        Whether to print one JSON object instead of text.
    smoke, all_reduce : bool, default False
        Trials to run besides opening the device.
    timeout_s : float, default 120.0
        Seconds after which each trial is ended.

    Returns
    -------
    int
        0 when no finding is an error, else 1.
    """
    report = examine(smoke=smoke, all_reduce=all_reduce, timeout_s=timeout_s)
    print(json.dumps(asdict(report), indent=2) if as_json else _text(report))
    return 1 if report.verdict == "error" else 0


def _describe(report: Report, host: Host) -> None:
    report.versions = {
        "aclnn_py": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
    }
    for name, value in sorted(host.environ.items()):
        if _VARIABLES.match(name):
            report.variables[name] = "(set)" if name == _SECRET else value


def _try_device(report: Report, host: Host, timeout_s: float) -> str:
    outcome = probe.try_device(host.environ, timeout_s)
    finding = replace(probe.device_finding(outcome), rule="device", group="trial")
    report.findings.append(finding)
    memory = None if outcome.fault else probe.memory_finding(outcome)
    if memory is not None:
        report.findings.append(replace(memory, rule="memory", group="trial"))
    for answer in outcome.answers:
        report.kind = answer.get("kind", "")
        report.libraries = answer.get("libraries", {})
        report.devices = answer.get("devices", [])
        report.operators = answer.get("operators", {})
        report.searched = [(place, reason) for place, reason in answer.get("searched", [])]
    npu = report.kind == "npu" and report.devices
    return str(report.devices[0]["name"]) if npu else ""


def _apply(report: Report, host: Host, soc: str) -> Iterable[Finding]:
    if _NOT_BUILT:
        missing = error(
            f"the compiled part of aclnn_py is missing ({_NOT_BUILT})",
            "nothing can be called",
            "install the package, or run `python build_ffi.py` in the source tree",
        )
        return [replace(missing, rule="extension", group="environment")]
    facts = Facts(host, soc)
    findings = [
        replace(finding, rule=rule.__name__.replace("_", "-"), group=group)
        for group, rules in RULES.items()
        for rule in rules
        for finding in _guarded(rule, facts)
    ]
    places = [(entry.place, entry.reason) for entry in facts.installation.searched]
    report.searched = [*places, *(entry for entry in report.searched if entry not in places)]
    for name, version in (
        ("CANN", facts.installation.version),
        ("driver", facts.driver.get("Version", "")),
        ("firmware", facts.firmware.get("Version", "")),
    ):
        if version:
            report.versions[name] = version
    return findings


def _guarded(rule: Callable[[Facts], Iterator[Finding]], facts: Facts) -> Iterator[Finding]:
    try:
        yield from rule(facts)
    except OSError as fault:
        yield error(
            f"{fault.filename or 'a file'} cannot be read: {fault.strerror or fault}",
            f"{rule.__name__.replace('_', ' ')} could not be examined",
            "give this user the right to read it",
        )


def _text(report: Report) -> str:
    width = max(map(len, report.versions))
    lines = [f"{name:<{width}}  {value}" for name, value in report.versions.items()]
    if report.variables:
        lines += ["", "variables"]
        lines += [f"  {name}={value}" for name, value in report.variables.items()]
    lines += ["", "searched for CANN"]
    lines += [f"  {place}: {reason}" for place, reason in report.searched]
    if report.kind:
        lines += ["", f"device in use: {report.kind}"]
        if report.devices:
            first = report.devices[0]
            memory = f"{first['free'] / 2**30:.1f} of {first['total'] / 2**30:.1f} GiB free"
            lines.append(f"  {len(report.devices)} x {first['name']}; device 0: {memory}")
        lines += [f"  {name}: {path}" for name, path in sorted(report.libraries.items())]
        lines.append(
            f"  operators: {report.operators['available']} of"
            f" {report.operators['declared']} declared"
        )
    for group in GROUPS:
        findings = [finding for finding in report.findings if finding.group == group]
        if findings:
            lines += ["", group, *(line for finding in findings for line in _finding(finding))]
    lines += ["", _summary(report)]
    return "\n".join(lines)


def _finding(finding: Finding) -> Iterator[str]:
    def wrapped(first: str, text: str) -> list[str]:
        margin = " " * len(first)
        lines = [
            part
            for line in text.splitlines()
            for part in textwrap.wrap(
                line, _WIDTH - len(first), break_long_words=False, break_on_hyphens=False
            )
        ]
        return [(first if index == 0 else margin) + line for index, line in enumerate(lines)]

    yield from wrapped(f"  {finding.level:<8} ", finding.seen)
    if finding.level != "ok":
        for label, text in (("why", finding.why), ("do", finding.action)):
            if text:
                yield from wrapped(f"           {label + ':':<4} ", text)


def _summary(report: Report) -> str:
    counts = {level: sum(f.level == level for f in report.findings) for level in LEVELS}
    if not counts["error"] and not counts["warning"]:
        return "no problem found"
    words = [
        f"{counts[level]} {level}{'s' if counts[level] > 1 else ''}"
        for level in ("error", "warning")
        if counts[level]
    ]
    return f"found {' and '.join(words)}"
