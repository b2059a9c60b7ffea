# SPDX-License-Identifier: Apache-2.0
"""A model over several ranks writes what one rank writes."""

from __future__ import annotations

import multiprocessing
import os
import socket
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


def _on_a_rank(rank: int, ranks: int, port: str, directory: Path, quantise: str | None) -> Any:
    from decoder import Decoder

    from aclnn_py.distributed import Communicator

    numbers = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks)}
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    with Communicator.from_env(environ={**os.environ, **numbers, **place}) as comm:
        decoder = Decoder.open(directory, quantise=quantise, pages=2, most=2, comm=comm)
        try:
            if rank == 0:
                return _text(decoder)
            return decoder.follow()
        finally:
            decoder.close()


@pytest.mark.parametrize(
    ("architecture", "ranks", "quantise"),
    [
        ("qwen2", 2, None),
        ("llama", 2, "w8a16"),
        ("llama", 4, None),
        ("mixtral", 2, None),
        ("deepseek_v3", 2, None),
    ],
)
def test_ranks_write_the_text_of_one(
    architecture: str, ranks: int, quantise: str | None, tmp_path: Path, device: Any
) -> None:
    from decoder import Decoder

    values, _ = made(tmp_path, architecture, num_key_value_heads=4)
    assert values["num_attention_heads"] == 4
    alone = Decoder.open(tmp_path, quantise=quantise, pages=2, most=2)
    expected, logits = _text(alone)
    alone.close()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    calls = [(rank, ranks, port, tmp_path, quantise) for rank in range(ranks)]
    # One process per rank: none ends before it has met the others.
    with multiprocessing.get_context("spawn").Pool(ranks) as processes:
        found = processes.starmap_async(_on_a_rank, calls, chunksize=1).get(timeout=180)
    text, others = found[0]
    assert text == expected
    # The parts of a quantised weight have scales of their own.
    assert 0 < np.abs(others - logits).max() < (0.1 if quantise else 0.02)
    assert found[1:] == [None] * (ranks - 1)


def test_sizes_that_do_not_divide_are_refused() -> None:
    from config import parse
    from make_model import config_values
    from ranks import local_config

    with pytest.raises(ValueError, match="num_key_value_heads is 2, which does not divide into 4"):
        local_config(parse(config_values("llama")), 4)
    with pytest.raises(ValueError, match="num_attention_heads is 4, which does not divide into 3"):
        local_config(parse(config_values("deepseek_v3")), 3)
    assert local_config(parse(config_values("deepseek_v3")), 4).heads == 1
