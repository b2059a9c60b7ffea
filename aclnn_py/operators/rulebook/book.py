# SPDX-License-Identifier: Apache-2.0
"""The emulator asked about a call, whichever library the call is for.

The emulator is opened by its path and asked through its own handle, with objects that it makes from
shapes, strides, dtypes and formats: the libraries of a device in the same process have the same
names for their functions, and neither sees the other's. It reads no memory and needs no device.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from aclnn_py._ffi import device_kind, ffi, lib, open_emulator, own_function
from aclnn_py._ffi.libraries import EMULATOR
from aclnn_py.errors import (
    BrokenRule,
    LibraryLoadError,
    LibraryNotFoundError,
    SymbolNotFoundError,
)
from aclnn_py.operators.describe.groups import member_of, names_of
from aclnn_py.operators.describe.operator import Operator
from aclnn_py.operators.rulebook.handles import Handles, Library, address_of
from aclnn_py.operators.rulebook.refusal import READER, read_refusal, rule_of
from aclnn_py.runtime.device import soc_name

__all__ = ["Verdict", "judge", "refused_here"]

_ARRAYS = {lib.AP_INT_ARRAY: "IntArray", lib.AP_FLOAT_ARRAY: "FloatArray",
           lib.AP_BOOL_ARRAY: "BoolArray"}  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """What the emulator says of the arguments of a call.

    Attributes
    ----------
    rule : BrokenRule or None
        The rule that is broken; None where the emulator accepts, or was not asked.
    unasked : str
        Why the emulator was not asked, or "".
    missing : bool
        Whether that is because the emulator is not installed or not usable.
    chip : str
        The chip whose rules were asked for.
    """

    rule: BrokenRule | None = None
    unasked: str = ""
    missing: bool = False
    chip: str = ""


class _UnaskedError(Exception):
    """The emulator cannot be asked about this call."""

    def __init__(self, why: str, *, missing: bool = False) -> None:
        super().__init__(why)
        self.missing = missing


class _Book:
    """The emulator of this package, opened beside the libraries of the device."""

    def __init__(self) -> None:
        try:
            self.library = Library(open_emulator())
        except (LibraryNotFoundError, LibraryLoadError) as error:
            raise _UnaskedError(str(error).splitlines()[0], missing=True) from None
        try:
            self.chip = soc_name()
        except SymbolNotFoundError as error:
            raise _UnaskedError(f"the chip is unknown: {str(error).splitlines()[0]}") from None
        set_chip = self.library.function("aclnn_py_emulator_set_chip", "int32_t (*)(char const *)")
        if self.chip and not set_chip(self.chip.encode()):
            raise _UnaskedError(f"this process emulates another chip than the {self.chip}")
        self._describe = self.library.function(
            "aclnn_py_emulator_describe_group", "int32_t (*)(char const *, uint32_t, uint32_t)"
        )
        # A name stands for the caller's part in its group, and callers may be of several devices.
        self._lock = threading.Lock()

    def ask(self, op: Operator, values: Sequence[object]) -> BrokenRule | None:
        """Return the rule that a call breaks."""
        asked = self.library.phase_one(op.c_name)
        row = lib.ap_op_find_c(op.c_name.encode())
        if row == ffi.NULL or not _same_prototype(op, row):
            raise _UnaskedError(f"{op.c_name} was declared at run time")
        if asked is None:
            raise _UnaskedError(f"the emulator does not have {op.c_name}")
        block, descs, _tensors = op.call_block(values)
        handles = Handles(self.library)
        try:
            words = _words(handles, self.library, block.cdata, descs)
            with self._lock:
                self._describe_groups(op, values)
                status = asked(words)
            if status == 0:
                return None
            refusal = self.library.refusal(op.c_name)
            self.library.message()  # which is not the device's
        finally:
            handles.close()
        assert refusal is not None and refusal.status == status, (op.c_name, status, refusal)
        return rule_of(refusal, op.parameters)

    def _describe_groups(self, op: Operator, values: Sequence[object]) -> None:
        if device_kind() == EMULATOR:
            return  # it knows them
        for name in names_of(op, values):
            part = member_of(values, name)
            if part is None:
                raise _UnaskedError(f"the group {name!r} was not made by this package")
            if self._describe(name.encode(), part.size, part.rank):
                raise _UnaskedError(self.library.message())


def judge(op: Operator, values: Sequence[object]) -> Verdict:
    """Ask the emulator about the arguments of a call; nothing is queued.

    The chip is that of the device in use.

    Parameters
    ----------
    op : Operator
    values : sequence
        The arguments in C order.
    """
    try:
        book = _book()
        return Verdict(book.ask(op, values), chip=book.chip)
    except _UnaskedError as error:
        return Verdict(unasked=str(error), missing=error.missing)


def refused_here(op: Operator) -> BrokenRule | None:
    """Return the rule of the refusal that the emulator, being the device, has just answered with.

    To be called on the thread of the call, before any other one there.
    """
    refusal = read_refusal(_own(), op.c_name)
    return None if refusal is None else rule_of(refusal, op.parameters)


@cache
def _book() -> _Book:
    return _Book()


@cache
def _own() -> Any:
    return own_function("aclnn_py_emulator_refusal", READER)


def _same_prototype(op: Operator, row: Any) -> bool:
    kinds = "".join(parameter.kind for parameter in op.parameters)
    names = ",".join(parameter.c_name for parameter in op.parameters)
    known = ffi.string(row.kinds).decode(), ffi.string(row.parameters).decode()
    return (kinds, names) == known


def _words(handles: Handles, library: Library, call: Any, descs: Sequence[Any]) -> Any:
    """The words of a call's arguments, with objects of the library."""
    words = ffi.new("ap_word[]", max(call.argument_count, 1))
    waiting = iter(descs)
    for position in range(call.argument_count):
        argument = call.arguments[position]
        kind = argument.kind
        if kind == lib.AP_TENSOR:
            words[position].uint64 = _tensor(handles, library, next(waiting))
        elif kind == lib.AP_TENSOR_LIST:
            members = [_tensor(handles, library, next(waiting)) for _ in range(argument.count)]
            if argument.present:
                words[position].uint64 = handles.list_of("TensorList", members)
        elif kind in (lib.AP_SCALAR, lib.AP_SCALAR_LIST) or kind in _ARRAYS:
            if argument.present:
                words[position].uint64 = _value(handles, kind, argument)
        else:
            words[position] = argument.word
    return words


def _tensor(handles: Handles, library: Library, desc: Any) -> int:
    if not desc:
        return 0
    layout = desc.layout
    shape, strides = list(layout.shape[0 : layout.ndim]), list(layout.strides[0 : layout.ndim])
    storage = list(layout.storage[0 : layout.storage_ndim])
    made = handles.tensor(
        layout.dtype, shape, strides, desc.offset, layout.format, storage, address_of(desc.address)
    )
    if not made:
        raise _UnaskedError(f"the emulator makes no such tensor: {library.message()}")
    return made


def _value(handles: Handles, kind: int, argument: Any) -> int:
    if kind in _ARRAYS:
        name = _ARRAYS[kind]
        c_type = {"IntArray": "int64_t *", "FloatArray": "float *", "BoolArray": "bool *"}[name]
        return handles.array(name, ffi.cast(c_type, argument.data), argument.count)
    scalars = ffi.cast("ap_scalar *", argument.data)
    made = [handles.scalar(scalars[i].dtype, scalars[i].bytes) for i in range(argument.count)]
    return made[0] if kind == lib.AP_SCALAR else handles.list_of("ScalarList", made)
