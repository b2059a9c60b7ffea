# SPDX-License-Identifier: Apache-2.0
"""Calls of any operator as data: arguments with their oracle, run over dtypes and layouts."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, NUMPY, Array, accepted_dtypes, hollow, op, place, refusal

import aclnn_py as ap


@dataclass(frozen=True)
class In:
    """A tensor the operator reads."""

    array: Array
    format: str = "ND"


@dataclass(frozen=True)
class Out:
    """A tensor the operator writes, with what it must hold afterwards (its dtype included)."""

    oracle: Any
    dtype: Any = None
    scale: float = 1.0  # widens the tolerance of the dtype
    format: str = "ND"


@dataclass(frozen=True)
class Ref:
    """A tensor the operator changes in place."""

    before: Array
    oracle: Any
    scale: float = 1.0


Problem = Sequence[Any]
Build = Callable[[np.random.Generator, np.dtype[Any]], Problem]


@dataclass(frozen=True)
class Case:
    """One operator in one situation."""

    operator: str  # without the prefix aclnn
    build: Build
    note: str = ""
    decides: int = 0  # position of the parameter whose documented dtypes are tried
    dtypes: frozenset[str] | None = None  # instead of the documented ones
    refuses: bool = True  # undocumented dtypes of that parameter are answered with 161002
    nullable: frozenset[int] = field(default_factory=frozenset)  # tensors that may be None
    free_shapes: bool = False  # the result may be larger than what the operator writes

    @property
    def id(self) -> str:
        return f"{self.operator}-{self.note}" if self.note else self.operator

    def accepted(self) -> list[str]:
        names = accepted_dtypes("aclnn" + self.operator, self.decides)
        return sorted(names if self.dtypes is None else self.dtypes & frozenset(NUMPY))

    def problem(self, name: str) -> Problem:
        seed = zlib.crc32(f"{self.id} {name}".encode())
        return self.build(np.random.default_rng(seed), NUMPY[name])


def put(argument: Any, layout: str) -> Any:
    """Turn one argument of a problem into what the operator takes."""
    if isinstance(argument, In):
        return place(argument.array, layout).with_format(argument.format)
    if isinstance(argument, Ref):
        return place(argument.before, layout)
    if isinstance(argument, Out):
        made = hollow(np.shape(argument.oracle), result_dtype(argument), layout)
        return made.with_format(argument.format)
    if isinstance(argument, list) and argument and isinstance(argument[0], (In, Out, type(None))):
        return [None if member is None else put(member, layout) for member in argument]
    return argument


def result_dtype(out: Out) -> Any:
    return np.asarray(out.oracle).dtype if out.dtype is None else np.dtype(out.dtype)


def compare(argument: Any, given: Any, what: str) -> None:
    """Check the tensors an operator wrote."""
    if isinstance(argument, list):
        for member, tensor in zip(argument, given, strict=True):
            compare(member, tensor, what)
    elif isinstance(argument, (Out, Ref)):
        result = given.numpy()
        if result.dtype.kind in "iub":
            assert_same(result, np.asarray(argument.oracle).astype(result.dtype), what)
        else:
            with np.errstate(over="ignore"):
                assert_close(result, argument.oracle, scale=argument.scale, what=what)


def run(case: Case, name: str, layouts: Sequence[str] = LAYOUTS) -> None:
    """Run a case for one dtype and each of these layouts of all its tensors."""
    problem = case.problem(name)
    for layout in layouts:
        arguments = [put(argument, layout) for argument in problem]
        op("aclnn" + case.operator)(*arguments)
        for position, argument in enumerate(problem):
            compare(argument, arguments[position], f"{case.id} {name} {layout} argument {position}")


def suite(cases: Sequence[Case]) -> type:
    """The tests every operator of a table passes."""

    @pytest.mark.usefixtures("device")
    @pytest.mark.parametrize("case", cases, ids=lambda case: case.id)
    class Suite:
        def test_agrees_with_numpy(self, case: Case) -> None:
            names = case.accepted()
            assert names, case.id
            for name in names:
                run(case, name)

        def test_refuses_wrong_calls(self, case: Case) -> None:
            problem = case.problem(case.accepted()[0])
            refuse_nulls(case, problem)
            if case.refuses:
                refuse_other_dtypes(case, problem)
            if not case.free_shapes:
                refuse_other_shapes(case, problem)

    return Suite


def refuse_nulls(case: Case, problem: Problem) -> None:
    for position, argument in enumerate(problem):
        if not isinstance(argument, (In, Out, Ref)) or position in case.nullable:
            continue
        arguments = [put(other, "dense") for other in problem]
        arguments[position] = None
        assert refusal("aclnn" + case.operator, *arguments) == 161001, f"null at {position}"


def refuse_other_dtypes(case: Case, problem: Problem) -> None:
    allowed = accepted_dtypes("aclnn" + case.operator, case.decides)
    arguments = [put(argument, "dense") for argument in problem]
    tensor = arguments[case.decides]
    for name in sorted(frozenset(NUMPY) - allowed):
        arguments[case.decides] = recast(tensor, NUMPY[name])
        assert refusal("aclnn" + case.operator, *arguments) == 161002, name


def refuse_other_shapes(case: Case, problem: Problem) -> None:
    """Results of another shape are refused."""
    for position, argument in enumerate(problem):
        if not isinstance(argument, Out):
            continue
        arguments = [put(other, "dense") for other in problem]
        shape = np.shape(argument.oracle)
        shape = (*shape, 3) if len(shape) < 8 else (*shape[:-1], shape[-1] + 1)
        arguments[position] = hollow(shape, result_dtype(argument))
        assert refusal("aclnn" + case.operator, *arguments) == 161002, f"shape of {position}"


def recast(argument: Any, dtype: np.dtype[Any]) -> Any:
    """A tensor (or list of tensors) of the same shape and another dtype."""
    if isinstance(argument, list):
        return [recast(member, dtype) for member in argument]
    return place(np.ones(argument.shape, dtype))


def message(operator: str, status: int, arguments: Sequence[Any]) -> str:
    """Call an operator that must refuse with a status; return the text of the error."""
    with pytest.raises(ap.errors.AclnnError) as caught:
        op(operator)(*arguments)
    assert caught.value.status == status, caught.value
    return str(caught.value)


def fault(operator: str, *arguments: Any) -> str:
    """Run an operator whose data are wrong; return the text of the device fault."""
    with pytest.raises(ap.errors.DeviceError) as caught:
        op(operator)(*arguments)
        ap.synchronize()
    assert caught.value.status == 507015, caught.value
    return str(caught.value)
