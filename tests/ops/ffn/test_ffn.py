# SPDX-License-Identifier: Apache-2.0
"""Feed-forward blocks, with and without experts, in all versions and modes of quantisation."""

from __future__ import annotations

import re
from math import erf
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, hollow, op, place, refusal, wide

import aclnn_py as ap

from ..gmm.grouped_oracle import coarse, group_of_rows, packed_scale
from ..quantised import HALVES

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]

NAMES = ("aclnnFFN", "aclnnFFNV2", "aclnnFFNV3")
E, K, H, ROWS = 3, 24, 32, 10
COUNTS, ENDS = [4, 0, 6], [4, 4, 10]


def activated(x: Array, name: str) -> Array:
    if name == "relu":
        return np.maximum(x, 0)
    if name == "gelu":
        return 0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2)))
    if name == "fastgelu":
        return x / (1 + np.exp(-1.702 * x))
    return x / (1 + np.exp(-x))


def call(
    name: str,
    x: Array,
    weights: list[ap.Tensor],
    tokens: list[int] | None,
    dtype: Any,
    *,
    activation: str = "relu",
    precise: int = 0,
    ends: bool = False,
    layout: str = "dense",
    **optional: Array,
) -> Array:
    """Call a version; what is not named is null."""
    names = ["bias1", "bias2", "scale", "offset", "deq1", "deq2", "as1", "as2", "ao1", "ao2"]
    given = [place(optional[key]) if key in optional else None for key in names]
    listed: Any = tokens
    if name == NAMES[2] and tokens is not None:
        listed = place(np.array(tokens))
    y = hollow(x.shape, dtype, layout)
    flag = [] if name == NAMES[0] else [ends]
    op(name)(place(x, layout), *weights, listed, *given, activation, precise, *flag, y)
    return y.numpy()


def rounded(x: Array, dtype: np.dtype[Any]) -> Array:
    return wide(x.astype(np.float32).astype(dtype))


def block(
    x: Array, w: list[Array], b: list[Array | None], activation: str, dtype: np.dtype[Any]
) -> Array:
    """Two products in float64, what is between them in the dtype of the operands."""
    hidden = wide(x) @ wide(w[0]) + (0 if b[0] is None else wide(b[0]))
    hidden = rounded(activated(hidden, activation), dtype)
    return hidden @ wide(w[1]) + (0 if b[1] is None else wide(b[1]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("activation", ["relu", "gelu", "fastgelu", "silu"])
def test_floats(name: str, dtype: np.dtype[Any], activation: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, 5, K)).astype(dtype)
    w = [rng.standard_normal(s).astype(dtype) / dtype.type(4) for s in ((K, H), (H, K))]
    kind = np.float16 if dtype == np.float16 else np.float32
    bias = [rng.standard_normal(n).astype(kind) for n in (H, K)]
    oracle = block(x, w, [*bias], activation, dtype)
    for layout in LAYOUTS:
        y = call(
            *(name, x, [place(v, layout) for v in w], None, dtype),
            **dict(zip(("bias1", "bias2"), bias, strict=True)),
            activation=activation,
            layout=layout,
        )
        assert_close(y, oracle, scale=6, what=layout)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ends", [False, True])
def test_experts(name: str, ends: bool) -> None:
    if ends and name == NAMES[0]:
        pytest.skip("the first version takes counts only")
    rng = np.random.default_rng(2)
    dtype = np.dtype(np.float16)
    x = rng.standard_normal((ROWS, K)).astype(dtype)
    w = [(rng.standard_normal(s) / 4).astype(dtype) for s in ((E, K, H), (E, H, K))]
    bias = [rng.standard_normal((E, n)).astype(dtype) for n in (H, K)]
    owner = group_of_rows(ENDS, 0, ROWS)
    oracle = np.stack(
        [
            block(row[None], [v[g] for v in w], [v[g] for v in bias], "silu", dtype)[0]
            for row, g in zip(x, owner, strict=True)
        ]
    )
    y = call(
        *(name, x, [place(v) for v in w], ENDS if ends else COUNTS, dtype),
        bias1=bias[0],
        bias2=bias[1],
        ends=ends,
        activation="silu",
    )
    assert_close(y, oracle, scale=6)


def test_high_performance_rounds_before_the_activation() -> None:
    x = np.array([[1, 1]], np.float16)
    first = np.array([[2048, 0], [1, 0]], np.float16)  # 2049 is no number of float16
    second = np.array([[1, 0], [0, 0]], np.float16)
    weights = [place(first), place(second)]
    minus = np.array([-2048, 0], np.float16)
    for precise, wanted in [(0, 1), (1, 1)]:
        y = call(NAMES[0], x, weights, None, np.float16, precise=precise, bias1=minus)
        assert y[0, 0] == wanted  # the bias is added before any rounding
    silu = first / 512
    values = [
        call(NAMES[0], x / 512, [place(silu), place(second * 512)], None, np.float16, **kind)[0, 0]
        for kind in ({"activation": "silu"}, {"activation": "silu", "precise": 1})
    ]
    exact = 2049 / 512**2
    for value, between in zip(values, [exact, float(np.float16(exact))], strict=True):
        hidden = np.float16(between / (1 + np.exp(-between)))
        assert abs(float(value) - float(hidden) * 512) <= float(np.spacing(np.float16(value)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["uint64", "int64", "float32", "bfloat16"])
@pytest.mark.parametrize("by_channel", [False, True], ids=["one", "channel"])
@pytest.mark.parametrize("experts", [False, True])
def test_int8(name: str, kind: str, by_channel: bool, experts: bool) -> None:
    if by_channel and kind == "float32":
        pytest.skip("scales of channels stand beside packed scales or BFLOAT16")
    rng = np.random.default_rng(3)
    stack = (E,) if experts else ()
    x = rng.integers(-50, 51, (ROWS, K))
    w = [rng.integers(-50, 51, (*stack, *s)) for s in ((K, H), (H, K))]
    bias = [rng.integers(-999, 999, (*stack, n)) for n in (H, K)]
    deq = [coarse((*stack, n), rng) / 64 for n in (H, K)]
    if kind == "bfloat16":
        deq = [v.astype(ml_dtypes.bfloat16) for v in deq]
    shape = (*stack, H) if by_channel else (E if experts else 1,)
    scale = rng.uniform(5, 20, shape).astype(np.float32)
    offset = rng.uniform(-9, 9, E if experts else 1).astype(np.float32)
    out = np.dtype(ml_dtypes.bfloat16) if kind == "bfloat16" else np.dtype(np.float16)
    bits = [packed_scale(v).astype(kind) if "int" in kind else v.astype(kind) for v in deq]
    y = call(
        *(name, x.astype(np.int8), [place(v.astype(np.int8)) for v in w]),
        *(COUNTS if experts else None, out),
        activation="fastgelu",
        scale=scale,
        offset=offset,
        deq1=bits[0],
        deq2=bits[1],
        bias1=bias[0].astype(np.int32),
        bias2=bias[1].astype(np.int32),
    )
    owner = group_of_rows(ENDS, 0, ROWS) if experts else [0] * ROWS

    def of(values: Array, group: int) -> Array:
        return wide(values[group]) if experts else wide(values)

    for row, g in enumerate(owner):
        hidden = activated((x[row] @ of(w[0], g) + of(bias[0], g)) * of(deq[0], g), "fastgelu")
        factor = of(scale, g) if by_channel or experts else wide(scale)
        inner = hidden * factor + float(offset[g])
        steps = np.clip(np.rint(inner), -128, 127)
        oracle = (steps @ of(w[1], g) + of(bias[1], g)) * of(deq[1], g)
        # Near the middle between two whole numbers either is right.
        ties = np.abs(inner - np.floor(inner) - 0.5) < 1e-3
        slack = np.abs(of(w[1], g))[ties].sum(axis=0) * of(deq[1], g)
        limit = 2e-3 if out == np.float16 else 1e-2
        assert (np.abs(wide(y[row]) - oracle) <= slack + limit * np.abs(oracle) + 1e-3).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("kind", [np.int8, ml_dtypes.int4], ids=["int8", "int4"])
@pytest.mark.parametrize("pieces", [None, 2])
def test_quantised_weights(name: str, dtype: np.dtype[Any], kind: Any, pieces: int | None) -> None:
    rng = np.random.default_rng(4)
    bound = 100 if kind is np.int8 else 7
    x = rng.integers(-3, 4, (ROWS, K)).astype(dtype)
    numbers = [rng.integers(-bound, bound + 1, (E, *s)) for s in ((K, H), (H, K))]
    rows = () if pieces is None else (pieces,)
    scale = [rng.uniform(0.001, 0.01, (E, *rows, n)).astype(dtype) for n in (H, K)]
    shift = [rng.integers(-4, 5, (E, *rows, n)).astype(dtype) for n in (H, K)]
    optional = dict(zip(("as1", "as2", "ao1", "ao2"), [*scale, *shift], strict=True))
    weights = [ap.from_numpy(v.astype(np.int8).astype(kind)) for v in numbers]
    y = call(name, x, weights, COUNTS, dtype, **optional)

    def dense(i: int, group: int) -> Array:
        depth = numbers[i].shape[1]
        cut = [np.reshape(wide(v[group]), (pieces or 1, -1)) for v in (scale[i], shift[i])]
        factor, moved = (np.repeat(v, depth // (pieces or 1), axis=0) for v in cut)
        return rounded((numbers[i][group] + moved) * factor, dtype)

    for row, g in enumerate(group_of_rows(ENDS, 0, ROWS)):
        oracle = block(x[row : row + 1], [dense(0, g), dense(1, g)], [None, None], "relu", dtype)
        assert_close(y[row : row + 1], oracle, scale=8)


def test_it_is_two_grouped_products() -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((ROWS, K)).astype(np.float16)
    w = [(rng.standard_normal(s) / 4).astype(np.float16) for s in ((E, K, H), (E, H, K))]
    y = call(NAMES[2], x, [place(v) for v in w], COUNTS, np.float16, precise=1)
    hidden, out = hollow((ROWS, H), np.float16), hollow((ROWS, K), np.float16)
    groups = place(np.array(ENDS))
    empty = [None] * 5

    def product(a: ap.Tensor, b: ap.Tensor, to: ap.Tensor) -> None:
        ap.ops.grouped_matmul_v3([a], [b], *empty, groups, 3, 0, [to])

    product(place(x), place(w[0]), hidden)
    product(place(np.maximum(hidden.numpy(), 0)), place(w[1]), out)
    assert_same(y, out.numpy())
    assert np.ptp(y) > 1


def test_no_rows() -> None:
    weights = [place(np.ones(s, np.float16)) for s in ((K, H), (H, K))]
    assert call(NAMES[0], np.ones((0, K), np.float16), weights, None, np.float16).shape == (0, K)


def arguments(name: str = NAMES[2]) -> list[Any]:
    """An accepted call of the last version."""
    y = hollow((ROWS, K), np.float16)
    tokens = place(np.array(COUNTS))
    weights = [place(np.ones(s, np.float16)) for s in ((E, K, H), (E, H, K))]
    x = place(np.ones((ROWS, K), np.float16))
    return [x, *weights, tokens, *[None] * 10, "relu", 0, False, y]


@pytest.mark.parametrize("position", [0, 1, 2, 17])
def test_null_is_refused(position: int) -> None:
    given = arguments()
    op(NAMES[2])(*given)
    given[position] = None
    assert refusal(NAMES[2], *given) == 161001


@pytest.mark.parametrize(
    ("position", "given"),
    [
        (0, lambda: place(np.ones((ROWS, K), np.float32))),
        (0, lambda: place(np.ones(K, np.float16))),
        (1, lambda: place(np.ones((K, H), np.float16))),
        (1, lambda: place(np.ones((E, K, H + 1), np.float16))),
        (2, lambda: place(np.ones((E, H, K + 1), np.float16))),
        (2, lambda: place(np.ones((E, H, K), ml_dtypes.bfloat16))),
        (3, lambda: place(np.ones(E + 1, np.int64))),
        (3, lambda: place(np.ones(E, np.int32))),
        (4, lambda: place(np.ones((E, H), np.float32))),
        (5, lambda: place(np.ones((E, H), np.float16))),
        (6, lambda: place(np.ones(E, np.float32))),
        (10, lambda: place(np.ones((E, H), np.float16))),
        (14, lambda: "tanh"),
        (14, lambda: "swiglu"),
        (15, lambda: 2),
        (17, lambda: hollow((ROWS, K), np.float32)),
        (17, lambda: hollow((ROWS, H), np.float16)),
    ],
)
def test_a_wrong_argument_is_refused(position: int, given: Any) -> None:
    right = arguments()
    right[position] = given()
    assert refusal(NAMES[2], *right) == 161002


@pytest.mark.parametrize(
    ("tokens", "ends"),
    [([4, 0, 5], False), ([4, 0, 7], False), ([4, -1, 7], False), ([4, 3, 10], True), ([4], False)],
)
def test_tokens_that_are_not_the_rows_are_refused(tokens: list[int], ends: bool) -> None:
    given = arguments()
    given[3], given[16] = tokens, ends
    assert refusal(NAMES[1], *given) == 161002


def test_tokens_on_the_device_are_judged_there() -> None:
    for tokens, words in [([4, 0, 5], "gives 9 rows"), ([4, 0, 7], "beyond"), ([-1, 0, 1], "-1")]:
        given = arguments()
        given[3] = place(np.array(tokens))
        with pytest.raises(ap.errors.AclError, match=re.escape(words)) as caught:
            op(NAMES[2])(*given)
            ap.synchronize()
        assert caught.value.status == 507015


def test_modes_do_not_mix() -> None:
    given = arguments()
    given[0] = place(np.ones((ROWS, K), np.int8))
    assert refusal(NAMES[2], *given) == 161002
    for i, shape in ((1, (E, K, H)), (2, (E, H, K))):
        given[i] = place(np.ones(shape, np.int8))
    assert refusal(NAMES[2], *given) == 161002  # scales are missing
    given[0] = place(np.ones((ROWS, K), np.float16))
    assert refusal(NAMES[2], *given) == 161002  # antiquant scales are missing
    bf16 = arguments()
    for i in (0, 1, 2):
        bf16[i] = place(bf16[i].numpy().astype(ml_dtypes.bfloat16))
    bf16[17], bf16[15] = hollow((ROWS, K), ml_dtypes.bfloat16), 1
    assert refusal(NAMES[2], *bf16) == 161002
