# SPDX-License-Identifier: Apache-2.0
"""Rules about ports, interfaces and variables of HCCL."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

from aclnn_py.tools.doctor.facts import Facts
from aclnn_py.tools.doctor.finding import Finding, error, note, ok, warning

__all__ = ["RULES"]

_BASE_PORT = 60000
_PORTS = 32
_MAX_BUFFER_MB = 2**31 - 1
_RANGE = re.compile(r"(\d+)(?:-(\d+))?$")


def _number(low: int, high: int) -> Callable[[str], str]:
    def judge(value: str) -> str:
        if value.strip().isdigit() and low <= int(value) <= high:
            return ""
        return f"a number in {low}..{high}"

    return judge


def _one_of(*words: str) -> Callable[[str], str]:
    return lambda value: "" if value in words else f"one of {', '.join(words)}"


def _ports(value: str) -> str:
    wanted = '"auto" or port ranges such as 61000-61031,61050'
    if value == "auto":
        return ""
    for item in value.split(","):
        found = _RANGE.match(item.strip())
        if found is None:
            return wanted
        low, high = int(found[1]), int(found[2] or found[1])
        if not 1 <= low <= high <= 65535:
            return wanted
    return ""


def _address(value: str) -> str:
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return "an IP address"
    return ""


# Variable -> function that returns what the value must be, or "" for a good value.
_VARIABLES: dict[str, Callable[[str], str]] = {
    "HCCL_CONNECT_TIMEOUT": _number(120, 7200),
    "HCCL_EXEC_TIMEOUT": _number(0, 2**31 - 1),
    "HCCL_BUFFSIZE": _number(1, _MAX_BUFFER_MB),
    "HCCL_WHITELIST_DISABLE": _one_of("0", "1"),
    "HCCL_IF_IP": _address,
    "HCCL_SOCKET_FAMILY": _one_of("AF_INET", "AF_INET6"),
    "HCCL_IF_BASE_PORT": _number(1024, 65520),
    "HCCL_HOST_SOCKET_PORT_RANGE": _ports,
    "HCCL_NPU_SOCKET_PORT_RANGE": _ports,
    "HCCL_DETERMINISTIC": _one_of("false", "true", "strict"),
    "HCCL_INTRA_ROCE_ENABLE": _one_of("0", "1"),
    "HCCL_INTRA_PCIE_ENABLE": _one_of("0", "1"),
    "HCCL_RDMA_TC": _number(0, 255),
    "HCCL_RDMA_SL": _number(0, 7),
}


def hccl_variables(facts: Facts) -> Iterator[Finding]:
    """HCCL_* variables have values that HCCL accepts."""
    fine = []
    for name, judge in _VARIABLES.items():
        value = facts.host.environ.get(name)
        if value is None:
            continue
        if wanted := judge(value):
            yield error(
                f"{name}={value!r} is not {wanted}",
                "communicators cannot be made, or the value is not used",
                f"set {name} to {wanted}, or unset it",
            )
        else:
            fine.append(f"{name}={value}")
    if fine:
        yield ok(", ".join(fine))


def hccl_whitelist(facts: Facts) -> Iterator[Finding]:
    """When the whitelist is switched on, its file exists."""
    host = facts.host
    if host.variable("HCCL_WHITELIST_DISABLE") != "0":
        return
    name = host.variable("HCCL_WHITELIST_FILE")
    try:
        content = json.loads(Path(name).read_text()) if name else None
    except (OSError, ValueError) as fault:
        content, name = None, f"{name} ({fault})"
    if not isinstance(content, dict) or not isinstance(content.get("host_ip"), list):
        yield error(
            f"HCCL_WHITELIST_DISABLE=0, no whitelist in HCCL_WHITELIST_FILE: {name or 'unset'}",
            "every connection between ranks is refused",
            'name a file with {"host_ip": [...], "device_ip": [...]}, or unset'
            " HCCL_WHITELIST_DISABLE",
        )


def hccl_interface(facts: Facts) -> Iterator[Finding]:
    """HCCL_SOCKET_IFNAME selects an interface of this host, HCCL_IF_IP one of its addresses."""
    host = facts.host
    value = host.variable("HCCL_SOCKET_IFNAME")
    names = [name for _, name in socket.if_nameindex()]
    if value:
        excluded, exact, listed = re.fullmatch(r"(\^?)(=?)(.*)", value, re.DOTALL).groups()  # type: ignore[union-attr]
        wanted = [item for item in listed.split(",") if item]
        hit = [
            name
            for name in names
            if any(name == item if exact else name.startswith(item) for item in wanted)
        ]
        left = [name for name in names if name not in hit] if excluded else hit
        if not left:
            yield error(
                f"HCCL_SOCKET_IFNAME={value} selects none of {', '.join(names)}",
                "ranks do not find each other and end with EI0006 after the connect timeout",
                "name a prefix of an interface, or =NAME for exactly one",
            )
        else:
            yield ok(f"HCCL_SOCKET_IFNAME={value} selects {', '.join(left)}")
    address = host.variable("HCCL_IF_IP")
    if address and not _address(address) and not _is_own(address):
        yield error(
            f"HCCL_IF_IP={address} is no address of this host",
            "the root rank cannot listen there",
            "name an address of an interface of this host; it differs from host to host",
        )


def _is_own(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.bind((address, 0))
        return True
    return False


def hccl_ports(facts: Facts) -> Iterator[Finding]:
    """The ports that ranks of this host listen on are free."""
    text = facts.host.variable("HCCL_IF_BASE_PORT")
    if text and _VARIABLES["HCCL_IF_BASE_PORT"](text):
        return  # hccl_variables reports it
    base = int(text) if text else _BASE_PORT
    taken = [port for port in range(base, min(base + _PORTS, 65536)) if not _is_free(port)]
    span = f"ports {base} to {base + _PORTS - 1}"
    if not taken:
        yield ok(f"{span} are free")
        return
    found = note if not facts.has_cann else warning
    yield found(
        f"{span}: {', '.join(map(str, taken))} in use",
        "another job listens there, and ranks of this host end with EJ0003",
        "end that job, or set HCCL_IF_BASE_PORT, HCCL_HOST_SOCKET_PORT_RANGE and"
        " HCCL_NPU_SOCKET_PORT_RANGE to others",
    )


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def rank_table(facts: Facts) -> Iterator[Finding]:
    """RANK_TABLE_FILE can be read and has the rank of this process."""
    host = facts.host
    name = host.variable("RANK_TABLE_FILE")
    if not name:
        return
    try:
        table = json.loads(Path(name).read_text())
        ranks = [
            int(device["rank_id"]) for server in table["server_list"] for device in server["device"]
        ]
    except (OSError, ValueError, KeyError, TypeError) as fault:
        yield error(
            f"RANK_TABLE_FILE={name} cannot be read: {type(fault).__name__} {fault}",
            "communicators cannot be made from it",
            'write JSON with "version", "server_count" and "server_list" of "device" entries, all'
            " values as strings",
        )
        return
    own = host.variable("RANK_ID")
    if sorted(ranks) != list(range(len(ranks))):
        yield error(
            f"RANK_TABLE_FILE={name} has ranks {sorted(ranks)}, not 0 to {len(ranks) - 1}",
            "communicators cannot be made from it",
            "number the devices from 0",
        )
    elif own and own not in map(str, ranks):
        yield error(
            f"RANK_ID={own} is not in RANK_TABLE_FILE={name} (ranks 0 to {len(ranks) - 1})",
            "this process has no place in the job",
            "correct RANK_ID, or use the table of this job",
        )
    else:
        yield ok(f"rank table of {len(ranks)} ranks: {name}")


RULES = (hccl_variables, hccl_whitelist, hccl_interface, hccl_ports, rank_table)
