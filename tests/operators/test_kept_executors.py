# SPDX-License-Identifier: Apache-2.0
"""Launches that take the executor of an earlier launch with equal arguments."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from helpers.processes import run_script

import aclnn_py as ap
from aclnn_py import ops
from aclnn_py._ffi import lib
from aclnn_py.operators.launch.kept_executors import apply_reuse, may_be_kept
from aclnn_py.operators.launch.reuse_statistics import reuse_counts

pytestmark = pytest.mark.emulator_only(reason="what is refused depends on the library")


@pytest.fixture
def always(device, unchecked):
    lib.ap_reuse_clear()  # of what other tests have left in a run with reuse forced on
    lib.ap_set_reuse(lib.AP_REUSE_ALWAYS, 0)
    yield
    lib.ap_reuse_clear()
    apply_reuse()


def filled(value, shape=(2, 3)):
    return ap.full(shape, value, np.float32)


def hits(call):
    before = reuse_counts().hits
    call()
    return reuse_counts().hits - before


def test_other_addresses_are_set_on_the_executor(always):
    operands = [filled(i) for i in range(6)]
    results = [filled(-1) for _ in range(6)]

    def work():
        for x, out in zip(operands, results, strict=True):
            ops.add(x, operands[1], 2.0, out)

    assert hits(work) == 5
    assert [out.numpy()[0, 0] for out in results] == [i + 2.0 for i in range(6)]


def test_runs_that_wait_in_a_queue_keep_their_own_addresses(always):
    # More than the emulator keeps of runs that are over, in rounds that use them again.
    operands = [filled(i) for i in range(100)]
    for scale in (1.0, 1.0, 3.0):
        results = [filled(-1) for _ in operands]
        for x, out in zip(operands, results, strict=True):
            ops.add(x, operands[1], scale, out)
        assert [out.numpy()[0, 0] for out in results] == [i + scale for i in range(100)]


def test_draws_of_random_numbers_push_out_no_executor(always):
    x, out = filled(1.0), filled(0.0)
    ops.add(x, x, 1.0, out)
    for _ in range(3000):  # three times what can be kept
        ap.functional.uniform_(x, 0.0, 1.0)
    assert hits(lambda: ops.add(x, x, 1.0, out)) == 1
    assert not may_be_kept(ops.inplace_normal.parameters)


def test_what_is_not_equal_has_an_executor_of_its_own(always):
    base = ap.from_numpy(np.arange(12, dtype=np.float32).reshape(4, 3))
    out = filled(0)
    cases = [(base[:2], 1.0), (base[2:], 1.0), (base[:2], 3.0), (base[:4:2], 1.0)]

    def work():
        for view, alpha in cases:
            ops.add(view, view, alpha, out)
            np.testing.assert_array_equal(out.numpy(), (1 + alpha) * view.numpy())

    assert hits(work) == 0
    assert hits(work) == len(cases)


def test_auto_waits_for_the_second_launch(always):
    lib.ap_set_reuse(lib.AP_REUSE_AUTO, 0)
    x, out = filled(3), filled(0)
    made = reuse_counts().made
    ops.muls(x, 41.0, out)
    assert reuse_counts().made == made
    ops.muls(x, 41.0, out)
    assert reuse_counts().made == made + 1
    assert hits(lambda: ops.muls(x, 41.0, out)) == 1


def test_lists_and_nulls_are_served_at_their_own_addresses_only(always):
    def joined(parts, out):
        ops.cat(parts, 0, out)
        np.testing.assert_array_equal(out.numpy(), np.concatenate([p.numpy() for p in parts]))

    one, two, out = filled(1), filled(2), filled(0, (4, 3))
    joined([one, two], out)
    assert hits(lambda: joined([one, two], out)) == 1
    assert hits(lambda: joined([two, one], out)) == 0
    assert hits(lambda: joined([one, two], out)) == hits(lambda: joined([two, one], out)) == 1
    row, normed, other = filled(1, (1, 3)), filled(0, (1, 3)), filled(0, (1, 3))
    ops.layer_norm(row, (3,), None, None, 0.1, normed, None, None)
    assert hits(lambda: ops.layer_norm(row, (3,), None, None, 0.1, normed, None, None)) == 1
    assert hits(lambda: ops.layer_norm(row, (3,), None, None, 0.1, other, None, None)) == 0
    np.testing.assert_array_equal(other.numpy(), normed.numpy())


def test_long_lists_are_served_too(always):
    def joined(parts, out):
        ops.cat(parts, 0, out)
        np.testing.assert_array_equal(out.numpy()[:, 0], [p.numpy()[0, 0] for p in parts])

    def launches(count):
        parts, out = [filled(i, (1, 3)) for i in range(count)], filled(-1, (count, 3))
        other = [*parts[:-1], filled(70, (1, 3))]
        joined(parts, out)
        return [hits(lambda: joined(parts, out)), hits(lambda: joined(other, out))]

    assert launches(40) == launches(127) == [1, 0]
    assert launches(128) == [0, 0]  # with the result one more than are kept


def test_operators_in_place_are_told_apart_by_their_addresses(always):
    sources = [filled(i) for i in range(3)]
    targets = [filled(-1) for _ in range(3)]
    for _ in range(2):
        for source, target in zip(sources, targets, strict=True):
            ops.inplace_copy(target, source)
            np.testing.assert_array_equal(target.numpy(), source.numpy())


def test_memory_that_comes_back_with_another_meaning_is_not_mistaken(always):
    for i in range(30):
        shape = (1 + i % 3, 2 + i % 5)
        x = ap.from_numpy(np.full(shape, i, np.float32 if i % 2 else np.int32))
        out = ap.empty(shape, x.dtype)
        ops.add(x, x, 1 + i % 2, out)
        assert (out.numpy() == i * (2 + i % 2)).all()
        x.close()
        out.close()


def test_threads_never_share_an_executor(always):
    wrong: list[object] = []

    def work(value):
        try:
            with ap.Device(0), ap.Stream():
                x, out = filled(value), filled(0)
                for _ in range(150):
                    ops.add(x, x, 1.0, out)
                    if not (out.numpy() == 2 * value).all():
                        wrong.append(value)
                        return
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_operators_of_a_group_keep_nothing(device):
    assert not may_be_kept(ops.all_gather_matmul.parameters)
    assert not may_be_kept(ops.matmul_all_reduce.parameters)
    assert may_be_kept(ops.add.parameters)


def test_verify_compares_the_first_replay(device):
    script = """
import numpy as np, aclnn_py as ap
from aclnn_py.operators.launch.reuse_statistics import reuse_counts
ap.check(False)  # launches that are looked at keep nothing
x = ap.full(4, 1, np.float32)
for step in range(1, 6):
    ap.ops.inplace_add(x, x, 1.0)  # a replay beside a fresh launch must not add twice
    assert x.numpy().tolist() == [2.0 ** step] * 4, (step, x.numpy())
print(reuse_counts())
"""
    outcome = run_script(
        script,
        env={"ACLNN_PY_DEVICE": "emulator", "ACLNN_PY_REUSE": "verify"},
    )
    outcome.check()
    assert "hits=4, made=1" in outcome.out


def test_verify_does_not_wait_where_inputs_of_a_graph_are_exchanged(always):
    lib.ap_set_reuse(lib.AP_REUSE_ALWAYS, 1)
    x, out = filled(1), filled(0)
    ops.muls(x, 3.0, out)  # leaves an executor that has not proved itself
    with ap.Graph() as graph:
        with graph.capture(inputs={"x": x}):
            ops.muls(x, 3.0, out)
        for value in (2, 4):
            graph.rebind(x=filled(value))
            graph.replay()
            assert set(out.numpy().ravel().tolist()) == {3.0 * value}


def test_verify_reports_an_executor_that_does_something_else(device):
    script = """
import numpy as np, pytest, aclnn_py as ap
from aclnn_py import errors
from aclnn_py.operators.launch import verifying
ap.check(False)  # launches that are looked at keep nothing
x, out = ap.full(4, 1, np.float32), ap.zeros(4, np.float32)
ap.ops.muls(x, 2.0, out)
fresh = verifying._fresh
def other(op, values, stream):
    nbytes = fresh(op, values, stream)
    stream.synchronize()
    out.copy_from(np.full(4, 7, np.float32))
    return nbytes
verifying._fresh = other
with pytest.raises(errors.DeviceError, match="aclnnMuls.*the results differ.*ACLNN_PY_REUSE=never"):
    ap.ops.muls(x, 2.0, out)
assert out.numpy().tolist() == [7.0] * 4
verifying._fresh = None
ap.ops.muls(x, 2.0, out)
assert out.numpy().tolist() == [2.0] * 4
"""
    run_script(
        script,
        env={"ACLNN_PY_DEVICE": "emulator", "ACLNN_PY_REUSE": "verify"},
    ).check()


def test_under_the_checker_nothing_is_kept(device):
    script = """
import numpy as np, aclnn_py as ap
from aclnn_py.operators.launch.reuse_statistics import reuse_counts
x = ap.full(4, 1, np.float32)
for step in range(1, 4):
    ap.ops.inplace_add(x, x, 1.0)
    assert x.numpy().tolist() == [2.0 ** step] * 4
assert reuse_counts() == (0, 0, 0, 0), reuse_counts()
"""
    run_script(
        script,
        env={
            "ACLNN_PY_DEVICE": "emulator",
            "ACLNN_PY_REUSE": "verify",
            "ACLNN_PY_CHECK": "1",
        },
    ).check()


def test_a_wrong_setting_is_refused(device):
    outcome = run_script("import aclnn_py.ops", env={"ACLNN_PY_REUSE": "sometimes"})
    assert outcome.status != 0
    assert (
        "ACLNN_PY_REUSE is 'sometimes'; it must be one of auto, always, never, verify"
        in outcome.err
    )
