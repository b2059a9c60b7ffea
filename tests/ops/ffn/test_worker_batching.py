# SPDX-License-Identifier: Apache-2.0
"""Tokens of attention workers, taken and sorted by expert where attention and experts run apart."""

from __future__ import annotations

import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.operators import hollow, op, place, refusal
from helpers.processes import run_script
from helpers.workers import Inbox

import aclnn_py as ap

from ..problems import fault

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="chooses the chip of the emulator"),
]

NAME = "aclnnFfnWorkerBatching"
SESSIONS, BATCHES, TOKENS, EACH, WIDTH, EXPERTS = 3, 2, 4, 2, 6, 4
KINDS = [(0, np.float16), (1, ml_dtypes.bfloat16), (2, np.int8)]


def inbox(row_bytes: int = 32) -> Inbox:
    return Inbox(SESSIONS, BATCHES, TOKENS, EACH, row_bytes)


def results(kind: Any, room: int = SESSIONS) -> list[Any]:
    rows = room * TOKENS * EACH
    return [
        hollow((rows, WIDTH), np.dtype(kind)), hollow((EXPERTS, 2), np.int64),
        *(hollow((rows,), np.int32) for _ in range(4)), hollow((rows,), np.float32),
        hollow((1,), np.int64),
    ]  # fmt: skip


def arguments(context: ap.Tensor, code: int, kind: Any, schedules: int = 1) -> list[Any]:
    shape = [SESSIONS, TOKENS, EACH, WIDTH]
    return [context, EXPERTS, shape, code, schedules, 1, *results(kind)]


def check(box: Inbox, given: list[Any], chosen: list[tuple[int, int]]) -> None:
    code = given[3]
    y, groups, sessions, batches, tokens, choices, scales, count = (x.numpy() for x in given[6:])
    wanted = box.sorted(chosen, EXPERTS)
    assert count.tolist() == [len(wanted)]
    columns = np.array(wanted).reshape(-1, 5).T
    for found, expected in zip((sessions, batches, tokens, choices), columns[1:], strict=True):
        np.testing.assert_array_equal(found[: len(wanted)], expected)
    rows = np.array([box.rows[row[1:]] for row in wanted])
    nbytes = WIDTH * (1 if code == 2 else 2)
    np.testing.assert_array_equal(y[: len(wanted)].view(np.uint8), rows[:, :nbytes])
    if code == 2:
        expected = np.ascontiguousarray(rows[:, WIDTH : WIDTH + 4]).view(np.float32)[:, 0]
        np.testing.assert_array_equal(scales[: len(wanted)], expected)
    experts, counts = np.unique(columns[0], return_counts=True)
    table = np.zeros((EXPERTS, 2), np.int64)
    table[: len(experts)] = np.stack([experts, counts], 1)
    np.testing.assert_array_equal(groups, table)


@pytest.mark.parametrize(("code", "kind"), KINDS)
def test_a_batch_of_all_sessions_is_taken(code: int, kind: Any) -> None:
    box = inbox()
    box.infos[:, 1, 0] = 1
    context = box.place(polling=1)
    given = arguments(context, code, kind)
    op(NAME)(*given)
    ap.synchronize()
    chosen = [(session, 1) for session in range(SESSIONS)]
    check(box, given, chosen)
    np.testing.assert_array_equal(box.buffers["token_info_buf"].numpy(), box.cleared(chosen))
    assert box.taken(context)[1] == 0


def test_what_a_scheduler_took_is_sorted() -> None:
    box = inbox()
    chosen = [(2, 0), (0, 1)]
    context = box.place(out_num=2)
    for name, column in (("session_ids_buf", [2, 0]), ("micro_batch_ids_buf", [0, 1])):
        box.buffers[name][:2].copy_from(np.array(column, np.int32))
    ids = np.array([box.infos[one][2:] for one in chosen])
    box.buffers["expert_ids_buf"][:2].copy_from(ids)
    given = arguments(context, 0, np.float16, schedules=0)
    op(NAME)(*given)
    ap.synchronize()
    check(box, given, chosen)
    np.testing.assert_array_equal(box.buffers["token_info_buf"].numpy(), box.infos)


def test_nothing_is_taken_at_the_end() -> None:
    given = arguments(inbox().place(run_flag=0), 0, np.float16)
    op(NAME)(*given)
    assert given[13].numpy().tolist() == [0]
    assert not given[7].numpy().any()


def test_it_waits_for_the_last_session() -> None:
    box = inbox()
    box.infos[:, 0, 0] = [1, 0, 1]
    given = arguments(box.place(), 0, np.float16)
    worker, other = ap.Stream(), ap.Stream()
    op(NAME)(*given, stream=worker)
    waited = threading.Event()
    waited.wait(0.1)
    assert not worker.query()
    ready = box.infos.copy()
    ready[1, 0, 0] = 1
    box.buffers["token_info_buf"].copy_from(ready, stream=other)
    other.synchronize()
    worker.synchronize()
    check(box, given, [(session, 0) for session in range(SESSIONS)])


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"session_num": 0}, "session_num of the context is 0"),
        ({"session_num": 4}, "the context has 4 sessions"),
        ({"token_info_buf": (4096, 64)}, "token_info_buf_size of the context is 64"),
        ({"micro_batch_num": 65}, "micro_batch_num of the context is 65"),
        ({"micro_batch_size": 2}, "maxOutShape has at most 3 with 4 of 2"),
        ({"attn_to_ffn_token_size": 11}, "attn_to_ffn_token_size of the context is 11"),
        ({"token_info_buf": (4096, 1 << 20)}, "token_info_buf of the context is 0x1000"),
        ({"token_data_buf": (4096, 1 << 20)}, "token_data_buf of the context is 0x1000"),
        ({"token_data_buf": (4096, 64)}, "token_data_buf_size of the context is 64"),
    ],
    ids=str,
)
def test_a_context_that_leads_nowhere_is_a_fault(changes: dict[str, Any], text: str) -> None:
    box = inbox()
    box.infos[:, :, 0] = 1
    assert text in fault(NAME, *arguments(box.place(**changes), 0, np.float16))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"out_num": 4}, "out_num of the context is 4"),
        ({"out_num": 1}, "session_ids_buf and micro_batch_ids_buf hold -1 and -1"),
        ({"out_num": 1, "expert_ids_buf": (0, 1 << 20)}, "expert_ids_buf of the context"),
    ],
    ids=str,
)
def test_what_no_scheduler_took_is_a_fault(changes: dict[str, Any], text: str) -> None:
    box = inbox()  # it keeps the buffers
    context = box.place(**changes)
    assert text in fault(NAME, *arguments(context, 0, np.float16, schedules=0))


@pytest.mark.parametrize(
    ("position", "given", "status"),
    [
        *[(position, lambda: None, 161001) for position in (0, 2, *range(6, 14))],
        (0, lambda: place(np.zeros(1000, np.int8)), 161002),
        (0, lambda: place(np.zeros(1024, np.int32)), 161002),
        (1, lambda: 0, 161002),
        (1, lambda: 8193, 161002),
        (2, lambda: [3, 4, 2], 161002),
        (2, lambda: [3, 4, 65, 6], 161002),
        (2, lambda: [2, 4, 2, 6], 161002),
        (2, lambda: [1024, 2**60, 64, 2**60], 161002),
        (3, lambda: 3, 161002),
        (3, lambda: 1, 161002),
        (4, lambda: 2, 161002),
        (5, lambda: 5, 161002),
        (7, lambda: hollow((4, 3), np.int64), 161002),
        (8, lambda: hollow((23,), np.int32), 161002),
        (13, lambda: hollow((2,), np.int64), 161002),
    ],
)
def test_refusals(position: int, given: Any, status: int) -> None:
    call = arguments(inbox().place(run_flag=0), 0, np.float16)
    op(NAME)(*call)
    call[position] = given()
    assert refusal(NAME, *call) == status


SCHEDULER = """
import numpy as np
import aclnn_py as ap
from helpers.workers import Inbox

ap.Device(0).activate()
schedule = ap.ops.inplace_ffn_worker_scheduler

def case(ready, group, polling, expected):
    box = Inbox(4, 3, 2, 2, 8)
    for session, batch in ready:
        box.infos[session, batch, 0] = 1
    context = box.place(polling=polling)
    schedule(context, group, 0)
    ap.Device(0).synchronize()
    count, after, (layers, sessions, batches, experts) = box.taken(context)
    found = list(zip(sessions.tolist(), batches.tolist()))
    assert (found, after) == expected, (found, after)
    assert count == len(found)
    np.testing.assert_array_equal(layers, [50 + session for session, _ in found])
    np.testing.assert_array_equal(experts, [box.infos[one][2:] for one in found])
    np.testing.assert_array_equal(box.buffers["token_info_buf"].numpy(), box.cleared(found))

everyone = [(s, b) for s in range(4) for b in range(3)]
case(everyone, 4, 1, ([(s, 1) for s in range(4)], 2))  # all sessions of the next batch
case(everyone, 2, 2, ([(s, 2) for s in range(4)], 0))  # groups that are there
case([(0, 0), (2, 1), (3, 1)], 2, 0, ([(2, 1), (3, 1)], 2))  # one whole group
case([(1, 0), (3, 2)], 1, 1, ([(3, 2)], 0))  # the first batch from the cursor on
for changes, group, text in (
    ({}, 3, "syncGroupSize is 3"), ({}, 5, "syncGroupSize is 5"),
    ({"token_info_buf": (0, 1 << 20)}, 4, "token_info_buf"),
    ({"layer_ids_buf": (0, 1 << 20)}, 4, "layer_ids_buf"),
):
    try:
        with ap.Device(0).create_stream():
            box = Inbox(4, 3, 2, 2, 8)
            box.infos[:, :, 0] = 1
            schedule(box.place(**changes), group, 0)
            ap.Device(0).synchronize()
        print("no fault", text)
    except ap.errors.StatusError as error:
        assert text in str(error), error
context = Inbox(4, 3, 2, 2, 8).place(run_flag=0)
schedule(context, 4, 0)
ap.Device(0).synchronize()
for position, wrong in ((0, ap.zeros((1000,), np.int8)), (1, 0), (2, 1)):
    given = [context, 4, 0]
    given[position] = wrong
    try:
        schedule(*given)
        print("accepted", position)
    except ap.errors.AclnnError as error:
        assert error.status == 161002
print("done")
"""


@pytest.mark.parametrize("chip", ["Ascend910_9392", "Ascend950PR_9599"])
def test_the_scheduler_takes_whole_groups(chip: str) -> None:
    made = run_script(SCHEDULER, env={"ACLNN_PY_EMULATOR_SOC": chip})
    assert made.check().out.split() == ["done"]


def test_a_910b_has_no_scheduler() -> None:
    context = place(np.zeros(1024, np.int8))
    assert refusal("aclnnInplaceFfnWorkerScheduler", context, 1, 0) == 561003
