# SPDX-License-Identifier: Apache-2.0
"""NormRopeConcat against its steps in NumPy: norm, join, rotation, heads in front."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import hollow, op, place, wide

from aclnn_py.errors import AclnnError

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
NAME = "aclnnNormRopeConcat"
BATCH, HEADS, WIDTH, EPS = 2, 3, 8, 1e-3
FLOATS = [np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]


def normal(seed: int, *shape: int, dtype: Any = np.float32) -> Array:
    return (np.random.default_rng(seed).standard_normal(shape) + 0.5).astype(dtype)


def normalised(x: Array, kind: int, weight: Array, bias: Array) -> tuple[Array, Array, Array]:
    """The values, their mean and their divisor."""
    x = wide(x)
    mean = x.mean(-1, keepdims=True)
    if kind in (1, 2):
        rstd = 1 / np.sqrt(x.var(-1, keepdims=True) + EPS)
        y = (x - mean) * rstd
        return (y * wide(weight) + wide(bias) if kind == 2 else y), mean, rstd
    rstd = 1 / np.sqrt((x**2).mean(-1, keepdims=True) + EPS)
    if kind == 0:
        return x, mean, rstd
    return (x * rstd * wide(weight) if kind == 4 else x * rstd), mean, rstd


def turned(x: Array, kind: int, sin: Array, cos: Array) -> Array:
    """The first tokens of (batch, tokens, heads, width) turned, as many as the tables have."""
    rows = len(sin)
    part = x[:, :rows]
    if kind == 1:
        other = np.stack([-part[..., 1::2], part[..., ::2]], -1).reshape(part.shape)
    else:
        first, second = np.split(part, 2, axis=-1)
        other = np.concatenate([-second, first], -1)
    own = part * wide(cos)[:, None] + other * wide(sin)[:, None]
    return np.concatenate([own, x[:, rows:]], axis=1)


def call(
    dtype: Any,
    *,
    norms: tuple[int, int] = (2, 4),
    rope: int = 1,
    order: int = 0,
    training: bool = True,
    encoder: bool = True,
    layout: str = "dense",
    lengths: tuple[int, int, int] = (4, 5, 5),
) -> tuple[list[Any], list[Array], list[tuple[Any, Array]]]:
    """Arguments, the results as arrays that were expected, and the statistics with theirs."""
    shapes = [(BATCH, n, HEADS, WIDTH) for n in lengths]
    own = [normal(i, *shape, dtype=dtype) for i, shape in enumerate(shapes)]
    extra = [normal(i + 5, BATCH, 2, HEADS, WIDTH, dtype=dtype) for i in range(3)]
    weights = [normal(i + 10, WIDTH, dtype=dtype) for i in range(8)]
    sin, cos = (normal(i, 5, WIDTH, dtype=dtype) for i in (20, 21))
    expected, statistics = [], []
    for n in range(3):
        parts = []
        for source, kind, first in ((own[n], norms[0], 0), (extra[n], norms[1], 4)):
            if source is extra[n] and not encoder:
                continue
            if n == 2:
                parts.append(wide(source))
                continue
            at = first + 2 * n
            y, mean, rstd = normalised(source, kind, weights[at], weights[at + 1])
            parts.append(y)
            statistics.append((first // 4, n, mean, rstd, kind))
        joined = np.concatenate(parts[::-1] if order else parts, axis=1)
        if n < 2 and rope:
            joined = turned(joined, rope, sin, cos)
        expected.append(joined.transpose(0, 2, 1, 3))
    outs = [hollow(x.shape, dtype, layout) for x in expected]
    made: list[Any] = [None] * 8
    checks = []
    for source, n, mean, rstd, kind in statistics:
        if not training or kind == 0:
            continue
        for offset, values in ((0, mean), (1, rstd)):
            if offset == 0 and kind > 2:
                continue
            tensor = hollow(values.shape, np.float32)
            made[4 * source + 2 * n + offset] = tensor
            checks.append((tensor, values))
    arguments = [
        *(place(x, layout) for x in own),
        *(place(x, layout) if encoder else None for x in extra),
        *(place(x) for x in weights), place(sin), place(cos), *norms, rope, order, EPS, training,
        *outs, *made,
    ]  # fmt: skip
    return arguments, expected, checks


FORMS = [
    {"norms": (2, 4)},
    {"norms": (1, 3), "rope": 2, "order": 1},
    {"norms": (4, 2), "rope": 0, "training": False, "layout": "transposed"},
    {"norms": (3, 1), "rope": 2, "layout": "stepped", "lengths": (5, 4, 6)},
    {"norms": (0, 0), "encoder": False, "lengths": (6, 5, 5)},
]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: str(form["norms"]))
def test_the_steps_one_after_the_other(form: dict[str, Any], dtype: Any) -> None:
    arguments, expected, statistics = call(dtype, **form)
    op(NAME)(*arguments)
    for out, wanted in zip(arguments[22:25], expected, strict=True):
        assert_close(out.numpy(), wanted, scale=4)
    for tensor, wanted in statistics:
        assert_close(tensor.numpy(), wanted, scale=4)


def test_a_result_in_the_memory_of_another_operand() -> None:
    arguments, expected, _ = call(FLOATS[0], encoder=False, rope=0, lengths=(5, 5, 5))
    key = arguments[1]
    arguments[22] = key.reshape((BATCH, HEADS, 5, WIDTH))
    op(NAME)(*arguments)
    assert_close(arguments[22].numpy(), expected[0], scale=4)
    assert_close(arguments[23].numpy(), expected[1], scale=4)


def test_sequences_without_tokens() -> None:
    arguments, expected, _ = call(FLOATS[0], lengths=(0, 3, 3), rope=0)
    op(NAME)(*arguments)
    assert_close(arguments[22].numpy(), expected[0], scale=4)


def refused(status: int, index: int, value: Any, **form: Any) -> str:
    arguments, _, _ = call(FLOATS[0], **form)
    arguments[index] = value
    with pytest.raises(AclnnError) as caught:
        op(NAME)(*arguments)
    assert caught.value.status == status
    return str(caught.value)


def test_refusals_name_the_parameter() -> None:
    other = place(normal(1, BATCH, 5, HEADS, WIDTH, dtype=np.float16))
    wrong = place(normal(1, BATCH, 5, HEADS + 1, WIDTH))
    assert "key is null" in refused(161001, 1, None)
    assert "keyOutput is null" in refused(161001, 23, None)
    assert "key has dtype FLOAT16" in refused(161002, 1, other)
    assert "key has shape" in refused(561002, 1, wrong)
    assert "normType is 5" in refused(561002, 16, 5)
    assert "normAddedType is -1" in refused(561002, 17, -1)
    assert "ropeType is 3" in refused(361001, 18, 3)
    assert "concatOrder is 2" in refused(361001, 19, 2)
    assert "normQueryWeightOptional is null" in refused(561002, 6, None)
    assert "normQueryBiasOptional is null" in refused(561002, 7, None)
    assert "ropeSinOptional is null" in refused(561002, 14, None)
    assert "ropeCosOptional has shape" in refused(561002, 15, place(normal(1, 4, WIDTH)))
    assert "normQueryRstdOptional is null" in refused(561002, 26, None)
    assert "queryOutput has shape" in refused(561002, 22, hollow((2, 3, 5, 8), np.float32))
    long = [place(normal(1, 7, WIDTH))] * 2
    arguments, _, _ = call(FLOATS[0])
    arguments[14:16] = long
    with pytest.raises(AclnnError, match="ropeSinOptional has 7 rows; allowed: 1 to 6"):
        op(NAME)(*arguments)
