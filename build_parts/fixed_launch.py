# SPDX-License-Identifier: Apache-2.0
"""Launches with a fixed number of tensors: `ap_run3(call, a, b, c)` and `ap_launch3(stream, ...)`.

Addresses travel as doubles. An address has at most 52 bits on the machines CANN runs on, a double
holds 53 exactly, and of all arguments cffi converts a float is the cheapest: a launch with three
tensors is 50 ns cheaper than with pointers, which on a device that does nothing is a tenth of it.
"""

from __future__ import annotations

FIXED_LAUNCHES = 16


def fixed_declarations() -> str:
    """Declarations for cffi and for C."""
    return "".join(f"{head};\n" for head, _ in _functions())


def fixed_definitions() -> str:
    """Definitions, to stand behind launch.c."""
    address = """static void *ap_address(double value)
{
    return (void *)(intptr_t)value;
}
"""
    return address + "".join(f"{head}\n{{\n{body}}}\n" for head, body in _functions())


def _functions() -> list[tuple[str, str]]:
    functions = []
    for count in range(1, FIXED_LAUNCHES + 1):
        parameters = ", ".join(f"double t{i}" for i in range(count))
        tensors = ", ".join(f"ap_address(t{i})" for i in range(count))
        for head, stream in (
            (f"int32_t ap_run{count}(double call, {parameters})", "NULL"),
            (f"int32_t ap_launch{count}(ap_stream *stream, double call, {parameters})", "stream"),
        ):
            body = f"    ap_tensor *tensors[] = {{{tensors}}};\n"
            body += f"    return ap_launch({stream}, ap_address(call), tensors);\n"
            functions.append((head, body))
    return functions
