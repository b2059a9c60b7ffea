# SPDX-License-Identifier: Apache-2.0
"""A model over several ranks writes what one rank writes."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_decoder import made, tokens_of

pytestmark = pytest.mark.usefixtures("requirements")

PROMPT, STEPS = 12, 6
SAMPLE = Path(__file__).resolve().parents[1] / "__main__.py"


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


def _ranks_of(launcher: int) -> dict[str, int]:
    """Process numbers of the children of `aclnn-py run`, by rank."""
    children = Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
    found = {}
    for child in children:
        words = Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
        found.update({w[5:].decode(): int(child) for w in words if w.startswith(b"RANK=")})
    return found


def test_the_service_on_ranks_ends_with_a_killed_one(tmp_path: Path, device: Any) -> None:
    import httpx
    from make_model import write_tokenizer

    made(tmp_path, "llama")
    write_tokenizer(tmp_path, 512)
    program = [sys.executable, "-m", "aclnn_py.tools.cli", "run", "-n", "2", str(SAMPLE)]
    log = tmp_path / "log"
    with log.open("wb") as output:
        launcher = subprocess.Popen(
            [*program, str(tmp_path), "--port", "0"], stdout=output, stderr=subprocess.STDOUT
        )
    try:
        deadline = time.monotonic() + 180
        address = None
        while address is None:
            assert launcher.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
            address = re.search(r"running on (http://\S+)", log.read_text())
        request = {"prompt": "A", "max_tokens": 4, "temperature": 0, "ignore_eos": True}
        url = f"{address[1]}/v1/completions"
        while (answer := httpx.post(url, json=request, timeout=60)).is_error:
            assert answer.status_code == 503 and time.monotonic() < deadline, answer.text
            time.sleep(0.1)
        assert answer.json()["usage"]["completion_tokens"] == 4
        os.kill(_ranks_of(launcher.pid)["1"], signal.SIGKILL)
        assert launcher.wait(timeout=90) != 0
        assert "rank 1" in log.read_text()
    finally:
        launcher.kill()
        launcher.wait()
