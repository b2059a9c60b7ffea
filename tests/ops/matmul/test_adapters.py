# SPDX-License-Identifier: Apache-2.0
"""Adapters of low rank, and rows that are rotated before they are quantised."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close, assert_same
from helpers.operators import hollow, op, place, refusal, wide

import aclnn_py as ap

from ..problems import fault, message

pytestmark = pytest.mark.usefixtures("device")

HALF = np.float16


def normal(shape: tuple[int, ...], dtype: Any = HALF, seed: int = 1) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("layout", ["dense", "transposed", "stepped"])
@pytest.mark.parametrize("first", [True, False], ids=["two", "one"])
@pytest.mark.parametrize(("offset", "scale"), [(0, 1.0), (16, -0.25)])
def test_adapters(layout: str, first: bool, offset: int, scale: float) -> None:
    rows, inner, rank, adapters, layers, layer = 9, 32 if first else 16, 16, 3, 2, 1
    x, y = normal((rows, inner)), normal((rows, 64), seed=2)
    a = normal((adapters, layers, rank, inner), seed=3) if first else None
    b = normal((adapters, layers, 48, rank), seed=4)
    chosen = np.array([0, 2, 2, 0, 2, 0, 0, 2, 2], np.int32)
    out = hollow((rows, 64), HALF, layout)
    op("aclnnAddLora")(
        *(place(y, layout), place(x, layout), place(b, layout), place(chosen)),
        *(None if a is None else place(a, layout), layer, scale, offset, 48, out),
    )
    exact = wide(y)
    for r in range(rows):
        z = wide(x[r]) if a is None else wide(a[chosen[r], layer]) @ wide(x[r])
        exact[r, offset : offset + 48] += scale * (wide(b[chosen[r], layer]) @ z)
    assert_close(out.numpy(), exact, scale=16)


def test_adapters_may_write_over_their_base() -> None:
    x, y, b = normal((2, 16)), normal((2, 16), seed=2), normal((1, 1, 16, 16), seed=4)
    out = place(y)
    op("aclnnAddLora")(
        out, place(x), place(b), place(np.zeros(2, np.int32)), None, 0, 1.0, 0, 16, out
    )
    assert_close(out.numpy(), wide(y) + wide(x) @ wide(b[0, 0]).T, scale=8)


@pytest.mark.parametrize("index", [-1, 2])
def test_an_adapter_that_is_not_there_is_a_fault(index: int) -> None:
    x, b = normal((2, 16)), normal((2, 1, 16, 16), seed=4)
    chosen = place(np.array([0, index], np.int32))
    text = fault(
        "aclnnAddLora", place(x), place(x), place(b), chosen, None, 0, 1.0, 0, 16, place(x)
    )
    assert f"indices[1] is {index}" in text


def test_adapters_refuse() -> None:
    name = "aclnnAddLora"
    y, x, b = hollow((3, 64), HALF), hollow((3, 32), HALF), hollow((2, 3, 48, 16), HALF)
    chosen, a = hollow((3,), np.int32), hollow((2, 3, 16, 32), HALF)
    assert refusal(name, y, None, b, chosen, a, 0, 1.0, 0, 48, y) == 161001
    assert "x has dtype" in message(
        name, 161002, [y, hollow(x.shape, np.float32), b, chosen, a, 0, 1.0, 0, 48, y]
    )

    def text(*given: Any, layer: int = 0, offset: int = 0, size: int = 48) -> str:
        y_, x_, b_, chosen_, a_ = given
        return message(name, 561002, [y_, x_, b_, chosen_, a_, layer, 1.0, offset, size, y_])

    assert "layerIdx is 3" in text(y, x, b, chosen, a, layer=3)
    assert "layerIdx is -1" in text(y, x, b, chosen, a, layer=-1)
    assert "yOffset is 17" in text(y, x, b, chosen, a, offset=17)
    assert "ySliceSize is 47" in text(y, x, b, chosen, a, size=47)
    assert "weightAOptional has" in text(y, x, b, chosen, a[:1])
    assert "without weightAOptional" in text(y, x, b, chosen, None)
    assert "indices has" in text(y, x, b, chosen[:2], a)
    assert "the last dimension of x is 31" in text(y, x[:, :31], b, chosen, a)


# --- rotation


def quantised(turned: Any, highest: int, mode: str | None) -> tuple[Any, Any]:
    scale = np.abs(turned).max(-1) / highest
    with np.errstate(invalid="ignore"):
        ratio = np.nan_to_num(turned / scale[:, None])
    rounded = {
        None: np.rint(ratio),
        "rint": np.rint(ratio),
        "floor": np.floor(ratio),
        "round": np.trunc(ratio + np.copysign(0.5, ratio)),
    }[mode]
    return np.clip(rounded, -highest - 1, highest), scale


@pytest.mark.parametrize("layout", ["dense", "transposed", "stepped"])
@pytest.mark.parametrize("mode", [None, "rint", "round", "floor"])
@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("dtype", [HALF, ml_dtypes.bfloat16], ids=str)
def test_rotated_rows(dtype: Any, bits: int, mode: str | None, layout: str) -> None:
    rows, width, size = 5, 128, 32
    # Small integers: the rotation is exact in float32, so every rounding is decided alike.
    rng = np.random.default_rng(4)
    x = rng.integers(-8, 9, (rows, width)).astype(dtype)
    x[3] = 0
    rotation = rng.integers(-3, 4, (size, size)).astype(dtype)
    packed = bits == 4
    y = hollow((rows, width // 8 if packed else width), np.int32 if packed else np.int8)
    scale = hollow((rows,), np.float32)
    op("aclnnRotateQuant")(
        place(x, layout), place(rotation, layout), None, -1, mode, 0, 0.0, False, y, scale
    )
    turned = (wide(x).reshape(-1, size) @ wide(rotation)).reshape(rows, width)
    highest = 7 if packed else 127
    wanted, scales = quantised(turned.astype(np.float32), highest, mode)
    values = y.numpy()
    if packed:
        nibbles = values.view(np.uint32)[..., None] >> np.arange(0, 32, 4, dtype=np.uint32) & 15
        values = ((nibbles.astype(np.int32) + 8) % 16 - 8).reshape(rows, width)
    assert_same(values.astype(np.int32), wanted.astype(np.int32))
    assert_close(scale.numpy(), scales)


def test_a_rotation_is_its_product_and_its_quantisation() -> None:
    x, rotation = normal((4, 128)), normal((16, 16), seed=2)
    y, scale = hollow((4, 128), np.int8), hollow((4,), np.float32)
    op("aclnnRotateQuant")(place(x), place(rotation), None, 1, None, 0, 0.0, False, y, scale)
    exact = (wide(x).reshape(-1, 16) @ wide(rotation)).reshape(4, 128)
    assert_close(scale.numpy(), np.abs(exact).max(-1) / 127, scale=4)
    assert (
        np.abs(y.numpy() * wide(scale.numpy())[:, None] - exact).max() <= scale.numpy().max() * 0.51
    )
    ap.synchronize()


def test_rotations_refuse() -> None:
    name = "aclnnRotateQuant"
    x, rotation = hollow((3, 128), HALF), hollow((32, 32), HALF)
    y, scale = hollow((3, 128), np.int8), hollow((3,), np.float32)
    assert refusal(name, x, None, None, -1, None, 0, 0.0, False, y, scale) == 161001

    def text(**other: Any) -> str:
        given = {
            "x": x,
            "rotation": rotation,
            "alpha": None,
            "axis": -1,
            "mode": None,
            "algorithm": 0,
            "highest": 0.0,
            "trans": False,
            "y": y,
            "scale": scale,
            **other,
        }
        return message(name, 161002, list(given.values()))

    assert "axis is 0" in text(axis=0)
    assert 'roundModeOptional is "ceil"' in text(mode="ceil")
    assert "scaleAlg is 1" in text(algorithm=1)
    assert "dstTypeMax is 6" in text(highest=6.0)
    assert "trans is true" in text(trans=True)
    assert "alphaOptional is given" in text(alpha=hollow((1,), ml_dtypes.bfloat16))
    assert "rotation has shape (32, 16)" in text(rotation=rotation[:, :16])
    assert "multiple of the 48" in text(rotation=hollow((48, 48), HALF))
    assert "x has 120 columns" in text(x=x[:, :120])
    assert "rotation has dtype" in text(rotation=hollow(rotation.shape, ml_dtypes.bfloat16))
    assert "scaleOut has" in text(scale=scale[:2])
    assert "yOut" in text(y=hollow((3, 16), np.int8))
