# SPDX-License-Identifier: Apache-2.0
"""Identity and TransData between all formats that the device casts between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.aclop import Refused, Side, run
from helpers.blocked import (
    DHWCN,
    FRACTAL_Z,
    FRACTAL_Z_3D,
    HWCN,
    NC1HWC0,
    NCDHW,
    NCHW,
    ND,
    NDC1HWC0,
    NDHWC,
    NHWC,
    NZ,
    blocks,
    image,
)

pytestmark = pytest.mark.usefixtures("device")
NCL = 47
NAMES = {
    ND: "ND",
    NCL: "NCL",
    NCHW: "NCHW",
    NHWC: "NHWC",
    HWCN: "HWCN",
    NCDHW: "NCDHW",
    NDHWC: "NDHWC",
    NZ: "FRACTAL_NZ",
    NC1HWC0: "NC1HWC0",
    FRACTAL_Z: "FRACTAL_Z",
    NDC1HWC0: "NDC1HWC0",
    FRACTAL_Z_3D: "FRACTAL_Z_3D",
}
PAIRS = [
    (ND, "", (2, 20, 33), NZ),
    (NCL, "", (2, 20, 33), NZ),
    (NCHW, "", (1, 2, 20, 33), NZ),
    (NCDHW, "", (1, 2, 1, 20, 33), NZ),
    (NCHW, "nchw", (2, 35, 3, 4), NC1HWC0),
    (NHWC, "nhwc", (2, 3, 4, 35), NC1HWC0),
    (NCHW, "nchw", (18, 35, 3, 2), FRACTAL_Z),
    (HWCN, "hwcn", (3, 2, 35, 18), FRACTAL_Z),
    (NCDHW, "ncdhw", (2, 35, 3, 2, 4), NDC1HWC0),
    (NDHWC, "ndhwc", (2, 3, 2, 4, 35), NDC1HWC0),
    (NCDHW, "ncdhw", (18, 35, 3, 1, 2), FRACTAL_Z_3D),
    (DHWCN, "dhwcn", (3, 1, 2, 35, 18), FRACTAL_Z_3D),
]


def pair_of(plain: int, order: str, shape: tuple[int, ...], blocked: int) -> tuple[Side, Side]:
    """A tensor in both formats."""
    values = (np.arange(np.prod(shape)) % 113 + 1).astype(np.float16).reshape(shape)
    packed = np.ascontiguousarray(image(values, order, blocked) if order else blocks(values))
    return (
        Side(values, format=plain),
        Side(packed, plain, shape, storage_format=blocked, storage_shape=packed.shape),
    )


@pytest.mark.parametrize(("plain", "order", "shape", "blocked"), PAIRS, ids=str)
def test_identity_casts_there_and_back(
    plain: int, order: str, shape: tuple[int, ...], blocked: int
) -> None:
    values, packed = pair_of(plain, order, shape, blocked)
    (there,) = run("Identity", [values], [packed])
    np.testing.assert_array_equal(there, packed.value)
    (back,) = run("Identity", [packed], [values])
    np.testing.assert_array_equal(back, values.value)


@pytest.mark.parametrize(
    ("plain", "order", "shape", "blocked"), [p for p in PAIRS if p[0] in NAMES], ids=str
)
def test_transdata_casts_there_and_back(
    plain: int, order: str, shape: tuple[int, ...], blocked: int
) -> None:
    values, packed = pair_of(plain, order, shape, blocked)
    names = [NAMES[plain], NAMES[blocked]]
    forth = dict(zip(("src_format", "dst_format"), names, strict=True))
    (there,) = run("TransData", [values], [packed], forth)
    np.testing.assert_array_equal(there, packed.value)
    back_names = dict(zip(("src_format", "dst_format"), names[::-1], strict=True))
    (back,) = run("TransData", [packed], [values], back_names)
    np.testing.assert_array_equal(back, values.value)


@pytest.mark.parametrize(("plain", "order", "shape", "blocked"), PAIRS, ids=str)
def test_identity_copies_blocks_as_they_are(
    plain: int, order: str, shape: tuple[int, ...], blocked: int
) -> None:
    _values, packed = pair_of(plain, order, shape, blocked)
    (copy,) = run("Identity", [packed], [packed])
    np.testing.assert_array_equal(copy, packed.value)


def test_a_tensor_that_is_described_by_its_blocks_alone() -> None:
    values, packed = pair_of(ND, "", (20, 33), NZ)
    bare = Side(packed.value, format=NZ)
    (there,) = run("Identity", [values], [bare])
    np.testing.assert_array_equal(there, packed.value)
    (back,) = run("Identity", [bare], [values])
    np.testing.assert_array_equal(back, values.value)


@pytest.mark.parametrize("dtype", [np.int64, np.bool_, np.float64, np.complex64], ids=str)
def test_identity_copies_every_dtype(dtype: Any) -> None:
    values = (np.arange(30).reshape(5, 6) % 3).astype(dtype)
    (copy,) = run("Identity", [values], [Side(values)])
    np.testing.assert_array_equal(copy, values)


def test_casts_that_do_not_exist() -> None:
    values = np.ones((2, 3, 4, 5), np.float16)
    with pytest.raises(Refused, match="Identity: there is no cast from NCHW to NHWC") as refused:
        run("Identity", [Side(values, NCHW)], [Side(values, NHWC)])
    assert refused.value.status == 100027
    _plain, packed = pair_of(NCHW, "nchw", (2, 35, 3, 4), NC1HWC0)
    with pytest.raises(Refused, match="aclnnNpuFormatCast") as refused:
        run("Identity", [Side(np.ones((2, 35, 3, 4), np.float16), ND)], [packed])
    assert refused.value.status == 500002
    with pytest.raises(Refused, match="differ in data type"):
        run("Identity", [values], [Side(values.astype(np.float32))])
    with pytest.raises(Refused, match="differ in size"):
        run("Identity", [values], [((2, 3), np.float16)])


def test_transdata_says_when_its_attributes_disagree() -> None:
    values, packed = pair_of(ND, "", (20, 33), NZ)
    wrong = {"src_format": "NCHW", "dst_format": "FRACTAL_NZ"}
    with pytest.raises(Refused, match='src_format is "NCHW", its tensor has format ND') as refused:
        run("TransData", [values], [packed], wrong)
    assert refused.value.status == 100023
    right = {"src_format": "ND", "dst_format": "FRACTAL_NZ", "groups": 2}
    with pytest.raises(Refused, match="takes groups=1 only"):
        run("TransData", [values], [packed], right)
