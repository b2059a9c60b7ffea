# SPDX-License-Identifier: Apache-2.0
"""The HTTP side of the embedding service, and the whole of it under load."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from batching import Batcher
from encoder import Encoder, Shape
from metrics import Metrics
from model import Model
from reference import NumpyEncoder
from weights import shard

import aclnn_py as ap

LONG = 600.0  # a wait that does not end by itself
MARKS = ["p50", "p90", "p99", "max"]
LOAD = Path(__file__).resolve().parents[1] / "load.py"


def by_letters(texts: list[str]) -> list[list[int]]:
    """A token per letter, and one in front."""
    return [[1, *(3 + ord(letter) % 40 for letter in text[:7])] for text in texts]


@contextmanager
def client(
    tiny: Any,
    limits: dict[str, Any],
    tokenizer: Any = by_letters,
    loads: threading.Event | None = None,
    **options: Any,
) -> Iterator[Any]:
    """A client of a service with a small model, which is there once ``loads`` is set."""
    from intake import Limits
    from server import Service
    from starlette.testclient import TestClient

    config, arrays = tiny
    metrics = Metrics()

    def make_encoder() -> Encoder:
        if loads is not None:
            assert loads.wait(60)
        return Encoder(Model(shard(arrays, config), np.float32), [Shape(1, 8), Shape(4, 8)])

    batcher = Batcher(make_encoder, metrics, **options)
    service = Service(batcher, metrics, tokenizer, Limits(**limits))
    with TestClient(service.application(), raise_server_exceptions=False) as opened:
        assert loads is not None or batcher.ready.wait(60)
        yield opened
    assert not batcher.alive


@pytest.mark.usefixtures("requirements")
def test_texts_become_vectors(device: ap.Device, tiny: Any) -> None:
    config, arrays = tiny
    with client(tiny, {}) as http:
        answer = http.post("/embed", json={"texts": ["abc", ""]})
        assert answer.status_code == 200
        body = answer.json()
        expected = NumpyEncoder(arrays, config).embed_each(by_letters(["abc", ""]))
        np.testing.assert_allclose(body["vectors"], expected, atol=2e-5)
        assert body["tokens"] == [4, 1]
        assert http.get("/health").text == "ok"
        assert http.get("/ready").status_code == 200
        text = http.get("/metrics").text
    assert 'embedding_requests_total{status="200"} 1' in text
    assert "embedding_request_seconds_count 1" in text
    assert "# TYPE embedding_batch_texts histogram" in text


@pytest.mark.usefixtures("requirements")
@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        (b"{", 400, "not JSON"),
        (b"\xff\xfe", 400, "not JSON"),
        (b"[" * 5000, 400, "not JSON"),
        (b"[]", 400, "expected"),
        (b'{"text": ["a"]}', 400, "expected"),
        (b'{"texts": "a"}', 400, "expected"),
        (b'{"texts": []}', 400, "at least one"),
        (b'{"texts": ["a", 1]}', 400, "texts[1]: not a string"),
        (b'{"texts": ["\\ud800"]}', 400, "texts[0]: half of a surrogate pair"),
        (b'{"texts": ["a", "b", "c"]}', 400, "at most 2"),
        (b"x" * 6000, 413, "more than 5500 bytes"),
    ],
)
def test_bad_requests_are_told_why(
    device: ap.Device, tiny: Any, body: bytes, status: int, text: str
) -> None:
    with client(tiny, {"body_nbytes": 5500, "texts": 2}) as http:
        answer = http.post("/embed", content=body)
        assert (answer.status_code, text in answer.json()["error"]) == (status, True), answer.text
        # A body whose length was not announced.
        again = http.post("/embed", content=iter([body[:10], body[10:]]))
        assert again.status_code == status
        assert http.get("/embed").status_code == 405
        assert http.post("/embed", json={"texts": ["a"]}).status_code == 200


@pytest.mark.usefixtures("requirements")
def test_a_full_queue_is_503_with_a_time(device: ap.Device, tiny: Any) -> None:
    with client(tiny, {}, max_queued=1) as http:
        answer = http.post("/embed", json={"texts": ["a", "b"]})
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) >= 1


@pytest.mark.usefixtures("requirements")
def test_a_request_without_room_costs_no_tokens(device: ap.Device, tiny: Any) -> None:
    cut: list[str] = []

    def tokenizer(texts: list[str]) -> list[list[int]]:
        cut.extend(texts)
        return by_letters(texts)

    with ThreadPoolExecutor(1) as pool:
        with client(tiny, {}, tokenizer, max_queued=2, max_wait_s=LONG) as http:
            waiting = pool.submit(http.post, "/embed", json={"texts": ["a", "b"]})
            while "embedding_queue_texts 2" not in http.get("/metrics").text:
                time.sleep(0.01)
            # Whatever is in the body: it is not looked at.
            for body in (b'{"texts": ["c"]}', b"{", b"x" * (2 << 20)):
                answer = http.post("/embed", content=body)
                assert answer.status_code == 503, answer.text
                assert int(answer.headers["Retry-After"]) >= 1
        assert waiting.result(60).status_code == 200
    assert cut == ["a", "b"]


@pytest.mark.usefixtures("requirements")
def test_before_the_model_is_loaded_nothing_is_ready(device: ap.Device, tiny: Any) -> None:
    loads = threading.Event()
    with client(tiny, {}, loads=loads) as http:
        answer = http.post("/embed", json={"texts": ["a"]})
        assert (answer.status_code, "not loaded" in answer.text) == (503, True)
        assert int(answer.headers["Retry-After"]) >= 1
        assert (http.get("/ready").status_code, http.get("/health").status_code) == (503, 200)
        loads.set()
        while http.get("/ready").status_code != 200:
            time.sleep(0.01)
        assert http.post("/embed", json={"texts": ["a"]}).status_code == 200


@pytest.mark.usefixtures("requirements")
def test_all_bodies_together_are_bounded(device: ap.Device, tiny: Any) -> None:
    with client(tiny, {"all_bodies_nbytes": 100}) as http:
        for _ in range(3):  # what one held is free again
            assert http.post("/embed", json={"texts": ["a" * 60]}).status_code == 200
            answer = http.post("/embed", json={"texts": ["a" * 100]})
            assert answer.status_code == 503
            assert int(answer.headers["Retry-After"]) >= 1


@pytest.mark.usefixtures("requirements")
def test_an_unexpected_error_is_counted(device: ap.Device, tiny: Any) -> None:
    def tokenizer(texts: list[str]) -> list[list[int]]:
        raise RuntimeError("a defect")

    with client(tiny, {}, tokenizer) as http:
        assert http.post("/embed", json={"texts": ["a"]}).status_code == 500
        assert 'embedding_requests_total{status="500"} 1' in http.get("/metrics").text
        assert http.get("/health").text == "ok"


@pytest.mark.usefixtures("requirements")
def test_a_device_error_is_500_and_the_next_request_200(device: ap.Device, tiny: Any) -> None:
    with client(tiny, {}, fail_every=2) as http:
        statuses = [http.post("/embed", json={"texts": ["a"]}) for _ in range(3)]
    assert [answer.status_code for answer in statuses] == [200, 500, 200]
    assert "aclnnEmbedding" in statuses[1].json()["error"]


@pytest.mark.usefixtures("requirements")
def test_an_answer_that_takes_too_long_is_504(device: ap.Device, tiny: Any) -> None:
    with client(tiny, {"answer_s": 0.05}, max_wait_s=600.0) as http:
        assert http.post("/embed", json={"texts": ["a"]}).status_code == 504


@pytest.mark.usefixtures("requirements")
def test_what_must_not_be_in_the_figures_of_a_load() -> None:
    from load import failures
    from process import DEVICE_MEMORY

    held = dict.fromkeys(DEVICE_MEMORY, 1)
    good = {"outcomes": {"answered": 3}, "memory_first": held, "memory_last": held}
    assert failures(good) == []
    assert failures({**good, "outcomes": {"answered": 3, "lost: ReadError": 2}}) == [
        "2 x lost: ReadError"
    ]
    assert failures({**good, "outcomes": {}}) == ["no request was answered"]
    grown = {**held, "allocated_bytes": 2}
    assert failures({**good, "memory_last": grown}) == ["device allocated_bytes: 1, then 2"]


@pytest.mark.usefixtures("requirements")
def test_load_with_faults(real: Any, tmp_path: Path) -> None:
    words = ["--requests", "80", "--clients", "12", "--max-queued", "10", "--pool", "30"]
    faults = ["--drops", "0.1", "--oversized", "0.05", "--fail-every", "6", "--threads", "0"]
    result = tmp_path / "load.json"
    done = subprocess.run(
        [sys.executable, str(LOAD), *words, *faults, "--result", str(result)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(result.read_text())
    assert figures["answers_per_second"] > 0 and list(figures["latency_ms"]) == MARKS
    assert done.stderr.splitlines()[-1].startswith("80 of 80 requests, ")
    assert (tmp_path / "load.png").read_bytes().startswith(b"\x89PNG")
    assert done.stdout.splitlines()[-1] == "ok"
    outcomes = figures["outcomes"]
    again = outcomes.pop("refused with 503, sent again", 0)
    assert sum(outcomes.values()) == 80, (outcomes, again)
    assert {"answered", "dropped by the client", "oversized, 413"} <= set(outcomes)
    assert outcomes["failed by the device, explained"] > 0
