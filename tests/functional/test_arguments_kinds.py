# SPDX-License-Identifier: Apache-2.0
"""A value of a kind that no parameter takes is refused, and the error names the parameter."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import pytest
from functional_table import CALLS
from test_functional import device_side

from aclnn_py import functional


class Odd:
    """No tensor, no number, no sequence, no text."""


def outermost(text: str) -> ast.Call:
    """The call of `functional` in a text such as ``f.topk(x, 2)[0]``."""
    node: Any = ast.parse(text, mode="eval").body
    while not isinstance(node, ast.Call):
        node = node.value
    return node


def arguments(call: ast.Call, signature: inspect.Signature) -> dict[str, Any]:
    def value(node: ast.expr) -> Any:
        return device_side(ast.unparse(node))

    positional: list[Any] = []
    for node in call.args:
        if isinstance(node, ast.Starred):
            positional.extend(value(node.value))
        else:
            positional.append(value(node))
    named = {str(keyword.arg): value(keyword.value) for keyword in call.keywords}
    return dict(signature.bind(*positional, **named).arguments)


@pytest.mark.parametrize("name", CALLS)
def test_the_error_names_the_parameter(name, device):
    function = getattr(functional, name)
    signature = inspect.signature(function)
    given = arguments(outermost(CALLS[name][0][0]), signature)
    for parameter in signature.parameters.values():
        changed = {**given, parameter.name: Odd()}
        with pytest.raises((TypeError, ValueError)) as caught:
            function(**changed)
        first = str(caught.value).splitlines()[0]
        assert parameter.name in first, f"{parameter.name}: {first}"
