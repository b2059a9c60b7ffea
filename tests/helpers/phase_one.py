# SPDX-License-Identifier: Apache-2.0
"""Phase one of an operator through its C interface alone, for whoever makes a great many calls.

A `PhaseOne` keeps the C objects of one accepted call and exchanges dtypes of its tensors, or whole
arguments. Tensors have addresses that nobody reads.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from math import prod
from types import TracebackType
from typing import Any

import numpy as np

from aclnn_py._ffi import ffi, open_emulator
from aclnn_py.operators.rulebook.handles import Handles, Library
from aclnn_py.tensor.dtypes import DType, dtype_of
from aclnn_py.tensor.formats import format_of
from helpers.accepted_calls import (
    Call,
    Group,
    ScalarListSpec,
    ScalarSpec,
    TensorListSpec,
    TensorSpec,
)

# The field of a word by the kind of a parameter; all others are pointers.
_FIELDS = {
    "y": "int32", "?": "boolean", "b": "int8", "i": "int32", "u": "uint32", "l": "int64",
    "q": "uint64", "f": "float32", "d": "float64",
}  # fmt: skip
_ARRAYS = {"I": "IntArray", "F": "FloatArray", "B": "BoolArray"}
_PHASE_TWO = "int32_t (*)(uintptr_t, uint64_t, uintptr_t, uintptr_t)"
# Phase one asks whether an address is null, not what lies there.
_FIRST_ADDRESS, _ADDRESS_STEP = 1 << 40, 1 << 36


class NoObjectError(RuntimeError):
    """The library makes no object of an argument, such as a tensor of an unknown dtype."""


@functools.cache
def emulator() -> Library:
    """The emulator of the package through its own handle."""
    return Library(open_emulator())


class PhaseOne:
    """One accepted call, ready to be asked with other arguments; close it to free its C objects.

    Parameters
    ----------
    call : Call
    groups : mapping
        Names of communicators by their number of ranks.
    library : Library, optional
        The library that is asked, by default the emulator.

    Attributes
    ----------
    tensors : dict
        Positions of tensors and lists of tensors that are there, with the first dtype.
    scalars : list of int
        Positions of scalars and lists of scalars that are there.
    dtype_attributes : list of int
        Positions of aclDataType attributes.
    given : dict
        The dtypes of the tensors of the call, by position; lists, whose members differ, are not in
        it.
    """

    def __init__(
        self, call: Call, groups: Mapping[int, str], library: Library | None = None
    ) -> None:
        self.call = call
        self._library = library or emulator()
        asked = self._library.phase_one(call.operator)
        assert asked is not None, f"{self._library.path} lacks {call.operator}"
        self._asked = asked
        self._kinds = [parameter.kind for parameter in call.op.parameters]
        self._groups = groups
        self._handles = Handles(self._library)
        self._type_of = self._library.function(
            "aclGetDataType", "int32_t (*)(uintptr_t, int32_t *)"
        )
        self._made: dict[tuple[int, DType | None], Any] = {}
        self._words = ffi.new("ap_word[]", max(len(self._kinds), 1))
        self._bits = ffi.cast("uint64_t *", self._words)
        self.renew()
        self.tensors = self._find_tensors()
        self.scalars = [
            position
            for position, argument in enumerate(call.arguments)
            if isinstance(argument, (ScalarSpec, ScalarListSpec))
        ]
        self.dtype_attributes = [p for p, kind in enumerate(self._kinds) if kind == "y"]
        self.given = {
            position: dtype_of(argument.dtype)
            for position, argument in enumerate(call.arguments)
            if isinstance(argument, TensorSpec)
        }

    def __enter__(self) -> PhaseOne:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._handles.close()
        self._made.clear()

    def renew(self) -> None:
        """Make all objects anew: operators change some of those they accept."""
        self._handles.close()
        self._made.clear()
        for position, kind in enumerate(self._kinds):
            value = self._value(position, None)
            setattr(self._words[position], _FIELDS.get(kind, "uint64"), value)

    def _find_tensors(self) -> dict[int, str]:
        found = {}
        for position, argument in enumerate(self.call.arguments):
            if isinstance(argument, TensorSpec):
                found[position] = argument.dtype
            elif isinstance(argument, TensorListSpec):
                members = [member.dtype for member in argument.members if member is not None]
                if members:
                    found[position] = members[0]
        return found

    def ask(self, dtypes: Mapping[int, DType]) -> int:
        """Return the status of phase one with these dtypes at these positions."""
        before = self._retype(dtypes)
        status = self._asked(self._words)
        self._restore(before)
        if status == 0:
            self._forget_retyped(dtypes)
        return status

    def ask_with(self, arguments: Mapping[int, Any]) -> int:
        """Return the status of phase one with other arguments at these positions.

        Raises
        ------
        NoObjectError
            The library makes no object of one of them.
        """
        before = {position: self._bits[position] for position in arguments}
        handles = Handles(self._library)
        try:
            for position, argument in arguments.items():
                kind = self._kinds[position]
                value = self._object(handles, argument, position, None)
                setattr(self._words[position], _FIELDS.get(kind, "uint64"), value)
            status = self._asked(self._words)
        finally:
            handles.close()
            for position, bits in before.items():
                self._bits[position] = bits
        if status == 0:
            self.renew()
        return status

    def launch(self, stream: int, workspace: bool) -> tuple[int, int | None]:
        """Return the statuses of both phases; None for phase two where phase one refuses.

        The workspace is null and of no bytes, or an address that nobody reads.
        """
        made = self._asked.prepare(self._words)
        if made.status != 0:
            return made.status, None
        room, size = (_FIRST_ADDRESS, made.workspace) if workspace else (0, 0)
        phase_two = self._library.function(self.call.operator, _PHASE_TWO)
        second: int = phase_two(room, size, made.executor, stream)
        return made.status, second

    def takes_one_of(self, dtypes: Mapping[int, DType], more: Sequence[tuple[int, DType]]) -> bool:
        """Return whether phase one takes these dtypes and one of `more` as well.

        The dtypes are set once for all of `more`: most operators are asked thousands of times.
        """
        bits, made, asked, words = self._bits, self._made, self._asked, self._words
        before = self._retype(dtypes)
        for key in more:
            position = key[0]
            was = bits[position]
            bits[position] = made[key] if key in made else self._value(*key)
            status = asked(words)
            bits[position] = was
            if status == 0:
                self._restore(before)
                self._forget_retyped({**dtypes, position: key[1]})
                return True
        self._restore(before)
        return False

    def message(self) -> str:
        """Return what the library says about the last refusal."""
        return self._library.message()

    def _retype(self, dtypes: Mapping[int, DType]) -> list[tuple[int, int]]:
        """Set dtypes; return what was there."""
        bits, made = self._bits, self._made
        before = [(position, bits[position]) for position in dtypes]
        for key in dtypes.items():
            bits[key[0]] = made[key] if key in made else self._value(*key)
        return before

    def _restore(self, before: Sequence[tuple[int, int]]) -> None:
        for position, value in before:
            self._bits[position] = value

    def _forget_retyped(self, dtypes: Mapping[int, DType]) -> None:
        """Some operators give a tensor another dtype: make it anew for the next question."""
        found = ffi.new("int32_t *")
        for position, kind in enumerate(self._kinds):
            if kind != "T":
                continue
            wanted = dtypes.get(position)
            handle = self._made.get((position, wanted))
            if not handle:
                continue
            self._type_of(handle, found)
            spec = self.call.arguments[position]
            if found[0] != (wanted or dtype_of(spec.dtype)).acl:
                del self._made[position, wanted]
                if wanted is None:
                    self._bits[position] = self._value(position, None)

    def _value(self, position: int, dtype: DType | None) -> Any:
        key = (position, dtype)
        if key not in self._made:
            argument = self.call.arguments[position]
            self._made[key] = self._object(self._handles, argument, position, dtype)
        return self._made[key]

    def _object(self, handles: Handles, argument: Any, position: int, dtype: DType | None) -> Any:
        """What stands in the word of an argument; its objects belong to `handles`."""
        kind = self._kinds[position]
        if isinstance(argument, TensorSpec):
            return self._tensor(handles, argument, position * 64, dtype)
        if isinstance(argument, TensorListSpec):
            members = [
                0 if member is None else self._tensor(handles, member, position * 64 + i, dtype)
                for i, member in enumerate(argument.members)
            ]
            return self._sure(handles.list_of("TensorList", members))
        if isinstance(argument, ScalarSpec):
            return self._scalar(handles, argument, dtype)
        if isinstance(argument, ScalarListSpec):
            scalars = [self._scalar(handles, member, dtype) for member in argument.members]
            return self._sure(handles.list_of("ScalarList", scalars))
        if isinstance(argument, Group):
            return handles.text(self._groups[argument.key].encode())
        if argument is not None and kind in _ARRAYS:
            return self._sure(handles.array(_ARRAYS[kind], list(argument), len(argument)))
        if kind == "y":
            return (dtype or dtype_of(argument)).acl
        if isinstance(argument, str):
            return handles.text(argument.encode())
        return 0 if argument is None else argument

    def _tensor(self, handles: Handles, spec: TensorSpec, number: int, dtype: DType | None) -> int:
        return self._sure(
            handles.tensor(
                (dtype or dtype_of(spec.dtype)).acl,
                spec.shape,
                spec.strides,
                spec.offset,
                int(format_of(spec.format)),
                spec.storage_shape,
                _FIRST_ADDRESS + number * _ADDRESS_STEP if prod(spec.shape) else 0,
            )
        )

    def _scalar(self, handles: Handles, spec: ScalarSpec, dtype: DType | None) -> int:
        kind = dtype_of(spec.dtype)
        value = spec.value
        if dtype is not None and dtype is not kind and dtype.exact and kind.exact:
            number = np.frombuffer(value, kind.numpy)[:1]
            if kind.numpy.kind == "c" and dtype.numpy.kind != "c":
                number = number.real
            with np.errstate(all="ignore"):
                value = number.astype(dtype.numpy).tobytes()
            kind = dtype
        return self._sure(handles.scalar(kind.acl, ffi.new("char[16]", value)))

    def _sure(self, made: int) -> int:
        if not made:
            raise NoObjectError(self.message())
        return made
