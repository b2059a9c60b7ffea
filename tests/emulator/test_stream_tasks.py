# SPDX-License-Identifier: Apache-2.0
"""Tasks of a stream that are no operators: reductions and random numbers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py._ffi import C, ffi

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="numbers and refusals of the emulator"),
]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
ACL = {
    "float32": 0,
    "float16": 1,
    "int8": 2,
    "int32": 3,
    "int16": 6,
    "uint32": 8,
    "int64": 9,
    "uint64": 10,
    "bfloat16": 27,
    "float64": 11,
    "uint8": 4,
}
SUM, MAX, MIN, EQUAL = 10, 11, 12, 13
INVALID, REFUSED, UNALIGNED, NOT_SUPPORTED, GONE = 100000, 107000, 107008, 207000, 507012
UNIFORM, NORMAL, MASK = 1, 2, 0


def pointer(tensor: ap.Tensor, offset: int = 0) -> Any:
    return ffi.cast("void *", tensor.address + offset)


def stream() -> Any:
    return ap.current_stream().raw


def reduce_onto(dst: ap.Tensor, src: ap.Tensor, kind: int, dtype: Any, nbytes: int) -> int:
    code = C.aclrtReduceAsync(
        pointer(dst), pointer(src), nbytes, kind, ACL[np.dtype(dtype).name], stream(), ffi.NULL
    )
    ap.synchronize()
    return int(code)


@pytest.mark.parametrize("kind", [SUM, MAX, MIN])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.float16, np.float32, BFLOAT16])
@pytest.mark.parametrize("count", [7, 33, 20000])
def test_reduction(kind: int, dtype: Any, count: int) -> None:
    rng = np.random.default_rng(count)
    low, high = (-60, 60) if np.dtype(dtype).itemsize == 1 else (-2000, 2000)
    first, second = (rng.integers(low, high, count).astype(dtype) for _ in range(2))
    dst, src = ap.from_numpy(first), ap.from_numpy(second)
    assert reduce_onto(dst, src, kind, dtype, first.nbytes) == 0
    wide = [x.astype(np.float64) for x in (first, second)]
    exact = {SUM: np.add, MAX: np.maximum, MIN: np.minimum}[kind](*wide)
    np.testing.assert_array_equal(
        dst.numpy().astype(np.float64), exact.astype(dtype).astype(np.float64)
    )
    np.testing.assert_array_equal(src.numpy().astype(np.float64), wide[1])


def test_reduction_is_a_task_of_the_stream() -> None:
    """It is captured, and every replay reduces once more."""
    total, step = ap.from_numpy(np.zeros(8, np.float32)), ap.from_numpy(np.full(8, 3, np.float32))
    graph = ap.Graph()
    with graph.capture() as recorded:
        code = C.aclrtReduceAsync(
            pointer(total), pointer(step), 32, SUM, ACL["float32"], recorded.raw, ffi.NULL
        )
    assert code == 0
    np.testing.assert_array_equal(total.numpy(), 0)
    for _ in range(4):
        graph.replay()
    ap.synchronize()
    np.testing.assert_array_equal(total.numpy(), 12)


def test_reduction_refusals() -> None:
    dst, src = (ap.from_numpy(np.zeros(8, np.float32)) for _ in range(2))
    host = ffi.new("float[8]")

    def call(**changed: Any) -> int:
        given = {
            "dst": pointer(dst),
            "src": pointer(src),
            "count": 32,
            "kind": SUM,
            "type": ACL["float32"],
            "stream": stream(),
            "reserve": ffi.NULL,
        }
        return int(C.aclrtReduceAsync(*(given | changed).values()))

    assert call() == 0
    for name in ("dst", "src"):
        assert call(**{name: ffi.NULL}) == INVALID
        assert call(**{name: host}) == REFUSED
    assert call(reserve=host) == INVALID
    assert call(kind=EQUAL) == NOT_SUPPORTED
    assert call(kind=99) == NOT_SUPPORTED
    for dtype in ("float64", "int64", "uint8", "uint32"):
        assert call(type=ACL[dtype]) == NOT_SUPPORTED
    for count in (0, 30, 2**63):
        assert call(count=count) == REFUSED
    assert call(dst=pointer(dst, 1), count=16) == UNALIGNED
    assert call(count=1 << 40) == REFUSED
    if ap.device_count() > 1:
        with ap.Device(1):
            other = ap.from_numpy(np.zeros(8, np.float32))
        with ap.current_stream().device.as_active():
            assert call(src=pointer(other)) == REFUSED
    ap.synchronize()


def parameter(dtype: Any, value: float, address: ap.Tensor | None = None) -> bytes:
    """A value in the memory of aclrtRandomParaInfo: flag, eight bytes, size, six of reserve."""
    raw = np.array([value], dtype).tobytes()
    size = len(raw)
    if address is not None:
        raw = int(address.address).to_bytes(8, "little")
    return bytes([address is not None]) + raw.ljust(8, b"\0") + bytes([size]) + bytes(6)


def task(
    out: ap.Tensor,
    counter: ap.Tensor,
    function: int,
    dtype: Any,
    values: tuple[float, float],
    seed: int,
    count: int,
    addresses: tuple[ap.Tensor, ap.Tensor] | None = None,
) -> Any:
    info = ffi.new("aclrtRandomNumTaskInfo *")
    info.dataType = ACL[np.dtype(dtype).name]
    info.randomNumFuncParaInfo.funcType = function
    chosen = info.randomNumFuncParaInfo.paramInfo.uniformDisInfo  # both have two values alike
    places = addresses or (None, None)
    for target, value, place in zip((chosen.min, chosen.max), values, places, strict=True):
        ffi.memmove(ffi.addressof(target), parameter(dtype, value, place), 16)
    info.randomResultAddr = pointer(out)
    info.randomCounterAddr = pointer(counter)
    ffi.memmove(ffi.addressof(info.randomSeed), parameter(np.uint64, seed), 16)
    ffi.memmove(ffi.addressof(info.randomNum), parameter(np.uint64, count), 16)
    return info


def counter_at(low: int, high: int = 0) -> ap.Tensor:
    return ap.from_numpy(np.array([low, high], np.uint64).view(np.int64))


def draw(
    function: int, dtype: Any, values: tuple[float, float], *, seed: int = 5, at: int = 0, n: int
) -> np.ndarray:
    out = ap.from_numpy(np.full(n + 4, 77, np.float64).astype(dtype))
    counter = counter_at(at)
    info = task(out, counter, function, dtype, values, seed, n)
    assert C.aclrtRandomNumAsync(info, stream(), ffi.NULL) == 0
    ffi.memmove(info, bytes(ffi.sizeof("aclrtRandomNumTaskInfo")), 16)  # the caller's own by now
    ap.synchronize()
    whole = out.numpy()
    np.testing.assert_array_equal(whole[n:].astype(np.float64), 77)
    return whole[:n]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, BFLOAT16])
def test_uniform_numbers(dtype: Any) -> None:
    drawn = draw(UNIFORM, dtype, (-2, 6), n=40000).astype(np.float64)
    assert drawn.min() >= -2
    assert drawn.max() < 6
    assert abs(drawn.mean() - 2) < 0.1
    assert abs(drawn.std() - 8 / np.sqrt(12)) < 0.1


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
def test_uniform_whole_numbers(dtype: Any) -> None:
    drawn = draw(UNIFORM, dtype, (3, 13), n=20000)
    values, counts = np.unique(drawn, return_counts=True)
    np.testing.assert_array_equal(values.astype(np.int64), np.arange(3, 13))
    assert abs(counts - 2000).max() < 300
    if np.dtype(dtype).kind == "i":
        assert set(draw(UNIFORM, dtype, (-2, 1), n=500)) == {-2, -1, 0}


def test_whole_numbers_of_the_widest_range() -> None:
    drawn = draw(UNIFORM, np.int64, (-(2**62), 2**62), n=4000).astype(np.float64)
    assert abs(drawn.mean()) < 2**62 * 0.05
    assert len(np.unique(drawn)) > 3990


@pytest.mark.parametrize("dtype", [np.float32, np.float16, BFLOAT16])
def test_normal_numbers(dtype: Any) -> None:
    drawn = draw(NORMAL, dtype, (3, 2), n=40000).astype(np.float64)
    assert abs(drawn.mean() - 3) < 0.06
    assert abs(drawn.std() - 2) < 0.06
    within = np.mean(np.abs(drawn - 3) < 2)
    assert abs(within - 0.6827) < 0.02


def test_seed_and_counter_say_which_numbers() -> None:
    base = draw(UNIFORM, np.float32, (0, 1), n=64)
    np.testing.assert_array_equal(base, draw(UNIFORM, np.float32, (0, 1), n=64))
    assert (base != draw(UNIFORM, np.float32, (0, 1), seed=6, n=64)).all()
    np.testing.assert_array_equal(base[16:], draw(UNIFORM, np.float32, (0, 1), at=16, n=48))
    out, far = ap.from_numpy(np.zeros(64, np.float32)), counter_at(0, 1)
    info = task(out, far, UNIFORM, np.float32, (0, 1), 5, 64)
    assert C.aclrtRandomNumAsync(info, stream(), ffi.NULL) == 0
    ap.synchronize()
    assert (base != out.numpy()).any()


def test_values_may_lie_on_the_device() -> None:
    """They are read when the stream gets there."""
    low, high = (ap.from_numpy(np.array([v], np.float32)) for v in (10.0, 11.0))
    out, counter = ap.from_numpy(np.zeros(100, np.float32)), counter_at(0)
    info = task(out, counter, UNIFORM, np.float32, (0, 0), 1, 100, (low, high))
    assert C.aclrtRandomNumAsync(info, stream(), ffi.NULL) == 0
    ap.synchronize()
    assert out.numpy().min() >= 10
    assert out.numpy().max() < 11


def test_random_refusals() -> None:
    out, counter = ap.from_numpy(np.zeros(8, np.float32)), counter_at(0)
    host = ffi.new("char[64]")

    def fresh(function: int = UNIFORM, dtype: Any = np.float32, count: int = 8) -> Any:
        return task(out, counter, function, dtype, (0, 1), 1, count)

    def call(info: Any, reserve: Any = ffi.NULL) -> int:
        return int(C.aclrtRandomNumAsync(info, stream(), reserve))

    assert call(ffi.NULL) == INVALID
    assert call(fresh(), host) == INVALID
    assert call(fresh(MASK)) == NOT_SUPPORTED
    assert call(fresh(3)) == NOT_SUPPORTED
    assert call(fresh(dtype=np.float64)) == NOT_SUPPORTED
    assert call(fresh(NORMAL, np.int32)) == NOT_SUPPORTED
    for name, code in (("randomResultAddr", INVALID), ("randomCounterAddr", INVALID)):
        info = fresh()
        setattr(info, name, ffi.NULL)
        assert call(info) == code
        setattr(info, name, host)
        assert call(info) == REFUSED
    info = fresh()
    info.randomParaAddr = host
    assert call(info) == REFUSED
    for name in ("randomSeed", "randomNum"):
        info = fresh()
        getattr(info, name).size = 4
        assert call(info) == REFUSED
        info = fresh()
        getattr(info, name).isAddr = 1
        assert call(info) == REFUSED
    info = fresh()
    info.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max.size = 8
    assert call(info) == REFUSED


@pytest.mark.parametrize(
    ("values", "count", "function"),
    [
        ((1, 1), 8, UNIFORM),
        ((np.nan, 1), 8, UNIFORM),
        ((0, -1), 8, NORMAL),
        ((0, 1), 2**61, UNIFORM),
    ],
)
def test_what_only_the_stream_can_refuse(
    values: tuple[float, float], count: int, function: int
) -> None:
    out, counter = ap.from_numpy(np.zeros(8, np.float32)), counter_at(0)
    info = task(out, counter, function, np.float32, values, 1, count)
    assert C.aclrtRandomNumAsync(info, stream(), ffi.NULL) == 0
    with pytest.raises(ap.errors.AclError, match="aclrtRandomNumAsync"):
        ap.synchronize()
