# SPDX-License-Identifier: Apache-2.0
"""Logits to the last bit: whatever else is in the batch, and however the tokens got into the cache.

The engine relies on it: it cuts prompts into chunks, changes batches at every step, and computes
the tokens of a sequence again when it comes back.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("requirements")
SIZE = 128
LENGTHS = (5, 140, 33, 1, 128, 77)
CHUNK = 37
NEXT = 7


def pages_of(row: int, length: int) -> list[int]:
    return [2 * row, 2 * row + 1][: -(-length // SIZE)]


@pytest.mark.parametrize("quantise", [None, "w8a8", "w4a16"])
@pytest.mark.parametrize("architecture", ["llama", "mixtral", "deepseek_v3"])
def test_logits_depend_on_the_tokens_alone(
    device: ap.Device, tmp_path: Path, architecture: str, quantise: str | None
) -> None:
    from decoder import Decoder
    from make_model import config_values, write_model

    write_model(tmp_path, config_values(architecture), seed=3)
    rng = np.random.default_rng(1)
    prompts = [rng.integers(2, 500, length).tolist() for length in LENGTHS]
    rows = range(len(prompts))
    decoder = Decoder.open(tmp_path, quantise=quantise, pages=2 * len(prompts), most=8)

    whole = [decoder.prefill(p, 0, pages_of(n, len(p))).numpy() for n, p in enumerate(prompts)]
    for row, prompt in enumerate(prompts):
        for start in range(0, len(prompt), CHUNK):
            chunk = prompt[start : start + CHUNK]
            logits = decoder.prefill(chunk, start, pages_of(row, start + len(chunk)))
        np.testing.assert_array_equal(logits.numpy(), whole[row])

    def decoded(batch: range) -> np.ndarray:
        lengths = [len(prompts[row]) + 1 for row in batch]
        pages = [pages_of(row, length) for row, length in zip(batch, lengths, strict=True)]
        return decoder.decode([NEXT] * len(batch), lengths, pages).numpy()

    together = decoded(rows)
    for batch in (range(1, 4), *(range(row, row + 1) for row in rows)):
        np.testing.assert_array_equal(decoded(batch), together[batch.start : batch.stop])
    for row, prompt in enumerate(prompts):
        again = decoder.prefill([*prompt, NEXT], 0, pages_of(row, len(prompt) + 1)).numpy()[0]
        np.testing.assert_array_equal(again, together[row])
    assert len({logits.tobytes() for logits in together}) == len(prompts)
    decoder.close()
