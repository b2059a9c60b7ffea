# SPDX-License-Identifier: Apache-2.0
"""Tokens permuted to their experts and combined again, against NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, op, place, wide

from aclnn_py.errors import AclnnError

from ..problems import Case, In, Out, Problem, fault, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator
Dtype = np.dtype[Any]
Array = np.ndarray[Any, Any]

N, K, E, H = 7, 3, 6, 10


def some(rng: Rng, shape: tuple[int, ...], dtype: Any) -> Array:
    return rng.uniform(-1, 1, shape).astype(dtype)


def combined(
    results: Array,
    index: Array,
    weights: Array,
    experts: Array,
    bias: Array | None,
    shared: list[Array],
) -> Array:
    """The definition; `index` has a row per token, -1 where an expert dropped it."""
    out = np.zeros((index.shape[0], results.shape[-1]))
    for part in shared:
        out += wide(part)
    rows = wide(results).reshape(-1, results.shape[-1])
    for i, j in np.ndindex(*index.shape):
        if index[i, j] >= 0:
            term = rows[index[i, j]] + (0 if bias is None else wide(bias)[experts[i, j]])
            out[i] += wide(weights)[i, j] * term
    return out


def places(rng: Rng, mode: int, n: int, k: int) -> tuple[Array, tuple[int, ...]]:
    """Indices as a row per token, and the shape of the experts' results."""
    if mode in (1, 3):
        index = rng.permutation(E * 4)[: n * k].astype(np.int32)
        index[::4] = -1
        return index.reshape(n, k), (E, 4, H)
    return rng.permutation(n * k).astype(np.int32).reshape(n, k), (n * k, H)


def listed(index: Array, mode: int) -> Array:
    return np.ascontiguousarray(index.T if mode < 2 else index).reshape(-1)


def first_final(second: bool, n: int = N) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        index, shape = places(rng, 0, n, K)
        results, bias = some(rng, shape, dtype), some(rng, (E, H), dtype)
        weights, experts = some(rng, (n, K), dtype), rng.integers(0, E, (n, K)).astype(np.int32)
        x1, x2 = some(rng, (n, H), dtype), some(rng, (n, H), dtype)
        out = combined(results, index, weights, experts, bias, [x1, x2] if second else [x1])
        return [
            *(In(results), In(x1), In(x2) if second else None, In(bias), In(weights)),
            *(In(listed(index, 0)), In(experts), Out(out, dtype, 8)),
        ]

    return Case("MoeFinalizeRouting", build, f"{second}-{n}", nullable=frozenset({2}))


def final(mode: int, parts: str, version: int = 2, each: int = K, mixed: bool = False) -> Case:
    """With `parts` of: b(ias), w(eights), 1 and 2 (shared experts)."""

    def build(rng: Rng, dtype: Dtype) -> Problem:
        index, shape = places(rng, mode, N, each)
        results, bias = some(rng, shape, dtype), some(rng, (E, H), dtype)
        weights = some(rng, (N, each), np.float32 if mixed else dtype)
        experts = rng.integers(0, E, (N, each)).astype(np.int32)
        shared = [some(rng, (N, H), dtype) for _ in range(2)]
        there = [x for name, x in zip("12", shared, strict=True) if name in parts]
        out = combined(
            results,
            index,
            weights if "w" in parts else np.ones((N, each)),
            experts,
            bias if "b" in parts else None,
            there,
        )
        later = {2: [], 3: [None, None, None], 4: [None, [-1, -1], None, each]}[version]
        return [
            *(In(results), In(listed(index, mode))),
            *(In(x) if name in parts else None for name, x in zip("12", shared, strict=True)),
            *(In(bias) if "b" in parts else None, In(weights) if "w" in parts else None),
            In(experts) if "b" in parts else None,
            *([None] * 4 if version > 2 else []),
            *(mode, *later, Out(out, dtype, 8)),
        ]

    dtypes = frozenset({"BFLOAT16"}) if mixed else None
    name = f"MoeFinalizeRoutingV{version}"
    note = f"{mode}-{parts}-{each}-{mixed}"
    return Case(
        name, build, note, dtypes=dtypes, free_shapes=True, nullable=frozenset(range(2, 11))
    )


def special(version: int, mode: int) -> Case:
    """Experts 0 and 1 are ordinary, 2 adds nothing, 3 copies, 4 and 5 mix in a constant."""

    def build(rng: Rng, dtype: Dtype) -> Problem:
        index, shape = places(rng, mode, N, K)
        results, bias = some(rng, shape, dtype), some(rng, (E, H), dtype)
        weights, experts = some(rng, (N, K), dtype), rng.integers(0, E, (N, K)).astype(np.int32)
        x = some(rng, (N, H), dtype)
        a1, a2, v = (some(rng, (2, H), dtype) for _ in range(3))
        rows = wide(results).reshape(-1, H)
        out = np.zeros((N, H))
        for i, j in np.ndindex(N, K):
            e, row = experts[i, j], index[i, j]
            if e == 2 or (e < 2 and row < 0):
                continue
            if e < 2:
                term = rows[row]
            elif e == 3:
                term = wide(x)[i]
            else:
                term = wide(a1)[e - 4] * wide(x)[i] + wide(a2)[e - 4] * wide(v)[e - 4]
            out[i] += wide(weights)[i, j] * (term + wide(bias)[e])
        return [
            *(In(results), In(listed(index, mode)), None, None, In(bias), In(weights)),
            *(In(experts), In(x), In(a1), In(a2), In(v), mode, [2, 3], [3, 4], [4, 6]),
            *([1] if version == 4 else []),
            Out(out, dtype, 8),
        ]

    name = f"MoeFinalizeRoutingV{version}"
    nullable = frozenset(range(2, 11))
    return Case(name, build, f"special-{mode}", free_shapes=True, nullable=nullable)


def chosen(rng: Rng, n: int, k: int) -> Array:
    return np.array([rng.permutation(E)[:k] for _ in range(n)]).reshape(n, k)


def permuted(n: int, k: int, keep: int, index: Any, row: tuple[int, ...] = (H,)) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        tokens = (rng.integers(-100, 100, (n, *row))).astype(dtype)
        experts = chosen(rng, n, k) if k else rng.integers(0, E, n)
        order = np.argsort(experts.reshape(-1), kind="stable")
        rows = tokens[order // max(1, k)]
        rows = rows[:keep] if keep else rows
        return [
            *(In(tokens), In(experts.astype(index)), keep, False),
            *(
                Out(wide(rows).reshape(len(rows), int(np.prod(row))), dtype),
                Out(np.argsort(order), np.int32),
            ),
        ]

    note = f"{n}-{k}-{keep}-{np.dtype(index)}-{len(row)}d"
    return Case("MoeTokenPermute", build, note, free_shapes=True)


def permuted_again(mode: int, keep: int) -> Case:
    """The second version, whose quantisation a 910B ignores."""
    first = permuted(N, K, keep, np.int32)

    def build(rng: Rng, dtype: Dtype) -> Problem:
        tokens, experts, keep_, padded, *results = first.build(rng, dtype)
        return [tokens, experts, keep_, padded, mode, *results, Out(np.zeros(0), np.float32)]

    return Case("MoeTokenPermuteV2", build, f"{mode}-{keep}", free_shapes=True)


def permuted_range(span: tuple[int, int] | None, keep: int, probs: bool) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        tokens, p = some(rng, (N, H), dtype), some(rng, (N, K), dtype)
        experts = chosen(rng, N, K).astype(np.int32)
        order = np.argsort(experts.reshape(-1), kind="stable")
        kept = order[:keep] if keep else order
        if span:
            kept = order[span[0] : span[1]]
        moved = Out(wide(p).reshape(-1)[kept], dtype) if probs and span else None
        return [
            *(In(tokens), In(experts), In(p) if probs else None),
            *(list(span) if span else None, keep, False),
            *(Out(wide(tokens)[kept // K], dtype), Out(np.argsort(order), np.int32), moved),
        ]

    note = f"{span}-{keep}-{probs}".replace(" ", "")
    nullable = frozenset({2} if span else {2, 8})
    return Case("MoeTokenPermuteWithEp", build, note, free_shapes=True, nullable=nullable)


def returned(weighted: Any, span: tuple[int, int] | None = None, ranged: bool = False) -> Case:
    def build(rng: Rng, dtype: Dtype) -> Problem:
        each = K if weighted is not None or span else 1
        low, high = span or (0, N * each)
        index = rng.permutation(N * each).astype(np.int32)
        tokens = some(rng, (high - low, H), dtype)
        weights = some(rng, (N, each), dtype if weighted is True else weighted or np.float32)
        there = np.where((index >= low) & (index < high), index - low, -1).reshape(N, each)
        factors = np.ones((N, each)) if weighted is None else weights
        out = combined(tokens, there, factors, there, None, [])
        middle = [each, list(span) if span else None] if ranged else []
        return [
            *(In(tokens), In(index), None if weighted is None else In(weights)),
            *(*middle, False, None, Out(out, dtype, 8)),
        ]

    name = "MoeTokenUnpermuteWithEp" if ranged else "MoeTokenUnpermute"
    kind = "" if weighted in (None, True) else np.dtype(weighted)
    note = f"{weighted is None}-{kind}-{span}".replace(" ", "")
    return Case(name, build, note, free_shapes=True, nullable=frozenset({2}))


CASES = [
    first_final(second=True),
    first_final(second=False),
    first_final(second=True, n=0),
    *(final(mode, "bw12") for mode in range(4)),
    final(2, "w"),
    final(0, "1", each=1),
    final(3, "w1", mixed=True),
    final(2, "bw1", version=3),
    final(1, "bw", version=4),
    final(2, "b", version=4),
    special(3, 2),
    special(4, 1),
    permuted(N, K, 0, np.int32),
    permuted(N, K, 5, np.int64),
    permuted(N, K, -4, np.int32),
    permuted(N, K, -99, np.int32),
    permuted(N, 0, 99, np.int64),
    permuted(N, K, 0, np.int32, (2, 5)),
    permuted(0, K, 0, np.int32),
    permuted_again(-1, 0),
    permuted_again(3, 5),
    permuted_range((2, 11), 0, probs=True),
    permuted_range((0, 5), 5, probs=False),
    permuted_range(None, 4, probs=True),
    returned(True),
    returned(np.float32),
    returned(None),
    returned(True, (2, 9), ranged=True),
    returned(None, (2, 9), ranged=True),
    returned(None, None, ranged=True),
]

TestTable = suite([case for case in CASES if case.operator != "MoeFinalizeRouting"])
# The first form answers 161002 to wrong shapes, as most operators do.
TestFirst = suite([case for case in CASES if case.operator == "MoeFinalizeRouting"])


def test_a_dropped_token_gets_nothing_not_even_the_bias() -> None:
    out = hollow((2, 1), np.float32)
    op("aclnnMoeFinalizeRoutingV2")(
        *(place(np.array([[[3.0]], [[5]]], np.float32)), place(np.array([1, -1], np.int32))),
        *(None, None, place(np.array([[10.0], [20]], np.float32)), None),
        *(place(np.array([[1], [0]], np.int32)), 3, out),
    )
    assert out.numpy().tolist() == [[25], [0]]


def test_what_is_permuted_comes_back() -> None:
    rng = np.random.default_rng(4)
    x, p = some(rng, (N, H), np.float32), some(rng, (N, K), np.float32)
    experts = chosen(rng, N, K).astype(np.int32)
    there, index, out = hollow((N * K, H), np.float32), hollow((N * K,), np.int32), None
    out = hollow((N, H), np.float32)
    op("aclnnMoeTokenPermute")(place(x), place(experts), 0, False, there, index)
    op("aclnnMoeTokenUnpermute")(there, index, place(p), False, None, out)
    assert_close(out.numpy(), wide(x) * wide(p).sum(-1, keepdims=True), scale=8)


def test_the_parts_of_all_ranges_add_up_to_the_whole() -> None:
    rng = np.random.default_rng(6)
    x, p = some(rng, (N, H), np.float32), some(rng, (N, K), np.float32)
    experts = chosen(rng, N, K).astype(np.int32)
    total = np.zeros((N, H))
    for span in ([0, 4], [4, 4], [4, 21]):
        rows = span[1] - span[0]
        there, index = hollow((rows, H), np.float32), hollow((N * K,), np.int32)
        moved, out = hollow((rows,), np.float32), hollow((N, H), np.float32)
        op("aclnnMoeTokenPermuteWithEp")(
            place(x), place(experts), place(p), span, 0, False, there, index, moved
        )
        op("aclnnMoeTokenUnpermuteWithEp")(there, index, place(p), K, span, False, None, out)
        total += out.numpy()
    assert_close(total.astype(np.float32), wide(x) * wide(p).sum(-1, keepdims=True), scale=8)


def test_results_may_lie_over_tokens() -> None:
    x = place(np.arange(12, dtype=np.float32).reshape(4, 3))
    experts, index = place(np.array([2, 0, 1, 0], np.int32)), hollow((4,), np.int32)
    op("aclnnMoeTokenPermute")(x, experts, 0, False, x, index)
    assert_same(x.numpy()[:, 0], np.array([3, 9, 6, 0], np.float32))
    op("aclnnMoeTokenUnpermute")(x, index, None, False, None, x)
    assert_same(x.numpy(), np.arange(12, dtype=np.float32).reshape(4, 3))


def test_a_layer_of_experts_agrees_with_numpy() -> None:
    """Gate, routing, one matrix per expert and the way back; with room for only some tokens."""
    rng = np.random.default_rng(8)
    x, logits = some(rng, (N, H), np.float32), rng.permutation(N * E).reshape(N, E) / 8
    matrices = some(rng, (E, H, H), np.float32)
    y, experts = hollow((N, K), np.float32), hollow((N, K), np.int32)
    gate = (place(logits.astype(np.float32)), None, K, 1, False, y, experts, None)
    op("aclnnMoeGatingTopKSoftmaxV2")(*gate)
    routed, index = hollow((E, 3, H), np.float32), hollow((N * K,), np.int32)
    op("aclnnMoeInitRoutingV2")(place(x), experts, 0, 3, E, 1, 0, False, routed, index, None, None)
    made = place(np.matmul(routed.numpy(), matrices))
    out = hollow((N, H), np.float32)
    op("aclnnMoeFinalizeRoutingV2")(made, index, None, None, None, y, None, 3, out)

    oracle, used = np.zeros((N, H)), [0] * E
    for i, row in enumerate(logits):
        best = np.argsort(-row)[:K]
        powers = np.exp(row[best] - row.max())
        for e, weight in zip(best, powers / powers.sum(), strict=True):
            used[e] += 1
            if used[e] <= 3:
                oracle[i] += weight * (wide(x)[i] @ wide(matrices)[e])
    assert max(used) > 3, "some token has to find no place"
    assert_close(out.numpy(), oracle, scale=8)


def message(operator: str, status: int, arguments: list[Any]) -> str:
    with pytest.raises(AclnnError) as caught:
        op(operator)(*arguments)
    assert caught.value.status == status, caught.value
    return str(caught.value)


def final_arguments(version: int, **changes: Any) -> list[Any]:
    known: dict[str, Any] = {
        "expandedX": np.ones((6, 4), np.float32),
        "expandedRowIdx": np.arange(6, dtype=np.int32),
        "x1Optional": np.ones((3, 4), np.float32),
        "x2Optional": None,
        "biasOptional": np.ones((5, 4), np.float32),
        "scalesOptional": np.ones((3, 2), np.float32),
        "expertIdxOptional": np.ones((3, 2), np.int32),
    }
    if version > 2:
        known |= dict.fromkeys(("xOptional", "a1Optional", "a2Optional", "vOptional"))
    known["dropPadMode"] = 2
    if version > 2:
        known |= dict.fromkeys(("zeroExpertRange", "copyExpertRange", "constantExpertRange"))
    if version > 3:
        known["k"] = 1
    known |= {"out": np.ones((3, 4), np.float32), **changes}
    return [place(value) if isinstance(value, np.ndarray) else value for value in known.values()]


@pytest.mark.parametrize(
    ("named", "changes"),
    [
        ("dropPadMode", {"dropPadMode": 4}),
        ("dropPadMode", {"dropPadMode": -1}),
        ("expandedX", {"dropPadMode": 3}),
        ("expandedX", {"expandedX": np.ones((5, 4), np.float32)}),
        ("expandedRowIdx", {"expandedRowIdx": np.arange(5, dtype=np.int32)}),
        ("x2Optional", {"x1Optional": None, "x2Optional": np.ones((3, 4), np.float32)}),
        ("x1Optional", {"x1Optional": np.ones((3, 5), np.float32)}),
        ("biasOptional", {"biasOptional": np.ones((5, 3), np.float32)}),
        ("expertIdxOptional is null", {"expertIdxOptional": None}),
        ("expertIdxOptional", {"expertIdxOptional": np.ones((3, 1), np.int32)}),
        ("scalesOptional", {"scalesOptional": np.ones(6, np.float32)}),
        ("out", {"out": np.ones(4, np.float32)}),
    ],
)
def test_every_version_names_the_argument_it_refuses(named: str, changes: dict[str, Any]) -> None:
    for version, status in ((2, 561103), (3, 561002), (4, 561002)):
        arguments = final_arguments(version, **changes)
        assert named in message(f"aclnnMoeFinalizeRoutingV{version}", status, arguments)


@pytest.mark.parametrize(
    ("named", "changes"),
    [
        ("zeroExpertRange", {"zeroExpertRange": [1]}),
        ("zeroExpertRange", {"zeroExpertRange": [2, 2]}),
        ("copyExpertRange", {"copyExpertRange": [-2, 2]}),
        ("zeroExpertRange", {"zeroExpertRange": [0, 2], "constantExpertRange": [1, 3]}),
        ("copyExpertRange", {"copyExpertRange": [0, 2], "constantExpertRange": [1, 3]}),
        ("xOptional is null", {"copyExpertRange": [0, 2]}),
        ("xOptional", {"xOptional": np.ones((2, 4), np.float32)}),
        (
            "vOptional is null",
            {"constantExpertRange": [0, 1], "xOptional": np.ones((3, 4), np.float32)},
        ),
        ("k is 0", {"k": 0}),
        ("k is 3", {"k": 3}),
        ("k is", {"k": 2**62}),
    ],
)
def test_the_fourth_version_names_the_argument_it_refuses(
    named: str, changes: dict[str, Any]
) -> None:
    arguments = final_arguments(4, **changes)
    assert named in message("aclnnMoeFinalizeRoutingV4", 561002, arguments)


def test_other_dtypes_beside_the_results_are_refused() -> None:
    for parameter in ("x1Optional", "biasOptional", "scalesOptional", "out"):
        arguments = final_arguments(2, **{parameter: np.ones((3, 4), np.float16)})
        assert parameter in message("aclnnMoeFinalizeRoutingV2", 161002, arguments)


def test_an_index_that_leads_nowhere_is_a_fault() -> None:
    rows = np.array([0, 1, 2, 3, 4, 6], np.int32)
    assert "expandedRowIdx holds 6" in fault(
        "aclnnMoeFinalizeRoutingV2", *final_arguments(2, expandedRowIdx=rows)
    )
    rows[5] = -1
    assert "expandedRowIdx holds -1" in fault(
        "aclnnMoeFinalizeRoutingV2", *final_arguments(2, expandedRowIdx=rows)
    )
    experts = np.array([[0, 1], [2, 5], [0, 0]], np.int32)
    assert "hold 5; bias has 5" in fault(
        "aclnnMoeFinalizeRoutingV2", *final_arguments(2, expertIdxOptional=experts)
    )
    x, out = place(np.ones((2, 4), np.float32)), hollow((2, 4), np.float32)
    for bad in (2, -1):
        index = place(np.array([0, bad], np.int32))
        text = fault("aclnnMoeTokenUnpermute", x, index, None, False, None, out)
        assert f"sortedIndices holds {bad}" in text
    for bad in (-1, 16777215):
        experts = place(np.array([0, bad], np.int64))
        text = fault("aclnnMoeTokenPermute", x, experts, 0, False, out, hollow((2,), np.int32))
        assert f"indices holds {bad}" in text


def test_permuting_names_the_argument_it_refuses() -> None:
    x, experts = place(np.ones((3, 4), np.float32)), place(np.ones((3, 2), np.int32))
    out, index = hollow((6, 4), np.float32), hollow((6,), np.int32)
    name = "aclnnMoeTokenPermute"
    assert "paddedMode" in message(name, 561002, [x, experts, 0, True, out, index])
    assert "permuteTokensOut" in message(name, 561002, [x, experts, 5, False, out, index])
    assert "permuteTokensOut" in message(name, 561002, [x, experts, -(2**63), False, out, index])
    short = hollow((5,), np.int32)
    assert "sortedIndicesOut" in message(name, 561002, [x, experts, 0, False, out, short])
    other = place(np.ones((2, 3), np.int32))
    assert "indices" in message(name, 561002, [x, other, 0, False, out, index])
    for mode in (-2, 0, 1, 4, 2**40):
        arguments = [x, experts, 0, False, mode, out, index, hollow((0,), np.float32)]
        assert "quantMode" in message("aclnnMoeTokenPermuteV2", 161002, arguments)
    ranged = "aclnnMoeTokenPermuteWithEp"
    for span in ([0], [-1, 5], [4, 3], [0, 7], [0, 2**62]):
        arguments = [x, experts, None, span, 0, False, out, index, None]
        assert "rangeOptional" in message(ranged, 561002, arguments)
    p = place(np.ones((3, 2), np.float32))
    arguments = [x, experts, p, [0, 6], 0, False, out, index, None]
    assert "permuteProbsOut" in message(ranged, 161001, arguments)


def test_unpermuting_names_the_argument_it_refuses() -> None:
    x, index = place(np.ones((6, 4), np.float32)), place(np.arange(6, dtype=np.int32))
    p, out = place(np.ones((3, 2), np.float32)), hollow((3, 4), np.float32)
    for name, middle, status in (
        ("aclnnMoeTokenUnpermute", [], 561002),
        ("aclnnMoeTokenUnpermuteWithEp", [2, [0, 6]], 161002),
    ):
        assert "paddedMode" in message(name, status, [x, index, p, *middle, True, None, out])
        wrong = hollow((2, 4), np.float32)
        assert "out" in message(name, status, [x, index, p, *middle, False, None, wrong])
        few = place(np.ones((5, 4), np.float32))
        assert "permutedTokens" in message(name, status, [few, index, p, *middle, False, None, out])
    thin = [x, index, place(np.ones((2, 4), np.float32)), False, None, out]
    assert "sortedIndices" in message("aclnnMoeTokenUnpermute", 561002, thin)
    ranged = "aclnnMoeTokenUnpermuteWithEp"
    for span in ([0], [-1, 5], [4, 3], [0, 7], [0, 2**62]):
        arguments = [x, index, p, 2, span, False, None, out]
        assert "rangeOptional" in message(ranged, 161002, arguments)
    for top in (0, -1, 513, 3):
        arguments = [x, index, None if top != 3 else p, top, [0, 6], False, None, out]
        assert "numTopk" in message(ranged, 161002, arguments)
