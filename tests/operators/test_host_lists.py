# SPDX-License-Identifier: Apache-2.0
"""Lists that operators read on the host, in work that is repeated: given anew, or refused."""

from __future__ import annotations

import array
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import aclnn_py as ap
from aclnn_py import errors, functional, ops

pytestmark = pytest.mark.usefixtures("device")

Array = npt.NDArray[Any]
HOST = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture
def graph(device: ap.Device) -> Iterator[ap.Graph]:
    with ap.Graph() as graph:
        yield graph


def placed() -> list[ap.Tensor]:
    """Query, keys and values."""
    return [ap.from_numpy(item) for item in operands()]


def rolled(x: ap.Tensor, shifts: Any) -> ap.Tensor:
    """The result of ``roll``, which is launched."""
    out = ap.empty((3, 4), np.float32)
    ops.roll(x, shifts, (0, 1), out)
    return out


def roll(*shifts: int) -> Array:
    return np.roll(HOST, shifts, (0, 1))


def attended(lengths: list[int]) -> Array:
    """Attention of one token over the first keys of each sequence, in float64."""
    query, key, value = operands()
    out = np.empty(query.shape)
    for i, n in enumerate(lengths):
        for head in range(query.shape[1]):
            scores = query[i, head].astype(np.float64) @ key[i, head, :n].T.astype(np.float64)
            powers = np.exp(scores - scores.max())
            out[i, head] = powers / powers.sum() @ value[i, head, :n].astype(np.float64)
    return out


def operands() -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(2)
    shapes = ((2, 2, 1, 16), (2, 2, 9, 16), (2, 2, 9, 16))
    query, key, value = (rng.standard_normal(shape).astype(np.float16) for shape in shapes)
    return query, key, value


def attention(cache: list[ap.Tensor], lengths: list[int]) -> ap.Tensor:
    out, _ = functional.fused_infer_attention_score(
        *cache, actual_seq_lengths_kv=lengths, num_heads=2, input_layout="BNSD"
    )
    return out


def test_one_list_may_stand_for_two_inputs(graph: ap.Graph) -> None:
    cache = placed()
    first, second = [3, 5], [4, 6]
    with graph.capture(inputs={"first": first, "second": second}):
        outs = attention(cache, first), attention(cache, second)
    both = [9, 1]
    graph.rebind(first=both)
    both[:] = [2, 8]
    graph.rebind(second=both)
    with pytest.raises(errors.InvalidArgumentError, match=r"\[9, 1\], and the list is \[2, 8\]"):
        graph.replay()
    graph.rebind(first=both)
    graph.replay()
    for out in outs:
        assert np.abs(out.numpy() - attended(both)).max() < 2e-3
    graph.rebind(first=first)
    graph.replay()
    assert np.abs(outs[0].numpy() - attended([3, 5])).max() < 2e-3
    assert np.abs(outs[1].numpy() - attended(both)).max() < 2e-3


def test_the_lengths_of_attention_are_given_anew(graph: ap.Graph) -> None:
    cache = placed()
    lengths = [3, 5]
    with graph.capture(inputs={"lengths": lengths}):
        out = attention(cache, lengths)
    graph.replay()
    assert np.abs(out.numpy() - attended([3, 5])).max() < 2e-3
    for step in ([4, 6], [9, 1], [1, 9]):
        graph.rebind(lengths=step)
        assert graph.inputs["lengths"] is step
        graph.replay()
        assert np.abs(out.numpy() - attended(step)).max() < 2e-3
    # One list that grows, as a decoder has it.
    lengths[:] = [2, 2]
    graph.rebind(lengths=lengths)
    for _ in range(4):
        graph.replay()
        assert np.abs(out.numpy() - attended(lengths)).max() < 2e-3
        lengths[0] += 1
        lengths[1] += 1
        graph.rebind(lengths=lengths)


def test_a_list_changed_after_the_capture_is_refused(graph: ap.Graph) -> None:
    cache = placed()
    lengths = [3, 5]
    with graph.capture():
        out = attention(cache, lengths)
    graph.replay()
    lengths[1] = 6
    with pytest.raises(errors.InvalidArgumentError) as caught:
        graph.replay()
    text = str(caught.value)
    for part in (
        "Graph.replay: aclnnFusedInferAttentionScoreV2",
        "actual_seq_lengths_kv=[3, 5]",
        "[3, 6] now",
        "graph.capture(inputs={'actual_seq_lengths_kv': the_list})",
        "graph.rebind(actual_seq_lengths_kv=the_list)",
    ):
        assert part in text
    lengths[1] = 5
    graph.replay()
    assert np.abs(out.numpy() - attended([3, 5])).max() < 2e-3


def test_a_named_list_that_changed_asks_for_rebind(graph: ap.Graph) -> None:
    x = ap.from_numpy(HOST)
    shifts = [1, 0]
    with graph.capture(inputs={"by": shifts}):
        out = rolled(x, shifts)
    shifts[0] = 2
    with pytest.raises(errors.InvalidArgumentError, match=r"graph\.rebind\(by=\.\.\.\)"):
        graph.replay()
    graph.rebind(by=shifts)
    graph.replay()
    assert np.array_equal(out.numpy(), roll(2, 0))
    # What was bound is what the list was then: another rebind takes nothing else along.
    shifts[1] = 3
    with pytest.raises(errors.InvalidArgumentError, match=r"shifts=\[2, 0\], .* \[2, 3\] now"):
        graph.replay()
    graph.rebind(by=(0, 1))
    graph.replay()
    assert np.array_equal(out.numpy(), roll(0, 1))


MAKERS: list[Callable[[list[int]], Any]] = [
    list,
    lambda items: np.array(items, np.int64),
    lambda items: array.array("q", items),
]


@pytest.mark.parametrize("make", MAKERS, ids=["list", "ndarray", "array"])
def test_every_kind_of_list_that_can_change(graph: ap.Graph, make: Any) -> None:
    x = ap.from_numpy(HOST)
    shifts = make([1, 2])
    with graph.capture(inputs={"shifts": shifts}):
        out = rolled(x, shifts)
    shifts[0] = 0
    with pytest.raises(errors.InvalidArgumentError, match=r"shifts=\[1, 2\]"):
        graph.replay()
    graph.rebind(shifts=shifts)
    graph.replay()
    assert np.array_equal(out.numpy(), roll(0, 2))


def test_lists_of_scalars_are_looked_at_bit_by_bit(graph: ap.Graph) -> None:
    x, out = ap.full((2,), 3.0, "float32"), ap.empty((2,), "float32")
    factors = [0.0]
    with graph.capture(inputs={"factors": factors}):
        ops.foreach_mul_scalar_list([x], factors, [out])
    factors[0] = -0.0
    with pytest.raises(errors.InvalidArgumentError, match=r"\[0\.0\], .* \[-0\.0\] now"):
        graph.replay()
    graph.rebind(factors=factors)
    graph.replay()
    assert np.signbit(out.numpy()).all()
    graph.rebind(factors=[2.5])
    graph.replay()
    assert out.numpy().tolist() == [7.5, 7.5]


def test_one_list_of_many_launches_and_a_tensor_beside_it(graph: ap.Graph) -> None:
    x = ap.from_numpy(HOST)
    shifts = [1, 1]
    first, second = (ap.empty((3, 4), np.float32) for _ in range(2))
    with graph.capture(inputs={"shifts": shifts, "x": x}):
        ops.roll(x, shifts, (0, 1), first)
        ops.roll(first, shifts, (0, 1), second)
    other = ap.from_numpy(HOST + 100)
    graph.rebind(shifts=[0, 1], x=other)
    assert (graph.inputs["shifts"], graph.inputs["x"]) == ([0, 1], other)
    graph.replay()
    assert np.array_equal(second.numpy(), roll(0, 2) + 100)
    # The tensor alone: the launch keeps the list it has now.
    graph.rebind(x=x)
    graph.replay()
    assert np.array_equal(second.numpy(), roll(0, 2))


def test_rebinding_mistakes_change_nothing(graph: ap.Graph) -> None:
    cache = placed()
    lengths = [3, 5]
    with graph.capture(inputs={"lengths": lengths}):
        out = attention(cache, lengths)
    cases: list[tuple[Any, type[Exception], str]] = [
        ([3], ValueError, "lengths: 1 numbers, but the graph was captured with 2"),
        (7, TypeError, "lengths: expected a list of numbers, got int"),
        ("35", TypeError, "lengths: expected a list of numbers, got str"),
        ([3, 5.5], TypeError, r"actual_seq_lengths_kv\[1\]: expected an int, got float"),
        ([3, 2**63], ValueError, r"actual_seq_lengths_kv\[1\]: .* does not fit into int64"),
        ([3, 10], errors.AclnnError, r"\(561002\).* is 10; allowed: 0 to 9"),
        (ap.zeros((2,), "int64"), TypeError, "lengths: expected a list of numbers, got aclnn_py"),
    ]
    for value, kind, words in cases:
        with pytest.raises(kind, match=words):
            graph.rebind(lengths=value)
        assert graph.inputs["lengths"] is lengths
        graph.replay()
        assert np.abs(out.numpy() - attended([3, 5])).max() < 2e-3


def test_a_refused_list_is_not_what_the_next_exchange_brings(graph: ap.Graph) -> None:
    x = ap.from_numpy(HOST)
    shifts = [1, 0]
    with graph.capture(inputs={"shifts": shifts, "x": x}):
        out = rolled(x, shifts)
    graph.rebind(shifts=[2, 1])
    with pytest.raises(TypeError, match="expected an int"):
        graph.rebind(shifts=[0, None])
    with pytest.raises(ValueError, match="does not fit"):
        graph.rebind(shifts=[0, 2**64], x=ap.from_numpy(HOST + 50))
    graph.rebind(x=ap.from_numpy(HOST + 100))
    graph.replay()
    assert np.array_equal(out.numpy(), roll(2, 1) + 100)


def test_the_ends_of_groups_are_given_anew(graph: ap.Graph) -> None:
    rng = np.random.default_rng(3)
    rows, weights = rng.integers(-3, 4, (5, 4)), rng.integers(-3, 4, (2, 4, 3))
    x, weight = (ap.from_numpy(item.astype(np.float16)) for item in (rows, weights))
    ends = [2, 5]
    with graph.capture(inputs={"ends": ends}):
        out = functional.gmm(x, weight, group_list=ends, group_type=0)
    for first in (2, 4, 0):
        graph.rebind(ends=[first, 5])
        graph.replay()
        wanted = np.concatenate([rows[:first] @ weights[0], rows[first:] @ weights[1]])
        assert np.array_equal(out.numpy(), wanted)


def test_a_list_that_no_operator_was_given_is_named(graph: ap.Graph) -> None:
    x = ap.from_numpy(HOST)
    shifts = [1, 2]
    with (
        pytest.raises(errors.CaptureError, match=r"inputs\['by'\]: no operator .* very object"),
        graph.capture(inputs={"by": shifts}),
    ):
        rolled(x, list(shifts))
    with graph.capture(inputs={"by": shifts}):
        out = rolled(x, shifts)
    graph.replay()
    assert np.array_equal(out.numpy(), roll(1, 2))


def test_an_array_that_stands_for_one_number_is_watched(graph: ap.Graph) -> None:
    x, out, dim = ap.from_numpy(HOST), ap.empty((3, 4), np.float32), np.array(0)
    with (
        pytest.raises(TypeError, match=r"inputs\['dim'\]: expected a Tensor or a list"),
        graph.capture(inputs={"dim": dim}),  # type: ignore[dict-item]
    ):
        pass
    with graph.capture():
        ops.softmax(x, dim, out)
    graph.replay()
    dim[...] = 1
    with pytest.raises(errors.InvalidArgumentError, match=r"dim=\[0\], .* \[1\] now"):
        graph.replay()


def test_tuples_and_lists_of_failed_launches_are_not_watched(graph: ap.Graph) -> None:
    x = ap.from_numpy(HOST)
    bad = [1, 2, 3]
    with graph.capture():
        out = rolled(x, (1, 2))
        with pytest.raises(errors.AclnnError):
            rolled(x, bad)
    bad.append(4)
    graph.replay()
    assert np.array_equal(out.numpy(), roll(1, 2))


def test_a_plan_in_a_capture_is_watched_and_cannot_be_rebound(graph: ap.Graph) -> None:
    x = ap.from_numpy(HOST)
    shifts = [1, 2]
    out = ap.empty((3, 4), np.float32)
    with ap.plan(ops.roll, x, shifts, (0, 1), out, repeatable=True) as plan:
        with (
            pytest.raises(errors.CaptureError, match="a plan keeps the addresses and lists"),
            graph.capture(inputs={"by": shifts}),
        ):
            plan.run()
        with graph.capture():
            plan.run()
        graph.replay()
        assert np.array_equal(out.numpy(), roll(1, 2))
        shifts[0] = 0
        with pytest.raises(errors.InvalidArgumentError, match=r"shifts=\[1, 2\]"):
            graph.replay()


def test_a_sequence_refuses_changed_lists_and_takes_others() -> None:
    x = ap.from_numpy(HOST)
    shifts = [1, 2]
    with ap.Sequence.record() as sequence:
        out = rolled(x, shifts)
        again = ap.empty((3, 4), np.float32)
        ops.roll(out, shifts, (0, 1), again)
    sequence.run()
    assert np.array_equal(again.numpy(), roll(2, 4))
    shifts[0] = 0
    with pytest.raises(errors.InvalidArgumentError) as caught:
        sequence.run()
    text = str(caught.value)
    for part in ("Sequence.run: aclnnRoll", "shifts=[1, 2]", "[0, 2] now", "sequence.rebind("):
        assert part in text
    assert sequence.rebind(shifts, shifts) == 2
    sequence.run()
    assert np.array_equal(again.numpy(), roll(0, 4))
    assert sequence.rebind(shifts, (1, 0)) == 2
    shifts[0] = 9  # not a list of the sequence any more
    sequence.run()
    assert np.array_equal(again.numpy(), roll(2, 0))
    sequence.close()


def test_a_list_changed_inside_the_recording_is_not_mixed_up() -> None:
    x = ap.from_numpy(HOST)
    shifts = [1, 2]
    with ap.Sequence.record() as sequence:
        out = rolled(x, shifts)
        shifts[0] = 0
    assert np.array_equal(out.numpy(), roll(1, 2))
    with pytest.raises(errors.InvalidArgumentError, match=r"shifts=\[1, 2\], .* \[0, 2\] now"):
        sequence.run()
    shifts[0] = 1
    sequence.run()
    assert np.array_equal(out.numpy(), roll(1, 2))
    sequence.close()


def test_sequences_of_plans_and_mistakes() -> None:
    x = ap.from_numpy(HOST)
    shifts = [1, 2]
    out = ap.empty((3, 4), np.float32)
    with ap.plan(ops.roll, x, shifts, (0, 1), out, repeatable=True) as plan:
        sequence = ap.Sequence([plan])
        cases: list[tuple[Any, Any, type[Exception], str]] = [
            (shifts, [1], ValueError, "new: 1 numbers, but the sequence was recorded with 2"),
            ([1, 2], [3, 4], ValueError, "old: no launch of the sequence was given this very"),
            (shifts, 3, TypeError, "new: expected a Tensor or a list"),
            (shifts, [1, "x"], TypeError, r"shifts\[1\]: expected an int, got str"),
            (shifts, x, TypeError, "old: expected a Tensor, got list"),
        ]
        for old, new, kind, words in cases:
            with pytest.raises(kind, match=words):
                sequence.rebind(old, new)
        sequence.run()
        assert np.array_equal(out.numpy(), roll(1, 2))
        assert sequence.rebind(shifts, [2, 0]) == 1
        sequence.run()
        assert np.array_equal(out.numpy(), roll(2, 0))
        sequence.close()
