# SPDX-License-Identifier: Apache-2.0
"""A process of its own whose emulator has another chip, and calls of functions there.

The chip of the emulator is chosen once per process. `Chip950` has a process with a chip of the
950 series, or with the one that it is given; `call` runs a function of a module there, and
`operator` calls an operator with arrays.

To start one takes longer than most calls, and seventy modules of tests need one: whoever is done
with a process leaves it to the next, unless a call failed or something was left open there.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from helpers.processes import environment

NAME = "Ascend950PR_9599"
# The chips of the facts.
CHIPS = {"950": NAME, "310P": "Ascend310P3"}
_LONGEST_S = 300.0  # a call that takes longer hangs
_SCRIPT = "from helpers.chip_950 import serve; serve()"

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Given:
    """A tensor that is read; ``values`` are codes where NumPy lacks the dtype.

    ``stepped``: its elements have gaps between them. ``swapped``: two axes that are exchanged in
    memory. ``format``: how it is stored.
    """

    values: Array
    dtype: str
    stepped: bool = False
    swapped: tuple[int, int] | None = None
    format: str = "ND"


@dataclass(frozen=True)
class Changed(Given):
    """A tensor that is read and written; its elements come back as those of a result do."""


@dataclass(frozen=True)
class Made:
    """A tensor for a result; its elements come back as NumPy has them, or as codes."""

    shape: tuple[int, ...]
    dtype: str
    stepped: bool = False


@dataclass(frozen=True)
class Refused:
    """The status and the message of a call that was refused or that failed."""

    status: int
    text: str


class Chip950:
    """The process; leave the context to give it up."""

    def __init__(self, chip: str = "950") -> None:
        self._chip = chip
        self._sound = True
        kept = _kept.pop(chip, None)
        self._child = kept or subprocess.Popen(
            [sys.executable, "-c", _SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment({"ACLNN_PY_EMULATOR_SOC": CHIPS[chip]}),
        )

    def __enter__(self) -> Chip950:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._chip not in _kept and self._sound and self.call(__name__, "open_handles") == {}:
            _kept[self._chip] = self._child
        else:
            _end(self._child)

    def call(self, module: str, function: str, *arguments: Any) -> Any:
        """Run a function of a module in the process and return its result."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        sound, self._sound = self._sound, False  # until it has answered
        pickle.dump((module, function, arguments), self._child.stdin)
        self._child.stdin.flush()
        watch = threading.Timer(_LONGEST_S, self._child.kill)
        watch.start()
        try:
            succeeded, result = pickle.load(self._child.stdout)
        except EOFError:
            raise AssertionError(f"the process ended: {self._child.wait(timeout=60)}") from None
        finally:
            watch.cancel()
        assert succeeded, result
        self._sound = sound
        return result

    def operator(self, name: str, *arguments: Any) -> Any:
        """Call an operator; return the arrays of its results, or how it was refused.

        A list among the arguments is a list of tensors.
        """
        return self.call(__name__, "operate", name, arguments)


# Processes that wait for their next user, by chip.
_kept: dict[str, subprocess.Popen[bytes]] = {}


def _end(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.close()
    child.wait(timeout=60)
    child.stdout.close()


@atexit.register
def _end_kept() -> None:
    while _kept:
        _end(_kept.popitem()[1])


def serve() -> None:
    """Answer calls from standard input until it ends."""
    # What a library prints does not belong among the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    import aclnn_py as ap

    with ap.Device(0):
        while True:
            try:
                module, function, arguments = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            answer: tuple[bool, Any]
            try:
                answer = True, getattr(importlib.import_module(module), function)(*arguments)
            except Exception:  # whatever it is, the test is told
                answer = False, traceback.format_exc()
            pickle.dump(answer, answers)
            answers.flush()


def operate(name: str, arguments: tuple[Any, ...]) -> list[Array] | Refused:
    """Call an operator on the current device, as `Chip950.operator` does there."""
    import aclnn_py as ap

    built = [_built(argument) for argument in arguments]
    try:
        getattr(ap.ops, name)(*built)
        ap.Device(0).synchronize()
    except ap.errors.StatusError as error:
        return Refused(int(error.status), str(error))
    return list(_results(arguments, built))


def _results(given: Iterable[Any], built: Iterable[Any]) -> Iterator[Array]:
    for argument, tensor in zip(given, built, strict=True):
        if isinstance(argument, (Made, Changed)):
            yield tensor.numpy()
        elif isinstance(argument, list):
            yield from _results(argument, tensor)


def open_handles() -> dict[str, int]:
    """Handles that the calls have left open."""
    import aclnn_py as ap
    from aclnn_py.runtime.handle import live_handles

    ap.Device(0).synchronize()
    gc.collect()
    lasting = ("Runtime", "DefaultStream")
    return {kind: n for kind, n in live_handles().items() if n and kind not in lasting}


def make_accepted_calls(operator: str) -> None:
    """Make every accepted call of this chip on the current device."""
    from helpers.accepted_calls import calls, calls_950
    from helpers.places import places

    for call in calls_950(operator) or calls(operator):
        with places(call.group_keys) as found:
            for rank, (place, groups) in enumerate(found):
                with place:
                    call.op(*call.at(rank).build(groups))
            for place, _ in found:
                place.synchronize()


def taken_dtypes(operator: str) -> dict[str, Any]:
    """The dtypes that phase one takes, as `helpers.walk.taken` finds them."""
    from helpers.accepted_calls import calls, calls_950
    from helpers.places import places
    from helpers.walk import taken, taken_by_950

    made = (*calls(operator), *calls_950(operator))
    with places(sorted({key for call in made for key in call.group_keys})) as found:
        place, groups = found[0]
        with place:
            ask = taken_by_950 if calls_950(operator) else taken
            return ask(operator, groups)


def _built(argument: Any) -> Any:
    if isinstance(argument, list):
        return [_built(member) for member in argument]
    if isinstance(argument, Given):
        return _given(argument)
    if isinstance(argument, Made):
        from aclnn_py.tensor.dtypes import dtype_of

        # What no operator leaves behind by chance: an odd code, or 77.
        kind = dtype_of(argument.dtype)
        if kind.bits > 8:
            junk = np.full(argument.shape, 77).astype(kind.numpy)
        else:
            junk = np.full(argument.shape, 77 & ((1 << kind.bits) - 1), np.uint8).view(kind.numpy)
        return _tensor(junk, argument.dtype, argument.stepped)
    return argument


def _given(argument: Given) -> Any:
    import aclnn_py as ap

    if argument.swapped is None and argument.format == "ND":
        return _tensor(argument.values, argument.dtype, argument.stepped)
    values = argument.values
    if argument.swapped is not None:
        values = values.swapaxes(*argument.swapped)
    tensor = ap.from_numpy(
        np.ascontiguousarray(values), dtype=argument.dtype, format=argument.format
    )
    return tensor if argument.swapped is None else tensor.swapaxes(*argument.swapped)


def _tensor(values: Array, dtype: str, stepped: bool) -> Any:
    import aclnn_py as ap

    if not stepped:
        return ap.from_numpy(np.ascontiguousarray(values).reshape(values.shape), dtype=dtype)
    wide = np.zeros((*values.shape[:-1], 2 * values.shape[-1] + 1), values.dtype)
    wide[..., 1::2] = values
    return ap.from_numpy(wide, dtype=dtype)[..., 1::2]
