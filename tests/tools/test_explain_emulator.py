# SPDX-License-Identifier: Apache-2.0
"""The emulator's own messages end at their cause."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py._ffi import C, ffi
from aclnn_py.errors import StatusError
from aclnn_py.runtime.status import check_acl
from aclnn_py.tools.explain import explain

pytestmark = pytest.mark.emulator_only(reason="the words are the emulator's")


def tensor(*shape: int, dtype: str = "float32") -> ap.Tensor:
    return ap.zeros(shape, dtype)


def freed() -> None:
    out = ffi.new("void **")
    check_acl(C.aclrtMalloc(out, 64, 0), "aclrtMalloc")
    check_acl(C.aclrtFree(out[0]), "aclrtFree")
    check_acl(C.aclrtFree(out[0]), "aclrtFree")


def long_copy() -> None:
    target = tensor(4)
    pointer = ffi.cast("void *", target.address)
    check_acl(C.aclrtMemcpy(pointer, 8, ffi.new("char[16]"), 16, 1), "aclrtMemcpy")


def gather_row_nine() -> None:
    ap.ops.index_select(tensor(4, 3), 0, ap.from_numpy(np.array([9], np.int64)), tensor(1, 3))
    ap.synchronize()


CALLS: list[tuple[str, dict[str, str], Callable[[], object]]] = [
    ("argument-shape", {}, lambda: ap.ops.mm(tensor(4, 8), tensor(4, 8), tensor(4, 4), 0)),
    (
        "argument-shape",
        {"given": "(5, 7)", "expected": "(4, 8)"},
        lambda: ap.ops.add(tensor(4, 8), tensor(5, 7), 1.0, tensor(4, 8)),
    ),
    ("argument-shape", {"dimension": "0"},
     lambda: ap.ops.cat([tensor(4, 8), tensor(5, 7)], 0, tensor(4, 8))),
    ("argument-dtype", {"tensor": "out", "dtype": "INT8"},
     lambda: ap.ops.cos(tensor(4), tensor(4, dtype="int8"))),
    ("argument-value", {"parameter": "dim", "given": "7"},
     lambda: ap.ops.softmax(tensor(4, 8), 7, tensor(4, 8))),
    ("argument-null", {"parameter": "out"}, lambda: ap.ops.abs(tensor(4), None)),
    ("index-out-of-range", {"index": "9", "bound": "4"}, gather_row_nine),
    ("device-id", {"device": "77"}, lambda: ap.Device(77).activate()),
    ("out-of-memory", {}, lambda: ap.empty((1 << 45,), "int8")),
    ("memory-freed", {}, freed),
    ("call-argument", {"given": "16", "bound": "8"}, long_copy),
]  # fmt: skip


@pytest.mark.parametrize(("cause", "named", "call"), CALLS, ids=range(len(CALLS)))
@pytest.mark.usefixtures("unchecked")
def test_a_message_of_the_emulator_ends_at_its_cause(
    device: ap.Device, cause: str, named: dict[str, str], call: Callable[[], object]
) -> None:
    with pytest.raises(StatusError) as caught:
        call()
    first = explain(str(caught.value))[0]
    assert first.cause == cause
    assert named.items() <= first.named.items()
    assert first.checks[0] in " ".join(caught.value.explain().split())
