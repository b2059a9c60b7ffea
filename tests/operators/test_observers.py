# SPDX-License-Identifier: Apache-2.0
"""Observers see every launch, and nothing else changes for the caller."""

from __future__ import annotations

import linecache
import threading

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import errors, ops
from aclnn_py.operators.launch.observers import Launch, Observer, observers, observing


class Notes(Observer):
    """Keeps every launch it is told of."""

    def __init__(self) -> None:
        self.begun: list[Launch] = []
        self.ended: list[Launch] = []

    def before(self, launch: Launch) -> None:
        assert launch.phase_one_status is None and launch.error is None
        self.begun.append(launch)

    def after(self, launch: Launch) -> None:
        self.ended.append(launch)


@pytest.fixture
def x(device):
    tensor = ap.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    yield tensor
    tensor.close()


@pytest.fixture
def out(device):
    tensor = ap.empty((2, 3), np.float32)
    yield tensor
    tensor.close()


def test_a_call_has_both_phases(x, out, stream):
    with observing(notes := Notes()):
        ops.add(x, x, 2.0, out)
    ops.add(x, x, 3.0, out)
    (launch,) = notes.ended
    assert notes.begun == [launch]
    assert (launch.kind, launch.name, launch.op) == ("call", "aclnnAdd", ops.add)
    assert launch.values == (x, x, 2.0, out) and launch.stream is stream
    assert launch.thread == threading.get_ident()
    file, _, line = launch.line.rpartition(":")
    assert file == __file__ and "ops.add(x, x, 2.0" in linecache.getline(file, int(line))
    assert (launch.phase_one_status, launch.phase_two_status, launch.error) == (0, 0, None)
    assert launch.phase_one_ns > 0 and launch.phase_two_ns > 0
    assert launch.sequence == int(stream.context.sequence) - 1
    np.testing.assert_array_equal(out.numpy(), 4 * x.numpy())


def test_observed_results_and_workspaces_are_those_of_a_plain_call(device):
    x = ap.from_numpy(np.random.default_rng(1).normal(size=(64, 300)).astype(np.float16))
    plain, seen = ap.empty((64, 300), np.float16), ap.empty((64, 300), np.float16)
    plan = ap.plan(ops.softmax, x, 1, plain)
    nbytes = plan.workspace_nbytes
    plan.run()
    with observing(notes := Notes()):
        ops.softmax(x, 1, seen)
    assert notes.ended[0].workspace_nbytes == nbytes
    np.testing.assert_array_equal(plain.numpy(), seen.numpy())
    np.testing.assert_allclose(seen.numpy().astype(np.float64).sum(axis=1), 1, rtol=1e-2)


def test_a_refusal_is_seen_with_its_status_and_raised_as_ever(x, out):
    wrong = ap.empty((2, 3), np.uint16)
    with observing(notes := Notes()), pytest.raises(errors.AclnnInvalidArgumentError) as caught:
        ops.add(wrong, x, 1.0, out)
    (launch,) = notes.ended
    assert launch.error is caught.value and launch.phase_one_status == 161002
    assert launch.phase_two_status is None and launch.sequence is None


def test_plans_are_seen_phase_by_phase(x, out):
    with observing(notes := Notes()):
        plan = ap.plan(ops.add, x, x, 1.0, out, repeatable=True)
        plan.run()
        plan.run()
        plan.close()
    assert [launch.kind for launch in notes.ended] == ["plan", "run", "run"]
    first, second, third = notes.ended
    assert first.phase_one_status == 0 and first.phase_two_ns is None
    assert second.phase_two_status == 0 and second.phase_one_ns is None
    assert third.sequence == second.sequence + 1
    assert third.values == (x, x, 1.0, out)


def test_a_plan_made_before_is_seen_when_it_runs(x, out):
    plan = ap.plan(ops.add, x, x, 1.0, out)
    with observing(notes := Notes()):
        plan.run()
        with pytest.raises(errors.ClosedError, match="has run"):
            plan.run()
    assert [type(launch.error) for launch in notes.ended] == [type(None), errors.ClosedError]


def test_lists_and_first_calls_on_a_thread_are_seen(x, out):
    with observing(notes := Notes()):

        def work() -> None:
            # No current stream here yet.
            ops.cat([x, x], 0, wide)

        wide = ap.empty((4, 3), np.float32)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        # On the default stream of that thread's device.
        ap.Device(0).synchronize()
    (launch,) = notes.ended
    assert launch.name == "aclnnCat" and launch.thread != threading.get_ident()
    np.testing.assert_array_equal(wide.numpy(), np.concatenate([x.numpy()] * 2))


def test_an_observer_that_refuses_ends_the_launch(x, out):
    class Refuses(Observer):
        def before(self, launch: Launch) -> None:
            raise PermissionError(launch.name)

    out = ap.zeros((2, 3), np.float32)
    with (
        observing(notes := Notes()),
        observing(Refuses()),
        pytest.raises(PermissionError, match="aclnnAdd"),
    ):
        ops.add(x, x, 1.0, out)
    assert isinstance(notes.ended[0].error, PermissionError)
    assert notes.ended[0].phase_one_status is None
    assert not out.numpy().any()


def test_what_observers_launch_is_not_observed(x, out):
    class Launches(Notes):
        def after(self, launch: Launch) -> None:
            super().after(launch)
            ops.mul(x, x, out)

    with observing(notes := Launches()):
        ops.add(x, x, 1.0, out)
    assert [launch.name for launch in notes.ended] == ["aclnnAdd"]
    np.testing.assert_array_equal(out.numpy(), x.numpy() ** 2)


def test_every_observer_hears_the_end_though_one_raises(x, out):
    class Complains(Observer):
        def after(self, launch: Launch) -> None:
            raise ArithmeticError("found in the output")

    with (
        observing(notes := Notes()),
        observing(Complains()),
        pytest.raises(ArithmeticError) as caught,
    ):
        ops.add(x, None, 1.0, out)
    assert len(notes.ended) == 1
    assert isinstance(caught.value.__context__, errors.AclnnError)


def test_strict_mode_is_an_observer_like_others(x, out):
    before = observers()
    with observing(notes := Notes()), ap.strict():
        assert len(observers()) == len(before) + 2
        with ap.strict(False):
            ops.add(x, x, 1.0, out)
            assert len(observers()) == len(before) + 1
        with pytest.raises(errors.AclnnInvalidArgumentError, match=r"strict\(\)"):
            ap.plan(ops.add, ap.empty((2, 3), np.uint16), x, 1.0, out)
    assert observers() == before
    assert [launch.kind for launch in notes.ended] == ["call", "plan"]
