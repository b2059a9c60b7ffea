# SPDX-License-Identifier: Apache-2.0
"""Generators: seeds, states, and that no two draws share a number."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import errors, functional


@pytest.fixture
def generator(device: ap.Device) -> ap.Generator:
    return ap.Generator().manual_seed(11)


@pytest.fixture(autouse=True)
def _own_defaults(device: ap.Device) -> Iterator[None]:
    """Leave the default generator as it was."""
    default = ap.default_generator()
    before = default.get_state()
    yield
    default.set_state(before)


def test_draws_advance_by_whole_blocks_and_do_not_overlap(generator: ap.Generator) -> None:
    assert generator.get_offset() == 0
    parts, offset = [], 0
    for count in (1, 4, 5, 0, 7):
        parts.append(functional.uniform(0, 1, (count,), generator=generator, dtype="float64"))
        offset += -(-count // 4) * 4
        assert generator.get_offset() == offset
    whole = functional.uniform(0, 1, (offset,), seed=11, dtype="float64").numpy()
    assert len(set(whole)) == offset
    starts = [0, 4, 8, 16, 16]
    for part, start in zip(parts, starts, strict=True):
        assert np.array_equal(part.numpy(), whole[start : start + part.count])


def draw(function: str, **place: Any) -> np.ndarray[Any, Any]:
    """16 numbers of a function that draws."""
    call = getattr(functional, function)
    if function.endswith("_"):
        found = call(ap.empty((16,), "float32"), 0.0, 1.0, **place).numpy()
    else:
        found = call(0.0, 1.0, (16,), **place).numpy()
    assert np.ptp(found) > 0.1
    return found


@pytest.mark.parametrize("function", ["uniform", "uniform_", "normal", "normal_"])
def test_two_calls_draw_different_numbers_and_a_seed_gives_them_again(function: str) -> None:
    ap.manual_seed(5)
    first, second = draw(function), draw(function)
    assert (first != second).all()
    ap.manual_seed(5)
    assert np.array_equal(draw(function), first)
    assert np.array_equal(draw(function), second)
    assert np.array_equal(draw(function, seed=5), first)
    assert np.array_equal(draw(function, seed=5, offset=16), second)


def test_without_a_seed_processes_and_generators_differ() -> None:
    code = "import aclnn_py as ap; print(ap.default_generator().initial_seed())"
    found = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
        ).stdout
        for _ in range(2)
    }
    assert len(found) == 2
    assert ap.Generator().initial_seed() != ap.Generator().initial_seed()


def test_states_are_read_and_set_again(generator: ap.Generator) -> None:
    draw("normal", generator=generator)
    state = generator.get_state()
    following = draw("normal", generator=generator)
    other = ap.Generator()
    other.set_state(pickle.loads(pickle.dumps(state)))
    assert (other.initial_seed(), other.get_offset()) == (11, 16)
    assert np.array_equal(draw("normal", generator=other), following)
    generator.set_state(state)
    assert np.array_equal(draw("normal", generator=generator), following)
    generator.set_offset(0)
    assert np.array_equal(draw("normal", generator=generator), draw("normal", seed=11))
    assert "seed 11, offset 16" in repr(generator)


@pytest.mark.parametrize("function", ["uniform", "normal"])
@pytest.mark.parametrize("seed", [0, 2**63 - 1, 2**63, 2**64 - 1, -1, -(2**63)])
def test_all_seeds_of_64_bits(function: str, seed: int, generator: ap.Generator) -> None:
    assert generator.manual_seed(seed) is generator
    assert generator.initial_seed() == seed % 2**64
    numbers = draw(function, generator=generator)
    assert np.array_equal(draw(function, seed=seed % 2**64), numbers)


def test_a_new_seed_begins_another_sequence(generator: ap.Generator) -> None:
    before = draw("uniform", generator=generator)
    seed = generator.seed()
    assert (generator.initial_seed(), generator.get_offset()) == (seed, 0)
    assert (draw("uniform", generator=generator) != before).all()


def test_each_device_has_a_default_and_all_get_the_seed(
    device: ap.Device, second_device: ap.Device
) -> None:
    near, far = ap.default_generator(), ap.default_generator(second_device)
    assert near is ap.default_generator(0) and far is ap.default_generator(1)
    assert (near.device, far.device) == (device, second_device)
    assert near is not far
    ap.manual_seed(3)
    first = functional.uniform(0, 1, (8,)).numpy()
    assert np.ptp(first) > 0.1
    assert (near.get_offset(), far.get_offset()) == (8, 0)
    with second_device:
        assert np.array_equal(functional.uniform(0, 1, (8,)).numpy(), first)
    assert far.get_offset() == 8
    with pytest.raises(errors.DeviceMismatchError, match=r"generator: .* is not of"):
        functional.uniform(0, 1, (8,), generator=far)


def test_a_device_that_comes_later_gets_the_seed_too() -> None:
    code = (
        "import aclnn_py as ap\n"
        "ap.manual_seed(77)\n"
        "print([ap.default_generator(i).initial_seed() for i in range(ap.device_count())])"
    )
    text = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    ).stdout
    assert set(eval(text)) == {77}


def test_threads_share_a_generator_without_sharing_numbers(generator: ap.Generator) -> None:
    places: list[tuple[int, int]] = []
    lock = threading.Lock()

    def work() -> None:
        own = [generator.take(5) for _ in range(500)]
        with lock:
            places.extend(own)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(places) == [(11, 8 * i) for i in range(2000)]


def test_mistakes(generator: ap.Generator) -> None:
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: ap.manual_seed(1.5), TypeError, "seed: expected an int, got float"),  # type: ignore[arg-type]
        (lambda: generator.manual_seed(True), TypeError, "seed: expected an int, got bool"),
        (lambda: generator.manual_seed(2**64), errors.InvalidArgumentError, "seed: 1844674407370"),
        (lambda: generator.set_offset(6), errors.InvalidArgumentError, "offset: 6 is no multiple"),
        (lambda: generator.set_offset(-4), errors.InvalidArgumentError, "offset: -4 is no"),
        (lambda: generator.set_state("x"), TypeError, "state: expected bytes"),  # type: ignore[arg-type]
        (lambda: generator.set_state(b"x"), errors.InvalidArgumentError, "state: 1 bytes"),
        (lambda: generator.set_state(b"\xff" * 16), errors.InvalidArgumentError, "its offset"),
        (lambda: generator.take(-1), errors.InvalidArgumentError, "count: must not be negative"),
        (
            lambda: functional.uniform(0, 1, (2,), generator=7),  # type: ignore[arg-type]
            TypeError,
            "generator: expected a Generator or None, got int",
        ),
        (
            lambda: functional.normal(0, 1, (2,), generator=generator, seed=1),
            errors.InvalidArgumentError,
            "generator: a generator has a seed and an offset of its own",
        ),
    ]
    for call, kind, words in cases:
        with pytest.raises(kind, match=words):
            call()
    assert generator.get_state() == ap.Generator().manual_seed(11).get_state()


def test_a_sequence_that_is_used_up_is_refused(generator: ap.Generator) -> None:
    generator.set_offset(2**63 - 8)
    generator.take(4)
    with pytest.raises(errors.InvalidArgumentError, match=r"generator\.manual_seed"):
        generator.take(1)
