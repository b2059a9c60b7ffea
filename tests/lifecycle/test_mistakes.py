# SPDX-License-Identifier: Apache-2.0
"""Each mistake of a caller is answered by a typed error, and the process goes on.

"Goes on" is an add afterwards, with the right result. Every class of mistake is here or in the test
named beside it:

============================================  ======================================================
host array where a tensor is due              here
wrong dtype, shape, number of dimensions      here
rank outside the communicator                 here
device that is not there                      here
tensor or stream that was closed              here
tensor or stream of another device            here
executor run twice                            here; in C: ``emulator/native/executor.cpp``
workspace too small                           here; in C: ``emulator/test_hccl_all_gather_*``
operator the library lacks                    here
no library                                    here; the places: ``ffi/test_libraries.py``
broken library                                here; the kinds: ``ffi/test_libraries.py``
fork after init                               ``lifecycle/test_fork.py``, ``ffi/test_libraries.py``
rank that never comes                         ``distributed/test_communicator.py`` (to the job),
                                              ``distributed/test_communicator_failures.py`` (to a
                                              collective)
ranks that call different operators           ``distributed/test_communicator_failures.py``
rank killed in a collective                   ``distributed/test_communicator_failures.py``
out of memory                                 here; reclaiming first: ``core/test_memory.py``
interrupt during a wait                       here
============================================  ======================================================
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.gates import held
from helpers.processes import run_script
from helpers.recovery import assert_usable

import aclnn_py as ap
from aclnn_py import distributed as dist
from aclnn_py import errors, functional, ops
from aclnn_py.operators.launch.op import Op


@pytest.fixture
def at(device: ap.Device, second_device: ap.Device) -> Iterator[SimpleNamespace]:
    """Objects to make mistakes with."""
    closed, closed_stream = ap.empty((2, 3), np.float32), device.create_stream()
    view = closed[1:]
    closed.close()
    closed_stream.close()
    x = ap.from_numpy(np.ones((2, 3), np.float32))
    out = ap.empty((2, 3), np.float32)
    far = ap.zeros((2, 3), np.float32, device=second_device)
    with second_device.create_stream() as far_stream, device:
        yield SimpleNamespace(
            device=device,
            host=np.ones((2, 3), np.float32),
            x=x,
            out=out,
            far=far,
            far_stream=far_stream,
            closed=closed,
            closed_view=view,
            closed_stream=closed_stream,
        )
        for tensor in (x, out, far):
            tensor.close()


def absent_operator() -> Op:
    """An operator of two tensors that the library does not have."""
    for name in dir(ops):
        op = getattr(ops, name)
        takes = [p.kind for p in op.parameters] if isinstance(op, Op) else []
        if takes == ["T", "T"] and not op.available():
            return op
    pytest.skip("the library has them all")


def run_twice(at: SimpleNamespace) -> None:
    step = ap.plan(ops.add, at.x, at.x, 1.0, at.out)
    step.run()
    step.run()


@dataclass(frozen=True)
class Mistake:
    """What is done, which error answers, and what its text names: the culprit and the next step."""

    name: str
    make: Callable[[SimpleNamespace], object]
    error: type[BaseException]
    words: tuple[str, ...]
    also: type[BaseException] = Exception


TYPE = "expected a Tensor, got numpy.ndarray"
STEP = "from_numpy()"
ARGUMENT = errors.InvalidArgumentError
DEVICE = errors.DeviceMismatchError
CLOSED = errors.ClosedError
MISTAKES = [
    Mistake(
        "array", lambda at: ops.add(at.x, at.host, 1.0, at.out), TypeError, ("other", TYPE, STEP)
    ),
    Mistake("array as result", lambda at: ops.abs(at.x, at.host), TypeError, ("out", TYPE, STEP)),
    Mistake(
        "array in a list",
        lambda at: ops.cat([at.x, at.host], 0, at.out),
        TypeError,
        ("tensors[1]", TYPE, STEP),
    ),
    Mistake(
        "array in a plan",
        lambda at: ap.plan(ops.abs, at.host, at.out),
        TypeError,
        ("self", TYPE, STEP),
    ),
    *(
        Mistake(f"array for {name}", call, TypeError, (argument, TYPE, STEP))
        for name, argument, call in [
            ("add", "input", lambda at: functional.add(at.host, at.x)),
            ("sub", "other", lambda at: functional.sub(at.x, at.host)),
            ("mul", "other", lambda at: functional.mul(at.x, at.host)),
            ("div", "other", lambda at: functional.div(at.x, at.host)),
            ("exp", "input", lambda at: functional.exp(at.host)),
            ("relu", "input", lambda at: functional.relu(at.host)),
            ("matmul", "other", lambda at: functional.matmul(at.x, at.host)),
            ("sum", "input", lambda at: functional.sum(at.host)),
            ("softmax", "input", lambda at: functional.softmax(at.host)),
            ("cast", "input", lambda at: functional.cast(at.host, "float16")),
            ("gmm", "x", lambda at: functional.gmm(at.host, at.x, group_list=[2])),
            ("packed scales", "scale", lambda at: functional.trans_quant_param(at.host)),
            ("weights", "weight", lambda at: functional.trans_matmul_weight(at.host)),
            ("contiguous", "input", lambda at: functional.contiguous(at.host)),
        ]
    ),
    Mistake(
        "dtype",
        lambda at: ops.add(at.x, ap.empty((2, 3), np.uint16), 1.0, at.out),
        errors.AclnnError,
        ("other has dtype UINT16; allowed: FLOAT, FLOAT16", "other: (2, 3) uint16", "161002"),
        ValueError,
    ),
    Mistake(
        "number of dimensions",
        lambda at: ops.mm(ap.empty((2, 2, 2), np.float32), at.x, at.out, 0),
        errors.AclnnError,
        ("self has 3 dimensions; allowed: 2 to 2", "self: (2, 2, 2) float32"),
        ValueError,
    ),
    Mistake(
        "more dimensions than there are",
        lambda at: ap.empty((1,) * 9, np.float32),
        ValueError,
        ("shape: at most 8 dimensions, got 9",),
    ),
    Mistake(
        "shape",
        lambda at: ops.add(at.x, at.x, 1.0, ap.empty((3, 3), np.float32)),
        errors.AclnnError,
        ("out has shape (3, 3); expected (2, 3)", "out: (3, 3) float32"),
        ValueError,
    ),
    Mistake(
        "device that is not there",
        lambda at: ap.zeros(3, np.float32, device=99),
        errors.AclError,
        ("device 99", "device_count() says"),
        ValueError,
    ),
    Mistake(
        "closed", lambda at: ops.add(at.x, at.closed, 1.0, at.out), CLOSED, ("other is closed",)
    ),
    Mistake(
        "view of a closed tensor",
        lambda at: ops.abs(at.closed_view, at.closed_view),
        CLOSED,
        ("self is closed",),
    ),
    Mistake("closed and read", lambda at: at.closed.numpy(), CLOSED, ("closed",)),
    Mistake(
        "closed stream",
        lambda at: ops.add(at.x, at.x, 1.0, at.out, stream=at.closed_stream),
        CLOSED,
        ("Stream is closed",),
    ),
    Mistake(
        "tensor of another device",
        lambda at: ops.add(at.x, at.far, 1.0, at.out),
        DEVICE,
        ("other is not on Device(0)", "copy it there"),
        ValueError,
    ),
    Mistake(
        "tensor of another device in a list",
        lambda at: ops.cat([at.x, at.far], 0, at.out),
        DEVICE,
        ("tensors[1] is not on Device(0)", "copy it there"),
    ),
    Mistake(
        "stream of another device",
        lambda at: ops.add(at.x, at.x, 1.0, at.out, stream=at.far_stream),
        DEVICE,
        ("not on Device(1), where the stream is", "launch on a stream of its device"),
    ),
    Mistake(
        "plan on a stream of another device",
        lambda at: ap.plan(ops.abs, at.x, at.out).run(at.far_stream),
        DEVICE,
        ("not on Device(1), where the stream is",),
    ),
    Mistake("executor run twice", run_twice, CLOSED, ("this plan has run", "repeatable=True")),
    Mistake(
        "operator the library lacks",
        lambda at: absent_operator()(at.x, at.out),
        errors.SymbolNotFoundError,
        ("aclnn", "is not in the loaded libraries", ".so"),
        NotImplementedError,
    ),
    Mistake(
        "operator nobody has",
        lambda at: ops.matmull,
        AttributeError,
        ("'matmull'", "did you mean", "matmul"),
    ),
    Mistake(
        "out of device memory",
        lambda at: ap.empty((1 << 40,), np.float32),
        errors.OutOfMemoryError,
        (str(4 << 40), "are free", "Release tensors and synchronize"),
        MemoryError,
    ),
    Mistake(
        "out of host memory",
        lambda at: ap.HostBuffer(1 << 60),
        errors.OutOfMemoryError,
        (str(1 << 60), "pinned host memory"),
        MemoryError,
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name.replace(" ", "-"))
def test_a_mistake_is_named_and_the_process_goes_on(at: SimpleNamespace, mistake: Mistake) -> None:
    with pytest.raises(mistake.error) as caught:
        mistake.make(at)
    assert isinstance(caught.value, mistake.also)
    text = str(caught.value)
    for words in mistake.words:
        assert words in text
    at.device.synchronize()
    assert_usable()


@pytest.fixture
def pair() -> Iterator[dist.Communicator]:
    """The first of two ranks, current on this thread with its device."""
    comms = dist.Communicator.init_all(2)
    try:
        with comms[0], comms[0].device:
            yield comms[0]
    finally:
        for comm in comms:
            comm.close()


RANK_MISTAKES = [
    Mistake("array", lambda at: dist.all_reduce(at.host), TypeError, ("tensor", TYPE, STEP)),
    Mistake(
        "array for the fused operator",
        lambda at: dist.all_gather_matmul(at.x, at.host),
        TypeError,
        ("x2", TYPE, STEP),
    ),
    Mistake(
        "rank outside the communicator",
        lambda at: dist.broadcast(at.x, 5),
        ValueError,
        ("src: 5 is not within 0..1",),
    ),
    Mistake(
        "dtype that cannot be added",
        lambda at: dist.all_reduce(ap.zeros(4, "bool")),
        TypeError,
        ("tensor", "bool"),
    ),
    Mistake(
        "tensor of another rank's device",
        lambda at: dist.all_reduce(at.far),
        DEVICE,
        ("tensor: on device 1", "rank 0"),
    ),
    Mistake(
        "stream of another device",
        lambda at: dist.all_reduce(at.x, stream=at.far_stream),
        DEVICE,
        ("stream: belongs to device 1", "rank 0"),
    ),
]


@pytest.mark.parametrize("mistake", RANK_MISTAKES, ids=lambda m: m.name.replace(" ", "-"))
def test_a_mistake_of_one_rank_is_seen_before_the_others_wait(
    at: SimpleNamespace, pair: dist.Communicator, mistake: Mistake
) -> None:
    with pytest.raises(mistake.error) as caught:
        mistake.make(at)
    for words in mistake.words:
        assert words in str(caught.value)
    assert_usable()


def test_a_workspace_that_is_too_small_never_reaches_the_library(pair: dist.Communicator) -> None:
    step = ap.plan(
        ops.all_gather_matmul,
        ap.zeros((2, 256), np.float16),
        ap.zeros((256, 3), np.float16),
        None,
        pair.name,
        0,
        0,
        1,
        ap.empty((4, 3), np.float16),
        ap.empty((0,), np.float16),
    )
    assert step.workspace_nbytes > 8
    with pytest.raises(ARGUMENT, match=f"workspace: 8 bytes.* {step.workspace_nbytes}") as caught:
        step.run(workspace=ap.Buffer.allocate(8))
    assert "workspace_nbytes" in str(caught.value)
    step.close()  # the executor was not consumed
    assert_usable()


def interrupted(wait: Callable[[], object]) -> float:
    """Press Ctrl-C while the main thread waits; return how long it took to notice."""
    pressed: list[float] = []

    def press() -> None:
        pressed.append(time.monotonic())
        signal.raise_signal(signal.SIGINT)

    # Where the suite is a job in the background of a shell, the signal is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            wait()
        noticed = time.monotonic()
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    return noticed - pressed[0]


WAITS: dict[str, Callable[[ap.Stream, ap.Tensor], Callable[[], object]]] = {
    "stream": lambda stream, tensor: stream.synchronize,
    "stream-with-timeout": lambda stream, tensor: lambda: stream.synchronize(20),
    "event": lambda stream, tensor: stream.record().synchronize,
    "device": lambda stream, tensor: stream.device.synchronize,
    "read": lambda stream, tensor: tensor.numpy,
    "write": lambda stream, tensor: lambda: tensor.copy_from(np.zeros(4, np.uint8)),
}


@pytest.mark.parametrize("wait", WAITS)
def test_ctrl_c_ends_a_wait_and_loses_nothing(stream: ap.Stream, wait: str) -> None:
    target = ap.zeros(4, "uint8")
    with held(stream) as gate:
        target.buffer.fill(7, stream=stream)
        waits: Any = WAITS[wait](stream, target)
        assert interrupted(waits) < 3
        gate.open()
        stream.synchronize(30)
    assert target.numpy().tolist() == [7, 7, 7, 7]
    assert_usable()


FIND = """
import aclnn_py as ap
from aclnn_py import errors
from helpers.recovery import assert_usable
try:
    ap.zeros(4, "float32")
except errors.{error} as error:
    assert isinstance(error, OSError)
    text = str(error)
    for words in {words}:
        assert words in text, text
else:
    raise AssertionError("a library was found")
# The other device is one call away.
ap.use("emulator")
assert_usable()
"""


@pytest.mark.emulator_only(reason="takes the emulator afterwards")
def test_without_a_library_the_emulator_can_still_be_chosen() -> None:
    words = [
        "No CANN installation was found",
        "set_env.sh",
        "ACLNN_PY_DEVICE=emulator",
        "/usr/local",
    ]
    env = {"ASCEND_HOME_PATH": "", "ASCEND_TOOLKIT_HOME": "", "ACLNN_PY_LIBRARY_PATH": ""}
    run_script(
        FIND.format(error="LibraryNotFoundError", words=words),
        env={**env, "ACLNN_PY_DEVICE": "npu"},
    ).check()


@pytest.mark.emulator_only(reason="takes the emulator afterwards")
@pytest.mark.parametrize("kind", ["auto", "npu"])
def test_with_a_broken_library_the_emulator_can_still_be_chosen(tmp_path: Any, kind: str) -> None:
    library = tmp_path / "lib64" / "libascendcl.so"
    library.parent.mkdir()
    library.write_text("not a library")
    words = [f"{library} is there but cannot be loaded", "ASCEND_HOME_PATH"]
    run_script(
        FIND.format(error="LibraryLoadError", words=words),
        env={
            "ASCEND_HOME_PATH": str(tmp_path),
            "ACLNN_PY_LIBRARY_PATH": "",
            "ACLNN_PY_DEVICE": kind,
        },
    ).check()
