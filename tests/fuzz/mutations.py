# SPDX-License-Identifier: Apache-2.0
"""Mutations of calls: each takes a call and random numbers, and returns another call.

A mutation that changes one argument finds checks that are missing. One that changes an extent or a
dtype wherever it stands leaves a call that fits together, and gets as far as the kernels.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from helpers.accepted_calls import (
    Call,
    Group,
    ScalarListSpec,
    ScalarSpec,
    TensorListSpec,
    TensorSpec,
)

from aclnn_py.tensor.views import contiguous_strides

from .cases import (
    FREED_DATA,
    HOST_DATA,
    NO_DATA,
    Case,
    Same,
    Stale,
    Text,
    Wrong,
    changed_tensors,
    letter_of,
)

DTYPES = (
    *("float32", "float16", "bfloat16", "float64", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128", "int4"),
)
SMALL = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100)
HUGE = (
    *(127, 128, 255, 256, 1000, 65535, 65536, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, 2**32),
    *(2**32 + 1, 2**33, 2**40, 2**61, 2**62, 2**62 + 1, 2**63 - 2, 2**63 - 1),
)
NEGATIVE = (-1, -2, -3, -8, -100, -(2**31), -(2**31) - 1, -(2**32), -(2**62), 1 - 2**63, -(2**63))
FLOATS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 1e-5, 1e-45, 5e-324, 3.4e38, 1e39, 1.7e308, -1.7e308),
    *(float("inf"), float("-inf"), float("nan"), 2.0**31, 2.0**63, -(2.0**63), 65504.0, 1e5),
)
STRINGS = (
    *(b"", b"sum", b"max", b"BNSD", b"BSND", b"BSH", b"TND", b"BNSD_BSND", b"NTD", b"SBH", b"none"),
    *(b"tanh", b"half", b"interleave", b"mean", b"replace", b"%s%n%s", b"\xff\xfe", b"x" * 5000),
)


def number(rng: random.Random) -> int:
    """An integer that is likely to be a limit of something."""
    pick = rng.random()
    if pick < 0.45:
        return rng.choice(SMALL)
    if pick < 0.7:
        return rng.choice(HUGE)
    return rng.choice(NEGATIVE)


def mutated(call: Call, seeds: list[int]) -> Case:
    """Apply one mutation for each seed; dropping a seed leaves the others as they were."""
    case = Case(call)
    for seed in seeds:
        rng = random.Random(seed)
        case = rng.choices(_KINDS, _WEIGHTS)[0](case, rng)
    return case


def _noted(case: Case, call: Call, words: str) -> Case:
    return replace(case, call=call, mutations=(*case.mutations, words))


def _name(case: Case, position: int) -> str:
    return case.call.op.parameters[position].name


def _one_argument(case: Case, rng: random.Random) -> Case:
    """Change one argument as its kind allows."""
    if not case.call.arguments:
        return case
    position = rng.randrange(len(case.call.arguments))
    argument = case.call.arguments[position]
    kind = case.call.op.parameters[position].kind
    value, words = _changed(argument, kind, rng, case.call)
    changed = case.call.changed(position, value)
    return _noted(case, changed, f"{_name(case, position)}: {words}")


def _changed(argument: Any, kind: str, rng: random.Random, call: Call) -> tuple[Any, str]:
    if isinstance(argument, TensorSpec):
        return _tensor(argument, rng, call)
    if isinstance(argument, TensorListSpec):
        return _tensor_list(argument, rng, call)
    if isinstance(argument, ScalarSpec):
        return _scalar(argument, rng)
    if isinstance(argument, ScalarListSpec):
        return _scalar_list(argument, rng)
    if argument is None:
        return _instead_of_null(kind, rng, call)
    if isinstance(argument, (Same, Stale, Wrong)):
        return argument, "no real argument"
    if kind == "s":
        return Text(rng.choice(STRINGS)), "another string"
    if kind == "y":
        value = rng.choice((-1, 99, 2**31 - 1, *range(40)))
        return value, f"dtype {value}"
    if kind == "?":
        return not argument, "the other truth value"
    if kind in "fd":
        real = rng.choice(FLOATS)
        return real, f"{real}"
    if kind in "IFB":
        return _array(list(argument), kind, rng)
    whole = number(rng)
    return whole, f"{whole}"


def _instead_of_null(kind: str, rng: random.Random, call: Call) -> tuple[Any, str]:
    known = list(call.tensors())
    if kind == "T" and known:
        return replace(rng.choice(known), memory=None), "a tensor instead of null"
    if kind == "L" and known:
        members = tuple(replace(t, memory=None) for t in rng.choices(known, k=rng.randint(0, 3)))
        return TensorListSpec(members), "a list instead of null"
    if kind == "S":
        return _scalar(ScalarSpec("float32", b"\0\0\x80\x3f"), rng)
    if kind in "IFB":
        return _array([1, 1], kind, rng)
    if kind == "s":
        return Text(rng.choice(STRINGS)), "a string instead of null"
    return None, "still null"


def _array(items: list[Any], kind: str, rng: random.Random) -> tuple[Any, str]:
    draw: Callable[[], Any] = {
        "I": lambda: number(rng),
        "F": lambda: rng.choice(FLOATS),
        "B": lambda: rng.random() < 0.5,
    }[kind]
    pick = rng.randrange(6)
    if pick < 3 and items:
        at = rng.randrange(len(items))
        items[at] = draw()
        return items, f"item {at} is {items[at]}"
    if pick == 3 and items:
        del items[rng.randrange(len(items))]
        return items, "an item less"
    if pick == 4:
        items.insert(rng.randint(0, len(items)), draw())
        return items, "an item more"
    length = rng.choice((0, 1, 2, 8, 9, 65, 1025))
    return [draw() for _ in range(length)], f"{length} other items"


_SCALAR_BYTES = {
    "nan": b"\0\0\xc0\x7f" * 4,
    "nan of float64": b"\0\0\0\0\0\0\xf8\x7f" * 2,
    "infinity": b"\0\0\x80\x7f" * 4,
    "minus infinity of float64": b"\0\0\0\0\0\0\xf0\xff" * 2,
    "zero": bytes(16),
    "all ones": b"\xff" * 16,
    "least integer": bytes(7) + b"\x80" + bytes(8),
    "greatest integer": b"\xff" * 7 + b"\x7f" + bytes(8),
    "infinity of float16": b"\0\x7c" * 8,
}


def _scalar(scalar: ScalarSpec, rng: random.Random) -> tuple[ScalarSpec, str]:
    pick = rng.random()
    if pick < 0.4:
        dtype = rng.choice(DTYPES)
        return replace(scalar, dtype=dtype), f"a scalar of {dtype}"
    if pick < 0.85:
        name = rng.choice(list(_SCALAR_BYTES))
        return replace(scalar, value=_SCALAR_BYTES[name]), f"the scalar is {name}"
    return replace(scalar, value=rng.randbytes(16)), "a scalar of random bytes"


def _scalar_list(scalars: ScalarListSpec, rng: random.Random) -> tuple[ScalarListSpec, str]:
    members = list(scalars.members)
    pick = rng.randrange(4)
    if pick < 2 and members:
        at = rng.randrange(len(members))
        members[at], words = _scalar(members[at], rng)
        return ScalarListSpec(tuple(members)), f"item {at}: {words}"
    if pick == 2 and members:
        return ScalarListSpec(tuple(members[:-1])), "an item less"
    filler = members[0] if members else ScalarSpec("float32", bytes(4))
    members += [filler] * rng.choice((1, 2, 300))
    return ScalarListSpec(tuple(members)), f"{len(members)} items"


def _tensor_list(tensors: TensorListSpec, rng: random.Random, call: Call) -> tuple[Any, str]:
    members = list(tensors.members)
    pick = rng.randrange(8)
    if pick < 3 and members:
        at = rng.randrange(len(members))
        known = members[at]
        if known is not None:
            members[at], words = _tensor(known, rng, call)
            if members[at] is None:
                words = "null"
            return TensorListSpec(tuple(members)), f"item {at}: {words}"
    if pick == 3 and members:
        members[rng.randrange(len(members))] = None
        return TensorListSpec(tuple(members)), "a null item"
    if pick == 4 and members:
        del members[rng.randrange(len(members))]
        return TensorListSpec(tuple(members)), "an item less"
    if pick == 5 and members:
        members += rng.choices(members, k=rng.choice((1, 2, 130, 300)))
        return TensorListSpec(tuple(members)), f"{len(members)} items"
    if pick == 6:
        rng.shuffle(members)
        return TensorListSpec(tuple(members)), "in another order"
    return rng.choice((None, TensorListSpec(()))), "null or empty"


def _tensor(tensor: TensorSpec, rng: random.Random, call: Call) -> tuple[Any, str]:
    return rng.choices(_TENSOR_KINDS, _TENSOR_WEIGHTS)[0](tensor, rng, call)


def _dtype(tensor: TensorSpec, rng: random.Random, call: Call) -> tuple[Any, str]:
    dtype: Any = rng.choice(DTYPES) if rng.random() < 0.85 else rng.choice((-1, 41, 99, 2**31 - 1))
    if rng.random() < 0.1:
        dtype = rng.randrange(13, 41)
    return replace(tensor, dtype=dtype), f"dtype {dtype}"


def reshaped(tensor: TensorSpec, shape: tuple[int, ...]) -> TensorSpec:
    """Return the tensor with another shape, dense."""
    strides = contiguous_strides(shape)
    return replace(tensor, shape=shape, strides=_wrapped(strides), storage_shape=shape)


def _wrapped(strides: Iterable[int]) -> tuple[int, ...]:
    """Strides beyond 64 bits wrap, as those of a C program would."""
    return tuple((step + 2**63) % 2**64 - 2**63 for step in strides)


def _extent(tensor: TensorSpec, rng: random.Random, call: Call) -> tuple[Any, str]:
    if not tensor.shape:
        return reshaped(tensor, (number(rng),)), "rank 1 instead of 0"
    at = rng.randrange(len(tensor.shape))
    value = number(rng)
    if rng.random() < 0.3:
        value = max(0, tensor.shape[at] + rng.choice((-1, 1)))
    shape = (*tensor.shape[:at], value, *tensor.shape[at + 1 :])
    if rng.random() < 0.2 and len(shape) == len(tensor.strides):
        return replace(tensor, shape=shape), f"dimension {at} is {value}, strides as before"
    return reshaped(tensor, shape), f"dimension {at} is {value}"


def _rank(tensor: TensorSpec, rng: random.Random, call: Call) -> tuple[Any, str]:
    shape = list(tensor.shape)
    if shape and rng.random() < 0.45:
        del shape[rng.randrange(len(shape))]
    elif rng.random() < 0.8:
        shape.insert(rng.randint(0, len(shape)), rng.choice((0, 1, 1, 2, 3)))
    else:
        shape = [1] * (rng.randint(6, 14) - len(shape)) + shape
    return reshaped(tensor, tuple(shape)), f"shape {tuple(shape)}"


def _shape_of_another(tensor: TensorSpec, rng: random.Random, call: Call) -> tuple[Any, str]:
    shape = rng.choice(list(call.tensors())).shape
    return reshaped(tensor, shape), f"shape {shape} of another"


def _huge(tensor: TensorSpec, rng: random.Random, call: Call) -> tuple[Any, str]:
    shape = tuple(rng.choice(HUGE) for _ in tensor.shape) or (2**62,)
    if rng.random() < 0.5:
        strides = tuple(0 for _ in shape)
        return replace(tensor, shape=shape, strides=strides), f"shape {shape} with strides 0"
    return reshaped(tensor, shape), f"shape {shape}"


def _strides(tensor: TensorSpec, rng: random.Random, call: Call) -> tuple[Any, str]:
    if not tensor.shape:
        return _offset(tensor, rng, call)
    strides = list(tensor.strides)
    at = rng.randrange(len(strides))
    pick = rng.randrange(5)
    if pick == 0:
        strides[at] = number(rng)
    elif pick == 1:
        strides[at] = -strides[at]
        if rng.random() < 0.7:  # in bounds: the first element is the last one now
            offset = tensor.offset + (tensor.shape[at] - 1) * tensor.strides[at]
            tensor = replace(tensor, offset=offset)
    elif pick == 2:
        strides = [rng.choice((0, 1)) for _ in strides]
    elif pick == 3:
        strides = [step * rng.choice((2, 3)) for step in strides]
    else:
        rng.shuffle(strides)
    wrapped = _wrapped(strides)
    return replace(tensor, strides=wrapped), f"strides {wrapped}"


def _transposed(tensor: TensorSpec, rng: random.Random, call: Call) -> tuple[Any, str]:
    """The same values, the other way round in memory."""
    reverse = contiguous_strides(tuple(reversed(tensor.shape)))
    strides = tuple(reversed(reverse))
    return replace(tensor, strides=strides), "transposed in memory"


def _offset(tensor: TensorSpec, rng: random.Random, call: Call) -> tuple[Any, str]:
    offset = number(rng) if rng.random() < 0.6 else rng.randint(0, 40)
    return replace(tensor, offset=offset), f"offset {offset}"


def _format(tensor: TensorSpec, rng: random.Random, call: Call) -> tuple[Any, str]:
    value: Any = rng.choice((0, 1, 2, 3, 4, 16, 27, 29, 29, 30, 32, 35, 47, 50, 51, -1, 99, 2**30))
    tensor = replace(tensor, format=value)
    if value == 29 and len(tensor.shape) >= 2 and rng.random() < 0.7:
        rows, columns = tensor.shape[-2:]
        blocks = (-(-columns // 16), -(-rows // 16), 16, 16)
        tensor = replace(tensor, storage_shape=(*tensor.shape[:-2], *blocks))
    return tensor, f"format {value}"


def _storage(tensor: TensorSpec, rng: random.Random, call: Call) -> tuple[Any, str]:
    pick = rng.randrange(4)
    if pick == 0:
        shape: tuple[int, ...] = ()
    elif pick == 1:
        shape = tuple(number(rng) for _ in tensor.storage_shape)
    elif pick == 2:
        shape = (*tensor.storage_shape, rng.choice((1, 2, 16)))
    else:
        shape = (rng.choice((0, 1, 2**40)),) * rng.randint(1, 13)
    return replace(tensor, storage_shape=shape), f"storage shape {shape}"


def _address(tensor: TensorSpec, rng: random.Random, call: Call) -> tuple[Any, str]:
    where = rng.choice((NO_DATA, HOST_DATA, FREED_DATA))
    words = {NO_DATA: "no data", HOST_DATA: "host memory", FREED_DATA: "freed memory"}
    return replace(tensor, memory=where), words[where]


def _contents(tensor: TensorSpec, rng: random.Random, call: Call) -> tuple[Any, str]:
    length = min(max(64, len(tensor.contents or b"")), 4096)
    pick = rng.randrange(7)
    if pick == 0:
        return replace(tensor, contents=rng.randbytes(length)), "random bytes"
    if pick == 1:
        value = number(rng)
        data = (value % 2**64).to_bytes(8, "little") * (length // 8)
        return replace(tensor, contents=data), f"contents {value} as int64"
    if pick == 2:
        value = number(rng) % 2**32
        return replace(tensor, contents=value.to_bytes(4, "little") * (length // 4)), (
            f"contents {value} as int32"
        )
    if pick == 3:
        values = [number(rng) % 2**64 for _ in range(length // 8)]
        data = b"".join(value.to_bytes(8, "little") for value in values)
        return replace(tensor, contents=data), "contents of limits"
    if pick == 4 and tensor.contents:
        data = bytearray(tensor.contents)
        data[rng.randrange(len(data))] = rng.randrange(256)
        return replace(tensor, contents=bytes(data)), "one byte of the contents"
    data = rng.choice((b"\xff", b"\0", b"\0\0\xc0\x7f", b"\0\0\0\0\0\0\xf0\x7f", b"\0\x7e"))
    return replace(tensor, contents=data * (length // len(data))), f"contents {data.hex()}"


def _null(tensor: TensorSpec, rng: random.Random, call: Call) -> tuple[Any, str]:
    return None, "null"


_TENSOR_TABLE: tuple[tuple[Callable[..., tuple[Any, str]], int], ...] = (
    (_dtype, 5),
    (_extent, 6),
    (_rank, 4),
    (_shape_of_another, 3),
    (_huge, 2),
    (_strides, 5),
    (_transposed, 2),
    (_offset, 2),
    (_format, 3),
    (_storage, 2),
    (_address, 1),
    (_contents, 5),
    (_null, 1),
)
_TENSOR_KINDS = [kind for kind, _ in _TENSOR_TABLE]
_TENSOR_WEIGHTS = [weight for _, weight in _TENSOR_TABLE]


def _one_extent_everywhere(case: Case, rng: random.Random) -> Case:
    """Replace an extent wherever it stands, in attributes too where they have that number."""
    extents = sorted({dim for tensor in case.call.tensors() for dim in tensor.shape})
    if not extents:
        return case
    old = rng.choice(extents)
    value = rng.choice(SMALL) if rng.random() < 0.8 else rng.choice(HUGE)

    def other(tensor: TensorSpec) -> TensorSpec:
        if old not in tensor.shape:
            return tensor
        shape = tuple(value if dim == old else dim for dim in tensor.shape)
        return reshaped(tensor, shape)

    call = changed_tensors(case.call, other)
    if rng.random() < 0.7:
        for position, argument in enumerate(call.arguments):
            if isinstance(argument, list):
                items = [value if item == old and item is not True else item for item in argument]
                call = call.changed(position, items)
            elif type(argument) is int and argument == old and old > 1:
                call = call.changed(position, value)
    return _noted(case, call, f"extent {value} in place of {old}")


def _one_dtype_everywhere(case: Case, rng: random.Random) -> Case:
    dtypes = sorted({tensor.dtype for tensor in case.call.tensors()}, key=str)
    if not dtypes:
        return case
    old, new = rng.choice(dtypes), rng.choice(DTYPES)
    call = changed_tensors(case.call, lambda t: replace(t, dtype=new) if t.dtype == old else t)
    return _noted(case, call, f"{new} in place of {old}")


def _one_layout_everywhere(case: Case, rng: random.Random) -> Case:
    """Give every tensor gaps, or turn it round in memory: no shape changes."""
    spread = rng.random() < 0.5

    def other(tensor: TensorSpec) -> TensorSpec:
        if spread:
            strides = _wrapped(2 * step for step in contiguous_strides(tensor.shape))
            storage = tuple(2 * dim for dim in tensor.shape[:1]) + tensor.shape[1:]
            return replace(tensor, strides=strides, storage_shape=storage)
        reverse = contiguous_strides(tuple(reversed(tensor.shape)))
        return replace(tensor, strides=tuple(reversed(reverse)))

    words = "every second element" if spread else "turned round in memory"
    return _noted(case, changed_tensors(case.call, other), f"all tensors: {words}")


def _shared_memory(case: Case, rng: random.Random) -> Case:
    """Let two tensors share their memory, input and output perhaps."""
    positions = [i for i, a in enumerate(case.call.arguments) if isinstance(a, TensorSpec)]
    if len(positions) < 2:
        return case
    first, second = rng.sample(positions, 2)
    number_of_it = case.call.arguments[first].memory
    if number_of_it is None or number_of_it < 0:
        number_of_it = 1000 + first
    call = case.call.changed(first, memory=number_of_it)
    shift = rng.choice((0, 0, 1, 3))
    call = call.changed(second, memory=number_of_it, offset=call.arguments[second].offset + shift)
    words = f"{_name(case, second)} in the memory of {_name(case, first)}, {shift} elements on"
    return _noted(case, call, words)


def _exchanged(case: Case, rng: random.Random) -> Case:
    """Exchange two arguments of one kind, or pass one handle for both."""
    parameters = case.call.op.parameters
    first = rng.randrange(len(parameters))
    others = [
        i for i, p in enumerate(parameters) if p.kind == parameters[first].kind and i != first
    ]
    if not others:
        return case
    second = rng.choice(others)
    a, b = case.call.arguments[first], case.call.arguments[second]
    names = f"{_name(case, first)} and {_name(case, second)}"
    if rng.random() < 0.5 and letter_of(a) and first < second:
        return _noted(case, case.call.changed(second, Same(first)), f"one handle for {names}")
    return _noted(case, case.call.changed(first, b).changed(second, a), f"{names} exchanged")


def _handle(case: Case, rng: random.Random) -> Case:
    """Pass a handle that is stale, or of another kind."""
    objects = [i for i, p in enumerate(case.call.op.parameters) if p.kind in "TLSRIFB"]
    if not objects:
        return case
    position = rng.choice(objects)
    kind = case.call.op.parameters[position].kind
    name = _name(case, position)
    if rng.random() < 0.4:
        return _noted(case, case.call.changed(position, Stale(kind)), f"{name}: stale handle")
    dense = TensorSpec("float32", (2,), (1,), storage_shape=(2,))
    one = ScalarSpec("float32", b"\0\0\x80\x3f")
    others = {
        "T": dense,
        "L": TensorListSpec((dense,)),
        "S": one,
        "R": ScalarListSpec((one,)),
        "I": [1, 2],
        "F": [1.0],
        "B": [True],
    }
    other = rng.choice([k for k in others if k != kind])
    call = case.call.changed(position, Wrong(other, others[other]))
    return _noted(case, call, f"{name}: handle of kind {other}")


_FLAGS = ("no size", "no executor", "no workspace", "small workspace", "repeatable", "repeatable")


def _flag(case: Case, rng: random.Random) -> Case:
    flag = rng.choice(_FLAGS)
    flags = case.flags | {flag}
    return replace(case, flags=flags, mutations=(*case.mutations, flag))


def _group(case: Case, rng: random.Random) -> Case:
    """Leave the communicator out, or name another one; others change an argument."""
    for position, argument in enumerate(case.call.arguments):
        if isinstance(argument, Group):
            value = rng.choice((Text(b""), Text(b"nobody"), None))
            return _noted(case, case.call.changed(position, value), "another group")
    return _one_argument(case, rng)


_TABLE: tuple[tuple[Callable[[Case, random.Random], Case], int], ...] = (
    (_one_argument, 50),
    (_one_extent_everywhere, 12),
    (_one_dtype_everywhere, 8),
    (_one_layout_everywhere, 6),
    (_shared_memory, 6),
    (_exchanged, 5),
    (_handle, 4),
    (_flag, 5),
    (_group, 2),
)
_KINDS = [kind for kind, _ in _TABLE]
_WEIGHTS = [weight for _, weight in _TABLE]
