# SPDX-License-Identifier: Apache-2.0
"""Phase two looks at its stream, also where the operator has nothing to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from helpers.accepted_calls import Call, TensorListSpec, TensorSpec, calls, operators
from helpers.phase_one import PhaseOne
from helpers.walk import group_names

import aclnn_py as ap
from aclnn_py._ffi import ffi

pytestmark = pytest.mark.emulator_only(reason="walks over what the emulator takes")

# Operators of which phase one takes a call without elements, and fewer would say that such calls
# are no longer found.
FEWEST_EMPTY = 300


def emptied(argument: Any, extent: int) -> Any:
    """The tensors of an argument with 0 where they have `extent`."""
    if isinstance(argument, TensorListSpec):
        return replace(argument, members=tuple(emptied(m, extent) for m in argument.members))
    if not isinstance(argument, TensorSpec):
        return argument

    def without(dims: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(0 if dim == extent else dim for dim in dims)

    return replace(
        argument, shape=without(argument.shape), storage_shape=without(argument.storage_shape)
    )


def variants(call: Call) -> Iterator[Call]:
    """The call, and the same with each of its extents 0 wherever it stands."""
    yield call
    for extent in sorted({dim for tensor in call.tensors() for dim in tensor.shape} - {0}):
        yield replace(call, arguments=tuple(emptied(a, extent) for a in call.arguments))


@pytest.fixture(scope="module")
def groups() -> Iterator[dict[int, str]]:
    with group_names() as names:
        yield names


def address(raw: Any) -> int:
    return int(ffi.cast("uintptr_t", raw))


@pytest.fixture(scope="module")
def dead_streams() -> Iterator[dict[str, int]]:
    """Handles of a destroyed stream, a stream of another device, and of no stream."""
    with ap.Device(1), closing(ap.Stream()) as other:
        foreign = address(other.raw)
        with ap.Device(0):
            with closing(ap.Stream()) as ended:
                dead = address(ended.raw)
            yield {"destroyed": dead, "of another device": foreign, "of nothing": 1 << 20}


def test_every_operator_looks_at_its_stream(
    groups: dict[int, str], dead_streams: dict[str, int]
) -> None:
    wrong, empty = [], set()
    for name in operators():
        for call in (variant for known in calls(name) for variant in variants(known)):
            with PhaseOne(call, groups) as question:
                for what, stream in dead_streams.items():
                    for workspace in (False, True):
                        first, second = question.launch(stream, workspace)
                        if first != 0:
                            break
                        if second == 0:
                            wrong.append(f"{name} took a stream {what}: {call.arguments}")
            if first == 0 and any(0 in t.shape for t in call.tensors()):
                empty.add(name)
    assert not wrong, "\n".join(wrong[:20])
    assert len(empty) >= FEWEST_EMPTY
