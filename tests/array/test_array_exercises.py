# SPDX-License-Identifier: Apache-2.0
"""Exercises of NumPy courses run with tensors, and nothing changed but the arrays."""

from __future__ import annotations

import re
from typing import Any

import numpy
import pytest
from exercises import EXERCISES

import aclnn_py as ap

_ELEMENT = "CANN has no element type for "
# What cannot run with tensors, and what the error says.
REFUSED = {
    "segments_of_triangles": _ELEMENT,  # a view as records
    "blocks_of_a_matrix": "as_strided: the strides of a Tensor count elements",
    "a_record_array": _ELEMENT,
    "a_logistic_regression": "got ndarray; copy it to the device with from_numpy",  # of np.c_
    "words_in_capitals": _ELEMENT,
    "the_days_of_july": _ELEMENT,
}
# These run with the setting that lets NumPy compute.
BY_CHOICE = {
    "roots_of_a_polynomial": "no operator finds eigenvalues of matrices that are not symmetric",
}
# They call Python for each element, and so np.asarray.
ON_THE_HOST = {"a_function_for_each_element"}
RUNNING = [name for name in EXERCISES if name not in REFUSED and name not in BY_CHOICE]


class _Draws:
    """A generator of NumPy whose arrays are tensors."""

    def __init__(self, seed: int) -> None:
        self._generator = numpy.random.default_rng(seed)

    def __getattr__(self, name: str) -> Any:
        draw = getattr(self._generator, name)
        return lambda *args, **kwargs: ap.asarray(draw(*args, **kwargs))


class _Random:
    default_rng = _Draws


class _WithTensors:
    """NumPy, in which the functions that make arrays make tensors."""

    random = _Random

    def __getattr__(self, name: str) -> Any:
        found = getattr(numpy, name)
        if name == "array":
            return lambda value, dtype=None: ap.asarray(value, dtype)
        as_it_is = isinstance(found, (type, numpy.ufunc)) or not callable(found)
        return found if as_it_is else _switched(found)


def _switched(function: Any) -> Any:
    """The function; an array that it makes of no array becomes a tensor."""

    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return ap.asarray(result) if isinstance(result, numpy.ndarray) else result

    return call


def expect_equal(result: Any, wanted: Any, limit: float = 1e-10) -> None:
    if isinstance(wanted, (tuple, list)):
        assert len(result) == len(wanted)
        for one, other in zip(result, wanted, strict=True):
            expect_equal(one, other, limit)
        return
    if isinstance(wanted, (numpy.ndarray, numpy.generic)):
        values, other = numpy.asarray(result), numpy.asarray(wanted)
        assert values.dtype == other.dtype and values.shape == other.shape
        allowed = limit if other.dtype.kind in "fc" else 0
        numpy.testing.assert_allclose(values, other, rtol=allowed, atol=allowed)
        return
    assert result == pytest.approx(wanted, rel=1e-12)


def tensors_in(result: Any) -> int:
    if isinstance(result, (tuple, list)):
        return sum(map(tensors_in, result))
    return isinstance(result, ap.Tensor)


def arrays_in(result: Any) -> int:
    if isinstance(result, (tuple, list)):
        return sum(map(arrays_in, result))
    return isinstance(result, numpy.ndarray)


@pytest.mark.parametrize("name", RUNNING)
def test_an_exercise_runs_with_tensors(device, name: str) -> None:
    result, wanted = EXERCISES[name](_WithTensors()), EXERCISES[name](numpy)
    expect_equal(result, wanted)
    assert name in ON_THE_HOST or arrays_in(result) == 0
    assert name in ON_THE_HOST or tensors_in(result) >= arrays_in(wanted)


@pytest.mark.parametrize("name", BY_CHOICE)
def test_an_exercise_runs_by_choice(device, name: str) -> None:
    with pytest.raises((TypeError, ValueError), match=BY_CHOICE[name]):
        EXERCISES[name](_WithTensors())
    with ap.unsupported_dtypes("host"):
        result = EXERCISES[name](_WithTensors())
    expect_equal(result, EXERCISES[name](numpy), 1e-12)
    assert tensors_in(result)


@pytest.mark.parametrize("name", REFUSED)
def test_an_exercise_is_refused_with_its_reason(device, name: str) -> None:
    with pytest.raises(TypeError, match=re.escape(REFUSED[name])):
        EXERCISES[name](_WithTensors())


def test_most_exercises_run() -> None:
    assert len(EXERCISES) >= 100
    assert len(RUNNING) >= 0.85 * len(EXERCISES)
