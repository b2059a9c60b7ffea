# SPDX-License-Identifier: Apache-2.0
"""Phase one of one library through its own handle: its objects, its operators, its messages.

The launcher calls the library of the device. What asks another library, or the same one without a
device, goes through here: every function is looked up in the library that was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from aclnn_py._ffi import OpenLibrary, ffi, lib
from aclnn_py.operators.rulebook.refusal import READER, Refusal, read_refusal

__all__ = ["Handles", "Library", "PhaseOne", "Prepared", "address_of"]

_ARRAY = "void *(*)({} const *, uint64_t)"
_CREATORS = {
    "Tensor": "void *(*)(int64_t const *, uint64_t, int32_t, int64_t const *, int64_t, int32_t,"
    " int64_t const *, uint64_t, void *)",
    "TensorList": _ARRAY.format("uintptr_t"),
    "Scalar": "void *(*)(void *, int32_t)",
    "ScalarList": _ARRAY.format("uintptr_t"),
    "IntArray": _ARRAY.format("int64_t"),
    "FloatArray": _ARRAY.format("float"),
    "BoolArray": _ARRAY.format("bool"),
}
_DESTROY = "int32_t (*)(uintptr_t)"


def address_of(pointer: Any) -> int:
    """Return a pointer as a number."""
    return int(ffi.cast("uintptr_t", pointer))


class Prepared(NamedTuple):
    """What phase one answers: a status, the bytes of the workspace, and an executor's address."""

    status: int
    workspace: int
    executor: int


class PhaseOne:
    """Phase one of an operator: called with the words of its arguments, it returns the status.

    The words are an ``ap_word[]``. An executor is destroyed at once.
    """

    def __init__(self, row: Any, address: int, drop: Any) -> None:
        self._op = ffi.new("ap_op *", {"shape": row.shape})
        self._op.phase_one = ffi.cast("void *", address)
        self._row, self._drop = row, drop

    def __call__(self, words: Any) -> int:
        made = self.prepare(words)
        if made.status == 0:
            self._drop(made.executor)
        return made.status

    def prepare(self, words: Any) -> Prepared:
        """Return what phase one answers; the caller consumes or destroys the executor."""
        size, executor = ffi.new("uint64_t *"), ffi.new("void **")
        status: int = self._row.invoke(self._op, words, size, executor)
        return Prepared(status, int(size[0]), address_of(executor[0]))


class Library:
    """A library that has phase one of operators.

    Parameters
    ----------
    opened : OpenLibrary
    """

    def __init__(self, opened: OpenLibrary) -> None:
        self._opened = opened
        self.create = {
            kind: self.function(f"aclCreate{kind}", c_type) for kind, c_type in _CREATORS.items()
        }
        self.destroy = {kind: self.function(f"aclDestroy{kind}", _DESTROY) for kind in _CREATORS}
        self._drop = self.function("aclDestroyAclOpExecutor", _DESTROY)
        self._recent = self.function("aclGetRecentErrMsg", "char const *(*)(void)")
        self._refusal = self.function("aclnn_py_emulator_refusal", READER)
        self._operators: dict[str, PhaseOne | None] = {}

    @property
    def path(self) -> str:
        """Where the library is."""
        return self._opened.path

    def function(self, name: str, c_type: str) -> Any:
        """Return a function of the library; None where it has none of that name."""
        address = self._opened.symbol(name)
        return ffi.cast(c_type, address) if address else None

    def phase_one(self, c_name: str) -> PhaseOne | None:
        """Return phase one of an operator; None where the library lacks the operator."""
        if c_name not in self._operators:
            address = self._opened.symbol(f"{c_name}GetWorkspaceSize")
            row = lib.ap_op_find_c(c_name.encode())
            known = address and row != ffi.NULL
            self._operators[c_name] = PhaseOne(row, address, self._drop) if known else None
        return self._operators[c_name]

    def refusal(self, c_name: str) -> Refusal | None:
        """Take the refusal that phase one of an operator has just answered with on this thread."""
        return read_refusal(self._refusal, c_name)

    def message(self) -> str:
        """Take the message that the library left on this thread."""
        text = self._recent()
        return "" if text == ffi.NULL else ffi.string(text).decode("utf-8", "replace").strip()


class Handles:
    """Objects of one library, destroyed together by `close`.

    A method returns the address of what it made, 0 where the library refused.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._owned: dict[int, str] = {}
        self._kept: list[Any] = []

    def tensor(
        self,
        dtype: int,
        shape: Sequence[int],
        strides: Sequence[int],
        offset: int,
        format: int,
        storage: Sequence[int],
        address: int,
    ) -> int:
        """Describe a tensor; strides and offset count elements."""
        made = self._library.create["Tensor"](
            shape, len(shape), dtype, strides, offset, format, storage, len(storage),
            ffi.cast("void *", address),
        )  # fmt: skip
        return self._own("Tensor", made)

    def scalar(self, dtype: int, value: Any) -> int:
        """Make a scalar of the bytes of its value."""
        return self._own("Scalar", self._library.create["Scalar"](value, dtype))

    def array(self, kind: str, values: Any, count: int) -> int:
        """Make an "IntArray", a "FloatArray" or a "BoolArray"."""
        return self._own(kind, self._library.create[kind](values, count))

    def list_of(self, kind: str, members: Sequence[int]) -> int:
        """Make a "TensorList" or a "ScalarList", which owns its members from then on."""
        made = self._own(kind, self._library.create[kind](list(members), len(members)))
        if made:
            for member in members:
                self._owned.pop(member, None)
        return made

    def text(self, data: bytes) -> int:
        """Keep a text; return its address."""
        kept = ffi.new("char[]", data)
        self._kept.append(kept)
        return address_of(kept)

    def close(self) -> None:
        """Destroy all objects."""
        for made, kind in reversed(self._owned.items()):
            self._library.destroy[kind](made)
        self._owned.clear()
        self._kept.clear()

    def _own(self, kind: str, made: Any) -> int:
        address = address_of(made)
        if address:
            self._owned[address] = kind
        return address
