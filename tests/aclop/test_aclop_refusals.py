# SPDX-License-Identifier: Apache-2.0
"""What the aclop interface refuses, with which status, and what its message names."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from helpers.aclop import Described, Empty, Refused, Side, const, described, host, run

import aclnn_py as ap
from aclnn_py._ffi import C, ffi

pytestmark = pytest.mark.usefixtures("device")
INVALID, INPUT, OUTPUT, ATTRIBUTE, NOT_FOUND = 100000, 100021, 100022, 100023, 100024
DTYPE, DYNAMIC, FAILURE = 100026, 148050, 500002
X = np.arange(6, dtype=np.float32).reshape(2, 3)
OUT = [((2, 3), np.float32)]
AXES = const(np.array([1], np.int64))


def refused(status: int, pattern: str, *arguments: Any, **options: Any) -> None:
    """Run, and expect this refusal."""
    with pytest.raises(Refused, match=pattern) as caught:
        run(*arguments, **options)
    assert caught.value.status == status


@pytest.mark.parametrize(
    ("status", "pattern", "arguments"),
    [
        (
            NOT_FOUND,
            r"no operator of type Nonesuch .*alpha=0.5",
            ("Nonesuch", [X], OUT, {"alpha": 0.5}),
        ),
        (NOT_FOUND, "no operator of type add ", ("add", [X, X], OUT)),
        (INPUT, "Add: input x2 is missing; it takes x1, x2", ("Add", [X], OUT)),
        (INPUT, "3 inputs are given; it takes x1, x2", ("Add", [X, X, X], OUT)),
        (INPUT, "input x2 has no data type", ("Add", [X, Empty()], OUT)),
        (INPUT, "takes x .one or more.", ("AddN", [], OUT)),
        (OUTPUT, "output y is missing", ("Add", [X, X], [])),
        (OUTPUT, "2 outputs are given", ("Add", [X, X], OUT * 2)),
        (
            ATTRIBUTE,
            "attribute axes is a list of ints, and was set as a int",
            ("SoftmaxV2", [X], OUT, {"axes": 1}),
        ),
        (
            ATTRIBUTE,
            "attribute value is a float, and was set as a int",
            ("Muls", [X], OUT, {"value": 2}),
        ),
        (
            ATTRIBUTE,
            "it has no attribute axis; it has axes",
            ("SoftmaxV2", [X], OUT, {"axis": [1]}),
        ),
        (ATTRIBUTE, "it has no attribute alpha; it has none", ("Add", [X, X], OUT, {"alpha": 1.0})),
        (ATTRIBUTE, "attribute value is missing", ("Muls", [X], OUT)),
        (ATTRIBUTE, "takes base=-1 only", ("Exp", [X], OUT, {"base": 2.0})),
        (
            ATTRIBUTE,
            'approximate is "erf"; it takes none, tanh',
            ("GeluV2", [X], OUT, {"approximate": "erf"}),
        ),
        (ATTRIBUTE, "axes has 2 values; it takes one", ("SoftmaxV2", [X], OUT, {"axes": [0, 1]})),
        (ATTRIBUTE, "asks for FLOAT16, the output is FLOAT", ("Cast", [X], OUT, {"dst_type": 1})),
        (
            INPUT,
            "takes no input bias",
            ("MatMulV2", [X, X.T.copy(), X[0], Empty()], [((2, 2), np.float32)]),
        ),
        (
            INPUT,
            "the value of axes is needed before",
            ("ReduceSum", [X, np.array([1])], [((2,), np.float32)]),
        ),
        (
            DTYPE,
            "axes is FLOAT; it takes INT32 and INT64",
            ("ReduceSum", [X, const(np.float32([1]))], [((2,), np.float32)]),
        ),
        (ATTRIBUTE, "no axes are given", ("ReduceSumD", [X], [((), np.float32)], {"axes": []})),
        (
            FAILURE,
            r"aclnn form refuses with 161002.*(\n.*)*aclnnAdd",
            ("Add", [X, X[:, :2].copy()], OUT),
        ),
        (FAILURE, "aclnnFloor", ("Floor", [X.astype(np.complex64)], [((2, 3), np.complex64)])),
        (
            INPUT,
            "offsets and sizes leave the input",
            ("SliceD", [X], OUT, {"offsets": [1, 0], "size": [2, 3]}),
        ),
        (
            ATTRIBUTE,
            "axis 1 cannot be split into 2 equal parts",
            ("SplitD", [X], OUT * 2, {"split_dim": 1, "num_split": 2}),
        ),
        (DYNAMIC, "a dimension of output 0 is -1", ("Add", [X, X], [Side(X, shape=(-1, 3))])),
        (INPUT, "9 dimensions", ("Add", [Side(X, shape=(1,) * 9), X], OUT)),
        (INVALID, "changed in place, and has other memory", ("Assign", [X, X], OUT)),
        (INVALID, "takes 48 bytes, its data buffer has 24", ("Abs", [Side(X, shape=(4, 3))], OUT)),
        (INVALID, "has to lie in device memory", ("Abs", [X], [host(X)])),
    ],
)
def test_a_refusal(status: int, pattern: str, arguments: tuple[Any, ...]) -> None:
    refused(status, pattern, *arguments)


class Call:
    """Arguments of aclopCompileAndExecute for an addition, each to be spoilt."""

    def __init__(self, objects: Described) -> None:
        sides = [Side(X), Side(X)]
        self.values: dict[str, Any] = {
            "type": b"Add",
            "inputs": 2,
            "descs": [objects.desc(side) for side in sides],
            "buffers": [objects.buffer(side) for side in sides],
            "outputs": 1,
            "out_descs": [objects.desc(Side(X))],
            "out_buffers": [objects.buffer(Side(X))],
            "attr": objects.attributes({}),
            "engine": 0,
            "flag": 0,
            "path": ffi.NULL,
            "stream": ap.current_stream().raw,
        }

    def __call__(self, **changes: Any) -> int:
        return int(C.aclopCompileAndExecute(*(self.values | changes).values()))


@pytest.mark.parametrize(
    ("status", "pattern", "changes"),
    [
        (INVALID, "opType is null", {"type": ffi.NULL}),
        (INVALID, "opType is null or empty", {"type": b""}),
        (INVALID, "Add: 2 inputs are described at", {"descs": ffi.NULL}),
        (INVALID, "Add: -1 inputs are described", {"inputs": -1}),
        (INVALID, "outputs at", {"out_descs": ffi.NULL}),
        (INVALID, r"inputDesc\[0\] is null or destroyed", {"descs": [ffi.NULL, ffi.NULL]}),
        (INVALID, "the array of inputs is null", {"buffers": ffi.NULL}),
        (INVALID, "the array of outputs is null", {"out_buffers": ffi.NULL}),
        (INVALID, "the data buffer of input 0 is null", {"buffers": [ffi.NULL, ffi.NULL]}),
        (INVALID, "7 is no engine", {"engine": 7}),
        (INVALID, "5 is no kind of compilation", {"flag": 5}),
        (207000, "compiles no operators of the program", {"flag": 1}),
    ],
)
def test_arguments_that_are_null_or_out_of_range(
    status: int, pattern: str, changes: dict[str, Any]
) -> None:
    with described() as objects:
        assert Call(objects)(**changes) == status
        text = ffi.string(C.aclGetRecentErrMsg()).decode()
        assert re.search(pattern, text), text


def test_what_was_destroyed_is_refused() -> None:
    with described() as objects:
        call = Call(objects)
        gone = C.aclCreateTensorDesc(0, 2, [2, 3], 2)
        C.aclDestroyTensorDesc(gone)
        assert call(descs=[gone, gone]) == INVALID
        attr = C.aclopCreateAttr()
        C.aclopDestroyAttr(attr)
        assert call(attr=attr) == INVALID
        assert C.aclopSetAttrInt(attr, b"a", 1) == INVALID
        assert C.aclopSetAttrInt(objects.attributes({}), ffi.NULL, 1) == INVALID
        buffer = C.aclCreateDataBuffer(ffi.NULL, 0)
        C.aclDestroyDataBuffer(buffer)
        assert call(out_buffers=[buffer]) == INVALID
        assert call(attr=ffi.NULL, stream=ffi.NULL) == 0  # neither is required
        ap.synchronize()


def test_a_closed_stream() -> None:
    stream = ap.Stream()
    raw = stream.raw
    stream.close()
    with described() as objects:
        assert Call(objects)(stream=raw) in (107003, 107017)
        assert C.aclGetRecentErrMsg() != ffi.NULL


def test_a_captured_stream_is_refused_and_goes_on() -> None:
    x = ap.from_numpy(X)
    with described() as objects, ap.Stream() as stream, stream:
        call, graph = Call(objects), ap.Graph()
        with graph.capture(stream):
            y = x + x
            assert call(stream=stream.raw) == 107027
            text = ffi.string(C.aclGetRecentErrMsg()).decode()
            assert "Add: operators of the aclop interface cannot be captured" in text
        graph.replay()
        np.testing.assert_array_equal(y.numpy(), 2 * X)
        graph.close()


def test_memory_that_is_no_device_memory_is_a_fault_of_the_stream() -> None:
    with described() as objects, ap.Stream() as stream:
        call = Call(objects)
        numbers = ffi.new("float[]", 6)
        buffer = C.aclCreateDataBuffer(numbers, 24)
        assert call(buffers=[buffer, buffer], stream=stream.raw) == 0
        assert C.aclrtSynchronizeStream(stream.raw) != 0
        C.aclDestroyDataBuffer(buffer)


@pytest.mark.parametrize("given", [np.int8, np.float32, np.int64], ids=str)
def test_a_value_in_host_memory_that_is_too_short(given: Any) -> None:
    value = Side(np.ones(2, given), shape=(5,), place="host")
    refused(
        INVALID,
        "x2 takes .* bytes of host memory",
        "Add",
        [np.ones(5, given), value],
        [((5,), given)],
    )


def test_functions_that_stay_refused() -> None:
    assert C.aclopSetModelDir(b"x") == 207000
    assert C.aclopLoad(ffi.NULL, 0) == 207000
    assert C.aclopRegisterCompileFunc(b"Add", ffi.NULL) == 207000
    text = ffi.string(C.aclGetRecentErrMsg()).decode()
    assert "docs/aclop.md" in text
