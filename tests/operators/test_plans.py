# SPDX-License-Identifier: Apache-2.0
"""The two phases apart."""

from __future__ import annotations

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import errors, ops


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


def test_nothing_is_computed_before_run(x, out):
    step = ap.plan(ops.add, x, x, 1.0, out)
    assert step.status == 0 and step.status_name == "ACLNN_SUCCESS"
    assert step.workspace_nbytes >= 0
    assert not out.numpy().any()
    step.run()
    np.testing.assert_array_equal(out.numpy(), 2 * x.numpy())


def test_a_plan_runs_once(x, out):
    step = ap.plan(ops.add, x, x, alpha=1.0, out=out)
    step.run()
    with pytest.raises(errors.ClosedError, match="has run"):
        step.run()


def test_a_repeatable_plan_sees_new_data_and_new_tensors(x, out):
    with ap.plan(ops.add, x, x, 1.0, out, repeatable=True) as step:
        step.run()
        np.testing.assert_array_equal(out.numpy(), 2 * x.numpy())
        x.buffer.write(np.full(6, 7, np.float32).tobytes())
        step.run()
        assert (out.numpy() == 14).all()
        other = ap.from_numpy(np.full((2, 3), 1, np.float32))
        result = ap.empty((2, 3), np.float32)
        step.rebind(other=other, out=result)
        step.run()
        assert (result.numpy() == 8).all()
        assert (out.numpy() == 14).all()
    with pytest.raises(errors.ClosedError):
        step.run()


def test_rebind_takes_a_parameter_called_self(x, out):
    with ap.plan(ops.add, x, x, 1.0, out, repeatable=True) as step:
        step.rebind(self=ap.full(x.shape, 5, np.float32))
        step.run()
        np.testing.assert_array_equal(out.numpy(), x.numpy() + 5)


def test_rebind_takes_only_the_same_layout_of_a_tensor_parameter(x, out):
    with ap.plan(ops.add, x, x, 1.0, out, repeatable=True) as step:
        with pytest.raises(ValueError, match="layout"):
            step.rebind(other=ap.empty((3, 2), np.float32))
        with pytest.raises(ValueError, match="layout"):
            step.rebind(other=ap.empty((3, 3), np.float32)[1:])
        with pytest.raises(TypeError, match="no tensor parameter"):
            step.rebind(alpha=x)
        with pytest.raises(TypeError, match="expected a Tensor"):
            step.rebind(other=np.ones((2, 3)))
    single = ap.plan(ops.add, x, x, 1.0, out)
    with pytest.raises(ValueError, match="repeatable"):
        single.rebind(out=x)


def normalised(rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """(out, mean, 1 / standard deviation) of layer normalization over the last axis."""
    wide = rows.astype(np.float64)
    mean = wide.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(wide.var(-1, keepdims=True) + 1e-5)
    return (wide - mean) * rstd, mean, rstd


def test_null_parameters_do_not_shift_what_is_rebound(device):
    names = ("out", "mean_out", "rstd_out")
    random = np.random.default_rng(3)
    rows = [random.standard_normal((2, 4)).astype(np.float32) for _ in range(3)]

    def results() -> list[ap.Tensor]:
        return [ap.full(shape, -7, np.float32) for shape in ((2, 4), (2, 1), (2, 1))]

    kept = [results()]
    arguments = (ap.from_numpy(rows[0]), [4], None, None, 1e-5)
    with ap.plan(ops.layer_norm, *arguments, *kept[0], repeatable=True) as step:
        step.run()
        for values in rows[1:]:
            kept.append(results())
            step.rebind(input=ap.from_numpy(values), **dict(zip(names, kept[-1], strict=True)))
            step.run()
        # One alone: the others stay.
        alone = ap.full((2, 1), -7, np.float32)
        step.rebind(mean_out=alone)
        step.run()
    for values, tensors in zip(rows, kept, strict=True):
        for tensor, expected in zip(tensors, normalised(values), strict=True):
            np.testing.assert_allclose(tensor.numpy(), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(alone.numpy(), normalised(rows[-1])[1], rtol=1e-5, atol=1e-6)


def test_convolution_without_bias_is_rebound(device):
    image = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
    x, weight = (
        ap.from_numpy(array, format=ap.Format.NCHW)
        for array in (image, np.full((1, 1, 1, 1), 2, np.float32))
    )
    first, second = (ap.empty((1, 1, 3, 3), np.float32, format=ap.Format.NCHW) for _ in range(2))
    shape = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    with ap.plan(ops.convolution, x, weight, None, *shape, first, 0, repeatable=True) as step:
        step.run()
        step.rebind(input=ap.from_numpy(image + 1, format=ap.Format.NCHW), output=second)
        step.run()
    np.testing.assert_array_equal(first.numpy(), 2 * image)
    np.testing.assert_array_equal(second.numpy(), 2 * image + 2)


def test_a_captured_run_with_null_parameters_keeps_its_own_tensors(device):
    rows = np.array([[1, 2, 3, 6]], np.float32)
    out, later = ap.zeros((1, 4), np.float32), ap.zeros((1, 4), np.float32)
    arguments = (ops.layer_norm, ap.from_numpy(rows), [4], None, None, 1e-5, out, None, None)
    with ap.plan(*arguments, repeatable=True) as step, ap.Graph() as graph:
        with graph.capture():
            step.run()
        step.rebind(out=later)
        graph.replay()
        np.testing.assert_allclose(out.numpy(), normalised(rows)[0], rtol=1e-5)
        assert not later.numpy().any()
        step.run()
        np.testing.assert_allclose(later.numpy(), normalised(rows)[0], rtol=1e-5)


def test_a_refused_plan_raises_the_error_of_phase_one(x):
    with pytest.raises(errors.AclnnError, match="GetWorkspaceSize") as caught:
        ap.plan(ops.add, x, x, 1.0, ap.empty((5, 5), np.float32))
    assert caught.value.status == 161002


def test_a_plan_runs_on_the_stream_it_is_given(x, out, device):
    with device.create_stream() as stream:
        ap.plan(ops.add, x, x, 1.0, out).run(stream)
        stream.synchronize()
    np.testing.assert_array_equal(out.numpy(), 2 * x.numpy())


def test_a_plan_refuses_a_stream_of_another_device(x, out, second_device):
    stream = second_device.create_stream()
    step = ap.plan(ops.add, x, x, 1.0, out)
    with pytest.raises(errors.DeviceMismatchError):
        step.run(stream)
    step.run()
    stream.close()
    np.testing.assert_array_equal(out.numpy(), 2 * x.numpy())


def test_a_plan_keeps_its_tensors_alive(out, device):
    step = ap.plan(
        ops.add,
        ap.from_numpy(np.ones((2, 3), np.float32)),
        ap.from_numpy(np.ones((2, 3), np.float32)),
        1.0,
        out,
    )
    ap.from_numpy(np.full((2, 3), 9, np.float32))  # would take the freed memory
    step.run()
    assert (out.numpy() == 2).all()


def test_a_closed_tensor_is_refused_when_the_plan_runs(x, out):
    step = ap.plan(ops.add, x, x, 1.0, out)
    x.close()
    with pytest.raises(errors.ClosedError, match="self is closed"):
        step.run()
    step.close()


def test_own_workspace_has_to_be_large_enough_and_on_the_device(x, out, second_device):
    step = ap.plan(ops.add, x, x, 1.0, out)
    with pytest.raises(TypeError, match="expected a Buffer"):
        step.run(workspace=bytearray(10))
    with pytest.raises(errors.DeviceMismatchError):
        step.run(workspace=ap.Buffer.allocate(64, device=second_device))
    step.run(workspace=ap.Buffer.allocate(max(step.workspace_nbytes, 32)))
    np.testing.assert_array_equal(out.numpy(), 2 * x.numpy())


def test_only_operators_can_be_planned(x):
    with pytest.raises(TypeError, match="expected an operator"):
        ap.plan(print, x)
    with pytest.raises(TypeError, match="missing"):
        ap.plan(ops.add, x)
