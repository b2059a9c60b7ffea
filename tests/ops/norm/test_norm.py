# SPDX-License-Identifier: Apache-2.0
"""Norms, softmax and gated units against NumPy in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, hollow, place, refusal, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, Ref, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Dtype = np.dtype[Any]
Array = np.ndarray[Any, Any]
EPS = 1e-5


def normal(rng: Rng, shape: tuple[int, ...], dtype: Dtype, shift: float = 0.0) -> Array:
    return (rng.standard_normal(shape) * 2 + shift).astype(dtype)


def layer_norm(
    shape: tuple[int, ...], tail: int, parts: str, note: str, mode: bool = False
) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = normal(rng, shape, dtype, 3.0)
        inner = shape[len(shape) - tail :]
        outer = (*shape[: len(shape) - tail], *([1] * tail))
        weight = normal(rng, inner, dtype, 1.0) if "w" in parts else None
        bias = normal(rng, inner, dtype) if "b" in parts else None
        axes = tuple(range(len(shape) - tail, len(shape)))
        mean = wide(x).mean(axis=axes, keepdims=True)
        rstd = 1 / np.sqrt(wide(x).var(axis=axes, keepdims=True) + EPS)
        y = (wide(x) - mean) * rstd
        y = y * (1 if weight is None else wide(weight)) + (0 if bias is None else wide(bias))
        saved = "s" in parts
        problem = [
            In(x),
            list(inner),
            None if weight is None else In(weight),
            None if bias is None else In(bias),
            EPS,
            Out(y, dtype, 4),
            Out(mean.reshape(outer), np.float32, 4) if saved else None,
            Out(rstd.reshape(outer), np.float32, 4) if saved else None,
        ]
        return [*problem, 0] if mode else problem

    name = "LayerNormWithImplMode" if mode else "LayerNorm"
    return Case(name, build, note, nullable=frozenset({2, 3, 6, 7}))


def rms_norm(shape: tuple[int, ...], tail: int, keep: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x, gamma = normal(rng, shape, dtype), normal(rng, shape[len(shape) - tail :], dtype, 1.0)
        axes = tuple(range(len(shape) - tail, len(shape)))
        rstd = 1 / np.sqrt((wide(x) ** 2).mean(axis=axes, keepdims=True) + EPS)
        y = wide(x) * rstd * wide(gamma)
        stored = rstd if keep else rstd.reshape(shape[: len(shape) - tail])
        return [In(x), In(gamma), EPS, Out(y, dtype, 4), Out(stored, np.float32, 4)]

    return Case("RmsNorm", build, f"{len(shape)}d-{tail}-{keep}")


def add_rms_norm(rng: Rng, dtype: Dtype) -> Problem:
    x1, x2 = normal(rng, (3, 4, 19), dtype), normal(rng, (3, 4, 19), dtype)
    gamma = normal(rng, (19,), dtype, 1.0)
    total = wide(x1) + wide(x2)
    rstd = 1 / np.sqrt((total**2).mean(axis=-1, keepdims=True) + EPS)
    y = total * rstd * wide(gamma)
    return [
        In(x1),
        In(x2),
        In(gamma),
        EPS,
        Out(y, dtype, 4),
        Out(rstd, np.float32, 4),
        Out(total, dtype, 2),
    ]


def group_norm(affine: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = normal(rng, (2, 6, 3, 5), dtype, 1.0)
        gamma, beta = normal(rng, (6,), dtype, 1.0), normal(rng, (6,), dtype)
        grouped = wide(x).reshape(2, 3, -1)
        mean, var = grouped.mean(axis=-1), grouped.var(axis=-1)
        rstd = 1 / np.sqrt(var + EPS)
        y = ((grouped - mean[..., None]) * rstd[..., None]).reshape(x.shape)
        if affine:
            y = y * wide(gamma)[:, None, None] + wide(beta)[:, None, None]
        return [
            In(x),
            In(gamma) if affine else None,
            In(beta) if affine else None,
            2,
            6,
            15,
            3,
            EPS,
            Out(y, dtype, 6),
            Out(mean, dtype, 6),
            Out(rstd, dtype, 6),
        ]

    return Case("GroupNorm", build, "affine" if affine else "plain", nullable=frozenset({1, 2}))


def batch_norm(training: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = normal(rng, (4, 3, 2, 5), dtype, 1.0)
        weight, bias, mean = (normal(rng, (3,), dtype, 1.0) for _ in range(3))
        var = rng.uniform(0.5, 2.0, 3).astype(dtype)
        column = (3, 1, 1)
        if not training:
            rstd = 1 / np.sqrt(wide(var) + EPS)
            y = (wide(x) - wide(mean).reshape(column)) * rstd.reshape(column)
            y = y * wide(weight).reshape(column) + wide(bias).reshape(column)
            unused = np.full(3, 77.0)
            return [
                In(x),
                In(weight),
                In(bias),
                Ref(mean, wide(mean)),
                Ref(var, wide(var)),
                False,
                0.1,
                EPS,
                Out(y, dtype, 6),
                Out(unused, dtype),
                Out(unused, dtype),
            ]
        axes = (0, 2, 3)
        here, spread = wide(x).mean(axis=axes), wide(x).var(axis=axes)
        rstd = 1 / np.sqrt(spread + EPS)
        y = (wide(x) - here.reshape(column)) * rstd.reshape(column)
        y = y * wide(weight).reshape(column) + wide(bias).reshape(column)
        moved = 0.9 * wide(mean) + 0.1 * here
        moved_var = 0.9 * wide(var) + 0.1 * wide(x).var(axis=axes, ddof=1)
        return [
            In(x),
            In(weight),
            In(bias),
            Ref(mean, moved, 4),
            Ref(var, moved_var, 4),
            True,
            0.1,
            EPS,
            Out(y, dtype, 6),
            Out(here, dtype, 6),
            Out(rstd, dtype, 6),
        ]

    note = "training" if training else "inference"
    optional = frozenset({1, 2, 3, 4} if training else {1, 2, 9, 10})
    # Inference leaves the saved statistics alone, whatever their shape.
    return Case("BatchNorm", build, note, nullable=optional, free_shapes=not training)


def softmax(operator: str, shape: tuple[int, ...], dim: int) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = normal(rng, shape, dtype)
        shifted = wide(x) - wide(x).max(axis=dim, keepdims=True, initial=-np.inf)
        y = shifted - np.log(np.exp(shifted).sum(axis=dim, keepdims=True))
        y = y if operator.startswith("Log") else np.exp(y)
        return [In(x), dim, Out(y, dtype, 8)]

    return Case(operator, build, f"{'x'.join(map(str, shape))}@{dim}")


def gated(operator: str, dim: int, approximate: int = 0, left: bool | None = None) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = normal(rng, (4, 6, 10), dtype)
        first, second = np.split(wide(x), 2, axis=dim)
        if operator == "SwiGlu":
            return [In(x), dim, Out(first / (1 + np.exp(-first)) * second, dtype, 8)]
        if operator == "Glu":
            return [In(x), dim, Out(first / (1 + np.exp(-second)), dtype, 8)]
        gate, linear = (first, second) if left else (second, first)
        if approximate:
            inner = math.sqrt(2 / math.pi) * (gate + 0.044715 * gate**3)
            gelu = 0.5 * gate * (1 + np.tanh(inner))
        else:
            gelu = 0.5 * gate * (1 + np.vectorize(math.erf)(gate / math.sqrt(2)))
        results = [Out(linear * gelu, dtype, 8), Out(gelu, dtype, 8)]
        flags = [approximate] if left is None else [approximate, left]
        return [In(x), dim, *flags, *results]

    return Case(operator, build, f"{dim}-{approximate}-{left}")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("source", "kind"), [
    (np.float16, np.float32), (np.float32, np.float16), (np.float64, np.float32),
    (np.float32, np.float64), (np.float16, np.float64),
])  # fmt: skip
def test_glu_casts_what_its_own_dtype_holds(source: Any, kind: Any, layout: str) -> None:
    x = normal(np.random.default_rng(4), (3, 8), np.dtype(source))
    out = hollow((3, 4), kind, layout)
    ap.ops.glu(place(x, layout), -1, out)
    first, second = np.split(wide(x), 2, axis=-1)
    coarse = min(source, kind, key=lambda t: np.finfo(t).bits)
    assert_close(out.numpy(), first / (1 + np.exp(-second)), dtype=coarse, scale=2)
    assert_same(out.numpy(), out.numpy().astype(coarse).astype(kind))


def test_swi_glu_copies_a_strided_input() -> None:
    x = normal(np.random.default_rng(6), (3, 16), np.dtype(np.float32))
    out = hollow((3, 4), np.float32)
    with ap.strict():
        ap.ops.swi_glu(ap.from_numpy(x)[:, ::2], -1, out)
    first, second = np.split(wide(x[:, ::2]), 2, axis=-1)
    assert_close(out.numpy(), first / (1 + np.exp(-first)) * second, scale=8)


def test_private_formats_are_refused() -> None:
    x = ap.zeros((2, 4, 16, 16), np.float32, format="FRACTAL_NZ")
    out, four = hollow((2, 4, 16, 16), np.float32), place(np.ones(4, np.float32))
    per_group = [hollow((2, 2), np.float32) for _ in range(2)]
    assert refusal("aclnnGroupNorm", x, four, four, 2, 4, 256, 2, EPS, out, *per_group) == 161002
    saved = [hollow((4,), np.float32) for _ in range(2)]
    arguments = [four, four, four, four, True, 0.1, EPS, out, *saved]
    assert refusal("aclnnBatchNorm", x, *arguments) == 161002


def test_gated_units_of_one_dtype_cast_nothing() -> None:
    x, out = place(np.ones((3, 8), np.float16)), hollow((3, 4), np.float32)
    assert refusal("aclnnSwiGlu", x, -1, out) == 161002
    assert refusal("aclnnGeGlu", x, -1, 0, out, hollow((3, 4), np.float16)) == 161002


RENORMS = [(0.0, 0), (1.0, 1), (2.0, -1), (3.5, -3), (math.inf, 1)]


def renorm(p: float, dim: int, in_place: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x = normal(rng, (3, 5, 7), dtype)
        x[1] /= 64
        x[2, 3, :4] = 0
        size = np.abs(wide(x))
        axes = tuple(axis for axis in range(3) if axis != dim % 3)
        if p == 0:
            length = (size != 0).sum(axes, keepdims=True).astype(np.float64)
        elif p == math.inf:
            length = size.max(axes, keepdims=True)
        else:
            length = (size**p).sum(axes, keepdims=True) ** (1 / p)
        limit = float(length.min() + length.max()) / 2
        scaled = wide(x) * np.where(length > limit, limit / length, 1)
        if in_place:
            return [Ref(x, scaled, 2), p, dim, limit]
        return [In(x), p, dim, limit, Out(scaled, dtype, 2)]

    return Case("InplaceRenorm" if in_place else "Renorm", build, f"{p:g}-{dim}")


CASES = [
    layer_norm((5, 4, 33), 1, "wbs", "all"),
    layer_norm((5, 4, 33), 2, "wb", "two-dims"),
    layer_norm((7, 300), 1, "s", "bare"),
    layer_norm((3, 8), 1, "w", "weight-only"),
    layer_norm((0, 8), 1, "wbs", "no-rows"),
    layer_norm((6, 17), 1, "wbs", "all", mode=True),
    rms_norm((5, 19), 1, True),
    rms_norm((2, 3, 260), 1, False),
    rms_norm((2, 3, 4, 5), 2, True),
    Case("AddRmsNorm", add_rms_norm),
    group_norm(True),
    group_norm(False),
    batch_norm(True),
    batch_norm(False),
    *(
        softmax(name, shape, dim)
        for name in ("Softmax", "LogSoftmax")
        for shape, dim in (
            ((6, 9), -1),
            ((6, 9), 0),
            ((2, 300, 3), 1),
            ((4, 3, 2, 5), -3),
            ((3, 0), 0),
            ((1, 700), 1),
        )
    ),
    gated("SwiGlu", -1),
    gated("SwiGlu", 0),
    gated("Glu", 1),
    gated("GeGlu", -1),
    gated("GeGlu", 1, 1),
    gated("GeGluV3", -1, 0, True),
    gated("GeGluV3", -1, 1, False),
    gated("GeGluV3", 0, 1, True),
    *(renorm(p, dim, in_place) for p, dim in RENORMS for in_place in (False, True)),
]

TestTable = suite(CASES)


def test_renorm_scales_to_nothing_and_keeps_what_is_not_too_long() -> None:
    x = place(np.array([[3.0, 4.0], [0.0, 0.0], [np.nan, 1.0]], np.float32))
    out = hollow((3, 2), np.float32)
    ap.ops.renorm(x, 2.0, 0, 0.0, out)
    assert_same(out.numpy(), np.array([[0, 0], [0, 0], [np.nan, 1]], np.float32))
    ap.ops.renorm(x, 2.0, 0, 5.0, out)
    assert_same(out.numpy(), x.numpy())
    ap.ops.renorm(x, 2.0, 0, 2.5, x)
    assert_same(x.numpy()[0], np.array([1.5, 2.0], np.float32))
    ap.ops.renorm(hollow((0, 3), np.float32), 2.0, 0, 1.0, hollow((0, 3), np.float32))


@pytest.mark.parametrize(
    ("p", "dim", "limit", "words"),
    [
        (-1.0, 0, 1.0, "p is -1; it must not be negative"),
        (2.0, 2, 1.0, "dim is 2; allowed: -2 to 1"),
        (2.0, -3, 1.0, "dim is -3"),
        (2.0, 0, -0.5, "maxNorm is -0.5; it must not"),
    ],
)
def test_renorm_names_the_number_it_refuses(p: float, dim: int, limit: float, words: str) -> None:
    x = hollow((2, 3), np.float32)
    for call in (
        lambda: ap.ops.renorm(x, p, dim, limit, x),
        lambda: ap.ops.inplace_renorm(x, p, dim, limit),
    ):
        with pytest.raises(ap.errors.AclnnError, match=words) as caught:
            call()
        assert caught.value.status == 161002


def test_renorm_refuses_vectors_and_mixed_dtypes() -> None:
    vector, matrix = hollow((3,), np.float32), hollow((2, 3), np.float32)
    assert refusal("aclnnRenorm", vector, 2.0, 0, 1.0, vector) == 161002
    assert refusal("aclnnRenorm", matrix, 2.0, 0, 1.0, hollow((2, 3), np.float16)) == 161002


def test_softmax_of_a_scalar_is_one() -> None:
    out = hollow((), np.float32)
    ap.ops.softmax(place(np.array(3.0, np.float32)), 0, out)
    assert out.numpy() == 1.0


def test_softmax_of_the_extremes() -> None:
    inf, nan = np.inf, np.nan
    rows = np.array(
        [[1, inf, 0], [-inf, -inf, -inf], [nan, 1, 2], [-inf, 0, 0], [1e4, 0, 1e4]], np.float32
    )
    out = hollow(rows.shape, np.float32)
    ap.ops.softmax(place(rows), -1, out)
    expected = np.array([[nan] * 3, [nan] * 3, [nan] * 3, [0, 0.5, 0.5], [0.5, 0, 0.5]], np.float32)
    assert_same(out.numpy(), expected)


def test_softmax_in_place() -> None:
    x = np.random.default_rng(1).standard_normal((4, 50)).astype(np.float32)
    tensor = place(x)
    ap.ops.softmax(tensor, 1, tensor)
    e = np.exp(wide(x))
    assert_close(tensor.numpy(), e / e.sum(axis=1, keepdims=True), scale=4)


@pytest.mark.usefixtures("unchecked")
def test_softmax_over_a_shifted_copy_of_itself() -> None:
    memory = place(np.arange(70, dtype=np.float32) / 7)
    source, target = memory[:60].reshape(6, 10), memory[10:].reshape(6, 10)
    e = np.exp(wide(source.numpy()))
    ap.ops.softmax(source, 1, target)
    assert_close(target.numpy(), e / e.sum(axis=1, keepdims=True), scale=8)


def test_worked_examples() -> None:
    y, rstd = hollow((1, 2), np.float32), hollow((1, 1), np.float32)
    ap.ops.rms_norm(
        place(np.array([[3, 4]], np.float32)), place(np.array([1, 2], np.float32)), 0.0, y, rstd
    )
    assert_close(y.numpy(), [[0.84852814, 2.26274170]])
    assert_close(rstd.numpy(), [[0.28284271]])
    out = hollow((1, 2), np.float32)
    ap.ops.swi_glu(place(np.array([[0, math.log(3), 2, 4]], np.float32)), -1, out)
    assert_close(out.numpy(), [[0, 3.2958369]])


def test_values_outside_the_documented_range_are_refused() -> None:
    x, out = place(np.ones((4, 6), np.float32)), hollow((4, 6), np.float32)
    assert refusal("aclnnSoftmax", x, 2, out) == 161002
    assert refusal("aclnnSoftmax", x, -3, out) == 161002
    assert refusal("aclnnLayerNorm", x, [5], None, None, EPS, out, None, None) == 161002
    assert refusal("aclnnLayerNorm", x, [], None, None, EPS, out, None, None) == 161002
    mode = (x, [6], None, None, EPS, out, None, None, 3)
    assert refusal("aclnnLayerNormWithImplMode", *mode) == 161002
    odd = place(np.ones((4, 5), np.float32))
    assert refusal("aclnnSwiGlu", odd, -1, hollow((4, 2), np.float32)) == 161002
    gamma = place(np.ones(5, np.float32))
    rstd = hollow((4, 1), np.float32)
    assert refusal("aclnnRmsNorm", x, gamma, EPS, out, rstd) == 161002
