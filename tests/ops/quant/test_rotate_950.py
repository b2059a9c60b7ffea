# SPDX-License-Identifier: Apache-2.0
"""Rotation with quantisation in blocks, and indexers of floats of 8 bits, on a 950."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused

from ..gmm.test_grouped_950 import codes, floats
from ..low_bits import FLOAT8, SCALE, codes_of, mx, values

pytestmark = pytest.mark.emulator_only(reason="chooses the chip of the emulator")

Array = np.ndarray[Any, Any]
FOUR, BRAIN = "float4_e2m1fn", np.dtype(ml_dtypes.bfloat16)


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def signs(size: int) -> Array:
    """A rotation whose sums are exact: a matrix of Hadamard, not normalised."""
    matrix = np.ones((1, 1))
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix


@pytest.mark.parametrize(
    ("made", "rounding", "algorithm", "highest"),
    [
        (FLOAT8[0], None, 0, 0.0),
        (FLOAT8[1], "rint", 1, 0.0),
        (FOUR, "floor", 0, 0.0),
        (FOUR, "round", 2, 7.0),
    ],
)
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("alpha", [None, 0.5])
def test_rotated_rows_in_blocks(
    newer: Chip950,
    made: str,
    rounding: str | None,
    algorithm: int,
    highest: float,
    own: bool,
    alpha: float | None,
) -> None:
    rng = np.random.default_rng(31)
    x = rng.integers(-9, 10, (2, 3, 96)).astype(np.float16)
    pieces = np.stack([signs(32) * 2.0**i for i in range(3 if own else 1)])
    limit = None if alpha is None else Given(np.array([alpha]).astype(BRAIN), "bfloat16")
    rotation = Given((pieces if own else pieces[0]).astype(np.float16), "float16")
    found = newer.operator(
        "rotate_quant",
        *(Given(x, "float16", stepped=True), rotation, limit, -1, rounding),
        *(algorithm, highest, False, Made(x.shape, made), Made((2, 3, 2, 2), SCALE)),
    )
    assert not isinstance(found, Refused), found
    cut = x.astype(np.float64).reshape(2, 3, 3, 32)
    turned = np.einsum("abpi,pij->abpj", cut, np.broadcast_to(pieces, (3, 32, 32)))
    if alpha is not None:
        most = np.abs(turned).max(axis=-1, keepdims=True) * alpha
        turned = np.clip(turned, -most, most)
    wanted, scales = mx(
        turned.reshape(x.shape),
        made,
        rounding=rounding or "rint",
        algorithm=algorithm,
        limit=highest,
    )
    np.testing.assert_array_equal(codes_of(found[1]), scales)
    np.testing.assert_array_equal(codes_of(found[0]), wanted)


def test_rotation_refuses(newer: Chip950) -> None:
    x, rotation = Given(np.ones((2, 64), np.float16), "float16"), signs(32).astype(np.float16)
    turn, y, scale = Given(rotation, "float16"), Made((2, 64), FOUR), Made((2, 1, 2), SCALE)
    small = Given(rotation[:16, :16], "float16")
    other = Given(rotation.astype(BRAIN), "bfloat16")
    for arguments, says in (
        ((x, small, None, -1, None, 0, 0.0, False, y, scale), "squares of 32, 64 or 128"),
        ((x, other, None, -1, None, 0, 0.0, False, y, scale), "rotation has dtype BFLOAT16"),
        ((x, turn, None, 0, None, 0, 0.0, False, y, scale), "axis is 0"),
        ((x, turn, None, -1, None, 1, 0.0, False, y, scale), "scaleAlg is 1"),
        ((x, turn, None, -1, None, 2, 5.0, False, y, scale), "dstTypeMax is 5"),
        ((x, turn, None, -1, None, 0, 0.0, True, y, scale), "trans is true"),
        ((x, turn, None, -1, None, 0, 0.0, False, Made((2, 64), "int8"), scale), "yOut has dtype"),
    ):
        found = newer.operator("rotate_quant", *arguments)
        assert isinstance(found, Refused), says
        assert says in found.text
        assert found.status == 161002


@pytest.mark.parametrize(
    ("dtype", "weights", "scales"),
    [
        ("hifloat8", "bfloat16", "float32"),
        (FLOAT8[1], "bfloat16", "float32"),
        (FLOAT8[1], "float16", "float16"),
    ],
)
def test_indexers_choose_the_highest_scores(
    newer: Chip950, dtype: str, weights: str, scales: str
) -> None:
    rng = np.random.default_rng(32)
    tokens, kept, heads, count = 2, 30, 8, 5
    kind = BRAIN if weights == "bfloat16" else np.dtype(np.float16)
    query, key = codes(rng, dtype, (1, tokens, heads, 128)), codes(rng, dtype, (1, kept, 1, 128))
    weight = floats(rng, 1, tokens, heads).astype(kind)
    left, right = floats(rng, 1, tokens, heads), floats(rng, 1, kept, 1)
    left, right = left.astype(scales), right.astype(scales)
    found = newer.operator(
        "quant_lightning_indexer",
        *(Given(query, dtype), Given(key, dtype), Given(weight, weights)),
        *(Given(left, scales), Given(right, scales), None, None, None, 0, 0, "BSND", "BSND"),
        *(count, 0, 2**63 - 1, 2**63 - 1, Made((1, tokens, 1, count), "int32")),
    )
    assert not isinstance(found, Refused), found
    products = np.einsum("snd,td->snt", values(dtype)[query[0]], values(dtype)[key[0, :, 0]])
    products *= left[0, :, :, None].astype(np.float64) * right[0, :, 0].astype(np.float64)
    exact = (weight[0, :, :, None].astype(np.float64) * np.maximum(products, 0)).sum(axis=1)
    for token in range(tokens):
        chosen = exact[token][found[0][0, token, 0]]
        np.testing.assert_allclose(chosen, np.sort(exact[token])[::-1][:count], rtol=1e-5)


def test_indexers_refuse(newer: Chip950) -> None:
    query, key = np.zeros((1, 1, 8, 128), np.uint8), np.zeros((1, 3, 1, 128), np.uint8)
    half, single = np.ones((1, 1, 8), np.float16), np.ones((1, 3, 1), np.float32)
    found = newer.operator(
        "quant_lightning_indexer",
        *(Given(query, "hifloat8"), Given(key, "hifloat8"), Given(half, "float16")),
        *(Given(half, "float16"), Given(single, "float32"), None, None, None, 0, 0),
        *("BSND", "BSND", 2, 0, 2**63 - 1, 2**63 - 1, Made((1, 1, 1, 2), "int32")),
    )
    assert isinstance(found, Refused)
    assert "weights has dtype FLOAT16; allowed: BFLOAT16" in found.text
