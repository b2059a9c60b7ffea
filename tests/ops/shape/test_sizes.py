# SPDX-License-Identifier: Apache-2.0
"""Sizes made of arguments: what 64 bits cannot hold is refused, and no work grows with extents."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable

import numpy as np
import pytest
from helpers.operators import hollow, place, refusal

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("device")

HUGE = 2**62
ADDRESS_SPACE = 8 << 30


def ones(*shape: int) -> ap.Tensor:
    return place(np.ones(shape, np.float32))


def out(*shape: int) -> ap.Tensor:
    return hollow(shape, np.float32)


def image(*shape: int) -> ap.Tensor:
    return ones(*shape).with_format("NCHW")


def wide(*shape: int) -> ap.Tensor:
    """One element seen as many."""
    return ones(*(1 for _ in shape)).broadcast_to(shape)


def pool(divisor: int) -> int:
    x, y = image(1, 1, 4, 4), image(1, 1, 2, 2)
    return refusal("aclnnAvgPool2d", x, [2, 2], [2, 2], [0, 0], False, True, divisor, 0, y)


def group_norm(n: int, c: int, hxw: int, group: int) -> int:
    x = ones(1, 8, 1)
    results = out(1, 8, 1), out(1, 1), out(1, 1)
    return refusal("aclnnGroupNorm", x, None, None, n, c, hxw, group, 1e-5, *results)


# The wrapped product or sum is what the other arguments have, so that only its wrapping is wrong.
WRAPS: dict[str, Callable[[], int]] = {
    "repeat": lambda: refusal("aclnnRepeat", ones(4), [HUGE + 1], out(4)),
    "repeat interleaved": lambda: refusal("aclnnRepeatInterleaveInt", ones(4), HUGE + 1, 4, out(4)),
    "pad": lambda: refusal("aclnnConstantPadNd", ones(4), [2**63 - 1] * 2, 5.0, out(2)),
    "group norm, HxW": lambda: group_norm(1, 8, 2**61 + 1, 1),
    "group norm, N": lambda: group_norm(2**61 + 1, 8, 1, 1),
    "cat": lambda: refusal("aclnnCat", [wide(2**60)] * 16 + [ones(4)], 0, out(4)),
    "split": lambda: refusal(
        "aclnnSplitWithSize", ones(8), [2**63 - 1, 2**63 - 1, 10], 0, [out(1), out(1), out(10)]
    ),
    "diagonal": lambda: refusal("aclnnDiag", ones(4), 2**63 - 1, out(3, 3)),
    "divisor": lambda: pool(-(2**63)),
    "elements of a pool": lambda: refusal(
        "aclnnIm2col",
        image(1, 2, 4, 4),
        [2**31 - 1] * 2,
        [1, 1],
        [2**31 - 1] * 2,
        [1, 1],
        out(2, 4, 4),
    ),
}


@pytest.mark.parametrize("name", WRAPS)
def test_a_size_that_wraps_is_refused(name: str) -> None:
    assert WRAPS[name]() == 161002


# Operators of every engine, called with a tensor whose elements 64 bits cannot count.
UNCOUNTABLE: dict[str, Callable[[ap.Tensor], int]] = {
    "elementwise": lambda v: refusal("aclnnAbs", v, v),
    "in place": lambda v: refusal("aclnnInplaceAdd", v, ones(1), 1.0),
    "sum": lambda v: refusal("aclnnReduceSum", v, [0, 1], False, np.float32, out()),
    "max": lambda v: refusal("aclnnMax", v, out()),
    "softmax": lambda v: refusal("aclnnSoftmax", v, -1, v),
    "matmul": lambda v: refusal("aclnnMatmul", v, v, out(1, 1), 0),
    "layer norm": lambda v: refusal(
        "aclnnLayerNorm", v, list(v.shape), None, None, 1e-5, v, out(1, 1), out(1, 1)
    ),
    "list": lambda v: refusal("aclnnStack", [v, v], 0, out(2, 1, 1)),
    "foreach": lambda v: refusal("aclnnForeachAbs", [v], [v]),
    "nonzero": lambda v: refusal("aclnnNonzero", v, hollow((4, 2), np.int64)),
}


@pytest.mark.parametrize("name", UNCOUNTABLE)
@pytest.mark.parametrize("shape", [(2**32, 2**32), (2**62, 4), (2**61, 1)], ids=str)
def test_a_tensor_that_cannot_be_counted_is_refused(name: str, shape: tuple[int, int]) -> None:
    assert UNCOUNTABLE[name](wide(*shape)) == 161002


def test_the_refusal_says_what_is_too_large() -> None:
    with pytest.raises(ap.errors.AclnnError, match=r"self has shape \(4294967296, 4294967296\)"):
        ap.ops.abs(wide(2**32, 2**32), wide(2**32, 2**32))
    with pytest.raises(ap.errors.AclnnError, match="repeats makes a size that does not fit 64"):
        ap.ops.repeat(ones(4), [HUGE + 1], out(4))


def test_what_can_be_counted_is_taken() -> None:
    """Views of one element and empty ones are no exception as long as their sizes are numbers."""
    few = ones(1).broadcast_to((3, 5))
    result = out(3, 5)
    ap.ops.abs(few, result)
    np.testing.assert_array_equal(result.numpy(), np.ones((3, 5), np.float32))
    empty = ap.empty((0, 2**20), np.float32)
    ap.ops.abs(empty, empty)
    shifted = out(4)
    ap.ops.roll(place(np.arange(4, dtype=np.float32)), [2**63 - 1, -(2**63)], [0, 0], shifted)
    np.testing.assert_array_equal(shifted.numpy(), np.roll(np.arange(4), 2**63 - 1 - 2**63))
    stepped = out(1)
    ap.ops.slice(ones(4), 0, 1, 4, 2**63 - 1, stepped)
    assert stepped.numpy() == 1


LIMITED = """
import resource, sys
import numpy as np, aclnn_py as ap
with ap.Device(0):
    x = ap.from_numpy(np.ones((1, 1, 4), np.float32))
    wide = ap.from_numpy(np.ones(1, np.float32)).broadcast_to((2**31 - 1,))
    small = ap.empty((1, 1, 4), np.float32)
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    try:
        CALL
    except ap.errors.AclnnError as error:
        print(int(error.status))
"""


@pytest.mark.emulator_only(reason="memory of the host is limited")
@pytest.mark.parametrize(
    "call",
    [
        "ap.ops.replication_pad1d(x, [0, 2**31 - 1], small)",
        "ap.ops.split_tensor(wide, 1, 0, [small])",
    ],
)
def test_phase_one_allocates_nothing_that_grows_with_extents(call: str) -> None:
    text = textwrap.dedent(LIMITED).replace("CALL", call).replace("BYTES", str(ADDRESS_SPACE))
    env = {"ACLNN_PY_DEVICE": "emulator", "ACLNN_PY_EMULATOR_MEMORY": "256M"}
    done = run_python(text, env)
    assert done.stdout.split() == ["161002"], done.stdout + done.stderr


def run_python(text: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
