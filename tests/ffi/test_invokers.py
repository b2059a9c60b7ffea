# SPDX-License-Identifier: Apache-2.0
"""Every machine-level shape passes its arguments intact, through typed invokers and the trampoline.

For each shape a callee with the operator's exact C prototype is compiled; it reports the bytes it
received.
"""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from helpers import tinylib

from aclnn_py._ffi import ffi, lib

TYPES = {
    "p": ("void *", "Q", "pointer"),
    "i": ("int32_t", "i", "int32"),
    "u": ("uint32_t", "I", "uint32"),
    "b": ("int8_t", "b", "int8"),
    "z": ("bool", "?", "boolean"),
    "f": ("float", "f", "float32"),
    "d": ("double", "d", "float64"),
}
RARE = ["bz", "fzbiupd", "p" * 20 + "fd" * 4, "d" * 8, "z" * 56, "bpf" * 8]


def shapes() -> list[str]:
    rows = range(lib.ap_op_count())
    found = {ffi.string(lib.ap_op_at(i).shape).decode() for i in rows}
    return sorted(found) + RARE


def callee(index: int, shape: str) -> str:
    parameters = "".join(f"{TYPES[s][0]} a{i}, " for i, s in enumerate(shape))
    stores = "".join(f"memcpy(out, &a{i}, sizeof a{i}); out += 8;" for i in range(len(shape)))
    return (
        f"int callee{index}({parameters}uint64_t *n, void **e) {{ char *out = received; {stores}"
        f" *n = {index}; *e = received; return -{index} - 1; }}\n"
    )


@pytest.fixture(scope="module")
def callees(tmp_path_factory):
    text = (
        "#include <stdbool.h>\n#include <stdint.h>\n#include <string.h>\nchar received[8 * 64];\n"
    )
    text += "".join(callee(i, shape) for i, shape in enumerate(shapes()))
    path: Path = tinylib.build(tmp_path_factory.mktemp("callees") / "libcallees.so", text, "-O1")
    handle = lib.ap_library_open(str(path).encode(), ffi.new("char[256]"), 256)
    assert handle != ffi.NULL
    return handle


def random_value(letter: str, source: random.Random):
    if letter in "fd":
        return struct.unpack("f", struct.pack("f", source.uniform(-1e6, 1e6)))[0]
    if letter == "z":
        return source.random() < 0.5
    low, high = {"p": (0, 2**64), "i": (-(2**31), 2**31), "u": (0, 2**32), "b": (-128, 128)}[letter]
    return source.randrange(low, high)


@pytest.mark.parametrize("find", [lib.ap_invoker_for, lib.ap_trampoline_for])
def test_arguments_arrive_intact(callees, find):
    source = random.Random(7)
    checked = 0
    for index, shape in enumerate(shapes()):
        invoke = find(shape.encode())
        if not invoke:
            assert shape in RARE  # what no operator needs has no typed invoker
            continue
        op = ffi.new("ap_op *")
        text = ffi.new("char[]", shape.encode())
        op.shape = text
        op.phase_one = lib.ap_library_symbol(callees, f"callee{index}".encode())
        for _ in range(5):
            values = [random_value(letter, source) for letter in shape]
            words = ffi.new("ap_word[]", max(len(shape), 1))
            for word, letter, value in zip(words, shape, values, strict=False):
                field = TYPES[letter][2]
                setattr(word, field, ffi.cast("void *", value) if letter == "p" else value)
            nbytes, executor = ffi.new("uint64_t *"), ffi.new("void **")
            assert invoke(op, words, nbytes, executor) == -index - 1
            assert nbytes[0] == index
            received = bytes(ffi.buffer(ffi.cast("char *", executor[0]), 8 * 64))
            for i, (letter, value) in enumerate(zip(shape, values, strict=True)):
                assert struct.unpack_from(TYPES[letter][1], received, 8 * i)[0] == value, shape
            checked += 1
    assert checked >= 5 * 300


def test_trampoline_refuses_what_it_cannot_pass():
    assert not lib.ap_trampoline_for(b"d" * 9)
    assert not lib.ap_trampoline_for(b"p" * 57)
    assert lib.ap_trampoline_for(b"p" * 56)


def test_every_operator_has_an_invoker():
    for index in range(lib.ap_op_count()):
        op = lib.ap_op_at(index)
        assert op.invoke == lib.ap_invoker_for(ffi.string(op.shape))
