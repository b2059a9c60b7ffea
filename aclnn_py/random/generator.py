# SPDX-License-Identifier: Apache-2.0
"""Where random numbers come from: generators, which advance with every number that is drawn."""

from __future__ import annotations

import operator
import os
import threading

from aclnn_py.errors import CaptureError, InvalidArgumentError
from aclnn_py.random.drawing import Drawing
from aclnn_py.runtime.current import thread
from aclnn_py.runtime.device import Device, resolve

__all__ = ["Generator", "default_generator", "manual_seed"]

_END = 1 << 63
_WORD = 1 << 64
_STATE_NBYTES = 16
# A device makes random bits in blocks of four words; a draw never starts inside a block.
_BLOCK = 4

# One lock for all generators: what it guards takes less time than a second lock would.
_lock = threading.Lock()
_defaults: dict[int, Generator] = {}
_common_seed: int | None = None


def _renew_lock() -> None:
    # A fork may have happened while another thread of the parent held the lock.
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


class Generator(Drawing):
    """A sequence of random numbers, and the place in it where the next draw begins.

    The sequence is a function of the seed. A draw of ``n`` numbers takes the next ``n`` of them,
    rounded up to a multiple of 4, and moves the offset behind them, so that no two draws share a
    number. Threads may share a generator; each draw has its own part of the sequence.

    Parameters
    ----------
    device : Device or int, optional
        Whose tensors it fills. Default: the current device of this thread.

    Notes
    -----
    ``random``, ``normal``, ``integers`` and their kin draw as those of ``numpy.random.Generator``
    do; functions such as ``functional.dropout`` take the generator itself. A new generator has a
    seed of the operating system. Draws that a ``Graph`` or a ``Sequence`` captured take new numbers
    at each replay, and move the generator on by as many.
    """

    __slots__ = ("_device", "_offset", "_seed")

    def __init__(self, device: Device | int | None = None) -> None:
        self._device = resolve(device)
        self._seed = _seed_of_the_system()
        self._offset = 0

    @property
    def device(self) -> Device:
        """The device whose tensors it fills."""
        return self._device

    def manual_seed(self, seed: int) -> Generator:
        """Begin the sequence of a seed.

        Parameters
        ----------
        seed : int
            -2**63 to 2**64 - 1; a negative one means the same as with 2**64 added.

        Returns
        -------
        Generator
            The generator itself.

        Raises
        ------
        TypeError
            It is no int.
        InvalidArgumentError
            It does not fit into 64 bits.
        CaptureError
            This thread captures a graph or records a sequence, which would not repeat it.
        """
        number = _checked_seed(seed)
        _refuse_in_capture("Generator.manual_seed")
        with _lock:
            self._seed, self._offset = number, 0
        return self

    def seed(self) -> int:
        """Begin the sequence of a seed of the operating system, and return the seed.

        Raises
        ------
        CaptureError
            This thread captures a graph or records a sequence, which would not repeat it.
        """
        number = _seed_of_the_system()
        self.manual_seed(number)
        return number

    def initial_seed(self) -> int:
        """Return the seed of the sequence, 0 to 2**64 - 1."""
        return self._seed

    def get_offset(self) -> int:
        """Return how many numbers of the sequence were passed so far."""
        return self._offset

    def set_offset(self, offset: int) -> None:
        """Go to another place of the same sequence.

        Parameters
        ----------
        offset : int
            A multiple of 4 below 2**63, as ``get_offset`` returns it.

        Raises
        ------
        TypeError
            It is no int.
        InvalidArgumentError
            It is negative, too large or no multiple of 4.
        CaptureError
            This thread captures a graph or records a sequence, which would not repeat it.
        """
        number = _checked_offset(offset)
        _refuse_in_capture("Generator.set_offset")
        with _lock:
            self._offset = number

    def get_state(self) -> bytes:
        """Return seed and offset, 8 bytes each, as ``set_state`` takes them."""
        with _lock:
            seed, offset = self._seed, self._offset
        return seed.to_bytes(8, "little") + offset.to_bytes(8, "little")

    def set_state(self, state: bytes) -> None:
        """Go to the sequence and the place of ``get_state``, of this or another generator.

        Parameters
        ----------
        state : bytes-like
            16 bytes.

        Raises
        ------
        TypeError
            It is not bytes-like.
        InvalidArgumentError
            It was not made by ``get_state``.
        CaptureError
            This thread captures a graph or records a sequence, which would not repeat it.
        """
        if not isinstance(state, (bytes, bytearray, memoryview)):
            raise TypeError(f"state: expected bytes of get_state, got {type(state).__name__}")
        data = bytes(state)
        if len(data) != _STATE_NBYTES:
            raise InvalidArgumentError(
                f"state: {len(data)} bytes; get_state returns {_STATE_NBYTES}"
            )
        offset = _checked_offset(int.from_bytes(data[8:], "little"), "state: its offset")
        _refuse_in_capture("Generator.set_state")
        with _lock:
            self._seed, self._offset = int.from_bytes(data[:8], "little"), offset

    def take(self, count: int) -> tuple[int, int]:
        """Take the next numbers of the sequence, for a launch that is given a seed and an offset.

        Parameters
        ----------
        count : int
            How many; rounded up to a multiple of 4.

        Returns
        -------
        seed, offset : int
            Where the numbers begin. No other draw gets them.

        Raises
        ------
        InvalidArgumentError
            The count is negative, or the sequence ends before: it has 2**63 numbers.
        """
        if count < 0:
            raise InvalidArgumentError(f"count: must not be negative, got {count}")
        length = whole_blocks(count)
        with _lock:
            seed, offset = self._seed, self._offset
            if offset + length > _END - _BLOCK:
                raise InvalidArgumentError(
                    f"generator: {count} numbers behind number {offset} are more than the sequence "
                    "of a seed has; go on with another one: generator.manual_seed(n)"
                )
            self._offset = offset + length
        return seed, offset

    def __repr__(self) -> str:
        return f"<Generator device {self._device.index}, seed {self._seed}, offset {self._offset}>"


def default_generator(device: Device | int | None = None) -> Generator:
    """Return the generator that functions take when none is given: each device has one.

    Parameters
    ----------
    device : Device or int, optional
        Default: the current device of this thread.
    """
    where = resolve(device)
    found = _defaults.get(where.index)
    if found is None:
        fresh = Generator(where)
        with _lock:
            if _common_seed is not None:
                fresh._seed = _common_seed
            found = _defaults.setdefault(where.index, fresh)
    return found


def manual_seed(seed: int) -> None:
    """Begin the sequence of a seed on the default generator of every device.

    Devices that come into use later begin it too. The same seed gives the same numbers again, for
    the same draws in the same order.

    Parameters
    ----------
    seed : int
        -2**63 to 2**64 - 1; a negative one means the same as with 2**64 added.

    Raises
    ------
    TypeError
        It is no int.
    InvalidArgumentError
        It does not fit into 64 bits.
    CaptureError
        This thread captures a graph or records a sequence, which would not repeat it.
    """
    global _common_seed
    number = _checked_seed(seed)
    _refuse_in_capture("manual_seed")
    with _lock:
        _common_seed = number
        for generator in _defaults.values():
            generator._seed, generator._offset = number, 0


def whole_blocks(count: int) -> int:
    """How far a draw of so many numbers moves a generator."""
    return -(-count // _BLOCK) * _BLOCK


def _seed_of_the_system() -> int:
    return int.from_bytes(os.urandom(8), "little")


def _integer(value: object, name: str) -> int:
    if isinstance(value, bool):
        raise TypeError(f"{name}: expected an int, got bool")
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name}: expected an int, got {type(value).__name__}") from None


def _checked_seed(value: object) -> int:
    number = _integer(value, "seed")
    if not -_END <= number < _WORD:
        raise InvalidArgumentError(f"seed: {number} is outside -2**63 to 2**64 - 1")
    return number % _WORD


def _checked_offset(value: object, name: str = "offset") -> int:
    number = _integer(value, name)
    if not 0 <= number < _END or number % _BLOCK:
        raise InvalidArgumentError(f"{name}: {number} is no multiple of 4 from 0 to 2**63 - 4")
    return number


def _refuse_in_capture(call: str) -> None:
    if thread.capture is not None or thread.recording is not None:
        what = "captures a graph" if thread.capture is not None else "records a sequence"
        raise CaptureError(
            f"{call}: this thread {what}, and a replay would not repeat the call. Call it before "
            "the replays.",
            call=call,
        )
