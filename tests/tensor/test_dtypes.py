# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.tensor import dtypes
from aclnn_py.tensor.dtypes import dtype_of

NUMBERS = {
    "float32": 0, "float16": 1, "int8": 2, "int32": 3, "uint8": 4, "int16": 6, "uint16": 7,
    "uint32": 8, "int64": 9, "uint64": 10, "float64": 11, "bool": 12, "complex64": 16,
    "complex128": 17, "bfloat16": 27, "int4": 29, "float8_e5m2": 35, "float8_e4m3fn": 36,
    "float8_e8m0fnu": 37,
}  # fmt: skip


@pytest.mark.parametrize(("name", "number"), NUMBERS.items())
def test_every_host_type_has_cann_s_number(name, number):
    host = np.dtype(getattr(ml_dtypes, name, name))
    found = dtype_of(host)
    assert found.acl == number
    assert found.numpy == host
    assert found.exact
    assert dtypes.from_acl(number) is found
    assert dtype_of(name) is found


def test_hccl_numbers():
    want = {"int8": 0, "float16": 3, "float32": 4, "uint8": 7, "bfloat16": 11, "float64": 10}
    assert {name: dtype_of(name).hccl for name in want} == want
    assert dtype_of("complex64").hccl is None


@pytest.mark.parametrize("value", [object, "U4", "datetime64[s]", np.longdouble, "nonsense"])
def test_types_cann_has_not_are_refused_by_argument_name(value):
    with pytest.raises(TypeError, match=r"^array: "):
        dtype_of(value, "array")


def test_foreign_byte_order_is_the_same_element_type():
    assert dtype_of(np.dtype(">f4")) is dtype_of(np.float32)


def test_a_type_without_host_meaning_is_carried_by_its_bits():
    hifloat8 = dtype_of("hifloat8")
    assert not hifloat8.exact
    assert hifloat8.numpy == np.uint8
    assert dtype_of(np.uint8).name == "uint8"


@pytest.mark.parametrize("count", [0, 1, 2, 7, 16])
def test_int4_packs_two_to_a_byte_low_nibble_first(count):
    kind = dtype_of("int4")
    values = (np.arange(count) % 16 - 8).astype(ml_dtypes.int4)
    packed = dtypes.pack(values, kind)
    assert packed.size == kind.nbytes(count) == (count + 1) // 2
    codes = [int(value) & 15 for value in values] + [0] * (count % 2)
    expected = [codes[i] | codes[i + 1] << 4 for i in range(0, len(codes), 2)]
    assert packed.tolist() == expected
    np.testing.assert_array_equal(
        dtypes.unpack(packed, kind, count).astype(np.int8), values.astype(np.int8)
    )


@pytest.mark.parametrize("name", ["float4_e2m1fn", "float6_e3m2fn", "float6_e2m3fn"])
def test_narrow_floats_round_trip_through_their_bits(name):
    kind = dtype_of(name)
    if not kind.exact:
        assert not hasattr(ml_dtypes, name)
        return
    values = np.arange(1 << kind.bits, dtype=np.uint8).view(kind.numpy)
    packed = dtypes.pack(values, kind)
    assert packed.size == len(values) * kind.bits // 8
    np.testing.assert_array_equal(
        dtypes.unpack(packed, kind, values.size).view(np.uint8), values.view(np.uint8)
    )


def test_six_bit_elements_are_one_little_endian_bit_string():
    kind = dtype_of("float6_e3m2fn")
    codes = np.array([1, 2, 3, 63], np.uint8).view(kind.numpy)
    number = 1 | 2 << 6 | 3 << 12 | 63 << 18
    assert dtypes.pack(codes, kind).tobytes() == number.to_bytes(3, "little")
