# SPDX-License-Identifier: Apache-2.0
"""The calls that go up: from a module to one that stands above it.

Imports go down. The few calls that go the other way are listed here, each as a hook with the names
it may use; there are no others. ``aclnn_py/__init__.py`` says where each hook leads, and the module
is imported when the hook is first used. Hooks also lead to what most programs never call, so that
their first launch does not wait for it to be loaded. This module imports nothing of the package, so
that all others may import it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["HOOKS", "Hook", "HookError", "at_exit", "lead", "load"]


class HookError(RuntimeError):
    """A mistake in this package: a hook leads nowhere, or is asked for a name it does not list."""


class _Exit:
    """What is raised while Python is exiting; the module of the class says it when it is loaded."""

    error: type[Exception] = ImportError


def at_exit(error: type[Exception]) -> None:
    """Say which class of exception stands for a module that Python, exiting, imports no more."""
    _Exit.error = error


def load(name: str) -> ModuleType:
    """Import a module of the package at its first use.

    Parameters
    ----------
    name : str
        Its full name.

    Raises
    ------
    ClosedError
        Python is exiting and imports nothing any more, as when a ``__del__`` calls the package.
    """
    try:
        return import_module(name)
    except ImportError as error:
        if sys.meta_path is not None:
            raise
        raise _Exit.error(
            "the device is closed, because Python is exiting: make this call before the program"
            " ends, in a `with` block or a function of atexit instead of a __del__"
        ) from error


class Hook:
    """A module above the caller: ``late.array.apply(...)`` calls ``apply`` of that module.

    Parameters
    ----------
    name : str
        What the hook is called here.
    callees : str
        The names that lower modules use of it, separated by spaces.
    """

    __slots__ = ("callees", "home", "module", "name")

    def __init__(self, name: str, callees: str) -> None:
        self.name = name
        self.callees = frozenset(callees.split())
        self.home = ""
        self.module: ModuleType | None = None

    def lead_to(self, home: str) -> None:
        """Say which module the hook leads to, by its full name."""
        self.home, self.module = home, None

    # Called for every name that is no slot. The function is looked up at each call, as for any
    # other attribute of a module.
    def __getattr__(self, callee: str) -> Any:
        if callee not in self.callees:
            raise HookError(f"late.{self.name} does not list {callee!r}; add it in late.py")
        module = self.module
        if module is None:
            if not self.home:
                raise HookError(
                    f"late.{self.name}.{callee} leads nowhere; aclnn_py/__init__.py has to say "
                    f"where with late.lead({{{self.name!r}: ...}})"
                )
            module = self.module = load(self.home)
        return getattr(module, callee)


# An exception asks the doctor what is wrong with the installation, and its explanation for its
# text.
doctor = Hook("doctor", "findings_for")
explanation = Hook("explanation", "explain_error explain_missing")
# A device makes streams; a stream makes events and gives up its workspace.
stream = Hook("stream", "DefaultStream Stream")
event = Hook("event", "Event")
workspace = Hook("workspace", "release_workspace")
# The methods of a tensor that launch operators, or that other libraries call.
array = Hook(
    "array",
    "accumulate apply arg_extreme argpartition argsort array_function array_ufunc assign choose "
    "clip compress diagonal dot evaluate expect_cast full_like html_of imag index joined matmul "
    "nonzero partition pickled plain_text_of ptp put ravel real reduce repeat reshape rounded "
    "searchsorted sort standard_deviation stored take text_of to_device trace variance",
)
functional = Hook("functional", "cast contiguous softmax")
dlpack = Hook("dlpack", "device_of export")
xp = Hook("xp", "namespace")
# A generator makes tensors of random numbers.
drawing = Hook("drawing", "choice exponential integers normal permutation random shuffle uniform")
# An operator that refuses a dtype is computed in another way, if the thread has chosen one.
unsupported = Hook("unsupported", "compute_instead")
# The help of operators.
documentation = Hook("documentation", "docstring signature since")
# A launch that did not go through at once; modes of launches, and operators declared at run time.
settling = Hook("settling", "settle")
# Functions that are called again with equal layouts and numbers.
learning = Hook("learning", "fail learn")
startup = Hook("startup", "turn_on_modes")
declaring = Hook("declaring", "declare")

HOOKS = {
    hook.name: hook
    for hook in (
        *(doctor, explanation, stream, event, workspace, array, functional, dlpack, xp),
        *(documentation, learning, settling, startup, declaring, unsupported, drawing),
    )
}


def lead(homes: dict[str, str]) -> None:
    """Say where hooks lead: the name of each to the full name of a module."""
    for name, home in homes.items():
        HOOKS[name].lead_to(home)
