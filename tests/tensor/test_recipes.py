# SPDX-License-Identifier: Apache-2.0
"""Functions that go the short way from the third call on do what they do the long way."""

from __future__ import annotations

import threading

import ml_dtypes
import numpy as np
import pytest
from helpers.processes import run_script

import aclnn_py as ap
from aclnn_py import errors, functional, ops
from aclnn_py._ffi import lib
from aclnn_py.array import dispatch
from aclnn_py.tensor import array_methods
from aclnn_py.tensor.recipes import remembered


def recipes_of(function) -> dict:
    """The recipes that a remembered function keeps."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__, strict=True))
    return cells["recipes"].cell_contents


METHODS = (array_methods._unary, array_methods._product, array_methods._reduced)
OPERATORS = (array_methods._binary[name] for name in ("add", "subtract", "multiply", "divide"))
KEPT = [recipes_of(f) for f in (*METHODS, *OPERATORS, functional.add)]


@pytest.fixture(autouse=True)
def _short_way(device):
    """Recipes of this test alone, where there can be any: not under the checker."""
    ap.current_stream().synchronize()
    ap.empty(1, np.float32)
    for kept in KEPT:
        kept.clear()
    if not lib.ap_may_make():
        pytest.skip("observers or ACLNN_PY_ALLOCATOR=direct: every call goes the long way")


def array(*shape, start=1.0):
    count = int(np.prod(shape))
    return np.arange(start, start + count, dtype=np.float32).reshape(shape)


def known() -> int:
    return sum(map(len, KEPT))


def repeated(function, *args, times=4):
    """The results of equal calls, each compared before memory comes again."""
    results = [function(*args) for _ in range(times)]
    return [result.numpy() for result in results]


def test_equal_calls_leave_a_recipe_and_give_what_the_first_gave():
    a, b = array(3, 4), array(3, 4, start=50)
    x, y = ap.from_numpy(a), ap.from_numpy(b)
    for result in repeated(lambda: x + y):
        np.testing.assert_array_equal(result, a + b)
    assert known() == 1
    for result in repeated(lambda: y + x):  # the same layouts: the same recipe
        np.testing.assert_array_equal(result, a + b)
    assert known() == 1
    for result in repeated(lambda: y - x):
        np.testing.assert_array_equal(result, b - a)
    assert known() == 2


def test_a_tensor_with_itself_is_not_taken_for_two_others():
    a, b = array(5), array(5, start=9)
    x, y = ap.from_numpy(a), ap.from_numpy(b)
    for result in repeated(lambda: x - x):
        np.testing.assert_array_equal(result, a - a)
    for result in repeated(lambda: y - x):
        np.testing.assert_array_equal(result, b - a)
    assert known() == 1
    for result in repeated(lambda: y * y):
        np.testing.assert_array_equal(result, b * b)
    for result in repeated(lambda: x * y):  # the same layouts, but two tensors
        np.testing.assert_array_equal(result, a * b)
    for result in repeated(lambda: x * x):
        np.testing.assert_array_equal(result, a * a)
    assert known() == 2


@pytest.mark.parametrize(
    "number", [2, 2.0, True, -3.5, 0.0, -0.0, float("inf"), np.float32(3), np.int64(2)]
)
def test_numbers_that_are_equal_are_told_apart(number):
    a = array(2, 3)
    x = ap.from_numpy(a)
    for result in repeated(lambda: x * number):
        expected = a * number
        np.testing.assert_array_equal(result, expected)
        assert result.dtype == expected.dtype
        assert (np.signbit(result) == np.signbit(expected)).all()
    whole = ap.from_numpy(np.arange(1, 7, dtype=np.int32))
    for other in (2, 2.0, True):
        for result in repeated(lambda other=other: whole * other):
            expected = np.arange(1, 7, dtype=np.int32) * other
            assert result.dtype == expected.dtype
            np.testing.assert_array_equal(result, expected)


def test_a_view_that_the_function_makes_is_not_taken_for_what_it_was_given():
    # The weight is transposed inside: to multiply by what was given is wrong, and fits as well.
    rng = np.random.default_rng(3)
    for _ in range(6):
        x, w = (rng.standard_normal((16, 16)).astype(np.float32) for _ in range(2))
        y = functional.linear(ap.from_numpy(x), ap.from_numpy(w), None)
        np.testing.assert_allclose(y.numpy(), x @ w.T, rtol=1e-5, atol=1e-5)


def test_views_at_any_offset_share_a_recipe():
    a = array(6, 8)
    x = ap.from_numpy(a)
    for i in range(6):
        np.testing.assert_array_equal((x[i] + x[5 - i]).numpy(), a[i] + a[5 - i])
        np.testing.assert_array_equal((x[i:, ::2][0] * 2.0).numpy(), a[i, ::2] * 2)
    np.testing.assert_array_equal((x.T + x.T).numpy(), a.T + a.T)
    np.testing.assert_array_equal((x.T @ x).numpy(), a.T @ a)


def test_reductions_go_the_short_way():
    a = array(4, 5)
    x = ap.from_numpy(a)
    for result in repeated(lambda: x.sum()):
        np.testing.assert_array_equal(result, a.sum())
    for result in repeated(lambda: x.sum(0)):
        np.testing.assert_array_equal(result, a.sum(0))
    for result in repeated(lambda: x.max(axis=1, keepdims=True)):
        np.testing.assert_array_equal(result, a.max(axis=1, keepdims=True))
    assert known() == 3


@pytest.mark.parametrize("function", [np.sum, np.mean, np.std, np.argmax, np.linalg.norm, np.exp])
def test_functions_of_numpy_go_the_short_way(function):
    own = dispatch._ufuncs if isinstance(function, np.ufunc) else dispatch._functions
    kept = recipes_of(own[function])
    kept.clear()
    a, b = array(50), array(50, start=-7)
    x, y = ap.from_numpy(a), ap.from_numpy(b)
    for result in repeated(function, x):
        np.testing.assert_allclose(result, function(a), rtol=1e-6)
    assert len(kept) == 1
    for result in repeated(function, y):
        np.testing.assert_allclose(result, function(b), rtol=1e-6)
    assert len(kept) == 1
    named = [np.sum(x, axis=axis, keepdims=True).shape for axis in (0, None) for _ in range(3)]
    assert named == [(1,)] * 6


def test_results_that_are_told_where_to_go_go_there():
    a = array(4, 6)
    x, zero = ap.from_numpy(a), ap.from_numpy(np.zeros(6, np.float32))
    for result in repeated(lambda: zero + zero):
        np.testing.assert_array_equal(result, 0)
    for function in (np.sum, np.max, np.cumsum):
        for _ in range(5):
            out = zero + zero if function is not np.cumsum else x + x
            assert function(x, 0, out=out) is out
            np.testing.assert_array_equal(out.numpy(), function(a, 0))


def test_what_launches_more_or_reads_elements_is_not_learnt():
    a = np.arange(1, 7, dtype=np.int32)
    x, e = ap.from_numpy(a), ap.from_numpy(np.full(6, 2, np.int32))
    for result in repeated(lambda: x**e):  # looks for negative exponents
        np.testing.assert_array_equal(result, a**2)
    for result in repeated(lambda: x / e):  # two casts and a quotient
        np.testing.assert_array_equal(result, a / 2)
    assert known() == 0
    with pytest.raises(ValueError, match="negative integer powers"):
        x ** (e - 3)
    counts = [ap.from_numpy(np.full(6, count)) for count in (2, 3)]
    for i in (0, 0, 0, 0, 1, 1, 0):
        np.testing.assert_array_equal(np.repeat(x, counts[i]), np.repeat(a, i + 2))


def test_dtypes_that_promote_keep_their_result():
    half = ap.from_numpy(np.arange(4, dtype=np.float16))
    brain = ap.from_numpy(np.arange(4).astype(ml_dtypes.bfloat16))
    for result in repeated(lambda: half + brain):
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result, [0, 2, 4, 6])


def test_closed_tensors_are_refused_by_name():
    x, y = ap.from_numpy(array(7)), ap.from_numpy(array(7))
    repeated(lambda: x + y)
    y.close()
    with pytest.raises(errors.ClosedError, match="other is closed"):
        x + y


def test_another_device_is_refused_and_has_recipes_of_its_own(second_device):
    a = array(3)
    x, y = ap.from_numpy(a), ap.from_numpy(a)
    repeated(lambda: x + y)
    z = ap.from_numpy(a, device=second_device)
    with pytest.raises(errors.DeviceMismatchError):
        x + z
    with second_device:
        w = ap.from_numpy(2 * a)
        for result in repeated(lambda: z + w):
            np.testing.assert_array_equal(result, 3 * a)
        assert (z + w).device is second_device
    assert (x + y).device is not second_device


def test_observers_see_every_launch():
    seen = []

    from aclnn_py.operators.launch.observers import Observer, observing

    class Watch(Observer):
        def after(self, launch):
            seen.append(launch.name)

    x, y = ap.from_numpy(array(9)), ap.from_numpy(array(9))
    repeated(lambda: x + y)
    with observing(Watch()):
        repeated(lambda: x + y, times=2)
    assert seen == ["aclnnAdd", "aclnnAdd"]
    np.testing.assert_array_equal((x + y).numpy(), 2 * array(9))


def test_a_stream_that_is_named_gets_the_work():
    stream = ap.Stream()
    x, y = ap.from_numpy(array(4)), ap.from_numpy(array(4))
    repeated(functional.add, x, y)
    before = int(stream.context.sequence)
    result = functional.add(x, y, stream=stream)
    assert int(stream.context.sequence) == before + 1
    stream.synchronize()
    np.testing.assert_array_equal(result.numpy(), 2 * array(4))
    with stream:
        for result in repeated(functional.add, x, y):
            np.testing.assert_array_equal(result, 2 * array(4))
    assert int(stream.context.sequence) == before + 5
    stream.close()


def test_a_stream_that_ends_inside_its_block_is_refused():
    x, y = ap.from_numpy(array(4)), ap.from_numpy(array(4))
    repeated(lambda: x + y)
    stream = ap.Stream()
    with pytest.raises(errors.ClosedError), stream:
        repeated(lambda: x + y)
        stream.close()
        x + y


def test_results_inside_a_capture_belong_to_the_graph():
    a = array(8)
    x, y = ap.from_numpy(a), ap.from_numpy(a)
    repeated(lambda: x + y)
    graph = ap.Graph()
    with graph.capture():
        total = x + y
    y.copy_from(3 * a)
    graph.replay()
    np.testing.assert_array_equal(total.numpy(), 4 * a)
    for result in repeated(lambda: x + y):
        np.testing.assert_array_equal(result, 4 * a)
    graph.close()


def test_threads_learn_and_use_recipes_together():
    a = array(16)
    x, y = ap.from_numpy(a), ap.from_numpy(2 * a)
    wrong = []

    def work(step):
        for i in range(200):
            left, right = (x, y) if (i + step) % 2 else (y, x)
            expected = left.numpy() - right.numpy() if i % 50 == 0 else None
            result = left - right
            row = x.reshape(4, 4)[i % 4]
            if expected is not None and not (result.numpy() == expected).all():
                wrong.append((step, i))
            if i % 50 == 1 and (row.numpy() != a.reshape(4, 4)[i % 4]).any():
                wrong.append((step, i))

    threads = [threading.Thread(target=work, args=(step,)) for step in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong


def test_one_view_is_described_once_for_all_threads():
    x = ap.from_numpy(array(64))
    for _ in range(50):
        view, gate, seen = x[8:], threading.Barrier(4), []

        def ask(view=view, gate=gate, seen=seen):
            gate.wait(60)
            seen.append((view._at, view._desc))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len({at for at, _ in seen}) == 1
        assert len({id(desc) for _, desc in seen}) == 1
        assert view._desc.offset == 8


def test_memory_of_results_comes_again_and_none_is_lost():
    x, y = ap.from_numpy(array(1000)), ap.from_numpy(array(1000))
    repeated(lambda: x + y)
    ap.synchronize()
    before = ap.memory_stats()
    for _ in range(500):
        x + y
        ap.empty(1000, np.float32)
    ap.synchronize()
    after = ap.memory_stats()
    assert after.allocated_nbytes == before.allocated_nbytes
    assert after.reserved_nbytes == before.reserved_nbytes
    assert after.blocks == before.blocks


def test_functions_of_the_user_make_the_memory_of_results():
    x, y = ap.from_numpy(array(100)), ap.from_numpy(array(100))
    repeated(lambda: x + y)
    asked = []
    pool = [ap.Buffer.allocate(1024) for _ in range(3)]

    def lend(nbytes, index):
        asked.append(nbytes)
        return pool[len(asked) - 1].address

    ap.set_allocator(lend, lambda address, nbytes, index: None)
    try:
        result = x + y
        made = ap.empty(100, np.float32)
    finally:
        ap.set_allocator(None)
    assert len(asked) == 2
    assert result.buffer.address == pool[0].address
    assert made.buffer.address == pool[1].address
    np.testing.assert_array_equal(result.numpy(), 2 * array(100))


def test_the_buffer_of_a_result_says_what_it_is():
    x = ap.from_numpy(array(3, 5))
    results = [x + 1.0 for _ in range(4)]
    for result in results:
        buffer = result.buffer
        assert buffer is result.buffer
        assert buffer.nbytes == 60
        assert buffer.address == result.address
        assert buffer.device is x.device
        assert result[1].address == result.address + 20
    buffer.close()
    assert results[-1].closed
    with pytest.raises(errors.ClosedError):
        results[-1].numpy()


def test_a_failure_of_phase_two_is_raised_once_with_the_arguments():
    script = """
import numpy as np, aclnn_py as ap
from aclnn_py import errors
from aclnn_py._ffi import ffi, lib
x, y = ap.full((2, 3), 1, np.float32), ap.full((2, 3), 2, np.float32)
for _ in range(4):
    z = x + y
row = ap.ops.add._raw
calls = []

@ffi.callback("int32_t(void *, uint64_t, void *, void *)")
def fails(workspace, nbytes, executor, stream):
    calls.append(1)
    return 507899

good, row.phase_two = row.phase_two, ffi.cast("void *", fails)
try:
    x + y
except errors.AclnnError as error:
    assert error.status == 507899, error.status
    assert "other: (2, 3) float32" in str(error), error
else:
    raise AssertionError("nothing was raised")
finally:
    row.phase_two = good
assert len(calls) == 1, calls
print((x + y).numpy().tolist())
"""
    ended = run_script(script, env={"ACLNN_PY_DEVICE": "emulator", "ACLNN_PY_REUSE": "never"})
    assert ended.check().out.split() == ["[[3.0,", "3.0,", "3.0],", "[3.0,", "3.0,", "3.0]]"]


def test_a_forked_child_neither_makes_nor_releases():
    script = """
import os, numpy as np, aclnn_py as ap
from aclnn_py import errors
x, y = ap.full(8, 1, np.float32), ap.full(8, 2, np.float32)
for _ in range(4):
    z = x + y
child = os.fork()
if not child:
    status = 1
    try:
        x + y
    except errors.ForkError:
        status = 0
    del z, x, y
    os._exit(status)
assert os.waitpid(child, 0)[1] == 0
assert z.numpy().tolist() == [3.0] * 8 and (x + z).numpy().tolist() == [4.0] * 8
"""
    run_script(script, env={"ACLNN_PY_DEVICE": "emulator"}).check()


def test_operators_declared_at_run_time_are_not_learnt():
    x = ap.from_numpy(array(4))
    prototype = (
        "aclnnStatus aclnnNegGetWorkspaceSize(const aclTensor *self, aclTensor *out, "
        "uint64_t *workspaceSize, aclOpExecutor **executor)"
    )
    own = ops.declare(prototype)

    def negated(tensor):
        out = ap.empty(tensor.shape, np.float32)
        own(tensor, out)
        return out

    short = remembered(negated)
    for _ in range(4):
        np.testing.assert_array_equal(short(x).numpy(), -array(4))
    assert known() == 0
