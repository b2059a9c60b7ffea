# SPDX-License-Identifier: Apache-2.0
"""Tokens sorted by their experts against NumPy; unquantised forms are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, op, place, wide

import aclnn_py as ap
from aclnn_py.errors import AclnnError

from ..problems import Case, In, Out, Problem, fault, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Dtype = np.dtype[Any]
Array = np.ndarray[Any, Any]

FLOATS = frozenset({"FLOAT", "FLOAT16", "BFLOAT16"})


def choice(rng: Rng, tokens: int, k: int, experts: int) -> Array:
    rows = [rng.permutation(experts)[:k] for _ in range(tokens)]
    return np.array(rows, np.int32).reshape(tokens, k)


def tokens_of(rng: Rng, shape: tuple[int, int], dtype: Dtype) -> Array:
    return (rng.integers(-100, 100, shape) / 4).astype(dtype)


def order_of(experts: Array) -> Array:
    return np.argsort(experts.reshape(-1), kind="stable")


def inverse_of(order: Array) -> Array:
    result = np.empty(len(order), np.int32)
    result[order] = np.arange(len(order))
    return result


def by_scale(x: Array, scale: float, offset: float, limit: int = 127) -> Array:
    """Static quantisation; products of the tests are exact in float32."""
    return np.clip(np.round(wide(x) * scale + offset), -limit - 1, limit)


def by_row(x: Array, factors: Any = 1.0, limit: int = 127) -> tuple[Array, Array]:
    """Dynamic quantisation in float32, as the documents give its stages."""
    rows = x.astype(np.float32) * np.float32(factors)
    scales = np.abs(rows).max(-1, initial=0) / np.float32(limit)
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.round(rows / scales[:, None])), scales


def padded(rows: Array, index: Array, tokens: Array, places: int) -> Array:
    """Rows in their places; the places that no token has stay 0."""
    result = np.zeros((places, *rows.shape[1:]), rows.dtype)
    for place_, token in zip(index, tokens, strict=True):
        if place_ >= 0:
            result[place_] = rows[token]
    return result


def places_of(experts: Array, capacity: int) -> Array:
    """The definition, an entry at a time."""
    used: dict[int, int] = {}
    result = []
    for expert in experts.reshape(-1).tolist():
        at = used.get(expert, 0)
        used[expert] = at + 1
        result.append(expert * capacity + at if at < capacity else -1)
    return np.array(result, np.int32)


def first(tokens: int, k: int, active: int, quantised: bool = False) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x, experts = tokens_of(rng, (tokens, 6), dtype), choice(rng, tokens, k, 9) - 3
        index = np.arange(tokens * k, dtype=np.int32).reshape(k, tokens).T
        order = order_of(experts)
        sorted_index = index.reshape(-1)[order]
        places = inverse_of(sorted_index)
        rows = x[sorted_index % tokens if tokens else sorted_index][: min(tokens, active) * k]
        tail = [Out(places, np.int32), Out(experts.reshape(-1)[order], np.int32)]
        head = [In(x), In(np.ascontiguousarray(index)), In(experts), active]
        if quantised:
            return [*head, 0.5, -3.0, Out(by_scale(rows, 0.5, -3), np.int8), *tail]
        return [*head, Out(wide(rows), dtype), *tail]

    name = "MoeInitRoutingQuant" if quantised else "MoeInitRouting"
    return Case(name, build, f"{tokens}-{k}-{active}", free_shapes=True)


def second(tokens: int, k: int, active: int, count: int) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x, experts = tokens_of(rng, (tokens, 6), dtype), choice(rng, tokens, k, 9)
        order = order_of(experts)
        rows = x[order // k][: active or None]
        counts = np.bincount(experts.reshape(-1), minlength=9)
        counted = Out(counts.cumsum() if count == 1 else counts, np.int32) if count else None
        return [
            *(In(x), In(experts), active, 0, 9 if count else 0, 0, count, True),
            *(Out(wide(rows), dtype), Out(inverse_of(order), np.int32), counted, None),
        ]

    note = f"{tokens}-{k}-{active}-{count}"
    return Case("MoeInitRoutingV2", build, note, free_shapes=True, nullable=frozenset({10, 11}))


def second_padded(capacity: int, before: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x, experts = tokens_of(rng, (8, 6), dtype), choice(rng, 8, 3, 5)
        index = places_of(experts, capacity)
        rows = padded(wide(x), index, np.arange(24) // 3, 5 * capacity)
        counts = np.bincount(experts.reshape(-1), minlength=5)
        return [
            *(In(x), In(experts), 3, capacity, 5, 1, 1, before),
            *(Out(rows.reshape(5, capacity, 6), dtype), Out(index, np.int32), None),
            Out(counts, np.int32) if before else None,
        ]

    note = f"padded-{capacity}-{before}"
    return Case("MoeInitRoutingV2", build, note, free_shapes=True, nullable=frozenset({10, 11}))


def second_quantised(mode: int, factors: str, active: int, capacity: int = 0) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x, experts = tokens_of(rng, (8, 6), dtype), choice(rng, 8, 3, 5)
        order = order_of(experts)
        index = places_of(experts, capacity) if capacity else inverse_of(order)
        entries = x.repeat(3, axis=0)
        table = (rng.integers(1, 9, (1 if factors == "shared" else 5, 6)) / 8).astype(np.float32)
        own = np.broadcast_to(table, (5, 6))[experts.reshape(-1)]
        values, scales = by_row(entries, own if factors else 1.0)
        scale: Any = In(table) if factors else None
        if mode == 0:
            scale, values = In(np.array([0.5], np.float32)), by_scale(entries, 0.5, 2)
        offset = In(np.array([2], np.float32)) if mode == 0 else None
        if capacity:
            at = np.arange(24)
            values = padded(values, index, at, 5 * capacity).reshape(5, capacity, 6)
            scales = padded(scales, index, at, 5 * capacity)
        else:
            values, scales = values[order][: active or None], scales[order][: active or None]
        counts = Out(np.bincount(experts.reshape(-1), minlength=5).cumsum(), np.int32)
        return [
            *(In(x), In(experts), scale, offset, active, capacity, 5, int(capacity > 0), 1, False),
            *(mode, Out(values, np.int8), Out(index, np.int32), None if capacity else counts),
            *(None, Out(scales, np.float32) if mode else None),
        ]

    note = f"{mode}-{factors}-{active}-{capacity}"
    nullable = frozenset({2, 3, 13, 14, 15})
    return Case("MoeInitRoutingQuantV2", build, note, free_shapes=True, nullable=nullable)


def third(
    active: int,
    span: tuple[int, int] | None,
    kind: int,
    index_kind: int,
    scaled: bool = False,
    mode: int = -1,
) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x, experts = tokens_of(rng, (8, 6), dtype), choice(rng, 8, 3, 7)
        low, high = span or (0, 7)
        order = order_of(experts)
        flat = experts.reshape(-1)
        order = order[(flat[order] >= low) & (flat[order] < high)]
        total = active or 24
        kept = order[:total]
        entries, scales = x[kept // 3], np.full(total, 77.0, np.float32)
        given = (rng.integers(1, 9, 8) / 8).astype(np.float32)
        scale: Any = In(given) if scaled else None
        offset = None
        values = wide(entries)
        if mode == 1:
            table = (rng.integers(1, 9, (high - low, 6)) / 8).astype(np.float32)
            scale = In(table) if scaled else None
            values, made = by_row(entries, table[flat[kept] - low] if scaled else 1.0)
            scales[: len(kept)] = made
        elif mode == 0:
            scale, offset = In(np.array([0.25], np.float32)), In(np.array([1], np.float32))
            values = by_scale(entries, 0.25, 1)
        elif scaled:
            scales[: len(kept)] = given[kept // 3]
        rows = np.full((total, 6), 77.0)
        rows[: len(kept)] = values
        index = np.full(24, 77 if index_kind else -1, np.int32)
        if index_kind:
            index[: len(order)] = order
        else:
            index[order] = np.arange(len(order))
        counts = np.bincount(flat, minlength=7)
        found: Array = counts[low:high].cumsum() if kind == 0 else counts[low:high]
        if kind == 2:
            found = np.zeros((7, 2), np.int64)
            there = [e for e in range(low, high) if counts[e]]
            found[: len(there)] = [(e, counts[e]) for e in there]
        return [
            *(In(x), In(experts), scale, offset, active, 0, 7, 0, kind, True, mode),
            *(list(span) if span else None, index_kind),
            *(Out(rows, dtype if mode < 0 else np.int8), Out(index, np.int32)),
            *(Out(found, np.int64), Out(scales, np.float32)),
        ]

    note = f"{active}-{span}-{kind}-{index_kind}-{scaled}-{mode}".replace(" ", "")
    dtypes = None if mode < 0 else FLOATS
    nullable = frozenset({2, 3})
    return Case("MoeInitRoutingV3", build, note, dtypes=dtypes, free_shapes=True, nullable=nullable)


def third_padded(scaled: bool, mode: int) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        x, experts = tokens_of(rng, (8, 6), dtype), choice(rng, 8, 3, 5)
        index, at = places_of(experts, 4), np.arange(24)
        entries = x.repeat(3, axis=0)
        given = (rng.integers(1, 9, 8) / 8).astype(np.float32)
        values, scales = wide(entries), given.repeat(3)
        if mode == 1:
            values, scales = by_row(entries)
        return [
            *(In(x), In(experts), In(given) if scaled else None, None),
            *(0, 4, 5, 1, 1, True, mode, [0, 5], 0),
            Out(padded(values, index, at, 20).reshape(5, 4, 6), dtype if mode < 0 else np.int8),
            Out(index, np.int32),
            Out(np.bincount(experts.reshape(-1), minlength=5), np.int64),
            Out(padded(scales, index, at, 20), np.float32),
        ]

    dtypes = None if mode < 0 else FLOATS
    return Case(
        *("MoeInitRoutingV3", build, f"padded-{mode}"),
        dtypes=dtypes,
        free_shapes=True,
        nullable=frozenset({2, 3}),
    )


CASES = [
    first(7, 3, 7),
    first(7, 3, 4),
    first(5, 1, 99),
    first(0, 2, 0),
    first(7, 3, 5, quantised=True),
    second(7, 3, 0, 1),
    second(40, 4, 0, 2),
    second(7, 3, 5, 0),
    second(7, 3, 500, 0),
    second(0, 3, 0, 1),
    second_padded(2, True),
    second_padded(8, False),
    second_quantised(0, "", 0),
    second_quantised(1, "", 0),
    second_quantised(1, "own", 10),
    second_quantised(1, "shared", 0),
    second_quantised(0, "", 0, 3),
    second_quantised(1, "own", 0, 3),
    third(0, (0, 7), 1, 1),
    third(0, None, 0, 0),
    third(10, (0, 7), 2, 1, scaled=True),
    third(0, (2, 5), 2, 0, scaled=True),
    third(0, (2, 5), 0, 1),
    third(0, (3, 3), 1, 0),
    third(0, (2, 5), 1, 0, mode=0),
    third(0, (2, 5), 1, 1, mode=1),
    third(0, (2, 5), 1, 0, scaled=True, mode=1),
    third_padded(scaled=True, mode=-1),
    third_padded(scaled=False, mode=1),
]

TestTable = suite(CASES)


def test_int4_takes_two_values_to_a_byte() -> None:
    x = np.array([[7, -7, 3.5, 0], [-14, 14, 2, -4]], np.float32)
    out, scales = ap.empty((2, 4), "int4"), hollow((2,), np.float32)
    op("aclnnMoeInitRoutingQuantV2")(
        *(place(x), place(np.array([[1], [0]], np.int32)), None, None),
        *(0, 0, 2, 0, 0, False, 1, out, hollow((2,), np.int32), None, None, scales),
    )
    assert scales.numpy().tolist() == [2, 1]
    assert out.numpy().astype(np.int64).tolist() == [[-7, 7, 1, -2], [7, -7, 4, 0]]


def test_rows_of_zeros_quantise_to_zeros() -> None:
    out, scales = hollow((2, 4), np.int8), hollow((2,), np.float32)
    op("aclnnMoeInitRoutingQuantV2")(
        *(place(np.zeros((2, 4), np.float32)), place(np.zeros((2, 1), np.int32)), None, None),
        *(0, 0, 1, 0, 0, False, 1, out, hollow((2,), np.int32), None, None, scales),
    )
    assert not out.numpy().any() and not scales.numpy().any()


def test_tokens_may_be_sorted_in_place() -> None:
    x = place(np.arange(12, dtype=np.float32).reshape(4, 3))
    experts = place(np.array([[2], [0], [1], [0]], np.int32))
    op("aclnnMoeInitRoutingV2")(
        x, experts, 0, 0, 0, 0, 0, False, x, hollow((4,), np.int32), None, None
    )
    assert_same(x.numpy()[:, 0], np.array([3, 9, 6, 0], np.float32))


@pytest.mark.parametrize("width", [1024, 1027])
@pytest.mark.parametrize("capacity", [0, 300])
def test_more_rows_than_the_caches_keep(capacity: int, width: int) -> None:
    """Whole megabytes are written token by token, past the caches."""
    tokens, k, experts = 700, 3, 7
    rng = np.random.default_rng(5)
    x = rng.standard_normal((tokens, width)).astype(np.float32)
    chosen = choice(rng, tokens, k, experts)
    kept = (experts, capacity, width) if capacity else (tokens * k, width)
    out, index = hollow(kept, np.float32), hollow((tokens * k,), np.int32)
    op("aclnnMoeInitRoutingV2")(
        *(place(x), place(chosen), 0, capacity, experts, int(capacity > 0), 0, False),
        *(out, index, None, None),
    )
    if capacity:
        places = places_of(chosen, capacity)
        expected = padded(x, places, np.arange(tokens * k) // k, experts * capacity)
        assert_same(out.numpy().reshape(-1, width), expected)
        assert_same(index.numpy(), places)
    else:
        assert_same(out.numpy(), x[order_of(chosen) // k])
        assert_same(index.numpy(), inverse_of(order_of(chosen)))


def test_the_versions_agree() -> None:
    rng = np.random.default_rng(3)
    x, experts = place(rng.standard_normal((6, 4)).astype(np.float32)), choice(rng, 6, 2, 4)
    index = np.arange(12, dtype=np.int32).reshape(2, 6).T
    outs = [hollow((12, 4), np.float32) for _ in range(3)]
    places = [hollow((12,), np.int32) for _ in range(3)]
    e = place(experts)
    op("aclnnMoeInitRouting")(x, place(index), e, 6, outs[0], places[0], hollow((12,), np.int32))
    op("aclnnMoeInitRoutingV2")(x, e, 0, 0, 4, 0, 0, False, outs[1], places[1], None, None)
    op("aclnnMoeInitRoutingV3")(
        *(x, e, None, None, 12, 0, 4, 0, 1, True, -1, [0, 4], 0),
        *(outs[2], places[2], hollow((4,), np.int64), hollow((12,), np.float32)),
    )
    assert_same(outs[1].numpy(), x.numpy()[order_of(experts) // 2])
    assert_same(outs[0].numpy(), outs[1].numpy())
    assert_same(outs[2].numpy(), outs[1].numpy())
    # The first form counts its places column by column, the others row by row.
    assert_same(places[0].numpy().reshape(2, 6).T.reshape(-1), places[1].numpy())
    assert_same(places[2].numpy(), places[1].numpy())


def second_arguments(**changes: Any) -> list[Any]:
    known: dict[str, Any] = {
        "x": np.ones((4, 6), np.float32),
        "expertIdx": np.array([[0, 1], [1, 2], [0, 2], [2, 1]], np.int32),
        "activeNum": 0,
        "expertCapacity": 2,
        "expertNum": 3,
        "dropPadMode": 0,
        "expertTokensCountOrCumsumFlag": 1,
        "expertTokensBeforeCapacityFlag": False,
        "expandedXOut": np.ones((8, 6), np.float32),
        "expandedRowIdxOut": np.ones(8, np.int32),
        "expertTokensCountOrCumsumOutOptional": np.ones(3, np.int32),
        "expertTokensBeforeCapacityOutOptional": None,
        **changes,
    }
    return [place(value) if isinstance(value, np.ndarray) else value for value in known.values()]


def third_arguments(**changes: Any) -> list[Any]:
    known: dict[str, Any] = {
        "x": np.ones((4, 6), np.float32),
        "expertIdx": np.array([[0, 1], [1, 2], [0, 2], [2, 1]], np.int32),
        "scaleOptional": None,
        "offsetOptional": None,
        "activeNum": 0,
        "expertCapacity": 2,
        "expertNum": 3,
        "dropPadMode": 0,
        "expertTokensNumType": 1,
        "expertTokensNumFlag": True,
        "quantMode": -1,
        "activeExpertRangeOptional": [0, 3],
        "rowIdxType": 0,
        "expandedXOut": np.ones((8, 6), np.float32),
        "expandedRowIdxOut": np.ones(8, np.int32),
        "expertTokensCountOrCumsumOut": np.ones(3, np.int64),
        "expandedScaleOut": np.ones(8, np.float32),
        **changes,
    }
    return [place(value) if isinstance(value, np.ndarray) else value for value in known.values()]


def message(operator: str, status: int, arguments: list[Any]) -> str:
    with pytest.raises(AclnnError) as caught:
        op(operator)(*arguments)
    assert caught.value.status == status, caught.value
    return str(caught.value)


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("activeNum", {"activeNum": -1}),
    ("expertNum", {"expertNum": -1}),
    ("expertCapacity", {"dropPadMode": 1, "expertCapacity": 0}),
    ("expertCapacity", {"dropPadMode": 1, "expertCapacity": 5}),
    ("dropPadMode", {"dropPadMode": 2}),
    ("x has 1", {"x": np.ones(6, np.float32)}),
    ("expertIdx", {"expertIdx": np.ones((3, 2), np.int32)}),
    ("expertIdx", {"expertIdx": np.ones(4, np.int32)}),
    ("expandedXOut", {"expandedXOut": np.ones((8, 5), np.float32)}),
    ("expandedXOut", {"activeNum": 5}),
    ("expandedXOut", {"activeNum": 2**62, "expandedXOut": np.ones((9, 6), np.float32)}),
    ("expandedRowIdxOut", {"expandedRowIdxOut": np.ones(7, np.int32)}),
]


@pytest.mark.parametrize(("named", "changes"), WRONG)
def test_both_versions_name_the_argument_they_refuse(named: str, changes: dict[str, Any]) -> None:
    assert named in message("aclnnMoeInitRoutingV2", 561103, second_arguments(**changes))
    assert named in message("aclnnMoeInitRoutingV3", 561002, third_arguments(**changes))


@pytest.mark.parametrize(
    ("named", "changes"),
    [
        ("expertNum", {"expertNum": 0}),
        ("expertTokensCountOrCumsumFlag", {"expertTokensCountOrCumsumFlag": 3}),
        (
            "expertTokensCountOrCumsumOutOptional",
            {"expertTokensCountOrCumsumOutOptional": np.ones(4, np.int32)},
        ),
        ("OutOptional is null", {"expertTokensCountOrCumsumOutOptional": None}),
        (
            "expertTokensBeforeCapacityOutOptional is null",
            {
                "dropPadMode": 1,
                "expertTokensBeforeCapacityFlag": True,
                "expandedXOut": np.ones((3, 2, 6), np.float32),
            },
        ),
    ],
)
def test_the_second_version_names_the_argument_it_refuses(
    named: str, changes: dict[str, Any]
) -> None:
    assert named in message("aclnnMoeInitRoutingV2", 561103, second_arguments(**changes))


@pytest.mark.parametrize(
    ("named", "changes"),
    [
        ("expertNum", {"expertNum": 10241}),
        ("expertNum", {"expertNum": 5121, "expertTokensNumType": 2}),
        ("expertTokensNumType", {"expertTokensNumType": 3}),
        ("quantMode", {"quantMode": 2}),
        ("quantMode", {"quantMode": -2}),
        ("rowIdxType", {"rowIdxType": 2}),
        ("activeExpertRangeOptional", {"activeExpertRangeOptional": [1]}),
        ("activeExpertRangeOptional", {"activeExpertRangeOptional": [2, 1]}),
        ("activeExpertRangeOptional", {"activeExpertRangeOptional": [-1, 1]}),
        ("activeExpertRangeOptional", {"activeExpertRangeOptional": [0, 4]}),
        ("activeExpertRangeOptional", {"activeExpertRangeOptional": [1, 3], "dropPadMode": 1}),
        ("rowIdxType", {"rowIdxType": 1, "dropPadMode": 1}),
        ("expertTokensNumType", {"expertTokensNumType": 0, "dropPadMode": 1}),
        ("expertTokensCountOrCumsumOut", {"expertTokensNumType": 2}),
        ("scaleOptional", {"scaleOptional": np.ones(3, np.float32)}),
        ("scaleOptional is null", {"quantMode": 0, "expandedXOut": np.ones((8, 6), np.int8)}),
        ("expandedXOut", {"quantMode": 1}),
        ("x is INT8", {"quantMode": 1, "x": np.ones((4, 6), np.int8)}),
        (
            "expandedScaleOut",
            {
                "scaleOptional": np.ones(4, np.float32),
                "expandedScaleOut": np.ones(7, np.float32),
            },
        ),
    ],
)
def test_the_third_version_names_the_argument_it_refuses(
    named: str, changes: dict[str, Any]
) -> None:
    assert named in message("aclnnMoeInitRoutingV3", 561002, third_arguments(**changes))


def test_an_expert_that_is_not_there_is_a_fault() -> None:
    for expert in (3, -1, 2**31 - 1):
        experts = np.array([[0, 1], [1, 2], [0, expert], [2, 1]], np.int32)
        for name, arguments in (
            ("aclnnMoeInitRoutingV2", second_arguments(expertIdx=experts)),
            ("aclnnMoeInitRoutingV3", third_arguments(expertIdx=experts)),
        ):
            assert f"expertIdx holds {expert}" in fault(name, *arguments)


def test_a_row_index_outside_the_list_is_a_fault() -> None:
    for bad in (4, -1):
        text = fault(
            "aclnnMoeInitRouting",
            *(place(np.ones((2, 3), np.float32)), place(np.array([[0, 1], [2, bad]], np.int32))),
            *(place(np.zeros((2, 2), np.int32)), 2, hollow((4, 3), np.float32)),
            *(hollow((4,), np.int32), hollow((4,), np.int32)),
        )
        assert f"rowIdx holds {bad}" in text


def test_gating_and_routing_work_together() -> None:
    """The places that routing gives find each token again, and its weights with it."""
    rng = np.random.default_rng(5)
    logits = rng.standard_normal((9, 8)).astype(np.float32)
    x = rng.standard_normal((9, 4)).astype(np.float32)
    y, experts = hollow((9, 2), np.float32), hollow((9, 2), np.int32)
    op("aclnnMoeGatingTopKSoftmaxV2")(place(logits), None, 2, 1, False, y, experts, None)
    out, index, counts = hollow((18, 4), np.float32), hollow((18,), np.int32), None
    counts = hollow((8,), np.int32)
    op("aclnnMoeInitRoutingV2")(place(x), experts, 0, 0, 8, 0, 1, False, out, index, counts, None)
    again = out.numpy()[index.numpy()].reshape(9, 2, 4)
    assert_same(again, np.stack((x, x), 1))
    tops = hollow((8,), np.int32)
    sorted_experts = np.sort(experts.numpy().reshape(-1))
    op("aclnnMoeComputeExpertTokens")(place(sorted_experts), 8, tops)
    assert_same(tops.numpy(), counts.numpy())
    assert_close(y.numpy().sum(-1), np.ones(9))
