# SPDX-License-Identifier: Apache-2.0
"""Random numbers of graphs and sequences: each run draws others, from where the generator is."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import aclnn_py as ap
from aclnn_py import errors, functional
from aclnn_py.runtime.handle import live_handles

pytestmark = pytest.mark.usefixtures("device")

Array = npt.NDArray[Any]


@pytest.fixture
def generator() -> ap.Generator:
    return ap.Generator().manual_seed(21)


def uniform(count: int, seed: int, offset: int) -> Array:
    """Numbers of the sequence of a seed."""
    found = functional.uniform(0, 1, (count,), seed=seed, offset=offset).numpy()
    assert len(set(found)) == count
    return found


def expected(seed: int, offset: int) -> Array:
    """What one run of ``drawing`` draws from a place of a sequence on."""
    low = uniform(5, seed, offset)
    bell = functional.normal(2, 0.5, (6,), seed=seed, offset=offset + 8).numpy()
    return np.concatenate([low, bell])


RUN = 16
"""Numbers by which a run of ``drawing`` moves its generator."""


def drawing(generator: ap.Generator | None) -> ap.Tensor:
    """5 and 6 numbers, as one result."""
    low = functional.uniform(0, 1, (5,), generator=generator)
    bell = functional.normal_(ap.empty((6,), "float32"), 2, 0.5, generator=generator)
    return functional.cat([low, bell])


def test_each_replay_of_a_graph_draws_the_next_numbers(generator: ap.Generator) -> None:
    with ap.Graph() as graph:
        with graph.capture():
            result = drawing(generator)
        assert generator.get_offset() == 0, "a capture draws nothing"
        for i in range(4):
            graph.replay()
            assert np.array_equal(result.numpy(), expected(21, i * RUN)), i
            assert generator.get_offset() == (i + 1) * RUN
        generator.manual_seed(21)
        graph.replay()
        assert np.array_equal(result.numpy(), expected(21, 0))
        state = generator.get_state()
        graph.replay()
        again = result.numpy()
        generator.set_state(state)
        graph.replay()
        assert np.array_equal(result.numpy(), again)
        # Draws outside go on behind those of the replays, and the other way round.
        between = functional.uniform(0, 1, (3,), generator=generator).numpy()
        assert np.array_equal(between, uniform(3, 21, 2 * RUN))
        graph.replay()
        assert np.array_equal(result.numpy(), expected(21, 2 * RUN + 4))


def test_a_graph_draws_from_the_default_generator_unless_told_otherwise() -> None:
    with ap.Graph() as graph:
        with graph.capture():
            result = drawing(None)
        ap.manual_seed(4)
        graph.replay()
        first = result.numpy()
        graph.replay()
        second = result.numpy()
        ap.manual_seed(4)
        graph.replay()
    assert np.array_equal(first, expected(4, 0))
    assert np.array_equal(second, expected(4, RUN))
    assert np.array_equal(result.numpy(), first)


def test_queued_replays_keep_their_numbers(generator: ap.Generator) -> None:
    """The host is ahead of the device: what it writes for a replay must not reach earlier ones."""
    with ap.Graph() as graph, ap.Stream() as other:
        total = ap.zeros((11,), "float32")
        with graph.capture():
            functional.add_(total, drawing(generator))
        for i in range(40):
            graph.replay(other if i % 3 == 2 else None)
        ap.synchronize()
        sums = np.zeros(11, np.float32)
        for i in range(40):
            sums = sums + expected(21, i * RUN)
        assert np.array_equal(total.numpy(), sums)


def test_several_generators_of_one_graph_advance_apart(generator: ap.Generator) -> None:
    other = ap.Generator().manual_seed(8)
    with ap.Graph() as graph:
        with graph.capture():
            first, second = drawing(generator), drawing(other)
            third = drawing(generator)
        for i in range(2):
            graph.replay()
            assert np.array_equal(first.numpy(), expected(21, 2 * i * RUN))
            assert np.array_equal(third.numpy(), expected(21, (2 * i + 1) * RUN))
            assert np.array_equal(second.numpy(), expected(8, i * RUN))
    assert (generator.get_offset(), other.get_offset()) == (4 * RUN, 2 * RUN)


def test_a_seed_in_a_capture_stays_the_same(generator: ap.Generator) -> None:
    with ap.Graph() as graph:
        with graph.capture():
            result = functional.uniform(0, 1, (5,), seed=3, offset=8)
        for _ in range(2):
            graph.replay()
            assert np.array_equal(result.numpy(), uniform(5, 3, 8))


def test_threads_replay_one_graph_without_sharing_numbers(generator: ap.Generator) -> None:
    with ap.Graph() as graph:
        kept = ap.zeros((12, 11), "float32")
        slots = [kept[i] for i in range(12)]
        with graph.capture():
            result = drawing(generator)
        turn = threading.Lock()

        def work(own: list[ap.Tensor]) -> None:
            with ap.Stream() as stream:
                for slot in own:
                    with turn:  # the copy has to follow its own replay
                        graph.replay(stream)
                        functional.copy_(slot, result, stream=stream)
                        stream.synchronize()

        threads = [threading.Thread(target=work, args=(slots[i::3],)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        found = {row.tobytes() for row in kept.numpy()}
    assert found == {expected(21, i * RUN).tobytes() for i in range(12)}


def test_other_inputs_are_rebound_without_disturbing_the_numbers(generator: ap.Generator) -> None:
    first, second = ap.zeros((5,), "float32"), ap.zeros((5,), "float32")
    with ap.Graph() as graph:
        with graph.capture(inputs={"out": first}):
            functional.uniform_(first, generator=generator)
        graph.replay()
        graph.rebind(out=second)
        graph.replay()
    for i, tensor in enumerate((first, second)):
        assert np.array_equal(tensor.numpy(), uniform(5, 21, 8 * i))


def test_the_memory_of_the_counters_goes_with_the_graph(generator: ap.Generator) -> None:
    before = live_handles()
    with ap.Graph() as graph:
        with graph.capture():
            drawing(generator)
        graph.replay()
    ap.synchronize()
    assert live_handles().get("Buffer", 0) == before.get("Buffer", 0)


def test_each_run_of_a_sequence_draws_the_next_numbers(generator: ap.Generator) -> None:
    with ap.Sequence.record() as sequence:
        result = drawing(generator)
    assert np.array_equal(result.numpy(), expected(21, 0)), "recording runs the launches"
    for i in range(1, 4):
        sequence.run()
        assert np.array_equal(result.numpy(), expected(21, i * RUN)), i
    generator.manual_seed(21)
    sequence.run()
    assert np.array_equal(result.numpy(), expected(21, 0))
    sequence.close()


def test_draws_beside_a_recording_are_not_repeated(generator: ap.Generator) -> None:
    with ap.Sequence.record() as sequence:
        first = functional.uniform(0, 1, (4,), generator=generator)
        taken = generator.take(4)  # as another thread might
        second = functional.uniform(0, 1, (4,), generator=generator)
    assert taken == (21, 4)
    for tensor, offset in ((first, 0), (second, 8)):
        assert np.array_equal(tensor.numpy(), uniform(4, 21, offset))
    sequence.run()
    # It draws eight from there; the second four begin behind the first.
    assert np.array_equal(first.numpy(), uniform(4, 21, 12))
    assert np.array_equal(second.numpy(), uniform(4, 21, 16))
    sequence.close()


def test_runs_of_a_sequence_on_several_streams_follow_each_other(generator: ap.Generator) -> None:
    total = ap.zeros((11,), "float32")
    with ap.Sequence.record() as sequence:
        functional.add_(total, drawing(generator))
    with ap.Stream() as first, ap.Stream() as second:
        for i in range(30):
            sequence.run((first, second)[i % 2])
        first.synchronize()
        second.synchronize()
    sums = np.zeros(11, np.float32)
    for i in range(31):
        sums = sums + expected(21, i * RUN)
    assert np.array_equal(total.numpy(), sums)
    sequence.close()


def test_runs_under_observers_draw_as_others_do(generator: ap.Generator) -> None:
    with ap.Sequence.record() as sequence:
        result = drawing(generator)
    with ap.strict():
        sequence.run()
    assert np.array_equal(result.numpy(), expected(21, RUN))
    sequence.close()


def test_what_a_replay_would_not_repeat_is_refused(generator: ap.Generator) -> None:
    with ap.Sequence.record() as sequence:
        result = drawing(generator)
    calls = [
        lambda: ap.manual_seed(1),
        lambda: generator.manual_seed(1),
        generator.seed,
        lambda: generator.set_offset(0),
        lambda: generator.set_state(generator.get_state()),
    ]
    with ap.Graph() as graph, graph.capture():
        for call in calls:
            with pytest.raises(errors.CaptureError, match="this thread captures a graph"):
                call()
        with pytest.raises(errors.CaptureError, match="the sequence draws random numbers"):
            sequence.run()
        with (
            pytest.raises(errors.CaptureError, match=r"Sequence\.record: .* pass seed="),
            ap.Sequence.record(),
        ):
            drawing(generator)
    with ap.Sequence.record() as outer:
        for call in calls:
            with pytest.raises(errors.CaptureError, match="this thread records a sequence"):
                call()
        with pytest.raises(errors.CaptureError, match="the sequence draws random numbers"):
            sequence.run()
    assert len(outer) == 0
    sequence.run()
    assert np.array_equal(result.numpy(), expected(21, RUN))
    sequence.close()
    outer.close()


def test_recordings_inside_recordings_draw_apart(generator: ap.Generator) -> None:
    with ap.Sequence.record() as outer:
        with ap.Sequence.record() as inner:
            first = functional.uniform(0, 1, (4,), generator=generator)
        second = functional.uniform(0, 1, (4,), generator=generator)
    seen = set()
    for sequence in (outer, inner, outer, inner):
        sequence.run()
        seen.add(first.numpy().tobytes())
        seen.add(second.numpy().tobytes())
    # The outer one draws both, the inner one the first.
    assert len(seen) == 6
    outer.close()
    inner.close()


def test_a_capture_that_fails_leaves_the_generator_alone(generator: ap.Generator) -> None:
    with ap.Graph() as graph:
        with pytest.raises(ZeroDivisionError), graph.capture():
            drawing(generator)
            raise ZeroDivisionError
        assert generator.get_offset() == 0
        with graph.capture():
            result = drawing(generator)
        graph.replay()
        assert np.array_equal(result.numpy(), expected(21, 0))
