# SPDX-License-Identifier: Apache-2.0
"""`ops`: every kind of argument, every mistake, what an operator says about itself."""

from __future__ import annotations

import inspect
import pickle
import pydoc
import threading

import ml_dtypes
import numpy as np
import pytest
from helpers.processes import run_script

import aclnn_py as ap
from aclnn_py import errors, ops
from aclnn_py._ffi import C
from aclnn_py.facts import operators
from aclnn_py.operators.launch.table import operator_named, operator_names, python_name


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


def test_positional_and_keyword_calls_agree(x, out):
    ops.add(x, x, 2.0, out)
    first = out.numpy()
    ops.add(out=out, alpha=2.0, other=x, self=x)
    np.testing.assert_array_equal(first, out.numpy())
    np.testing.assert_array_equal(first, 3 * np.arange(6).reshape(2, 3))


def test_a_call_returns_nothing_and_takes_a_stream(x, out, device):
    with device.create_stream() as stream:
        assert ops.add(x, x, 1.0, out, stream=stream) is None
        stream.synchronize()
    np.testing.assert_array_equal(out.numpy(), 2 * x.numpy())


@pytest.mark.parametrize("alpha", [1, 1.0, True, np.float32(1), np.int8(1), np.bool_(True)])
def test_numbers_of_every_type_are_scalars(x, out, alpha):
    ops.add(x, x, alpha, out)
    np.testing.assert_array_equal(out.numpy(), 2 * x.numpy())


def test_equal_numbers_of_different_meaning_are_told_apart(device):
    # 0.0 == -0.0 and 1 == True == 1.0 in Python; each must reach the device as itself.
    x = ap.from_numpy(np.zeros(2, np.float32))
    out = ap.empty(2, np.float32)
    for value in (0.0, -0.0, 0.0, -0.0):
        ops.inplace_fill_scalar(out, value)
        assert np.signbit(out.numpy()).tolist() == [np.signbit(value)] * 2
    for alpha, expected in ((1, 1.0), (2, 2.0), (True, 1.0), (2.0, 2.0), (1.0, 1.0)):
        one = ap.from_numpy(np.ones(2, np.float32))
        ops.add(x, one, alpha, out)
        assert out.numpy().tolist() == [expected] * 2


def test_mutable_arguments_are_read_at_every_call(device):
    x = ap.from_numpy(np.arange(6, dtype=np.float32).reshape(1, 2, 3))
    axes = [0, 1, 2]
    first = ap.empty((1, 2, 3), np.float32)
    ops.permute(x, axes, first)
    axes[:] = [2, 1, 0]
    second = ap.empty((3, 2, 1), np.float32)
    ops.permute(x, axes, second)
    np.testing.assert_array_equal(second.numpy(), x.numpy().transpose(2, 1, 0))


def test_explicit_scalar_dtype(x, out):
    ops.add(x, x, ap.Scalar(2, "float16"), out)
    np.testing.assert_array_equal(out.numpy(), 3 * x.numpy())
    assert ap.Scalar(2, np.float16) == ap.Scalar(2, "float16")


def test_tensor_lists_dtypes_and_booleans(device):
    parts = [ap.from_numpy(np.full((2, n), n, np.int32)) for n in (1, 2, 3)]
    joined = ap.empty((2, 6), np.int32)
    ops.cat(parts, 1, joined)
    np.testing.assert_array_equal(joined.numpy()[0], [1, 2, 2, 3, 3, 3])
    half = ap.empty((2, 6), ml_dtypes.bfloat16)
    ops.cast(joined, "bfloat16", half)
    total = ap.empty((2, 1), np.int64)
    ops.reduce_sum(joined, (1,), True, np.int64, total)
    assert total.numpy().tolist() == [[14], [14]]
    np.testing.assert_array_equal(half.numpy().astype(np.int32), joined.numpy())


def test_lists_of_another_length_use_their_own_call(device):
    for count in (1, 3, 2):
        parts = [ap.from_numpy(np.full(2, i, np.float32)) for i in range(count)]
        joined = ap.empty(2 * count, np.float32)
        ops.cat(tuple(parts), 0, joined)
        assert joined.numpy().tolist() == [i for i in range(count) for _ in range(2)]


def test_none_for_an_optional_parameter(device):
    x = ap.from_numpy(np.array([[1.0, 2.0, 3.0]], np.float32))
    out = ap.empty((1, 3), np.float32)
    ops.layer_norm(x, (3,), None, None, 0.0, out, None, None)
    np.testing.assert_allclose(out.numpy(), [[-1.2247449, 0.0, 1.2247449]], rtol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (lambda x, out: (x, np.ones(3), 1.0, out), "other: expected a Tensor, got numpy.ndarray"),
        (lambda x, out: (x, [1.0], 1.0, out), "other: expected a Tensor, got list"),
        (lambda x, out: (x, x, "1", out), "alpha: expected a number, got str"),
        (lambda x, out: (x, x, np.ones(1), out), "alpha: expected a number, got numpy.ndarray"),
        (lambda x, out: (x, x, 1.0), "missing 1 required positional argument: 'out'"),
        (lambda x, out: (x, x, 1.0, out, 5), "takes 4 positional arguments"),
    ],
)
def test_wrong_arguments_are_type_errors_with_a_name(x, out, arguments, text):
    with pytest.raises(TypeError, match=text):
        ops.add(*arguments(x, out))


def test_unknown_keyword_and_wrong_stream_are_type_errors(x, out):
    with pytest.raises(TypeError, match="beta"):
        ops.add(x, x, 1.0, out, beta=1)
    with pytest.raises(TypeError, match="stream: expected a Stream"):
        ops.add(x, x, 1.0, out, stream=0)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda x, o: ops.permute(x, [0, 1.5], o), TypeError, r"dims\[1\]: expected an int"),
        (
            lambda x, o: ops.permute(x, [0, True], o),
            TypeError,
            r"dims\[1\]: expected an int, got b",
        ),
        (lambda x, o: ops.permute(x, [0, 2**63], o), ValueError, "does not fit into int64"),
        (lambda x, o: ops.permute(x, "01", o), TypeError, r"dims: expected Sequence\[int\]"),
        (lambda x, o: ops.cat(x, 0, o), TypeError, "tensors: expected a sequence of tensors"),
        (lambda x, o: ops.cat([x, 1], 0, o), TypeError, r"tensors\[1\]: expected a Tensor"),
        (lambda x, o: ops.matmul(x, x, o, 300), ValueError, "300 does not fit into int8"),
        (lambda x, o: ops.matmul(x, x, o, True), TypeError, "expected an int, got bool"),
        (lambda x, o: ops.reduce_sum(x, [0], 1, "float32", o), TypeError, "expected a bool"),
        (lambda x, o: ops.cast(x, "float99", o), TypeError, "dtype"),
        (lambda x, o: ops.cast(x, object, o), TypeError, "dtype"),
    ],
)
def test_wrong_attributes_are_refused_before_the_call(x, out, call, kind, text):
    with pytest.raises(kind, match=text):
        call(x, out)


def test_refusal_echoes_arguments_and_the_broken_rule(x, out):
    wrong = ap.empty((2, 3), np.uint16)
    with pytest.raises(errors.AclnnInvalidArgumentError) as caught:
        ops.add(wrong, x, 1.0, out)
    error = caught.value
    assert isinstance(error, ValueError) and isinstance(error, errors.AclnnError)
    assert error.status == 161002 and error.status_name == "ACLNN_ERR_PARAM_INVALID"
    assert error.routine == "aclnnAddGetWorkspaceSize"
    text = str(error)
    assert "self: (2, 3) uint16 strides (3, 1) ND" in text
    assert "alpha: 1.0" in text
    assert "self has dtype UINT16; allowed: FLOAT, FLOAT16" in text
    assert [(rule.argument, rule.kind) for rule in error.broken] == [("self", "dtype")]
    assert error.detail
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == text and type(again) is type(error)


def test_null_for_a_required_tensor_is_judged_by_the_library(x, out):
    with pytest.raises(errors.AclnnError, match="other is null") as caught:
        ops.add(x, None, 1.0, out)
    assert caught.value.status == 161001


def test_closed_tensor_is_refused_by_name(x, out):
    gone = ap.empty((2, 3), np.float32)
    gone.close()
    with pytest.raises(errors.ClosedError, match="other is closed"):
        ops.add(x, gone, 1.0, out)


def test_tensor_and_stream_of_another_device_are_refused(x, out, second_device):
    far = ap.empty((2, 3), np.float32, device=second_device)
    with pytest.raises(errors.DeviceMismatchError, match="other is not on Device"):
        ops.add(x, far, 1.0, out)
    with second_device.create_stream() as stream:
        pass
    stream = second_device.create_stream()
    with pytest.raises(errors.DeviceMismatchError, match="self is not on"):
        ops.add(x, x, 1.0, out, stream=stream)
    ops.add(far, far, 1.0, far, stream=stream)
    stream.close()
    # The thread is still on the first device.
    ops.add(x, x, 1.0, out)
    np.testing.assert_array_equal(out.numpy(), 2 * x.numpy())


def test_closed_stream_is_refused(x, out, device):
    stream = device.create_stream()
    stream.close()
    with pytest.raises(errors.ClosedError):
        ops.add(x, x, 1.0, out, stream=stream)


def test_threads_launch_at_once_with_different_attributes(device):
    one = ap.from_numpy(np.ones(64, np.float32))
    wrong: list[object] = []

    def work(alpha: float) -> None:
        try:
            with ap.Device(0), device.create_stream():
                out = ap.empty(64, np.float32)
                for _ in range(200):
                    ops.add(one, one, alpha, out)
                    if not (out.numpy() == 1 + alpha).all():
                        wrong.append(alpha)
                        return
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_more_attribute_values_than_the_memo_holds(device):
    one = ap.from_numpy(np.ones(4, np.float32))
    out = ap.empty(4, np.float32)
    for i in range(1200):
        ops.add(one, one, float(i), out)
    assert out.numpy().tolist() == [1200.0] * 4


def test_every_operator_of_the_documents_is_there():
    names = set(dir(ops))
    by_c_name = {operator_named(name).c_name for name in names - {"Op", "Scalar", "declare"}}
    assert by_c_name == set(operators())


def test_unknown_operator_suggests_close_names():
    with pytest.raises(AttributeError, match=r"did you mean .*matmul"):
        _ = ops.matmull
    assert not hasattr(ops, "_private")


@pytest.mark.emulator_only(reason="which operators are absent depends on the library")
def test_operator_the_library_lacks_is_a_typed_error(x, out):
    missing = next(
        op
        for op in map(operator_named, operator_names())
        if [p.kind for p in op.parameters] == ["T", "T"] and not op.available()
    )
    with pytest.raises(errors.SymbolNotFoundError) as caught:
        missing(x, out)
    assert isinstance(caught.value, NotImplementedError)
    text = str(caught.value)
    assert missing.c_name in text and "libaclnn_py_emulator_device.so" in text
    assert not C.has(missing.c_name)


def test_signature_help_and_repr():
    signature = inspect.signature(ops.layer_norm)
    assert list(signature.parameters)[:3] == ["input", "normalized_shape", "weight"]
    assert signature.parameters["weight"].annotation == "Tensor | None"
    assert signature.parameters["stream"].default is None
    text = pydoc.render_doc(ops.add)
    for section in ("Parameters", "Raises", "Source"):
        assert section in text
    assert "aclnnAdd (``include/aclnnop/math.h``)" in text
    assert repr(ops.add) == "<operator add: aclnnAdd(self, other, alpha, out)>"
    assert ops.add.__name__ == "add"


def test_documents_only_prototypes_say_so():
    name = next(n for n in operators() if "[document]" in getattr(ops, python_name(n)).summary)
    op = next(op for op in map(operator_named, operator_names()) if op.c_name == name)
    assert "known from documents only" in op.__doc__


def test_operators_pickle_by_name():
    assert pickle.loads(pickle.dumps(ops.add)).c_name == "aclnnAdd"


def test_strict_refuses_before_the_library_is_asked(x, out):
    wrong = ap.empty((2, 3), np.uint16)
    with ap.strict():
        with pytest.raises(errors.AclnnInvalidArgumentError, match=r"strict\(\)"):
            ops.add(wrong, x, 1.0, out)
        ops.add(x, x, 1.0, out)
        with pytest.raises(errors.AclnnInvalidArgumentError, match=r"strict\(\)"):
            ap.plan(ops.add, wrong, x, 1.0, out)
    with pytest.raises(errors.AclnnInvalidArgumentError) as caught:
        ops.add(wrong, x, 1.0, out)
    assert "strict()" not in str(caught.value)


def test_the_first_expression_loads_nothing(device):
    script = """
import sys, numpy as np, aclnn_py as ap
from aclnn_py import facts
x = ap.from_numpy(np.ones(4, np.float32))
ap.synchronize()
before = set(sys.modules)
z = x + x
print(sorted(name for name in set(sys.modules) - before if name.startswith("aclnn_py")))
heavy = ("report", "settling", "phases", "verifying", "declare", "strictness", "startup")
print(sorted(name for name in heavy if f"aclnn_py.operators.launch.{name}" in sys.modules))
print([name for name in sys.modules if name.startswith("aclnn_py.operators.record")])
print(facts.operators.cache_info().currsize, z.numpy().tolist())
"""
    ended = run_script(script, env={"ACLNN_PY_DEVICE": "emulator", "ACLNN_PY_CHECK": "0"}).check()
    assert ended.out.splitlines() == ["[]", "[]", "[]", "0 [2.0, 2.0, 2.0, 2.0]"]


def test_an_operator_declared_late_is_the_one_of_its_module():
    from aclnn_py.operators.launch.declare import declare

    assert ops.declare is declare
    assert "declare" in dir(ops)
