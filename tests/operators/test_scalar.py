# SPDX-License-Identifier: Apache-2.0
"""Which dtype a number gets as an aclScalar."""

from __future__ import annotations

import pickle

import ml_dtypes
import numpy as np
import pytest

from aclnn_py.operators.describe.scalar import Scalar, scalar_bytes
from aclnn_py.tensor.dtypes import dtype_of


def documented(*names: str) -> int:
    return sum(1 << dtype_of(name).acl for name in names)


def name_and_value(value, mask=0):
    acl, data = scalar_bytes(value, mask, "alpha")
    for name in ("bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "bfloat16",
                 "float32", "float64", "complex64", "complex128"):  # fmt: skip
        dtype = dtype_of(name)
        if dtype.acl == acl:
            return name, np.frombuffer(data, dtype.numpy)[0]
    raise AssertionError(acl)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (True, "bool"),
        (1, "int64"),
        (1.5, "float64"),
        (1 + 2j, "complex128"),
        (np.float32(1.5), "float32"),
        (np.int8(-3), "int8"),
        (np.bool_(True), "bool"),
        (ml_dtypes.bfloat16(1.5), "bfloat16"),
        (Scalar(1, "float16"), "float16"),
    ],
)
def test_natural_dtype(value, name):
    expected = value.value if isinstance(value, Scalar) else value
    assert name_and_value(value) == (name, expected)


@pytest.mark.parametrize(
    ("value", "documents", "name"),
    [
        (1.5, ("float32", "float16"), "float32"),
        (1.5, ("float16",), "float16"),
        (1, ("int32", "int8"), "int32"),
        (1, ("float32",), "float32"),
        (True, ("int64", "float32"), "int64"),
        (1.5, ("int64",), "float64"),  # never narrowed in kind: the library will refuse it
        (np.float64(1.5), ("float32",), "float64"),  # NumPy scalars keep their dtype
    ],
)
def test_documented_dtypes_choose_within_the_kind(value, documents, name):
    assert name_and_value(value, documented(*documents))[0] == name


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ("1", TypeError, "alpha: expected a number, got str"),
        (None, TypeError, "alpha: expected a number"),
        (np.ones(1), TypeError, "numpy.ndarray"),
        (2**64, ValueError, "does not fit into int64"),
        (Scalar(300, "int8"), ValueError, "does not fit into int8"),
        (Scalar(1.5, "int8"), ValueError, "fraction"),
        (Scalar(1, "int4"), TypeError, "cannot be int4"),
    ],
)
def test_refused_values(value, kind, text):
    with pytest.raises(kind, match=text):
        scalar_bytes(value, 0, "alpha")


def test_negative_zero_and_nan_keep_their_bits():
    assert np.signbit(name_and_value(-0.0)[1])
    assert np.isnan(name_and_value(float("nan"))[1])


def test_a_scalar_is_a_value_that_does_not_change():
    one, same, other = Scalar(1, "float16"), Scalar(1, np.float16), Scalar(1, "float32")
    assert one == same and hash(one) == hash(same)
    assert one != other and one != Scalar(2, "float16") and one != 1
    assert repr(one) == "Scalar(value=1, dtype=float16)"
    assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(AttributeError):
        one.value = 2
