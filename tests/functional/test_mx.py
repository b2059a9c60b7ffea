# SPDX-License-Identifier: Apache-2.0
"""Quantisation in blocks and the way back, on a chip of the 950 series."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.operators import place
from helpers.processes import run_script

from aclnn_py import functional

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.emulator_only(reason="chooses the chip of the emulator"),
]

_THERE_AND_BACK = """
import numpy as np
import aclnn_py as ap
from aclnn_py import functional

ap.Device(0).activate()
# Numbers that a format has, times a power of two for each block, come back as they were.
rng = np.random.default_rng(0)
for dtype, numbers in (
    ("float8_e4m3fn", [0, 1, 1.125, -1.75]),
    ("float8_e5m2", [0, 1, 1.25, -1.75]),
    ("float4_e2m1fn", [0, 0.25, 1, -1.5]),
    ("float4_e1m2", [0, 0.25, 1, -1.75]),
):
    blocks = rng.choice(numbers, (3, 130, 4))
    blocks[:, ::32], blocks[:, 129] = 1, 1
    x = blocks * 2.0 ** (np.arange(130) // 32)[None, :, None]
    y, scales = functional.dynamic_mx_quant(ap.from_numpy(x.astype(np.float16)), dtype, axis=1)
    assert y.dtype_name == dtype, y.dtype_name
    assert y.shape == x.shape
    assert scales.shape == (3, 3, 4, 2)
    for name in ("float32", "float16", "bfloat16"):
        back = functional.anti_mx_quant(y, scales, name, axis=1)
        np.testing.assert_array_equal(back.numpy().astype(np.float64), x)
    if dtype.startswith("float8"):
        y, scales = functional.dynamic_mx_quant(
            ap.from_numpy(x.astype(np.float32)), dtype, axis=-2, scale_alg=1)
        back = functional.anti_mx_quant(y, scales, axis=-2)
        np.testing.assert_array_equal(back.numpy().astype(np.float64), x)
print("right")
"""


def test_numbers_of_the_format_come_back() -> None:
    made = run_script(_THERE_AND_BACK, env={"ACLNN_PY_EMULATOR_SOC": "Ascend950PR_9599"})
    assert made.check().out == "right\n"


def test_wrong_arguments_are_named() -> None:
    x = place(np.ones((2, 64), np.float16))
    with pytest.raises(TypeError, match="dtype: int8 is given; allowed: float8_e4m3fn"):
        functional.dynamic_mx_quant(x, "int8")
    with pytest.raises(ValueError, match="axis: 2 is given"):
        functional.dynamic_mx_quant(x, axis=2)
    with pytest.raises(ValueError, match="block_size: 0 is given"):
        functional.dynamic_mx_quant(x, block_size=0)
    with pytest.raises(TypeError, match="dtype: int8 is given; allowed: float32"):
        functional.anti_mx_quant(x, x, "int8")
