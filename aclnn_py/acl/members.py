# SPDX-License-Identifier: Apache-2.0
"""The functions of one module of pyACL, made when they are first asked for."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any

from aclnn_py import facts
from aclnn_py.acl.calls import function_of
from aclnn_py.acl.refusals import FAMILIES, refusal_of, refused_names
from aclnn_py.acl.table import row

__all__ = ["member", "members_of", "module_getattr"]

Load = Callable[[str], Any]


def members_of(module: str) -> list[str]:
    """Names of a module's functions; ``""`` stands for ``acl`` itself."""
    table = facts.pyacl()
    names = [*table["functions"], *table["extensions"], *table["by_hand"], *refused_names()]
    return sorted(name.rpartition(".")[2] for name in names if name.rpartition(".")[0] == module)


def member(module: str, name: str) -> Any:
    """Return a function of a module.

    Raises
    ------
    AttributeError
        pyACL has no function of that name; close names are in the message.
    """
    full = f"{module}.{name}" if module else name
    found = row(full)
    if found is not None:
        return function_of(found)
    reason = refused_names().get(full)
    if reason is None and not name.startswith("_"):
        reason = FAMILIES.get(module)
    if reason is not None:
        return refusal_of(full, reason)
    close = [] if name.startswith("_") else difflib.get_close_matches(name, members_of(module), 3)
    advice = f"; did you mean {', '.join(close)}?" if close else ""
    raise AttributeError(f"pyACL has no function acl.{full}{advice}")


def module_getattr(
    module: str, namespace: dict[str, Any], others: Callable[[str], Any] | None = None
) -> Load:
    """Return ``__getattr__`` of a module: it makes a function once and keeps it there.

    Parameters
    ----------
    module : str
        The module's name after ``acl.``.
    namespace : dict
        Its ``globals()``.
    others : callable, optional
        Gives what the table does not have, or None.
    """

    def load(name: str) -> Any:
        value = others(name) if others is not None else None
        namespace[name] = value = member(module, name) if value is None else value
        return value

    return load
