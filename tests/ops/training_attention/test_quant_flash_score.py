# SPDX-License-Identifier: Apache-2.0
"""Attention of training over HIFLOAT8 with scales for runs of tokens, on a 950."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused

from ..low_bits import encoded, values

pytestmark = pytest.mark.emulator_only(reason="chooses the chip of the emulator")

Array = np.ndarray[Any, Any]
CODES = "hifloat8"
BATCH, QUERIES, KEYS, HEADS, KV_HEADS, WIDTH, VALUES = 2, 150, 530, 4, 2, 16, 8
ALL = 2147483647


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def drawn() -> dict[str, Any]:
    """Codes and scales of a call with more than one run of tokens on each side."""
    rng = np.random.default_rng(3)
    given: dict[str, Any] = {
        "query": encoded(rng.normal(size=(BATCH, QUERIES, HEADS, WIDTH)), CODES),
        "key": encoded(rng.normal(size=(BATCH, KEYS, KV_HEADS, WIDTH)), CODES),
        "value": encoded(rng.normal(size=(BATCH, KEYS, KV_HEADS, VALUES)), CODES),
    }
    for name, heads, runs in (("q", HEADS, 2), ("k", KV_HEADS, 3), ("v", KV_HEADS, 2)):
        given[f"{name}_scale"] = rng.uniform(0.5, 2, (BATCH, heads, runs, 1)).astype(np.float32)
    return given


def arguments(given: dict[str, Any], **changed: Any) -> list[Any]:
    sums = (BATCH, HEADS, QUERIES, 1)
    call: dict[str, Any] = {
        "query": Given(given["query"], CODES, stepped=True),
        "key": Given(given["key"], CODES),
        "value": Given(given["value"], CODES),
        "mask": None,
        "q_scale": Given(given["q_scale"], "float32"),
        "k_scale": Given(given["k_scale"], "float32"),
        "v_scale": Given(given["v_scale"], "float32"),
        "p_scale": Given(np.array([16.0], np.float32), "float32"),
        "scale": 0.3, "before": ALL, "after": ALL, "heads": HEADS, "layout": "BSND", "sparse": 0,
        "highest": Made(sums, "float32"), "sum": Made(sums, "float32"), "softmax": None,
        "out": Made((BATCH, QUERIES, HEADS, VALUES), "bfloat16"),
    }  # fmt: skip
    assert set(changed) <= set(call)
    return list((call | changed).values())


def test_scales_of_runs_of_tokens(newer: Chip950) -> None:
    given = drawn()

    def numbers(name: str, scale: str, run: int, tokens: int) -> Array:
        scales = given[scale][..., 0].astype(np.float64).repeat(run, -1)[..., :tokens]
        found = values(CODES)[given[name]] * scales.transpose(0, 2, 1)[..., None]
        return found.repeat(HEADS // found.shape[2], 2)

    q = numbers("query", "q_scale", 128, QUERIES)
    k, v = numbers("key", "k_scale", 256, KEYS), numbers("value", "v_scale", 512, KEYS)
    scores = 0.3 * np.einsum("bsnd,btnd->bnst", q, k)
    highest = scores.max(-1)
    powers = np.exp(scores - highest[..., None])
    total = powers.sum(-1)
    wanted = np.einsum("bnst,btnd->bsnd", powers / total[..., None], v)
    results = newer.operator("quant_flash_attention_score", *arguments(given))
    assert not isinstance(results, Refused), results
    np.testing.assert_allclose(results[0][..., 0], highest, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(results[1][..., 0], total, rtol=3e-5)
    usual = np.sqrt(np.mean(wanted**2))
    np.testing.assert_allclose(
        results[2].astype(np.float64), wanted, rtol=2.0**-8, atol=2.0**-16 * usual
    )


@pytest.mark.parametrize(
    ("changed", "status", "text"),
    [
        ({"layout": "BNSD"}, 161002, "inputLayout is"),
        ({"heads": 2}, 161002, "headNum is 2"),
        ({"p_scale": Given(np.ones(2, np.float32), "float32")}, 161002, "pScale has shape"),
        ({"k_scale": Given(np.ones((2, 2, 2, 1), np.float32), "float32")}, 161002, "dScaleK has"),
        ({"out": Made((2, 150, 4, 16), "bfloat16")}, 161002, "attentionOutOut has shape"),
        ({"v_scale": None}, 161001, "dScaleV"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_wrong_calls(newer: Chip950, changed: dict[str, Any], status: int, text: str) -> None:
    refused = newer.operator("quant_flash_attention_score", *arguments(drawn(), **changed))
    assert isinstance(refused, Refused)
    assert refused.status == status
    assert text in refused.text
