# SPDX-License-Identifier: Apache-2.0
"""A model over several ranks writes what one rank writes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_decoder import made, tokens_of

pytestmark = pytest.mark.usefixtures("requirements")

PROMPT, STEPS = 12, 6


def _text(decoder: Any) -> tuple[list[int], Any]:
    """Greedy tokens behind a prompt in two chunks, and the last logits."""
    prompt, pages = tokens_of(PROMPT), [1]
    decoder.prefill(prompt[:5], 0, pages)
    logits = decoder.prefill(prompt[5:], 5, pages).numpy()[0]
    text = []
    for place in range(PROMPT, PROMPT + STEPS):
        text.append(int(logits.argmax()))
        rows = decoder.decode([text[-1], 0], [place + 1, 1], [pages, [0]])
        logits = rows.numpy()[0].copy()
    return text, logits


def _on_a_rank(
    rank: int,
    ranks: int,
    port: str,
    directory: Path,
    options: dict[str, str],
    work: Callable[[Any], Any],
) -> Any:
    from decoder import Decoder

    from aclnn_py.distributed import Communicator

    numbers = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks)}
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    with Communicator.from_env(environ={**os.environ, **numbers, **place}) as comm:
        decoder = Decoder.open(directory, pages=5, most=3, comm=comm, **options)
        try:
            if rank == 0:
                return work(decoder)
            return decoder.follow()
        finally:
            decoder.close()


def _on_ranks(
    ranks: int, directory: Path, options: dict[str, str], work: Callable[[Any], Any]
) -> Any:
    """What ``work`` returns for the decoder of rank 0; the others follow it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    calls = [(rank, ranks, port, directory, options, work) for rank in range(ranks)]
    # One process per rank: none ends before it has met the others.
    with multiprocessing.get_context("spawn").Pool(ranks) as processes:
        found = processes.starmap_async(_on_a_rank, calls, chunksize=1).get(timeout=180)
    assert found[1:] == [None] * (ranks - 1)
    return found[0]


@pytest.mark.parametrize(
    ("architecture", "ranks", "options"),
    [
        ("qwen2", 2, {}),
        ("llama", 2, {"quantise": "w8a16"}),
        ("llama", 4, {}),
        ("mixtral", 2, {"experts": "divided"}),
        ("deepseek_v3", 2, {"experts": "divided"}),
        ("mixtral", 2, {"experts": "whole"}),
        ("qwen3_moe", 4, {"experts": "whole"}),
        ("deepseek_v2", 2, {"experts": "whole"}),
        ("deepseek_v3", 4, {"experts": "whole"}),
        ("mixtral", 2, {"experts": "whole", "quantise": "w8a8"}),
    ],
    ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else str(value),
)
def test_ranks_write_the_text_of_one(
    architecture: str, ranks: int, options: dict[str, str], tmp_path: Path, device: Any
) -> None:
    from decoder import Decoder

    values, _ = made(tmp_path, architecture, num_key_value_heads=4)
    assert values["num_attention_heads"] == 4
    quantise = options.get("quantise")
    alone = Decoder.open(tmp_path, quantise=quantise, pages=2, most=3)
    expected, logits = _text(alone)
    alone.close()
    text, others = _on_ranks(ranks, tmp_path, options, _text)
    assert text == expected
    # The parts of a quantised weight have scales of their own.
    assert 0 < np.abs(others - logits).max() < (0.1 if quantise else 0.02)


def _long_prompt(decoder: Any) -> Any:
    """Logits behind two chunks, of which the first one has more tokens than dispatch takes."""
    tokens = tokens_of(520)
    decoder.prefill(tokens[:517], 0, [0, 1, 2, 3, 4])
    return decoder.prefill(tokens[517:], 517, [0, 1, 2, 3, 4]).numpy()[0]


def test_a_chunk_may_be_longer_than_what_experts_take_at_once(tmp_path: Path, device: Any) -> None:
    from decoder import Decoder

    # All experts are chosen: rounding cannot choose others.
    made(tmp_path, "mixtral", num_local_experts=2)
    alone = Decoder.open(tmp_path, pages=5, most=1)
    expected = _long_prompt(alone)
    alone.close()
    found = _on_ranks(2, tmp_path, {"experts": "whole"}, _long_prompt)
    assert np.abs(found - expected).max() < 0.02


def test_sizes_that_do_not_divide_are_refused() -> None:
    from config import parse
    from make_model import config_values
    from ranks import local_config

    with pytest.raises(ValueError, match="num_key_value_heads is 2, which does not divide into 4"):
        local_config(parse(config_values("llama")), 4, whole_experts=True)
    with pytest.raises(ValueError, match="num_attention_heads is 4, which does not divide into 3"):
        local_config(parse(config_values("deepseek_v3")), 3, whole_experts=False)
    deepseek = parse(config_values("deepseek_v3"))
    whole, divided = (local_config(deepseek, 4, whole_experts=flag) for flag in (True, False))
    assert whole.heads == divided.heads == 1
    assert (whole.experts.inner, divided.experts.inner) == (64, 16)
    eight = parse(config_values("mixtral") | {"num_attention_heads": 12, "hidden_size": 96})
    with pytest.raises(ValueError, match='experts: 8 do not divide into 3 ranks; the option "div'):
        local_config(eight, 3, whole_experts=True)


@pytest.fixture
def model(tmp_path: Path, device: Any) -> Path:
    """A directory with a small Mixtral and its tokenizer."""
    from make_model import write_tokenizer

    made(tmp_path, "mixtral")
    write_tokenizer(tmp_path, 512)
    return tmp_path


def _alive(process: int) -> bool:
    """Whether a process is there, and not only waits for its parent."""
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def _ended(processes: list[int]) -> bool:
    deadline = time.monotonic() + 60
    while any(map(_alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not any(map(_alive, processes))


ASKED: dict[str, Any] = {
    "prompt": "the quick brown fox",
    "max_tokens": 24,
    "temperature": 0,
    "ignore_eos": True,
}


@pytest.mark.parametrize("quantise", ["w8a8", "w8a16", "w4a16"])
def test_quantised_forms_over_http_on_one_rank_and_on_two(model: Path, quantise: str) -> None:
    import httpx
    from alone import answer
    from decoder import Decoder
    from process import SAMPLE, serving
    from sampling import Sampler, Settings
    from tokens import Tokens

    tokens = Tokens(model)
    calibration = tokens((SAMPLE / "README.md").read_text("utf-8"))
    decoder = Decoder.open(model, quantise=quantise, pages=4, most=1, calibration=calibration)
    prompt, most = tokens(ASKED["prompt"]), ASKED["max_tokens"]
    sampler = Sampler(decoder.vocabulary, 1)
    expected = answer(decoder, sampler, tokens, prompt, Settings(temperature=0.0), most)
    decoder.close()
    body = {**ASKED, "ignore_eos": False}
    for ranks in (1, 2):
        with serving(model, "--quantise", quantise, "--pages", "4", ranks=ranks) as server:
            answers = [
                httpx.post(f"{server.url}/v1/completions", json=body, timeout=60).json()
                for _ in range(2)
            ]
            processes = server.processes()
        first, second = (answer["choices"][0]["text"] for answer in answers)
        # The parts of ranks have scales of their own, so their text may be another one.
        assert first == second
        assert (first == expected) if ranks == 1 else first
        assert _ended(processes)


def test_sigterm_on_ranks_answers_what_was_accepted(model: Path) -> None:
    import httpx
    from process import serving

    with ThreadPoolExecutor(1) as pool, serving(model, ranks=2) as server:
        body = {**ASKED, "max_tokens": 400}
        waiting = pool.submit(httpx.post, f"{server.url}/v1/completions", json=body, timeout=60)
        while not server.metrics()["running"]:
            assert server.process.poll() is None, server.last_words()
        processes = server.processes()
        assert len(processes) == 3
        # As a supervisor does, which asks the launcher; `serving` checks that it ends with 0.
        server.process.send_signal(signal.SIGTERM)
        assert waiting.result().json()["usage"]["completion_tokens"] == 400
        assert server.process.wait(60) == 0
        assert _ended(processes)


@pytest.mark.parametrize("killed", ["0", "1"])
def test_the_service_on_ranks_ends_with_a_killed_one(model: Path, killed: str) -> None:
    import httpx
    from process import ServerError, serving

    with pytest.raises(ServerError, match=f"rank {killed} "), serving(model, ranks=2) as server:
        answer = httpx.post(f"{server.url}/v1/completions", json=ASKED, timeout=60)
        assert answer.json()["usage"]["completion_tokens"] == 24
        processes = server.processes()
        ranks = {}
        for process in processes[1:]:
            words = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
            ranks |= {w[5:].decode(): process for w in words if w.startswith(b"RANK=")}
        os.kill(ranks[killed], signal.SIGKILL)
        assert server.process.wait(timeout=120) == 128 + signal.SIGKILL
        assert _ended(processes)
