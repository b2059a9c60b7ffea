# SPDX-License-Identifier: Apache-2.0
"""Results of experts that become one row, where attention and experts run apart."""

from __future__ import annotations

import struct
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import hollow, op, place, refusal, wide

import aclnn_py as ap

from ..problems import fault, message

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
NAME = "aclnnAttentionWorkerCombine"
BATCHES, TOKENS, EXPERTS, WIDTH = 3, 4, 5, 24


def context(rows: Any, flags: Any = None, ready: int = 1, **other: Any) -> ap.Tensor:
    numbers = {"batches": BATCHES, "size": TOKENS, "experts": EXPERTS, "run": 1, **other}
    data = bytearray(1024)
    struct.pack_into("<4I", data, 0, 1, numbers["batches"], numbers["size"], numbers["experts"])
    struct.pack_into("<i", data, 128, numbers["run"])
    if flags is not None:
        struct.pack_into("<2Q", data, 256, flags.address, flags.nbytes)
    struct.pack_into("<2Q", data, 272, rows.address, numbers.get("room", rows.nbytes))
    struct.pack_into("<I", data, 288, ready)
    return ap.from_numpy(np.frombuffer(bytes(data), np.int8))


class Nowhere:
    address, nbytes = 4096, 1 << 30


def problem(dtype: Any) -> tuple[ap.Tensor, Array, Array]:
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((BATCHES, TOKENS, EXPERTS, WIDTH)).astype(dtype)
    scales = rng.uniform(0, 1, (TOKENS, EXPERTS)).astype(np.float32)
    return ap.from_numpy(rows), scales, np.einsum("bter,te->btr", wide(rows), wide(scales))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=str)
def test_the_rows_of_the_micro_batch_are_summed(dtype: Any) -> None:
    rows, scales, exact = problem(dtype)
    kind = int(dtype is not np.float16)
    for ready in range(BATCHES):
        y, layer = hollow((TOKENS, WIDTH), dtype), hollow((1,), np.int32)
        state = context(rows, ready=ready)
        before = state.numpy()
        given = [place(scales), place(np.array([ready + 6], np.int32)), WIDTH, kind, 0, y, layer]
        op(NAME)(state, *given)
        ap.Device(0).synchronize()  # the rows are no argument of the call
        assert_close(y.numpy(), exact[ready], scale=4)
        assert layer.numpy()[0] == ready + 7
        assert (state.numpy() == before).all()


def test_with_a_schedule_the_next_micro_batch_is_taken() -> None:
    rows, scales, exact = problem(np.float16)
    host = np.ones((BATCHES, TOKENS * EXPERTS), np.int32)
    flags = ap.from_numpy(host)
    state = context(rows, flags)
    for batch in (2, 0):
        y, layer = hollow((TOKENS, WIDTH), np.float16), hollow((1,), np.int32)
        op(NAME)(state, place(scales), place(np.zeros(1, np.int32)), WIDTH, 0, 1, y, layer)
        ap.Device(0).synchronize()
        host[batch] = 0
        assert (flags.numpy() == host).all()
        assert_close(y.numpy(), exact[batch], scale=4)
    y = hollow((TOKENS, WIDTH), np.float16)
    left = y.numpy()
    state = context(rows, flags, run=0)
    op(NAME)(state, place(scales), place(np.zeros(1, np.int32)), WIDTH, 0, 1, y, layer)
    assert (y.numpy() == left).all()


def arguments(state: ap.Tensor, **other: Any) -> list[Any]:
    given = {
        "state": state,
        "scales": place(np.ones((TOKENS, EXPERTS), np.float32)),
        "layer": place(np.zeros(1, np.int32)),
        "width": WIDTH,
        "dtype": 0,
        "schedules": 0,
        "y": hollow((TOKENS, WIDTH), np.float16),
        "next": hollow((1,), np.int32),
        **other,
    }
    return list(given.values())


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"experts": EXPERTS + 1}, "selected_expert_num of the context are 4 and 6"),
        ({"size": 3}, "micro_batch_size and selected_expert_num"),
        ({"ready": 3}, "micro_batch_id of the context is 3; micro_batch_num is 3"),
        ({"room": 8}, "token_data_buf_size of the context is 8"),
        ({"rows": Nowhere}, "token_data_buf of the context gives micro batch 1 rows at 0x"),
    ],
    ids=str,
)
def test_a_context_that_leads_nowhere_is_a_fault(change: dict[str, Any], text: str) -> None:
    rows, _, _ = problem(np.float16)
    state = context(**{"rows": rows, **change})
    assert text in fault(NAME, *arguments(state))


def test_refusals() -> None:
    state = context(problem(np.float16)[0])
    for position in (0, 1, 2, 6, 7):
        given = arguments(state)
        given[position] = None
        assert refusal(NAME, *given) == 161001
    for other, says in [
        ({"scales": hollow((TOKENS, 65), np.float32)}, "expertScales has shape"),
        ({"scales": hollow((TOKENS, 2), np.float16)}, "expertScales has dtype"),
        ({"width": 0}, "hiddenSize is 0"),
        ({"width": 25}, "y has shape"),
        ({"dtype": 2}, "tokenDtype is 2"),
        ({"dtype": 1}, "y has dtype"),
        ({"schedules": 2}, "needSchedule is 2"),
        ({"next": hollow((2,), np.int32)}, "nextLayerId has shape"),
        ({"state": hollow((1000,), np.int8)}, "scheduleContext has shape"),
    ]:
        assert says in message(NAME, 161002, arguments(**{"state": state, **other}))
