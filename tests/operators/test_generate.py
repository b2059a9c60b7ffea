# SPDX-License-Identifier: Apache-2.0
"""The functions compiled for operators show their source."""

from __future__ import annotations

import inspect
import linecache
import traceback

import pytest

import aclnn_py as ap
from aclnn_py import ops


def test_the_source_of_an_operator_can_be_read() -> None:
    source = inspect.getsource(ops.add)  # type: ignore[arg-type]
    assert source.startswith("def add(self, other, alpha, out, *, stream=None):\n")
    assert "_run(" in source


def test_a_traceback_shows_the_line_of_the_operator() -> None:
    x = ap.zeros((2,), "float32")
    with pytest.raises(TypeError, match="other: expected a Tensor, got str") as caught:
        ops.add(x, "a", 1, x)  # type: ignore[arg-type]
    frames = traceback.extract_tb(caught.value.__traceback__)
    (line,) = (frame.line for frame in frames if frame.filename == "<aclnn_py.ops.add>")
    assert line is not None
    assert line.startswith("return _slow((self, other, alpha, out")


def test_a_source_stays_when_files_are_compared_with_the_disk() -> None:
    before = inspect.getsource(ops.mul)  # type: ignore[arg-type]
    linecache.checkcache()
    assert inspect.getsource(ops.mul) == before  # type: ignore[arg-type]


def test_the_order_of_arguments_has_a_source_of_its_own() -> None:
    x = ap.zeros((2,), "float32")
    assert ops.add.arguments(x, x, 1, out=x) == (x, x, 1, x)
    with pytest.raises(TypeError, match="missing 1 required"):
        ops.add.arguments(x, x, 1)
    assert "_run(" in inspect.getsource(ops.add)  # type: ignore[arg-type]
    (text,) = linecache.getlines("<aclnn_py.ops.add in C order>")[1:]
    assert text == "    return (self, other, alpha, out, )\n"


def test_operators_of_one_name_have_sources_of_their_own() -> None:
    declared = ops.declare(
        "aclnnStatus aclnnAddGetWorkspaceSize(const aclTensor *first, aclTensor *result, "
        "uint64_t *workspaceSize, aclOpExecutor **executor)"
    )
    assert declared.name == "add"
    assert inspect.getsource(declared).startswith("def add(first, result")  # type: ignore[arg-type]
    assert inspect.getsource(ops.add).startswith("def add(self, other")  # type: ignore[arg-type]
