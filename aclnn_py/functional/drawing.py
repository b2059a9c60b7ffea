# SPDX-License-Identifier: Apache-2.0
"""Where random functions take their numbers from."""

from __future__ import annotations

from typing import NamedTuple

from aclnn_py.errors import CaptureError, DeviceMismatchError, InvalidArgumentError
from aclnn_py.random.draws import Place
from aclnn_py.random.generator import Generator, default_generator
from aclnn_py.runtime.current import thread
from aclnn_py.runtime.stream import Stream, resolve_stream
from aclnn_py.tensor.tensor import Tensor

__all__ = ["Fixed", "Replayed", "fixed_place", "next_place", "signed", "unsigned"]


class Fixed(NamedTuple):
    """Seed and offset as numbers."""

    seed: int
    offset: int


class Replayed(NamedTuple):
    """Seed and offset as tensors that each replay writes anew; ``start`` is added to the offset."""

    seed: Tensor
    offset: Tensor
    start: int


def next_place(
    target: Tensor,
    generator: Generator | None,
    seed: int | None,
    offset: int | None,
    stream: Stream | None,
) -> Fixed | Replayed:
    """The place in a random sequence to fill a tensor from: the given one, or a generator's next.

    In a capture the launch reads the place from tensors that each replay writes anew.
    """
    if seed is not None or offset is not None:
        if generator is not None:
            raise InvalidArgumentError(
                "generator: a generator has a seed and an offset of its own; leave it out, or "
                "leave out seed and offset"
            )
        return Fixed(0 if seed is None else seed, 0 if offset is None else offset)
    source = default_generator(target.device) if generator is None else generator
    if not isinstance(source, Generator):
        raise TypeError(f"generator: expected a Generator or None, got {type(source).__name__}")
    if source.device is not target.device:
        raise DeviceMismatchError(
            f"generator: {source!r} is not of {target.device!r}, where the tensor is"
        )
    queue = resolve_stream(stream)
    capture, recorded = queue.state.capture, thread.recording
    if capture is None and recorded is None:
        return Fixed(*source.take(target.count))
    if capture is None:
        return _replayed(recorded.place(source, target.count, queue))  # type: ignore[union-attr]
    if recorded is not None:
        raise CaptureError(
            "Sequence.record: the stream is being captured, and the numbers of a launch cannot "
            "come from the replays of both; record and capture one after the other, or pass seed=",
            call="Sequence.record",
        )
    draws = capture.draws
    assert draws is not None
    return _replayed(draws.place(source, target.count, queue))


def fixed_place(
    target: Tensor,
    generator: Generator | None,
    seed: int | None,
    offset: int | None,
    stream: Stream | None,
) -> Fixed:
    """The same for an operator that takes the place as numbers: a replay cannot draw anew."""
    if seed is None and offset is None:
        recorded = thread.recording is not None
        if recorded or resolve_stream(stream).state.capture is not None:
            call = "Sequence.record" if recorded else "Graph.capture"
            raise CaptureError(
                f"{call}: the operator takes its place in the sequence of random numbers as "
                "numbers, so that replays cannot draw new ones; pass seed=",
                call=call,
            )
    place = next_place(target, generator, seed, offset, stream)
    assert isinstance(place, Fixed)
    return place


def _replayed(place: Place) -> Replayed:
    seed, offset, start = place
    assert isinstance(seed, Tensor) and isinstance(offset, Tensor) and start is not None
    return Replayed(seed, offset, start)


def signed(seed: int) -> int:
    """The same 64 bits as a signed integer, for operators with a signed seed."""
    return seed - (1 << 64) if type(seed) is int and 1 << 63 <= seed < 1 << 64 else seed


def unsigned(word: Tensor) -> Tensor:
    """The same 64 bits as unsigned integers, for operators with an unsigned seed or offset."""
    return word.view("uint64")
