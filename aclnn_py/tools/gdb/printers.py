# SPDX-License-Identifier: Apache-2.0
"""What gdb reads: it prints aclTensor, aclOpExecutor and their kin by what they hold.

gdb runs this file in its own Python (``gdb -x``), so it uses nothing but gdb's module. The texts
come from the library in the process, which describes a handle when it is asked; a core dump has no
process to ask.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["Describe", "Printer", "printer_of", "register"]

_TYPES = ("aclTensor", "aclOpExecutor", "aclTensorList", "aclScalar", "aclIntArray")
_FUNCTION = "aclnn_py_emulator_describe"


def _described(gdb: Any, address: int) -> str:
    """Ask the library in the process what a handle is."""
    call = f"((const char *(*)(const void *)){_FUNCTION})((const void *){address:#x})"
    try:
        text = gdb.parse_and_eval(call)
    except gdb.error as error:
        return f"{address:#x} (the library cannot be asked: {error})"
    return str(text.string()) if int(text) else f"{address:#x}"


class Printer:
    """The text of one handle.

    Parameters
    ----------
    gdb : module
        gdb's own.
    value : gdb.Value
        The pointer.
    """

    def __init__(self, gdb: Any, value: Any) -> None:
        self._gdb = gdb
        self._value = value

    def to_string(self) -> str:
        """Return the text that gdb shows."""
        address = int(self._value)
        return f"{address:#x} {_described(self._gdb, address)}" if address else "0x0"


def printer_of(gdb: Any, value: Any) -> Printer | None:
    """Return the printer of a value, None for one that is no handle."""
    kind = value.type.strip_typedefs()
    if kind.code != gdb.TYPE_CODE_PTR:
        return None
    target = kind.target().unqualified().strip_typedefs()
    name = target.tag or target.name
    return Printer(gdb, value) if name in _TYPES else None


class Describe:
    """The command ``acl ADDRESS``: what any handle or address is, streams and events too."""

    def __init__(self, gdb: Any) -> None:
        self._gdb = gdb

    def invoke(self, argument: str, from_tty: bool) -> None:
        """Print the text of the address that an expression gives."""
        del from_tty
        if not argument:
            raise self._gdb.GdbError("acl: an expression for a handle or an address is missing")
        address = int(self._gdb.parse_and_eval(f"(unsigned long long)({argument})"))
        self._gdb.write(f"{_described(self._gdb, address)}\n")


def register(gdb: Any) -> None:
    """Make gdb use the printers and know the command."""
    gdb.pretty_printers.append(lambda value: printer_of(gdb, value))
    describe = Describe(gdb)

    class Acl(gdb.Command):  # type: ignore[misc]  # known only inside gdb
        """Describe a handle of CANN or an address of device memory: acl EXPRESSION"""

        def __init__(self) -> None:
            super().__init__("acl", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

        def invoke(self, argument: str, from_tty: bool) -> None:
            describe.invoke(argument, from_tty)

    Acl()


if "gdb" in sys.modules:  # gdb has its module before it reads a file
    register(sys.modules["gdb"])
