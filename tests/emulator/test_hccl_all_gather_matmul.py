# SPDX-License-Identifier: Apache-2.0
"""aclnnAllGatherMatmul: worked examples, codes, random data, and ranks that do not agree."""

from __future__ import annotations

import ctypes as ct
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hccl_ranks import ACL_DTYPES, REMOTE, Array, CallError, Rank, close_jobs, job

SHAPES = [
    (2, "process"),
    (4, "process"),
    (8, "process"),
    (2, "thread"),
    (4, "thread"),
    (8, "thread"),
]
KINDS = {"fp16": np.float16, "bf16": ml_dtypes.bfloat16}


@pytest.fixture(scope="module", autouse=True)
def _end_jobs() -> Iterator[None]:
    yield
    close_jobs()


@pytest.fixture(params=SHAPES, ids=[f"{n}-{mode}" for n, mode in SHAPES])
def ranks(request: pytest.FixtureRequest) -> Any:
    return job(*request.param)


class Tensor:
    """An aclTensor over device memory; `transposed` views the storage with swapped dimensions."""

    def __init__(
        self,
        rank: Rank,
        array: Array,
        transposed: bool = False,
        strides: tuple[int, ...] | None = None,
        shape: tuple[int, ...] | None = None,
        fmt: int = 2,
        offset: int = 0,
    ) -> None:
        lib = rank.lib.dll
        lib.aclCreateTensor.restype = ct.c_void_p
        self.rank, self.storage = rank, array
        self.buffer = rank.put(array) if array.size else None
        shape = shape or (tuple(reversed(array.shape)) if transposed else array.shape)
        if strides is None and transposed:
            strides = (1, array.shape[1])
        dims = (ct.c_int64 * max(len(shape), 1))(*shape)
        steps = (ct.c_int64 * len(strides))(*strides) if strides else None
        stored = (ct.c_int64 * 1)(array.size)
        self.handle = ct.c_void_p(
            lib.aclCreateTensor(
                dims,
                ct.c_uint64(len(shape)),
                ct.c_int(ACL_DTYPES[array.dtype.name]),
                steps,
                ct.c_int64(offset),
                ct.c_int(fmt),
                stored,
                ct.c_uint64(1),
                self.buffer,
            )
        )
        assert self.handle

    def read(self) -> Array:
        return self.rank.get(self.buffer, self.storage.shape, self.storage.dtype)

    def destroy(self) -> None:
        self.rank.lib("aclDestroyTensor", self.handle)


def handle(tensor: Tensor | None) -> Any:
    return tensor.handle if tensor is not None else None


def phase_one(
    rank: Rank,
    x1: Any,
    x2: Any,
    bias: Any,
    output: Any,
    gather: Any,
    group: bytes | None = b"",
    index: int = 0,
    turn: int = 0,
    mode: int = 1,
) -> tuple[int, int, Any]:
    size, executor = ct.c_uint64(12345), ct.c_void_p()
    name = rank.name().encode() if group == b"" else group
    status = rank.lib.status(
        "aclnnAllGatherMatmulGetWorkspaceSize",
        handle(x1),
        handle(x2),
        handle(bias),
        name,
        index,
        turn,
        mode,
        handle(output),
        handle(gather),
        ct.byref(size),
        ct.byref(executor),
    )
    return status, size.value, executor


def run(
    rank: Rank,
    x1: Tensor,
    x2: Tensor,
    output: Tensor,
    gather: Tensor | None,
    bias: Tensor | None = None,
) -> None:
    status, size, executor = phase_one(rank, x1, x2, bias, output, gather)
    assert status == 0, rank.lib.message()
    assert size > 0
    workspace = rank.empty(size)
    rank.lib("aclnnAllGatherMatmul", workspace, size, executor, rank.stream)
    # the program destroys its tensors while the work is queued
    for tensor in (x1, x2, output, gather, bias):
        if tensor is not None:
            tensor.destroy()
    rank.sync()


def gen(shape: tuple[int, ...], mul: int, add: int, mod: int, off: int) -> Array:
    t = np.arange(int(np.prod(shape)))
    return ((mul * t + add) % mod - off).reshape(shape)


def worked_examples(rank: Rank, kind_name: str) -> None:
    kind, r = KINDS[kind_name], rank.rank
    # AGM-1: x2 is the rank's own
    x1 = np.stack([np.full(256, (2 * r + i + 1) / 16) for i in range(2)]).astype(kind)
    x2 = np.stack([np.full(256, (c + 1 + 10 * r) / 16) for c in range(3)], 1).astype(kind)
    output = Tensor(rank, np.zeros((4, 3), kind))
    gather = Tensor(rank, np.zeros((4, 256), kind))
    run(rank, Tensor(rank, x1), Tensor(rank, x2), output, gather)
    columns = [[1, 2, 3], [11, 12, 13]][r]
    expected = np.outer([1, 2, 3, 4], columns)
    np.testing.assert_array_equal(output.read().astype(float), expected)
    np.testing.assert_array_equal(
        gather.read().astype(float), np.repeat(np.arange(1, 5)[:, None] / 16, 256, 1)
    )
    # AGM-4: without the gathered matrix, as an empty tensor and as null
    for absent in (Tensor(rank, np.zeros((0,), kind)), None):
        output = Tensor(rank, np.zeros((4, 3), kind))
        run(rank, Tensor(rank, x1), Tensor(rank, x2), output, absent)
        np.testing.assert_array_equal(output.read().astype(float), expected)
    # AGM-2: transposed view of x2
    x1 = gen((3, 256), 7, 3 + 5 * r, 11, 5).astype(kind)
    storage = gen((4, 256), 5, 1, 9, 4).astype(kind)
    output = Tensor(rank, np.zeros((6, 4), kind))
    gather = Tensor(rank, np.zeros((6, 256), kind))
    run(rank, Tensor(rank, x1), Tensor(rank, storage, transposed=True), output, gather)
    expected = [
        [-12, -31, -5, 21],
        [-67, 25, 63, -7],
        [43, 48, -1, -68],
        [-12, -36, -15, 51],
        [21, 31, -13, -21],
        [43, -34, -66, 28],
    ]
    np.testing.assert_array_equal(output.read().astype(float), expected)
    # AGM-3: one rounding, from an fp32 sum
    x2 = np.full((256, 4), 8.0)
    x2[0] = [9, 10, 11, 2048]
    x2[1:, 3] = 1
    output = Tensor(rank, np.zeros((2, 4), kind))
    run(rank, Tensor(rank, np.ones((1, 256), kind)), Tensor(rank, x2.astype(kind)), output, None)
    rounded = {"fp16": [2048, 2050, 2052, 2304], "bf16": [2048, 2048, 2048, 2304]}[kind_name]
    np.testing.assert_array_equal(output.read().astype(float), [rounded] * 2)


@pytest.mark.parametrize("mode", ["process", "thread"])
@pytest.mark.parametrize("kind", KINDS)
def test_worked_examples(mode: str, kind: str) -> None:
    job(2, mode).run(worked_examples, kind)


def random_work(
    rank: Rank, kind_name: str, transposed: bool, with_gather: bool, m: int, k: int, n: int
) -> tuple[bytes, bytes]:
    kind, rng = KINDS[kind_name], np.random.default_rng(7)
    lefts = [(rng.standard_normal((m, k)) / 8).astype(kind) for _ in range(rank.ranks)]
    rights = [rng.standard_normal((k, n)).astype(kind) for _ in range(rank.ranks)]
    mine = rights[rank.rank]
    x2 = (
        Tensor(rank, np.ascontiguousarray(mine.T), transposed=True)
        if transposed
        else Tensor(rank, mine)
    )
    output = Tensor(rank, np.full((m * rank.ranks, n), 7, kind))
    gather = (
        Tensor(rank, np.zeros((m * rank.ranks, k), kind))
        if with_gather
        else Tensor(rank, np.zeros((0,), kind))
    )
    run(rank, Tensor(rank, lefts[rank.rank]), x2, output, gather)
    everyone = np.concatenate(lefts)
    expected = everyone.astype(np.float64) @ mine.astype(np.float64)
    result = output.read()
    limit = 1e-3 if kind_name == "fp16" else 8e-3
    scale = np.abs(everyone.astype(np.float64)) @ np.abs(mine.astype(np.float64))
    error = np.abs(result.astype(np.float64) - expected)
    assert (error <= limit * np.abs(expected) + 1e-5 * scale).all(), f"largest error {error.max()}"
    if with_gather:
        assert gather.read().tobytes() == everyone.tobytes(), "gatherOut is not a bit copy"
    return result.tobytes(), b""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("transposed", [False, True], ids=["plain", "transposed"])
def test_random_data(ranks: Any, kind: str, transposed: bool) -> None:
    for with_gather, shape in [
        (True, (5, 300, 17)),
        (False, (16, 256, 32)),
        (True, (130, 1100, 3)),
    ]:
        ranks.run(random_work, kind, transposed, with_gather, *shape)


def test_processes_and_threads_give_the_same_bits() -> None:
    arguments = ("bf16", False, True, 33, 513, 40)
    assert job(4, "process").run(random_work, *arguments) == job(4, "thread").run(
        random_work, *arguments
    )


def strided_work(rank: Rank) -> None:
    """Merely strided x1, x2 with gaps, and strided outputs."""
    m, k, n, kind = 3, 260, 5, np.float16
    rng = np.random.default_rng(3)
    lefts = [rng.integers(-3, 4, (m, k)).astype(kind) for _ in range(rank.ranks)]
    right = rng.integers(-3, 4, (k, n)).astype(kind)
    wide = np.zeros((m, k + 9), kind)
    wide[:, 2 : k + 2] = lefts[rank.rank]
    sparse = np.zeros((k, 2 * n + 1), kind)
    sparse[:, 1::2] = right
    x1 = Tensor(rank, wide, shape=(m, k), strides=(k + 9, 1), offset=2)
    x2 = Tensor(rank, sparse, shape=(k, n), strides=(2 * n + 1, 2), offset=1)
    rows = m * rank.ranks
    output = Tensor(rank, np.full((rows, n + 4), 9, kind), shape=(rows, n), strides=(n + 4, 1))
    gather = Tensor(rank, np.full((rows, k + 6), 9, kind), shape=(rows, k), strides=(k + 6, 1))
    run(rank, x1, x2, output, gather)
    everyone = np.concatenate(lefts)
    result, gathered = output.read(), gather.read()
    np.testing.assert_array_equal(
        result[:, :n].astype(float), everyone.astype(float) @ right.astype(float)
    )
    assert (result[:, n:] == 9).all()
    np.testing.assert_array_equal(gathered[:, :k], everyone)
    assert (gathered[:, k:] == 9).all()


@pytest.mark.parametrize("mode", ["process", "thread"])
def test_strided_tensors(mode: str) -> None:
    job(2, mode).run(strided_work)


def codes_work(rank: Rank) -> None:
    f16, bf16 = np.float16, ml_dtypes.bfloat16

    def code(
        x1: Any, x2: Any, out: Any, gather: Any = None, bias: Any = None, **options: Any
    ) -> tuple[int, int, str]:
        status, size, executor = phase_one(rank, x1, x2, bias, out, gather, **options)
        if status == 0:
            rank.lib("aclDestroyAclOpExecutor", executor)
        return status, size, rank.lib.message()

    def t(*shape: int, kind: Any = f16, **options: Any) -> Tensor:
        return Tensor(rank, np.zeros(shape, kind), **options)

    r = rank.ranks
    good = (t(2, 256), t(256, 3), t(2 * r, 3))
    assert code(*good)[0] == 0
    assert code(*good, gather=t(2 * r, 256))[0] == 0
    assert code(*good, bias=t(3))[0] == 0
    # nulls come first, then dtypes, then streamMode
    assert code(None, good[1], good[2])[0] == 161001
    assert code(good[0], None, good[2])[0] == 161001
    assert code(good[0], good[1], None)[0] == 161001
    assert code(None, t(256, 3, kind=bf16), good[2], mode=0)[0] == 161001
    assert code(good[0], t(256, 3, kind=bf16), good[2])[0] == 161002
    assert (
        code(t(2, 256, kind=np.float32), t(256, 3, kind=np.float32), t(2 * r, 3, kind=np.float32))[
            0
        ]
        == 161002
    )
    assert code(good[0], good[1], t(2 * r, 3, kind=bf16))[0] == 161002
    assert code(*good, bias=t(3, kind=bf16))[0] == 161002
    status, _, text = code(*good, mode=0)
    assert status == 161002
    assert "streamMode" in text
    # k
    assert code(t(2, 255), t(255, 3), good[2])[0] == 161002
    assert code(t(1, 65535), t(65535, 3), t(r, 3))[0] == 161002
    assert code(t(1, 65534), t(65534, 3), t(r, 3))[0] == 0
    assert code(good[0], t(257, 3), good[2])[0] == 161002
    assert code(t(2, 0), t(0, 3), good[2])[0] == 161002
    # shapes
    assert code(t(2, 256, 1), good[1], good[2])[0] == 161002
    assert code(good[0], t(256), good[2])[0] == 161002
    assert code(good[0], good[1], t(2 * r, 4))[0] == 161002
    assert code(good[0], good[1], t(2 * r + 1, 3))[0] == 161002
    assert code(*good, gather=t(2 * r, 257))[0] == 161002
    assert code(*good, gather=t(2 * r + 1, 256))[0] == 161002
    status, _, text = code(t(256, 2, transposed=True), good[1], good[2])
    assert status == 161002
    assert "transposed" in text
    # nothing to do: success without a workspace, whatever the rest is
    assert code(t(0, 256), good[1], good[2])[:2] == (0, 0)
    assert code(t(0, 256), good[1], good[2], index=1, group=b"no such group")[:2] == (0, 0)
    # the second line of checks
    status, _, text = code(*good, group=b"no such group")
    assert status == 361001
    assert "no such group" in text
    assert code(*good, group=None)[0] == 561002
    assert code(*good, index=1)[0] == 561002
    assert code(*good, turn=1)[0] == 561002
    assert code(good[0], t(256, 3, fmt=29), good[2])[0] == 561002
    # both lines broken: the first answers
    assert code(good[0], t(256, 3, kind=bf16), good[2], turn=1)[0] == 161002


@pytest.mark.parametrize("mode", ["process", "thread"])
def test_codes(mode: str) -> None:
    job(2, mode).run(codes_work)


def unsupported_size_work(rank: Rank) -> str:
    x1, x2 = (
        Tensor(rank, np.zeros((2, 256), np.float16)),
        Tensor(rank, np.zeros((256, 3), np.float16)),
    )
    output = Tensor(rank, np.zeros((2 * rank.ranks, 3), np.float16))
    assert phase_one(rank, x1, x2, None, output, None)[0] == 561002
    return rank.lib.message()


@pytest.mark.parametrize("mode", ["process", "thread"])
def test_three_ranks_are_refused(mode: str) -> None:
    for text in job(3, mode).run(unsupported_size_work):
        assert "3 ranks" in text
        assert "2, 4 or 8" in text


def empty_columns_work(rank: Rank) -> None:
    """n = 0: the gathered matrix is still produced."""
    x1 = np.full((2, 256), rank.rank + 1, np.float16)
    gather = Tensor(rank, np.zeros((2 * rank.ranks, 256), np.float16))
    run(
        rank,
        Tensor(rank, x1),
        Tensor(rank, np.zeros((256, 0), np.float16)),
        Tensor(rank, np.zeros((2 * rank.ranks, 0), np.float16)),
        gather,
    )
    np.testing.assert_array_equal(gather.read()[:, 0], np.repeat(np.arange(1, rank.ranks + 1), 2))


def test_no_columns_still_gathers() -> None:
    job(2, "process").run(empty_columns_work)


def silent_success_work(rank: Rank) -> None:
    """Phase two with no workspace succeeds and does nothing, as on the device."""
    for give in ("null", "zero"):
        x1, x2 = (
            Tensor(rank, np.ones((2, 256), np.float16)),
            Tensor(rank, np.ones((256, 3), np.float16)),
        )
        output = Tensor(rank, np.full((2 * rank.ranks, 3), 5, np.float16))
        status, size, executor = phase_one(rank, x1, x2, None, output, None)
        assert status == 0
        workspace = None if give == "null" else rank.empty(size)
        rank.lib(
            "aclnnAllGatherMatmul", workspace, size if give == "null" else 0, executor, rank.stream
        )
        rank.sync()
        assert (output.read() == 5).all()
    # too small is refused, and reads as the family's one code
    status, size, executor = phase_one(rank, x1, x2, None, output, None)
    assert (
        rank.lib.status("aclnnAllGatherMatmul", rank.empty(size), size - 1, executor, rank.stream)
        == 561000
    )


def test_phase_two_without_a_workspace() -> None:
    job(2, "process").run(silent_success_work)


def mismatch_work(rank: Rank, case: str) -> tuple[int, str]:
    odd = rank.rank == 1
    m, k, n, kind = 2, 256, 3, np.float16
    if case == "m" and odd:
        m = 4
    if case == "k" and odd:
        k = 512
    if case == "dtype" and odd:
        kind = ml_dtypes.bfloat16
    try:
        if case == "operator" and odd:
            buf = rank.put(np.zeros(16, np.float32))
            rank.call("HcclAllReduce", buf, buf, 4, 4, 0)
            rank.sync()
        else:
            output = Tensor(rank, np.zeros((m * rank.ranks, n), kind))
            run(
                rank,
                Tensor(rank, np.zeros((m, k), kind)),
                Tensor(rank, np.zeros((k, n), kind)),
                output,
                None,
            )
    except CallError as error:
        assert rank.async_error() == REMOTE
        return error.status, error.text
    raise AssertionError("no failure")


@pytest.mark.parametrize("mode", ["process", "thread"])
@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("m", ["m=2", "m=4"]),
        ("k", ["k=256", "k=512"]),
        ("dtype", ["dtype=FLOAT16", "dtype=BFLOAT16"]),
        ("operator", ["HcclAllReduce(count=4"]),
    ],
)
def test_ranks_that_disagree(mode: str, case: str, words: list[str]) -> None:
    for status, text in job(2, mode).run(mismatch_work, case, timeout_s=60):
        assert status == 507049
        for word in ["EI0005", "rank 1", "aclnnAllGatherMatmul(", *words]:
            assert word in text, text


def bias_work(rank: Rank, value: float) -> str:
    x1, x2 = (
        Tensor(rank, np.ones((2, 256), np.float16)),
        Tensor(rank, np.ones((256, 3), np.float16)),
    )
    output = Tensor(rank, np.zeros((2 * rank.ranks, 3), np.float16))
    try:
        run(rank, x1, x2, output, None, bias=Tensor(rank, np.array([0, value, 0], np.float16)))
    except CallError as error:
        return error.text
    assert (output.read() == 256).all()
    return ""


def test_bias_may_only_be_zero() -> None:
    assert job(2, "process").run(bias_work, 0.0) == ["", ""]
    for text in job(2, "process").run(bias_work, 1.0):
        assert "bias" in text


def repeat_work(rank: Rank) -> None:
    """A repeatable executor runs many times, on data that change between the runs."""
    x1, x2 = (
        Tensor(rank, np.ones((2, 256), np.float16)),
        Tensor(rank, np.ones((256, 3), np.float16)),
    )
    output = Tensor(rank, np.zeros((2 * rank.ranks, 3), np.float16))
    status, size, executor = phase_one(rank, x1, x2, None, output, None)
    assert status == 0
    rank.lib("aclSetAclOpExecutorRepeatable", executor)
    workspace = rank.empty(size)
    for i in range(3):
        host = np.full((2, 256), i + rank.rank, np.float16)
        rank.lib(
            "aclrtMemcpy", x1.buffer, host.nbytes, host.ctypes.data_as(ct.c_void_p), host.nbytes, 1
        )
        rank.lib("aclnnAllGatherMatmul", workspace, size, executor, rank.stream)
        rank.sync()
        np.testing.assert_array_equal(
            output.read()[:, 0], np.repeat((np.arange(rank.ranks) + i) * 256, 2)
        )
    rank.lib("aclDestroyAclOpExecutor", executor)


def new_outputs_work(rank: Rank, anew: bool) -> None:
    """Each run writes to outputs of its own: 3 and 4, behind x1, x2 and a bias that is null."""
    n, host = rank.ranks, np.ones((2, 256), np.float16)
    x1, x2 = Tensor(rank, host), Tensor(rank, np.ones((256, 3), np.float16))

    def outputs() -> tuple[Tensor, Tensor]:
        return (
            Tensor(rank, np.zeros((2 * n, 3), np.float16)),
            Tensor(rank, np.zeros((2 * n, 256), np.float16)),
        )

    first = outputs()
    status, size, executor = phase_one(rank, x1, x2, None, *first)
    assert status == 0
    rank.lib("aclSetAclOpExecutorRepeatable", executor)
    workspace = rank.empty(size)
    kept = [first]
    for i in range(3):
        if i > 0:
            kept.append(outputs())
            for position, tensor, original in zip((3, 4), kept[-1], first, strict=True):
                given = tensor.handle if anew else original.handle
                rank.lib("aclSetTensorAddr", executor, ct.c_size_t(position), given, tensor.buffer)
        host = np.full((2, 256), i + rank.rank, np.float16)
        data = host.ctypes.data_as(ct.c_void_p)
        rank.lib("aclrtMemcpy", x1.buffer, host.nbytes, data, host.nbytes, 1)
        rank.lib("aclnnAllGatherMatmul", workspace, size, executor, rank.stream)
        rank.sync()
    for i, (output, gather) in enumerate(kept):
        rows = np.repeat(np.arange(n) + i, 2)
        np.testing.assert_array_equal(gather.read(), np.repeat(rows[:, None], 256, 1))
        np.testing.assert_array_equal(output.read(), np.repeat(256 * rows[:, None], 3, 1))
    status = rank.lib.status(
        "aclSetTensorAddr", executor, ct.c_size_t(2), kept[-1][0].handle, kept[-1][0].buffer
    )
    assert status == 161002  # the bias was null
    rank.lib("aclDestroyAclOpExecutor", executor)


@pytest.mark.parametrize("anew", [False, True], ids=["its tensors", "tensors made anew"])
def test_each_run_of_a_repeatable_executor_may_have_outputs_of_its_own(anew: bool) -> None:
    job(2, "thread").run(new_outputs_work, anew)


def test_repeatable_executor() -> None:
    job(2, "thread").run(repeat_work)
