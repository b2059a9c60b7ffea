# SPDX-License-Identifier: Apache-2.0
"""Hooks lead where they say, call nothing that they do not list, and list nothing that nobody
calls."""

from __future__ import annotations

import functools
import re
from importlib import import_module
from pathlib import Path

import pytest

from aclnn_py import late

PACKAGE = Path(late.__file__).parent


@functools.cache
def calls_of_hooks() -> frozenset[tuple[str, str]]:
    """(hook, name) of each call in the package."""
    texts = [path.read_text() for path in PACKAGE.rglob("*.py")]
    return frozenset(found for text in texts for found in re.findall(r"\blate\.(\w+)\.(\w+)", text))


@pytest.mark.parametrize("name", late.HOOKS)
def test_a_hook_leads_to_a_module_with_the_names_it_lists(name: str) -> None:
    hook = late.HOOKS[name]
    module = import_module(hook.home)
    for callee in hook.callees:
        assert getattr(hook, callee) is getattr(module, callee)


@pytest.mark.parametrize("name", late.HOOKS)
def test_every_name_that_a_hook_lists_has_a_caller(name: str) -> None:
    called = {callee for hook, callee in calls_of_hooks() if hook == name}
    # The methods of arrays name the function in a text.
    methods = (PACKAGE / "tensor" / "array_methods.py").read_text()
    if name == "array":
        called |= set(re.findall(r'_call\("(\w+)"', methods))
    assert called == late.HOOKS[name].callees


def test_a_hook_that_leads_nowhere_says_who_it_is() -> None:
    hook = late.Hook("planted", "call")
    with pytest.raises(late.HookError, match=r"late\.planted\.call leads nowhere"):
        hook.call()


def test_a_hook_refuses_names_that_it_does_not_list() -> None:
    hook = late.Hook("planted", "call")
    hook.lead_to("math")
    with pytest.raises(late.HookError, match=r"late\.planted does not list 'sqrt'"):
        hook.sqrt(4.0)


def test_a_hook_finds_its_module_when_it_is_used() -> None:
    hook = late.Hook("planted", "sqrt")
    hook.lead_to("no_such_module")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        hook.sqrt(4.0)
    hook.lead_to("math")
    assert hook.sqrt(4.0) == 2.0
