# SPDX-License-Identifier: Apache-2.0
"""The rows of ``facts/pyacl.json``: which C function a function of pyACL calls, and how.

A row is the C function and its parameters in C order, separated by spaces::

    aclrtMalloc >dev_ptr size policy            dev_ptr, ret = acl.rt.malloc(size, policy)

``name`` is given by the caller and converted by its C type. Marks change that:

``>name``         the C function writes it; it is a result
``>name[n]``      a result of n elements: a text where they are characters, else a list
``name[]``        a list, passed as an array
``name[2]``       a list of lists of that length
``name[n]``       a list of at least as many elements as the parameter n says, or as it has
``#name``         the length of that list or text; the caller does not give it
``name{}``        a dictionary, passed as a structure
``name~n``        the address of n bytes on the host or a device, which have to be there
``name!n``        the address of n bytes on the host, which have to be there
``name?``         may be left out, and is null then; so is a list ``name[]?`` that is None

``= names`` at the end gives the order of the results where it is not that of C.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from aclnn_py import facts

__all__ = ["Parameter", "Row", "row", "rows"]

_PARAMETER = re.compile(
    r"(?P<mark>[>#]?)(?P<name>\w+)"
    r"(?:\[(?P<length>\w*)\])?(?:(?P<dictionary>\{\})|(?P<place>[~!])(?P<span>\w+)|(?P<optional>\?))?"
)


@dataclass(frozen=True)
class Parameter:
    """One parameter of the C function.

    Attributes
    ----------
    name : str
        Its name in Python.
    role : str
        "value", "result", "count", "list", "dictionary" or "optional".
    length : str
        Of a list of lists their length; of any other list the parameter that says how many
        elements are read; of a result its length, as a number or the name of a parameter.
    span : str
        How many bytes have to be at an address; a number or the name of a parameter.
    on_host : bool
        Whether they have to be the host's.
    nullable : bool
        Whether None stands for null in the place of a list.
    """

    name: str
    role: str
    length: str = ""
    span: str = ""
    on_host: bool = False
    nullable: bool = False


@dataclass(frozen=True)
class Row:
    """One function of pyACL."""

    name: str
    c_name: str
    parameters: tuple[Parameter, ...]
    results: tuple[str, ...]

    @property
    def inputs(self) -> tuple[Parameter, ...]:
        """What the caller gives, in order."""
        return tuple(p for p in self.parameters if p.role not in ("result", "count"))


@functools.lru_cache(maxsize=1)
def rows() -> dict[str, Row]:
    """All rows by the name after ``acl.``."""
    table = facts.pyacl()
    found = {**table["functions"], **table["extensions"]}
    return {name: _parse(name, text) for name, text in found.items()}


def row(name: str) -> Row | None:
    """The row of a function such as ``"rt.malloc"``, or None."""
    return rows().get(name)


def _parse(name: str, text: str) -> Row:
    call, _, order = text.partition(" = ")
    c_name, *words = call.split()
    parameters = tuple(_parameter(word) for word in words)
    results = tuple(p.name for p in parameters if p.role == "result")
    return Row(name, c_name, parameters, tuple(order.split()) or results)


def _parameter(word: str) -> Parameter:
    match = _PARAMETER.fullmatch(word)
    if match is None:
        raise ValueError(f"facts/pyacl.json: {word!r} is no parameter")
    name, length = match["name"], match["length"]
    if match["mark"] == ">":
        return Parameter(name, "result", length or "")
    if match["mark"] == "#":
        return Parameter(name, "count")
    if length is not None:
        return Parameter(name, "list", length, nullable=bool(match["optional"]))
    if match["dictionary"]:
        return Parameter(name, "dictionary")
    role = "optional" if match["optional"] else "value"
    return Parameter(name, role, span=match["span"] or "", on_host=match["place"] == "!")
