# SPDX-License-Identifier: Apache-2.0
"""Where functions that draw random numbers take them from."""

from __future__ import annotations

from aclnn_py.errors import CaptureError, DeviceMismatchError, InvalidArgumentError
from aclnn_py.random.draws import Place
from aclnn_py.random.generator import Generator, default_generator
from aclnn_py.runtime.current import thread
from aclnn_py.runtime.stream import Stream, resolve_stream
from aclnn_py.tensor.tensor import Tensor

__all__ = ["next_place", "signed", "unsigned"]


def next_place(
    target: Tensor,
    generator: Generator | None,
    seed: int | None,
    offset: int | None,
    stream: Stream | None,
) -> Place:
    """The place in a sequence from which a tensor is filled: as said, or the next of a generator.

    In a capture the launch gets the place from tensors that each replay writes anew.
    """
    if seed is not None or offset is not None:
        if generator is not None:
            raise InvalidArgumentError(
                "generator: a generator has a seed and an offset of its own; leave it out, or "
                "leave out seed and offset"
            )
        return Place(0 if seed is None else seed, 0 if offset is None else offset)
    source = default_generator(target.device) if generator is None else generator
    if not isinstance(source, Generator):
        raise TypeError(f"generator: expected a Generator or None, got {type(source).__name__}")
    if source.device is not target.device:
        raise DeviceMismatchError(
            f"generator: {source!r} is not of {target.device!r}, where the tensor is"
        )
    queue = resolve_stream(stream)
    capture, recorded = queue._queue.capture, thread.recording
    if capture is None and recorded is None:
        return Place(*source.take(target.count))
    if capture is None:
        return recorded.place(source, target.count, queue)  # type: ignore[union-attr]
    if recorded is not None:
        raise CaptureError(
            "Sequence.record: the stream is being captured, and the numbers of a launch cannot "
            "come from the replays of both; record and capture one after the other, or pass seed=",
            call="Sequence.record",
        )
    draws = capture.graph.draws
    assert draws is not None
    return draws.place(source, target.count, queue)


def signed(seed: object) -> object:
    """The seed as the operators take it that have a signed one: the same 64 bits."""
    return seed - (1 << 64) if type(seed) is int and 1 << 63 <= seed < 1 << 64 else seed


def unsigned(word: Tensor) -> Tensor:
    """A seed or offset in a tensor as the operators take it that have unsigned ones."""
    return word.view("uint64")
