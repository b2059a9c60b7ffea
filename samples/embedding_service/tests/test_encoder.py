# SPDX-License-Identifier: Apache-2.0
"""The encoder of the embedding service, with small random weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from encoder import Encoder, Shape, all_shapes, embed_all
from model import Model
from reference import NumpyEncoder, erf
from weights import shard

import aclnn_py as ap
from aclnn_py.errors import DeviceError
from aclnn_py.memory.allocator import device_allocator

DTYPES = {np.float32: 0.99999, np.float16: 0.999, ml_dtypes.bfloat16: 0.99}
SHAPES = [Shape(1, 8), Shape(4, 8), Shape(1, 16), Shape(1, 32), Shape(4, 32)]


@contextmanager
def opened(tiny: Any, dtype: Any = np.float32, capture: bool = True) -> Iterator[Encoder]:
    config, arrays = tiny
    encoder = Encoder(Model(shard(arrays, config), dtype), SHAPES, capture=capture)
    try:
        yield encoder
    finally:
        encoder.close()


def without_padding(tiny: Any, rows: list[list[int]]) -> np.ndarray:
    config, arrays = tiny
    return NumpyEncoder(arrays, config).embed_each(rows)


def test_the_error_function_of_the_reference() -> None:
    import math

    x = np.linspace(-5, 5, 501, dtype=np.float32)
    np.testing.assert_allclose(erf(x), [math.erf(float(value)) for value in x], atol=5e-7)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("capture", [True, False], ids=["captured", "launched"])
def test_vectors_are_those_of_numpy(
    device: ap.Device, tiny: Any, rows: list[list[int]], dtype: Any, capture: bool
) -> None:
    with opened(tiny, dtype, capture) as encoder:
        vectors = embed_all(encoder, rows)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    assert (vectors * without_padding(tiny, rows)).sum(axis=1).min() >= DTYPES[dtype]


def test_capture_changes_no_bit(device: ap.Device, tiny: Any, rows: list[list[int]]) -> None:
    with opened(tiny) as captured, opened(tiny, capture=False) as launched:
        np.testing.assert_array_equal(embed_all(captured, rows), embed_all(launched, rows))


def test_a_vector_does_not_depend_on_its_bucket(device: ap.Device, tiny: Any) -> None:
    with opened(tiny) as encoder:
        text = [4, 9, 2, 7]
        alone = encoder.embed([text], Shape(1, 8))
        crowded = encoder.embed([[5] * 30, text], Shape(4, 32))
    np.testing.assert_allclose(crowded[1], alone[0], atol=2e-6)


@pytest.mark.parametrize("capture", [True, False], ids=["captured", "launched"])
def test_requests_take_no_device_memory(
    device: ap.Device,
    tiny: Any,
    rows: list[list[int]],
    capture: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(device_allocator(device), "caching", True)
    with opened(tiny, capture=capture) as encoder:
        before = ap.memory_stats()
        for _ in range(3):
            embed_all(encoder, rows)
        after = ap.memory_stats()
    if capture:  # a replay does not even ask the allocator
        assert (after.hits, after.misses) == (before.hits, before.misses)
    assert after.raw_allocations == before.raw_allocations
    assert after.allocated_nbytes == before.allocated_nbytes


def test_the_next_batch_is_staged_while_one_computes(device: ap.Device, tiny: Any) -> None:
    batches = [[[number, 3, 5]] for number in range(6)]
    found = []
    with opened(tiny) as encoder:
        staged = encoder.stage(batches[0])
        for number in range(len(batches)):
            encoder.launch(staged)
            if number + 1 < len(batches):
                staged = encoder.stage(batches[number + 1])
            found.append(encoder.collect()[0])
    expected = without_padding(tiny, [batch[0] for batch in batches])
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_order_of_use(device: ap.Device, tiny: Any) -> None:
    with opened(tiny) as encoder:
        with pytest.raises(RuntimeError, match="no batch was launched"):
            encoder.collect()
        encoder.launch(encoder.stage([[1, 2]]))
        with pytest.raises(RuntimeError, match="collect the batch before"):
            encoder.launch(encoder.stage([[3, 4]]))
        assert encoder.collect().shape == (1, 32)


@pytest.mark.parametrize("capture", [True, False], ids=["captured", "launched"])
def test_a_device_error_ends_its_batch_alone(device: ap.Device, tiny: Any, capture: bool) -> None:
    with opened(tiny, capture=capture) as encoder:
        good = encoder.embed([[1, 2, 3]])
        with pytest.raises(DeviceError) as caught:
            encoder.embed([[1, 99999, 3]])
        assert "99999" in caught.value.explain()
        np.testing.assert_array_equal(encoder.embed([[1, 2, 3]]), good)


def test_batches_that_fit_no_bucket(device: ap.Device, tiny: Any) -> None:
    with opened(tiny) as encoder:
        assert encoder.most_rows(32) == 4 and encoder.most_rows(33) == 0
        with pytest.raises(ValueError, match="the largest one for this length holds 4"):
            encoder.embed([[1, 2]] * 5)
        with pytest.raises(ValueError, match="holds 0"):
            encoder.embed([[1] * 33])


def test_the_cheapest_bucket_is_taken(device: ap.Device, tiny: Any) -> None:
    with opened(tiny) as encoder:
        assert encoder.shape_for(1, 8) == Shape(1, 8)
        assert encoder.shape_for(1, 9) == Shape(1, 16)
        assert encoder.shape_for(2, 9) == Shape(4, 32)


def test_buckets_are_bounded() -> None:
    shapes = all_shapes(rows=(1, 2, 8), lengths=(16, 64), most=128)
    assert [(s.rows, s.length) for s in shapes] == [(1, 16), (2, 16), (8, 16), (1, 64), (2, 64)]
    with pytest.raises(ValueError, match="bucket of one row"):
        all_shapes(rows=(1,), lengths=(16, 64), most=32)


def test_the_parts_of_the_ranks_add_up_to_the_model(tiny: Any) -> None:
    config, arrays = tiny
    whole, parts = shard(arrays, config), [shard(arrays, config, r, 4) for r in range(4)]
    for number, layer in enumerate(whole.layers):
        pieces = [part.layers[number] for part in parts]
        np.testing.assert_array_equal(np.concatenate([p.up for p in pieces], axis=1), layer.up)
        np.testing.assert_array_equal(np.concatenate([p.down for p in pieces]), layer.down)
        np.testing.assert_array_equal(np.concatenate([p.attended for p in pieces]), layer.attended)
    with pytest.raises(ValueError, match="do not divide into 3"):
        shard(arrays, config, 0, 3)
