# SPDX-License-Identifier: Apache-2.0
"""Launches replayed in one call."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import errors, functional, ops
from aclnn_py.runtime.handle import live_handles


@pytest.fixture
def x(device):
    tensor = ap.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    yield tensor
    tensor.close()


@pytest.fixture
def out(device):
    tensor = ap.zeros((2, 3), np.float32)
    yield tensor
    tensor.close()


def plans(x, out):
    """out = 2x + 1; out = 3 out."""
    one = ap.full((2, 3), 1, np.float32)
    return [
        ap.plan(ops.add, one, x, 2.0, out, repeatable=True),
        ap.plan(ops.muls, out, 3.0, out, repeatable=True),
    ]


def test_plans_run_in_order_and_see_new_data(x, out):
    with ap.Sequence(plans(x, out)) as sequence:
        assert len(sequence) == 2 and not out.numpy().any()
        for value in (0, 1, -2):
            x.copy_from(np.full((2, 3), value, np.float32))
            sequence.run()
            assert (out.numpy() == 3 * (2 * value + 1)).all()
    with pytest.raises(errors.ClosedError):
        sequence.run()


def test_an_empty_sequence_does_nothing(device):
    ap.Sequence().run()


def test_only_repeatable_plans_are_taken(x, out):
    with pytest.raises(TypeError, match=r"plans\[1\]: expected a Plan, got Op"):
        ap.Sequence([plans(x, out)[0], ops.add])
    with pytest.raises(ValueError, match=r"plans\[0\].*repeatable=True"):
        ap.Sequence([ap.plan(ops.add, x, x, 1.0, out)])
    step = plans(x, out)[0]
    step.close()
    with pytest.raises(errors.ClosedError):
        ap.Sequence([step])


def test_recording_runs_the_launches_and_replays_them(x, device):
    with ap.Sequence.record() as sequence:
        twice = functional.add(x, x)
        ops.add(twice, x, 1.0, twice)
        assert len(sequence) == 0
    np.testing.assert_array_equal(twice.numpy(), 3 * x.numpy())
    x.copy_from(np.full((2, 3), 5, np.float32))
    sequence.run()
    assert (twice.numpy() == 15).all()
    assert [step.operator for step in sequence.report()] == ["aclnnAdd", "aclnnAdd"]
    assert all(step.repeatable and not step.refusal for step in sequence.report())
    assert "2 launches" in repr(sequence)
    sequence.close()


def test_a_recorded_sequence_keeps_what_it_uses_and_lets_go_of_it(device):
    gc.collect()
    before = live_handles()
    with ap.Sequence.record() as sequence:
        ops.add(ap.full(4, 1, np.float32), ap.full(4, 2, np.float32), 1.0, ap.zeros(4, np.float32))
    result = sequence._steps[0]._tensors[2]
    result.copy_from(np.zeros(4, np.float32))
    ap.full(4, 9, np.float32)  # would take the memory of the operands
    sequence.run()
    assert result.numpy().tolist() == [3.0] * 4
    sequence.close()
    del sequence, result
    gc.collect()
    ap.synchronize()
    assert live_handles() == before


def test_an_exception_while_recording_leaves_no_plan(x, out):
    gc.collect()
    before = live_handles().get("Plan", 0)
    with pytest.raises(ZeroDivisionError), ap.Sequence.record() as sequence:
        ops.add(x, x, 1.0, out)
        _ = 1 / 0
    assert len(sequence) == 0 and live_handles().get("Plan", 0) == before
    ops.add(x, x, 1.0, out)  # nobody listens any more
    assert len(sequence) == 0


def test_recording_refuses_other_streams_and_plans(x, out, device):
    step = ap.plan(ops.add, x, x, 1.0, out, repeatable=True)
    with device.create_stream() as stream:
        ap.Device(0).use()
        refused = pytest.raises(errors.InvalidArgumentError, match="recorded on")
        with refused, ap.Sequence.record():
            ops.add(x, x, 1.0, out, stream=stream)
    refused = pytest.raises(errors.InvalidArgumentError, match="replayed by themselves")
    with refused, ap.Sequence.record():
        step.run()


def test_recording_leaves_other_threads_alone(x, out, device):
    other = ap.zeros((2, 3), np.float32)
    with ap.Sequence.record() as sequence:
        thread = threading.Thread(target=lambda: ops.add(x, x, 1.0, other))
        thread.start()
        thread.join()
        ops.muls(x, 2.0, out)
    assert [step.operator for step in sequence.report()] == ["aclnnMuls"]


def test_rebind_replaces_every_use_also_in_lists(x, out, device):
    y = ap.from_numpy(np.full((2, 3), 7, np.float32))
    joined = ap.zeros((4, 3), np.float32)
    with ap.Sequence.record() as sequence:
        ops.add(x, x, 1.0, out)
        ops.cat([out, x], 0, joined)
    assert sequence.rebind(x, y) == 3
    sequence.run()
    np.testing.assert_array_equal(joined.numpy(), [[14] * 3] * 2 + [[7] * 3] * 2)
    target = ap.zeros((4, 3), np.float32)  # behind a list: the library cannot be told which it is
    assert sequence.rebind(joined, target) == 1
    joined.copy_from(np.zeros((4, 3), np.float32))
    sequence.run()
    np.testing.assert_array_equal(target.numpy(), [[14] * 3] * 2 + [[7] * 3] * 2)
    assert not joined.numpy().any()


def test_rebind_says_what_is_wrong(x, out, device):
    with ap.Sequence.record() as sequence:
        ops.muls(x[0], 2.0, out[0])
    with pytest.raises(TypeError, match="new: expected a Tensor"):
        sequence.rebind(x, None)
    with pytest.raises(ValueError, match="does not have the layout"):
        sequence.rebind(x[0], ap.zeros(4, np.float32))
    with pytest.raises(ValueError, match="no launch"):
        sequence.rebind(ap.zeros(3, np.float32), ap.zeros(3, np.float32))
    with pytest.raises(ValueError, match="another view"):
        sequence.rebind(x, ap.zeros((2, 3), np.float32))
    assert sequence.rebind(x[0], ap.full((2, 3), 4, np.float32)[0]) == 1
    sequence.run()
    assert out.numpy()[0].tolist() == [8.0] * 3


@pytest.mark.usefixtures("unchecked")
def test_failures_name_the_launch(x, out, second_device):
    with ap.Sequence.record() as sequence:
        ops.add(x, x, 1.0, out)
        ops.muls(out, 2.0, out)
    with pytest.raises(errors.DeviceMismatchError, match="launch 0 of 2 of the sequence, aclnnAdd"):
        sequence.run(second_device.create_stream())
    sequence._steps[1].close()
    with pytest.raises(errors.ClosedError, match="launch 1 of 2 of the sequence, aclnnMuls"):
        sequence.run()
    x.close()
    with pytest.raises(errors.ClosedError, match=r"launch 0 of 2.*self is closed"):
        sequence.run()


def test_threads_run_one_sequence_on_streams_of_their_own(x, out, device):
    sequence = ap.Sequence(plans(x, out))
    failures: list[BaseException] = []

    def work() -> None:
        try:
            with ap.Device(0), device.create_stream() as stream:
                for _ in range(50):
                    sequence.run()
                stream.synchronize()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    sequence.run()
    ap.synchronize()
    np.testing.assert_array_equal(out.numpy(), 3 * (2 * x.numpy() + 1))


def test_strict_mode_sees_the_launches_of_a_sequence(x, out):
    sequence = ap.Sequence(plans(x, out))
    with ap.strict():
        sequence.run()
    np.testing.assert_array_equal(out.numpy(), 3 * (2 * x.numpy() + 1))
