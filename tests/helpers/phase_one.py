# SPDX-License-Identifier: Apache-2.0
"""Phase one of an operator through its C interface alone, for tests that make a great many calls.

A `PhaseOne` keeps the C objects of one accepted call and exchanges the dtypes of its tensors.
Tensors have addresses that nobody reads. Of the binding only the invoker of the operator's shape is
used: it turns words into a C call in half the time that ctypes takes.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping, Sequence
from math import prod
from types import TracebackType
from typing import Any

import numpy as np

from aclnn_py._ffi import C, ffi, lib
from aclnn_py.emulator import library_path
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

_HANDLE = ctypes.c_void_p
# The field of a word by the kind of a parameter; all others are pointers.
_FIELDS = {
    "y": "int32", "?": "boolean", "b": "int8", "i": "int32", "u": "uint32", "l": "int64",
    "q": "uint64", "f": "float32", "d": "float64",
}  # fmt: skip
_ARRAYS: dict[str, Any] = {"I": ctypes.c_int64, "F": ctypes.c_float, "B": ctypes.c_bool}
_ARRAY_NAMES = {"I": "IntArray", "F": "FloatArray", "B": "BoolArray"}
# Phase one asks whether an address is null, not what lies there.
_FIRST_ADDRESS, _ADDRESS_STEP = 1 << 40, 1 << 36


@functools.cache
def library() -> ctypes.CDLL:
    """The emulator as a C program sees it."""
    assert C.aclrtGetRunMode is not None  # opens the library
    loaded = ctypes.CDLL(str(library_path()))
    for kind in ("Tensor", "TensorList", "Scalar", "ScalarList", *_ARRAY_NAMES.values()):
        getattr(loaded, f"aclCreate{kind}").restype = _HANDLE
        getattr(loaded, f"aclDestroy{kind}").argtypes = [_HANDLE]
    loaded.aclDestroyAclOpExecutor.argtypes = [_HANDLE]
    loaded.aclGetRecentErrMsg.restype = ctypes.c_char_p
    loaded.aclGetDataType.argtypes = [_HANDLE, ctypes.POINTER(ctypes.c_int32)]
    return loaded


class PhaseOne:
    """One accepted call, ready to be asked with other dtypes; close it to free its C objects.

    Parameters
    ----------
    call : Call
    groups : mapping
        Names of communicators by their number of ranks.

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

    def __init__(self, call: Call, groups: Mapping[int, str]) -> None:
        self.call = call
        self._kinds = [parameter.kind for parameter in call.op.parameters]
        self._groups = groups
        row = lib.ap_op_find_c(call.operator.encode())
        function = getattr(library(), f"{call.operator}GetWorkspaceSize")
        self._invoke, self._op = row.invoke, ffi.new("ap_op *")
        self._op.shape = row.shape
        self._op.phase_one = ffi.cast("void *", ctypes.cast(function, _HANDLE).value)
        self._size, self._executor = ffi.new("uint64_t *"), ffi.new("void **")
        self._made: dict[tuple[int, DType | None], Any] = {}
        self._destroyers: list[tuple[str, Any]] = []
        self._keep: list[Any] = []
        self._words = ffi.new("ap_word[]", max(len(self._kinds), 1))
        for i, kind in enumerate(self._kinds):
            setattr(self._words[i], _FIELDS.get(kind, "uint64"), self._value(i, None))
        self._bits = ffi.cast("uint64_t *", self._words)
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
        for name, handle in reversed(self._destroyers):
            getattr(library(), f"aclDestroy{name}")(handle)
        self._destroyers.clear()
        self._made.clear()

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
        status: int = self._invoke(self._op, self._words, self._size, self._executor)
        self._restore(before)
        if status == 0:
            self._drop_executor(dtypes)
        return status

    def launch(self, stream: int, workspace: bool) -> tuple[int, int | None]:
        """Return the statuses of both phases; None for phase two where phase one refuses.

        The workspace is null and of no bytes, or an address that nobody reads.
        """
        status: int = self._invoke(self._op, self._words, self._size, self._executor)
        if status != 0:
            return status, None
        room, size = (_FIRST_ADDRESS, self._size[0]) if workspace else (0, 0)
        phase_two = getattr(library(), self.call.operator)
        executor = int(ffi.cast("uintptr_t", self._executor[0]))
        second: int = phase_two(
            _HANDLE(room), ctypes.c_uint64(size), _HANDLE(executor), _HANDLE(stream)
        )
        return status, second

    def takes_one_of(self, dtypes: Mapping[int, DType], more: Sequence[tuple[int, DType]]) -> bool:
        """Return whether phase one takes these dtypes and one of `more` as well.

        The dtypes are set once for all of `more`: most operators are asked thousands of times.
        """
        bits, made = self._bits, self._made
        invoke, call = self._invoke, (self._op, self._words, self._size, self._executor)
        before = self._retype(dtypes)
        for key in more:
            position = key[0]
            was = bits[position]
            bits[position] = made[key] if key in made else self._value(*key)
            status = invoke(*call)
            bits[position] = was
            if status == 0:
                self._restore(before)
                self._drop_executor({**dtypes, position: key[1]})
                return True
        self._restore(before)
        return False

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

    def _drop_executor(self, dtypes: Mapping[int, DType]) -> None:
        library().aclDestroyAclOpExecutor(int(ffi.cast("uintptr_t", self._executor[0])))
        self._forget_retyped(dtypes)

    def message(self) -> str:
        """Return what the library says about the last refusal."""
        text = library().aclGetRecentErrMsg()
        return (text or b"").decode()

    def _forget_retyped(self, dtypes: Mapping[int, DType]) -> None:
        """Some operators give a tensor another dtype: make it anew for the next question."""
        found = ctypes.c_int32()
        for position, kind in enumerate(self._kinds):
            if kind != "T":
                continue
            wanted = dtypes.get(position)
            handle = self._made.get((position, wanted))
            if not handle:
                continue
            library().aclGetDataType(handle, found)
            spec = self.call.arguments[position]
            if found.value != (wanted or dtype_of(spec.dtype)).acl:
                del self._made[position, wanted]
                if wanted is None:
                    self._bits[position] = self._value(position, None)

    def _value(self, position: int, dtype: DType | None) -> Any:
        key = (position, dtype)
        if key not in self._made:
            self._made[key] = self._make(position, dtype)
        return self._made[key]

    def _make(self, position: int, dtype: DType | None) -> Any:
        argument, kind = self.call.arguments[position], self._kinds[position]
        if isinstance(argument, TensorSpec):
            return self._tensor(argument, position, 0, dtype)
        if isinstance(argument, TensorListSpec):
            members = [
                m and self._tensor(m, position, i, dtype) for i, m in enumerate(argument.members)
            ]
            return self._list("TensorList", members)
        if isinstance(argument, ScalarSpec):
            return self._scalar(argument, dtype)
        if isinstance(argument, ScalarListSpec):
            return self._list("ScalarList", [self._scalar(m, dtype) for m in argument.members])
        if isinstance(argument, Group):
            return self._text(self._groups[argument.key])
        if argument is not None and kind in _ARRAYS:
            values = (_ARRAYS[kind] * len(argument))(*argument)
            create = getattr(library(), f"aclCreate{_ARRAY_NAMES[kind]}")
            handle = create(values, ctypes.c_uint64(len(argument)))
            self._destroyers.append((_ARRAY_NAMES[kind], handle))
            return handle
        if kind == "y":
            return (dtype or dtype_of(argument)).acl
        if isinstance(argument, str):
            return self._text(argument)
        return 0 if argument is None else argument

    def _text(self, text: str) -> int:
        kept = ffi.new("char[]", text.encode())
        self._keep.append(kept)
        return int(ffi.cast("uintptr_t", kept))

    def _tensor(self, spec: TensorSpec, position: int, member: int, dtype: DType | None) -> Any:
        def dims(values: Sequence[int]) -> Any:
            return (ctypes.c_int64 * len(values))(*values)

        number = position * 64 + member
        handle = library().aclCreateTensor(
            dims(spec.shape),
            ctypes.c_uint64(len(spec.shape)),
            ctypes.c_int32((dtype or dtype_of(spec.dtype)).acl),
            dims(spec.strides),
            ctypes.c_int64(spec.offset),
            ctypes.c_int32(int(format_of(spec.format))),
            dims(spec.storage_shape),
            ctypes.c_uint64(len(spec.storage_shape)),
            _HANDLE(_FIRST_ADDRESS + number * _ADDRESS_STEP) if prod(spec.shape) else None,
        )
        assert handle, self.message()
        self._destroyers.append(("Tensor", handle))
        return handle

    def _scalar(self, spec: ScalarSpec, dtype: DType | None) -> Any:
        kind = dtype_of(spec.dtype)
        value = spec.value
        if dtype is not None and dtype is not kind and dtype.exact and kind.exact:
            number = np.frombuffer(value, kind.numpy)[:1]
            if kind.numpy.kind == "c" and dtype.numpy.kind != "c":
                number = number.real
            with np.errstate(all="ignore"):
                value = number.astype(dtype.numpy).tobytes()
            kind = dtype
        buffer = ctypes.create_string_buffer(value, 16)
        handle = library().aclCreateScalar(buffer, ctypes.c_int32(kind.acl))
        assert handle, self.message()
        self._destroyers.append(("Scalar", handle))
        return handle

    def _list(self, name: str, members: Sequence[Any]) -> Any:
        array = (_HANDLE * len(members))(*members)
        handle = getattr(library(), f"aclCreate{name}")(array, ctypes.c_uint64(len(members)))
        # The list owns its members from here on.
        owned = [entry for entry in self._destroyers if entry[1] in members]
        for entry in owned:
            self._destroyers.remove(entry)
        self._destroyers.append((name, handle))
        return handle
