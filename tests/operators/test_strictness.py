# SPDX-License-Identifier: Apache-2.0
"""strict(): the emulator's rules before the call, and none that good calls break."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from helpers.operators import NUMPY, hollow, op
from helpers.processes import run_script
from ops import problems
from ops.elementwise import elementwise_table, test_elementwise
from ops.foreach import foreach_table, test_foreach
from ops.index import test_index
from ops.matmul import test_matmul
from ops.mc2 import mc2_arguments
from ops.norm import test_norm
from ops.rotary import test_rotary
from ops.shape import test_shape
from ops.sort import test_sort

import aclnn_py as ap
from aclnn_py.errors import AclnnError

TABLES = [test_index, test_matmul, test_norm, test_rotary, test_shape, test_sort]


def refusals(calls: Iterator[tuple[str, Callable[[], object]]]) -> dict[str, str]:
    """Make calls in strict mode; return what was refused."""
    found = {}
    with ap.strict():
        for name, call in calls:
            try:
                call()
            except AclnnError as error:
                found[name] = str(error).splitlines()[0]
    return found


@pytest.mark.parametrize("module", TABLES, ids=lambda module: module.__name__.split("_")[-1])
def test_good_calls_of_the_tables_are_let_through(device: ap.Device, module: object) -> None:
    def calls() -> Iterator[tuple[str, Callable[[], object]]]:
        for case in module.CASES:  # type: ignore[attr-defined]
            names = case.accepted()
            for name in dict.fromkeys((names[0], names[-1])):
                yield case.id, lambda case=case, name=name: problems.run(case, name, ["dense"])

    found = refusals(calls())
    assert found == {}


def test_good_elementwise_calls_are_let_through(device: ap.Device) -> None:
    def calls() -> Iterator[tuple[str, Callable[[], object]]]:
        for case in elementwise_table.CASES:
            names = sorted(test_elementwise.supported(case))
            shapes = test_elementwise.uniform(case, (2, 3))
            for name in dict.fromkeys((names[0], names[-1])):
                call = test_elementwise.Call(case, name, shapes)
                yield case.operator, lambda call=call: call.run("transposed", (2, 3))

    assert refusals(calls()) == {}


def test_good_foreach_calls_are_let_through(device: ap.Device) -> None:
    def calls() -> Iterator[tuple[str, Callable[[], object]]]:
        for case in foreach_table.FOREACH:
            name = min(test_foreach.supported(case))
            given = [
                [hollow(shape, NUMPY[name]) for shape in test_foreach.SHAPES]
                if kind in "lo"
                else test_foreach.scalars_for(case, name, len(test_foreach.SHAPES))[kind]
                for kind in case.form
            ]
            yield case.operator, lambda case=case, given=given: op("aclnn" + case.operator)(*given)

    assert refusals(calls()) == {}


def test_good_calls_of_the_fused_operators_are_let_through(
    device: ap.Device, groups: dict[int, str]
) -> None:
    found = refusals(
        (name, lambda name=name: mc2_arguments.plan(name, groups[2]).close())
        for name in mc2_arguments.BASES
    )
    assert found == {}


def test_plans_and_nested_blocks(device: ap.Device) -> None:
    x = ap.empty((2, 3), np.float32)
    with ap.strict():
        with ap.strict(False), pytest.raises(ValueError, match="cannot be multiplied"):
            ap.plan(ap.ops.mm, x, x, x, 0)
        with pytest.raises(ValueError, match=r"strict\(\) refused"):
            ap.plan(ap.ops.mm, x, x, x, 0)
    ap.strict(True)
    try:
        with pytest.raises(ValueError, match=r"strict\(\) refused"):
            ap.ops.mm(x, x, x, 0)
    finally:
        ap.strict(False)
    with pytest.raises(ValueError, match="cannot be multiplied"):
        ap.ops.mm(x, x, x, 0)


def test_one_object_for_several_blocks(device: ap.Device) -> None:
    x = ap.empty((2, 3), np.float32)

    def is_on() -> bool:
        with pytest.raises(ValueError, match=r"multiplied|refused") as caught:
            ap.ops.mm(x, x, x, 0)
        return "strict() refused" in str(caught.value)

    mode = ap.strict()
    ap.strict(False)
    with mode:
        assert is_on()
        with mode:
            assert is_on()
        assert is_on()
    assert not is_on()
    with mode:
        ap.strict(False)
        with mode:
            assert is_on()
        assert not is_on()
    assert not is_on()


@pytest.mark.parametrize(("value", "refused"), [("1", True), ("0", False), ("", False)])
def test_strict_follows_the_environment(value: str, refused: bool) -> None:
    run_script(
        f"""
        import numpy as np
        import aclnn_py as ap
        with ap.Device(0):
            x = ap.zeros((2, 3), np.float32)
            try:
                ap.ops.mm(x, x, x, 0)
            except ValueError as error:
                assert ("strict() refused" in str(error)) is {refused}, error
            else:
                raise AssertionError("not refused")
        """,
        env={"ACLNN_PY_STRICT": value},
    ).check()


def test_strict_in_the_environment_is_1_or_0() -> None:
    result = run_script("import aclnn_py; aclnn_py.ops.add", env={"ACLNN_PY_STRICT": "yes"})
    assert result.status == 1
    assert "ACLNN_PY_STRICT is 'yes'; it must be 1, 0 or unset" in result.err
