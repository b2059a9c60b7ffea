# SPDX-License-Identifier: Apache-2.0
"""Requests to batches, with a small model."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from batching import Batcher, BatchError, QueueFullError, StoppingError
from encoder import Encoder, Shape
from metrics import Histogram, Metrics
from model import Model
from reference import NumpyEncoder
from weights import shard

import aclnn_py as ap

SHAPES = [Shape(1, 8), Shape(4, 8), Shape(1, 16), Shape(2, 16)]
LONG = 600.0  # a wait that does not end by itself


@contextmanager
def started(tiny: Any, **options: Any) -> Iterator[tuple[Batcher, Metrics]]:
    config, arrays = tiny
    metrics = Metrics()
    batcher = Batcher(
        lambda: Encoder(Model(shard(arrays, config), np.float32), SHAPES), metrics, **options
    )
    batcher.start()
    try:
        assert batcher.ready.wait(60)
        yield batcher, metrics
    finally:
        batcher.close()


def number(metrics: Metrics, name: str) -> float:
    return float(re.findall(rf"^{re.escape(name)} (\S+)$", metrics.text(), re.MULTILINE)[0])


def raises(error: Exception) -> Any:
    def raising() -> None:
        raise error

    return raising


def check(tiny: Any, texts: list[list[int]], future: Future[Any]) -> None:
    config, arrays = tiny
    expected = NumpyEncoder(arrays, config).embed_each(texts)
    np.testing.assert_allclose(future.result(60), expected, atol=2e-5)


def test_every_request_gets_its_own_vectors(device: ap.Device, tiny: Any) -> None:
    rng = np.random.default_rng(5)
    requests = [
        [rng.integers(3, 50, rng.integers(1, 17)).tolist() for _ in range(rng.integers(1, 7))]
        for _ in range(30)
    ]
    with started(tiny, max_wait_s=0.001) as (batcher, metrics):
        futures = [batcher.submit(texts) for texts in requests]
        for texts, future in zip(requests, futures, strict=True):
            check(tiny, texts, future)
        assert number(metrics, "embedding_texts_total") == sum(map(len, requests))
        assert number(metrics, "embedding_queue_texts") == 0


def test_a_full_batch_does_not_wait(device: ap.Device, tiny: Any) -> None:
    with started(tiny, max_wait_s=LONG) as (batcher, metrics):
        texts = [[3], [4], [5], [6]]
        check(tiny, texts, batcher.submit(texts))
        assert number(metrics, "embedding_batch_texts_sum") == 4
        assert number(metrics, "embedding_batch_texts_count") == 1


def test_the_oldest_text_bounds_the_wait(device: ap.Device, tiny: Any) -> None:
    with started(tiny, max_wait_s=0.01) as (batcher, _):
        check(tiny, [[9, 8]], batcher.submit([[9, 8]]))


def test_closing_answers_what_was_accepted(device: ap.Device, tiny: Any) -> None:
    with started(tiny, max_wait_s=LONG) as (batcher, _):
        requests = [[[3, 4]], [[5] * 16], [[6, 7, 8]]]
        futures = [batcher.submit(texts) for texts in requests]
        batcher.close()
        for texts, future in zip(requests, futures, strict=True):
            check(tiny, texts, future)
        with pytest.raises(StoppingError, match="shutting down"):
            batcher.submit([[3]])
        assert not batcher.alive


def test_a_full_queue_takes_all_of_a_request_or_nothing(device: ap.Device, tiny: Any) -> None:
    with started(tiny, max_wait_s=LONG, max_queued=3) as (batcher, metrics):
        first = batcher.submit([[3], [4]])
        with pytest.raises(QueueFullError, match="2 texts wait, and no more than 3"):
            batcher.submit([[5], [6]])
        second = batcher.submit([[7]])
        assert number(metrics, "embedding_queue_texts") == 3
        batcher.close()
        check(tiny, [[3], [4]], first)
        check(tiny, [[7]], second)


def test_a_device_error_fails_its_batch_and_is_explained(device: ap.Device, tiny: Any) -> None:
    with started(tiny, max_wait_s=0.0, fail_every=2) as (batcher, metrics):
        for number_ in range(1, 7):
            future = batcher.submit([[3, 4]])
            if number_ % 2:
                check(tiny, [[3, 4]], future)
            else:
                with pytest.raises(BatchError, match=r"(?s)aclnnEmbedding.*what to check"):
                    future.result(60)
        assert number(metrics, "embedding_device_errors_total") == 3
        assert number(metrics, "embedding_texts_total") == 3
        assert batcher.alive


def test_a_request_over_two_batches_fails_once(device: ap.Device, tiny: Any) -> None:
    with started(tiny, max_wait_s=0.0, fail_every=1) as (batcher, _):
        with pytest.raises(BatchError):
            batcher.submit([[3]] * 4 + [[4] * 16] * 2).result(60)
        assert batcher.alive


def test_an_answer_nobody_waits_for(device: ap.Device, tiny: Any) -> None:
    with started(tiny, max_wait_s=LONG) as (batcher, _):
        left, kept = batcher.submit([[3]]), batcher.submit([[4]])
        assert left.cancel()
        batcher.close()
        with pytest.raises(CancelledError):
            left.result(0)
        check(tiny, [[4]], kept)


def test_nothing_is_computed_for_nobody(device: ap.Device, tiny: Any) -> None:
    with started(tiny, max_wait_s=LONG) as (batcher, metrics):
        left = batcher.submit([[3], [4], [5] * 16])
        assert left.cancel()
        texts = [[6], [7], [8], [9]]
        check(tiny, texts, batcher.submit(texts))
        batcher.close()
        assert number(metrics, "embedding_texts_total") == 4
        assert number(metrics, "embedding_queue_texts") == 0


def test_room_is_told_before_it_is_taken(device: ap.Device, tiny: Any) -> None:
    with started(tiny, max_wait_s=LONG, max_queued=3) as (batcher, _):
        batcher.check_room(3)
        batcher.submit([[3], [4]])
        batcher.check_room(1)
        with pytest.raises(QueueFullError, match="2 texts wait, and no more than 3"):
            batcher.check_room(2)
    with pytest.raises(StoppingError, match="shutting down"):
        batcher.check_room(1)


def test_a_device_thread_that_ends_leaves_nobody_waiting(
    device: ap.Device, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = threading.Event()
    with started(tiny, max_wait_s=LONG, on_failure=told.set) as (batcher, metrics):
        monkeypatch.setattr(ap, "memory_stats", raises(OSError("the device is gone")))
        # The first is computed; of the second and the third one is in a batch and one waits.
        texts = [[3], [4], [5], [6]]
        requests = [batcher.submit(given) for given in (texts, texts, [[5] * 16])]
        check(tiny, texts, requests[0])
        for future in requests[1:]:
            with pytest.raises(BatchError, match="device thread ended: OSError: the device is"):
                future.result(60)
        assert told.wait(60)
        with pytest.raises(StoppingError, match="device thread ended: OSError"):
            batcher.submit([[3]])
        assert number(metrics, "embedding_queue_texts") == 0


def test_requests_that_fit_no_batch(device: ap.Device, tiny: Any) -> None:
    with started(tiny) as (batcher, _), pytest.raises(ValueError, match="17 tokens; at most 16"):
        batcher.submit([[3], [3] * 17])


def test_a_model_that_cannot_be_loaded(device: ap.Device) -> None:
    def fails() -> Encoder:
        raise FileNotFoundError("no such model")

    told = threading.Event()
    batcher = Batcher(fails, Metrics(), on_failure=told.set)
    with pytest.raises(StoppingError, match="not loaded"):
        batcher.submit([[3]])
    batcher.start()
    batcher.close()
    assert not batcher.alive and not batcher.ready.is_set()
    assert batcher.failure == "FileNotFoundError: no such model"
    assert told.is_set()


def test_device_memory_is_flat(device: ap.Device, tiny: Any) -> None:
    names = ("allocated_bytes", "reserved_bytes", "allocations_total")
    with started(tiny, max_wait_s=0.0) as (batcher, metrics):
        before = [number(metrics, f"embedding_device_{name}") for name in names]
        for size in (1, 5, 9, 16, 2):
            batcher.submit([[3] * size]).result(60)
        assert [number(metrics, f"embedding_device_{name}") for name in names] == before
    assert before[0] > 0


def test_a_histogram_counts_up_to_its_bounds() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 99.0):
        histogram.observe(value)
    assert histogram.lines("x") == [
        'x_bucket{le="1.0"} 2',
        'x_bucket{le="2.0"} 3',
        'x_bucket{le="+Inf"} 4',
        "x_sum 102.0",
        "x_count 4",
    ]
