# SPDX-License-Identifier: Apache-2.0
"""Families of codes: what the number alone says of a code that no table has."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Family", "family_of_message", "family_of_name", "family_of_status"]


@dataclass(frozen=True)
class Family:
    """Who gives a code, and what kind of failure its range stands for.

    ``advice`` names entries of ``facts.advice()``.
    """

    library: str
    text: str
    advice: tuple[str, ...]


_HCCL = Family("hccl", "HCCL result (HcclResult), counted from 0 on its own", ("peers", "plog"))
_UNKNOWN = Family("", "no range that CANN is known to use", ("plog",))

# Thousands of a status -> its family. aclError and aclnnStatus share one range of numbers.
_RANGES: dict[int, Family] = {
    100: Family("acl", "AscendCL front end: a mistake of the caller or the environment", ("call",)),
    107: Family("acl", "runtime: a mistake of the caller or the environment", ("call",)),
    145: Family("acl", "graph engine: a mistake of the caller", ("models",)),
    148: Family("acl", "AscendCL front end: a mistake of the caller", ("call",)),
    161: Family("aclnn", "operator library: an argument is refused", ("arguments",)),
    200: Family("acl", "AscendCL front end: a resource or a feature is missing", ("memory",)),
    207: Family("acl", "runtime: a resource or a feature is missing", ("resources", "memory")),
    245: Family("acl", "graph engine: a resource is missing", ("models",)),
    300: Family("acl", "AscendCL front end: the state of the business logic", ("plog",)),
    345: Family("acl", "graph engine: the state of the business logic", ("models",)),
    361: Family("aclnn", "operator library: a call of the runtime failed", ("context", "plog")),
    500: Family("acl", "AscendCL: an internal error", ("installation", "plog")),
    507: Family(
        "acl", "runtime: an internal error or a fault of the device", ("asynchronous", "plog")
    ),
    545: Family("acl", "graph engine: an internal error", ("models", "plog")),
    561: Family("aclnn", "operator library: an internal error", ("installation", "plog")),
}
_DIGITS = {
    1: "a mistake of the caller or the environment",
    2: "a resource or a feature is missing",
    3: "the state of the business logic",
    5: "an internal error or a fault of the device",
}
_NAMES = {
    "ACL_ERROR_RT_": _RANGES[107],
    "ACL_ERROR_GE_": _RANGES[545],
    "ACL_ERROR_": _RANGES[100],
    "ACLNN_ERR_INNER": _RANGES[561],
    "ACLNN_ERR_": _RANGES[161],
    "HCCL_E_": _HCCL,
}


def family_of_status(status: int, *, hccl: bool = False) -> Family:
    """Return the family that a number belongs to by its range."""
    if hccl or 0 <= status < 10_000:
        return _HCCL
    found = _RANGES.get(status // 1000)
    if found is not None:
        return found
    kind = _DIGITS.get(status // 100_000) if 100_000 <= status < 600_000 else None
    if kind is None:
        return _UNKNOWN
    return Family(
        "", f"a range without a known owner; its first digit stands for {kind}", ("plog",)
    )


def family_of_name(name: str) -> Family:
    """Return the family that a name belongs to by its first words."""
    return next((f for prefix, f in _NAMES.items() if name.startswith(prefix)), _UNKNOWN)


def family_of_message(code: str, class_text: str) -> Family:
    """Return the family of a message code such as ``EZ1001``.

    Parameters
    ----------
    code : str
        Severity, module and four digits.
    class_text : str
        What is known of the module.
    """
    severity = {"E": "error", "W": "warning", "I": "information"}[code[0]]
    side = "an internal failure" if code[-4] == "9" else "a cause on the caller's side"
    advice = ("plog",) if code[-4] == "9" else ("call", "plog")
    return Family("message", f"{severity} of {class_text}; its digits stand for {side}", advice)
